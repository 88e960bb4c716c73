"""The in-memory catalog: stored objects and error codes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import (
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTable,
    CatalogView,
)
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaCoreError, SchemaError
from schema_core.schema.unresolved import Schema
from schema_core.testing.catalog_cases import understood_model, with_derived_schema

TABLE = with_derived_schema(CatalogTable(Schema.new_builder().column("a", "INT").build(), ("a",)))
VIEW = with_derived_schema(CatalogView(Schema(), "SELECT 1", "SELECT 1"))
MODEL = understood_model(CatalogModel(Schema(), Schema()))
FUNCTION = CatalogFunction("org.example.F")
DATABASE = CatalogDatabase.create_instance({})
ORDERS = ObjectPath("db", "orders")
NOWHERE = ObjectPath("nodb", "orders")
PARTITION = CatalogPartition.create_instance({})
MONDAY = CatalogPartitionSpec({"a": "1"})


@pytest.fixture
def catalog() -> InMemoryCatalog:
    catalog = InMemoryCatalog("mine", "db")
    catalog.create_table(ORDERS, TABLE, ignore_if_exists=False)
    catalog.create_table(ObjectPath("db", "v"), VIEW, ignore_if_exists=False)
    return catalog


@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (lambda c: c.get_database("nodb"), NotFoundError, "database-not-found"),
        (lambda c: c.list_tables("nodb"), NotFoundError, "database-not-found"),
        (lambda c: c.list_functions("nodb"), NotFoundError, "database-not-found"),
        (lambda c: c.create_database("db", DATABASE, False), AlreadyExistsError, "database-exists"),
        (lambda c: c.drop_database("nodb", False), NotFoundError, "database-not-found"),
        (lambda c: c.drop_database("db", False), SchemaError, "database-not-empty"),
        (lambda c: c.get_table(NOWHERE), NotFoundError, "table-not-found"),
        (lambda c: c.create_table(ORDERS, TABLE, False), AlreadyExistsError, "table-exists"),
        (lambda c: c.create_table(NOWHERE, TABLE, True), NotFoundError, "database-not-found"),
        (lambda c: c.alter_table(ORDERS, VIEW, False), SchemaError, "wrong-object-type"),
        (lambda c: c.drop_table(NOWHERE, False), NotFoundError, "table-not-found"),
        (lambda c: c.rename_table(ORDERS, "v", False), AlreadyExistsError, "table-exists"),
        (lambda c: c.list_partitions(ObjectPath("db", "v")), SchemaError, "not-partitioned"),
        (lambda c: c.get_partition(ORDERS, MONDAY), NotFoundError, "partition-not-found"),
        (
            lambda c: c.create_partition(
                ORDERS, CatalogPartitionSpec({"a": "1", "b": "2"}), PARTITION, False
            ),
            SchemaError,
            "invalid-partition-spec",
        ),
        (lambda c: c.get_function(ORDERS), NotFoundError, "function-not-found"),
        (lambda c: c.get_model(ORDERS), NotFoundError, "model-not-found"),
        (lambda c: c.rename_model(ORDERS, "m", False), NotFoundError, "model-not-found"),
    ],
)
def test_refused_changes(
    catalog: InMemoryCatalog,
    call: Callable[[InMemoryCatalog], object],
    kind: type[SchemaCoreError],
    code: str,
) -> None:
    with pytest.raises(kind) as caught:
        call(catalog)

    assert code == caught.value.code


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.create_database("db", DATABASE, True),
        lambda c: c.drop_database("nodb", True),
        lambda c: c.create_table(ORDERS, VIEW, True),
        lambda c: c.drop_table(NOWHERE, True),
        lambda c: c.rename_table(NOWHERE, "x", True),
        lambda c: c.alter_table(NOWHERE, TABLE, True),
        lambda c: c.drop_function(ORDERS, True),
        lambda c: c.drop_model(ORDERS, True),
        lambda c: c.drop_partition(ORDERS, MONDAY, True),
    ],
)
def test_ignore_flags_change_nothing(
    catalog: InMemoryCatalog, call: Callable[[InMemoryCatalog], object]
) -> None:
    call(catalog)

    assert ["orders", "v"] == catalog.list_tables("db")
    assert TABLE == catalog.get_resolved_table(ORDERS)


def test_lists_are_in_insertion_order(catalog: InMemoryCatalog) -> None:
    catalog.create_table(ObjectPath("db", "a"), TABLE, ignore_if_exists=False)

    assert ["orders", "v", "a"] == catalog.list_tables("db")
    assert ["v"] == catalog.list_views("db")
    assert [] == catalog.list_materialized_tables("db")


def test_function_names_are_case_insensitive(catalog: InMemoryCatalog) -> None:
    catalog.create_function(ObjectPath("db", "PlusOne"), FUNCTION, ignore_if_exists=False)

    assert ["plusone"] == catalog.list_functions("db")
    assert catalog.function_exists(ObjectPath("db", "PLUSONE"))
    assert not catalog.function_exists(ObjectPath("DB", "plusone"))


def test_partitions_are_renamed_and_dropped_with_their_table(catalog: InMemoryCatalog) -> None:
    catalog.create_partition(ORDERS, MONDAY, PARTITION, ignore_if_exists=False)
    catalog.rename_table(ORDERS, "sales", ignore_if_not_exists=False)

    assert [MONDAY] == catalog.list_partitions(ObjectPath("db", "sales"))


def test_list_partitions_filters_by_spec(catalog: InMemoryCatalog) -> None:
    catalog.create_partition(ORDERS, MONDAY, PARTITION, ignore_if_exists=False)

    assert [MONDAY] == catalog.list_partitions(ORDERS, CatalogPartitionSpec({}))
    assert [] == catalog.list_partitions(ORDERS, CatalogPartitionSpec({"a": "2"}))
    assert [] == catalog.list_partitions(ORDERS, CatalogPartitionSpec({"nokey": "1"}))


def test_a_partition_that_may_exist_is_replaced(catalog: InMemoryCatalog) -> None:
    other = CatalogPartition.create_instance({"k": "v"})
    catalog.create_partition(ORDERS, MONDAY, PARTITION, ignore_if_exists=False)
    catalog.create_partition(ORDERS, MONDAY, other, ignore_if_exists=True)

    assert other == catalog.get_partition(ORDERS, MONDAY)


def test_models_remain_after_their_database_is_dropped(catalog: InMemoryCatalog) -> None:
    catalog.create_database("spare", DATABASE, ignore_if_exists=False)
    catalog.create_model(ObjectPath("spare", "m"), MODEL, ignore_if_exists=False)
    catalog.drop_database("spare", ignore_if_not_exists=False)
    catalog.create_database("spare", DATABASE, ignore_if_exists=False)

    assert ["m"] == catalog.list_models("spare")


def test_cascade_drops_tables_and_functions(catalog: InMemoryCatalog) -> None:
    catalog.create_function(ORDERS, FUNCTION, ignore_if_exists=False)
    catalog.drop_database("db", ignore_if_not_exists=False, cascade=True)

    assert not catalog.database_exists("db")
    assert not catalog.table_exists(ORDERS)
    assert not catalog.function_exists(ORDERS)


@pytest.mark.parametrize(("name", "database"), [("", "db"), ("mine", " ")])
def test_empty_names_are_refused(name: str, database: str) -> None:
    with pytest.raises(SchemaError) as caught:
        InMemoryCatalog(name, database)

    assert "invalid-name" == caught.value.code
