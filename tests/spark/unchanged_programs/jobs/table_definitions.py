from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.execute_sql("""
    CREATE TABLE base (
      id BIGINT NOT NULL, name STRING COMMENT 'who', price DECIMAL(10, 3), qty INT,
      cost AS price * qty, ts TIMESTAMP(3), proc AS PROCTIME(),
      WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED
    ) COMMENT 'orders' WITH ('connector' = 'datagen')
""")
t_env.execute_sql("CREATE TABLE copy_ (extra STRING) WITH ('number-of-rows' = '2') LIKE base (EXCLUDING WATERMARKS)")
t_env.execute_sql("DESCRIBE base").print()
t_env.execute_sql("DESCRIBE copy_").print()
t_env.from_path("base").print_schema()
t_env.execute_sql("ALTER TABLE base RENAME TO renamed")
t_env.execute_sql("ALTER TABLE renamed SET ('rows-per-second' = '5')")
print(t_env.list_tables())
t_env.execute_sql("CREATE TEMPORARY VIEW v AS SELECT id, cost FROM renamed")
t_env.execute_sql("SHOW VIEWS").print()
t_env.execute_sql("DROP TABLE IF EXISTS nothing")
t_env.sql_query("SELECT id, UPPER(name) AS u, cost * 2 AS c FROM renamed").print_schema()
