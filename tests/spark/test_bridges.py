"""Rows from and to DataFrames of Spark, Arrow and pandas."""

from __future__ import annotations

import datetime as dt
import gc
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_api.table import Table
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.expressions import col
from schema_core.mappings.arrow import to_schema
from schema_core.mappings.spark.pyspark_types import to_struct_field
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.spark.session.api_mode import with_metadata
from schema_core.types import (
    ArrayType,
    DataType,
    DataTypes,
    MapType,
    MultisetType,
    RowType,
    parse_type,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.spark

LOCAL = dt.datetime(2020, 1, 2, 3, 4, 5)  # noqa: DTZ001 - without a time zone
INSTANT = LOCAL.replace(tzinfo=dt.UTC)

#: Type -> a value of it.
VALUES: list[tuple[str, Any]] = [
    ("INT NOT NULL", 7),
    ("CHAR(3)", "abc"),
    ("VARCHAR(5) NOT NULL", "hello"),
    ("BINARY(2)", b"ab"),
    ("VARBINARY(4)", b"abc"),
    ("DECIMAL(5, 2)", Decimal("1.25")),
    ("TINYINT", 1),
    ("BIGINT NOT NULL", 2**60),
    ("FLOAT", 1.5),
    ("DATE", LOCAL.date()),
    ("TIME(0)", dt.time(1, 2, 3)),
    ("TIMESTAMP(0)", LOCAL),
    ("TIMESTAMP(3) NOT NULL", LOCAL.replace(microsecond=5000)),
    ("TIMESTAMP_LTZ(3)", INSTANT),
    ("INTERVAL YEAR(4) TO MONTH", 14),
    ("INTERVAL DAY(3) TO SECOND(3)", dt.timedelta(days=2, seconds=3)),
    ("BOOLEAN", True),
    ("ARRAY<INT NOT NULL> NOT NULL", [1, 2]),
    ("ARRAY<ARRAY<TIMESTAMP_LTZ(0)>>", [[INSTANT], None, []]),
    ("MAP<VARCHAR(3) NOT NULL, ARRAY<ROW<a INT NOT NULL, b CHAR(2)>>>", {"abc": [(1, "ab")]}),
    ("ROW<x CHAR(2) NOT NULL, y ARRAY<TIMESTAMP_LTZ(3)>>", ("xy", [INSTANT])),
    ("ROW<i INTERVAL YEAR TO MONTH, t TIME(0)> NOT NULL", (14, dt.time(1))),
    ("MULTISET<STRING NOT NULL>", {"a": 2}),
]


def in_arrow(value: Any, type_: DataType) -> Any:
    """Return a Python value as pyarrow expects it."""
    match type_:
        case _ if value is None:
            return None
        case RowType():
            pairs = zip(value, type_.fields, strict=True)
            return {field.name: in_arrow(item, field.data_type) for item, field in pairs}
        case ArrayType():
            return [in_arrow(element, type_.element_type) for element in value]
        case MapType():
            return [(key, in_arrow(item, type_.value_type)) for key, item in value.items()]
        case MultisetType():
            return list(value.items())
        case _:
            return value


@pytest.fixture
def every_type(environment: TableEnvironment) -> tuple[Table, list[tuple[Any, ...]]]:
    """A table with a column of each type, and its rows."""
    types = [parse_type(text) for text, _ in VALUES]
    given = tuple(value for _, value in VALUES)
    nulls = tuple(
        None if type_.is_nullable else value for type_, value in zip(types, given, strict=True)
    )
    schema = to_schema(ResolvedSchema.physical([f"c{i}" for i, _ in enumerate(types)], types))
    columns = [
        pa.array([in_arrow(value, type_) for value in values], field.type)
        for type_, field, values in zip(types, schema, zip(given, nulls, strict=True), strict=True)
    ]
    return environment.from_arrow(pa.table(columns, schema=schema)), [given, nulls]


def test_every_type_survives_spark_and_arrow(
    environment: TableEnvironment,
    session: SparkSession,
    every_type: tuple[Table, list[tuple[Any, ...]]],
) -> None:
    table, rows = every_type
    schema = table.get_resolved_schema()

    frame = table.to_spark()
    read = environment.from_spark(frame)
    batches = read.to_arrow()
    again = environment.from_arrow(batches.read_all())

    assert rows == list(table.execute().rows)
    assert frame.sparkSession is session
    assert schema == read.get_resolved_schema() == again.get_resolved_schema()
    assert batches.schema.equals(to_schema(schema), check_metadata=True)
    assert rows == list(again.execute().rows)


def test_every_type_in_pandas(every_type: tuple[Table, list[tuple[Any, ...]]]) -> None:
    table, rows = every_type

    result = table.to_pandas()

    first, second = (result.iloc[place].tolist() for place in (0, 1))
    assert list(rows[0]) == first
    assert [item is None for item in rows[1]] == [
        not isinstance(item, list | dict | tuple) and bool(pd.isna(item)) for item in second
    ]


@pytest.mark.usefixtures("classic")
def test_a_frame_of_another_session_is_read_with_its_own_settings(
    environment: TableEnvironment, session: SparkSession
) -> None:
    from pyspark.sql.functions import pandas_udf

    other = session.newSession()
    other.conf.set("spark.sql.ansi.enabled", "true")
    other.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = other.sql("SELECT timestamp'2020-01-01 05:00:00' AS t, 'A' COLLATE utf8_lcase AS s")

    hour = pandas_udf(lambda times: times.dt.hour.astype("int32"), "int")  # type: ignore[call-overload, unused-ignore]
    called = frame.select(hour("t").alias("hour"))
    table = environment.from_spark(frame)

    expected = dt.datetime(2019, 12, 31, 20, tzinfo=dt.UTC)
    assert [(expected, "A")] == list(table.execute().rows)
    assert [] == list(table.where(col("s") == "a").execute().rows)
    assert [(5,)] == list(environment.from_spark(called).execute().rows)
    failing = other.sql("SELECT CAST(concat('x', id) AS INT) AS a FROM range(1)")
    with pytest.raises(SchemaCoreError) as caught:
        list(environment.from_spark(failing).execute().rows)
    assert "job-failed" == caught.value.code


def test_a_query_runs_in_the_session_of_the_user_as_in_its_own(
    environment: TableEnvironment, session: SparkSession
) -> None:
    other = session.newSession()
    other.conf.set("spark.sql.ansi.enabled", "true")
    other.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    users = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=other)
    table = users.sql_query(
        "SELECT a + 1 AS b, CAST(s AS TIMESTAMP_LTZ(3)) AS t, CAST(a AS TINYINT) AS y"
        " FROM (VALUES (2147483647, '2020-01-01'), (300, '2020-01-02')) AS v (a, s)"
    )

    frame = table.to_spark()
    frame.createOrReplaceTempView("of_the_user")

    read = other.sql("SELECT B, unix_seconds(t), y FROM of_the_user").collect()
    assert [(-2147483648, 1577836800, -1), (301, 1577923200, 44)] == [
        tuple(column) for column in read
    ]
    assert table.get_resolved_schema() == users.from_spark(frame).get_resolved_schema()
    assert ["of_the_user"] == [table.name for table in other.catalog.listTables()]


