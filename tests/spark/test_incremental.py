"""Which operations on an unbounded table are computed as rows arrive."""

from __future__ import annotations

import pytest

from schema_core import EnvironmentSettings
from schema_core.environment.operations.dispatch import run
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.session import Session
from schema_core.expressions.typed import FunctionCall
from schema_core.query.relation import Join, Relation, Scan, Select, With, conjuncts
from schema_core.spark.streaming.checkpoints import digest_of
from schema_core.spark.streaming.incremental import (
    OperatorState,
    stream_plan,
)
from schema_core.spark.streaming.interval_joins import time_bounds
from schema_core.sql.parser import parse_query, parse_statements

TABLES = """
CREATE TABLE s (id INT, v STRING, a ARRAY<INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('k' = 'v');
CREATE TABLE s2 (id INT) WITH ('k' = 'v');
CREATE TABLE s3 (id INT, at_ TIMESTAMP(3), WATERMARK FOR at_ AS at_) WITH ('k' = 'v');
CREATE TABLE s4 (id INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH ('k' = 'v');
CREATE TABLE s5 (id INT, v STRING, at_ TIMESTAMP(3), WATERMARK FOR at_ AS at_,
    PRIMARY KEY (id) NOT ENFORCED) WITH ('k' = 'v');
CREATE TABLE b (id INT, w STRING) WITH ('k' = 'v');
CREATE TABLE b2 (id INT, since TIMESTAMP(3), WATERMARK FOR since AS since) WITH ('k' = 'v');
CREATE TABLE p (id INT, pt AS PROCTIME()) WITH ('k' = 'v');
CREATE VIEW w AS SELECT id, v FROM s WHERE id > 1;
"""


@pytest.fixture(scope="module")
def session() -> Session:
    made = Session(EnvironmentSettings.in_streaming_mode(), DryRunPlanner())
    for statement in parse_statements(TABLES):
        run(made, statement, TABLES)
    return made


def relation(session: Session, query: str) -> Relation:
    return session.executable(session.query(parse_query(query), query))


def is_unbounded(scan: Scan) -> bool:
    return scan.table.identifier.object_name.startswith(("s", "p"))


def check(session: Session, query: str) -> bool:
    return stream_plan(relation(session, query), is_unbounded) is not None


TUMBLE = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"

COMPUTED = (
    "SELECT id, UPPER(v) FROM s WHERE id > 1",
    "SELECT id FROM w",
    "SELECT s.id, t.x FROM s CROSS JOIN UNNEST(s.a) AS t(x)",
    "SELECT s.id, t.x FROM s JOIN UNNEST(s.a) AS t(x) ON TRUE",
    "SELECT s.id, t.x FROM s LEFT JOIN UNNEST(s.a) AS t(x) ON TRUE",
    "SELECT s.id, t.x, t.o FROM s LEFT JOIN UNNEST(s.a) WITH ORDINALITY AS t(x, o) ON TRUE",
    "SELECT s.id, t.x FROM s LEFT JOIN UNNEST(ARRAY[1, 2]) AS t(x) ON t.x > s.id",
    "SELECT s.id, b.w FROM s JOIN b ON s.id = b.id",
    "SELECT s.id, b.w FROM s LEFT JOIN b ON s.id = b.id",
    "SELECT s.id, b.w FROM b RIGHT JOIN s ON s.id = b.id",
    "SELECT s.id FROM s, b",
    "SELECT id FROM s UNION ALL SELECT id FROM s2 UNION ALL SELECT id FROM w",
    "SELECT id FROM s WHERE id IN (SELECT id FROM b)",
    "SELECT id, (SELECT MAX(id) FROM b) FROM s",
    "WITH q AS (SELECT id FROM s) SELECT id FROM q",
    "SELECT id, window_start FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
    "SELECT s.id FROM s JOIN (SELECT id FROM b GROUP BY id ORDER BY id LIMIT 3) b ON s.id = b.id",
)


@pytest.mark.parametrize("query", COMPUTED)
def test_operations_that_are_computed(session: Session, query: str) -> None:
    assert check(session, query)


BOUNDS = "window_start, window_end"
SESSION = "TABLE(SESSION(TABLE s PARTITION BY v, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
COUNTS = f"SELECT {BOUNDS}, v, COUNT(*) AS n FROM {TUMBLE} GROUP BY {BOUNDS}, v"
RANK = f"ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY id)"

#: The first row of each `v`: what is selected, and the order.
FIRST = (
    "{} (SELECT *, ROW_NUMBER() OVER (PARTITION BY v ORDER BY {}) AS r"
    " FROM (SELECT s.*, PROCTIME() AS pt FROM s)) WHERE r = 1"
)

