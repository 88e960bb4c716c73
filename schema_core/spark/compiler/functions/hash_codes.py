"""HASH_CODE: the `hashCode` of the Java value that Flink has of a type."""

from __future__ import annotations

from schema_core import types
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.template import sql
from schema_core.spark.compiler.translation import (
    CHARACTERS,
    INTEGERS,
    TranslatedCall,
    TranslationRule,
    call_udf,
    udf,
)
from schema_core.spark.compiler.tree import Node


def hash_code(called: TranslatedCall) -> Node:
    """Return the code of a value; that of a number depends on its type."""
    value = called[0]
    match type_ := called.types[0]:
        case types.BooleanType():
            return sql("if({v}, 1231, if({v} IS NULL, NULL, 1237))", v=value)
        case _ if isinstance(type_, INTEGERS) and not isinstance(type_, types.BigIntType):
            return nodes.Cast(value, "INT")
        case types.DateType():
            return nodes.call("unix_date", value)
        case types.TimeType():
            return nodes.Cast(datetimes.time_millis(value), "INT")
        case types.BigIntType():
            kind = "long"
        case types.FloatType():
            kind = "float"
        case types.DoubleType():
            kind = "double"
        case types.DecimalType():
            kind = "decimal"
        case types.TimestampType():
            kind, value = "timestamp", nodes.call("unix_micros", nodes.Cast(value, "TIMESTAMP"))
        case _ if isinstance(type_, CHARACTERS):
            kind = "string"
        case _:
            raise nodes.unsupported_error(f"Flink has no HASH_CODE of {type_.as_summary_string()}")
    return call_udf("hash_code", nodes.Cast(value, "STRING"), kind)


RULES: dict[str, TranslationRule] = dict.fromkeys(("$HASHCODE$1", "HASH_CODE"), udf(hash_code))
