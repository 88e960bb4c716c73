"""Streams of collections and tables on Spark, with the values of Flink 2.3."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schema_core.errors import SchemaCoreError
from schema_core.pyflink.common import Instant, Row, RowKind, Types, WatermarkStrategy
from schema_core.pyflink.common.watermark_strategy import TimestampAssigner
from schema_core.pyflink.datastream import FilterFunction, StreamExecutionEnvironment
from schema_core.pyflink.table import ChangelogMode, DataTypes, Schema, StreamTableEnvironment
from schema_core.pyflink.table.expressions import col
from schema_core.pyflink.table.udf import udtf

pytestmark = pytest.mark.spark

TRIPLE = Types.TUPLE([Types.INT(), Types.STRING(), Types.STRING()])
TRIPLES = [(4, "a", "p"), (2, "a", "q"), (5, "b", "r"), (3, "a", "s")]


@pytest.fixture(scope="module")
def env(spark: SparkSession) -> StreamExecutionEnvironment:
    assert spark is not None
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture(scope="module")
def tables(env: StreamExecutionEnvironment) -> StreamTableEnvironment:
    return StreamTableEnvironment.create(env)


class Large(FilterFunction):
    """Keeps values above a limit that `open` sets."""

    def open(self, runtime_context: Any) -> None:
        self.limit = 2 + runtime_context.get_index_of_this_subtask() * 0

    def filter(self, value: Any) -> bool:
        return bool(value > self.limit)


def keyed(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection(TRIPLES, TRIPLE).key_by(lambda value: value[1])


def integers(env: StreamExecutionEnvironment, *values: int) -> Any:
    return env.from_collection(values, Types.INT())


#: A stream and its values in Flink.
STREAMS: list[tuple[Callable[[StreamExecutionEnvironment], Any], list[Any]]] = [
    (lambda env: integers(env, 1, 2, 3).filter(Large()), [3]),
    (lambda env: integers(env, 1, 2, 3).filter(lambda value: value - 1), [2, 3]),
    (lambda env: env.from_collection(["a b", "c"]).flat_map(str.split), ["a", "b", "c"]),
    (lambda env: env.from_collection([(1, "a"), {"b": 2}]).map(lambda value: value),
     [(1, "a"), {"b": 2}]),
    (lambda env: integers(env, 1, 2).union(integers(env, 7), integers(env, 3)), [1, 2, 7, 3]),
    (lambda env: keyed(env).sum(0),
     [(4, "a", "p"), (6, "a", "p"), (5, "b", "r"), (9, "a", "p")]),
    (lambda env: keyed(env).min(0),
     [(4, "a", "p"), (2, "a", "p"), (5, "b", "r"), (2, "a", "p")]),
    (lambda env: keyed(env).min_by(0),
     [(4, "a", "p"), (2, "a", "q"), (5, "b", "r"), (2, "a", "q")]),
    (lambda env: integers(env, 3, 5).key_by(lambda _: 0).max(), [3, 5]),
    (lambda env: env.from_collection([Instant(0, 5000000)], Types.INSTANT()).map(
        lambda value: Instant(value.seconds + 1, value.nanos), Types.INSTANT()),
     [Instant(1, 5000000)]),
    (lambda env: env.from_collection(
        [(1.1, 12345678901234567890)], Types.ROW([Types.FLOAT(), Types.BIG_INT()])),
     [Row(f0=1.1, f1=12345678901234567890)]),
    (lambda env: env.from_collection(
        [(dt.date(2020, 1, 2), [Row(1)], b"ab")],
        Types.TUPLE([Types.SQL_DATE(), Types.OBJECT_ARRAY(Types.ROW([Types.INT()])),
                     Types.PRIMITIVE_ARRAY(Types.BYTE())])).map(
        lambda value: f"{value[0]} {value[1]} {value[2]!r}", Types.STRING()),
     ["2020-01-02 [Row(f0=1)] b'ab'"]),
]  # fmt: skip


def test_streams_have_the_values_of_flink(env: StreamExecutionEnvironment) -> None:
    for stream, expected in STREAMS:
        assert expected == list(stream(env).execute_and_collect())


def test_the_rows_of_tables_are_streams(
    env: StreamExecutionEnvironment, tables: StreamTableEnvironment
) -> None:
    table = tables.from_elements(
        [(1, "a", Decimal("1.50"))],
        "ROW<id BIGINT, s STRING, price DECIMAL(10, 2)>",
    )

    stream = tables.to_data_stream(table)

    assert "RowTypeInfo(id: Long, s: String, price: DECIMAL(10, 2))" in repr(stream.get_type())
    assert [Row(id=1, s="a", price=Decimal("1.50"))] == list(stream.execute_and_collect())
    texts = stream.map(lambda row: f"{row.s}{row.price}", Types.STRING())
    assert ["a1.50"] == list(texts.execute_and_collect())
    row = Types.ROW([Types.LONG(), Types.STRING()])
    pairs = table.select(col("id"), col("s"))
    assert [Row(f0=1, f1="a")] == list(tables.to_append_stream(pairs, row).execute_and_collect())
    retracted = tables.to_retract_stream(pairs, row)
    assert [(True, Row(f0=1, f1="a"))] == list(retracted.execute_and_collect())
    with pytest.raises(SchemaCoreError, match="those of"):
        tables.to_append_stream(pairs, Types.ROW([Types.INT(), Types.STRING()]))


def test_updates_are_rows_of_a_stream_of_changes_only(tables: StreamTableEnvironment) -> None:
    table = tables.sql_query("SELECT MAX(x) AS m FROM (VALUES (1), (3)) AS t(x)")

    with pytest.raises(SchemaCoreError, match="update changes") as caught:
        tables.to_data_stream(table)
    rows = tables.to_changelog_stream(table)
    later = rows.filter(lambda row: row.get_row_kind() is RowKind.UPDATE_AFTER)
    union = later.union(later.map(lambda row: Row(row.m + 1), rows.get_type()))
    texts = rows.map(lambda row: str(row.get_row_kind()), Types.STRING())
    pairs = tables.to_retract_stream(table, Types.ROW([Types.INT()]))

    assert "streaming-not-supported" == caught.value.code
    assert ["+I 1", "-U 1", "+U 3"] == changes(rows)
    assert ["+U 3", "+I 4"] == changes(union)
    assert ["+I", "-U", "+U"] == list(texts.execute_and_collect())
    assert [(True, 1), (False, 1), (True, 3)] == [
        (adds, row.f0) for adds, row in pairs.execute_and_collect()
    ]


def changes(stream: Any) -> list[str]:
    return [f"{row.get_row_kind()} {row[0]}" for row in stream.execute_and_collect()]


def test_a_schema_and_a_mode_of_changes(tables: StreamTableEnvironment) -> None:
    table = tables.sql_query("SELECT MAX(x) AS m FROM (VALUES (1), (3)) AS t(x)")
    bigint = Schema.new_builder().column("m", DataTypes.BIGINT().not_null()).build()
    other = Schema.new_builder().column("n", DataTypes.INT()).build()
    upserts = tables.to_changelog_stream(table, bigint, ChangelogMode.upsert())

    assert ["+I 1", "+U 3"] == changes(upserts)
    assert "LONG" in str(upserts.get_type()).upper()
    with pytest.raises(SchemaCoreError, match="those of the schema n INT") as caught:
        tables.to_changelog_stream(table, other)
    assert "invalid-argument" == caught.value.code
    with pytest.raises(SchemaCoreError, match="update changes") as caught:
        tables.to_changelog_stream(table, None, ChangelogMode.insert_only())
    assert "streaming-not-supported" == caught.value.code


def test_a_stream_of_changes_is_a_table(
    env: StreamExecutionEnvironment, tables: StreamTableEnvironment
) -> None:
    values = [("+I", "a", 1), ("+I", "b", 2), ("-U", "a", 1), ("+U", "a", 5), ("-D", "b", 2)]
    rows = []
    for sign, *columns in values:
        rows.append(Row(*columns))
        rows[-1].set_row_kind(next(kind for kind in RowKind if str(kind) == sign))
    stream = env.from_collection(rows, Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.INT()]))
    schema = Schema.new_builder().column("n", DataTypes.BIGINT()).build()
    computed = Schema.new_builder().column_by_expression("m", "n + 1").build()

    def collect(table: Any) -> list[tuple[Any, ...]]:
        with table.execute().collect() as result:
            return [(str(row.get_row_kind()), *row) for row in result]

    assert values == collect(tables.from_changelog_stream(stream))
    totals = tables.from_changelog_stream(stream, schema).select(col("n").sum.alias("s"))
    assert [("+I", 1), ("-U", 1), ("+U", 3), ("-U", 3), ("+U", 2)] == collect(totals)[:5]
    assert ("+U", 5) == collect(totals)[-1]
    keyed = Schema.new_builder().column("k", "STRING NOT NULL").column("n", "INT").primary_key("k")
    upserts = ChangelogMode.upsert()
    assert values == collect(tables.from_changelog_stream(stream, keyed.build(), upserts))
    absent = Schema.new_builder().column("id", "INT NOT NULL").primary_key("id").build()
    uses: list[tuple[Callable[[], object], str]] = [
        (lambda: tables.from_data_stream(stream), "invalid-argument"),
        (lambda: tables.from_changelog_stream(stream, schema, ChangelogMode.insert_only()),
         "invalid-argument"),
        (lambda: tables.from_changelog_stream(stream, schema, upserts), "invalid-argument"),
        (lambda: tables.from_changelog_stream(stream, absent, upserts), "unknown-column"),
        (lambda: tables.from_changelog_stream(stream, computed), "needs-flink"),
    ]  # fmt: skip
    for use, code in uses:
        with pytest.raises(SchemaCoreError) as caught:
            use()
        assert code == caught.value.code


def test_unbounded_tables_are_mapped_and_not_reduced(tables: StreamTableEnvironment) -> None:
    tables.execute_sql(
        "CREATE TEMPORARY TABLE ticks (n BIGINT) WITH ('connector' = 'datagen',"
        " 'rows-per-second' = '5', 'fields.n.kind' = 'random', 'fields.n.min' = '7',"
        " 'fields.n.max' = '7')"
    )
    stream = tables.to_data_stream(tables.from_path("ticks"))
    doubled = stream.map(lambda row: row.n * 2, Types.LONG()).execute_and_collect()

    assert isinstance(doubled, Iterator)
    assert 14 == next(doubled)
    doubled.close()
    with pytest.raises(SchemaCoreError, match="cannot be reduced one by one") as caught:
        stream.key_by(lambda row: row.n).sum("n").execute_and_collect()
    assert "needs-flink" == caught.value.code


def test_expressions_of_a_schema_read_fields_that_it_does_not_declare(
    env: StreamExecutionEnvironment, tables: StreamTableEnvironment
) -> None:
    stream = env.from_collection([(1, "a")], Types.ROW([Types.INT(), Types.STRING()]))
    schema = (
        Schema.new_builder()
        .column_by_expression("more", "f0 + 1")
        .column("f1", DataTypes.STRING())
        .build()
    )
    table = tables.from_data_stream(stream, schema)

    assert ["more", "f1"] == table.column_names()
    with table.execute().collect() as rows:
        assert [Row(2, "a")] == list(rows)
    with pytest.raises(SchemaCoreError, match="no column 'zz'"):
        tables.from_data_stream(stream, Schema.new_builder().column("zz", "INT").build())
    metadata = Schema.new_builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").build()
    with pytest.raises(SchemaCoreError, match="no metadata 'rowtime'") as caught:
        tables.from_data_stream(stream, metadata)
    assert "invalid-metadata-column" == caught.value.code


class Milliseconds(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[0])


def test_the_metadata_of_a_stream_is_in_the_schema_of_its_table(
    env: StreamExecutionEnvironment, tables: StreamTableEnvironment
) -> None:
    stream = env.from_collection([(7, "a")], Types.ROW([Types.LONG(), Types.STRING()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    timed = stream.assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(Milliseconds())
    )
    builder = Schema.new_builder().column_by_metadata("at", "TIMESTAMP_LTZ(3)", "rowtime", True)
    with_key = builder.watermark("at", "SOURCE_WATERMARK()").build()
    chosen = (
        Schema.new_builder()
        .column("f1", "STRING")
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
    )

    tables.create_temporary_view("timed", timed, with_key)
    assert str(tables.from_path("timed").get_resolved_schema()) == (
        "(\n  `f0` BIGINT,\n  `f1` STRING,\n"
        "  `at` TIMESTAMP_LTZ(3) *ROWTIME* METADATA FROM 'rowtime' VIRTUAL,\n"
        "  WATERMARK FOR `at`: TIMESTAMP_LTZ(3) AS SOURCE_WATERMARK()\n)"
    )
    table = tables.from_data_stream(timed, chosen.build())
    assert str(table.get_resolved_schema()) == (
        "(\n  `f1` STRING,\n  `rowtime` TIMESTAMP_LTZ(3) METADATA\n)"
    )


@pytest.mark.parametrize("result", [Row("ab"), ("ab",), "ab", [Row("ab")], [("ab",)], None])
def test_a_table_function_of_one_column_returns_rows_or_values(
    result: object, tables: StreamTableEnvironment
) -> None:
    function = udtf(lambda _: result, result_types=["STRING"])

    with tables.from_elements([(1,)], ["n"]).flat_map(function).execute().collect() as rows:
        assert ([] if result is None else [Row("ab")]) == list(rows)
