"""Property maps for the methods of `CatalogTable`, which finds them through `base.plugins`."""

from __future__ import annotations

from collections.abc import Mapping

from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.properties.keys import Properties
from schema_core.properties.property_map import decode_table, encode_table
from schema_core.schema.resolve import SchemaResolver


def encode(table: CatalogTable) -> Properties:
    """The property map of a table; an unresolved one is resolved with built-in functions.

    Raises:
        SchemaError: as `resolve_table`.
        UnsupportedError: as `encode_table`, for what would not be restored.
    """
    return encode_table(resolve_table(table, SchemaResolver()))


def decode(properties: Mapping[str, str]) -> CatalogTable:
    """The unresolved table of a property map; errors as `decode_table`."""
    return decode_table(properties)
