"""`TableResult`: the schema and rows of a statement. Rows of a query are computed lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, Final, Self
from unicodedata import east_asian_width

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import load_higher
from schema_core.environment.options import warn_deprecated
from schema_core.environment.planner import Change
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.table_schema import TableSchema
from schema_core.types import (
    AnyTimestampType,
    ArrayType,
    DataType,
    DataTypes,
    DecimalType,
    MapType,
    RowKind,
    RowType,
    StructuredType,
    TimeType,
    TypeRoot,
)
from schema_core.types.row_value import Row

if TYPE_CHECKING:
    from schema_core.environment.jobs.client import JobClient
    from schema_core.environment.jobs.query_client import QueryClient

#: What is printed for NULL, and the name of the column with the kinds of rows.
NULL: Final = "<NULL>"
KINDS: Final = "op"
_DOTS: Final = "..."


class PrintStyle(Enum):
    """How a result is printed: only its values, a table, or a table with empty cells for NULL."""

    RAW = "raw"
    TABLE = "table"
    LISTING = "listing"


class ResultKind(IntEnum):
    """Whether a statement returns rows or only its success; the numbers are PyFlink's."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1


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
    <Row(1, [<Row('x')>])>
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
    waits for its end, as `wait` does.

    With `max_column_width`, as Flink prints rows of queries, columns are as wide as the values of
    their types, those of types without a bound as this width; longer cells are cut. With
    `has_kinds` the kinds of rows are printed in a first column, ``op``.
    """

    schema: ResolvedSchema
    rows: Iterable[tuple[Any, ...]]
    kind: ResultKind = ResultKind.SUCCESS_WITH_CONTENT
    row_formatter: Callable[[], Iterable[tuple[str | None, ...]]] | None = field(
        default=None, repr=False
    )
    job: JobClient | None = None
    query: QueryClient | None = field(default=None, repr=False)
    style: PrintStyle = PrintStyle.TABLE
    max_column_width: int | None = None
    has_kinds: bool = False

    def get_resolved_schema(self) -> ResolvedSchema:
        return self.schema

    def get_result_kind(self) -> ResultKind:
        return self.kind

    def get_job_client(self) -> JobClient | None:
        """Return the client of the job of an INSERT, CREATE TABLE AS or a query, else None.

        A query runs on the thread that iterates over its rows, which `wait` does not wait for.
        """
        return self.job or self.query

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
        """Return the rows as tuples of strings, None for NULL; changes are `Change`."""
        if self.row_formatter is not None:
            return iter(self.row_formatter())
        return (tuple(map(_text, row)) for row in self._await_rows())

    def _await_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows when the job has ended."""
        self.wait()
        yield from self.rows

    def print(self) -> None:
        """Print the rows as Flink does: as a table, or unframed for EXPLAIN and ``OK``.

        Only cells of queries are cut, at the option ``table.display.max-column-width``; in
        streaming mode they have the kinds of their rows. Rows of a query are printed as they
        arrive, those of an unbounded table until Ctrl-C.
        """
        if self.style is PrintStyle.RAW:
            text = raw_text(self)
        else:
            null = "" if self.style is PrintStyle.LISTING else NULL
            names, rows = printed_rows(self)
            widths = column_widths(self)
            if widths is not None and self.has_kinds:
                widths = [len(KINDS), *widths]
            if widths is not None:
                for line in table_lines(names, rows, widths, null=null):
                    print(line, flush=True)  # noqa: T201
                return
            text = as_table(names, list(rows), null=null)
        print(text)  # noqa: T201

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(f"the result of a statement, with the schema {self.schema}")

    def _repr_html_(self) -> str:
        """Return rows in memory, or the schema, as HTML for notebooks.

        Rows of a query or job are not fetched: they may be readable only once, or not computed yet.
        Their schema is shown instead, with the kind of the result and the job's status.
        """
        cells: Iterator[list[str | None]] | None = None
        if self.job is None and isinstance(self.rows, list | tuple):
            widths = column_widths(self)
            rows = (map(_text, row) for row in self.rows)
            cells = ([*row] if widths is None else [*map(_cut_cell, row, widths)] for row in rows)
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
    null: str = NULL,
    widths: Sequence[int] | None = None,
) -> str:
    """Format rows as a table; cells longer than their column's width are cut.

    >>> print(as_table(["id", "name"], [("1", "Ann"), ("2", None)]))
    +----+--------+
    | id |   name |
    +----+--------+
    |  1 |    Ann |
    |  2 | <NULL> |
    +----+--------+
    2 rows in set
    """
    if widths is None:
        cells = [[cell if cell is not None else null for cell in row] for row in [names, *rows]]
        widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    return "\n".join(table_lines(names, rows, widths, null=null))


