"""Dates, times, timestamps and intervals in Spark's words, reckoned as Flink reckons.

Flink counts days, milliseconds of a day, and milliseconds since 1970, and divides towards zero
where it splits a timestamp; so before 1970 the day of a timestamp is that of its end. The session
zone of Spark is UTC: there a TIMESTAMP and a TIMESTAMP_NTZ show the same clock.
"""

from __future__ import annotations

from schema_core.spark.compiler.sql_builder import (
    MAX_PRECISION,
    bind,
    sql_type,
    string,
)
from schema_core.spark.compiler.udfs.zones import standard_offset
from schema_core.types import (
    AnyTimestampType,
    DataType,
    DateType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)

DAY = 86_400_000
EPOCH = "DATE'1970-01-01'"


# --- counting ----------------------------------------------------------------------------------


def micros(text: str) -> str:
    """Microseconds since 1970 of a timestamp of either kind, by the clock that it shows."""
    return f"unix_micros(CAST({text} AS TIMESTAMP))"


def millis(text: str) -> str:
    """Milliseconds since 1970, rounded down."""
    return f"unix_millis(CAST({text} AS TIMESTAMP))"


def days(text: str) -> str:
    """Days since 1970 of a date."""
    return f"unix_date({text})"


def of_micros(count: str, type_: DataType) -> str:
    """The timestamp of so many microseconds since 1970."""
    if isinstance(type_, LocalZonedTimestampType):
        return f"timestamp_micros({count})"
    return f"CAST(timestamp_micros({count}) AS TIMESTAMP_NTZ)"


def of_millis(count: str, type_: DataType) -> str:
    """The timestamp of so many milliseconds since 1970."""
    if isinstance(type_, LocalZonedTimestampType):
        return f"timestamp_millis({count})"
    return f"CAST(timestamp_millis({count}) AS TIMESTAMP_NTZ)"


def of_days(count: str) -> str:
    """The date of so many days since 1970."""
    return f"date_from_unix_date(CAST({count} AS INT))"


def time_millis(text: str) -> str:
    """Milliseconds since midnight of a time."""
    return f"time_to_millis({text})"


def time_of_millis(count: str, type_: DataType) -> str:
    """The time of so many milliseconds since midnight, which may be any number."""
    return f"CAST(time_from_millis(pmod({count}, {DAY})) AS {sql_type(type_)})"


# --- zones -------------------------------------------------------------------------------------


def local(text: str, zone: str) -> str:
    """What the clock of a zone shows at an instant, as a TIMESTAMP_NTZ."""
    shifted = text if zone == "UTC" else f"from_utc_timestamp({text}, {string(zone)})"
    return f"CAST({shifted} AS TIMESTAMP_NTZ)"


def instant(text: str, zone: str) -> str:
    """The instant at which the clock of a zone shows a TIMESTAMP_NTZ; the earlier one of two."""
    shown = f"CAST({text} AS TIMESTAMP)"
    return shown if zone == "UTC" else f"to_utc_timestamp({shown}, {string(zone)})"


def clock(text: str, type_: DataType, zone: str) -> str:
    """Any moment as the TIMESTAMP_NTZ that its reader sees on the clock."""
    match type_:
        case LocalZonedTimestampType():
            return local(text, zone)
        case DateType():
            return f"CAST({text} AS TIMESTAMP_NTZ)"
        case _:
            return text


def util_local(text: str, zone: str) -> str:
    """What a clock shows at an instant as java.util has it: before 1900 it knows no local times."""
    if zone == "UTC":
        return local(text, zone)
    offset = standard_offset(zone) * 1_000_000
    early = f"timestamp_micros(unix_micros({{0}}) + {offset}L)"
    late = f"from_utc_timestamp({{0}}, {string(zone)})"
    shown = bind(text, f"if({{0}} < TIMESTAMP'1900-01-01 00:00:00', {early}, {late})".format)
    return f"CAST({shown} AS TIMESTAMP_NTZ)"


