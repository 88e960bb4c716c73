"""Arguments of a wrong type are refused before a catalog changes anything."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import CatalogDatabase, CatalogTable
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalogs.hive.catalog import HiveCatalog, MetastoreConnection
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.errors import SchemaError
from schema_core.schema.unresolved import Schema
from schema_core.testing.catalog_cases import PARTITIONED

METHODS = {
    name: parameters
    for name, method in inspect.getmembers(Catalog, inspect.isfunction)
    if not name.startswith("_") and (parameters := [*inspect.signature(method).parameters][1:])
}


class Odd:
    """A class whose instances no catalog accepts."""


def nobody_connects() -> MetastoreConnection:
    raise AssertionError


def made(kind: str, directory: Path) -> Catalog:
    if kind == "memory":
        return InMemoryCatalog("mine")
    if kind == "hive":
        return HiveCatalog("mine", nobody_connects)
    catalog = SqlCatalog("mine", f"sqlite:///{directory}/c.db")
    catalog.open()
    return catalog


@pytest.mark.parametrize("kind", ["memory", "sql", "hive"])
def test_every_method_rejects_arguments_of_a_wrong_type(kind: str, tmp_path: Path) -> None:
    """Its first argument that is looked at; and that none of its own is a `TypeError` inside."""
    catalog = made(kind, tmp_path)
    for name, parameters in METHODS.items():
        given = {parameter: Odd() for parameter in parameters if parameter != "expected"}
        with pytest.raises(SchemaError) as caught:
            getattr(catalog, name)(**given)
        assert caught.value.code == "invalid-argument", name


@pytest.mark.parametrize("kind", ["memory", "sql", "hive"])
@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda c: c.get_table("default.t"), "table_path must be an ObjectPath, got str"),
        (
            lambda c: c.create_table(ObjectPath("default", "t"), None, False),
            "table must be a CatalogBaseTable, got None",
        ),
        (
            lambda c: c.create_database(3, CatalogDatabase(), False),
            "name must be a string, got int",
        ),
        (
            lambda c: c.list_partitions(ObjectPath("default", "t"), {"password": "canary"}),
            "partition_spec must be a CatalogPartitionSpec or None, got dict",
        ),
    ],
)
def test_the_error_names_the_argument(
    kind: str, tmp_path: Path, call: Callable[[Any], object], problem: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        call(made(kind, tmp_path))

    assert problem == caught.value.problem


def test_optional_arguments_accept_none(tmp_path: Path) -> None:
    catalog = made("sql", tmp_path)
    catalog.create_table(ObjectPath("default", "p"), PARTITIONED, False)
    catalog.alter_database("default", CatalogDatabase(), False, expected=None)

    assert [] == catalog.list_partitions(ObjectPath("default", "p"), None)


@pytest.mark.parametrize("options", [{"k": 3}, {3: "k"}, {"k": None}])
def test_option_values_must_be_strings(options: Any) -> None:
    for make in (
        lambda: CatalogTable(Schema(), options=options),
        lambda: CatalogDatabase(options),
    ):
        with pytest.raises(SchemaError) as caught:
            make()
        assert caught.value.code == "invalid-argument"


@pytest.mark.parametrize(
    ("name", "database", "code"),
    [(None, "d", "invalid-argument"), ("c", 3, "invalid-argument"), (" ", "d", "invalid-name")],
)
def test_catalog_name_is_required(name: Any, database: Any, code: str) -> None:
    makers: tuple[Callable[[], object], ...] = (
        lambda: InMemoryCatalog(name, database),
        lambda: SqlCatalog(name, "sqlite://", default_database=database),
    )
    for make in makers:
        with pytest.raises(SchemaError) as caught:
            make()
        assert code == caught.value.code
