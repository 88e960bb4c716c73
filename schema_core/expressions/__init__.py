"""What a value is made by: functions as tables, and the bridge from syntax to typed trees.

The names of PyFlink's module `expressions` are here, each loaded when it is first asked for:

>>> from schema_core.expressions import col, concat, lit
>>> print(concat(col("a"), lit("x")))
CONCAT(`a`, 'x')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schema_core.expressions.fluent import (
        Expression,
        call,
        call_sql,
        col,
        lit,
    )
    from schema_core.expressions.fluent_functions import (
        and_,
        array,
        atan2,
        concat,
        concat_ws,
        convert_tz,
        current_database,
        current_date,
        current_time,
        current_timestamp,
        current_watermark,
        date_format,
        descriptor,
        e,
        from_unixtime,
        if_then_else,
        json,
        json_array,
        json_array_agg,
        json_object,
        json_object_agg,
        json_string,
        local_time,
        local_timestamp,
        log,
        map_,
        negative,
        not_,
        null_of,
        or_,
        pi,
        rand,
        rand_integer,
        row,
        row_interval,
        source_watermark,
        temporal_overlaps,
        timestamp_diff,
        to_date,
        to_timestamp,
        to_timestamp_ltz,
        unix_timestamp,
        uuid,
    )
    from schema_core.expressions.fluent_words import (
        JsonExistsOnError,
        JsonOnNull,
        JsonQueryOnEmptyOrError,
        JsonQueryWrapper,
        JsonType,
        JsonValueOnEmptyOrError,
        TimeIntervalUnit,
        TimePointUnit,
    )
    from schema_core.expressions.items import (
        range_,
        with_all_columns,
        with_columns,
        without_columns,
    )

_HOMES = {
    "fluent": "Expression call call_sql col lit",
    "fluent_functions": (
        "and_ array atan2 concat concat_ws convert_tz current_database current_date current_time"
        " current_timestamp current_watermark date_format descriptor e from_unixtime if_then_else"
        " json json_array json_array_agg json_object json_object_agg json_string local_time"
        " local_timestamp log map_ negative not_ null_of or_ pi rand rand_integer row row_interval"
        " source_watermark temporal_overlaps timestamp_diff to_date to_timestamp to_timestamp_ltz"
        " unix_timestamp uuid"
    ),
    "fluent_words": (
        "JsonExistsOnError JsonOnNull JsonQueryOnEmptyOrError JsonQueryWrapper JsonType"
        " JsonValueOnEmptyOrError TimeIntervalUnit TimePointUnit"
    ),
    "items": "range_ with_all_columns with_columns without_columns",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "descriptor",
    "e",
    "from_unixtime",
    "if_then_else",
    "json",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "negative",
    "not_",
    "null_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "range_",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_all_columns",
    "with_columns",
    "without_columns",
]


def __getattr__(name: str) -> object:
    """The name from its module."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOME))
