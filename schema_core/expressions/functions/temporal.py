"""Functions of dates, times, timestamps and intervals, and the clocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.functions.numbers import MAX_INT, known_number, known_up_to
from schema_core.expressions.patterns import pattern_problem, zone_problem
from schema_core.expressions.signature_dsl import (
    CHARACTER,
    DATETIME,
    INTEGER,
    MILLISECONDS,
    MONTHS,
    NUMBER,
    NUMERIC,
    TARGET,
    TEXT,
    TIMESTAMP,
    always,
    bridged,
    exactly,
    like,
    never,
    operation,
    text_of,
)
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import Keyword
from schema_core.sql import syntax
from schema_core.types import (
    AnyTimestampType,
    DataType,
    DateType,
    LocalZonedTimestampType,
    RowType,
    TimestampKind,
    TimeType,
)
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types import TypeRoot as R
from schema_core.types.least_restrictive import least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: Words for units that ODBC brought, beside those of SQL.
ODBC = {
    "SQL_TSI_YEAR": "YEAR",
    "SQL_TSI_QUARTER": "QUARTER",
    "SQL_TSI_MONTH": "MONTH",
    "SQL_TSI_WEEK": "WEEK",
    "SQL_TSI_DAY": "DAY",
    "SQL_TSI_HOUR": "HOUR",
    "SQL_TSI_MINUTE": "MINUTE",
    "SQL_TSI_SECOND": "SECOND",
    "SQL_TSI_MICROSECOND": "MICROSECOND",
    "SQL_TSI_FRAC_SECOND": "NANOSECOND",
    "FRAC_SECOND": "MICROSECOND",
}

#: Units of months, and of milliseconds; what an interval of either kind has.
MONTH_UNITS = ("MILLENNIUM", "CENTURY", "DECADE", "YEAR", "ISOYEAR", "QUARTER", "MONTH")
SECOND_UNITS = (
    "WEEK", "DAY", "DOW", "ISODOW", "DOY", "HOUR", "MINUTE", "SECOND",
    "MILLISECOND", "MICROSECOND", "NANOSECOND", "EPOCH",
)  # fmt: skip


def unit_of(tree: Typed) -> str:
    """The unit that a steering word says, as SQL calls it; empty if it says none.

    Units that are no words of SQL's own are names, in back-ticks.
    """
    said = tree.symbol.word.strip("`").upper() if isinstance(tree, Keyword) else ""
    return ODBC.get(said, said)


def unit(*units: str) -> Arg:
    """One of these units."""

    def accepts(given: Given, i: int) -> DataType | None:
        return given.types[i] if unit_of(given.trees[i]) in units else None

    return Arg("<UNIT>", accepts)


UNIT = unit(*MONTH_UNITS, *SECOND_UNITS)
UNIT_OF_MONTHS = unit(*MONTH_UNITS)
UNIT_OF_SECONDS = unit(*SECOND_UNITS)

#: Units below a day that make a timestamp of a date, with the digits of a second they need.
FINE = {"HOUR": 0, "MINUTE": 0, "SECOND": 0, "MILLISECOND": 3, "MICROSECOND": 6, "NANOSECOND": 9}


def moved(given: Given) -> DataType:
    """What TIMESTAMPADD gives: the moment with as many digits as the unit needs."""
    fine, type_ = unit_of(given.trees[0]), given.types[2]
    match type_:
        case DateType() if fine in ("HOUR", "MINUTE", "SECOND"):
            return T.TIMESTAMP(6)
        case DateType() if fine in FINE:
            raise SchemaError(f"{fine} cannot be added to a DATE", code="wrong-argument-type")
        case TimeType(precision=precision):
            return TimeType(max(precision, min(FINE.get(fine, 0), 3)))
        case AnyTimestampType(precision=precision) if fine in FINE:
            return type(type_)(max(precision, FINE[fine]))  # without its time attribute
        case _:
            return type_


def counted(given: Given) -> DataType:
    """What TIMESTAMPDIFF gives."""
    return T.BIGINT() if unit_of(given.trees[0]) == "NANOSECOND" else T.INT()


def _of_one_kind(given: Given, i: int) -> DataType | None:
    """A moment that has a type in common with the one it is subtracted from."""
    if not given.types[i].is_(F.DATETIME):
        return None
    return given.types[i] if least_restrictive(given.types[:2]) else None


SAME = Arg("<DATETIME>", _of_one_kind)


def instant_of_number(given: Given) -> DataType:
    """The digits of a second that are asked for, three at least."""
    known = known_number(given.trees[1], through_casts=False) if len(given.trees) > 1 else None
    digits = 3 if known is None else known
    if not 0 <= digits <= 9:
        raise SchemaError(f"the precision {digits} is outside 0..9", code="invalid-argument-value")
    return T.TIMESTAMP_LTZ(max(3, digits))


def instant_of_text(given: Given) -> DataType:
    """As many digits of a second as the pattern ends with, three at least."""
    known = [text_of(tree) for tree in given.trees[1:]]
    for text, problem in zip(known, (pattern_problem, zone_problem), strict=False):
        if text is not None and (found := problem(text)):
            raise SchemaError(found, code="invalid-argument-value")
    pattern = known[0] if known else None
    return T.TIMESTAMP_LTZ(max(3, len(pattern) - len(pattern.rstrip("S")) if pattern else 0))


def instant(given: Given) -> DataType:
    """What TO_TIMESTAMP_LTZ gives: of a text by its pattern, of a number by its precision."""
    text = given.types[0].is_(F.CHARACTER_STRING) or len(given.types) > 2
    return instant_of_text(given) if text else instant_of_number(given)


def _digits(given: Given, i: int) -> DataType | None:
    """A whole number of Flink's INT and nothing that casts into one."""
    return given.types[i] if given.types[i].root is R.INTEGER else None