def table_lines(
    names: Sequence[str],
    rows: Iterable[Sequence[str | None]],
    widths: Sequence[int],
    *,
    null: str = NULL,
) -> Iterator[str]:
    """Yield the lines of `as_table` for columns of these widths, each row as it arrives."""
    line = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    count = 0
    for row in rows:
        if not count:
            yield from (line, _line([*map(_cut, names, widths)], widths), line)
        count += 1
        cells = [cell if cell is not None else null for cell in row]
        yield _line([*map(_cut, cells, widths)], widths)
    if not count:
        yield "Empty set"
        return
    yield line
    yield f"{count} row{'s' if count != 1 else ''} in set"


def raw_text(result: TableResult) -> str:
    """Return the values of a result without a frame."""
    return "\n".join(", ".join(cell or "" for cell in row) for row in result.format_rows())


def printed_rows(result: TableResult) -> tuple[list[str], Iterable[tuple[str | None, ...]]]:
    """Return the names of the printed columns and the rows, with their kinds if they have them."""
    names, rows = result.schema.get_column_names(), result.format_rows()
    if not result.has_kinds:
        return names, rows
    return [KINDS, *names], ((str(getattr(row, "kind", RowKind.INSERT)), *row) for row in rows)


def column_widths(result: TableResult) -> list[int] | None:
    """Return the width of each column of a query, which is not below that of its name and NULL."""
    longest = result.max_column_width
    if longest is None:
        return None
    return [
        max(_type_width(column.data_type, longest), display_width(column.name), len(NULL))
        for column in result.schema.columns
    ]


#: Type -> the width of its longest values; others of a precision of 0.
_WIDTHS: Final = {
    TypeRoot.BOOLEAN: 5,
    TypeRoot.TINYINT: 4,
    TypeRoot.SMALLINT: 6,
    TypeRoot.INTEGER: 11,
    TypeRoot.BIGINT: 20,
    TypeRoot.DATE: 10,
    TypeRoot.TIME_WITHOUT_TIME_ZONE: 8,
    TypeRoot.TIMESTAMP_WITHOUT_TIME_ZONE: 19,
    TypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE: 19,
}


def _type_width(type_: DataType, longest: int) -> int:
    """Return the width of the longest value of a type, or `longest` if the type has no bound."""
    if isinstance(type_, DecimalType):
        return type_.precision + 2
    width = _WIDTHS.get(type_.root, longest)
    digits = type_.precision if isinstance(type_, TimeType | AnyTimestampType) else 0
    return width + digits + 1 if digits else width


def display_width(text: str) -> int:
    """Return the number of columns of a string in a terminal: two for each wide character.

    >>> display_width("ab"), display_width("\u4f60\u597d")
    (2, 4)
    """
    return len(text) + sum(east_asian_width(character) in "FW" for character in text)


def _cut(cell: str, width: int) -> str:
    """Return a cell of at most this width, which ends with dots if it is cut."""
    if display_width(cell) <= width:
        return cell
    kept = cell[: max(0, width - len(_DOTS))]
    while display_width(kept) > width - len(_DOTS):
        kept = kept[:-1]
    return kept + _DOTS


def _cut_cell(cell: str | None, width: int) -> str | None:
    return None if cell is None else _cut(cell, width)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        f" {' ' * (width - display_width(cell))}{cell} "
        for cell, width in zip(cells, widths, strict=True)
    )
    return f"|{'|'.join(padded)}|"
