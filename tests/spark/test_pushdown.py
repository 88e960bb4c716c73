"""What queries need of their tables, and that results do not depend on what a connector applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

import pytest

from schema_core.connectors import (
    Ability,
    Comparison,
    ConnectorBase,
    Filter,
    FilterResult,
    ReadContext,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsProjectionPushDown,
)
from schema_core.environment import connector as module
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import Connector
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.typed import Ref
from schema_core.query.relation import Key
from schema_core.spark.compiler.tree import fail
from schema_core.spark.reading import sources
from schema_core.spark.reading.pushdown import scan_demands

T = (
    "CREATE TABLE t (a INT, b INT, c STRING, d DECIMAL(4, 1), e AS a + b, f DOUBLE, g BOOLEAN,"
    " h TIMESTAMP(3)) WITH"
)
U = "CREATE TABLE u (k INT, y INT, s STRING) WITH"
#: A table with rows; `rx` is computed.
R = (
    "CREATE TABLE w (i INT, r ROW<a INT, b STRING, c ROW<x BIGINT, y STRING>>, q ROW<a INT, b INT>,"
    " l ARRAY<ROW<a INT, b INT>>, rx AS r.c.x + i) WITH"
)
V = "CREATE VIEW v AS SELECT a AS va, c AS vc, b + 1 AS vb FROM t WHERE b > 0"

#: A query -> for each scan in the order of the tables: columns, filters and limit.
DEMANDS: dict[str, list[str]] = {
    "SELECT a FROM t WHERE b > 5 AND c LIKE 'x%' LIMIT 3 OFFSET 2": [
        "t(a b c) `b` > 5 & `c` LIKE 'x%' limit 5"
    ],
    "SELECT COUNT(*) FROM t": ["t()"],
    "SELECT a FROM t WHERE e > 5 LIMIT 3": ["t(a e)"],
    "SELECT a FROM t WHERE a + 1 > 5 LIMIT 3": ["t(a)"],
    "SELECT a FROM t WHERE c = 5": ["t(a c)"],
    "SELECT a FROM t WHERE c LIKE 'x' ESCAPE 'yy'": ["t(a c)"],
    "SELECT a FROM t WHERE h > TIMESTAMP '2024-01-01 00:00:00.000000001'": ["t(a h)"],
    "SELECT a FROM t WHERE h > TIMESTAMP '2024-01-01 00:00:00'": [
        "t(a h) `h` > TIMESTAMP '2024-01-01 00:00:00'"
    ],
    "SELECT a FROM t ORDER BY b LIMIT 3": ["t(a b) limit 3 by b"],
    "SELECT a FROM t ORDER BY 1 LIMIT 3": ["t(a) limit 3 by a"],
    "SELECT a AS x FROM t WHERE b > 1 ORDER BY x DESC, c NULLS LAST LIMIT 3 OFFSET 2": [
        "t(a b c) `b` > 1 limit 5 by a DESC, c NULLS LAST"
    ],
    "SELECT vc FROM (SELECT a AS va, c AS vc, b FROM t WHERE b > 0) ORDER BY va LIMIT 1": [
        "t(a b c) `b` > 0 limit 1 by a"
    ],
    "SELECT a FROM t UNION ALL SELECT k FROM u ORDER BY a LIMIT 2": [
        "t(a) limit 2 by a", "u(k) limit 2 by k"
    ],
    "SELECT a FROM t UNION ALL SELECT d FROM t ORDER BY a LIMIT 2": ["t(a)", "t(d)"],
    "SELECT a FROM t WHERE e > 5 ORDER BY a LIMIT 3": ["t(a e)"],
    "SELECT a FROM t ORDER BY a + 1 LIMIT 3": ["t(a)"],
    "SELECT a FROM t ORDER BY e LIMIT 3": ["t(a e)"],
    "SELECT a FROM t ORDER BY a": ["t(a)"],
    "SELECT a FROM t ORDER BY a OFFSET 2": ["t(a)"],
    "SELECT * FROM (SELECT a FROM t ORDER BY a) AS q LIMIT 2": ["t(a)"],
    "SELECT DISTINCT a FROM t ORDER BY a LIMIT 2": ["t(a)"],
    "SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY b LIMIT 2": ["t(b)"],
    "SELECT a, SUM(b) OVER () FROM t ORDER BY a LIMIT 2": ["t(a b)"],
    "SELECT x.a FROM t AS x JOIN u ON x.a = u.k ORDER BY x.a LIMIT 2": ["t(a)", "u(k)"],
    "SELECT (SELECT y FROM u ORDER BY t.a LIMIT 1) FROM t": ["t(a)", "u(y)"],
    "SELECT q.a FROM (SELECT a, b FROM t ORDER BY b LIMIT 5) AS q ORDER BY a LIMIT 2": [
        "t(a b) limit 5 by b"
    ],
    "SELECT a FROM (SELECT a, b FROM t ORDER BY b LIMIT 3) WHERE b > 3": ["t(a b) limit 3 by b"],
    "SELECT a FROM (SELECT a, b FROM t LIMIT 3) WHERE b > 3": ["t(a b) limit 3"],
    "SELECT a FROM (SELECT a, b FROM t OFFSET 1) WHERE b > 3": ["t(a b)"],
    "SELECT DISTINCT a FROM t LIMIT 3": ["t(a)"],
    "SELECT * FROM (SELECT DISTINCT a, b FROM t) WHERE a > 3": ["t(a b) `a` > 3"],
    "SELECT SUM(a) FROM t WHERE b = 1 LIMIT 3": ["t(a b) `b` = 1"],
    "SELECT c FROM t GROUP BY c HAVING c > 'x' LIMIT 3": ["t(c)"],
    "SELECT x FROM (SELECT c AS x, COUNT(*) AS n FROM t GROUP BY c) WHERE n > 1": ["t(c)"],
    "SELECT x FROM (SELECT a AS x, SUM(b) OVER () AS n FROM t) WHERE x > 1": ["t(a)"],
    "SELECT SUM(b) OVER (PARTITION BY c ORDER BY a) FROM t LIMIT 3": ["t(a b c)"],
    "SELECT COUNT(b) FILTER (WHERE a > 1) FROM t": ["t(a b)"],
    "SELECT va FROM (SELECT a AS va, c FROM t WHERE g) WHERE c = 'x' LIMIT 2": [
        "t(a c g) `g` & `c` = 'x' limit 2"
    ],
    "SELECT t.a FROM t LEFT JOIN u ON t.a = u.k AND u.y > 3 AND t.b = 2"
    " WHERE t.c = 'x' AND u.s IS NULL": ["t(a b c) `c` = 'x'", "u(k s y) `y` > 3"],
    "SELECT t.a FROM t RIGHT JOIN u ON t.a = u.k AND u.y > 3 AND t.b = 2"
    " WHERE t.c = 'x' AND u.s IS NULL": ["t(a b c) `b` = 2", "u(k s y) `s` IS NULL"],
    "SELECT t.a FROM t FULL JOIN u ON t.a = u.k AND u.y > 3 WHERE t.c = 'x' LIMIT 1": [
        "t(a c)", "u(k y)"
    ],
    "SELECT t.a FROM t, u WHERE t.a = u.k AND (t.b = 1 OR t.b = 2) AND 5 < u.y LIMIT 1": [
        "t(a b) `b` = 1 OR `b` = 2", "u(k y) 5 < `y`"
    ],
    "SELECT a, c FROM t WHERE a > 1 UNION ALL SELECT k, s FROM u LIMIT 5": [
        "t(a c) `a` > 1 limit 5", "u(k s) limit 5"
    ],
    "SELECT * FROM (SELECT a FROM t UNION ALL SELECT k FROM u) AS z(q) WHERE q > 3": [
        "t(a) `a` > 3", "u(k) `k` > 3"
    ],
    "SELECT * FROM (SELECT a FROM t UNION ALL SELECT d FROM t) AS z(q) WHERE q > 3 LIMIT 1": [
        "t(a)", "t(d)"
    ],
    "SELECT * FROM (SELECT a FROM t EXCEPT SELECT k FROM u) AS z(q) WHERE q > 3 LIMIT 1": [
        "t(a)", "u(k)"
    ],
    "SELECT a FROM t WHERE a IN (SELECT k FROM u WHERE y = 1) AND b = 2 LIMIT 1": [
        "t(a b) `b` = 2", "u(k y) `y` = 1"
    ],
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.b AND u.y > 2)": [
        "t(a b)", "u(k y) `y` > 2"
    ],
    "SELECT (SELECT MAX(y) FROM u WHERE u.k = t.b) FROM t": ["t(b)", "u(k y)"],
    "SELECT t.a, l.y FROM t, LATERAL (SELECT y FROM u WHERE u.k = t.b LIMIT 1) AS l": [
        "t(a b)", "u(k y)"
    ],
    "WITH s AS (SELECT * FROM t), r AS (SELECT a, g FROM s) SELECT a FROM r WHERE g LIMIT 2": [
        "t(a g)"
    ],
    "SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a WHERE x.b = 1": ["t(a b) `b` = 1", "t(a)"],
    "SELECT * FROM t TABLESAMPLE BERNOULLI (10) WHERE a = 1 LIMIT 1": ["t(a b c d e f g h)"],
    "SELECT r.c.x, q.a FROM w WHERE r.a > 0": ["w(q.a r.a r.c.x)"],
    "SELECT r.c, r.c.y FROM w": ["w(r.c r.c.y)"],
    "SELECT r, r.a FROM w": ["w(r)"],
    "SELECT r.a FROM w WHERE r IS NOT NULL": ["w(r) `r` IS NOT NULL"],
    "SELECT l[1].a FROM w": ["w(l)"],
    "SELECT e.a FROM w CROSS JOIN UNNEST(l) AS e(a, b)": ["w(l)"],
    "SELECT rx FROM w": ["w(rx)"],
    "SELECT z.v.x FROM (SELECT r.c AS v, i FROM w) AS z WHERE i = 1": ["w(i r.c.x) `i` = 1"],
    "SELECT z.v.x FROM (SELECT DISTINCT r.c AS v FROM w) AS z": ["w(r.c)"],
    "SELECT z.r.a FROM (SELECT r, COUNT(*) AS n FROM w GROUP BY r) AS z": ["w(r)"],
    "SELECT z.r.a FROM (SELECT r FROM w ORDER BY r.b LIMIT 1) AS z": ["w(r.a r.b)"],
    "SELECT z.v.a FROM (SELECT q AS v FROM w UNION ALL SELECT q FROM w) AS z": [
        "w(q.a)", "w(q.a)"
    ],
    "SELECT z.v.a FROM (SELECT q AS v FROM w UNION ALL SELECT ROW(i, i) FROM w) AS z": [
        "w(i)", "w(q.a)"
    ],
    "SELECT x.r.a FROM w AS x JOIN w AS y ON x.q.a = y.q.b": ["w(q.a r.a)", "w(q.b)"],
    "WITH s AS (SELECT r, q FROM w) SELECT x.r.a, y.r.b FROM s AS x, s AS y": ["w(r.a r.b)"],
    "SELECT r.* FROM w": ["w(r.a r.b r.c)"],
    "SELECT i FROM w WHERE EXISTS (SELECT 1 FROM u WHERE u.k = w.q.b)": ["w(i q.b)", "u(k)"],
}  # fmt: skip


@pytest.fixture
def undone() -> TableEnvironment:
    """An environment whose queries are resolved and not run."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for statement in (T, U, R):
        environment.execute_sql(f"{statement} ('connector' = 'any')")
    return environment


