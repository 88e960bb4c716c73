"""`TableResult`: the schema and rows of a statement. Rows of a query are computed lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, Self

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import load_higher
from schema_core.environment.jobs.client import JobClient
from schema_core.environment.options import warn_deprecated
from schema_core.environment.planner import Change
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.table_schema import TableSchema
from schema_core.types import (
    ArrayType,
    BooleanType,
    DataType,
    DataTypes,
    MapType,
    RowType,
    StructuredType,
    TypeFamily,
)
from schema_core.types.row_value import Row

#: Maximum number of rows that a notebook shows.
MAX_HTML_ROWS = 100


class PrintStyle(Enum):
    """How a result is printed: only its values, a table, or a table with empty cells for NULL."""

    RAW = "raw"
    TABLE = "table"
    LISTING = "listing"


class ResultKind(Enum):
    """Whether a statement returns rows or only its success."""

    SUCCESS = "SUCCESS"
    SUCCESS_WITH_CONTENT = "SUCCESS_WITH_CONTENT"


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "TRUE" if value else "FALSE"
        case _:
            return str(value)


def as_row(values: Iterable[Any], types: Sequence[DataType]) -> Row:
    """Return values of these types as PyFlink does: nested rows are `Row` objects too.

    >>> as_row((1, [("x",)]), [DataTypes.INT(), DataTypes.of("ARRAY<ROW<a STRING>>")])
    Row(1, [Row('x')])
    """
    return Row(*(_as_value(value, type_) for value, type_ in zip(values, types, strict=True)))


def _row(values: tuple[Any, ...], types: Sequence[DataType]) -> Row:
    """Return a row of a result, with its kind in a changelog."""
    row = as_row(values, types)
    if isinstance(values, Change):
        row.set_row_kind(values.kind)
    return row


def _as_value(value: Any, type_: DataType) -> Any:
    match type_:
        case _ if value is None:
            return None
        case RowType() | StructuredType():
            return as_row(value, [item.data_type for item in type_.fields])
        case ArrayType():
            return [_as_value(item, type_.element_type) for item in value]
        case MapType():
            return {key: _as_value(item, type_.value_type) for key, item in value.items()}
        case _:
            return value


class CloseableIterator(Iterator[Row]):
    """An iterator over rows and a context manager; exhausted once closed."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows

    def __next__(self) -> Row:
        return next(self._rows)

    def next(self) -> Row:
        """Return the next row, or raise `StopIteration`."""
        return next(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the iterator and discard the remaining rows."""
        self._rows = iter(())


@dataclass(frozen=True, slots=True)
class TableResult:
    """The result of a statement: a schema and rows.

    `collect` iterates over the rows as Python values, `print` shows them as a table. Rows of a
    query are computed during iteration, which is possible once. Iterating over the result of a job
    waits for its end, as `wait` does. Printed cells longer than `max_column_width` are cut; with
    `by_type`, as Flink prints rows of streams, only in columns whose type does not bound their
    width, and up to the width of their names.
    """

    schema: ResolvedSchema
    rows: Iterable[tuple[Any, ...]]
    kind: ResultKind = ResultKind.SUCCESS_WITH_CONTENT
    row_formatter: Callable[[], Iterable[tuple[str | None, ...]]] | None = field(
        default=None, repr=False
    )
    job: JobClient | None = None
    style: PrintStyle = PrintStyle.TABLE
    max_column_width: int | None = None
    by_type: bool = False

    def get_resolved_schema(self) -> ResolvedSchema:
        return self.schema

    def get_result_kind(self) -> ResultKind:
        return self.kind

    def get_job_client(self) -> JobClient | None:
        """Return the client of the job of an INSERT or CREATE TABLE AS, else None.

        A query has no job: it runs on the thread that iterates over its rows.
        """
        return self.job

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the job of the statement, if any, has ended; raise as `JobClient.wait`."""
        if self.job is not None:
            self.job.wait(timeout_ms)

    def get_table_schema(self) -> TableSchema:
        """Return names and types of columns. Deprecated: use `get_resolved_schema`."""
        warn_deprecated("get_table_schema", "get_resolved_schema")
        schema = self.schema
        return TableSchema(schema.get_column_names(), schema.get_column_data_types())

    def collect(self) -> CloseableIterator:
        """Return the rows as `Row` objects of Python values."""
        types = self.schema.get_column_data_types()
        return CloseableIterator(_row(values, types) for values in self._await_rows())

    def format_rows(self) -> Iterator[tuple[str | None, ...]]:
        """Return the rows as tuples of strings, None for NULL."""
        if self.row_formatter is not None:
            return iter(self.row_formatter())
        return (tuple(map(_text, row)) for row in self._await_rows())

    def _await_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows when the job has ended."""
        self.wait()
        yield from self.rows

    def print(self) -> None:
        """Print the rows as Flink does: as a table, or unframed for EXPLAIN and ``OK``.

        Only rows of queries are cut, at the option ``table.display.max-column-width``.
        """
        rows = list(self.format_rows())
        if self.style is PrintStyle.RAW:
            text = "\n".join(", ".join(cell or "" for cell in row) for row in rows)
        else:
            null = "" if self.style is PrintStyle.LISTING else "<NULL>"
            names, widths = self.schema.get_column_names(), _column_widths(self)
            if self.by_type:
                rows = [tuple(map(_cut_cell, row, widths)) for row in rows]
                widths = [None] * len(names)
            text = as_table(names, rows, null=null, max_widths=widths)
        print(text)  # noqa: T201

    def _repr_html_(self) -> str:
        """Return rows in memory, or the schema, as HTML for notebooks.

        Rows of a query or job are not fetched: they may be readable only once, or not computed yet.
        Their schema is shown instead, with the kind of the result and the job's status.
        """
        cells: list[list[str | None]] | None = None
        if self.job is None and isinstance(self.rows, list | tuple):
            widths = _column_widths(self)
            rows = self.rows[:MAX_HTML_ROWS]
            cells = [[*map(_cut_cell, map(_text, row), widths)] for row in rows]
        return str(load_higher("result_html")(self, cells))


#: DDL that went well.
OK = TableResult(
    ResolvedSchema.physical(["result"], [DataTypes.STRING()]),
    [("OK",)],
    ResultKind.SUCCESS,
    style=PrintStyle.RAW,
)


def string_result(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> TableResult:
    """Return a result of string columns, as SHOW and DESCRIBE do."""
    schema = ResolvedSchema.physical(list(columns), [DataTypes.STRING()] * len(columns))
    return TableResult(schema, list(rows), style=PrintStyle.LISTING)


def as_table(
    names: Sequence[str],
    rows: Sequence[Sequence[str | None]],
    *,
    null: str = "<NULL>",
    max_widths: Sequence[int | None] | None = None,
) -> str:
    """Format rows as a table; names and cells longer than their column's width are cut.

    >>> print(as_table(["id", "name"], [("1", "Ann"), ("2", None)]))
    +----+--------+
    | id |   name |
    +----+--------+
    |  1 |    Ann |
    |  2 | <NULL> |
    +----+--------+
    2 rows in set
    """
    if not rows:
        return "Empty set"
    cells = [names, *([cell if cell is not None else null for cell in row] for row in rows)]
    limits = max_widths or [None] * len(names)
    cut = [[*map(_cut, row, limits)] for row in cells]
    widths = [max(len(row[i]) for row in cut) for i in range(len(names))]
    line = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    head, *body = (_line(row, widths) for row in cut)
    count = f"{len(rows)} row{'s' if len(rows) != 1 else ''} in set"
    return "\n".join([line, head, line, *body, line, count])


def _column_widths(result: TableResult) -> list[int | None]:
    """Return the maximum cell width of each column."""
    width, columns = result.max_column_width, result.schema.columns
    if width is None or not result.by_type:
        return [width] * len(columns)
    return [
        None if _is_bounded(column.data_type) else max(width, len(column.name))
        for column in columns
    ]


def _cut(cell: str, width: int | None) -> str:
    """Return a cell of at most this width, plus dots for what is cut."""
    return cell if width is None or len(cell) <= width else f"{cell[: max(0, width - 3)]}..."


def _cut_cell(cell: str | None, width: int | None) -> str | None:
    return None if cell is None else _cut(cell, width)


def _is_bounded(type_: DataType) -> bool:
    """Return whether a type bounds the width of its printed values."""
    return isinstance(type_, BooleanType) or type_.is_(
        TypeFamily.NUMERIC, TypeFamily.DATETIME, TypeFamily.INTERVAL
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f" {cell.rjust(width)} " for cell, width in zip(cells, widths, strict=True))
    return f"|{'|'.join(padded)}|"
