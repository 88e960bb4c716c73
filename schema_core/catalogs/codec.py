"""Flink's property maps for catalogs that keep texts, and the catalogs that are made with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never, get_args

from schema_core.arguments import require_instance
from schema_core.catalog.materialized import ResolvedCatalogMaterializedTable
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogModel,
    ResolvedCatalogModel,
    ResolvedCatalogTable,
    ResolvedCatalogView,
    TableKind,
)
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.errors import SchemaError
from schema_core.formats.properties.keys import Properties, malformed_key
from schema_core.formats.properties.property_map import (
    decode_materialized_table,
    decode_model,
    decode_table,
    decode_view,
    encode_materialized_table,
    encode_model,
    encode_table,
    encode_view,
)

#: The queries of a view stand under the keys that materialized tables have for theirs.
ORIGINAL, EXPANDED = "original-query", "expanded-query"


@dataclass(frozen=True, slots=True)
class PropertyMaps:
    """Tables and models as Flink's maps, with keys of our own for what these would lose.

    >>> from schema_core.testing.catalog_samples import VIEW, understood
    >>> kept = PropertyMaps().encode_table(understood(VIEW))
    >>> kept["schema.0.data-type"], kept["expanded-query"][:6]
    ('BIGINT NOT NULL', 'SELECT')
    """

    def encode_table(self, table: ResolvedTable) -> Properties:
        require_instance(table, get_args(ResolvedTable), "table")
        match table:
            case ResolvedCatalogTable():
                return encode_table(table, "carry")
            case ResolvedCatalogView(original_query=original, expanded_query=expanded):
                queries = {ORIGINAL: original, EXPANDED: expanded}
                return encode_view(table, "carry") | queries
            case ResolvedCatalogMaterializedTable():
                return encode_materialized_table(table, "carry")
            case _:
                assert_never(table)

    def decode_table(self, kind: TableKind, properties: Mapping[str, str]) -> CatalogBaseTable:
        require_instance(kind, TableKind, "kind")
        match kind:
            case TableKind.TABLE:
                return decode_table(properties)
            case TableKind.VIEW:
                return _decode_view(properties)
            case TableKind.MATERIALIZED_TABLE:
                return decode_materialized_table(properties)
            case _:
                assert_never(kind)

    def encode_model(self, model: ResolvedCatalogModel) -> Properties:
        return encode_model(model, "carry")

    def decode_model(self, properties: Mapping[str, str]) -> CatalogModel:
        return decode_model(properties)


def _decode_view(properties: Mapping[str, str]) -> CatalogBaseTable:
    require_instance(properties, Mapping, "properties")
    for key in (ORIGINAL, EXPANDED):
        if key not in properties:
            raise malformed_key(key, f"the key {key!r} is missing", "missing-key")
    return decode_view(properties, properties[ORIGINAL], properties[EXPANDED])


def make_sql_catalog(name: str, options: Mapping[str, str]) -> SqlCatalog:
    """The catalog that ``CREATE CATALOG`` makes.

    Raises:
        SchemaError: with code `invalid-catalog-option` without a url.
    """
    if "url" not in options:
        raise SchemaError(
            "a catalog of the type 'sql' needs the option 'url'",
            code="invalid-catalog-option",
            hint="such as sqlite:///catalog.db",
        )
    return SqlCatalog(
        name,
        options["url"],
        PropertyMaps(),
        default_database=options.get("default-database", "default"),
        username=options.get("username"),
        password=options.get("password"),
    )


#: What ``CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///shop.db')`` finds.
SQL = CatalogFactory(
    frozenset({"url", "username", "password", "default-database"}),
    make_sql_catalog,
    requires=("sqlalchemy",),
)
