"""By which keys the rows of a query's block depend on those of its sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, cast

from schema_core.expressions.typed import FunctionCall, Over, Ref, Typed, is_windowed
from schema_core.query import relation as relational
from schema_core.query.relation import (
    Item,
    Relation,
    columns_read,
    conjuncts,
    expressions_of,
    is_aggregate,
    joins_in,
    outer_columns,
    subexpressions,
    subqueries_in,
)
from schema_core.spark.compiler.translation import PREFIX, sql_type
from schema_core.spark.streaming.interval_joins import INNER
from schema_core.spark.streaming.stage_plans import KeyColumns
from schema_core.sql.syntax import JoinKind

#: Prefix of the names of columns of keys.
KEY: Final = f"{PREFIX}key"
#: Kind of a join -> which sides, left and right, keep rows without a match.
KEPT: Final[dict[JoinKind, tuple[bool, bool]]] = {
    JoinKind.LEFT: (True, False),
    JoinKind.RIGHT: (False, True),
    JoinKind.FULL: (True, True),
}
#: Functions whose first rows are selected.
RANKS: Final = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK"})


def leaves_of(source: Relation) -> Iterator[Relation]:
    """Yield the sources of FROM."""
    rest = [source]
    while rest:
        part = rest.pop()
        if isinstance(part, relational.Join):
            rest += [part.right, part.left]
        else:
            yield part


def with_leaves(source: Relation, new: dict[int, Relation]) -> Relation:
    """Return FROM with other sources, by the identity of the former ones."""
    return relational.substitute_parts(
        source,
        lambda part: None if isinstance(part, relational.Join) else new.get(id(part), part),
    )


def kept_sides(join: relational.Join) -> tuple[bool, bool]:
    """Return which sides of a join, left and right, keep rows without a match."""
    return KEPT.get(join.kind, (False, False))


def reads_outer(subqueries: Iterable[Relation], block: relational.Select) -> bool:
    """Return whether subqueries of an operation with state read its columns."""
    return has_state(block) and any(True for query in subqueries for _ in outer_columns(query))


def window_calls(block: relational.Select) -> list[FunctionCall]:
    """Return the calls with OVER in a block."""
    return [
        part
        for typed in expressions_of(block)
        for part in subexpressions(typed)
        if is_windowed(part) and isinstance(part, FunctionCall)
    ]


def has_state(block: relational.Select) -> bool:
    """Return whether a row of a block depends on several rows of FROM."""
    return block.grouping is not None or block.distinct or bool(window_calls(block))


def is_over_block(block: relational.Select) -> bool:
    """Return whether OVER is the only operation with state of a block."""
    return block.grouping is None and not block.distinct and bool(window_calls(block))


def operation_of(block: relational.Select) -> str:
    """Return the name of the operation of a block with state."""
    if block.grouping is not None:
        return "GROUP BY" if block.grouping.keys else "an aggregate without GROUP BY"
    return "SELECT DISTINCT" if block.distinct else "OVER"


def key_of(block: relational.Select) -> list[Typed]:
    """Return expressions over FROM; rows with other values of them do not change a row."""
    calls = window_calls(block)
    if block.grouping is not None:
        keys, sets = block.grouping.keys, block.grouping.sets
        if calls:
            return []
        common = set(range(len(keys))) if sets is None else set.intersection(*map(set, sets))
        return [keys[place] for place in sorted(common)]
    if calls:
        first, *others = [call.over.partition_by for call in calls if call.over is not None]
        return [key for key in first if all(key in other for other in others)]
    return [item.expression for item in block.items]


def with_key(
    block: relational.Select, key: Sequence[Typed]
) -> tuple[relational.Select, KeyColumns]:
    """Return a block with the values of a key among its columns, and their positions."""
    items = list(block.items)
    places = []
    for part in key:
        own = [place for place, item in enumerate(items) if item.expression == part]
        if not own:
            items.append(Item(f"{KEY}{len(items)}", part))
            own = [len(items) - 1]
        places.append((own[0],))
    return replace(block, items=tuple(items)), tuple(places)


def is_ranking(block: relational.Select) -> bool:
    """Return whether all functions with OVER number rows."""
    return all(call.function.name in RANKS for call in window_calls(block))


def time_of(call: FunctionCall, named: relational.Named) -> int:
    """Return the position of the column by which OVER is ordered."""
    order = cast("Ref", cast("Over", call.over).order_by[0].value)
    return [column.name for column in named.columns].index(order.name)


def join_key(block: relational.Select, leaves: Sequence[relational.Named]) -> list[list[Typed]]:
    """Return the keys of a join: for each one an expression over each of the changing sources.

    Rows of the sources with other values of the key do not meet, nor do they decide whether a row
    has a match.
    """
    source = cast("Relation", block.source)
    joins = list(joins_in(source))
    conditions = [part for join in joins for part in conjuncts(join.condition)]
    if all(join.kind in INNER for join in joins):
        conditions += conjuncts(block.where)
    classes: list[dict[Typed, str]] = []
    for condition in conditions:
        if not isinstance(condition, FunctionCall) or condition.function.name != "=":
            continue
        sides = {
            operand: alias
            for operand in condition.arguments
            if (alias := _alias_of(operand)) is not None
        }
        if len(set(sides.values())) != 2:
            continue
        met = [known for known in classes if known.keys() & sides.keys()]
        classes = [known for known in classes if known not in met]
        classes.append({typed: alias for known in (*met, sides) for typed, alias in known.items()})
    keys = []
    for known in classes:
        by_alias = {alias: typed for typed, alias in known.items()}
        members = [by_alias[leaf.alias] for leaf in leaves if leaf.alias in by_alias]
        # values of different types are equal where their hashes are not
        if len(members) == len(leaves) and len({sql_type(typed.type) for typed in members}) == 1:
            keys.append(members)
    return keys


def _alias_of(typed: Typed) -> str | None:
    """Return the alias of the one source that an expression reads."""
    if subqueries_in(typed) or any(map(is_aggregate, subexpressions(typed))):
        return None
    aliases = {column.relation for column in columns_read(typed)}
    return aliases.pop() if len(aliases) == 1 else None
