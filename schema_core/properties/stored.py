"""Read stored property maps of any version of Flink, and upgrade them to today's keys.

`read_map` determines the kind of object and the versions that may have written it from the keys;
`upgrade` encodes it with today's keys, and is idempotent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import NoneType
from typing import Any, TypeAlias

from schema_core.base.arguments import validate_arguments
from schema_core.base.lazy import dataclass
from schema_core.catalog import objects
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
    resolve_view,
)
from schema_core.errors import Diagnostic, SchemaCoreError
from schema_core.properties.key_syntax import Properties, PropertyReader, require_strings
from schema_core.properties.legacy import (
    GENERIC_PREFIX,
    Versions,
    has_hive_prefix,
    modernize,
    modernize_keys,
    unavailable_in,
    versions_of,
)
from schema_core.properties.property_map import (
    EXPANDED,
    ORIGINAL,
    OnLoss,
    encode_materialized_table,
    encode_model,
    encode_table,
    encode_view,
    read_materialized_table,
    read_model,
    read_table,
    read_view,
)
from schema_core.properties.sidecar import check_version
from schema_core.properties.spark_table_properties import has_spark_schema, read_spark_table
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ComputedColumn, ResolvedSchema
from schema_core.types import parse_type

StoredObject: TypeAlias = (
    objects.CatalogTable
    | objects.CatalogView
    | objects.CatalogMaterializedTable
    | objects.CatalogModel
)
ResolvedStoredObject: TypeAlias = (
    objects.ResolvedCatalogTable
    | objects.ResolvedCatalogView
    | objects.ResolvedCatalogMaterializedTable
    | objects.ResolvedCatalogModel
)


class MapKind(Enum):
    """The kind of object that a map encodes.

    The map of a view is that of a table unless it includes the queries.
    """

    TABLE = "table"
    VIEW = "view"
    MATERIALIZED_TABLE = "materialized table"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class MapFormat:
    """The functions that decode, resolve and encode a kind of map."""

    read: Callable[[PropertyReader], StoredObject]
    resolve: Callable[[Any, SchemaResolver], ResolvedStoredObject]
    encode: Callable[[Any, OnLoss], Properties]


def read_view_with_queries(reader: PropertyReader) -> objects.CatalogView:
    """Decode a view with its queries."""
    return read_view(reader, reader.require(ORIGINAL), reader.require(EXPANDED))


def resolve_stored_view(
    view: objects.CatalogView, resolver: SchemaResolver
) -> objects.ResolvedCatalogView:
    """Resolve a view with its stored types: the objects of its query are not available."""
    return resolve_view(view, resolver, lambda _: ())


def encode_view_with_queries(view: objects.ResolvedCatalogView, on_loss: OnLoss) -> Properties:
    """Encode a view with its queries, under the keys of materialized tables."""
    queries = {ORIGINAL: view.original_query, EXPANDED: view.expanded_query}
    return encode_view(view, on_loss) | queries


MAP_FORMATS: dict[MapKind, MapFormat] = {
    MapKind.TABLE: MapFormat(read_table, resolve_table, encode_table),
    MapKind.VIEW: MapFormat(read_view_with_queries, resolve_stored_view, encode_view_with_queries),
    MapKind.MATERIALIZED_TABLE: MapFormat(
        read_materialized_table, resolve_materialized_table, encode_materialized_table
    ),
    MapKind.MODEL: MapFormat(read_model, resolve_model, encode_model),
}

#: How often expressions are printed and parsed until their form is stable.
MAX_ITERATIONS = 4

#: Keys that only materialized tables have.
REFRESH = frozenset({
    "freshness-interval", "freshness-unit", "logical-refresh-mode", "refresh-mode",
    "refresh-status",
})  # fmt: skip


def kind_of(properties: Mapping[str, str]) -> MapKind:
    """Determine the kind of a map from its keys; a missing key does not change the result.

    >>> kind_of({"input-schema.0.name": "f", "input-schema.0.data-type": "INT"})
    <MapKind.MODEL: 'model'>
    """
    refresh, queries = REFRESH & properties.keys(), {ORIGINAL, EXPANDED} & properties.keys()
    if len(refresh) > 1 or (refresh and queries):
        return MapKind.MATERIALIZED_TABLE
    if queries:
        return MapKind.VIEW
    if any(key.startswith(("input-schema.", "output-schema.")) for key in properties):
        return MapKind.MODEL
    return MapKind.TABLE


@dataclass(frozen=True, slots=True)
class StoredMap:
    """A stored object: its kind, the versions that may have written it, and notes.

    `properties` is the map with today's keys. `layers` are the encodings that were removed: "hive",
    "parts", "spark".
    """

    object: StoredObject
    kind: MapKind
    properties: Mapping[str, str]
    layers: tuple[str, ...]
    versions: Versions
    notes: tuple[Diagnostic, ...]


@validate_arguments(kind=(MapKind, NoneType))
def read_map(stored: Mapping[str, str], kind: MapKind | None = None) -> StoredMap:
    r"""Decode a map written to any store by any Flink since 1.9, by Spark, or by this library.

    Without `kind` it is determined from the keys; a model without columns then appears as a table.

    Raises:
        SchemaError: with code `feature-not-supported` for a table whose columns only Hive stores;
            `malformed-property` and those of `parts.malformed_parts` for a malformed
            map; `invalid-type` for a malformed legacy type.

    >>> stored = read_map({"schema.0.name": "a", "schema.0.type": "INT"})
    >>> print(stored.versions, stored.object.schema.columns[0].name)
    Flink 1.9 a
    """
    require_strings(stored)
    if has_spark_schema(stored) and not has_hive_prefix(stored):
        table, notes = read_spark_table(stored)
        return StoredMap(table, MapKind.TABLE, stored, ("spark",), versions_of(()), notes)
    modern = modernize(stored)
    reader = PropertyReader(modern.properties)
    check_version(reader)
    kind = kind or kind_of(modern.properties)
    decoded = MAP_FORMATS[kind].read(reader)
    notes = (*modern.notes, *unavailable_in(modern.versions), *reader.ignored())
    return StoredMap(decoded, kind, modern.properties, modern.layers, modern.versions, notes)


# --- upgrade --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UpgradedMap:
    """A map with today's keys, the versions that may have written the original, and notes."""

    properties: Properties
    versions: Versions
    notes: tuple[Diagnostic, ...]


