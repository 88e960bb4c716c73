"""Clauses and types of the manuals executed by the engines: what they print is read as the text."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fuzz.postgres_server import client, server, why_not
from schema_core.errors import UnsupportedError
from schema_core.mappings.dialects.api import read_tables, to_ddl
from schema_core.schema.unresolved import Schema
from schema_core.types import parse_type
from tests.mappings.test_dialect_clauses import TYPES, clauses
from tests.support import cases

#: Executes statements that create the table `t`, and returns its statement as the engine prints it.
Execute: TypeAlias = Callable[[list[str]], str]

#: What the engine changes, where the text is read as it was declared.
CHANGED = {
    "postgres": {"int[3][3]"},  # the number of dimensions
    "clickhouse": {  # Nested becomes arrays
        "Nested(a String,b UInt8)", "Nested(a Array(String))", "LowCardinality(Nullable(String))",
    },
}  # fmt: skip


def texts(dialect: str) -> Iterator[list[str]]:
    """The statements of the tables of clauses and types."""
    integer, string = TYPES.get(dialect, ("int", "text"))
    tail = " ENGINE = MergeTree ORDER BY k" if dialect == "clickhouse" else ""
    columns = f"k {integer}, c {string}, z {integer}"
    for clause in clauses(dialect, "attribute"):
        for type_ in (integer, string):
            yield [f"CREATE TABLE t (k {integer}, c {type_} {clause}, z {integer}){tail}"]
    for clause in clauses(dialect, "constraint"):
        yield [f"CREATE TABLE t ({columns}, {clause}){tail}"]
    for clause in clauses(dialect, "option"):
        yield [f"CREATE TABLE t ({columns}) {clause}"]
    for clause in clauses(dialect, "alter"):
        action = clause.rpartition(" -> ")[0]
        yield [f"CREATE TABLE t ({columns}){tail}", f"ALTER TABLE t {action}"]
    for given, _ in cases("dialect_types"):
        engine, _, type_ = given.partition(" | ")
        if engine == dialect and type_ not in CHANGED.get(dialect, ()):
            for null in ("", " NOT NULL"):
                yield [f"CREATE TABLE t (k {integer}, c {type_}{null}, z {integer}){tail}"]


def members(text: str, dialect: str) -> tuple[list[tuple[str, str, str | None]], object]:
    """The columns and the key of the first table of a script."""
    table = read_tables(text, dialect).tables[0]
    columns = [
        (
            column.name,
            str(getattr(column, "data_type", getattr(column, "expression", ""))),
            column.comment,
        )
        for column in table.schema.columns
    ]
    key = table.schema.primary_key
    return columns, key and key.column_names


def agree(dialect: str, execute: Execute) -> int:
    """Require that the engine prints what was read, and return how many texts it accepted."""
    accepted = 0
    for statements in texts(dialect):
        try:
            printed = execute(statements)
        except Exception:  # noqa: BLE001 - a version of the engine without the clause
            continue
        accepted += 1
        assert members(";\n".join(statements), dialect) == members(printed, dialect), statements
    return accepted


def test_duckdb_prints_the_tables_that_are_read() -> None:
    duckdb = pytest.importorskip("duckdb")

    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE other (id int PRIMARY KEY); CREATE SEQUENCE s")

    def execute(statements: list[str]) -> str:
        connection.execute("DROP TABLE IF EXISTS t")
        for statement in statements:
            connection.execute(statement)
        query = "SELECT sql FROM duckdb_tables() WHERE table_name = 't'"
        return str(connection.execute(query).fetchone()[0])

    with connection:
        assert agree("duckdb", execute) >= 150


def test_sqlite_prints_the_tables_that_are_read() -> None:
    def execute(statements: list[str]) -> str:
        with sqlite3.connect(":memory:") as connection:
            for statement in statements:
                connection.execute(statement)
            query = "SELECT sql FROM sqlite_master WHERE name = 't'"
            return str(connection.execute(query).fetchone()[0])

    assert agree("sqlite", execute) >= 100


@pytest.mark.slow
def test_clickhouse_prints_the_tables_that_are_read() -> None:
    session = pytest.importorskip("chdb.session").Session()
    session.query("CREATE DATABASE d")

    def execute(statements: list[str]) -> str:
        session.query("DROP TABLE IF EXISTS d.t")
        for statement in statements:
            session.query(statement.replace(" TABLE t ", " TABLE d.t ", 1))
        query = "SELECT create_table_query FROM system.tables WHERE database = 'd' AND name = 't'"
        printed = str(session.query(f"{query} FORMAT TSVRaw"))
        assert printed.strip()
        return printed

    assert agree("clickhouse", execute) >= 150


@pytest.mark.slow
def test_postgres_dumps_the_tables_that_are_read(tmp_path: Path) -> None:
    """All tables are dumped at once: `pg_dump` takes a second."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    every = {
        f"t{number}": [text.replace(" TABLE t ", f" TABLE t{number} ", 1) for text in statements]
        for number, statements in enumerate(texts("postgres"))
    }
    script = tmp_path / "script.sql"
    script.write_text(
        "CREATE SEQUENCE s;\n"
        "CREATE TABLE other (id int PRIMARY KEY, a int, b int, UNIQUE (a, b));\n"
        + "".join(f"BEGIN;\n{';'.join(part)};\nCOMMIT;\n" for part in every.values()),
        encoding="utf-8",
    )
    with server() as reached:
        client(reached, "psql", "-q", "-f", str(script))
        dump = client(reached, "pg_dump", "--schema-only")
    dumped = read_tables(dump)
    result = {table.path[-1]: table for table in dumped.tables}

    assert dumped.errors == ()
    assert len(result) >= 250
    for name, statements in every.items():
        if name in result:
            table = result[name]
            columns = [
                (column.name, str(getattr(column, "data_type", "")))
                for column in table.schema.columns
            ]
            expected, key = members(";\n".join(statements), "postgres")
            assert [pair[:2] for pair in expected] == columns, statements
            assert key == (table.schema.primary_key and table.schema.primary_key.column_names)


#: Types of Flink that are written and read back by an engine.
WRITTEN = sorted({flink for _, flink in cases("dialect_same")})


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_written_tables_are_printed_as_they_are_written(dialect: str) -> None:
    connection: Any
    if dialect == "sqlite":
        connection, query = sqlite3.connect(":memory:"), "SELECT sql FROM sqlite_master"
    else:
        connection = pytest.importorskip("duckdb").connect(":memory:")
        query = "SELECT sql FROM duckdb_tables()"
    for flink in WRITTEN:
        schema = Schema.new_builder().column("c", parse_type(flink)).column("z", "INT").build()
        try:
            text = to_ddl(schema, dialect, on_loss="accept")
        except UnsupportedError:
            continue
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(text)
        printed = connection.execute(query).fetchone()[0]
        assert members(text, dialect) == members(printed, dialect), flink
    connection.close()
