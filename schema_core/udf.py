"""Functions in Python, by PyFlink's names."""

from __future__ import annotations

from schema_core.expressions.user_functions import (
    AggregateFunction,
    ScalarFunction,
    TableFunction,
    UserDefinedFunction,
    udaf,
    udf,
    udtf,
)

__all__ = [
    "AggregateFunction",
    "ScalarFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udtf",
]
