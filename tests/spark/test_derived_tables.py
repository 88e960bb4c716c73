"""Subqueries that are joined as derived tables in streaming mode; others are left as they are."""

from __future__ import annotations

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.streaming.derived_tables import with_joined_subqueries
from schema_core.sql.parser import parse_query


@pytest.mark.parametrize(
    "query",
    [
        "SELECT SUM((SELECT COUNT(*) FROM d WHERE d.k = t.k)) FROM t",
        "SELECT k, SUM(CASE WHEN v > (SELECT AVG(v) FROM d) THEN 1 ELSE 0 END) FROM t GROUP BY k",
        "SELECT COUNT(*) FILTER (WHERE v > (SELECT MAX(v) FROM d)) FROM t",
        "SELECT k FROM t GROUP BY k HAVING MAX(v + (SELECT MAX(v) FROM d)) > 0",
        "SELECT COUNT(*) FROM t GROUP BY (SELECT MAX(v) FROM d)",
    ],
)
def test_subqueries_within_groups_are_left_as_they_are(query: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name in "td":
        env.execute_sql(f"CREATE TABLE {name} (k STRING, v INT) WITH ('connector' = 'x')")
    resolved = env._session.executable(env._session.query(parse_query(query), query))

    assert resolved == with_joined_subqueries(resolved)
