"""Connections: named options of external systems.

Flink 2.3 parses the statements about CONNECTION and executes none. Catalogs with
`SupportsConnections` store permanent connections, the session temporary ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.catalog.objects import CatalogConnection
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.stores.object_store import exists, missing
from schema_core.catalog.temporary import Admission, TemporaryStore, admit_all
from schema_core.errors import AlreadyExistsError, NotFoundError, UnsupportedError


@runtime_checkable
class SupportsConnections(Protocol):
    """A catalog that stores connections by path."""

    connections: TemporaryStore[ObjectPath, CatalogConnection]


def connections_of(catalog: object) -> TemporaryStore[ObjectPath, CatalogConnection] | None:
    """Return the connections of a catalog, None if it stores none."""
    return catalog.connections if isinstance(catalog, SupportsConnections) else None


class ConnectionManager:
    """The connections of a session: temporary ones hide permanent ones of the same path.

    System connections have a name without a path, and hide all others of that name.
    """

    def __init__(self, registry: CatalogRegistry, admit: Admission = admit_all) -> None:
        self._registry = registry
        self.temporary: TemporaryStore[ObjectIdentifier, CatalogConnection] = TemporaryStore(
            "temporary connection", admit=admit
        )
        self.system: TemporaryStore[str, CatalogConnection] = TemporaryStore(
            "temporary system connection", admit=admit
        )

    def find(self, identifier: ObjectIdentifier) -> CatalogConnection | None:
        """Return the connection at a path, a temporary one first, or None."""
        if (temporary := self.temporary.find(identifier)) is not None:
            return temporary
        stored = connections_of(self._registry.find(identifier.catalog_name))
        return None if stored is None else stored.find(identifier.to_object_path())

    def get(self, identifier: ObjectIdentifier) -> CatalogConnection:
        """Return the connection at a path (`connection-not-found`)."""
        connection = self.find(identifier)
        if connection is None:
            raise self.missing(identifier)
        return connection

    def missing(self, identifier: ObjectIdentifier) -> NotFoundError:
        """Return the error for a missing connection, with similar names as its hint."""
        catalog = identifier.catalog_name
        paths = connections_of(self._registry.find(catalog)) or ()
        return missing(
            "connection", identifier.as_summary_string(), [f"{catalog}.{path}" for path in paths]
        )

    def names(self, catalog_name: str, database: str) -> list[str]:
        """Return the sorted names of the connections of a database and of the system."""
        place = (catalog_name, database)
        found = {
            path.object_name
            for path in self.temporary
            if (path.catalog_name, path.database_name) == place
        }
        catalog = self._registry.get(catalog_name)
        catalog.get_database(database)
        paths = connections_of(catalog) or ()
        found |= {path.object_name for path in paths if path.database_name == database}
        return sorted({*found, *self.system})

    # --- permanent connections ------------------------------------------------------------------

    def _store(self, identifier: ObjectIdentifier) -> TemporaryStore[ObjectPath, CatalogConnection]:
        """Return a catalog's connections; refuse a missing catalog or database.

        Errors: `catalog-not-found`, `database-not-found`, `unsupported-capability`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        catalog.get_database(identifier.database_name)
        stored = connections_of(catalog)
        if stored is None:
            raise UnsupportedError(
                f"the catalog {identifier.catalog_name!r} does not store connections",
                code="unsupported-capability",
                hint="create a temporary connection",
            )
        return stored

    def create(
        self,
        identifier: ObjectIdentifier,
        connection: CatalogConnection,
        ignore_if_exists: bool = False,
    ) -> None:
        """Store a permanent connection (`connection-exists`, unless `ignore_if_exists`)."""
        path = identifier.to_object_path()
        is_new = self._store(identifier).create(path, connection, ignore_if_exists=True)
        if not is_new and not ignore_if_exists:
            raise exists("connection", identifier.as_summary_string())

    def drop(self, identifier: ObjectIdentifier, ignore_if_not_exists: bool) -> bool:
        """Drop a permanent connection; return whether there was one.

        `connection-not-found`, unless `ignore_if_not_exists`.
        """
        path = identifier.to_object_path()
        is_found = self._store(identifier).drop(path, ignore_if_not_exists=True)
        if not is_found and not ignore_if_not_exists:
            raise self.missing(identifier)
        return is_found

    def alter(
        self,
        identifier: ObjectIdentifier,
        change: Callable[[CatalogConnection], CatalogConnection],
    ) -> bool:
        """Change a permanent connection; return False if there is none."""
        return self._store(identifier).alter(identifier.to_object_path(), change)

    def rename(self, identifier: ObjectIdentifier, name: str) -> bool:
        """Rename a permanent connection in its database (`connection-exists`).

        Return False if there is none.
        """
        path = identifier.to_object_path()
        new_path = ObjectPath(path.database_name, name)
        try:
            return self._store(identifier).rename(path, new_path)
        except AlreadyExistsError:
            raise exists("connection", f"{identifier.catalog_name}.{new_path}") from None
