"""What programs for PyFlink do with names, settings and tables after the change of imports."""

from __future__ import annotations

import pickle

import pytest

from schema_core.catalog import Constraint, ResolvedSchema, UniqueConstraint
from schema_core.changelog_mode import ChangelogMode
from schema_core.common import Configuration, RowKind
from schema_core.environment_settings import EnvironmentSettings
from schema_core.errors import SchemaError
from schema_core.expressions import call_sql, coalesce, col, lit, map_from_arrays, object_of
from schema_core.module import Module, ModuleEntry
from schema_core.plan_reference import FilePlanReference, JsonContentPlanReference, PlanReference
from schema_core.resolved_expression import ResolvedExpression
from schema_core.schema import Schema
from schema_core.sql_dialect import SqlDialect
from schema_core.table_config import TableConfig
from schema_core.table_descriptor import FormatDescriptor, TableDescriptor
from schema_core.table_environment import TableEnvironment
from schema_core.table_schema import TableSchema
from schema_core.types import DataTypes
from schema_core.udf import udf


@pytest.fixture
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


# --- settings ------------------------------------------------------------------------------------


def test_an_environment_has_defaults_and_takes_a_configuration() -> None:
    config = TableConfig().set("table.local-time-zone", "Asia/Tokyo")
    given = TableEnvironment.create(config)
    config.set("table.local-time-zone", "Europe/Rome")

    assert "default_catalog" == TableEnvironment.create().get_current_catalog()
    assert "Asia/Tokyo" == given.get_config().get_local_timezone(), "a copy of the options"
    with pytest.raises(SchemaError, match="environment_settings must be a mapping"):
        TableEnvironment.create(3)  # type: ignore[arg-type]


def test_builders_are_nested_classes_as_in_pyflink() -> None:
    settings = EnvironmentSettings.Builder().in_batch_mode().build()

    assert not settings.is_streaming_mode()
    assert isinstance(FormatDescriptor.for_format("csv"), FormatDescriptor.Builder)
    assert isinstance(TableDescriptor.for_connector("print"), TableDescriptor.Builder)
    assert isinstance(TableSchema.builder(), TableSchema.Builder)
    assert isinstance(Schema.new_builder(), Schema.Builder)


def test_only_the_dialect_of_flink_is_supported() -> None:
    config = TableConfig()
    config.set_sql_dialect(SqlDialect.DEFAULT)

    assert SqlDialect.DEFAULT is config.get_sql_dialect()
    with pytest.raises(SchemaError, match="expected one of DEFAULT, got 'hive'"):
        config.set_sql_dialect(SqlDialect.HIVE)
    with pytest.raises(SchemaError, match=r"table\.sql-dialect"):
        config.set("table.sql-dialect", "hive")


def test_configurations_are_copied_and_merged() -> None:
    target = {"z": "0"}
    given = Configuration.from_dict({"a": "1", "list": "x;'y;z'"})
    given.add_all_to_dict(target)

    assert {"a": "1", "list": "x;'y;z'", "z": "0"} == target
    assert {"a", "list"} == given.key_set()
    merged = Configuration().add_all(given, "p.")
    assert {"p.a": "1", "p.list": "x;'y;z'"} == merged.to_dict()
    assert ["x", "y;z"] == Configuration.parse_list_value(given["list"])


# --- values --------------------------------------------------------------------------------------


def test_table_schemas_are_printed_as_in_pyflink() -> None:
    schema = (
        TableSchema.builder()
        .field("id", DataTypes.BIGINT().not_null())
        .field("tags", DataTypes.ARRAY(DataTypes.STRING()))
        .build()
    )

    assert "root\n |-- id: BIGINT NOT NULL\n |-- tags: ARRAY<STRING>\n" == str(schema)
    assert schema.to_row_data_type().names == ["id", "tags"]
    assert ["id", "tags"] == [one.get_name() for one in schema.to_schema().columns]
    assert TableSchema() == TableSchema(None, None)  # type: ignore[arg-type]
    for names, types in (("ab", [DataTypes.INT()] * 2), (["a"], ["INT"]), (["a"], [])):
        with pytest.raises(SchemaError):
            TableSchema(names, types)  # type: ignore[arg-type]


def test_formats_are_printed_as_in_pyflink() -> None:
    builder = FormatDescriptor.for_format("json").option("ignore-parse-errors", True)

    assert "json[{}]" == str(FormatDescriptor.for_format("json").build())
    assert "json[{ignore-parse-errors=true}]" == str(builder.build())


def test_changelog_modes() -> None:
    assert ChangelogMode.insert_only().contains_only(RowKind.INSERT)
    assert set(RowKind) == ChangelogMode.all().get_contained_kinds()
    assert ChangelogMode.upsert() != ChangelogMode.all()
    with pytest.raises(SchemaError):
        ChangelogMode({"INSERT"})  # type: ignore[arg-type]


