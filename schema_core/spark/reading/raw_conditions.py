"""Conditions on the values of files that follow from filters on the columns computed from them.

TIMESTAMP(3) is read from a file with microseconds by truncating each value, and a reader of files
has no use for a filter on the result. `t < TIMESTAMP '...12.345'` holds exactly where the value in
the file is before the first millisecond that is not before 12.345, and a reader can skip rows by
that. A frame of a connector has such values in further columns, named by `raw_column`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator

from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.compiler.printer import quote
from schema_core.spark.connector import raw_column
from schema_core.spark.filters import Comparison, Filter
from schema_core.types import DataType, TimestampType


def with_raw_conditions(
    view: str, schema: ResolvedSchema, raw: Collection[str], filters: Iterable[Filter]
) -> str:
    """Return the rows of a view that filters may select, without its raw columns, as SQL.

    Args:
        view: The name of the view, as SQL.
        schema: The columns of the table; the view has them and the raw columns.
        raw: The columns that have a raw column.
        filters: Filters that the query evaluates itself as well.
    """
    if not raw:
        return view
    types = {column.name: column.data_type for column in schema.columns if column.name in raw}
    conditions = sorted(
        {condition for each in filters for condition in _conditions(each.comparison, types)}
    )
    names = ", ".join(quote(column.name) for column in schema.columns)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"(SELECT {names} FROM {view}{where})"


def _conditions(comparison: Comparison | None, types: dict[str, DataType]) -> Iterator[str]:
    """Yield what holds for a raw value wherever a comparison is TRUE, or a check of NULL fails."""
    if comparison is None or not isinstance(type_ := types.get(comparison.column), TimestampType):
        return
    name = quote(raw_column(comparison.column))
    for condition in _bounds(comparison, 10 ** (6 - type_.precision)):
        null = "" if type_.is_nullable else f" OR {name} IS NULL"
        yield f"({name} {condition}{null})"


def _bounds(comparison: Comparison, unit: int) -> Iterator[str]:
    """Yield bounds of a raw value in microseconds, for a value truncated to units of it."""
    for operator, value in _comparisons(comparison):
        if first := _first(value, unit, after=operator in (">", "<=")):
            yield f"{'<' if operator in ('<', '<=') else '>='} {first}"


def _comparisons(comparison: Comparison) -> Iterator[tuple[str, dt.datetime]]:
    """Yield the orders that follow from a comparison."""
    operator, value = comparison.operator, comparison.value
    match operator:
        case "<" | "<=" | ">" | ">=":
            yield operator, value
        case "=":
            yield from ((">=", value), ("<=", value))
        case "BETWEEN":
            yield from ((">=", value[0]), ("<=", value[1]))
        case "IN":
            yield from ((">=", min(value)), ("<=", max(value)))
        case _:
            return


def _first(value: dt.datetime, unit: int, *, after: bool) -> str | None:
    """Return the first whole unit after a time, or not before it; None beyond year 9999."""
    rest = value.microsecond % unit
    start = value - dt.timedelta(microseconds=rest)
    try:
        found = start + dt.timedelta(microseconds=unit) if rest or after else start
    except OverflowError:
        return None
    return f"TIMESTAMP_NTZ '{found.isoformat(' ')}'"
