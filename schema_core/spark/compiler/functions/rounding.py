"""FLOOR and CEIL, of numbers, and of datetimes to a unit of time."""

from __future__ import annotations

from schema_core.expressions.typed import FunctionCall
from schema_core.spark.compiler.functions.temporal import datetimes
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import TranslatedCall, TranslationRule, rewrite_rule
from schema_core.spark.compiler.tree import Node, call, fail, let, unsupported_error
from schema_core.spark.compiler.value_types import FLOATS, sql_type
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

#: Units to which a DATE is rounded; to any other, it stays as it is.
DATE_UNITS = frozenset({"DAY", "WEEK", *MONTHS})


def rounding(*, up: bool) -> TranslationRule:
    """FLOOR, or CEIL: of numbers, and of datetimes to a unit."""

    def translate(called: TranslatedCall) -> Node:
        name = "ceil" if up else "floor"
        if len(called.arguments) == 1:
            return _integral(name, called)
        value, unit = called[0], called.keyword(1)
        type_ = called.types[0]
        if isinstance(type_, TimeType) and unit not in TIME_UNITS:
            raise unsupported_error(f"{name.upper()} of a TIME to {unit} is not supported on Spark")
        if _is_repeated(called) or (isinstance(type_, DateType) and unit not in DATE_UNITS):
            return value
        if isinstance(type_, LocalZonedTimestampType):
            return let(value, lambda v: _step_instant(unit, v, called.zone, up=up))
        return floor_to_unit(unit, value, type_, up=up)

    return rewrite_rule(translate)


def _is_repeated(called: TranslatedCall) -> bool:
    """Return whether a rounding to a unit is rounded again, which Flink's planner removes."""
    outer, inner = called.call, called.call.arguments[0]
    return (
        isinstance(inner, FunctionCall)
        and inner.function is outer.function
        and inner.arguments[1:] == outer.arguments[1:]
    )


def _step_instant(unit: str, node: Node, zone: str, *, up: bool) -> Node:
    """Round an instant in local time of a zone, with the offset from UTC at the instant itself.

    Flink ignores what it has beyond milliseconds, also when it rounds up.
    """

    def body(clock: Node) -> Node:
        millis = datetimes.truncate_digits(clock, 6, 3) if up else clock
        return inline(
            "timestamp_micros({step} - ({clock} - {instant}))",
            step=datetimes.micros(floor_to_unit(unit, millis, TimestampType(3), up=up)),
            clock=datetimes.micros(clock),
            instant=datetimes.micros(node),
        )

    return let(datetimes.util_local(node, zone), body)


def _integral(name: str, called: TranslatedCall) -> Node:
    """Round a number; a float stays a float and keeps the sign of zero."""
    if not isinstance(called.type, FLOATS):
        return called.cast(call(name, called[0]))
    rounded = (
        "CAST(CAST(floor({v}) AS DOUBLE) * CAST(1 AS DOUBLE) AS {type})"
        if name == "floor"
        else "CAST(CAST(floor(-{v}) AS DOUBLE) * CAST(-1 AS DOUBLE) AS {type})"
    )
    return let(
        called[0],
        lambda v: inline(
            "if(isnan({v}) OR abs({v}) > 4e18 OR {v} = 0, {v}, {rounded})",
            v=v,
            rounded=inline(rounded, v=v, type=sql_type(called.type)),
        ),
    )


def floor_to_unit(unit: str, node: Node, type_: DataType, *, up: bool) -> Node:
    """Round a datetime without a zone down (or up) to the start of a unit."""
    if unit in MILLIS and not isinstance(type_, DateType):
        return _stepped_time(MILLIS[unit], node, type_, up=up)

    def body(day: Node) -> Node:
        return let(_reread(day), lambda shown: _stepped_day(unit, type_, day, shown, up=up))

    return let(datetimes.convert(node, type_, DateType(), "UTC"), body)


