"""Expressions of Spark SQL with the nullability of a type, whose values are the same.

Spark derives nullability from the query, so that it may expect NULL where a type is NOT NULL. A
default in its place is never used, but makes the expression NOT NULL. Over Spark Connect there is
no other way: the expressions that only assert it are not SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.mappings.spark.pyspark_types import type_sql
from schema_core.spark.compiler.printer import quote, string

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructField


def with_nullability(value: str, given: StructField, wanted: StructField, depth: int = 0) -> str:
    """Return an expression with the nullability of `wanted`, at every depth of its type.

    Args:
        value: The expression.
        given: Its type and nullability.
        wanted: The same type with another nullability.
        depth: How many functions of elements the expression is within.

    >>> from pyspark.sql.types import IntegerType, StructField
    >>> given = StructField("a", IntegerType())
    >>> with_nullability("`a`", given, StructField("a", IntegerType(), nullable=False))
    'coalesce(`a`, 0)'
    """
    if _nullability(given) == _nullability(wanted):
        return value
    changed = _with_parts(value, given, wanted, depth)
    if given.nullable and not wanted.nullable:
        return f"coalesce({changed}, {_default(wanted.dataType)})"
    return changed


def _with_parts(value: str, given: StructField, wanted: StructField, depth: int) -> str:
    """Return an expression with the nullability of the parts of its type."""
    from pyspark.sql import types

    element = f"e{depth}"
    match given.dataType, wanted.dataType:
        case types.StructType(fields=old), types.StructType(fields=new):
            if [_nullability(one) for one in old] == [_nullability(one) for one in new]:
                return value
            parts = (
                f"{string(to.name)}, {with_nullability(f'{value}.{quote(to.name)}', of, to, depth)}"
                for of, to in zip(old, new, strict=True)
            )
            made = f"named_struct({', '.join(parts)})"
            return made if not wanted.nullable else f"IF({value} IS NULL, NULL, {made})"
        case types.ArrayType() as old, types.ArrayType() as new:
            of = types.StructField(element, old.elementType, old.containsNull)
            to = types.StructField(element, new.elementType, new.containsNull)
            part = with_nullability(element, of, to, depth + 1)
            return value if part == element else f"transform({value}, {element} -> {part})"
        case types.MapType() as old, types.MapType() as new:
            key = with_nullability(
                element,
                types.StructField(element, old.keyType, nullable=False),
                types.StructField(element, new.keyType, nullable=False),
                depth + 1,
            )
            if key != element:
                value = f"transform_keys({value}, ({element}, _) -> {key})"
            of = types.StructField(element, old.valueType, old.valueContainsNull)
            to = types.StructField(element, new.valueType, new.valueContainsNull)
            part = with_nullability(element, of, to, depth + 1)
            return (
                value if part == element else f"transform_values({value}, (_, {element}) -> {part})"
            )
    return value


def _nullability(field: StructField) -> object:
    """Return where a type may have NULL, for comparison."""
    from pyspark.sql import types

    match field.dataType:
        case types.StructType(fields=fields):
            return field.nullable, [_nullability(field) for field in fields]
        case types.ArrayType() as of:
            element = types.StructField("", of.elementType, of.containsNull)
            return field.nullable, _nullability(element)
        case types.MapType() as of:
            parts = (
                types.StructField("", of.keyType, nullable=False),
                types.StructField("", of.valueType, of.valueContainsNull),
            )
            return field.nullable, [*map(_nullability, parts)]
        case _:
            return field.nullable


#: Spark's name of a type -> a value of it.
_DEFAULTS = {
    "boolean": "false",
    "tinyint": "0Y",
    "smallint": "0S",
    "int": "0",
    "bigint": "0L",
    "float": "0F",
    "double": "0D",
    "string": "''",
    "binary": "X''",
    "date": "DATE '1970-01-01'",
    "timestamp": "TIMESTAMP '1970-01-01 00:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ '1970-01-01 00:00:00'",
    "variant": "to_variant_object(array(0))",
}


def _default(type_: SparkType) -> str:
    """Return a value of a type that is not NULL, in whose parts NULL is nowhere expected."""
    from pyspark.sql import types

    match type_:
        case types.StructType(fields=fields):
            parts = (f"{string(field.name)}, {_default(field.dataType)}" for field in fields)
            return f"named_struct({', '.join(parts)})"
        case types.ArrayType(elementType=element):
            return f"array({_default(element)})"
        case types.MapType(keyType=key, valueType=of):
            return f"map({_default(key)}, {_default(of)})"
        case types.DecimalType(precision=precision, scale=scale):
            return f"{'9' * (precision - scale)}.{'9' * scale}BD"
        case types.CharType() | types.VarcharType():
            return "''"
        case types.TimeType():
            return f"CAST(TIME '00:00:00' AS {type_sql(type_)})"
        case types.DayTimeIntervalType():
            return "INTERVAL '0 00:00:00' DAY TO SECOND"
        case types.YearMonthIntervalType():
            return "INTERVAL '0-0' YEAR TO MONTH"
        case _:
            return _DEFAULTS[type_.simpleString()]
