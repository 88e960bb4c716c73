"""Dates, times, timestamps and intervals as Spark nodes.

Flink has days, milliseconds of a day and milliseconds since 1970, and divides towards zero, so
before 1970 a timestamp has the day of its end. In UTC, Spark's session zone, TIMESTAMP and
TIMESTAMP_NTZ have equal local times.

Spark's timestamps have microseconds. Within an expression a timestamp of seven to nine digits is a
struct with 0 to 999 nanoseconds, which Spark compares, groups and sorts as Flink does. Frames
have microseconds: there a value with nanoseconds fails the job.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from schema_core import types
from schema_core.base.lazy import regex
from schema_core.expressions.typed import Ref
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import (
    MAX_PRECISION,
    MICROS,
    NANOS,
    Translate,
    TranslatedCall,
    has_nanoseconds,
    is_fine,
    sql_type,
    truncated_to_micros,
)
from schema_core.spark.compiler.tree import Node
from schema_core.spark.compiler.udfs.calendars import standard_offset
from schema_core.types import DataType

#: Milliseconds of a day.
DAY = 86_400_000


# --- counts ------------------------------------------------------------------------------------


def micros(node: Node) -> Node:
    """Return the microseconds since 1970 of a timestamp of either kind, by its local time."""
    return nodes.call("unix_micros", _in_utc(node))


def millis(node: Node) -> Node:
    """Return the milliseconds since 1970, rounded down."""
    return nodes.call("unix_millis", _in_utc(node))


def _in_utc(node: Node) -> Node:
    """Return a timestamp of either kind as a TIMESTAMP; Spark's casts between them are slow."""
    match node:
        case nodes.Cast(
            nodes.Call("timestamp_micros" | "timestamp_millis" | "from_utc_timestamp") as instant,
            "TIMESTAMP_NTZ",
        ):
            return instant
        case _:
            return nodes.Cast(node, "TIMESTAMP")


def days(node: Node) -> Node:
    """Return the days since 1970 of a date."""
    return nodes.call("unix_date", node)


def of_micros(count: Node, type_: DataType) -> Node:
    """Return the timestamp at microseconds since 1970."""
    return _of_kind(nodes.call("timestamp_micros", count), type_)


def of_millis(count: Node, type_: DataType) -> Node:
    """Return the timestamp at milliseconds since 1970."""
    return _of_kind(nodes.call("timestamp_millis", count), type_)


def _of_kind(instant: Node, type_: DataType) -> Node:
    is_local = not isinstance(type_, types.LocalZonedTimestampType)
    return nodes.Cast(instant, "TIMESTAMP_NTZ") if is_local else instant


def of_days(count: Node) -> Node:
    """Return the date at days since 1970."""
    return nodes.call("date_from_unix_date", nodes.Cast(count, "INT"))


def time_millis(node: Node) -> Node:
    """Return the milliseconds since midnight."""
    return nodes.call("time_to_millis", node)


def time_of_millis(count: Node, type_: DataType) -> Node:
    """Return the time at milliseconds since midnight, modulo a day."""
    return nodes.Cast(sql("time_from_millis(pmod({0}, 86400000))", **{"0": count}), sql_type(type_))


# --- zones -------------------------------------------------------------------------------------


def local(node: Node, zone: str) -> Node:
    """Return the local time of a zone at an instant."""
    shifted = node if zone == "UTC" else nodes.call("from_utc_timestamp", node, zone)
    return nodes.Cast(shifted, "TIMESTAMP_NTZ")


def instant(node: Node, zone: str) -> Node:
    """Return the instant of a local time in a zone; the first one in an overlap."""
    shown = nodes.Cast(node, "TIMESTAMP")
    return shown if zone == "UTC" else nodes.call("to_utc_timestamp", shown, zone)


def clock(node: Node, type_: DataType, zone: str) -> Node:
    """Return the local time of any datetime in the zone."""
    if is_fine(type_):
        node = micros_of(node)
    match type_:
        case types.LocalZonedTimestampType():
            return local(node, zone)
        case types.DateType():
            return nodes.Cast(node, "TIMESTAMP_NTZ")
        case _:
            return node


def clock_millis(node: Node, type_: DataType, zone: str) -> Node:
    """Return the milliseconds since 1970 of the local time in the zone."""
    if isinstance(type_, types.LocalZonedTimestampType) and zone == "UTC":
        return nodes.call("unix_millis", micros_of(node) if is_fine(type_) else node)
    return millis(clock(node, type_, zone))


