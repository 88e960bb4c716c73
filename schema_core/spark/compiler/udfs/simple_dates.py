"""Dates by patterns of java.text.SimpleDateFormat, lenient and with Java's calendar.

FROM_UNIXTIME, UNIX_TIMESTAMP, TO_DATE with a pattern and CONVERT_TZ write and read so.
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
from schema_core.spark.compiler.udfs.errors import ComputedError
from schema_core.spark.compiler.udfs.zones import util_instant, util_name, util_offset

#: What stands for a text that cannot be read: Java's least number of milliseconds.
UNREADABLE = -(2**63)


def _parts_of(pattern: str) -> tuple[Part, ...]:
    """Return the parts of a pattern.

    Raises:
        ComputedError: for a pattern that Java rejects.
    """
    try:
        return parse_simple_pattern(pattern)
    except PatternError as error:
        raise ComputedError(f"invalid pattern {pattern!r}: {error}") from None


# --- writing -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Clock:
    """What a clock of a zone shows at an instant, by Java's calendar."""

    days: int
    millis: int
    offset: int
    zone: str = "UTC"


def clock_of(millis: int, zone: str) -> Clock:
    """The clock of a zone so many milliseconds after 1970."""
    offset = util_offset(zone, millis // 1000)
    days, rest = divmod(millis + offset * 1000, 86_400_000)
    return Clock(days, rest, offset, util_name(zone, millis // 1000))


def _number(value: int, count: int) -> str:
    return f"{value:0{count}}"


def _year(year: int, count: int) -> str:
    year = year if year > 0 else 1 - year
    return f"{year % 100:02}" if count == 2 else _number(year, count)


def _offset_text(offset: int, count: int) -> str:
    """ISO 8601: Z, +01, +0100 or +01:00."""
    if offset == 0:
        return "Z"
    sign, size = "-" if offset < 0 else "+", abs(offset) // 60
    hours, minutes = f"{size // 60:02}", f"{size % 60:02}"
    return sign + hours + {1: "", 2: minutes, 3: f":{minutes}"}[count]


def _written(part: Part, clock: Clock) -> str:
    year, month, day = java_date_of(clock.days)
    count = part.count
    match part.letter:
        case "'":
            return part.text
        case "y":
            return _year(year, count)
        case "Y":
            return _year(week_of(clock.days, year, java_days_of)[0], count)
        case "M" | "L" if count > 2:
            return MONTHS[month - 1] if count > 3 else MONTHS[month - 1][:3]
        case "E":
            name = DAYS[weekday_of(clock.days)]
            return name if count > 3 else name[:3]
        case "G":
            return "AD" if year > 0 else "BC"
        case "a":
            return "AM" if clock.millis < 43_200_000 else "PM"
        case "X" if count <= 3:
            return _offset_text(clock.offset, count)
        case "z" if count < 4:
            return clock.zone
        case "Z":
            return _offset_text(clock.offset, 2) if clock.offset else "+0000"
    numbers = {
        **numeric_fields(java_date_of(clock.days), clock.days, clock.millis // 1000, java_days_of),
        "S": clock.millis % 1000, "F": (day - 1) // 7 + 1, "u": (clock.days + 3) % 7 + 1,
    }  # fmt: skip
    if part.letter not in numbers:
        raise ComputedError(f"the pattern letter {part.letter} is not written here")
    return _number(numbers[part.letter], count)


def simple_format(seconds: int | None, pattern: str | None, zone: str) -> str | None:
    """FROM_UNIXTIME: seconds since 1970 by a pattern.

    Raises:
        ComputedError: for a pattern that Java refuses.

    >>> simple_format(44, "yyyy-MM-dd HH:mm:ss", "UTC")
    '1970-01-01 00:00:44'
    """
    if seconds is None or pattern is None:
        return None
    clock = clock_of(_long(seconds * 1000), zone)
    return "".join(_written(part, clock) for part in _parts_of(pattern))


def _long(value: int) -> int:
    """A whole number wrapped around into 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


# --- reading -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Reading:
    """A text, how far it has been read, and what was found; the last one of equals counts."""

    text: str
    place: int = 0
    found: dict[str, int] = field(default_factory=dict)

    def keep(self, letter: str, value: int) -> None:
        self.found.pop(letter, None)
        self.found[letter] = value


def simple_parse(text: str | None, pattern: str | None, zone: str) -> int | None:
    """A text by a pattern: milliseconds since 1970, or `UNREADABLE`.

    >>> simple_parse("2020-02-30", "yyyy-MM-dd", "UTC") == days_of(2020, 3, 1) * 86_400_000
    True
    """
    if text is None or pattern is None:
        return None
    parts = _parts_of(pattern)
    if unread := next((part.letter for part in parts if part.letter in "uFW"), None):
        raise ComputedError(f"the pattern letter {unread} is not read here")
    reading = Reading(text)
    for place, part in enumerate(parts):
        rest = parts[place + 1 :]
        abutting = bool(rest) and _is_number(rest[0])
        if not _read(reading, part, abutting=abutting):
            return UNREADABLE
    return _millis_of(reading.found, zone) if reading.place else UNREADABLE


def _is_number(part: Part) -> bool:
    return part.letter in "yYdDFuHkKhmsSwW" or (part.letter in "ML" and part.count <= 2)


def _read(reading: Reading, part: Part, *, abutting: bool) -> bool:
    """Read what a part stands for; False where something else is there."""
    if part.letter == "'":
        there = reading.text.startswith(part.text, reading.place)
        reading.place += len(part.text)
        return there
    start = reading.place
    while reading.text[reading.place : reading.place + 1] in (" ", "\t"):
        reading.place += 1
    if reading.place >= len(reading.text):
        return False
    if _is_number(part):
        return _read_number(reading, part, start, abutting=abutting)
    return READERS[part.letter](reading)


_DIGITS = re.compile(r"-?\d+")


def _read_number(reading: Reading, part: Part, start: int, *, abutting: bool) -> bool:
    """A number; where another one follows at once, of no more digits than letters."""
    end = start + part.count if abutting else len(reading.text)
    if end > len(reading.text):
        return False
    found = _DIGITS.match(reading.text, reading.place, end)
    if found is None:
        return False
    value = int(found[0])
    value = (value + 2**31) % 2**32 - 2**31 if abs(value) < 2**63 else -1
    if part.letter in "yY" and part.count <= 2 and re.fullmatch(r"\d\d", found[0]):
        value += 2000 if value < _century() else 1900
    letter = {"L": "M", "k": "H", "h": "K"}.get(part.letter, part.letter)
    if (part.letter, value) in (("k", 24), ("h", 12)):
        value = 0
    reading.place = found.end()
    reading.keep(letter, value)
    return True


def _century() -> int:
    """Two digits of a year are within 80 years before and 20 after today."""
    import datetime as dt

    return (dt.datetime.now(dt.UTC).year + 20) % 100


def _read_name(letter: str, names: tuple[str, ...], first: int) -> Callable[[Reading], bool]:
    """A name in full or by three letters, in any case."""

    def read(reading: Reading) -> bool:
        rest = reading.text[reading.place :].lower()
        for size in (None, 3):
            for index, name in enumerate(names):
                if rest.startswith(name[:size].lower()):
                    reading.place += len(name[:size])
                    reading.keep(letter, index + first)
                    return True
        return False

    return read


_ZONE = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d\d))?|GMT|UTC|Z", re.IGNORECASE)


def _read_zone(reading: Reading) -> bool:
    """An offset from UTC; of names only UTC's."""
    found = _ZONE.match(reading.text, reading.place)
    if found is None:
        return False
    size = (int(found[2]) * 60 + int(found[3] or 0)) * 60 if found[1] else 0
    reading.keep("Z", -size if found[1] == "-" else size)
    reading.place = found.end()
    return True


READERS: dict[str, Callable[[Reading], bool]] = {
    "M": _read_name("M", MONTHS, 1),
    "L": _read_name("M", MONTHS, 1),
    "E": _read_name("E", DAYS, 1),
    "G": _read_name("G", ("BC", "AD"), 0),
    "a": _read_name("a", ("AM", "PM"), 0),
    "z": _read_zone,
    "Z": _read_zone,
    "X": _read_zone,
}


def _days_of_fields(found: dict[str, int]) -> int:
    """The day that fields name: by the kind of field that was read last."""
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


def simple_text(text: str | None, pattern: str | None) -> str | None:
    """DATE_FORMAT of a text with date and time; NULL for any other.

    >>> simple_text("2020-02-30 10:00:00", "dd.MM.yyyy")
    '01.03.2020'
    """
    millis = simple_parse(text, "yyyy-MM-dd HH:mm:ss", "UTC")
    if millis is None or millis == UNREADABLE or pattern is None:
        return None
    return simple_format(millis // 1000, pattern, "UTC")


def unix_timestamp(text: str | None, pattern: str | None, zone: str) -> int | None:
    """UNIX_TIMESTAMP: seconds, cut towards 1970; of an unreadable text the least number.

    >>> unix_timestamp("1970-01-01 00:00:01", "yyyy-MM-dd HH:mm:ss", "UTC")
    1
    """
    millis = simple_parse(text, pattern, zone)
    if millis is None or millis == UNREADABLE:
        return millis
    return -(-millis // 1000) if millis < 0 else millis // 1000


def to_date(text: str | None, pattern: str | None) -> int | None:
    """TO_DATE with a pattern: days since 1970; of an unreadable text what the least number gives.

    >>> to_date("29.02.2020", "dd.MM.yyyy") == days_of(2020, 2, 29)
    True
    """
    millis = simple_parse(text, pattern, "UTC")
    if millis is None:
        return None
    year, month, day = date_of(millis // 86_400_000)
    if millis != UNREADABLE:
        return days_of(year, month, day)
    return _wrapped(days_of(year, month, day) - 365 * year + _wrapped(365 * year)) + 1


def _wrapped(value: int) -> int:
    """A whole number wrapped around into 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


def convert_tz(text: str | None, source: str | None, target: str | None) -> str | None:
    """CONVERT_TZ: what the second clock shows when the first shows the text.

    >>> convert_tz("1970-01-01 00:00:00", "UTC", "America/Los_Angeles")
    '1969-12-31 16:00:00'
    """
    if source is None or target is None:
        return None
    millis = simple_parse(text, "yyyy-MM-dd HH:mm:ss", source)
    if millis is None or millis == UNREADABLE:
        return None
    return simple_format(millis // 1000, "yyyy-MM-dd HH:mm:ss", target)
