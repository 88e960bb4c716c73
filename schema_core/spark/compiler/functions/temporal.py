"""Functions of dates, times and timestamps, FLOOR and CEIL; `datetimes` has the representation."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from schema_core import types
from schema_core.base.lazy import regex
from schema_core.expressions import intervals
from schema_core.expressions.typed import FunctionCall
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes, numeric_patterns
from schema_core.spark.compiler.functions.numbers import add_interval, months_between
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import (
    CHARACTERS,
    FLOATS,
    INTEGERS,
    MAX_PRECISION,
    TranslatedCall,
    TranslationRule,
    call_udf,
    is_fine,
    refusal_rule,
    rewrite_rule,
    sql_type,
    udf,
)
from schema_core.spark.compiler.tree import Node
from schema_core.spark.compiler.udfs import java_dates
from schema_core.types import DataType

#: Units of FLOOR and CEIL -> their months.
MONTHS = {**intervals.MONTHS, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12000}

#: Unit -> the field of a date `d`.
DATE_FIELDS: dict[str, str] = {
    "YEAR": "year({d})",
    "QUARTER": "quarter({d})",
    "MONTH": "month({d})",
    "WEEK": "weekofyear({d})",
    "DAY": "day({d})",
    "DOW": "dayofweek({d})",
    "DOY": "dayofyear({d})",
    "ISODOW": "date_part('DAYOFWEEK_ISO', {d})",
    "ISOYEAR": "date_part('YEAROFWEEK', {d})",
    "DECADE": "floor(year({d}) / 10)",
    "CENTURY": "if(year({d}) > 0, (year({d}) + 99) DIV 100, (year({d}) - 99) DIV 100)",
    "MILLENNIUM": "if(year({d}) > 0, (year({d}) + 999) DIV 1000, (year({d}) - 999) DIV 1000)",
}

#: Unit -> the field of milliseconds `t` within a day.
TIME_FIELDS: dict[str, str] = {
    "HOUR": "{t} DIV 3600000",
    "MINUTE": "{t} % 3600000 DIV 60000",
    "SECOND": "{t} % 60000 DIV 1000",
    "MILLISECOND": "{t} % 1000",
}

#: Unit -> the field of a number of months.
MONTH_FIELDS = {"YEAR": "{n} DIV 12", "MONTH": "{n} % 12"}


def _days(node: Node, type_: DataType, zone: str) -> Node:
    """Return the date of a datetime in Flink; before 1970 the date of the day's end."""
    if isinstance(type_, types.DateType):
        return node
    clock = datetimes.util_clock(node, type_, zone)
    return datetimes.convert(clock, types.TimestampType(3), types.DateType(), zone)


def _time(node: Node, type_: DataType, zone: str) -> Node:
    """Return the milliseconds of the day, negative before 1970."""
    if isinstance(type_, types.TimeType):
        return datetimes.time_millis(node)
    if isinstance(type_, types.DateType):  # Flink interprets the number of days as milliseconds
        return datetimes.days(node)
    return inline("{n} % 86400000", n=datetimes.millis(datetimes.util_clock(node, type_, zone)))


def field(unit: str, node: Node, type_: DataType, zone: str) -> Node:
    """Return a field of a datetime or interval."""
    if isinstance(type_, types.YearMonthIntervalType) and unit in MONTH_FIELDS:
        return inline(MONTH_FIELDS[unit], n=node)
    if isinstance(type_, types.DayTimeIntervalType) and unit == "DAY":
        return inline("{n} DIV 86400000", n=node)
    if isinstance(type_, types.DayTimeIntervalType) and unit in TIME_FIELDS:
        return inline(TIME_FIELDS[unit], t=inline("{n} % 86400000", n=node))
    if type_.is_(types.TypeFamily.INTERVAL):
        raise nodes.unsupported_error(
            f"{unit} of {type_.as_summary_string()} is not supported on Spark"
        )
    if unit == "EPOCH":
        if isinstance(type_, types.DateType):
            return inline("unix_date({d}) * 86400L", d=node)
        return inline("{n} DIV 1000", n=datetimes.millis(datetimes.util_clock(node, type_, zone)))
    if unit in TIME_FIELDS:
        return sql(TIME_FIELDS[unit], t=_time(node, type_, zone))
    if unit in DATE_FIELDS and not isinstance(type_, types.TimeType):
        return sql(DATE_FIELDS[unit], d=_days(node, type_, zone))
    raise nodes.unsupported_error(
        f"{unit} of {type_.as_summary_string()} is not supported on Spark"
    )