def util_local(node: Node, zone: str) -> Node:
    """Return the local time by java.util, which has no transitions before 1900."""
    if zone == "UTC":
        return local(node, zone)
    offset = nodes.Literal(str(standard_offset(zone) * 1_000_000), "L")
    shown = sql(
        "if({0} < TIMESTAMP'1900-01-01 00:00:00', timestamp_micros(unix_micros({0}) + {offset}),"
        " from_utc_timestamp({0}, {zone}))",
        **{"0": node, "offset": offset, "zone": nodes.Literal(zone)},
    )
    return nodes.Cast(shown, "TIMESTAMP_NTZ")


def util_clock(node: Node, type_: DataType, zone: str) -> Node:
    """Return `clock`, of an instant by java.util."""
    if isinstance(type_, types.LocalZonedTimestampType):
        return util_local(micros_of(node) if is_fine(type_) else node, zone)
    return clock(node, type_, zone)


def nano_part(node: Node) -> Node:
    """Return the nanoseconds of the second."""
    return sql("CAST(pmod({0}, 1000000) * 1000 AS INT)", **{"0": micros(node)})


# --- casts -------------------------------------------------------------------------------------


def truncate_digits(node: Node, source: int, target: int) -> Node:
    """Return a timestamp truncated to fewer digits."""
    if target >= min(source, MAX_PRECISION):
        return node
    seconds = nodes.Literal(f"{10**-target:.6f}")
    return nodes.call("time_bucket", nodes.Cast(seconds, "INTERVAL SECOND"), node)


def narrow_timestamp(node: Node, source: int, target: int, type_: DataType) -> Node:
    """Return a timestamp cast to fewer digits: milliseconds are truncated towards 1970."""
    if target >= min(source, MAX_PRECISION):
        return node
    if target >= 3:
        return truncate_digits(node, source, target)
    unit = 10 ** (3 - target)
    return of_millis(sql("{n} - {n} % {unit}", n=millis(node), unit=unit), type_)


def convert(node: Node, source: DataType, target: DataType, zone: str) -> Node:
    """Return a datetime as another type of datetimes."""
    if isinstance(target, types.AnyTimestampType) and is_fine(target):
        beyond: Node | int = 0
        if is_fine(source):
            unit = 10 ** (9 - target.precision)
            beyond = inline("{n} - {n} % {unit}", n=nanos(node), unit=unit)
        return make_nanosecond_struct(
            convert(node, source, truncated_to_micros(target), zone), beyond
        )
    if is_fine(source):
        return convert(micros_of(node), truncated_to_micros(source), target, zone)
    match source, target:
        case types.DateType(), types.TimestampType():
            return nodes.Cast(node, "TIMESTAMP_NTZ")
        case types.DateType(), types.LocalZonedTimestampType():
            return instant(nodes.Cast(node, "TIMESTAMP_NTZ"), zone)
        case types.LocalZonedTimestampType(), types.DateType():
            return nodes.Cast(local(node, zone), "DATE")
        case types.AnyTimestampType(), types.DateType():
            return of_days(sql("{n} DIV 86400000", n=clock_millis(node, source, zone)))
        case types.AnyTimestampType(), types.TimeType():
            time = sql("{n} % 86400000", n=clock_millis(node, source, zone))
            return time_of_millis(time, target)
        case types.AnyTimestampType(), types.AnyTimestampType() if type(source) is type(target):
            return narrow_timestamp(node, source.precision, target.precision, target)
        case types.LocalZonedTimestampType(), types.TimestampType():
            return narrow_timestamp(local(node, zone), source.precision, target.precision, target)
        case types.TimestampType(), types.LocalZonedTimestampType():
            return narrow_timestamp(instant(node, zone), source.precision, target.precision, target)
        case types.TimeType(), types.TimestampType():
            return of_millis(time_millis(node), target)
        case types.TimeType(), types.LocalZonedTimestampType():
            return instant(of_millis(time_millis(node), types.TimestampType(3)), zone)
        case _:
            return nodes.Cast(node, sql_type(target))


# --- strings -----------------------------------------------------------------------------------

_ISO_DATE = r"\d{4}-\d{1,2}-\d{1,2}"
#: What Java's String.trim removes, around each number.
BLANKS = r"[\x00- ]*"


def _number_shape(digits: int) -> str:
    return rf"{BLANKS}0*(\d{{1,{digits}}}){BLANKS}"


