"""The property map for `CatalogTable.to_properties`, which finds it through `base.plugins`."""

from __future__ import annotations

from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.properties.key_syntax import Properties
from schema_core.properties.property_map import encode_table
from schema_core.schema.resolve import SchemaResolver


def encode(table: CatalogTable) -> Properties:
    """The property map of a table; an unresolved one is resolved with built-in functions.

    Raises:
        SchemaError: as `resolve_table`.
        UnsupportedError: as `encode_table`, for what would not be restored.
    """
    return encode_table(resolve_table(table, SchemaResolver()))
