"""The filesystem connector: reading, writing, and errors."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from schema_core import Row
from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import open_connector
from schema_core.environment.planner import BoundTable
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaError
from schema_core.mappings.spark.pyspark_types import from_struct_field
from schema_core.schema.unresolved import Schema
from schema_core.spark.connector import (
    RAW_PREFIX,
    ReadContext,
    WriteContext,
    diagnosing,
    for_spark,
    metadata_types,
)
from schema_core.spark.jobs import spark_errors
from schema_core.spark.reading.sources import source_frame
from schema_core.types import DataTypes as T

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.environment.jobs.atomicity import Stage

CONNECTOR = FilesystemConnector()
Make = Callable[..., BoundTable]

PRICES = (
    Schema.new_builder()
    .column("id", T.INT(nullable=False))
    .column("name", T.CHAR(5))
    .column("price", T.DECIMAL(5, 2))
    .column("at", T.TIMESTAMP(3))
    .column_by_expression("twice", "price * 2")
    .column_by_metadata("place", T.STRING(), "file.path", True)
    .column_by_metadata("size", T.BIGINT(), "file.size", True)
    .build()
)
HEADER = "id,name,price,at"
NA = {"csv.null-literal": "NA"}
NEW_YEAR = dt.datetime(2020, 1, 1)  # noqa: DTZ001


def context_of(session: SparkSession, bound: BoundTable) -> ReadContext:
    return ReadContext(
        bound.identifier,
        bound.table,
        {},
        session=session,
        zone="UTC",
        metadata=metadata_types(CONNECTOR, bound.table),
    )


def frame_of(session: SparkSession, bound: BoundTable) -> DataFrame:
    frame = source_frame(for_spark(CONNECTOR), context_of(session, bound)).frame
    return frame.drop(*(name for name in frame.columns if name.startswith(RAW_PREFIX)))


def rows(session: SparkSession, bound: BoundTable) -> list[tuple[Any, ...]]:
    with diagnosing([(CONNECTOR, context_of(session, bound))]), spark_errors():
        return [tuple(row) for row in frame_of(session, bound).collect()]


def staged(frame: DataFrame, bound: BoundTable, *, overwrite: bool = False) -> Stage:
    """Write rows, which are not visible yet."""
    session = frame.sparkSession
    context = WriteContext(
        bound.identifier, bound.table, {}, session=session, zone="UTC", overwrite=overwrite
    )
    stage = CONNECTOR.stage(context)
    CONNECTOR.write(frame, replace(context, stage=stage))
    return stage


def problem(session: SparkSession, bound: BoundTable) -> str:
    with pytest.raises(ExternalError) as caught:
        rows(session, bound)
    return caught.value.problem


def test_csv_distinguishes_empty_strings_from_null(
    session: SparkSession, table: Make, tmp_path: Path
) -> None:
    lines = [HEADER, "1,ann,1.255,2020-01-01 00:00:00.5", "2,,NA,NA"]
    bound = table(PRICES, options={**NA, "csv.header": "true"}, lines=lines)
    file = tmp_path / "a csv table" / "rows of it"
    about = (str(file), file.stat().st_size)

    assert [
        (
            1,
            "ann",
            Decimal("1.26"),
            dt.datetime.fromisoformat("2020-01-01 00:00:00.500"),
            Decimal("2.52"),
            *about,
        ),
        (2, "", None, None, None, *about),
    ] == sorted(rows(session, bound))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x,ann,1,NA", "column 'id': cannot read as INT NOT NULL: x"),
        ("NA,ann,1,NA", "column 'id' is NOT NULL but received NULL"),
        (
            "1,ann,1,2020-13-01 00:00:00",
            "column 'at': cannot read as TIMESTAMP(3): 2020-13-01 00:00:00",
        ),
    ],
)
def test_an_invalid_field_fails_the_job_with_its_column(
    session: SparkSession, table: Make, line: str, expected: str
) -> None:
    bound = table(PRICES, options=NA, lines=[line])

    message = problem(session, bound)
    assert f"the job failed: {expected}" == message.partition(" in file:")[0]
    assert ("cannot read" in message) == (" in file:" in message)


def test_a_header_must_match_the_columns(session: SparkSession, table: Make) -> None:
    bound = table(PRICES, options={"csv.header": "true"}, lines=["id,nam,price,at", "1,a,1,NA"])

    assert "line 1: expected the header" in problem(session, bound)


def test_invalid_fields_are_null_on_request(session: SparkSession, table: Make) -> None:
    options = {"csv.ignore-parse-errors": "true"}
    schema = Schema.new_builder().column("a", T.INT()).column("b", T.INT()).build()
    bound = table(schema, options=options, lines=["x,1"])

    assert [(None, 1)] == rows(session, bound)


def test_a_missing_directory_is_refused(session: SparkSession, table: Make) -> None:
    with pytest.raises(ExternalError) as caught:
        rows(session, table(PRICES))

    assert "file-not-found" == caught.value.code


def test_unknown_metadata_is_refused(table: Make) -> None:
    schema = Schema.new_builder().column_by_metadata("x", T.INT(), "file.owner").build()
    with pytest.raises(SchemaError) as caught:
        open_connector(table(schema, lines=["1"]), "read", {})

    assert ("invalid-metadata-column", ("column 'x'",)) == (caught.value.code, caught.value.path)


EVERYTHING = {
    "i": (T.INT(), "1"),
    "s": (T.STRING(), "'it\\'s, \"so\"\\nit is'"),
    "c": (T.CHAR(3), "'ab '"),
    "t3": (T.TIMESTAMP(3), "TIMESTAMP_NTZ'2020-01-01 00:00:00.123'"),
    "l": (T.TIMESTAMP_LTZ(3), "TIMESTAMP'2020-01-01 00:00:00.5'"),
    "t": (T.TIME(3), "TIME'01:02:03.004'"),
    "d": (T.DATE(), "DATE'0001-01-01'"),
    "x": (T.DOUBLE(), "1e-9D"),
    "b": (T.BYTES(), "X'01ff'"),
    "y": (T.BOOLEAN(), "TRUE"),
    "n": (T.DECIMAL(38, 18), "CAST('0.000000000000000001' AS DECIMAL(38, 18))"),
    "p": (T.STRING(), "'a/b'"),
}


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "orc"])
def test_rows_are_read_as_written(session: SparkSession, table: Make, form: str) -> None:
    builder = Schema.new_builder()
    for name, (type_, _) in EVERYTHING.items():
        builder.column(name, type_)
    bound = table(builder.build(), form, NA if form == "csv" else {}, ["p"])
    values = ", ".join(text for _, text in EVERYTHING.values())
    known = session.sql(f"SELECT {values}").toDF(*EVERYTHING)
    unknown = known.selectExpr(*(f"nullif({name}, {name}) AS {name}" for name in EVERYTHING))
    expected = known.union(unknown)

    staged(expected, bound).commit()

    assert sorted(map(str, expected.collect())) == sorted(
        map(str, frame_of(session, bound).collect())
    )


def test_parquet_keeps_the_exact_types(session: SparkSession, table: Make) -> None:
    schema = Schema.new_builder().column("a", T.CHAR(3)).column("b", T.TIMESTAMP(3)).build()
    bound = table(schema, "parquet")
    staged(session.sql("SELECT 'abc' a, TIMESTAMP_NTZ'2020-01-01 00:00:00' b"), bound).commit()

    result = session.read.parquet(bound.table.options["path"]).schema

    assert ["CHAR(3)", "TIMESTAMP(3)"] == [str(from_struct_field(field)) for field in result.fields]


def test_the_rows_of_an_aborted_stage_are_not_visible(
    session: SparkSession, table: Make, tmp_path: Path
) -> None:
    schema = Schema.new_builder().column("a", T.INT()).build()
    bound = table(schema)

    staged(session.range(3).selectExpr("CAST(id AS INT) a"), bound).abort()

    assert not (tmp_path / "a csv table").exists()


def test_overwriting_replaces_the_partitions_that_get_rows(
    session: SparkSession, table: Make
) -> None:
    schema = Schema.new_builder().column("a", T.INT()).column("p", T.INT()).build()
    bound = table(schema, "parquet", partitions=["p"])
    for query, overwrite in (
        ("VALUES (1, 1), (2, 2)", False),
        ("VALUES (3, 2)", True),
        ("VALUES (4, NULL)", False),
    ):
        frame = session.sql(f"SELECT * FROM {query} AS v(a, p)")
        staged(frame, bound, overwrite=overwrite).commit()

    assert {(1, 1), (3, 2), (4, None)} == set(rows(session, bound))


PATHS = (
    "g/a", "g/b", "g/*", "g/[a]", "g/?", "g/{a,b}", "g/\\a", "a b", "a%20b", "a#b", "a:b", "x:y/z",
    "a+b", "a;b,c", "${user.dir}", "$b", "a=1", "_t", ".t", "'q'", '"', "`", "\n", "a?b=c", "%zz",
    "..a", "x._COPYING_", "é\u2028\U0001d11e", "ends/",
)  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "orc"])
def test_a_path_is_read_as_it_is_written(session: SparkSession, tmp_path: Path, form: str) -> None:
    """Each table contains another number, so reading files of another table is detected."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    schema = Schema.new_builder().column("a", T.INT()).build()
    some = PATHS[:8] if form != "parquet" else PATHS
    for place, name in enumerate(some):
        table = TableDescriptor.for_connector("filesystem").schema(schema)
        table.option("path", f"{tmp_path}/{name}").option("format", form)
        environment.create_table(f"t{place}", table.build())
        environment.execute_sql(f"INSERT INTO t{place} SELECT {place}").wait()
    for place in range(len(some)):
        result = environment.execute_sql(f"SELECT * FROM t{place}").collect()
        assert [(place,)] == list(map(tuple, result))