_DATE = rf"^{_number_shape(4)}(?:-{_number_shape(2)}(?:-{_number_shape(2)})?)?\z"
# A time zone has minutes only if the time has seconds.
_TIME = (
    rf"(?s)^(?![^:+-]*(?::[^:+-]*)?[+-].*:){_number_shape(2)}(?::{_number_shape(2)}"
    rf"(?::{_number_shape(2)}(?:\.{BLANKS}([^+-]*?){BLANKS}(?=[+-]|\z))?)?)?"
    rf"(?:([+-]){_number_shape(2)}(?::{_number_shape(2)})?)?\z"
)
_STAMP = (
    r"^(?!0000)(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?)?\z"
)


def _part(node: Node, shape: str, group: int, default: int = 0) -> Node:
    text = nodes.call("regexp_extract", node, shape, group)
    return nodes.call("coalesce", nodes.Cast(text, "INT"), default)


def _usually(
    node: Node,
    plain: Node,
    shape: str,
    type_: str,
    parse: Callable[[Node], Node],
) -> Node:
    """Return Spark's cast of a plain string or common shape; `parse` parses any other string."""

    def rest(s: Node) -> Node:
        return inline(
            "coalesce(if(rlike({s}, {shape}), try_cast({s} AS {type}), NULL), {parsed})",
            s=s,
            shape=shape,
            type=type_,
            parsed=parse(s),
        )

    return inline(
        "coalesce(if({plain}, try_cast({s} AS {type}), NULL), if({s} IS NULL, NULL, {rest}))",
        s=node,
        plain=plain,
        type=type_,
        rest=nodes.rarely(node, rest),
    )


#: Type -> the format of its usual literals, and Spark's prefix of literals.
_LITERALS: Mapping[type[DataType], tuple[re.Pattern[str], str]] = {
    types.DateType: (regex(r"\d{4}-\d{2}-\d{2}", re.ASCII), "DATE"),
    types.TimestampType: (
        regex(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.(\d{1,6}))?", re.ASCII),
        "TIMESTAMP_NTZ",
    ),
}


def constant(node: Node, target: DataType) -> Node | None:
    """Return a constant string as a datetime literal; None for unusual strings.

    >>> constant(nodes.Literal("2024-02-29"), types.DateType())
    Literal(value='2024-02-29', kind='DATE')
    >>> constant(nodes.Literal("2024-02-30"), types.DateType()) is None
    True
    """
    if not isinstance(node, nodes.Literal) or node.kind or type(target) not in _LITERALS:
        return None
    shape, kind = _LITERALS[type(target)]
    text = node.value
    match = shape.fullmatch(text) if isinstance(text, str) else None
    if match is None or is_fine(target):
        return None
    if isinstance(target, types.TimestampType) and len(match[1] or "") > target.precision:
        return None
    try:
        dt.datetime.fromisoformat(match[0])
    except ValueError:
        return None
    return nodes.Literal(text, kind)


def _has_mask(node: Node, mask: str) -> Node:
    """Return whether a string has a mask's separators, and a digit at its end.

    If Spark casts it, all other characters are digits; a time may begin with a blank.
    """
    marks = [
        inline("{byte} = {mark}", byte=nodes.byte_of(node, place), mark=nodes.byte(mark))
        for place, mark in enumerate(mask, 1)
        if mark != "0"
    ]
    last = inline(
        "{byte} >= {zero} AND {byte} <= {nine}",
        byte=nodes.byte_of(node, -1),
        zero=nodes.byte("0"),
        nine=nodes.byte("9"),
    )
    return nodes.all_of(inline("octet_length({s}) = {n}", s=node, n=len(mask)), *marks, last)


def date_part_of(node: Node) -> Node:
    """Return a string up to its first space, unless it starts with one."""
    return nodes.call("regexp_replace", node, "(?s)^([^ ]+) .*", "$1")


def any_date_of_string(node: Node) -> Node:
    """Parse a date of any shape: a year, optionally month and day."""

    def parse_date(text: Node) -> Node:
        parts = (_part(text, _DATE, group, 1) for group in (1, 2, 3))
        return inline(
            "if(rlike({s}, {shape}), {date}, NULL)",
            s=text,
            shape=_DATE,
            date=nodes.call("make_date", *parts),
        )

    return nodes.let(date_part_of(node), parse_date)


def date_of_string(node: Node, parse: Callable[[Node], Node] = any_date_of_string) -> Node:
    """Parse a date, or return NULL; `parse` parses an unusual shape."""
    return _usually(node, _has_mask(node, "0000-00-00"), rf"^{_ISO_DATE}\z", "DATE", parse)


