"""Python values as literals of SQL."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from schema_core.errors import SchemaError
from schema_core.sql import syntax
from schema_core.sql.syntax import Call, Interval, Literal, LiteralKind
from schema_core.text import MAX_DEPTH, MAX_DIGITS, show


def literal(value: Any) -> syntax.Expression:
    """The literal for a Python value; lists become arrays, dictionaries maps.

    Raises:
        SchemaError: with code `value-not-in-sql` for a value that SQL has no literal for,
            `too-deep` for lists and dictionaries within one another.

    >>> from schema_core.sql.printer import print_expression
    >>> print(print_expression(literal([Decimal("1.50"), None])))
    ARRAY[1.50, NULL]
    """
    return _literal(value, 0)


def _literal(value: Any, depth: int) -> syntax.Expression:
    if depth > MAX_DEPTH:
        raise SchemaError(f"a value is nested more than {MAX_DEPTH} levels deep", code="too-deep")
    match value:
        case None:
            return Literal(LiteralKind.NULL, "NULL")
        case bool():
            return Literal(LiteralKind.BOOLEAN, str(value).upper())
        case int():
            return _integer(value)
        case float() | Decimal():
            return _fractional(value)
        case str():
            return Literal(LiteralKind.STRING, value)
        case bytes() | bytearray():
            return Literal(LiteralKind.BINARY, value.hex().upper())
        case timedelta():
            return _duration(value)
        case date() | time():
            return _moment(value)
        case list() | tuple():
            return Call("ARRAY", tuple(_literal(one, depth + 1) for one in value))
        case dict():
            pairs = (one for pair in value.items() for one in pair)
            return Call("MAP", tuple(_literal(one, depth + 1) for one in pairs))
        case _:
            raise _none_for(value)


def _none_for(value: object) -> SchemaError:
    return SchemaError(f"SQL has no literal for {show(value)}", code="value-not-in-sql")


def _integer(value: int) -> Literal:
    if abs(value) >= 10**MAX_DIGITS:
        raise _none_for(value)
    return Literal(LiteralKind.EXACT, str(value))


def _fractional(value: float | Decimal) -> Literal:
    if isinstance(value, float):
        if value - value != 0:  # an infinity or not a number
            raise _none_for(value)
        mantissa, _, exponent = f"{Decimal(repr(value)):E}".partition("E")
        return Literal(LiteralKind.APPROXIMATE, f"{mantissa}E{int(exponent)}")
    if not value.is_finite() or abs(value.adjusted()) >= MAX_DIGITS:
        raise _none_for(value)
    return Literal(LiteralKind.EXACT, f"{value:f}")


def _moment(value: date | time) -> Literal:
    if isinstance(value, datetime | time) and value.tzinfo is not None:
        raise SchemaError(
            f"SQL has no literal for {show(value)}, which has a time zone",
            code="value-not-in-sql",
            hint="take the zone away, or cast a text to TIMESTAMP_LTZ",
        )
    kinds = {datetime: LiteralKind.TIMESTAMP, date: LiteralKind.DATE, time: LiteralKind.TIME}
    text = value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    return Literal(next(kind for base, kind in kinds.items() if isinstance(value, base)), text)


def _duration(value: timedelta) -> Interval:
    """Days, hours, minutes and seconds of an interval, which keeps its milliseconds."""
    size = abs(value)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{size.microseconds:06}".rstrip("0").rstrip(".")
    text = f"{size.days} {hours:02}:{minutes:02}:{seconds:02}{fraction}"
    leading = len(str(size.days)) if size.days > 99 else None
    return Interval(text, "DAY", "SECOND", leading, negative=value < timedelta(0))
