from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
events = env.from_collection(
    [(1, "login", 3), (2, "buy", 40), (1, "buy", 7), (3, "login", 1)],
    type_info=Types.ROW_NAMED(["user_id", "kind", "amount"], [Types.LONG(), Types.STRING(), Types.INT()]),
).filter(lambda e: e.amount > 1)
t_env.create_temporary_view("events", events)
t_env.execute_sql("CREATE TEMPORARY VIEW users AS SELECT * FROM (VALUES (1, 'Ann'), (2, 'Bob')) AS t (id, name)")
joined = t_env.sql_query("SELECT e.kind, e.amount, u.name FROM events AS e JOIN users AS u ON e.user_id = u.id")
stream = t_env.to_data_stream(joined)
labels = stream.map(lambda r: Row(f"{r.name}/{r.kind}", r.amount), Types.ROW([Types.STRING(), Types.INT()]))
with labels.execute_and_collect() as rows:
    print(sorted(str(row) for row in rows))
print(t_env.from_path("events").get_schema().get_field_names())