@pytest.mark.parametrize("name", ["_f.csv", ".f.csv"])
def test_a_hidden_file_is_refused(
    session: SparkSession, table: Make, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("1\n", encoding="utf-8")
    schema = Schema.new_builder().column("a", T.INT()).build()
    with pytest.raises(ExternalError) as caught:
        rows(session, table(schema, options={"path": str(tmp_path / name)}))

    assert "file-not-found" == caught.value.code


def test_unreadable_lines_of_json_are_skipped_on_request(
    session: SparkSession, table: Make, tmp_path: Path
) -> None:
    schema = (
        Schema.new_builder()
        .column("a", T.INT())
        .column("r", T.ROW([T.FIELD("x", T.INT()), T.FIELD("y", T.STRING())]))
        .column_by_metadata("name", T.STRING(), "file.name", True)
        .build()
    )
    lines = [
        '{"a": 1, "r": {"x": 2, "y": "z"}}', "broken", '{"a": "y", "r": {"x": "q", "y": "z"}}',
        '{"a": 3', "", "[1]", "null", "4", '{"r": null}',
    ]  # fmt: skip
    bound = table(schema, "json", {"json.ignore-parse-errors": "true"}, lines=lines)
    name = "rows of it"

    assert [(1, (2, "z"), name), (None, None, name), (None, (None, "z"), name)] == sorted(
        rows(session, bound), key=str
    )
    assert 3 == frame_of(session, bound).count()


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("INT", "1.9", 1),
        ("ARRAY<INT>", '[1.9, "2", null]', [1, 2, None]),
        ("MAP<STRING, TIMESTAMP(0)>", '{"k": "2019-12-31 24:00:00"}', {"k": NEW_YEAR}),
        ("ROW<x BYTES, y BOOLEAN>", '{"x": "YWI=", "y": "yes"}', (b"ab", False)),
        ("MULTISET<STRING>", '{"k": 2.5}', {"k": 2}),
        ("STRING", "1.50", "1.50"),
        ("STRING", '"\t"', "\t"),
        ("DOUBLE", "NaN", None),
        ("INT", '"1.9"', None),
        ("ARRAY<INT>", '["1.9"]', None),
        ("BYTES", "1234", None),
        ("DATE", '"2021-01-01 00:00:00"', None),
        ("TIMESTAMP_LTZ(3)", '"2021-01-01 00:00:00"', None),
    ],
)
def test_json_values_are_read_as_in_flink(
    environment: TableEnvironment, tmp_path: Path, type_: str, value: str, expected: object
) -> None:
    (tmp_path / "rows").write_text(f'{{"a": {value}}}\n', encoding="utf-8")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json'"
    environment.execute_sql(f"CREATE TABLE j (a {type_}) WITH ({options})")
    if expected is None:
        with pytest.raises(ExternalError) as caught:
            list(environment.execute_sql("SELECT * FROM j").collect())
        assert "job-failed" == caught.value.code
        return

    [row] = environment.execute_sql("SELECT * FROM j").collect()
    actual = tuple(row[0]) if isinstance(expected, tuple) else row[0]
    assert expected == actual


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("DECIMAL(38, 18)", "12345678901234567890.123456789012345678",
         Decimal("12345678901234567890.123456789012345678")),
        ("DECIMAL(20, 2)", "123456789012345.6789", Decimal("123456789012345.68")),
        ("DECIMAL(20, 2)", '"123456789012345678.126"', Decimal("123456789012345678.13")),
        ("DECIMAL(4, 2)", "12345678901234567890.5", None),
        ("DECIMAL(4, 2)", '"x"', None),
        ("ARRAY<DECIMAL(38, 1)>", "[1234567890123456789012.5, null, 1e1]",
         [Decimal("1234567890123456789012.5"), None, Decimal("10.0")]),
        ("ARRAY<ROW<d DECIMAL(38, 1)>>", '[{"d": 1234567890123456789012.5}, null]',
         [Row(Decimal("1234567890123456789012.5")), None]),
        ("MAP<STRING, DECIMAL(38, 1)>", '{"k": 1234567890123456789012.5}',
         {"k": Decimal("1234567890123456789012.5")}),
    ],
)  # fmt: skip
def test_decimals_of_json_keep_their_digits_if_errors_are_ignored(
    environment: TableEnvironment, tmp_path: Path, type_: str, value: str, expected: object
) -> None:
    (tmp_path / "rows").write_text(f'broken\n{{"a": {value}}}\n', encoding="utf-8")
    options = (
        f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json', "
        "'json.ignore-parse-errors' = 'true'"
    )
    environment.execute_sql(f"CREATE TABLE j (a {type_}) WITH ({options})")

    [row] = environment.execute_sql("SELECT * FROM j").collect()
    assert expected == row[0]


