"""The clauses of CREATE TABLE and ALTER TABLE of every engine, by its manual: read or reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schema_core.mappings.dialects.api import ForeignTable, read_tables
from schema_core.mappings.dialects.engines import ENGINES
from schema_core.schema.unresolved import UnresolvedPhysicalColumn
from schema_core.types import parse_type
from tests.support import cases

FILE = Path(__file__).parent.parent / "cases" / "dialect_clauses.cases"

#: Engine -> types of an integer and of a string, if these are not `int` and `varchar(20)`.
TYPES = {
    "bigquery": ("INT64", "STRING"),
    "clickhouse": ("Int32", "String"),
    "hive": ("int", "string"),
    "oracle": ("NUMBER(5)", "VARCHAR2(20 CHAR)"),
    "spark": ("INT", "STRING"),
    "tsql": ("[int]", "[nvarchar](20)"),
}


def clauses(dialect: str, kind: str) -> list[str]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    start = f"{dialect} | {kind} | "
    return [line.removeprefix(start) for line in lines if line.startswith(start)]


def types_of(dialect: str) -> list[tuple[str, str]]:
    """Types of an engine and what they are in Flink, from the table of exact types."""
    pairs = [(given.partition(" | "), flink) for given, flink in cases("dialect_same")]
    return [(foreign, flink) for (name, _, foreign), flink in pairs if name == dialect and foreign]


def names(table: ForeignTable) -> list[str]:
    return [column.name.lower() for column in table.schema.columns]


def only(text: str, dialect: str) -> ForeignTable:
    """The first of two tables of a script, which has no errors."""
    integer, _ = TYPES.get(dialect, ("int", ""))
    script = read_tables(f"{text};\nCREATE TABLE u (k {integer});", dialect)
    first, second = script.tables

    assert script.errors == ()
    assert script.losses == ()
    assert names(second) == ["k"]
    return first


def typed(table: ForeignTable) -> Iterator[str]:
    """The types of the columns without their nullability."""
    for column in table.schema.columns:
        assert isinstance(column, UnresolvedPhysicalColumn)
        yield str(column.data_type).removesuffix(" NOT NULL")


@pytest.mark.parametrize("dialect", ENGINES)
def test_attributes_of_columns(dialect: str) -> None:
    """An attribute changes neither the type of its column nor the columns beside it."""
    integer, string = TYPES.get(dialect, ("int", "varchar(20)"))
    expected = list(typed(only(f"CREATE TABLE t (k {integer}, c {string}, z {integer})", dialect)))
    for clause in clauses(dialect, "attribute"):
        table = only(f"CREATE TABLE t (k {integer}, c {string} {clause}, z {integer})", dialect)
        assert (names(table), list(typed(table))) == (["k", "c", "z"], expected), clause


@pytest.mark.parametrize("dialect", ENGINES)
def test_attributes_of_columns_of_all_types(dialect: str) -> None:
    """Each type is followed by every third attribute."""
    for index, (foreign, flink) in enumerate(types_of(dialect)):
        for clause in clauses(dialect, "attribute")[index % 3 :: 3]:
            table = only(f"CREATE TABLE t (a {foreign} {clause}, b {foreign})", dialect)
            first, second = typed(table)
            assert (first, names(table)) == (second, ["a", "b"]), (foreign, clause, flink)


@pytest.mark.parametrize("dialect", ENGINES)
def test_constraints_of_tables(dialect: str) -> None:
    integer, string = TYPES.get(dialect, ("int", "varchar(20)"))
    columns = f"k {integer}, c {string}, z {integer}"
    for clause in clauses(dialect, "constraint"):
        table = only(f"CREATE TABLE t ({columns}, {clause})", dialect)
        has_key = "PRIMARY KEY" in clause and "(PRIMARY KEY)" not in clause
        assert names(table) == ["k", "c", "z"], clause
        assert (table.schema.primary_key is not None) == has_key, clause
        assert has_key or table.losses or "NOT NULL" in clause, clause


@pytest.mark.parametrize("dialect", ENGINES)
def test_options_of_tables(dialect: str) -> None:
    integer, string = TYPES.get(dialect, ("int", "varchar(20)"))
    for clause in clauses(dialect, "option"):
        table = only(f"CREATE TABLE t (k {integer}, c {string}, z {integer}) {clause}", dialect)
        partitions = list(table.partition_keys)
        assert names(table) in (["k", "c", "z"], ["k", "c", "z", *partitions]), clause
        assert table.losses or table.comment or partitions, clause


@pytest.mark.parametrize("dialect", ENGINES)
def test_options_after_columns_of_all_types(dialect: str) -> None:
    for foreign, _ in types_of(dialect):
        for clause in clauses(dialect, "option"):
            table = only(f"CREATE TABLE t (a {foreign}, b {foreign}) {clause}", dialect)
            assert names(table)[:2] == ["a", "b"], (foreign, clause)


@pytest.mark.parametrize("dialect", ENGINES)
def test_actions_of_alter_table(dialect: str) -> None:
    integer, string = TYPES.get(dialect, ("int", "varchar(20)"))
    created = f"CREATE TABLE t (k {integer}, c {string}, z {integer})"
    for clause in clauses(dialect, "alter"):
        action, _, columns = clause.rpartition(" -> ")
        table = only(f"{created}; ALTER TABLE t {action}", dialect)
        assert names(table) == columns.split(), action


@pytest.mark.parametrize("dialect", ENGINES)
def test_types_of_the_manuals(dialect: str) -> None:
    """Every type of the manual is read, or an error and a loss of its column."""
    for given, expected in cases("dialect_types"):
        engine, _, foreign = given.partition(" | ")
        if engine != dialect:
            continue
        script = read_tables(f"CREATE TABLE t (k int, c {foreign}, z int)", dialect)
        (table,) = script.tables
        losses = [loss.kind.word for loss in table.losses if loss.path[0].lower() == "c"]
        if expected.startswith("! "):
            assert [error.code for error in script.errors] == [expected.removeprefix("! ")], given
            assert (names(table), losses) == (["k", "z"], ["refused"]), given
            continue
        column = table.schema.columns[1]
        type_, _, words = expected.partition(" ; ")
        assert isinstance(column, UnresolvedPhysicalColumn)
        assert (script.errors, names(table)) == ((), ["k", "c", "z"]), given
        assert (str(parse_type(type_)), words) == (str(column.data_type), ", ".join(losses)), given


@pytest.mark.parametrize("dialect", ENGINES)
def test_every_engine_has_enough_texts(dialect: str) -> None:
    """At least 200 texts of each engine are read above or in the tables of types."""
    types = len(types_of(dialect))
    attributes, constraints, options, actions = (
        len(clauses(dialect, kind)) for kind in ("attribute", "constraint", "option", "alter")
    )
    count = attributes + attributes * types // 3 + constraints + options * (types + 1) + actions
    for table in ("dialect_same", "dialect_read", "dialect_types"):
        count += sum(given.startswith(f"{dialect} | ") for given, _ in cases(table))

    assert count >= 200
