"""A REST catalog of Iceberg fulfils the contract, on the server of Iceberg's own tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pyiceberg.exceptions import NoSuchTableError, RESTError

from fuzz import iceberg_server
from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import CatalogBaseTable, CatalogDatabase
from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.testing import CatalogContract

#: The property that the server adds to a new table.
ADDED = "write.parquet.compression-codec"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if (reason := iceberg_server.why_not()) is not None:
        pytest.skip(reason)
    with iceberg_server.server() as started:
        yield started


def clear(catalog: IcebergCatalog) -> None:
    """Drop all that the catalog has."""
    client = catalog.iceberg.catalog
    for namespace in client.list_namespaces():
        for view in client.list_views(namespace):
            client.drop_view(view)
        for table in client.list_tables(namespace):
            client.purge_table(table)
        client.drop_namespace(namespace)


class Lake(IcebergCatalog):
    """A catalog whose server adds nothing to new tables and databases."""

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        super().create_table(table_path, table, ignore_if_exists)
        with suppress(NoSuchTableError, RESTError):
            created = self.iceberg.catalog.load_table(
                (table_path.database_name, table_path.object_name)
            )
            if ADDED not in table.options and ADDED in created.properties:
                with created.transaction() as transaction:
                    transaction.remove_properties(ADDED)

    def get_database(self, name: str) -> CatalogDatabase:
        database = super().get_database(name)
        kept = {key: item for key, item in database.get_properties().items() if key != "location"}
        return CatalogDatabase(kept, database.comment)


@pytest.mark.slow
class TestRestCatalog(CatalogContract):
    durable = True
    compared_kinds = ("table", "view")
    _url: str
    _directory: Path | None = None

    @pytest.fixture(autouse=True)
    def _server(self, url: str) -> None:
        self._url = url

    def supports_name(self, name: str) -> bool:
        return "." not in name and name == name.strip()

    def make_catalog(self, directory: Path) -> Catalog:
        options = {"catalog-type": "rest", "uri": self._url}
        if self._directory != directory:  # a test with a directory of its own
            self._directory = directory
            cleared = IcebergCatalog("lake", options)
            cleared.open()
            clear(cleared)
            cleared.close()
        return Lake("lake", options)
