"""Types, schemas, explanations and results as HTML and diagrams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, assert_never, cast

from schema_core.environment.options import mask_options
from schema_core.environment.plans.plan_text import PlanText, draw_tree
from schema_core.report.diagrams import Arrow, Diagram, DiagramNode
from schema_core.report.markup import (
    MAX_ROWS,
    code,
    details,
    items,
    page,
    scroll,
    table,
    text,
    text_block,
)
from schema_core.schema import columns as schema_columns
from schema_core.types import DataType, MapType, RowType, StructuredType

if TYPE_CHECKING:
    from schema_core.environment.jobs.client import JobClient
    from schema_core.environment.result import TableResult
    from schema_core.environment.table_api.descriptor import TableDescriptor
    from schema_core.schema.explanation import (
        ColumnExplanation,
        Explanation,
        WatermarkExplanation,
    )
    from schema_core.schema.resolved import ResolvedSchema
    from schema_core.schema.unresolved import Schema


HEADS = ("column", "type", "key", "definition", "comment")
UNRESOLVED_HEADS = ("column", "type", "definition", "comment")


def unresolved_schema_html(schema: Schema) -> str:
    """Return a table of columns, and a list of the other parts."""
    rows = [
        (code(column.name), *_format_unresolved(column), text(column.comment or ""))
        for column in schema.columns
    ]
    columns = table(UNRESOLVED_HEADS, rows, "Schema (not resolved)", MAX_ROWS, required=2)
    return columns + _rest(schema.watermark_specs, schema.primary_key, *_others(schema))


def _format_unresolved(column: schema_columns.UnresolvedColumn) -> tuple[str, str]:
    match column:
        case schema_columns.UnresolvedPhysicalColumn(data_type=type_):
            return code(type_), ""
        case schema_columns.UnresolvedComputedColumn(expression=expression):
            return "", code(f"AS {expression}")
        case schema_columns.UnresolvedMetadataColumn(
            data_type=type_, metadata_key=key, virtual=virtual
        ):
            return code(type_), code(schema_columns.format_metadata(key, virtual=virtual))
        case _:
            assert_never(column)


def schema_html(schema: ResolvedSchema) -> str:
    """Return a table of columns, and a list of the other parts."""
    key = () if schema.primary_key is None else schema.primary_key.columns
    rows = [_format_resolved(column, column.name in key) for column in schema.columns]
    columns = table(HEADS, rows, "Schema", MAX_ROWS, required=2)
    return columns + _rest(schema.watermark_specs, schema.primary_key, *_others(schema))


def _format_resolved(column: schema_columns.AnyColumn, in_key: bool) -> tuple[str, ...]:
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
    return items(code(member) for member in (*watermarks, *members) if member is not None)


PAGE_HEADS = (*HEADS[:-1], "reads", "comes from", "comment")


def schema_parts(schema: ResolvedSchema) -> Iterator[str]:
    """Yield the columns, the other parts, and a diagram of the lineage."""
    key = () if schema.primary_key is None else schema.primary_key.columns
    explanation = schema.explain()
    rows = []
    for column, explained in zip(schema.columns, explanation.columns, strict=True):
        name, _, in_key, definition, comment = _format_resolved(column, column.name in key)
        reads = _descent(explained) if explained.expression is not None else ("", "")
        rows.append((name, type_html(column.data_type), in_key, definition, *reads, comment))
    yield scroll(table(PAGE_HEADS, rows, required=2))
    yield _rest(schema.watermark_specs, schema.primary_key, *_others(schema))
    drawn = draw_explanation(explanation)
    if drawn.arrows:
        yield "<h2>Lineage</h2>"
        yield scroll(drawn.to_svg())


def schema_page(schema: ResolvedSchema, title: str) -> str:
    """Return a self-contained HTML page."""
    return page(title, *schema_parts(schema))


#: Characters of the summary of a folded type.
MAX_SUMMARY = 60


def type_html(type_: DataType) -> str:
    """Return a type; one with fields is folded.

    >>> from schema_core.types import DataTypes
    >>> type_html(DataTypes.INT()), type_html(DataTypes.of("ARRAY<ROW<a INT>>")).count("<details>")
    ('<code>INT</code>', 2)
    """
    whole = type_.as_summary_string()
    if not any(isinstance(node, RowType | StructuredType) for node in type_.walk()):
        return code(whole)
    short = whole if len(whole) <= MAX_SUMMARY else f"{whole[: MAX_SUMMARY - 3]}..."
    names = _child_names(type_)
    children = zip(names, type_.children(), strict=True)
    return details(
        code(short), items(f"{code(name)} {type_html(child)}" for name, child in children)
    )


def _child_names(type_: DataType) -> list[str]:
    match type_:
        case RowType() | StructuredType():
            return [field.name for field in type_.fields]
        case MapType():
            return ["key", "value"]
        case _:
            return ["element"] * len(type_.children())


def column_html(column: schema_columns.UnresolvedColumn) -> str:
    """Return an unresolved column in one cell."""
    _, how = parts = _format_unresolved(column)
    type_ = getattr(column, "data_type", None)
    shown = type_html(type_) if isinstance(type_, DataType) else parts[0]
    found = (code(column.name), shown, how, text(column.comment or ""))
    return " ".join(part for part in found if part)


COLUMN_HEADS = ("column", "type", "kind", "because", "reads", "comes from")
WATERMARK_HEADS = ("watermark of", "type", "expression", "reads", "comes from")


def explanation_html(explanation: Explanation) -> str:
    """Return tables of columns and watermarks."""
    rows = [_format_explained(column) for column in explanation.columns]
    columns = table(COLUMN_HEADS, rows, "Where the types come from", MAX_ROWS)
    if not explanation.watermarks:
        return columns
    marks = [_watermark(watermark) for watermark in explanation.watermarks]
    return f"{columns}\n{table(WATERMARK_HEADS, marks, 'Watermarks', MAX_ROWS)}"


def _format_explained(column: ColumnExplanation) -> tuple[str, ...]:
    because = "<br>".join(text(reason) for reason in column.reasons)
    type_ = code(column.data_type.as_summary_string())
    return (code(column.name), type_, text(column.how()), because, *_descent(column))


def _watermark(watermark: WatermarkExplanation) -> tuple[str, ...]:
    type_ = code(watermark.data_type.as_summary_string())
    return (code(watermark.column), type_, code(watermark.expression), *_descent(watermark))


def _descent(one: ColumnExplanation | WatermarkExplanation) -> tuple[str, str]:
    reads = "<br>".join(code(".".join((read.column, *read.fields))) for read in one.reads)
    return reads, "<br>".join(map(code, one.leaves))


def draw_explanation(explanation: Explanation) -> Diagram:
    """Return a diagram with an arrow from each column to those that read it."""
    columns, watermarks = explanation.columns, explanation.watermarks
    promoted = [column.name for column in columns if column.is_promoted()]
    nodes = [
        DiagramNode(f"c{i}", column.kind, _of_column(column)) for i, column in enumerate(columns)
    ]
    for i, watermark in enumerate(watermarks):
        nodes.append(DiagramNode(f"w{i}", "watermark", f"watermark AS {watermark.expression}"))
    if promoted:
        nodes.append(DiagramNode("key", "key", "primary key"))
    return Diagram(nodes, list(_arrows(explanation, promoted)))


def _of_column(column: ColumnExplanation) -> str:
    text = f"{column.name} {column.data_type.as_summary_string()}"
    return text if column.expression is None else f"{text} AS {column.expression}"


def _arrows(explanation: Explanation, promoted: Iterable[str]) -> Iterator[Arrow]:
    ids: dict[str, str] = {}
    for number, column in enumerate(explanation.columns):
        ids.setdefault(column.name, f"c{number}")
    for number, column in enumerate(explanation.columns):
        yield from _reads(column, ids, f"c{number}")
    for number, watermark in enumerate(explanation.watermarks):
        yield from _reads(watermark, ids, f"w{number}")
        if watermark.column in ids:
            yield Arrow(f"w{number}", ids[watermark.column], dotted=True)
    yield from (Arrow("key", ids[name], dotted=True) for name in promoted)


def _reads(
    one: ColumnExplanation | WatermarkExplanation, ids: dict[str, str], target: str
) -> Iterator[Arrow]:
    for name in dict.fromkeys(read.column for read in one.reads):
        if name in ids:
            yield Arrow(ids[name], target)


# --- rows ----------------------------------------------------------------------------------------


def row_type_html(row: RowType) -> str:
    """Return a table of fields."""
    rows = [
        (code(field.name), code(field.data_type.as_summary_string()), text(field.description or ""))
        for field in row.fields
    ]
    return table(("field", "type", "comment"), rows, row.keyword, MAX_ROWS)


def descriptor_html(descriptor: TableDescriptor) -> str:
    """Return the schema, the options with secrets masked, and the other parts."""
    schema, options = descriptor.schema, mask_options(descriptor.options)
    rows = [(code(key), code(value)) for key, value in options.items()]
    parts = {
        "comment": descriptor.comment,
        "distribution": descriptor.distribution,
        "partitioned by": ", ".join(descriptor.partition_keys),
    }
    return "\n".join(
        (
            "" if schema is None else unresolved_schema_html(schema),
            table(("option", "value"), rows, "Options", MAX_ROWS),
            items(f"{text(name)}: {code(value)}" for name, value in parts.items() if value),
        )
    )


def job_html(client: JobClient) -> str:
    """Return the status of a job, a bar of its tasks, and the metrics of a streaming job."""
    status = client.get_job_status().result().name
    bar = _tasks_html(client.get_progress())
    metrics = client.get_metrics()
    facts = [f"job {client.get_job_id()}", *([metrics.summary()] if metrics is not None else [])]
    return f"<p>{code(client.get_job_name())}: {status} {bar}</p>{items(map(text, facts))}"


#: Characters of the first line of a folded section.
MAX_SUMMARY = 80


def plan_text_html(plan: PlanText) -> str:
    """Return the first section of a plan, and the others folded below their first lines."""
    parts = []
    for place, (title, body) in enumerate(plan.sections()):
        if not title:
            parts.append(text_block(body))
        elif body:
            first, *more = body.split("\n")
            shown = f"{first[:MAX_SUMMARY]}..." if more or len(first) > MAX_SUMMARY else first
            summary = f"<b>{text(title)}</b>" + (f": {code(shown)}" if place else "")
            drawn = "\n".join(map(str, draw_tree(body)))
            parts.append(details(summary, text_block(drawn), is_open=place == 0))
    return "\n".join(parts)


def progress_html(name: str, tasks: tuple[int, int] | None, seconds: float) -> str:
    """Return for how long something has been running, with a bar of its tasks if known."""
    return f"<p>{code(name)}: running for {seconds:.0f} s {_tasks_html(tasks)}</p>"


def _tasks_html(tasks: tuple[int, int] | None) -> str:
    done, total = tasks or (0, 0)
    return (
        f'<progress value="{done}" max="{total}"></progress> {done}/{total} tasks' if total else ""
    )


def result_html(result: TableResult, cells: Iterable[Sequence[str | None]] | None) -> str:
    """Return a result's first rows; its schema and state if `cells` are None (not in memory).

    A single string with several lines keeps its lines; the sections of a plan are folded.
    """
    if cells is not None:
        first = [*islice(cells, MAX_ROWS)]
        if len(first) == 1 and len(first[0]) == 1 and "\n" in (whole := first[0][0] or ""):
            return plan_text_html(PlanText(whole))
        rows = [["<i>NULL</i>" if cell is None else code(cell) for cell in row] for row in first]
        names = result.schema.get_column_names()
        return table(names, rows, total=len(cast("Sequence[object]", result.rows)))
    job = result.job
    state = () if job is None else (f"job {job.get_job_id()}", job.run.status.name)
    unread = "rows: not fetched; call print(), collect() or to_pandas()" if job is None else ""
    facts = (unread, ": ".join(state))
    return schema_html(result.schema) + items(code(fact) for fact in facts if fact)
