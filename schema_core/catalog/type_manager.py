"""User-defined types: kept by catalogs and sessions, and found by their names.

FLIP-164: a schema has access to catalogs for declaring a data type. Flink itself has no statement
and no method that keeps one; the rules here are those of tables: a temporary type hides the
permanent one of its path (FLIP-64), and a name is completed with the current catalog and database.
"""

from __future__ import annotations

from dataclasses import dataclass

from schema_core.catalog.api import sorted_names
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.temporary import TemporaryObjects
from schema_core.catalog.types import CatalogType
from schema_core.errors import NotFoundError, SchemaError
from schema_core.paths import ObjectIdentifier, UnresolvedPath
from schema_core.types import DataType, DataTypes, UnresolvedType


@dataclass(frozen=True, slots=True)
class TypeManager:
    """The user-defined types of a session."""

    registry: CatalogRegistry
    temporary: TemporaryObjects

    # --- looking up ----------------------------------------------------------------------------

    def find(self, identifier: ObjectIdentifier) -> DataType | None:
        """The type at this path: a temporary one, else a permanent one, else None."""
        kept = self.temporary.types.find(identifier) or self._permanent(identifier)
        return kept.named(identifier) if kept else None

    def _permanent(self, identifier: ObjectIdentifier) -> CatalogType | None:
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.type_exists(path):
            return None
        return catalog.get_type(path)

    def look_up(self, written: UnresolvedType) -> DataType:
        """What a name in a schema or a cast means; the name itself where nothing lies there."""
        identifier = self.registry.qualify(UnresolvedPath(written.path))
        return self.find(identifier) or written

    def list_types(self, catalog: str, database: str) -> list[str]:
        """The permanent types of a database, sorted."""
        return sorted_names(self.registry.get(catalog).list_types(database))

    # --- keeping -------------------------------------------------------------------------------

    def define(self, definition: object, description: str | None = None) -> CatalogType:
        """What to keep of a type, a type string or a Python class; names in it are looked up.

        Raises:
            SchemaError: for what stands for no type.
            UnsupportedError: with code `unknown-type` for a name that nobody knows.
        """
        return CatalogType(DataTypes.unresolved(definition).resolve(self.look_up), description)

    def create(
        self, identifier: ObjectIdentifier, kept: CatalogType, ignore_if_exists: bool
    ) -> None:
        """Keep a type in its catalog.

        Raises:
            AlreadyExistsError: with code `type-exists`.
            UnsupportedError: with code `unsupported-capability` for a catalog that keeps none.
        """
        catalog = self.registry.get(identifier.catalog_name)
        catalog.create_type(identifier.to_object_path(), kept, ignore_if_exists)

    def create_temporary(
        self, identifier: ObjectIdentifier, kept: CatalogType, ignore_if_exists: bool
    ) -> None:
        """Keep a type for this session, at any path.

        Raises:
            AlreadyExistsError: with code `temporary-type-exists`.
        """
        self.temporary.types.create(identifier, kept, ignore_if_exists)

    def drop(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a permanent type; tells whether there was one. What was declared with it stays.

        Raises:
            NotFoundError: with code `type-not-found`.
            SchemaError: with code `hidden-by-temporary` (FLIP-64), also with `if_exists`.
        """
        if identifier in self.temporary.types:
            raise SchemaError(
                f"a temporary type hides {identifier.as_summary_string()}",
                code="hidden-by-temporary",
                hint="drop the temporary type first",
            )
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.type_exists(path):
            if if_exists:
                return False
            raise NotFoundError(
                f"there is no type {identifier.as_summary_string()}", code="type-not-found"
            )
        catalog.drop_type(path, ignore_if_not_exists=if_exists)
        return True

    def drop_temporary(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a temporary type; tells whether there was one.

        Raises:
            NotFoundError: with code `temporary-type-not-found`.
        """
        return self.temporary.types.drop(identifier, ignore_if_not_exists=if_exists)