#: Query -> the state of its only operation with one.
STATES: dict[str, OperatorState] = {
    COUNTS: OperatorState.WINDOW,
    f"SELECT n + 1 FROM ({COUNTS}) WHERE n > 1": OperatorState.WINDOW,
    "SELECT COUNT(*) FROM TABLE(TUMBLE((SELECT s.ts, since FROM s JOIN b2 ON s.id = b2.id),"
    f" DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY {BOUNDS}": OperatorState.WINDOW,
    f"WITH q AS ({COUNTS}) SELECT q.n, b.w FROM q JOIN b ON q.n = b.id": OperatorState.WINDOW,
    f"SELECT MAX(v) FROM (SELECT v, window_end AS e, window_start AS t FROM {TUMBLE})"
    " GROUP BY t, e": OperatorState.WINDOW,
    f"SELECT window_start, COUNT(*) FROM {TUMBLE} GROUP BY window_start": OperatorState.GROUPS,
    "SELECT COUNT(*) FROM s": OperatorState.GROUPS,
    "SELECT v, COUNT(*) FROM w GROUP BY v": OperatorState.GROUPS,
    "WITH q AS (SELECT id FROM s) SELECT MAX(id) FROM q": OperatorState.GROUPS,
    "SELECT UPPER(v), v, COUNT(*) FROM s GROUP BY UPPER(v), v": OperatorState.GROUPS,
    "WITH q AS (SELECT id, v FROM s), r AS (SELECT * FROM q)"
    " SELECT v, COUNT(*) FROM (WITH q AS (SELECT v FROM r) SELECT * FROM q) GROUP BY v": (
        OperatorState.GROUPS
    ),
    "SELECT s.id, b.w FROM s JOIN s3 ON s.id = s3.id AND s.ts = at_ JOIN b ON b.id = s.id"
    " WHERE v > 'a'": OperatorState.JOIN,
    "SELECT DISTINCT v FROM s": OperatorState.DISTINCT,
    "SELECT id FROM s UNION ALL SELECT id FROM s2 UNION SELECT id FROM w": OperatorState.DISTINCT,
    "SELECT UPPER(v) FROM (SELECT DISTINCT v FROM w WHERE id > 2) AS q": OperatorState.DISTINCT,
    FIRST.format("SELECT id FROM", "pt") + " AND id > 3": OperatorState.FIRST,
}


@pytest.mark.parametrize("query", STATES)
def test_operations_with_state(session: Session, query: str) -> None:
    plan = stream_plan(relation(session, query), is_unbounded)

    assert plan is not None
    assert STATES[query] is plan.state
    assert not isinstance(plan.query, With)


#: Condition of a join of `s` and `s3` -> the bounds of s.ts - at_ in milliseconds.
TIME_BOUNDS = {
    "s.ts = at_": (0, 0),
    "s.ts BETWEEN at_ - INTERVAL '5' SECOND AND at_ + INTERVAL '1' MINUTE": (-5000, 60_000),
    "at_ > s.ts AND INTERVAL '1' HOUR + s.ts >= at_": (-3_600_000, 0),
    "s.ts - INTERVAL '1' SECOND <= at_ + INTERVAL '2' SECOND AND s.ts >= at_ AND s.ts > at_"
    " + INTERVAL '0.5' SECOND": (500, 3000),
}  # fmt: skip


@pytest.mark.parametrize("condition", TIME_BOUNDS)
@pytest.mark.parametrize("clause", ["JOIN s3 ON s.id = s3.id AND", ", s3 WHERE s.id = s3.id AND"])
def test_bounds_of_joined_rowtimes(session: Session, clause: str, condition: str) -> None:
    query = relation(session, f"SELECT v FROM s {clause} {condition}")
    plan = stream_plan(query, is_unbounded)
    assert isinstance(query, Select)
    assert isinstance(query.source, Join)
    conditions = [*conjuncts(query.source.condition), *conjuncts(query.where)]
    bounds = time_bounds(conditions, query.source)

    assert plan is not None
    assert (OperatorState.JOIN, [3, 1]) == (plan.state, [side.time for side in plan.sides])
    assert bounds is not None
    assert TIME_BOUNDS[condition] == (bounds.low, bounds.high)