def _stepped_day(unit: str, type_: DataType, day: Node, shown: Node, *, up: bool) -> Node:
    """Return the start of the unit of a day, which before 1582 is printed as another day."""
    start = _start(unit, shown, day)
    if up:
        start = let(start, lambda first: _rounded_up(unit, first, shown))
    return datetimes.convert(start, DateType(), type_, "UTC")


def _rounded_up(unit: str, start: Node, shown: Node) -> Node:
    """Return the start of the next unit; of years to weeks, the first day itself stays.

    Flink ignores the time of the day here, and of quarters only the first one of a year stays.
    """
    following = _following(unit, start)
    if unit not in STAYING:
        return following
    first = call("trunc", shown, "YEAR") if unit == "QUARTER" else start
    return inline(
        "if({first} = {shown}, {first}, {next})", first=first, shown=shown, next=following
    )


def _reread(day: Node) -> Node:
    """Return a date before 1582 by its Julian year, month and day, which Flink uses here.

    They are interpreted in the Gregorian calendar, so that the date shifts by some days. That
    calendar begins on day -141427, counted from 1970.
    """
    count = datetimes.days(day)
    year = inline(  # from March on
        "CAST(floor((4L * ({count} + 719470) + 3) / 1461D) AS INT)", count=count
    )
    moved = sql(
        "{count} + 2 - CAST(floor({year} / 100D) AS INT) + CAST(floor({year} / 400D) AS INT)",
        count=count,
        year=year,
    )
    return inline(
        "if({count} < -141427, {moved}, {day})",
        count=count,
        moved=datetimes.of_days(moved),
        day=day,
    )


def _stepped_time(size: int, node: Node, type_: DataType, *, up: bool) -> Node:
    is_time = isinstance(type_, TimeType)
    count = datetimes.time_millis(node) if is_time else datetimes.millis(node)
    if up and size == 1 and not is_time:
        count = sql("-(-{n} - pmod(-{n}, 1000)) DIV 1000", n=datetimes.micros(node))

    def body(value: Node) -> Node:
        step = inline("{v} - pmod({v}, {size})", v=value, size=size)
        if up:
            step = inline(
                "if(pmod({v}, {size}) = 0, {v}, {down} + {size})", v=value, size=size, down=step
            )
        if not is_time:
            return datetimes.of_millis(step, type_)
        if up:
            step = sql(
                "if({step} >= 86400000, {beyond}, {step})",
                step=step,
                beyond=fail("the time exceeds a day"),
            )
        return datetimes.time_of_millis(step, type_)

    return let(count, body)


#: Units that are not rounded up on their first day.
STAYING = frozenset({"WEEK", "MONTH", "QUARTER", "YEAR"})


def _start(unit: str, shown: Node, day: Node) -> Node:
    """Return the first day of a unit; the day of the week is that of the day itself."""
    match unit:
        case "DAY":
            return shown
        case "WEEK":
            return inline("date_sub({shown}, dayofweek({day}) - 1)", shown=shown, day=day)
        case "MONTH" | "QUARTER" | "YEAR":
            return call("trunc", shown, unit)
        case "DECADE":
            return inline("make_date(floor(year({shown}) / 10) * 10, 1, 1)", shown=shown)
        case "CENTURY":
            text = "make_date(floor((year({shown}) - 1) / 100) * 100 + 1, 1, 1)"
            return inline(text, shown=shown)
        case "MILLENNIUM":
            text = "make_date(floor((year({shown}) - 1) / 1000) * 1000 + 1, 1, 1)"
            return inline(text, shown=shown)
        case _:
            raise unsupported_error(f"FLOOR to {unit} is not supported on Spark")


def _following(unit: str, start: Node) -> Node:
    """Return the start of the next unit."""
    if unit in ("DAY", "WEEK"):
        return call("date_add", start, 7 if unit == "WEEK" else 1)
    return call("add_months", start, MONTHS.get(unit, 0))


RULES: dict[str, TranslationRule] = {
    "FLOOR": rounding(up=False),
    "CEIL": rounding(up=True),
    "CEILING": rounding(up=True),
}
