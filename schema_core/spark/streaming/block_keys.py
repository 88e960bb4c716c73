"""By which keys the rows of a query's block depend on those of its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeGuard, cast

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import (
    Frame,
    FunctionCall,
    Over,
    Ref,
    Typed,
    is_windowed,
    substitute,
)
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
    is_inner,
    joins_in,
    kept_sides,
    leaves_of,
    outer_columns,
    result_columns,
    rows_of,
    subexpressions,
    subqueries_in,
)
from schema_core.spark.compiler.query import aliases_of
from schema_core.spark.compiler.translation import PREFIX, sql_type
from schema_core.spark.streaming.group_windows import INPUT
from schema_core.spark.streaming.stage_plans import KeyColumns, all_columns
from schema_core.sql.syntax import JoinKind
from schema_core.types import BooleanType
from schema_core.types.temporal import TimestampKind, timestamp_kind

#: Prefix of the names of columns of keys.
KEY: Final = f"{PREFIX}key"
#: Functions with OVER whose value depends on rows after their own.
LOOK_AHEAD: Final = frozenset({"LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST"})
#: Tests whether a value is among the rows of a subquery.
MEMBERSHIPS: Final = frozenset({"IN", "NOT IN"})


def is_plain(leaf: Relation) -> TypeGuard[relational.Named]:
    """Return whether a source of FROM reads no other one."""
    return isinstance(leaf, relational.Named) and not leaf.lateral


def with_leaves(source: Relation, new: Mapping[int, Relation]) -> Relation:
    """Return FROM with other sources, by the identity of the former ones."""
    return relational.substitute_parts(
        source,
        lambda part: None if isinstance(part, relational.Join) else new.get(id(part), part),
    )


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


def padded_aliases(join: relational.Join) -> list[str]:
    """Return the aliases of the sides whose rows may be missing in a row of a join."""
    left, right = kept_sides(join)
    return [*(aliases_of(join.right) if left else ()), *(aliases_of(join.left) if right else ())]


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


def with_filter(block: relational.Select, condition: Typed) -> relational.Select:
    """Return a block with a further condition in WHERE."""
    if block.where is None:
        return replace(block, where=condition)
    both = FunctionCall(BUILT_IN["AND"][0], (block.where, condition), BooleanType())
    return replace(block, where=both)


def is_ranking(block: relational.Select) -> bool:
    """Return whether all functions with OVER number rows."""
    return all(call.function.name in ROW_NUMBERS for call in window_calls(block))


def is_by_arrival(calls: Iterable[FunctionCall]) -> bool:
    """Return whether one of some calls with OVER is ordered by the processing time."""
    overs = [call.over for call in calls if call.over is not None]
    kinds = {timestamp_kind(key.value.type) for over in overs for key in over.order_by}
    return TimestampKind.PROCTIME in kinds


def looks_ahead(call: FunctionCall) -> bool:
    """Return whether a function with OVER reads rows after its own in the order."""
    frame = None if call.over is None else call.over.frame
    bounds = () if frame is None else (frame.lower, frame.upper)
    words = [part.words for part in bounds if part is not None]
    return call.function.name in LOOK_AHEAD or any("FOLLOWING" in part for part in words)


def is_so_far(frame: Frame) -> bool:
    """Return whether a frame of OVER has all rows of its partition up to the current one."""
    upper = "CURRENT ROW" if frame.upper is None else frame.upper.words
    return frame.lower.words == "UNBOUNDED PRECEDING" and upper == "CURRENT ROW"


def time_of(call: FunctionCall, named: relational.Named) -> int:
    """Return the position of the column by which OVER is ordered."""
    order = cast("Ref", cast("Over", call.over).order_by[0].value)
    return [column.name for column in named.columns].index(order.name)


class Equations(NamedTuple):
    """Equations of expressions over sources.

    `new` are the aliases of sources without whose rows a row is returned, too: the side of an outer
    join that may be missing, or the sources of a subquery that is not a filter. The equations then
    say which of their rows meet a row of the others, not that all sides are equal in a result.
    None if they hold in every row of the result.
    """

    pairs: Sequence[Sequence[Typed]]
    new: frozenset[str] | None = None


def keys_of_sources(
    equations: Iterable[Equations], aliases: Sequence[str], *, only_columns: bool
) -> list[list[Typed]]:
    """Return the keys that equations give: for each one an expression over each of the sources.

    Rows of the sources with other values of the key do not meet, nor do they decide whether a row
    has a match. With `only_columns` a key has only columns, which are NULL for a missing row.
    """
    given = [(each.new, _sides_of(pair)) for each in equations for pair in each.pairs]
    classes: list[dict[Typed, str]] = []
    for new, sides in given:
        if len({*sides.values()}) == 2 and new is None:
            met = [known for known in classes if known.keys() & sides.keys()]
            classes = [known for known in classes if known not in met]
            classes.append(
                {typed: alias for known in (*met, sides) for typed, alias in known.items()}
            )
    for new, sides in given:
        if new is None or len({*sides.values()}) != 2 or {*sides.values()} <= new:
            continue
        added = {typed: alias for typed, alias in sides.items() if alias in new}
        others = {typed: alias for typed, alias in sides.items() if alias not in new}
        if len(added) != 1 or len(others) != 1:
            continue
        for known in [known for known in classes if known.keys() & added.keys()]:
            added |= {typed: alias for typed, alias in known.items() if alias in new}
        met = [known for known in classes if known.keys() & others.keys()]
        classes = [known for known in classes if known not in met]
        classes += [known | added for known in met] or [others | added]
    keys: list[list[Typed]] = []
    for known in classes:
        by_alias = {alias: typed for typed, alias in known.items()}
        members = [by_alias[alias] for alias in aliases if alias in by_alias]
        # values of different types are equal where their hashes are not
        if len(members) != len(aliases) or len({sql_type(typed.type) for typed in members}) != 1:
            continue
        if members not in keys and not (only_columns and not all(map(_is_column, members))):
            keys.append(members)
    return keys


def _sides_of(equation: Sequence[Typed]) -> dict[Typed, str]:
    """Return the operands of an equation that read one source, with its alias."""
    return {operand: alias for operand in equation if (alias := _alias_of(operand)) is not None}


def _is_column(typed: Typed) -> bool:
    """Return whether an expression is a column, or a cast of one."""
    if isinstance(typed, FunctionCall) and typed.function.name == "CAST":
        typed = typed.arguments[0]
    return isinstance(typed, Ref)


def equations_of(block: relational.Select) -> Iterator[Equations]:
    """Yield the equations that decide which rows of a block's sources meet, innermost joins first.

    After an outer join, WHERE does not decide whether a row has a match.
    """
    joins = list(joins_in(block.source))
    for join in reversed(joins):
        new = None
        if any(kept_sides(join)):
            side = join.left if join.kind is JoinKind.RIGHT else join.right
            new = frozenset(aliases_of(side))
        yield Equations(_pairs(join.condition), new)
    if is_inner(block.source):
        yield Equations(_pairs(block.where))


def _pairs(condition: Typed | None) -> list[Sequence[Typed]]:
    """Return the operands of the equations among the conjuncts of a condition."""
    return [
        part.arguments
        for part in conjuncts(condition)
        if isinstance(part, FunctionCall) and part.function.name == "="
    ]


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
    def aliases(self) -> list[str]:
        """The aliases of all sources of the subquery, also of bounded ones."""
        rows = rows_of(self.query)
        if self.is_source or not isinstance(rows, relational.Select):
            return [source.alias for source in self.sources]
        return list(aliases_of(rows.source))

    @property
    def has_state(self) -> bool:
        """Whether a row of the subquery depends on several rows of the sources."""
        rows = rows_of(self.query)
        if self.is_source:
            return False
        if not isinstance(rows, relational.Select):
            return True
        return has_state(rows) or not is_inner(rows.source)

    def equations(self, block: relational.Select) -> Iterator[Equations]:
        """Yield the equations that decide which rows of a block and the subquery meet."""
        pairs: list[Sequence[Typed]] = []
        rows = rows_of(self.query)
        if not self.is_source and isinstance(rows, relational.Select):
            if is_inner(rows.source):
                pairs = [pair for each in equations_of(rows) for pair in each.pairs]
        elif len(self.sources[0].columns) == 1:
            (column,) = self.sources[0].columns
            own = Ref(column.name, column.type, self.sources[0].alias)
            pairs = [(value, own) for value in _members(block, self.query)]
        is_filter = any(part is self.query for part in lasting_filters(block))
        new = frozenset(source.alias for source in self.sources)
        within = [pair for pair in pairs if {*_sides_of(pair).values()} <= new]
        yield Equations(within)
        yield Equations(pairs, None if is_filter and is_inner(block.source) else new)

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
