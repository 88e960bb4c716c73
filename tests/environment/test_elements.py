"""Tables of Python values: inferred types, and errors."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_api.descriptor import (
    FormatDescriptor,
    ModelDescriptor,
    TableDescriptor,
)
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.expressions import lit, row
from schema_core.types import DataTypes, parse_type
from schema_core.types.element_values import convert_element
from schema_core.types.row_value import Row

ROW = DataTypes.ROW(
    [DataTypes.FIELD("a", DataTypes.INT(False)), DataTypes.FIELD("b", DataTypes.STRING())]
)
LOCAL = dt.datetime(2020, 2, 29, 1, 2, 3, 4)  # noqa: DTZ001 - without a time zone

#: Without type hints, for calls that a type checker would reject.
DESCRIPTOR: Any = TableDescriptor
FORMAT: Any = FormatDescriptor
MODEL: Any = ModelDescriptor


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


@pytest.mark.parametrize(
    ("rows", "schema", "expected"),
    [
        ([(1, "a"), (2, None)], None, "`_1` BIGINT, `_2` STRING"),
        ([(1, "a"), (2, None)], ["id", "name"], "`id` BIGINT, `name` STRING"),
        ([(1, "a")], ["id"], "`id` BIGINT, `_2` STRING"),
        ([{"b": 1, "a": "x"}, {"c": 2.5, "b": 3}], None, "`a` STRING, `b` BIGINT, `c` DOUBLE"),
        ([(1, "a")], ROW, "`a` INT NOT NULL, `b` STRING"),
        ([Row(b="x", a=1), {"a": 2}], ROW, "`a` INT NOT NULL, `b` STRING"),
        ([], ROW, "`a` INT NOT NULL, `b` STRING"),
        ([], "ROW<a INT NOT NULL>", "`a` INT NOT NULL"),
        ([1, 2], DataTypes.INT(), "`value` INT"),
        ([{"a": 1}, {"b": [1, 2]}, {"a": None, "b": []}], None, "`a` BIGINT, `b` ARRAY<BIGINT>"),
        ([(1.5, Decimal("1.5"), True, b"x")], None,
         "`_1` DOUBLE, `_2` DECIMAL(38, 18), `_3` BOOLEAN, `_4` BYTES"),
        ([(LOCAL.date(), LOCAL)], None,
         "`_1` DATE, `_2` TIMESTAMP_LTZ(6)"),
        ([({"k": 1}, (1, "x"), {})],
         "ROW<m MAP<STRING, INT>, r ROW<x INT, y STRING>, e MAP<INT, INT>>",
         "`m` MAP<STRING, INT>, `r` ROW<`x` INT, `y` STRING>, `e` MAP<INT, INT>"),
        ([(float("nan"),), (float("-inf"),)], ["x"], "`x` DOUBLE"),
    ],
)  # fmt: skip
def test_types_are_inferred_from_elements(
    environment: TableEnvironment, rows: list[Any], schema: object, expected: str
) -> None:
    table = environment.from_elements(rows, schema)
    columns = table.get_resolved_schema().columns

    assert expected == ", ".join(column.as_summary_string() for column in columns)
    assert table.select(*map(table.__getattr__, table.column_names())).column_names()
    assert (
        columns == environment.sql_query(table.as_sql()).get_resolved_schema().columns or not rows
    )


@pytest.mark.parametrize(
    ("rows", "schema", "code"),
    [
        ([("x",)], "ROW<a INT>", "invalid-data"),
        ([(None,)], "ROW<a INT NOT NULL>", "invalid-data"),
        ([(1, 2)], "ROW<a INT>", "invalid-data"),
        ([(None,)], None, "data-type-not-inferred"),
        ([(1,), ("x",)], None, "data-type-not-inferred"),
        ([1], None, "data-type-not-inferred"),
        ([(1,)], ["a", "b"], "column-count-mismatch"),
        ([(1,)], 5, "invalid-argument"),
        ([(1,)] * 10_001, None, "limit-exceeded"),
        (5, None, "invalid-argument"),
    ],
)
def test_invalid_elements_are_refused(
    environment: TableEnvironment, rows: Any, schema: object, code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.from_elements(rows, schema)

    assert code == caught.value.code


def test_an_invalid_value_is_reported_with_its_row(environment: TableEnvironment) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.from_elements([(1, "a"), ("x", "b")], ROW)

    assert ("row 2", "column 'a'") == caught.value.path


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("DECIMAL(5, 2)", Decimal("1.005"), Decimal("1.01")),
        ("DECIMAL(5, 2)", Decimal("-1.005"), Decimal("-1.01")),
        ("ARRAY<DECIMAL(2, 1)>", (Decimal("1.25"), None), [Decimal("1.3"), None]),
        ("MAP<STRING, DECIMAL(2, 1)>", {1: Decimal("1.25")}, {"1": Decimal("1.3")}),
        ("ROW<a STRING, d DECIMAL(2, 1)>", Row(d=Decimal("1.25"), a=True),
         Row(d=Decimal("1.3"), a="true")),
        ("ROW<a STRING>", (["x", None],), ("[x, null]",)),
        ("ROW<a STRING>", {"a": {"k": 1.5}, "b": 2}, {"a": "{k=1.5}", "b": 2}),
        ("STRING", 1234567.0, "1234567.0"),
        ("STRING", -12345678.5, "-1.23456785E7"),
        ("STRING", 1e-7, "1.0E-7"),
        ("STRING", float("-inf"), "-Infinity"),
        ("STRING", b"x", b"x"),
        ("INT", "x", "x"),
        ("DECIMAL(5, 2)", Decimal("1e999"), Decimal("1e999")),
    ],
)  # fmt: skip
def test_values_are_converted_as_by_pyflink(type_: str, value: Any, expected: Any) -> None:
    assert expected == convert_element(parse_type(type_), value)


def test_rows_are_converted_before_they_are_checked(environment: TableEnvironment) -> None:
    table = environment.from_elements([(Decimal("1.005"), 1)], "ROW<d DECIMAL(5, 2), s STRING>")
    assert "CAST(1.01 AS DECIMAL(5, 2))" in table.as_sql()
    assert "CAST('1' AS VARCHAR" in table.as_sql()
    with pytest.raises(SchemaCoreError, match="more digits than"):
        environment.from_elements([(Decimal("1234.5"),)], "ROW<d DECIMAL(5, 2)>")
    with pytest.raises(SchemaCoreError, match="requires str"):
        environment.from_elements([(b"x",)], "ROW<s STRING>")


def test_a_view_of_elements(environment: TableEnvironment) -> None:
    with environment.temporary_scope():
        table = environment.from_elements([(1, "a")], ["id", "name"])
        environment.create_temporary_view("people", table)

        assert ["id"] == environment.sql_query("SELECT id FROM people").column_names()


def test_frames_of_pandas(environment: TableEnvironment) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "i": [1, 2],
            "f": [1.5, None],
            "s": ["x", None],
            "t": pandas.to_datetime([LOCAL, None]),
        }
    )

    table = environment.from_pandas(frame)
    expected = ["`i` BIGINT", "`f` DOUBLE", "`s` STRING", "`t` TIMESTAMP(6)"]
    assert expected == [
        column.as_summary_string() for column in table.get_resolved_schema().columns
    ]
    named = environment.from_pandas(frame[["i"]], ["x"])
    assert ["`x` BIGINT"] == [
        column.as_summary_string() for column in named.get_resolved_schema().columns
    ]
    typed = environment.from_pandas(frame[["i"]], [DataTypes.INT()])
    assert ["`i` INT"] == [
        column.as_summary_string() for column in typed.get_resolved_schema().columns
    ]
    with pytest.raises(SchemaCoreError) as caught:
        environment.from_pandas([1])
    assert "invalid-argument" == caught.value.code


@pytest.mark.parametrize(
    "use",
    [
        lambda e: e.execute_sql(None),
        lambda e: e.sql_query(5),
        lambda e: e.explain_sql(None),
        lambda e: e.from_path(None),
        lambda e: e.find_table(None),
        lambda e: e.describe(None),
        lambda e: e.from_descriptor("t"),
        lambda e: e.create_table("w", "descriptor"),
        lambda e: e.create_table(None, None),
        lambda e: e.create_temporary_table("w", {}),
        lambda e: e.create_view("w", "SELECT 1"),
        lambda e: e.create_temporary_view("w", "SELECT 1"),
        lambda e: e.drop_table(None),
        lambda e: e.use_catalog(5),
        lambda e: e.use_database(5),
        lambda e: e.get_catalog(None),
        lambda e: e.create_catalog("c", "descriptor"),
        lambda e: e.register_catalog("c", "catalog"),
        lambda e: e.create_model("m", "descriptor"),
        lambda e: e.create_temporary_function(None, "x"),
        lambda e: e.create_temporary_function("f", None),
        lambda e: e.create_temporary_system_function(None, "x"),
        lambda e: e.create_java_function("f", None),
        lambda e: e.drop_function(None),
        lambda e: e.load_module(None),
        lambda e: e.create_statement_set().add_insert_sql(None),
        lambda e: e.create_statement_set().add_insert("t", "SELECT 1"),
        lambda e: type(e).create(5),
        lambda e: e.use_modules(5),
        lambda e: e.create_statement_set().add(None),
        lambda e: e.sql_query("SELECT 1 AS a").limit(None),
        lambda e: e.sql_query("SELECT 1 AS a").limit(1, "x"),
        lambda e: e.sql_query("SELECT 1 AS a").join("t"),
        lambda _: DESCRIPTOR.for_connector("x").partitioned_by(5),
        lambda _: DESCRIPTOR.for_connector(None),
        lambda _: DESCRIPTOR.for_connector("x").option("k", None),
        lambda _: DESCRIPTOR.for_connector("x").option(5, "v"),
        lambda _: DESCRIPTOR.for_connector("x").schema("a INT"),
        lambda _: FORMAT.for_format(None),
        lambda _: MODEL.for_provider(None),
        lambda e: e.get_config().set("k", None),
        lambda e: e.get_config().set(None, "v"),
    ],
)
def test_arguments_of_a_wrong_type_are_refused(environment: TableEnvironment, use: Any) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        use(environment)

    assert "invalid-argument" == caught.value.code


def test_rows_of_expressions(environment: TableEnvironment) -> None:
    table = environment.from_elements([row(1, "a"), row(2.5, lit("b"))], "ROW<x INT, y STRING>")
    assert ["`x` INT", "`y` STRING"] == [
        column.as_summary_string() for column in table.get_resolved_schema().columns
    ]
    assert "CAST('b' AS VARCHAR(2147483647))" in table.as_sql()
    single = environment.from_elements([lit(1), lit(2)], "ROW<x BIGINT NOT NULL>")
    assert ["x"] == single.column_names()
    with pytest.raises(SchemaError) as caught:
        environment.from_elements([row(1)], "ROW<x INT, y INT>")
    assert "invalid-data" == caught.value.code
    with pytest.raises(SchemaError, match="schema must be a row type") as caught:
        environment.from_elements([row(1, 2)])
    assert "invalid-argument" == caught.value.code
