"""Places of a catalog for programs that kill processes: SQLite, PostgreSQL or a Hive metastore."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fuzz import postgres_server
from schema_core.catalog import Catalog
from schema_core.catalogs import SqlCatalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The names of the stores.
STORES = ("sqlite", "postgresql", "hive")


@dataclass(frozen=True)
class CatalogPlace:
    """Where a catalog of a folder stores its entries, and its managed tables below the folder."""

    store: str
    folder: str
    url: str = ""
    username: str = ""
    password: str = ""

    def catalog(self, session: SparkSession) -> Catalog:
        """Return the catalog, which is not open."""
        warehouse = f"{self.folder}/warehouse"
        if self.store == "hive":
            from schema_core.catalog.managed import ManagedStorage
            from schema_core.catalogs.hive.catalog import HiveCatalog, connection

            storage = ManagedStorage(warehouse, "parquet")
            return HiveCatalog("c", lambda: connection(session), storage=storage)
        url = self.url or f"sqlite:///{self.folder}/c.db"
        login = (self.username or None, self.password or None)
        return SqlCatalog("c", url, username=login[0], password=login[1], warehouse=warehouse)


class CatalogPlaces:
    """New, empty places of one store."""

    def __init__(self, store: str, server: postgres_server.Server | None = None) -> None:
        self._store, self._server = store, server
        self._number = 0

    def create(self, folder: str) -> CatalogPlace:
        """Return a place that no other catalog has; that of a metastore is shared."""
        if self._server is None:
            return CatalogPlace(self._store, folder)
        import psycopg

        self._number += 1
        server, name = self._server, f"k{self._number}"
        driver, _, address = server.url.partition("://")
        place = address.partition("/")[0]
        login = f"postgresql://{server.username}:{server.password}@{place}/postgres"
        with psycopg.connect(login, autocommit=True) as opened:
            opened.execute(f"CREATE DATABASE {name}")
        url = f"{driver}://{place}/{name}"
        return CatalogPlace(self._store, folder, url, server.username, server.password)


@contextmanager
def catalog_places(store: str) -> Iterator[CatalogPlaces]:
    """Return a context with places of a store; PostgreSQL runs within it."""
    if store != "postgresql":
        yield CatalogPlaces(store)
        return
    with postgres_server.server() as server:
        yield CatalogPlaces(store, server)
