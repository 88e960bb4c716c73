"""By which keys the rows of a query's block depend on those of its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeGuard, cast

from schema_core.base.lazy import dataclass
from schema_core.expressions.typed import FunctionCall, Over, Ref, Typed, is_windowed, substitute
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.rankings import ROW_NUMBERS
from schema_core.query.relation import (
    Item,
    Relation,
    Scan,
    columns_read,
    conjuncts,
    expressions_of,
    is_aggregate,
    joins_in,
    outer_columns,
    result_columns,
    rows_of,
    subexpressions,
    subqueries_in,
)
from schema_core.spark.compiler.translation import PREFIX, sql_type
from schema_core.spark.streaming.group_windows import INPUT
from schema_core.spark.streaming.interval_joins import INNER
from schema_core.spark.streaming.stage_plans import KeyColumns, all_columns
from schema_core.sql.syntax import JoinKind

#: Prefix of the names of columns of keys.
KEY: Final = f"{PREFIX}key"
#: Kind of a join -> which sides, left and right, keep rows without a match.
KEPT: Final[dict[JoinKind, tuple[bool, bool]]] = {
    JoinKind.LEFT: (True, False),
    JoinKind.RIGHT: (False, True),
    JoinKind.FULL: (True, True),
}
#: Tests whether a value is among the rows of a subquery.
MEMBERSHIPS: Final = frozenset({"IN", "NOT IN"})


def leaves_of(source: Relation) -> Iterator[Relation]:
    """Yield the sources of FROM."""
    rest = [source]
    while rest:
        part = rest.pop()
        if isinstance(part, relational.Join):
            rest += [part.right, part.left]
        else:
            yield part


def is_plain(leaf: Relation) -> TypeGuard[relational.Named]:
    """Return whether a source of FROM reads no other one."""
    return isinstance(leaf, relational.Named) and not leaf.lateral


def with_leaves(source: Relation, new: Mapping[int, Relation]) -> Relation:
    """Return FROM with other sources, by the identity of the former ones."""
    return relational.substitute_parts(
        source,
        lambda part: None if isinstance(part, relational.Join) else new.get(id(part), part),
    )


def kept_sides(join: relational.Join) -> tuple[bool, bool]:
    """Return which sides of a join, left and right, keep rows without a match."""
    return KEPT.get(join.kind, (False, False))


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
    return all(call.function.name in ROW_NUMBERS for call in window_calls(block))


def time_of(call: FunctionCall, named: relational.Named) -> int:
    """Return the position of the column by which OVER is ordered."""
    order = cast("Ref", cast("Over", call.over).order_by[0].value)
    return [column.name for column in named.columns].index(order.name)


def keys_of_sources(
    equations: Iterable[Sequence[Typed]], aliases: Sequence[str]
) -> list[list[Typed]]:
    """Return the keys that equations give: for each one an expression over each of the sources.

    Rows of the sources with other values of the key do not meet, nor do they decide whether a row
    has a match.
    """
    classes: list[dict[Typed, str]] = []
    for equation in equations:
        sides = {
            operand: alias for operand in equation if (alias := _alias_of(operand)) is not None
        }
        if len(set(sides.values())) != 2:
            continue
        met = [known for known in classes if known.keys() & sides.keys()]
        classes = [known for known in classes if known not in met]
        classes.append({typed: alias for known in (*met, sides) for typed, alias in known.items()})
    keys = []
    for known in classes:
        by_alias = {alias: typed for typed, alias in known.items()}
        members = [by_alias[alias] for alias in aliases if alias in by_alias]
        # values of different types are equal where their hashes are not
        if len(members) == len(aliases) and len({sql_type(typed.type) for typed in members}) == 1:
            keys.append(members)
    return keys


def equations_of(block: relational.Select) -> Iterator[Sequence[Typed]]:
    """Yield the operands of the equations that decide which rows of a block's sources meet."""
    joins = list(joins_in(block.source))
    conditions = [part for join in joins for part in conjuncts(join.condition)]
    # after an outer join, WHERE does not decide whether a row has a match
    if all(join.kind in INNER for join in joins):
        conditions += conjuncts(block.where)
    for condition in conditions:
        if isinstance(condition, FunctionCall) and condition.function.name == "=":
            yield condition.arguments


