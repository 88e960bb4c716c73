"""Catalogs take objects as PyFlink's programs give them: unresolved, and of a `TableSchema`."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, Schema, TableEnvironment, TableSchema
from schema_core.catalog import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogColumnStatisticsDataBoolean,
    CatalogColumnStatisticsDataDate,
    CatalogColumnStatisticsDataDouble,
    CatalogColumnStatisticsDataLong,
    CatalogColumnStatisticsDataString,
    CatalogManager,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTable,
    CatalogTableStatistics,
    InMemoryCatalog,
    ObjectPath,
)
from schema_core.catalogs import SqlCatalog
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError
from schema_core.pyflink.table.udf import udf

PATH = ObjectPath("default", "t")
COLUMNS = TableSchema(["id", "name"], [DataTypes.BIGINT(), DataTypes.STRING()])


@pytest.fixture
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_a_table_of_a_table_schema_is_stored(environment: TableEnvironment) -> None:
    environment.register_catalog("mine", catalog := InMemoryCatalog("mine"))
    table = CatalogBaseTable.create_table(COLUMNS, ["name"], {"connector": "print"}, "some")
    view = CatalogBaseTable.create_view("SELECT 1", "SELECT 1", COLUMNS, {})

    catalog.create_table(PATH, table, False)
    catalog.create_table(ObjectPath("default", "v"), view, False)

    read = catalog.get_table(PATH)
    assert CatalogTable is type(read)
    assert (["name"], "some") == (read.get_partition_keys(), read.get_comment())
    assert COLUMNS.to_schema() == read.get_unresolved_schema()
    names = environment.from_path("mine.`default`.t").get_resolved_schema().get_column_names()
    assert ["id", "name"] == names
    assert ["v"] == catalog.list_views("default")


def test_a_registered_catalog_resolves_by_the_environment(environment: TableEnvironment) -> None:
    plus = udf(lambda i: i + 1, input_types=["BIGINT"], result_type="BIGINT")
    environment.create_temporary_system_function("plus", plus)
    environment.register_catalog("mine", catalog := InMemoryCatalog("mine"))
    schema = Schema.new_builder().column("id", "BIGINT").column_by_expression("n", "plus(id)")
    table = CatalogBaseTable.create_table(schema.build())

    catalog.create_table(PATH, table, False)
    built_in = environment.get_catalog("default_catalog")
    built_in.create_table(ObjectPath("default_database", "t"), table, False)

    for path in ("t", "mine.`default`.t"):
        assert 2 == environment.from_path(path).get_resolved_schema().get_column_count()
    with pytest.raises(SchemaError, match="plus"):
        InMemoryCatalog("alone").create_table(PATH, table, False)


def test_catalogs_of_the_first_environment_keep_its_resolver(
    environment: TableEnvironment,
) -> None:
    catalog = InMemoryCatalog("mine")
    environment.register_catalog("mine", catalog)
    TableEnvironment.create().register_catalog("mine", catalog)

    assert environment.schema_resolver is catalog.resolver


def test_manager_and_resolver_are_public(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (id INT)")

    assert isinstance(environment.catalog_manager, CatalogManager)
    assert not environment.schema_resolver.is_streaming_mode()
    resolved = environment.schema_resolver.resolve(COLUMNS.to_schema())
    assert ["id", "name"] == resolved.get_column_names()


def test_partitions_of_a_table_without_partition_keys_are_refused() -> None:
    catalog = InMemoryCatalog("mine")
    catalog.create_table(PATH, CatalogBaseTable.create_table(COLUMNS), False)
    spec, partition = CatalogPartitionSpec({"id": "1"}), CatalogPartition.create_instance({})
    calls: list[tuple[Any, str]] = [
        (lambda: catalog.list_partitions(PATH), "not-partitioned"),
        (lambda: catalog.create_partition(PATH, spec, partition, True), "not-partitioned"),
        (lambda: catalog.get_partition(PATH, spec), "partition-not-found"),
        (lambda: catalog.alter_partition(PATH, spec, partition, False), "partition-not-found"),
        (lambda: catalog.drop_partition(PATH, spec, False), "partition-not-found"),
        (lambda: catalog.get_partition_statistics(PATH, spec), "partition-not-found"),
    ]

    for call, code in calls:
        with pytest.raises(
            SchemaCoreError, match=r"the table 'default\.t' is not partitioned"
        ) as caught:
            call()
        assert code == caught.value.code
    catalog.drop_partition(PATH, spec, True)
    catalog.alter_partition(PATH, spec, partition, True)
    assert not catalog.partition_exists(PATH, spec)
    assert "" == partition.get_description() == partition.get_detailed_description()


def test_tables_are_written_as_property_maps() -> None:
    table = CatalogBaseTable.create_table(COLUMNS, ["name"], {"connector": "print"}, "some")
    computed = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build()

    properties = table.to_properties()
    assert ("id", "BIGINT", "name") == (
        properties["schema.0.name"],
        properties["schema.0.data-type"],
        properties["partition.keys.0.name"],
    )
    read = CatalogTable.from_properties(properties)
    assert read == CatalogTable.from_properties(read.to_properties())
    assert ("some", {"connector": "print"}) == (read.get_comment(), read.get_options())
    assert "`a` + 1" == CatalogTable(computed).to_properties()["schema.1.expr"]
    with pytest.raises(SchemaError, match="missing"):
        CatalogTable(
            Schema.new_builder().column_by_expression("b", "missing + 1").build()
        ).to_properties()
    with pytest.raises(SchemaError):
        CatalogTable.from_properties({"schema.0.name": "a"})


# --- statistics -----------------------------------------------------------------------------------


def test_statistics_are_validated() -> None:
    wrong: list[Any] = [
        lambda: CatalogTableStatistics(-2),
        lambda: CatalogTableStatistics(2**63),
        lambda: CatalogTableStatistics(True),
        lambda: CatalogTableStatistics(1.0),  # type: ignore[arg-type]
        lambda: CatalogTableStatistics(properties={"a": 1}),  # type: ignore[dict-item]
        lambda: CatalogColumnStatisticsDataBoolean(True),
        lambda: CatalogColumnStatisticsDataLong(2**63),
        lambda: CatalogColumnStatisticsDataLong("1"),  # type: ignore[arg-type]
        lambda: CatalogColumnStatisticsDataDouble(float("nan")),
        lambda: CatalogColumnStatisticsDataDouble(10**400),
        lambda: CatalogColumnStatisticsDataDouble(False),
        lambda: CatalogColumnStatisticsDataDate(datetime(2026, 1, 1)),  # noqa: DTZ001 - wrong
        lambda: CatalogColumnStatistics({"a": 1}),  # type: ignore[dict-item]
        lambda: CatalogColumnStatistics({1: CatalogColumnStatisticsDataLong()}),  # type: ignore[dict-item]
    ]

    for make in wrong:
        with pytest.raises(SchemaError):
            make()
    assert -1 == CatalogTableStatistics().get_row_count()
    assert "2.0" == repr(CatalogColumnStatisticsDataString(3, 2).avg_length)
    assert date(2026, 1, 1) == CatalogColumnStatisticsDataDate(date(2026, 1, 1)).min
    given = CatalogColumnStatistics(None, None)  # type: ignore[arg-type]
    assert ({}, {}) == (given.get_column_statistics_data(), given.get_properties())


@pytest.mark.parametrize(
    "document",
    [
        "{}",
        '{"table":[1,2,3],"properties":{},"columns":{},"column_properties":{}}',
        '{"table":[1,2,3,"4"],"properties":{},"columns":{},"column_properties":{}}',
        '{"table":[1,2,3,4],"properties":{},"columns":{"a":["odd"]},"column_properties":{}}',
        '{"table":[1,2,3,4],"properties":{},"columns":{"a":["long",1]},"column_properties":{}}',
        '{"table":[1,2,3,4],"properties":{},"columns":[],"column_properties":{}}',
        '{"table":[1,2,3,4],"properties":{},"columns":{"a":["date","x"]},"column_properties":{}}',
    ],
)
def test_malformed_statistics_are_errors_of_the_store(document: str) -> None:
    catalog = SqlCatalog("mine", "sqlite://")
    catalog.open()
    catalog.create_table(PATH, CatalogBaseTable.create_table(COLUMNS), False)
    catalog.alter_table_statistics(PATH, CatalogTableStatistics(1), False)
    with catalog.entries.transaction(True) as entries:
        root = entries.find(entries.root, "database", "default", False)
        assert root is not None
        table = entries.find(root.id, "table", "t", False)
        assert table is not None
        entry = entries.find(table.id, "statistics", "", False)
        assert entry is not None
        entries.alter(entry, document)

    with pytest.raises(ExternalError) as caught:
        catalog.get_table_statistics(PATH)
    assert "corrupt-entry" == caught.value.code
