"""Negated comparisons of numbers: Flink compares the other way, which is not the same for NaN."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.expressions.typed import FunctionCall
from schema_core.spark.compiler.value_types import FLOATS

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: Comparison -> the one that is true for the other values, if none of them is NaN.
_OPPOSITE = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "BETWEEN": "NOT BETWEEN",
    "NOT BETWEEN": "BETWEEN",
}

#: De Morgan's laws.
_OTHER = {"AND": "OR", "OR": "AND"}


def without_negation(call: FunctionCall) -> FunctionCall:
    """Return NOT over comparisons of FLOATs or DOUBLEs as the opposite ones, as Flink plans it.

    Comparisons with NaN are false, so NOT (x > 1), which is x <= 1, is false for NaN too. Any other
    call is returned unchanged.
    """
    if call.function.name != "NOT" or not _orders_floats(call.arguments[0]):
        return call
    opposite = _opposite(call.arguments[0], call)
    return opposite if isinstance(opposite, FunctionCall) else call


def _orders_floats(expression: Typed) -> bool:
    """Return whether a comparison of floats is combined by AND, OR and NOT only."""
    rest = [expression]
    while rest:
        one = rest.pop()
        if not isinstance(one, FunctionCall):
            continue
        if one.function.name in _OPPOSITE and any(
            isinstance(argument.type, FLOATS) for argument in one.arguments
        ):
            return True
        if one.function.name in ("NOT", *_OTHER):
            rest.extend(one.arguments)
    return False


def _opposite(expression: Typed, negation: FunctionCall) -> Typed:
    """Return the negation of a condition."""
    if isinstance(expression, FunctionCall):
        name = expression.function.name
        if name == "NOT":
            return expression.arguments[0]
        if name in _OTHER:
            arguments = tuple(_opposite(argument, negation) for argument in expression.arguments)
            function = replace(expression.function, name=_OTHER[name])
            return replace(expression, function=function, arguments=arguments)
        if name in _OPPOSITE and any(
            isinstance(argument.type, FLOATS) for argument in expression.arguments
        ):
            function = replace(expression.function, name=_OPPOSITE[name])
            return replace(expression, function=function)
    return replace(negation, arguments=(expression,))
