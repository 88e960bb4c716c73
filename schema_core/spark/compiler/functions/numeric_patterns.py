"""Formatting and parsing by constant date patterns of numbers, such as ``yyyy-MM-dd HH:mm:ss``.

Spark's own functions parse a string of exactly the pattern's width from a year in which all
calendars and zones agree. Others are read by a regular expression and arithmetic, as in
`udfs.java_dates` and `udfs.calendars`. No row leaves the JVM. Spark's zones are used from 1900 on,
where java.util.TimeZone agrees, with the later of two instants where clocks are put back.
"""

from __future__ import annotations

import datetime as dt
import sys
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from zoneinfo import ZoneInfo

from schema_core.base.lazy import dataclass, regex
from schema_core.expressions.date_patterns import (
    DatePatternError,
    Part,
    parse_simple_pattern,
    parse_time_pattern,
)
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.datetimes import BLANKS
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.tree import Node
from schema_core.spark.compiler.udfs import java_dates
from schema_core.spark.compiler.udfs.calendars import (
    CUTOVER,
    CYCLE,
    CYCLED_TO,
    FIRST,
    FIRST_CYCLED,
    standard_offset,
    util_zone,
)
from schema_core.spark.compiler.udfs.date_shapes import number_shape, simple_number_shape

DAY = 86_400


def long(value: int) -> nodes.Literal:
    """Return a BIGINT literal."""
    return nodes.Literal(str(value), "L")


def floor_div(value: Node, unit: int) -> Node:
    """Return a BIGINT divided by a unit, rounded down."""
    return sql("({n} - pmod({n}, {unit})) DIV {unit}", n=value, unit=long(unit))


# --- calendars -----------------------------------------------------------------------------------


def _from_march(year: Node, month: Node, body: Callable[[Node, Node], Node]) -> Node:
    """Call a body with the year from March on and the days before the month in it."""
    shifted = sql(
        "{y} + {carried} - if({m} <= 2, 1L, 0L)",
        y=year,
        carried=floor_div(sql("{m} - 1L", m=month), 12),
        m=sql("pmod({m} - 1L, 12L) + 1L", m=month),
    )
    days = sql("(153L * pmod({m} + 9L, 12L) + 2L) DIV 5L", m=month)
    return nodes.let_all([shifted, days], body)


def days_of(year: Node, month: Node, day: Node) -> Node:
    """Return the days since 1970 of a Gregorian date; month and day may be out of range."""
    return _from_march(
        year,
        month,
        lambda y, days: inline(
            "365L * {y} + {four} - {century} + {cycle} + {days} + {day} - 719469L",
            y=y,
            days=days,
            day=day,
            four=floor_div(y, 4),
            century=floor_div(y, 100),
            cycle=floor_div(y, 400),
        ),
    )


def julian_days_of(year: Node, month: Node, day: Node) -> Node:
    """Return the days since 1970 of a Julian date; month and day may be out of range."""
    return _from_march(
        year,
        month,
        lambda y, days: inline(
            "365L * {y} + {four} + {days} + {day} - 719471L",
            y=y,
            days=days,
            day=day,
            four=floor_div(y, 4),
        ),
    )


def java_days_of(year: Node, month: Node, day: Node) -> Node:
    """Return the days since 1970 of a date of Java's calendar, Julian before 1582-10-15.

    All days of a year before 1582 are Julian.
    """

    def body(year: Node, month: Node, day: Node) -> Node:
        return sql(
            "if({year} >= 1582L AND {gregorian} >= {cut}, {gregorian}, {julian})",
            year=year,
            gregorian=days_of(year, month, day),
            julian=julian_days_of(year, month, day),
            cut=long(CUTOVER),
        )

    return nodes.let_all([year, month, day], body)