def sort_text(key: Key) -> str:
    assert isinstance(key.expression, Ref)
    assert not key.expression.relation
    nulls = "" if key.nulls_last is None else " NULLS LAST" if key.nulls_last else " NULLS FIRST"
    return f"{key.expression.name}{' DESC' if key.descending else ''}{nulls}"


def test_queries_demand_columns_filters_and_limits_of_scans(undone: TableEnvironment) -> None:
    result: dict[str, list[str]] = {}
    for query in DEMANDS:
        result[query] = []
        for scan, demand in described(undone, query):
            read = [
                ".".join((name, *path))
                for name, fields in demand.columns.items()
                for path in ([()] if () in fields else fields)
            ]
            parts = [f"{scan}({' '.join(sorted(read))})"]
            parts += [" & ".join(map(to_sql, demand.filters))] if demand.filters else []
            parts += [f"limit {demand.limit}"] if demand.limit is not None else []
            parts += [f"by {', '.join(map(sort_text, demand.order))}"] if demand.order else []
            result[query].append(" ".join(parts))

    assert {query: sorted(demands) for query, demands in DEMANDS.items()} == {
        query: sorted(demands) for query, demands in result.items()
    }


def described(environment: TableEnvironment, query: str) -> list[tuple[str, Any]]:
    relation = environment.sql_query(query).relation
    text = repr(relation)
    assert "object_name='" in text
    tables = {"u": {"k", "y", "s"}, "w": {"i", "r", "q", "l", "rx"}}
    demands = scan_demands(relation).values()
    return [
        (
            next(
                (
                    name
                    for name, own in tables.items()
                    if {*demand.columns} and {*demand.columns} <= own
                ),
                "t",
            ),
            demand,
        )
        for demand in demands
    ]