def extract(called: TranslatedCall) -> Node:
    """EXTRACT(unit FROM datetime)."""
    unit, type_ = called.keyword(0), called.types[1]
    if unit in FRACTIONS and isinstance(type_, types.AnyTimestampType):
        return _fraction(FRACTIONS[unit], called[1], type_, called.zone)
    return nodes.Cast(field(called.keyword(0), called[1], called.types[1], called.zone), "BIGINT")


#: Unit -> the digits of a second that EXTRACT returns.
FRACTIONS = {"MICROSECOND": 6, "NANOSECOND": 9}


def _fraction(digits: int, node: Node, type_: types.AnyTimestampType, zone: str) -> Node:
    """Return the fraction of a second; milliseconds are negative before 1970."""
    beyond = datetimes.nanos(node) if is_fine(type_) else 0
    return nodes.let(
        datetimes.micros(datetimes.util_clock(node, type_, zone)),
        lambda n: inline(
            "{millis} % 1000 * {unit} + (pmod({n}, 1000) * 1000 + {beyond}) DIV {rest}",
            millis=inline("({n} - pmod({n}, 1000)) DIV 1000", n=n),
            unit=10 ** (digits - 3),
            n=n,
            beyond=beyond,
            rest=10 ** (9 - digits),
        ),
    )


def part(unit: str) -> TranslationRule:
    """YEAR(datetime) and its variants."""
    return rewrite_rule(
        lambda called: nodes.Cast(field(unit, called[0], called.types[0], called.zone), "BIGINT")
    )


# --- adding and subtracting --------------------------------------------------------------------


def unit_of(word: str) -> str:
    """Return a unit without JDBC's prefix."""
    name = word.strip("`").upper().removeprefix("SQL_TSI_")
    return {"FRAC_SECOND": "MICROSECOND"}.get(name, name)


def _unit_argument(called: TranslatedCall) -> str:
    return unit_of(called.keyword(0) or nodes.string_of(called[0]) or "")


def timestamp_add(called: TranslatedCall) -> Node:
    """TIMESTAMPADD(unit, number, datetime)."""
    unit, number, type_ = _unit_argument(called), called[1], called.type
    node = datetimes.convert(called[2], called.types[2], type_, called.zone)
    if unit in intervals.MONTHS:
        count = inline("CAST({n} * {size} AS INT)", n=number, size=intervals.MONTHS[unit])
        return add_interval(node, type_, count, types.YearMonthIntervalType())
    if unit not in intervals.MILLIS:
        raise nodes.unsupported_error(f"TIMESTAMPADD of {unit} is not supported on Spark")
    count = nodes.operator("*", number, nodes.Literal(str(intervals.MILLIS[unit]), "L"))
    return add_interval(node, type_, count, types.DayTimeIntervalType())


def timestamp_diff(called: TranslatedCall) -> Node:
    """TIMESTAMPDIFF(unit, from, to): full units, towards zero; of instants in UTC."""
    unit = _unit_argument(called)
    pairs = ((called[1], called.types[1]), (called[2], called.types[2]))
    if len({isinstance(type_, types.LocalZonedTimestampType) for _, type_ in pairs}) > 1:
        raise nodes.unsupported_error(
            "Flink does not compare TIMESTAMP_LTZ with another datetime", hint="cast one of them"
        )
    clocks = [datetimes.clock(node, type_, "UTC") for node, type_ in pairs]
    if unit in intervals.MONTHS:
        count = months_between(clocks[1], clocks[0])
        return inline("CAST({n} DIV {size} AS INT)", n=count, size=intervals.MONTHS[unit])
    gap = nodes.operator("-", datetimes.millis(clocks[1]), datetimes.millis(clocks[0]))
    if unit in ("MINUTE", "HOUR", "DAY"):
        return inline("CAST({gap} DIV {size} AS INT)", gap=gap, size=intervals.MILLIS[unit])
    seconds = called.cast(inline("{gap} DIV 1000", gap=gap))  # which wraps
    if unit == "WEEK":
        return inline("CAST({n} DIV 604800 AS INT)", n=seconds)
    if unit not in PARTS:
        raise nodes.unsupported_error(f"TIMESTAMPDIFF of {unit} is not supported on Spark")
    return nodes.operator("*", seconds, called.cast(nodes.Literal(PARTS[unit])))


