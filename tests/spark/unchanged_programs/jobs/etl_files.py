import csv
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
env.get_config().set("parallelism.default", "1")
folder = Path("etl_files_input")
folder.mkdir(exist_ok=True)
with open(folder / "orders.csv", "w", newline="") as file:
    csv.writer(file).writerows([
        ["1", "Ann", "2024-05-01 10:00:00", "19.90", "DE"],
        ["2", "Bob", "2024-05-01 11:30:00", "5.00", "FR"],
        ["3", "Ann", "2024-05-02 09:15:00", "120.00", "DE"],
        ["4", "Cid", "2024-05-03 23:59:59", "0.99", "FR"],
    ])
env.execute_sql(f"""
    CREATE TABLE orders (
      id BIGINT, customer STRING, placed TIMESTAMP(3), price DECIMAL(10, 2), country STRING,
      day_ AS CAST(placed AS DATE)
    ) WITH ('connector' = 'filesystem', 'path' = '{folder.resolve()}', 'format' = 'csv')
""")
env.execute_sql(f"""
    CREATE TABLE sales (customer STRING, total DECIMAL(38, 2), n BIGINT, country STRING)
    PARTITIONED BY (country) WITH (
      'connector' = 'filesystem', 'path' = '{Path("etl_files_output").resolve()}', 'format' = 'json')
""")
env.execute_sql("""
    INSERT OVERWRITE sales
    SELECT customer, SUM(price), COUNT(*), country FROM orders GROUP BY customer, country
""").wait()
env.execute_sql("SELECT * FROM sales ORDER BY customer").print()
env.execute_sql("SELECT day_, COUNT(DISTINCT customer) AS c FROM orders GROUP BY day_ ORDER BY day_").print()
