from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, lit, to_timestamp

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set_local_timezone("Europe/Berlin")
print(t_env.get_config().get_local_timezone())
table = t_env.from_elements([("2024-02-28 23:30:00",), ("2024-12-31 10:15:30",)], ["text"])
table = table.select(to_timestamp(col("text")).alias("ts"))
t_env.create_temporary_view("times", table)
t_env.execute_sql("""
    SELECT ts, EXTRACT(YEAR FROM ts) AS y, QUARTER(ts) AS q, DAYOFWEEK(ts) AS d,
      CEIL(ts TO HOUR) AS h, FLOOR(ts TO MONTH) AS m, TIMESTAMPADD(DAY, 2, ts) AS later,
      TIMESTAMPDIFF(HOUR, TIMESTAMP '2024-01-01 00:00:00', ts) AS hours,
      DATE_FORMAT(ts, 'yyyy/MM/dd HH') AS f, CAST(ts AS DATE) - INTERVAL '1' MONTH AS before
    FROM times ORDER BY ts
""").print()
t_env.execute_sql("""
    SELECT TO_TIMESTAMP_LTZ(1700000000000, 3) AS i, FROM_UNIXTIME(1700000000) AS u,
      CONVERT_TZ('2024-01-01 00:00:00', 'UTC', 'Asia/Tokyo') AS c,
      CAST(TIMESTAMP '2024-07-01 12:00:00' AS TIMESTAMP_LTZ(3)) AS l
""").print()
table.select(col("ts") + lit(90).minutes, col("ts").to_date.alias("d")).order_by(col("d")).execute().print()
