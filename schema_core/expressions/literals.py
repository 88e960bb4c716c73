"""Literals: the SQL literal for a Python value, and the type of a literal."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from schema_core import types
from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, show
from schema_core.errors import SchemaError
from schema_core.expressions.typed import Constant
from schema_core.sql import syntax
from schema_core.sql.syntax import Call, Interval, Literal, LiteralKind

#: The Python values that have a literal.
PythonValue: TypeAlias = (
    bool | int | float | Decimal | str | bytes | bytearray | date | time | timedelta
    | list[Any] | tuple[Any, ...] | dict[Any, Any] | None
)  # fmt: skip

# --- Python values --------------------------------------------------------------------------------


def literal(value: object) -> syntax.Expression:
    """The literal for a Python value; a list becomes an array, a dictionary a map.

    Raises:
        SchemaError: with code `not-in-sql` for a value without a literal, or `limit-exceeded`.

    >>> from schema_core.sql.printer import print_expression
    >>> print(print_expression(literal([Decimal("1.50"), None])))
    ARRAY[1.50, NULL]
    """
    return _literal(value, 0)


def _literal(value: object, depth: int) -> syntax.Expression:
    if depth > MAX_DEPTH:
        raise SchemaError(
            f"a value is nested more than {MAX_DEPTH} levels deep", code="limit-exceeded"
        )
    match value:
        case None:
            return Literal(LiteralKind.NULL, "NULL")
        case bool():
            return Literal(LiteralKind.BOOLEAN, str(value).upper())
        case int() if abs(value) < 10**MAX_DIGITS:
            return Literal(LiteralKind.EXACT, str(value))
        case float() if math.isfinite(value):
            mantissa, _, exponent = f"{Decimal(repr(value)):E}".partition("E")
            return Literal(LiteralKind.APPROXIMATE, f"{mantissa}E{int(exponent)}")
        case Decimal() if value.is_finite() and abs(value.adjusted()) < MAX_DIGITS:
            return Literal(LiteralKind.EXACT, f"{value:f}")
        case str():
            return Literal(LiteralKind.STRING, value)
        case bytes() | bytearray():
            return Literal(LiteralKind.BINARY, value.hex().upper())
        case timedelta():
            return _interval(value)
        case date() | time():
            return _datetime(value)
        case list() | tuple():
            return Call("ARRAY", tuple(_literal(element, depth + 1) for element in value))
        case dict():
            pairs = (token for pair in value.items() for token in pair)
            return Call("MAP", tuple(_literal(pair, depth + 1) for pair in pairs))
        case _:
            raise SchemaError(f"SQL has no literal for {show(value)}", code="not-in-sql")


def _datetime(value: date | time) -> Literal:
    if isinstance(value, datetime | time) and value.tzinfo is not None:
        raise SchemaError(
            f"SQL has no literal for {show(value)}, which has a time zone",
            code="not-in-sql",
            hint="remove the time zone, or cast a string to TIMESTAMP_LTZ",
        )
    kinds = {datetime: LiteralKind.TIMESTAMP, date: LiteralKind.DATE, time: LiteralKind.TIME}
    text = value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    return Literal(next(kind for base, kind in kinds.items() if isinstance(value, base)), text)


def _interval(value: timedelta) -> Interval:
    """An interval of days to seconds."""
    size = abs(value)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{size.microseconds:06}".rstrip("0").rstrip(".")
    text = f"{size.days} {hours:02}:{minutes:02}:{seconds:02}{fraction}"
    leading = len(str(size.days)) if size.days > 99 else None
    return Interval(text, "DAY", "SECOND", leading, negative=value < timedelta(0))


# --- the types of literals ------------------------------------------------------------------------

INT_RANGE = range(-(2**31), 2**31)
BIGINT_RANGE = range(-(2**63), 2**63)
#: All other units are of day-time intervals.
MONTH_UNITS = frozenset({"YEAR", "QUARTER", "MONTH"})


def constant(literal: Literal | Interval) -> Constant:
    """A literal with its type, NOT NULL except for NULL and UNKNOWN.

    Raises:
        SchemaError: with code `invalid-literal`.
    """
    type_ = interval_type(literal) if isinstance(literal, Interval) else literal_type(literal)
    return Constant(literal, type_, literal.span)


def literal_type(literal: Literal) -> types.DataType:
    """The type of a literal.

    >>> [str(literal_type(Literal(LiteralKind.EXACT, text))) for text in ("12", "0.50")]
    ['INT NOT NULL', 'DECIMAL(3, 2) NOT NULL']
    """
    match literal.kind:
        case LiteralKind.NULL:
            return types.NullType()
        case LiteralKind.BOOLEAN:
            return types.BooleanType(nullable=False)
        case LiteralKind.UNKNOWN:
            return types.BooleanType()
        case LiteralKind.EXACT:
            return _exact(literal)
        case LiteralKind.APPROXIMATE:
            if math.isinf(float(literal.text)):
                raise _out_of_range(literal)
            return types.DoubleType(nullable=False)
        case LiteralKind.STRING:
            units = len(literal.text.encode("utf-16-le", "surrogatepass")) // 2
            return types.CharType(nullable=False).with_length(units)
        case LiteralKind.BINARY:
            return types.BinaryType(nullable=False).with_length(len(literal.text) // 2)
        case LiteralKind.DATE:
            return types.DateType(nullable=False)
        case LiteralKind.TIME:
            return types.TimeType(min(_fraction(literal.text), 3), nullable=False)
        case LiteralKind.TIMESTAMP:
            local = literal.charset == "LOCAL"
            kind = types.LocalZonedTimestampType if local else types.TimestampType
            return kind(_fraction(literal.text), nullable=False)


def _exact(literal: Literal) -> types.DataType:
    """The smaller of INT and BIGINT that holds an integer, or a decimal of all digits.

    The digits without the decimal point must fit 64 bits (a rule of Calcite).
    """
    value = Decimal(literal.text)
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    scale = -exponent if isinstance(exponent, int) else 0
    if unscaled not in BIGINT_RANGE:
        raise _out_of_range(literal)
    if scale > 0:
        precision = len(literal.text.lstrip("-").replace(".", ""))
        return types.DecimalType(max(precision, scale), scale, nullable=False)
    return (
        types.IntType(nullable=False) if unscaled in INT_RANGE else types.BigIntType(nullable=False)
    )


def _out_of_range(literal: Literal) -> SchemaError:
    return SchemaError(
        f"the number {literal.text} is out of range",
        code="invalid-literal",
        span=literal.span,
        hint="write it as a string and CAST it to DECIMAL",
    )


def _fraction(text: str) -> int:
    """The number of fractional digits of a second."""
    _, _, fraction = text.partition(".")
    return min(len(fraction.strip()), 9)


def interval_type(interval: Interval) -> types.DataType:
    """The type of an interval: SQL's fields are all months or milliseconds."""
    if interval.unit in MONTH_UNITS:
        return types.YearMonthIntervalType(types.YearMonthResolution.MONTH, nullable=False)
    return types.DayTimeIntervalType(
        types.DayTimeResolution.SECOND, fractional_precision=3, nullable=False
    )
