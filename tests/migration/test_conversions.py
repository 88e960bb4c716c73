"""Conversions of values: what plans for PostgreSQL make of each value, and what can be accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from fuzz.conversion_matrix import Case, cases, is_kept, run_postgres
from fuzz.postgres_server import server, why_not
from schema_core import Schema, SchemaError
from schema_core.migration import plan
from schema_core.types import parse_type


@pytest.fixture(scope="module")
def connection() -> Iterator[Any]:
    if reason := why_not():
        pytest.skip(reason)
    import psycopg

    with server() as reached:
        address = reached.url.replace("+psycopg", "")
        with psycopg.connect(
            address, user=reached.username, password=reached.password, autocommit=True
        ) as connection:
            connection.execute(b"SET TIME ZONE 'Europe/Berlin'")
            yield connection


def changed(connection: Any, every: Iterable[Case]) -> tuple[list[str], int]:
    """Return the cases whose value changes, and how many keep it."""
    run = run_postgres(connection)
    results = [(case, run(case)) for case in every]
    kept = [result is not None and is_kept(case, result) for case, result in results]
    pairs = zip(results, kept, strict=True)
    silent = [(case, item) for (case, item), good in pairs if item is not None and not good]
    return [f"{case}: {item!r}" for case, item in silent], sum(kept)


def test_conversions_for_postgresql_keep_the_value_or_fail(connection: Any) -> None:
    result, kept = changed(connection, (case for n, case in enumerate(cases()) if n % 7 == 0))

    assert [] == result
    assert kept >= 130


def test_all_conversions_for_postgresql_keep_the_value_or_fail(connection: Any) -> None:
    result, kept = changed(connection, cases())

    assert [] == result
    assert kept >= 960


@pytest.mark.parametrize(
    ("old", "text", "new", "result"),
    [
        ("STRING", "now", "TIMESTAMP(6)", None),
        ("STRING", "today", "DATE", None),
        ("STRING", "allballs", "TIME(0)", None),
        ("STRING", "epoch", "TIMESTAMP_LTZ(3)", None),
        ("STRING", "infinity", "DATE", None),
        ("STRING", "01/02/2020", "DATE", None),
        ("STRING", "2020-01-02", "DATE", "2020-01-02"),
        ("STRING", "2020-01-02 03:04:05.678900", "TIMESTAMP(4)", "2020-01-02 03:04:05.6789"),
        ("STRING", "2020-01-02 03:04:05.6789", "TIMESTAMP(3)", None),
        ("STRING", "2020-01-02 03:04:05Z", "TIMESTAMP(3)", None),
        ("STRING", "2020-01-02 03:04:05Z", "TIMESTAMP_LTZ(3)", "2020-01-02 04:04:05+01"),
        ("STRING", "2021-03-28 02:30:00", "TIMESTAMP_LTZ(3)", None),
        ("STRING", "\\x41", "BYTES", "\\x5c783431"),
        ("BYTES", "5c78", "STRING", "\\x"),
        ("BYTES", "ff", "STRING", None),
        ("STRING", "abcdef", "VARCHAR(3)", None),
        ("STRING", "abc   ", "VARCHAR(3)", None),
        ("INT", "70000", "SMALLINT", None),
        ("INT", "12345", "VARCHAR(3)", None),
        ("INT", "20200102", "DATE", None),
        ("DECIMAL(5, 2)", "1.50", "INT", None),
        ("DECIMAL(5, 2)", "2", "INT", "2"),
        ("DOUBLE", "0.1", "DECIMAL(5, 2)", "0.10"),
        ("DOUBLE", "0.125", "DECIMAL(5, 2)", None),
        ("BIGINT", "9007199254740993", "DOUBLE", None),
        ("INT", "2", "BOOLEAN", None),
        ("TIMESTAMP(6)", "2020-01-02 03:04:05", "DATE", None),
    ],
)
def test_values_of_postgresql(
    connection: Any, old: str, text: str, new: str, result: str | None
) -> None:
    results = run_postgres(connection)(Case(parse_type(old), parse_type(new), text))

    assert result == results


def test_columns_without_values_can_have_any_type(connection: Any) -> None:
    for old, new in (("INT", "DATE"), ("DATE", "BYTES"), ("TIME(0)", "BOOLEAN")):
        before, after = (Schema.new_builder().column("c", table).build() for table in (old, new))
        connection.execute(f"CREATE TABLE t (c {old.lower()})".encode())
        connection.execute(b"INSERT INTO t VALUES (NULL)")
        for statement in plan(before, after, "postgres").statements:
            connection.execute(statement.encode())
        assert [(None,)] == connection.execute(b"SELECT c FROM t").fetchall()
        connection.execute(b"DROP TABLE t")


@pytest.mark.parametrize(
    ("new", "accept", "using"),
    [
        ("VARCHAR(3)", ["too-long"], 'USING CAST("c" AS varchar(3))'),
        ("DECIMAL(9, 2)", ["value-dropped"], "IS NOT TRUE THEN CAST(NULL AS numeric(9, 2))"),
        ("INTERVAL YEAR", ["value-dropped"], "USING CAST(NULL AS "),
    ],
)
def test_changes_can_be_accepted(new: str, accept: list[str], using: str) -> None:
    before, after = (Schema.new_builder().column("c", item).build() for item in ("STRING", new))
    (statement,) = plan(before, after, "postgres", accept=accept).statements

    assert using in statement
    assert using not in plan(before, after, "postgres").statements[0]
    assert plan(before, after, "postgres", accept=accept).steps[0].undo is None


def test_what_fails_cannot_be_accepted() -> None:
    table = Schema.new_builder().column("c", "INT").build()
    with pytest.raises(SchemaError) as caught:
        plan(table, table, accept=["cast-failed"])

    assert "invalid-argument" == caught.value.code