def with_java_date(days: Node, body: Callable[[Node, Node, Node], Node]) -> Node:
    """Call a body with year, month and day in Java's calendar."""

    def date_node(day: Node) -> Node:
        era = floor_div(inline("{d} + 719470L", d=day), 1461)
        place = inline("pmod({d} + 719470L, 1461L)", d=day)
        gregorian = inline("date_from_unix_date(CAST(pmod({d}, 146097L) AS INT))", d=day)
        cycle = inline("400L * {n}", n=floor_div(day, 146_097))
        year = inline("least({p} DIV 365L, 3L)", p=place)

        def split(g: Node, cycle: Node, era: Node, year: Node, rest: Node) -> Node:
            month = inline("(5L * {rest} + 2L) DIV 153L", rest=rest)
            names = {"d": day, "cut": long(CUTOVER), "g": g, "rest": rest, "month": month}
            return nodes.let_all(
                [
                    inline(
                        "if({d} >= {cut}, year({g}) + {cycle},"
                        " {year} + 4L * {era} + if({month} >= 10L, 1L, 0L))",
                        cycle=cycle,
                        year=year,
                        era=era,
                        **names,
                    ),
                    inline("if({d} >= {cut}, month({g}), ({month} + 2L) % 12L + 1L)", **names),
                    inline(
                        "if({d} >= {cut}, day({g}), {rest} - (153L * {month} + 2L) DIV 5L + 1L)",
                        **names,
                    ),
                ],
                body,
            )

        return nodes.let_all(
            [gregorian, cycle, era, year, inline("{p} - 365L * {y}", p=place, y=year)],
            split,
        )

    return nodes.let(days, date_node)


# --- zones ---------------------------------------------------------------------------------------

_REGION = regex(
    r"(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Za-z_/-]+"
)
_UTC = frozenset({"UTC", "GMT", "Etc/UTC", "Etc/GMT"})


def is_known_zone(name: str) -> bool:
    """Return whether Spark has the zone that java.util.TimeZone resolves a name to."""
    zone = util_zone(name)
    if not isinstance(zone, ZoneInfo):
        return True
    return zone.key in _UTC or _REGION.fullmatch(zone.key) is not None


def fixed_offset(name: str) -> int | None:
    """Return the seconds of a zone without transitions; None for others."""
    zone = util_zone(name)
    if isinstance(zone, ZoneInfo):
        return 0 if zone.key in _UTC else None
    return int((zone.utcoffset(None) or dt.timedelta()).total_seconds())


def _key(name: str) -> nodes.Literal:
    zone = util_zone(name)
    return nodes.Literal(zone.key if isinstance(zone, ZoneInfo) else "UTC")


def local_at(seconds: Node, zone: str) -> Node:
    """Return local seconds at an instant from 1900 to 9999."""
    offset = fixed_offset(zone)
    if offset is not None:
        return inline("{n} + {offset}", n=seconds, offset=long(offset)) if offset else seconds
    return inline(
        "unix_seconds(from_utc_timestamp(timestamp_micros({n} * 1000000L), {zone}))",
        n=seconds,
        zone=_key(zone),
    )


def instant_of(seconds: Node, zone: str) -> Node:
    """Return the instant of local seconds from 1900 to 9999, the later one in an overlap."""
    offset = fixed_offset(zone)
    if offset is not None:
        return inline("{n} - {offset}", n=seconds, offset=long(offset)) if offset else seconds
    read = "unix_seconds(to_utc_timestamp(timestamp_micros({n} * 1000000L), {zone}))"
    key = _key(zone)
    first = inline(read, n=seconds, zone=key)
    later = inline("{n} + 86400L", n=seconds)
    last = inline("{n} - 86400L", n=inline(read, n=later, zone=key))
    return inline(
        "if({last} > {first} AND {local} = {n}, {last}, {first})",
        n=seconds,
        first=first,
        last=last,
        local=local_at(last, zone),
    )


def _convert_in_cycle(seconds: Node, convert: Callable[[Node], Node]) -> Node:
    """Convert a datetime after 9986 by the same place in a cycle of 400 years."""

    def body(n: Node) -> Node:
        cycle = floor_div(inline("{n} - {to}", n=n, to=long(CYCLED_TO)), CYCLE)
        moved = sql(
            "if({n} < {limit}, 0L, {cycle} * {size})",
            n=n,
            limit=long(FIRST_CYCLED),
            cycle=cycle,
            size=long(CYCLE),
        )
        return nodes.let(
            moved,
            lambda gap: nodes.let(
                inline("{n} - {gap}", n=n, gap=gap),
                lambda one: inline("{one} + {gap}", one=convert(one), gap=gap),
            ),
        )

    return nodes.let(seconds, body)


