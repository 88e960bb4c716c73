"""Dates as days since 1970, and time zones, as java.util has them.

GregorianCalendar is Julian before 1582-10-15; TimeZone has no transitions before 1900.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schema_core.base.lazy import NamedTuple, regex

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

    All days of a year before 1582 are Julian.

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
    """Return week year and week of a day of `year`; weeks start on Sunday, and January 1 is in 1.

    >>> week_of(days_of(2020, 12, 31), 2020, days_of)
    (2021, 1)
    """
    following = calendar(year + 1, 1, 1)
    if days >= following - weekday_of(following):
        return year + 1, 1
    first = calendar(year, 1, 1)
    return year, (days - (first - weekday_of(first))) // 7 + 1


# --- time zones --------------------------------------------------------------------------------

#: Java's three-letter zone names that the tz database lacks or maps otherwise.
SHORT = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
    "CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}  # fmt: skip

_FIXED = regex(r"GMT([+-])(\d{1,2})(?::?([0-5]\d))?")

#: 1900-01-01, before which java.util.TimeZone has no transitions.
FIRST = -2_208_988_800
#: Seconds of 400 years, after which the calendar repeats.
CYCLE = 146_097 * 86_400
#: Local seconds from which on datetimes are beyond the years that libraries represent.
FIRST_CYCLED = 253_000_000_000
#: Seconds within which no zone returns to an offset; the shortest such time are four days of
#: Africa/Freetown in September 1939.
BLOCK = 1 << 18
#: 2400-03-01, from which datetimes stand for the same place in later cycles.
CYCLED_TO = 951_782_400 + CYCLE
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@lru_cache(maxsize=200)
def util_zone(name: str) -> dt.tzinfo:
    """Return the zone of a name as java.util.TimeZone resolves it; unknown names are GMT.

    >>> util_zone("GMT+8").utcoffset(None)
    datetime.timedelta(seconds=28800)
    """
    if fixed := _FIXED.fullmatch(name):
        hours, minutes = int(fixed[2]), int(fixed[3] or 0)
        if hours > 23:
            return dt.UTC
        size = dt.timedelta(hours=hours, minutes=minutes)
        return dt.timezone(-size if fixed[1] == "-" else size)
    try:
        return ZoneInfo(SHORT.get(name, name)) if name else dt.UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return dt.UTC


def _local_datetime(seconds: int) -> dt.datetime:
    """Return the datetime of seconds since 1970, moved by 400-year cycles into Python's range.

    Later ones become years from 2400 on, with today's rules.
    """
    cycles = 0
    if not -62_000_000_000 < seconds < FIRST_CYCLED:
        cycles = (seconds - CYCLED_TO) // CYCLE
    return (_EPOCH + dt.timedelta(seconds=seconds - cycles * CYCLE)).replace(tzinfo=None)


def _offset(value: dt.datetime) -> int:
    return int((value.utcoffset() or dt.timedelta()).total_seconds())


def _offset_in(zone: dt.tzinfo, local: dt.datetime) -> int:
    return _offset(local.replace(tzinfo=zone))


@lru_cache(maxsize=200)
def standard_offset(name: str) -> int:
    """Return the seconds of a zone's current standard offset.

    >>> standard_offset("America/New_York")
    -18000
    """
    zone = util_zone(name)
    for month in (1, 7):
        value = dt.datetime(2035, month, 1, tzinfo=zone)
        if not value.dst():
            break
    return _offset(value)


def util_offset(name: str, seconds: int) -> int:
    """Return the offset at an instant, in seconds; before 1900 of standard time.

    >>> util_offset("America/New_York", -5_000_000_000), util_offset("Europe/Berlin", 1594000000)
    (-18000, 7200)
    """
    if seconds < FIRST:
        return standard_offset(name)
    constant = _offset_of_block(name, seconds // BLOCK)
    return _offset_at(name, seconds) if constant is None else constant


@lru_cache(maxsize=20_000)
def _offset_of_block(name: str, block: int) -> int | None:
    """Return the offset in a block of seconds since 1970, or None if it changes there."""
    first, last = (_offset_at(name, block * BLOCK + bound) for bound in (0, BLOCK - 1))
    return first if first == last else None


def _offset_at(name: str, seconds: int) -> int:
    return _offset(_local_datetime(seconds).replace(tzinfo=dt.UTC).astimezone(util_zone(name)))


def util_name(name: str, seconds: int) -> str:
    """Return the abbreviation of a zone at an instant.

    >>> util_name("America/New_York", 1594000000)
    'EDT'
    """
    value = _local_datetime(seconds).replace(tzinfo=dt.UTC).astimezone(util_zone(name))
    return value.tzname() or name


def util_instant(name: str, seconds: int) -> int:
    """Return the instant of local seconds since 1970; in an overlap, of standard time.

    >>> util_instant("America/New_York", 1604194200) - 1604194200  # 2020-11-01 01:30, twice
    18000
    """
    if seconds < FIRST + util_offset(name, FIRST):
        return seconds - standard_offset(name)
    offset = _local_offset_of_block(name, seconds // BLOCK)
    return seconds - (_local_offset_at(name, seconds) if offset is None else offset)


@lru_cache(maxsize=20_000)
def _local_offset_of_block(name: str, block: int) -> int | None:
    first, last = (_local_offset_at(name, block * BLOCK + bound) for bound in (0, BLOCK - 1))
    return first if first == last else None


def _local_offset_at(name: str, seconds: int) -> int:
    zone, local = util_zone(name), _local_datetime(seconds)
    return min(_offset_in(zone, local), _offset_in(zone, local.replace(fold=1)))
