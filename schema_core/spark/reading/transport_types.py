"""Spark types in which PySpark transports values: no intervals of months, and NULL everywhere.

The functions `as_...` and `of_months` return the types that a column is cast to, one after the
other; none if the type has no part that needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType


def as_months(spark: SparkType) -> list[SparkType]:
    """Return the types to cast to so that intervals of months are integers, at every depth."""
    from pyspark.sql import types

    interval = types.YearMonthIntervalType()
    if (single := _replace_type(spark, interval, _months())) is spark:
        return []
    return [single, _replace_type(spark, interval, types.IntegerType())]


def of_months(spark: SparkType) -> list[SparkType]:
    """Return the types to cast to so that integers become the intervals of months of a type."""
    from pyspark.sql import types

    single = _replace_type(spark, types.YearMonthIntervalType(), _months())
    return [] if single is spark else [single, spark]


def _months() -> SparkType:
    """Return the type of intervals of months, the only one that is cast from and to integers."""
    from pyspark.sql import types

    return types.YearMonthIntervalType(types.YearMonthIntervalType.MONTH)


def as_fetched(spark: SparkType) -> list[SparkType]:
    """Return the types to cast to so that instants are also UTC datetimes without a time zone."""
    from pyspark.sql import types

    before = as_months(spark)
    last = before[-1] if before else spark
    local = _replace_type(last, types.TimestampType(), types.TimestampNTZType())
    return before if local is last else [*before, local]


def with_microseconds(spark: SparkType) -> SparkType:
    """Return a type with TIME(6) in place of every TIME: what Arrow is to Spark Connect."""
    from pyspark.sql import types

    for precision in range(6):
        spark = _replace_type(spark, types.TimeType(precision), types.TimeType(6))
    return spark


def _replace_type(spark: SparkType, old: SparkType, new: SparkType) -> SparkType:
    """Return a type with another one in place of `old`, or the same object without any."""
    from pyspark.sql import types

    def within(inner: SparkType) -> SparkType:
        return _replace_type(inner, old, new)

    match spark:
        case _ if spark == old:
            return new
        case types.StructType(fields=fields):
            inner = [within(field.dataType) for field in fields]
            if all(item is field.dataType for item, field in zip(inner, fields, strict=True)):
                return spark
            return types.StructType(
                [
                    types.StructField(field.name, item)
                    for field, item in zip(fields, inner, strict=True)
                ]
            )
        case types.ArrayType():
            element = within(spark.elementType)
            return spark if element is spark.elementType else types.ArrayType(element)
        case types.MapType():
            key, value = within(spark.keyType), within(spark.valueType)
            if key is spark.keyType and value is spark.valueType:
                return spark
            return types.MapType(key, value)
        case _:
            return spark


def as_nullable(spark: SparkType) -> SparkType:
    """Return a type whose parts are all nullable.

    Arrow refuses to cast a NULL row with a NOT NULL field, whose value is NULL as well.
    """
    from pyspark.sql import types

    match spark:
        case types.StructType(fields=fields):
            return types.StructType(
                [types.StructField(field.name, as_nullable(field.dataType)) for field in fields]
            )
        case types.ArrayType():
            return types.ArrayType(as_nullable(spark.elementType))
        case types.MapType():
            return types.MapType(as_nullable(spark.keyType), as_nullable(spark.valueType))
        case _:
            return spark
