"""The formats `raw`, `avro` and `text`: values come back as they were written; Flink's refusals."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from schema_core.connectors.files.avro_files import SOURCE, avro_schema
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.types import RowField, parse_type

pytestmark = pytest.mark.spark

_NUMBERS = count()
Table = Callable[..., tuple[str, Path]]


@pytest.fixture
def table(environment: TableEnvironment, tmp_path: Path) -> Table:
    """Create a table of files; return its name and its directory."""

    def make(form: str, columns: str, more: str = "", **options: str) -> tuple[str, Path]:
        name = f"{form}_{next(_NUMBERS)}"
        path = tmp_path / name
        given = {"connector": "filesystem", "format": form, "path": str(path)}
        given |= {f"{form}.{key}": value for key, value in options.items()}
        written = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        environment.execute_sql(f"CREATE TABLE {name} ({columns}) {more} WITH ({written})")
        return name, path

    return make


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in environment.execute_sql(query).collect()]


def content(path: Path) -> bytes:
    return b"".join(item.read_bytes() for item in sorted(path.rglob("part-*")))


#: Type, options, values in SQL -> the bytes of their lines, which Flink 2.3 wrote as well.
RAW: list[tuple[str, dict[str, str], list[str], list[bytes]]] = [
    ("STRING", {}, ["'abc'", "'dé'", "''"], [b"abc", "dé".encode(), b""]),
    ("STRING", {"charset": "UTF-16"}, ["'dé'"], [b"\xfe\xff\x00d\x00\xe9"]),
    ("STRING", {"charset": "latin1"}, ["'dé'"], [b"d\xe9"]),
    ("BINARY(2)", {}, ["X'4142'", "X'00FF'"], [b"AB", b"\x00\xff"]),
    ("BOOLEAN", {}, ["TRUE", "FALSE"], [b"\x01", b"\x00"]),
    ("TINYINT", {}, ["CAST(65 AS TINYINT)", "CAST(-1 AS TINYINT)"], [b"A", b"\xff"]),
    ("SMALLINT", {}, ["CAST(-258 AS SMALLINT)"], [struct.pack(">h", -258)]),
    ("INT", {}, ["16909060", "-2147483648"], [b"\1\2\3\4", struct.pack(">i", -(2**31))]),
    ("INT", {"endianness": "little-endian"}, ["16909060"], [b"\4\3\2\1"]),
    ("BIGINT", {}, ["CAST(-2 AS BIGINT)"], [struct.pack(">q", -2)]),
    *(
        (
            type_,
            {"endianness": endianness},
            [f"CAST('{number!r}' AS {type_})".replace("nan", "NaN").replace("inf", "Infinity")
             for number in numbers],
            [struct.pack(mark + form, number) for number in numbers],
        )
        for endianness, mark in (("big-endian", ">"), ("little-endian", "<"))
        for type_, form, numbers in (
            ("FLOAT", "f", (1.5, -0.0, float("nan"), float("-inf"), 1e-45, 3.4028234663852886e38)),
            ("DOUBLE", "d", (0.1, -0.0, float("inf"), 5e-324, -2.2250738585072014e-308, 1e308,
                             -1e-310, 9007199254740991.0)),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "options", "values", "lines"), RAW)
def test_raw_values_as_flink_writes_them(
    environment: TableEnvironment,
    table: Table,
    type_: str,
    options: dict[str, str],
    values: list[str],
    lines: list[bytes],
) -> None:
    name, path = table("raw", f"a {type_}", **options)
    environment.execute_sql(
        f"INSERT INTO {name} " + " UNION ALL ".join(f"SELECT {v}" for v in values)
    )

    assert sorted(content(path).split(b"\n")[:-1]) == sorted(lines)
    expected = rows(environment, " UNION ALL ".join(f"SELECT CAST({v} AS {type_})" for v in values))
    result = rows(environment, f"SELECT * FROM {name}")
    assert sorted(map(repr, result)) == sorted(map(repr, expected))


def test_lines_of_given_files(environment: TableEnvironment, table: Table) -> None:
    expected = {
        "raw": [b"", b"a", b"b", b"c\rd", b"last"],
        "text": [b"", b"a", b"b", b"c", b"d", b"last"],
    }
    for form, lines in expected.items():
        name, path = table(form, "a STRING")
        path.mkdir()
        (path / "f").write_bytes(b"a\r\nb\n\nc\rd\nlast")
        assert sorted(rows(environment, f"SELECT a FROM {name}")) == [
            (line.decode(),) for line in lines
        ]
    name, path = table("raw", "a SMALLINT")
    path.mkdir()
    (path / "f").write_bytes(b"\1\2\n\1\n")
    with pytest.raises(SchemaCoreError, match="SMALLINT from 1 bytes, expected 2 in file:"):
        rows(environment, f"SELECT a FROM {name}")


def test_partitions_and_metadata_of_lines(environment: TableEnvironment, table: Table) -> None:
    for form in ("raw", "text"):
        columns = "a STRING, k INT, n STRING NOT NULL METADATA FROM 'file.name' VIRTUAL"
        name, _ = table(form, columns, "PARTITIONED BY (k)")
        environment.execute_sql(f"INSERT INTO {name} VALUES ('x', 1), ('y', 2)")
        result = rows(environment, f"SELECT a, k, n LIKE 'part-%' FROM {name} WHERE k = 2")
        assert result == [("y", 2, True)]


@pytest.mark.parametrize(
    ("form", "type_", "value", "problem"),
    [
        ("raw", "STRING", "CAST(NULL AS STRING)", "NULL cannot be written as a line"),
        ("raw", "BYTES", "X'410A42'", "a value has a line feed"),
        ("raw", "INT", "10", "a value has a line feed"),
        ("raw", "INT", "13", "a value ends with a carriage return"),
        ("text", "STRING", "CAST(NULL AS STRING)", "NULL cannot be written as a line"),
        ("text", "STRING", "CONCAT('a', CHR(10))", "a value has a line break"),
    ],
)
def test_values_that_are_not_a_line_are_not_written(
    environment: TableEnvironment, table: Table, form: str, type_: str, value: str, problem: str
) -> None:
    name, path = table(form, f"a {type_}")
    with pytest.raises(SchemaCoreError, match=f"column 'a': {problem}"):
        environment.execute_sql(f"INSERT INTO {name} SELECT {value}")
    assert content(path) == b""


#: Types of columns, values in SQL; the second row is NULL.
AVRO = {
    "BOOLEAN": "TRUE", "TINYINT": "CAST(-7 AS TINYINT)", "SMALLINT": "CAST(300 AS SMALLINT)",
    "INT": "1", "BIGINT": "CAST(2 AS BIGINT)", "FLOAT": "CAST(1.5 AS FLOAT)", "DOUBLE": "1E0",
    "CHAR(2)": "'ab'", "VARCHAR(5)": "'c'", "BINARY(2)": "X'0102'", "BYTES": "X'03'",
    "DECIMAL(10, 2)": "CAST(-1.5 AS DECIMAL(10, 2))", "DATE": "DATE '2024-01-02'",
    "TIME(3)": "TIME '10:11:12.123'", "TIMESTAMP(3)": "TIMESTAMP '2024-01-02 03:04:05.123'",
    "ARRAY<SMALLINT>": "ARRAY[CAST(1 AS SMALLINT), CAST(NULL AS SMALLINT)]",
    "MAP<STRING, TIME(3)>": "MAP['k', TIME '10:11:12.5']",
    "ROW<x TINYINT, y ROW<z TIMESTAMP(3)>>":
        "ROW(CAST(1 AS TINYINT), ROW(TIMESTAMP '2024-01-02 03:04:05.123'))",
}  # fmt: skip


def test_every_type_of_avro_comes_back(environment: TableEnvironment, table: Table) -> None:
    columns = ", ".join(f"c{number} {type_}" for number, type_ in enumerate(AVRO))
    name, path = table("avro", f"{columns}, n INT NOT NULL, k INT", "PARTITIONED BY (k)")
    values = ", ".join(f"CAST({value} AS {type_})" for type_, value in AVRO.items())
    nulls = ", ".join(f"CAST(NULL AS {type_})" for type_ in AVRO)
    query = f"SELECT {values}, 1, 4 UNION ALL SELECT {nulls}, 2, 4"
    environment.execute_sql(f"INSERT INTO {name} {query}")

    assert sorted(rows(environment, f"SELECT * FROM {name}"), key=repr) == sorted(
        rows(environment, query), key=repr
    )
    assert b"org.apache.flink.avro.generated" in content(path)


def test_timestamps_of_avro_without_the_legacy_mapping(
    environment: TableEnvironment, table: Table
) -> None:
    name, path = table(
        "avro", "a TIMESTAMP(6), b TIMESTAMP_LTZ(3), c TIMESTAMP(1)",
        **{"timestamp_mapping.legacy": "false", "codec": "null"},
    )  # fmt: skip
    query = (
        "SELECT TIMESTAMP '2024-01-02 03:04:05.123456',"
        " CAST(TIMESTAMP '2024-01-02 03:04:05.123' AS TIMESTAMP_LTZ(3)),"
        " CAST(TIMESTAMP '1969-12-31 23:59:59.9' AS TIMESTAMP(1))"
    )
    environment.execute_sql(f"INSERT INTO {name} {query}")

    assert rows(environment, f"SELECT * FROM {name}") == rows(environment, query)
    assert b"local-timestamp-micros" in content(path)


def test_a_number_that_a_column_cannot_hold_is_not_read(
    environment: TableEnvironment, table: Table, session: Any
) -> None:
    name, path = table("avro", "a TINYINT")
    session.sql("SELECT 300 AS a").write.format(SOURCE).save(str(path))
    with pytest.raises(SchemaCoreError, match="column 'a': cannot read as TINYINT: 300 in file:"):
        rows(environment, f"SELECT * FROM {name}")


ROW = "ROW<b ARRAY<ROW<c INT>> NOT NULL, d MAP<STRING, DECIMAL(5, 2)>>"


def test_avro_schema_is_that_of_flink() -> None:
    fields = [
        RowField(
            "a", parse_type("ROW<b ARRAY<ROW<c INT>> NOT NULL, d MAP<STRING, DECIMAL(5, 2)>>")
        ),
        RowField("t", parse_type("TIMESTAMP(3) NOT NULL")),
        RowField("m", parse_type("MULTISET<STRING> NOT NULL")),
    ]
    schema = avro_schema(fields, {})

    assert (schema["namespace"], schema["name"]) == ("org.apache.flink.avro.generated", "record")
    assert json.dumps(schema["fields"]) == json.dumps(
        [
            {"name": "a", "type": ["null", {"type": "record", "name": "record_a", "fields": [
                {"name": "b", "type": {"type": "array", "items": ["null", {
                    "type": "record", "name": "record_a_b", "fields": [
                        {"name": "c", "type": ["null", "int"], "default": None}]}]}},
                {"name": "d", "type": ["null", {"type": "map", "values": ["null", {
                    "type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}]}],
                 "default": None},
            ]}], "default": None},
            {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "m", "type": {"type": "map", "values": "int"}},
        ]
    )  # fmt: skip


def test_avro_has_times_of_milliseconds_only() -> None:
    with pytest.raises(SchemaCoreError, match=r"avro files cannot hold the type TIME\(6\)"):
        avro_schema([RowField("a", parse_type("TIME(6)"))], {})


@pytest.mark.parametrize(
    ("form", "columns", "code"),
    [
        ("raw", "a INT, b INT", "type-not-supported"),
        ("raw", "a DATE", "type-not-supported"),
        ("raw", "a ARRAY<INT>", "type-not-supported"),
        ("text", "a INT", "type-not-supported"),
        ("text", "a STRING, b STRING", "type-not-supported"),
        ("avro", "a TIMESTAMP(6)", "type-not-supported"),
        ("avro", "a TIMESTAMP_LTZ(3)", "type-not-supported"),
        ("avro", "a MAP<INT, INT>", "type-not-supported"),
        ("avro", "a ROW<b VARIANT>", "type-not-supported"),
        ("avro", "`a b` INT", "name-not-supported"),
        ("avro", "a ROW<`ä` INT>", "name-not-supported"),
    ],
)
def test_tables_that_a_format_cannot_hold(
    environment: TableEnvironment, table: Table, form: str, columns: str, code: str
) -> None:
    name, _ = table(form, columns)
    with pytest.raises(SchemaCoreError) as caught:
        rows(environment, f"SELECT * FROM {name}")

    assert (code, True) == (caught.value.code, bool(caught.value.hint))


@pytest.mark.parametrize(
    ("form", "option", "value"),
    [("raw", "charset", "nope"), ("raw", "endianness", "x"), ("avro", "codec", "zip")],
)
def test_invalid_options(
    environment: TableEnvironment, table: Table, form: str, option: str, value: str
) -> None:
    name, _ = table(form, "a STRING", **{option: value})
    with pytest.raises(SchemaCoreError) as caught:
        rows(environment, f"SELECT * FROM {name}")

    assert caught.value.code == "invalid-option-value"
