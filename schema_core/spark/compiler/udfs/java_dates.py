"""Formatting and parsing by patterns of java.time, for DATE_FORMAT and TO_TIMESTAMP."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from schema_core.expressions.date_patterns import (
    DAYS,
    MONTHS,
    Part,
    PatternError,
    parse_time_pattern,
)
from schema_core.spark.compiler.udfs.calendars import (
    Date,
    date_of,
    days_of,
    java_date_of,
    java_days_of,
    numeric_fields,
    week_of,
    weekday_of,
)
from schema_core.spark.compiler.udfs.errors import UdfError

#: Letters of time zones, which a timestamp does not have.
ZONES = frozenset("xXZzVO")


# --- formatting ----------------------------------------------------------------------------------

_QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")


def _text(names: tuple[str, ...], index: int, count: int) -> str:
    """Return a name as three letters, in full (4), or as one letter (5)."""
    return names[index][: {3: 3, 4: None, 5: 1}.get(count, 3)]


def _padded(value: int, count: int) -> str:
    return f"{'-' if value < 0 else ''}{abs(value):0{count}}"


def _year(year: int, count: int) -> str:
    if count == 2:
        return f"{year % 100:02}"
    plus = "+" if count > 3 and year >= 10**count else ""
    return plus + _padded(year, count)


def _part_of_day(minutes: int, count: int) -> str:
    if minutes in (0, 720):
        names = ("midnight", "noon") if count < 5 else ("mi", "n")
        return names[minutes == 720]
    hour = minutes // 60
    for stop, name in ((6, "at night"), (12, "in the morning"), (18, "in the afternoon")):
        if hour < stop:
            return name
    return "in the evening" if hour < 21 else "at night"


@dataclass(frozen=True, slots=True)
class LocalDateTime:
    """Days since 1970 and nanoseconds since midnight."""

    days: int
    nanos: int

    @property
    def date(self) -> Date:
        return date_of(self.days)

    @property
    def weekday(self) -> int:
        """0 for Sunday."""
        return weekday_of(self.days)


def _format_part(part: Part, value: LocalDateTime) -> str:
    if part.letter in ZONES:
        raise UdfError(f"the pattern letter {part.letter} requires a time zone")
    (year, month, day), count = value.date, part.count
    minutes = value.nanos // 60_000_000_000
    hour = minutes // 60
    match part.letter:
        case "'":
            return part.text
        case "[" | "]":
            return ""
        case "u" | "y" | "Y":
            year_ = week_of(value.days, year, days_of)[0] if part.letter == "Y" else year
            return _year(year_ if part.letter != "y" or year_ > 0 else 1 - year_, count)
        case "M" | "L" if count > 2:
            return _text(MONTHS, month - 1, count)
        case "E" | "e" | "c" if count > 2 or part.letter == "E":
            return _text(DAYS, value.weekday, count)
        case "Q" | "q" if count > 2:
            quarter = (month - 1) // 3
            return {3: f"Q{quarter + 1}", 4: _QUARTERS[quarter], 5: str(quarter + 1)}[count]
        case "G":
            names = {4: "Before Christ,Anno Domini", 5: "B,A"}.get(count, "BC,AD")
            return names.split(",")[year > 0]
        case "a":
            return "AM" if hour < 12 else "PM"
        case "B":
            return _part_of_day(minutes, count)
        case "S":
            return f"{value.nanos % 1_000_000_000:09}"[:count]
    numbers = {
        **numeric_fields(value.date, value.days, value.nanos // 1_000_000_000, days_of),
        "e": value.weekday + 1, "c": value.weekday + 1,
        "Q": (month + 2) // 3, "q": (month + 2) // 3, "F": (day - 1) % 7 + 1,
        "A": value.nanos // 1_000_000, "n": value.nanos % 1_000_000_000, "N": value.nanos,
        "g": value.days + 40_587,
    }  # fmt: skip
    if part.letter not in numbers:
        raise UdfError(f"the pattern letter {part.letter} is not supported")
    return _padded(numbers[part.letter], count)


def date_format(seconds: int | None, nanos: int | None, pattern: str | None) -> str | None:
    """Return DATE_FORMAT of a timestamp, in seconds since 1970 and nanoseconds of the second.

    >>> date_format(1_583_000_000, 5, "yyyy-MM-dd HH:mm SSSSSSSSS")
    '2020-02-29 18:13 000000005'
    """
    if seconds is None or nanos is None or pattern is None:
        return None
    days, rest = divmod(seconds, 86_400)
    value = LocalDateTime(days, rest * 1_000_000_000 + nanos)
    try:
        parts = parse_time_pattern(pattern)
    except PatternError as error:
        raise UdfError(f"invalid pattern {pattern!r}: {error}") from None
    return "".join(_format_part(part, value) for part in parts)


# --- parsing -------------------------------------------------------------------------------------


class MismatchError(Exception):
    """The string does not match the pattern."""


@dataclass(slots=True)
class TimeParser:
    """A string, the position up to which it is parsed, and the fields found."""

    text: str
    position: int = 0
    found: dict[str, int] = field(default_factory=dict)

    def take(self, shape: str) -> str:
        """Consume a match of a regular expression.

        Raises:
            MismatchError: if the string does not match.
        """
        match = re.compile(shape, re.ASCII).match(self.text, self.position)
        if match is None:
            raise MismatchError
        self.position = match.end()
        return match[0]

    def set(self, letter: str, value: int) -> None:
        if self.found.setdefault(letter, value) != value:
            raise MismatchError


def _shape(part: Part, rest: tuple[Part, ...]) -> str:
    """Return the regular expression of a number; adjacent fixed-width numbers keep their digits."""
    count = part.count
    if part.letter in "uyY" and count == 2:
        return r"\d{2}"
    if part.letter == "S":
        return rf"\d{{{count}}}"
    wide = part.letter in "uyYAnN" and count != 2
    if count == 1 or wide:
        follow = 0
        for one in rest:
            if one.letter not in "MdHhkKmsDuyS" or one.count == 1:
                break
            if one.letter == "M" and one.count > 2:
                break
            follow += one.count
        ahead = rf"(?=\d{{{follow}}}(?!\d))" if follow else ""
        if wide and count > 3:
            signed = rf"|\+\d{{{count + 1},19}}" if not follow else ""
            return rf"-?\d{{{count}}}{ahead}(?!\d{{{follow + 1}}}){signed}"
        return rf"-?\d{{{count},19}}{ahead}"
    return rf"\d{{{count},{max(count, 3 if part.letter == 'D' else 2)}}}"


def _parse_part(parser: TimeParser, part: Part, rest: tuple[Part, ...]) -> None:
    letter, count = part.letter, part.count
    if letter == "'":
        parser.take(re.escape(part.text))
    elif (letter in "MLEQqec" and count > 2) or letter in "EGa":
        parser.set(*_name(parser, letter, count))
    elif letter in ZONES:
        parser.take(r"Z|UTC|GMT|(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?")
    elif letter in "uyMLdHkKhmsSDAnN":
        value = parser.take(_shape(part, rest))
        number = int(value)
        if letter in "uy" and count == 2:
            number += 2000
        if letter == "S":
            number = int(value.ljust(9, "0"))
        parser.set({"L": "M", "y": "u"}.get(letter, letter), number)
    else:
        raise UdfError(f"the pattern letter {letter} is not supported in parsing")


def _name(parser: TimeParser, letter: str, count: int) -> tuple[str, int]:
    """Parse a name as it is formatted."""
    if letter == "a":
        return "a", int(parser.take("AM|PM") == "PM")
    if letter == "G":
        eras = {4: ("Before Christ", "Anno Domini"), 5: ("B", "A")}.get(count, ("BC", "AD"))
        return "G", eras.index(parser.take("|".join(eras)))
    if letter not in "MLE" or count == 5:
        raise UdfError(f"the pattern letter {letter} is not supported in parsing")
    names = tuple(
        _text(MONTHS if letter in "ML" else DAYS, i, count)
        for i in range(12 if letter in "ML" else 7)
    )
    index = names.index(parser.take("|".join(names)))
    return ("M", index + 1) if letter in "ML" else ("E", index)


#: Letter -> the minimum and maximum of its field.
RANGES: Mapping[str, tuple[int, int]] = {
    "M": (1, 12), "d": (1, 31), "D": (1, 366), "H": (0, 24), "k": (1, 24), "K": (0, 11),
    "h": (1, 12), "m": (0, 59), "s": (0, 59),
}  # fmt: skip


def _from_fields(found: dict[str, int]) -> LocalDateTime:
    """Return the datetime of the fields; missing fields are those of 1970-01-01 00:00.

    A day past the end of its month is the last day; a day of the week must match the date.
    """
    for letter, (least, greatest) in RANGES.items():
        if letter in found and not least <= found[letter] <= greatest:
            raise MismatchError
    year = found.get("u", 1970)
    month, day = found.get("M", 1), found.get("d", 1)
    last = days_of(year, month + 1, 1) - days_of(year, month, 1)
    days = days_of(year, month, min(day, last))
    if "D" in found and "u" in found and "M" not in found:
        days = days_of(year, 1, found["D"])
        if date_of(days).year != year:
            raise MismatchError
    if "E" in found and {"u", "M", "d"} <= set(found) and weekday_of(days) != found["E"]:
        raise MismatchError
    hour = found.get("H", found.get("k", 0) % 24)
    if "a" in found and ("h" in found or "K" in found):
        hour = found.get("h", found.get("K", 0)) % 12 + 12 * found["a"]
    minutes = hour * 60 + found.get("m", 0)
    nanos = (minutes * 60 + found.get("s", 0)) * 1_000_000_000 + found.get("S", 0)
    if found.get("H") == 24 and nanos > 86_400_000_000_000:
        raise MismatchError
    return LocalDateTime(days + nanos // 86_400_000_000_000, nanos % 86_400_000_000_000)


def _parse(text: str, pattern: str) -> LocalDateTime:
    parser, parts = TimeParser(text), parse_time_pattern(pattern)
    if any(part.letter in "[]" for part in parts):
        raise UdfError("optional parts of a pattern are not supported in parsing")
    for place, part in enumerate(parts):
        _parse_part(parser, part, parts[place + 1 :])
    if parser.position < len(text):
        raise MismatchError
    return _from_fields(parser.found)


_STANDARD = re.compile(
    r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d+):(\d+):(\d+)(?:\.(\d{1,9}))?)?\s*", re.ASCII
)


def _parse_standard(text: str) -> LocalDateTime | None:
    """Parse a string in the standard form, leniently and in Java's calendar."""
    found = _STANDARD.fullmatch(text)
    if found is None or not (1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31):
        return None
    hour, minute, second = (int(found[group] or 0) for group in (4, 5, 6))
    days = java_days_of(*(int(found[group]) for group in (1, 2, 3)))
    carried, seconds = divmod((hour * 60 + minute) * 60 + second, 86_400)
    nanos = seconds * 1_000_000_000 + int((found[7] or "0").ljust(9, "0"))
    return LocalDateTime(days_of(*java_date_of(days + carried)), nanos)


def to_timestamp(text: str | None, pattern: str | None) -> int | None:
    """Return TO_TIMESTAMP in microseconds since 1970, truncated to milliseconds, or None.

    A string that does not match the pattern is parsed in the standard form. The result of an
    invalid pattern is None.

    >>> to_timestamp("29.02.2020", "dd.MM.yyyy") == days_of(2020, 2, 29) * 86_400_000_000
    True
    """
    if text is None or pattern is None:
        return None
    value: LocalDateTime | None
    try:
        value = _parse(text, pattern)
    except PatternError:
        return None
    except MismatchError:
        value = _parse_standard(text)
    if value is None:
        return None
    return value.days * 86_400_000_000 + value.nanos // 1_000_000 * 1000
