"""Intervals as numbers of months or milliseconds."""

from __future__ import annotations

import re

from schema_core.sql.syntax import Interval
from schema_core.types import DataType, YearMonthIntervalType

#: Unit -> its milliseconds or months.
MILLIS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 7 * 86_400_000,
}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}

#: The units of a qualifier such as DAY TO SECOND, in order.
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


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
    """Return a number of a unit in milliseconds; it keeps 3 digits of its fraction."""
    integer, _, fraction = number.partition(".")
    return int(integer or "0") * unit + int((fraction + "000")[:3])
