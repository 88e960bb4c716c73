"""Statements with jobs: INSERT, CREATE TABLE AS, SELECT, in an environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError
from schema_core.spark.jobs import spark_errors


@pytest.fixture
def numbers(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    """An environment with a table of two numbers, the second of which is once 0."""
    columns = "a INT, b INT NOT NULL, c VARCHAR(3)"
    environment.execute_sql(f"CREATE TABLE numbers ({columns}) WITH ({files(tmp_path, 'numbers')})")
    environment.execute_sql("INSERT INTO numbers VALUES (7, 2, 'x'), (5, 0, CAST(NULL AS STRING))")
    return environment


def files(folder: Path, name: str, form: str = "parquet") -> str:
    return f"'connector' = 'filesystem', 'path' = '{folder / name}', 'format' = '{form}'"


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, environment.execute_sql(query).collect()), key=str)


def tables(environment: TableEnvironment) -> list[str]:
    return environment.list_tables()


def test_an_error_of_a_connector_has_its_class_and_its_line() -> None:
    with pytest.raises(ExternalError) as caught, spark_errors():
        int("abc")

    expected = r"the job failed: ValueError: invalid literal .*'abc' \(test_jobs\.py, line \d+\)"
    assert re.fullmatch(expected, caught.value.problem)


def test_select_returns_values_and_prints_them_as_flink(numbers: TableEnvironment) -> None:
    query = "SELECT a / 2 AS half, b = 0 AS zero, c FROM numbers ORDER BY a"

    assert [(2, True, None), (3, False, "x")] == rows(numbers, query)
    assert [("2", "TRUE", None), ("3", "FALSE", "x")] == list(
        numbers.execute_sql(query).format_rows()
    )


def test_a_division_by_zero_fails_the_job(numbers: TableEnvironment) -> None:
    with pytest.raises(ExternalError) as caught:
        rows(numbers, "SELECT a / b FROM numbers")

    assert ("job-failed", "the job failed: division by zero") == (
        caught.value.code,
        caught.value.problem,
    )


@pytest.mark.parametrize(
    ("atomic", "left"), [("false", ["broken", "numbers"]), ("true", ["numbers"])]
)
def test_state_after_a_failed_create_table_as(
    numbers: TableEnvironment, tmp_path: Path, atomic: str, left: list[str]
) -> None:
    numbers.execute_sql(f"SET 'table.rtas-ctas.atomicity-enabled' = '{atomic}'")
    with pytest.raises(ExternalError):
        numbers.execute_sql(
            f"CREATE TABLE broken WITH ({files(tmp_path, 'broken')}) AS "
            "SELECT a / b AS q FROM numbers"
        )

    assert left == tables(numbers)
    assert not list((tmp_path / "broken").rglob("part*"))


@pytest.mark.parametrize("atomic", ["false", "true"])
def test_create_table_as_has_the_schema_of_the_query(
    numbers: TableEnvironment, tmp_path: Path, atomic: str
) -> None:
    numbers.execute_sql(f"SET 'table.rtas-ctas.atomicity-enabled' = '{atomic}'")
    numbers.execute_sql(
        f"CREATE TABLE made WITH ({files(tmp_path, 'made', 'orc')}) AS "
        "SELECT c, SUM(a) AS total FROM numbers GROUP BY c"
    )

    assert [("x", 7), (None, 5)] == rows(numbers, "SELECT * FROM made")
    assert ["VARCHAR(3)", "INT"] == [
        str(type_)
        for type_ in numbers.from_path("made").get_resolved_schema().get_column_data_types()
    ]


def test_insert_fills_omitted_columns_with_null_and_overwrites(numbers: TableEnvironment) -> None:
    numbers.execute_sql("INSERT OVERWRITE numbers (c, b) VALUES ('abc', 1)")

    assert [(None, 1, "abc")] == rows(numbers, "SELECT * FROM numbers")


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("INSERT INTO numbers SELECT 1, CAST(NULL AS INT), 'x'", "job-failed"),
        ("INSERT INTO numbers (a) VALUES (1)", None),
        ("INSERT INTO numbers VALUES (1, 'x', 'x')", None),
    ],
)
def test_refused_inserts(numbers: TableEnvironment, statement: str, code: str | None) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        numbers.execute_sql(statement)

    assert code is None or code == caught.value.code
    assert 2 == len(rows(numbers, "SELECT * FROM numbers"))


def test_rows_with_null_are_dropped_on_request(numbers: TableEnvironment) -> None:
    numbers.execute_sql("SET 'table.exec.sink.not-null-enforcer' = 'drop'")
    numbers.execute_sql("INSERT INTO numbers SELECT a, NULLIF(b, 0), c FROM numbers")

    assert [(5, 0, None), (7, 2, "x"), (7, 2, "x")] == rows(numbers, "SELECT * FROM numbers")


def test_insert_truncates_strings_by_an_implicit_cast(numbers: TableEnvironment) -> None:
    text = "SUBSTRING('abcdef', a - 6)"
    numbers.execute_sql(f"INSERT OVERWRITE numbers SELECT 1, 1, {text} FROM numbers WHERE b > 0")

    assert [(1, 1, "abc")] == rows(numbers, "SELECT * FROM numbers")


def test_lengths_are_those_of_characters_not_of_bytes(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    (tmp_path / "long").mkdir()
    for name, form in (("long", "csv"), ("sink", "parquet")):
        environment.execute_sql(
            f"CREATE TABLE {name} (a CHAR(1), b CHAR(2), v VARCHAR(2)) WITH "
            f"({files(tmp_path, name, form)})"
        )

    def insert(lines: str) -> None:
        (tmp_path / "long" / "file").write_text(lines, encoding="utf-8")
        environment.execute_sql("INSERT INTO sink SELECT * FROM long")

    environment.execute_sql("SET 'table.exec.sink.type-length-enforcer' = 'ERROR'")
    insert("é,éü,éü\n")
    for line, name in (("éü,éü,é", "a"), ("a,é,é", "b"), ("a,abé,é", "b"), ("a,éü,éüö", "v")):
        with pytest.raises(ExternalError, match=f"column '{name}': a value does not fit"):
            insert(f"{line}\n")
    environment.execute_sql("SET 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD'")
    insert(",é,éüö\néü,abc,é\n")

    assert [(" ", "é ", "éü"), ("é", "ab", "é"), ("é", "éü", "éü")] == sorted(
        rows(environment, "SELECT * FROM sink")
    )


@pytest.mark.parametrize(
    ("rule", "stored"), [("IGNORE", "abcdef"), ("TRIM_PAD", "abcd"), ("ERROR", None)]
)
def test_strings_longer_than_their_declared_type(
    environment: TableEnvironment, tmp_path: Path, rule: str, stored: str | None
) -> None:
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "file").write_text("abcdef\n", encoding="utf-8")
    for name in ("long", "out"):
        environment.execute_sql(
            f"CREATE TABLE `{name}` (c CHAR(4)) WITH ({files(tmp_path, name, 'csv')})"
        )
    environment.execute_sql(f"SET 'table.exec.sink.type-length-enforcer' = '{rule}'")

    if stored is None:
        with pytest.raises(ExternalError):
            environment.execute_sql("INSERT INTO `out` SELECT c FROM `long`")
    else:
        environment.execute_sql("INSERT INTO `out` SELECT c FROM `long`")
        assert [(stored,)] == rows(environment, "SELECT * FROM `out`")


def test_unknown_options_are_refused_when_the_table_is_used(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    options = f"{files(tmp_path, 't', 'csv')}, 'csv.nul-literal' = 'x'"
    environment.execute_sql(f"CREATE TABLE t (a INT) WITH ({options})")
    with pytest.raises(SchemaError) as caught:
        rows(environment, "SELECT * FROM t")

    assert "unknown-option" == caught.value.code
    assert ("read table default_catalog.default_database.t",) == caught.value.path
    assert "did you mean 'csv.null-literal'?" == caught.value.hint


QUERIES = {
    "SELECT n, COUNT(*) FILTER (WHERE v > 1) FROM r GROUP BY n": [("a", 1), ("b", 1)],
    "SELECT v, SUM(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM r": [
        (1, 1),
        (2, 3),
        (3, 5),
    ],
    "SELECT l.v, m.v FROM r AS l LEFT JOIN r AS m ON l.v = m.v - 2": [(1, 3), (2, None), (3, None)],
    "SELECT v FROM r WHERE v IN (SELECT MAX(v) FROM r GROUP BY n)": [(2,), (3,)],
    "SELECT v FROM r WHERE v > (SELECT AVG(v) FROM r)": [(3,)],
    "WITH s(x) AS (SELECT v + 1 FROM r) SELECT MAX(x) FROM s": [(4,)],
    "SELECT v FROM r EXCEPT SELECT 2": [(1,), (3,)],
    "SELECT n, e FROM (SELECT n, ARRAY[v, v * 10] AS vs FROM r WHERE v = 2) AS s, "
    "UNNEST(s.vs) AS u(e)": [("a", 2), ("a", 20)],
    "SELECT v FROM r ORDER BY v DESC LIMIT 1 OFFSET 1": [(2,)],
    "SELECT DISTINCT n FROM r": [("a",), ("b",)],
    "SELECT INTERVAL '1' DAY + INTERVAL '2' HOUR": None,
}


@pytest.mark.parametrize("query", QUERIES)
def test_result_of_a_query(environment: TableEnvironment, query: str) -> None:
    environment.execute_sql(
        "CREATE TEMPORARY VIEW r AS SELECT * FROM (VALUES (1, 'a'), (2, 'a'), (3, 'b')) AS t(v, n)"
    )
    result = rows(environment, query)

    assert QUERIES[query] in (None, result)
