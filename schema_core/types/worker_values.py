"""Values as PyFlink exchanges them with its Python workers: numbers for dates and times.

The methods `to_sql_type`, `from_sql_type` and `need_conversion` of types use this table.
"""

from __future__ import annotations

import datetime as dt
import time
from typing import Any

from schema_core.types import temporal
from schema_core.types.base import EXCHANGED, DataType, Exchange
from schema_core.types.nested import ArrayType, MapType, MultisetType, RowType
from schema_core.types.row_value import Row
from schema_core.types.user_defined import UserDefinedType
from schema_core.types.values import named_values

MILLION = 10**6
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _epoch_micros(value: dt.datetime) -> int:
    """Return microseconds since 1970 in UTC; without a zone, of the local time of the process."""
    if value.utcoffset() is not None:
        return (value - _EPOCH) // dt.timedelta(microseconds=1)
    return int(time.mktime(value.timetuple())) * MILLION + value.microsecond


def _local_time(micros: int) -> dt.datetime:
    local = dt.datetime.fromtimestamp(micros // MILLION)  # noqa: DTZ006 - a local time
    return local.replace(microsecond=micros % MILLION)


def _write_time(type_: temporal.TimeType, value: dt.time) -> int:
    offset = value.utcoffset() or dt.timedelta()
    clock = dt.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second) - offset
    return clock // dt.timedelta(seconds=1) * MILLION + value.microsecond - type_.EPOCH_ORDINAL


def _read_time(type_: temporal.TimeType, value: int) -> dt.time:
    clock = dt.timedelta(microseconds=value + type_.EPOCH_ORDINAL)
    return (dt.datetime(1, 1, 1) + clock).time()  # noqa: DTZ001 - only the time of day is used


def _write_zoned(_: DataType, value: dt.datetime) -> tuple[int, int]:
    zone = value.tzinfo or dt.datetime.now(dt.UTC).astimezone().tzinfo
    offset = int((value.replace(tzinfo=zone).utcoffset() or dt.timedelta()).total_seconds())
    return _epoch_micros(value) + offset * MILLION, offset


def _read_zoned(_: DataType, value: tuple[int, int]) -> dt.datetime:
    clock, offset = value
    zone = dt.timezone(dt.timedelta(seconds=offset))
    return (_EPOCH + dt.timedelta(microseconds=clock - offset * MILLION)).astimezone(zone)


def _has_converted(type_: DataType) -> bool:
    return any(child.need_conversion() for child in type_.children())


def _write_elements(type_: ArrayType | MultisetType, value: Any) -> list[Any]:
    return [type_.element_type.to_sql_type(element) for element in value]


def _read_elements(type_: ArrayType | MultisetType, value: Any) -> list[Any]:
    return [type_.element_type.from_sql_type(element) for element in value]


def _write_entries(type_: MapType, value: dict[Any, Any]) -> dict[Any, Any]:
    key, entry = type_.key_type, type_.value_type
    return {key.to_sql_type(at): entry.to_sql_type(item) for at, item in value.items()}


def _read_entries(type_: MapType, value: dict[Any, Any]) -> dict[Any, Any]:
    key, entry = type_.key_type, type_.value_type
    return {key.from_sql_type(at): entry.from_sql_type(item) for at, item in value.items()}


def _write_row(type_: RowType, value: Any) -> tuple[Any, ...]:
    named = named_values(value)
    values = value if named is None else [named.get(field.name) for field in type_.fields]
    pairs = zip(type_.fields, values, strict=True)
    return tuple(field.data_type.to_sql_type(item) for field, item in pairs)


def _read_row(type_: RowType, value: Any) -> Row:
    if isinstance(value, Row) and value.is_named:
        return value
    pairs = list(zip(type_.fields, value, strict=True))
    return Row(**{field.name: field.data_type.from_sql_type(item) for field, item in pairs})


EXCHANGED |= {
    temporal.DateType: Exchange(
        lambda type_, value: value.toordinal() - type_.EPOCH_ORDINAL,
        lambda type_, value: dt.date.fromordinal(value + type_.EPOCH_ORDINAL),
    ),
    temporal.TimeType: Exchange(_write_time, _read_time),
    temporal.TimestampType: Exchange(
        lambda _, value: _epoch_micros(value), lambda _, value: _local_time(value)
    ),
    temporal.LocalZonedTimestampType: Exchange(
        lambda type_, value: _epoch_micros(value) + type_.EPOCH_ORDINAL,
        lambda type_, value: _local_time(value - type_.EPOCH_ORDINAL),
    ),
    temporal.ZonedTimestampType: Exchange(_write_zoned, _read_zoned),
    temporal.DayTimeIntervalType: Exchange(
        lambda _, value: value // dt.timedelta(microseconds=1),
        lambda _, value: dt.timedelta(microseconds=value),
    ),
    ArrayType: Exchange(_write_elements, _read_elements, _has_converted),
    MultisetType: Exchange(_write_elements, _read_elements, _has_converted),
    MapType: Exchange(_write_entries, _read_entries, _has_converted),
    RowType: Exchange(_write_row, _read_row),
    UserDefinedType: Exchange(
        lambda type_, value: type_.sql_type().to_sql_type(type_.serialize(value)),
        lambda type_, value: type_.deserialize(type_.sql_type().from_sql_type(value)),
    ),
}
