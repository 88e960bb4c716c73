"""The rewrites by Flink's planner and code generator of expressions in MATCH_RECOGNIZE.

The planner replaces averages and variances by sums and counts, which are computed in the type of
the result. A column of a variable without rows is NULL. The generated code relies on the declared
nullability all the same: IS NULL of a NOT NULL column is FALSE, and where a NOT NULL value is
stored, NULL is stored as the initial value of a variable of its Java type.
"""

from __future__ import annotations

from dataclasses import replace

from schema_core import types
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, substitute
from schema_core.query.relation import is_aggregate
from schema_core.spark.compiler.functions.casts import declared_type
from schema_core.spark.matching.navigation import columns_in
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import Literal, LiteralKind

_SQUARES = "CAST(SUM(CAST({x} * {x} AS {type})) AS {type})"
_SQUARED = "CAST(CAST(SUM({x}) AS {type}) * CAST(SUM({x}) AS {type}) AS {type})"
_COUNT = "CAST(COUNT({x}) AS {type})"
_DIFFERENCE = f"CAST({_SQUARES} - CAST({_SQUARED} / {_COUNT} AS {{type}}) AS {{type}})"
_VARIANCE = f"{_DIFFERENCE} / {_COUNT}"
_SAMPLE = (
    f"{_DIFFERENCE} / CASE WHEN COUNT({{x}}) = 1 THEN CAST(NULL AS {{type}}) ELSE {_COUNT} - 1 END"
)
_ROOT = "POWER(CAST({} AS {{type}}), 0.5)"

#: Aggregate -> what the planner computes instead, with the argument `x` and the type of the result.
EXPANSIONS = {
    "AVG": "CAST(SUM(x) AS {type}) / COUNT(x)",
    "VAR_POP": _VARIANCE,
    "VAR_SAMP": _SAMPLE,
    "VARIANCE": _SAMPLE,
    "STDDEV_POP": _ROOT.format(_VARIANCE),
    "STDDEV_SAMP": _ROOT.format(_SAMPLE),
    "STDDEV": _ROOT.format(_SAMPLE),
}
#: Expansions that are NOT NULL for the planner if their argument is.
_NOT_NULL = frozenset({"AVG", "VAR_POP", "STDDEV_POP"})
#: Calls that store their arguments.
_CONSTRUCTORS = frozenset({"ARRAY", "MAP", "ROW"})

#: Type -> the initial value of a variable of its Java type; other types have NULL.
_INITIAL: dict[type[types.DataType], str] = {
    types.TinyIntType: "CAST(-1 AS TINYINT)",
    types.SmallIntType: "CAST(-1 AS SMALLINT)",
    types.IntType: "-1",
    types.BigIntType: "CAST(-1 AS BIGINT)",
    types.FloatType: "CAST(-1 AS FLOAT)",
    types.DoubleType: "CAST(-1 AS DOUBLE)",
    types.BooleanType: "FALSE",
    types.DateType: "DATE '1969-12-31'",
    types.YearMonthIntervalType: "INTERVAL -'1' MONTH",
    types.DayTimeIntervalType: "INTERVAL -'0.001' SECOND",
    types.CharType: "''",
    types.VarCharType: "''",
}


def as_planned(expression: Typed) -> Typed:
    """Return an expression of MATCH_RECOGNIZE as Flink computes it."""
    return substitute(expression, _planner_form)


def as_stored(expression: Typed) -> Typed:
    """Return an expression as Flink computes it and stores its value."""
    return _stored_value(as_planned(expression), expression)


def _planner_form(part: Typed) -> Typed | None:
    if not isinstance(part, FunctionCall):
        return None
    name = part.function.name
    if name in ("IS NULL", "IS UNKNOWN") and _is_declared_not_null(part.arguments[0]):
        return _template("FALSE", part.type)
    if name in ("IS NOT NULL", "IS NOT UNKNOWN") and _is_declared_not_null(part.arguments[0]):
        return _template("TRUE", part.type)
    if name in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM") and any(
        isinstance(argument.type, types.NullType) for argument in part.arguments
    ):
        value = next((a for a in part.arguments if not isinstance(a.type, types.NullType)), None)
        if value is not None and _is_declared_not_null(value):
            return _template("TRUE" if name == "IS DISTINCT FROM" else "FALSE", part.type)
    if name == "TYPEOF":
        declared = declared_type(part.arguments[0]).as_summary_string()
        return Constant(Literal(LiteralKind.STRING, declared), part.type)
    if name in _CONSTRUCTORS:
        return replace(part, arguments=tuple(map(as_stored, part.arguments)))
    if is_aggregate(part) and name in EXPANSIONS and not (part.symbol or part.filter):
        return _expand_moments(part)
    return None


def _is_declared_not_null(expression: Typed) -> bool:
    if not expression.type.is_nullable:
        return True
    if not isinstance(expression, FunctionCall):
        return False
    first = expression.arguments[0].type if expression.arguments else None
    match expression.function.name, first:
        case "[]", types.ArrayType(element_type=element):
            return not element.is_nullable
        case "[]", types.MapType(value_type=element):
            return not element.is_nullable
        case name, types.DataType():
            return is_aggregate(expression) and name in _NOT_NULL and not first.is_nullable
        case _:
            return False


def _stored_value(value: Typed, declared: Typed) -> Typed:
    initial = _INITIAL.get(type(declared.type))
    if initial is None or not _is_declared_not_null(declared) or not any(columns_in(declared)):
        return value
    is_string = isinstance(declared.type, types.CharType | types.VarCharType)
    type_ = types.DataTypes.STRING() if is_string else declared.type.nullable()
    return _template(f"COALESCE(x, {initial})", declared.type, replace(Ref("x", type_)), value)


def _expand_moments(call: FunctionCall) -> Typed:
    argument = as_planned(call.arguments[0])
    type_ = call.type.nullable()
    x = "x" if call.function.name == "AVG" else f"CAST(x AS {type_})"
    text = EXPANSIONS[call.function.name].format(x=x, type=type_)
    return _template(f"CAST({text} AS {type_})", type_, Ref("x", argument.type), argument)


def _template(
    text: str, type_: types.DataType, column: Ref | None = None, value: Typed | None = None
) -> Typed:
    """Return the typed tree of an expression, with a value in place of its column."""
    scope = ColumnScope({} if column is None else {column.name: column.type})
    typed = infer(scope, parse_expression(text))
    if value is not None:
        typed = substitute(typed, lambda part: value if isinstance(part, Ref) else None)
    if isinstance(typed, FunctionCall | Constant):
        return replace(typed, type=type_)
    return typed