def time_of_string(node: Node, target: types.TimeType) -> Node:
    """Parse a time: hours, optionally minutes, seconds and a fraction, rounded to 3 digits."""
    shape = rf"^\d\d:\d\d:\d\d{_fraction(min(target.precision, 3))}\z"
    is_digit = inline("{s} >= '0' AND {s} < ':'", s=node)
    plain = nodes.all_of(_has_mask(node, "00000:00"), is_digit)
    return _usually(node, plain, shape, sql_type(target), lambda s: any_time_of_string(s, target))


def _fraction(digits: int) -> str:
    return rf"(?:\.\d{{1,{digits}}})?" if digits else ""


def any_time_of_string(node: Node, target: types.TimeType) -> Node:
    """Parse a time of any shape, moved by its time zone.

    The fourth digit rounds milliseconds; other characters among them are zeroes. A time beyond the
    day, which Flink cannot return, fails the job.
    """
    hours, minutes, seconds = (_part(node, _TIME, group) for group in (1, 2, 3))
    parts = {"h": hours, "m": minutes, "s": seconds}
    valid = inline(
        "rlike({text}, {shape}) AND {h} < 24 AND {m} < 60 AND {s} < 60",
        text=node,
        shape=_TIME,
        **parts,
    )
    fraction = inline(
        "CAST(rpad(regexp_replace(left({digits}, 3), '[^0-9]', '0'), 3, '0') AS INT)"
        " + if(substring({digits}, 4, 1) >= '5', 1, 0)",
        digits=nodes.call("regexp_extract", node, _TIME, 4),
    )
    moved = inline(
        "if(regexp_extract({text}, {shape}, 5) = '-', -60000L, 60000L) * ({h} * 60 + {m})",
        text=node,
        shape=_TIME,
        h=_part(node, _TIME, 6),
        m=_part(node, _TIME, 7),
    )
    count = inline(
        "(({h} * 60 + {m}) * 60 + {s}) * 1000L + {fraction} + {moved}",
        fraction=fraction,
        moved=moved,
        **parts,
    )
    count = nodes.let(
        count,
        lambda n: inline(
            "if({n} BETWEEN 0 AND 86399999, {n}, {problem})",
            n=n,
            problem=nodes.fail("the TIME exceeds 24 hours, which Spark cannot represent"),
        ),
    )
    unit = 10 ** max(0, 3 - target.precision)
    if unit > 1:
        count = inline("{count} DIV {unit} * {unit}", count=count, unit=unit)
    time = time_of_millis(count, target)
    return sql("if({valid}, {time}, NULL)", valid=valid, time=time)


def timestamp_of_string(node: Node, target: types.TimestampType) -> Node:
    """Parse a timestamp: a date with a four-digit year, optionally a time to the second.

    A day beyond the end of its month is the last one; 24:00:00 is the next midnight.
    """
    if is_fine(target):
        beyond = sql(
            "CAST(rpad(left(substring({fraction}, 7), {digits}), 3, '0') AS SMALLINT)",
            fraction=nodes.call("regexp_extract", node, _STAMP, 7),
            digits=target.precision - MAX_PRECISION,
        )
        micros_ = timestamp_of_string(node, types.TimestampType(MAX_PRECISION))
        return make_nanosecond_struct(micros_, beyond)
    clock = r"\d{1,2}:\d{1,2}:\d{1,2}" + _fraction(min(target.precision, MAX_PRECISION))
    shape = rf"^(?!0000){_ISO_DATE}(?: {clock})?\z"
    has_year = inline("{s} >= '0001'", s=node)
    # At this length, in a string that Spark casts, these separators imply the others.
    plain = nodes.all_of(_has_mask(node, "0000-00000 00000:00"), has_year)
    return _usually(
        node, plain, shape, "TIMESTAMP_NTZ", lambda s: any_timestamp_of_string(s, target)
    )


