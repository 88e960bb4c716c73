"""Concurrent writers, killed writers and a full disk: the programs in `fuzz/`, run briefly."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import catalog_load, catalog_sizes, full_disk
from fuzz.postgres_server import why_not
from schema_core.base.paths import ObjectPath
from schema_core.catalog.stores.memory import InMemoryCatalog

STORES = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.skipif(bool(why_not()), reason=str(why_not()))),
]


@pytest.mark.parametrize("store", STORES)
def test_concurrent_writers_lose_no_update(store: str) -> None:
    assert 0 == catalog_load.run_churn(store, writers=3, seconds=1.5)


@pytest.mark.parametrize("store", STORES)
def test_catalog_is_readable_after_writers_are_killed(store: str) -> None:
    assert 0 == catalog_load.run_kills(store, times=3, longest=0.3)


def test_the_check_detects_a_lost_update(tmp_path: Path) -> None:
    """An alteration that is missing from the log, and one that is there twice, are detected."""
    address = catalog_load.Address(f"sqlite:///{tmp_path}/catalog.db")
    catalog = address.opened()
    catalog.create_table(catalog_load.COUNTER, catalog_load.proven("c", 2), False)
    half = catalog_load.proven("c", 0).copy({"made": "c", "n": "0", "padding": "", "sum": "x"})
    catalog.create_table(ObjectPath("default", "t0"), half, False)
    once, twice = catalog_load.Book(written=[("c", 1)]), catalog_load.Book(written=[("c", 1)])
    twice.events["alter: ExternalError catalog-store-failed"] = 1

    result = catalog_load.broken([once, twice], address)

    assert result == [
        "alter: ExternalError catalog-store-failed: 1",
        "lost updates of c",
        "t0 is half-written",
    ]
    assert ["the last update of counter is lost", "t0 is half-written"] == catalog_load.broken(
        [once], address
    )


@pytest.mark.parametrize("what", full_disk.FILL)
def test_a_full_disk_raises_an_error_and_loses_no_data(what: str) -> None:
    report, (left, whole) = full_disk.after_filling(what)

    assert "catalog-store-failed" == report["code"]
    assert report["made"] == left == whole
    assert left


def test_sizes_are_measured() -> None:
    catalog = InMemoryCatalog("mine")
    catalog_sizes.fill(catalog, 1_500)

    assert {"small": 100, "other100": 1_000, "other1100": 400, "default": 0} == {
        name: len(catalog.list_tables(name)) for name in catalog.list_databases()
    }
    assert {*catalog_sizes.ACTS} == {*catalog_sizes.measured(catalog, turns=2)}
