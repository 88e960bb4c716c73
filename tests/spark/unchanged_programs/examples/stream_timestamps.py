from pyflink.common import Duration, Row, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment
from pyflink.table.expressions import col, lit
from pyflink.table.window import Tumble


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0] * 1000


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    t_env = StreamTableEnvironment.create(env)
    visits = env.from_collection(
        [(1, "a", 5), (4, "b", 7), (3, "a", 1), (11, "a", 2), (14, "b", 3)],
        Types.ROW_NAMED(["second", "page", "n"], [Types.INT(), Types.STRING(), Types.LONG()]),
    ).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
        .with_timestamp_assigner(Seconds())
    )
    table = t_env.from_data_stream(
        visits,
        Schema.new_builder()
        .column_by_expression("shout", "UPPER(page)")
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .watermark("rowtime", "SOURCE_WATERMARK()")
        .build(),
    )
    print(table.get_schema().get_field_names())
    t_env.create_temporary_view("visits", table)
    t_env.execute_sql("""
        SELECT shout, SUM(n) AS visits FROM visits
        GROUP BY shout, TUMBLE(rowtime, INTERVAL '10' SECOND)
    """).print()
    windows = table.window(Tumble.over(lit(10).seconds).on(col("rowtime")).alias("w")).group_by(
        col("w"), col("page")
    ).select(col("page"), col("n").max.alias("most"))
    stream = t_env.to_data_stream(windows)
    stream.map(lambda row: f"{row.page}:{row.most}", Types.STRING()).print()
    env.execute()
    t_env.create_temporary_view(
        "pairs",
        visits.map(lambda v: Row(v.page, v.n), Types.ROW([Types.STRING(), Types.LONG()])),
        Schema.new_builder().column("f1", DataTypes.BIGINT()).column("f0", "STRING").build(),
    )
    t_env.sql_query("SELECT f0, f1 FROM pairs WHERE f1 > 2").execute().print()
    changes = t_env.to_changelog_stream(t_env.sql_query("SELECT COUNT(*) AS c FROM pairs"))
    with changes.execute_and_collect() as rows:
        print(list(rows)[-1])


if __name__ == "__main__":
    main()
