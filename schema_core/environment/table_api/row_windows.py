"""Windows of a number of rows: `Tumble` and `Slide` over ``row_interval``, in the order of arrival.

SQL has no such windows. The rows with equal keys are numbered as they arrive, and each window has a
number, too: it has `size` rows, and begins `slide` rows after the one before. As in Flink, windows
with fewer rows are not returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schema_core.base.lazy import NamedTuple
from schema_core.environment.table_api.relational import (
    ALL,
    NamedExpression,
    as_source,
    join,
    require_expression,
    where,
)
from schema_core.errors import SchemaError
from schema_core.expressions.fluent_functions import col, lit
from schema_core.query.aggregation import ROW_WINDOW
from schema_core.query.derived_versions import ARRIVAL
from schema_core.sql import syntax
from schema_core.sql.syntax import Aliased as AliasedSource
from schema_core.types import DataTypes

#: Maximum number of windows that have a row.
MAX_WINDOWS: Final = 1000
#: Columns: of the order of arrival, the number of a row, the number of all rows.
ORDER, NUMBER, ROWS, OFFSET = "$arrival", "$number", "$rows", "$offset"


class RowCount(NamedTuple):
    """The number of rows of a window, and the number after which the next one begins."""

    size: int
    slide: int


def row_count(function: str, lengths: Sequence[syntax.Expression]) -> RowCount | None:
    """Return the rows of a window by its function and lengths, None for lengths of time.

    The last length is the size of the window.

    Raises:
        SchemaError: with code `invalid-argument` for rows and times, or a number that is not
            positive.
    """
    counts = [_rows(length) for length in lengths]
    if not any(isinstance(length, syntax.Call) and length.name == "$ROWS" for length in lengths):
        return None
    numbers = [count for count in counts if count is not None and count > 0]
    if function == "SESSION" or len(numbers) < len(counts):
        raise SchemaError(
            "the lengths of a window must be positive numbers of rows, or lengths of time, as the"
            " gap of a session",
            code="invalid-argument",
            hint="pass row_interval(...) with a positive number, or lit(10).minutes, for all",
        )
    result = RowCount(numbers[-1], numbers[0])
    if result.size > MAX_WINDOWS * result.slide:
        raise SchemaError(
            f"a row would be in more than {MAX_WINDOWS:,} windows",
            code="invalid-argument",
            hint="use a longer slide, or Over with preceding(row_interval(...))",
        )
    return result


def _rows(length: syntax.Expression) -> int | None:
    match length:
        case syntax.Call(name="$ROWS", arguments=(syntax.Literal(text=text),)) if text.isdigit():
            return int(text)
        case _:
            return None


def number_windows(
    query: syntax.Query, count: RowCount, keys: Sequence[NamedExpression]
) -> syntax.Query:
    """Return a query with `ROW_WINDOW`, the number of a window, for each window of a row."""
    size, slide = count
    by_key = tuple(tree for _, tree in keys)
    order = syntax.SortKey(syntax.Name((ORDER,)))
    arrival = syntax.Call(ARRIVAL.name, (), inline=(ARRIVAL,))
    number = syntax.Call("ROW_NUMBER", (), over=syntax.Window(None, by_key, (order,)))
    rows = syntax.Call("COUNT", (syntax.Star(),), over=syntax.Window(None, by_key))
    for name, tree in ((ORDER, arrival), (NUMBER, number), (ROWS, rows)):
        query = _add(query, name, tree)
    window = (col(NUMBER) - 1 - (col(NUMBER) - 1) % slide) / slide
    if size > slide:
        offsets = tuple(require_expression(lit(place)) for place in range(-(-size // slide)))
        elements = syntax.Unnest((syntax.Call("ARRAY", offsets),), lateral=True)
        query = join(query, AliasedSource(elements, OFFSET, (OFFSET,)), syntax.JoinKind.INNER, None)
        window = window - col(OFFSET)
    query = _add(query, ROW_WINDOW, require_expression(window.cast(DataTypes.BIGINT())))
    begin = col(ROW_WINDOW) * slide
    is_complete = (col(NUMBER) <= begin + size) & (begin + size <= col(ROWS)) & (begin >= 0)
    return where(query, require_expression(is_complete))


def _add(query: syntax.Query, name: str, tree: syntax.Expression) -> syntax.Query:
    return syntax.Select((ALL, syntax.SelectItem(tree, name)), as_source(query))
