"""What only calls of aggregates carry (DISTINCT, FILTER, OVER), and what they make of no rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from schema_core.errors import SchemaError
from schema_core.expressions.scope import Scope
from schema_core.expressions.signatures import Empty, Kind
from schema_core.expressions.typed import Apply, Bound, Frame, Over, SortedBy, Typed, walk
from schema_core.sql import syntax
from schema_core.types import TypeFamily, TypeRoot

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Function

Infer: TypeAlias = Callable[[Scope, syntax.Expression], Typed]


def refuse_on_scalar(call: syntax.Call, function: Function) -> None:
    """Refuse what only aggregates may carry on any other function.

    Raises:
        SchemaError: with code `not-an-aggregate`.
    """
    carried = {
        "DISTINCT": call.symbol == "DISTINCT",
        "ALL": call.symbol == "ALL",
        "FILTER": call.filter is not None,
        "WITHIN GROUP": bool(call.within),
        "OVER": call.over is not None,
    }
    for word, is_there in carried.items():
        if is_there:
            raise SchemaError(
                f"{word} belongs to aggregates, and {function.name} is none",
                code="not-an-aggregate",
                span=call.span,
            )


def aggregated(scope: Scope, apply: Apply, call: syntax.Call, infer: Infer) -> Apply:
    """The call of an aggregate with its filter and window, nullable where these say so.

    Raises:
        SchemaError: with code `nested-aggregate`, `within-group`, `wrong-type` or `window`.
    """
    if call.within:
        raise SchemaError(
            f"{apply.function.name} takes no WITHIN GROUP", code="within-group", span=call.span
        )
    inner = [part for argument in apply.arguments for part in walk(argument)]
    if any(_reads_rows(part) and (call.over is None or _has_window(part)) for part in inner):
        raise SchemaError("aggregates cannot be nested", code="nested-aggregate", span=call.span)
    condition = None if call.filter is None else infer(scope, call.filter)
    if condition is not None and condition.type.root is not TypeRoot.BOOLEAN:
        raise SchemaError("FILTER takes a condition", code="wrong-type", span=condition.span)
    over = None if call.over is None else _over(scope, apply.function, call.over, infer)
    nullable = _nothing_is_null(scope, apply.function, condition, over)
    type_ = apply.type.nullable() if nullable else apply.type
    return replace(apply, type=type_, symbol=call.symbol, filter=condition, over=over)


def _reads_rows(typed: Typed) -> bool:
    return isinstance(typed, Apply) and typed.function.kind is Kind.AGGREGATE


def _has_window(typed: Typed) -> bool:
    return isinstance(typed, Apply) and typed.over is not None


def _nothing_is_null(
    scope: Scope, function: Function, condition: Typed | None, over: Over | None
) -> bool:
    """Whether there may be no rows to read, of which the aggregate makes NULL."""
    if over is not None:
        return function.empty is not Empty.VALUE and _may_be_empty(over)
    if not scope.in_query:
        # Flink makes a CASE without ELSE of every filtered aggregate outside of queries.
        return condition is not None or function.empty is Empty.NULL
    empty = condition is not None or scope.group_count == 0
    return function.empty is not Empty.VALUE and empty


# --- OVER ----------------------------------------------------------------------------------------


def _may_be_empty(over: Over) -> bool:
    """Whether the frame starts or ends at a distance from the row."""
    bounds = () if over.frame is None else (over.frame.lower, over.frame.upper)
    return any(bound is not None and bound.distance is not None for bound in bounds)


def _over(scope: Scope, function: Function, window: syntax.Window, infer: Infer) -> Over:
    if window.name is not None:
        window = _merged(scope.window(window.name, window.span), window)
    over = Over(
        tuple(infer(scope, one) for one in window.partition_by),
        tuple(
            SortedBy(infer(scope, key.expression), key.descending, key.nulls_last)
            for key in window.order_by
        ),
        None if window.frame is None else _frame(scope, window.frame, infer),
    )
    if over.frame is not None and not function.frames:
        raise SchemaError(f"{function.name} has no frame", code="window", span=window.span)
    counted = function.counts_rows or (over.frame is not None and over.frame.unit == "ROWS")
    ranks = not function.frames and not function.counts_rows
    if not over.order_by and (ranks or not (scope.in_query or counted)):
        raise SchemaError(
            f"{function.name} OVER needs an ORDER BY", code="window", span=window.span
        )
    _check_range(over)
    return over


def _merged(named: syntax.Window, window: syntax.Window) -> syntax.Window:
    """A named window with what was added to it."""
    return replace(
        named,
        name=None,
        partition_by=window.partition_by or named.partition_by,
        order_by=window.order_by or named.order_by,
        frame=window.frame or named.frame,
    )


def _frame(scope: Scope, frame: syntax.Frame, infer: Infer) -> Frame:
    def bound(written: syntax.Call | syntax.Symbol) -> Bound:
        if isinstance(written, syntax.Symbol):
            return Bound(written.word)
        return Bound(written.name, infer(scope, written.arguments[0]))

    upper = None if frame.upper is None else bound(frame.upper)
    return Frame(frame.unit, bound(frame.lower), upper)


def _check_range(over: Over) -> None:
    """A distance is of what is ordered by: an interval of moments, a number of numbers."""
    if over.frame is None or over.frame.unit != "RANGE" or not over.order_by:
        return
    key = over.order_by[0].value.type
    for bound in (over.frame.lower, over.frame.upper):
        distance = bound.distance if bound else None
        if distance is not None and key.is_(TypeFamily.DATETIME) != distance.type.is_(
            TypeFamily.INTERVAL
        ):
            raise SchemaError(
                f"RANGE counts {distance.type.as_summary_string()} in an order of"
                f" {key.as_summary_string()}",
                code="window",
                span=distance.span,
            )
