"""Arithmetic operators and concatenation."""

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
    like,
    of,
    operation,
    required,
)
from schema_core.expressions.signatures import ArgumentTypes, Function, Parameter
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
from schema_core.types.common import as_decimal, decimal_result, least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.signatures import ReturnTypeRule

F = TypeFamily


def number(operator: str) -> ReturnTypeRule:
    """Return the rule of an arithmetic operator."""

    def rule(args: ArgumentTypes) -> DataType:
        """Return the datetime or interval type, the decimal by its formula, or the wider type."""
        left, right = args.types
        for family in (F.DATETIME, F.INTERVAL):
            for one in (left, right):
                if one.is_(family):
                    return one
        exact = left.is_(F.EXACT_NUMERIC) and right.is_(F.EXACT_NUMERIC)
        if exact and DecimalType in (type(left), type(right)):
            return decimal_result(operator, as_decimal(left), as_decimal(right))
        return required(least_restrictive(args.types))

    return rule


def concatenated(args: ArgumentTypes) -> DataType:
    """Return a string of the combined length, or an array of the least restrictive element type."""
    left, right = args.types
    if not isinstance(left, LengthType) or not isinstance(right, LengthType):
        return required(least_restrictive(args.types))
    length = left.length + right.length
    if isinstance(left, CharType | BinaryType) and isinstance(right, CharType | BinaryType):
        return left.with_length(min(length, MAX_LENGTH))
    kind = VarCharType if left.is_(F.CHARACTER_STRING) else VarBinaryType
    return kind().with_length(min(length, MAX_LENGTH))


def _concatenable_array(args: ArgumentTypes, i: int) -> DataType | None:
    return least_restrictive(args.types) and (
        args.types[i] if isinstance(args.types[i], ArrayType) else None
    )


#: A timestamp without time zone.
LOCAL_TIMESTAMP = of("<TIMESTAMP>", TypeRoot.TIMESTAMP_WITHOUT_TIME_ZONE)
ARRAYS = Parameter("<ARRAY>", _concatenable_array)

PLUS = ((MONTHS, MONTHS), (MILLISECONDS, MILLISECONDS), (DATETIME, INTERVAL))

FUNCTIONS = (
    # name, parameters, return type
    operation("+",  (NUMERIC, NUMERIC), number("+"), alternatives=(*PLUS, (INTERVAL, DATETIME))),
    Function("-",   (LOCAL_TIMESTAMP, INTERVAL), number("-")),
    operation("-",  (NUMERIC, NUMERIC), number("-"), alternatives=PLUS),
    operation("*",  (NUMERIC, NUMERIC), number("*"),
              alternatives=((INTERVAL, NUMERIC), (NUMERIC, INTERVAL))),
    operation("/",  (NUMERIC, NUMERIC), number("/"), alternatives=((INTERVAL, NUMERIC),)),
    Function("%",   (EXACT, EXACT),     remainder),
    operation("-x", (NUMERIC,),         like(0), alternatives=((INTERVAL,),)),
    operation("+x", (NUMERIC,),         like(0), alternatives=((INTERVAL,),)),
    operation("||", (CHARACTER, ALIKE), concatenated,
              alternatives=((BINARY, BINARY), (ARRAYS, ARRAYS))),
)  # fmt: skip
