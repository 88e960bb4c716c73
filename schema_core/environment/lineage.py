"""The lineage of tables and views: which column is computed from which, as a page and diagram."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.paths import ObjectIdentifier, format_path, join_names, split_names
from schema_core.catalog.objects import (
    ResolvedCatalogMaterializedTable,
    ResolvedCatalogView,
    TableKind,
)
from schema_core.environment.session import Session
from schema_core.environment.views import conformed
from schema_core.query.origins import Origin, Origins, column_origins
from schema_core.report.diagrams import Arrow, Diagram, DiagramNode
from schema_core.report.markup import code, page, scrolled
from schema_core.report.markup import table as html_table
from schema_core.schema.rendering import folded
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.rules import KIND_NAMES
from schema_core.sql.parser import parse_query


@dataclass(frozen=True, slots=True)
class TableLineage:
    """A table or view: its kind, its schema, and what each of its columns reads directly."""

    identifier: ObjectIdentifier
    kind: TableKind
    schema: ResolvedSchema
    reads: tuple[Origins, ...]


@dataclass(frozen=True, slots=True)
class Lineage:
    """The columns of tables and views, and the columns that each of them reads."""

    tables: tuple[TableLineage, ...]

    def reads(self, path: str, column: str) -> Origins:
        """Return the columns that a column reads directly; none for an unknown one.

        Args:
            path: The path of a table or view with all three names, separated by dots; names with
                dots are quoted with backticks.
            column: The name of the column.
        """
        names = list(split_names(path))
        for table in self.tables:
            if table.identifier.to_list() == names:
                columns = table.schema.get_column_names()
                return dict(zip(columns, table.reads, strict=True)).get(column, ())
        return ()

    def to_mermaid(self) -> str:
        """Return a Mermaid flowchart, in which each table and view is a subgraph."""
        return self._diagram().to_mermaid()

    def to_svg(self) -> str:
        """Return an SVG image, in which each column is right of those that it reads."""
        return self._diagram().to_svg()

    def to_html(self, title: str = "Lineage") -> str:
        """Return a self-contained HTML page: a diagram, and a table for each table and view."""
        return page(title, *self.to_html_parts())

    def to_html_parts(self) -> tuple[str, ...]:
        """Return the parts of the page of `to_html`: the diagram, and each table."""
        return scrolled(self.to_svg()), *map(_html, self.tables)

    def _repr_html_(self) -> str:
        return "\n".join(map(_html, self.tables))

    def _diagram(self) -> Diagram:
        ids: dict[Origin, str] = {}
        nodes: list[DiagramNode] = []
        for table in self.tables:
            for column in table.schema.columns:
                kind = KIND_NAMES[type(column)] if table.kind is TableKind.TABLE else "computed"
                made = DiagramNode(
                    f"c{len(nodes)}",
                    kind,
                    f"{column.name} {column.data_type.as_summary_string()}",
                    table.identifier.object_name,
                )
                nodes.append(made)
                ids[Origin(table.identifier, column.name)] = made.id
        return Diagram(nodes, list(self._arrows(ids)))

    def _arrows(self, ids: dict[Origin, str]) -> Iterator[Arrow]:
        for table in self.tables:
            for column, origins in zip(table.schema.columns, table.reads, strict=True):
                target = ids[Origin(table.identifier, column.name)]
                yield from (Arrow(ids[origin], target) for origin in origins if origin in ids)


def _html(one: TableLineage) -> str:
    rows = [
        (
            code(column.name),
            folded(column.data_type),
            code(column.explain_extras()),
            "<br>".join(code(join_names([*o.table.to_list(), o.column])) for o in origins),
        )
        for column, origins in zip(one.schema.columns, one.reads, strict=True)
    ]
    caption = f"{format_path(one.identifier)} ({one.kind.value})"
    return scrolled(html_table(("column", "type", "how", "reads"), rows, caption))


def lineage(session: Session, identifiers: Iterable[ObjectIdentifier]) -> Lineage:
    """Return the lineage of tables and views, and of all that they read.

    Raises:
        NotFoundError: with code `table-not-found`.
        SchemaCoreError: for a view whose query does not fit what it reads any more.
    """
    found: dict[ObjectIdentifier, TableLineage] = {}
    waiting = list(identifiers)[::-1]
    with session.views_kept():
        while waiting:
            identifier = waiting.pop()
            if identifier not in found:
                one = found[identifier] = _lineage_of(session, identifier)
                waiting += [read.table for origins in one.reads for read in origins][::-1]
    return Lineage(tuple(found.values()))


def _lineage_of(session: Session, identifier: ObjectIdentifier) -> TableLineage:
    table = session.get_table(identifier).table
    schema = table.resolved_schema
    if isinstance(table, ResolvedCatalogView):
        reads = column_origins(session.query_of(identifier, table))
    elif isinstance(table, ResolvedCatalogMaterializedTable):
        text = table.expanded_query
        reads = column_origins(conformed(session.query(parse_query(text), text), schema))
    else:
        explained = schema.explain().columns
        reads = [
            tuple(dict.fromkeys(Origin(identifier, read.column) for read in one.reads))
            for one in explained
        ]
    return TableLineage(identifier, table.get_table_kind(), schema, tuple(reads))
