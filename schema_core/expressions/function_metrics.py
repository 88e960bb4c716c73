"""Metrics that user-defined functions count, with PyFlink's names.

A metric reports each change; the engine collects those of all workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass


class Measured(ABC):
    """A part of the value of a metric, combined with those of other workers."""

    @abstractmethod
    def combined(self, later: Any) -> Measured:
        """The value of this part and a later one together."""


@dataclass(frozen=True, slots=True)
class Total(Measured):
    """The events of a counter or meter."""

    count: int

    def combined(self, later: Total) -> Total:
        return Total(self.count + later.count)

    def __str__(self) -> str:
        return str(self.count)


@dataclass(frozen=True, slots=True)
class Latest(Measured):
    """The value of a gauge."""

    value: Any

    def combined(self, later: Measured) -> Measured:
        return later

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Reading(Measured):
    """A gauge of a worker, called when its value leaves the worker."""

    function: Callable[[], Any]

    def combined(self, later: Measured) -> Measured:
        return later

    def __reduce__(self) -> tuple[type[Latest], tuple[Any]]:
        return Latest, (self.function(),)


@dataclass(frozen=True, slots=True)
class Summary(Measured):
    """The values of a distribution.

    >>> print(Summary(1, 5, 5, 5).combined(Summary(1, 2, 2, 2)))
    count 2, sum 7, min 2, max 5
    """

    count: int
    sum: int
    min: int
    max: int

    def combined(self, later: Summary) -> Summary:
        return Summary(
            self.count + later.count,
            self.sum + later.sum,
            min(self.min, later.min),
            max(self.max, later.max),
        )

    def __str__(self) -> str:
        return f"count {self.count}, sum {self.sum}, min {self.min}, max {self.max}"


#: Receives the change of a metric by name.
Report: TypeAlias = Callable[[str, Measured], None]


class Metric:
    """The base class of metrics."""

    def __init__(self, name: str, report: Report) -> None:
        self._name = name
        self._report = report


class Counter(Metric):
    """A metric that counts up and down."""

    def __init__(self, name: str, report: Report) -> None:
        super().__init__(name, report)
        self._count = 0

    def inc(self, n: int = 1) -> None:
        """Add to the count."""
        self._count += n
        self._report(self._name, Total(n))

    def dec(self, n: int = 1) -> None:
        """Subtract from the count."""
        self.inc(-n)

    def get_count(self) -> int:
        """The count of this worker."""
        return self._count


class Meter(Metric):
    """A metric of events, which are counted: the rate of a job that has ended is unknown."""

    def __init__(self, name: str, report: Report) -> None:
        super().__init__(name, report)
        self._count = 0

    def mark_event(self, value: int = 1) -> None:
        """Add events."""
        self._count += value
        self._report(self._name, Total(value))

    def get_count(self) -> int:
        """The number of events of this worker."""
        return self._count


class Distribution(Metric):
    """A metric of the number, sum, minimum and maximum of values."""

    def update(self, value: int) -> None:
        """Add a value."""
        self._report(self._name, Summary(1, value, value, value))


class MetricGroup:
    """Creates the metrics of a function; names begin with those of their groups.

    >>> group = MetricGroup(lambda name, value: print(name, value))
    >>> group.add_group("country", "FR").counter("orders").inc(2)
    country.FR.orders 2
    """

    def __init__(self, report: Report, prefix: str = "") -> None:
        self._report = report
        self._prefix = prefix

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """A group within this one; with `extra` for a value of a variable."""
        require_instance(name, str, "name")
        path = name if extra is None else f"{name}.{extra}"
        return MetricGroup(self._report, f"{self._prefix}{path}.")

    def counter(self, name: str) -> Counter:
        """A counter."""
        return Counter(self._path(name), self._report)

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Report what a function returns when a task ends; of several tasks, the last one."""
        self._report(self._path(name), Reading(obj))

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """A meter; the time span has no effect."""
        return Meter(self._path(name), self._report)

    def distribution(self, name: str) -> Distribution:
        """A distribution."""
        return Distribution(self._path(name), self._report)

    def _path(self, name: str) -> str:
        return self._prefix + require_instance(name, str, "name")
