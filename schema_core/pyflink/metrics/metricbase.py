"""Metrics of functions in Python (`pyflink.metrics.metricbase`)."""

from schema_core.expressions.function_metrics import (
    Counter,
    Distribution,
    Meter,
    Metric,
    MetricGroup,
)

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
