from pyflink.common import Configuration
from pyflink.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from pyflink.table.expressions import col, lit

config = Configuration()
config.set_string("parallelism.default", "1")
settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(config).build()
t_env = TableEnvironment.create(settings)
source = (
    TableDescriptor.for_connector("datagen")
    .schema(Schema.new_builder().column("id", DataTypes.BIGINT()).column("v", DataTypes.INT()).build())
    .option("number-of-rows", "5")
    .option("fields.id.kind", "sequence").option("fields.id.start", "1").option("fields.id.end", "5")
    .option("fields.v.min", "3").option("fields.v.max", "3")
    .build()
)
sink = (
    TableDescriptor.for_connector("print")
    .schema(Schema.new_builder().column("id", DataTypes.BIGINT()).column("w", DataTypes.INT()).build())
    .build()
)
t_env.create_temporary_table("sink", sink)
table = t_env.from_descriptor(source)
table.filter(col("id") > 3).select(col("id"), col("v") * lit(2)).execute_insert("sink").wait()
pipeline = table.where(col("id") == 1).select(col("id"), col("v")).insert_into("sink")
t_env.create_statement_set().add(pipeline).execute().wait()
table.add_columns((col("id") + col("v")).alias("s")).drop_columns(col("v")).rename_columns(col("s").alias("t")).order_by(col("id")).execute().print()
