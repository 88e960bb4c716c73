"""Aggregate calls: DISTINCT, FILTER, window frames, and the result on empty input."""

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
    EmptyInput,
    Frame,
    FunctionCall,
    FunctionKind,
    Over,
    Select,
    SortDirection,
    SortedBy,
    Typed,
    is_windowed,
    walk,
)
from schema_core.sql import syntax
from schema_core.types import DataType, RowType, StructuredType, TypeFamily, TypeRoot

if TYPE_CHECKING:
    from schema_core.expressions.typed import Function

#: The type checker, as an argument: it calls this module.
Infer: TypeAlias = Callable[[Scope, syntax.Expression], Typed]


def aggregate_call(
    scope: Scope, typed: FunctionCall, call: syntax.Call, infer: Infer
) -> FunctionCall:
    """The call of an aggregate with its FILTER and OVER, and its nullability.

    Raises:
        SchemaError: with code `invalid-grouping`, `invalid-function-call`, `type-mismatch` or
            `invalid-window`.
    """
    _reject_clauses(typed.function, call)
    keys = tuple(infer(scope, sort_key.expression) for sort_key in call.within)
    if call.orders_arguments:
        directions = tuple(
            SortDirection(sort_key.descending, sort_key.nulls_last) for sort_key in call.within
        )
        typed = replace(typed, arguments=(*typed.arguments, *keys), order=directions)
    inner = [part for argument in (*typed.arguments, *keys) for part in walk(argument)]
    if any(_is_aggregate(part) and (call.over is None or is_windowed(part)) for part in inner):
        raise SchemaError("aggregates cannot be nested", code="invalid-grouping", span=call.span)
    condition = None if call.filter is None else _type_filter(scope, call.filter, infer)
    over = None if call.over is None else resolve_window(scope, typed.function, call.over, infer)
    nullable = _may_be_null(scope, typed.function, condition, over)
    type_ = typed.type
    if over is not None and isinstance(type_, RowType | StructuredType):
        # Over a window, fields of a row do not make it nullable; LAG and LEAD always do.
        nullable_anyway = typed.function.nullability is not any
        arguments = any(argument.type.is_nullable for argument in typed.arguments)
        type_ = type_ if nullable_anyway else type_.with_nullability(arguments)
    result = replace(
        typed,
        type=type_.nullable() if nullable else type_,
        symbol=call.symbol,
        nulls=call.nulls,
        filter=condition,
        over=over,
    )
    if scope.in_query or over is not None:
        return result
    null_if_empty = typed.function.empty is not EmptyInput.VALUE
    first = typed.type.nullable() if null_if_empty else typed.type
    return replace(result, first_phase_type=first)


#: Aggregate that sorts its rows -> whether by ORDER BY after its arguments, else by WITHIN GROUP.
SORTED = {"ARRAY_AGG": True, "COLLECT": False}


def _reject_clauses(function: Function, call: syntax.Call) -> None:
    if call.within and SORTED.get(function.name) is not call.orders_arguments:
        clause = "ORDER BY" if call.orders_arguments else "WITHIN GROUP"
        problem = f"{function.name} does not support {clause}"
    elif call.within and call.over is not None:
        problem = "ORDER BY of the arguments cannot be combined with OVER"
    elif call.nulls is not None and not function.skips_nulls:
        problem = f"{function.name} does not support {call.nulls}"
    elif call.filter is not None and call.over is not None:
        problem = "FILTER cannot be combined with OVER"
    else:
        return
    raise SchemaError(problem, code="invalid-function-call", span=call.span)


def _type_filter(scope: Scope, expression: syntax.Expression, infer: Infer) -> Typed:
    condition = infer(scope, expression)
    if condition.type.root is not TypeRoot.BOOLEAN:
        raise SchemaError(
            f"FILTER requires a BOOLEAN, got {condition.type.as_summary_string()}",
            code="type-mismatch",
            span=condition.span,
        )
    if any(map(_is_aggregate, walk(condition))):
        raise SchemaError(
            "FILTER cannot contain aggregates", code="invalid-grouping", span=condition.span
        )
    return condition