COMPARISONS: dict[str, Comparison | None] = {
    "a = 1": Comparison("a", "=", 1),
    "1 < a": Comparison("a", ">", 1),
    "a <= -5": Comparison("a", "<=", -5),
    "c <> 'x'": Comparison("c", "<>", "x"),
    "c IN ('x', 'y')": Comparison("c", "IN", ("x", "y")),
    "a NOT IN (1, 2)": Comparison("a", "NOT IN", (1, 2)),
    "a BETWEEN 1 AND 2": Comparison("a", "BETWEEN", (1, 2)),
    "c IS NULL": Comparison("c", "IS NULL"),
    "c IS NOT NULL": Comparison("c", "IS NOT NULL"),
    "g": Comparison("g", "=", True),
    "NOT g": Comparison("g", "=", False),
    "f > 1.5": Comparison("f", ">", 1.5),
    "a > 1.5": None,
    "a = b": None,
    "a = 1 OR b = 1": None,
    "c LIKE 'x%'": None,
    "a IN (1, 2147483648)": None,  # which Flink casts to -2147483648
    f"d = 0.{'1'.zfill(37)}": None,  # for which Flink rounds both
    "d <> 1.5": Comparison("d", "<>", Decimal("1.5")),
}


def test_filters_have_comparisons_where_python_can_state_them(undone: TableEnvironment) -> None:
    result = {}
    for condition in COMPARISONS:
        relation = undone.sql_query(f"SELECT a FROM t WHERE {condition}").relation
        (demand,) = scan_demands(relation).values()
        (one,) = map(Filter, demand.filters)
        result[condition] = one.comparison

    assert result == COMPARISONS