@pytest.mark.parametrize(("kind", "count"), [("FULL", 1), ("LEFT", 0), ("INNER", 0)])
def test_keys_of_a_full_join_are_not_null(session: Session, kind: str, count: int) -> None:
    """NULL is equal to NULL where Spark finds the rows of the other side."""
    query = (
        f"SELECT s.id FROM s {kind} JOIN s3"
        " ON s.id = s3.id AND s.ts >= at_ AND s.ts <= at_ + INTERVAL '1' SECOND"
    )
    plan = stream_plan(relation(session, query), is_unbounded)
    assert plan is not None
    assert isinstance(plan.operation, Join)
    calls = [
        conjunct
        for conjunct in conjuncts(plan.operation.condition)
        if isinstance(conjunct, FunctionCall)
    ]

    assert count == sum(call.function.name == "IS NOT NULL" for call in calls)


#: What stages compute, or nothing does.
NOT_COMPUTED = (
    "SELECT COUNT(*) FROM s GROUP BY v",
    "SELECT v, COUNT(*) FROM s GROUP BY v HAVING COUNT(*) > 1",
    "SELECT v, COUNT(DISTINCT id) FROM s GROUP BY v",
    "SELECT v, id, COUNT(*) FROM s GROUP BY CUBE (v, id)",
    "SELECT v FROM (SELECT v, COUNT(*) AS n FROM s GROUP BY v) WHERE n > 1",
    "SELECT n, COUNT(*) FROM (SELECT v, COUNT(*) AS n FROM s GROUP BY v) GROUP BY n",
    "SELECT q.v FROM (SELECT v FROM s GROUP BY v) AS q JOIN b ON q.v = b.w",
    "SELECT DISTINCT v FROM (SELECT v FROM s GROUP BY v)",
    "SELECT v, COUNT(*) FROM (SELECT DISTINCT id, v FROM s) GROUP BY v",
    "SELECT COUNT(*) FROM s GROUP BY v, TUMBLE(ts, INTERVAL '1' HOUR)",
    "SELECT COUNT(*) FROM s GROUP BY SESSION(ts, INTERVAL '1' MINUTE)",
    f"SELECT v, COUNT(*) FROM {SESSION} GROUP BY v",
    f"SELECT id FROM {SESSION} UNION ALL SELECT id FROM s",
    (
        "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(pt), INTERVAL '1' MINUTE))"
        " GROUP BY window_start, window_end"
    ),
    f"SELECT v, ROW_NUMBER() OVER (PARTITION BY v ORDER BY ts) AS r FROM {TUMBLE}",
    (
        f"SELECT id FROM {TUMBLE} UNION ALL"
        f" SELECT MAX(id) FROM {TUMBLE} GROUP BY window_start, window_end"
    ),
    "SELECT id FROM s ORDER BY id",
    "SELECT id FROM s LIMIT 3",
    "SELECT id, LAG(v) OVER (PARTITION BY v ORDER BY ts) FROM s",
    "SELECT id + SUM(id) OVER (PARTITION BY v ORDER BY ts) FROM s",
    "SELECT id FROM s UNION SELECT id FROM b",
    "SELECT id FROM s UNION SELECT id FROM s2 UNION ALL SELECT id FROM s",
    "SELECT id FROM b EXCEPT SELECT id FROM s",
    "SELECT id FROM b INTERSECT ALL SELECT id FROM s",
    "SELECT s.id FROM s JOIN s2 ON s.id = s2.id",
    "SELECT s.id FROM s, s2",
    "SELECT s.id FROM s LEFT JOIN s3 ON s.id = s3.id WHERE s.ts = at_",
    "SELECT s.id FROM s JOIN s3 ON s.id = s3.id AND s.ts >= at_",
    "SELECT s.id FROM s JOIN s3 ON s.id = s3.id AND s.ts - INTERVAL '1' MONTH = at_",
    "SELECT s.id FROM s JOIN s4 ON s.id = s4.id AND s.ts = s4.ts",
    "SELECT s.id FROM s JOIN s3 ON s.ts BETWEEN at_ - INTERVAL '1' DAY AND at_",
    "SELECT v, COUNT(*) FROM s JOIN s3 ON s.id = s3.id AND s.ts = at_ GROUP BY v",
    "SELECT s.id FROM s JOIN s3 ON s.id = s3.id AND s.ts = at_ JOIN s AS t ON t.ts = at_",
    f"SELECT s.id FROM s JOIN (SELECT id, {BOUNDS} FROM {SESSION}) AS q ON s.id = q.id",
    "SELECT s.id FROM s RIGHT JOIN b ON s.id = b.id",
    "SELECT s.id FROM b LEFT JOIN s ON s.id = b.id",
    "SELECT s.id FROM s FULL JOIN b ON s.id = b.id",
    "SELECT id FROM s UNION ALL SELECT id FROM b",
    "SELECT id FROM s UNION ALL VALUES (1)",
    "SELECT b.id FROM b, LATERAL (SELECT s.id FROM s WHERE s.id = b.id)",
    "SELECT s.id FROM s LEFT JOIN UNNEST(s.a) AS t(x) ON t.x > 1",
    "SELECT s.id FROM s JOIN UNNEST(s.a) AS t(x) ON t.x > s.id",
    "SELECT s.id FROM s, LATERAL (SELECT w FROM b WHERE b.id < s.id LIMIT 1)",
    "SELECT (SELECT COUNT(*) FROM b WHERE b.id < s.id) FROM s",
    "SELECT (SELECT MAX(x) FROM UNNEST(s.a) AS t(x)) FROM s",
    "SELECT b.id FROM b WHERE id IN (SELECT id FROM s)",
    "SELECT b.id FROM b JOIN b AS c ON b.id = c.id AND EXISTS (SELECT 1 FROM s WHERE id = b.id)",
    "SELECT id FROM b WHERE id IN (SELECT id FROM b WHERE id > (SELECT MAX(id) FROM s))",
    FIRST.format("SELECT id FROM", "ts"),
    FIRST.format("SELECT v FROM", "ts") + " AND id > 1",
    FIRST.format("SELECT v FROM", "id"),
    FIRST.format("SELECT v FROM", "pt DESC"),
    FIRST.format("SELECT v FROM", "ts").replace("r = 1", "r <= 2"),
    FIRST.format("SELECT v FROM", "ts, id"),
    FIRST.format("SELECT v FROM", "pt").replace("FROM s)", "FROM (SELECT DISTINCT * FROM s) s)"),
)


