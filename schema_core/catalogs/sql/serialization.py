"""Serialization of catalog objects: one JSON document for each, parsed strictly.

Tables and models are property maps of Flink, with keys of ours for what Flink's map loses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar, assert_never

from schema_core.catalog.migration_history import CatalogMigration
from schema_core.catalog.objects import (
    CatalogDatabase,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogType,
    FunctionLanguage,
    ResolvedCatalogModel,
    ResourceUri,
    definition_of,
    named_type,
)
from schema_core.catalog.statistics import StoredStatistics
from schema_core.catalog.stores.object_store import StoredKind
from schema_core.catalog.stores.storable import require_read_back
from schema_core.errors import ExternalError, SchemaError
from schema_core.properties.property_map import decode_model, encode_model, encode_object
from schema_core.types import DataType, DistinctType, StructuredType, parse_type
from schema_core.types.unresolved import look_up


def serialize(kind: StoredKind, value: Any) -> str:
    """Return the document of a resolved object.

    Raises:
        UnsupportedError: for an object that has no text, such as one of an anonymous class.
        SchemaError: with code `not-storable` for an object that would read back as another.
    """
    match kind:
        case StoredKind.TABLE:
            return write_map(encode_object(value))
        case StoredKind.MODEL:
            resolved: ResolvedCatalogModel = value
            return write_map(encode_model(resolved, "carry"))
        case StoredKind.FUNCTION:
            return write_function(value)
        case StoredKind.TYPE:
            return write_type(value)
        case StoredKind.STATISTICS:
            statistics: StoredStatistics = value
            return write_json(statistics.to_document())
        case StoredKind.MIGRATION:
            migration: CatalogMigration = value
            return write_json(migration.to_document())
        case StoredKind.DATABASE | StoredKind.PARTITION:
            return write_json({"properties": value.get_properties(), "comment": value.comment})
        case _:
            assert_never(kind)


def deserialize(kind: StoredKind, document: str) -> Any:
    """Return the object of a document, for every kind except tables.

    Raises:
        ExternalError: with code `corrupt-entry` for a malformed document.
        SchemaError: for a malformed property map.
    """
    match kind:
        case StoredKind.MODEL:
            return decode_model(read_map(document))
        case StoredKind.FUNCTION:
            return read_function(document)
        case StoredKind.TYPE:
            return read_type(document)
        case StoredKind.STATISTICS:
            return _read(StoredStatistics, document)
        case StoredKind.MIGRATION:
            return _read(CatalogMigration, document)
        case StoredKind.DATABASE:
            return CatalogDatabase(*_properties_and_comment(document))
        case _:
            return CatalogPartition(*_properties_and_comment(document))


def _properties_and_comment(document: str) -> tuple[dict[str, str], str | None]:
    found = read_json(document)
    return string_map(found, "properties"), optional_string(found, "comment")


# --- JSON ----------------------------------------------------------------------------------------


def write_json(document: object) -> str:
    """Return the JSON of a document: equal for equal documents.

    >>> write_json({"b": 1, "a": None})
    '{"b":1,"a":null}'
    """
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read_json(text: str) -> dict[str, Any]:
    """Return the document of a JSON object.

    Raises:
        ExternalError: with code `corrupt-entry` for any other text.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise _malformed() from None
    if not isinstance(document, dict):
        raise _malformed()
    return document


def string_map(document: Mapping[str, Any], key: str) -> dict[str, str]:
    """Return the string map at a key.

    Raises:
        ExternalError: with code `corrupt-entry`.
    """
    found = document.get(key)
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise _malformed()
    return found


def optional_string(document: Mapping[str, Any], key: str) -> str | None:
    """Return the string at a key, or None for null or a missing key.

    Raises:
        ExternalError: with code `corrupt-entry`.
    """
    found = document.get(key)
    return None if found is None else _string(found)


def write_map(properties: Mapping[str, str]) -> str:
    """Return the document of a property map."""
    return write_json({"properties": dict(properties)})


