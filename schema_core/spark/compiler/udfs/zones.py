"""Time zones with the rules of java.util.TimeZone, which has no transitions before 1900."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schema_core.base.lazy import regex

#: Java's three-letter zone names that the tz database lacks or maps to another zone.
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
_CYCLE = 146_097 * 86_400
#: Seconds within which no zone returns to an offset: the shortest such time are the four days of
#: Africa/Freetown in September 1939.
BLOCK = 1 << 18
#: 2400-03-01, from which on datetimes stand for those of the same place in later cycles.
CYCLED_TO = 951_782_400 + _CYCLE
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

    Later ones are moved to the years from 2400 on, in which the rules of today hold.
    """
    cycles = 0
    if not -62_000_000_000 < seconds < 253_000_000_000:
        cycles = (seconds - CYCLED_TO) // _CYCLE
    return (_EPOCH + dt.timedelta(seconds=seconds - cycles * _CYCLE)).replace(tzinfo=None)


def _offset(value: dt.datetime) -> int:
    """Return the offset of an aware datetime from UTC, in seconds."""
    return int((value.utcoffset() or dt.timedelta()).total_seconds())


def _offset_in(zone: dt.tzinfo, local: dt.datetime) -> int:
    return _offset(local.replace(tzinfo=zone))


@lru_cache(maxsize=200)
def standard_offset(name: str) -> int:
    """Return the offset of a zone's current standard time from UTC, in seconds.

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
    """Return the offset from UTC at an instant, in seconds: that of standard time before 1900.

    >>> util_offset("America/New_York", -5_000_000_000), util_offset("Europe/Berlin", 1594000000)
    (-18000, 7200)
    """
    if seconds < FIRST:
        return standard_offset(name)
    known = _offset_of_block(name, seconds // BLOCK)
    return _offset_at(name, seconds) if known is None else known


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
    """Return the instant of a local time in seconds since 1970; in an overlap, of standard time.

    >>> util_instant("America/New_York", 1604194200) - 1604194200  # 2020-11-01 01:30, twice
    18000
    """
    if seconds < FIRST + util_offset(name, FIRST):
        return seconds - standard_offset(name)
    known = _local_offset_of_block(name, seconds // BLOCK)
    return seconds - (_local_offset_at(name, seconds) if known is None else known)


@lru_cache(maxsize=20_000)
def _local_offset_of_block(name: str, block: int) -> int | None:
    """Return the offset in a block of local seconds, or None if it changes there."""
    first, last = (_local_offset_at(name, block * BLOCK + bound) for bound in (0, BLOCK - 1))
    return first if first == last else None


def _local_offset_at(name: str, seconds: int) -> int:
    zone, local = util_zone(name), _local_datetime(seconds)
    return min(_offset_in(zone, local), _offset_in(zone, local.replace(fold=1)))