@pytest.mark.parametrize("query", NOT_COMPUTED)
def test_operations_that_spark_does_not_compute(session: Session, query: str) -> None:
    assert not check(session, query)


@pytest.mark.parametrize(
    "query",
    ["SELECT w, COUNT(*) FROM b GROUP BY w ORDER BY w LIMIT 3", "SELECT 1", "VALUES (1), (2)"],
)
def test_queries_of_bounded_tables_may_do_everything(session: Session, query: str) -> None:
    assert not check(session, query)


def test_a_long_chain_is_not_followed_recursively(session: Session) -> None:
    parts = " UNION ALL ".join(["SELECT id FROM s"] * 1500)

    assert check(session, parts)


def test_the_digest_of_a_query_depends_on_what_it_computes(session: Session) -> None:
    def digest(query: str) -> str:
        return digest_of(relation(session, query), ["id"])

    same = digest("SELECT id FROM s WHERE id > 1")

    assert same == digest("SELECT  `id` AS i\nFROM s WHERE id  > 1")
    assert same != digest_of(relation(session, "SELECT id FROM s WHERE id > 1"), ["i"])
    others = {
        digest(query)
        for query in (
            "SELECT id FROM s WHERE id > 2",
            "SELECT id FROM s WHERE id >= 1",
            "SELECT id FROM (SELECT id + 1 AS id FROM s) AS s WHERE id > 1",
            "SELECT id FROM s2 WHERE id > 1",
            "SELECT id FROM s /*+ OPTIONS('a' = 'b') */ WHERE id > 1",
            "SELECT id FROM s WHERE id > (SELECT 1)",
            "SELECT id FROM s WHERE id > (SELECT 2)",
            "SELECT id FROM s WHERE CAST(id AS BIGINT) > 1",
        )
    }
    assert 8 == len(others - {same})


def test_the_digest_of_a_query_is_the_same_in_every_version(session: Session) -> None:
    """It is in checkpoints: another one would keep their jobs from continuing."""
    query = relation(session, "SELECT id FROM s WHERE id > 1")

    assert digest_of(query, ["id"]).startswith("8112ebbcb4526665")


def test_the_digest_without_types_depends_on_what_is_written(session: Session) -> None:
    """That of a query is the same if the types of its tables change."""

    def digest(query: str) -> str:
        return digest_of(relation(session, query), ["id"], typed=False)

    same = digest("SELECT id FROM s WHERE id > 1")
    wide = TABLES.replace("s (id INT", "s (id BIGINT")
    other = Session(EnvironmentSettings.in_streaming_mode(), DryRunPlanner())
    for statement in parse_statements(wide):
        run(other, statement, wide)
    changed = relation(other, "SELECT id FROM s WHERE id > 1")

    assert same == digest_of(changed, ["id"], typed=False)
    assert same != digest("SELECT id FROM s WHERE id > 2")
    assert digest("SELECT CAST(id AS INT) FROM s") != digest("SELECT CAST(id AS BIGINT) FROM s")
