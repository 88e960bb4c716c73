"""Constants as Spark nodes, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from schema_core.spark.compiler.functions.temporal.nanoseconds import make_nanosecond_struct
from schema_core.spark.compiler.tree import NULL, Cast, Literal, Node
from schema_core.spark.compiler.value_types import is_fine, sql_type
from schema_core.sql import syntax
from schema_core.sql.syntax import Interval, LiteralKind
from schema_core.types import (
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


def constant(literal: syntax.Literal | Interval, type_: DataType) -> Node:
    """Return the node of a literal of a type.

    >>> from schema_core.spark.compiler.printer import to_sql
    >>> from schema_core.types import parse_type
    >>> exact = syntax.Literal(LiteralKind.EXACT, "1.50")
    >>> to_sql(constant(exact, parse_type("DECIMAL(3, 2) NOT NULL")))
    'CAST(1.50 AS DECIMAL(3, 2))'
    """
    if isinstance(literal, Interval):
        count = interval(literal, type_)
        is_months = isinstance(type_, YearMonthIntervalType)
        return Literal(count) if is_months else Literal(str(count), "L")
    return KINDS[literal.kind](literal.text, type_)


def interval(literal: Interval, type_: DataType) -> int:
    """Return an interval as its number of months or milliseconds.

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
    return sign * sum(_to_millis(n, unit) for n, unit in zip(numbers, units, strict=True))


def _to_millis(number: str, unit: int) -> int:
    """Return a number of a unit in milliseconds; a fraction is that of a second, in 3 digits."""
    integer, _, fraction = number.partition(".")
    return int(integer or "0") * unit + int((fraction + "000")[:3])


def _exact(text: str, type_: DataType) -> Node:
    if isinstance(type_, IntType):
        return Literal(int(Decimal(text)))
    return Cast(Literal(text, "NUMBER"), sql_type(type_))


def _time(text: str, type_: DataType) -> Node:
    precise = Literal(text, "TIME")
    return Cast(precise, sql_type(type_)) if isinstance(type_, TimeType) else precise


def _timestamp(text: str, type_: DataType) -> Node:
    if not is_fine(type_):
        return _padded_datetime("TIMESTAMP_NTZ", text)
    second, _, fraction = text.partition(".")
    digits = fraction.ljust(9, "0")
    return make_nanosecond_struct(
        _padded_datetime("TIMESTAMP_NTZ", f"{second}.{digits[:6]}"), int(digits[6:9])
    )


def _padded_datetime(keyword: str, text: str) -> Node:
    year, _, rest = text.strip().partition("-")
    return Literal(f"{year:0>4}-{rest}", keyword)


#: Kind -> the node of a literal's text and type.
KINDS: dict[LiteralKind, Callable[[str, DataType], Node]] = {
    LiteralKind.NULL: lambda _, type_: Cast(NULL, sql_type(type_)),
    LiteralKind.UNKNOWN: lambda _, type_: Cast(NULL, "BOOLEAN"),
    LiteralKind.BOOLEAN: lambda text, _: Literal(text.upper() == "TRUE"),
    LiteralKind.EXACT: _exact,
    LiteralKind.APPROXIMATE: lambda text, type_: Cast(Literal(text), sql_type(type_)),
    LiteralKind.STRING: lambda text, _: Literal(text),
    LiteralKind.BINARY: lambda text, _: Literal(text, "X"),
    LiteralKind.DATE: lambda text, _: _padded_datetime("DATE", text),
    LiteralKind.TIME: _time,
    LiteralKind.TIMESTAMP: _timestamp,
}
