"""Tables created by methods and tables of Python values, on Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_api.table import Table
from schema_core.environment.table_environment import TableEnvironment
from schema_core.expressions import col, lit
from schema_core.types.row_value import Row


@pytest.fixture(scope="module")
def environment(session: object) -> TableEnvironment:
    assert session is not None
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


@pytest.fixture(scope="module")
def people(environment: TableEnvironment) -> Table:
    rows = [(1, "Ann", 30), (2, "Bob", None), (3, "Cid", 20), (4, "Ann", 50)]
    return environment.from_elements(rows, ["id", "name", "age"])


def rows(table: Table) -> list[Row]:
    return list(table.execute().collect())


def test_values_are_returned_unchanged(environment: TableEnvironment) -> None:
    values: tuple[object, ...] = (
        1, 2.5, "it's", True, b"\x00x", Decimal("1.50"), dt.date(2020, 2, 29),
        dt.datetime(2020, 2, 29, 1, 2, 3, 456000),  # noqa: DTZ001 - a TIMESTAMP
        [1, None], [], {"k": 1}, {}, Row(1, "x"), None, float("-inf"),
    )  # fmt: skip
    schema = (
        "ROW<a INT NOT NULL, b DOUBLE, c STRING, d BOOLEAN, e BYTES, f DECIMAL(5, 2), g DATE,"
        " h TIMESTAMP(3), i ARRAY<INT>, j ARRAY<INT>, k MAP<STRING, INT>, l MAP<STRING, INT>,"
        " m ROW<x INT, y STRING>, n INT, o DOUBLE>"
    )

    (result,) = rows(environment.from_elements([values], schema))

    assert Row(*values) == result


def test_no_rows(environment: TableEnvironment) -> None:
    assert [] == rows(environment.from_elements([], "ROW<a INT NOT NULL>"))


def test_rows_are_filtered_grouped_and_sorted(people: Table) -> None:
    grouped = (
        people.where(col("id") < 4)
        .add_columns((col("age") + 1).alias("next"))
        .group_by(col("name"))
        .select(col("name"), col("id").count.alias("n"), col("next").max.alias("oldest"))
        .order_by(col("name").desc)
    )

    assert [Row("Cid", 1, 21), Row("Bob", 1, None), Row("Ann", 1, 31)] == rows(grouped)
    assert [Row("Bob", 1, None)] == rows(grouped.limit(1, 1))
    assert [Row(4, 33)] == rows(people.select(col("id").count, col("age").avg))


def test_tables_are_joined_and_combined(people: Table, environment: TableEnvironment) -> None:
    towns = environment.from_elements([("Ann", "Ulm"), ("Dan", "Bonn")], ["who", "town"])
    joined = people.left_outer_join(towns, col("name") == col("who"))
    once = people.select(col("name")).union(towns.select(col("who")))

    assert [(1, "Ulm"), (2, None), (3, None), (4, "Ulm")] == sorted(
        (row[0], row[4]) for row in rows(joined)
    )
    assert ["Ann", "Bob", "Cid", "Dan"] == sorted(row[0] for row in rows(once))
    names, others = people.select(col("name")), towns.select(col("who"))
    assert [Row("Ann")] == rows(names.intersect(others))
    assert ["Bob", "Cid"] == sorted(row[0] for row in rows(names.minus(others)))


def test_a_view_of_a_table_and_a_frame(people: Table, environment: TableEnvironment) -> None:
    pandas = pytest.importorskip("pandas")
    with environment.temporary_scope():
        environment.create_temporary_view("adults", people.where(col("age") > 21))
        frame = environment.sql_query("SELECT id, name FROM adults ORDER BY id").to_pandas()
        again = environment.from_pandas(frame).select(col("id") + lit(1))

    assert [(1, "Ann"), (4, "Ann")] == list(frame.itertuples(index=False, name=None))
    assert isinstance(frame, pandas.DataFrame)
    assert [Row(2), Row(5)] == rows(again)


def test_a_query_is_explained(environment: TableEnvironment) -> None:
    assert "Physical Plan" in environment.explain_sql("SELECT 1 AS a")