def _is_aggregate(typed: Typed) -> bool:
    """Whether the node is an aggregate; window functions such as RANK are one with OVER."""
    if not isinstance(typed, FunctionCall) or typed.function.kind is not FunctionKind.AGGREGATE:
        return False
    return typed.function.frames or typed.over is not None


def _may_be_null(
    scope: Scope, function: Function, condition: Typed | None, over: Over | None
) -> bool:
    """Whether the aggregate may be NULL because its input may be empty."""
    if over is not None:
        if over.frame is not None and over.frame.disallow_partial and not scope.in_query:
            return True
        return function.empty is not EmptyInput.VALUE and may_be_empty(over)
    if not scope.in_query:
        # Outside of queries Flink rewrites every filtered aggregate to a CASE without ELSE.
        return condition is not None or function.empty is EmptyInput.NULL
    is_global = scope.group_count == 0
    return function.empty is not EmptyInput.VALUE and (condition is not None or is_global)


# --- windows --------------------------------------------------------------------------------------

#: Frame bounds, from the first row to the last.
BOUNDS = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")
#: Family of the sort key of a RANGE frame -> the family of its distances.
DISTANCES = {
    TypeFamily.NUMERIC: TypeFamily.NUMERIC,
    TypeFamily.DATETIME: TypeFamily.INTERVAL,
}


def resolve_window(scope: Scope, function: Function, written: syntax.Window, infer: Infer) -> Over:
    """The window of a call, with a named window resolved.

    Raises:
        SchemaError: with code `invalid-window`, or as `infer`.
    """
    if written.name is not None:
        written = extend_window(scope.window(written.name, written.span), written)
    is_extended = written.name is not None
    over = _type_window(scope, written, infer)
    counts_rows = function.counts_rows or (over.frame is not None and over.frame.unit == "ROWS")
    if problem := _nested_window_problem(over):
        pass
    elif not over.order_by and (function.ranks or not (scope.in_query or counts_rows)):
        problem = f"{function.name} OVER needs an ORDER BY"
    elif over.frame is not None and not function.frames and not is_extended:
        problem = f"{function.name} does not support a window frame"
    else:
        problem = _wrong_frame(over)
    if problem:
        raise SchemaError(problem, code="invalid-window", span=written.span)
    return _with_default_bounds(over, function) if is_extended and over.frame else over


def _with_default_bounds(over: Over, function: Function) -> Over:
    """Return the window of a frame that extends a named window: Flink ignores its bounds.

    The frame ends with the current row; without an ORDER BY it is the partition.
    """
    if over.frame is None or not over.order_by or not function.frames:
        return replace(over, frame=None)
    return replace(over, frame=Frame(over.frame.unit, Bound(BOUNDS[0]), Bound(BOUNDS[2])))


def check_declared_window(scope: Scope, written: syntax.Window, infer: Infer) -> None:
    """Check a window of the WINDOW clause, even if no call uses it.

    Raises:
        SchemaError: with code `invalid-window`, or as `infer`.
    """
    over = _type_window(scope, written, infer)
    is_range = over.frame is not None and over.frame.unit == "RANGE"
    problem = _nested_window_problem(over) or _wrong_frame(over)
    if is_range and not over.order_by:
        problem = "RANGE requires an ORDER BY"
    if any(isinstance(part, Select) for key in _keys(over) for part in walk(key)):
        problem = "a window of the WINDOW clause cannot contain a subquery"
    if problem:
        raise SchemaError(problem, code="invalid-window", span=written.span)


def _type_window(scope: Scope, written: syntax.Window, infer: Infer) -> Over:
    def type_bound(bound: syntax.Call | syntax.Symbol) -> Bound:
        if isinstance(bound, syntax.Symbol):
            return Bound(bound.word)
        return Bound(bound.name, infer(scope, bound.arguments[0]))

    partition_by = tuple(infer(scope, key) for key in written.partition_by)
    order_by = tuple(
        SortedBy(infer(scope, key.expression), key.descending, key.nulls_last)
        for key in written.order_by
    )
    if (frame := written.frame) is None:
        return Over(partition_by, order_by)
    upper = None if frame.upper is None else type_bound(frame.upper)
    lower = type_bound(frame.lower)
    return Over(partition_by, order_by, Frame(frame.unit, lower, upper, frame.disallow_partial))


