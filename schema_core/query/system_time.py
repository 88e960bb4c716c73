"""The constant of ``FOR SYSTEM_TIME AS OF``, at which the version of a table is read.

A local time of the session's time zone: a literal, a cast of one, or one of these plus or minus
intervals. Flink 2.3 documents, but does not evaluate, a difference.
"""

from __future__ import annotations

import calendar
import datetime as dt
from typing import Final

from schema_core.base.lazy import regex
from schema_core.base.text import Span
from schema_core.errors import SchemaError
from schema_core.expressions.intervals import interval
from schema_core.expressions.typed import Constant, FunctionCall, Typed
from schema_core.sql.syntax import Interval, LiteralKind
from schema_core.types import (
    DataType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    TimestampType,
    YearMonthIntervalType,
)

_TIMES: Final = (TimestampType, LocalZonedTimestampType)
_LOCAL_TIME: Final = regex(
    r"\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{1,9}))?)?)?\s*"
)


def constant_time(period: Typed, span: Span) -> dt.datetime:
    """Return the local time of a constant, without a time zone.

    Raises:
        SchemaError: `time-travel-not-supported` for another type, NULL, and what is not constant.
    """
    if not isinstance(period.type, _TIMES):
        raise _error(
            f"expected a TIMESTAMP or TIMESTAMP_LTZ, got {period.type.as_summary_string()}", span
        )
    time = _evaluate(period)
    if time is None:
        raise _error("the time of FOR SYSTEM_TIME AS OF is not a constant", span)
    return time


def _error(problem: str, span: Span) -> SchemaError:
    return SchemaError(
        problem,
        code="time-travel-not-supported",
        hint="write TIMESTAMP '2024-01-01 00:00:00', also plus or minus an INTERVAL, or a time "
        "attribute of the other side of a join",
        span=span,
    )


def _evaluate(period: Typed) -> dt.datetime | None:
    match period:
        case Constant(literal=literal) if not isinstance(literal, Interval) and literal.kind in (
            LiteralKind.TIMESTAMP,
            LiteralKind.STRING,
        ):
            return _parse(literal.text)
        case FunctionCall(function=function, arguments=(value, *_)) if function.name == "CAST":
            return _cast(_evaluate(value), period.type)
        case FunctionCall(function=function, arguments=(first, second)):
            match function.name, first, second:
                case "+" | "-", value, Constant(literal=Interval()) as distance:
                    return _add(_evaluate(value), distance, negative=function.name == "-")
                case "+", Constant(literal=Interval()) as distance, value:
                    return _add(_evaluate(value), distance, negative=False)
    return None


def _cast(time: dt.datetime | None, type_: DataType) -> dt.datetime | None:
    """Return a time without the digits that a type lacks; None for other types than timestamps."""
    if time is None or not isinstance(type_, _TIMES):
        return None
    unit: int = 10 ** max(6 - type_.precision, 0)
    return time.replace(microsecond=time.microsecond // unit * unit)


def _parse(text: str) -> dt.datetime | None:
    match = _LOCAL_TIME.fullmatch(text)
    if match is None:
        return None
    year, *numbers, fraction = match.groups(default="0")
    month, day, hour, minute, second = (number.zfill(2) for number in numbers)
    digits = fraction.ljust(6, "0")[:6]
    try:
        return dt.datetime.fromisoformat(f"{year}-{month}-{day}T{hour}:{minute}:{second}.{digits}")
    except ValueError:
        return None


def _add(time: dt.datetime | None, distance: Constant, *, negative: bool) -> dt.datetime | None:
    literal, type_ = distance.literal, distance.type
    if time is None or not isinstance(literal, Interval):
        return None
    count = interval(literal, type_) * (-1 if negative else 1)
    try:
        if isinstance(type_, YearMonthIntervalType):
            years, month = divmod(time.year * 12 + time.month - 1 + count, 12)
            last = calendar.monthrange(years, month + 1)[1]
            return time.replace(year=years, month=month + 1, day=min(time.day, last))
        if isinstance(type_, DayTimeIntervalType):
            return time + dt.timedelta(milliseconds=count)
    except (ValueError, OverflowError):
        return None
    return None
