from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import UNBOUNDED_RANGE, UNBOUNDED_ROW, CURRENT_ROW, col, lit, row_interval
from pyflink.table.window import Over
from pyflink.table import DataTypes
from datetime import datetime

env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
env.get_config().set("parallelism.default", "1")
rows = [("u1", "book", 10, datetime(2024, 1, 1, 0, 0, 1)), ("u1", "pen", 2, datetime(2024, 1, 1, 0, 0, 2)),
        ("u2", "cup", 7, datetime(2024, 1, 1, 0, 0, 3)), ("u1", "cup", 7, datetime(2024, 1, 1, 0, 0, 9)),
        ("u2", "book", 11, datetime(2024, 1, 1, 0, 0, 10))]
schema = DataTypes.ROW([DataTypes.FIELD("u", DataTypes.STRING()), DataTypes.FIELD("item", DataTypes.STRING()),
                        DataTypes.FIELD("price", DataTypes.INT()), DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3))])
table = env.from_elements(rows, schema)
env.create_temporary_view("sales", table)
table = table.add_columns(col("price").cast(DataTypes.BIGINT()).alias("place"))
env.execute_sql("""
SELECT u, item, price FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY u ORDER BY price DESC, item) AS rn FROM sales)
WHERE rn <= 2""").print()
env.execute_sql("""
SELECT u, item, LAG(price) OVER w AS before, LEAD(price, 1, 0) OVER w AS after, RANK() OVER w AS r,
  FIRST_VALUE(item) OVER w AS f
FROM sales WINDOW w AS (PARTITION BY u ORDER BY ts) ORDER BY u, ts""").print()
(table.group_by(col("u")).select(col("u"), col("price").avg.alias("a"), col("price").stddev_pop.alias("s"), 
                                 col("price").sum0, col("price").var_samp)
 .order_by(col("a").desc).execute().print())
table.select(col("u")).distinct().order_by(col("u").asc).fetch(5).execute().print()
table.order_by(col("price").desc, col("u")).offset(1).fetch(2).select(col("item"), col("price")).execute().print()
left = table.select(col("u").alias("a"), col("item").alias("b"))
right = env.from_elements([("book", 1), ("mug", 2)], ["name", "code"])
left.left_outer_join(right, col("b") == col("name")).select(col("a"), col("b"), col("code")).order_by(col("a"), col("b")).execute().print()
left.full_outer_join(right, col("b") == col("name")).select(col("a"), col("code")).order_by(col("a"), col("code")).execute().print()
left.select(col("b")).minus(right.select(col("name"))).order_by(col("b")).execute().print()
left.select(col("b")).intersect_all(right.select(col("name"))).execute().print()
left.where(col("b").in_(right.select(col("name")))).order_by(col("a")).execute().print()
