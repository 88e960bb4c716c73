"""`NanosecondDatetime`, the value of a timestamp with more digits than a Python datetime."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from schema_core.base.text import show
from schema_core.errors import SchemaError


class NanosecondDatetime(dt.datetime):
    """A datetime and up to 999 nanoseconds beyond its microseconds, which it prints and compares.

    Arithmetic returns datetimes without nanoseconds.

    >>> noon = NanosecondDatetime.of(dt.datetime(2024, 2, 29, 12), 7)
    >>> print(noon, noon > dt.datetime(2024, 2, 29, 12), noon.isoformat())
    2024-02-29 12:00:00.000000007 True 2024-02-29T12:00:00.000000007
    """

    nanosecond: int = 0

    @classmethod
    def of(cls, micros: dt.datetime, nanosecond: int) -> NanosecondDatetime:
        """Return a datetime with nanoseconds.

        Args:
            micros: the datetime.
            nanosecond: the nanoseconds beyond its microseconds, from 0 to 999.

        Raises:
            SchemaError: with code `invalid-function-call` for another number.
        """
        if type(nanosecond) is not int or not 0 <= nanosecond <= 999:
            raise SchemaError(
                f"nanosecond must be from 0 to 999, got {show(nanosecond)}",
                code="invalid-function-call",
            )
        date, clock = micros.timetuple()[:3], micros.timetz()
        value = cls(
            *date,
            clock.hour,
            clock.minute,
            clock.second,
            clock.microsecond,
            clock.tzinfo,
            fold=clock.fold,
        )
        value.nanosecond = nanosecond
        return value

    def to_datetime(self) -> dt.datetime:
        """Return the datetime without nanoseconds."""
        return dt.datetime.combine(self.date(), self.timetz())

    def replace(self, *args: Any, **kwargs: Any) -> NanosecondDatetime:
        """Return a datetime with other fields and the same nanoseconds."""
        return NanosecondDatetime.of(self.to_datetime().replace(*args, **kwargs), self.nanosecond)

    def astimezone(self, tz: dt.tzinfo | None = None) -> NanosecondDatetime:
        """Return the same instant in another time zone."""
        return NanosecondDatetime.of(self.to_datetime().astimezone(tz), self.nanosecond)

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """Return the datetime in ISO 8601, with 9 digits of the second."""
        if timespec != "auto":
            return super().isoformat(sep, timespec)
        shown = super().isoformat(sep, "microseconds")
        place = len(sep) + len("2024-02-2912:00:00.000000")
        return f"{shown[:place]}{self.nanosecond:03}{shown[place:]}"

    def __str__(self) -> str:
        return self.isoformat(" ")

    def __repr__(self) -> str:
        return f"NanosecondDatetime.of({self.to_datetime()!r}, {self.nanosecond})"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.nanosecond == getattr(other, "nanosecond", 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        plain = hash(self.to_datetime())
        return hash((plain, self.nanosecond)) if self.nanosecond else plain

    def __lt__(self, other: dt.date) -> bool:
        return self._is_before(other, or_equal=False)

    def __le__(self, other: dt.date) -> bool:
        return self._is_before(other, or_equal=True)

    def __gt__(self, other: dt.date) -> bool:
        return not self._is_before(other, or_equal=True)

    def __ge__(self, other: dt.date) -> bool:
        return not self._is_before(other, or_equal=False)

    def _is_before(self, other: dt.date, *, or_equal: bool) -> bool:
        if not super().__eq__(other):
            return super().__lt__(other)  # type: ignore[operator]
        beyond = getattr(other, "nanosecond", 0)
        return self.nanosecond <= beyond if or_equal else self.nanosecond < beyond

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return NanosecondDatetime.of, (self.to_datetime(), self.nanosecond)
