"""Parquet and orc files of a table that declares other columns: read exactly, or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Read = Callable[..., list[tuple[object, ...]]]

pytestmark = pytest.mark.parametrize("form", ["parquet", "orc"])


@pytest.fixture
def read(session: SparkSession, environment: TableEnvironment, tmp_path: Path) -> Read:
    """Write a file for each SELECT list, and read all of them as a table with these columns."""

    def rows(form: str, columns: str, *files: str) -> list[tuple[object, ...]]:
        path = f"{tmp_path}/a table"
        for file in files:
            session.sql(f"SELECT {file}").coalesce(1).write.mode("append").format(form).save(path)
        options = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'"
        environment.execute_sql(f"CREATE TABLE t ({columns}) WITH ({options})")
        result = environment.execute_sql("SELECT * FROM t").collect()
        return sorted(map(tuple, result), key=repr)

    return rows


NARROWER = [
    ("TINYINT", "300", "INT"),
    ("SMALLINT", "300", "INT"),
    ("INT", "CAST(5000000000 AS BIGINT)", "BIGINT"),
    ("DATE", "300", "INT"),
    ("INT", "DATE'2020-01-01'", "DATE"),
    ("BIGINT", "TIMESTAMP_NTZ'2020-01-01 00:00:00'", "TIMESTAMP(6)"),
    ("INT", "CAST(1.25 AS DECIMAL(5, 2))", "DECIMAL(5, 2)"),
    ("DECIMAL(4, 1)", "CAST(1.25 AS DECIMAL(5, 2))", "DECIMAL(5, 2)"),
    ("DECIMAL(9, 2)", "CAST(1.25 AS DECIMAL(10, 2))", "DECIMAL(10, 2)"),
    ("FLOAT", "1.1D", "DOUBLE"),
    ("INT", "'1'", "STRING"),
    ("STRING", "1", "INT"),
    ("BOOLEAN", "2", "INT"),
    ("ROW<a INT>", "1", "INT"),
    ("ARRAY<TINYINT>", "array(300)", "INT"),
]


@pytest.mark.parametrize(("declared", "value", "found"), NARROWER)
def test_a_narrower_type_is_refused_with_file_column_and_types(
    read: Read, form: str, declared: str, value: str, found: str
) -> None:
    with pytest.raises(ExternalError) as caught:
        read(form, f"a {declared}", f"{value} AS a")

    error = caught.value
    column = "'a.element'" if declared.startswith("ARRAY") else "'a'"
    inner = declared.removeprefix("ARRAY<").removesuffix(">" * declared.startswith("ARRAY"))
    assert "schema-mismatch" == error.code
    assert "/a table/part-" in error.problem
    assert f": column {column} is {found}, but is declared as {inner[:4]}" in error.problem
    assert f"declare the column as {found}" in (error.hint or "")


def test_every_level_of_nesting_is_compared(read: Read, form: str) -> None:
    nested = "named_struct('x', array(named_struct('y', 300)), 'm', map('k', 300)) AS r"
    with pytest.raises(ExternalError) as caught:
        read(form, "r ROW<x ARRAY<ROW<y TINYINT>>, m MAP<STRING, SMALLINT>>", nested)

    assert "column 'r.x.element.y' is INT, but is declared as TINYINT" in str(caught.value)
    assert "column 'r.m.value' is INT, but is declared as SMALLINT" in str(caught.value)


WIDER = [
    ("SMALLINT", "CAST(1 AS TINYINT)", 1),
    ("INT", "CAST(1 AS TINYINT)", 1),
    ("BIGINT", "CAST(1 AS SMALLINT)", 1),
    ("BIGINT", "1", 1),
    ("DOUBLE", "1", 1.0),
    ("DOUBLE", "CAST(1.5 AS FLOAT)", 1.5),
    ("VARCHAR(9)", "'x'", "x"),
]


@pytest.mark.parametrize(("declared", "value", "expected"), WIDER)
def test_a_wider_type_reads_the_same_values(
    read: Read, form: str, declared: str, value: str, expected: object
) -> None:
    assert [(expected,)] == read(form, f"a {declared}", f"{value} AS a")


def test_strings_are_read_as_bytes_from_parquet_only(read: Read, form: str) -> None:
    """ORC's reader of bytes does not read strings with a dictionary."""
    if form == "parquet":
        assert [(b"x",)] == read(form, "a BYTES", "'x' AS a")
        return
    with pytest.raises(ExternalError) as caught:
        read(form, "a BYTES", "'x' AS a")
    assert "schema-mismatch" == caught.value.code


