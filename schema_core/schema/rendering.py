"""Schemas and their explanations as HTML tables for notebooks, and as Mermaid flowcharts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, assert_never

from schema_core.markup import code, items, table, text
from schema_core.schema.columns import (
    AnyColumn,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    format_metadata,
)

if TYPE_CHECKING:
    from schema_core.schema.explain import ColumnExplanation, Explanation, WatermarkExplanation
    from schema_core.schema.resolved import ResolvedSchema
    from schema_core.schema.unresolved import Schema


def written_html(schema: Schema) -> str:
    """Return an unresolved schema as HTML: a table of columns, and a list of the other parts."""
    rows = [(code(one.name), *_written(one), text(one.comment or "")) for one in schema.columns]
    found = table(("column", "type", "how", "comment"), rows, "Schema (not resolved)")
    return found + _rest(schema.watermark_specs, schema.primary_key, *_others(schema))


def _written(column: UnresolvedColumn) -> tuple[str, str]:
    """Return the type and the clause of a column."""
    match column:
        case UnresolvedPhysicalColumn(data_type=type_):
            return code(type_), ""
        case UnresolvedComputedColumn(expression=expression):
            return "", code(f"AS {expression}")
        case UnresolvedMetadataColumn(data_type=type_, metadata_key=key, virtual=virtual):
            return code(type_), code(format_metadata(key, virtual=virtual))
        case _:
            assert_never(column)


def resolved_html(schema: ResolvedSchema) -> str:
    """Return a resolved schema as HTML: a table of columns, and a list of the other parts."""
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
    """Return watermarks, keys and indexes as an HTML list."""
    return items(code(one) for one in (*watermarks, *members) if one is not None)


COLUMN_HEADS = ("column", "type", "kind", "because", "reads", "comes from")
WATERMARK_HEADS = ("watermark of", "type", "expression", "reads", "comes from")


def explanation_html(explanation: Explanation) -> str:
    """Return an explanation as HTML tables."""
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


#: Kind of column -> the delimiters of its label, which determine the shape of the node.
SHAPES: dict[str, tuple[str, str]] = {
    "physical": ("[", "]"),
    "metadata": ("[/", "/]"),
    "computed": ("(", ")"),
    "watermark": ("{{", "}}"),
    "key": ("[(", ")]"),
}

#: Characters that have no meaning within a quoted label, in any combination.
PLAIN = frozenset(" _.,+")

#: Maximum length of a label.
MAX_LABEL = 200


def label(text: str) -> str:
    """Return a quoted label; other characters than letters, digits and a few signs are escaped.

    >>> label('a"] --> b')
    '"a#34;#93; #45;#45;#62; b"'
    """
    cut = text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 3]}..."
    return f'"{"".join(map(_sign, cut))}"'


def _sign(sign: str) -> str:
    plain = sign in PLAIN or (sign.isalnum() and sign.isprintable())
    return sign if plain else f"#{ord(sign)};"


def flowchart(explanation: Explanation) -> str:
    """Return a Mermaid flowchart with an arrow from each column to those that read it."""
    return "\n".join(("flowchart LR", *(f"    {line}" for line in _lines(explanation))))


def _lines(explanation: Explanation) -> Iterator[str]:
    nodes: dict[str, str] = {}
    for number, column in enumerate(explanation.columns):
        nodes.setdefault(column.name, f"c{number}")
        yield _node(f"c{number}", column.kind, _of_column(column))
    for number, watermark in enumerate(explanation.watermarks):
        yield _node(f"w{number}", "watermark", f"watermark AS {watermark.expression}")
    promoted = [one.name for one in explanation.columns if one.is_promoted()]
    if promoted:
        yield _node("key", "key", "primary key")
    for number, column in enumerate(explanation.columns):
        yield from _arrows((one.column for one in column.reads), nodes, f"c{number}")
    for number, watermark in enumerate(explanation.watermarks):
        yield from _arrows((one.column for one in watermark.reads), nodes, f"w{number}")
        if watermark.column in nodes:
            yield f"w{number} -.-> {nodes[watermark.column]}"
    yield from (f"key -.-> {nodes[name]}" for name in promoted)


def _node(name: str, kind: str, text: str) -> str:
    opening, closing = SHAPES[kind]
    return f"{name}{opening}{label(text)}{closing}"


def _of_column(column: ColumnExplanation) -> str:
    text = f"{column.name} {column.data_type.as_summary_string()}"
    return text if column.expression is None else f"{text} AS {column.expression}"


def _arrows(names: Iterable[str], nodes: dict[str, str], target: str) -> Iterator[str]:
    for name in dict.fromkeys(names):
        if name in nodes:
            yield f"{nodes[name]} --> {target}"
