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
class Udf:
    """A function and the Spark type of what it gives; one that `fails` may end the job."""

    function: Callable[..., Any]
    returns: str
    fails: bool = False


#: Name -> the function.
UDFS: Mapping[str, Udf] = {
    "json_value": Udf(json_texts.json_value, "STRING", fails=True),
    "json_query": Udf(json_texts.json_query, "STRING", fails=True),
    "json_query_list": Udf(json_texts.json_query_list, "ARRAY<STRING>", fails=True),
    "json_exists": Udf(json_texts.json_exists, "BOOLEAN", fails=True),
    "is_json": Udf(json_texts.is_json, "BOOLEAN"),
    "json_quote": Udf(json_texts.json_quote, "STRING"),
    "json_unquote": Udf(json_texts.json_unquote, "STRING"),
    "simple_format": Udf(simple_dates.simple_format, "STRING", fails=True),
    "simple_text": Udf(simple_dates.simple_text, "STRING", fails=True),
    "unix_timestamp": Udf(simple_dates.unix_timestamp, "BIGINT", fails=True),
    "to_date": Udf(simple_dates.to_date, "INT", fails=True),
    "convert_tz": Udf(simple_dates.convert_tz, "STRING"),
    "date_format": Udf(java_dates.date_format, "STRING", fails=True),
    "to_timestamp": Udf(java_dates.to_timestamp, "BIGINT", fails=True),
    "parse_url": Udf(addresses.parse_url, "STRING"),
    "parse_url_key": Udf(addresses.parse_url_key, "STRING"),
    "inet_aton": Udf(addresses.inet_aton, "BIGINT"),
    "inet_ntoa": Udf(addresses.inet_ntoa, "STRING"),
    "decimal_arithmetic": Udf(decimals.decimal_arithmetic, "STRING", fails=True),
    "decimal_truncated": Udf(decimals.decimal_truncated, "STRING"),
    "cut": Udf(texts.cut, "STRING"),
    "lpad": Udf(texts.lpad, "STRING", fails=True),
    "rpad": Udf(texts.rpad, "STRING", fails=True),
    "overlay": Udf(texts.overlay, "STRING"),
    "letters": Udf(texts.letters, "ARRAY<STRING>"),
    "instr": Udf(texts.instr, "INT", fails=True),
    "locate": Udf(texts.locate, "INT"),
    "decode": Udf(texts.decode, "STRING", fails=True),
    "encode": Udf(texts.encode, "BINARY", fails=True),
    "from_base64": Udf(texts.from_base64, "STRING", fails=True),
    "unhex": Udf(texts.unhex, "BINARY"),
    "is_format": Udf(texts.is_format, "BOOLEAN"),
    "is_decimal": Udf(texts.is_decimal, "BOOLEAN"),
    "group_text": Udf(java_patterns.group_text, "STRING", fails=True),
    "group_count": Udf(java_patterns.group_count, "INT"),
}
