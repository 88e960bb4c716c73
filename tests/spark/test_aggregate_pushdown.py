"""Which aggregates of a query are offered to a connector, and the query that is left of it."""

from __future__ import annotations

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.query.relation import Relation, Scan, Select, relations_in
from schema_core.spark.connector import Aggregation
from schema_core.spark.reading.aggregate_pushdown import with_aggregates
from schema_core.sql.parser import parse_query

#: Query -> the aggregations that are offered, in order.
OFFERED = {
    "SELECT COUNT(*), COUNT(a), MIN(s) FROM t": ["COUNT(*), COUNT(a), MIN(s)"],
    "SELECT COUNT(1), COUNT(NULLIF(a, 1)) FROM t": [],
    "SELECT SUM(a) + MAX(b) FROM t": ["SUM(a), MAX(b)"],
    "SELECT b FROM t GROUP BY b": ["none by b"],
    "SELECT b, COUNT(*) FROM t GROUP BY b, a": ["COUNT(*) by b, a"],
    "SELECT k, MAX(v) FROM t AS y (k, v, w, c) GROUP BY k": ["MAX(b) by a"],
    "SELECT DISTINCT COUNT(*) FROM t GROUP BY b": ["COUNT(*) by b"],
    "SELECT COUNT(*) FROM t HAVING MIN(a) > 1": ["COUNT(*), MIN(a)"],
    "SELECT b FROM t GROUP BY b ORDER BY MAX(a), b": ["MAX(a) by b"],
    "SELECT b, RANK() OVER (ORDER BY SUM(a)) FROM t GROUP BY b": ["SUM(a) by b"],
    "SELECT COUNT(*) FROM t WHERE a > 1 AND s = 'x'": ["COUNT(*) where `a` > 1, `s` = 'x'"],
    "SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM t GROUP BY b) AS q": ["COUNT(*) by b"],
    "SELECT COUNT(*) FROM t UNION ALL SELECT MAX(a) FROM t": ["COUNT(*)", "MAX(a)"],
    "WITH q AS (SELECT COUNT(*) AS n FROM t) SELECT n FROM q": ["COUNT(*)"],
    "SELECT COUNT(*) FROM t JOIN t AS u ON t.a = u.a": [],
    "SELECT COUNT(*) FROM (SELECT a FROM t) AS q": [],
    "SELECT COUNT(DISTINCT a) FROM t": [],
    "SELECT COUNT(*) FILTER (WHERE a > 1) FROM t": [],
    "SELECT AVG(a), COUNT(*) FROM t": [],
    "SELECT MAX(a + 1) FROM t": [],
    "SELECT MAX(c) FROM t": [],
    "SELECT COUNT(*) FROM t GROUP BY a + 1": [],
    "SELECT COUNT(*) FROM t GROUP BY GROUPING SETS ((a), ())": [],
    "SELECT COUNT(*) FROM t WHERE a + 1 > 1": [],
    "SELECT COUNT(*) FROM t WHERE c > 1": [],
    "SELECT b FROM t GROUP BY b ORDER BY AVG(a)": [],
    "SELECT COUNT(*) OVER () FROM t": [],
    "SELECT COUNT(*), (SELECT MAX(a) FROM t AS u) FROM t": [],
    "SELECT n FROM t, LATERAL (SELECT COUNT(*) FROM t AS u WHERE t.a = 1) AS q (n)": [],
    "SELECT n FROM t, LATERAL (SELECT MAX(t.b) FROM t AS u) AS q (n)": [],
    "SELECT a FROM t": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def env() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    columns = "a INT, b INT, s STRING, c AS a + 1"
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ('connector' = 'x')")
    return env


@pytest.mark.parametrize("query", OFFERED)
def test_aggregates_are_offered(env: TableEnvironment, query: str) -> None:
    offered: list[str] = []

    def offer(scan: Scan, aggregation: Aggregation, rows: Scan) -> bool:
        where = ", ".join(map(str, aggregation.filters))
        offered.append(f"{aggregation}{where and f' where {where}'}")
        names = [*aggregation.keys, *(call.name for call in aggregation.aggregates)]
        assert names == [column.name for column in rows.columns]
        return True

    session = env._session
    resolved = session.executable(session.query(parse_query(query), query))
    changed = with_aggregates(resolved, offer, "UTC")

    assert OFFERED[query] == offered
    assert [column.type for column in resolved.columns] == [
        column.type for column in changed.columns
    ]
    assert len(offered) == _grouped_blocks(resolved) - _grouped_blocks(changed)
    assert changed == with_aggregates(resolved, lambda *_: False, "UTC") or offered


def test_what_a_connector_refuses_is_left_as_it_is(env: TableEnvironment) -> None:
    query = "SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY COUNT(*)"
    resolved = env._session.executable(env._session.query(parse_query(query), query))

    assert resolved == with_aggregates(resolved, lambda *_: False, "UTC")


def _grouped_blocks(query: Relation) -> int:
    return sum(
        isinstance(part, Select) and part.grouping is not None for part in relations_in(query)
    )