def test_rows_live_as_long_as_something_reads_them(environment: TableEnvironment) -> None:
    inline = environment._session._inline_tables
    table = environment.from_arrow(pa.table({"a": [1, 2]}))
    added = table.select((col("a") + 1).alias("b"))
    del table
    gc.collect()

    with environment.temporary_scope():
        environment.create_temporary_view("kept", added)
        del added
        gc.collect()
        rows = environment.execute_sql("SELECT SUM(b) FROM kept").collect()
        assert 1 == len(inline)
        environment.drop_temporary_view("kept")
        gc.collect()
        assert 0 == len(inline)
        assert [[5]] == [list(row) for row in rows]


def test_views_of_data_frames(environment: TableEnvironment, session: SparkSession) -> None:
    frames: list[Any] = [
        session.range(3).selectExpr("CAST(id AS INT) AS a"),
        pd.DataFrame({"a": [0, 1, 2]}, dtype="int32"),
        pa.table({"a": pa.array([0, 1, 2], pa.int32())}),
        pa.table({"a": pa.array([0, 1, 2], pa.int32())}).to_reader(),
        pa.record_batch({"a": pa.array([0, 1, 2], pa.int32())}),
    ]
    with environment.temporary_scope():
        for place, frame in enumerate(frames):
            environment.create_temporary_view(f"v{place}", frame)
        sums = "SELECT SUM(a) FROM v{}"
        query = " UNION ALL ".join(sums.format(place) for place in range(len(frames)))
        assert [(3,)] * len(frames) == list(environment.execute_sql(query).rows)
        assert "Range (0, 3" in environment.explain_sql("SELECT a FROM v0")
    assert [] == session.catalog.listTables()


