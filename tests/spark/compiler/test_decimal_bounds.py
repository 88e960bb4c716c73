"""Integer digits of decimals, followed through queries; they decide how quotients are rounded."""

from __future__ import annotations

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.query.relation import Select, Sort, With
from schema_core.spark.compiler.translation import Bounds


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql(
        "CREATE TABLE t (k INT, d DECIMAL(7, 2), e DECIMAL(38, 2), b BIGINT, g DECIMAL(5, 4))"
    )
    return environment


def bound(environment: TableEnvironment, query: str) -> int:
    """Return the bound of the first column of a query."""
    relation = environment.sql_query(query).relation
    bounds = Bounds()
    if isinstance(relation, With):
        bounds, relation = bounds.within(relation), relation.input
    if isinstance(relation, Sort):
        relation = relation.input
    assert isinstance(relation, Select)
    return bounds.over(relation.source).of(relation.items[0].expression)


@pytest.mark.parametrize(
    ("expression", "digits"),
    [
        ("d", 5),
        ("e", 36),
        ("k", 10),
        ("-d", 5),
        ("1234.5 * d", 9),
        ("d + d", 6),
        ("d * k", 15),
        ("ABS(d) * 100", 8),
        ("SUM(d)", 15),
        ("SUM(d * k)", 25),
        ("SUM(e)", 36),
        ("AVG(d)", 5),
        ("LAG(d) OVER (ORDER BY k)", 5),
        ("LAG(d, 1) OVER (ORDER BY k)", 5),
        ("LEAD(d, 1, e) OVER (ORDER BY k)", 5),
        ("MAX(d)", 5),
        ("CAST(d AS DECIMAL(38, 2))", 5),
        ("CAST(d AS DECIMAL(38, 1))", 6),
        ("CAST(d AS DECIMAL(6, 4))", 2),
        ("CAST(SUBSTRING('12', 1, k) AS DECIMAL(38, 2))", 36),
        ("CAST(CAST(k AS DOUBLE) AS DECIMAL(38, 2))", 11),
        ("CASE WHEN k > 1 THEN d ELSE 0 END", 5),
        ("CASE WHEN k > 1 THEN d END", 5),
        ("CASE k WHEN 1 THEN d WHEN 2 THEN e ELSE 0 END", 36),
        ("COALESCE(d, b)", 19),
        ("IF(k > 1, d, 12345678)", 8),
        ("ROUND(CAST(d AS DECIMAL(38, 2)), 1)", 7),
        ("IF(k > 1, g, d)", 5),
        ("d / 3", 5),
    ],
)
def test_bounds_of_expressions(environment: TableEnvironment, expression: str, digits: int) -> None:
    grouped = " GROUP BY k" if "(" in expression and expression[:3] in {"SUM", "AVG", "MAX"} else ""

    assert digits == bound(environment, f"SELECT {expression} FROM t{grouped}")


@pytest.mark.parametrize(
    ("query", "digits"),
    [
        ("SELECT s FROM (SELECT SUM(d) AS s FROM t) AS x", 15),
        ("SELECT x.s - y.d FROM (SELECT SUM(d) AS s FROM t) AS x JOIN t AS y ON TRUE", 16),
        ("WITH x AS (SELECT SUM(d) AS s FROM t) SELECT s + 1 FROM x", 16),
        ("WITH x AS (SELECT d FROM t), y AS (SELECT d + d AS d FROM x) SELECT d FROM y", 6),
        ("WITH x AS (SELECT e FROM t) SELECT * FROM (WITH x AS (SELECT d FROM t) TABLE x)", 5),
        ("SELECT s FROM (SELECT SUM(d) AS s FROM t UNION ALL SELECT e FROM t) AS x", 36),
        ("SELECT s FROM (SELECT SUM(d) AS s FROM t UNION ALL SELECT b FROM t) AS x", 19),
        ("SELECT s FROM (SELECT SUM(d) AS s FROM t ORDER BY s LIMIT 3) AS x", 15),
        ("SELECT (SELECT SUM(d) FROM t) AS s FROM t", 36),
        ("SELECT SUM(s) OVER () FROM (SELECT SUM(d) AS s FROM t GROUP BY k) AS x", 25),
    ],
)
def test_bounds_follow_columns_through_queries(
    environment: TableEnvironment, query: str, digits: int
) -> None:
    assert digits == bound(environment, query)


def test_a_column_that_doubles_in_every_view_is_bounded_once(environment: TableEnvironment) -> None:
    query = "t"
    for _ in range(25):
        query = f"(SELECT d + d AS d FROM {query}) AS x"

    assert 30 == bound(environment, f"SELECT d FROM {query}")
