"""The statistics of Iceberg's files: those of their entries in manifests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from pyiceberg.manifest import FileFormat
from pyiceberg.types import (
    DateType,
    DecimalType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    TimestampType,
    TimestamptzType,
)

from schema_core.connectors.iceberg.reading import match_columns, plan_files
from schema_core.connectors.open_tables.file_statistics import FileStatistics
from schema_core.types import (
    BigIntType,
    DataType,
    IntType,
    LocalZonedTimestampType,
)
from schema_core.types import DateType as FlinkDateType
from schema_core.types import DecimalType as FlinkDecimalType
from schema_core.types import TimestampType as FlinkTimestampType

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table

    from schema_core.spark.connector import ReadContext

#: The day and the datetime from which values are counted.
DAY, EPOCH = dt.date(1970, 1, 1), dt.datetime(1970, 1, 1)  # noqa: DTZ001 - of both types
#: The digits of decimals that parquet files have as integers: longer ones may be shortened.
MAX_DIGITS: Final = 18


def file_statistics(
    table: Table, columns: Collection[str], context: ReadContext, *, has_bounds: bool = True
) -> list[FileStatistics] | None:
    """Return the statistics of a snapshot's files; None if one has deleted rows.

    Bounds are decoded only if they are needed: there may be many files. Errors are those of
    `match_columns` and `plan_files`.
    """
    types = {name: context.physical_columns[name] for name in columns}
    fields = match_columns(table, types)
    tasks = plan_files(table, context.options)
    if any(task.delete_files or task.file.file_format != FileFormat.PARQUET for task in tasks):
        return None
    bounded = fields if has_bounds else {}
    return [_statistics(task.file, fields, types, bounded) for task in tasks]


def _statistics(
    file: DataFile,
    fields: Mapping[str, NestedField],
    types: Mapping[str, DataType],
    bounded: Mapping[str, NestedField],
) -> FileStatistics:
    nulls = file.null_value_counts or {}
    lows, highs = file.lower_bounds or {}, file.upper_bounds or {}
    bounds = {}
    for name, field in bounded.items():
        low, high = (
            _value(each.get(field.field_id), field.field_type, types[name])
            for each in (lows, highs)
        )
        if low is not None and high is not None:
            bounds[name] = low, high
    recorded = {
        name: nulls[field.field_id]
        for name, field in fields.items()
        if field.field_type.is_primitive and field.field_id in nulls
    }
    return FileStatistics(file.record_count, recorded, bounds)


def _value(stored: bytes | None, iceberg: IcebergType, type_: DataType) -> Any:
    """Return the value of a bound; None if it may not be a value of the column.

    Bounds have fewer bytes in files that are older than the type of the column. A TIMESTAMP of
    fewer digits than stored is truncated when it is read.
    """
    if stored is None:
        return None
    match iceberg, type_:
        case ((IntegerType() | LongType()), (IntType() | BigIntType())):
            return int.from_bytes(stored, "little", signed=True)
        case DateType(), FlinkDateType():
            with suppress(OverflowError):
                return DAY + dt.timedelta(int.from_bytes(stored, "little", signed=True))
        case DecimalType(), FlinkDecimalType(precision=digits, scale=scale) if (digits, scale) == (
            iceberg.precision,
            iceberg.scale,
        ) and digits <= MAX_DIGITS:
            unscaled = int.from_bytes(stored, "big", signed=True)
            return Decimal(unscaled).scaleb(-scale)
        case TimestampType(), FlinkTimestampType(precision=6) if len(stored) == 8:
            return _datetime(stored)
        case TimestamptzType(), LocalZonedTimestampType(precision=6) if len(stored) == 8:
            value = _datetime(stored)
            return None if value is None else value.replace(tzinfo=dt.UTC)
    return None


def _datetime(stored: bytes) -> dt.datetime | None:
    with suppress(OverflowError):
        return EPOCH + dt.timedelta(microseconds=int.from_bytes(stored, "little", signed=True))
    return None
