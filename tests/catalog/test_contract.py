"""The catalogs of the library fulfil the contract for third-party catalogs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fuzz.postgres_server import Server
from schema_core.catalog.api import Catalog
from schema_core.catalog.memory import InMemoryCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.testing import CatalogContract
from tests.catalog.postgresql import postgres_catalog
from tests.test_docs import ROOT, blocks


class TestInMemoryCatalog(CatalogContract):
    def make_catalog(self, directory: Path) -> Catalog:
        return InMemoryCatalog("mine")


class TestSqlCatalog(CatalogContract):
    durable = True
    killable = True

    def make_catalog(self, directory: Path) -> Catalog:
        return SqlCatalog("mine", f"sqlite:///{directory}/catalog.db")


def tutorial() -> dict[str, Any]:
    """Return what the tutorial defines, without its examples."""
    names: dict[str, Any] = {"__name__": "__example__"}
    for _, code in blocks(ROOT / "docs" / "tutorials" / "catalog.md"):
        if ">>>" not in code:
            exec(code, names)
    return names


class TestTutorial(tutorial()["TestJsonCatalog"]):  # type: ignore[misc]
    """The catalog of the tutorial."""


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
