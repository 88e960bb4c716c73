"""The catalog of Iceberg fulfils the contract, over a file of SQLite."""

from __future__ import annotations

from pathlib import Path

from schema_core.catalog.api import Catalog
from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.testing import CatalogContract


class TestIcebergCatalog(CatalogContract):
    durable = True
    compared_kinds = ("table", "view")

    def supports_name(self, name: str) -> bool:
        return "." not in name and name == name.strip()

    def make_catalog(self, directory: Path) -> Catalog:
        return IcebergCatalog("lake", {"warehouse": str(directory)})
