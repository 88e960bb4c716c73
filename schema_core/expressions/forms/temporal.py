"""Functions of dates, times and timestamps, reckoned on Flink's counts (see `moments`)."""

from __future__ import annotations

import re
from zoneinfo import available_timezones

from schema_core.expressions.forms import moments
from schema_core.expressions.forms.numbers import months_between, shifted
from schema_core.expressions.forms.words import (
    CHARACTERS,
    MAX_PRECISION,
    Called,
    Form,
    bind,
    null_or,
    sql_type,
    string,
    unsupported,
)
from schema_core.expressions.typed import Apply, Word
from schema_core.types import (
    AnyTimestampType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    TypeFamily,
    YearMonthIntervalType,
)

MILLIS = {"MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12000}

#: Unit -> the field of a date `d`.
DATE_FIELDS: dict[str, str] = {
    "YEAR": "year({d})",
    "QUARTER": "quarter({d})",
    "MONTH": "month({d})",
    "WEEK": "weekofyear({d})",
    "DAY": "day({d})",
    "DOW": "dayofweek({d})",
    "DOY": "dayofyear({d})",
    "ISODOW": "extract(DAYOFWEEK_ISO FROM {d})",
    "ISOYEAR": "extract(YEAROFWEEK FROM {d})",
    "DECADE": "floor(year({d}) / 10)",
    "CENTURY": "if(year({d}) > 0, (year({d}) + 99) DIV 100, (year({d}) - 99) DIV 100)",
    "MILLENNIUM": "if(year({d}) > 0, (year({d}) + 999) DIV 1000, (year({d}) - 999) DIV 1000)",
}

#: Unit -> the field of a count `t` of milliseconds within a day.
TIME_FIELDS: dict[str, str] = {
    "HOUR": "{t} DIV 3600000",
    "MINUTE": "({t} % 3600000) DIV 60000",
    "SECOND": "({t} % 60000) DIV 1000",
    "MILLISECOND": "{t} % 1000",
}

#: Unit -> the field of a count of months.
MONTH_FIELDS = {"YEAR": "DIV 12", "MONTH": "% 12"}


def _days(text: str, type_: DataType, zone: str) -> str:
    """The date of a moment as Flink sees it: before 1970 that of the end of the day."""
    if isinstance(type_, DateType):
        return text
    return moments.convert(moments.clock(text, type_, zone), TimestampType(3), DateType(), zone)


def _time(text: str, type_: DataType, zone: str) -> str:
    """Milliseconds of the day, negative before 1970."""
    if isinstance(type_, TimeType):
        return moments.time_millis(text)
    if isinstance(type_, DateType):  # Flink takes the number of days for one of milliseconds
        return f"unix_date({text})"
    return f"{moments.millis(moments.clock(text, type_, zone))} % {moments.DAY}"


def field(unit: str, text: str, type_: DataType, zone: str) -> str:
    """A field of a moment or interval, a whole number."""
    if isinstance(type_, YearMonthIntervalType) and unit in MONTH_FIELDS:
        return f"({text} {MONTH_FIELDS[unit]})"
    if isinstance(type_, DayTimeIntervalType) and unit == "DAY":
        return f"({text} DIV {moments.DAY})"
    if isinstance(type_, DayTimeIntervalType) and unit in TIME_FIELDS:
        return f"({TIME_FIELDS[unit].format(t=f'({text} % {moments.DAY})')})"
    if type_.is_(TypeFamily.INTERVAL):
        raise unsupported(f"{unit} of {type_.as_summary_string()} is not run on Spark")
    if unit == "EPOCH":
        count = (
            f"unix_date({text}) * 86400L"
            if isinstance(type_, DateType)
            else f"{moments.millis(moments.clock(text, type_, zone))} DIV 1000"
        )
        return f"({count})"
    if unit in TIME_FIELDS:
        shape = TIME_FIELDS[unit]
        return bind(_time(text, type_, zone), lambda t: f"({shape.format(t=f'({t})')})")
    if unit in DATE_FIELDS and not isinstance(type_, TimeType):
        shape = DATE_FIELDS[unit]
        return bind(_days(text, type_, zone), lambda d: f"({shape.format(d=d)})")
    raise unsupported(f"{unit} of {type_.as_summary_string()} is not run on Spark")


def extract(called: Called) -> str:
    """EXTRACT(unit FROM moment)."""
    unit, text = called.arguments
    return f"CAST({field(unit, text, called.types[1], called.zone)} AS BIGINT)"


def part(unit: str) -> Form:
    """YEAR(moment) and its kin."""
    return lambda called: f"CAST({field(unit, called[0], called.types[0], called.zone)} AS BIGINT)"


# --- adding and subtracting --------------------------------------------------------------------


def unit_of(word: str) -> str:
    """A unit without the prefix of JDBC's names."""
    name = word.strip("`").upper().removeprefix("SQL_TSI_")
    return {"FRAC_SECOND": "MICROSECOND"}.get(name, name)


def timestamp_add(called: Called) -> str:
    """TIMESTAMPADD(unit, number, moment)."""
    unit, number, text = called.arguments
    text = moments.convert(text, called.types[2], called.type, called.zone)
    type_ = called.type
    unit = unit_of(unit)
    months = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
    if unit in months:
        count, kind = f"{number} * {months[unit]}", YearMonthIntervalType()
        return shifted(text, type_, f"CAST({count} AS INT)", kind, called)
    sizes = {**MILLIS, "WEEK": 604_800_000}
    if unit not in sizes:
        raise unsupported(f"TIMESTAMPADD of {unit} is not run on Spark")
    return shifted(text, type_, f"{number} * {sizes[unit]}L", DayTimeIntervalType(), called)


def timestamp_diff(called: Called) -> str:
    """TIMESTAMPDIFF(unit, from, to): whole units, towards zero."""
    unit, first, second = called.arguments
    unit = unit_of(unit)
    pairs = ((first, called.types[1]), (second, called.types[2]))
    clocks = [moments.clock(text, type_, called.zone) for text, type_ in pairs]
    if all(isinstance(type_, LocalZonedTimestampType) for _, type_ in pairs):
        clocks = [text for text, _ in pairs] if unit not in MONTHS else clocks
    months = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
    if unit in months:
        count = months_between(clocks[1], clocks[0])
        return f"CAST({count} DIV {months[unit]} AS INT)"
    sizes = {**MILLIS, "WEEK": 604_800_000}
    gap = f"{moments.millis(clocks[1])} - {moments.millis(clocks[0])}"
    if unit == "MICROSECOND":
        return f"CAST(({gap}) * 1000L AS {sql_type(called.type)})"
    if unit not in sizes:
        raise unsupported(f"TIMESTAMPDIFF of {unit} is not run on Spark")
    return f"CAST(({gap}) DIV {sizes[unit]} AS {sql_type(called.type)})"


# --- texts -------------------------------------------------------------------------------------


def date_format(called: Called) -> str:
    """DATE_FORMAT(moment, pattern); a text is read as a timestamp first."""
    text, type_ = called[0], called.types[0]
    pattern = _pattern(called[1])
    if isinstance(type_, CHARACTERS):
        text = bind(text, _second_of_text)
        type_ = TimestampType(0)
    clock = moments.clock(text, type_, called.zone)
    return f"date_format({clock}, {pattern})"


def _second_of_text(text: str) -> str:
    """A text with date and time as a timestamp to the second."""
    read = moments.timestamp_of_text(text, TimestampType(0))
    return f"if({text} LIKE '% %:%:%', {read}, NULL)"


#: Patterns that TO_TIMESTAMP reads as it reads a text without one.
STANDARD = frozenset({"'yyyy-MM-dd HH:mm:ss'", "'yyyy-MM-dd'"})

#: Pattern letters that mean the same to Java's formatter and to Spark.
_LETTERS = frozenset("yMdHhmsSaEDGkKnNQ")


def _pattern(text: str) -> str:
    """A constant pattern of letters on which both agree."""
    if not (text.startswith("'") and text.endswith("'")):
        raise unsupported("a date pattern must be a constant on Spark")
    letters = {letter for letter in text if letter.isalpha()}
    if not letters <= _LETTERS | set("T"):
        raise unsupported(f"the date pattern {text} has letters that Spark reads otherwise")
    return text


def to_timestamp(called: Called) -> str:
    """TO_TIMESTAMP(text [, pattern]): NULL for a text that is none."""
    if len(called.arguments) == 1 or called[1] in STANDARD:
        return bind(called[0], lambda v: moments.timestamp_of_text(v, TimestampType(3)))
    pattern = _pattern(called[1])
    read = f"CAST(try_to_timestamp({called[0]}, {pattern}) AS TIMESTAMP_NTZ)"
    return moments.truncated(read, 6, 3, TimestampType(3))


def to_date(called: Called) -> str:
    """TO_DATE(text)."""
    if len(called.arguments) > 1:
        raise unsupported("TO_DATE with a pattern answers any text in Flink; Spark cannot")
    return bind(called[0], moments.date_of_text)


def to_instant(called: Called) -> str:
    """TO_TIMESTAMP_LTZ(number, precision), of seconds or milliseconds."""
    type_ = called.types[0]
    if isinstance(type_, CHARACTERS):
        return _instant_of_text(called)
    digits = called[1] if len(called.arguments) > 1 else "3"
    scale = {"0": 1000, "3": 1}.get(digits)
    if scale is None:
        raise unsupported("TO_TIMESTAMP_LTZ takes the precision 0 or 3")
    count = f"CAST({called[0]} AS BIGINT)"
    return f"timestamp_millis({count} * {scale})"


def _instant_of_text(called: Called) -> str:
    """A text of a standard pattern, read by the clock of a zone, which is UTC unless given."""
    if len(called.arguments) < 2 or called[1] not in STANDARD:
        raise unsupported("TO_TIMESTAMP_LTZ of a text with this pattern is not run on Spark")
    zone = called[2][1:-1] if len(called.arguments) > 2 else "UTC"
    read = bind(called[0], lambda v: moments.timestamp_of_text(v, TimestampType(3)))
    return moments.instant(read, zone)


def unix_date_text(called: Called) -> str:
    """FROM_UNIXTIME(seconds [, pattern]) in the session's zone."""
    pattern = _pattern(called[1]) if len(called.arguments) > 1 else string("yyyy-MM-dd HH:mm:ss")
    clock = moments.local(f"timestamp_seconds(CAST({called[0]} AS BIGINT))", called.zone)
    return f"date_format({clock}, {pattern})"


def is_moment(type_: DataType) -> bool:
    """Whether a value is a point in time."""
    return isinstance(type_, DateType | TimeType | AnyTimestampType)


#: Functions of a timestamp that look at no more than its milliseconds.
COARSE = frozenset(
    {"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE"}
    | {"SECOND", "TIMESTAMPDIFF", "IS NULL", "IS NOT NULL", "COUNT", "TYPEOF"}
)


def is_coarse(apply: Apply) -> bool:
    """Whether a call gives the same for timestamps that differ beyond their microseconds."""
    words = [one.symbol.word for one in apply.arguments if isinstance(one, Word)]
    match apply.function.name:
        case "EXTRACT":
            return not set(words) & {"MICROSECOND", "NANOSECOND"}
        case "FLOOR":
            return bool(words)
        case "DATE_FORMAT":
            return "SSSSSSS" not in str(apply.arguments[1])
        case "CAST" | "TRY_CAST":
            target = apply.type
            fine = isinstance(target, AnyTimestampType) and target.precision > MAX_PRECISION
            return isinstance(target, DateType | TimeType | AnyTimestampType) and not fine
        case name:
            return name in COARSE


def unix_time(called: Called) -> str:
    """UNIX_TIMESTAMP: seconds since 1970, now or of a text; the least number for a bad text."""
    if not called.arguments:
        return "unix_timestamp()"
    if len(called.arguments) > 1 and called[1] not in STANDARD - {"'yyyy-MM-dd'"}:
        raise unsupported("UNIX_TIMESTAMP with this pattern is not run on Spark")

    def body(text: str) -> str:
        seconds = f"unix_seconds({moments.instant(_second_of_text(text), called.zone)})"
        least = "-9223372036854775807L - 1L"
        return null_or(f"{text} IS NULL", f"coalesce({seconds}, {least})")

    return bind(called[0], body)


def moved_clock(called: Called) -> str:
    """CONVERT_TZ(text, zone, zone): what the second clock shows when the first shows the text."""
    zones = [_zone(one) for one in called.arguments[1:]]

    def body(text: str) -> str:
        moment = moments.instant(_second_of_text(text), zones[0])
        return f"date_format({moments.local(moment, zones[1])}, 'yyyy-MM-dd HH:mm:ss')"

    return bind(called[0], body)


def _zone(text: str) -> str:
    """The name of a zone; a name that nobody has is taken for GMT, as Java does."""
    if not (text.startswith("'") and text.endswith("'")):
        raise unsupported("a time zone must be a constant on Spark")
    name = text[1:-1]
    offset = re.fullmatch(r"GMT[+-]\d{1,2}:\d\d", name)
    return name if offset or name in available_timezones() else "UTC"


FORMS: dict[str, Form] = {
    "EXTRACT": extract,
    "YEAR": part("YEAR"),
    "QUARTER": part("QUARTER"),
    "MONTH": part("MONTH"),
    "WEEK": part("WEEK"),
    "DAYOFYEAR": part("DOY"),
    "DAYOFMONTH": part("DAY"),
    "DAYOFWEEK": part("DOW"),
    "HOUR": part("HOUR"),
    "MINUTE": part("MINUTE"),
    "SECOND": part("SECOND"),
    "TIMESTAMPADD": timestamp_add,
    "TIMESTAMPDIFF": timestamp_diff,
    "DATE_FORMAT": date_format,
    "TO_TIMESTAMP": to_timestamp,
    "TO_DATE": to_date,
    "TO_TIMESTAMP_LTZ": to_instant,
    "FROM_UNIXTIME": unix_date_text,
    "UNIX_TIMESTAMP": unix_time,
    "CONVERT_TZ": moved_clock,
}
