"""The mapping of Flink's types to Iceberg's and back, one row for each.

A type without an exact counterpart is stored as the physical type whose values are its values: CHAR
as ``string``, TINYINT as ``int``, an interval as its months or microseconds. Source: "Schemas and
Data Types" in the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pyiceberg import types as iceberg

from schema_core import types
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import UnsupportedError, at
from schema_core.errors.hints import DROP_COLUMN, STORE_ANOTHER_TYPE
from schema_core.mappings.stored_types import entry_types
from schema_core.types.families import TypeRoot

R = TypeRoot

#: Returns the id of the next field.
NextId: TypeAlias = Callable[[], int]

#: Root -> the type of Iceberg; others have children, or cannot be stored.
PRIMITIVES: Mapping[TypeRoot, Callable[[Any], iceberg.PrimitiveType]] = {
    R.CHAR:       lambda type_: iceberg.StringType(),
    R.VARCHAR:    lambda type_: iceberg.StringType(),
    R.BOOLEAN:    lambda type_: iceberg.BooleanType(),
    R.BINARY:     lambda type_: iceberg.FixedType(type_.length),
    R.VARBINARY:  lambda type_: iceberg.BinaryType(),
    R.DECIMAL:    lambda type_: iceberg.DecimalType(type_.precision, type_.scale),
    R.TINYINT:    lambda type_: iceberg.IntegerType(),
    R.SMALLINT:   lambda type_: iceberg.IntegerType(),
    R.INTEGER:    lambda type_: iceberg.IntegerType(),
    R.BIGINT:     lambda type_: iceberg.LongType(),
    R.FLOAT:      lambda type_: iceberg.FloatType(),
    R.DOUBLE:     lambda type_: iceberg.DoubleType(),
    R.DATE:       lambda type_: iceberg.DateType(),
    R.TIME_WITHOUT_TIME_ZONE: lambda type_: iceberg.TimeType(),
    R.TIMESTAMP_WITHOUT_TIME_ZONE: lambda type_: iceberg.TimestampType(),
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: lambda type_: iceberg.TimestamptzType(),
    R.INTERVAL_YEAR_MONTH: lambda type_: iceberg.IntegerType(),
    R.INTERVAL_DAY_TIME: lambda type_: iceberg.LongType(),
}  # fmt: skip

#: Root -> the type with nanoseconds, which tables of version 3 have.
NANOSECONDS: Mapping[TypeRoot, Callable[[], iceberg.PrimitiveType]] = {
    R.TIMESTAMP_WITHOUT_TIME_ZONE: iceberg.TimestampNanoType,
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: iceberg.TimestamptzNanoType,
}

#: Type of Iceberg -> the nearest type of Flink, nullable.
READ: Mapping[type[iceberg.IcebergType], Callable[[Any], types.DataType]] = {
    iceberg.BooleanType:       lambda type_: types.BooleanType(),
    iceberg.IntegerType:       lambda type_: types.IntType(),
    iceberg.LongType:          lambda type_: types.BigIntType(),
    iceberg.FloatType:         lambda type_: types.FloatType(),
    iceberg.DoubleType:        lambda type_: types.DoubleType(),
    iceberg.DecimalType:       lambda type_: types.DecimalType(type_.precision, type_.scale),
    iceberg.DateType:          lambda type_: types.DateType(),
    iceberg.TimeType:          lambda type_: types.TimeType(6),
    iceberg.TimestampType:     lambda type_: types.TimestampType(6),
    iceberg.TimestamptzType:   lambda type_: types.LocalZonedTimestampType(6),
    iceberg.TimestampNanoType: lambda type_: types.TimestampType(9),
    iceberg.TimestamptzNanoType: lambda type_: types.LocalZonedTimestampType(9),
    iceberg.StringType:        lambda type_: types.VarCharType(types.MAX_LENGTH),
    iceberg.BinaryType:        lambda type_: types.VarBinaryType(types.MAX_LENGTH),
    iceberg.FixedType:         lambda type_: types.BinaryType(len(type_)),
    iceberg.UUIDType:          lambda type_: types.BinaryType(16),
}  # fmt: skip


def to_iceberg(
    type_: types.DataType, next_id: NextId, *, nanoseconds: bool = False
) -> iceberg.IcebergType:
    """Return the Iceberg type that stores the values of a type.

    Args:
        type_: The type; its own nullability is that of its field.
        next_id: Returns the ids of nested fields.
        nanoseconds: Whether the table has types with nanoseconds (version 3).

    Raises:
        UnsupportedError: with code `not-representable`.
    """
    match type_:
        case types.RowType():
            return iceberg.StructType(
                *(to_field(field, next_id, nanoseconds=nanoseconds) for field in type_.fields)
            )
        case types.ArrayType():
            element = type_.element_type
            return iceberg.ListType(
                element_id=next_id(),
                element=to_iceberg(element, next_id, nanoseconds=nanoseconds),
                element_required=not element.is_nullable,
            )
        case types.MapType() | types.MultisetType():
            key, value = entry_types(type_)
            return iceberg.MapType(
                key_id=next_id(),
                key_type=to_iceberg(key, next_id, nanoseconds=nanoseconds),
                value_id=next_id(),
                value_type=to_iceberg(value, next_id, nanoseconds=nanoseconds),
                value_required=not value.is_nullable,
            )
    if nanoseconds and type_.root in NANOSECONDS and getattr(type_, "precision", 0) > 6:
        return NANOSECONDS[type_.root]()
    if type_.root not in PRIMITIVES:
        raise UnsupportedError(
            f"Iceberg has no type for {type_.as_summary_string()}",
            code="not-representable",
            hint=STORE_ANOTHER_TYPE,
        )
    return PRIMITIVES[type_.root](type_)


def to_field(
    field: types.RowField, next_id: NextId, *, nanoseconds: bool = False
) -> iceberg.NestedField:
    """Return the Iceberg field of a column or row field; errors as `to_iceberg`."""
    with at(f"field {field.name!r}"):
        return iceberg.NestedField(
            field_id=next_id(),
            name=field.name,
            field_type=to_iceberg(field.data_type, next_id, nanoseconds=nanoseconds),
            required=not field.data_type.is_nullable,
            doc=field.description,
        )


def from_iceberg(type_: iceberg.IcebergType, depth: int = 1) -> types.DataType:
    """Return the nearest type to an Iceberg type, nullable.

    Keys of maps are NOT NULL.

    Raises:
        UnsupportedError: with code `type-not-supported`, or `limit-exceeded`.
    """
    if depth > MAX_DEPTH:
        raise UnsupportedError("the type is nested too deeply", code="limit-exceeded")
    match type_:
        case iceberg.StructType(fields=fields):
            return types.RowType([from_field(field, depth + 1) for field in fields])
        case iceberg.ListType():
            element = from_iceberg(type_.element_type, depth + 1)
            return types.ArrayType(element if not type_.element_required else element.not_null())
        case iceberg.MapType():
            key = from_iceberg(type_.key_type, depth + 1).not_null()
            value = from_iceberg(type_.value_type, depth + 1)
            return types.MapType(key, value if not type_.value_required else value.not_null())
    if type(type_) not in READ:
        raise UnsupportedError(
            f"Flink has no type for Iceberg's {type_}",
            code="type-not-supported",
            hint=DROP_COLUMN,
        )
    return READ[type(type_)](type_)


def from_field(field: iceberg.NestedField, depth: int = 1) -> types.RowField:
    """Return a column or row field of Iceberg; errors as `from_iceberg`."""
    with at(f"field {field.name!r}"):
        type_ = from_iceberg(field.field_type, depth)
    return types.RowField(field.name, type_.not_null() if field.required else type_, field.doc)


def shape(type_: iceberg.IcebergType) -> object:
    """Return what a type is without the ids of its fields, for comparisons."""
    match type_:
        case iceberg.StructType(fields=fields):
            return tuple(field_shape(field) for field in fields)
        case iceberg.ListType():
            return "list", shape(type_.element_type), type_.element_required
        case iceberg.MapType():
            return "map", shape(type_.key_type), shape(type_.value_type), type_.value_required
    return type_


def field_shape(field: iceberg.NestedField) -> object:
    """Return the name, type, nullability and comment of a field."""
    return field.name, shape(field.field_type), field.required, field.doc
