"""What stands behind OVER, and which windows there are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from schema_core.errors import SchemaError
from schema_core.expressions.scope import Scope
from schema_core.expressions.typed import (
    Bound,
    Constant,
    Frame,
    FunctionCall,
    Over,
    Select,
    SortedBy,
    Typed,
    walk,
)
from schema_core.sql import syntax
from schema_core.types import DataType, TypeFamily

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Function

Infer: TypeAlias = Callable[[Scope, syntax.Expression], Typed]

#: Bounds in the order in which a frame may have them.
BOUNDS = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")
#: What rows that far from each other differ by, where there is such a thing.
DISTANCES = {
    TypeFamily.NUMERIC: TypeFamily.NUMERIC,
    TypeFamily.DATETIME: TypeFamily.INTERVAL,
}


def window(scope: Scope, function: Function, written: syntax.Window, infer: Infer) -> Over:
    """The window of a call, a named one looked up.

    Raises:
        SchemaError: with code `invalid-window`, or as `infer`.
    """
    if written.name is not None:
        written = extended(scope.window(written.name, written.span), written)
    over = _typed(scope, written, infer)
    problem = (
        _nested(over)
        or _without_order(scope, function, over)
        or _without_frames(function, over)
        or _wrong_frame(over)
    )
    if problem:
        raise SchemaError(problem, code="invalid-window", span=written.span)
    return over


def check_declared(scope: Scope, written: syntax.Window, infer: Infer) -> None:
    """Check a window of the WINDOW clause, whether or not a call uses it.

    Raises:
        SchemaError: with code `invalid-window`, or as `infer`.
    """
    over = _typed(scope, written, infer)
    is_range = over.frame is not None and over.frame.unit == "RANGE"
    problem = _nested(over) or _wrong_frame(over)
    if is_range and not over.order_by:
        problem = "RANGE needs an ORDER BY"
    if any(isinstance(part, Select) for key in _keys(over) for part in walk(key)):
        problem = "a window of the WINDOW clause cannot contain a subquery"
    if problem:
        raise SchemaError(problem, code="invalid-window", span=written.span)


def _typed(scope: Scope, written: syntax.Window, infer: Infer) -> Over:
    return Over(
        tuple(infer(scope, one) for one in written.partition_by),
        tuple(
            SortedBy(infer(scope, key.expression), key.descending, key.nulls_last)
            for key in written.order_by
        ),
        None if written.frame is None else _frame(scope, written.frame, infer),
    )


def may_be_empty(over: Over) -> bool:
    """Whether the frame starts or ends at a distance from the row."""
    return any(bound.distance is not None for bound in _bounds(over))


def extended(base: syntax.Window, written: syntax.Window) -> syntax.Window:
    """Return a named window, extended by what `written` adds to it.

    ``OVER w`` is the window itself; ``OVER (w ...)`` and ``v AS (w ...)`` add an order or a frame.

    Raises:
        SchemaError: with code `invalid-window` for a PARTITION BY, for a second ORDER BY, and for a
            base that has a frame.
    """
    if written.is_reference:
        return base
    problem = None
    if written.partition_by:
        problem = "PARTITION BY is not allowed with a named window"
    elif written.order_by and base.order_by:
        problem = "the named window already has an ORDER BY"
    elif base.frame is not None:
        problem = "the named window has a frame, so nothing can be based on it"
    if problem is not None:
        raise SchemaError(problem, code="invalid-window", span=written.span)
    return replace(base, order_by=written.order_by or base.order_by, frame=written.frame)


def _frame(scope: Scope, frame: syntax.Frame, infer: Infer) -> Frame:
    def bound(written: syntax.Call | syntax.Symbol) -> Bound:
        if isinstance(written, syntax.Symbol):
            return Bound(written.word)
        return Bound(written.name, infer(scope, written.arguments[0]))

    upper = None if frame.upper is None else bound(frame.upper)
    return Frame(frame.unit, bound(frame.lower), upper, frame.whole)


def _bounds(over: Over) -> list[Bound]:
    both = (over.frame.lower, over.frame.upper) if over.frame else ()
    return [bound for bound in both if bound is not None]


def _keys(over: Over) -> tuple[Typed, ...]:
    return (*over.partition_by, *(key.value for key in over.order_by))


def _nested(over: Over) -> str | None:
    """What is wrong with a window that is made of windows."""
    parts = (part for key in _keys(over) for part in walk(key))
    if any(isinstance(part, FunctionCall) and part.over is not None for part in parts):
        return "windows cannot be nested"
    return None


def _without_order(scope: Scope, function: Function, over: Over) -> str | None:
    """What is wrong with a window that has no ORDER BY."""
    counted = function.counts_rows or (over.frame is not None and over.frame.unit == "ROWS")
    if not over.order_by and (function.ranks or not (scope.in_query or counted)):
        return f"{function.name} OVER needs an ORDER BY"
    return None


def _without_frames(function: Function, over: Over) -> str | None:
    """Describe the problem with a frame for a function that takes none."""
    return None if over.frame is None or function.frames else f"{function.name} has no frame"


def _wrong_frame(over: Over) -> str | None:
    """Describe the problem with the frame of a window."""
    if over.frame is None:
        return None
    if over.frame.unit == "RANGE" and len(over.order_by) > 1:
        return "RANGE needs an order by one value"
    lower, *upper = _bounds(over)
    if lower.words == BOUNDS[-1]:
        return f"no frame begins with {lower.words}"
    if not upper and _place(lower) > BOUNDS.index("CURRENT ROW"):
        return f"no frame from {lower.words} ends with the row itself"
    if upper and (upper[0].words == BOUNDS[0] or _place(upper[0]) < _place(lower)):
        return f"no frame from {lower.words} ends with {upper[0].words}"
    keys = [key.value.type for key in over.order_by]
    wrong = (_wrong_distance(over.frame.unit, keys, bound.distance) for bound in _bounds(over))
    return next(filter(None, wrong), None)


def _place(bound: Bound) -> int:
    return BOUNDS.index(bound.words)


def _wrong_distance(unit: str, keys: list[DataType], distance: Typed | None) -> str | None:
    """What is wrong with a distance: rows are counted, values lie an interval or number apart."""
    if distance is None:
        return None
    if unit == "ROWS":
        wrong = isinstance(distance, Constant) and not _counts(distance.literal)
        return "ROWS counts in whole numbers" if wrong else None
    apart = next((apart for one, apart in DISTANCES.items() for key in keys if key.is_(one)), None)
    if keys and (apart is None or not distance.type.is_(apart)):
        order = keys[0].as_summary_string()
        return f"RANGE counts {distance.type.as_summary_string()} in an order of {order}"
    return None


def _counts(literal: syntax.Literal | syntax.Interval) -> bool:
    """Whether a literal may count rows: of the numbers, those that are whole and not negative."""
    match literal:
        case syntax.Literal(kind=syntax.LiteralKind.APPROXIMATE):
            return False
        case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text):
            number = Decimal(text)
            return number >= 0 and number == number.to_integral_value()
        case _:
            return True
