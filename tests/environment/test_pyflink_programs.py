"""What programs for PyFlink do with names, settings and tables after the change of imports."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pytest

from schema_core.catalog import Constraint, ResolvedSchema, UniqueConstraint
from schema_core.errors import SchemaError
from schema_core.expressions import call, call_sql, coalesce, col, lit, map_from_arrays, object_of
from schema_core.pyflink.common import ConfigOptions, Configuration, Row, RowKind
from schema_core.pyflink.table.changelog_mode import ChangelogMode
from schema_core.pyflink.table.environment_settings import EnvironmentSettings
from schema_core.pyflink.table.module import Module, ModuleEntry
from schema_core.pyflink.table.plan_reference import (
    FilePlanReference,
    JsonContentPlanReference,
    PlanReference,
)
from schema_core.pyflink.table.resolved_expression import ResolvedExpression
from schema_core.pyflink.table.sql_dialect import SqlDialect
from schema_core.pyflink.table.table import Table
from schema_core.pyflink.table.table_config import TableConfig
from schema_core.pyflink.table.table_descriptor import FormatDescriptor, TableDescriptor
from schema_core.pyflink.table.table_environment import TableEnvironment
from schema_core.pyflink.table.table_schema import TableSchema
from schema_core.pyflink.table.udf import udf, udtf
from schema_core.schema import Schema
from schema_core.types import DataType, DataTypes, UserDefinedType


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


def test_options_are_built_as_in_pyflink() -> None:
    key = ConfigOptions.key("key.format").string_type().no_default_value()
    size = ConfigOptions.key("size").long_type().default_value(2**40)
    flags = [
        ConfigOptions.key("b").boolean_type().default_value(True).of({"b": "false"}),
        ConfigOptions.key("i").int_type().no_default_value().of({"i": "3"}),
        ConfigOptions.key("d").double_type().default_value(1).of({}),
        ConfigOptions.key("f").float_type().no_default_value().of({"f": "0.5"}),
    ]
    made = TableDescriptor.for_connector("kafka").format("json", key).option(size, 5).build()

    assert [False, 3, 1, 0.5] == flags
    assert {"connector": "kafka", "key.format": "json", "size": "5"} == made.get_options()
    for wrong in (
        lambda: ConfigOptions.key(3),  # type: ignore[arg-type]
        lambda: ConfigOptions.key("i").int_type().default_value("3"),  # type: ignore[arg-type]
        lambda: ConfigOptions.key("i").int_type().default_value(True),
    ):
        with pytest.raises(SchemaError):
            wrong()


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


@pytest.fixture
def people(environment: TableEnvironment) -> Table:
    return environment.from_elements([(1, "Ann B"), (2, None)], ["id", "name"])


STRING_SUMS: dict[str, tuple[Any, str]] = {
    "column and string": (col("name") + "!", "`name` || '!'"),
    "string and column": ("Dr. " + col("name"), "'Dr. ' || `name`"),
    "two columns": (col("name") + col("name"), "`name` || `name`"),
    "number and string": (col("id") + "!", "CAST(`id` AS VARCHAR(2147483647)) || '!'"),
    "string and number": (col("name") + 1, "`name` || CAST(1 AS VARCHAR(2147483647))"),
    "numbers first": (
        col("id") + 1 + col("name"),
        "CAST(`id` + 1 AS VARCHAR(2147483647)) || `name`",
    ),
    "numbers": (col("id") + 1, "`id` + 1"),
    "results of functions": (col("name").upper_case + lit("x"), "UPPER(`name`) || 'x'"),
    "within a function": ((col("name") + "x").char_length, "CHAR_LENGTH(`name` || 'x')"),
    "NULL": (col("name") + None, "`name` || CAST(NULL AS VARCHAR(2147483647))"),
}


@pytest.mark.parametrize("name", STRING_SUMS)
def test_strings_are_concatenated_by_plus(people: Table, name: str) -> None:
    expression, sql = STRING_SUMS[name]
    made = people.select(expression.alias("made"))

    expected = people.select(call_sql(sql).alias("made"))
    assert expected.as_sql() == made.as_sql()
    assert expected.get_resolved_schema() == made.get_resolved_schema()


def test_strings_are_concatenated_in_every_method(people: Table) -> None:
    other = people.alias("key", "label")
    sums = [
        people.filter(people.name + "x" == "Annx"),
        people.add_columns((people.name + "x").alias("made")),
        people.add_or_replace_columns((people.name + "x").alias("name")),
        people.order_by(people.name + people.name, (people.name + "x").desc),
        people.group_by((people.name + "x").alias("k")).select(col("k"), people.id.sum.alias("s")),
        people.group_by(people.name).select((people.name.max + "x").alias("m")),
        people.join(other, people.name + "x" == col("label") + "x"),
        people.left_outer_join(other, (people.name + col("label")).is_not_null),
    ]

    for table in sums:
        assert "||" in table.as_sql()
        assert " + " not in table.as_sql()


def test_strings_are_concatenated_in_schemas() -> None:
    schema = (
        Schema.new_builder()
        .column("id", DataTypes.INT())
        .column("first", "STRING")
        .column("last", "VARCHAR(20)")
        .column("odd", "no type")
        .column_by_expression("name", col("first") + " " + col("last"))
        .column_by_expression("key", "k" + col("later"))
        .column_by_expression("next", col("id") + 1)
        .column("later", DataTypes.BIGINT())
        .build()
    )

    written = {one.name: str(one) for one in schema.columns}
    assert "`name` AS [`first` || ' ' || `last`]" == written["name"]
    assert "`key` AS ['k' || CAST(`later` AS VARCHAR(2147483647))]" == written["key"]
    assert "`next` AS [`id` + 1]" == written["next"]


def test_what_is_no_sum_is_refused_as_before(people: Table) -> None:
    with pytest.raises(SchemaError, match="there is no column 'missing'"):
        people.select(col("missing") + "x")
    with pytest.raises(SchemaError):
        people.select(col("name") - "x")


# --- several tables -------------------------------------------------------------------------------


def test_tables_of_elements_are_joined_in_every_way(
    environment: TableEnvironment, people: Table
) -> None:
    words = udtf(lambda s: s.split(" "), input_types=["STRING"], result_types=["STRING"])
    environment.create_temporary_system_function("words", words)
    other = environment.from_elements([(1, "x")], ["key", "label"])
    joined = [
        people.join(other, people.id == other.key),
        people.full_outer_join(other, people.id == other.key).join(other.alias("k", "l")),
        people.join_lateral(call("words", people.name).alias("word")),
        people.left_outer_join_lateral(call("words", people.name).alias("word")),
        people.join(other).join_lateral(call("words", col("label")).alias("word")),
        people.join_lateral(call("words", people.name).alias("word")).join_lateral(
            call("words", col("word") + " y").alias("part")
        ),
    ]

    for table in joined:
        again = environment.sql_query(table.as_sql())
        assert table.get_resolved_schema().get_column_names() == (
            again.get_resolved_schema().get_column_names()
        )


# --- elements -------------------------------------------------------------------------------------


class PointType(UserDefinedType):
    @classmethod
    def sql_type(cls) -> DataType:
        return DataTypes.ARRAY(DataTypes.DOUBLE(nullable=False))

    def serialize(self, obj: Any) -> Any:
        return [obj.x, obj.y]


class Point:
    __UDT__ = PointType()

    def __init__(self, x: float, y: Any) -> None:
        self.x, self.y = x, y


def types_of(table: Table) -> list[str]:
    types = table.get_resolved_schema().get_column_data_types()
    return [one.as_summary_string() for one in types]


def test_objects_of_user_defined_types_are_stored(environment: TableEnvironment) -> None:
    rows = [(1, Point(1.0, 2.0), {"a": [Point(3.0, 4.0)]}), (2, None, None)]
    inferred = environment.from_elements(rows, ["id", "at", "all"])
    fields = [DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("at", PointType())]
    given = environment.from_elements([(1, Point(1.0, 2.0))], DataTypes.ROW(fields))
    alone = environment.from_elements([Point(1.0, 2.0)], PointType())

    array = "ARRAY<DOUBLE NOT NULL>"
    assert ["BIGINT", array, f"MAP<STRING NOT NULL, ARRAY<{array}>>"] == types_of(inferred)
    assert ["INT", array] == types_of(given)
    assert [array] == types_of(alone)
    assert "ARRAY[CAST(1.0 AS DOUBLE), CAST(2.0 AS DOUBLE)]" in alone.as_sql().replace("E0", "")
    with pytest.raises(SchemaError, match="requires float, got str"):
        environment.from_elements([(Point(1.0, "2"),)], ["at"])


def test_an_object_that_does_not_serialize_is_refused(environment: TableEnvironment) -> None:
    class Broken(PointType):
        def serialize(self, obj: Any) -> Any:
            return [obj.z]

    row = DataTypes.ROW([DataTypes.FIELD("at", Broken())])
    with pytest.raises(SchemaError) as caught:
        environment.from_elements([(Point(1.0, 2.0),)], row, verify_schema=False)
    assert "invalid-data" == caught.value.code


@pytest.mark.parametrize(
    ("rows", "names", "types"),
    [
        ([Row(1, "x"), Row(2, None)], ["_1", "_2"], ["BIGINT", "STRING"]),
        ([Row(a=1, b=Row(c=2))], ["a", "b"], ["BIGINT", "ROW<`c` BIGINT>"]),
        ([Row(1, Row(2, "e"))], ["_1", "_2"], ["BIGINT", "ROW<`_1` BIGINT, `_2` STRING>"]),
        ([Row("a", "b")(1, 2)], ["a", "b"], ["BIGINT", "BIGINT"]),
        ([Row(1, [Row("x")]), (2, None)], ["_1", "_2"], ["BIGINT", "ARRAY<ROW<`_1` STRING>>"]),
    ],
)
def test_types_of_rows_are_inferred(
    environment: TableEnvironment, rows: list[Any], names: list[str], types: list[str]
) -> None:
    table = environment.from_elements(rows)
    renamed = environment.from_elements(rows, ["x", "y"])

    assert names == table.get_resolved_schema().get_column_names()
    assert ["x", "y"] == renamed.get_resolved_schema().get_column_names()
    assert types == types_of(table) == types_of(renamed)


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1.5", None], "DECIMAL(38, 18)"),
        (["123456789012345678901234567890.12345678", "1.5"], "DECIMAL(38, 8)"),
        (["1E+30"], "DECIMAL(38, 7)"),
        (["1E-25", "-12"], "DECIMAL(38, 25)"),
        (["99999999999999999999999999999999999999"], "DECIMAL(38, 0)"),
        (["0"], "DECIMAL(38, 18)"),
    ],
)
def test_decimals_keep_all_digits(
    environment: TableEnvironment, values: list[str | None], type_: str
) -> None:
    rows = [(one if one is None else Decimal(one),) for one in values]

    assert [type_] == types_of(environment.from_elements(rows, ["d"]))
    assert [f"ARRAY<{type_}>"] == types_of(environment.from_elements([([r[0] for r in rows],)]))


@pytest.mark.parametrize(
    ("rows", "schema", "message"),
    [
        ([(Decimal("1E+30"),), (Decimal("1E-9"),)], ["d"], "38 digits"),
        ([(Decimal("NaN"),)], ["d"], "NaN is not a finite number"),
        ([Row.of_kind(RowKind.DELETE, 1)], ["a"], "rows can only be inserted"),
        ([(1, Row(None))], ["a", "b"], "column 'b' or a part of it has only NULL values"),
        ([], ["a"], "without rows"),
        ([(1,)], "INT", "INT requires int, got tuple"),
    ],
)
def test_rows_that_would_change_are_refused(
    environment: TableEnvironment, rows: list[Any], schema: Any, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        environment.from_elements(rows, schema)


def test_single_values_are_rows_of_one_column(environment: TableEnvironment) -> None:
    lists = environment.from_elements([[1, 2], [3]], DataTypes.ARRAY(DataTypes.INT()))
    maps = environment.from_elements([{"a": 1}], "MAP<STRING, INT>")

    assert (["ARRAY<INT>"], ["MAP<STRING, INT>"]) == (types_of(lists), types_of(maps))


# --- tables in strings ---------------------------------------------------------------------------


def test_a_table_in_a_string_is_a_temporary_view(environment: TableEnvironment) -> None:
    table = environment.from_elements([(1, "a"), (2, "b")], ["id", "name"])

    result = environment.sql_query(f"SELECT name FROM {table} WHERE id > 1")
    again = environment.sql_query("SELECT id FROM %s" % table)  # noqa: UP031 - as in PyFlink's pages

    assert ["name"] == result.get_resolved_schema().get_column_names()
    assert ["id"] == again.get_resolved_schema().get_column_names()
    assert [str(table)] == environment.list_temporary_views()
    assert "UnnamedTable$" in str(table)
    assert str(result) != str(table)


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


def test_a_table_in_a_string_does_not_take_the_name_of_a_view(
    environment: TableEnvironment,
) -> None:
    for number in range(1, 4):
        environment.execute_sql(f"CREATE TEMPORARY VIEW `UnnamedTable${number}` AS SELECT 'other'")
    table = environment.from_elements([(1,)], ["id"])
    result = environment.sql_query(f"SELECT * FROM {table}")
    assert ["id"] == result.column_names()
