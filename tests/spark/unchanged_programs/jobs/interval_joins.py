from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
for name, lines in {
    "orders": "1,2024-01-01 10:00:00\n2,2024-01-01 11:00:00\n3,2024-01-01 12:00:00\n",
    "shipments": "1,2024-01-01 12:30:00\n2,2024-01-01 18:00:00\n3,2024-01-01 12:00:00\n",
}.items():
    Path(f"{name}.csv").write_text(lines)
    t_env.execute_sql(f"""
        CREATE TABLE {name} (order_id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
        WITH ('connector' = 'filesystem', 'path' = '{Path(f"{name}.csv").resolve()}', 'format' = 'csv')
    """)
t_env.execute_sql("""
    SELECT o.order_id, s.ts AS shipped FROM orders AS o, shipments AS s
    WHERE o.order_id = s.order_id AND s.ts BETWEEN o.ts AND o.ts + INTERVAL '4' HOUR
""").print()
t_env.execute_sql("CREATE TABLE sink (id BIGINT, late BOOLEAN) WITH ('connector' = 'print', 'print-identifier' = 'late')")
t_env.execute_sql("""
    INSERT INTO sink SELECT o.order_id, s.ts > o.ts + INTERVAL '4' HOUR FROM orders AS o
    JOIN shipments AS s ON o.order_id = s.order_id
""").wait()
