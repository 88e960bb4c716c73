"""The statistics of Delta's files: those of the log, and the values of partitions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable

from schema_core.connectors.delta.files import DeltaFile, list_files
from schema_core.connectors.delta.reading import match_columns
from schema_core.connectors.open_tables.file_statistics import FileStatistics
from schema_core.types import BigIntType, DataType, DateType, IntType, SmallIntType, TinyIntType

if TYPE_CHECKING:
    from schema_core.spark.connector import ReadContext

#: Types whose bounds are exact -> their values: the log truncates datetimes and strings, and has
#: decimals as numbers of JSON.
EXACT: dict[type[DataType], type] = {
    **dict.fromkeys((TinyIntType, SmallIntType, IntType, BigIntType), int),
    DateType: dt.date,
}


def file_statistics(
    table: DeltaTable, columns: Collection[str], context: ReadContext
) -> list[FileStatistics] | None:
    """Return the statistics of a version's files; None if one lacks them or has deleted rows.

    Errors are those of `match_columns` and `list_files`.
    """
    types = {name: context.physical_columns[name] for name in columns}
    match_columns(table, types)
    files = list_files(table)
    if any(file.rows is None or file.kept is not None for file in files):
        return None
    return [
        FileStatistics(
            file.rows or 0,
            {name: nulls for name, *_, nulls in _columns(file, columns) if nulls is not None},
            {
                name: (low, high)
                for name, low, high, _ in _columns(file, columns)
                if all(type(bound) is EXACT.get(type(types[name])) for bound in (low, high))
            },
        )
        for file in files
    ]


def _columns(file: DeltaFile, names: Collection[str]) -> Iterator[tuple[str, Any, Any, int | None]]:
    """Yield the bounds and the number of NULLs of columns, those of partitions too."""
    for name in names:
        if name in file.partition:
            value = file.partition[name]
            yield name, value, value, (file.rows if value is None else 0)
        else:
            yield name, *file.columns[name]
