"""Formatting and lenient parsing by patterns of SimpleDateFormat, in Java's hybrid calendar.

Used by FROM_UNIXTIME, UNIX_TIMESTAMP, TO_DATE with a pattern, and CONVERT_TZ.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from schema_core.expressions.date_patterns import (
    DAYS,
    MONTHS,
    Part,
    PatternError,
    parse_simple_pattern,
)
from schema_core.spark.compiler.udfs.calendars import (
    date_of,
    days_of,
    java_date_of,
    java_days_of,
    numeric_fields,
    week_of,
    weekday_of,
)
from schema_core.spark.compiler.udfs.errors import UdfError
from schema_core.spark.compiler.udfs.zones import util_instant, util_name, util_offset

#: The result for a string that cannot be parsed: Long.MIN_VALUE milliseconds.
UNPARSEABLE = -(2**63)


def _parts_of(pattern: str) -> tuple[Part, ...]:
    """Return the parts of a pattern.

    Raises:
        UdfError: for a pattern that Java rejects.
    """
    try:
        return parse_simple_pattern(pattern)
    except PatternError as error:
        raise UdfError(f"invalid pattern {pattern!r}: {error}") from None


# --- formatting ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ZonedTime:
    """The local date and time of an instant in a time zone, in Java's calendar."""

    days: int
    millis: int
    offset: int
    zone: str = "UTC"


