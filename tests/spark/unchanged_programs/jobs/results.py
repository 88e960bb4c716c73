from pyflink.table import EnvironmentSettings, ResultKind, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
result = t_env.execute_sql("SELECT word, COUNT(*) AS c FROM (VALUES ('a'), ('b'), ('a')) AS t (word) GROUP BY word")
print(result.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT, result.get_table_schema().get_field_names())
counts = {}
with result.collect() as rows:
    for row in rows:
        counts[row[0]] = row[1]
print(sorted(counts.items()))
t_env.execute_sql("CREATE TABLE sink (word STRING, c BIGINT) WITH ('connector' = 'print')")
job = t_env.execute_sql("INSERT INTO sink SELECT word, CHAR_LENGTH(word) FROM (VALUES ('x'), ('yy')) AS t (word)")
job.wait()
print("EXPLAIN" not in t_env.explain_sql("SELECT 1"))
try:
    t_env.execute_sql("SELECT nope FROM sink")
except Exception as error:
    print("refused", "nope" in str(error))
