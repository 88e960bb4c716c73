"""The queries of aggregates and first rows that are sent to a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from schema_core.connectors.jdbc.aggregation import JdbcAggregation, top_n_clauses
from schema_core.connectors.jdbc.dialects import (
    MYSQL,
    ORACLE,
    POSTGRESQL,
    SQL_SERVER,
    SQLITE,
    DatabaseColumn,
    JdbcDialect,
    Selected,
)
from schema_core.spark.connector import AggregateExpression, Aggregation, SortOrder, TopN
from schema_core.types import DataType, parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.filters import Filter

COLUMNS = {
    "i": "INT", "b": "BIGINT", "p": "DECIMAL(9, 2)", "long": "DECIMAL(20, 2)", "s": "STRING",
    "f": "DOUBLE", "d": "DATE", "late": "TIMESTAMP(3)",
}  # fmt: skip


class Columns:
    """Columns of which `late` is converted when it is read."""

    check: str | None = None

    def __init__(self) -> None:
        self.columns: Sequence[tuple[str, DataType, DatabaseColumn]] = [
            (name, parse_type(text), DatabaseColumn(name, text, 0, 0, 0))
            for name, text in COLUMNS.items()
        ]
        self.selected = {name: Selected(name) for name in COLUMNS}

    def condition(self, filters: Sequence[Filter]) -> str | None:
        return ""

    def is_plain(self, name: str) -> bool:
        return name != "late"

    def checked(self, frame: DataFrame) -> DataFrame:
        return frame


@pytest.mark.parametrize(
    ("dialect", "keys", "call", "column", "type_", "expected"),
    [
        (POSTGRESQL, "", "COUNT", None, "BIGINT", 'COUNT(*) AS "x"'),
        (SQL_SERVER, "", "COUNT", None, "BIGINT", "COUNT_BIG(*) AS [x]"),
        (SQLITE, "", "COUNT", "s", "BIGINT", 'COUNT(s) AS "x"'),
        (SQLITE, "", "MAX", "i", "INT", 'MAX(i) AS "x"'),
        (SQLITE, "", "MAX", "d", "DATE", None),
        (SQLITE, "", "SUM", "p", "DECIMAL(38, 2)", None),
        (SQLITE, "", "SUM", "b", "BIGINT", None),
        (POSTGRESQL, "", "SUM", "b", "BIGINT", 'SUM(CAST(b AS numeric)) AS "x"'),
        (MYSQL, "", "SUM", "i", "INT", "CAST(SUM(CAST(i AS SIGNED)) AS SIGNED) AS `x`"),
        (MYSQL, "", "SUM", "b", "BIGINT", None),
        (POSTGRESQL, "", "SUM", "p", "DECIMAL(38, 2)", 'SUM(p) AS "x"'),
        (POSTGRESQL, "", "SUM", "long", "DECIMAL(38, 2)", None),
        (POSTGRESQL, "", "MIN", "s", "STRING", None),
        (POSTGRESQL, "", "MIN", "f", "DOUBLE", None),
        (POSTGRESQL, "", "MIN", "late", "TIMESTAMP(3)", None),
        (POSTGRESQL, "d", "MAX", "d", "DATE", 'd AS "d", MAX(d) AS "x" FROM t GROUP BY d'),
        (
            POSTGRESQL,
            "s",
            "COUNT",
            None,
            "BIGINT",
            's COLLATE "C" AS "s", COUNT(*) AS "x" FROM t GROUP BY s COLLATE "C"',
        ),
        (MYSQL, "s", "COUNT", None, "BIGINT", None),
        (SQLITE, "s", "COUNT", None, "BIGINT", None),
        (POSTGRESQL, "f", "COUNT", None, "BIGINT", None),
        (POSTGRESQL, "late", "COUNT", None, "BIGINT", None),
    ],
)
def test_aggregates_are_sent_where_the_database_computes_the_same(
    dialect: JdbcDialect, keys: str, call: str, column: str | None, type_: str, expected: str | None
) -> None:
    aggregate = AggregateExpression(call, column, parse_type(type_), "x")
    aggregation = Aggregation(tuple(keys.split()), (aggregate,))
    sent = JdbcAggregation(Columns(), dialect, "t", aggregation).sql

    if expected is not None and " FROM " not in expected:
        expected += " FROM t"
    assert (None if expected is None else f"SELECT {expected}") == sent


def test_rows_that_cannot_be_read_are_counted_by_a_check() -> None:
    columns = Columns()
    columns.check = "CASE WHEN i IS NULL THEN 1 END"
    calls = (AggregateExpression("SUM", "i", parse_type("INT"), "x"),)
    pushed = JdbcAggregation(columns, SQLITE, "t", Aggregation(("b",), calls))

    assert pushed.sql is not None
    assert 'MIN(CASE WHEN i IS NULL THEN 1 END) AS "schema_core_check"' in pushed.sql
    assert "`b` bigint, `x` BIGINT, `schema_core_check` INT" == pushed.schema


@pytest.mark.parametrize(
    ("dialect", "key", "expected"),
    [
        (POSTGRESQL, "d", " ORDER BY d ASC NULLS LAST LIMIT 3"),
        (ORACLE, "i", " ORDER BY i ASC NULLS LAST FETCH FIRST 3 ROWS ONLY"),
        (SQLITE, "b", " ORDER BY b ASC NULLS LAST LIMIT 3"),
        (SQLITE, "d", None),
        (POSTGRESQL, "s", None),
        (POSTGRESQL, "f", None),
        (POSTGRESQL, "late", None),
        (MYSQL, "i", None),
    ],
)
def test_first_rows_are_found_where_the_database_orders_alike(
    dialect: JdbcDialect, key: str, expected: str | None
) -> None:
    top_n = TopN((SortOrder(key, descending=False, nulls_last=True),), 3)

    assert expected == top_n_clauses(Columns(), dialect, top_n)
