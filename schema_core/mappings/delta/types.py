"""The mapping of Flink's types to Delta's and back, one row for each.

A type without an exact counterpart is stored as the physical type whose values are its values: CHAR
as ``string``, TIME as a ``long`` of microseconds, an interval as its months or microseconds.
Source: "Schema Serialization Format" in the Delta transaction log protocol.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from schema_core import types
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import UnsupportedError, at
from schema_core.errors.hints import DROP_COLUMN, STORE_ANOTHER_TYPE
from schema_core.mappings.stored_types import entry_types
from schema_core.types.families import TypeRoot

R = TypeRoot

#: A type or field in the JSON of a schema.
DeltaType: TypeAlias = Any
DeltaField: TypeAlias = Mapping[str, Any]

#: Root -> the type of Delta; others have children, or cannot be stored.
PRIMITIVES: Mapping[TypeRoot, str] = {
    R.CHAR: "string",
    R.VARCHAR: "string",
    R.BOOLEAN: "boolean",
    R.BINARY: "binary",
    R.VARBINARY: "binary",
    R.DECIMAL: "decimal({0.precision},{0.scale})",
    R.TINYINT: "byte",
    R.SMALLINT: "short",
    R.INTEGER: "integer",
    R.BIGINT: "long",
    R.FLOAT: "float",
    R.DOUBLE: "double",
    R.DATE: "date",
    R.TIME_WITHOUT_TIME_ZONE: "long",
    R.TIMESTAMP_WITHOUT_TIME_ZONE: "timestamp_ntz",
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "timestamp",
    R.INTERVAL_YEAR_MONTH: "integer",
    R.INTERVAL_DAY_TIME: "long",
}

#: Type of Delta -> the nearest type of Flink, nullable.
READ: Mapping[str, types.DataType] = {
    "string": types.VarCharType(types.MAX_LENGTH),
    "boolean": types.BooleanType(),
    "binary": types.VarBinaryType(types.MAX_LENGTH),
    "byte": types.TinyIntType(),
    "short": types.SmallIntType(),
    "integer": types.IntType(),
    "long": types.BigIntType(),
    "float": types.FloatType(),
    "double": types.DoubleType(),
    "date": types.DateType(),
    "timestamp_ntz": types.TimestampType(6),
    "timestamp": types.LocalZonedTimestampType(6),
}

#: Types by whose values a table can be partitioned: each has one text, other than that of NULL.
PARTITION_TYPES = frozenset(
    {"string", "boolean", "byte", "short", "integer", "long", "date", "timestamp_ntz", "timestamp"}
)

_DECIMAL = re.compile(r"decimal\(([0-9]{1,2}),\s*([0-9]{1,2})\)")
#: Characters that names of columns do not have without column mapping.
_SPECIAL = re.compile(r"[ ,;{}()\n\t=]")


def to_delta(type_: types.DataType) -> DeltaType:
    """Return the Delta type that stores the values of a type.

    >>> from schema_core.types import DataTypes as T
    >>> to_delta(T.DECIMAL(10, 2)), to_delta(T.ARRAY(T.INT().not_null()))
    ('decimal(10,2)', {'type': 'array', 'elementType': 'integer', 'containsNull': False})

    Raises:
        UnsupportedError: with code `not-representable`.
    """
    match type_:
        case types.RowType():
            return {"type": "struct", "fields": [to_delta_field(item) for item in type_.fields]}
        case types.ArrayType():
            element = type_.element_type
            return {
                "type": "array",
                "elementType": to_delta(element),
                "containsNull": element.is_nullable,
            }
        case types.MapType() | types.MultisetType():
            key, value = entry_types(type_)
            return {
                "type": "map",
                "keyType": to_delta(key),
                "valueType": to_delta(value),
                "valueContainsNull": value.is_nullable,
            }
    if type_.root not in PRIMITIVES:
        raise UnsupportedError(
            f"Delta has no type for {type_.as_summary_string()}",
            code="not-representable",
            hint=STORE_ANOTHER_TYPE,
        )
    return PRIMITIVES[type_.root].format(type_)


def to_delta_field(field: types.RowField) -> dict[str, Any]:
    """Return the Delta field of a column or row field (`not-representable`)."""
    with at(f"field {field.name!r}"):
        metadata = {} if field.description is None else {"comment": field.description}
        return {
            "name": field.name,
            "type": to_delta(field.data_type),
            "nullable": field.data_type.is_nullable,
            "metadata": metadata,
        }


def to_delta_schema(columns: Sequence[types.RowField]) -> dict[str, Any]:
    """Return the schema of a table with these physical columns.

    Raises:
        UnsupportedError: with code `not-representable` for types and names that Delta does not
            have.
    """
    _require_names(columns)
    return {"type": "struct", "fields": [to_delta_field(column) for column in columns]}


def _require_names(fields: Sequence[types.RowField]) -> None:
    """Refuse names with special characters, and names that differ by case only, at every depth."""
    names: dict[str, str] = {}
    for field in fields:
        with at(f"field {field.name!r}"):
            if _SPECIAL.search(field.name):
                raise _refuse_name("Delta allows no blank and none of ,;{}()= in a name")
            other = names.setdefault(field.name.lower(), field.name)
            if other != field.name:
                raise _refuse_name(f"Delta does not distinguish it from {other!r}")
            pending = [field.data_type]
            while pending:
                type_ = pending.pop()
                if isinstance(type_, types.RowType):
                    _require_names(type_.fields)
                else:
                    pending += type_.children()


def _refuse_name(problem: str) -> UnsupportedError:
    return UnsupportedError(problem, code="not-representable", hint="use another name")


def from_delta(type_: DeltaType, depth: int = 1) -> types.DataType:
    """Return the nearest type to a Delta type, nullable; keys of maps are NOT NULL.

    >>> str(from_delta("decimal(10,2)"))
    'DECIMAL(10, 2)'

    Raises:
        UnsupportedError: with code `type-not-supported`, or `limit-exceeded`.
    """
    if depth > MAX_DEPTH:
        raise UnsupportedError("the type is nested too deeply", code="limit-exceeded")
    match type_:
        case {"type": "struct", "fields": fields}:
            return types.RowType([from_delta_field(field, depth + 1) for field in fields])
        case {"type": "array", "elementType": element, "containsNull": has_null}:
            return types.ArrayType(_of_nullability(from_delta(element, depth + 1), has_null))
        case {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": has_null}:
            return types.MapType(
                from_delta(key, depth + 1).not_null(),
                _of_nullability(from_delta(value, depth + 1), has_null),
            )
    if isinstance(type_, str) and (match := _DECIMAL.fullmatch(type_)):
        return types.DecimalType(int(match[1]), int(match[2]))
    if not isinstance(type_, str) or type_ not in READ:
        raise UnsupportedError(
            f"Flink has no type for Delta's {type_}",
            code="type-not-supported",
            hint=DROP_COLUMN,
        )
    return READ[type_]


def _of_nullability(type_: types.DataType, has_null: bool) -> types.DataType:
    return type_ if has_null else type_.not_null()


def from_delta_field(field: DeltaField, depth: int = 1) -> types.RowField:
    """Return a column or row field of Delta; errors as `from_delta`."""
    with at(f"field {field['name']!r}"):
        type_ = _of_nullability(from_delta(field["type"], depth), field["nullable"])
    return types.RowField(field["name"], type_, comment_of(field))


def comment_of(field: DeltaField) -> str | None:
    """Return the comment of a field."""
    comment = field.get("metadata", {}).get("comment")
    return comment if isinstance(comment, str) else None


def shape(type_: DeltaType, *, nullability: bool = True) -> object:
    """Return what a type is without the metadata of its fields, for comparisons.

    Without `nullability` it is what the values are stored as.
    """
    match type_:
        case {"type": "struct", "fields": fields}:
            return tuple(field_shape(field, nullability=nullability) for field in fields)
        case {"type": "array"}:
            has_null = type_["containsNull"] if nullability else None
            return "array", shape(type_["elementType"], nullability=nullability), has_null
        case {"type": "map"}:
            key = shape(type_["keyType"], nullability=nullability)
            value = shape(type_["valueType"], nullability=nullability)
            return "map", key, value, type_["valueContainsNull"] if nullability else None
    return type_.replace(" ", "")


def field_shape(field: DeltaField, *, nullability: bool = True) -> object:
    """Return the name and type of a field, with `nullability` also that and its comment."""
    type_ = shape(field["type"], nullability=nullability)
    if not nullability:
        return field["name"], type_
    return field["name"], type_, field["nullable"], comment_of(field)