def any_local_at(seconds: Node, zone: str) -> Node:
    """Return local seconds at any instant; before 1900 in standard time."""
    if fixed_offset(zone) is not None:
        return local_at(seconds, zone)
    return nodes.let(
        seconds,
        lambda n: inline(
            "if({n} < {first}, {n} + {offset}, {cycled})",
            n=n,
            first=long(FIRST),
            offset=long(standard_offset(zone)),
            cycled=_convert_in_cycle(n, lambda seconds: local_at(seconds, zone)),
        ),
    )


def any_instant_of(seconds: Node, zone: str) -> Node:
    """Return the instant of any local seconds, before 1900 in standard time.

    1900 begins by the offset of its first instant, in the zones that Spark has.
    """
    if fixed_offset(zone) is not None:
        return instant_of(seconds, zone)
    offset = standard_offset(zone)
    return nodes.let(
        seconds,
        lambda n: inline(
            "if({n} < {first}, {n} - {offset}, {cycled})",
            n=n,
            first=local_at(long(FIRST), zone),
            offset=long(offset),
            cycled=_convert_in_cycle(n, lambda seconds: instant_of(seconds, zone)),
        ),
    )


_COUNTS = {"y": (4,), "M": (1, 2), "d": (1, 2), "H": (1, 2), "m": (1, 2), "s": (1, 2), "S": (3,)}
_SEPARATOR = regex(r"[-/:.,_ T]*")
_ISO = regex(r"yyyy-MM?-dd?(?:(?: |'T')HH?:mm?:ss?(?:\.SSS)?)?")


@dataclass(frozen=True, slots=True)
class NumericPattern:
    """A pattern of separators and numbers, each at most once."""

    text: str
    parts: tuple[Part, ...]

    @property
    def letters(self) -> str:
        return "".join(part.letter for part in self.parts if part.letter != "'")


def simple_pattern(node: Node) -> NumericPattern | None:
    """Return a constant pattern of SimpleDateFormat, or None if not all parts are numbers."""
    text = nodes.string_of(node)
    return None if text is None else _numeric(text, parse_simple_pattern)


def time_pattern(node: Node) -> NumericPattern | None:
    """Return a constant pattern of java.time, or None if not all parts are numbers."""
    text = nodes.string_of(node)
    return None if text is None else _numeric(text, parse_time_pattern)


@lru_cache(maxsize=200)
def _numeric(text: str, parse: Callable[[str], tuple[Part, ...]]) -> NumericPattern | None:
    try:
        parts = parse(text)
    except DatePatternError:
        return None
    letters = [part.letter for part in parts if part.letter != "'"]
    if not letters or len(set(letters)) < len(letters):
        return None
    for part, following in zip(parts, (*parts[1:], Part("'")), strict=True):
        if part.letter == "'":
            if not _SEPARATOR.fullmatch(part.text):
                return None
        elif part.count not in _COUNTS.get(part.letter, ()) or (
            part.count == 1 and following.letter != "'"
        ):
            return None
    return NumericPattern(text, parts)


# --- strings of the pattern's width --------------------------------------------------------------

#: The years from 1910 on: all calendars and zones agree.
_CERTAIN_YEAR = "(?:2...|19[1-9].|[3-8]...)"


def _certain_shape(pattern: NumericPattern) -> str:
    """Return the regular expression of strings that Spark, if it parses them, parses as Java does.

    Spark reads all digits; only at the end it accepts blanks or a time zone.
    """
    pieces = []
    for place, part in enumerate(pattern.parts, 1):
        if part.letter == "'":
            pieces.append(_escape_separator(part.text))
        elif part.letter == "y":
            pieces.append(_CERTAIN_YEAR)
        elif part.count == 1:
            pieces.append(r"\d{1,2}")
        elif part.letter == "S":
            pieces.append(r"\d{3}")
        else:
            last = r"\d" if place == len(pattern.parts) else "."
            pieces.append("." * (part.count - 1) + last)
    return rf"^{''.join(pieces)}\z"


