from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.execute_sql("""
    CREATE TABLE clicks (id BIGINT, url STRING, cost INT) WITH (
      'connector' = 'datagen', 'number-of-rows' = '6',
      'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '6',
      'fields.url.length' = '3', 'fields.cost.min' = '5', 'fields.cost.max' = '5')
""")
for name in ("small", "big", "costs"):
    column = "cost INT" if name == "costs" else "id BIGINT"
    t_env.execute_sql(
        f"CREATE TABLE {name} ({column}) WITH ('connector' = 'print', 'print-identifier' = '{name}')"
    )
statements = t_env.create_statement_set()
statements.add_insert_sql("INSERT INTO small SELECT id FROM clicks WHERE id < 3")
statements.add_insert_sql("INSERT INTO big SELECT id FROM clicks WHERE id >= 5")
statements.execute().wait()
t_env.execute_sql("""
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO costs SELECT cost FROM clicks WHERE id = 1;
      INSERT INTO small SELECT id + 100 FROM clicks WHERE id = 2;
    END
""").wait()