#: Fractions of a second, counted as multiples of full seconds.
PARTS = {"SECOND": 1, "MILLISECOND": 1000, "MICROSECOND": 1_000_000, "NANOSECOND": 1_000_000_000}


def overlaps(called: TranslatedCall) -> Node:
    """``(a, b) OVERLAPS (c, d)``; the second of a pair may be an interval."""
    first, second = called.types

    def body(one: Node, other: Node) -> Node:
        (a, b), (c, d) = _period(one, first), _period(other, second)
        return inline("{b} >= {c} AND {d} >= {a}", a=a, b=b, c=c, d=d)

    return nodes.let_all(called.arguments, body)


def _period(row: Node, type_: DataType) -> tuple[Node, Node]:
    if not isinstance(type_, types.RowType):
        raise nodes.unsupported_error("OVERLAPS requires pairs of datetimes")
    start, end = (nodes.Field(row, part.name) for part in type_.fields)
    datetime, length = (part.data_type for part in type_.fields)
    last: Node = (
        add_interval(start, datetime, end, length) if length.is_(types.TypeFamily.INTERVAL) else end
    )
    bounds = {"start": start, "end": last}
    return (
        inline("if({start} <= {end}, {start}, {end})", **bounds),
        inline("if({start} <= {end}, {end}, {start})", **bounds),
    )


# --- strings -----------------------------------------------------------------------------------


def date_format(called: TranslatedCall) -> Node:
    """DATE_FORMAT(datetime, pattern); a string is parsed as a timestamp."""
    node, type_, pattern = called[0], called.types[0], called[1]
    if isinstance(type_, CHARACTERS):
        if shown := numeric_patterns.simple_pattern(pattern):
            return numeric_patterns.convert_tz(node, "UTC", "UTC", shown)
        return call_udf("reformat_datetime", node, pattern)
    clock = datetimes.clock(node, type_, called.zone)
    constant = nodes.string_of(pattern)
    if constant is not None and is_plain(constant):
        has_year = any((part["letters"] or "").startswith("y") for part in _PART.finditer(constant))
        if not has_year:
            return nodes.call("date_format", clock, constant)
        # In Java `y` is the year of the era: the year 0 is 0001 BC. Spark agrees only if the
        # pattern has an era, whose two letters (AD, BC) are removed again.
        return nodes.call("substring", nodes.call("date_format", clock, f"G{constant}"), 3)
    coarse = constant is not None and re.search("SSSSSSS|[nNA]", constant) is None
    beyond = datetimes.nanos(node) if is_fine(type_) and not coarse else 0
    return nodes.let(
        clock,
        lambda shown: call_udf(
            "date_format",
            inline("unix_seconds(CAST({c} AS TIMESTAMP))", c=shown),
            nodes.Cast(nodes.operator("+", datetimes.nano_part(shown), beyond), "INT"),
            pattern,
        ),
    )


#: Parts of patterns that Spark formats as Flink does.
_PART = regex(r"(?P<letters>([a-zA-Z])\2*)|'[^']+'|[-/:., ]")
#: Letter -> how often it may be repeated.
_COUNTS: Mapping[str, Collection[int]] = {
    "y": (2, 4),
    **dict.fromkeys("ME", range(1, 5)),
    **dict.fromkeys("dHhKkms", (1, 2)),
    "D": (1, 3),
    "S": range(1, 7),
    "a": (1,),
}


