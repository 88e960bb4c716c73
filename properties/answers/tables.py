"""Answers about what a catalog keeps: tables, views, materialized tables, models, as maps."""

from __future__ import annotations

from collections.abc import Sequence

from properties.answers.attempt import Operation
from properties.answers.schema import distribution, resolved_answer, resolver, written
from properties.recorded import Answer, Question
from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    CatalogView,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
    TableDistribution,
)
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
    resolve_view,
)
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError
from schema_core.properties.property_map import (
    decode_materialized_table,
    decode_model,
    decode_table,
    encode_materialized_table,
    encode_model,
    encode_table,
    encode_view,
)
from schema_core.types import DataType

# --- tables ---------------------------------------------------------------------------------------


def table(question: Question) -> Answer:
    """A table, resolved and written as a map."""
    made = CatalogTable(
        written(question["schema"]),
        tuple(question.get("partition_keys") or ()),
        options=question.get("options") or {},
        comment=question.get("comment"),
        snapshot=question.get("snapshot"),
        distribution=_distribution(question),
    )
    return _table(made, question)


def deserialize(question: Question) -> Answer:
    """A map, read as a table, which is then resolved and written again."""
    read = decode_table(question["properties"], question.get("fallback"))
    return {
        "unresolved": str(read.schema),
        "options": read.get_options(),
        "comment": read.get_comment(),
        "partition_keys": read.get_partition_keys(),
        **_table(read, question),
    }


def _table(made: CatalogTable, question: Question) -> Answer:
    kept = resolve_table(made, resolver(question))
    properties = encode_table(kept, on_loss="flink")
    return {"resolved": resolved_answer(kept.resolved_schema), "properties": properties}


def _distribution(question: Question) -> TableDistribution | None:
    asked = question.get("distribution")
    return None if asked is None else distribution(asked)


# --- views ----------------------------------------------------------------------------------------


def view(question: Question) -> Answer:
    """A view, resolved after the statements that set the stage, and written as a map."""
    environment = _stage(question)
    made = CatalogView(
        written(question["schema"]),
        question["original_query"],
        question["expanded_query"],
        options=question.get("options") or {},
        comment=question.get("comment"),
    )
    kept = resolve_view(made, resolver(question), lambda text: _query_columns(environment, text))
    return {
        "resolved": resolved_answer(kept.resolved_schema),
        "original_query": kept.original_query,
        "expanded_query": kept.expanded_query,
        "comment": kept.get_comment(),
        "description": kept.get_description(),
        "properties": encode_view(kept, on_loss="flink"),
    }


def _stage(question: Question) -> TableEnvironment:
    batch = question.get("mode") == "batch"
    settings = (
        EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    )
    environment = TableEnvironment.create(settings)
    for statement in question.get("setup") or ():
        environment.execute_sql(statement)
    return environment


def _query_columns(environment: TableEnvironment, text: str) -> Sequence[tuple[str, DataType]]:
    schema = environment.sql_query(text).get_resolved_schema()
    return [(column.name, column.data_type) for column in schema.columns]


# --- materialized tables --------------------------------------------------------------------------


def materialized_table(question: Question) -> Answer:
    """A materialized table, resolved and written as a map."""
    freshness, mode = question.get("freshness"), question.get("refresh_mode")
    handler = question.get("refresh_handler_bytes")
    made = CatalogMaterializedTable(
        written(question["schema"]),
        _given(question, "original_query"),
        _given(question, "expanded_query"),
        logical_refresh_mode=LogicalRefreshMode[_given(question, "logical_refresh_mode")],
        refresh_status=RefreshStatus[_given(question, "refresh_status")],
        refresh_mode=None if mode is None else RefreshMode[mode],
        freshness=None if freshness is None else _freshness(freshness),
        refresh_handler_description=question.get("refresh_handler_desc"),
        refresh_handler=None if handler is None else handler.encode(),
        options=question.get("options") or {},
        comment=question.get("comment"),
        snapshot=question.get("snapshot"),
        partition_keys=tuple(question.get("partition_keys") or ()),
        distribution=_distribution(question),
    )
    return _materialized_table(made, question)


def _given(question: Question, key: str) -> str:
    """What the library takes as an argument that must be given."""
    if question.get(key) is None:
        raise SchemaError(f"a materialized table needs its {key}")
    return str(question[key])


def _freshness(asked: Question) -> Freshness:
    return Freshness.of(asked["interval"], FreshnessUnit[asked["unit"]])


def deserialize_materialized_table(question: Question) -> Answer:
    """A map, read as a materialized table, which is then resolved and written again."""
    read = decode_materialized_table(question["properties"])
    return {
        "unresolved": str(read.schema),
        "options": read.get_options(),
        "partition_keys": read.get_partition_keys(),
        **_materialized_table(read, question),
    }


def _materialized_table(made: CatalogMaterializedTable, question: Question) -> Answer:
    kept = resolve_materialized_table(made, resolver(question))
    return {
        "comment": kept.get_comment(),
        "resolved": resolved_answer(kept.resolved_schema),
        "freshness": str(kept.freshness),
        "freshness_seconds": kept.freshness.seconds if kept.freshness else None,
        "logical_refresh_mode": kept.logical_refresh_mode.value,
        "refresh_mode": kept.refresh_mode.value if kept.refresh_mode else None,
        "refresh_status": kept.refresh_status.value,
        "distribution": str(kept.distribution) if kept.distribution else None,
        "start_mode": kept.start_mode.value if kept.start_mode else None,
        "properties": encode_materialized_table(kept, on_loss="flink"),
    }


# --- models ---------------------------------------------------------------------------------------


def model(question: Question) -> Answer:
    """A model, resolved and written as a map."""
    made = CatalogModel(
        written(question["input_schema"]),
        written(question["output_schema"]),
        options=question.get("options") or {},
        comment=question.get("comment"),
    )
    return _model(made, question)


def deserialize_model(question: Question) -> Answer:
    """A map, read as a model, which is then resolved and written again."""
    read = decode_model(question["properties"])
    return {
        "input_unresolved": str(read.input_schema),
        "output_unresolved": str(read.output_schema),
        "options": read.get_options(),
        **_model(read, question),
    }


def _model(made: CatalogModel, question: Question) -> Answer:
    kept = resolve_model(made, resolver(question))
    return {
        "comment": kept.get_comment(),
        "input": str(kept.resolved_input_schema),
        "output": str(kept.resolved_output_schema),
        "properties": encode_model(kept, on_loss="flink"),
    }


OPS: dict[str, Operation] = {
    "table": table,
    "deserialize": deserialize,
    "view": view,
    "materialized_table": materialized_table,
    "deserialize_materialized_table": deserialize_materialized_table,
    "model": model,
    "deserialize_model": deserialize_model,
}