def _escape_separator(text: str) -> str:
    return text.replace(".", r"\.")


def _parse_certain(node: Node, pattern: NumericPattern, type_: str = "TIMESTAMP_NTZ") -> Node:
    if _ISO.fullmatch(pattern.text):
        read = nodes.Cast(nodes.Cast(node, "TIMESTAMP_NTZ", safe=True), type_)
        return sql("if({same}, {read}, NULL)", same=_is_certain(node, pattern), read=read)
    read = nodes.Cast(nodes.call("try_to_timestamp", node, pattern.text), type_)
    width = _width(pattern)
    if width is None:
        return sql("if({same}, {read}, NULL)", same=_is_certain(node, pattern), read=read)
    return sql(
        "if({r} >= {first} AND {r} < {last}, {r}, NULL)",
        r=inline("if(octet_length({s}) = {width}, {read}, NULL)", s=node, width=width, read=read),
        first=nodes.Literal("1910-01-01", "DATE"),
        last=nodes.Literal("9000-01-01", "DATE"),
    )


def _width(pattern: NumericPattern) -> int | None:
    """Return the length of the strings of a pattern, or None if it varies.

    A string of this length that Spark parses has numbers of the pattern's width. Spark ignores the
    case of letters between them.
    """
    parts = pattern.parts
    if any(part.count == 1 if part.letter != "'" else "T" in part.text for part in parts):
        return None
    return sum(len(part.text) if part.letter == "'" else part.count for part in parts)


def _is_certain(node: Node, pattern: NumericPattern) -> Node:
    """Return whether a string has the pattern's width and a year from 1910 on.

    Comparing the year with the string is faster than a regular expression.
    """
    shape = _certain_shape(pattern)
    if pattern.letters[0] != "y" or pattern.parts[0].letter == "'":
        return nodes.call("rlike", node, shape)
    shape = shape.replace(_CERTAIN_YEAR, "....")
    return inline("{s} >= '191' AND {s} < '9' AND rlike({s}, {shape})", s=node, shape=shape)


def _seconds(timestamp: Node) -> Node:
    return nodes.call("unix_seconds", nodes.Cast(timestamp, "TIMESTAMP"))


# --- other strings: SimpleDateFormat -------------------------------------------------------------

#: Digits beyond ASCII, which Java reads too.
_OTHER_DIGITS = "".join(
    chr(code)
    for code in range(0x80, min(sys.maxunicode, 0xFFFF))
    if unicodedata.decimal(chr(code), None) is not None
)
_THEIR_VALUES = "".join(str(unicodedata.decimal(digit)) for digit in _OTHER_DIGITS)


def _ascii_digits(node: Node) -> Node:
    return inline(
        "if(length({s}) = octet_length({s}), {s}, translate({s}, {digits}, {values}))",
        s=node,
        digits=_OTHER_DIGITS,
        values=_THEIR_VALUES,
    )


def _shape(pattern: NumericPattern, number: Callable[[Part, tuple[Part, ...]], str]) -> str:
    return "".join(
        _escape_separator(part.text)
        if part.letter == "'"
        else f"(?>({number(part, pattern.parts[place:])}))"
        for place, part in enumerate(pattern.parts, 1)
    )


#: Letter -> the milliseconds of its unit.
UNITS = {"H": 3_600_000, "m": 60_000, "s": 1000, "S": 1}


def _wrap_number(text: Node) -> Node:
    """Return a number as Java reads it: wrapped to INT, -1 beyond BIGINT."""
    return nodes.Cast(
        inline(
            "CAST(coalesce(nullif(try_cast({text} AS BIGINT), {least}), -1L) AS INT)",
            text=text,
            least=long(-(2**63)),
        ),
        "BIGINT",
    )


