from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
path = Path("bids.csv")
path.write_text(
    "2024-01-01 08:05:00,4.00,A\n2024-01-01 08:07:00,2.00,B\n2024-01-01 08:09:00,5.00,A\n"
    "2024-01-01 08:11:00,3.00,B\n2024-01-01 08:13:00,1.00,A\n2024-01-01 08:17:00,6.00,B\n"
)
t_env.execute_sql(f"""
    CREATE TABLE bid (bidtime TIMESTAMP(3), price DECIMAL(10, 2), item STRING,
      WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND)
    WITH ('connector' = 'filesystem', 'path' = '{path.resolve()}', 'format' = 'csv')
""")
for window in (
    "TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)",
    "HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)",
    "CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)",
):
    t_env.execute_sql(f"""
        SELECT window_start, window_end, SUM(price) AS total FROM TABLE({window})
        GROUP BY window_start, window_end ORDER BY window_start, window_end
    """).print()
t_env.execute_sql("""
    SELECT item, bidtime, price, rn FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS rn FROM bid
    ) WHERE rn <= 2 ORDER BY item, rn
""").print()
t_env.execute_sql("""
    SELECT item, price, SUM(price) OVER w AS total, LAG(price) OVER w2 AS previous FROM bid
    WINDOW w AS (PARTITION BY item ORDER BY bidtime ROWS BETWEEN 1 PRECEDING AND CURRENT ROW),
           w2 AS (PARTITION BY item ORDER BY bidtime) ORDER BY item, price
""").print()