def test_exact_types_of_fields_are_those_of_columns_that_spark_makes(
    environment: TableEnvironment,
) -> None:
    type_ = "ROW<r ROW<i INT, c CHAR(3)>, a ARRAY<ROW<n TINYINT, c CHAR(3)>>, s CHAR(2)>"
    rows = [((1, "abc"), [(2, "xyz")], "xy")]
    frame = environment.from_elements(rows, type_).to_spark()

    made = frame.selectExpr("r.*", "explode(a) AS e", "coalesce(r, r) AS o")
    made = made.selectExpr("*", "e.c AS d")

    columns = environment.from_spark(made).get_resolved_schema().columns
    assert [
        "INT",
        "CHAR(3)",
        "ROW<`n` TINYINT, `c` CHAR(3)>",
        "ROW<`i` INT, `c` CHAR(3)>",
        "CHAR(3)",
    ] == [column.data_type.nullable().as_summary_string() for column in columns]


def test_a_schema_of_a_data_frame(environment: TableEnvironment, session: SparkSession) -> None:
    frame = session.sql(
        "SELECT 1 AS id, 'abc' AS name, timestamp'2020-01-01 00:00:00.123' AS ts, 5L AS other"
    )
    schema = (
        Schema.new_builder()
        .column("name", "CHAR(3)")
        .column("id", "BIGINT NOT NULL")
        .column("ts", "TIMESTAMP(3)")
        .column_by_expression("twice", "id * 2")
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("id")
        .build()
    )
    table = environment.from_spark(frame, schema)

    expected = [("abc", 1, LOCAL.replace(2020, 1, 1, 0, 0, 0, 123000), 2)]
    assert schema.resolve(environment.schema_resolver) == table.get_resolved_schema()
    assert expected == list(table.execute().rows)
    derived = Schema.new_builder().column_by_expression("sum", "other + id").build()
    with_sum = environment.from_spark(frame, derived)
    assert ["id", "name", "ts", "other", "sum"] == with_sum.get_resolved_schema().get_column_names()
    assert [(6,)] == list(with_sum.select(col("sum")).execute().rows)


