"""Deprecated methods behave as their replacements, which their warnings name."""

from __future__ import annotations

import datetime as dt
import warnings

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.result import TableResult
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.schema.unresolved import Schema

SCHEMA = Schema.new_builder().column("a", "INT").build()
TABLE = TableDescriptor.for_connector("x").schema(SCHEMA).build()


@pytest.fixture
def environment() -> TableEnvironment:
    environment = TableEnvironment.create(
        EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner()
    )
    environment.create_table("t", TABLE)
    return environment


def test_deprecated_table_methods(environment: TableEnvironment) -> None:
    with pytest.warns(DeprecationWarning, match="create_temporary_view"):
        environment.register_table("a.b", environment.from_path("t"))
    with pytest.warns(DeprecationWarning, match="create_temporary_table"):
        environment.register_table_source("source", TABLE)
    with pytest.warns(DeprecationWarning, match="create_temporary_table"):
        environment.register_table_sink("sink", TABLE)
    assert ["a.b", "sink", "source"] == environment.list_temporary_tables()

    with pytest.warns(DeprecationWarning, match="from_path"):
        table = environment.scan("default_database", "a.b")
    assert ["a"] == table.column_names()
    with pytest.warns(DeprecationWarning, match="execute_insert"):
        assert environment.insert_into("sink", table).get_job_client() is not None
    with pytest.warns(DeprecationWarning, match="execute_sql"):
        environment.sql_update("DROP TEMPORARY TABLE sink")
    assert ["a.b", "source"] == environment.list_temporary_tables()


def test_deprecated_function_methods(environment: TableEnvironment) -> None:
    from schema_core.catalog.functions import FunctionClass

    environment.declare_function_class("com.acme.Plus", FunctionClass())
    with pytest.warns(DeprecationWarning, match="create_temporary_system_function"):
        environment.register_function("f", "com.acme.Plus")
    with pytest.warns(DeprecationWarning, match="create_java_temporary_system_function"):
        environment.register_java_function("g", "com.acme.Plus")

    assert ["f", "g"] == environment.list_temporary_functions()


def test_deprecated_schema_methods(environment: TableEnvironment) -> None:
    with pytest.warns(DeprecationWarning, match="get_resolved_schema"):
        schema = environment.from_path("t").get_schema()
    assert ["a"] == schema.get_field_names()
    assert "INT" == schema.get_field_data_types()[0].as_summary_string()
    assert schema.get_field_data_type("a") == schema.get_field_data_type(0)
    assert (None, None) == (schema.get_field_data_type("b"), schema.get_field_name(1))
    assert "ROW<`a` INT>" == schema.to_row_data_type().as_summary_string()

    result: TableResult = environment.execute_sql("SHOW TABLES")
    with pytest.warns(DeprecationWarning, match="get_resolved_schema"):
        assert ["table name"] == result.get_table_schema().get_field_names()


def test_current_methods_do_not_warn(environment: TableEnvironment) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment.create_temporary_view("v", environment.from_path("t"))
        environment.from_path("v").execute_insert("t")


def test_deprecated_settings_are_accepted(environment: TableEnvironment) -> None:
    config = environment.get_config()
    assert (4000, dt.timedelta(0), "") == (
        config.get_max_generated_code_length(),
        config.get_idle_state_retention(),
        config.get_python_executable(),
    )

    config.set_max_generated_code_length(5)
    config.set_idle_state_retention(dt.timedelta(hours=1))
    config.set_python_executable("python3")
    assert (5, dt.timedelta(hours=1), "python3") == (
        config.get_max_generated_code_length(),
        config.get_idle_state_retention(),
        config.get_python_executable(),
    )