def is_plain(pattern: str) -> bool:
    """Return whether Spark formats datetimes by a pattern as Flink does.

    >>> is_plain("EEE, d MMM yyyy hh:mm a"), is_plain("MMMMM"), is_plain("yyyy Q")
    (True, False, False)
    """
    end = 0
    for part in _PART.finditer(pattern):
        letters = part["letters"]
        is_known = not letters or len(letters) in _COUNTS.get(letters[0], ())
        if part.start() != end or not is_known:
            return False
        end = part.end()
    return end == len(pattern)


#: Digits of a second that TO_TIMESTAMP returns.
TIMESTAMP_DIGITS = 3

#: The pattern of functions without one.
STANDARD = nodes.Literal(java_dates.STANDARD_PATTERN)


def to_timestamp(called: TranslatedCall) -> Node:
    """TO_TIMESTAMP(string [, pattern]): NULL for an invalid string."""
    if len(called.arguments) == 1:
        return nodes.let(
            called[0], lambda v: datetimes.timestamp_of_string(v, types.TimestampType(3))
        )
    return _timestamp_by_pattern(called[0], called[1])


def _timestamp_by_pattern(node: Node, pattern: Node) -> Node:
    """Parse a string by a pattern; constant numbers without Python."""
    if numbers := numeric_patterns.time_pattern(pattern):
        return numeric_patterns.to_timestamp(node, numbers)
    return datetimes.of_micros(call_udf("to_timestamp", node, pattern), types.TimestampType(3))


def to_date(called: TranslatedCall) -> Node:
    """TO_DATE(string [, pattern]): with a pattern any string is a date."""
    if len(called.arguments) > 1:
        if pattern := numeric_patterns.simple_pattern(called[1]):
            return numeric_patterns.to_date(called[0], pattern)
        return datetimes.of_days(call_udf("to_date", called[0], called[1]))
    return nodes.let(called[0], lambda v: datetimes.date_of_string(v, _date_of_string))


def _date_of_string(node: Node) -> Node:
    """Parse a date of any shape; a year beyond INT fails the job."""
    return inline(
        "if(CAST(regexp_extract({start}, {shape}, 1) AS DECIMAL(38, 0)) > 2147483647,"
        " {problem}, {date})",
        start=datetimes.date_part_of(node),
        shape=r"^[\x00- ]*(\d{1,38})[\x00- ]*(?:-|\z)",
        problem=nodes.fail("the year of a date is too large"),
        date=datetimes.any_date_of_string(node),
    )


def to_instant(called: TranslatedCall) -> Node:
    """TO_TIMESTAMP_LTZ(number, digits of a second); NULL beyond the years 0 to 9999."""
    type_ = called.types[0]
    if isinstance(type_, CHARACTERS):
        return _instant_of_string(called)
    digits = nodes.integer_of(called[1]) if len(called.arguments) > 1 else 3
    if digits is None and isinstance(type_, INTEGERS):
        return nodes.let_all(
            called.arguments, lambda n, places: _instant_by_row(n, places, called.type)
        )
    if digits is None or digits < 0:
        raise nodes.unsupported_error("TO_TIMESTAMP_LTZ requires a constant precision on Spark")
    if isinstance(type_, FLOATS):
        return nodes.let(_nanos_of_float(called[0], digits), lambda n: _instant(n, 9, called.type))
    return nodes.let(nodes.Cast(called[0], "BIGINT"), lambda n: _instant(n, digits, called.type))


def _instant_by_row(count: Node, digits: Node, type_: DataType) -> Node:
    number = nodes.Cast(count, "BIGINT")
    branches = tuple(
        (nodes.operator("=", digits, n), _instant(number, n, type_)) for n in range(10)
    )
    problem = nodes.fail("TO_TIMESTAMP_LTZ: the precision must be 0 to 9")
    return nodes.Case(
        ((nodes.any_null(count, digits), nodes.Cast(nodes.NULL, sql_type(type_))), *branches),
        problem,
    )