def test_a_schema_of_rows_of_pandas_and_arrow(environment: TableEnvironment) -> None:
    rows = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [0.5, 1.5]})
    builder = Schema.new_builder().column("b", "CHAR(1)").column("a", "INT NOT NULL")
    schema = builder.column_by_expression("z", "a + 1").build()
    with environment.temporary_scope():
        for place, given in enumerate((rows, pa.Table.from_pandas(rows))):
            environment.create_temporary_view(f"v{place}", given, schema)
        result = environment.execute_sql("SELECT * FROM v0 UNION ALL SELECT * FROM v1").rows
        assert [("x", 1, 2), ("y", 2, 3)] * 2 == list(result)


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda builder: builder.column("big", "INT"), "not-assignable"),
        (lambda builder: builder.column("bgi", "BIGINT"), "unknown-column"),
        (lambda builder: builder.column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)"),
         "invalid-metadata-column"),
        (lambda builder: builder.column("big", "BIGINT").watermark("big", "big"),
         "invalid-watermark"),
        (lambda builder: builder.column("t", "TIMESTAMP_LTZ(3)"), "job-failed"),
        (lambda builder: builder.column("a", "BIGINT NOT NULL"), "job-failed"),
    ],
)  # fmt: skip
def test_a_schema_that_does_not_fit_a_data_frame(
    environment: TableEnvironment, session: SparkSession, build: Any, code: str
) -> None:
    frame = session.sql(
        "SELECT 1L AS big, CAST(NULL AS INT) AS a, timestamp'2020-01-01 00:00:00.0001' AS t"
    )

    with pytest.raises(SchemaCoreError) as caught:
        list(environment.from_spark(frame, build(Schema.new_builder()).build()).execute().rows)

    assert code == caught.value.code


@pytest.mark.usefixtures("classic")
def test_a_streaming_data_frame_is_an_unbounded_table(
    session: SparkSession, tmp_path: Path
) -> None:
    for number, rows in enumerate(([("a", 0), ("b", 1), ("a", 12)], [("a", 25), ("b", 3)])):
        lines = [f'{{"k": "{k}", "ts": "2020-01-01T00:00:{at:02}Z"}}' for k, at in rows]
        (tmp_path / f"{number}.json").write_text("\n".join(lines))
    frame = session.readStream.schema("k STRING, ts TIMESTAMP").json(str(tmp_path))
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    builder = Schema.new_builder().column("k", "STRING")
    own = builder.column_by_metadata("t", "TIMESTAMP_LTZ(3)", "rowtime")
    schema = own.watermark("t", "SOURCE_WATERMARK()").build()
    env.create_temporary_view("v", frame.withWatermark("ts", "3 seconds").where("k <> 'c'"), schema)

    windows = env.execute_sql(
        "SELECT k, COUNT(*) FROM TUMBLE(TABLE v, DESCRIPTOR(t), INTERVAL '10' SECOND)"
        " GROUP BY k, window_start, window_end"
    )

    with windows.collect() as result:
        assert [["a", 1], ["a", 1], ["b", 2]] == sorted(list(row) for row in islice(result, 3))


def test_data_frames_of_pandas(environment: TableEnvironment) -> None:
    berlin = pd.to_datetime(["2020-01-01", "2020-06-01"]).tz_localize("Europe/Berlin")
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "f": [1.5, float("nan")],
            "b": pd.array([True, pd.NA], dtype="boolean"),
            "z": berlin,
            "c": pd.Categorical(["x", "y"]),
            "d": [Decimal("1.5"), Decimal("22.25")],
            "s": [{"a": 1, "b": ["x"]}, None],
            "t": pd.to_timedelta(["1 days", "2 days"]),
            3: ["q", None],
        }
    )

    table = environment.from_pandas(frame)

    expected = (
        "`i` BIGINT, `f` DOUBLE, `b` BOOLEAN, `z` TIMESTAMP_LTZ(6), `c` STRING,"
        " `d` DECIMAL(4, 2), `s` ROW<`a` BIGINT, `b` ARRAY<STRING>>,"
        " `t` INTERVAL DAY(6) TO SECOND(6), `3` STRING"
    )
    columns = table.get_resolved_schema().columns
    assert expected == ", ".join(column.as_summary_string() for column in columns)
    first, second = table.execute().rows
    zone = berlin[0].astimezone(dt.UTC)
    assert (1, 1.5, True, zone, "x", Decimal("1.50"), (1, ["x"]), dt.timedelta(1), "q") == first
    assert (None, None, None) == second[:3]
    big = environment.from_elements([(2**60 + 1,), (None,)], "ROW<a BIGINT>").to_pandas()
    assert [2**60 + 1, None] == big["a"].tolist()
    environment.get_config().set_local_timezone("Europe/Berlin")
    local = pd.DataFrame({"a": pd.to_datetime(["2021-03-28 02:30", "2021-10-31 02:30"])})
    instants = environment.from_pandas(local, "ROW<a TIMESTAMP_LTZ(3)>").to_pandas()["a"]
    assert ["2021-03-28T03:30:00+02:00", "2021-10-31T02:30:00+02:00"] == [
        instant.isoformat() for instant in instants
    ]


