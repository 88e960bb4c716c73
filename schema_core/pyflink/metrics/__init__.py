"""Metrics of functions in Python (`pyflink.metrics`)."""

from __future__ import annotations

from schema_core.expressions.function_metrics import (
    Counter,
    Distribution,
    Meter,
    Metric,
    MetricGroup,
)

__all__ = [
    "Counter",
    "Distribution",
    "Meter",
    "Metric",
    "MetricGroup",
]
