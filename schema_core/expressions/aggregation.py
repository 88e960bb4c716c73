"""What only calls of aggregates carry (DISTINCT, FILTER, OVER), and what they make of no rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.over import Infer, may_be_empty, window
from schema_core.expressions.scope import Scope
from schema_core.expressions.signatures import EmptyInput, Kind
from schema_core.expressions.typed import FunctionCall, Over, Typed, walk
from schema_core.sql import syntax
from schema_core.types import TypeRoot

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Function


def refuse_on_scalar(call: syntax.Call, function: Function) -> None:
    """Refuse what only aggregates may carry on any other function.

    Raises:
        SchemaError: with code `not-an-aggregate`.
    """
    carried = {
        "DISTINCT": call.symbol == "DISTINCT",
        "ALL": call.symbol == "ALL",
        call.nulls or "": call.nulls is not None,
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


def aggregated(scope: Scope, apply: FunctionCall, call: syntax.Call, infer: Infer) -> FunctionCall:
    """The call of an aggregate with its filter and window, nullable where these say so.

    Raises:
        SchemaError: with code `nested-aggregate`, `misplaced-clause`, `wrong-type` or
            `invalid-window`.
    """
    _refuse_clauses(apply.function, call)
    inner = [part for argument in apply.arguments for part in walk(argument)]
    if any(_reads_rows(part) and (call.over is None or _has_window(part)) for part in inner):
        raise SchemaError("aggregates cannot be nested", code="nested-aggregate", span=call.span)
    condition = None if call.filter is None else _filter(infer(scope, call.filter))
    over = None if call.over is None else window(scope, apply.function, call.over, infer)
    nullable = _nothing_is_null(scope, apply.function, condition, over)
    type_ = apply.type.nullable() if nullable else apply.type
    found = replace(apply, type=type_, symbol=call.symbol, nulls=call.nulls)
    found = replace(found, filter=condition, over=over)
    if scope.in_query or over is not None:
        return found
    empty = apply.function.empty is not EmptyInput.VALUE
    return replace(found, first_phase_type=apply.type.nullable() if empty else apply.type)


def _refuse_clauses(function: Function, call: syntax.Call) -> None:
    """Refuse what may not stand behind this aggregate."""
    if call.within:
        problem = f"{function.name} takes no WITHIN GROUP"
    elif call.nulls is not None and not function.skips_nulls:
        problem = f"{function.name} takes no {call.nulls}"
    elif call.filter is not None and call.over is not None:
        problem = "there is no FILTER before OVER"
    else:
        return
    raise SchemaError(problem, code="misplaced-clause", span=call.span)


def _filter(condition: Typed) -> Typed:
    if condition.type.root is not TypeRoot.BOOLEAN:
        raise SchemaError("FILTER takes a condition", code="wrong-type", span=condition.span)
    if any(map(_reads_rows, walk(condition))):
        raise SchemaError(
            "FILTER takes no aggregates", code="nested-aggregate", span=condition.span
        )
    return condition


def _reads_rows(typed: Typed) -> bool:
    """Whether it is an aggregate; what looks at the order of rows alone is one only behind OVER."""
    if not isinstance(typed, FunctionCall) or typed.function.kind is not Kind.AGGREGATE:
        return False
    return typed.function.frames or typed.over is not None


def _has_window(typed: Typed) -> bool:
    return isinstance(typed, FunctionCall) and typed.over is not None


def _nothing_is_null(
    scope: Scope, function: Function, condition: Typed | None, over: Over | None
) -> bool:
    """Whether there may be no rows to read, of which the aggregate makes NULL."""
    if over is not None and over.frame is not None and over.frame.whole and not scope.in_query:
        return True
    if over is not None:
        return function.empty is not EmptyInput.VALUE and may_be_empty(over)
    if not scope.in_query:
        # Flink makes a CASE without ELSE of every filtered aggregate outside of queries.
        return condition is not None or function.empty is EmptyInput.NULL
    empty = condition is not None or scope.group_count == 0
    return function.empty is not EmptyInput.VALUE and empty
