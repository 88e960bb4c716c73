"""Tables of the manuals and of `to_ddl`, executed by engines: what they print is read as the text.

An engine that is not installed is skipped with the reason.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from tempfile import NamedTemporaryFile
from typing import TypeAlias

import pytest

from fuzz import mariadb_server, postgres_server
from schema_core.errors import UnsupportedError
from schema_core.mappings.dialects.api import ForeignTable, ddl_losses, read_tables, to_ddl
from schema_core.schema.unresolved import Schema
from schema_core.types import parse_type
from tests.mappings.test_dialect_clauses import TYPES, clauses
from tests.support import cases

#: The statements of a table that is named `{t}`.
Statements: TypeAlias = list[str]
#: Creates tables, and returns each as the engine prints it, or None where it refuses a statement.
Print: TypeAlias = Callable[[list[Statements]], Iterable[ForeignTable | None]]

#: Types that the engine replaces when it creates a table.
CHANGED = {
    "postgres": {"int[3][3]"},  # the number of dimensions
    "clickhouse": {  # Nested becomes arrays
        "Nested(a String,b UInt8)", "Nested(a Array(String))", "LowCardinality(Nullable(String))",
    },
}  # fmt: skip


def texts(dialect: str) -> Iterator[Statements]:
    """The statements of the tables of clauses and types."""
    integer, string = TYPES.get(dialect, ("int", "varchar(20)" if dialect == "mysql" else "text"))
    tail = " ENGINE = MergeTree ORDER BY k" if dialect == "clickhouse" else ""
    columns = f"k {integer}, c {string}, z {integer}"
    for clause in clauses(dialect, "attribute"):
        for type_ in (integer, string):
            yield [f"CREATE TABLE {{t}} (k {integer}, c {type_} {clause}, z {integer}){tail}"]
    for clause in clauses(dialect, "constraint"):
        yield [f"CREATE TABLE {{t}} ({columns}, {clause}){tail}"]
    for clause in clauses(dialect, "option"):
        yield [f"CREATE TABLE {{t}} ({columns}) {clause}"]
    for clause in clauses(dialect, "alter"):
        action = clause.rpartition(" -> ")[0]
        yield [f"CREATE TABLE {{t}} ({columns}){tail}", f"ALTER TABLE {{t}} {action}"]
    for given, _ in cases("dialect_types"):
        engine, _, type_ = given.partition(" | ")
        if engine == dialect and type_ not in CHANGED.get(dialect, ()):
            for null in ("", " NOT NULL"):
                yield [f"CREATE TABLE {{t}} (k {integer}, c {type_}{null}, z {integer}){tail}"]


def schemas_of(dialect: str) -> Iterator[tuple[Schema, Statements]]:
    """Schemas with each type of Flink that has an equivalent, and their statements."""
    for flink in sorted({flink for _, flink in cases("dialect_same")}):
        if dialect == "postgres" and "ARRAY<ARRAY" in flink:
            continue  # the number of dimensions, which is a loss
        builder = Schema.new_builder().column("c", parse_type(flink)).with_comment("it's")
        schema = builder.column("z", parse_type("BIGINT NOT NULL")).primary_key("z").build()
        try:
            yield schema, to_ddl(schema, dialect, "{t}", on_loss="accept").split(";\n")
        except UnsupportedError:
            continue


def members(table: ForeignTable) -> tuple[list[tuple[str, str, str | None]], object]:
    """The columns and the key of a table."""
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


def read_first(text: str, dialect: str) -> ForeignTable:
    return read_tables(text, dialect).tables[0]


def print_duckdb(tables: list[Statements]) -> Iterator[ForeignTable | None]:
    connection = pytest.importorskip("duckdb").connect(":memory:")
    connection.execute("CREATE TABLE other (id int PRIMARY KEY); CREATE SEQUENCE s")
    query = (
        "SELECT sql FROM duckdb_tables() WHERE table_name = 't' UNION ALL SELECT 'COMMENT ON COLUMN"
        " t.' || column_name || ' IS ''' || replace(comment, '''', '''''') || ''''"
        " FROM duckdb_columns() WHERE table_name = 't' AND comment IS NOT NULL"
    )

    def execute(statements: Statements) -> str:
        connection.execute("DROP TABLE IF EXISTS t")
        for statement in statements:
            connection.execute(statement.replace("{t}", "t"))
        return ";".join(
            str(row[0]).removesuffix(";") for row in connection.execute(query).fetchall()
        )

    with connection:
        yield from one_after_another(tables, "duckdb", execute)


def print_sqlite(tables: list[Statements]) -> Iterator[ForeignTable | None]:
    def execute(statements: Statements) -> str:
        with sqlite3.connect(":memory:") as connection:
            for statement in statements:
                connection.execute(statement.replace("{t}", "t"))
            return str(connection.execute("SELECT sql FROM sqlite_master").fetchone()[0])

    yield from one_after_another(tables, "sqlite", execute)


def print_clickhouse(tables: list[Statements]) -> Iterator[ForeignTable | None]:
    session = pytest.importorskip("chdb.session").Session()
    session.query("CREATE DATABASE d")

    def execute(statements: Statements) -> str:
        session.query("DROP TABLE IF EXISTS d.t")
        for statement in statements:
            session.query(statement.replace("`{t}`", "{t}").replace("{t}", "d.t", 1))
        query = "SELECT create_table_query FROM system.tables WHERE database = 'd' AND name = 't'"
        return str(session.query(f"{query} FORMAT TSVRaw"))

    yield from one_after_another(tables, "clickhouse", execute)


def one_after_another(
    tables: list[Statements], dialect: str, execute: Callable[[Statements], str]
) -> Iterator[ForeignTable | None]:
    for statements in tables:
        try:
            printed = execute(statements)
        except Exception:  # noqa: BLE001 - each engine has errors of its own
            yield None
        else:
            yield read_first(printed, dialect)


def print_mariadb(tables: list[Statements]) -> Iterator[ForeignTable | None]:
    """All tables are one script: an error has the line of the table, which is then refused."""
    if (reason := mariadb_server.why_not()) is not None:
        pytest.skip(reason)
    script = ["CREATE DATABASE d; USE d; CREATE TABLE other (id int PRIMARY KEY, a int, b int);"]
    script += [
        " ".join(f"{part};" for part in statements).replace("{t}", f"t{number}").replace("\n", " ")
        for number, statements in enumerate(tables)
    ]
    script += [f"SHOW CREATE TABLE t{number};" for number in range(len(tables))]
    with mariadb_server.server() as socket:
        printed, errors = mariadb_server.client(socket, "\n".join(script))
    refused = {
        int(line) - 2 for line in re.findall(r"^ERROR .* at line (\d+): ", errors, re.MULTILINE)
    }
    dump = read_tables(re.sub(r"^t\d+\t(?=CREATE)", ";\n", printed, flags=re.MULTILINE), "mysql")
    created = {table.path[-1]: table for table in dump.tables}
    for number in range(len(tables)):
        yield None if number in refused else created.get(f"t{number}")


def print_postgres(tables: list[Statements]) -> Iterator[ForeignTable | None]:
    """All tables are dumped at once: `pg_dump` takes a second."""
    if (reason := postgres_server.why_not()) is not None:
        pytest.skip(reason)
    script = (
        "CREATE SEQUENCE s;\n"
        "CREATE TABLE other (id int PRIMARY KEY, a int, b int, UNIQUE (a, b));\n"
    )
    for number, statements in enumerate(tables):
        script += f"BEGIN;\n{';'.join(statements)};\nCOMMIT;\n".replace("{t}", f"t{number}")
    with postgres_server.server() as reached, NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        postgres_server.client(reached, "psql", "-q", "-f", file.name)
        dump = read_tables(postgres_server.client(reached, "pg_dump", "--schema-only"))
    assert dump.errors == ()
    created = {table.path[-1]: table for table in dump.tables}
    for number in range(len(tables)):
        yield created.get(f"t{number}")


#: Dialect -> its engine, and how many of the texts of the manuals and of `to_ddl` it accepts.
ENGINES: dict[str, tuple[Print, int, int]] = {
    "duckdb":     (print_duckdb, 150, 100),
    "sqlite":     (print_sqlite, 100, 100),
    "clickhouse": (print_clickhouse, 150, 100),
    "mysql":      (print_mariadb, 150, 100),
    "postgres":   (print_postgres, 250, 100),
}  # fmt: skip


@pytest.mark.parametrize(
    "dialect",
    ["duckdb", "sqlite",
     *(pytest.param(name, marks=pytest.mark.slow) for name in ("clickhouse", "mysql", "postgres"))],
)  # fmt: skip
def test_engines_print_the_tables_that_are_read_and_written(dialect: str) -> None:
    execute, *minimum = ENGINES[dialect]
    read, schemas = list(texts(dialect)), list(schemas_of(dialect))
    tables: list[Statements] = [*read, *(statements for _, statements in schemas)]
    accepted = [0, 0]
    for index, (statements, printed) in enumerate(zip(tables, execute(tables), strict=True)):
        if printed is None:
            continue
        accepted[index >= len(read)] += 1
        expected = read_first(";\n".join(statements).replace("{t}", "t"), dialect)
        assert members(printed) == members(expected), statements
        if index >= len(read):
            schema, _ = schemas[index - len(read)]
            columns = [loss.path[0] for loss in ddl_losses(schema, dialect)]
            same = [column for column in schema.columns if column.name not in columns]
            assert set(same) <= set(printed.schema.columns), statements

    assert accepted >= minimum