def test_years_that_python_lacks_fail_with_an_error_and_are_in_arrow(
    environment: TableEnvironment,
) -> None:
    table = environment.sql_query("SELECT DATE '0001-01-01' - INTERVAL '1' DAY AS a")
    for run in (table.to_pandas, lambda: list(table.execute().collect())):
        with pytest.raises(SchemaCoreError, match="out of range") as caught:
            run()
        assert "job-failed" == caught.value.code
    assert [-719163] == table.to_arrow().read_all()["a"].cast("int32").to_pylist()


INT_ROW = "ROW<a INT NOT NULL>"


@pytest.mark.parametrize(
    ("column", "schema", "code"),
    [
        (["x", 1], None, "data-type-not-inferred"),
        ([None], None, "data-type-not-inferred"),
        (pd.period_range("2020", periods=1), None, "data-type-not-inferred"),
        ([1j], None, "data-type-not-inferred"),
        (pd.to_datetime([1]), None, "invalid-data"),
        ([300], "ROW<a TINYINT>", "invalid-data"),
        ([1.5], "ROW<a INT>", "invalid-data"),
        ([1.0, None], INT_ROW, "invalid-data"),
        (["abcd"], "ROW<a VARCHAR(3)>", "invalid-data"),
        (["ab"], [DataTypes.CHAR(3)], "invalid-data"),
        ([["abcd"]], "ROW<a ARRAY<VARCHAR(3)>>", "invalid-data"),
        ([Decimal("1.234")], "ROW<a DECIMAL(5, 2)>", "invalid-data"),
        (pd.to_datetime(["2020-01-01 00:00:00.5"]), "ROW<a TIMESTAMP(0)>", "invalid-data"),
        (pd.to_datetime(["2020-01-01"]).tz_localize("UTC"), "ROW<a TIMESTAMP>", "invalid-data"),
        ([1], ["a", "b"], "column-count-mismatch"),
        ([1], 5, "invalid-argument"),
    ],
)
def test_pandas_columns_that_would_change_are_refused(
    environment: TableEnvironment, column: Any, schema: object, code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.from_pandas(pd.DataFrame({"a": column}), schema)

    assert code == caught.value.code


def test_invalid_rows_are_refused(environment: TableEnvironment, session: SparkSession) -> None:
    required = pa.schema([pa.field("a", pa.list_(pa.field("e", pa.int64(), nullable=False)))])
    from_arrow, from_spark = environment.from_arrow, environment.from_spark
    dry = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())
    refused: list[tuple[Any, Any, str]] = [
        (from_arrow, pa.table([[[1, None]]], schema=required), "invalid-data"),
        (from_arrow, pa.table({"a": pa.array([1], pa.timestamp("ns"))}), "invalid-data"),
        (from_arrow, pa.table({"a": pa.array([10**7]).cast(pa.int32()).cast("date32")}),
         "invalid-data"),
        (from_arrow, pa.table([[1], [2]], names=["a", "a"]), "duplicate-column"),
        (from_arrow, pa.table({}), "missing-columns"),
        (from_arrow, [1], "invalid-argument"),
        (environment.from_polars, 5, "invalid-argument"),
        (from_spark, session.sql("SELECT 1 AS a, 2 AS a"), "duplicate-column"),
        (from_spark, session.sql("SELECT make_interval(1) AS a"), "type-not-supported"),
        (lambda item: list(from_spark(item).execute().rows),
         session.readStream.format("rate").load(), "unbounded-table"),
        (from_spark, pd.DataFrame({"a": [1]}), "invalid-argument"),
        (lambda item: environment.create_temporary_view("v", item), "SELECT 1", "invalid-argument"),
        (lambda item: environment.from_pandas(item, None, 0), pd.DataFrame({"a": [1]}),
         "invalid-argument"),
        (dry.from_arrow, pa.table({"a": [1]}), "unsupported-ability"),
    ]  # fmt: skip

    for use, given, code in refused:
        with pytest.raises(SchemaCoreError) as caught:
            use(given)
        known = {code, "missing-dependency"} if use == environment.from_polars else {code}
        assert caught.value.code in known, given