def any_timestamp_of_string(node: Node, target: types.TimestampType) -> Node:
    """Parse a timestamp of any shape."""
    year, month, day = (_part(node, _STAMP, group) for group in (1, 2, 3))
    hours, minutes, seconds = (_part(node, _STAMP, group) for group in (4, 5, 6))
    micro = sql("CAST(rpad({f}, 6, '0') AS INT)", f=nodes.call("regexp_extract", node, _STAMP, 7))
    parts = {"h": hours, "m": minutes, "s": seconds, "micro": micro, "day": day}
    first = nodes.call("make_date", year, month, 1)
    valid = inline(
        "rlike({text}, {shape}) AND {day} BETWEEN 1 AND 31 AND {m} < 60 AND {s} < 60"
        " AND ({h} < 24 OR {h} = 24 AND {m} = 0 AND {s} = 0 AND {micro} = 0)",
        text=node,
        shape=_STAMP,
        **parts,
    )
    date = inline(
        "date_add({first}, least({day}, day(last_day({first}))) - 1)", first=first, day=day
    )
    count = inline(
        "((unix_date({date}) * 24L + {h}) * 60 + {m}) * 60000000L + {s} * 1000000L + {micro}",
        date=date,
        **parts,
    )
    value = of_micros(count, target)
    if target.precision < MAX_PRECISION:
        unit = 10 ** (MAX_PRECISION - target.precision)
        value = of_micros(sql("{n} - pmod({n}, {unit})", n=count, unit=unit), target)
    return sql("if({valid}, {value}, NULL)", valid=valid, value=value)


def format_datetime(node: Node, source: DataType, zone: str) -> Node:
    """Format a time or timestamp with the digits of its precision."""
    if isinstance(source, types.TimeType):
        text = nodes.Cast(node, "STRING")
        if source.precision == 0:
            return nodes.call("left", text, 8)
        # Java omits trailing zeroes of a time's fraction, but prints one digit.
        return sql(
            "concat(left({t}, 8), '.', {digits})",
            t=text,
            digits=sql("if({d} = '', '0', {d})", d=sql("rtrim('0', substring({t}, 10))", t=text)),
        )
    shown = clock(node, source, zone)
    precision = source.precision if isinstance(source, types.AnyTimestampType) else 0
    if precision == 0:
        return nodes.call("date_format", shown, "yyyy-MM-dd HH:mm:ss")
    shape = f"yyyy-MM-dd HH:mm:ss.{'S' * min(precision, MAX_PRECISION)}"
    if precision <= MAX_PRECISION:
        return nodes.call("date_format", shown, shape)
    beyond = sql(
        "left(lpad(CAST({n} AS STRING), 3, '0'), {digits})",
        n=nanos(node),
        digits=precision - MAX_PRECISION,
    )
    return nodes.call("concat", nodes.call("date_format", shown, shape), beyond)


def printed_interval(node: Node, source: DataType) -> Node:
    """Format an interval: ``+1-02``, or ``+1 02:03:04.005``."""
    if isinstance(source, types.YearMonthIntervalType):
        return nodes.let(
            node,
            lambda n: sql(
                "concat({sign}, {size} DIV 12, '-', lpad(CAST({size} % 12 AS STRING), 2, '0'))",
                sign=_sign(n),
                size=sql("abs(CAST({n} AS BIGINT))", n=n),
            ),
        )
    return nodes.let(
        node,
        lambda n: sql(
            "concat({sign}, {size} DIV 86400000, ' ',"
            " date_format(timestamp_millis({size} % 86400000), 'HH:mm:ss.SSS'))",
            sign=_sign(n),
            size=nodes.call("abs", n),
        ),
    )


def _sign(count: Node) -> Node:
    return sql("if({n} < 0, '-', '+')", n=count)


#: Functions whose rules take and return the structs.
EXACT = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}
    | {"BETWEEN", "NOT BETWEEN", "IN", "NOT IN"}
    | {f"{symbol} ALL" for symbol in ("=", "<>", "<", "<=", ">", ">=")}
    | {f"{symbol} SOME" for symbol in ("=", "<>", "<", "<=", ">", ">=")}
    | {"CASE", "IF", "COALESCE", "IFNULL", "NULLIF", "GREATEST", "LEAST"}
    | {"CAST", "TRY_CAST", "EXTRACT", "DATE_FORMAT", "TO_TIMESTAMP_LTZ", "TYPEOF"}
    | {"IS NULL", "IS NOT NULL", "COUNT", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE"}
    | {"SINGLE_VALUE", "LAG", "LEAD"}
    | {"JSON_STRING", "JSON_OBJECT", "JSON_ARRAY", "JSON_OBJECTAGG", "JSON_ARRAYAGG"}
    | {"ARRAY", "MAP", "ROW", "OBJECT_OF", "OBJECT_UPDATE", "[]", "CARDINALITY", "ELEMENT"}
    | {f"ARRAY_{suffix}" for suffix in ("CONTAINS", "DISTINCT", "REVERSE", "MAX", "MIN", "SORT")}
    | {f"ARRAY_{suffix}" for suffix in ("SLICE", "CONCAT", "APPEND", "PREPEND", "POSITION")}
    | {f"ARRAY_{suffix}" for suffix in ("REMOVE", "UNION", "EXCEPT", "INTERSECT", "AGG")}
    | {f"MAP_{suffix}" for suffix in ("UNION", "ENTRIES", "KEYS", "VALUES", "FROM_ARRAYS")}
    | {"COLLECT"}
)

