"""Versions of results that change with each row: of GROUP BY, and of ROW_NUMBER by any order.

Flink derives the versions of such a result from its changes: each row that arrives changes the row
of its key. Here these are rows of a query without changes: aggregates become running ones, over the
rows of the key that have arrived, and a ranking keeps the rows that were first when they arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

from schema_core.errors import UnsupportedError
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import (
    Access,
    Bound,
    Frame,
    Function,
    FunctionCall,
    Over,
    Ref,
    SortedBy,
    Typed,
    is_windowed,
)
from schema_core.query import relation as relational
from schema_core.query.rankings import FIRST_NUMBER
from schema_core.query.relation import (
    Item,
    Named,
    Relation,
    Select,
    is_aggregate,
    subexpressions,
    subqueries_in,
)
from schema_core.types import BigIntType, BooleanType, LocalZonedTimestampType, TimestampType
from schema_core.types.temporal import TimestampKind, timestamp_kind

_NUMBER: Final = BigIntType(nullable=False)
#: The function that numbers rows in the order in which they are read.
ARRIVAL: Final = Function("$ARRIVAL", (), returns=lambda _: _NUMBER, deterministic=False)
#: Columns: of ARRIVAL, of the place of a row in the order of its key, of the best place until now.
_ARRIVAL, _PLACE, _BEST = "$arrival$", "$place$", "$best$"
_SO_FAR: Final = Frame("ROWS", Bound("UNBOUNDED PRECEDING"), Bound("CURRENT ROW"))
#: Functions whose result is a rowtime if an argument is one.
_OF_TIMES: Final = frozenset(
    {"MAX", "MIN", "FIRST_VALUE", "LAST_VALUE", "COALESCE", "CASE", "IF", "+", "-"}
)
_TIMESTAMPS: Final = (TimestampType, LocalZonedTimestampType)


def running_groups(block: Select) -> tuple[Select, Typed | None]:
    """Return GROUP BY as a block with a row for each input row, and its HAVING.

    Each row has the values of its group when it arrived.

    Raises:
        UnsupportedError: `not-executable` if rows of the input change, or arrive in no order.
    """
    grouping = block.grouping or relational.Grouping()
    expressions = list(relational.expressions_of(block))
    if (
        grouping.sets is not None
        or any(map(subqueries_in, expressions))
        or any(is_windowed(part) for item in expressions for part in subexpressions(item))
        or block.distinct
    ):
        raise _not_derivable("over GROUPING SETS, DISTINCT, OVER or subqueries of groups")
    arrived, arrival = _with_arrivals(block)
    over = Over(grouping.keys, (SortedBy(arrival),), _SO_FAR)
    items = tuple(item._replace(expression=_run(item.expression, over)) for item in block.items)
    having = None if block.having is None else _run(block.having, over)
    return Select(items, arrived), having


def distinct_rows(block: Select) -> Select:
    """Return SELECT DISTINCT as a block that repeats rows: each is one version.

    Raises:
        UnsupportedError: as `running_groups`.
    """
    _require_insertions(block.source)
    return replace(block, distinct=False)


def first_when_arriving(
    inner: Select, alias: str, keys: Sequence[Typed], order: Sequence[SortedBy]
) -> Named:
    """Return the rows of a block that were the first of their key, in an order, when they arrived.

    ROW_NUMBER, which the block computes, is 1 for each.

    Raises:
        UnsupportedError: as `running_groups`.
    """
    arrived, arrival = _with_arrivals(inner)
    minimum, number = BUILT_IN["MIN"][0], BUILT_IN["ROW_NUMBER"][0]
    ranks = tuple(replace(key, value=arrival) if _is_arrival(key.value) else key for key in order)
    over = Over(tuple(keys), (*ranks, SortedBy(arrival)))
    place = FunctionCall(number, (), _NUMBER, over=over)
    shown = tuple(
        item._replace(expression=FIRST_NUMBER)
        if any(map(is_windowed, subexpressions(item.expression)))
        else item
        for item in inner.items
    )
    partition = tuple(Item(f"$key{index}$", key) for index, key in enumerate(keys))
    placed = Select((*shown, *partition, Item(_ARRIVAL, arrival), Item(_PLACE, place)), arrived)
    names = [column.name for column in placed.columns]
    refs = [Ref(name, type_, alias) for name, type_ in placed.columns]
    of_key = Over(tuple(refs[len(shown) : -2]), (SortedBy(refs[-2]),), _SO_FAR)
    best = FunctionCall(minimum, (refs[-1],), _NUMBER, over=of_key)
    ranked = Select(
        (*map(Item, names, refs), Item(_BEST, best)), Named(placed, alias, placed.columns)
    )
    is_first = FunctionCall(
        BUILT_IN["="][0],
        (refs[-1], Ref(_BEST, _NUMBER, alias)),
        BooleanType(nullable=False),
    )
    columns = inner.columns
    first = Select(
        tuple(map(Item, names[: len(columns)], refs)),
        Named(ranked, alias, ranked.columns),
        is_first,
    )
    return Named(first, alias, columns)


def _is_arrival(typed: Typed) -> bool:
    """Return whether a key sorts rows as they arrive: by the processing time."""
    return timestamp_kind(typed.type) is TimestampKind.PROCTIME


def _with_arrivals(block: Select) -> tuple[Named, Ref]:
    """Return the rows of FROM and WHERE with their numbers, by the alias of the source."""
    source = block.source
    _require_insertions(source)
    if not isinstance(source, Named):
        raise _not_derivable("over results of a join")
    columns = [Item(name, Ref(name, type_, source.alias)) for name, type_ in source.columns]
    number = Item(_ARRIVAL, FunctionCall(ARRIVAL, (), _NUMBER))
    numbered = Select((*columns, number), source, block.where)
    arrival = Ref(_ARRIVAL, _NUMBER, source.alias)
    return Named(numbered, source.alias, numbered.columns), arrival


def _require_insertions(source: Relation | None) -> None:
    """Refuse sources whose rows change, or whose order of arrival is not that of a table."""
    for part in relational.relations_in(source) if source is not None else ():
        match part:
            case Named() | relational.Scan() | relational.WindowTable():
                continue
            case relational.SetOperation(operator="UNION", all=True):
                continue
            case Select(grouping=None, distinct=False, qualify=None) if not any(
                is_windowed(expression)
                for item in part.items
                for expression in subexpressions(item.expression)
            ):
                continue
            case _:
                raise _not_derivable("over results that change, or arrive in an order of their own")


def _not_derivable(problem: str) -> UnsupportedError:
    return UnsupportedError(
        f"FOR SYSTEM_TIME AS OF {problem} is not supported on Spark",
        code="not-executable",
        hint="write the rows into a table with a primary key and a watermark, and read that",
    )


def _run(typed: Typed, over: Over) -> Typed:
    """Return an expression over a group as one over the rows of the group that have arrived."""
    if is_aggregate(typed):
        return replace(cast("FunctionCall", typed), over=over)
    match typed:
        case FunctionCall(arguments=arguments):
            changed = tuple(_run(argument, over) for argument in arguments)
            is_same = all(map(lambda old, new: old is new, arguments, changed))
            return typed if is_same else replace(typed, arguments=changed)
        case Access(value=value):
            return replace(typed, value=_run(value, over))
        case _:
            return typed


def is_rowtime(typed: Typed, rowtimes: set[tuple[str, str]]) -> bool:
    """Return whether Flink types an expression of a group as a rowtime.

    Args:
        typed: The expression.
        rowtimes: The aliases and names of the rowtimes that it may read.
    """
    match typed:
        case Ref(name=name, relation=relation):
            return (relation, name) in rowtimes
        case FunctionCall(function=function, arguments=arguments):
            may_be = function.name in _OF_TIMES and isinstance(typed.type, _TIMESTAMPS)
            return may_be and any(is_rowtime(argument, rowtimes) for argument in arguments)
        case _:
            return False
