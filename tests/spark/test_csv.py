"""CSV files on Spark: values are preserved; an unreadable record is reported with its location."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from schema_core import Row
from schema_core.connectors.files.csv_files import lines_of
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


MOMENT = dt.datetime(2024, 2, 29, 10, 0, 0, 500_000)  # noqa: DTZ001


@pytest.fixture
def csv(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    """An environment that makes a table `t` of csv files by `define`."""
    assert tmp_path.is_dir()
    return environment


def define(environment: TableEnvironment, tmp_path: Path, columns: str, **options: str) -> Path:
    given = {"connector": "filesystem", "path": str(tmp_path / "t"), "format": "csv"}
    given |= {f"csv.{key.replace('_', '-')}": value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    environment.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")
    return tmp_path / "t"


def rows(environment: TableEnvironment, query: str = "SELECT * FROM t") -> list[tuple[Any, ...]]:
    result = environment.execute_sql(query).collect()
    return sorted((tuple(map(plain, row)) for row in result), key=repr)


def plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, Row) else value


def put(path: Path, content: str) -> None:
    path.mkdir(exist_ok=True)
    (path / "some file").write_bytes(content.encode())


@pytest.mark.parametrize(
    ("scientific", "lines"),
    [
        ("true", ['3E+1,1E-8,"{}:00"', '-1.2E+2,0,"{}:20.5"', '7.5,-0.0000012,"{}:30.001"']),
        ("false", ['30,0.00000001,"{}:00"', '-120,0,"{}:20.5"', '7.5,-0.0000012,"{}:30.001"']),
    ],
)
def test_decimals_and_times_are_written_without_trailing_zeros(
    csv: TableEnvironment, tmp_path: Path, scientific: str, lines: list[str]
) -> None:
    """As Flink writes them; one task writes one file."""
    option = {"write_bigdecimal_in_scientific_notation": scientific}
    columns = "a DECIMAL(10, 2), b DECIMAL(20, 10), c TIMESTAMP(3)"
    path = define(csv, tmp_path, columns, **option)
    csv.execute_sql("SET 'parallelism.default' = '1'")
    day = "2024-01-01 10:00"
    values = (
        f"(30.00, 0.00000001, TIMESTAMP '{day}:00'), (-120.00, 0.0, TIMESTAMP '{day}:20.500'),"
        f" (7.50, -0.0000012, TIMESTAMP '{day}:30.001')"
    )
    csv.execute_sql(f"INSERT INTO t SELECT * FROM (VALUES {values})").wait()

    (file,) = path.glob("part-*")
    assert [line.format(day) for line in lines] == file.read_text("utf-8").splitlines()
    assert 3 == len(rows(csv))


#: Options of a table -> the lines that Flink writes; `{x}` and `{e}` are 24 and 20 letters.
QUOTED: list[tuple[dict[str, str], list[str]]] = [
    ({}, [
        'ab,"a b",12,true,2024-02-29,1;z,{x}',
        '"x+y",a-b,-5,false,2024-02-29,"1;z!","{x}y"',
        '😀😀{e},"😀😀{e}é",NULL,NULL,NULL,7;~,"#1"',
    ]),
    ({"field_delimiter": "|"}, [
        '"ab"|"a b"|12|true|"2024-02-29"|"1;z"|"{x}"',
        '"x+y"|"a-b"|-5|false|"2024-02-29"|"1;z!"|"{x}y"',
        '😀😀{e}|"😀😀{e}é"|NULL|NULL|NULL|"7;~"|"#1"',
    ]),
    ({"field_delimiter": "\\t"}, [
        'ab\t"a b"\t12\ttrue\t2024-02-29\t1;z\t{x}',
        'x+y\ta-b\t-5\tfalse\t2024-02-29\t"1;z!"\t"{x}y"',
        '😀😀{e}\t"😀😀{e}é"\tNULL\tNULL\tNULL\t7;~\t#1',
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "lines"), QUOTED)
def test_strings_are_quoted_as_by_flink(
    csv: TableEnvironment, tmp_path: Path, options: dict[str, str], lines: list[str]
) -> None:
    """Strings are quoted with any character up to the greatest one of the syntax, or if long."""
    columns = "a STRING, b STRING, i INT, o BOOLEAN, d DATE, r ROW<n INT, s STRING>, l STRING"
    path = define(csv, tmp_path, columns, null_literal="NULL", **options)
    csv.execute_sql("SET 'parallelism.default' = '1'")
    day, letters, accents = dt.date(2024, 2, 29), "x" * 24, "é" * 20
    values = [
        ("ab", "a b", 12, True, day, (1, "z"), letters),
        ("x+y", "a-b", -5, False, day, (1, "z!"), f"{letters}y"),
        (f"😀😀{accents}", f"😀😀{accents}é", *[None] * 3, (7, "~"), "#1"),
    ]
    schema = csv.from_path("t").get_resolved_schema().to_source_row_data_type()
    csv.from_elements(values, schema).execute_insert("t").wait()

    (file,) = path.glob("part-*")
    expected = [line.format(x=letters, e=accents) for line in lines]
    assert expected == file.read_text("utf-8").splitlines()
    assert sorted(values, key=repr) == rows(csv)


@pytest.mark.parametrize("header", ["false", "true"])
@pytest.mark.parametrize(
    ("columns", "options", "values"),
    [
        ("s STRING", {}, [("",), ("a",), (" ",), ("#",), ("\n",), ("\r",), ('"',), ("\ufeff",)]),
        ("s STRING", {"null_literal": "NA"}, [("",), (None,), ("a",)]),
        ("i INT", {"null_literal": ""}, [(1,), (None,)]),
        ("i INT", {"empty_string_as_null": "true"}, [(1,), (None,)]),
        ("i INT, b BOOLEAN", {"null_literal": ""}, [(None, None), (1, True)]),
        ("i INT, b BOOLEAN, s STRING", {}, [(2, False, ""), (1, True, "x")]),
        ("a ARRAY<STRING>", {}, [([],), (["a", "", "c"],), (["x,y", '"q"'],), ([" a"],)]),
        ("a ARRAY<INT>", {"null_literal": "NA"}, [([],), ([1, None, 2],), ([None],)]),
        ("a ARRAY<TIMESTAMP(3)>", {"array_element_delimiter": "|"}, [([MOMENT, MOMENT],)]),
        ("r ROW<p STRING, q INT>, i INT", {}, [(("x", 2), 1), (None, 2), (("", 3), 3)]),
        ("r ROW<p STRING, q INT>", {"null_literal": "NA"}, [((None, 2),), (("a", None),)]),
        ("i INT, s STRING", {"null_literal": "NA"}, [(None, None), (1, ""), (2, "n")]),
        ("i INT, s STRING", {"escape_character": "\\"}, [(1, 'a\\"b'), (2, "a\\n,b")]),
        ("i INT, s STRING", {"quote_character": "|"}, [(1, 'a|"b'), (2, "a\n,b")]),
        ("i INT, s STRING", {"field_delimiter": "\\t"}, [(1, "a\tb"), (2, "a,b")]),
    ],
)
def test_values_are_read_as_written(
    csv: TableEnvironment,
    tmp_path: Path,
    columns: str,
    options: dict[str, str],
    values: list[tuple[Any, ...]],
    header: str,
) -> None:
    define(csv, tmp_path, columns, header=header, **options)
    schema = csv.from_path("t").get_resolved_schema().to_source_row_data_type()
    csv.from_elements(values, schema).execute_insert("t")

    assert sorted(values, key=repr) == rows(csv)
    assert [(len(values),)] == rows(csv, "SELECT COUNT(*) FROM t")


@pytest.mark.parametrize(
    ("columns", "options", "value", "problem"),
    [
        ("s STRING", {}, None, "NULL would be read back as an empty string"),
        ("s STRING", {"null_literal": "NA"}, "NA", "the value 'NA' would be read back as NULL"),
        ("i INT", {"null_literal": "0"}, 0, "the value '0' would be read back as NULL"),
        ("s STRING", {"disable_quote_character": "true"}, "a,b", "a value requires quotes"),
        ("b BOOLEAN", {}, None, "NULL would be read back as FALSE"),
        ("b BYTES", {}, None, "NULL would be read back as an empty string of bytes"),
        ("a ARRAY<STRING>", {"null_literal": "NA"}, None, "read back as an empty array"),
        ("a ARRAY<STRING>", {}, [""], "a blank value would be read back as an empty array"),
        ("a ARRAY<STRING>", {}, ["a", None], "NULL would be read back as an empty string"),
        ("a ARRAY<STRING>", {}, ["a;b"], "a part of it contains ';'"),
        ("a ARRAY<STRING>", {"array_element_delimiter": "|"}, ["a|", "b"], "contains '|'"),
        ("r ROW<p STRING>", {}, ("",), "a blank value would be read back as NULL"),
    ],
)
def test_values_that_do_not_round_trip_are_refused(
    csv: TableEnvironment,
    tmp_path: Path,
    columns: str,
    options: dict[str, str],
    value: object,
    problem: str,
) -> None:
    define(csv, tmp_path, columns, **options)
    schema = csv.from_path("t").get_resolved_schema().to_source_row_data_type()
    with pytest.raises(ExternalError) as caught:
        csv.from_elements([(value,)], schema).execute_insert("t")

    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ('1,"abc\n2,def\n3,x\n', 1, "unclosed quote"),
        ('0,z\n1,"abc\n2,"def"\n3,x\n', 2, "expected ',' or the end of the line"),
        ("1,x\n\n2,y\n", 2, "expected 2 fields, found 1"),
    ],
)
def test_an_unreadable_record_names_file_and_line(
    csv: TableEnvironment, tmp_path: Path, content: str, line: int, problem: str
) -> None:
    put(define(csv, tmp_path, "a INT, b STRING"), content)
    with pytest.raises(ExternalError) as caught:
        rows(csv)

    assert f"some%20file', line {line}: {problem}" in caught.value.problem
    assert caught.value.problem.startswith("the job failed: file ")


def test_unreadable_records_are_skipped_and_bad_fields_are_null(
    csv: TableEnvironment, tmp_path: Path
) -> None:
    path = define(csv, tmp_path, "a INT, b STRING", ignore_parse_errors="true")
    put(path, '1,"abc\n2,"def"\n3,x\n4,y,z\nfive,v\n6\n')

    assert [(3, "x"), (6, None), (None, "v")] == rows(csv)


def test_the_error_of_an_invalid_field_names_its_line(
    csv: TableEnvironment, tmp_path: Path
) -> None:
    put(define(csv, tmp_path, "a INT, b STRING"), '1,"x\ny"\ntwo,z\n')
    with pytest.raises(ExternalError) as caught:
        rows(csv)

    assert "column 'a': cannot read as INT: two in file:" in caught.value.problem
    assert caught.value.problem.endswith(", line 3")


def test_a_record_across_file_splits_is_read_whole(csv: TableEnvironment, tmp_path: Path) -> None:
    path = define(csv, tmp_path, "a INT, b STRING")
    csv.execute_sql("SET 'parallelism.default' = '4'")
    text = "line\n" * 50_000
    put(path, "".join(f'{number},"{text}"\n' for number in range(40)))

    query = "SELECT COUNT(*), MIN(CHAR_LENGTH(b)), MAX(CHAR_LENGTH(b)) FROM t"
    assert [(40, len(text), len(text))] == rows(csv, query)


def test_partition_and_metadata_columns_are_read(csv: TableEnvironment, tmp_path: Path) -> None:
    columns = "a INT, p STRING, size BIGINT METADATA FROM 'file.size' VIRTUAL"
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'csv'"
    csv.execute_sql(f"CREATE TABLE t ({columns}) PARTITIONED BY (p) WITH ({options})")
    csv.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (22, 'z')")

    assert [(1, "x", 2), (2, "y", 2), (22, "z", 3)] == rows(csv)
    assert [(22,)] == rows(csv, "SELECT a FROM t WHERE p = 'z'")


@pytest.mark.parametrize(
    ("type_", "statement"),
    [
        ("MAP<STRING, INT>", "SELECT * FROM t"),
        ("ARRAY<ARRAY<INT>>", "INSERT INTO t SELECT ARRAY[ARRAY[1]]"),
        ("ROW<a ROW<b INT>>", "SELECT * FROM t"),
        ("MULTISET<STRING>", "SELECT * FROM t"),
    ],
)
def test_unsupported_types_are_refused(
    csv: TableEnvironment, tmp_path: Path, type_: str, statement: str
) -> None:
    put(define(csv, tmp_path, f"a {type_}"), "1\n")
    with pytest.raises(SchemaError) as caught:
        csv.execute_sql(statement)

    assert "type-not-supported" == caught.value.code


@pytest.mark.parametrize(
    "type_", ["INT", "DOUBLE", "DECIMAL(5, 2)", "DATE", "TIME(0)", "TIMESTAMP(3)"]
)
@pytest.mark.parametrize("other", ["x", '"x"'], ids=["native", "exact"])
def test_an_empty_field_is_not_a_number(
    csv: TableEnvironment, tmp_path: Path, type_: str, other: str
) -> None:
    put(
        define(csv, tmp_path, f"a STRING, b {type_}"), f"{other},\n{'' if other == 'x' else '#'},\n"
    )
    with pytest.raises(ExternalError) as caught:
        rows(csv)

    assert "column 'b': cannot read as " in caught.value.problem
    assert "'csv.null-literal' = ''" in str(caught.value)


def test_lists_are_read_as_in_flink(csv: TableEnvironment, tmp_path: Path) -> None:
    columns = "n INT, a ARRAY<STRING>, r ROW<p STRING, q INT>"
    put(define(csv, tmp_path, columns), '1,a;b;;c,x;2\n2,, \n3,"a,b; c",;1;9\n4,;,y; 3,\n')

    assert [
        (1, ["a", "b", "", "c"], ("x", 2)),
        (2, [], None),
        (3, ["a,b", " c"], ("", 1)),
        (4, ["", ""], ("y", 3)),
    ] == rows(csv)


@pytest.mark.parametrize(
    ("columns", "line", "problem"),
    [
        ("a ARRAY<INT>", "1;x", "column 'a': cannot read as INT: x"),
        ("a ROW<p STRING, q INT>", "x", "expected 2 values between ';': x"),
        ("a ROW<p STRING, q INT>", "x;", "column 'a': cannot read as INT: an empty field"),
    ],
)
def test_an_invalid_part_fails_the_job(
    csv: TableEnvironment, tmp_path: Path, columns: str, line: str, problem: str
) -> None:
    put(define(csv, tmp_path, columns), f"{line}\n")
    with pytest.raises(ExternalError) as caught:
        rows(csv)

    assert problem in caught.value.problem


@pytest.mark.parametrize(("option", "expected"), [({}, [(1, "x")]), ("false", None)])
def test_a_record_may_end_with_a_delimiter(
    csv: TableEnvironment, tmp_path: Path, option: Any, expected: object
) -> None:
    options = {"allow_trailing_comma": option} if option else {}
    put(define(csv, tmp_path, "a INT, b STRING", **options), "1,x,\n")
    if expected is not None:
        assert expected == rows(csv)
        return
    with pytest.raises(ExternalError) as caught:
        rows(csv)

    assert "expected 2 fields, found 3" in caught.value.problem


def test_a_decimal_with_too_many_digits_is_null(csv: TableEnvironment, tmp_path: Path) -> None:
    put(define(csv, tmp_path, "n INT, a DECIMAL(5, 2)"), "1,999.996\n2,1.005\n3,123456.7\n")

    assert [(1, None), (2, Decimal("1.01")), (3, None)] == rows(csv)


def test_a_delimiter_must_be_one_character(csv: TableEnvironment, tmp_path: Path) -> None:
    put(define(csv, tmp_path, "a INT", field_delimiter="||"), "1\n")
    with pytest.raises(SchemaError) as caught:
        csv.execute_sql("SELECT * FROM t")

    assert "invalid-option-value" == caught.value.code


CONTENTS = [
    b"", b"\n", b"a", b"a\n", b"a\n\n", b"\n\na", b"a\r\nb\r", b"\xef\xbb\xbfx\n\xef\xbb\xbfy",
    b"\xff\n\xfe", b"x\n" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("content", CONTENTS, ids=lambda item: repr(item[:12]))
def test_lines_of_whole_files_are_those_of_spark(
    spark: SparkSession, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "f").write_bytes(content)
    reader = spark.read.format("text").option("lineSep", "\n")
    rows = reader.load(str(tmp_path)).selectExpr("CAST(value AS BINARY)").collect()
    batch = pa.record_batch({"content": [content], "file": ["f"]})
    batches = list(lines_of([batch]))

    assert [bytes(row[0]) for row in rows] == [
        line for batch in batches for line in batch.column(0).to_pylist()
    ]
    assert all(set(batch.column(1).to_pylist()) == {"f"} for batch in batches)
