"""The connector `delta` fulfils the contract, in directories."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core.connectors import Connector
from schema_core.connectors.delta.client import TableAccess
from schema_core.connectors.delta.connector import DeltaConnector
from schema_core.connectors.delta.definitions import encode_definition
from schema_core.connectors.delta.writing import create_table
from schema_core.testing import ConnectorContract

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.catalog.objects import ResolvedCatalogTable

#: Numbers of tables.
NUMBERS = count()


@pytest.mark.slow
class TestDelta(ConnectorContract):
    commit_kills = 1
    #: Delta has no blanks in names.
    names = ("select", "a.b", "Größe", "x`y", "it's", "-1", "$a")

    @pytest.fixture(scope="class")
    @classmethod
    def spark_session(cls, root: SparkSession) -> SparkSession:
        return root

    def make_connector(self) -> Connector:
        return DeltaConnector()

    def options(self, directory: Path) -> Mapping[str, str]:
        return {"path": str(directory / f"t{next(NUMBERS)}")}

    def create_physical_table(self, table: ResolvedCatalogTable) -> None:
        create_table(TableAccess.of(table.options), encode_definition(table.copy({})))
