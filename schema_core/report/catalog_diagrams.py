"""Diagrams of catalogs: tables with their columns and keys, lineage, and differences.

Arrows are facts only: a view or materialized table reads a table. Flink has no foreign keys, and
equal names of columns are not relations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.base.arguments import require_instance
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.objects import TableKind
from schema_core.errors import SchemaError
from schema_core.report.changes import pair_columns, pair_parts
from schema_core.report.diagrams import Arrow, Diagram, DiagramLine, DiagramNode
from schema_core.report.lineage import (
    KINDS,
    PathShortener,
    draw_lineage,
    table_lineage_html,
)
from schema_core.report.markup import MAX_ROWS, details, items, scroll, text
from schema_core.schema.columns import (
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    format_metadata,
)
from schema_core.types import DataType

if TYPE_CHECKING:
    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.lineage import Lineage, TableLineage
    from schema_core.schema.columns import UnresolvedColumn

#: The most tables of a diagram; the most lines of a table in a small diagram, and in a large one.
MAX_TABLES, MAX_LINES, MIN_LINES = 200, 40, 12
#: About the most lines of a diagram.
ALL_LINES = 1_600
#: The most columns that the picture of a notebook has, and tables below it.
MAX_COLUMNS, MAX_FOLDED = 300, 20


def draw_catalog(
    lineage: Lineage,
    problems: Mapping[ObjectIdentifier, str] | None = None,
    *,
    with_columns: bool = True,
) -> Diagram:
    """Return a diagram of tables and views, with arrows from tables to the views that read them.

    Args:
        lineage: The tables and views, of which those of `choose_tables` are drawn; a note has the
            number of the others.
        problems: Views that cannot be resolved, with the reason.
        with_columns: Whether tables have their keys and columns, at most `MAX_LINES`.
    """
    sources = {table.identifier: sources_of(table) for table in lineage.tables}
    drawn = choose_tables(lineage)
    ids = {table.identifier: f"t{place}" for place, table in enumerate(drawn)}
    shorten = PathShortener(table.identifier for table in lineage.tables)
    nodes = [
        DiagramNode(
            ids[table.identifier],
            "table" if table.kind is TableKind.TABLE else "view",
            shorten(table.identifier) + KINDS.get(table.kind, ""),
            lines=_bound([*_lines(table)], "column", len(drawn)) if with_columns else (),
        )
        for table in drawn
    ]
    notes = [f"{shorten(path)}: {reason}" for path, reason in (problems or {}).items()]
    nodes += note_nodes([*notes, *left_out(len(lineage.tables) - len(drawn))])
    arrows = [
        Arrow(ids[source], ids[path])
        for path, reads in sources.items()
        for source in reads
        if source in ids and path in ids
    ]
    return Diagram(nodes, arrows, separates=True)


def draw_lineage_as(lineage: Lineage, show: str) -> Diagram:
    """Return the diagram of a lineage; `show` as for `Lineage.to_mermaid` (`invalid-argument`)."""
    match require_instance(show, str, "show"):
        case "columns":
            return draw_lineage(lineage)
        case "tables" | "lineage":
            return draw_catalog(lineage, with_columns=show == "tables")
        case _:
            raise SchemaError(
                f"show must be 'columns', 'tables' or 'lineage', got {show!r}",
                code="invalid-argument",
            )


def draw_columns(lineage: Lineage) -> Diagram:
    """Return the diagram of the lineage of columns, of the tables of `choose_tables`."""
    drawn = choose_tables(lineage)
    diagram = draw_lineage(replace(lineage, tables=tuple(drawn)))
    notes = note_nodes(left_out(len(lineage.tables) - len(drawn)))
    return Diagram([*diagram.nodes, *notes], diagram.arrows)


def lineage_html(lineage: Lineage) -> str:
    """Return the picture of a lineage, and below it folded tables of the columns.

    A large lineage is drawn without columns.
    """
    columns = sum(len(table.schema.columns) for table in lineage.tables)
    is_large = columns > MAX_COLUMNS
    drawn = draw_catalog(lineage, with_columns=False) if is_large else draw_columns(lineage)
    tables = [table_lineage_html(table, most=MAX_ROWS) for table in lineage.tables[:MAX_FOLDED]]
    more = left_out(len(lineage.tables) - len(tables))
    folded = details(f"{columns:,} columns", "\n".join(tables) + items(map(text, more)))
    return f"{scroll(drawn.to_svg())}\n{folded}"


def choose_tables(lineage: Lineage) -> list[TableLineage]:
    """Return at most `MAX_TABLES` tables: those that views read, and views, before others."""
    sources = {table.identifier: sources_of(table) for table in lineage.tables}
    linked = {end for path, reads in sources.items() if reads for end in (path, *reads)}
    ordered = sorted(lineage.tables, key=lambda table: table.identifier not in linked)
    return ordered[:MAX_TABLES]


def note_nodes(notes: Iterable[str]) -> list[DiagramNode]:
    """Return a node for each note."""
    return [DiagramNode(f"n{place}", "note", note) for place, note in enumerate(notes)]


def sources_of(table: TableLineage) -> tuple[ObjectIdentifier, ...]:
    """Return the other tables that the columns of a view read."""
    paths = dict.fromkeys(origin.table for origins in table.reads for origin in origins)
    return tuple(path for path in paths if path != table.identifier)


def left_out(number: int) -> list[str]:
    """Return a note about tables that are not drawn, if there are some.

    >>> left_out(2)
    ['2 more tables are not drawn: name the tables to draw']
    """
    if not number:
        return []
    tables = "1 more table is" if number == 1 else f"{number:,} more tables are"
    return [f"{tables} not drawn: name the tables to draw"]


def _lines(table: TableLineage) -> Iterator[DiagramLine]:
    key = table.schema.primary_key
    in_key = () if key is None else key.columns
    for column in table.schema.columns:
        mark = "PK " if column.name in in_key else ""
        yield DiagramLine(f"{mark}{column.name} {column.data_type.as_summary_string()}")


def _bound(lines: Sequence[DiagramLine], noun: str, tables: int) -> tuple[DiagramLine, ...]:
    """Return the lines of one of `tables` tables: if they are too many, the marked ones first."""
    limit = max(MIN_LINES, min(MAX_LINES, ALL_LINES // max(tables, 1)))
    if len(lines) <= limit:
        return tuple(lines)
    by_mark = sorted(range(len(lines)), key=lambda place: (not lines[place].mark, place))
    kept = sorted(by_mark[: limit - 1])
    more = DiagramLine(f"and {len(lines) - len(kept):,} more {noun}s")
    return (*(lines[place] for place in kept), more)


# --- differences ---------------------------------------------------------------------------------


def draw_differences(
    before: Mapping[ObjectIdentifier, CatalogTable],
    after: Mapping[ObjectIdentifier, CatalogTable],
    renames: Mapping[ObjectIdentifier, Mapping[str, str]],
    paths: Sequence[ObjectIdentifier],
) -> Diagram:
    """Return a diagram of tables that differ: added is green, dropped red, and changed yellow.

    Args:
        before: The tables before, by path.
        after: The tables after.
        renames: For each table, new name of a column -> old name.
        paths: The tables that differ. The first `MAX_TABLES` are drawn; a note has the number of
            the others.
    """
    shorten = PathShortener(paths)
    nodes = []
    for place, path in enumerate(paths[:MAX_TABLES]):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None:
            mark, lines = "changed", [*_changed_lines(old, new, renames.get(path, {}))]
        else:
            mark, table = ("added", new) if new is not None else ("dropped", old)
            columns = () if table is None else table.schema.columns
            lines = [DiagramLine(format_column(column), mark) for column in columns]
        bounded = _bound(lines, "line", len(paths))
        nodes.append(DiagramNode(f"t{place}", "table", shorten(path), lines=bounded, mark=mark))
    return Diagram([*nodes, *note_nodes(left_out(len(paths) - len(nodes)))], ())


def _changed_lines(
    before: CatalogTable, after: CatalogTable, renames: Mapping[str, str]
) -> Iterator[DiagramLine]:
    for old, new in pair_columns(before, after, renames):
        name = "" if old is None or new is None or old.name != new.name else f"{new.name} "
        texts = ("" if column is None else format_column(column) for column in (old, new))
        yield _compare(name, *(text.removeprefix(name) for text in texts))
    for what, old_part, new_part in pair_parts(before, after):
        if old_part != new_part:
            yield _compare(f"{what}: ", old_part, new_part)


def _compare(name: str, old: str, new: str) -> DiagramLine:
    if old and new and old != new:
        return DiagramLine(f"{name}{old} → {new}", "changed")
    mark = "" if old == new else "added" if new else "dropped"
    return DiagramLine(f"{name}{new or old}", mark)


def format_column(column: UnresolvedColumn) -> str:
    """Return the name, the type, and the expression or metadata key of a column.

    >>> format_column(UnresolvedComputedColumn("b", "a + 1"))
    'b AS a + 1'
    """
    match column:
        case UnresolvedComputedColumn(name, expression=expression):
            return f"{name} AS {str(expression).removeprefix('[').removesuffix(']')}"
        case UnresolvedMetadataColumn(metadata_key=key, virtual=virtual):
            extras = f" {format_metadata(key, virtual=virtual)}"
        case _:
            extras = ""
    type_ = column.data_type
    shown = type_.as_summary_string() if isinstance(type_, DataType) else str(type_)
    return f"{column.name} {shown}{extras}"
