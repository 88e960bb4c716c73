"""The registry of Python UDFs, which translation rules call by name.

`schema_core.spark.python.udf_registration` registers them as Arrow UDFs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schema_core.base.lazy import dataclass
from schema_core.spark.compiler.udfs import (
    bitmaps,
    hash_codes,
    java_dates,
    java_patterns,
    json,
    json_batches,
    random_numbers,
    strings,
)


@dataclass(frozen=True, slots=True)
class Udf:
    """A scalar function and its Spark return type; if `fails`, it may raise `UdfError`.

    `batch` computes a list of first arguments, with the others constant; None means it cannot.
    """

    function: Callable[..., Any]
    returns: str
    fails: bool = False
    batch: Callable[..., list[Any] | None] | None = None


#: Registered name -> UDF.
UDFS: Mapping[str, Udf] = {
    "json_value": Udf(json.json_value, "STRING", fails=True, batch=json_batches.json_value_all),
    "json_query": Udf(json.json_query, "STRING", fails=True, batch=json_batches.json_query_all),
    "json_query_list": Udf(json.json_query_list, "ARRAY<STRING>", fails=True),
    "json_exists": Udf(json.json_exists, "BOOLEAN", fails=True, batch=json_batches.json_exists_all),
    "is_json": Udf(json.is_json, "BOOLEAN", batch=json_batches.is_json_all),
    "json_document": Udf(json.json_document, "STRING", fails=True),
    "simple_format": Udf(java_dates.simple_format, "STRING", fails=True),
    "reformat_datetime": Udf(java_dates.reformat_datetime, "STRING", fails=True),
    "unix_timestamp": Udf(java_dates.unix_timestamp, "BIGINT", fails=True),
    "to_date": Udf(java_dates.to_date, "INT", fails=True),
    "convert_tz": Udf(java_dates.convert_tz, "STRING"),
    "date_format": Udf(java_dates.date_format, "STRING", fails=True),
    "to_timestamp": Udf(java_dates.to_timestamp, "BIGINT", fails=True),
    "to_timestamp_micros": Udf(java_dates.to_timestamp_micros, "BIGINT", fails=True),
    "similar_pattern": Udf(java_patterns.similar_pattern, "STRING", fails=True),
    "parse_url": Udf(strings.parse_url, "STRING"),
    "parse_url_key": Udf(strings.parse_url_key, "STRING"),
    "truncate_string": Udf(strings.truncate, "STRING"),
    "lpad": Udf(strings.lpad, "STRING", fails=True),
    "rpad": Udf(strings.rpad, "STRING", fails=True),
    "split_units": Udf(strings.split_units, "ARRAY<STRING>"),
    "instr": Udf(strings.instr, "INT", fails=True),
    "decode": Udf(strings.decode, "STRING", fails=True),
    "encode": Udf(strings.encode, "BINARY", fails=True),
    "is_format": Udf(strings.is_format, "BOOLEAN"),
    "extract_group": Udf(java_patterns.extract_group, "STRING", fails=True),
    "extract_optional_groups": Udf(
        java_patterns.extract_optional_groups, "ARRAY<STRING>", fails=True
    ),
    "group_count": Udf(java_patterns.group_count, "INT"),
    "hash_code": Udf(hash_codes.hash_code, "INT"),
    "random_double": Udf(random_numbers.random_double, "DOUBLE"),
    "random_integer": Udf(random_numbers.random_integer, "INT", fails=True),
    "bitmap_build": Udf(bitmaps.bitmap_build, "BINARY"),
    "bitmap_from_bytes": Udf(bitmaps.bitmap_from_bytes, "BINARY", fails=True),
    "bitmap_cardinality": Udf(bitmaps.bitmap_cardinality, "BIGINT"),
    "bitmap_to_array": Udf(bitmaps.bitmap_to_array, "ARRAY<INT>"),
    "bitmap_to_string": Udf(bitmaps.bitmap_to_string, "STRING"),
    **{
        f"bitmap_{name.lower()}": Udf(bitmaps.combine(operation), "BINARY")
        for name, operation in bitmaps.OPERATIONS.items()
    },
    **{
        f"bitmap_{name.lower()}_all": Udf(bitmaps.combine_all(operation), "BINARY")
        for name, operation in bitmaps.OPERATIONS.items()
    },
}

#: Reference results of functions that Spark computes by rules of their own.
REFERENCES: Mapping[str, Udf] = {
    "json_quote": Udf(json.json_quote, "STRING"),
    "json_unquote": Udf(json.json_unquote, "STRING"),
    "inet_aton": Udf(strings.inet_aton, "BIGINT"),
    "inet_ntoa": Udf(strings.inet_ntoa, "STRING"),
    "overlay": Udf(strings.overlay, "STRING"),
    "locate": Udf(strings.locate, "INT"),
    "from_base64": Udf(strings.from_base64, "STRING", fails=True),
    "unhex": Udf(strings.unhex, "BINARY"),
    "is_decimal": Udf(strings.is_decimal, "BOOLEAN"),
}
