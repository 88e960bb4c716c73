from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, concat, if_then_else, lit

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
people = t_env.from_elements([(1, "Ann"), (2, "Bob"), (3, "Cid")], ["id", "name"])
orders = t_env.from_elements([(1, 10.5), (1, 4.5), (3, 2.0), (9, 1.0)], ["who", "cost"])


def show(title, table):
    print(title, table.get_schema().get_field_names())
    for row in sorted(map(tuple, table.execute().collect()), key=repr):
        print(*row)


show("inner", people.join(orders, col("id") == col("who")).select(col("name"), col("cost")))
show("left", people.left_outer_join(orders, col("id") == col("who")))
show("full", people.full_outer_join(orders, col("id") == col("who")).where(col("id").is_null))
show("right", people.right_outer_join(orders, (col("id") == col("who")) & (col("cost") > 2)))
total = (
    people.join(orders)
    .where(people.id == orders.who)
    .group_by(col("name"))
    .select(concat(col("name"), lit(":")).alias("who"), col("cost").sum.alias("total"))
    .order_by(col("total").desc)
)
show("total", total)
show("kinds", people.select(col("id"), if_then_else(col("id") > 1, "many", "one").alias("kind")))
show("union", people.union_all(people.filter(col("id") < 3)).select(col("id")).distinct())
show("minus", people.minus(people.where(col("name").like("%i%"))))
show("columns", people.add_columns((col("id") * 2).alias("twice")).drop_columns(col("name")))
show("renamed", people.rename_columns(col("name").alias("n")).add_or_replace_columns(lit(7).alias("id")))
