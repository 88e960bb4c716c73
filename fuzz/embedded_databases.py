"""SQLite and DuckDB in memory, to execute the statements of plans.

    python -m fuzz.embedded_databases sqlite 500
    python -m fuzz.embedded_databases duckdb 500
    python -m fuzz.embedded_databases sqlite values
    python -m fuzz.embedded_databases duckdb values

The first two draw pairs of tables. The old table is created with a row, and the plan is executed.
The columns, the keys and the comments must be those of a table that is created from the new
definition, and the values of the row those of before; or a statement fails, and the table is as
before. The undo of each step must lead back. The others convert each value of `conversion_matrix`
to each type by the plan of a table of one column.
"""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from random import Random
from typing import Any, Protocol

from fuzz.conversion_matrix import Case, Run, cases, is_kept, report
from fuzz.migration_plans import Renames, drawn_pair
from schema_core import Schema, SchemaCoreError
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.mappings.dialects import to_ddl
from schema_core.migration.plans import MigrationPlan, plan
from schema_core.schema.resolve import SchemaResolver
from schema_core.types import DataType
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot

#: The time zone of sessions, in which some local times do not exist.
ZONE = "Europe/Berlin"
TABLES = ("t", "t__new", "t__old", "fresh")
BYTES = MEMBERS[TypeFamily.BINARY_STRING]


class Database(Protocol):
    """An engine in the process."""

    name: str
    errors: tuple[type[Exception], ...]

    def execute(self, statement: str) -> list[Any]:
        """Execute statements and return the rows of the last one."""

    def columns(self, table: str) -> list[Any]:
        """Return the columns of a table, with their types, keys and comments."""

    def literal(self, text: str, type_: DataType) -> str:
        """Return a value as SQL."""

    def values(self, table: str, column: str, type_: DataType) -> list[Any]:
        """Return the texts of the values of a column: bytes as hexadecimal digits."""