def test_files_of_several_widths_are_read_together(read: Read, form: str) -> None:
    files = ("CAST(1 AS SMALLINT) AS a", "2 AS a", "CAST(3 AS BIGINT) AS a")
    assert [(1,), (2,), (3,)] == read(form, "a BIGINT", *files)


def test_a_nullable_column_that_older_files_lack_is_null(read: Read, form: str) -> None:
    assert [(1, None), (2, "x")] == read(form, "a INT, b STRING", "1 AS a", "2 AS a, 'x' AS b")


def test_a_column_that_no_file_has_is_refused(read: Read, form: str) -> None:
    with pytest.raises(ExternalError) as caught:
        read(form, "a INT, coler STRING", "1 AS a, 'red' AS color")

    assert ("schema-mismatch", "no file has a column 'coler'") == (
        caught.value.code,
        caught.value.problem.partition(",")[0],
    )
    assert "'color'" in (caught.value.hint or "")


@pytest.mark.parametrize("columns", ["a INT, b STRING NOT NULL", "a INT, r ROW<b INT NOT NULL>"])
def test_a_not_null_column_that_a_file_lacks_is_refused(
    read: Read, form: str, columns: str
) -> None:
    old = "1 AS a, named_struct('c', 1) AS r"
    new = "2 AS a, 'x' AS b, named_struct('b', 1) AS r"
    with pytest.raises(ExternalError) as caught:
        read(form, columns, old, new)

    assert "schema-mismatch" == caught.value.code
    assert "which is NOT NULL" in caught.value.problem


def test_a_file_that_cannot_be_read_is_named(read: Read, form: str, tmp_path: Path) -> None:
    (tmp_path / "a table").mkdir()
    (tmp_path / "a table" / "part-x").write_text("no such format", encoding="utf-8")
    with pytest.raises(ExternalError) as caught:
        read(form, "a INT")

    assert "schema-mismatch" == caught.value.code
    assert f"cannot read the footer of file '{tmp_path}/a table/part-x'" in caught.value.problem


def test_names_of_columns_are_case_sensitive(read: Read, form: str) -> None:
    with pytest.raises(ExternalError) as caught:
        read(form, "A INT", "1 AS a")

    assert "schema-mismatch" == caught.value.code


# --- columns without NULL ------------------------------------------------------------------------


def test_predicates_reach_the_files_of_columns_without_null(
    read: Read, environment: TableEnvironment, form: str, request: pytest.FixtureRequest
) -> None:
    if form == "orc":
        request.getfixturevalue("classic")  # the statistics of orc files are read by the JVM
    read(
        form, "a INT NOT NULL, b STRING NOT NULL, c INT", "1 AS a, 'x' AS b, CAST(NULL AS INT) AS c"
    )

    plan = environment.explain_sql("SELECT b FROM t WHERE a > 0 AND b = 'x' AND c IS NULL")
    for predicate in ("GreaterThan(a,0)", "EqualTo(b,x)", "IsNull(c)"):
        assert predicate in plan.rpartition("PushedFilters: ")[2]


def test_a_null_in_a_column_that_had_none_fails_the_job(
    read: Read, environment: TableEnvironment, session: SparkSession, form: str, tmp_path: Path
) -> None:
    assert [(1,)] == read(form, "a INT NOT NULL", "1 AS a")

    # another file, and then the first one again, with the same name
    for mode in ("append", "overwrite"):
        frame = session.sql("SELECT CAST(NULL AS INT) AS a")
        frame.write.mode(mode).format(form).save(f"{tmp_path}/a table")
        with pytest.raises(ExternalError) as caught:
            list(environment.execute_sql("SELECT * FROM t").collect())
        assert "column 'a' is NOT NULL but received NULL" in caught.value.problem


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("ROW<x INT> NOT NULL", "CAST(NULL AS STRUCT<x: INT>)", "column 'a' is"),
        ("ROW<x INT NOT NULL> NOT NULL", "named_struct('x', CAST(NULL AS INT))", "field 'x' is"),
        ("ARRAY<INT> NOT NULL", "CAST(NULL AS ARRAY<INT>)", "column 'a' is"),
        ("ARRAY<INT NOT NULL> NOT NULL", "array(CAST(NULL AS INT))", "an array element is"),
        ("MAP<STRING, INT> NOT NULL", "CAST(NULL AS MAP<STRING, INT>)", "column 'a' is"),
    ],
)
def test_a_forbidden_null_of_a_nested_type_fails_the_job(
    read: Read, form: str, type_: str, value: str, message: str
) -> None:
    with pytest.raises(ExternalError) as caught:
        read(form, f"a {type_}", f"{value} AS a")

    assert f"{message} NOT NULL but received NULL" in caught.value.problem
