"""FLOOR and CEIL, of numbers and of moments to a unit of time."""

from __future__ import annotations

from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.sql_builder import (
    FLOATS,
    Called,
    Form,
    bind,
    bind_all,
    fail,
    sql_type,
    unsupported,
)
from schema_core.types import (
    DataType,
    DateType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
)

#: Units that a TIME has.
TIME_UNITS = frozenset({"MILLISECOND", "SECOND", "MINUTE", "HOUR"})

MILLIS = {"MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12000}


def floor(called: Called) -> str:
    """FLOOR, of numbers and of moments."""
    return _step(called, up=False)


def ceil(called: Called) -> str:
    """CEIL, of numbers and of moments."""
    return _step(called, up=True)


def _step(called: Called, *, up: bool) -> str:
    name = "ceil" if up else "floor"
    if len(called.arguments) == 1:
        return _whole(name, called)
    text, unit = called.arguments
    type_ = called.types[0]
    if isinstance(type_, TimeType) and unit not in TIME_UNITS:
        raise unsupported(f"{name.upper()} of a TIME to {unit} is not run on Spark")
    if isinstance(type_, LocalZonedTimestampType):
        return bind(text, lambda v: _step_instant(unit, v, called.zone, up=up))
    return stepped(unit, text, type_, up=up)


def _step_instant(unit: str, text: str, zone: str, *, up: bool) -> str:
    """An instant by the clock of a zone, whose distance from UTC is taken where it starts."""
    clock = datetimes.util_local(text, zone)
    step = stepped(unit, clock, TimestampType(3), up=up)
    distance = f"({datetimes.micros(clock)} - {datetimes.micros(text)})"
    return f"timestamp_micros({datetimes.micros(step)} - {distance})"


def _whole(name: str, called: Called) -> str:
    """The whole number below or above; of a float it is a float, with its sign of zero."""
    if not isinstance(called.type, FLOATS):
        return f"CAST({name}({called[0]}) AS {sql_type(called.type)})"

    def body(value: str) -> str:
        step = f"floor({value})" if name == "floor" else f"floor(- {value})"
        sign = "1" if name == "floor" else "-1"
        whole = f"CAST(CAST({step} AS DOUBLE) * CAST({sign} AS DOUBLE) AS {sql_type(called.type)})"
        return f"if(isnan({value}) OR abs({value}) > 4e18 OR {value} = 0, {value}, {whole})"

    return bind(called[0], body)


def stepped(unit: str, text: str, type_: DataType, *, up: bool) -> str:
    """A moment without a zone, down (or up) to the start of a unit."""
    if unit in MILLIS and not isinstance(type_, DateType):
        return _stepped_time(MILLIS[unit], text, type_, up=up)
    if unit == "DAY" and isinstance(type_, DateType | TimeType):
        return text
    day = datetimes.convert(text, type_, DateType(), "UTC")

    def body(text: str, day: str) -> str:
        return bind(_reread(day), lambda shown: _stepped_day(unit, text, type_, day, shown, up=up))

    return bind_all([text, day], body)


def _stepped_day(unit: str, text: str, type_: DataType, day: str, shown: str, *, up: bool) -> str:
    """The start of the unit of a day, which before 1582 is shown as another one."""
    start = _start(unit, shown, day)
    if up:
        exact = f"{{0}} = {shown} AND {datetimes.convert(day, DateType(), type_, 'UTC')} = {text}"
        start = bind(start, f"if({exact}, {{0}}, {_following(unit, '{0}')})".format)
    return datetimes.convert(start, DateType(), type_, "UTC")


#: The first day of the Gregorian calendar, counted from 1970.
CUTOVER = -141_427


def _reread(day: str) -> str:
    """A date before 1582 by its name in the Julian calendar, as Flink takes it apart here.

    The name is read in the Gregorian calendar again, so that the date moves by some days.
    """
    count = datetimes.days(day)
    year = f"CAST(floor((4L * ({count} + 719470) + 3) / 1461D) AS INT)"  # from March on
    moved = f"{count} + 2 - CAST(floor({year} / 100D) AS INT) + CAST(floor({year} / 400D) AS INT)"
    return f"if({count} < {CUTOVER}, {datetimes.of_days(moved)}, {day})"


def _stepped_time(size: int, text: str, type_: DataType, *, up: bool) -> str:
    is_time = isinstance(type_, TimeType)
    count = datetimes.time_millis(text) if is_time else datetimes.millis(text)

    def body(value: str) -> str:
        down = f"({value} - pmod({value}, {size}))"
        step = f"if(pmod({value}, {size}) = 0, {value}, {down} + {size})" if up else down
        if not is_time:
            return datetimes.of_millis(step, type_)
        beyond = fail("the time is beyond its day")
        time = bind(step, f"if({{0}} >= {datetimes.DAY}, {beyond}, {{0}})".format) if up else step
        return datetimes.time_of_millis(time, type_)

    return bind(count, body)


def _start(unit: str, shown: str, day: str) -> str:
    """The first day of a unit; the day of the week is that of the day itself."""
    match unit:
        case "WEEK":
            return f"date_sub({shown}, dayofweek({day}) - 1)"
        case "MONTH" | "QUARTER" | "YEAR":
            return f"trunc({shown}, '{unit}')"
        case "DECADE":
            return f"make_date(floor(year({shown}) / 10) * 10, 1, 1)"
        case "CENTURY":
            return f"make_date(floor((year({shown}) - 1) / 100) * 100 + 1, 1, 1)"
        case "MILLENNIUM":
            return f"make_date(floor((year({shown}) - 1) / 1000) * 1000 + 1, 1, 1)"
        case _:
            raise unsupported(f"FLOOR to {unit} is not run on Spark")


def _following(unit: str, start: str) -> str:
    """The start of the next unit."""
    if unit == "WEEK":
        return f"date_add({start}, 7)"
    return f"add_months({start}, {MONTHS.get(unit, 0)})"


FORMS: dict[str, Form] = {
    "FLOOR": floor,
    "CEIL": ceil,
    "CEILING": ceil,
}
