"""Accumulators of Spark for the metrics of user-defined functions.

Workers import this module: it imports little.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from schema_core.expressions.function_metrics import Measured, MetricGroup

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

#: Logs a function's metrics at the end of each task.
LOG = logging.getLogger("schema_core.metrics")


class MetricsParam:
    """Combines metrics of tasks; the driver logs them (a `pyspark.AccumulatorParam`)."""

    def __init__(self, function: str = "") -> None:
        self.function = function

    def zero(self, value: dict[str, Measured]) -> dict[str, Measured]:
        """Return the metrics before the first change."""
        return {}

    def addInPlace(  # noqa: N802 - the name of Spark
        self, one: dict[str, Measured], other: dict[str, Measured]
    ) -> dict[str, Measured]:
        """Add a task's metrics, or a change of one."""
        for name, value in other.items():
            one[name] = one[name].combined(value) if name in one else value
        if self.function:
            for name in sorted(other):
                LOG.info("%s.%s: %s", self.function, name, one[name])
        return one

    def __reduce__(self) -> tuple[type[MetricsParam], tuple[()]]:
        return MetricsParam, ()  # a worker does not log


class Reporter:
    """Adds the changes of metrics to an accumulator."""

    def __init__(self, accumulator: Accumulator[Any]) -> None:
        self._accumulator = accumulator

    def __call__(self, name: str, value: Measured) -> None:
        self._accumulator.add({name: value})


def metric_group(session: SparkSession, function: str) -> MetricGroup:
    """Return the group of a function's metrics, which an accumulator of Spark collects."""
    param: Any = MetricsParam(function)
    return MetricGroup(Reporter(session.sparkContext.accumulator({}, param)))