def _lenient(node: Node, pattern: NumericPattern, body: Callable[[Node], Node]) -> Node:
    """Call a body with local milliseconds since 1970, which wrap; NULL if unparseable."""
    shape = f"(?s)^{_shape(pattern, simple_number_shape)}"

    def parsed(text: Node) -> Node:
        numbers = {
            letter: _wrap_number(nodes.call("regexp_extract", text, shape, group))
            for group, letter in enumerate(pattern.letters, 1)
        }
        days = java_days_of(
            *(numbers.get(letter, long(1970 if letter == "y" else 1)) for letter in "yMd")
        )
        millis = inline("{days} * 86400000L", days=days)
        for letter, unit in UNITS.items():
            if letter in numbers:
                millis = inline("{v} + {n} * {unit}", v=millis, n=numbers[letter], unit=long(unit))
        return nodes.let(millis, body)

    return nodes.let(
        _ascii_digits(node),
        lambda text: inline(
            "if(rlike({text}, {shape}), {parsed}, NULL)",
            text=text,
            shape=shape,
            parsed=parsed(text),
        ),
    )


def _usually(node: Node, usual: Callable[[Node], Node], rest: Callable[[Node], Node]) -> Node:
    """Return `usual` of a string, or where that is NULL, `rest`."""
    return nodes.let(
        node,
        lambda text: inline(
            "coalesce({usual}, if({s} IS NULL, NULL, {rest}))",
            usual=usual(text),
            s=text,
            rest=rest(text),
        ),
    )


def _leniently(text: Node, pattern: NumericPattern, body: Callable[[Node], Node]) -> Node:
    return nodes.rarely(text, lambda s: _lenient(s, pattern, body))


def unix_timestamp(node: Node, pattern: NumericPattern, zone: str) -> Node:
    """Return UNIX_TIMESTAMP: seconds, truncated towards 1970; the least BIGINT if unparseable."""

    def usual(text: Node) -> Node:
        seconds = instant_of(_seconds(_parse_certain(text, pattern)), zone)
        if "S" not in pattern.letters:
            return seconds
        return inline("if({n} >= 0L, {n}, NULL)", n=seconds)  # others are rounded up

    def rest(text: Node) -> Node:
        seconds = _leniently(
            text,
            pattern,
            lambda millis: inline(
                "({n} * 1000L + pmod({millis}, 1000L)) DIV 1000L",
                n=any_instant_of(floor_div(millis, 1000), zone),
                millis=millis,
            ),
        )
        return inline("coalesce({v}, {least})", v=seconds, least=long(java_dates.UNPARSEABLE))

    return _usually(node, usual, rest)


def _counted_days(days: Node) -> Node:
    """Return days as Flink counts them: it rounds leap years towards the year -4800."""
    shown = inline("date_from_unix_date(CAST(pmod({n}, 146097L) AS INT))", n=days)
    return inline(
        "if({n} >= -2472632L, {n}, {more})",
        n=days,
        more=nodes.let(
            inline("year(add_months({date}, -2))", date=shown),
            lambda year: inline(
                "{n} + if({y} % 4 = 0, 0, 1) - if({y} % 100 = 0, 0, 1) + if({y} % 400 = 0, 0, 1)",
                n=days,
                y=year,
            ),
        ),
    )


def to_date(node: Node, pattern: NumericPattern) -> Node:
    """Return TO_DATE with a pattern; as in Flink, any string is a date."""

    def rest(text: Node) -> Node:
        days = _leniently(
            text,
            pattern,
            lambda millis: nodes.let(floor_div(millis, 1000 * DAY), _counted_days),
        )
        days = inline(
            "coalesce({v}, {days})",
            v=days,
            days=long(java_dates.to_date("", java_dates.STANDARD_PATTERN) or 0),
        )
        return nodes.call("date_from_unix_date", nodes.Cast(days, "INT"))

    return _usually(node, lambda text: _parse_certain(text, pattern, "DATE"), rest)


def convert_tz(node: Node, source: str, target: str, output: NumericPattern | None = None) -> Node:
    """Return CONVERT_TZ, or with a pattern DATE_FORMAT of a string; NULL if unparseable."""
    pattern = _numeric(java_dates.STANDARD_PATTERN, parse_simple_pattern)
    if pattern is None:  # pragma: no cover - the standard pattern is one of numbers
        raise AssertionError
    shown = output or pattern

    def rest(text: Node) -> Node:
        return _leniently(
            text,
            pattern,
            lambda millis: _format_any(
                any_instant_of(floor_div(millis, 1000), source), shown, target
            ),
        )

    def usual(text: Node) -> Node:
        instant = instant_of(_seconds(_parse_certain(text, pattern)), source)
        return _format_certain(instant, shown, target)

    return _usually(node, usual, rest)


