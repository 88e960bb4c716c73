"""Temporary objects: shadowing, its prohibition, and scopes (FLIP-64)."""

from __future__ import annotations

from typing import Any

import pytest

from schema_core.catalog.functions import FunctionClass
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_api.descriptor import ModelDescriptor, TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

SCHEMA = Schema.new_builder().column("a", "INT").build()
TABLE = TableDescriptor.for_connector("x").schema(SCHEMA).build()
MODEL = ModelDescriptor.for_provider("x").input_schema(SCHEMA).output_schema(SCHEMA).build()
PLUS = FunctionClass((((DataTypes.INT(),), DataTypes.INT()),))
DENY = "SET 'table.temporary-objects.shadowing' = 'DENY'"


@pytest.fixture
def environment() -> TableEnvironment:
    """Return an environment with a permanent object of every kind at one path."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.declare_function_class("com.acme.Plus", PLUS)
    environment.create_table("t", TABLE)
    environment.create_model("t", MODEL)
    environment.create_type("t", DataTypes.INT())
    environment.create_java_function("t", "com.acme.Plus")
    return environment


def make_temporary(environment: TableEnvironment) -> None:
    environment.create_temporary_view("t", environment.sql_query("SELECT 1 AS b"))
    environment.create_temporary_model("t", MODEL)
    environment.create_temporary_type("t", DataTypes.INT())
    environment.create_temporary_function("default_database.t", "com.acme.Plus")
    environment.create_temporary_system_function("UPPER", "com.acme.Plus")


def test_listing_of_hidden_objects(environment: TableEnvironment) -> None:
    environment.create_temporary_table("other", TABLE)
    assert [] == environment.list_hidden()

    make_temporary(environment)

    path = "default_catalog.default_database.t"
    assert [
        f"temporary function {path} hides a function",
        f"temporary model {path} hides a model",
        "temporary system function upper hides a built-in function",
        f"temporary type {path} hides a type",
        f"temporary view {path} hides a table",
    ] == environment.list_hidden()


def test_described_objects(environment: TableEnvironment) -> None:
    path = "default_catalog.default_database.t"
    assert f"table {path}\n(\n  `a` INT\n)" == str(environment.describe("t"))

    make_temporary(environment)
    assert f"temporary view {path}, which hides a table\n(\n  `b` INT NOT NULL\n)" == str(
        environment.describe("t")
    )

    environment.drop_temporary_view("t")
    environment.drop_table("t")
    assert f"temporary model {path}, which hides a model" == str(environment.describe("t"))

    environment.drop_temporary_model("t")
    environment.drop_model("t")
    assert f"temporary type {path}, which hides a type" == str(environment.describe("t"))

    environment.drop_temporary_type("t")
    environment.drop_type("t")
    assert f"temporary function {path}, which hides a function" == str(environment.describe("t"))
    assert "temporary system function upper, which hides a built-in function" == str(
        environment.describe("upper")
    )
    assert "system function lower" == str(environment.describe("lower"))
    with pytest.raises(SchemaCoreError) as caught:
        environment.describe("nothing")
    assert "table-not-found" == caught.value.code


@pytest.mark.parametrize(
    "make",
    [
        lambda e: e.create_temporary_table("t", TABLE),
        lambda e: e.create_temporary_view("t", e.sql_query("SELECT 1 AS b")),
        lambda e: e.execute_sql("CREATE TEMPORARY TABLE t (a INT)"),
        lambda e: e.create_temporary_model("t", MODEL),
        lambda e: e.create_temporary_type("t", DataTypes.INT()),
        lambda e: e.create_temporary_function("default_database.t", "com.acme.Plus"),
        lambda e: e.create_temporary_function("upper", "com.acme.Plus"),
        lambda e: e.execute_sql("CREATE TEMPORARY SYSTEM FUNCTION Md5 AS 'com.acme.Plus'"),
    ],
)
def test_shadowing_can_be_denied(environment: TableEnvironment, make: Any) -> None:
    environment.execute_sql(DENY)
    with pytest.raises(SchemaError) as caught:
        make(environment)
    assert "not-allowed" == caught.value.code
    assert [] == environment.list_hidden()

    environment.create_temporary_table("free", TABLE)
    environment.create_temporary_function("free", "com.acme.Plus")
    environment.execute_sql("RESET 'table.temporary-objects.shadowing'")
    make(environment)
    assert 1 == len(environment.list_hidden())


def test_a_permanent_table_hidden_by_a_temporary_one_is_refused(
    environment: TableEnvironment,
) -> None:
    environment.create_temporary_table("u", TABLE)
    environment.execute_sql(DENY)
    with pytest.raises(SchemaError) as caught:
        environment.create_table("u", TABLE)
    assert "not-allowed" == caught.value.code

    environment.drop_temporary_table("u")
    assert environment.create_table("u", TABLE)


def test_anonymous_tables_hide_no_objects(environment: TableEnvironment) -> None:
    environment.execute_sql(DENY)
    environment.from_descriptor(TABLE)
    environment.from_elements([(1,)])

    assert [] == environment.list_hidden()


def everything(environment: TableEnvironment) -> list[object]:
    return [
        environment.list_temporary_tables(),
        environment.list_temporary_views(),
        environment.list_temporary_models(),
        environment.list_temporary_types(),
        environment.list_temporary_functions(),
    ]


def test_a_scope_drops_its_temporary_objects(environment: TableEnvironment) -> None:
    before = everything(environment)
    with environment.temporary_scope():
        make_temporary(environment)
        assert before != everything(environment)

    assert before == everything(environment)
    assert "table" == environment.describe("t").kind


def test_a_scope_restores_dropped_and_replaced_objects(environment: TableEnvironment) -> None:
    make_temporary(environment)
    before = everything(environment)
    with environment.temporary_scope():
        environment.drop_temporary_view("t")
        environment.create_temporary_table("t", TABLE)
        environment.drop_temporary_model("t")
        environment.drop_temporary_function("upper")
        assert ["`a`"] == [str(f"`{n}`") for n in environment.from_path("t").column_names()]

    assert before == everything(environment)
    assert ["b"] == environment.from_path("t").column_names()


def test_a_scope_ends_after_an_error(environment: TableEnvironment) -> None:
    def fail() -> None:
        with environment.temporary_scope():
            make_temporary(environment)
            raise KeyError("other people's")

    with pytest.raises(KeyError):
        fail()

    assert [[], [], [], [], []] == everything(environment)


def test_scopes_can_be_nested(environment: TableEnvironment) -> None:
    with environment.temporary_scope():
        environment.create_temporary_table("outer", TABLE)
        with environment.temporary_scope():
            environment.create_temporary_table("inner", TABLE)
            environment.drop_temporary_table("outer")
            assert ["inner"] == environment.list_temporary_tables()
        assert ["outer"] == environment.list_temporary_tables()

    assert [] == environment.list_temporary_tables()


def test_permanent_objects_are_kept_after_a_scope(environment: TableEnvironment) -> None:
    with environment.temporary_scope():
        environment.create_table("kept", TABLE)

    assert ["kept", "t"] == environment.list_tables()
