"""Answers about schemas: the results of builder calls, and all fields of a resolved schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from properties.answers.attempt import Operation
from properties.recorded import Answer, Question
from schema_core.base.text import Span
from schema_core.catalog.objects import DistributionKind, TableDistribution
from schema_core.errors import NotFoundError, SchemaCoreError
from schema_core.query.relation import Relation, SourceTable
from schema_core.query.resolve import resolve_query
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import (
    Column,
    ComputedColumn,
    ImmutableColumns,
    Index,
    MetadataColumn,
    ResolvedExpression,
    ResolvedSchema,
    UniqueConstraint,
)
from schema_core.schema.unresolved import Schema, SchemaBuilder
from schema_core.sql.syntax import Query
from schema_core.types import (
    AnyTimestampType,
    DataType,
    RowType,
    TimestampKind,
)

# --- in -------------------------------------------------------------------------------------------


def _named(builder: SchemaBuilder, call: Question, generated: str, named: str) -> None:
    """A key or an index, with a name of its own or without."""
    if call.get("name") is None:
        getattr(builder, generated)(*call["columns"])
    else:
        getattr(builder, named)(call["name"], *call["columns"])


#: Kind of call -> what it does to a builder.
CALLS: dict[str, Callable[[SchemaBuilder, Question], object]] = {
    "physical": lambda b, c: b.column(c["name"], c["type"]),
    "computed": lambda b, c: b.column_by_expression(c["name"], c["expr"]),
    "metadata": lambda b, c: b.column_by_metadata(
        c["name"], c["type"], c.get("key"), bool(c.get("virtual"))
    ),
    "watermark": lambda b, c: b.watermark(c["column"], c["expr"]),
    "primary_key": lambda b, c: _named(b, c, "primary_key", "primary_key_named"),
    "index": lambda b, c: _named(b, c, "index", "index_named"),
    "immutable": lambda b, c: _named(b, c, "immutable_columns", "immutable_columns_named"),
}


def written(calls: Iterable[Question]) -> Schema:
    """The schema that the builder calls write, in order."""
    builder = Schema.new_builder()
    for call in calls:
        CALLS[call["kind"]](builder, call)
        if call.get("comment") is not None:
            builder.with_comment(call["comment"])
    return builder.build()


class NoTables:
    """What queries find in an environment where nothing was created."""

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        raise NotFoundError(f"there is no table {path}", span=span)


def resolver(question: Question) -> SchemaResolver:
    """A resolver for the mode of a question."""
    streaming = question.get("mode") != "batch"

    def rows(query: Query, span: Span) -> Relation:
        return resolve_query(query, NoTables(), streaming=streaming)

    return SchemaResolver(streaming=streaming, subqueries=rows)


def resolved(question: Question) -> ResolvedSchema:
    """The schema of a question, resolved."""
    return resolver(question).resolve(written(question["schema"]))


def distribution(question: Question) -> TableDistribution:
    kind = DistributionKind[question["kind"]]
    return TableDistribution.of(kind, question.get("buckets"), question.get("keys") or ())


# --- out ------------------------------------------------------------------------------------------


def time_attribute(type_: DataType) -> str | None:
    kind = type_.kind if isinstance(type_, AnyTimestampType) else TimestampKind.REGULAR
    return None if kind is TimestampKind.REGULAR else kind.value.lower()


def text(type_: DataType) -> str:
    """The exact text of a type, or "!" and its summary where it has none."""
    try:
        return type_.as_serializable_string()
    except SchemaCoreError:
        return f"!{type_.as_summary_string()}"


def sql(expression: ResolvedExpression) -> Answer:
    """The expression as a catalog keeps it, or why it cannot be kept."""
    try:
        return {"expr": expression.as_serializable_string()}
    except SchemaCoreError as error:
        return {"expr_error": error.problem}


def row(make: Callable[[], RowType]) -> str:
    try:
        return text(make())
    except SchemaCoreError as error:
        return f"!{error.problem}"


def column_answer(column: Column) -> Answer:
    answer: Answer = {
        "name": column.name,
        "type": text(column.data_type),
        "summary": column.data_type.as_summary_string(),
        "physical": column.is_physical(),
        "persisted": column.is_persisted(),
        "time_attribute": time_attribute(column.data_type),
        "kind": "physical",
        "comment": column.comment,
    }
    if isinstance(column, ComputedColumn):
        answer |= {"kind": "computed", **sql(column.expression)}
    if isinstance(column, MetadataColumn):
        key, virtual = column.metadata_key, column.virtual
        answer |= {"kind": "metadata", "key": key, "virtual": virtual}
    return answer


def constraint_answer(constraint: UniqueConstraint | ImmutableColumns | Index) -> Answer:
    return {
        "name": constraint.name,
        "columns": constraint.get_columns(),
        "summary": constraint.as_summary_string(),
    }


def resolved_answer(schema: ResolvedSchema) -> Answer:
    """Return all fields of a resolved schema: ``resolved`` of the protocol."""
    watermarks = [
        {
            "column": spec.rowtime_attribute,
            "type": text(spec.watermark_expression.type),
            **sql(spec.watermark_expression),
        }
        for spec in schema.watermark_specs
    ]
    answer: Answer = {
        "columns": [column_answer(column) for column in schema.columns],
        "watermarks": watermarks,
        "source_row": row(schema.to_source_row_data_type),
        "physical_row": row(schema.to_physical_row_data_type),
        "sink_row": row(schema.to_sink_row_data_type),
        "string": str(schema),
    }
    if schema.primary_key is not None:
        answer["primary_key"] = constraint_answer(schema.primary_key)
    if schema.indexes:
        answer["indexes"] = [constraint_answer(index) for index in schema.indexes]
    if schema.immutable_columns is not None:
        answer["immutable"] = constraint_answer(schema.immutable_columns)
    return answer


OPS: dict[str, Operation] = {
    "schema": lambda question: {"resolved": resolved_answer(resolved(question))},
}