def are_known(*zones: str) -> bool:
    """Return whether Spark has all of some zones."""
    return all(map(is_known_zone, zones))


# --- formatting ----------------------------------------------------------------------------------


def _format_certain(seconds: Node, pattern: NumericPattern, zone: str) -> Node:
    shown = inline("timestamp_micros({n} * 1000000L)", n=local_at(seconds, zone))
    return nodes.call("date_format", shown, pattern.text)


def _format_any(seconds: Node, pattern: NumericPattern, zone: str) -> Node:
    """Format any instant in Java's calendar; milliseconds wrap."""

    def concat_parts(n: Node, year: Node, month: Node, day: Node, millis: Node) -> Node:
        values = {
            "y": inline("if({y} > 0L, {y}, 1L - {y})", y=year),
            "M": month,
            "d": day,
            "H": inline("pmod({n}, 86400L) DIV 3600L", n=n),
            "m": inline("pmod({n}, 3600L) DIV 60L", n=n),
            "s": inline("pmod({n}, 60L)", n=n),
            "S": millis,
        }
        return nodes.call(
            "concat",
            *(
                nodes.Literal(part.text)
                if part.letter == "'"
                else sql(
                    "lpad({text}, greatest({count}, length({text})), '0')",
                    text=nodes.Cast(values[part.letter], "STRING"),
                    count=part.count,
                )
                for part in pattern.parts
            ),
        )

    def body(millis: Node) -> Node:
        part = inline("pmod({n}, 1000L)", n=millis)
        return nodes.let(
            any_local_at(floor_div(millis, 1000), zone),
            lambda n: with_java_date(
                floor_div(n, DAY), lambda year, month, day: concat_parts(n, year, month, day, part)
            ),
        )

    return nodes.let(inline("{n} * 1000L", n=seconds), body)


def from_unixtime(seconds: Node, pattern: NumericPattern, zone: str) -> Node:
    """Return FROM_UNIXTIME: seconds since 1970, formatted in a zone."""
    return nodes.let(
        seconds,
        lambda n: inline(
            "CASE WHEN {n} BETWEEN -1893456000L AND 253402128000L THEN {certain}"
            " WHEN {n} IS NOT NULL THEN {rest} END",
            n=n,
            certain=_format_certain(n, pattern, zone),
            rest=nodes.rarely(n, lambda seconds: _format_any(seconds, pattern, zone)),
        ),
    )


# --- java.time -----------------------------------------------------------------------------------

_DATE = r"[+\d]\d{3}-(?:\+?[1-9]|0[1-9]|1[0-2])-(?:\+?[1-9]|0[1-9]|[12]\d|3[01])"
_STANDARD_DATE = rf"^{BLANKS}({_DATE}){BLANKS}\z"
_GROUPED = _DATE.replace("(?:", "(").replace("-", ")-", 1)
_STANDARD_SHAPE = (
    rf"^{BLANKS}({_GROUPED} ([+-]?\d+):([+-]?\d+):([+-]?\d+)(?:\.(\d{{1,9}}))?{BLANKS}\z"
)


def to_timestamp(node: Node, pattern: NumericPattern) -> Node:
    """Return TO_TIMESTAMP with a pattern in milliseconds, or NULL.

    A string that does not match is read leniently in the standard form.
    """

    def rest(text: Node) -> Node:
        millis = nodes.rarely(text, lambda s: _strict_millis(s, pattern))
        return nodes.Cast(nodes.call("timestamp_millis", millis), "TIMESTAMP_NTZ")

    return _usually(node, lambda text: _parse_certain(text, pattern), rest)


