from pyflink.common import Instant, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment, TableDescriptor
from pyflink.table.expressions import col, lit
from pyflink.table.udf import udaf
from pyflink.table.window import Tumble


def mean_per_window():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    t_env = StreamTableEnvironment.create(stream_execution_environment=env)
    t_env.get_config().set("python.fn-execution.bundle.size", "10")
    orders = env.from_collection(
        collection=[
            (Instant.of_epoch_milli(1000), "tea", 4.5),
            (Instant.of_epoch_milli(2000), "rye", 2.5),
            (Instant.of_epoch_milli(3000), "tea", 5.5),
            (Instant.of_epoch_milli(8000), "tea", 6.0),
            (Instant.of_epoch_milli(12000), "rye", 3.0),
        ],
        type_info=Types.ROW([Types.INSTANT(), Types.STRING(), Types.FLOAT()]),
    )
    table = t_env.from_data_stream(
        orders,
        Schema.new_builder()
        .column_by_expression("ts", "CAST(f0 AS TIMESTAMP(3))")
        .column("f1", DataTypes.STRING())
        .column("f2", DataTypes.FLOAT())
        .watermark("ts", "ts - INTERVAL '3' SECOND")
        .build(),
    ).alias("ts", "item", "price")
    t_env.create_temporary_table(
        "sink",
        TableDescriptor.for_connector("print")
        .schema(
            Schema.new_builder()
            .column("item", DataTypes.STRING())
            .column("mean", DataTypes.FLOAT())
            .column("w_start", DataTypes.TIMESTAMP(3))
            .column("w_end", DataTypes.TIMESTAMP(3))
            .build()
        )
        .build(),
    )

    @udaf(result_type=DataTypes.FLOAT(), func_type="pandas")
    def mean_price(prices):
        return prices.mean()

    table = (
        table.window(Tumble.over(lit(5).seconds).on(col("ts")).alias("w"))
        .group_by(table.item, col("w"))
        .select(table.item, mean_price(table.price), col("w").start, col("w").end)
    )
    table.execute_insert("sink").wait()


if __name__ == "__main__":
    mean_per_window()
