from pyflink.common.typeinfo import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment, TableDescriptor
from pyflink.table.expressions import col
from pyflink.table.udf import udf


def mix():
    env = StreamExecutionEnvironment.get_execution_environment()
    t_env = StreamTableEnvironment.create(stream_execution_environment=env)
    t_env.create_temporary_table(
        "source",
        TableDescriptor.for_connector("datagen")
        .schema(
            Schema.new_builder()
            .column("id", DataTypes.BIGINT())
            .column("code", DataTypes.STRING())
            .build()
        )
        .option("fields.id.kind", "sequence")
        .option("fields.id.start", "1")
        .option("fields.id.end", "8")
        .option("fields.code.kind", "random")
        .option("fields.code.length", "5")
        .build(),
    )
    t_env.create_temporary_table(
        "sink",
        TableDescriptor.for_connector("print")
        .schema(Schema.new_builder().column("a", DataTypes.BIGINT()).build())
        .build(),
    )

    @udf(result_type=DataTypes.BIGINT())
    def length(text):
        return len(text)

    table = t_env.from_path("source").select(col("id"), length(col("code")))
    stream = t_env.to_data_stream(table)
    stream = stream.map(lambda row: row[0] * row[1], output_type=Types.LONG())
    table = t_env.from_data_stream(
        stream, Schema.new_builder().column("f0", DataTypes.BIGINT()).build()
    )
    table.execute_insert("sink").wait()


if __name__ == "__main__":
    mix()