def _nanos_of_float(node: Node, digits: int) -> Node:
    """Return nanoseconds since 1970; a cast beyond BIGINT is its maximum."""
    return sql(
        "if({v} >= {first} AND {v} < {end}, CAST({v} * {unit} AS BIGINT), NULL)",
        v=nodes.Cast(node, "DOUBLE"),
        first=nodes.Literal(f"{_FIRST // 10**6}e{digits}", "D"),
        end=nodes.Literal(f"{_END // 10**6}e{digits}", "D"),
        unit=nodes.Literal(f"1e{9 - digits}", "D"),
    )


#: Microseconds since 1970 of the first days of the years 0 and 10000.
_FIRST, _END = -62_167_219_200_000_000, 253_402_300_800_000_000


def _instant(count: Node, digits: int, type_: DataType) -> Node:
    """Return the instant at a count of 10 ** -digits of a second since 1970, rounded down."""
    unit = 10 ** abs(digits - MAX_PRECISION)
    if digits > MAX_PRECISION:
        micros = inline("{n} DIV {unit} - if({n} % {unit} < 0, 1L, 0L)", n=count, unit=unit)
    else:
        micros = inline("CAST({n} AS DECIMAL(30, 0)) * {unit}", n=count, unit=unit)
    instant = sql(
        "if({m} BETWEEN {first} AND {last}, timestamp_micros(CAST({m} AS BIGINT)), NULL)",
        m=micros,
        first=nodes.Literal(str(_FIRST), "L"),
        last=nodes.Literal(str(_END - 1), "L"),
    )
    if isinstance(type_, types.AnyTimestampType) and not is_fine(type_):
        return datetimes.truncate_digits(instant, MAX_PRECISION, max(3, type_.precision))
    rest = inline("pmod({n}, {unit}) * {size}", n=count, unit=unit, size=1000 // unit)
    return datetimes.make_nanosecond_struct(instant, rest)


def _instant_of_string(called: TranslatedCall) -> Node:
    """Parse a string by a pattern as local time of a zone, UTC unless given."""
    if is_fine(called.type):
        raise nodes.unsupported_error(
            "TO_TIMESTAMP_LTZ of more than 6 digits is not supported on Spark"
        )
    if len(called.arguments) < 2:
        parsed = nodes.let(
            called[0],
            lambda v: inline(
                "coalesce({read}, if({v} IS NULL, NULL, raise_error({problem})))",
                v=v,
                read=datetimes.timestamp_of_string(v, types.TimestampType(3)),
                problem="the string is not a timestamp",
            ),
        )
        return datetimes.instant(parsed, "UTC")
    read = _timestamp_of_precision(called[0], called[1], called.type)
    if len(called.arguments) < 3:
        return datetimes.instant(read, "UTC")
    zone = nodes.string_of(called[2])
    if nodes.is_null_constant(called[2]):
        return called.cast(nodes.NULL)
    if zone is None:
        raise nodes.unsupported_error("TO_TIMESTAMP_LTZ requires a constant time zone on Spark")
    return datetimes.instant(read, zone)


def _timestamp_of_precision(node: Node, pattern: Node, type_: DataType) -> Node:
    if not isinstance(type_, types.LocalZonedTimestampType) or type_.precision <= TIMESTAMP_DIGITS:
        return _timestamp_by_pattern(node, pattern)
    micros = call_udf("to_timestamp_micros", node, pattern)
    read = datetimes.of_micros(micros, types.TimestampType(MAX_PRECISION))
    return datetimes.truncate_digits(read, MAX_PRECISION, type_.precision)


def unix_date_string(called: TranslatedCall) -> Node:
    """FROM_UNIXTIME(seconds [, pattern]) in the session's zone."""
    pattern = called[1] if len(called.arguments) > 1 else STANDARD
    seconds = nodes.Cast(called[0], "BIGINT")
    numbers = numeric_patterns.simple_pattern(pattern)
    if numbers and numeric_patterns.are_known(called.zone):
        return numeric_patterns.from_unixtime(seconds, numbers, called.zone)
    return call_udf("simple_format", seconds, pattern, called.zone)


def convert_tz(called: TranslatedCall) -> Node:
    """CONVERT_TZ(string, from, to); between constant zones without Python."""
    source, target = nodes.string_of(called[1]), nodes.string_of(called[2])
    if source is not None and target is not None and numeric_patterns.are_known(source, target):
        return numeric_patterns.convert_tz(called[0], source, target)
    return call_udf("convert_tz", *called.arguments)


def unix_time(called: TranslatedCall) -> Node:
    """UNIX_TIMESTAMP: seconds since 1970, now or of a string; the minimum BIGINT if invalid."""
    if not called.arguments:
        return nodes.Call("unix_timestamp", ())
    pattern = called[1] if len(called.arguments) > 1 else STANDARD
    numbers = numeric_patterns.simple_pattern(pattern)
    if numbers and numeric_patterns.are_known(called.zone):
        return numeric_patterns.unix_timestamp(called[0], numbers, called.zone)
    return call_udf("unix_timestamp", called[0], pattern, called.zone)


# --- FLOOR and CEIL ----------------------------------------------------------------------------

#: Units that a TIME has.
TIME_UNITS = frozenset({"MILLISECOND", "SECOND", "MINUTE", "HOUR"})

#: Units to which a DATE is rounded; others leave it unchanged.
DATE_UNITS = frozenset({"DAY", "WEEK", *MONTHS})


def rounding(*, up: bool) -> TranslationRule:
    """FLOOR or CEIL, of numbers, and of datetimes to a unit."""

    def translate(called: TranslatedCall) -> Node:
        name = "ceil" if up else "floor"
        if len(called.arguments) == 1:
            return _integral(name, called)
        value, unit = called[0], called.keyword(1)
        type_ = called.types[0]
        if isinstance(type_, types.TimeType) and unit not in TIME_UNITS:
            raise nodes.unsupported_error(
                f"{name.upper()} of a TIME to {unit} is not supported on Spark"
            )
        if _is_repeated(called) or (isinstance(type_, types.DateType) and unit not in DATE_UNITS):
            return value
        if isinstance(type_, types.LocalZonedTimestampType):
            return nodes.let(value, lambda v: _step_instant(unit, v, called.zone, up=up))
        return floor_to_unit(unit, value, type_, up=up)

    return rewrite_rule(translate)


def _is_repeated(called: TranslatedCall) -> bool:
    """Return whether Flink's planner removes a repeated rounding."""
    outer, inner = called.call, called.call.arguments[0]
    return (
        isinstance(inner, FunctionCall)
        and inner.function is outer.function
        and inner.arguments[1:] == outer.arguments[1:]
    )


def _step_instant(unit: str, node: Node, zone: str, *, up: bool) -> Node:
    """Round an instant in local time of a zone, with the offset at the instant itself.

    Flink ignores digits beyond milliseconds, also when it rounds up.
    """

    def body(clock: Node) -> Node:
        millis = datetimes.truncate_digits(clock, 6, 3) if up else clock
        return inline(
            "timestamp_micros({step} - ({clock} - {instant}))",
            step=datetimes.micros(floor_to_unit(unit, millis, types.TimestampType(3), up=up)),
            clock=datetimes.micros(clock),
            instant=datetimes.micros(node),
        )

    return nodes.let(datetimes.util_local(node, zone), body)


def _integral(name: str, called: TranslatedCall) -> Node:
    """Round a number; a float keeps its type and the sign of zero."""
    if not isinstance(called.type, FLOATS):
        return called.cast(nodes.call(name, called[0]))
    rounded = (
        "CAST(CAST(floor({v}) AS DOUBLE) * CAST(1 AS DOUBLE) AS {type})"
        if name == "floor"
        else "CAST(CAST(floor(-{v}) AS DOUBLE) * CAST(-1 AS DOUBLE) AS {type})"
    )
    return nodes.let(
        called[0],
        lambda v: inline(
            "if(isnan({v}) OR abs({v}) > 4e18 OR {v} = 0, {v}, {rounded})",
            v=v,
            rounded=inline(rounded, v=v, type=sql_type(called.type)),
        ),
    )


def floor_to_unit(unit: str, node: Node, type_: DataType, *, up: bool) -> Node:
    """Round a datetime without a zone down (or up) to the start of a unit."""
    if unit in intervals.MILLIS and unit != "WEEK" and not isinstance(type_, types.DateType):
        return _stepped_time(intervals.MILLIS[unit], node, type_, up=up)

    def body(day: Node) -> Node:
        return nodes.let(_reread(day), lambda shown: _stepped_day(unit, type_, day, shown, up=up))

    return nodes.let(datetimes.convert(node, type_, types.DateType(), "UTC"), body)


def _stepped_day(unit: str, type_: DataType, day: Node, shown: Node, *, up: bool) -> Node:
    start = _start(unit, shown, day)
    if up:
        start = nodes.let(start, lambda first: _rounded_up(unit, first, shown))
    return datetimes.convert(start, types.DateType(), type_, "UTC")


def _rounded_up(unit: str, start: Node, shown: Node) -> Node:
    """Return the start of the next unit; of years to weeks, the first day itself stays.

    Flink ignores the time of day; of quarters only the first of a year stays.
    """
    if unit in ("DAY", "WEEK"):
        following = nodes.call("date_add", start, 7 if unit == "WEEK" else 1)
    else:
        following = nodes.call("add_months", start, MONTHS.get(unit, 0))
    if unit not in STAYING:
        return following
    first = nodes.call("trunc", shown, "YEAR") if unit == "QUARTER" else start
    return inline(
        "if({first} = {shown}, {first}, {next})", first=first, shown=shown, next=following
    )


def _reread(day: Node) -> Node:
    """Return a date before 1582 by its Julian year, month and day, as Flink does here.

    The Gregorian calendar interprets them, so the date shifts. It begins on day -141427 from 1970.
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
    is_time = isinstance(type_, types.TimeType)
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
                beyond=nodes.fail("the time exceeds a day"),
            )
        return datetimes.time_of_millis(step, type_)

    return nodes.let(count, body)


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
            return nodes.call("trunc", shown, unit)
        case "DECADE":
            return inline("make_date(floor(year({shown}) / 10) * 10, 1, 1)", shown=shown)
        case "CENTURY":
            text = "make_date(floor((year({shown}) - 1) / 100) * 100 + 1, 1, 1)"
            return inline(text, shown=shown)
        case "MILLENNIUM":
            text = "make_date(floor((year({shown}) - 1) / 1000) * 1000 + 1, 1, 1)"
            return inline(text, shown=shown)
        case _:
            raise nodes.unsupported_error(f"FLOOR to {unit} is not supported on Spark")


_STREAMS = "it belongs to windows and watermarks of streams"

RULES: dict[str, TranslationRule] = {
    "EXTRACT": rewrite_rule(extract),
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
    "TIMESTAMPADD": rewrite_rule(timestamp_add),
    "TIMESTAMPDIFF": rewrite_rule(timestamp_diff),
    "DATE_FORMAT": udf(date_format),
    "TO_TIMESTAMP": udf(to_timestamp),
    "TO_DATE": udf(to_date),
    "TO_TIMESTAMP_LTZ": udf(to_instant),
    "FROM_UNIXTIME": udf(unix_date_string),
    "UNIX_TIMESTAMP": udf(unix_time),
    "CONVERT_TZ": udf(convert_tz),
    "OVERLAPS": rewrite_rule(overlaps),
    "FLOOR": rounding(up=False),
    "CEIL": rounding(up=True),
    "CEILING": rounding(up=True),
    **{
        name: refusal_rule(_STREAMS)
        for name in (
            "$HOP", "$SESSION", "$TUMBLE", "CURRENT_WATERMARK", "DESCRIPTOR",
            "PROCTIME_MATERIALIZE", "SOURCE_WATERMARK", "STREAMRECORD_TIMESTAMP",
            *(
                f"{window}{ending}"
                for window in ("HOP", "SESSION", "TUMBLE")
                for ending in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")
            ),
        )
    },
}  # fmt: skip
