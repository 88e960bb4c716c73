"""The methods of an environment: FLIP-64's temporary objects, settings, tables, functions."""

from __future__ import annotations

import pytest

from schema_core.catalog.functions import FunctionClass
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.config import Configuration, EnvironmentSettings
from schema_core.environment.table_api.descriptor import ModelDescriptor, TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

INT = Schema.new_builder().column("a", "INT").build()
TEXT = Schema.new_builder().column("z", "STRING").build()
TABLE = TableDescriptor.for_connector("x").schema(INT).build()
OTHER = TableDescriptor.for_connector("x").schema(TEXT).build()
PLUS = FunctionClass((((DataTypes.INT(),), DataTypes.INT()),))


@pytest.fixture
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def shown(environment: TableEnvironment, path: str) -> str:
    return str(environment.from_path(path).get_resolved_schema())


# --- FLIP-64 ---------------------------------------------------------------------------------


def test_temporary_tables_hide_permanent_ones(environment: TableEnvironment) -> None:
    assert environment.create_table("t", TABLE)
    assert environment.create_temporary_table("t", OTHER)
    assert "(\n  `z` STRING\n)" == shown(environment, "t")

    with pytest.raises(SchemaError) as caught:
        environment.drop_table("t")
    assert "hidden-by-temporary" == caught.value.code
    assert environment.drop_temporary_table("t")
    assert not environment.drop_temporary_table("t")
    assert "(\n  `a` INT\n)" == shown(environment, "t")
    assert environment.drop_table("t")
    assert not environment.drop_table("t")


def test_temporary_objects_are_listed_separately(environment: TableEnvironment) -> None:
    environment.create_table("kept", TABLE)
    environment.create_temporary_table("passing", TABLE)
    environment.create_temporary_view("seen", environment.from_path("kept"))

    assert ["kept"] == environment.list_tables()
    assert [] == environment.list_views()
    assert ["passing", "seen"] == environment.list_temporary_tables()
    assert ["seen"] == environment.list_temporary_views()


