"""Arithmetic operators and numeric functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.functions.temporal import UNIT
from schema_core.expressions.signatures import (
    CHARACTER,
    DATE,
    DATETIME,
    EXACT,
    INTEGER,
    INTERVAL,
    MAX_INT,
    MILLISECONDS,
    MONTHS,
    NUMERIC,
    TIME,
    TIMESTAMP,
    common_argument_type,
    constant_integer,
    exactly,
    like,
    never,
    of,
    operation,
)
from schema_core.expressions.typed import ArgumentTypes, Constant, Function, Parameter
from schema_core.types import (
    DataType,
    DecimalType,
    TypeRoot,
)
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types.common import as_decimal, decimal_result, decimal_round, least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import ReturnTypeRule
    from schema_core.types import DataType

DOUBLE = exactly(T.DOUBLE())
STRING_TYPE = exactly(T.STRING())


TO_UNIT = Parameter("TO <UNIT>", UNIT.accepts)


def integral(args: ArgumentTypes) -> DataType:
    """A decimal of scale 0 for decimals, else the type of the argument."""
    type_ = args.types[0]
    if isinstance(type_, DecimalType):
        return DecimalType(type_.precision, 0, type_.is_nullable)
    return type_


def round_type(args: ArgumentTypes) -> DataType:
    """A decimal of the requested scale if that is constant, else the argument type."""
    type_ = args.types[0]
    if not isinstance(type_, DecimalType):
        return type_
    digits = constant_integer(args.trees[1]) if len(args.trees) > 1 else 0
    if digits is not None and not -MAX_INT <= digits <= MAX_INT:
        raise SchemaError(
            f"the scale must be within the range of INT, got {digits}",
            code="invalid-function-call",
        )
    return type_ if digits is None else decimal_round(type_, digits)


def remainder(args: ArgumentTypes) -> DataType:
    """The type of the divisor for integers, else the decimal of the remainder."""
    left, right = map(as_decimal, args.types)
    if left.scale == right.scale == 0:
        return args.types[1]
    return decimal_result("%", left, right)


def _computed_interval(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of an interval unless it is a literal, on which Flink's planner fails."""
    is_literal = isinstance(args.trees[i], Constant)
    return args.types[i] if args.types[i].is_(F.INTERVAL) and not is_literal else None


INTERVALS = ((MONTHS,), (MILLISECONDS,))
COMPUTED_INTERVALS = ((Parameter("<INTERVAL>", _computed_interval),),)
TO_UNITS = ((DATE, TO_UNIT), (TIME, TO_UNIT), (TIMESTAMP, TO_UNIT))


def number(operator: str) -> ReturnTypeRule:
    """The rule of an arithmetic operator."""

    def rule(args: ArgumentTypes) -> DataType:
        """The datetime or interval type, the decimal by its formula, or the wider type."""
        left, right = args.types
        for family in (F.DATETIME, F.INTERVAL):
            for operand in (left, right):
                if operand.is_(family):
                    return operand
        exact = left.is_(F.EXACT_NUMERIC) and right.is_(F.EXACT_NUMERIC)
        if exact and DecimalType in (type(left), type(right)):
            return decimal_result(operator, as_decimal(left), as_decimal(right))
        return common_argument_type(least_restrictive(args.types))

    return rule


#: A timestamp without time zone.
LOCAL_TIMESTAMP = of("<TIMESTAMP>", TypeRoot.TIMESTAMP_WITHOUT_TIME_ZONE)
PLUS = ((MONTHS, MONTHS), (MILLISECONDS, MILLISECONDS), (DATETIME, INTERVAL))

FUNCTIONS = (
    # --- operators: name, parameters, return type -------------------------------------------------
    operation("+",  (NUMERIC, NUMERIC), number("+"), alternatives=(*PLUS, (INTERVAL, DATETIME))),
    Function("-",   (LOCAL_TIMESTAMP, INTERVAL), number("-")),
    operation("-",  (NUMERIC, NUMERIC), number("-"), alternatives=PLUS),
    operation("*",  (NUMERIC, NUMERIC), number("*"),
              alternatives=((INTERVAL, NUMERIC), (NUMERIC, INTERVAL))),
    operation("/",  (NUMERIC, NUMERIC), number("/"), alternatives=((INTERVAL, NUMERIC),)),
    Function("%",   (EXACT, EXACT),     remainder),
    operation("-x", (NUMERIC,),         like(0), alternatives=((INTERVAL,),)),
    operation("+x", (NUMERIC,),         like(0), alternatives=((INTERVAL,),)),
    # --- functions --------------------------------------------------------------------------------
    Function("ABS",          (NUMERIC,),         like(0), alternatives=INTERVALS),
    Function("SIGN",         (NUMERIC,),         like(0)),
    Function("CEIL",         (NUMERIC,),         integral,
             alternatives=(*COMPUTED_INTERVALS, *TO_UNITS), aliases=("CEILING",)),
    Function("FLOOR",        (NUMERIC,),         integral,
             alternatives=(*COMPUTED_INTERVALS, *TO_UNITS)),
    Function("ROUND",        (NUMERIC, INTEGER), round_type, optional=1),
    Function("TRUNCATE",     (NUMERIC, INTEGER), round_type, optional=1),
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
