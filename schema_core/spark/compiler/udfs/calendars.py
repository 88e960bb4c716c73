"""Dates as days since 1970, in the proleptic Gregorian calendar and in Java's hybrid calendar.

Java's GregorianCalendar is Julian before 1582-10-15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

#: 1582-10-15, the first Gregorian day, in days since 1970.
CUTOVER = -141427


class Date(NamedTuple):
    """A date; the year before 1 is 0."""

    year: int
    month: int
    day: int


def days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a Gregorian date; month and day may be out of range.

    >>> days_of(1970, 1, 1), days_of(1969, 13, 32)
    (0, 31)
    """
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    y = year - (month <= 2)
    months = 153 * ((month + 9) % 12) + 2
    return 365 * y + y // 4 - y // 100 + y // 400 + months // 5 + day - 1 - 719468


def date_of(days: int) -> Date:
    """Return the Gregorian date.

    >>> date_of(-719528)
    Date(year=0, month=1, day=1)
    """
    cycles, day = divmod(days + 719468, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    return _from_march(year + 400 * cycles, day)


def _from_march(year: int, day: int) -> Date:
    """Return the date of a day counted from March 1 of a year."""
    month = (5 * day + 2) // 153
    return Date(year + (month >= 10), (month + 2) % 12 + 1, day - (153 * month + 2) // 5 + 1)


def julian_days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a Julian date."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    y = year - (month <= 2)
    return 365 * y + y // 4 + (153 * ((month + 9) % 12) + 2) // 5 + day - 1 - 719470


def julian_date_of(days: int) -> Date:
    """Return the Julian date."""
    cycles, day = divmod(days + 719470, 1461)
    year = min(day // 365, 3)
    return _from_march(year + 4 * cycles, day - 365 * year)


def java_days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a date of Java's calendar; the ten skipped days overflow.

    The days of a year before 1582 are Julian ones, however many they are.

    >>> java_days_of(1582, 10, 14) == days_of(1582, 10, 24), java_days_of(1, 1, 1)
    (True, -719164)
    """
    days = days_of(year, month, day)
    return days if year >= 1582 and days >= CUTOVER else julian_days_of(year, month, day)


def java_date_of(days: int) -> Date:
    """Return the date of Java's calendar.

    >>> java_date_of(-719162)
    Date(year=1, month=1, day=3)
    """
    return date_of(days) if days >= CUTOVER else julian_date_of(days)


# --- the fields of date patterns ------------------------------------------------------------------

#: Days since 1970 of a day: `days_of` or `java_days_of`.
Calendar: TypeAlias = Callable[[int, int, int], int]


def weekday_of(days: int) -> int:
    """Return the day of the week, 0 for Sunday."""
    return (days + 4) % 7


def week_of(days: int, year: int, calendar: Calendar) -> tuple[int, int]:
    """Return the week year and week of a day of `year`, by weeks from Sunday with January 1 in 1.

    >>> week_of(days_of(2020, 12, 31), 2020, days_of)
    (2021, 1)
    """
    following = calendar(year + 1, 1, 1)
    if days >= following - weekday_of(following):
        return year + 1, 1
    first = calendar(year, 1, 1)
    return year, (days - (first - weekday_of(first))) // 7 + 1
