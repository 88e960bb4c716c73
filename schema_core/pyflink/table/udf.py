"""Functions in Python (`pyflink.table.udf`)."""

from __future__ import annotations

from schema_core.expressions.user_functions import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ImperativeAggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)
from schema_core.pyflink.absent import refuse_absent

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ImperativeAggregateFunction",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]

refuse_absent(__name__)
