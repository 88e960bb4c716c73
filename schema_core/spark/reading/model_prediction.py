"""ML_PREDICT as a frame: the provider of a model computes the rows of each batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from schema_core.environment.model_provider import (
    ASYNC,
    CONCURRENCY,
    TIMEOUT,
    ModelContext,
    open_provider,
)
from schema_core.query import relation as relational
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.tree import Column, NamedNode
from schema_core.spark.python.async_functions import AsyncCalls
from schema_core.spark.python.model_prediction import PredictionTask
from schema_core.spark.python.process_functions import PASSED, VALUE
from schema_core.spark.python.user_functions import (
    checked_result,
    convert_argument,
    exchange_type,
    in_arrow,
    require_handed,
    require_returned,
)
from schema_core.spark.reading.process_functions import (
    RESULT,
    as_declared,
    as_received,
    output_columns,
    struct_of,
)
from schema_core.spark.session.frames import select
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from datetime import timedelta

    from schema_core.spark.reading.operator_context import OperatorContext
    from schema_core.types import DataType


def ml_predict(context: OperatorContext, table: relational.ProcessTable) -> str:
    """Return the columns of the input, and those of the model for each row.

    Errors are those of `schema_core.environment.model_provider.open_provider`.
    """
    call = cast("relational.ModelCall", table.model)
    provider, zone = open_provider(call), context.compiler.zone
    path = call.model.identifier.as_summary_string() if call.model.identifier else ""
    inputs = [column.type for column in call.model.inputs]
    outputs = [column.type for column in call.model.outputs]
    for type_ in (*inputs, *outputs):
        require_handed(type_)
    for type_ in outputs:
        require_returned(type_)
    frame = context.rows(table.input)
    stored = [Column(name) for name in frame.columns]
    named: list[NamedNode] = [(node, f"{PASSED}{place}") for place, node in enumerate(stored)]
    for number, (place, type_) in enumerate(zip(call.arguments, inputs, strict=True)):
        value = convert(stored[place], table.input.columns[place].type, type_, zone)
        named.append((as_received(value, type_, zone), f"{VALUE}{number}"))
    rows = select(frame, named)
    result = DataTypes.ROW([DataTypes.FIELD(name, type_) for name, type_ in call.model.outputs])
    results = struct_of([exchange_type(in_arrow(type_)) for type_ in outputs], RESULT)
    task = PredictionTask(
        provider,
        ModelContext(
            path,
            dict(call.model.options),
            call.model.inputs,
            call.model.outputs,
            dict(context.options),
        ),
        _converted(inputs),
        checked_result(lambda row: row, f"of the model {path}", result.not_null(), zone),
        struct_of([exchange_type(type_) for type_ in inputs], VALUE),
        results,
        _async_calls(call.config),
    )
    predicted = rows.mapInArrow(task.batches, output_columns(rows.schema, results))
    columns = [
        *(Column(f"{PASSED}{place}") for place in range(len(stored))),
        *(
            as_declared(Column(f"{RESULT}{place}"), type_, zone)
            for place, type_ in enumerate(outputs)
        ),
    ]
    names = (column.name for column in table.columns)
    return context.query(select(predicted, list(zip(columns, names, strict=True))))


def _async_calls(config: Mapping[str, str]) -> AsyncCalls | None:
    """Return how rows are predicted concurrently; None for whole batches."""
    if not ASYNC.of(config):
        return None
    timeout = cast("timedelta", TIMEOUT.of(config)).total_seconds()
    return AsyncCalls(cast("int", CONCURRENCY.of(config)), timeout, retries=0)


def _converted(types: Sequence[DataType]) -> Callable[[Any], tuple[Any, ...]]:
    def converted(row: Any) -> tuple[Any, ...]:
        return tuple(convert_argument(type_, item) for type_, item in zip(types, row, strict=True))

    return converted
