"""Streams of a shop: events become views, windows, an upsert table and a stream of alerts."""
import json
import os
import sys
import tempfile
from datetime import datetime

from pyflink.common import Row, RowKind, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.functions import FilterFunction, FlatMapFunction, KeySelector, MapFunction, ReduceFunction
from pyflink.table import (AggregateFunction, DataTypes, ListView, MapView, ResultKind, Schema, StreamTableEnvironment,
                           TableAggregateFunction, TableDescriptor, TableFunction)
from pyflink.table.expressions import UNBOUNDED_ROW, CURRENT_ROW, call, col, lit
from pyflink.table.udf import udaf, udf, udtaf, udtf
from pyflink.table.window import Over, Session, Slide, Tumble

EVENTS = [("ann", "view", "tea", 0, 1), ("bob", "view", "rye", 0, 4), ("ann", "buy", "tea", 2, 9), ("cid", "buy", "oat", 5, 12),
          ("bob", "buy", "rye", 3, 21), ("ann", "buy", "oat", 4, 22), ("cid", "view", "tea", 0, 34), ("ann", "back", "tea", -2, 47)]


class WeightedAverage(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def get_value(self, accumulator):
        return None if accumulator[1] == 0 else accumulator[0] / accumulator[1]

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        accumulator[0] -= value * weight
        accumulator[1] -= weight

    def get_result_type(self):
        return DataTypes.DOUBLE()

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("s", DataTypes.BIGINT()), DataTypes.FIELD("n", DataTypes.BIGINT())])


class Items(AggregateFunction):
    """The distinct items in their order, with a list view and a map view."""

    def create_accumulator(self):
        return Row(ListView(), MapView())

    def get_value(self, accumulator):
        return ",".join(sorted(accumulator[0]))

    def accumulate(self, accumulator, item):
        if item not in accumulator[1]:
            accumulator[1][item] = 1
            accumulator[0].add(item)

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("items", DataTypes.LIST_VIEW(DataTypes.STRING())),
                              DataTypes.FIELD("seen", DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.INT()))])

    def get_result_type(self):
        return DataTypes.STRING()


class Top2(TableAggregateFunction):
    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, value):
        if value is None:
            return
        if accumulator[0] is None or value > accumulator[0]:
            accumulator[1] = accumulator[0]
            accumulator[0] = value
        elif accumulator[1] is None or value > accumulator[1]:
            accumulator[1] = value

    def emit_value(self, accumulator):
        for place, value in enumerate(accumulator):
            if value is not None:
                yield Row(value, place + 1)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.INT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("value", DataTypes.INT()), DataTypes.FIELD("place", DataTypes.INT())])


class Exploded(TableFunction):
    def eval(self, user, item):
        yield user, item
        if item == "tea":
            yield user.upper(), item * 2


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[4] * 1000


class Alerts(FlatMapFunction):
    def flat_map(self, value):
        if value[3] < 0:
            yield f"back: {value[0]}"
        if value[3] >= 4:
            yield f"large: {value[0]} {value[2]}"


class IsBuy(FilterFunction):
    def filter(self, value):
        return value[1] == "buy"


class ToPair(MapFunction):
    def map(self, value):
        return Row(value[2], value[3])


class ByItem(KeySelector):
    def get_key(self, value):
        return value[0]


class Sum(ReduceFunction):
    def reduce(self, left, right):
        return Row(left[0], left[1] + right[1])


def changes(table):
    with table.execute().collect() as rows:
        return [f"{row.get_row_kind()} {row}" for row in rows]


def final(table):
    kept = {}
    with table.execute().collect() as rows:
        for row in rows:
            key = str(row)
            kept[key] = kept.get(key, 0) + (1 if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER) else -1)
    return sorted(key for key, count in kept.items() for _ in range(count))


