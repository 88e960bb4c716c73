"""Differences between the rows of two tables as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from schema_core.environment.planner import DifferenceKind
from schema_core.report.changes import changes_html
from schema_core.report.markup import MAX_ROWS, code, items, mark, page, scroll, table, text

if TYPE_CHECKING:
    from schema_core.migration.rows.table_differences import TableDiff

#: Kind of row -> the mark of its samples.
MARKS = {
    DifferenceKind.ONLY_LEFT: "dropped",
    DifferenceKind.ONLY_RIGHT: "added",
    DifferenceKind.DUPLICATE_KEY: "warning",
}


def table_diff_html(diff: TableDiff) -> str:
    """Return tables of the numbers of rows, the columns that differ, and samples."""
    return "\n".join(table_diff_parts(diff, MAX_ROWS))


def table_diff_page(diff: TableDiff, title: str) -> str:
    """Return a self-contained HTML page."""
    return page(title, *map(scroll, table_diff_parts(diff)))


def table_diff_parts(diff: TableDiff, most: int | None = None) -> Iterator[str]:
    """Yield the parts of a page, or with `most` rows of each table those of a notebook."""
    counts = [(text(name), f"{number:,}") for name, number in diff.counts().items()]
    yield table(("", "number"), counts, diff.headline())
    if diff.schema_changes:
        yield changes_html(diff.schema_changes, most)
    yield items(map(text, diff.notes))
    if diff.column_differences:
        heads = ("", "column", "rows", "row", diff.left, diff.right)
        yield table(heads, _column_rows(diff), "Different values", most)
    for kind, rows in diff.rows.items():
        yield _samples(kind, rows, most)


def _column_rows(diff: TableDiff) -> Iterator[tuple[str, ...]]:
    for column in diff.column_differences:
        first = (mark("changed"), code(column.column), f"{column.rows:,}")
        for place, sample in enumerate(column.samples):
            cells = _cells(sample.key), code(sample.left), code(sample.right)
            yield *(first if place == 0 else ("", "", "")), *cells
        if not column.samples:
            yield *first, "", "", ""


def _cells(values: Mapping[str, str]) -> str:
    return "<br>".join(code(f"{name} = {value}") for name, value in values.items())


def _samples(kind: DifferenceKind, rows: Sequence[Mapping[str, str]], most: int | None) -> str:
    cells = ((mark(MARKS[kind]), *map(code, row.values())) for row in rows)
    return table(("", *rows[0]), cells, f"Samples: {kind.value}", most)
