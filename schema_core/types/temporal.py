"""Dates, times, timestamps and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from enum import Enum
from time import localtime
from typing import ClassVar, Self, TypeAlias, TypeVar

from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.errors import SchemaError
from schema_core.types.base import AtomicType, DataType
from schema_core.types.families import TypeRoot

__all__ = [
    "AnyTimestampType",
    "DateType",
    "DayTimeIntervalType",
    "DayTimeResolution",
    "LocalZonedTimestampType",
    "TimeType",
    "TimestampKind",
    "TimestampType",
    "YearMonthIntervalType",
    "YearMonthResolution",
    "ZonedTimestampType",
]


class TimestampKind(Enum):
    """Whether a timestamp is a time attribute; equality of types ignores it."""

    REGULAR = "REGULAR"
    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


def timestamp_kind(type_: DataType) -> TimestampKind | None:
    """Return whether a timestamp is a time attribute; None for other types.

    >>> timestamp_kind(TimestampType(3)), timestamp_kind(DateType())
    (<TimestampKind.REGULAR: 'REGULAR'>, None)
    """
    kind = getattr(type_, "kind", None)
    return kind if isinstance(kind, TimestampKind) else None


#: The local time of the process at the start of 1970 in UTC, in microseconds.
_LOCAL_EPOCH = localtime(0).tm_gmtoff * 10**6


class DateType(AtomicType):
    """A day of the proleptic Gregorian calendar."""

    __slots__ = ()
    keyword = "DATE"
    root = TypeRoot.DATE
    #: The number of 1970-01-01, which `to_sql_type` subtracts.
    EPOCH_ORDINAL: ClassVar[int] = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TimeType(AtomicType):
    """A time of day with `precision` digits of a second."""

    keyword = "TIME"
    root = TypeRoot.TIME_WITHOUT_TIME_ZONE
    limits: ClassVar[Mapping[str, range]] = {"precision": range(10)}
    #: Microseconds that `to_sql_type` subtracts: the local time at the start of 1970 in UTC.
    EPOCH_ORDINAL: ClassVar[int] = _LOCAL_EPOCH

    precision: int

    def __init__(self, precision: int = 0, nullable: bool = True) -> None:
        self._fill(nullable, precision=precision)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class AnyTimestampType(AtomicType):
    """A timestamp with `precision` digits of a second; `kind` marks a time attribute."""

    limits: ClassVar[Mapping[str, range]] = {"precision": range(10)}
    kinds: ClassVar[frozenset[TimestampKind]] = frozenset(TimestampKind)

    precision: int
    kind: TimestampKind = field(compare=False)

    def __init__(
        self,
        precision: int = 6,
        nullable: bool = True,
        *,
        kind: TimestampKind = TimestampKind.REGULAR,
    ) -> None:
        self._fill(nullable, precision=precision, kind=kind)
        if kind not in self.kinds:
            raise SchemaError(f"{self.keyword} cannot be {show(kind)}", code="invalid-type")

    def with_kind(self, kind: TimestampKind) -> Self:
        if kind is self.kind:
            return self
        return type(self)(self.precision, self.is_nullable, kind=kind)

    def as_summary_string(self) -> str:
        """The summary, followed by ``*ROWTIME*`` or ``*PROCTIME*`` for a time attribute."""
        text = self.summary_body() if self.is_nullable else f"{self.summary_body()} NOT NULL"
        return text if self.kind is TimestampKind.REGULAR else f"{text} *{self.kind.value}*"

    def __repr__(self) -> str:
        shown = [str(self.precision)]
        if not self.is_nullable:
            shown.append("nullable=False")
        if self.kind is not TimestampKind.REGULAR:
            shown.append(f"kind={self.kind}")
        return f"{type(self).__name__}({', '.join(shown)})"


class TimestampType(AnyTimestampType):
    """A date and time of day without a time zone.

    >>> TimestampType(3, nullable=False, kind=TimestampKind.ROWTIME).as_summary_string()
    'TIMESTAMP(3) NOT NULL *ROWTIME*'
    """

    __slots__ = ()
    keyword = "TIMESTAMP"
    root = TypeRoot.TIMESTAMP_WITHOUT_TIME_ZONE
    kinds: ClassVar[frozenset[TimestampKind]] = frozenset(
        {TimestampKind.REGULAR, TimestampKind.ROWTIME}
    )


class ZonedTimestampType(AnyTimestampType):
    """A date and time of day with a time zone."""

    __slots__ = ()
    keyword = "TIMESTAMP"
    root = TypeRoot.TIMESTAMP_WITH_TIME_ZONE
    kinds: ClassVar[frozenset[TimestampKind]] = frozenset(
        {TimestampKind.REGULAR, TimestampKind.ROWTIME}
    )

    def body(self) -> str:
        return f"TIMESTAMP({self.precision}) WITH TIME ZONE"


class LocalZonedTimestampType(AnyTimestampType):
    """An instant, displayed in the time zone of the session.

    >>> print(LocalZonedTimestampType(3))
    TIMESTAMP(3) WITH LOCAL TIME ZONE
    """

    __slots__ = ()
    keyword = "TIMESTAMP_LTZ"
    root = TypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE
    #: Microseconds that `to_sql_type` adds: the local time at the start of 1970 in UTC.
    EPOCH_ORDINAL: ClassVar[int] = _LOCAL_EPOCH

    def body(self) -> str:
        return f"TIMESTAMP({self.precision}) WITH LOCAL TIME ZONE"

    def summary_body(self) -> str:
        return f"TIMESTAMP_LTZ({self.precision})"


class YearMonthResolution(Enum):
    """The fields of an interval of years and months."""

    YEAR = "YEAR"
    MONTH = "MONTH"
    YEAR_TO_MONTH = "YEAR TO MONTH"


class DayTimeResolution(Enum):
    """The fields of an interval of days and times."""

    DAY = "DAY"
    DAY_TO_HOUR = "DAY TO HOUR"
    DAY_TO_MINUTE = "DAY TO MINUTE"
    DAY_TO_SECOND = "DAY TO SECOND"
    HOUR = "HOUR"
    HOUR_TO_MINUTE = "HOUR TO MINUTE"
    HOUR_TO_SECOND = "HOUR TO SECOND"
    MINUTE = "MINUTE"
    MINUTE_TO_SECOND = "MINUTE TO SECOND"
    SECOND = "SECOND"


#: In the classes below, PyFlink's nested names hide the originals.
YearMonth: TypeAlias = YearMonthResolution
DayTime: TypeAlias = DayTimeResolution


Fields = TypeVar("Fields", bound=YearMonthResolution | DayTimeResolution)


def _require(kind: type[Fields], value: Fields) -> Fields:
    if not isinstance(value, kind):
        raise SchemaError(f"invalid interval resolution {show(value)}", code="invalid-type")
    return value


def _interval(resolution: str, leading: int | None, fraction: int | None) -> str:
    """``INTERVAL DAY(p) TO SECOND(f)`` with its precisions."""
    first, *rest = resolution.split(" ", 1)
    text = first if leading is None else f"{first}({leading})"
    text = " ".join((text, *rest))
    return f"INTERVAL {text}" if fraction is None else f"INTERVAL {text}({fraction})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class YearMonthIntervalType(AtomicType):
    """A number of months, written as years and months.

    >>> print(YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.YEAR_TO_MONTH, 3))
    INTERVAL YEAR(3) TO MONTH
    """

    keyword = "INTERVAL YEAR"
    root = TypeRoot.INTERVAL_YEAR_MONTH
    limits: ClassVar[Mapping[str, range]] = {"precision": range(1, 5)}
    DEFAULT_PRECISION: ClassVar[int] = 2
    YearMonthResolution: ClassVar[type[YearMonth]] = YearMonth

    resolution: YearMonth
    precision: int

    def __init__(
        self,
        resolution: YearMonth = YearMonth.YEAR_TO_MONTH,
        precision: int = DEFAULT_PRECISION,
        nullable: bool = True,
    ) -> None:
        resolution = _require(YearMonth, resolution)
        self._fill(nullable, resolution=resolution, precision=precision)
        if resolution is YearMonth.MONTH and precision != self.DEFAULT_PRECISION:
            raise SchemaError("INTERVAL MONTH does not take a precision", code="invalid-type")

    def body(self) -> str:
        has_years = self.resolution is not YearMonth.MONTH
        return _interval(self.resolution.value, self.precision if has_years else None, None)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DayTimeIntervalType(AtomicType):
    """A number of milliseconds, written as days, hours, minutes and seconds.

    >>> print(DayTimeIntervalType(DayTimeResolution.DAY_TO_SECOND, 3, 6))
    INTERVAL DAY(3) TO SECOND(6)
    """

    keyword = "INTERVAL DAY"
    root = TypeRoot.INTERVAL_DAY_TIME
    limits: ClassVar[Mapping[str, range]] = {
        "day_precision": range(1, 7),
        "fractional_precision": range(10),
    }
    DEFAULT_DAY_PRECISION: ClassVar[int] = 2
    DEFAULT_FRACTIONAL_PRECISION: ClassVar[int] = 6
    DayTimeResolution: ClassVar[type[DayTime]] = DayTime

    resolution: DayTime
    day_precision: int
    fractional_precision: int

    def __init__(
        self,
        resolution: DayTime = DayTime.DAY_TO_SECOND,
        day_precision: int = DEFAULT_DAY_PRECISION,
        fractional_precision: int = DEFAULT_FRACTIONAL_PRECISION,
        nullable: bool = True,
    ) -> None:
        self._fill(
            nullable,
            resolution=_require(DayTime, resolution),
            day_precision=day_precision,
            fractional_precision=fractional_precision,
        )
        if not self.has_days and day_precision != self.DEFAULT_DAY_PRECISION:
            raise SchemaError(
                f"INTERVAL {resolution.value} does not take a precision of days",
                code="invalid-type",
            )
        if not self.has_seconds and fractional_precision != self.DEFAULT_FRACTIONAL_PRECISION:
            raise SchemaError(
                f"INTERVAL {resolution.value} does not take a precision of seconds",
                code="invalid-type",
            )

    @property
    def has_days(self) -> bool:
        return self.resolution.value.startswith("DAY")

    @property
    def has_seconds(self) -> bool:
        return self.resolution.value.endswith("SECOND")

    def body(self) -> str:
        days = self.day_precision if self.has_days else None
        return _interval(
            self.resolution.value, days, self.fractional_precision if self.has_seconds else None
        )
