"""Schemas and their explanations as notebooks show them: tables of HTML, everything escaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from schema_core.markup import code, items, table, text
from schema_core.schema import formatting
from schema_core.schema.columns import AnyColumn
from schema_core.schema.explanation import ColumnExplanation, Explanation, WatermarkExplanation
from schema_core.schema.unresolved_parts import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)

if TYPE_CHECKING:
    from schema_core.schema.resolved import ResolvedSchema
    from schema_core.schema.unresolved import Schema


def written_html(schema: Schema) -> str:
    """A schema as it was written: a row a column, and below what else there is."""
    rows = [(code(one.name), *_written(one), text(one.comment or "")) for one in schema.columns]
    found = table(("column", "type", "how", "comment"), rows, "Schema (not resolved)")
    return found + _rest(schema.watermark_specs, schema.primary_key, *_others(schema))


def _written(column: UnresolvedColumn) -> tuple[str, str]:
    """The type, and what else a column says of itself."""
    match column:
        case UnresolvedPhysicalColumn(data_type=type_):
            return code(type_), ""
        case UnresolvedComputedColumn(expression=expression):
            return "", code(f"AS {expression}")
        case UnresolvedMetadataColumn(data_type=type_, metadata_key=key, virtual=virtual):
            return code(type_), code(formatting.metadata(key, virtual=virtual))
        case _:
            assert_never(column)


def resolved_html(schema: ResolvedSchema) -> str:
    """A resolved schema: a row a column, and below what else there is."""
    key = () if schema.primary_key is None else schema.primary_key.columns
    rows = [_resolved(one, one.name in key) for one in schema.columns]
    found = table(("column", "type", "key", "how", "comment"), rows, "Schema")
    return found + _rest(schema.watermark_specs, schema.primary_key, *_others(schema))


def _resolved(column: AnyColumn, in_key: bool) -> tuple[str, ...]:
    return (
        code(column.name),
        code(column.data_type.as_summary_string()),
        "yes" if in_key else "",
        code(column.explain_extras()),
        text(column.comment or ""),
    )


def _others(schema: Schema | ResolvedSchema) -> tuple[object, ...]:
    return (*schema.indexes, schema.immutable_columns)


def _rest(watermarks: Iterable[object], *members: object) -> str:
    """Watermarks, keys and indexes, as listings print them."""
    return items(code(one) for one in (*watermarks, *members) if one is not None)


COLUMN_HEADS = ("column", "type", "kind", "because", "reads", "comes from")
WATERMARK_HEADS = ("watermark of", "type", "expression", "reads", "comes from")


def explanation_html(explanation: Explanation) -> str:
    """Where each type came from, and what is read for it."""
    rows = [_explained(one) for one in explanation.columns]
    found = table(COLUMN_HEADS, rows, "Where the types come from")
    if not explanation.watermarks:
        return found
    marks = [_watermark(one) for one in explanation.watermarks]
    return f"{found}\n{table(WATERMARK_HEADS, marks, 'Watermarks')}"


def _explained(column: ColumnExplanation) -> tuple[str, ...]:
    because = "<br>".join(text(reason) for reason in column.reasons)
    type_ = code(column.data_type.as_summary_string())
    return (code(column.name), type_, text(column.how()), because, *_descent(column))


def _watermark(watermark: WatermarkExplanation) -> tuple[str, ...]:
    type_ = code(watermark.data_type.as_summary_string())
    return (code(watermark.column), type_, code(watermark.expression), *_descent(watermark))


def _descent(one: ColumnExplanation | WatermarkExplanation) -> tuple[str, str]:
    reads = "<br>".join(code(".".join((read.column, *read.fields))) for read in one.reads)
    return reads, "<br>".join(map(code, one.leaves))
