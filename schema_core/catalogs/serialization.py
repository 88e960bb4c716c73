"""Serialization of catalog objects: one JSON document for each, parsed strictly.

Tables and models are Flink's property maps, with keys of ours for what they lose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from schema_core.base.json_codec import (
    STRING,
    Codec,
    Codecs,
    JsonError,
    at_member,
    enumeration,
    mapping,
    optional,
    parse_json,
    record,
    require_object,
    sequence,
    tuple_of,
    write_json,
)
from schema_core.catalog import objects
from schema_core.catalog.migration_history import (
    ADDED_FIELDS,
    CatalogMigration,
    MigrationProgress,
    RecordedObject,
    WrittenRows,
)
from schema_core.catalog.statistics import StoredStatistics
from schema_core.catalog.stores.object_store import StoredKind
from schema_core.catalog.stores.storable import require_read_back
from schema_core.errors import ExternalError
from schema_core.properties.property_map import decode_model, encode_model, encode_object
from schema_core.types import DataType, DistinctType, StructuredType, parse_type
from schema_core.types.unresolved import look_up


def serialize(kind: StoredKind, value: Any) -> str:
    """Return the document of a resolved object.

    Errors: `UnsupportedError` for an object without a text, such as one of an anonymous class;
    `not-representable` for one that would read back as another.
    """
    text = write_json(DOCUMENTS[kind].encode(value))
    if kind in (StoredKind.FUNCTION, StoredKind.TYPE):
        require_read_back(value, lambda: deserialize(kind, text))
    return text


def deserialize(kind: StoredKind, document: str) -> Any:
    """Return the object of a document that is not a table's (`corrupt-entry`).

    A malformed property map is a `SchemaError`.
    """
    return _decode(DOCUMENTS[kind], document)


def _decode(codec: Codec, document: str) -> Any:
    try:
        return codec.decode(parse_json(document))
    except JsonError as error:
        problem = f"the stored document is malformed: {error}"
        raise ExternalError(problem, code="corrupt-entry") from None


def read_map(text: str) -> dict[str, str]:
    """Return the property map of a table's document (`corrupt-entry`)."""
    properties: dict[str, str] = _decode(PROPERTIES, text)
    return properties


# --- partition specifications --------------------------------------------------------------------


def write_spec(spec: objects.CatalogPartitionSpec) -> str:
    """Return the document of a specification, in the order of its keys."""
    return write_json(spec.get_partition_spec())


def key_of_spec(spec: objects.CatalogPartitionSpec) -> str:
    """Return a string that is equal for equal specifications.

    >>> key_of_spec(objects.CatalogPartitionSpec({"b": "x", "a": "y"}))
    '{"a":"y","b":"x"}'
    """
    return write_json(spec.get_partition_spec(), sort_keys=True)


def read_spec(text: str) -> objects.CatalogPartitionSpec:
    """Return the specification of a document (`corrupt-entry`)."""
    return objects.CatalogPartitionSpec(_decode(mapping(STRING), text))


# --- user-defined types --------------------------------------------------------------------------

#: The user-defined types in a definition: path, definition and description of each.
NAMED_TYPES: Final = sequence(tuple_of(sequence(STRING), STRING, optional(STRING)))


def _encode_type(stored: objects.CatalogType) -> dict[str, Any]:
    """Return a type with its user-defined types, to read it after they are altered or dropped."""
    named: dict[tuple[str, ...], Any] = {}
    _collect_named(stored.definition, named)
    document: dict[str, Any] = {
        "definition": stored.definition.as_serializable_string(),
        "description": stored.description,
    }
    return {**document, "types": NAMED_TYPES.encode(named.values())} if named else document


def _collect_named(type_: DataType, named: dict[tuple[str, ...], Any]) -> None:
    """Collect the named types within a type, each after those that it names itself."""
    for child in type_.children():
        _collect_named(child, named)
    if isinstance(type_, StructuredType | DistinctType) and type_.path:
        definition = objects.definition_of(type_).as_serializable_string()
        named.setdefault(type_.path, (type_.path, definition, type_.description))


def _decode_type(document: Any) -> objects.CatalogType:
    members = {"types": [], "description": None, **require_object(document)}
    require_object(members, ("definition", "description", "types"))
    named: dict[tuple[str, ...], DataType] = {}

    def resolve(definition: str) -> DataType:
        return look_up(parse_type(definition), lambda type_: named.get(type_.path, type_))

    with at_member("types"):
        for names, definition, description in NAMED_TYPES.decode(members["types"]):
            named[names] = objects.named_type(names, resolve(definition), description)
    with at_member("definition"):
        definition = resolve(STRING.decode(members["definition"]))
    return objects.CatalogType(definition, optional(STRING).decode(members["description"]))


# --- documents -----------------------------------------------------------------------------------

_RESOURCE: Final = tuple_of(STRING, STRING)
_CODECS: Final = Codecs(
    {
        "FunctionLanguage": enumeration(objects.FunctionLanguage, "value"),
        "ResourceUri": Codec(
            lambda resource: [resource.kind, resource.uri],
            lambda members: objects.ResourceUri(*_RESOURCE.decode(members)),
        ),
    }
)
_CODECS.update(
    {
        "RecordedObject": record(RecordedObject, _CODECS),
        "WrittenRows": record(WrittenRows, _CODECS),
        "MigrationProgress": record(MigrationProgress, _CODECS),
    }
)

PROPERTIES: Final = Codec(
    lambda properties: {"properties": dict(properties)},
    lambda document: mapping(STRING).decode(require_object(document, ["properties"])["properties"]),
)


def _with_properties(
    encode: Callable[[Any], Mapping[str, str]], decode: Callable[[Mapping[str, str]], Any]
) -> Codec:
    return Codec(
        lambda value: PROPERTIES.encode(encode(value)),
        lambda document: decode(PROPERTIES.decode(document)),
    )


DOCUMENTS: Final[Mapping[StoredKind, Codec]] = {
    StoredKind.DATABASE: record(objects.CatalogDatabase, _CODECS),
    StoredKind.PARTITION: record(objects.CatalogPartition, _CODECS),
    StoredKind.TABLE: _with_properties(encode_object, dict),
    StoredKind.MODEL: _with_properties(partial(encode_model, on_loss="carry"), decode_model),
    StoredKind.FUNCTION: record(
        objects.CatalogFunction,
        _CODECS,
        {
            "class_name": "class",
            "language": "language",
            "resource_uris": "resources",
            "options": "options",
        },
    ),
    StoredKind.TYPE: Codec(_encode_type, _decode_type),
    StoredKind.STATISTICS: Codec(StoredStatistics.to_document, StoredStatistics.of_document),
    StoredKind.MIGRATION: record(CatalogMigration, _CODECS, added=ADDED_FIELDS),
}