@pytest.mark.parametrize("statement", ["SELECT * FROM j", "INSERT INTO j SELECT MAP[1, 2], 'x'"])
def test_json_has_keys_of_strings_only(
    environment: TableEnvironment, tmp_path: Path, statement: str
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json'"
    environment.execute_sql(f"CREATE TABLE j (a MAP<INT, INT>, b STRING) WITH ({options})")
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql(statement)

    assert "type-not-supported" == caught.value.code


def test_json_without_null_fields(environment: TableEnvironment, tmp_path: Path) -> None:
    options = (
        f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}',"
        " 'json.fail-on-missing-field' = 'false', 'json.encode.ignore-null-fields' = 'true'"
    )
    environment.execute_sql(f"CREATE TABLE j (a INT, b STRING) WITH ({options})")
    environment.execute_sql("INSERT INTO j VALUES (1, CAST(NULL AS STRING)), (2, 'x')").wait()

    lines = sorted(line for file in tmp_path.glob("part-*") for line in file.read_text().split())
    assert ['{"a":1}', '{"a":2,"b":"x"}'] == lines


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ('{"i": 1, "r": {"x": 1, "y": null}, "a": [{"z": 1}], "m": {"k": {"w": 1}}}', False),
        ('{"i": null, "r": null, "a": null, "m": null}', False),
        ('{"r": null, "a": null, "m": null}', True),
        ('{"i": 1, "r": {"x": 1}, "a": [], "m": {}}', True),
        ('{"i": 1, "r": null, "a": [{"z": 1}, {}], "m": {}}', True),
        ('{"i": 1, "r": null, "a": [], "m": {"k": {}}}', True),
    ],
)
def test_json_that_lacks_a_field_fails_on_request(
    environment: TableEnvironment, tmp_path: Path, line: str, *, is_refused: bool
) -> None:
    """As in the messages of tests/cases/kafka_results.jsonl."""
    (tmp_path / "rows").write_text(f"{line}\n")
    columns = "i INT, r ROW<x INT, y STRING>, a ARRAY<ROW<z INT>>, m MAP<STRING, ROW<w INT>>"
    options = (
        f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}',"
        " 'json.fail-on-missing-field' = 'true'"
    )
    environment.execute_sql(f"CREATE TABLE j ({columns}) WITH ({options})")

    def read() -> list[Row]:
        return list(environment.execute_sql("SELECT * FROM j").collect())

    if not is_refused:
        assert 1 == len(read())
        return
    with pytest.raises(ExternalError) as caught:
        read()
    assert "lacks a field" in str(caught.value)


