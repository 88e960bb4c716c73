"""The types of literals: how one was written decides its type."""

from __future__ import annotations

import math
from decimal import Decimal

from schema_core.errors import SchemaError
from schema_core.expressions.typed import Constant
from schema_core.sql.syntax import Interval, Literal, LiteralKind
from schema_core.types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DayTimeResolution,
    DecimalType,
    DoubleType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
    YearMonthResolution,
)

INT_RANGE = range(-(2**31), 2**31)
BIGINT_RANGE = range(-(2**63), 2**63)
#: Units whose intervals are months; all others are milliseconds.
MONTH_UNITS = frozenset({"YEAR", "QUARTER", "MONTH"})


def constant(literal: Literal | Interval) -> Constant:
    """A literal with its type; all but NULL and UNKNOWN are NOT NULL.

    Raises:
        SchemaError: with code `number-out-of-range` for a number that Flink has no literal for.
    """
    type_ = interval_type(literal) if isinstance(literal, Interval) else literal_type(literal)
    return Constant(literal, type_, literal.span)


def literal_type(literal: Literal) -> DataType:
    """The type of a literal.

    >>> [str(literal_type(Literal(LiteralKind.EXACT, text))) for text in ("12", "0.50")]
    ['INT NOT NULL', 'DECIMAL(3, 2) NOT NULL']
    """
    match literal.kind:
        case LiteralKind.NULL:
            return NullType()
        case LiteralKind.BOOLEAN:
            return BooleanType(nullable=False)
        case LiteralKind.UNKNOWN:
            return BooleanType()
        case LiteralKind.EXACT:
            return _exact(literal)
        case LiteralKind.APPROXIMATE:
            if math.isinf(float(literal.text)):
                raise _out_of_range(literal)
            return DoubleType(nullable=False)
        case LiteralKind.STRING:
            units = len(literal.text.encode("utf-16-le", "surrogatepass")) // 2
            return CharType(nullable=False).with_length(units)
        case LiteralKind.BINARY:
            return BinaryType(nullable=False).with_length(len(literal.text) // 2)
        case LiteralKind.DATE:
            return DateType(nullable=False)
        case LiteralKind.TIME:
            return TimeType(min(_fraction(literal.text), 3), nullable=False)
        case LiteralKind.TIMESTAMP:
            local = literal.charset == "LOCAL"
            kind = LocalZonedTimestampType if local else TimestampType
            return kind(_fraction(literal.text), nullable=False)


def _exact(literal: Literal) -> DataType:
    """A whole number as small as may be, or a decimal of all digits that were written.

    Without its point a number must fit 64 bits, which is a rule of Calcite's.
    """
    value = Decimal(literal.text)
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    scale = -exponent if isinstance(exponent, int) else 0
    if unscaled not in BIGINT_RANGE:
        raise _out_of_range(literal)
    if scale > 0:
        written = len(literal.text.lstrip("-").replace(".", ""))
        return DecimalType(max(written, scale), scale, nullable=False)
    return IntType(nullable=False) if unscaled in INT_RANGE else BigIntType(nullable=False)


def _out_of_range(literal: Literal) -> SchemaError:
    return SchemaError(
        f"the number {literal.text} is out of range",
        code="number-out-of-range",
        span=literal.span,
        hint="write it as a string and CAST it to DECIMAL",
    )


def _fraction(text: str) -> int:
    """How many digits of a second a point in time was written with."""
    _, _, fraction = text.partition(".")
    return min(len(fraction.strip()), 9)


def interval_type(interval: Interval) -> DataType:
    """The type of an interval or of its unit alone: months or milliseconds, whatever the fields."""
    if interval.unit in MONTH_UNITS:
        return YearMonthIntervalType(YearMonthResolution.MONTH, nullable=False)
    return DayTimeIntervalType(DayTimeResolution.SECOND, fractional_precision=3, nullable=False)
