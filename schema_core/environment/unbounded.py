"""Unbounded tables of a query: their rows never end, so only a streaming job can read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from schema_core.environment.connector import Boundedness, boundedness_of, installed_connector
from schema_core.environment.options import RUNTIME_MODE
from schema_core.environment.planner import BoundTable
from schema_core.environment.table_api.inline import InlineTable
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.query.relation import Relation, Scan, parts_of, rows_of, subqueries_in

if TYPE_CHECKING:
    from schema_core.environment.session import Session


def scans_in(query: Relation) -> Iterator[Scan]:
    """Yield the scans of a query and its subqueries; each shared one once."""
    rest: list[Any] = [query]
    seen: dict[int, Any] = {}  # by identity, with the relation, so that the identity is not reused
    while rest:
        relation = rest.pop()
        if id(relation) in seen:
            continue
        seen[id(relation)] = relation
        if isinstance(relation, Scan):
            yield relation
        expressions, inputs, _ = parts_of(relation)
        rest += inputs
        rest += [
            rows_of(found) for expression in expressions for found in subqueries_in(expression)
        ]


def is_unbounded(table: BoundTable) -> bool:
    """Return whether the rows of a table never end, by its connector and its options.

    A table counts as bounded if its connector is not installed or its options are invalid.
    """
    if isinstance(table.table, InlineTable):
        return table.table.rows.is_unbounded
    options = table.table.options
    try:
        found = boundedness_of(installed_connector(options), options)
    except SchemaCoreError:
        return False
    return found is Boundedness.CONTINUOUS_UNBOUNDED


def find_unbounded_table(session: Session, query: Relation) -> str | None:
    """Return the path of an unbounded table that a query reads in streaming mode, or None."""
    options = session.config.get_configuration()
    if RUNTIME_MODE.of(options) != "STREAMING":
        return None
    tables = [
        session.bind(scan.table.identifier, scan.timestamp).with_hints(scan.hints, options)
        for scan in scans_in(session.executable(query))
    ]
    paths = (table.identifier.as_summary_string() for table in tables if is_unbounded(table))
    return next(paths, None)


def require_bounded(table: BoundTable) -> None:
    """Require that a batch job can read a table (`unbounded-table`)."""
    if is_unbounded(table):
        raise SchemaError(
            f"the table {table.identifier.as_summary_string()} is unbounded: its rows have no end",
            code="unbounded-table",
            hint="read it in streaming mode, or set the options that end it",
        )
