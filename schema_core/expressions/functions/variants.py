"""Values that carry their own type, and structured objects made by name."""

from __future__ import annotations

from schema_core.errors import SchemaError
from schema_core.expressions.signature_dsl import (
    ANY,
    CHARACTER,
    FLAG,
    STRUCTURED,
    TEXT,
    always,
    bridged,
    exactly,
    literal,
    text_of,
)
from schema_core.expressions.signatures import Given
from schema_core.types import DataType, RowField, StructuredType
from schema_core.types import DataTypes as T

NAME = literal(CHARACTER)


def named(given: Given, start: int) -> dict[str, DataType]:
    """Names and the types of the values behind them; a name may come once."""
    fields: dict[str, DataType] = {}
    for i in range(start, len(given.types), 2):
        name = text_of(given.trees[i]) or ""
        if name in fields:
            raise SchemaError(f"the field name {name!r} comes twice", code="invalid-argument-value")
        fields[name] = given.types[i + 1]
    return fields


def object_of(given: Given) -> DataType:
    """A structured type of the class and the fields that are named."""
    fields = [RowField(name, type_) for name, type_ in named(given, 1).items()]
    return StructuredType(text_of(given.trees[0]) or "", fields)


def updated(given: Given) -> DataType:
    """The structured type with the new types of the fields that are named."""
    type_, changes = given.types[0], named(given, 1)
    if not isinstance(type_, StructuredType):
        raise SchemaError("only structured types are updated", code="wrong-argument-type")
    unknown = changes.keys() - {field.name for field in type_.fields}
    if unknown:
        raise SchemaError(f"there is no field {min(unknown)!r}", code="unknown-field")
    return type_.rebuild(tuple(changes.get(field.name, field.data_type) for field in type_.fields))


FUNCTIONS = (
    #       name              takes                    gives
    bridged("PARSE_JSON",     (TEXT, FLAG),            exactly(T.VARIANT()), optional=1),
    bridged("TRY_PARSE_JSON", (TEXT, FLAG),            exactly(T.VARIANT()),
            optional=1, nulls=always),
    bridged("OBJECT_OF",      (NAME, NAME, ANY),       object_of,
            optional=2, repeats=2, nulls=always),
    bridged("OBJECT_UPDATE",  (STRUCTURED, NAME, ANY), updated,
            optional=2, repeats=2, nulls=always),
)  # fmt: skip
