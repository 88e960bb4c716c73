"""Tables as PyFlink's programs make them: their rows on Spark."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.catalog import Capability, InMemoryCatalog, ObjectPath, Procedure
from schema_core.expressions import coalesce, col, map_from_arrays
from schema_core.pyflink.common import Row
from schema_core.pyflink.table.table import Table
from schema_core.pyflink.table.table_environment import TableEnvironment
from schema_core.types import DataType, DataTypes, UserDefinedType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class PointType(UserDefinedType):
    @classmethod
    def sql_type(cls) -> DataType:
        return DataTypes.ARRAY(DataTypes.DOUBLE(nullable=False))

    def serialize(self, obj: Any) -> Any:
        return [obj.x, obj.y]


class Point:
    __UDT__ = PointType()

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y


@pytest.fixture(scope="module")
def environment(spark: SparkSession) -> TableEnvironment:
    return TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)


def rows(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as result:
        return sorted((tuple(item) for item in result), key=repr)


def test_strings_by_plus_joins_and_views(environment: TableEnvironment) -> None:
    people = environment.from_elements([Row(1, "Ann B"), Row(2, None)], ["id", "name"])
    orders = environment.from_elements([(1, Decimal("1.50")), (3, None)], ["key", "cost"])

    sums = people.select(
        (people.id + ":" + people.name).alias("a"),
        (people.name + people.id + 1).alias("b"),
        (people.id + 1 + coalesce(people.name, "?")).alias("c"),
    )
    joined = people.full_outer_join(orders, people.id == orders.key)
    counted = environment.sql_query(f"SELECT COUNT(*), MAX(name) FROM {people}")

    assert [("1:Ann B", "Ann B11", "2Ann B"), (None, None, "3?")] == rows(sums)
    assert [
        (1, "Ann B", 1, Decimal("1.5")),
        (2, None, None, None),
        (None, None, 3, None),
    ] == rows(joined)
    assert [(2, "Ann B")] == rows(counted)


def test_elements_keep_their_values(environment: TableEnvironment) -> None:
    exact = Decimal("123456789012345678901234567890.12345678")
    table = environment.from_elements(
        [
            (exact, Point(1.0, -0.5), Row(7, Row("x", [1, None]))),
            (Decimal("-0.1"), None, None),
            (None, Point(0.1, 1e300), Row(None, Row(None, []))),
        ],
        ["number", "at", "nested"],
    )
    maps = environment.from_elements([(["k"], [2])], ["k", "v"]).select(
        map_from_arrays(col("k"), col("v")).alias("m")
    )

    assert [
        (Decimal("-0.1"), None, None),
        (exact, [1.0, -0.5], Row(7, Row("x", [1, None]))),
        (None, [0.1, 1e300], Row(None, Row(None, []))),
    ] == rows(table)
    assert [({"k": 2},)] == rows(maps)


class WithProcedures(InMemoryCatalog):
    capabilities = frozenset(Capability)

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        return Procedure.of(lambda *all_: [all_], ["BIGINT", "STRING", "DATE"], RESULT)


RESULT = "ROW<a BIGINT, b STRING, c DATE>"


def test_arguments_of_procedures_are_computed(environment: TableEnvironment) -> None:
    environment.register_catalog("mine", WithProcedures("mine"))

    call = "CALL mine.`default`.p(1 + 2, UPPER('x'), DATE '2024-02-29')"
    with environment.execute_sql(call).collect() as result:
        assert [(3, "X", date(2024, 2, 29))] == [tuple(row) for row in result]