def read_map(text: str) -> dict[str, str]:
    """Return the property map of a document.

    Raises:
        ExternalError: with code `corrupt-entry`.
    """
    return string_map(read_json(text), "properties")


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _malformed()
    return value


def _malformed() -> ExternalError:
    return ExternalError("the stored document is malformed", code="corrupt-entry")


# --- partition specifications --------------------------------------------------------------------


def write_spec(spec: CatalogPartitionSpec) -> str:
    """Return the document of a specification, with its keys in the order given."""
    return write_json(spec.get_partition_spec())


def key_of_spec(spec: CatalogPartitionSpec) -> str:
    """Return a string that is equal for equal specifications.

    >>> key_of_spec(CatalogPartitionSpec({"b": "x", "a": "y"}))
    '{"a":"y","b":"x"}'
    """
    return write_json(dict(sorted(spec.get_partition_spec().items())))


def read_spec(text: str) -> CatalogPartitionSpec:
    """Return the specification of a document."""
    return CatalogPartitionSpec(string_map({"spec": read_json(text)}, "spec"))


# --- functions and types -------------------------------------------------------------------------


def write_function(function: CatalogFunction) -> str:
    """Return the document of a function.

    Raises:
        SchemaError: with code `not-storable` for a function that would read back as another.
    """
    text = write_json(
        {
            "class": function.class_name,
            "language": function.language.value,
            "resources": [[one.kind, one.uri] for one in function.resource_uris],
            "options": function.get_options(),
        }
    )
    require_read_back(function, lambda: read_function(text))
    return text


def read_function(text: str) -> CatalogFunction:
    """Return the function of a document."""
    document = read_json(text)
    try:
        return CatalogFunction(
            _string(document["class"]),
            FunctionLanguage(document["language"]),
            tuple(ResourceUri(_string(one), _string(uri)) for one, uri in document["resources"]),
            string_map(document, "options"),
        )
    except (KeyError, TypeError, ValueError):
        raise _malformed() from None


T = TypeVar("T", StoredStatistics, CatalogMigration)


def _read(kind: type[T], document: str) -> T:
    """Return the statistics or the migration of a document.

    Raises:
        ExternalError: with code `corrupt-entry` for a malformed document.
    """
    try:
        return kind.of_document(read_json(document))
    except (AttributeError, KeyError, TypeError, ValueError, SchemaError):
        raise _malformed() from None


def write_type(kept: CatalogType) -> str:
    """Return the document of a user-defined type.

    It also holds the user-defined types that the definition names, as they were when the type was
    created: it can be read when they are altered or dropped.

    Raises:
        UnsupportedError: with code `type-not-serializable` for a type without text.
        SchemaError: with code `not-storable` for a type that would read back as another.
    """
    document: dict[str, Any] = {
        "definition": kept.definition.as_serializable_string(),
        "description": kept.description,
    }
    named: dict[tuple[str, ...], list[Any]] = {}
    _collect_named(kept.definition, named)
    if named:
        document["types"] = list(named.values())
    text = write_json(document)
    require_read_back(kept, lambda: read_type(text))
    return text


def _collect_named(type_: DataType, named: dict[tuple[str, ...], list[Any]]) -> None:
    """Collect the named types within a type, each after those that it names itself."""
    for child in type_.children():
        _collect_named(child, named)
    if isinstance(type_, StructuredType | DistinctType) and type_.path:
        definition = definition_of(type_).as_serializable_string()
        named.setdefault(type_.path, [list(type_.path), definition, type_.description])


def read_type(text: str) -> CatalogType:
    """Return the user-defined type of a document."""
    document = read_json(text)
    named: dict[tuple[str, ...], DataType] = {}

    def resolved(definition: object) -> DataType:
        type_ = parse_type(_string(definition))
        return look_up(type_, lambda written: named.get(written.path, written))

    try:
        for path, definition, description in document.get("types", ()):
            names = tuple(map(_string, path))
            comment = None if description is None else _string(description)
            named[names] = named_type(names, resolved(definition), comment)
        definition = resolved(document["definition"])
    except (KeyError, TypeError, ValueError):
        raise _malformed() from None
    return CatalogType(definition, optional_string(document, "description"))
