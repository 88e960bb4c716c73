"""Formatting and parsing by Java's date patterns: java.time and SimpleDateFormat.

Each language is a table of formatters by letter; `date_shapes` finds the fields of a string.
DATE_FORMAT and TO_TIMESTAMP use java.time, in the Gregorian calendar. FROM_UNIXTIME,
UNIX_TIMESTAMP, TO_DATE and CONVERT_TZ use SimpleDateFormat, lenient and in Java's hybrid calendar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from schema_core.base.lazy import NamedTuple, regex
from schema_core.expressions import date_patterns
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs.calendars import (
    Calendar,
    Date,
    date_of,
    days_of,
    java_date_of,
    java_days_of,
    util_instant,
    util_name,
    util_offset,
    week_of,
    weekday_of,
)
from schema_core.spark.compiler.udfs.date_shapes import simple_fields, time_fields, wrap_int

#: The pattern of functions that are called without one.
STANDARD_PATTERN = "yyyy-MM-dd HH:mm:ss"

SECOND = 1_000_000_000
DAY = 86_400 * SECOND


# --- formatting ----------------------------------------------------------------------------------


class LocalDateTime(NamedTuple):
    """A local datetime: days since 1970 with their date in a calendar, and nanoseconds of the day.

    `offset` is in seconds from UTC, `zone` the short name of the time zone.
    """

    days: int
    nanos: int
    date: Date
    calendar: Calendar
    offset: int = 0
    zone: str = "UTC"

    @property
    def hour(self) -> int:
        return self.nanos // (3600 * SECOND)


#: Formats a datetime by the count of a letter.
Formatter: TypeAlias = Callable[[LocalDateTime, int], str]


def _format(
    value: LocalDateTime,
    pattern: str,
    parse: Callable[[str], tuple[date_patterns.Part, ...]],
    formatters: Mapping[str, Formatter],
) -> str:
    """Format a datetime.

    Raises:
        UdfError: for a pattern that Java rejects, and for a letter without a formatter.
    """
    try:
        parts = parse(pattern)
    except date_patterns.DatePatternError as error:
        raise _invalid(pattern, error) from None
    texts = []
    for part in parts:
        if part.letter == "'":
            texts.append(part.text)
        elif formatter := formatters.get(part.letter):
            texts.append(formatter(value, part.count))
        else:
            in_formatting = " in formatting" if formatters is _SIMPLE_FORMATTERS else ""
            problem = f"the pattern letter {part.letter} is not supported{in_formatting}"
            raise UdfError(problem)
    return "".join(texts)


def _invalid(pattern: str, error: date_patterns.DatePatternError) -> UdfError:
    return UdfError(f"invalid pattern {pattern!r}: {error}")


# --- formatting: letters of both languages -------------------------------------------------------


def _pad_number(value: int, count: int) -> str:
    return f"{'-' if value < 0 else ''}{abs(value):0{count}}"


def _number(read: Callable[[LocalDateTime], int]) -> Formatter:
    return lambda value, count: _pad_number(read(value), count)


def _by_count(name: Formatter, number: Formatter) -> Formatter:
    """Format a name from three letters on, else a number."""
    return lambda value, count: name(value, count) if count > 2 else number(value, count)


def _week(value: LocalDateTime) -> tuple[int, int]:
    return week_of(value.days, value.date.year, value.calendar)


def _week_of_month(value: LocalDateTime) -> int:
    start = value.calendar(value.date.year, value.date.month, 1)
    return (value.days - (start - weekday_of(start))) // 7 + 1


_MONTH = _number(lambda value: value.date.month)

#: Letter -> formatter, where both languages agree.
_COMMON_FORMATTERS: Mapping[str, Formatter] = {
    "d": _number(lambda value: value.date.day),
    "D": _number(lambda value: value.days - value.calendar(value.date.year, 1, 1) + 1),
    "H": _number(lambda value: value.hour),
    "k": _number(lambda value: value.hour or 24),
    "K": _number(lambda value: value.hour % 12),
    "h": _number(lambda value: value.hour % 12 or 12),
    "m": _number(lambda value: value.nanos // (60 * SECOND) % 60),
    "s": _number(lambda value: value.nanos // SECOND % 60),
    "w": _number(lambda value: _week(value)[1]),
    "W": _number(_week_of_month),
    "a": lambda value, _: date_patterns.HALVES[value.hour >= 12],
}


# --- formatting: java.time -----------------------------------------------------------------------

_QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")


def _year(year: int, count: int) -> str:
    if count == 2:
        return f"{year % 100:02}"
    plus = "+" if count > 3 and year >= 10**count else ""
    return plus + _pad_number(year, count)


def _era_year(year: int) -> int:
    return year if year > 0 else 1 - year


def _quarter(value: LocalDateTime) -> int:
    return (value.date.month + 2) // 3


def _quarter_name(value: LocalDateTime, count: int) -> str:
    quarter = _quarter(value)
    return {3: f"Q{quarter}", 4: _QUARTERS[quarter - 1], 5: str(quarter)}[count]


def _part_of_day(value: LocalDateTime, count: int) -> str:
    minutes = value.nanos // (60 * SECOND)
    if minutes in (0, 720):
        names = ("midnight", "noon") if count < 5 else ("mi", "n")
        return names[minutes == 720]
    for stop, name in ((6, "at night"), (12, "in the morning"), (18, "in the afternoon")):
        if value.hour < stop:
            return name
    return "in the evening" if value.hour < 21 else "at night"


def _without_zone(letter: str) -> Formatter:
    def refuse(value: LocalDateTime, count: int) -> str:
        raise UdfError(f"the pattern letter {letter} requires a time zone")

    return refuse


def _weekday_name(value: LocalDateTime, count: int) -> str:
    return date_patterns.name_of(date_patterns.DAYS[weekday_of(value.days)], count)


def _month_name(value: LocalDateTime, count: int) -> str:
    return date_patterns.name_of(date_patterns.MONTHS[value.date.month - 1], count)


_WEEKDAY = _number(lambda value: weekday_of(value.days) + 1)

#: Letter of a java.time pattern -> formatter.
_TIME_FORMATTERS: Mapping[str, Formatter] = {
    **_COMMON_FORMATTERS,
    **{letter: _without_zone(letter) for letter in date_patterns.ZONES},
    "[": lambda value, count: "",
    "]": lambda value, count: "",
    "u": lambda value, count: _year(value.date.year, count),
    "y": lambda value, count: _year(_era_year(value.date.year), count),
    "Y": lambda value, count: _year(_week(value)[0], count),
    "M": _by_count(_month_name, _MONTH),
    "L": _by_count(_month_name, _MONTH),
    "E": _weekday_name,
    "e": _by_count(_weekday_name, _WEEKDAY),
    "c": _by_count(_weekday_name, _WEEKDAY),
    "Q": _by_count(_quarter_name, _number(_quarter)),
    "q": _by_count(_quarter_name, _number(_quarter)),
    "G": lambda value, count: date_patterns.era_names(count)[value.date.year > 0],
    "B": _part_of_day,
    "S": lambda value, count: f"{value.nanos % SECOND:09}"[:count],
    "F": _number(lambda value: (value.date.day - 1) % 7 + 1),
    "A": _number(lambda value: value.nanos // 1_000_000),
    "n": _number(lambda value: value.nanos % SECOND),
    "N": _number(lambda value: value.nanos),
    "g": _number(lambda value: value.days + 40_587),
}


# --- formatting: SimpleDateFormat ----------------------------------------------------------------


def _simple_year(year: int, count: int) -> str:
    year = _era_year(year)
    return f"{year % 100:02}" if count == 2 else _pad_number(year, count)


def _iso_offset(value: LocalDateTime, count: int) -> str:
    """Format an offset by ISO 8601: Z, +01, +0100 or +01:00."""
    if value.offset == 0:
        return "Z"
    sign, size = "-" if value.offset < 0 else "+", abs(value.offset) // 60
    hours, minutes = f"{size // 60:02}", f"{size % 60:02}"
    return sign + hours + {1: "", 2: minutes, 3: f":{minutes}"}[count]


def _zone_name(value: LocalDateTime, count: int) -> str:
    if count > 3:
        raise UdfError("the pattern letter z is not supported in formatting")
    return value.zone


def _simple_month(value: LocalDateTime, count: int) -> str:
    return date_patterns.MONTHS[value.date.month - 1][: None if count > 3 else 3]


#: Letter of a SimpleDateFormat pattern -> formatter.
_SIMPLE_FORMATTERS: Mapping[str, Formatter] = {
    **_COMMON_FORMATTERS,
    "y": lambda value, count: _simple_year(value.date.year, count),
    "Y": lambda value, count: _simple_year(_week(value)[0], count),
    "M": _by_count(_simple_month, _MONTH),
    "L": _by_count(_simple_month, _MONTH),
    "E": lambda value, count: date_patterns.DAYS[weekday_of(value.days)][
        : None if count > 3 else 3
    ],
    "G": lambda value, _: date_patterns.ERAS[value.date.year > 0],
    "S": _number(lambda value: value.nanos % SECOND // 1_000_000),
    "F": _number(lambda value: (value.date.day - 1) // 7 + 1),
    "u": _number(lambda value: (value.days + 3) % 7 + 1),
    "X": _iso_offset,
    "z": _zone_name,
    "Z": lambda value, _: _iso_offset(value, 2) if value.offset else "+0000",
}


# --- from fields to datetimes: java.time ---------------------------------------------------------


class MismatchError(Exception):
    """The fields of a string contradict each other or are out of their ranges."""


#: Letter -> the minimum and maximum of its field.
RANGES: Mapping[str, tuple[int, int]] = {
    "M": (1, 12), "d": (1, 31), "D": (1, 366), "H": (0, 24), "k": (1, 24), "K": (0, 11),
    "h": (1, 12), "m": (0, 59), "s": (0, 59),
}  # fmt: skip


def _year_of_fields(fields: Mapping[str, int]) -> dict[str, int]:
    """Return the year `u` of the fields, which may be given by an era.

    Raises:
        MismatchError: for the year 0 of an era, or for an era that contradicts the year.
    """
    if "y" in fields:
        if fields["y"] < 1:
            raise MismatchError
        year = fields["y"] if fields.get("G", 1) else 1 - fields["y"]
    elif "u" in fields:
        year = fields["u"]
    else:
        return {}
    if fields.get("u", year) != year or fields.get("G", year > 0) != (year > 0):
        raise MismatchError
    return {"u": year}


def _strict_nanos(fields: Mapping[str, int]) -> int:
    """Return nanoseconds since 1970; missing fields are those of 1970-01-01 00:00.

    A day past the end of its month is the last day; a day of the week must match the date.

    Raises:
        MismatchError: if a field is out of its range, or fields contradict each other.
    """
    for letter, (least, greatest) in RANGES.items():
        if letter in fields and not least <= fields[letter] <= greatest:
            raise MismatchError
    fields = {**fields, **_year_of_fields(fields)}
    year = fields.get("u", 1970)
    month, day = fields.get("M", 1), fields.get("d", 1)
    last = days_of(year, month + 1, 1) - days_of(year, month, 1)
    days = days_of(year, month, min(day, last))
    if "D" in fields and "u" in fields and "M" not in fields:
        days = days_of(year, 1, fields["D"])
        if date_of(days).year != year:
            raise MismatchError
    if "E" in fields and {"u", "M", "d"} <= set(fields) and weekday_of(days) != fields["E"]:
        raise MismatchError
    hour = fields.get("H", fields.get("k", 0) % 24)
    if "a" in fields and ("h" in fields or "K" in fields):
        hour = fields.get("h", fields.get("K", 0)) % 12 + 12 * fields["a"]
    minutes = hour * 60 + fields.get("m", 0)
    nanos = (minutes * 60 + fields.get("s", 0)) * SECOND + fields.get("S", 0)
    if fields.get("H") == 24 and nanos > DAY:
        raise MismatchError
    return days * DAY + nanos


#: What `java.lang.String.trim` removes.
TRIMMED = "".join(map(chr, range(33)))
_STANDARD = regex(
    r"([+\d]\d{3})-(\+?\d|\d\d)-(\+?\d|\d\d)"
    r"(?: ([+-]?\d+):([+-]?\d+):([+-]?\d+)(?:\.(\d{1,9}))?)?"
)


def _standard_nanos(text: str) -> int | None:
    """Parse a string as java.sql.Timestamp or java.sql.Date, leniently and in Java's calendar.

    Its fields are then those of a Gregorian date; the year before 1 counts as 1.
    """
    match = _STANDARD.fullmatch(text.strip(TRIMMED))
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[group] or 0) for group in range(1, 7))
    time = (hour, minute, second)
    if not (1 <= month <= 12 and 1 <= day <= 31) or any(wrap_int(part) != part for part in time):
        return None
    carried, seconds = divmod((hour * 60 + minute) * 60 + second, 86_400)
    year, month, day = java_date_of(java_days_of(year, month, day) + carried)
    year = _era_year(year)
    days = days_of(year, month, day)
    if date_of(days) != (year, month, day):
        return None
    return days * DAY + seconds * SECOND + int((match[7] or "0").ljust(9, "0"))


# --- from fields to datetimes: SimpleDateFormat --------------------------------------------------


def _is_after(fields: Iterable[str], letter: str, other: str) -> bool:
    order = list(fields)
    return letter in order and order.index(letter) > order.index(other)


def _lenient_days(fields: Mapping[str, int]) -> int:
    """Return the day of the fields, by the kind of field that was parsed last."""
    year = fields.get("y", 1970)
    year = year if fields.get("G", 1) else 1 - year
    week = "w" in fields and not _is_after(fields, "d", "w")
    if "Y" in fields and "d" not in fields:
        year, week = fields["Y"], True
    if week:
        start = java_days_of(year, 1, 1)
        return start - weekday_of(start) + (fields.get("w", 1) - 1) * 7 + fields.get("E", 1) - 1
    if "D" in fields and not _is_after(fields, "d", "D"):
        return java_days_of(year, 1, 1) + fields["D"] - 1
    return java_days_of(year, fields.get("M", 1), fields.get("d", 1))


def _lenient_millis(fields: Mapping[str, int], zone: str) -> int:
    """Return milliseconds since 1970; fields may be out of their ranges."""
    half = "K" in fields and not _is_after(fields, "H", "K")
    hour = (
        fields["K"] + 12 * fields.get("a", 0) if half else fields.get("H", 12 * fields.get("a", 0))
    )
    seconds = _lenient_days(fields) * 86_400 + hour * 3600 + fields.get("m", 0) * 60
    millis = (seconds + fields.get("s", 0)) * 1000 + fields.get("S", 0)
    seconds, rest = divmod(_long(millis), 1000)
    if "Z" in fields:
        return (seconds - fields["Z"]) * 1000 + rest
    return util_instant(zone, seconds) * 1000 + rest


# --- functions of java.time ----------------------------------------------------------------------


def date_format(seconds: int | None, nanos: int | None, pattern: str | None) -> str | None:
    """Return DATE_FORMAT of seconds since 1970 and nanoseconds of the second.

    >>> date_format(1_583_000_000, 5, "yyyy-MM-dd HH:mm SSSSSSSSS")
    '2020-02-29 18:13 000000005'
    """
    if seconds is None or nanos is None or pattern is None:
        return None
    days, rest = divmod(seconds, 86_400)
    value = LocalDateTime(days, rest * SECOND + nanos, date_of(days), days_of)
    return _format(value, pattern, date_patterns.parse_time_pattern, _TIME_FORMATTERS)


def to_timestamp(text: str | None, pattern: str | None) -> int | None:
    """Return TO_TIMESTAMP in microseconds since 1970, truncated to milliseconds, or None.

    A string that does not match is parsed in the standard form; an invalid pattern returns None.

    >>> to_timestamp("29.02.2020", "dd.MM.yyyy") == days_of(2020, 2, 29) * 86_400_000_000
    True
    """
    micros = to_timestamp_micros(text, pattern)
    return None if micros is None else micros // 1000 * 1000


def to_timestamp_micros(text: str | None, pattern: str | None) -> int | None:
    """Return the timestamp of `to_timestamp` with microseconds.

    >>> to_timestamp_micros("1970 123456", "yyyy SSSSSS")
    123456
    """
    if text is None or pattern is None:
        return None
    try:
        fields = time_fields(text, pattern)
        nanos = _standard_nanos(text) if fields is None else _strict_nanos(fields)
    except date_patterns.DatePatternError:
        return None
    except MismatchError:
        nanos = _standard_nanos(text)
    if nanos is None:
        return None
    if abs(nanos) > 2**63 * 1000 - DAY:
        raise UdfError("the year of a timestamp is out of Spark's range")
    return nanos // 1000


# --- functions of SimpleDateFormat ---------------------------------------------------------------

#: The result for an invalid string: Long.MIN_VALUE milliseconds.
UNPARSEABLE = -(2**63)


def simple_format(seconds: int | None, pattern: str | None, zone: str) -> str | None:
    """Return FROM_UNIXTIME: seconds since 1970, formatted by a pattern.

    Raises:
        UdfError: for a pattern that Java rejects.

    >>> simple_format(44, "yyyy-MM-dd HH:mm:ss", "UTC")
    '1970-01-01 00:00:44'
    """
    if seconds is None or pattern is None:
        return None
    millis = _long(seconds * 1000)
    offset = util_offset(zone, millis // 1000)
    days, rest = divmod(millis + offset * 1000, 86_400_000)
    local = LocalDateTime(
        days,
        rest * 1_000_000,
        java_date_of(days),
        java_days_of,
        offset,
        util_name(zone, millis // 1000) if "z" in pattern else "",
    )
    return _format(local, pattern, date_patterns.parse_simple_pattern, _SIMPLE_FORMATTERS)


def simple_parse(text: str | None, pattern: str | None, zone: str) -> int | None:
    """Parse a string by a pattern: milliseconds since 1970, or `UNPARSEABLE`.

    >>> simple_parse("2020-02-30", "yyyy-MM-dd", "UTC") == days_of(2020, 3, 1) * 86_400_000
    True
    """
    if text is None or pattern is None:
        return None
    try:
        fields = simple_fields(text, pattern)
    except date_patterns.DatePatternError as error:
        raise _invalid(pattern, error) from None
    return UNPARSEABLE if fields is None else _long(_lenient_millis(fields, zone))


def reformat_datetime(text: str | None, pattern: str | None) -> str | None:
    """Return DATE_FORMAT of a string; None if it is not a datetime.

    >>> reformat_datetime("2020-02-30 10:00:00", "dd.MM.yyyy")
    '01.03.2020'
    """
    millis = simple_parse(text, STANDARD_PATTERN, "UTC")
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
    """Return TO_DATE with a pattern: days since 1970, also of `UNPARSEABLE`.

    Flink computes in 32 bits, and rounds leap years towards the year -4800.

    >>> to_date("29.02.2020", "dd.MM.yyyy") == days_of(2020, 2, 29)
    True
    """
    millis = simple_parse(text, pattern, "UTC")
    if millis is None:
        return None
    days = millis // 86_400_000
    year, month, _ = date_of(days)
    if (from_march := year + 4800 - (month <= 2)) < 0:
        days += sum(sign * bool(from_march % size) for sign, size in ((1, 4), (-1, 100), (1, 400)))
    return wrap_int(days)


def _long(value: int) -> int:
    """Wrap an integer to 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


def convert_tz(text: str | None, source: str | None, target: str | None) -> str | None:
    """Return CONVERT_TZ of a datetime string.

    >>> convert_tz("1970-01-01 00:00:00", "UTC", "America/Los_Angeles")
    '1969-12-31 16:00:00'
    """
    if source is None or target is None:
        return None
    millis = simple_parse(text, STANDARD_PATTERN, source)
    if millis is None or millis == UNPARSEABLE:
        return None
    return simple_format(millis // 1000, STANDARD_PATTERN, target)