@validate_arguments(resolver=(SchemaResolver, NoneType), kind=(MapKind, NoneType))
def upgrade(
    stored: Mapping[str, str],
    resolver: SchemaResolver | None = None,
    on_loss: OnLoss = "carry",
    kind: MapKind | None = None,
) -> UpgradedMap:
    """Encode a stored map with today's keys.

    The types of computed columns and watermarks are inferred again; a note reports where they
    differ from the stored ones.

    Raises:
        SchemaError: as `read_map`, and for a schema that `resolver` refuses.
        UnsupportedError: as `property_map.encode_table`.

    >>> done = upgrade({"schema.0.name": "d", "schema.0.type": "DECIMAL", "connector.type": "x"})
    >>> done.properties["schema.0.data-type"], [note.code for note in done.notes][:1]
    ('DECIMAL(38, 18)', ['value-assumed'])
    """
    decoded, resolver = read_map(stored, kind), resolver or SchemaResolver()
    shape = MAP_FORMATS[decoded.kind]
    resolved = shape.resolve(decoded.object, resolver)
    stale = tuple(stale_types(decoded.properties, resolved))
    properties = shape.encode(resolved, on_loss)
    expressions = (key for key in properties if key.endswith(".expr"))
    is_reprinted = any(properties[key] != decoded.properties.get(key) for key in expressions)
    if is_reprinted or any(key.startswith(GENERIC_PREFIX) for key in properties):
        properties = until_stable(properties, shape, resolver, on_loss)
    return UpgradedMap(properties, decoded.versions, (*decoded.notes, *stale))


def until_stable(
    properties: Properties, shape: MapFormat, resolver: SchemaResolver, on_loss: OnLoss
) -> Properties:
    r"""Decode and encode a map until it no longer changes.

    Flink prints ``'ä'`` as ``u&'\00e4'``, and that as ``_UTF16'ä'``, which is stable.
    """
    for _ in range(MAX_ITERATIONS):
        modern = modernize_keys(properties).properties
        resolved = shape.resolve(shape.read(PropertyReader(modern)), resolver)
        again = shape.encode(resolved, on_loss)
        if again == properties:
            break
        properties = again
    return properties


def stale_types(
    properties: Mapping[str, str], resolved: ResolvedStoredObject
) -> Iterator[Diagnostic]:
    """Yield stored types of computed columns and watermarks that are different today."""
    for prefix, schema in schemas_of(resolved):
        for number, column in enumerate(schema.columns):
            if type(column) is ComputedColumn:  # faster than isinstance, for wide schemas
                now = column.data_type.as_serializable_string()
                yield from _type_diagnostic(properties, f"{prefix}.{number}.data-type", now)
        for number, watermark in enumerate(schema.watermark_specs):
            key = f"{prefix}.watermark.{number}.strategy.data-type"
            now = watermark.watermark_expression.type.as_serializable_string()
            yield from _type_diagnostic(properties, key, now)


def schemas_of(resolved: ResolvedStoredObject) -> tuple[tuple[str, ResolvedSchema], ...]:
    """The schemas of an object with the prefixes of their keys."""
    if isinstance(resolved, objects.ResolvedCatalogModel):
        return (
            ("input-schema", resolved.resolved_input_schema),
            ("output-schema", resolved.resolved_output_schema),
        )
    return (("schema", resolved.resolved_schema),)


def _type_diagnostic(properties: Mapping[str, str], key: str, now: str) -> Iterator[Diagnostic]:
    stored = properties.get(key)
    if stored is None or stored == now:
        return
    try:
        same = parse_type(stored).as_serializable_string() == now
    except SchemaCoreError:
        same = False
    problem = f"the type of the expression is {now}, but {stored[:60]} is stored"
    if same:
        problem = f"the canonical form of the type {stored[:60]} is {now}"
    yield Diagnostic("noncanonical" if same else "stale-type", problem, path=(key,))
