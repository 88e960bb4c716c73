"""Functions of datetimes, intervals and the current time, and group windows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.date_patterns import pattern_problem, zone_problem
from schema_core.expressions.signatures import (
    AS_NUMBER,
    AS_STRING,
    CHARACTER,
    DATETIME,
    INTEGER,
    INTERVAL,
    MAX_INT,
    MILLISECONDS,
    MONTHS,
    NUMERIC,
    TARGET,
    TIME,
    TIMESTAMP,
    always,
    bridged,
    constant_integer,
    exactly,
    keyword,
    like,
    literal_up_to,
    never,
    of,
    operation,
    text_of,
)
from schema_core.expressions.typed import ArgumentTypes, Function, Keyword, Parameter
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
from schema_core.types.common import least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: ODBC name of a time unit -> its SQL name.
ODBC_UNITS = {
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

#: Units of year-month intervals, and of day-time intervals.
MONTH_UNITS = ("MILLENNIUM", "CENTURY", "DECADE", "YEAR", "ISOYEAR", "QUARTER", "MONTH")
SECOND_UNITS = (
    "WEEK", "DAY", "DOW", "ISODOW", "DOY", "HOUR", "MINUTE", "SECOND",
    "MILLISECOND", "MICROSECOND", "NANOSECOND", "EPOCH",
)  # fmt: skip


def unit_of(tree: Typed) -> str:
    """The SQL name of the time unit that a keyword names; empty for other expressions.

    Units that are not SQL keywords are parsed as identifiers in backticks.
    """
    name = tree.symbol.word.strip("`").upper() if isinstance(tree, Keyword) else ""
    return ODBC_UNITS.get(name, name)


def unit(*units: str) -> Parameter:
    """A parameter for a keyword of these time units."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        return args.types[i] if unit_of(args.trees[i]) in units else None

    return Parameter("<UNIT>", accepts)


UNIT = unit(*MONTH_UNITS, *SECOND_UNITS)
UNIT_OF_MONTHS = unit(*MONTH_UNITS)
UNIT_OF_SECONDS = unit(*SECOND_UNITS)

#: Unit shorter than a day -> the fractional digits of a second that it needs.
SUBDAY_UNITS = {
    **dict.fromkeys(("HOUR", "MINUTE", "SECOND"), 0),
    "MILLISECOND": 3,
    "MICROSECOND": 6,
    "NANOSECOND": 9,
}


def timestamp_sum(args: ArgumentTypes) -> DataType:
    """The datetime type with the fractional digits that the unit requires."""
    unit_, type_ = unit_of(args.trees[0]), args.types[2]
    match type_:
        case DateType() if unit_ in ("HOUR", "MINUTE", "SECOND"):
            return T.TIMESTAMP(6)
        case DateType() if unit_ in SUBDAY_UNITS:
            raise SchemaError(f"{unit_} cannot be added to a DATE", code="invalid-function-call")
        case TimeType(precision=precision):
            return TimeType(max(precision, min(SUBDAY_UNITS.get(unit_, 0), 3)))
        case AnyTimestampType(precision=precision) if unit_ in SUBDAY_UNITS:
            return type(type_)(max(precision, SUBDAY_UNITS[unit_]))  # without its time attribute
        case _:
            return type_


def timestamp_difference(args: ArgumentTypes) -> DataType:
    """INT, or BIGINT for nanoseconds."""
    return T.BIGINT() if unit_of(args.trees[0]) == "NANOSECOND" else T.INT()


