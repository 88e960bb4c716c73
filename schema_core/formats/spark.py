"""Flink's types as Spark's and back: a table of pairs, and the exact type as a note in the field.

The note stands under one key of our own in the metadata of a StructField; Spark carries it through
select, temporary views, parquet files and tables (Spark SQL guide, "Data Types"). It is believed
only while the physical type still fits it. Nullability is not compared: Spark forgets it in files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from schema_core.errors import SchemaCoreError, UnsupportedError, at
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DistinctType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RawType,
    RowField,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
    ZonedTimestampType,
    parse_type,
)

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructField, StructType

#: The key of the note in a field's metadata; Spark keeps a column's comment under `comment`.
NOTE = "schema_core.type"
COMMENT = "comment"


def to_struct_field(name: str, type_: DataType, comment: str | None = None) -> StructField:
    """The Spark field of a column: physical type, nullability, the exact type as a note.

    Raises:
        UnsupportedError: with code `no-spark-type` for types whose values never leave Flink.

    >>> to_struct_field("code", parse_type("CHAR(3) NOT NULL"))
    StructField('code', StringType(), False)
    """
    from pyspark.sql.types import StructField

    note = {NOTE: str(type_)}
    if comment is not None:
        note[COMMENT] = comment
    with at(f"field {name!r}"):
        return StructField(name, to_spark(type_), type_.is_nullable, note)


def to_spark(type_: DataType) -> SparkType:
    """The Spark type that holds the values of a type; fields of structs carry their own notes."""
    build = TO_SPARK.get(type(type_))
    if build is None:
        raise UnsupportedError(f"no Spark type holds {type_}", code="no-spark-type")
    return build(type_)


def from_struct_field(field: StructField) -> DataType:
    """The noted type while the field still fits it, else the nearest type to the physical one.

    Raises:
        UnsupportedError: with code `no-flink-type` for a Spark type that no type can stand for.
    """
    with at(f"field {field.name!r}"):
        noted = _noted(field)
        type_ = from_spark(field.dataType) if noted is None else noted
        return type_.with_nullability(field.nullable and type_.is_nullable)


def _noted(field: StructField) -> DataType | None:
    """What the note says, if there is one, it can be read and the field still fits it.

    Files and tables make every field nullable, so a NOT NULL of the note is believed.
    """
    note = field.metadata.get(NOTE)
    if not isinstance(note, str):
        return None
    try:
        noted = parse_type(note)
        twin = to_spark(noted)
    except SchemaCoreError:
        return None
    return noted if _shape(twin) == _shape(field.dataType) else None


def _shape(spark: Any) -> str:
    """The text of a Spark type, which leaves out nullability and metadata."""
    return str(spark.simpleString())


def from_spark(spark: SparkType) -> DataType:
    """The nearest type to a Spark type, nullable.

    >>> from pyspark.sql.types import ArrayType, IntegerType
    >>> print(from_spark(ArrayType(IntegerType(), containsNull=False)))
    ARRAY<INT NOT NULL>
    """
    if read := FROM_SPARK.get(type(spark).__name__):
        return read(spark)
    raise UnsupportedError(
        f"no Flink type stands for Spark's {spark.simpleString()}",
        code="no-flink-type",
        hint="cast the column to a plain type, or leave it out",
    )


def to_struct_type(schema: ResolvedSchema) -> StructType:
    """The Spark schema of all columns of a table, as a reader of the table sees them."""
    from pyspark.sql.types import StructType

    return StructType(
        [to_struct_field(one.name, one.data_type, one.comment) for one in schema.get_columns()]
    )


def from_struct_type(struct: StructType) -> Schema:
    """A schema of physical columns from a Spark schema, with the comments it carries."""
    builder = Schema.new_builder()
    for field in struct.fields:
        builder.column(field.name, from_struct_field(field))
        if isinstance(comment := field.metadata.get(COMMENT), str):
            builder.with_comment(comment)
    return builder.build()


# --- to Spark ----------------------------------------------------------------------------------


def _spark(name: str, *arguments: object) -> Callable[[Any], Any]:
    """A builder that calls PySpark's class of that name, imported at first use."""

    def build(_: DataType) -> Any:
        from pyspark.sql import types

        return getattr(types, name)(*arguments)

    return build


def _decimal(type_: DecimalType) -> Any:
    from pyspark.sql import types

    return types.DecimalType(type_.precision, type_.scale)


def _time(type_: TimeType) -> Any:
    from pyspark.sql import types

    return types.TimeType(type_.precision)


