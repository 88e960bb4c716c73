"""Numeric functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.signature_dsl import (
    CHARACTER,
    DATE,
    EXACT,
    INTEGER,
    MILLISECONDS,
    MONTHS,
    NUMERIC,
    TIME,
    TIMESTAMP,
    exactly,
    like,
    never,
    operation,
)
from schema_core.expressions.signatures import ArgumentTypes, Function, Parameter
from schema_core.expressions.typed import Constant, FunctionCall
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import DataTypes as T
from schema_core.types import DecimalType, TypeFamily
from schema_core.types.common import as_decimal, decimal_result, decimal_round

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed
    from schema_core.types import DataType

DOUBLE = exactly(T.DOUBLE())
STRING_TYPE = exactly(T.STRING())
MAX_INT = 2**31 - 1


def _unit(args: ArgumentTypes, i: int) -> DataType | None:
    from schema_core.expressions.functions.temporal import UNIT

    return UNIT.accepts(args, i)


UNIT = Parameter("TO <UNIT>", _unit)


def integral(args: ArgumentTypes) -> DataType:
    """Return a decimal of scale 0 for decimals, else the type of the argument."""
    type_ = args.types[0]
    if isinstance(type_, DecimalType):
        return DecimalType(type_.precision, 0, type_.is_nullable)
    return type_


def rounded(args: ArgumentTypes) -> DataType:
    """Return a decimal of the requested scale if that is constant, else the argument type."""
    type_ = args.types[0]
    if not isinstance(type_, DecimalType):
        return type_
    digits = constant_integer(args.trees[1]) if len(args.trees) > 1 else 0
    if digits is not None and not -MAX_INT <= digits <= MAX_INT:
        raise SchemaError(
            f"the scale must be within the range of INT, got {digits}",
            code="invalid-argument-value",
        )
    return type_ if digits is None else decimal_round(type_, digits)


def constant_integer(tree: Typed, *, through_casts: bool = True) -> int | None:
    """Return the value of an integer literal, also within casts; None for other expressions."""
    match tree:
        case FunctionCall(function=function, arguments=(value, _)) if function.name == "CAST":
            return constant_integer(value) if through_casts else None
        case Constant(literal=Literal(kind=LiteralKind.EXACT, text=text)):
            digits = text.removesuffix(".")
            return int(digits) if digits.lstrip("-").isdecimal() else None
        case _:
            return None


def remainder(args: ArgumentTypes) -> DataType:
    """Return the type of the divisor for integers, else the decimal of the remainder."""
    left, right = map(as_decimal, args.types)
    if left.scale == right.scale == 0:
        return args.types[1]
    return decimal_result("%", left, right)


def literal_up_to(most: int) -> Parameter:
    """A parameter for an integer literal from 0 to `most`."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        number = constant_integer(args.trees[i], through_casts=False)
        fits = number is not None and 0 <= number <= most
        return args.types[i] if fits else None

    return Parameter("<INTEGER> literal", accepts)


def _computed(args: ArgumentTypes, i: int) -> DataType | None:
    """Return the type of an interval unless it is a literal, on which Flink's planner fails."""
    is_literal = isinstance(args.trees[i], Constant)
    return args.types[i] if args.types[i].is_(TypeFamily.INTERVAL) and not is_literal else None


INTERVALS = ((MONTHS,), (MILLISECONDS,))
COMPUTED_INTERVALS = ((Parameter("<INTERVAL>", _computed),),)
UNITS = ((DATE, UNIT), (TIME, UNIT), (TIMESTAMP, UNIT))

FUNCTIONS = (
    # name, parameters, return type
    Function("ABS",          (NUMERIC,),         like(0), alternatives=INTERVALS),
    Function("SIGN",         (NUMERIC,),         like(0)),
    Function("CEIL",         (NUMERIC,),         integral,
             alternatives=(*COMPUTED_INTERVALS, *UNITS), aliases=("CEILING",)),
    Function("FLOOR",        (NUMERIC,),         integral,
             alternatives=(*COMPUTED_INTERVALS, *UNITS)),
    Function("ROUND",        (NUMERIC, INTEGER), rounded, optional=1),
    Function("TRUNCATE",     (NUMERIC, INTEGER), rounded, optional=1),
    Function("MOD",          (EXACT, EXACT),     remainder),
    operation("SQRT",        (NUMERIC,),         DOUBLE),
    Function("EXP",          (NUMERIC,),         DOUBLE),
    Function("LN",           (NUMERIC,),         DOUBLE),
    Function("LOG",          (NUMERIC, NUMERIC), DOUBLE, optional=1),
    Function("LOG2",         (NUMERIC,),         DOUBLE),
    Function("LOG10",        (NUMERIC,),         DOUBLE),
    Function("POWER",        (NUMERIC, NUMERIC), DOUBLE),
    Function("SIN",          (NUMERIC,),         DOUBLE),
    Function("COS",          (NUMERIC,),         DOUBLE),
    Function("TAN",          (NUMERIC,),         DOUBLE),
    Function("COT",          (NUMERIC,),         DOUBLE),
    Function("ASIN",         (NUMERIC,),         DOUBLE),
    Function("ACOS",         (NUMERIC,),         DOUBLE),
    Function("ATAN",         (NUMERIC,),         DOUBLE),
    Function("ATAN2",        (NUMERIC, NUMERIC), DOUBLE),
    Function("SINH",         (NUMERIC,),         DOUBLE),
    Function("COSH",         (NUMERIC,),         DOUBLE),
    Function("TANH",         (NUMERIC,),         DOUBLE),
    Function("DEGREES",      (NUMERIC,),         DOUBLE),
    Function("RADIANS",      (NUMERIC,),         DOUBLE),
    Function("PI",           (),                 DOUBLE, nullability=never),
    Function("E",            (),                 DOUBLE, nullability=never),
    Function("RAND",         (NUMERIC,),         DOUBLE, optional=1, deterministic=False),
    Function("RAND_INTEGER", (NUMERIC, NUMERIC), exactly(T.INT()), optional=1, deterministic=False),
    Function("BIN",          (INTEGER,),         STRING_TYPE),
    Function("HEX",          (INTEGER,),         STRING_TYPE, alternatives=((CHARACTER,),)),
)  # fmt: skip