def test_errors_of_json_are_not_both_ignored_and_raised(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    options = (
        f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}',"
        " 'json.fail-on-missing-field' = 'true', 'json.ignore-parse-errors' = 'true'"
    )
    environment.execute_sql(f"CREATE TABLE j (a INT) WITH ({options})")
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql("SELECT * FROM j")

    assert "invalid-option-value" == caught.value.code


def test_decimals_of_json_have_no_exponent_on_request(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    options = (
        f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}',"
        " 'json.encode.decimal-as-plain-number' = 'true'"
    )
    columns = "d DECIMAL(10, 8), a ARRAY<DECIMAL(10, 8)>"
    environment.execute_sql(f"CREATE TABLE j ({columns}) WITH ({options})")
    value = "CAST('0.00000001' AS DECIMAL(10, 8))"
    environment.execute_sql(f"INSERT INTO j SELECT {value}, ARRAY[{value}]").wait()

    lines = [line for file in tmp_path.glob("part-*") for line in file.read_text().split()]
    assert ['{"d":0.00000001,"a":[0.00000001]}'] == lines


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("trim-spaces", '1, "x" ,2\n 3 , y ,4\n', [(1, "x", 2), (3, "y", 4)]),
        ("ignore-trailing-unmappable", "1,x,2,3\n4,y,5\n", [(1, "x", 2), (4, "y", 5)]),
    ],
)
def test_csv_with_blanks_and_more_fields(
    environment: TableEnvironment,
    tmp_path: Path,
    option: str,
    text: str,
    expected: list[tuple[Any, ...]],
) -> None:
    (tmp_path / "rows").write_text(text)
    options = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}'"
    columns = "a INT, b STRING, c INT"
    environment.execute_sql(f"CREATE TABLE c ({columns}) WITH ({options}, 'csv.{option}' = 'true')")
    assert expected == [tuple(row) for row in environment.execute_sql("SELECT * FROM c").collect()]


