"""The catalogs of the library fulfil the contract for third-party catalogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.postgres_server import Server
from schema_core.catalog.api import Catalog
from schema_core.catalog.memory import InMemoryCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.testing.catalog_contract import CatalogContract
from tests.catalog.postgresql import postgres_catalog


class TestInMemoryCatalog(CatalogContract):
    def make_catalog(self, directory: Path) -> Catalog:
        return InMemoryCatalog("mine")


class TestSqlCatalog(CatalogContract):
    durable = True
    killable = True

    def make_catalog(self, directory: Path) -> Catalog:
        return SqlCatalog("mine", f"sqlite:///{directory}/catalog.db")


class TestSqlCatalogOnPostgreSQL(CatalogContract):
    """Each directory is a schema of one database."""

    durable = True
    killable = True
    server: Server

    @pytest.fixture(autouse=True)
    def _server(self, postgres: Server) -> None:
        self.server = postgres

    def make_catalog(self, directory: Path) -> Catalog:
        return postgres_catalog(self.server, directory)
