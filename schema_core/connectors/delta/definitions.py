"""Definitions of tables as Delta stores them.

Columns, comments, NOT NULL and partitions are Delta's own. What Delta cannot hold (exact types,
keys, computed columns, watermarks) is Flink's property map in the metadata of a column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from schema_core.base.json_codec import STRING, JsonError, mapping, parse_json, write_json
from schema_core.base.lazy import dataclass
from schema_core.catalog import objects
from schema_core.connectors.delta.client import schema_fields
from schema_core.connectors.delta.options import require_properties
from schema_core.connectors.open_tables.definitions import (
    StoredColumn,
    is_derived,
    merge_schema,
    physical_fields,
    read_declared,
)
from schema_core.errors import UnsupportedError
from schema_core.mappings.delta.types import (
    PARTITION_TYPES,
    field_shape,
    from_delta_field,
    to_delta_field,
    to_delta_schema,
)
from schema_core.properties.key_syntax import malformed_key
from schema_core.properties.property_map import encode_table

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from schema_core.types import RowField

NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})
#: The prefix of the properties that have a meaning in Delta.
DELTA_PREFIX = "delta."
#: The key of Flink's property map, as JSON, in the metadata of the first column; empty for none.
#: It is not a property: deltalake does not remove them, and adds the feature `variantType`, which
#: other readers may lack, to a table with features when it sets one.
MAP = "flink.table"


@dataclass(frozen=True, slots=True)
class DeltaDefinition:
    """A table as Delta stores it.

    Attributes:
        schema: The schema, in the JSON of the log, with the property map.
        partitions: The partition columns.
        properties: The properties.
        comment: The comment.
    """

    schema: Mapping[str, Any]
    partitions: tuple[str, ...]
    properties: Mapping[str, str]
    comment: str | None


def encode_definition(
    table: objects.ResolvedCatalogTable, stored: Mapping[str, str] = NO_PROPERTIES
) -> DeltaDefinition:
    """Return a table as Delta stores it.

    Options that start with ``delta.``, and those that are `stored` as properties, are properties.
    Others are part of the property map.

    Raises:
        UnsupportedError: with code `not-representable` for types, names and partition columns that
            Delta does not have, or of `require_properties`.
        SchemaError: with code `invalid-option-value`.
    """
    columns = list(physical_fields(table.resolved_schema))
    schema = to_delta_schema(columns)
    types = {field["name"]: field["type"] for field in schema["fields"]}
    for name in table.partition_keys:
        if types[name] not in PARTITION_TYPES:
            raise UnsupportedError(
                f"tables of Delta are not partitioned by {name!r}, a column of the type "
                f"{types[name]}",
                code="not-representable",
                hint="partition by strings, integers, dates or timestamps",
            )
    if len(table.partition_keys) == len(columns):
        raise UnsupportedError(
            "a table of Delta has a column by which it is not partitioned",
            code="not-representable",
            hint="add a column, or omit one of PARTITIONED BY",
        )
    nearest = [from_delta_field(field) for field in schema["fields"]]
    properties, options = split_options(table.options, stored)
    require_properties(
        {key: value for key, value in properties.items() if stored.get(key) != value}
    )
    if options or not is_derived(table, nearest, ()):
        encoded = encode_table(table.copy(options), "carry")
        schema["fields"][0]["metadata"][MAP] = write_json(encoded, sort_keys=True)
    return DeltaDefinition(schema, tuple(table.partition_keys), properties, table.comment)


def split_options(
    options: Mapping[str, str], stored: Mapping[str, str] = NO_PROPERTIES
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the options that are properties of the table, and the others."""
    properties = {
        key: value
        for key, value in options.items()
        if key.startswith(DELTA_PREFIX) or key in stored
    }
    return properties, {key: value for key, value in options.items() if key not in properties}


def decode_table(table: DeltaTable) -> objects.CatalogTable:
    """Return a table of Delta; its properties are options.

    Raises:
        UnsupportedError: with code `type-not-supported`.
        SchemaCoreError: for malformed maps.
    """
    metadata, fields = table.metadata(), schema_fields(table)
    text = map_of(fields)[1]
    declared = read_declared(_parse_map(text)) if text else None

    def shape_of(column: RowField) -> object:
        return field_shape(to_delta_field(column))

    stored = [StoredColumn(from_delta_field(field), field_shape(field)) for field in fields]
    return objects.CatalogTable(
        merge_schema(declared, stored, (), shape_of, lambda names: False),
        tuple(metadata.partition_columns),
        comment=metadata.description or None,
        options={**metadata.configuration, **({} if declared is None else declared.options)},
        distribution=None if declared is None else declared.distribution,
        snapshot=None if declared is None else declared.snapshot,
    )


def map_of(fields: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the column with the property map, or the first one, and the map's text or nothing."""
    for field in fields:
        if isinstance(text := field["metadata"].get(MAP), str):
            return field["name"], text
    return (fields[0]["name"] if fields else ""), ""


def _parse_map(text: str) -> dict[str, str]:
    """Return the property map of a text (`malformed-property`)."""
    try:
        properties: dict[str, str] = mapping(STRING).decode(parse_json(text))
    except JsonError as error:
        raise malformed_key(MAP, f"the metadata is not a map of strings: {error}") from None
    return properties
