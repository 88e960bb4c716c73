"""Functions of dates, times and timestamps, reckoned on Flink's counts (see `moments`)."""

from __future__ import annotations

import re

from schema_core.expressions.typed import Constant, FunctionCall, Keyword, Typed
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.numbers import months_between, shifted
from schema_core.spark.compiler.sql_builder import (
    CHARACTERS,
    FLOATS,
    MAX_PRECISION,
    Called,
    Form,
    bind,
    bind_all,
    computed,
    fail,
    quote,
    sql_type,
    string,
    unsupported,
)
from schema_core.sql.syntax import Literal
from schema_core.types import (
    AnyTimestampType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    RowType,
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
    return datetimes.convert(
        datetimes.util_clock(text, type_, zone), TimestampType(3), DateType(), zone
    )


def _time(text: str, type_: DataType, zone: str) -> str:
    """Milliseconds of the day, negative before 1970."""
    if isinstance(type_, TimeType):
        return datetimes.time_millis(text)
    if isinstance(type_, DateType):  # Flink takes the number of days for one of milliseconds
        return f"unix_date({text})"
    return f"{datetimes.millis(datetimes.util_clock(text, type_, zone))} % {datetimes.DAY}"


def field(unit: str, text: str, type_: DataType, zone: str) -> str:
    """A field of a moment or interval, a whole number."""
    if isinstance(type_, YearMonthIntervalType) and unit in MONTH_FIELDS:
        return f"({text} {MONTH_FIELDS[unit]})"
    if isinstance(type_, DayTimeIntervalType) and unit == "DAY":
        return f"({text} DIV {datetimes.DAY})"
    if isinstance(type_, DayTimeIntervalType) and unit in TIME_FIELDS:
        return f"({TIME_FIELDS[unit].format(t=f'({text} % {datetimes.DAY})')})"
    if type_.is_(TypeFamily.INTERVAL):
        raise unsupported(f"{unit} of {type_.as_summary_string()} is not run on Spark")
    if unit == "EPOCH":
        count = (
            f"unix_date({text}) * 86400L"
            if isinstance(type_, DateType)
            else f"{datetimes.millis(datetimes.util_clock(text, type_, zone))} DIV 1000"
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
    text = datetimes.convert(text, called.types[2], called.type, called.zone)
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
    if len({isinstance(type_, LocalZonedTimestampType) for _, type_ in pairs}) > 1:
        raise unsupported("Flink takes no instant beside another moment", hint="cast one of them")
    clocks = [datetimes.clock(text, type_, called.zone) for text, type_ in pairs]
    if all(isinstance(type_, LocalZonedTimestampType) for _, type_ in pairs):
        clocks = [text for text, _ in pairs] if unit not in MONTHS else clocks
    months = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
    if unit in months:
        count = months_between(clocks[1], clocks[0])
        return f"CAST({count} DIV {months[unit]} AS INT)"
    gap = f"{datetimes.millis(clocks[1])} - {datetimes.millis(clocks[0])}"
    if unit in DIVIDED:
        return f"CAST(({gap}) DIV {DIVIDED[unit]} AS INT)"
    seconds = f"CAST(({gap}) DIV 1000 AS {sql_type(called.type)})"  # which wraps
    if unit == "WEEK":
        return f"CAST({seconds} DIV 604800 AS INT)"
    if unit not in PARTS:
        raise unsupported(f"TIMESTAMPDIFF of {unit} is not run on Spark")
    return f"({seconds} * CAST({PARTS[unit]} AS {sql_type(called.type)}))"


#: Units of which whole ones are counted, in milliseconds.
DIVIDED = {"MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}

#: Parts of a second, of which Flink counts as many as whole seconds have.
PARTS = {"SECOND": 1, "MILLISECOND": 1000, "MICROSECOND": 1_000_000, "NANOSECOND": 1_000_000_000}


def overlaps(called: Called) -> str:
    """``(a, b) OVERLAPS (c, d)``; the second of a pair may be an interval from the first on."""
    first, second = called.types

    def body(one: str, other: str) -> str:
        (a, b), (c, d) = _period(one, first, called), _period(other, second, called)
        return f"({b} >= {c} AND {d} >= {a})"

    return bind_all(called.arguments, body)


def _period(row: str, type_: DataType, called: Called) -> tuple[str, str]:
    """The earlier and the later end of a period, which may be given in either order."""
    if not isinstance(type_, RowType):
        raise unsupported("OVERLAPS takes pairs of moments")
    start, end = (f"{row}.{quote(field.name)}" for field in type_.fields)
    moment, length = (field.data_type for field in type_.fields)
    if length.is_(TypeFamily.INTERVAL):
        end = shifted(start, moment, end, length, called)
    return f"if({start} <= {end}, {start}, {end})", f"if({start} <= {end}, {end}, {start})"


# --- texts -------------------------------------------------------------------------------------


def date_format(called: Called) -> str:
    """DATE_FORMAT(moment, pattern); a text is read as a timestamp first."""
    text, type_ = called[0], called.types[0]
    if isinstance(type_, CHARACTERS):
        return computed("simple_text", text, called[1])
    clock = datetimes.clock(text, type_, called.zone)
    if _PLAIN.fullmatch(called[1]):
        return f"date_format({clock}, {called[1]})"
    seconds = f"unix_seconds(CAST({clock} AS TIMESTAMP))"
    return computed("date_format", seconds, datetimes.nano_part(clock), called[1])


#: Constant patterns that mean the same to Spark: parts of fixed width with marks between.
_PLAIN = re.compile(
    r"'(?:(?:yyyy|MM|dd|HH|mm|ss|S{1,6})(?![a-zA-Z])|(?:yyyy|MM|dd)(?=MM|dd)|[-/:., ])*'"
)

#: Patterns that TO_TIMESTAMP reads as it reads a text without one.
STANDARD = "'yyyy-MM-dd HH:mm:ss'"


def to_timestamp(called: Called) -> str:
    """TO_TIMESTAMP(text [, pattern]): NULL for a text that is none."""
    if len(called.arguments) == 1:
        return bind(called[0], lambda v: datetimes.timestamp_of_text(v, TimestampType(3)))
    return datetimes.of_micros(computed("to_timestamp", called[0], called[1]), TimestampType(3))


def to_date(called: Called) -> str:
    """TO_DATE(text [, pattern]): with a pattern any text is a date."""
    if len(called.arguments) > 1:
        return datetimes.of_days(computed("to_date", called[0], called[1]))
    return bind(called[0], _date_of_text)


def _date_of_text(text: str) -> str:
    """A text as a date; a year that no INT holds ends the job."""
    year = (
        f"CAST(regexp_extract({text}, '^\\\\s*(\\\\d{{1,38}})(?:-|\\\\s*$)', 1) AS DECIMAL(38, 0))"
    )
    problem = fail("the year of a date is too great")
    return f"if({year} > 2147483647, {problem}, {datetimes.date_of_text(text)})"


#: The first and the last instant that TO_TIMESTAMP_LTZ gives, in microseconds.
_RANGE = "-62135596800000000L AND 253402300799999999L"


def to_instant(called: Called) -> str:
    """TO_TIMESTAMP_LTZ(number, digits of a second); NULL beyond the years 1 to 9999."""
    type_ = called.types[0]
    if isinstance(type_, CHARACTERS):
        return _instant_of_text(called)
    digits = called[1] if len(called.arguments) > 1 else "3"
    if not digits.isdigit() or is_fine(called.type):
        raise unsupported(f"TO_TIMESTAMP_LTZ of the precision {digits} is not run on Spark")
    scale = 10 ** (6 - int(digits))
    if isinstance(type_, FLOATS):
        count = f"CAST({called[0]} AS DOUBLE) * {scale}D"
        unit = 1000 if int(digits) <= 3 else scale
        micros = f"CAST(floor({count} / {unit}D) AS DECIMAL(38, 0)) * {unit}"
    else:
        micros = f"CAST(CAST({called[0]} AS BIGINT) AS DECIMAL(30, 0)) * {scale}"
    return bind(
        micros, lambda v: f"if({v} BETWEEN {_RANGE}, timestamp_micros(CAST({v} AS BIGINT)), NULL)"
    )


def _instant_of_text(called: Called) -> str:
    """A text by a pattern, read by the clock of a zone, which is UTC unless given."""
    if is_fine(called.type):
        raise unsupported("TO_TIMESTAMP_LTZ of more than 6 digits is not run on Spark")
    if len(called.arguments) < 2:
        problem = fail("the text is no timestamp")

        def body(text: str) -> str:
            read = datetimes.timestamp_of_text(text, TimestampType(3))
            return f"coalesce({read}, if({text} IS NULL, NULL, {problem}))"

        return datetimes.instant(bind(called[0], body), "UTC")
    read = datetimes.of_micros(computed("to_timestamp", called[0], called[1]), TimestampType(3))
    zone = called[2][1:-1] if len(called.arguments) > 2 else "UTC"
    return datetimes.instant(read, zone)


def unix_date_text(called: Called) -> str:
    """FROM_UNIXTIME(seconds [, pattern]) in the session's zone."""
    pattern = called[1] if len(called.arguments) > 1 else STANDARD
    seconds = f"CAST({called[0]} AS BIGINT)"
    return computed("simple_format", seconds, pattern, string(called.zone))


def is_fine(type_: DataType) -> bool:
    """Whether a timestamp has digits of a second that Spark does not keep."""
    return isinstance(type_, AnyTimestampType) and type_.precision > MAX_PRECISION


def is_moment(type_: DataType) -> bool:
    """Whether a value is a point in time."""
    return isinstance(type_, DateType | TimeType | AnyTimestampType)


#: Functions of a timestamp that look at no more than its milliseconds.
COARSE = frozenset(
    {"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE"}
    | {"SECOND", "TIMESTAMPDIFF", "IS NULL", "IS NOT NULL", "COUNT", "TYPEOF"}
)


def _is_coarse_pattern(pattern: Typed) -> bool:
    """Whether a pattern shows no more than six digits of a second."""
    if not isinstance(pattern, Constant) or not isinstance(pattern.literal, Literal):
        return False
    return re.search("SSSSSSS|[nN]", pattern.literal.text) is None


def is_coarse(apply: FunctionCall) -> bool:
    """Whether a call gives the same for timestamps that differ beyond their microseconds."""
    words = [one.symbol.word for one in apply.arguments if isinstance(one, Keyword)]
    match apply.function.name:
        case "EXTRACT":
            return not set(words) & {"MICROSECOND", "NANOSECOND"}
        case "FLOOR":
            return bool(words)
        case "DATE_FORMAT":
            return _is_coarse_pattern(apply.arguments[1])
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
    pattern = called[1] if len(called.arguments) > 1 else STANDARD
    return computed("unix_timestamp", called[0], pattern, string(called.zone))


def moved_clock(called: Called) -> str:
    """CONVERT_TZ(text, zone, zone): what the second clock shows when the first shows the text."""
    return computed("convert_tz", *called.arguments)


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
    "OVERLAPS": overlaps,
}