def _known_text(given: Given, i: int) -> DataType | None:
    """A text that is not plainly NULL."""
    return None if given.types[i].root is R.NULL else TEXT.accepts(given, i)


def _known_number(given: Given, i: int) -> DataType | None:
    """A number that is not plainly NULL."""
    return None if given.types[i].root is R.NULL else NUMBER.accepts(given, i)


DIGITS = Arg("<INTEGER>", _digits)
KNOWN_NUMBER = Arg("<NUMERIC>", _known_number)
KNOWN_TEXT = Arg("<CHARACTER_STRING>", _known_text)


def time_of_day(given: Given) -> DataType:
    """A time with the digits of a second that are asked for."""
    digits = known_number(given.trees[0]) if given.trees else None
    return T.TIME(digits or 0)


def _period(given: Given, i: int) -> DataType | None:
    """A row of a moment, and of another of its kind or of an interval."""
    type_, first = given.types[i], given.types[0]
    if not isinstance(type_, RowType) or len(type_.fields) != 2 or not isinstance(first, RowType):
        return None
    start, end = type_.children()
    moment = first.children()[0]
    fits = moment.is_(F.DATETIME) and start.root is moment.root
    return type_ if fits and (end.root is moment.root or end.is_(F.INTERVAL)) else None


def but_last(flags: Iterable[bool]) -> bool:
    """Where one of the arguments before the last may be."""
    return any(list(flags)[:-1])


PERIOD = Arg("(<DATETIME>, <DATETIME> | <INTERVAL>)", _period)
CLOCK = (known_up_to(MAX_INT),)
CLOCK_TO_3 = (known_up_to(3),)
TO_INSTANT = exactly(T.TIMESTAMP_LTZ(3))
PROCTIME = exactly(LocalZonedTimestampType(3, kind=TimestampKind.PROCTIME))


def _event_time(given: Given, i: int) -> DataType | None:
    type_ = given.types[i]
    rowtime = isinstance(type_, AnyTimestampType) and type_.kind is TimestampKind.ROWTIME
    return type_ if rowtime else None


EVENT_TIME = Arg("<ROWTIME>", _event_time)


def regular(given: Given) -> DataType:
    """The timestamp without its time attribute."""
    type_ = given.types[0]
    return type_.with_kind(TimestampKind.REGULAR) if isinstance(type_, AnyTimestampType) else type_


