"""Arithmetic and concatenation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.functions.numbers import remainder
from schema_core.expressions.signature_dsl import (
    ALIKE,
    BINARY,
    CHARACTER,
    DATETIME,
    EXACT,
    INTERVAL,
    MILLISECONDS,
    MONTHS,
    NUMERIC,
    found,
    like,
    of,
    operation,
)
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BinaryType,
    CharType,
    DataType,
    DecimalType,
    LengthType,
    TypeFamily,
    TypeRoot,
    VarBinaryType,
    VarCharType,
)
from schema_core.types.decimals import as_decimal, decimal_result
from schema_core.types.least_restrictive import least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Gives

F = TypeFamily


def number(operator: str) -> Gives:
    """What an operator gives: decimals by their formula, a date or interval wins over the rest."""

    def gives(given: Given) -> DataType:
        """A decimal of the digits it needs, the moment or interval, else what holds both."""
        left, right = given.types
        for family in (F.DATETIME, F.INTERVAL):
            for one in (left, right):
                if one.is_(family):
                    return one
        exact = left.is_(F.EXACT_NUMERIC) and right.is_(F.EXACT_NUMERIC)
        if exact and DecimalType in (type(left), type(right)):
            return decimal_result(operator, as_decimal(left), as_decimal(right))
        return found(least_restrictive(given.types))

    return gives


def concatenated(given: Given) -> DataType:
    """Strings of all their characters, arrays of what holds the elements of all."""
    left, right = given.types
    if not isinstance(left, LengthType) or not isinstance(right, LengthType):
        return found(least_restrictive(given.types))
    length = left.length + right.length
    if isinstance(left, CharType | BinaryType) and isinstance(right, CharType | BinaryType):
        return left.with_length(min(length, MAX_LENGTH))
    kind = VarCharType if left.is_(F.CHARACTER_STRING) else VarBinaryType
    return kind().with_length(min(length, MAX_LENGTH))


def _array_like_all(given: Given, i: int) -> DataType | None:
    return least_restrictive(given.types) and (
        given.types[i] if isinstance(given.types[i], ArrayType) else None
    )


#: A timestamp without a zone.
CLOCK = of("<TIMESTAMP>", TypeRoot.TIMESTAMP_WITHOUT_TIME_ZONE)
ARRAYS = Arg("<ARRAY>", _array_like_all)

PLUS = ((MONTHS, MONTHS), (MILLISECONDS, MILLISECONDS), (DATETIME, INTERVAL))

FUNCTIONS = (
    #        name  takes                gives
    operation("+",  (NUMERIC, NUMERIC),  number("+"), also=(*PLUS, (INTERVAL, DATETIME))),
    Function("-",  (CLOCK, INTERVAL),   number("-")),
    operation("-",  (NUMERIC, NUMERIC),  number("-"), also=PLUS),
    operation("*",  (NUMERIC, NUMERIC),  number("*"),
             also=((INTERVAL, NUMERIC), (NUMERIC, INTERVAL))),
    operation("/",  (NUMERIC, NUMERIC),  number("/"), also=((INTERVAL, NUMERIC),)),
    Function("%",  (EXACT, EXACT),      remainder),
    operation("-x", (NUMERIC,),          like(0), also=((INTERVAL,),)),
    operation("+x", (NUMERIC,),          like(0), also=((INTERVAL,),)),
    operation("||", (CHARACTER, ALIKE), concatenated, also=((BINARY, BINARY), (ARRAYS, ARRAYS))),
)  # fmt: skip
