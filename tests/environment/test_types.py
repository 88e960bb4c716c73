from __future__ import annotations

from dataclasses import dataclass

import pytest

from schema_core import (
    AlreadyExistsError,
    ComputedColumn,
    DataTypes,
    EnvironmentSettings,
    NotFoundError,
    Schema,
    SchemaCoreError,
    SchemaError,
    TableDescriptor,
    TableEnvironment,
    UnsupportedError,
)
from schema_core.properties.property_map import decode_table, encode_table


@dataclass
class Person:
    name: str
    age: int | None


@pytest.fixture
def environment() -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.create_type("money", DataTypes.DECIMAL(10, 2))
    environment.create_temporary_type("other.hr.person", Person)
    return environment


def columns(environment: TableEnvironment, path: str) -> list[str]:
    schema = environment.from_path(path).get_resolved_schema()
    return [column.data_type.as_summary_string() for column in schema.get_columns()]


MONEY = "`default_catalog`.`default_database`.`money`"


def test_ddl_resolves_user_defined_types(environment: TableEnvironment) -> None:
    environment.execute_sql(
        "CREATE TABLE t (a money NOT NULL, b ARRAY<other.hr.person>, c AS b[1].name)"
    )

    assert [f"{MONEY} NOT NULL", "ARRAY<`other`.`hr`.`person`>", "STRING"] == columns(
        environment, "t"
    )


def test_schemas_resolve_user_defined_types(environment: TableEnvironment) -> None:
    schema = (
        Schema.new_builder()
        .column("a", "default_database.money")
        .column("b", DataTypes.ARRAY(DataTypes.unresolved("money").not_null()))
        .build()
    )
    descriptor = TableDescriptor.for_connector("filesystem").schema(schema).build()
    environment.create_temporary_table("t", descriptor)

    assert "(\n  `a` [default_database.money],\n  `b` [ARRAY<[money]>]\n)" == str(schema)
    assert [MONEY, f"ARRAY<{MONEY} NOT NULL>"] == columns(environment, "t")


def test_casts_resolve_user_defined_types_to_full_paths(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (s STRING, a AS CAST(s AS money))")
    result = environment.sql_query("SELECT CAST(1 AS money) AS m, CAST(a AS STRING) AS s FROM t")
    column = environment.from_path("t").get_resolved_schema().get_column("a")

    assert [f"{MONEY} NOT NULL", "STRING"] == [
        column.data_type.as_summary_string()
        for column in result.get_resolved_schema().get_columns()
    ]
    assert isinstance(column, ComputedColumn)
    assert f"CAST(`s` AS {MONEY})" == column.expression.as_serializable_string()
    with pytest.raises(SchemaError):
        environment.sql_query("SELECT CAST(DATE '2020-01-01' AS money)")


def test_a_view_keeps_the_full_path(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE VIEW v AS SELECT CAST(1 AS money) AS m")
    environment.execute_sql("CREATE DATABASE elsewhere")
    environment.use_database("elsewhere")

    assert [f"{MONEY} NOT NULL"] == columns(environment, "default_database.v")


def test_a_property_map_keeps_the_full_path(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (a money)")
    result = environment.find_table("t")
    assert result is not None
    properties = encode_table(result.table)  # type: ignore[arg-type]

    assert MONEY == properties["schema.0.data-type"]
    schema = decode_table(properties).get_unresolved_schema()
    descriptor = TableDescriptor.for_connector("filesystem").schema(schema).build()
    environment.create_temporary_table("again", descriptor)
    assert [MONEY] == columns(environment, "again")


def test_a_temporary_type_hides_a_permanent_one(environment: TableEnvironment) -> None:
    environment.create_temporary_type("money", "BIGINT")
    environment.execute_sql("CREATE TABLE t (a money)")
    hidden = environment.from_path("t").get_resolved_schema().get_columns()[0].data_type

    assert DataTypes.BIGINT() == hidden.children()[0]
    assert (["money"], ["money"]) == (environment.list_types(), environment.list_temporary_types())
    with pytest.raises(SchemaError) as caught:
        environment.drop_type("money")
    assert "hidden-by-temporary" == caught.value.code
    assert environment.drop_temporary_type("money")
    assert environment.drop_type("money")
    assert not environment.drop_type("money")
    assert not environment.drop_temporary_type("money")


def test_user_defined_types_can_be_nested(environment: TableEnvironment) -> None:
    environment.create_type("price", "ROW<amount money, code CHAR(3)>")
    environment.execute_sql("CREATE TABLE t (p price, a AS p.amount)")

    assert MONEY == columns(environment, "t")[1]


def test_refused_statements(environment: TableEnvironment) -> None:
    with pytest.raises(AlreadyExistsError):
        environment.create_type("money", "INT")
    with pytest.raises(AlreadyExistsError):
        environment.create_temporary_type("other.hr.person", "INT")
    with pytest.raises(NotFoundError):
        environment.drop_type("nothing", ignore_if_not_exists=False)
    with pytest.raises(UnsupportedError) as unknown:
        environment.create_type("loop", "ROW<a loop>")
    assert "type-not-found" == unknown.value.code
    environment.create_type("money", "INT", ignore_if_exists=True)


@pytest.mark.parametrize("text", ["a nobody", "a money.x", "a ARRAY<hr.person>"])
def test_unknown_type_name_is_refused(environment: TableEnvironment, text: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(f"CREATE TABLE t ({text})")

    assert ("type-not-found", ("column 'a'",)) == (caught.value.code, caught.value.path)
