"""Aggregates of a table in an open format that the statistics of its files have.

COUNT is in the numbers of rows and NULLs, MIN and MAX in exact bounds. Bounds of strings may be
shortened, those of approximate numbers lack NaN, and deleted rows are part of all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import NamedTuple

if TYPE_CHECKING:
    from schema_core.spark.connector import AggregateExpression, Aggregation
    from schema_core.types import DataType

#: The functions that statistics have.
FUNCTIONS = frozenset({"COUNT", "MIN", "MAX"})


class FileStatistics(NamedTuple):
    """What a format records of a file without deleted rows.

    Attributes:
        rows: The number of rows.
        nulls: Column -> the number of its NULLs, if it is recorded.
        bounds: Column -> its smallest and largest value, if they are exact.
    """

    rows: int
    nulls: Mapping[str, int]
    bounds: Mapping[str, tuple[Any, Any]]


def aggregated_columns(aggregation: Aggregation) -> Collection[str] | None:
    """Return the columns whose statistics an aggregation needs; None if they do not suffice."""
    calls = aggregation.aggregates
    if aggregation.keys or aggregation.filters or not calls:
        return None
    if any(call.function not in FUNCTIONS for call in calls):
        return None
    return {call.column for call in calls if call.column is not None}


def columns_without_null(
    columns: Collection[str], files: Iterable[FileStatistics]
) -> Collection[str]:
    """Return the columns of which every file records that it has no NULL; none without files.

    >>> files = [FileStatistics(2, {"a": 0, "b": 1}, {}), FileStatistics(1, {"a": 0, "b": 0}, {})]
    >>> columns_without_null(["a", "b", "c"], files)
    {'a'}
    """
    recorded = [{name for name in columns if file.nulls.get(name) == 0} for file in files]
    return set.intersection(*recorded) if recorded else set()


def compute_aggregates(
    aggregation: Aggregation, types: Mapping[str, DataType], files: Iterable[FileStatistics]
) -> tuple[Any, ...] | None:
    """Return the values of an aggregation; None if the statistics do not have all of them.

    Nor do they if a NULL is in a column that is NOT NULL: reading the rows reports it.
    """
    every = list(files)
    values = []
    for call in aggregation.aggregates:
        if call.column is None:
            values.append(sum(file.rows for file in every))
            continue
        nulls = [file.nulls.get(call.column) for file in every]
        known = [number for number in nulls if number is not None]
        if len(known) < len(every) or (any(known) and not types[call.column].is_nullable):
            return None
        filled = [file for file, number in zip(every, known, strict=True) if number < file.rows]
        if call.function == "COUNT":
            values.append(sum(file.rows for file in every) - sum(known))
        elif all(call.column in file.bounds for file in filled):
            values.append(_extreme(call, call.column, filled))
        else:
            return None
    return tuple(values)


def _extreme(call: AggregateExpression, column: str, files: Sequence[FileStatistics]) -> Any:
    """Return the smallest or largest value of files; None without any."""
    lows, highs = ([file.bounds[column][place] for file in files] for place in (0, 1))
    return min(lows, default=None) if call.function == "MIN" else max(highs, default=None)
