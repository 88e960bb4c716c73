from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
path = Path("ticker.csv")
path.write_text("".join(
    f"ACME,2024-01-01 10:00:{second:02},{price}\n"
    for second, price in enumerate([12, 17, 13, 15, 20, 24, 25, 19, 15, 25, 30])
))
t_env.execute_sql(f"""
    CREATE TABLE ticker (symbol STRING, ts TIMESTAMP(3), price INT, WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{path.resolve()}', 'format' = 'csv')
""")
t_env.execute_sql("""
    SELECT symbol, start_price, bottom, end_price FROM ticker MATCH_RECOGNIZE (
      PARTITION BY symbol ORDER BY ts
      MEASURES A.price AS start_price, LAST(B.price) AS bottom, C.price AS end_price
      ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
      PATTERN (A B+ C)
      DEFINE B AS (LAST(B.price, 1) IS NULL AND B.price < A.price) OR B.price < LAST(B.price, 1),
             C AS C.price > LAST(B.price, 1))
""").print()