def part(words: str) -> Function:
    """``YEAR(x)`` and its like, which are other ways to write ``EXTRACT(YEAR FROM x)``."""
    name, _, field = words.partition(" ")

    def rewrite(call: syntax.Call) -> syntax.Expression:
        word_ = syntax.Symbol(field or name, call.span)
        return syntax.Call("EXTRACT", (word_, *call.arguments), span=call.span)

    return Function(name, (DATETIME,), exactly(T.BIGINT()), rewrite=rewrite)


PARTS = (
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR DOY", "DAYOFMONTH DAY", "DAYOFWEEK DOW",
    "HOUR", "MINUTE", "SECOND",
)  # fmt: skip


FUNCTIONS = (
    # --- SQL's rules: name, takes, gives ----------------------------------------------------------
    Function("EXTRACT",        (UNIT, DATETIME),         exactly(T.BIGINT()),
             also=((UNIT_OF_MONTHS, MONTHS), (UNIT_OF_SECONDS, MILLISECONDS))),
    *map(part, PARTS),
    Function("(-)",            (DATETIME, SAME, TARGET), like(2), nulls=but_last),
    Function("INTERVAL",       (NUMERIC, TARGET),        like(1), nulls=but_last),
    Function("OVERLAPS",       (PERIOD, PERIOD),         exactly(T.BOOLEAN())),
    operation("TIMESTAMPADD",   (UNIT, INTEGER, DATETIME), moved),
    operation("TIMESTAMPDIFF",  (UNIT, DATETIME, DATETIME), counted),
    Function("TO_DATE",        (CHARACTER, CHARACTER),   exactly(T.DATE()),
             optional=1, nulls=always),
    Function("TO_TIMESTAMP",   (CHARACTER, CHARACTER),   exactly(T.TIMESTAMP(3)),
             optional=1, nulls=always),
    Function("DATE_FORMAT",    (TIMESTAMP, CHARACTER),   exactly(T.STRING()), nulls=always,
             also=((CHARACTER, CHARACTER),)),
    Function("CONVERT_TZ",     (CHARACTER, CHARACTER, CHARACTER), exactly(T.STRING()),
             nulls=always),
    Function("FROM_UNIXTIME",  (INTEGER, CHARACTER),     exactly(T.STRING()),
             optional=1, nulls=always),
    Function("UNIX_TIMESTAMP", (CHARACTER, CHARACTER),   exactly(T.BIGINT()), optional=2,
             deterministic=False),
    # --- clocks -----------------------------------------------------------------------------------
    Function("CURRENT_DATE",      (),         exactly(T.DATE()), nulls=never, deterministic=False),
    Function("CURRENT_TIME",      CLOCK_TO_3, time_of_day,
             nulls=never, optional=1, deterministic=False),
    Function("LOCALTIME",         CLOCK_TO_3, time_of_day,
             nulls=never, optional=1, deterministic=False),
    Function("CURRENT_TIMESTAMP", CLOCK,      TO_INSTANT,
             nulls=never, optional=1, deterministic=False),
    Function("LOCALTIMESTAMP",    CLOCK,      exactly(T.TIMESTAMP(3)), nulls=never, optional=1,
             deterministic=False),
    Function("NOW",               CLOCK,      TO_INSTANT,
             nulls=never, optional=1, deterministic=False),
    Function("CURRENT_ROW_TIMESTAMP", CLOCK,  TO_INSTANT,
             nulls=never, optional=1, deterministic=False),
    Function("PROCTIME",          (),         PROCTIME, nulls=never, deterministic=False),
    Function("PROCTIME_MATERIALIZE", (TIMESTAMP,), TO_INSTANT, deterministic=False),
    Function("STREAMRECORD_TIMESTAMP", (NUMERIC,), exactly(T.BIGINT()), nulls=never),
    # --- the Table API's rules --------------------------------------------------------------------
    bridged("TO_TIMESTAMP_LTZ", (KNOWN_NUMBER, DIGITS),  instant, nulls=always,
            also=((KNOWN_NUMBER,), (TEXT,), (TEXT, KNOWN_TEXT), (TEXT, KNOWN_TEXT, KNOWN_TEXT))),
    bridged("SOURCE_WATERMARK", (),                      TO_INSTANT, nulls=always),
    bridged("CURRENT_WATERMARK", (EVENT_TIME,),          regular,
            nulls=always, deterministic=False),
)  # fmt: skip
