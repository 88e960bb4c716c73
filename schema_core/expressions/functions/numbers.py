"""Functions of numbers."""

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
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import Constant, FunctionCall
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import DataTypes as T
from schema_core.types import DecimalType, TypeFamily
from schema_core.types.decimals import as_decimal, decimal_result, decimal_round

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed
    from schema_core.types import DataType

DOUBLE = exactly(T.DOUBLE())
STRING_TYPE = exactly(T.STRING())
MAX_INT = 2**31 - 1


def _unit(given: Given, i: int) -> DataType | None:
    from schema_core.expressions.functions.temporal import UNIT

    return UNIT.accepts(given, i)


UNIT = Arg("TO <UNIT>", _unit)


def whole(given: Given) -> DataType:
    """A decimal without digits behind the point; every other type as it is."""
    type_ = given.types[0]
    if isinstance(type_, DecimalType):
        return DecimalType(type_.precision, 0, type_.is_nullable)
    return type_


def rounded(given: Given) -> DataType:
    """A decimal of the digits that are asked for, if they are known."""
    type_ = given.types[0]
    if not isinstance(type_, DecimalType):
        return type_
    digits = known_number(given.trees[1]) if len(given.trees) > 1 else 0
    if digits is not None and not -MAX_INT <= digits <= MAX_INT:
        raise SchemaError(
            f"{digits} digits are more than an INT holds", code="invalid-argument-value"
        )
    return type_ if digits is None else decimal_round(type_, digits)


def known_number(tree: Typed, *, through_casts: bool = True) -> int | None:
    """The value of a whole number that is written out, also behind casts; else None."""
    match tree:
        case FunctionCall(function=function, arguments=(value, _)) if function.name == "CAST":
            return known_number(value) if through_casts else None
        case Constant(literal=Literal(kind=LiteralKind.EXACT, text=text)):
            digits = text.removesuffix(".")
            return int(digits) if digits.lstrip("-").isdecimal() else None
        case _:
            return None


def remainder(given: Given) -> DataType:
    """What ``%`` leaves: of whole numbers the type of the divisor, else a decimal."""
    left, right = map(as_decimal, given.types)
    if left.scale == right.scale == 0:
        return given.types[1]
    return decimal_result("%", left, right)


def known_up_to(most: int) -> Arg:
    """A whole number that is written out, not negative and at most so large."""

    def accepts(given: Given, i: int) -> DataType | None:
        number = known_number(given.trees[i], through_casts=False)
        fits = number is not None and 0 <= number <= most
        return given.types[i] if fits else None

    return Arg("<INTEGER> literal", accepts)


def _computed(given: Given, i: int) -> DataType | None:
    """An interval that is not written out: Flink's planner finds no type for those that are."""
    written = isinstance(given.trees[i], Constant)
    return given.types[i] if given.types[i].is_(TypeFamily.INTERVAL) and not written else None


STEPS = ((MONTHS,), (MILLISECONDS,))
COMPUTED = ((Arg("<INTERVAL>", _computed),),)
UNITS = ((DATE, UNIT), (TIME, UNIT), (TIMESTAMP, UNIT))

FUNCTIONS = (
    #        name            takes                 gives
    Function("ABS",          (NUMERIC,),           like(0), also=STEPS),
    Function("SIGN",         (NUMERIC,),           like(0)),
    Function("CEIL",         (NUMERIC,),           whole,
             also=(*COMPUTED, *UNITS), aliases=("CEILING",)),
    Function("FLOOR",        (NUMERIC,),           whole, also=(*COMPUTED, *UNITS)),
    Function("ROUND",        (NUMERIC, INTEGER),   rounded, optional=1),
    Function("TRUNCATE",     (NUMERIC, INTEGER),   rounded, optional=1),
    Function("MOD",          (EXACT, EXACT),       remainder),
    operation("SQRT",         (NUMERIC,),           DOUBLE),
    Function("EXP",          (NUMERIC,),           DOUBLE),
    Function("LN",           (NUMERIC,),           DOUBLE),
    Function("LOG",          (NUMERIC, NUMERIC),   DOUBLE, optional=1),
    Function("LOG2",         (NUMERIC,),           DOUBLE),
    Function("LOG10",        (NUMERIC,),           DOUBLE),
    Function("POWER",        (NUMERIC, NUMERIC),   DOUBLE),
    Function("SIN",          (NUMERIC,),           DOUBLE),
    Function("COS",          (NUMERIC,),           DOUBLE),
    Function("TAN",          (NUMERIC,),           DOUBLE),
    Function("COT",          (NUMERIC,),           DOUBLE),
    Function("ASIN",         (NUMERIC,),           DOUBLE),
    Function("ACOS",         (NUMERIC,),           DOUBLE),
    Function("ATAN",         (NUMERIC,),           DOUBLE),
    Function("ATAN2",        (NUMERIC, NUMERIC),   DOUBLE),
    Function("SINH",         (NUMERIC,),           DOUBLE),
    Function("COSH",         (NUMERIC,),           DOUBLE),
    Function("TANH",         (NUMERIC,),           DOUBLE),
    Function("DEGREES",      (NUMERIC,),           DOUBLE),
    Function("RADIANS",      (NUMERIC,),           DOUBLE),
    Function("PI",           (),                   DOUBLE, nulls=never),
    Function("E",            (),                   DOUBLE, nulls=never),
    Function("RAND",         (NUMERIC,),           DOUBLE, optional=1, deterministic=False),
    Function("RAND_INTEGER", (NUMERIC, NUMERIC),   exactly(T.INT()),
             optional=1, deterministic=False),
    Function("BIN",          (INTEGER,),           STRING_TYPE),
    Function("HEX",          (INTEGER,),           STRING_TYPE, also=((CHARACTER,),)),
)  # fmt: skip
