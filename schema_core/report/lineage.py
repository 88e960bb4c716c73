"""Which columns of tables and views are computed from which."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schema_core.base.paths import ObjectIdentifier, format_path, join_names
from schema_core.catalog.objects import (
    ResolvedCatalogMaterializedTable,
    ResolvedCatalogView,
    TableKind,
)
from schema_core.environment.lineage import Lineage, TableLineage
from schema_core.environment.session import Session
from schema_core.environment.views import conform_columns
from schema_core.errors import SchemaCoreError
from schema_core.query.origins import Origin, column_origins
from schema_core.report.diagrams import Arrow, Diagram, DiagramNode
from schema_core.report.markup import code, page, scroll, text
from schema_core.report.markup import table as html_table
from schema_core.report.schemas import type_html
from schema_core.schema.rules import KIND_NAMES
from schema_core.sql.parser import parse_query

#: Kind of a table -> what follows its name.
KINDS = {TableKind.VIEW: " (view)", TableKind.MATERIALIZED_TABLE: " (materialized table)"}
#: What a column of a view is labelled with that reads no column, such as a constant or COUNT(*).
NO_SOURCE = "reads no column"


class PathShortener:
    """Shortens paths by the catalog and the database if all paths have the same."""

    def __init__(self, paths: Iterable[ObjectIdentifier]) -> None:
        parents = {tuple(path.to_list()[:2]) for path in paths}
        catalogs = {catalog for catalog, _ in parents}
        self._start = 2 if len(parents) < 2 else 1 if len(catalogs) < 2 else 0

    def __call__(self, path: ObjectIdentifier) -> str:
        return join_names(path.to_list()[self._start :])


def find_lineage(
    session: Session,
    identifiers: Iterable[ObjectIdentifier],
    problems: dict[ObjectIdentifier, str] | None = None,
) -> Lineage:
    """Return the lineage of tables and views, and of all that they read (`table-not-found`).

    A view whose query no longer fits what it reads raises its error or, with `problems`, is added
    to them with the reason.
    """
    tables: dict[ObjectIdentifier, TableLineage] = {}
    waiting = list(identifiers)[::-1]
    with session.keep_tables():
        while waiting:
            identifier = waiting.pop()
            if identifier in tables:
                continue
            try:
                table = tables[identifier] = _lineage_of(session, identifier)
            except SchemaCoreError as error:
                if problems is None:
                    raise
                problems[identifier] = str(error.problem)
                continue
            waiting += [read.table for origins in table.reads for read in origins][::-1]
    return Lineage(tuple(tables.values()))


def _lineage_of(session: Session, identifier: ObjectIdentifier) -> TableLineage:
    table = session.get_table(identifier).table
    schema = table.resolved_schema
    if isinstance(table, ResolvedCatalogView):
        reads = column_origins(session.query_of(identifier, table))
    elif isinstance(table, ResolvedCatalogMaterializedTable):
        text = table.expanded_query
        reads = column_origins(conform_columns(session.query(parse_query(text), text), schema))
    else:
        explained = schema.explain().columns
        reads = [
            tuple(dict.fromkeys(Origin(identifier, read.column) for read in column.reads))
            for column in explained
        ]
    return TableLineage(identifier, table.get_table_kind(), schema, tuple(reads))


def draw_lineage(lineage: Lineage) -> Diagram:
    """Return a diagram; each table and view is a group."""
    shorten = PathShortener(table.identifier for table in lineage.tables)
    ids: dict[Origin, str] = {}
    nodes: list[DiagramNode] = []
    for table in lineage.tables:
        group = shorten(table.identifier) + KINDS.get(table.kind, "")
        for column, origins in zip(table.schema.columns, table.reads, strict=True):
            kind = KIND_NAMES[type(column)] if table.kind is TableKind.TABLE else "computed"
            text = f"{column.name} {column.data_type.as_summary_string()}"
            if kind == "computed" and not origins:
                text += f" ({NO_SOURCE})"
            node = DiagramNode(f"c{len(nodes)}", kind, text, group)
            nodes.append(node)
            ids[Origin(table.identifier, column.name)] = node.id
    arrows = [
        Arrow(ids[origin], ids[Origin(table.identifier, column.name)])
        for table in lineage.tables
        for column, origins in zip(table.schema.columns, table.reads, strict=True)
        for origin in origins
        if origin in ids
    ]
    return Diagram(nodes, arrows)


def lineage_parts(lineage: Lineage, hide: Callable[[str], str] = str) -> tuple[str, ...]:
    """Return the diagram and each table; `hide` is applied to the expressions of columns."""
    tables = (table_lineage_html(table, hide) for table in lineage.tables)
    return scroll(draw_lineage(lineage).to_svg()), *tables


def lineage_page(lineage: Lineage, title: str) -> str:
    """Return a self-contained HTML page."""
    return page(title, *lineage_parts(lineage))


def table_lineage_html(
    lineage: TableLineage, hide: Callable[[str], str] = str, most: int | None = None
) -> str:
    """Return a table of the columns, and what they read; at most `most` of them."""
    is_view = lineage.kind is not TableKind.TABLE
    rows = [
        (
            code(column.name),
            type_html(column.data_type),
            code(hide(column.explain_extras() or "")),
            "<br>".join(code(join_names([*o.table.to_list(), o.column])) for o in origins)
            or (text(NO_SOURCE) if is_view else ""),
        )
        for column, origins in zip(lineage.schema.columns, lineage.reads, strict=True)
    ]
    caption = f"{format_path(lineage.identifier)} ({lineage.kind.value})"
    heads = ("column", "type", "definition", "reads")
    return scroll(html_table(heads, rows, caption, most, required=2))