class Source(ConnectorBase):
    """Rows in memory; the variants push down nothing, everything, or a part of it."""

    identifier = "source"
    contexts: ClassVar[list[ReadContext]] = []
    rows: ClassVar[Mapping[str, Sequence[tuple[Any, ...]]]] = {
        "t": [(n, n % 3 or None, "xyz"[n % 3], None, n / 2, n % 2 == 0, None) for n in range(7)],
        "u": [(n, n % 4, None if n == 2 else "s") for n in range(1, 6)],
    }

    def read(self, context: ReadContext) -> Any:
        self.contexts.append(context)
        names = list(context.physical_columns)
        every = self.rows[context.identifier.object_name]
        return context.filter_rows(
            context.frame(
                [{key: row[names.index(key)] for key in context.columns} for row in every]
            )
        )


class Pushing(Source, SupportsFilterPushDown, SupportsProjectionPushDown, SupportsLimitPushDown):
    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        return FilterResult.of(filters, ())


class Wrong(Source, SupportsFilterPushDown):
    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        return FilterResult.of((), ())


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, environment: TableEnvironment) -> list[Connector]:
    current: list[Connector] = [Source()]
    monkeypatch.setattr(module, "find_connector", lambda options: current[-1])
    monkeypatch.setattr(Source, "contexts", [])
    for statement in (T, U):
        environment.execute_sql(f"{statement} ('connector' = 'source')")
    environment.execute_sql(V)
    return current


