"""Temporary objects: they live as long as the session and may lie at any path, existing or not.

FLIP-64: a temporary object hides the permanent one of the same path; the catalog and the database
that its path names need not exist.
"""

from __future__ import annotations

from typing import TypeAlias

from schema_core.catalog.materialized import ResolvedCatalogMaterializedTable
from schema_core.catalog.object_store import ObjectStore
from schema_core.catalog.objects import (
    ResolvedCatalogModel,
    ResolvedCatalogTable,
    ResolvedCatalogView,
    TableKind,
)
from schema_core.catalog.types import CatalogType
from schema_core.paths import ObjectIdentifier

#: Anything with rows whose types are known.
ResolvedTable: TypeAlias = (
    ResolvedCatalogTable | ResolvedCatalogView | ResolvedCatalogMaterializedTable
)


class TemporaryObjects:
    """The temporary tables, views, models and types of a session, by full path."""

    def __init__(self) -> None:
        self.tables: ObjectStore[ObjectIdentifier, ResolvedTable] = ObjectStore("temporary table")
        self.models: ObjectStore[ObjectIdentifier, ResolvedCatalogModel] = ObjectStore(
            "temporary model"
        )
        self.types: ObjectStore[ObjectIdentifier, CatalogType] = ObjectStore("temporary type")

    def kind(self, identifier: ObjectIdentifier) -> TableKind | None:
        """What lies at this path, or None."""
        table = self.tables.find(identifier)
        return table.get_table_kind() if table is not None else None

    def table_names(self, catalog: str, database: str, *kinds: TableKind) -> list[str]:
        """The names of those of these kinds in a database, sorted; of all without a kind."""
        return sorted(
            path.object_name
            for path in self.tables
            if (path.catalog_name, path.database_name) == (catalog, database)
            and self.kind(path) in (kinds or TableKind)
        )

    def model_names(self, catalog: str, database: str) -> list[str]:
        """The names of the models in a database, sorted."""
        return sorted(
            path.object_name
            for path in self.models
            if (path.catalog_name, path.database_name) == (catalog, database)
        )

    def type_names(self, catalog: str, database: str) -> list[str]:
        """The names of the types in a database, sorted."""
        return sorted(
            path.object_name
            for path in self.types
            if (path.catalog_name, path.database_name) == (catalog, database)
        )