def test_plan_references_have_their_content() -> None:
    file, text = PlanReference.from_file("plan.json"), PlanReference.from_json_string("{}")

    assert isinstance(file, FilePlanReference)
    assert isinstance(text, JsonContentPlanReference)
    assert file.get_file().endswith("plan.json")
    assert file == PlanReference.from_file("plan.json")
    assert "{}" == text.get_content()


def test_modules_hold_functions(environment: TableEnvironment) -> None:
    twice = udf(lambda i: 2 * i, input_types=["INT"], result_type="INT")
    environment.load_module("mine", Module({"twice": twice}))

    entries = environment.list_full_modules()
    assert [ModuleEntry("core", True), ModuleEntry("mine", True)] == entries
    assert [("core", True), ("mine", True)] == [(one.name(), one.used()) for one in entries]
    assert "ModuleEntry{name='mine', used=true}" == repr(pickle.loads(pickle.dumps(entries[1])))
    assert "INT" == str(
        environment.sql_query("SELECT twice(1) AS t").get_resolved_schema().columns[0].data_type
    )
    with pytest.raises(SchemaError):
        Module({1: twice})  # type: ignore[dict-item]


# --- expressions ---------------------------------------------------------------------------------


def test_sql_expressions_keep_their_text() -> None:
    schema = (
        Schema.new_builder()
        .column("ts", DataTypes.TIMESTAMP(3))
        .column_by_expression("day", call_sql("CAST( ts  AS DATE )"))
        .watermark("ts", call_sql("ts - interval '5' second"))
        .build()
    )

    assert "`day` AS [CAST( ts  AS DATE )]" in str(schema)
    assert "WATERMARK FOR `ts` AS [ts - interval '5' second]" in str(schema)


def test_functions_of_several_expressions(environment: TableEnvironment) -> None:
    table = environment.from_elements([(1, ["x"], [2])], ["a", "k", "v"]).select(
        coalesce(col("a"), 0).alias("a"),
        map_from_arrays(col("k"), col("v")).alias("m"),
        object_of("acme.User", lit("id"), col("a")).alias("o"),
    )

    types = table.get_resolved_schema().get_column_data_types()
    shown = [one.as_summary_string() for one in types]
    assert ["BIGINT NOT NULL", "MAP<STRING, BIGINT>"] == shown[:2]
    assert shown[2] == "STRUCTURED<'acme.User', `id` BIGINT>"


def test_resolved_expressions_have_children(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (a INT, b AS UPPER(CAST(a AS STRING)))")
    column = environment.from_path("t").get_resolved_schema().get_column("b")
    expression = column.get_expression()  # type: ignore[union-attr]

    assert isinstance(expression, ResolvedExpression)
    (child,) = expression.get_resolved_children()
    assert ("STRING", "CAST(`a` AS STRING)") == (
        child.get_output_data_type().as_summary_string(),
        child.as_serializable_string(),
    )


# --- tables in strings ---------------------------------------------------------------------------


def test_a_table_in_a_string_is_a_temporary_view(environment: TableEnvironment) -> None:
    table = environment.from_elements([(1, "a"), (2, "b")], ["id", "name"])

    found = environment.sql_query(f"SELECT name FROM {table} WHERE id > 1")
    again = environment.sql_query("SELECT id FROM %s" % table)  # noqa: UP031 - as in PyFlink's pages

    assert ["name"] == found.get_resolved_schema().get_column_names()
    assert ["id"] == again.get_resolved_schema().get_column_names()
    assert [str(table)] == environment.list_temporary_views()
    assert "UnnamedTable$" in str(table)
    assert str(found) != str(table)


def test_a_table_in_a_string_is_found_in_the_current_database(
    environment: TableEnvironment,
) -> None:
    table = environment.from_elements([(1,)], ["id"])
    first = str(table)
    environment.execute_sql("CREATE DATABASE other")
    environment.use_database("other")

    assert first == str(table)
    environment.sql_query(f"SELECT * FROM {table}")
    environment.drop_temporary_view(first)
    environment.sql_query(f"SELECT * FROM {table}")


def test_the_representation_of_a_table_registers_nothing(environment: TableEnvironment) -> None:
    table = environment.from_elements([(1,)], ["id"])

    assert "(\n  `id` BIGINT\n)" == repr(table)
    assert [] == environment.list_temporary_views()


def test_names_of_the_catalog_module() -> None:
    key = UniqueConstraint.primary_key("pk", ["id"])

    assert isinstance(key, Constraint)
    assert Constraint.ConstraintType.PRIMARY_KEY is key.get_type()
    assert ["id"] == ResolvedSchema.physical(["id"], [DataTypes.INT()]).get_column_names()
