"""What a store of texts keeps of an object: one JSON document each, read back strictly.

Tables and models become string maps by a `Codec`, which whoever makes the catalog hands over:
their map is Flink's, and the formats that write it lie above this layer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    FunctionLanguage,
    ResolvedCatalogModel,
    ResourceUri,
    TableKind,
)
from schema_core.catalog.partitions import CatalogPartition, CatalogPartitionSpec
from schema_core.catalog.storable import require_read_back
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalog.types import CatalogType, definition_of, named_type
from schema_core.errors import ExternalError
from schema_core.types import DataType, DistinctType, StructuredType, parse_type
from schema_core.types.unresolved import look_up


class Codec(Protocol):
    """Tables and models as maps of strings, and back: nothing is lost on the way.

    Encoding raises `UnsupportedError` for what has no text; decoding `SchemaError` for a map that
    is damaged.
    """

    def encode_table(self, table: ResolvedTable) -> dict[str, str]:
        """The map of a table, view or materialized table."""

    def decode_table(self, kind: TableKind, properties: Mapping[str, str]) -> CatalogBaseTable:
        """The unresolved object of a map."""

    def encode_model(self, model: ResolvedCatalogModel) -> dict[str, str]:
        """The map of a model."""

    def decode_model(self, properties: Mapping[str, str]) -> CatalogModel:
        """The unresolved model of a map."""


def write(document: object) -> str:
    """The text of a document, always the same for the same content.

    >>> write({"b": 1, "a": None})
    '{"b":1,"a":null}'
    """
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read(text: str) -> dict[str, Any]:
    """The document of a text.

    Raises:
        ExternalError: with code `corrupt-entry` for a text that nobody here has written.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise _damaged() from None
    if not isinstance(document, dict):
        raise _damaged()
    return document


def texts(document: Mapping[str, Any], key: str) -> dict[str, str]:
    """The map of strings under a key.

    Raises:
        ExternalError: with code `corrupt-entry`.
    """
    found = document.get(key)
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise _damaged()
    return found


def write_texts(properties: Mapping[str, str]) -> str:
    """The document of a map of strings."""
    return write({"properties": dict(properties)})


def read_texts(text: str) -> dict[str, str]:
    """The map of strings of a document.

    Raises:
        ExternalError: with code `corrupt-entry`.
    """
    return texts(read(text), "properties")


def optional(document: Mapping[str, Any], key: str) -> str | None:
    """The string under a key, if there is one.

    Raises:
        ExternalError: with code `corrupt-entry`.
    """
    found = document.get(key)
    if found is not None and not isinstance(found, str):
        raise _damaged()
    return found


def _damaged() -> ExternalError:
    return ExternalError("what the store holds here is damaged", code="corrupt-entry")


# --- kinds ---------------------------------------------------------------------------------------


def write_database(database: CatalogDatabase) -> str:
    """The document of a database."""
    return write({"properties": database.get_properties(), "comment": database.comment})


def read_database(text: str) -> CatalogDatabase:
    """The database of a document."""
    document = read(text)
    return CatalogDatabase(texts(document, "properties"), optional(document, "comment"))


def write_partition(partition: CatalogPartition) -> str:
    """The document of a partition."""
    return write({"properties": partition.get_properties(), "comment": partition.comment})


def read_partition(text: str) -> CatalogPartition:
    """The partition of a document."""
    document = read(text)
    return CatalogPartition(texts(document, "properties"), optional(document, "comment"))


def write_spec(spec: CatalogPartitionSpec) -> str:
    """The document of a specification, in its own order."""
    return write(spec.get_partition_spec())


def key_of_spec(spec: CatalogPartitionSpec) -> str:
    """One text for all specifications that are equal.

    >>> key_of_spec(CatalogPartitionSpec({"b": "x", "a": "y"}))
    '{"a":"y","b":"x"}'
    """
    return write(dict(sorted(spec.get_partition_spec().items())))


def read_spec(text: str) -> CatalogPartitionSpec:
    """The specification of a document."""
    return CatalogPartitionSpec(texts({"spec": read(text)}, "spec"))


def write_function(function: CatalogFunction) -> str:
    """The document of a function.

    Raises:
        SchemaError: with code `not-storable` for a function that would read back as another.
    """
    text = write(
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
    """The function of a document."""
    document = read(text)
    try:
        return CatalogFunction(
            _string(document["class"]),
            FunctionLanguage(document["language"]),
            tuple(ResourceUri(_string(one), _string(uri)) for one, uri in document["resources"]),
            texts(document, "options"),
        )
    except (KeyError, TypeError, ValueError):
        raise _damaged() from None


def write_type(kept: CatalogType) -> str:
    """The document of a user-defined type.

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
    text = write(document)
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
    """The user-defined type of a document."""
    document = read(text)
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
        raise _damaged() from None
    return CatalogType(definition, optional(document, "description"))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _damaged()
    return value
