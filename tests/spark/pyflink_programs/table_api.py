from pyflink.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from pyflink.table.expressions import (
    UNBOUNDED_ROW,
    and_,
    call,
    call_sql,
    col,
    concat_ws,
    lit,
    not_,
    or_,
    range_,
    with_columns,
    without_columns,
)
from pyflink.table.udf import ScalarFunction, udf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set("table.local-time-zone", "UTC")
t_env.create_temporary_table(
    "source",
    TableDescriptor.for_connector("datagen")
    .schema(
        Schema.new_builder()
        .column("id", DataTypes.INT())
        .column("price", DataTypes.DECIMAL(10, 2))
        .column_by_expression("gross", "price * 2")
        .build()
    )
    .option("number-of-rows", "10")
    .option("fields.id.kind", "sequence")
    .option("fields.id.start", "1")
    .option("fields.id.end", "10")
    .build(),
)


class Tier(ScalarFunction):
    def open(self, function_context):
        self.limits = [(3, "low"), (7, "mid")]

    def eval(self, number, default):
        for limit, name in self.limits:
            if number <= limit:
                return name
        return default


tier = udf(Tier(), result_type=DataTypes.STRING())
t_env.create_temporary_function("tier", tier)
source = t_env.from_path("source")
print(source.get_schema().get_field_names())
checked = source.select(
    col("id"),
    (col("gross") == col("price") + col("price")).alias("doubled"),
    call("tier", col("id"), "high").alias("tier"),
    concat_ws("-", col("id").cast(DataTypes.STRING()), lit("x"), None).alias("code"),
    call_sql("MOD(id, 4)").alias("rest"),
)
checked.print_schema()
wanted = checked.where(and_(col("rest") > 0, or_(col("id") > 5, not_(col("tier") == "low"))))
for found in sorted(map(tuple, wanted.execute().collect())):
    print(*found)
counted = (
    checked.group_by(col("tier"))
    .select(col("tier"), col("id").count.alias("n"), col("id").avg, col("rest").min)
    .order_by(col("tier").asc)
)
print(counted.get_schema().get_field_names())
for found in counted.execute().collect():
    print(*found)
some = checked.select(with_columns(range_("id", "tier"))).select(without_columns(col("doubled")))
print(some.get_schema().get_field_names(), len(list(some.limit(4, 2).execute().collect())))
ordered = checked.order_by(col("id").desc).offset(2).fetch(3).select(col("id"))
print(sorted(found[0] for found in ordered.execute().collect()))
print(t_env.from_path("source").explain() != "", str(UNBOUNDED_ROW) != "")
