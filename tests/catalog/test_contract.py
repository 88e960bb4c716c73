"""The catalogs of the library fulfil the contract for third-party catalogs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fuzz.postgres_server import Server
from schema_core.catalog.api import Catalog
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli.commands.new import Kit, package_files, package_name
from tests.catalog.many_writers import ManyWriters
from tests.catalog.postgresql import postgres_catalog
from tests.test_docs import ROOT, blocks


class TestInMemoryCatalog(ManyWriters):
    def make_catalog(self, directory: Path) -> Catalog:
        return InMemoryCatalog("mine")


class TestSqlCatalog(ManyWriters):
    durable = True
    killable = True

    def make_catalog(self, directory: Path) -> Catalog:
        return SqlCatalog("mine", f"sqlite:///{directory}/catalog.db")


def page(path: str) -> dict[str, Any]:
    """Return what a page defines, without its examples."""
    names: dict[str, Any] = {"__name__": "__example__"}
    for _, code in blocks(ROOT / "docs" / path):
        if ">>>" not in code:
            exec(code, names)
    return names


class TestTutorial(ManyWriters, page("tutorials/catalog.md")["TestJsonCatalog"]):  # type: ignore[misc]
    """The catalog of the tutorial."""


@pytest.mark.slow
class TestKeyValueCatalog(ManyWriters, page("how-to/key-value-catalog.md")["TestKeyValueCatalog"]):  # type: ignore[misc]
    """The catalog of the page, whose example `tests/test_docs.py` runs."""


def kit() -> dict[str, Any]:
    """Return what the modules of a new package with a catalog define."""
    files = package_files(Kit.CATALOG, package_name(Kit.CATALOG, "shop"))
    module = ModuleType("shop.catalog")
    exec(files["src/shop/catalog.py"], vars(module))
    names: dict[str, Any] = {"__name__": "test_catalog"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "shop", ModuleType("shop"))
        patch.setitem(sys.modules, "shop.catalog", module)
        exec(files["tests/test_catalog.py"], names)
    return names


class TestKit(ManyWriters, kit()["TestFileCatalog"]):  # type: ignore[misc]
    """The catalog of `schema-core new catalog`."""


class TestSqlCatalogOnPostgreSQL(ManyWriters):
    """Each directory is a schema of one database."""

    durable = True
    killable = True
    server: Server

    @pytest.fixture(autouse=True)
    def _server(self, postgres: Server) -> None:
        self.server = postgres

    def make_catalog(self, directory: Path) -> Catalog:
        return postgres_catalog(self.server, directory)
