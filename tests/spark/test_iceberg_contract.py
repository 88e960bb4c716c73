"""The connector `iceberg` fulfils the contract, in embedded catalogs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogTable
from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.connectors import Connector
from schema_core.connectors.iceberg.connector import IcebergConnector
from schema_core.schema.columns import PhysicalColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import unresolve
from schema_core.testing import ConnectorContract

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.catalog.objects import ResolvedCatalogTable

#: Numbers of tables.
NUMBERS = count()


@pytest.mark.slow
class TestIceberg(ConnectorContract):
    commit_kills = 1

    @pytest.fixture(scope="class")
    @classmethod
    def spark_session(cls, root: SparkSession) -> SparkSession:
        return root

    def make_connector(self) -> Connector:
        return IcebergConnector()

    def options(self, directory: Path) -> Mapping[str, str]:
        return {
            "warehouse": str(directory),
            "catalog-table": f"t{next(NUMBERS)}",
        }

    def create_physical_table(self, table: ResolvedCatalogTable) -> None:
        options = dict(table.options)
        path = ObjectPath("default", options["catalog-table"])
        catalog = IcebergCatalog("iceberg", {"warehouse": options["warehouse"]})
        catalog.open()
        columns = [
            column for column in table.resolved_schema.columns if isinstance(column, PhysicalColumn)
        ]
        stored = CatalogTable(unresolve(ResolvedSchema(columns)), table.partition_keys)
        catalog.create_table(path, stored, ignore_if_exists=True)
        catalog.close()