#: Functions that do not depend on the nanoseconds of a timestamp.
WHOLE = frozenset(
    {"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE"}
    | {"SECOND", "TIMESTAMPDIFF", "FLOOR", "CEIL", "CEILING", "(-)"}
)

#: Units to which nanoseconds are rounded up.
DURATIONS = frozenset({"MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY"})

#: Functions that shift a timestamp by an interval and keep its nanoseconds.
SHIFTS = frozenset({"+", "-", "TIMESTAMPADD"})


def micros_of(node: Node) -> Node:
    """Return the timestamp of a struct."""
    return nodes.Field(node, MICROS)


def nanos(node: Node) -> Node:
    """Return the nanoseconds of a struct."""
    return nodes.Field(node, NANOS)


def make_nanosecond_struct(micros: Node, beyond: Node | int) -> Node:
    """Return the struct of a timestamp and nanoseconds; NULL if the timestamp is."""
    return nodes.let(
        micros,
        lambda at: inline(
            f"if({{at}} IS NULL, NULL, named_struct('{MICROS}', {{at}}, '{NANOS}', {{beyond}}))",
            at=at,
            beyond=nodes.Cast(inline("{n}", n=beyond), "SMALLINT"),
        ),
    )


def as_stored(node: Node, type_: DataType, column: str = "") -> Node:
    """Return the timestamp of a struct; nanoseconds fail the job, with the column and the value."""
    place = f"column {column!r}: " if column else ""

    def body(v: Node) -> Node:
        problem = nodes.call(
            "concat",
            f"{place}Spark stores microseconds, {type_.as_summary_string()} '",
            format_datetime(v, type_, "UTC"),
            "' has nanoseconds",
        )
        return inline(
            "if({n} <> 0, {problem}, {at})",
            n=nanos(v),
            problem=nodes.Raise(problem),
            at=micros_of(v),
        )

    return nodes.let(node, body)


def translate_with_nanoseconds(translate: Translate, called: TranslatedCall) -> Node:
    """Return a call whose arguments or result may be structs."""
    name = called.call.function.name
    places = [place for place, type_ in enumerate(called.types) if is_fine(type_)]
    if name in EXACT or not any(map(has_nanoseconds, (*called.types, called.type))):
        return translate(called)
    if called.call.function.declared is not None or name not in WHOLE | SHIFTS or not places:
        require_micros(*called.types, called.type)
    call = replace(
        called.call,
        type=truncated_to_micros(called.type),
        arguments=tuple(
            Ref("", truncated_to_micros(argument.type)) if place in places else argument
            for place, argument in enumerate(called.call.arguments)
        ),
    )
    is_local = isinstance(called.types[places[0]], types.TimestampType)
    is_up = name in {"CEIL", "CEILING"} and is_local and called.keyword(1) in DURATIONS
    arguments = tuple(
        _whole_micros(node, up=is_up) if place in places else node
        for place, node in enumerate(called.arguments)
    )
    node = translate(replace(called, call=call, arguments=arguments))
    if not is_fine(called.type):
        return node
    return make_nanosecond_struct(node, nanos(called[places[0]]) if name in SHIFTS else 0)


def _whole_micros(node: Node, *, up: bool) -> Node:
    """Return a struct's timestamp, or the first microsecond that is not before it."""
    if not up:
        return micros_of(node)
    step = "make_dt_interval(0, 0, 0, if({n} > 0, 0.000001, 0))"
    return inline(f"{{at}} + {step}", at=micros_of(node), n=nanos(node))


def require_micros(*checked: DataType) -> None:
    """Refuse timestamps with more digits than Spark stores."""
    for part in (part for type_ in checked for part in type_.walk()):
        if is_fine(part):
            raise nodes.unsupported_error(
                f"Spark stores microseconds, {part.as_summary_string()} has more digits",
                hint=f"cast it to a precision of {MAX_PRECISION}",
            )
