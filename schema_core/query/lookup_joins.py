"""Joins ``FOR SYSTEM_TIME AS OF`` the processing time, which look up current rows by keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Final, TypeGuard, cast

from schema_core.base.lazy import NamedTuple
from schema_core.expressions.typed import FunctionCall, Ref, Typed, is_windowed
from schema_core.query import relation as relational
from schema_core.query.relation import (
    Join,
    Named,
    Relation,
    Scan,
    Select,
    Snapshot,
    conjuncts,
    joins_in,
    subexpressions,
    subqueries_in,
)
from schema_core.query.temporal_joins import (
    KINDS,
    aliases_in,
    equated_sides,
    invalid_join,
    is_lookup,
    require_kind,
    selected_scan,
    snapshot_of,
    subquery_in_condition,
)
from schema_core.schema.columns import PhysicalColumn
from schema_core.sql.syntax import JoinKind
from schema_core.types import CharType, VarCharType
from schema_core.types.common import common_type

#: The kinds of joins as of the processing time, of which WHERE has the condition of some.
_KINDS = KINDS | {JoinKind.COMMA, JoinKind.CROSS}

_STRINGS: Final = (CharType, VarCharType)


class Lookup(NamedTuple):
    """A table whose rows a join looks up.

    `columns` are those of the table that the join equates with values of the other side; `values`
    are the distinct values, a column for each: those of all rows that the join may look up, and
    perhaps of others. `hint` has the options of the hint LOOKUP.
    """

    scan: Scan
    columns: tuple[str, ...]
    values: Select | None
    hint: Mapping[str, str]


def at_processing_time(join: Join) -> Join:
    """Return a join whose right side is read as of the processing time as one of current rows.

    Raises:
        SchemaError: `invalid-join` if Flink does not plan the join.
    """
    snapshot = snapshot_of(join)
    if snapshot is None or not is_lookup(snapshot):
        return join
    require_kind(join, snapshot, _KINDS)
    right = cast("Named", join.right)
    if not _is_looked_up(snapshot.input):
        raise invalid_join(
            "FOR SYSTEM_TIME AS OF the processing time requires a table, or a view that selects "
            "columns of one",
            "write the filter into ON, or join the view without FOR SYSTEM_TIME",
            snapshot,
        )
    parts = conjuncts(join.condition)
    if any(map(subqueries_in, parts)):
        raise subquery_in_condition(snapshot)
    if any(_equates_nulls(part, join) for part in parts):
        raise invalid_join(
            "a join FOR SYSTEM_TIME AS OF the processing time does not accept IS NOT DISTINCT FROM",
            "compare with =",
            snapshot,
        )
    if join.kind in KINDS and not any(_is_key(part, right, snapshot) for part in parts):
        raise invalid_join(
            "a join FOR SYSTEM_TIME AS OF the processing time requires an equation of a column of "
            f"{right.alias!r}",
            "compare a column of the table in ON, with a column of the other side or a constant",
            snapshot,
        )
    return replace(join, right=replace(right, input=snapshot.input))


def _is_looked_up(relation: Relation) -> bool:
    """Return whether a relation selects columns of a table, without a filter."""
    while True:
        match relation:
            case Scan():
                return True
            case Named(input=below):
                relation = below
            case Select(source=Named() as below, where=None) if selected_scan(relation) is not None:
                relation = below
            case _:
                return False


def _equates_nulls(condition: Typed, join: Join) -> bool:
    """Return whether a condition equates both sides, and NULL with NULL.

    Flink reads ``a = b OR (a IS NULL AND b IS NULL)`` as IS NOT DISTINCT FROM.
    """
    if not isinstance(condition, FunctionCall):
        return False
    if condition.function.name == "OR":
        for equation, both in (condition.arguments, condition.arguments[::-1]):
            tests = {part.arguments[0] for part in conjuncts(both) if _is_null_test(part)}
            if (
                len(conjuncts(both)) == 2
                and isinstance(equation, FunctionCall)
                and tests == {*equation.arguments}
                and equated_sides(equation, join) is not None
            ):
                return True
        return False
    is_equation = equated_sides(condition, join) is not None
    return is_equation and condition.function.name == "IS NOT DISTINCT FROM"


def _is_null_test(typed: Typed) -> TypeGuard[FunctionCall]:
    return isinstance(typed, FunctionCall) and typed.function.name == "IS NULL"


def _is_key(condition: Typed, right: Named, snapshot: Snapshot) -> bool:
    """Return whether a condition equates a stored column of a table with another value.

    Flink looks a column up as it is: not if it has to be cast to the type of the value, except
    between types of strings.
    """
    if not isinstance(condition, FunctionCall) or len(condition.arguments) != 2:
        return False
    if condition.function.name not in ("=", "IN"):
        return False
    for key, other in (condition.arguments, condition.arguments[::-1]):
        column = _without_casts(key)
        if not isinstance(column, Ref) or column.relation != right.alias:
            continue
        names = [named.name for named in right.columns]
        name = _scanned_column(snapshot.input, names.index(column.name))
        is_cast = (
            not isinstance(key.type, _STRINGS)
            and common_type([key.type.nullable(), other.type.nullable()]) != key.type.nullable()
        )
        if name is not None and not is_cast and right.alias not in aliases_in(other):
            return True
    return False


def _without_casts(typed: Typed) -> Typed:
    """Return the operand of casts that keep the type, or are between types of strings."""
    while isinstance(typed, FunctionCall) and typed.function.name == "CAST":
        value = typed.arguments[0]
        is_same = value.type.nullable() == typed.type.nullable()
        if not is_same and not (
            isinstance(value.type, _STRINGS) and isinstance(typed.type, _STRINGS)
        ):
            break
        typed = value
    return typed


def lookups_in(query: Relation) -> Iterator[Lookup]:
    """Yield the tables that the joins of a query look up, with the keys of each.

    They may be below a view that only selects: Flink computes it over the rows that it looks up. A
    table that a query reads twice, as one relation, is looked up without keys.
    """
    parts = list(relational.relations_in(query))
    reads = Counter(id(part) for part in parts if isinstance(part, Scan))
    for block in parts:
        if isinstance(block, Select):
            for lookup in _lookups_of_block(block):
                is_shared = reads[id(lookup.scan)] > 1
                yield lookup._replace(columns=(), values=None) if is_shared else lookup


def _lookups_of_block(block: Select) -> Iterator[Lookup]:
    for join in joins_in(block.source):
        snapshot = snapshot_of(join)
        if snapshot is None or not is_lookup(snapshot):
            continue
        scan = selected_scan(snapshot.input)
        if scan is None:
            continue
        right = cast("Named", join.right)
        columns, values = _keys(block, join, right, snapshot)
        yield Lookup(scan, columns, values, _hint_of(block, right.alias))


def _hint_of(block: Select, alias: str) -> Mapping[str, str]:
    for hint in block.hints:
        options = dict(hint.options)
        if hint.name.upper() == "LOOKUP" and options.get("table") == alias:
            return options
    return {}


def _keys(
    block: Select, join: Join, right: Named, snapshot: Snapshot
) -> tuple[tuple[str, ...], Select | None]:
    """Return the columns of the table that the join equates, and the query of their values."""
    values: dict[str, Typed] = {}
    every = conjuncts(join.condition if join.kind in KINDS else block.where)
    for part in every:
        equated = equated_sides(part, join)
        if equated is None or not isinstance(part, FunctionCall) or part.function.name != "=":
            continue
        value, column = equated
        if isinstance(column, Ref) and column.relation == right.alias:
            names = [named.name for named in right.columns]
            name = _scanned_column(snapshot.input, names.index(column.name))
            if name is not None:
                values.setdefault(name, value)
    if not values:
        return (), None
    query = _distinct_values(block, join.left, list(values.values()))
    return tuple(values), query


def _scanned_column(relation: Relation, place: int) -> str | None:
    """Return the stored column of the table that a relation has at a place, None if computed."""
    while True:
        match relation:
            case Named(input=below):
                relation = below
            case Select(source=Named() as source):
                column = relation.items[place].expression
                if not isinstance(column, Ref) or column.relation != source.alias:
                    return None
                place = [named.name for named in source.columns].index(column.name)
                relation = source.input
            case Scan(columns=columns, table=table):
                name = columns[place].name
                stored = table.schema.columns
                is_stored = any(
                    column.name == name and isinstance(column, PhysicalColumn) for column in stored
                )
                return name if is_stored else None
            case _:
                return None


def _distinct_values(block: Select, source: Relation, values: list[Typed]) -> Select | None:
    """Return the distinct values of the rows of the smallest source that has all columns.

    None if they depend on other queries than the source.
    """
    read = {alias for value in values for alias in aliases_in(value)}
    while isinstance(source, Join):
        kept = [
            *([source.left] if source.kind not in (JoinKind.RIGHT, JoinKind.FULL) else ()),
            *([source.right] if source.kind not in (JoinKind.LEFT, JoinKind.FULL) else ()),
        ]  # the others have rows of NULL
        sides = [side for side in kept if read <= _aliases(side)]
        if not sides:
            break
        source = sides[0]
    aliases = _aliases(source)
    filters = [
        part
        for part in conjuncts(block.where)
        if aliases_in(part) <= aliases
        and not subqueries_in(part)
        and not any(map(is_windowed, subexpressions(part)))
    ]
    where = None
    if filters:
        conjunction = cast("FunctionCall", block.where)
        where = reduce(lambda left, right: replace(conjunction, arguments=(left, right)), filters)
    items = tuple(relational.Item(f"key{place}", value) for place, value in enumerate(values))
    query = Select(items, source, where, distinct=True)
    parts = list(relational.relations_in(query))
    is_lateral = any(isinstance(part, Named) and part.lateral for part in parts)
    reads_common = any(isinstance(part, relational.CommonScan) for part in parts)
    if is_lateral or reads_common or any(relational.outer_columns(query)):
        return None
    return query


def _aliases(source: Relation) -> set[str | None]:
    return {alias for alias, _ in relational.columns_of(source)}