def test_csv_with_too_few_fields_is_skipped_on_request(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    (tmp_path / "rows").write_text("1\n2,x\n")
    options = (
        f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}',"
        " 'csv.ignore-parse-errors' = 'true'"
    )
    environment.execute_sql(f"CREATE TABLE c (a INT, b STRING) WITH ({options})")
    query = "SELECT * FROM c"
    hint = "/*+ OPTIONS('csv.fail-on-missing-columns' = 'true') */"

    assert 2 == len(list(environment.execute_sql(query).collect()))
    assert 1 == len(list(environment.execute_sql(f"{query} {hint}").collect()))


# --- partitions ----------------------------------------------------------------------------------

#: Type, two values, the first in SQL.
KEYS = [
    ("STRING", "'x y'", "x y", "z"),
    ("CHAR(3)", "'abc'", "abc", "abd"),
    ("INT", "7", 7, 8),
    ("BIGINT NOT NULL", "7", 7, 8),
    ("DATE", "DATE '2024-02-29'", dt.date(2024, 2, 29), dt.date(2024, 3, 1)),
    ("BOOLEAN", "TRUE", True, False),
]


@pytest.mark.parametrize(("type_", "sql", "one", "other"), KEYS)
@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_partitions_are_pruned(
    environment: TableEnvironment,
    tmp_path: Path,
    form: str,
    type_: str,
    sql: str,
    one: object,
    other: object,
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = '{form}'"
    columns = f"a INT, p {type_}"
    environment.execute_sql(f"CREATE TABLE t ({columns}) PARTITIONED BY (p) WITH ({options})")
    types = T.ROW([T.FIELD("a", T.INT()), T.FIELD("p", T.of(type_))])
    values = [(1, one), (2, other)] + ([] if "NOT NULL" in type_ else [(3, None)])
    environment.from_elements(values, types).execute_insert("t").wait()
    query = f"SELECT a FROM t WHERE p = {sql}"

    assert values == sorted(map(tuple, environment.execute_sql("SELECT * FROM t").collect()))
    assert [(1,)] == [tuple(row) for row in environment.execute_sql(query).collect()]
    assert "PartitionFilters: []" not in environment.explain_sql(query)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("INT", "-7", -7),
        ("INT", " 7", 7),
        ("DECIMAL(5, 2)", "1.5", Decimal("1.50")),
        ("TIMESTAMP(3)", "2020-01-01 00%3A00%3A00.5", dt.datetime(2020, 1, 1, 0, 0, 0, 500_000)),  # noqa: DTZ001
        ("TIMESTAMP(3)", "2020-01-01T00%3A00%3A00.5", dt.datetime(2020, 1, 1, 0, 0, 0, 500_000)),  # noqa: DTZ001
        ("TIMESTAMP(3)", "2020-01-01T00%3A00", NEW_YEAR),
        ("TIMESTAMP(0)", "2020-01-01T00%3A00%3A00.123456", NEW_YEAR),
        ("TIMESTAMP(3)", "2020-01-01T00%3A00.5", None),
        ("DATE", "18628", dt.date(2021, 1, 1)),
        ("DATE", "-1", dt.date(1969, 12, 31)),
        ("DATE", "2021", None),
        ("TIME(3)", "36062500", dt.time(10, 1, 2, 500_000)),
        ("TIME(0)", "99999999", None),
        ("BOOLEAN", "1", False),
        ("VARCHAR(2)", "abcd", "abcd"),
        ("CHAR(3)", "ab", "ab"),
        ("BOOLEAN", "True", True),
        ("DATE", "2024-1-5", dt.date(2024, 1, 5)),
        ("INT", "x", None),
        ("INT", "99999999999", None),
        ("DATE", "2024-02-30", None),
        ("TINYINT", "300", None),
    ],
)
def test_the_directory_of_a_partition_is_read_as_flink_writes_it(
    environment: TableEnvironment, tmp_path: Path, type_: str, value: str, expected: object
) -> None:
    folder = tmp_path / "t" / f"p={value}"
    folder.mkdir(parents=True)
    (folder / "rows").write_text("1\n", encoding="utf-8")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'csv'"
    environment.execute_sql(
        f"CREATE TABLE t (a INT, p {type_}) PARTITIONED BY (p) WITH ({options})"
    )
    if expected is not None:
        [row] = environment.execute_sql("SELECT * FROM t").collect()
        assert (1, expected) == tuple(row)
        return

    with pytest.raises(ExternalError) as caught:
        environment.execute_sql("SELECT * FROM t").collect()
    assert "schema-mismatch" == caught.value.code
    assert f"'p={unquote(value)}'" in caught.value.problem