def quote(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


class SQLite:
    """Python's SQLite, which stores datetimes as strings and BOOLEAN as a number."""

    name: str = "sqlite"
    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def execute(self, statement: str) -> list[Any]:
        """Execute a statement and return its rows."""
        return self.connection.execute(statement).fetchall()

    def columns(self, table: str) -> list[Any]:
        """Return the columns, with their numbers in the key."""
        fields = 'name, lower(type), "notnull", pk, hidden'
        return self.execute(f"SELECT {fields} FROM pragma_table_xinfo('{table}')")

    def literal(self, text: str, type_: DataType) -> str:
        """Return a value as SQL."""
        if type_.root in BYTES:
            return f"X'{text}'"
        if type_.root is TypeRoot.BOOLEAN:
            return text
        return "'" + text.replace("'", "''") + "'"

    def values(self, table: str, column: str, type_: DataType) -> list[Any]:
        """Return the texts of the values of a column."""
        rows = self.execute(f"SELECT {quote(column)} FROM {quote(table)} ORDER BY rowid")
        return [self._text(value, type_) for (value,) in rows]

    def _text(self, value: Any, type_: DataType) -> Any:
        if isinstance(value, bytes):
            return value.hex()
        if type_.root is TypeRoot.BOOLEAN and value in (0, 1):
            return str(bool(value)).lower()
        return value if value is None else str(value)


class DuckDB:
    """DuckDB in memory."""

    name: str = "duckdb"
    errors: tuple[type[Exception], ...]

    def __init__(self) -> None:
        import duckdb

        self.errors = (duckdb.Error,)
        self.connection = duckdb.connect()
        self.execute(f"SET TimeZone = '{ZONE}'")

    def execute(self, statement: str) -> list[Any]:
        """Execute a statement and return its rows."""
        return list(self.connection.execute(statement).fetchall())

    def columns(self, table: str) -> list[Any]:
        """Return the columns and the keys."""
        where = f"WHERE table_name = '{table}'"
        fields = "column_name, data_type, is_nullable, comment, column_default"
        columns = self.execute(
            f"SELECT {fields} FROM duckdb_columns() {where} ORDER BY column_index"
        )
        keys = self.execute(
            f"SELECT constraint_column_names FROM duckdb_constraints() {where}"
            " AND constraint_type = 'PRIMARY KEY'"
        )
        comments = self.execute(f"SELECT comment FROM duckdb_tables() {where}")
        return [*columns, keys, comments]

    def literal(self, text: str, type_: DataType) -> str:
        """Return a value as SQL."""
        quoted = "'" + text.replace("'", "''") + "'"
        if type_.root in BYTES:
            return f"unhex({quoted})"
        ddl = to_ddl_type(type_, "duckdb")
        return f"CAST({quoted} AS {ddl})"

    def values(self, table: str, column: str, type_: DataType) -> list[Any]:
        """Return the texts of the values of a column."""
        text = _duckdb_text(quote(column), type_)
        rows = self.execute(f"SELECT {text} FROM {quote(table)} ORDER BY rowid")
        return [value for (value,) in rows]


def _duckdb_text(value: str, type_: DataType) -> str:
    if type_.root is TypeRoot.ARRAY:
        (element,) = type_.children()
        return f"list_transform({value}, lambda e: {_duckdb_text('e', element)})"
    return f"lower(hex({value}))" if type_.root in BYTES else f"CAST({value} AS varchar)"


def to_ddl_type(type_: DataType, dialect: str) -> str:
    """Return a type in the DDL of an engine."""
    from schema_core.mappings.dialects.engines import engine
    from schema_core.mappings.dialects.types import write_type

    return write_type(type_, engine(dialect), (), [])


def missing(name: str) -> str | None:
    """Return why an engine cannot be used."""
    if name == "duckdb" and find_spec("duckdb") is None:
        return "the package duckdb is not installed"
    return None


def connect(name: str) -> Database:
    """Return a new engine."""
    return SQLite() if name == "sqlite" else DuckDB()


# --- values --------------------------------------------------------------------------------------


@cache
def plan_statements(target: str, old: DataType, new: DataType) -> tuple[str, ...]:
    """Return the statements that change the type of the only column of a table."""
    before, after = (Schema.new_builder().column("c", type_).build() for type_ in (old, new))
    return plan(before, after, target, path="t").statements


def run_plan(database: Database) -> Run:
    """Return what executes the plan of a case on a table with its value.

    Raises:
        AssertionError: if a statement fails and the table does not have the value of before.
    """

    def run(case: Case) -> Any:
        table = CatalogTable(Schema.new_builder().column("c", case.old).build())
        _create(database, table, "t")
        database.execute(f"INSERT INTO t VALUES ({literal(database, case.text, case.old)})")
        before = database.values("t", "c", case.old)
        try:
            for statement in plan_statements(database.name, case.old, case.new):
                database.execute(statement)
        except database.errors:
            assert before == database.values("t", "c", case.old), str(case)
            return None
        (after,) = database.values("t", "c", case.new)
        return "NULL" if after is None else after

    return run


def literal(database: Database, text: Any, type_: DataType) -> str:
    """Return a value of a case as SQL."""
    if not isinstance(text, tuple):
        return database.literal(text, type_)
    (element,) = type_.children()
    return f"[{', '.join(database.literal(part, element) for part in text)}]"


def value_cases(name: str) -> Iterator[Case]:
    """Yield the cases of an engine.

    SQLite stores collections as JSON, which it does not convert, numbers of more than 15 digits as
    floating point numbers, and FLOAT as DOUBLE; it writes other digits of the least numbers.
    """
    for case in cases():
        types = {case.old.root, case.new.root}
        is_stored = TypeRoot.FLOAT not in types and not isinstance(case.text, tuple)
        is_stored &= case.text != "5e-324"
        digits = len(str(case.text).replace(".", "")) if case.old.root is TypeRoot.DECIMAL else 0
        if name != "sqlite" or (is_stored and digits <= 15):
            yield case


# --- drawn pairs ---------------------------------------------------------------------------------

#: Root of a type -> a text of a value that most types have.
TEXTS = {
    "BOOLEAN": "true", "VARBINARY": "31", "DATE": "2020-01-02",
    "TIMESTAMP_WITHOUT_TIME_ZONE": "2020-01-02 00:00:00",
    "TIMESTAMP_WITH_LOCAL_TIME_ZONE": "2020-01-02 00:00:00", "TIME_WITHOUT_TIME_ZONE": "03:04:05",
    "CHAR": "1  ",
}  # fmt: skip
NESTED = {
    "sqlite": {"ARRAY": "'[1]'", "ROW": "'{\"x\": 1}'", "MAP": "'{\"x\": 1}'"},
    "duckdb": {"ARRAY": "[1]", "ROW": "{row}", "MAP": "MAP {'x': 1}"},
}


def stored_types_of(table: CatalogTable) -> dict[str, DataType]:
    """Return the types of the stored columns of a table."""
    schema = resolve_table(table, SchemaResolver()).get_resolved_schema()
    return {column.name: column.data_type for column in schema.columns if column.is_physical()}


def insert_row(database: Database, table: CatalogTable) -> None:
    """Insert a row with a value in each stored column."""
    types = stored_types_of(table)
    values = []
    for type_ in types.values():
        nested = NESTED[database.name].get(type_.root.name)
        if nested == "{row}":
            names = type_.field_names()  # type: ignore[attr-defined]
            nested = (
                "{" + ", ".join(f"'{name}': {number}" for number, name in enumerate(names)) + "}"
            )
        text = TEXTS.get(type_.root.name, "1")
        values.append(database.literal(text, type_) if nested is None else nested)
    names = ", ".join(map(quote, types))
    database.execute(f"INSERT INTO t ({names}) VALUES ({', '.join(values)})")


def check_pair(database: Database, old: CatalogTable, new: CatalogTable, renames: Renames) -> str:
    """Execute a plan on an empty table and on one with a row; return how it went.

    Raises:
        AssertionError: for a table that differs, or for values that neither survive nor fail.
    """
    result = plan(old, new, database.name, renames=renames, path="t")
    assert result == MigrationPlan.from_json(result.to_json())
    _create(database, old, "t")
    _create(database, new, "fresh")
    first = database.columns("t")
    for statement in result.statements:
        database.execute(statement)
    ordered = not any("position" in loss for loss in result.losses)
    shown, expected = (_described(database, name, ordered=ordered) for name in ("t", "fresh"))
    assert expected == shown, f"{result}\nexpected {expected}\ngot {shown}"
    if all(step.undo is not None for step in result.steps):
        for step in reversed(result.steps):
            for statement in step.undo or ():
                database.execute(statement)
        assert sorted(first, key=str) == sorted(database.columns("t"), key=str), str(result)
    _create(database, old, "t")
    insert_row(database, old)
    before = _values(database, old)
    how = "in place" if result.rewrite is None else "rewrite"
    try:
        for statement in result.statements:
            database.execute(statement)
    except database.errors:
        if result.rewrite is not None:
            assert before == _values(database, old), str(result)
        assert result.risks, f"{result}\nfailed without a risk"
        return f"{how}, refused"
    after = _values(database, new)
    sources = {renames.get(name, name): name for name in before if name not in renames}
    sources |= {after_name: str(name) for name, after_name in renames.items()}
    types = stored_types_of(old), stored_types_of(new)
    for name in after.keys() & sources.keys() - {
        str(name) for name in renames if name not in before
    }:
        case = Case(types[0][sources[name]], types[1][name], before[sources[name]][0])
        assert _is_kept(case, after[name][0]), f"{result}\n{case}: {after}"
    return f"{how}, kept"


def _is_kept(case: Case, after: Any) -> bool:
    """Return whether a value is the one of before; one of a changed nested type only exists."""
    if case.old.nullable() == case.new.nullable():
        return bool(case.text == after)
    if case.old.children() or case.new.children():
        return after is not None
    return is_kept(case, after)


def _create(database: Database, table: CatalogTable, name: str) -> None:
    for each in (*TABLES, "fresh") if name == "t" else (name,):
        if name != "t" or each != "fresh":
            database.execute(f"DROP TABLE IF EXISTS {each}")
    for statement in to_ddl(table, database.name, name, on_loss="accept").split(";\n"):
        database.execute(statement)


def _described(database: Database, table: str, *, ordered: bool) -> list[Any]:
    columns = database.columns(table)
    return columns if ordered else sorted(columns, key=str)


def _values(database: Database, table: CatalogTable) -> dict[str, list[Any]]:
    return {
        name: database.values("t", name, type_) for name, type_ in stored_types_of(table).items()
    }


def checks(name: str, count: int, seed: int) -> Iterator[str]:
    """Check drawn pairs; yield how each went."""
    database = connect(name)
    for number in range(seed, seed + count):
        try:
            yield check_pair(database, *drawn_pair(Random(number), for_flink=False))
        except SchemaCoreError as error:
            yield str(error.code)


def main() -> None:
    """Print how many pairs went how."""
    name = sys.argv[1]
    if sys.argv[2] == "values":
        report(name, run_plan(connect(name)), value_cases(name), 60)
        return
    count = int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    print(dict(Counter(checks(name, count, seed))))


if __name__ == "__main__":
    main()