#: Queries whose rows are determined; COUNT around those that may return any rows.
RUN = (
    "SELECT a, c FROM t WHERE b = 1 OR c = 'x'",
    "SELECT e, d FROM t WHERE e IS NOT NULL AND a > 1",
    "SELECT t.a, u.s FROM t LEFT JOIN u ON t.a = u.k AND u.y > 1 WHERE t.b = 1 OR t.g",
    "SELECT COUNT(*), COUNT(a) FROM (SELECT a FROM t WHERE f > 0.4 AND g LIMIT 2)",
    "SELECT vb FROM v WHERE vc = 'y' ORDER BY va DESC LIMIT 1",
    "SELECT a FROM t WHERE a IN (SELECT k FROM u WHERE y < 3) AND b IS NULL",
    "SELECT (SELECT MAX(y) FROM u WHERE u.k = t.a AND u.s = 's') FROM t WHERE NOT g",
    "SELECT COUNT(*) FROM (SELECT a FROM t UNION ALL SELECT k FROM u WHERE y = 1 LIMIT 9)",
    "WITH s AS (SELECT * FROM t) SELECT x.a FROM s AS x JOIN s AS y ON x.a = y.b WHERE y.g",
)


def test_rows_do_not_depend_on_push_down(
    installed: list[Connector],
    environment: TableEnvironment,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Columns that are not requested fail when they are read.

    Over Spark Connect rows are in the plan, and Spark computes all columns of them to optimize it.
    """
    if not request.config.getoption("--connect"):
        monkeypatch.setattr(sources, "_null_column", lambda column: (fail("read"), column.name))
    for query in RUN:
        result = []
        for item in (Source(), Pushing()):
            installed.append(item)
            result.append(sorted(map(repr, environment.execute_sql(query).collect())))
        assert result[0] == result[1], query

    pushed = [
        context for context in Source.contexts if context.filters or context.limit is not None
    ]
    assert len(pushed) == 12
    assert any(context.projection == ("a",) for context in Source.contexts)


def test_an_approximate_filter_keeps_the_limit_and_an_absent_ability_keeps_all(
    installed: list[Connector], environment: TableEnvironment
) -> None:
    installed.append(Pushing())
    environment.execute_sql("SELECT a FROM t WHERE f > 1 LIMIT 1").collect()
    environment.execute_sql("SELECT a FROM t WHERE b = 1 LIMIT 1").collect()
    installed.append(Source())
    environment.execute_sql("SELECT a FROM t WHERE b = 1 LIMIT 1").collect()

    result = [
        (len(context.filters), context.limit, context.projection) for context in Source.contexts
    ]
    assert result == [(1, None, ("a", "f")), (1, 1, ("a", "b")), (0, None, None)]
    assert Ability.LIMIT_PUSH_DOWN in Pushing().abilities


def test_filters_that_are_neither_accepted_nor_remain_are_refused(
    installed: list[Connector], environment: TableEnvironment
) -> None:
    installed.append(Wrong())
    with pytest.raises(ExternalError) as caught:
        environment.execute_sql("SELECT a FROM t WHERE b = 1").collect()

    assert caught.value.code == "schema-mismatch"