@dataclass(frozen=True, slots=True)
class SubquerySources:
    """A subquery whose rows change, with the sources whose rows a stage keeps.

    A subquery that reads no column of its block is a source by itself (`is_source`).
    """

    query: Subquery
    sources: tuple[relational.Named, ...]
    is_source: bool

    @classmethod
    def of(
        cls, query: Subquery, number: int, changes: Callable[[Relation], bool]
    ) -> SubquerySources | None:
        """Return the sources of a subquery, None if some of its parts have no key.

        `changes` returns whether the rows of a relation change.
        """
        rows = rows_of(query)
        if not reads_outer(rows):
            source = relational.Named(rows, f"{INPUT}{number}", result_columns(rows))
            return cls(query, (source,), is_source=True)
        if not isinstance(rows, relational.Select) or rows.source is None:
            return None
        conditions = [join.condition for join in joins_in(rows.source)]
        expressions = [*expressions_of(rows), *(part for part in conditions if part is not None)]
        if any(changes(rows_of(part)) for typed in expressions for part in subqueries_in(typed)):
            return None
        leaves = [leaf for leaf in leaves_of(rows.source) if changes(leaf)]
        named = tuple(leaf for leaf in leaves if is_plain(leaf) and not reads_outer(leaf))
        return cls(query, named, is_source=False) if len(named) == len(leaves) else None

    @property
    def has_state(self) -> bool:
        """Whether a row of the subquery depends on several rows of the sources."""
        rows = rows_of(self.query)
        return not self.is_source and (not isinstance(rows, relational.Select) or has_state(rows))

    def equations(self, block: relational.Select) -> Iterator[Sequence[Typed]]:
        """Yield the equations that decide which rows of a block and the subquery meet."""
        rows = rows_of(self.query)
        if isinstance(rows, relational.Select) and not self.is_source:
            yield from equations_of(rows)
        (source, *_) = self.sources
        if self.is_source and len(source.columns) == 1:
            (column,) = source.columns
            own = Ref(column.name, column.type, source.alias)
            yield from ((value, own) for value in _members(block, self.query))

    def rows(self, new: Mapping[int, Relation]) -> Relation:
        """Return the subquery with other sources, by their identity."""
        rows = rows_of(self.query)
        if self.is_source:
            (source,) = self.sources
            return all_columns(cast("Scan", cast("relational.Named", new[id(source)]).input))
        block = cast("relational.Select", rows)
        return replace(block, source=with_leaves(cast("Relation", block.source), new))


def reads_outer(query: Relation) -> bool:
    """Return whether a query reads columns of an enclosing block."""
    return any(True for _ in outer_columns(query))


def _members(block: relational.Select, query: Subquery) -> Iterator[Typed]:
    """Yield the value that a block looks for in a subquery, where only equal values decide."""
    filters = {id(part) for part in conjuncts(block.where)}
    for call in (part for typed in expressions_of(block) for part in subexpressions(typed)):
        match call:
            case FunctionCall(function=function, arguments=(value, other)) if other is query:
                # a NULL in the list decides about every value, unless the test is a filter
                is_filter = function.name == "IN" and id(call) in filters
                has_null = value.type.is_nullable or query.type.is_nullable
                if function.name in MEMBERSHIPS and (is_filter or not has_null):
                    yield value


def with_subqueries(block: relational.Select, rows: Mapping[int, Relation]) -> relational.Select:
    """Return a block without groups with other rows of its subqueries, by their identity."""

    def change(typed: Typed) -> Typed | None:
        new = rows.get(id(typed))
        return replace(typed, rows=new) if isinstance(typed, Subquery) and new else None

    items = [item._replace(expression=substitute(item.expression, change)) for item in block.items]
    where = None if block.where is None else substitute(block.where, change)
    return replace(block, items=tuple(items), where=where)


def lasting_filters(block: relational.Select) -> Iterator[Subquery]:
    """Yield the subqueries of filters that stay true when rows are added to the subquery."""
    for condition in conjuncts(block.where):
        if isinstance(condition, FunctionCall) and condition.function.name in ("IN", "EXISTS"):
            yield from (part for part in condition.arguments if isinstance(part, Subquery))


def _alias_of(typed: Typed) -> str | None:
    """Return the alias of the one source that an expression reads."""
    if subqueries_in(typed) or any(map(is_aggregate, subexpressions(typed))):
        return None
    aliases = {column.relation for column in columns_read(typed)}
    return aliases.pop() if len(aliases) == 1 else None