def util_clock(text: str, type_: DataType, zone: str) -> str:
    """`clock`, but of an instant as java.util has it."""
    if isinstance(type_, LocalZonedTimestampType):
        return util_local(text, zone)
    return clock(text, type_, zone)


def nano_part(text: str) -> str:
    """The nanoseconds of the last second."""
    return f"CAST(pmod({micros(text)}, 1000000) * 1000 AS INT)"


# --- casts -------------------------------------------------------------------------------------


def truncated(text: str, source: int, target: int, type_: DataType) -> str:
    """A timestamp with fewer digits of a second: cut, not rounded."""
    if target >= min(source, MAX_PRECISION):
        return text
    unit = 10 ** (MAX_PRECISION - target)
    return bind(text, lambda v: of_micros(f"({micros(v)} - pmod({micros(v)}, {unit}))", type_))


def narrowed(text: str, source: int, target: int, type_: DataType) -> str:
    """A cast between timestamps: milliseconds are cut towards 1970, smaller digits are cut off."""
    if target >= min(source, MAX_PRECISION):
        return text
    if target >= 3:
        return truncated(text, source, target, type_)
    unit = 10 ** (3 - target)
    return bind(text, lambda v: of_millis(f"({millis(v)} - {millis(v)} % {unit})", type_))


def convert(text: str, source: DataType, target: DataType, zone: str) -> str:
    """Between two types of moments."""
    match source, target:
        case DateType(), TimestampType():
            return f"CAST({text} AS TIMESTAMP_NTZ)"
        case DateType(), LocalZonedTimestampType():
            return instant(f"CAST({text} AS TIMESTAMP_NTZ)", zone)
        case LocalZonedTimestampType(), DateType():
            return f"CAST({local(text, zone)} AS DATE)"
        case AnyTimestampType(), DateType():
            return of_days(f"{millis(clock(text, source, zone))} DIV {DAY}")
        case AnyTimestampType(), TimeType():
            return time_of_millis(f"{millis(clock(text, source, zone))} % {DAY}", target)
        case AnyTimestampType(), AnyTimestampType() if type(source) is type(target):
            return narrowed(text, source.precision, target.precision, target)
        case LocalZonedTimestampType(), TimestampType():
            return narrowed(local(text, zone), source.precision, target.precision, target)
        case TimestampType(), LocalZonedTimestampType():
            return narrowed(instant(text, zone), source.precision, target.precision, target)
        case TimeType(), TimestampType():
            return of_millis(time_millis(text), target)
        case TimeType(), LocalZonedTimestampType():
            return instant(of_millis(time_millis(text), TimestampType(3)), zone)
        case _:
            return f"CAST({text} AS {sql_type(target)})"


# --- texts -------------------------------------------------------------------------------------

_DATE = r"^\\s*0*(\\d{1,4})(?:-0*(\\d{1,2})(?:-0*(\\d{1,2}))?)?(?:\\s.*)?$"
_TIME = r"^\\s*0*(\\d{1,2})(?::0*(\\d{1,2})(?::0*(\\d{1,2})(?:\\.(\\d*))?)?)?\\s*$"
_STAMP = r"^(\\d{4})-(\\d{1,2})-(\\d{1,2})(?: (\\d{1,2}):(\\d{1,2}):(\\d{1,2})(?:\\.(\\d{1,9}))?)?$"


def _part(text: str, shape: str, group: int, default: str = "0") -> str:
    """A group of a shape as a number; the default where it is not there."""
    found = f"regexp_extract({text}, '{shape}', {group})"
    return f"coalesce(CAST({found} AS INT), {default})"


def _micro_part(text: str, shape: str, group: int) -> str:
    """The digits behind a point as microseconds."""
    return f"CAST(rpad(regexp_extract({text}, '{shape}', {group}), 6, '0') AS INT)"


def date_of_text(text: str) -> str:
    """A text as a date: a year, maybe with month and day; NULL for anything else."""
    parts = ", ".join(_part(text, _DATE, group, "1") for group in (1, 2, 3))
    return f"if(rlike({text}, '{_DATE}'), make_date({parts}), NULL)"