def may_be_empty(over: Over) -> bool:
    """Whether the frame has a bound at a distance from the current row."""
    return any(bound.distance is not None for bound in _bounds(over))


def is_measured(over: Over) -> bool:
    """Whether the frame is a RANGE with a distance from the value of the current row."""
    return over.frame is not None and over.frame.unit == "RANGE" and may_be_empty(over)


def extend_window(base: syntax.Window, written: syntax.Window) -> syntax.Window:
    """Extend a named window.

    ``OVER w`` is the window itself; ``OVER (w ...)`` and ``v AS (w ...)`` add an order or a frame,
    and return a window with the name of their base.

    Raises:
        SchemaError: with code `invalid-window` for a PARTITION BY, a second ORDER BY, or a base
            with a frame.
    """
    if written.is_reference:
        return base
    problem = None
    if written.partition_by:
        problem = "PARTITION BY is not allowed with a named window"
    elif written.order_by and base.order_by:
        problem = "the named window already has an ORDER BY"
    elif base.frame is not None:
        problem = "the named window has a frame, so it cannot be extended"
    if problem is not None:
        raise SchemaError(problem, code="invalid-window", span=written.span)
    order_by = written.order_by or base.order_by
    return replace(base, name=written.name, order_by=order_by, frame=written.frame)


def _bounds(over: Over) -> list[Bound]:
    both = (over.frame.lower, over.frame.upper) if over.frame else ()
    return [bound for bound in both if bound is not None]


def _keys(over: Over) -> tuple[Typed, ...]:
    return (*over.partition_by, *(key.value for key in over.order_by))


def _nested_window_problem(over: Over) -> str | None:
    parts = (part for key in _keys(over) for part in walk(key))
    return "windows cannot be nested" if any(map(is_windowed, parts)) else None


def _wrong_frame(over: Over) -> str | None:
    """The problem with the frame of a window."""
    if over.frame is None:
        return None
    if over.frame.unit == "RANGE" and len(over.order_by) > 1:
        return "RANGE requires an ORDER BY of one expression"
    lower, *upper = _bounds(over)
    if lower.words == BOUNDS[-1]:
        return f"a frame cannot start with {lower.words}"
    last = upper[0].words if upper else "CURRENT ROW"
    if last == BOUNDS[0] or BOUNDS.index(last) < BOUNDS.index(lower.words):
        return f"a frame that starts with {lower.words} cannot end with {last}"
    keys = [key.value.type for key in over.order_by]
    problems = (_wrong_distance(over.frame.unit, keys, bound.distance) for bound in _bounds(over))
    return next(filter(None, problems), None)


def _wrong_distance(unit: str, keys: list[DataType], distance: Typed | None) -> str | None:
    """The problem with the distance of a frame bound."""
    if distance is None:
        return None
    if unit == "ROWS":
        if isinstance(distance, Constant) and not _counts_rows(distance.literal):
            return "the distance of ROWS must be a non-negative integer"
        return None
    expected = next(
        (DISTANCES[family] for family in DISTANCES for key in keys if key.is_(family)), None
    )
    if keys and (expected is None or not distance.type.is_(expected)):
        actual, order = distance.type.as_summary_string(), keys[0].as_summary_string()
        return f"the distance {actual} does not match ORDER BY {order}"
    return None


def _counts_rows(literal: syntax.Literal | syntax.Interval) -> bool:
    """Whether a literal can count rows: numbers must be non-negative integers."""
    match literal:
        case syntax.Literal(kind=syntax.LiteralKind.APPROXIMATE):
            return False
        case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text):
            number = Decimal(text)
            return number >= 0 and number == number.to_integral_value()
        case _:
            return True
