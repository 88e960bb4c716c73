"""Predicates of FLOAT and DOUBLE columns that Spark must not push down to files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING

from schema_core.spark.compiler.tree import quote
from schema_core.spark.session.api_mode import functions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


def without_float_pushdown(frame: DataFrame) -> DataFrame:
    """Return a frame of files whose FLOAT and DOUBLE columns are computed, with the same values.

    Spark pushes comparisons of stored columns down to readers of parquet, which skip files by
    bounds without NaN and by dictionaries in which -0.0 is not 0.0: rows would be lost.
    """
    functions = functions_of(frame)
    columns, has_floats = [], False
    for field in frame.schema.fields:
        column = functions.col(quote(field.name))
        for path in _float_fields(field.dataType):
            has_floats = True
            value = reduce(lambda parent, name: parent.getField(name), path, column)
            computed = value * functions.lit(1).cast("float")  # Spark does not simplify it
            column = column.withField(".".join(map(quote, path)), computed) if path else computed
        columns.append(column.alias(field.name, metadata=field.metadata))
    return frame.select(*columns) if has_floats else frame


def _float_fields(type_: DataType) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the floats in a type; Spark pushes no predicates of elements down."""
    from pyspark.sql import types

    match type_:
        case types.FloatType() | types.DoubleType():
            yield ()
        case types.StructType(fields=fields):
            for field in fields:
                yield from ((field.name, *path) for path in _float_fields(field.dataType))
        case _:
            return
