"""ROW_NUMBER of which a query keeps the first row: the deduplication of rows by a key."""

from __future__ import annotations

from typing import Final

from schema_core.base.lazy import dataclass
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, is_windowed
from schema_core.query import relation as relational
from schema_core.query.relation import conjuncts, subexpressions
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import BigIntType

#: The number of the first row.
FIRST_NUMBER: Final = Constant(Literal(LiteralKind.EXACT, "1"), BigIntType(nullable=False))


#: Functions that number rows.
ROW_NUMBERS: Final = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK"})


@dataclass(frozen=True, slots=True)
class Ranking:
    """ROW_NUMBER of which a query keeps the first row, in a block without other OVER functions.

    `rank`, `key` (PARTITION BY) and `time` (ORDER BY) are positions in the block's result. If
    `descending`, the last time is first.
    """

    block: relational.Select
    rank: int
    key: tuple[int, ...]
    time: int
    descending: bool


def reference(expression: Typed) -> object:
    """Return a column's alias and name, other expressions as they are."""
    return (expression.relation, expression.name) if isinstance(expression, Ref) else expression


def first_rows(block: relational.Select) -> Ranking | None:
    """Return the ranking by one column whose first row the WHERE of a block keeps, if any."""
    numbered = first_numbered(block)
    return None if numbered is None else _ranking(*numbered)


def first_numbered(block: relational.Select) -> tuple[relational.Select, int] | None:
    """Return the block below, and its item, whose number 1 the WHERE of a block keeps, if any."""
    source = block.source
    if not isinstance(source, relational.Named) or not isinstance(source.input, relational.Select):
        return None
    inner = source.input
    ranks = [
        place
        for place, item in enumerate(inner.items)
        if any(map(is_windowed, subexpressions(item.expression)))
    ]
    if len(ranks) != 1 or inner.grouping or inner.distinct or inner.qualify:
        return None
    number = Ref(source.columns[ranks[0]].name, source.columns[ranks[0]].type, source.alias)
    if not any(_is_first(conjunct, number) for conjunct in conjuncts(block.where)):
        return None
    return inner, ranks[0]


def _is_first(condition: Typed, number: Ref) -> bool:
    match condition:
        case FunctionCall(function=function, arguments=(Ref() as column, Constant() as value)):
            is_number = reference(column) == reference(number)
            bound = (function.name, getattr(value.literal, "text", None))
            return is_number and bound in {("=", "1"), ("<=", "1"), ("<", "2")}
        case _:
            return False


def _ranking(block: relational.Select, rank: int) -> Ranking | None:
    """Return the ranking of a block's item; None if a key is not a column of the block."""
    call = block.items[rank].expression
    if not isinstance(call, FunctionCall) or call.function.name != "ROW_NUMBER":
        return None
    places = items_by_reference(block)
    over = call.over
    if over is None or len(over.order_by) != 1:
        return None
    (order,) = over.order_by
    keys = [places.get(reference(key)) for key in over.partition_by]
    time = places.get(reference(order.value))
    if time is None or not keys or None in keys:
        return None
    key = tuple(key[0] for key in keys if key is not None)
    return Ranking(block, rank, key, time[0], order.descending)


def items_by_reference(block: relational.Select) -> dict[object, tuple[int, ...]]:
    """Return where a block returns each expression; columns by their names."""
    stream: dict[object, tuple[int, ...]] = {}
    for place, item in enumerate(block.items):
        name = reference(item.expression)
        stream[name] = (*stream.get(name, ()), place)
    return stream