@pytest.mark.parametrize(
    ("type_", "value", "other", "problem"),
    [
        ("TIMESTAMP(3)", "timestamp_ntz'2020-01-01 00:00:00.001'", "0.0012", "fractional digits"),
        ("TIMESTAMP_LTZ(0)", "timestamp'2020-01-01 00:00:00'", "0.5", "more fractional digits"),
        ("CHAR(3)", "'abc'", "'abcdef'", "is CHAR(3) but received a value of another length"),
        ("VARCHAR(3)", "'abc'", "'abcdef'", "is VARCHAR(3) but received a longer value"),
        ("BINARY(2)", "X'0102'", "X'01'", "is BINARY(2) but received a value of another length"),
        ("VARBINARY(2)", "X'01'", "X'010203'", "is VARBINARY(2) but received a longer value"),
        ("MULTISET<STRING>", "map('a', 1)", "map('a', -1)", "a count that is not positive"),
        ("MULTISET<STRING>", "map('a', 1)", "map('a', 0)", "a count that is not positive"),
    ],
)
@pytest.mark.parametrize("nested", ["{}", "map('k', array(named_struct('x', {})))"])
def test_a_frame_whose_values_are_not_of_the_exact_type_fails(
    environment: TableEnvironment,
    session: SparkSession,
    type_: str,
    value: str,
    other: str,
    problem: str,
    nested: str,
) -> None:
    if other.startswith("0."):
        other = f"{value} + make_dt_interval(0, 0, 0, {other})"
    exact = parse_type(type_ if nested == "{}" else f"MAP<STRING, ARRAY<ROW<x {type_}>>>")
    field = to_struct_field("a", exact, on_loss="note")
    right, wrong = (session.sql(f"SELECT {nested.format(item)} AS a") for item in (value, other))
    typed = environment.from_spark(with_metadata(right, {"a": field.metadata})).to_spark()

    read = environment.from_spark(typed.union(wrong))

    assert type_ in str(read.get_resolved_schema())
    assert 1 == len(list(environment.from_spark(typed).execute().rows))
    with pytest.raises(ExternalError) as caught:
        list(read.execute().rows)
    assert problem in caught.value.problem
    assert "column 'a'" in caught.value.problem


def test_rows_are_fetched_as_they_are_read(
    environment: TableEnvironment, session: SparkSession
) -> None:
    frame = session.range(0, 40_000, 1, 20).selectExpr("id", "struct(id, array(id)) AS s")
    table = environment.from_spark(frame)
    tracker = session.sparkContext.statusTracker()
    session.sparkContext.setJobGroup("reading", "")

    rows = table.execute().collect()
    first = next(rows)
    one_job = len(tracker.getJobIdsForGroup("reading"))
    rows.close()
    reader = table.to_arrow()
    batch = reader.read_next_batch()
    del reader
    jobs = len(tracker.getJobIdsForGroup("reading"))

    assert "<Row(0, <Row(0, [0])>)>" == repr(first)
    assert 2000 == batch.num_rows
    assert (1, 2) == (one_job, jobs)
    assert 40_000 == len({row[0] for row in table.execute().rows})
    assert len(tracker.getJobIdsForGroup("reading")) < 10
    session.sparkContext.setLocalProperty("spark.jobGroup.id", None)
