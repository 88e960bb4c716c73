"""Convert Flink's types to PySpark's and back, by way of the JSON form of Spark's types.

The exact type is stored in the metadata of a StructField, which Spark preserves in queries,
temporary views, Parquet files and tables (Spark SQL guide, "Data Types").
"""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any

from schema_core.base.arguments import require_instance
from schema_core.base.plugins import needs
from schema_core.base.text import quote_identifier
from schema_core.errors import SchemaError
from schema_core.mappings import loss
from schema_core.mappings.spark import types as spark_types
from schema_core.mappings.spark.ddl import Tree
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, RowField

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructField, StructType


@needs("pyspark.sql")
def to_struct_field(
    name: str,
    type_: DataType,
    comment: str | None = None,
    *,
    layout: str | None = None,
    on_loss: loss.Policy = "error",
    target: spark_types.SparkTarget = spark_types.TARGET,
) -> StructField:
    """Return the Spark field of a column: physical type, nullability, exact-type metadata.

    `layout` is a result of `mappings.arrow.schemas.layout_of`. The target `hive` is for tables of
    Hive's own formats, where NOT NULL is stored only as metadata.

    Raises:
        UnsupportedError: with code `type-not-supported` for types that exist only within Flink
            or that tables of Hive cannot store, `lossy` if values would change and `on_loss` is
            `error`.

    >>> from schema_core.types import parse_type
    >>> to_struct_field("code", parse_type("CHAR(3) NOT NULL"))
    StructField('code', StringType(), False)
    >>> to_struct_field("at", parse_type("TIMESTAMP(9)"))
    Traceback (most recent call last):
        ...
    schema_core.errors.UnsupportedError: TIMESTAMP(9) becomes TIMESTAMP(6): fractional \
seconds are truncated
      in field 'at'
      hint: pass on_loss='note' to keep the exact type as metadata, or 'accept' to drop it
    """
    from pyspark.sql.types import StructField

    require_instance(name, str, "name")
    require_instance(type_, DataType, "type_")
    require_instance(comment, (str, NoneType), "comment")
    field = RowField(name, type_, comment)
    tree = spark_types.to_field_tree(field, on_loss=on_loss, layout=layout, target=target)
    return StructField.fromJson(tree)


@needs("pyspark.sql")
def to_spark(type_: DataType) -> SparkType:
    """Return the Spark type of a type; fields of structs have exact-type metadata."""
    from pyspark.sql.types import StructField

    require_instance(type_, DataType, "type_")
    return StructField.fromJson(
        {"name": "", "type": spark_types.to_tree(type_), "nullable": True}
    ).dataType


@needs("pyspark.sql")
def to_spark_sql(type_: DataType) -> str:
    """Return the Spark type of a type as Spark SQL, every field name quoted.

    Raises:
        UnsupportedError: as `to_struct_field`.

    >>> from schema_core.types import parse_type
    >>> to_spark_sql(parse_type("ROW<`a${b}` ARRAY<TIMESTAMP(3)>>"))
    'STRUCT<`a${b}`: ARRAY<timestamp_ntz>>'
    """
    return type_sql(to_spark(type_))


