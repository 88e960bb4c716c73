"""Views of queries without SQL: temporary ones store the typed query, others are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schema_core import (
    DataTypes,
    EnvironmentSettings,
    Schema,
    Table,
    TableDescriptor,
    TableEnvironment,
)
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.errors import SchemaCoreError
from schema_core.expressions import col
from schema_core.expressions.user_functions import udf

TWICE = udf(lambda value: 2 * value, [DataTypes.INT()], DataTypes.INT())
SCHEMA = (
    Schema.new_builder()
    .column("a", "INT")
    .column("ts", "TIMESTAMP(3)")
    .watermark("ts", "ts")
    .build()
)
DESCRIPTOR = TableDescriptor.for_connector("x").schema(SCHEMA).build()


def joined(environment: TableEnvironment) -> Table:
    left = environment.from_descriptor(DESCRIPTOR).select(col("a"))
    right = environment.from_path("t").select(TWICE(col("a")).alias("b"))
    return left.join(right, col("a") == col("b"))


#: Tables, each with the error code as a permanent view if it has no SQL.
TABLES: dict[str, tuple[Callable[[TableEnvironment], Table], str | None]] = {
    "path": (lambda e: e.from_path("t"), None),
    "query": (lambda e: e.sql_query("SELECT a + 1 AS b FROM t"), None),
    "values": (lambda e: e.from_elements([(1, "x"), (2, None)], ["a", "b"]), None),
    "descriptor": (lambda e: e.from_descriptor(DESCRIPTOR), "not-in-sql"),
    "over a descriptor": (
        lambda e: e.from_descriptor(DESCRIPTOR).where(col("a") > 1).select(col("a") + 1),
        "not-in-sql",
    ),
    "inline": (lambda e: e.from_path("t").select(TWICE(col("a"))), "not-in-sql"),
    "inline in a condition": (
        lambda e: e.from_path("t").where(TWICE(TWICE(col("a"))) > 1),
        "not-in-sql",
    ),
    "inline in an aggregate": (
        lambda e: e.from_path("t").select(TWICE(col("a")).sum.alias("s")),
        "not-in-sql",
    ),
    "both": (joined, "not-in-sql"),
}


@pytest.fixture(params=["generic_in_memory", "sql"])
def environment(request: pytest.FixtureRequest) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    options = {"type": request.param} | ({"url": "sqlite://"} if request.param == "sql" else {})
    made.create_catalog("c", CatalogDescriptor.of("c", options))
    made.use_catalog("c")
    made.execute_sql("CREATE TABLE t (a INT, k STRING)")
    made.execute_sql("CREATE DATABASE other")
    return made


@pytest.mark.parametrize("name", TABLES)
def test_a_temporary_view_of_any_table(environment: TableEnvironment, name: str) -> None:
    table = TABLES[name][0](environment)
    environment.create_temporary_view("v", table)
    environment.execute_sql("CREATE TEMPORARY VIEW w AS SELECT * FROM v")
    expected = table.get_resolved_schema().get_column_data_types()
    environment.use_database("other")

    for path in ("`default`.v", "`default`.w"):
        again = environment.from_path(path)
        assert expected == again.get_resolved_schema().get_column_data_types()
        engine = environment._session.executable(again.relation)
        assert len(expected) == len(engine.columns)
    names = [row[0] for row in environment.execute_sql("DESCRIBE `default`.v").collect()]
    assert table.get_resolved_schema().get_column_names() == names
    assert environment.drop_temporary_view("`default`.v")


@pytest.mark.parametrize("name", TABLES)
def test_a_permanent_view_is_serialized_or_refused(
    environment: TableEnvironment, name: str
) -> None:
    make, refusal = TABLES[name]
    table = make(environment)
    if refusal is None:
        assert environment.create_view("v", table)
        assert "AS SELECT" in environment.get_create_statement("v") or name == "values"
        return

    for call in (lambda: environment.create_view("v", table), table.as_sql):
        with pytest.raises(SchemaCoreError) as caught:
            call()
        assert refusal == caught.value.code
    assert ["t"] == environment.list_tables()


@pytest.mark.parametrize("name", [name for name, (_, refusal) in TABLES.items() if refusal])
def test_show_create_of_an_unserializable_view_is_refused(
    environment: TableEnvironment, name: str
) -> None:
    environment.create_temporary_view("v", TABLES[name][0](environment))

    for call in (
        lambda: environment.execute_sql("SHOW CREATE VIEW v"),
        lambda: environment.get_create_statement("v"),
    ):
        with pytest.raises(SchemaCoreError) as caught:
            call()
        assert "not-in-sql" == caught.value.code


def test_a_temporary_view_follows_its_tables(environment: TableEnvironment) -> None:
    environment.create_temporary_view("v", environment.from_path("t").select(TWICE(col("a"))))
    environment.execute_sql("ALTER TABLE t RENAME a TO b")

    with pytest.raises(SchemaCoreError) as caught:
        environment.from_path("v")
    assert "unknown-column" == caught.value.code
    environment.execute_sql("DESCRIBE v")


def test_functions_of_equal_name_are_distinguished(environment: TableEnvironment) -> None:
    for name, type_ in (("v", "INT"), ("w", "STRING")):
        function = udf(lambda value: value, ["INT"], type_, name="f")
        environment.create_temporary_view(
            name, environment.from_path("t").select(function(col("a")))
        )
    both = environment.sql_query("SELECT * FROM v, w").get_resolved_schema()

    assert [DataTypes.INT(), DataTypes.STRING()] == both.get_column_data_types()
