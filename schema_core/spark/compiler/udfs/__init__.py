"""What Spark has no words for, computed in plain Python with Flink's meaning, value by value.

Translation rules call these functions by their names; `schema_core.spark.udf_registration`
registers them with a Spark session, where they read and write Arrow columns. Datetimes are counts,
so that every year of Flink's range fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schema_core.spark.compiler.udfs import (
    addresses,
    decimals,
    java_dates,
    java_patterns,
    json_texts,
    simple_dates,
    texts,
)


@dataclass(frozen=True, slots=True)
class Computed:
    """A function and the Spark type of what it gives; one that `fails` may end the job."""

    function: Callable[..., Any]
    gives: str
    fails: bool = False


#: Name -> the function.
COMPUTED: Mapping[str, Computed] = {
    "json_value": Computed(json_texts.json_value, "STRING", fails=True),
    "json_query": Computed(json_texts.json_query, "STRING", fails=True),
    "json_query_list": Computed(json_texts.json_query_list, "ARRAY<STRING>", fails=True),
    "json_exists": Computed(json_texts.json_exists, "BOOLEAN", fails=True),
    "is_json": Computed(json_texts.is_json, "BOOLEAN"),
    "json_quote": Computed(json_texts.json_quote, "STRING"),
    "json_unquote": Computed(json_texts.json_unquote, "STRING"),
    "simple_format": Computed(simple_dates.simple_format, "STRING", fails=True),
    "simple_text": Computed(simple_dates.simple_text, "STRING", fails=True),
    "unix_timestamp": Computed(simple_dates.unix_timestamp, "BIGINT", fails=True),
    "to_date": Computed(simple_dates.to_date, "INT", fails=True),
    "convert_tz": Computed(simple_dates.convert_tz, "STRING"),
    "date_format": Computed(java_dates.date_format, "STRING", fails=True),
    "to_timestamp": Computed(java_dates.to_timestamp, "BIGINT", fails=True),
    "parse_url": Computed(addresses.parse_url, "STRING"),
    "parse_url_key": Computed(addresses.parse_url_key, "STRING"),
    "inet_aton": Computed(addresses.inet_aton, "BIGINT"),
    "inet_ntoa": Computed(addresses.inet_ntoa, "STRING"),
    "decimal_arithmetic": Computed(decimals.decimal_arithmetic, "STRING", fails=True),
    "decimal_truncated": Computed(decimals.decimal_truncated, "STRING"),
    "cut": Computed(texts.cut, "STRING"),
    "lpad": Computed(texts.lpad, "STRING", fails=True),
    "rpad": Computed(texts.rpad, "STRING", fails=True),
    "overlay": Computed(texts.overlay, "STRING"),
    "letters": Computed(texts.letters, "ARRAY<STRING>"),
    "instr": Computed(texts.instr, "INT", fails=True),
    "locate": Computed(texts.locate, "INT"),
    "decode": Computed(texts.decode, "STRING", fails=True),
    "encode": Computed(texts.encode, "BINARY", fails=True),
    "from_base64": Computed(texts.from_base64, "STRING", fails=True),
    "unhex": Computed(texts.unhex, "BINARY"),
    "is_format": Computed(texts.is_format, "BOOLEAN"),
    "is_decimal": Computed(texts.is_decimal, "BOOLEAN"),
    "group_text": Computed(java_patterns.group_text, "STRING", fails=True),
    "group_count": Computed(java_patterns.group_count, "INT"),
}
