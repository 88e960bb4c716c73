"""The Hive catalog fulfils the contract, except for objects that Hive cannot store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core.catalog.api import Capability, Catalog
from schema_core.catalogs.hive.catalog import HiveCatalog, MetastoreConnection, connection
from schema_core.catalogs.hive.client import SparkMetastore
from schema_core.testing.catalog_cases import DATABASE, FUNCTIONS, PARTITIONED
from tests.catalog.many_writers import ManyWriters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The directory of the test whose objects the metastore holds: there is one metastore for all.
HOLDS: list[Path] = []


#: The connections of the catalogs of a test, in order: making one takes Hive half a second. They
#: stay open, and the catalogs of the next test have the same.
CONNECTIONS: list[MetastoreConnection] = []

#: Tests that check that they leave all objects as they were: they share them, because creating them
#: takes Hive a second.
UNCHANGING = frozenset({
    "test_refused", "test_ignored", "test_missing_capability_is_refused",
    "test_partition_of_any_value", "test_expected_is_refused_if_not_compared",
})  # fmt: skip
SHARED = Path("shared")

#: The state of the shared objects, which takes a third of a second to read.
STATE: list[dict[str, object]] = []


def wipe(catalog: HiveCatalog) -> None:
    """Drop everything but the default database."""
    catalog.open()
    for name in {*catalog.list_databases()} - {"default"}:
        catalog.drop_database(name, False, cascade=True)


@pytest.fixture(scope="module", autouse=True)
def _tidy(session: SparkSession) -> Iterator[None]:
    """Other tests of this process share the metastore."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkMetastore, "close", lambda _: None)
        yield
    wipe(HiveCatalog("mine", lambda: connection(session)))
    for item in CONNECTIONS:
        item.metastore.close()
    CONNECTIONS.clear()
    HOLDS.clear()
    STATE.clear()


def keeps(request: pytest.FixtureRequest) -> bool:
    """Return whether Hive supports everything that a test requires, before anything is created."""
    params: dict[str, object] = getattr(getattr(request.node, "callspec", None), "params", {})
    needs, lacks = params.get("needs"), params.get("lacks")
    if isinstance(needs, Capability) or isinstance(lacks, Capability):
        return needs in HiveCatalog.capabilities or lacks not in {None, *HiveCatalog.capabilities}
    return not request.node.originalname.startswith(("test_model", "test_type"))


class TestHiveCatalog(ManyWriters):
    durable = True
    preserves_case = False
    reports_who_dropped = False  # Hive deletes rows and does not count them
    compared_kinds = ("table", "view")
    partitioned = PARTITIONED.copy({"connector": "hive"})
    functions = {name: replace(value, options={}) for name, value in FUNCTIONS.items()}
    session: SparkSession
    opened: int

    @pytest.fixture(autouse=True)
    def over(self, request: pytest.FixtureRequest, session: SparkSession) -> None:
        """Return the session of the catalogs of a test."""
        if not keeps(request):
            pytest.skip("Hive keeps no such thing")
        self.session = session
        self.opened = 0

    @pytest.fixture
    def populated(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
        directory = SHARED if request.node.originalname in UNCHANGING else tmp_path
        there = [directory] == HOLDS
        catalog = self.make_catalog(directory)
        catalog.open()
        if not there:
            STATE.clear()
            catalog.create_database("db", DATABASE, False)
            self.populate(catalog)
        yield catalog
        catalog.close()

    def state_before(self, catalog: Catalog) -> dict[str, object]:
        if not STATE:
            STATE.append(super().state_before(catalog))
        return STATE[0]

    def make_catalog(self, directory: Path) -> Catalog:
        catalog = HiveCatalog("mine", self.connect)
        if [directory] != HOLDS:
            wipe(catalog)
            HOLDS[:] = [directory]
        return catalog

    def connect(self) -> MetastoreConnection:
        """Return the next of the connections; several catalogs of one test do not share one."""
        if self.opened == len(CONNECTIONS):
            CONNECTIONS.append(connection(self.session))
        self.opened += 1
        return CONNECTIONS[self.opened - 1]

    def supports_name(self, name: str) -> bool:
        return re.fullmatch(r"\w{1,128}", name, re.ASCII) is not None