def time_of_text(text: str, target: TimeType) -> str:
    """A text as a time: hours, maybe with minutes, seconds and a fraction, of which 3 digits."""
    hours, minutes, seconds = (_part(text, _TIME, group) for group in (1, 2, 3))
    good = f"rlike({text}, '{_TIME}') AND {hours} < 24 AND {minutes} < 60 AND {seconds} < 60"
    count = (
        f"(({hours} * 60 + {minutes}) * 60 + {seconds}) * 1000L"
        f" + CAST(rpad(regexp_extract({text}, '{_TIME}', 4), 3, '0') AS INT)"
    )
    unit = 10 ** max(0, 3 - target.precision)
    cut = f"({count}) DIV {unit} * {unit}" if unit > 1 else count
    return f"if({good}, CAST(time_from_millis({cut}) AS {sql_type(target)}), NULL)"


def timestamp_of_text(text: str, target: TimestampType) -> str:
    """A text as a timestamp: a date of four digits of year, maybe with a time to the second.

    A day that its month does not have is the month's last; 24:00:00 is the next midnight.
    """
    year, month, day = (_part(text, _STAMP, group) for group in (1, 2, 3))
    hours, minutes, seconds = (_part(text, _STAMP, group) for group in (4, 5, 6))
    micro = _micro_part(text, _STAMP, 7)
    first = f"make_date({year}, {month}, 1)"
    midnight = f"{hours} = 24 AND {minutes} = 0 AND {seconds} = 0 AND {micro} = 0"
    good = (
        f"rlike({text}, '{_STAMP}') AND {day} BETWEEN 1 AND 31 AND {minutes} < 60"
        f" AND {seconds} < 60 AND ({hours} < 24 OR {midnight})"
    )
    date = f"date_add({first}, least({day}, day(last_day({first}))) - 1)"
    count = (
        f"((unix_date({date}) * 24L + {hours}) * 60 + {minutes}) * 60000000L"
        f" + {seconds} * 1000000L + {micro}"
    )
    value = of_micros(count, target)
    return f"if({good}, {truncated(value, MAX_PRECISION, target.precision, target)}, NULL)"


def printed(text: str, source: DataType, zone: str) -> str:
    """A time or timestamp as text, with exactly the digits of its precision."""
    if isinstance(source, TimeType):
        shape, shown, precision = "HH:mm:ss", text, source.precision
        whole = f"left(CAST({shown} AS STRING), 8)"
        digits = f"substring(CAST({shown} AS STRING), 10)"
    else:
        shape = "yyyy-MM-dd HH:mm:ss"
        shown = clock(text, source, zone)
        precision = source.precision if isinstance(source, AnyTimestampType) else 0
        whole, digits = f"date_format({shown}, '{shape}')", f"date_format({shown}, 'SSSSSS')"
    if precision == 0:
        return whole
    if isinstance(source, TimeType):  # zeroes at the end are not shown, but one digit is
        return bind(
            f"rtrim('0', {digits})", f"concat({whole}, '.', if({{0}} = '', '0', {{0}}))".format
        )
    return f"concat({whole}, '.', rpad({digits}, {precision}, '0'))"


def printed_interval(text: str, source: DataType) -> str:
    """An interval as text: ``+1-02``, or ``+1 02:03:04.005``."""

    def months(count: str) -> str:
        size = f"abs(CAST({count} AS BIGINT))"
        sign = f"if({count} < 0, '-', '+')"
        return f"concat({sign}, {size} DIV 12, '-', lpad(CAST({size} % 12 AS STRING), 2, '0'))"

    def milliseconds(count: str) -> str:
        size = f"abs({count})"
        sign = f"if({count} < 0, '-', '+')"
        rest = f"date_format(timestamp_millis({size} % {DAY}), 'HH:mm:ss.SSS')"
        return f"concat({sign}, {size} DIV {DAY}, ' ', {rest})"

    return bind(text, months if isinstance(source, YearMonthIntervalType) else milliseconds)
