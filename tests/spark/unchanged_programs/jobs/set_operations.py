from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
left = t_env.from_elements([(1, "ra"), (1, "ra"), (2, "lb"), (3, "rc")], ["id", "name"])
right = t_env.from_elements([(1, "ra"), (2, "lb"), (2, "lb"), (4, "rd")], ["id", "name"])
for name in ("union", "union_all", "intersect", "intersect_all", "minus", "minus_all"):
    result = getattr(left, name)(right).order_by(col("id"))
    with result.execute().collect() as rows:
        print(name, [(row[0], row[1]) for row in rows])
renamed = right.select(col("id").alias("rid"), col("name").alias("rname")).distinct()
for name in ("join", "left_outer_join", "right_outer_join", "full_outer_join"):
    joined = getattr(left.distinct(), name)(renamed, col("id") == col("rid"))
    with joined.select(col("id"), col("rid"), col("rname")).execute().collect() as rows:
        print(name, sorted(str((row[0], row[1], row[2])) for row in rows))
print(left.group_by(col("name")).select(col("name"), col("id").sum.alias("s")).order_by(col("s").desc, col("name")).fetch(2).to_pandas().values.tolist())
