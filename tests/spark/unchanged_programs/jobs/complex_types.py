from decimal import Decimal

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import array, col, lit, map_, row

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
schema = DataTypes.ROW([
    DataTypes.FIELD("id", DataTypes.INT()),
    DataTypes.FIELD("tags", DataTypes.ARRAY(DataTypes.STRING())),
    DataTypes.FIELD("scores", DataTypes.MAP(DataTypes.STRING(), DataTypes.DOUBLE())),
    DataTypes.FIELD("address", DataTypes.ROW([
        DataTypes.FIELD("city", DataTypes.STRING()), DataTypes.FIELD("zip", DataTypes.INT())])),
    DataTypes.FIELD("amount", DataTypes.DECIMAL(10, 2)),
])
table = t_env.from_elements([
    (1, ["a", "b"], {"x": 1.5}, Row("Bonn", 53111), Decimal("1.25")),
    (2, [], {"x": 2.0, "y": 0.5}, Row("Kiel", 24103), None),
], schema)
table.print_schema()
table.select(
    col("id"), col("tags").cardinality.alias("n"), col("tags").at(1).alias("first"),
    col("scores").at("x").alias("x"), col("address").get("city").alias("city"), col("amount").is_null.alias("empty"),
).order_by(col("id")).execute().print()
t_env.create_temporary_view("t", table)
t_env.execute_sql("SELECT id, tag FROM t CROSS JOIN UNNEST(tags) AS u (tag) ORDER BY tag").print()
t_env.execute_sql("SELECT id, k, v FROM t CROSS JOIN UNNEST(scores) AS u (k, v) ORDER BY id, k").print()
t_env.from_elements([(1,)], ["a"]).select(
    array(1, 2, 3).alias("numbers"), map_("k", "v").alias("m"), row(1, "x").alias("r"), lit(True).alias("t")
).execute().print()
with table.select(col("address"), col("tags"), col("amount")).order_by(col("amount").desc).execute().collect() as rows:
    for each in rows:
        print(each[0][0], each[1], each[2])
