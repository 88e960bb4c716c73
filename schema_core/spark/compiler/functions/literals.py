"""Constants in Spark's words, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable

from schema_core.spark.compiler.sql_builder import sql_type, string, unsupported
from schema_core.sql.syntax import Interval, Literal, LiteralKind
from schema_core.types import (
    AnyTimestampType,
    DataType,
    IntType,
    TimeType,
    YearMonthIntervalType,
)

#: Milliseconds of the units of an interval, and months.
MILLIS = {
    "WEEK": 604_800_000,
    "DAY": 86_400_000,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1000,
}
MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


def constant(literal: Literal | Interval, type_: DataType) -> str:
    """A literal of a type.

    >>> from schema_core.types import parse_type
    >>> constant(Literal(LiteralKind.EXACT, "1.50"), parse_type("DECIMAL(3, 2) NOT NULL"))
    'CAST(1.50 AS DECIMAL(3, 2))'
    """
    if isinstance(literal, Interval):
        count = interval(literal, type_)
        return str(count) if isinstance(type_, YearMonthIntervalType) else f"{count}L"
    return KINDS[literal.kind](literal.text, type_)


def interval(literal: Interval, type_: DataType) -> int:
    """An interval as its number of months or milliseconds.

    >>> from schema_core.types import parse_type
    >>> interval(Interval("1 02:03", "DAY", "MINUTE"), parse_type("INTERVAL DAY TO MINUTE"))
    93780000
    """
    text = literal.text.strip()
    sign = -1 if literal.negative != text.startswith("-") else 1
    numbers = re.split(r"[- :]", text.lstrip("+-").strip())
    if isinstance(type_, YearMonthIntervalType):
        months = [12, 1] if literal.to else [MONTHS[literal.unit]]
        return sign * sum(
            int(number) * month for number, month in zip(numbers, months, strict=True)
        )
    first = _UNITS.index(literal.unit) if literal.unit in _UNITS else 0
    units = [MILLIS[unit] for unit in _UNITS[first : first + len(numbers)]]
    if literal.unit not in _UNITS:
        units = [MILLIS[literal.unit]]
    return sign * sum(_scaled(n, unit) for n, unit in zip(numbers, units, strict=True))


def _scaled(number: str, unit: int) -> int:
    """A number of a unit in milliseconds; a fraction is that of a second, cut to three digits."""
    whole, _, fraction = number.partition(".")
    return int(whole or "0") * unit + int((fraction + "000")[:3])


def _timestamp(text: str, type_: DataType) -> str:
    precision = type_.precision if isinstance(type_, AnyTimestampType) else 0
    if precision > 6 and len(text.partition(".")[2].rstrip("0")) > 6:
        raise unsupported(f"TIMESTAMP {text!r} has more digits than Spark keeps")
    return _padded("TIMESTAMP_NTZ", text)


def _padded(keyword: str, text: str) -> str:
    year, _, rest = text.strip().partition("-")
    return f"{keyword}{string(f'{year:0>4}-{rest}')}"


#: Kind -> the literal from its text and type.
KINDS: dict[LiteralKind, Callable[[str, DataType], str]] = {
    LiteralKind.NULL: lambda _, type_: f"CAST(NULL AS {sql_type(type_)})",
    LiteralKind.UNKNOWN: lambda _, type_: "CAST(NULL AS BOOLEAN)",
    LiteralKind.BOOLEAN: lambda text, _: text.upper(),
    LiteralKind.EXACT: lambda text, type_: (
        text if isinstance(type_, IntType) else f"CAST({text} AS {sql_type(type_)})"
    ),
    LiteralKind.APPROXIMATE: lambda text, type_: f"CAST({string(text)} AS {sql_type(type_)})",
    LiteralKind.STRING: lambda text, _: string(text),
    LiteralKind.BINARY: lambda text, _: f"X'{text}'",
    LiteralKind.DATE: lambda text, _: _padded("DATE", text),
    LiteralKind.TIME: lambda text, type_: (
        f"CAST(TIME{string(text)} AS {sql_type(type_)})" if isinstance(type_, TimeType) else text
    ),
    LiteralKind.TIMESTAMP: _timestamp,
}
