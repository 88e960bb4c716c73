"""Predicates as a column, an operator and a Python value, which other systems can evaluate."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import NamedTuple
from schema_core.expressions.typed import Constant, FunctionCall, Ref
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import (
    MAX_LENGTH,
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarCharType,
)
from schema_core.types.common import common_decimal

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: Comparison operators, each with the one for swapped operands.
MIRRORED: Mapping[str, str] = {
    "=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip


#: Fractional digits of Python's datetimes.
MICROSECONDS = 6


class Comparison(NamedTuple):
    """A filter as a column, an operator and a Python value.

    The operators are ``=``, ``<>``, ``<``, ``<=``, ``>``, ``>=``, ``IN``, ``NOT IN``, ``BETWEEN``
    (whose values are tuples), ``IS NULL`` and ``IS NOT NULL`` (whose value is None).
    """

    column: str
    operator: str
    value: Any = None


def comparison_of(expression: Typed) -> Comparison | None:
    """Return a predicate as a comparison of a column with constants; None for any other.

    That of ``IS TRUE`` or ``IS FALSE`` is an equality: it is NULL where the test is FALSE.
    """
    match expression:
        case Ref(name=name, type=BooleanType()):
            return Comparison(name, "=", True)
        case FunctionCall(arguments=(Ref() as column, *rest)):
            return _of_column(column, expression.function.name, rest)
        case FunctionCall(arguments=(Constant() as constant, Ref() as column)):
            operator = MIRRORED.get(expression.function.name)
            return (operator and _of_column(column, operator, [constant])) or None
        case _:
            return None


def _of_column(column: Ref, operator: str, rest: Sequence[Typed]) -> Comparison | None:
    match operator:
        case "IS NULL" | "IS NOT NULL":
            return Comparison(column.name, operator)
        case "NOT" | "IS FALSE" | "IS TRUE" if isinstance(column.type, BooleanType):
            return Comparison(column.name, "=", operator == "IS TRUE")
        case "IN" | "NOT IN" if not all(_fits(token, column.type) for token in rest):
            return None
        case "=" | "<>" if not _is_compared_exactly(column.type, rest[0].type):
            return None
        case "IN" | "NOT IN" | "BETWEEN":
            values = tuple(constant_value(token, column.type) for token in rest)
            return None if None in values else Comparison(column.name, operator, values)
        case _ if operator in MIRRORED:
            value = constant_value(rest[0], column.type)
            return None if value is None else Comparison(column.name, operator, value)
        case _:
            return None


def _fits(member: Typed, type_: DataType) -> bool:
    """Return whether a list member keeps its value in the column's type.

    Flink casts it to that type, in which an integer may become another one.
    """
    value = constant_value(member, type_)
    bits = INTEGER_BITS.get(type(type_))
    return bits is None or (value is not None and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1))


#: The integer types, with their sizes.
INTEGER_BITS: dict[type[DataType], int] = {
    TinyIntType: 8,
    SmallIntType: 16,
    IntType: 32,
    BigIntType: 64,
}


def _is_compared_exactly(left: DataType, right: DataType) -> bool:
    """Return whether a DECIMAL has all digits of two; if not, Flink's `=` rounds both."""
    if not isinstance(left, DecimalType) or not isinstance(right, DecimalType):
        return True
    common = common_decimal(left, right)
    return common.scale == max(left.scale, right.scale)


def constant_value(constant: Typed, type_: DataType) -> Any:
    """Return a constant as a column's value; None where they compare otherwise, and for NULL."""
    if not isinstance(constant, Constant) or not isinstance(constant.literal, Literal):
        return None
    text = constant.literal.text
    match type_, constant.literal.kind:
        case BooleanType(), LiteralKind.BOOLEAN:
            return text == "TRUE"
        case _, LiteralKind.EXACT if type(type_) in INTEGER_BITS:
            return int(text) if type(constant.type) in INTEGER_BITS else None
        case DecimalType(), LiteralKind.EXACT:
            return Decimal(text)
        case DoubleType(), LiteralKind.EXACT | LiteralKind.APPROXIMATE:
            return float(text)
        case VarCharType(length=length), LiteralKind.STRING if length == MAX_LENGTH:
            return text
        case DateType(), LiteralKind.DATE:
            return dt.date.fromisoformat(text)
        case TimestampType(), LiteralKind.TIMESTAMP if constant.literal.charset is None:
            digits = len(text.partition(".")[2])
            return dt.datetime.fromisoformat(text) if digits <= MICROSECONDS else None
        case _:
            return None
