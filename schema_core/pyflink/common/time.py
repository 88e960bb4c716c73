"""Times of the DataStream API (`pyflink.common.time`)."""

from __future__ import annotations

import datetime as dt

from schema_core.base.arguments import validate_arguments
from schema_core.base.lazy import dataclass

__all__ = ["Duration", "Instant", "Time"]

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, repr=False)
class Instant:
    """A point in time, in seconds since 1970-01-01 00:00:00 UTC and nanoseconds after them.

    >>> Instant.of_epoch_milli(1500), Instant.of_epoch_milli(1500).to_epoch_milli()
    (Instant<1, 500000000>, 1500)
    """

    seconds: int
    nanos: int

    @staticmethod
    @validate_arguments(epoch_milli=int)
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the instant of a number of milliseconds."""
        seconds, milliseconds = divmod(epoch_milli, 1000)
        return Instant(seconds, milliseconds * 1_000_000)

    def to_epoch_milli(self) -> int:
        """Return the milliseconds since 1970, rounded down."""
        return self.seconds * 1000 + self.nanos // 1_000_000

    @staticmethod
    @validate_arguments(value=dt.datetime)
    def of_datetime(value: dt.datetime) -> Instant:
        """Return the instant of a datetime with a time zone."""
        elapsed = value - _EPOCH
        return Instant(elapsed.days * 86_400 + elapsed.seconds, elapsed.microseconds * 1000)

    def to_datetime(self) -> dt.datetime:
        """Return the datetime in UTC; Python's has microseconds, so the rest is cut."""
        return _EPOCH + dt.timedelta(seconds=self.seconds, microseconds=self.nanos // 1000)

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time, in nanoseconds.

    >>> Duration.of_seconds(5) == Duration.of_millis(5000)
    True
    """

    nanos: int

    @staticmethod
    @validate_arguments(days=int)
    def of_days(days: int) -> Duration:
        """Return a number of days of 24 hours."""
        return Duration.of_hours(24 * days)

    @staticmethod
    @validate_arguments(hours=int)
    def of_hours(hours: int) -> Duration:
        """Return a number of hours."""
        return Duration.of_minutes(60 * hours)

    @staticmethod
    @validate_arguments(minutes=int)
    def of_minutes(minutes: int) -> Duration:
        """Return a number of minutes."""
        return Duration.of_seconds(60 * minutes)

    @staticmethod
    @validate_arguments(seconds=int)
    def of_seconds(seconds: int) -> Duration:
        """Return a number of seconds."""
        return Duration.of_millis(1000 * seconds)

    @staticmethod
    @validate_arguments(millis=int)
    def of_millis(millis: int) -> Duration:
        """Return a number of milliseconds."""
        return Duration(1_000_000 * millis)

    @staticmethod
    @validate_arguments(nanos=int)
    def of_nanos(nanos: int) -> Duration:
        """Return a number of nanoseconds."""
        return Duration(nanos)

    def to_timedelta(self) -> dt.timedelta:
        """Return the length in microseconds, rounded down."""
        return dt.timedelta(microseconds=self.nanos // 1000)


class Time:
    """A length of time of windows, in milliseconds.

    >>> str(Time.seconds(5))
    '5000 ms'
    """

    @validate_arguments(milliseconds=int)
    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        """Return the milliseconds."""
        return self._milliseconds

    @staticmethod
    @validate_arguments(milliseconds=int)
    def milliseconds(milliseconds: int) -> Time:
        """Return a number of milliseconds."""
        return Time(milliseconds)

    @staticmethod
    @validate_arguments(seconds=int)
    def seconds(seconds: int) -> Time:
        """Return a number of seconds."""
        return Time(1000 * seconds)

    @staticmethod
    @validate_arguments(minutes=int)
    def minutes(minutes: int) -> Time:
        """Return a number of minutes."""
        return Time.seconds(60 * minutes)

    @staticmethod
    @validate_arguments(hours=int)
    def hours(hours: int) -> Time:
        """Return a number of hours."""
        return Time.minutes(60 * hours)

    @staticmethod
    @validate_arguments(days=int)
    def days(days: int) -> Time:
        """Return a number of days of 24 hours."""
        return Time.hours(24 * days)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and self._milliseconds == other._milliseconds

    def __hash__(self) -> int:
        return hash(self._milliseconds)

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"