@needs("pyspark.sql")
def type_sql(spark: SparkType) -> str:
    """Return a Spark type as Spark SQL, every field name quoted; nullability is not part of it."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match spark:
        case StructType(fields=fields):
            inner = (
                f"{quote_identifier(field.name)}: {type_sql(field.dataType)}" for field in fields
            )
            return f"STRUCT<{', '.join(inner)}>"
        case ArrayType():
            return f"ARRAY<{type_sql(spark.elementType)}>"
        case MapType():
            return f"MAP<{type_sql(spark.keyType)}, {type_sql(spark.valueType)}>"
        case _:
            return str(spark.simpleString())


@needs("pyspark.sql")
def from_struct_field(field: StructField) -> DataType:
    """Return the exact type if it matches the physical type, else the nearest type.

    Raises:
        UnsupportedError: with code `type-not-supported`.
    """
    from pyspark.sql.types import StructField

    require_instance(field, StructField, "field")
    return spark_types.from_field_tree(_field_tree(field)).data_type


@needs("pyspark.sql")
def from_spark(spark: SparkType) -> DataType:
    """Return the nearest type to a Spark type, nullable.

    >>> from pyspark.sql.types import ArrayType, IntegerType
    >>> print(from_spark(ArrayType(IntegerType(), containsNull=False)))
    ARRAY<INT NOT NULL>
    """
    from pyspark.sql.types import DataType as SparkType

    require_instance(spark, SparkType, "spark")
    check_depth(spark)
    return spark_types.from_tree(_as_tree(spark.jsonValue()))


def type_of(description: object) -> DataType:
    """Return the type of a Spark type or field, for `DataTypes.of`.

    Raises:
        SchemaError: with code `data-type-not-inferred`.
    """
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructField

    if isinstance(description, StructField):
        return from_struct_field(description)
    if isinstance(description, SparkType):
        return from_spark(description)
    kind = type(description).__name__
    raise SchemaError(
        f"cannot infer a data type from Spark's {kind}", code="data-type-not-inferred"
    )


@needs("pyspark.sql")
def to_struct_type(
    schema: ResolvedSchema,
    *,
    on_loss: loss.Policy = "error",
    target: spark_types.SparkTarget = spark_types.TARGET,
) -> StructType:
    """Return the Spark schema of all columns of a table, as its readers see them.

    The target `hive` is for tables of Hive's own formats (``saveAsTable(name, format="hive")``).

    Raises:
        UnsupportedError: as `to_struct_field`; everything that Hive cannot store is reported at
            once.
    """
    from pyspark.sql.types import StructType

    require_instance(schema, ResolvedSchema, "schema")
    if target == "hive":
        loss.refuse(loss.losses(schema, target), "type-not-supported")
    fields = [
        to_struct_field(
            column.name, column.data_type, column.comment, on_loss=on_loss, target=target
        )
        for column in schema.columns
    ]
    return StructType(fields)


@needs("pyspark.sql")
def from_struct_type(struct: StructType) -> Schema:
    """Return the columns of a Spark schema, with their comments.

    Raises:
        UnsupportedError: for all columns whose type Flink does not have.
    """
    result = read_struct_type(struct)
    loss.raise_refused(result.refused)
    return result.schema


@needs("pyspark.sql")
def read_struct_type(struct: StructType) -> loss.ForeignSchema:
    """Read all columns that can be read; report errors of the others, and losses."""
    from pyspark.sql.types import StructType

    require_instance(struct, StructType, "struct")
    return loss.read_fields(
        struct.fields, lambda field: spark_types.read_field_tree(_field_tree(field))
    )


def _field_tree(field: StructField) -> dict[str, Any]:
    check_depth(field.dataType)
    tree = field.jsonValue()
    return {**tree, "type": _as_tree(tree["type"])}


def _as_tree(tree: Any) -> Tree:
    """Return the JSON of a type; all but a dict becomes a string, which is then refused."""
    return tree if isinstance(tree, dict) else str(tree)


@needs("pyspark.sql")
def check_depth(spark: SparkType) -> None:
    """Refuse a Spark type deeper than `MAX_DEPTH`, before pyspark recurses into it.

    Raises:
        UnsupportedError: with code `limit-exceeded`.
    """
    loss.check_nesting(spark, _child_types)


def _child_types(spark: Any) -> list[Any]:
    inner = [field.dataType for field in getattr(spark, "fields", ())]
    return inner + [getattr(spark, name) for name in spark_types.STEPS if hasattr(spark, name)]


# --- types of transport -------------------------------------------------------------------------
# PySpark transports no intervals of months, and expects NULL everywhere. The functions `as_...` and
# `of_months` return the types that a column is cast to, one after the other; none if no part of its
# type needs it.


@needs("pyspark.sql")
def as_months(spark: SparkType) -> list[SparkType]:
    """Return the types to cast to so that intervals of months are integers, at every depth."""
    from pyspark.sql import types

    interval = types.YearMonthIntervalType()
    if (single := _replace_type(spark, interval, _months())) is spark:
        return []
    return [single, _replace_type(spark, interval, types.IntegerType())]


@needs("pyspark.sql")
def of_months(spark: SparkType) -> list[SparkType]:
    """Return the types to cast to so that integers become the intervals of months of a type."""
    from pyspark.sql import types

    single = _replace_type(spark, types.YearMonthIntervalType(), _months())
    return [] if single is spark else [single, spark]


def _months() -> SparkType:
    """Return the type of intervals of months, the only one that is cast from and to integers."""
    from pyspark.sql import types

    return types.YearMonthIntervalType(types.YearMonthIntervalType.MONTH)


@needs("pyspark.sql")
def as_fetched(spark: SparkType) -> list[SparkType]:
    """Return the types to cast to so that instants are also UTC datetimes without a time zone."""
    from pyspark.sql import types

    before = as_months(spark)
    last = before[-1] if before else spark
    local = _replace_type(last, types.TimestampType(), types.TimestampNTZType())
    return before if local is last else [*before, local]


@needs("pyspark.sql")
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
            if all(part is field.dataType for part, field in zip(inner, fields, strict=True)):
                return spark
            return types.StructType(
                [
                    types.StructField(field.name, part)
                    for field, part in zip(fields, inner, strict=True)
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


@needs("pyspark.sql")
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