def _strict_millis(text: Node, pattern: NumericPattern) -> Node:
    shape = rf"^{_shape(pattern, number_shape)}\z"
    groups = ",".join(f"${group}" for group in range(1, len(pattern.letters) + 1))
    numbers = inline(
        "transform(split(regexp_replace({text}, {shape}, {groups}), ','),"
        " one -> try_cast(one AS BIGINT))",
        text=text,
        shape=shape,
        groups=groups,
    )
    return inline(
        "coalesce(if(rlike({text}, {shape}), {strict}, NULL), {standard})",
        text=text,
        shape=shape,
        strict=nodes.let(
            numbers,
            lambda found: _strict_value(
                {
                    letter: nodes.Element(found, place)
                    for place, letter in enumerate(pattern.letters)
                }
            ),
        ),
        standard=_standard_millis(text),
    )


def _strict_value(numbers: dict[str, Node]) -> Node:
    """Return the milliseconds of fields within their ranges, or NULL.

    A day beyond the end of its month is the last day.
    """
    year, month, day = (numbers.get(letter, long(1970 if letter == "y" else 1)) for letter in "yMd")
    valid = [
        inline("{n} BETWEEN {least} AND {most}", n=numbers[letter], least=least, most=most)
        for letter, (least, most) in java_dates.RANGES.items()
        if letter in numbers
    ]
    time = {letter: numbers.get(letter, long(0)) for letter in "HmsS"}
    if "H" in numbers:
        valid.append(inline("({H} < 24L OR {m} + {s} + {S} = 0L)", **time))
    first = inline("make_date(CAST({y} AS INT), CAST({m} AS INT), 1)", y=year, m=month)
    date: Node = first
    if "d" in numbers:
        date = inline(
            "least(date_add({first}, CAST({day} AS INT) - 1), last_day({first}))",
            first=first,
            day=day,
        )
    value = inline("unix_date({date}) * 86400000L", date=date)
    for letter, unit in UNITS.items():
        if letter in numbers:
            value = inline("{v} + {n} * {unit}", v=value, n=numbers[letter], unit=long(unit))
    if "y" in numbers:
        valid.append(inline("{year} > 0L", year=year))
        value = inline(
            "if({year} <= 290000L, {value}, raise_error({problem}))",
            year=year,
            value=value,
            problem="the year of a timestamp is out of Spark's range",
        )
    return inline(
        "if({valid}, {value}, NULL)",
        valid=nodes.all_of(*valid) if valid else nodes.Literal(True),
        value=value,
    )


def _standard_millis(text: Node) -> Node:
    """Parse a string as java.sql.Timestamp does, in Java's calendar.

    Its fields are then those of a Gregorian date; the year before 1 counts as 1.
    """

    def parsed(shown: Node) -> Node:
        numbers = inline(
            "transform(split(regexp_replace({s}, {shape}, '$1,$2,$3,$4,$5,$6'), ','),"
            " one -> CAST(try_cast(one AS INT) AS BIGINT))",
            s=shown,
            shape=_STANDARD_SHAPE,
        )
        fraction = nodes.call(
            "rpad", nodes.call("regexp_extract", shown, _STANDARD_SHAPE, 7), 3, "0"
        )
        millis = nodes.let(
            numbers, lambda found: _standard_seconds(*(nodes.Element(found, n) for n in range(6)))
        )
        return inline(
            "if(rlike({s}, {shape}), {seconds} * 1000L + CAST({fraction} AS BIGINT), NULL)",
            s=shown,
            shape=_STANDARD_SHAPE,
            seconds=millis,
            fraction=fraction,
        )

    shown = nodes.call("regexp_replace", _ascii_digits(text), _STANDARD_DATE, "$1 0:0:0")
    return nodes.let(shown, parsed)


def _standard_seconds(y: Node, month: Node, d: Node, h: Node, m: Node, s: Node) -> Node:
    def body(n: Node) -> Node:
        date = with_java_date(
            floor_div(n, DAY),
            lambda year, month, day: inline(
                "make_date(CAST(if({y} > 0, {y}, 1 - {y}) AS INT), CAST({m} AS INT),"
                " CAST({d} AS INT))",
                y=year,
                m=month,
                d=day,
            ),
        )
        return inline("unix_date({date}) * 86400L + pmod({n}, 86400L)", date=date, n=n)

    days = java_days_of(y, month, d)
    return nodes.let(
        inline("{days} * 86400L + ({h} * 60L + {m}) * 60L + {s}", days=days, h=h, m=m, s=s), body
    )
