"""Environments whose catalog has tables with directories of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalogs import SqlCatalog


@pytest.fixture(params=["memory", "sqlite"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> TableEnvironment:
    """An environment with a catalog in memory, or in SQLite."""
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    if request.param == "sqlite":
        url, rows = f"sqlite:///{tmp_path}/shop.db", f"{tmp_path}/rows"
        result.register_catalog("shop", SqlCatalog("shop", url, warehouse=rows))
        result.use_catalog("shop")
    return result