def _of_one_kind(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of a datetime that has a common type with the minuend."""
    if not args.types[i].is_(F.DATETIME):
        return None
    return args.types[i] if least_restrictive(args.types[:2]) else None


SAME = Parameter("<DATETIME>", _of_one_kind)


def ltz_of_number(args: ArgumentTypes) -> DataType:
    """TIMESTAMP_LTZ of the requested precision, 3 at least."""
    digits = constant_integer(args.trees[1], through_casts=False) if len(args.trees) > 1 else None
    digits = 3 if digits is None else digits
    if not 0 <= digits <= 9:
        raise SchemaError(
            f"the precision must be from 0 to 9, got {digits}", code="invalid-function-call"
        )
    return T.TIMESTAMP_LTZ(max(3, digits))


def ltz_of_string(args: ArgumentTypes) -> DataType:
    """TIMESTAMP_LTZ of the precision of the pattern, 3 at least."""
    texts = [text_of(tree) for tree in args.trees[1:]]
    for text, problem_of in zip(texts, (pattern_problem, zone_problem), strict=False):
        if text is not None and (problem := problem_of(text)):
            raise SchemaError(problem, code="invalid-function-call")
    pattern = texts[0] if texts else None
    return T.TIMESTAMP_LTZ(max(3, len(pattern) - len(pattern.rstrip("S")) if pattern else 0))


def to_timestamp_ltz(args: ArgumentTypes) -> DataType:
    """TIMESTAMP_LTZ of the precision of the pattern or of the precision argument."""
    is_string = args.types[0].is_(F.CHARACTER_STRING) or len(args.types) > 2
    return ltz_of_string(args) if is_string else ltz_of_number(args)


def unless_untyped(label: str, inner: Parameter) -> Parameter:
    """A parameter like `inner` that rejects an untyped NULL."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        return None if args.types[i].root is R.NULL else inner.accepts(args, i)

    return Parameter(label, accepts)


DIGITS = of("<INTEGER>", R.INTEGER)
TYPED_NUMBER = unless_untyped("<NUMERIC>", AS_NUMBER)
TYPED_STRING = unless_untyped("<CHARACTER_STRING>", AS_STRING)


def time_of_day(args: ArgumentTypes) -> DataType:
    """TIME of the requested precision."""
    digits = constant_integer(args.trees[0]) if args.trees else None
    return T.TIME(digits or 0)


def _period(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of a period: a row of two datetimes, or of a datetime and an interval."""
    type_, first = args.types[i], args.types[0]
    if not isinstance(type_, RowType) or len(type_.fields) != 2 or not isinstance(first, RowType):
        return None
    start, end = type_.children()
    datetime_ = first.children()[0]
    fits = datetime_.is_(F.DATETIME) and start.root is datetime_.root
    return type_ if fits and (end.root is datetime_.root or end.is_(F.INTERVAL)) else None


def but_last(flags: Iterable[bool]) -> bool:
    """Whether an argument before the last is nullable."""
    return any(list(flags)[:-1])


PERIOD = Parameter("(<DATETIME>, <DATETIME> | <INTERVAL>)", _period)
PRECISION = (literal_up_to(MAX_INT),)
TIME_PRECISION = (literal_up_to(3),)
TIMESTAMP_LTZ_3 = exactly(T.TIMESTAMP_LTZ(3))
PROCTIME = exactly(LocalZonedTimestampType(3, kind=TimestampKind.PROCTIME))


def _event_time(args: ArgumentTypes, i: int) -> DataType | None:
    type_ = args.types[i]
    rowtime = isinstance(type_, AnyTimestampType) and type_.kind is TimestampKind.ROWTIME
    return type_ if rowtime else None


EVENT_TIME = Parameter("<ROWTIME>", _event_time)


def regular(args: ArgumentTypes) -> DataType:
    """The timestamp type without its time attribute."""
    type_ = args.types[0]
    return type_.with_kind(TimestampKind.REGULAR) if isinstance(type_, AnyTimestampType) else type_


def extract_synonym(names: str) -> Function:
    """The row of a synonym such as ``YEAR(x)`` of ``EXTRACT(YEAR FROM x)``."""
    name, _, field = names.partition(" ")

    def rewrite(call: syntax.Call) -> syntax.Expression:
        unit_ = syntax.Symbol(field or name, call.span)
        return syntax.Call("EXTRACT", (unit_, *call.arguments), span=call.span)

    return Function(name, (DATETIME,), exactly(T.BIGINT()), rewrite=rewrite)


EXTRACT_SYNONYMS = (
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR DOY", "DAYOFMONTH DAY", "DAYOFWEEK DOW",
    "HOUR", "MINUTE", "SECOND",
)  # fmt: skip


#: Group window, such as ``TUMBLE(ts, INTERVAL '1' HOUR)`` -> the parameters of its sizes, after the
#: time attribute.
SIZES: dict[str, tuple[Parameter, ...]] = {
    "TUMBLE": (INTERVAL,),
    "HOP": (INTERVAL, INTERVAL),
    "SESSION": (INTERVAL,),
}

window: partial[Function] = partial(Function, nullability=None)
bound: partial[Function] = partial(Function, nullability=never)


def functions_of(name: str) -> tuple[Function, ...]:
    """The rows of a group window, its bounds and its time attributes."""
    parameters = (DATETIME, *SIZES[name], TIME)
    bounds = exactly(T.TIMESTAMP(3))
    return (
        window(f"${name}", parameters, like(0), optional=1, aliases=(name,)),
        bound(f"{name}_START", parameters, bounds, optional=1),
        bound(f"{name}_END", parameters, bounds, optional=1),
        window(f"{name}_ROWTIME", parameters, like(0), optional=1),
        window(f"{name}_PROCTIME", parameters, like(0), optional=1),
    )


FUNCTIONS = (
    # --- rules of SQL: name, parameters, return type ----------------------------------------------
    Function("EXTRACT",        (UNIT, DATETIME),          exactly(T.BIGINT()),
             alternatives=((UNIT_OF_MONTHS, MONTHS), (UNIT_OF_SECONDS, MILLISECONDS))),
    *map(extract_synonym, EXTRACT_SYNONYMS),
    Function("(-)",            (DATETIME, SAME, TARGET),  like(2), nullability=but_last),
    Function("INTERVAL",       (NUMERIC, TARGET),         like(1), nullability=but_last),
    Function("OVERLAPS",       (PERIOD, PERIOD),          exactly(T.BOOLEAN())),
    operation("TIMESTAMPADD",  (UNIT, INTEGER, DATETIME), timestamp_sum),
    operation("TIMESTAMPDIFF", (UNIT, DATETIME, DATETIME), timestamp_difference),
    Function("TO_DATE",        (CHARACTER, CHARACTER),    exactly(T.DATE()),
             optional=1, nullability=always),
    Function("TO_TIMESTAMP",   (CHARACTER, CHARACTER),    exactly(T.TIMESTAMP(3)),
             optional=1, nullability=always),
    Function("DATE_FORMAT",    (TIMESTAMP, CHARACTER),    exactly(T.STRING()),
             nullability=always, alternatives=((CHARACTER, CHARACTER),)),
    Function("CONVERT_TZ",     (CHARACTER, CHARACTER, CHARACTER), exactly(T.STRING()),
             nullability=always),
    Function("FROM_UNIXTIME",  (INTEGER, CHARACTER),      exactly(T.STRING()),
             optional=1, nullability=always),
    Function("UNIX_TIMESTAMP", (CHARACTER, CHARACTER),    exactly(T.BIGINT()),
             optional=2, deterministic=False),
    # --- the current time -------------------------------------------------------------------------
    Function("CURRENT_DATE",           (),             exactly(T.DATE()),
             nullability=never, deterministic=False),
    Function("CURRENT_TIME",           TIME_PRECISION, time_of_day,
             nullability=never, optional=1, deterministic=False),
    Function("LOCALTIME",              TIME_PRECISION, time_of_day,
             nullability=never, optional=1, deterministic=False),
    Function("CURRENT_TIMESTAMP",      PRECISION,      TIMESTAMP_LTZ_3,
             nullability=never, optional=1, deterministic=False),
    Function("LOCALTIMESTAMP",         PRECISION,      exactly(T.TIMESTAMP(3)),
             nullability=never, optional=1, deterministic=False),
    Function("NOW",                    PRECISION,      TIMESTAMP_LTZ_3,
             nullability=never, optional=1, deterministic=False),
    Function("CURRENT_ROW_TIMESTAMP",  PRECISION,      TIMESTAMP_LTZ_3,
             nullability=never, optional=1, deterministic=False),
    Function("PROCTIME",               (),             PROCTIME,
             nullability=never, deterministic=False),
    Function("PROCTIME_MATERIALIZE",   (TIMESTAMP,),   TIMESTAMP_LTZ_3, deterministic=False),
    Function("STREAMRECORD_TIMESTAMP", (NUMERIC,),     exactly(T.BIGINT()), nullability=never),
    # --- group windows ----------------------------------------------------------------------------
    *functions_of("TUMBLE"),
    *functions_of("HOP"),
    *functions_of("SESSION"),
    Function(
        "DESCRIPTOR",
        (keyword(),),
        exactly(T.DESCRIPTOR()),
        optional=1,
        repeats=1,
        nullability=never,
        bare_names=True,
    ),
    # --- rules of the Table API -------------------------------------------------------------------
    bridged("TO_TIMESTAMP_LTZ",  (TYPED_NUMBER, DIGITS), to_timestamp_ltz,
            nullability=always,
            alternatives=(
                (TYPED_NUMBER,), (AS_STRING,), (AS_STRING, TYPED_STRING),
                (AS_STRING, TYPED_STRING, TYPED_STRING),
            )),
    bridged("SOURCE_WATERMARK",  (),                     TIMESTAMP_LTZ_3, nullability=always),
    bridged("CURRENT_WATERMARK", (EVENT_TIME,),          regular,
            nullability=always, deterministic=False),
)  # fmt: skip
