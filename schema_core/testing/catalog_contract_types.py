"""The part of the contract that is about user-defined types, and about odd partitions."""

from __future__ import annotations

from typing import Any

import pytest

from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.objects import CatalogDatabase
from schema_core.catalog.partitions import CatalogPartitionSpec as Spec
from schema_core.errors import SchemaError
from schema_core.paths import ObjectPath
from schema_core.testing.catalog_cases import (
    EVENTS,
    MONEY,
    NOTHING,
    NOWHERE,
    PARTITION,
    SPEC,
    TYPE_PATH,
)
from schema_core.testing.catalog_contract_base import ContractBase, need
from schema_core.testing.catalog_samples import ODD_NAMES, PLAIN, TYPES


class TypeChecks(ContractBase):
    """Types by name, and partitions by values."""

    @pytest.mark.parametrize("type_", TYPES.values(), ids=TYPES)
    def test_type_comes_back(self, catalog: Catalog, type_: Any) -> None:
        """What it is made of and its description."""
        need(catalog, Capability.TYPES)
        catalog.create_type(NOTHING, type_, False)

        assert type_ == catalog.get_type(NOTHING)
        assert catalog.type_exists(NOTHING)
        assert ["nothing"] == catalog.list_types("db")

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_type_of_any_name(self, furnished: Catalog, name: str) -> None:
        """Created, listed, found and dropped; tables of that name are something else."""
        need(furnished, Capability.TYPES)
        path = ObjectPath("db", name)
        furnished.create_table(path, PLAIN, False)
        furnished.create_type(path, TYPES["structured"], False)

        assert {"money", name} == {*furnished.list_types("db")}
        assert TYPES["structured"] == furnished.get_type(path)
        furnished.drop_type(path, False)
        assert not furnished.type_exists(path)
        assert furnished.table_exists(path)

    def test_type_makes_a_database_full(self, catalog: Catalog) -> None:
        """It is dropped with all that the database holds, and only so."""
        need(catalog, Capability.TYPES)
        catalog.create_type(TYPE_PATH, MONEY, False)

        with pytest.raises(SchemaError) as caught:
            catalog.drop_database("db", False)
        catalog.drop_database("db", False, True)
        catalog.create_database("db", CatalogDatabase(), False)

        assert caught.value.code == "database-not-empty"
        assert [] == catalog.list_types("db")
        assert not catalog.type_exists(TYPE_PATH)

    @pytest.mark.parametrize("value", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_partition_of_any_value(self, furnished: Catalog, value: str) -> None:
        """Created, listed among others, found and dropped."""
        need(furnished, Capability.PARTITIONS)
        spec = Spec({"b": value, "c": "=/"})
        furnished.create_partition(EVENTS, spec, PARTITION, False)

        assert {SPEC, spec} == {*furnished.list_partitions(EVENTS)}
        assert [spec] == furnished.list_partitions(EVENTS, Spec({"b": value, "c": "=/"}))
        assert PARTITION == furnished.get_partition(EVENTS, spec)
        furnished.drop_partition(EVENTS, spec, False)
        assert [SPEC] == furnished.list_partitions(EVENTS)

    def test_nothing_is_where_nothing_was_created(self, catalog: Catalog) -> None:
        """Not even in a database that is not there: asking is no mistake."""
        for path in (NOTHING, NOWHERE):
            assert not catalog.table_exists(path)
            assert not catalog.function_exists(path)
            assert not catalog.model_exists(path)
            assert not catalog.type_exists(path)
            if Capability.PARTITIONS in catalog.capabilities:
                assert not catalog.partition_exists(path, SPEC)
        assert not catalog.database_exists("nowhere")
        assert [] == catalog.list_functions("db") == catalog.list_models("db")
        assert [] == catalog.list_tables("db") == catalog.list_types("db")