@pytest.mark.parametrize(
    ("type_", "value", "name"),
    [
        ("TIMESTAMP(3)", "TIMESTAMP '2021-01-01 10:00:00.12'", "2021-01-01T10%3A00%3A00.120"),
        ("TIMESTAMP(0)", "TIMESTAMP '2021-01-01 10:00:05'", "2021-01-01T10%3A00%3A05"),
        ("TIMESTAMP(6)", "TIMESTAMP '2021-01-01 10:00:00'", "2021-01-01T10%3A00"),
        ("TIMESTAMP(6)", "TIMESTAMP '2021-01-01 10:00:00.0005'", "2021-01-01T10%3A00%3A00.000500"),
        ("TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(1500, 3)", "1970-01-01T00%3A00%3A01.500"),
        ("DATE", "DATE '2021-01-01'", "2021-01-01"),
        ("TIME(0)", "TIME '10:01:02'", "10%3A01%3A02"),
        ("DECIMAL(5, 2)", "1.5", "1.50"),
        ("DOUBLE", "1e20", "1.0E20"),
        ("BOOLEAN", "TRUE", "true"),
    ],
)
def test_the_directory_of_a_partition_has_the_name_of_flink(
    environment: TableEnvironment, tmp_path: Path, type_: str, value: str, name: str
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'json'"
    environment.execute_sql(
        f"CREATE TABLE t (a INT, p {type_}) PARTITIONED BY (p) WITH ({options})"
    )
    environment.execute_sql(f"INSERT INTO t SELECT 1, CAST({value} AS {type_})").wait()
    query = f"SELECT a, p = CAST({value} AS {type_}) FROM t"

    assert [f"p={name}"] == [path.name for path in tmp_path.glob("t/p=*")]
    assert [(1, True)] == [tuple(item) for item in environment.execute_sql(query).collect()]


def test_a_partition_with_the_name_of_a_cast_is_overwritten(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    folder = tmp_path / "t" / "p=2021-01-01 10%3A00%3A00"
    folder.mkdir(parents=True)
    (folder / "rows").write_text('{"a": 1}\n', encoding="utf-8")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'json'"
    environment.execute_sql(
        f"CREATE TABLE t (a INT, p TIMESTAMP(0)) PARTITIONED BY (p) WITH ({options})"
    )
    environment.execute_sql("INSERT OVERWRITE t SELECT 2, TIMESTAMP '2021-01-01 10:00:00'").wait()

    assert [(2,)] == [tuple(item) for item in environment.execute_sql("SELECT a FROM t").collect()]


def test_a_partition_is_overwritten_in_the_time_zone_of_the_session(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'parquet'"
    environment.execute_sql("SET 'table.local-time-zone' = 'Europe/Berlin'")
    environment.execute_sql(
        f"CREATE TABLE t (a INT, p TIMESTAMP_LTZ(0)) PARTITIONED BY (p) WITH ({options})"
    )
    hours = ", ".join(
        f"({hour}, CAST('2024-01-01 {hour}:00:00' AS TIMESTAMP_LTZ(0)))" for hour in (12, 13, 14)
    )
    environment.execute_sql(f"INSERT INTO t VALUES {hours}").wait()
    environment.execute_sql(
        "INSERT OVERWRITE t PARTITION (p = '2024-01-01 13:00:00') SELECT 99"
    ).wait()

    rows_ = environment.execute_sql("SELECT a, CAST(p AS STRING) FROM t").collect()
    clocks = {12: 12, 14: 14, 99: 13}
    expected = [(a, f"2024-01-01 {hour}:00:00") for a, hour in clocks.items()]
    assert expected == sorted(map(tuple, rows_))


@pytest.mark.parametrize("folder", [".", "p=5", "P=5/q=1"])
@pytest.mark.parametrize("null", ["", " NOT NULL"])
def test_a_file_outside_of_the_partitions_is_refused(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path, folder: str, null: str
) -> None:
    session.sql("SELECT 1 AS a, 2 AS q").write.parquet(str(tmp_path / "t" / folder))
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'parquet'"
    columns = f"(a INT, p INT{null}, q INT{null}) PARTITIONED BY (p, q)"
    environment.execute_sql(f"CREATE TABLE t {columns} WITH ({options})")
    with pytest.raises(ExternalError) as caught:
        list(environment.execute_sql("SELECT * FROM t").collect())

    assert "schema-mismatch" == caught.value.code
    assert "has no value of the partition column" in caught.value.problem


def test_an_empty_string_is_not_written_to_a_not_null_partition(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'parquet'"
    columns = "(a INT, p STRING NOT NULL) PARTITIONED BY (p)"
    environment.execute_sql(f"CREATE TABLE t {columns} WITH ({options})")
    with pytest.raises(ExternalError) as caught:
        environment.execute_sql("INSERT INTO t VALUES (1, ''), (2, 'b')").wait()

    assert "partition column 'p' is NOT NULL" in caught.value.problem


@pytest.mark.parametrize("name", ["", "a._COPYING_", "a\0b"])
def test_a_default_partition_that_readers_skip_is_refused(
    session: SparkSession, table: Make, name: str
) -> None:
    schema = Schema.new_builder().column("a", T.INT()).column("p", T.STRING()).build()
    bound = table(schema, "parquet", {"partition.default-name": name}, ["p"])
    with pytest.raises(SchemaError) as caught:
        staged(session.sql("SELECT 1 AS a, 'x' AS p"), bound)

    assert "invalid-option-value" == caught.value.code


def test_orc_files_without_names_are_checked_for_null(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path
) -> None:
    session.sql("SELECT CAST(NULL AS INT) AS _col0, 7 AS _col1").write.orc(str(tmp_path / "t"))
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'orc'"
    environment.execute_sql(f"CREATE TABLE t (_col1 INT NOT NULL, _col0 INT) WITH ({options})")
    with pytest.raises(ExternalError) as caught:
        list(environment.execute_sql("SELECT * FROM t").collect())

    assert "column '_col1' is NOT NULL but received NULL" in caught.value.problem


@pytest.mark.usefixtures("classic")
def test_files_that_cannot_be_read_are_named(environment: TableEnvironment, tmp_path: Path) -> None:
    for name, keys, folders in (
        ("damaged", "", ("damaged",)),
        ("uneven", "PARTITIONED BY (p)", ("uneven/p=1/q=2", "uneven/p=3")),
    ):
        for folder in folders:
            (tmp_path / folder).mkdir(parents=True)
            data = gzip.compress(b"1,a\n" * 9000)
            (tmp_path / folder / "x.csv.gz").write_bytes(data[: len(data) // 2])
        environment.execute_sql(
            f"CREATE TABLE {name} (a INT, p STRING) {keys} WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path}/{name}', 'format' = 'csv')"
        )

    with pytest.raises(ExternalError, match=r"in file '.*/damaged/x\.csv\.gz'"):
        list(environment.execute_sql("SELECT a FROM damaged").collect())
    with pytest.raises(ExternalError, match=r"different partition columns: \(p\) and") as caught:
        list(environment.execute_sql("SELECT a FROM uneven").collect())
    assert caught.value.code == "schema-mismatch"


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_timestamps_without_nanoseconds_are_read_as_they_were_written(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    environment.execute_sql(
        "CREATE TABLE fine (t TIMESTAMP(9)) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}/fine', 'format' = '{form}')"
    )
    environment.execute_sql("INSERT INTO fine VALUES TIMESTAMP '2020-01-02 03:04:05.123456'")

    written = "t > TIMESTAMP '2020-01-02 03:04:05.123455999'"
    result = environment.execute_sql(f"SELECT t FROM fine WHERE {written}").collect()
    assert ["2020-01-02 03:04:05.123456"] == [str(value) for (value,) in result]


SPELLINGS = (
    ("INT", "01", "1", "1", True),
    ("TIMESTAMP(3)", "2024-01-01 00:00:00", "2024-01-01 00:00:00.000",
     "TIMESTAMP '2024-01-01 00:00:00'", True),
    ("STRING", "01", "1", "'1'", False),
    ("DATE", "unreadable", "2024-01-01", "DATE '2024-01-01'", False),
)  # fmt: skip


@pytest.mark.parametrize(("type_", "other", "written", "value", "is_same"), SPELLINGS)
def test_overwriting_replaces_a_partition_by_its_value(
    environment: TableEnvironment, tmp_path: Path, type_: str, other: str, written: str, value: str,
    is_same: bool,
) -> None:  # fmt: skip
    """Another program may write the value of a partition differently; other values stay."""
    for number, name in enumerate((other, written, "__DEFAULT_PARTITION__")):
        directory = tmp_path / "t" / f"p={name}".replace(":", "%3A")
        directory.mkdir(parents=True)
        (directory / "f.json").write_text(f'{{"a": {number}}}')
    environment.execute_sql(
        f"CREATE TABLE t (a INT, p {type_}) PARTITIONED BY (p)"
        f" WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'json')"
    )
    for query in (f"t SELECT 8, {value}", f"t SELECT 9, {value}"):
        environment.execute_sql(f"INSERT OVERWRITE {query}").wait()
    left = [path.read_text() for path in (tmp_path / "t").glob("p=*/*.json")]
    result = sorted(json.loads(item)["a"] for item in left)
    assert result == ([2, 9] if is_same else [0, 2, 9])


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_columns_may_have_the_name_of_sparks_metadata(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    """In the files and as a partition column, also where json and csv are not parsed by Spark."""
    options = {
        "json": ", 'json.ignore-parse-errors' = 'true'",
        "csv": ", 'csv.allow-comments' = 'true'",
    }
    for name, by, other in (
        ("t", "", ""),
        ("u", "", options.get(form, "")),
        ("v", " PARTITIONED BY (`_metadata`)", options.get(form, "")),
    ):
        environment.execute_sql(
            f"CREATE TABLE {name} (k INT, `_metadata` INT, s BIGINT METADATA FROM 'file.size'"
            f" VIRTUAL){by} WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{name}',"
            f" 'format' = '{form}'{other})"
        )
        environment.execute_sql(f"INSERT INTO {name} (k, `_metadata`) VALUES (1, 2)").wait()
        query = f"SELECT k, `_metadata`, s > 0 FROM {name} WHERE `_metadata` = 2"
        assert [(1, 2, True)] == [tuple(item) for item in environment.execute_sql(query).collect()]


@pytest.mark.parametrize("connector", ["filesystem", "spark"])
def test_a_relative_path_is_below_the_current_directory(
    environment: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connector: str
) -> None:
    """It is that of this process, not of Spark's JVM, when the table is read or written."""
    environment.execute_sql(
        f"CREATE TABLE t (a INT) WITH ('connector' = '{connector}', 'path' = 'x/t',"
        " 'format' = 'parquet')"
    )
    for number, name in enumerate(("one", "two", "one")):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        environment.execute_sql(f"INSERT INTO t VALUES ({number})").wait()
        assert list((tmp_path / name / "x" / "t").glob("*.parquet"))
        result = [row[0] for row in environment.execute_sql("SELECT a FROM t").collect()]
        assert sorted(result) == {0: [0], 1: [1], 2: [0, 2]}[number]


# --- files of others in the directory ------------------------------------------------------------


def test_a_journal_of_others_deletes_nothing_outside_of_its_table(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    root, victim = tmp_path / "t", tmp_path / "victim" / "file"
    victim.parent.mkdir()
    victim.write_text("x")
    root.mkdir()
    (root / "rows.csv").write_text("1\n")
    name = f".schema-core-commit-host-1-1-{'0' * 32}"
    environment.execute_sql(
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{root}')"
    )
    for stage, remove in (("../victim", []), (name.replace("commit", "stage"), ["../victim"])):
        journal = {"version": 1, "stage": stage, "add": [], "remove": remove, "definition": None}
        (root / name).write_text(json.dumps(journal))
        for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (2)"):
            with pytest.raises(ExternalError) as caught:
                list(environment.execute_sql(statement).collect())
            assert "invalid-journal" == caught.value.code
            assert str(root / name) in caught.value.problem
    (root / name).unlink()

    assert [(1,)] == [tuple(row) for row in environment.execute_sql("SELECT * FROM t").collect()]
    assert "x" == victim.read_text()


def test_insert_overwrite_does_not_empty_the_target_of_a_link(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    root, elsewhere = tmp_path / "t", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "rows.csv").write_text("1\n")
    root.mkdir()
    (root / "link").symlink_to(elsewhere)
    environment.execute_sql(
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{root}')"
    )
    with pytest.raises(ExternalError) as caught:
        environment.execute_sql("INSERT OVERWRITE t VALUES (2)")

    assert "not-allowed" == caught.value.code
    assert "1\n" == (elsewhere / "rows.csv").read_text()


def test_only_the_error_of_a_pattern_is_reported_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: Any
) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.json").write_text('{"a": 1}\n', encoding="utf-8")

    def error_of(pattern: str) -> Any:
        env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
        env.execute_sql(
            f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 't'}',"
            f" 'format' = 'json', 'source.path.regex-pattern' = '{pattern}')"
        )
        with pytest.raises((ExternalError, SchemaError)) as caught:
            env.execute_sql("SELECT * FROM t")
        return caught.value

    assert error_of("[a").code == "invalid-option-value"

    def fail(_: object) -> Any:
        raise RuntimeError("no space left on device")

    monkeypatch.setattr(type(session.range(1)), "collect", fail)
    assert error_of(".*").code == "job-failed"
