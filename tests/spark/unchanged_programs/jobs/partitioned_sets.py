import glob
import os
import tempfile

from pyflink.table import EnvironmentSettings, TableEnvironment

out = tempfile.mkdtemp()
env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
env.get_config().set("parallelism.default", "1")
env.execute_sql("""
CREATE TABLE numbers (n BIGINT, word STRING) WITH (
  'connector' = 'datagen', 'number-of-rows' = '6',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '6',
  'fields.word.kind' = 'sequence', 'fields.word.start' = '11', 'fields.word.end' = '16')
""")
for name in ("odd", "even"):
    env.execute_sql(f"CREATE TABLE {name} (n BIGINT, w STRING) WITH ('connector' = 'filesystem', 'path' = '{out}/{name}', 'format' = 'json')")
env.execute_sql("CREATE TABLE sums (kind STRING, total BIGINT) PARTITIONED BY (kind) WITH ('connector' = 'filesystem', 'path' = '%s/sums', 'format' = 'csv')" % out)
statements = env.create_statement_set()
statements.add_insert_sql("INSERT INTO odd SELECT n, word FROM numbers WHERE MOD(n, 2) = 1")
statements.add_insert("even", env.sql_query("SELECT n, CONCAT('w', word) FROM numbers WHERE MOD(n, 2) = 0"))
statements.add_insert_sql("INSERT INTO sums SELECT CASE WHEN MOD(n, 2) = 1 THEN 'odd' ELSE 'even' END, SUM(n) FROM numbers GROUP BY MOD(n, 2)")
result = statements.execute()
result.wait()
print(result.get_table_schema().get_field_names())
print(result.get_result_kind())
for path in sorted(glob.glob(f"{out}/**/*", recursive=True)):
    if os.path.isfile(path):
        print(os.path.relpath(os.path.dirname(path), out))
        with open(path) as file:
            print("".join(sorted(file)), end="")
env.execute_sql("SELECT * FROM sums ORDER BY kind").print()
env.execute_sql("""EXECUTE STATEMENT SET BEGIN
INSERT INTO odd VALUES (99, 'x');
INSERT INTO even VALUES (100, 'y');
END""").wait()
env.execute_sql("SELECT 'odd' AS t, COUNT(*) AS n FROM odd UNION ALL SELECT 'even', COUNT(*) FROM even").print()