def zoned_time(millis: int, zone: str) -> ZonedTime:
    """Return the local time in a zone, of milliseconds since 1970."""
    offset = util_offset(zone, millis // 1000)
    days, rest = divmod(millis + offset * 1000, 86_400_000)
    return ZonedTime(days, rest, offset, util_name(zone, millis // 1000))


def _number(value: int, count: int) -> str:
    return f"{value:0{count}}"


def _year(year: int, count: int) -> str:
    year = year if year > 0 else 1 - year
    return f"{year % 100:02}" if count == 2 else _number(year, count)


def _offset_text(offset: int, count: int) -> str:
    """Format an offset by ISO 8601: Z, +01, +0100 or +01:00."""
    if offset == 0:
        return "Z"
    sign, size = "-" if offset < 0 else "+", abs(offset) // 60
    hours, minutes = f"{size // 60:02}", f"{size % 60:02}"
    return sign + hours + {1: "", 2: minutes, 3: f":{minutes}"}[count]


def _format_part(part: Part, local: ZonedTime) -> str:
    year, month, day = java_date_of(local.days)
    count = part.count
    match part.letter:
        case "'":
            return part.text
        case "y":
            return _year(year, count)
        case "Y":
            return _year(week_of(local.days, year, java_days_of)[0], count)
        case "M" | "L" if count > 2:
            return MONTHS[month - 1] if count > 3 else MONTHS[month - 1][:3]
        case "E":
            name = DAYS[weekday_of(local.days)]
            return name if count > 3 else name[:3]
        case "G":
            return "AD" if year > 0 else "BC"
        case "a":
            return "AM" if local.millis < 43_200_000 else "PM"
        case "X" if count <= 3:
            return _offset_text(local.offset, count)
        case "z" if count < 4:
            return local.zone
        case "Z":
            return _offset_text(local.offset, 2) if local.offset else "+0000"
    numbers = {
        **numeric_fields(java_date_of(local.days), local.days, local.millis // 1000, java_days_of),
        "S": local.millis % 1000, "F": (day - 1) // 7 + 1, "u": (local.days + 3) % 7 + 1,
    }  # fmt: skip
    if part.letter not in numbers:
        raise UdfError(f"the pattern letter {part.letter} is not supported in formatting")
    return _number(numbers[part.letter], count)


def simple_format(seconds: int | None, pattern: str | None, zone: str) -> str | None:
    """Return FROM_UNIXTIME: seconds since 1970, formatted by a pattern.

    Raises:
        UdfError: for a pattern that Java rejects.

    >>> simple_format(44, "yyyy-MM-dd HH:mm:ss", "UTC")
    '1970-01-01 00:00:44'
    """
    if seconds is None or pattern is None:
        return None
    local = zoned_time(_long(seconds * 1000), zone)
    return "".join(_format_part(part, local) for part in _parts_of(pattern))


def _long(value: int) -> int:
    """Wrap an integer to 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


# --- parsing -------------------------------------------------------------------------------------


@dataclass(slots=True)
class SimpleDateParser:
    """A string, the position up to which it is parsed, and the fields; of equals, the last one."""

    text: str
    position: int = 0
    found: dict[str, int] = field(default_factory=dict)

    def set(self, letter: str, value: int) -> None:
        self.found.pop(letter, None)
        self.found[letter] = value


def simple_parse(text: str | None, pattern: str | None, zone: str) -> int | None:
    """Parse a string by a pattern: milliseconds since 1970, or `UNPARSEABLE`.

    >>> simple_parse("2020-02-30", "yyyy-MM-dd", "UTC") == days_of(2020, 3, 1) * 86_400_000
    True
    """
    if text is None or pattern is None:
        return None
    parts = _parts_of(pattern)
    if unsupported := next((part.letter for part in parts if part.letter in "uFW"), None):
        raise UdfError(f"the pattern letter {unsupported} is not supported in parsing")
    parser = SimpleDateParser(text)
    for place, part in enumerate(parts):
        rest = parts[place + 1 :]
        abutting = bool(rest) and _is_number(rest[0])
        if not _parse_part(parser, part, abutting=abutting):
            return UNPARSEABLE
    return _millis_of(parser.found, zone) if parser.position else UNPARSEABLE


def _is_number(part: Part) -> bool:
    return part.letter in "yYdDFuHkKhmsSwW" or (part.letter in "ML" and part.count <= 2)


def _parse_part(parser: SimpleDateParser, part: Part, *, abutting: bool) -> bool:
    """Parse a part of the pattern; return False if the string does not match."""
    if part.letter == "'":
        matches = parser.text.startswith(part.text, parser.position)
        parser.position += len(part.text)
        return matches
    start = parser.position
    while parser.text[parser.position : parser.position + 1] in (" ", "\t"):
        parser.position += 1
    if parser.position >= len(parser.text):
        return False
    if _is_number(part):
        return _parse_number(parser, part, start, abutting=abutting)
    return PARSERS[part.letter](parser)


_DIGITS = re.compile(r"-?\d+")


def _parse_number(parser: SimpleDateParser, part: Part, start: int, *, abutting: bool) -> bool:
    """Parse a number; if another one is adjacent, of at most as many digits as letters."""
    end = start + part.count if abutting else len(parser.text)
    if end > len(parser.text):
        return False
    found = _DIGITS.match(parser.text, parser.position, end)
    if found is None:
        return False
    value = int(found[0])
    value = (value + 2**31) % 2**32 - 2**31 if abs(value) < 2**63 else -1
    if part.letter in "yY" and part.count <= 2 and re.fullmatch(r"\d\d", found[0]):
        value += 2000 if value < _century() else 1900
    letter = {"L": "M", "k": "H", "h": "K"}.get(part.letter, part.letter)
    if (part.letter, value) in (("k", 24), ("h", 12)):
        value = 0
    parser.position = found.end()
    parser.set(letter, value)
    return True


def _century() -> int:
    """Return the pivot of two-digit years: from 80 years before to 20 years after today."""
    import datetime as dt

    return (dt.datetime.now(dt.UTC).year + 20) % 100


def _parse_name(
    letter: str, names: tuple[str, ...], first: int
) -> Callable[[SimpleDateParser], bool]:
    """Return the parser of a name, in full or as three letters, in any case."""

    def parse(parser: SimpleDateParser) -> bool:
        rest = parser.text[parser.position :].lower()
        for size in (None, 3):
            for index, name in enumerate(names):
                if rest.startswith(name[:size].lower()):
                    parser.position += len(name[:size])
                    parser.set(letter, index + first)
                    return True
        return False

    return parse


_ZONE = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d\d))?|GMT|UTC|Z", re.IGNORECASE)


def _parse_zone(parser: SimpleDateParser) -> bool:
    """Parse an offset from UTC, or a name of UTC."""
    found = _ZONE.match(parser.text, parser.position)
    if found is None:
        return False
    size = (int(found[2]) * 60 + int(found[3] or 0)) * 60 if found[1] else 0
    parser.set("Z", -size if found[1] == "-" else size)
    parser.position = found.end()
    return True


PARSERS: dict[str, Callable[[SimpleDateParser], bool]] = {
    "M": _parse_name("M", MONTHS, 1),
    "L": _parse_name("M", MONTHS, 1),
    "E": _parse_name("E", DAYS, 1),
    "G": _parse_name("G", ("BC", "AD"), 0),
    "a": _parse_name("a", ("AM", "PM"), 0),
    "z": _parse_zone,
    "Z": _parse_zone,
    "X": _parse_zone,
}


def _days_of_fields(found: dict[str, int]) -> int:
    """Return the day of the fields, by the kind of field that was parsed last."""
    year = found.get("y", 1970)
    year = year if found.get("G", 1) else 1 - year
    order = list(found)
    week = "w" in found and not ("d" in order and order.index("d") > order.index("w"))
    if "Y" in found and "d" not in found:
        year, week = found["Y"], True
    if week:
        start = java_days_of(year, 1, 1)
        return start - weekday_of(start) + (found.get("w", 1) - 1) * 7 + found.get("E", 1) - 1
    if "D" in found and "d" not in order[order.index("D") :]:
        return java_days_of(year, 1, 1) + found["D"] - 1
    return java_days_of(year, found.get("M", 1), found.get("d", 1))


def _millis_of(found: dict[str, int], zone: str) -> int:
    days = _days_of_fields(found)
    order = list(found)
    half = "K" in found and not ("H" in found and order.index("H") > order.index("K"))
    hour = found["K"] + 12 * found.get("a", 0) if half else found.get("H", 12 * found.get("a", 0))
    seconds = days * 86_400 + hour * 3600 + found.get("m", 0) * 60
    millis = (seconds + found.get("s", 0)) * 1000 + found.get("S", 0)
    seconds, rest = divmod(millis, 1000)
    if "Z" in found:
        return (seconds - found["Z"]) * 1000 + rest
    return util_instant(zone, seconds) * 1000 + rest


# --- functions -----------------------------------------------------------------------------------


def reformat_datetime(text: str | None, pattern: str | None) -> str | None:
    """Return DATE_FORMAT of a string; None if it is not a datetime.

    >>> reformat_datetime("2020-02-30 10:00:00", "dd.MM.yyyy")
    '01.03.2020'
    """
    millis = simple_parse(text, "yyyy-MM-dd HH:mm:ss", "UTC")
    if millis is None or millis == UNPARSEABLE or pattern is None:
        return None
    return simple_format(millis // 1000, pattern, "UTC")


def unix_timestamp(text: str | None, pattern: str | None, zone: str) -> int | None:
    """Return UNIX_TIMESTAMP: seconds truncated towards 1970, or `UNPARSEABLE`.

    >>> unix_timestamp("1970-01-01 00:00:01", "yyyy-MM-dd HH:mm:ss", "UTC")
    1
    """
    millis = simple_parse(text, pattern, zone)
    if millis is None or millis == UNPARSEABLE:
        return millis
    return -(-millis // 1000) if millis < 0 else millis // 1000


def to_date(text: str | None, pattern: str | None) -> int | None:
    """Return TO_DATE with a pattern: days since 1970, for `UNPARSEABLE` with Java's overflow.

    >>> to_date("29.02.2020", "dd.MM.yyyy") == days_of(2020, 2, 29)
    True
    """
    millis = simple_parse(text, pattern, "UTC")
    if millis is None:
        return None
    year, month, day = date_of(millis // 86_400_000)
    if millis != UNPARSEABLE:
        return days_of(year, month, day)
    return _wrapped(days_of(year, month, day) - 365 * year + _wrapped(365 * year)) + 1


def _wrapped(value: int) -> int:
    """Wrap an integer to 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


def convert_tz(text: str | None, source: str | None, target: str | None) -> str | None:
    """Return CONVERT_TZ: a datetime string converted from one time zone to another.

    >>> convert_tz("1970-01-01 00:00:00", "UTC", "America/Los_Angeles")
    '1969-12-31 16:00:00'
    """
    if source is None or target is None:
        return None
    millis = simple_parse(text, "yyyy-MM-dd HH:mm:ss", source)
    if millis is None or millis == UNPARSEABLE:
        return None
    return simple_format(millis // 1000, "yyyy-MM-dd HH:mm:ss", target)
