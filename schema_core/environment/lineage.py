"""The lineage of tables and views: which column is computed from which.

`schema_core.report.lineage` finds and prints it.
"""

from __future__ import annotations

from typing import Any

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, split_names
from schema_core.base.plugins import load_higher
from schema_core.catalog.objects import TableKind
from schema_core.query.origins import Origins
from schema_core.schema.resolved import ResolvedSchema


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

        `path` has all three names of a table or view, such as ``c.d.t``; names with dots are quoted
        with backticks.
        """
        names = list(split_names(path))
        for table in self.tables:
            if table.identifier.to_list() == names:
                columns = table.schema.get_column_names()
                return dict(zip(columns, table.reads, strict=True)).get(column, ())
        return ()

    def to_mermaid(self, show: str = "columns") -> str:
        """Return a Mermaid flowchart with a subgraph for each table and view.

        Args:
            show: ``columns`` with an arrow to each column from those that it reads; ``tables`` with
                columns and keys, and an arrow from each table to the views that read it; or
                ``lineage``, the same without columns. The latter have at most 200 tables.

        Raises:
            SchemaError: with code `invalid-argument` for another value.
        """
        return str(load_higher("draw_lineage_as")(self, show).to_mermaid())

    def to_svg(self, show: str = "columns") -> str:
        """Return an SVG image; what reads something is to the right of it.

        Args:
            show: As for `to_mermaid`.

        Raises:
            SchemaError: as `to_mermaid`.
        """
        return str(load_higher("draw_lineage_as")(self, show).to_svg())

    def to_html(self, title: str = "Lineage") -> str:
        """Return a self-contained HTML page: a diagram, and a table for each table and view."""
        return str(load_higher("lineage_page")(self, title))

    def _repr_html_(self) -> str:
        return str(load_higher("lineage_html")(self))

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(self.to_mermaid())