def _zoned(_: ZonedTimestampType) -> Any:
    from pyspark.sql import types

    return types.StructType(
        [
            types.StructField("timestamp", types.TimestampType(), nullable=False),
            types.StructField("offset_minutes", types.ShortType(), nullable=False),
        ]
    )


def _array(type_: ArrayType) -> Any:
    from pyspark.sql import types

    return types.ArrayType(to_spark(type_.element_type), type_.element_type.is_nullable)


def _map(type_: MapType) -> Any:
    from pyspark.sql import types

    value = type_.value_type
    return types.MapType(to_spark(type_.key_type), to_spark(value), value.is_nullable)


def _multiset(type_: MultisetType) -> Any:
    return _map(MapType(type_.element_type, IntType(nullable=False)))


def _struct(type_: RowType | StructuredType) -> Any:
    from pyspark.sql import types

    return types.StructType(
        [to_struct_field(one.name, one.data_type, one.description) for one in type_.fields]
    )


#: Class of type -> how its Spark type is made.
TO_SPARK: dict[type[DataType], Callable[[Any], Any]] = {
    NullType:                _spark("NullType"),
    BooleanType:             _spark("BooleanType"),
    TinyIntType:             _spark("ByteType"),
    SmallIntType:            _spark("ShortType"),
    IntType:                 _spark("IntegerType"),
    BigIntType:              _spark("LongType"),
    FloatType:               _spark("FloatType"),
    DoubleType:              _spark("DoubleType"),
    DecimalType:             _decimal,
    CharType:                _spark("StringType"),
    VarCharType:             _spark("StringType"),
    BinaryType:              _spark("BinaryType"),
    VarBinaryType:           _spark("BinaryType"),
    DateType:                _spark("DateType"),
    TimeType:                _time,
    TimestampType:           _spark("TimestampNTZType"),
    LocalZonedTimestampType: _spark("TimestampType"),
    ZonedTimestampType:      _zoned,
    YearMonthIntervalType:   _spark("YearMonthIntervalType"),
    DayTimeIntervalType:     _spark("DayTimeIntervalType"),
    ArrayType:               _array,
    MultisetType:            _multiset,
    MapType:                 _map,
    RowType:                 _struct,
    StructuredType:          _struct,
    DistinctType:            lambda type_: to_spark(type_.source_type),
    RawType:                 _spark("BinaryType"),
    VariantType:             _spark("VariantType"),
    BitmapType:              _spark("BinaryType"),
}  # fmt: skip


# --- from Spark --------------------------------------------------------------------------------


def _same(type_: DataType) -> Callable[[Any], DataType]:
    return lambda _: type_


def _read_decimal(spark: Any) -> DataType:
    return DecimalType(max(1, spark.precision), spark.scale)


def _read_array(spark: Any) -> DataType:
    return ArrayType(from_spark(spark.elementType).with_nullability(spark.containsNull))


def _read_map(spark: Any) -> DataType:
    """Spark's keys are never NULL, so neither is the key of the type."""
    value = from_spark(spark.valueType)
    nullable = spark.valueContainsNull or isinstance(value, NullType)
    return MapType(from_spark(spark.keyType).not_null(), value.with_nullability(nullable))


def _read_struct(spark: Any) -> DataType:
    return RowType(
        [
            RowField(one.name, from_struct_field(one), one.metadata.get(COMMENT))
            for one in spark.fields
        ]
    )


#: Name of a Spark class -> the type.
FROM_SPARK: dict[str, Callable[[Any], DataType]] = {
    "NullType":              _same(NullType()),
    "BooleanType":           _same(BooleanType()),
    "ByteType":              _same(TinyIntType()),
    "ShortType":             _same(SmallIntType()),
    "IntegerType":           _same(IntType()),
    "LongType":              _same(BigIntType()),
    "FloatType":             _same(FloatType()),
    "DoubleType":            _same(DoubleType()),
    "DecimalType":           _read_decimal,
    "StringType":            _same(VarCharType(MAX_LENGTH)),
    "CharType":              lambda spark: CharType(spark.length),
    "VarcharType":           lambda spark: VarCharType(spark.length),
    "BinaryType":            _same(VarBinaryType(MAX_LENGTH)),
    "DateType":              _same(DateType()),
    "TimeType":              lambda spark: TimeType(spark.precision),
    "TimestampNTZType":      _same(TimestampType(6)),
    "TimestampType":         _same(LocalZonedTimestampType(6)),
    "YearMonthIntervalType": _same(YearMonthIntervalType()),
    "DayTimeIntervalType":   _same(DayTimeIntervalType()),
    "ArrayType":             _read_array,
    "MapType":               _read_map,
    "StructType":            _read_struct,
    "VariantType":           _same(VariantType()),
}  # fmt: skip
