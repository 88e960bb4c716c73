"""Replacement of parts of a typed query, which is immutable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from schema_core.errors import UnsupportedError
from schema_core.query import relation as relational
from schema_core.query.correlation import parts_of, rows_of, subqueries_in

#: The fields of relations that hold their input; joins and set operations have two.
INPUTS: Final = ("source", "input")
#: The classes of relations.
RELATIONS: Final = get_args(relational.Relation)


def substitute_parts(
    relation: relational.Relation,
    change: Callable[[relational.Relation], relational.Relation | None],
) -> relational.Relation:
    """Return a relation with parts replaced, those of its subqueries in expressions excepted.

    Chains of joins and set operations are long: they are not followed recursively to the left.

    Args:
        relation: A query or a source of one.
        change: Returns what replaces a part; None to keep the part and visit its inputs.
    """
    chain: list[relational.Join | relational.SetOperation] = []
    while (found := change(relation)) is None and isinstance(
        relation, relational.Join | relational.SetOperation
    ):
        chain.append(relation)
        relation = relation.left
    result = _with_inputs(relation, change) if found is None else found
    for item in reversed(chain):
        right = substitute_parts(item.right, change)
        is_same = result is item.left and right is item.right
        result = item if is_same else replace(item, left=result, right=right)
    return result


def _with_inputs(
    relation: relational.Relation,
    change: Callable[[relational.Relation], relational.Relation | None],
) -> relational.Relation:
    """Return a relation, neither a join nor a set operation, with parts of its inputs replaced."""
    parts: dict[str, Any] = {}
    for name in INPUTS:
        part = getattr(relation, name, None)
        if isinstance(part, RELATIONS) and (new := substitute_parts(part, change)) is not part:
            parts[name] = new
    if isinstance(relation, relational.With):
        tables = tuple(
            table._replace(relation=substitute_parts(table.relation, change))
            for table in relation.tables
        )
        return replace(relation, tables=tables, **parts)
    return replace(relation, **parts) if parts else relation


def without_common_tables(query: relational.Relation) -> relational.Relation:
    """Return a query that reads each common table in place, as a subquery in FROM.

    A common table that a subquery in an expression reads stays in the WITH clause.

    Raises:
        UnsupportedError: with code `streaming-not-supported` for such a table that hides another
            one of its name, since the query would read either.
    """
    return _in_place(query, {})


def _in_place(
    query: relational.Relation, visible: Mapping[str, relational.Relation]
) -> relational.Relation:
    """Return a query with the visible common tables, by name, and its own ones read in place."""

    def change(relation: relational.Relation) -> relational.Relation | None:
        match relation:
            case relational.CommonScan(name, columns) if name in visible:
                return relational.Named(substitute_parts(visible[name], _copy_scan), name, columns)
            case relational.With():
                return _inline_with(relation, visible)
            case _:
                return None

    return substitute_parts(query, change)


def _inline_with(
    query: relational.With, outer: Mapping[str, relational.Relation]
) -> relational.Relation:
    own = {table.name for table in query.tables}
    hidden = own if query.recursive else frozenset[str]()
    visible = {name: value for name, value in outer.items() if name not in hidden}
    tables = []
    for table in query.tables:
        found = _in_place(table.relation, visible)
        tables.append(table._replace(relation=found))
        if not query.recursive:
            visible[table.name] = found
    below = _in_place(query.input, visible)
    if query.recursive:
        return replace(query, tables=tuple(tables), input=below)
    used = own & _common_tables_in([below, *(table.relation for table in tables)])
    for name in sorted(used & outer.keys()):
        raise UnsupportedError(
            f"a subquery in an expression reads one of several common tables {name!r}",
            code="streaming-not-supported",
            hint="name the common tables differently",
        )
    kept = tuple(table for table in tables if table.name in used)
    return replace(query, tables=kept, input=below) if kept else below


def _common_tables_in(relations: Iterable[relational.Relation]) -> set[str]:
    """Return the names of the common tables that are read, also by subqueries in expressions."""
    found = set()
    rest = list(relations)
    while rest:
        relation = rest.pop()
        if isinstance(relation, relational.CommonScan):
            found.add(relation.name)
        expressions, inputs, _ = parts_of(relation)
        rest += inputs
        rest += [rows_of(item) for part in expressions for item in subqueries_in(part)]
    return found


def _copy_scan(relation: relational.Relation) -> relational.Relation | None:
    """Return a copy of a scan: what a query needs of a scan is kept by its identity."""
    return replace(relation) if isinstance(relation, relational.Scan) else None