def main(out):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set_local_timezone("UTC")
    t_env.get_config().set("python.fn-execution.bundle.size", "1")
    events = env.from_collection(EVENTS, Types.TUPLE([Types.STRING(), Types.STRING(), Types.STRING(), Types.INT(), Types.INT()]))
    timed = events.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Seconds()))
    events.flat_map(Alerts(), Types.STRING()).print()
    events.filter(IsBuy()).map(ToPair(), Types.ROW([Types.STRING(), Types.INT()])).key_by(ByItem(), Types.STRING()).reduce(Sum()).print()
    env.execute("alerts")
    table = t_env.from_data_stream(
        timed, Schema.new_builder()
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .column_by_expression("proc", "PROCTIME()")
        .watermark("rowtime", "SOURCE_WATERMARK()").build()).alias("user_name", "kind", "item", "n", "second", "rowtime", "proc")
    table.print_schema()
    t_env.create_temporary_view("events", table)
    average = udaf(WeightedAverage())
    t_env.create_temporary_function("items_of", udaf(Items()))
    print(final(table.group_by(col("user_name")).select(col("user_name"), average(col("n"), col("second")).alias("a"))))
    print(final(t_env.sql_query("SELECT kind, items_of(item) AS items FROM events GROUP BY kind")))
    print(changes(t_env.sql_query("SELECT user_name, SUM(n) AS total FROM events GROUP BY user_name")))
    print(final(table.group_by(col("kind")).flat_aggregate(udtaf(Top2())(col("n")).alias("v", "place")).select(col("kind"), col("v"), col("place"))))
    exploded = udtf(Exploded(), result_types=[DataTypes.STRING(), DataTypes.STRING()])
    print(changes(table.where(col("second") < 10).join_lateral(exploded(col("user_name"), col("item")).alias("u", "i")).select(col("u"), col("i"))))
    windows = table.window(Tumble.over(lit(20).seconds).on(col("rowtime")).alias("w")).group_by(col("w"), col("kind")) \
        .select(col("kind"), col("w").start.alias("s"), col("w").end.alias("e"), col("n").sum.alias("n"))
    print(sorted(changes(windows)))
    sliding = table.window(Slide.over(lit(30).seconds).every(lit(15).seconds).on(col("rowtime")).alias("w")).group_by(col("w")) \
        .select(col("w").end, col("user_name").count.distinct.alias("users"))
    print(sorted(changes(sliding)))
    sessions = table.window(Session.with_gap(lit(12).seconds).on(col("rowtime")).alias("w")).group_by(col("w"), col("user_name")) \
        .select(col("user_name"), col("w").start, col("w").end, col("n").sum)
    print(sorted(changes(sessions)))
    over = table.over_window(Over.partition_by(col("user_name")).order_by(col("rowtime")).preceding(UNBOUNDED_ROW).following(CURRENT_ROW).alias("w")) \
        .select(col("user_name"), col("n").sum.over(col("w")), col("n").max.over(col("w")))
    print(sorted(changes(over)))
    print(sorted(changes(t_env.sql_query("""
        SELECT window_start, item, COUNT(*) AS n, SUM(n) AS total
        FROM TABLE(HOP(TABLE events, DESCRIPTOR(rowtime), INTERVAL '10' SECOND, INTERVAL '20' SECOND))
        GROUP BY window_start, window_end, item"""))))
    t_env.create_temporary_table("printed", TableDescriptor.for_connector("print").schema(
        Schema.new_builder().column("item", "STRING NOT NULL").column("n", "INT").primary_key("item").build()).build())
    t_env.sql_query("SELECT item, SUM(n) FROM events WHERE item IS NOT NULL GROUP BY item").execute_insert("printed").wait()
    t_env.create_temporary_table("lines", TableDescriptor.for_connector("filesystem").schema(
        Schema.new_builder().column("user_name", DataTypes.STRING()).column("item", DataTypes.STRING()).build())
        .option("path", out).format("json").build())
    statements = t_env.create_statement_set()
    statements.add_insert("lines", table.where(col("kind") == "buy").select(col("user_name"), col("item")))
    statements.add_insert_sql("INSERT INTO lines SELECT user_name, 'returned' FROM events WHERE kind = 'back'")
    result = statements.execute()
    result.wait()
    print(result.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT)
    lines = []
    for base, _, names in os.walk(out):
        lines += [line for name in names if not name.startswith((".", "_")) for line in open(os.path.join(base, name)).read().splitlines()]
    print(sorted(lines))
    pairs = t_env.to_data_stream(table.where(col("kind") == "buy").select(col("item"), col("n")))
    with pairs.map(lambda row: f"{row[0]}={row.n}", output_type=Types.STRING()).execute_and_collect() as values:
        print(sorted(values))
    changelog = t_env.to_changelog_stream(t_env.sql_query("SELECT kind, COUNT(*) AS n FROM events GROUP BY kind"))
    with changelog.execute_and_collect() as rows:
        print([f"{row.get_row_kind()} {row}" for row in rows])
    described = udf(lambda kind, n: json.dumps({"k": kind, "n": n}), result_type=DataTypes.STRING())
    t_env.create_temporary_function("described", described)
    t_env.execute_sql("SELECT described(kind, n) AS d, n FROM events WHERE n > 2 ORDER BY rowtime").print()
    deduplicated = t_env.sql_query("""SELECT user_name, item FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY rowtime DESC) AS place FROM events) WHERE place = 1""")
    print(final(deduplicated))
    print(sorted(t_env.list_temporary_views()), sorted(t_env.list_user_defined_functions()))


if __name__ == "__main__":
    main(os.path.join(tempfile.mkdtemp(), "lines"))
