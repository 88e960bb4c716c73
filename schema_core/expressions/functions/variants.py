"""Functions of variants, and of structured objects whose fields are given by name."""

from __future__ import annotations

from schema_core.errors import SchemaError
from schema_core.expressions.signature_dsl import (
    ANY,
    AS_BOOLEAN,
    AS_STRING,
    AS_STRUCTURED,
    CHARACTER,
    always,
    bridged,
    exactly,
    literal,
    text_of,
)
from schema_core.expressions.signatures import ArgumentTypes
from schema_core.types import DataType, RowField, StructuredType
from schema_core.types import DataTypes as T

NAME = literal(CHARACTER)


def named_types(args: ArgumentTypes, start: int) -> dict[str, DataType]:
    """Return the types of the values by name, from arguments that alternate names and values."""
    fields: dict[str, DataType] = {}
    for i in range(start, len(args.types), 2):
        name = text_of(args.trees[i]) or ""
        if name in fields:
            raise SchemaError(f"duplicate field name {name!r}", code="invalid-argument-value")
        fields[name] = args.types[i + 1]
    return fields


def object_of(args: ArgumentTypes) -> DataType:
    """Return a structured type of the named class with the named fields."""
    fields = [RowField(name, type_) for name, type_ in named_types(args, 1).items()]
    return StructuredType(text_of(args.trees[0]) or "", fields)


def updated(args: ArgumentTypes) -> DataType:
    """Return the structured type with the new types of the named fields."""
    type_, changes = args.types[0], named_types(args, 1)
    if not isinstance(type_, StructuredType):
        raise SchemaError(
            f"expected a structured type, got {type_.as_summary_string()}",
            code="wrong-argument-type",
        )
    unknown = changes.keys() - {field.name for field in type_.fields}
    if unknown:
        raise SchemaError(
            f"{type_.as_summary_string()} has no field {min(unknown)!r}", code="unknown-field"
        )
    return type_.rebuild(tuple(changes.get(field.name, field.data_type) for field in type_.fields))


FUNCTIONS = (
    # name, parameters, return type
    bridged("PARSE_JSON",     (AS_STRING, AS_BOOLEAN), exactly(T.VARIANT()), optional=1),
    bridged("TRY_PARSE_JSON", (AS_STRING, AS_BOOLEAN), exactly(T.VARIANT()),
            optional=1, nullability=always),
    bridged("OBJECT_OF",      (NAME, NAME, ANY),       object_of,
            optional=2, repeats=2, nullability=always),
    bridged("OBJECT_UPDATE",  (AS_STRUCTURED, NAME, ANY), updated,
            optional=2, repeats=2, nullability=always),
)  # fmt: skip