def test_a_view_is_independent_of_the_current_database(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql("CREATE DATABASE other")
    environment.create_table("t", TABLE)
    table = environment.sql_query("SELECT a + 1 AS b FROM t")
    environment.use_database("other")
    environment.create_temporary_view("v", table)

    assert "(\n  `b` INT\n)" == shown(environment, "v")
    assert environment.sql_query("SELECT * FROM v").get_resolved_schema() is not None


def test_a_permanent_view_requires_registered_tables(
    environment: TableEnvironment,
) -> None:
    table = environment.from_descriptor(TABLE)
    assert "(\n  `a` INT\n)" == str(table.get_resolved_schema())

    with pytest.raises(SchemaCoreError) as caught:
        environment.create_view("v", table)
    assert "not-in-sql" == caught.value.code


def test_a_function_of_one_part_is_a_system_function(environment: TableEnvironment) -> None:
    environment.create_temporary_function("upper", PLUS)
    environment.create_temporary_function("default_database.f", PLUS)

    assert "(\n  `x` INT\n)" == str(
        environment.sql_query("SELECT upper(1) AS x").get_resolved_schema()
    )
    assert ["f", "upper"] == environment.list_temporary_functions()
    assert environment.drop_temporary_function("UPPER")
    with pytest.raises(SchemaCoreError):
        environment.sql_query("SELECT upper(1) AS x")


def test_permanent_functions_require_declared_classes(environment: TableEnvironment) -> None:
    with pytest.raises(SchemaError) as caught:
        environment.create_java_function("plus", "org.example.Plus")
    assert "invalid-function" == caught.value.code
    environment.declare_function_class("org.example.Plus", PLUS)
    environment.create_java_function("plus", "org.example.Plus")

    assert ["plus"] == environment.list_user_defined_functions()
    assert "plus" in environment.list_functions()
    assert environment.drop_function("Plus")
    assert not environment.drop_function("Plus")


# --- catalogs, models, modules ---------------------------------------------------------------


def test_catalogs(environment: TableEnvironment) -> None:
    environment.register_catalog("mine", InMemoryCatalog("mine", "db"))
    environment.use_catalog("mine")

    assert ["default_catalog", "mine"] == environment.list_catalogs()
    assert ["db"] == environment.list_databases()
    assert ("mine", "db") == (
        environment.get_current_catalog(),
        environment.get_current_database(),
    )
    environment.use_catalog(None)
    with pytest.raises(SchemaError) as caught:
        environment.create_table("t", TABLE)
    assert "current-database-not-set" == caught.value.code


def test_models(environment: TableEnvironment) -> None:
    model = ModelDescriptor.for_provider("p").input_schema(INT).output_schema(TEXT).build()
    environment.create_model("m", model)
    environment.create_temporary_model("m", model)

    assert (["m"], ["m"]) == (environment.list_models(), environment.list_temporary_models())
    assert environment.drop_temporary_model("m")
    assert environment.drop_model("m")
    assert not environment.drop_model("m")


def test_modules(environment: TableEnvironment) -> None:
    environment.unload_module("core")
    assert ([], [], []) == (
        environment.list_modules(),
        environment.list_full_modules(),
        environment.list_functions(),
    )
    environment.load_module("core")

    assert [("core", True)] == environment.list_full_modules()
    assert "upper" in environment.list_functions()


# --- settings --------------------------------------------------------------------------------


def test_runtime_mode_determines_time_attributes() -> None:
    text = "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
    result = []
    for settings in (
        EnvironmentSettings.in_streaming_mode(),
        EnvironmentSettings.in_batch_mode(),
    ):
        environment = TableEnvironment.create(settings)
        environment.execute_sql(text)
        result.append(shown(environment, "t").splitlines()[1].strip())

    assert ["`ts` TIMESTAMP(3) *ROWTIME*,", "`ts` TIMESTAMP(3),"] == result


def test_built_in_names() -> None:
    settings = (
        EnvironmentSettings.new_instance()
        .with_built_in_catalog_name("lake")
        .with_built_in_database_name("raw")
        .build()
    )

    assert "lake" == TableEnvironment.create(settings).get_current_catalog()
    assert "raw" == TableEnvironment.create(settings).get_current_database()


def test_an_environment_created_from_options() -> None:
    environment = TableEnvironment.create(Configuration({"execution.runtime-mode": "batch"}))

    assert "batch" == environment.get_config().get("execution.runtime-mode", "")
    with pytest.raises(SchemaError) as caught:
        TableEnvironment.create({"execution.runtime-mode": "sometimes"})
    assert "invalid-option-value" == caught.value.code


def test_options_are_validated_when_set(environment: TableEnvironment) -> None:
    environment.execute_sql("SET 'table.local-time-zone' = 'Europe/Berlin'")
    assert "Europe/Berlin" == environment.get_config().get_local_timezone()

    with pytest.raises(SchemaError) as caught:
        environment.execute_sql("SET 'table.local-time-zone' = 'Mars'")
    assert "invalid-option-value" == caught.value.code
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql("SET 'pipeline.global-job-parameters' = 'start'")
    assert "invalid-option-value" == caught.value.code
    environment.execute_sql("RESET 'table.local-time-zone'")
    assert "UTC" == environment.get_config().get_local_timezone()


def test_repr_of_settings_masks_secrets() -> None:
    settings = EnvironmentSettings.new_instance().with_configuration({"my.secret": "s3"}).build()

    assert "s3" not in repr(settings)
    assert "s3" not in repr(settings.get_configuration())


def test_a_missing_planner_is_reported_with_a_hint(environment: TableEnvironment) -> None:
    environment.get_config().set("table.planner", "abacus")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("SELECT 1")

    assert "factory-not-found" == caught.value.code


def test_a_view_of_a_table_has_its_columns(environment: TableEnvironment) -> None:
    environment.create_view("v", environment.sql_query("SELECT 1 AS a, 2 AS a"))

    assert "(\n  `a` INT NOT NULL,\n  `a0` INT NOT NULL\n)" == shown(environment, "v")
