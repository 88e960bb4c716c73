"""Java's calendars and time zones as Spark nodes, for every BIGINT of seconds since 1970.

The formulas are those of `schema_core.spark.compiler.udfs.calendars` and `.zones`. Spark's own
functions of zones are used where java.util.TimeZone agrees with them: from 1900 on, and with the
later of two instants where clocks are put back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from zoneinfo import ZoneInfo

from schema_core.base.lazy import regex
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.tree import Literal, Node, let, let_all
from schema_core.spark.compiler.udfs.calendars import CUTOVER
from schema_core.spark.compiler.udfs.zones import CYCLED_TO, FIRST, standard_offset, util_zone

DAY = 86_400


def long(value: int) -> Literal:
    """Return a BIGINT literal."""
    return Literal(str(value), "L")


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
    return let_all([shifted, days], body)


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

    The days of a year before 1582 are Julian ones, however many they are.
    """

    def body(year: Node, month: Node, day: Node) -> Node:
        return sql(
            "if({year} >= 1582L AND {gregorian} >= {cut}, {gregorian}, {julian})",
            year=year,
            gregorian=days_of(year, month, day),
            julian=julian_days_of(year, month, day),
            cut=long(CUTOVER),
        )

    return let_all([year, month, day], body)


def with_java_date(days: Node, body: Callable[[Node, Node, Node], Node]) -> Node:
    """Call a body with year, month and day of days since 1970 in Java's calendar."""

    def date_node(day: Node) -> Node:
        era = floor_div(inline("{d} + 719470L", d=day), 1461)
        place = inline("pmod({d} + 719470L, 1461L)", d=day)
        gregorian = inline("date_from_unix_date(CAST(pmod({d}, 146097L) AS INT))", d=day)
        cycle = inline("400L * {n}", n=floor_div(day, 146_097))
        year = inline("least({p} DIV 365L, 3L)", p=place)
        return let_all(
            [gregorian, cycle, era, year, inline("{p} - 365L * {y}", p=place, y=year)],
            lambda g, cycle, era, year, rest: _split(day, g, cycle, (era, year, rest), body),
        )

    return let(days, date_node)


def _split(
    day: Node,
    gregorian: Node,
    cycle: Node,
    julian: tuple[Node, Node, Node],
    body: Callable[[Node, Node, Node], Node],
) -> Node:
    era, year, rest = julian
    month = inline("(5L * {rest} + 2L) DIV 153L", rest=rest)
    names = {"d": day, "cut": long(CUTOVER), "g": gregorian, "rest": rest, "month": month}
    return let_all(
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
                "if({d} >= {cut}, day({g}), {rest} - (153L * {month} + 2L) DIV 5L + 1L)", **names
            ),
        ],
        body,
    )


# --- zones ---------------------------------------------------------------------------------------

_REGION = regex(
    r"(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Za-z_/-]+"
)
_UTC = frozenset({"UTC", "GMT", "Etc/UTC", "Etc/GMT"})

_CYCLE = 146_097 * DAY
_FIRST_CYCLED = 253_000_000_000


def is_known_zone(name: str) -> bool:
    """Return whether Java has a zone that java.util.TimeZone resolves a name to."""
    zone = util_zone(name)
    if not isinstance(zone, ZoneInfo):
        return True
    return zone.key in _UTC or _REGION.fullmatch(zone.key) is not None


def fixed_offset(name: str) -> int | None:
    """Return the offset of a zone without transitions, in seconds, or None for any other zone."""
    zone = util_zone(name)
    if isinstance(zone, ZoneInfo):
        return 0 if zone.key in _UTC else None
    return int((zone.utcoffset(None) or dt.timedelta()).total_seconds())


def _key(name: str) -> Literal:
    zone = util_zone(name)
    return Literal(zone.key if isinstance(zone, ZoneInfo) else "UTC")


def local_at(seconds: Node, zone: str) -> Node:
    """Return local seconds at an instant from 1900 to 9999, both in seconds since 1970."""
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
    """Convert a datetime after 9986 as the one of the same place in a cycle of 400 years."""

    def body(n: Node) -> Node:
        cycle = floor_div(inline("{n} - {to}", n=n, to=long(CYCLED_TO)), _CYCLE)
        moved = sql(
            "if({n} < {limit}, 0L, {cycle} * {size})",
            n=n,
            limit=long(_FIRST_CYCLED),
            cycle=cycle,
            size=long(_CYCLE),
        )
        return let(
            moved,
            lambda gap: let(
                inline("{n} - {gap}", n=n, gap=gap),
                lambda one: inline("{one} + {gap}", one=convert(one), gap=gap),
            ),
        )

    return let(seconds, body)


def any_local_at(seconds: Node, zone: str) -> Node:
    """Return local seconds at any instant: `local_at`, but standard time before 1900."""
    if fixed_offset(zone) is not None:
        return local_at(seconds, zone)
    return let(
        seconds,
        lambda n: inline(
            "if({n} < {first}, {n} + {offset}, {cycled})",
            n=n,
            first=long(FIRST),
            offset=long(standard_offset(zone)),
            cycled=_convert_in_cycle(n, lambda item: local_at(item, zone)),
        ),
    )


def any_instant_of(seconds: Node, zone: str) -> Node:
    """Return the instant of any local seconds: `instant_of`, but standard time before 1900.

    1900 begins by the offset of its first instant, in the zones that Spark has.
    """
    if fixed_offset(zone) is not None:
        return instant_of(seconds, zone)
    offset = standard_offset(zone)
    return let(
        seconds,
        lambda n: inline(
            "if({n} < {first}, {n} - {offset}, {cycled})",
            n=n,
            first=local_at(long(FIRST), zone),
            offset=long(offset),
            cycled=_convert_in_cycle(n, lambda item: instant_of(item, zone)),
        ),
    )
