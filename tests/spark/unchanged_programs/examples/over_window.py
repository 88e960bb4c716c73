from pyflink.common import Instant, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment, TableDescriptor
from pyflink.table.expressions import col
from pyflink.table.expressions import CURRENT_ROW, row_interval
from pyflink.table.window import Over


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    t_env = StreamTableEnvironment.create(stream_execution_environment=env)

    readings = env.from_collection(
        collection=[
            (Instant.of_epoch_milli(2000), "north", 20.5),
            (Instant.of_epoch_milli(3000), "south", 31.25),
            (Instant.of_epoch_milli(9000), "north", 21.5),
            (Instant.of_epoch_milli(14000), "south", 30.0),
            (Instant.of_epoch_milli(13000), "north", 19.0),
            (Instant.of_epoch_milli(26000), "north", 18.25),
        ],
        type_info=Types.ROW([Types.INSTANT(), Types.STRING(), Types.FLOAT()]),
    )
    table = t_env.from_data_stream(
        readings,
        Schema.new_builder()
        .column_by_expression("ts", "CAST(f0 AS TIMESTAMP(3))")
        .column("f1", DataTypes.STRING())
        .column("f2", DataTypes.FLOAT())
        .watermark("ts", "ts - INTERVAL '3' SECOND")
        .build(),
    ).alias("ts", "station", "degrees")

    t_env.create_temporary_table(
        "sink",
        TableDescriptor.for_connector("print")
        .schema(
            Schema.new_builder()
            .column("station", DataTypes.STRING())
            .column("highest", DataTypes.FLOAT())
            .build()
        )
        .build(),
    )
    table = (
        table.over_window(
            Over.partition_by(col("station"))
            .order_by(col("ts"))
            .preceding(row_interval(2))
            .following(CURRENT_ROW)
            .alias("w")
        ).select(table.station, table.degrees.max.over(col("w")))
    )
    table.execute_insert("sink").wait()


if __name__ == "__main__":
    main()
