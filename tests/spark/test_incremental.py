"""Which operations on an unbounded table are computed as rows arrive."""

from __future__ import annotations

import pytest

from schema_core import EnvironmentSettings
from schema_core.environment.dry_run import DryRunPlanner
from schema_core.environment.operations.dispatch import run
from schema_core.environment.session import Session
from schema_core.errors import UnsupportedError
from schema_core.query.relation import Relation, Scan
from schema_core.spark.checkpoints import digest_of
from schema_core.spark.incremental import require_incremental
from schema_core.sql.parser import parse_query, parse_statements

TABLES = """
CREATE TABLE s (id INT, v STRING, a ARRAY<INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('k' = 'v');
CREATE TABLE s2 (id INT) WITH ('k' = 'v');
CREATE TABLE b (id INT, w STRING) WITH ('k' = 'v');
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
    return scan.table.identifier.object_name.startswith("s")


def check(session: Session, query: str) -> bool:
    return require_incremental(relation(session, query), is_unbounded)


COMPUTED = (
    "SELECT id, UPPER(v) FROM s WHERE id > 1",
    "SELECT id FROM w",
    "SELECT s.id, t.x FROM s CROSS JOIN UNNEST(s.a) AS t(x)",
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


REFUSED = {
    "SELECT COUNT(*) FROM s": "an aggregate without GROUP BY",
    "SELECT v, COUNT(*) FROM s GROUP BY v": "GROUP BY",
    "SELECT v, COUNT(*) FROM w GROUP BY v": "GROUP BY",
    "WITH q AS (SELECT id FROM s) SELECT MAX(id) FROM q": "an aggregate without GROUP BY",
    "SELECT DISTINCT v FROM s": "SELECT DISTINCT",
    "SELECT id FROM s ORDER BY id": "ORDER BY",
    "SELECT id FROM s LIMIT 3": "LIMIT or OFFSET",
    "SELECT id, LAG(v) OVER (PARTITION BY v ORDER BY ts) FROM s": "OVER",
    "SELECT id + SUM(id) OVER (PARTITION BY v ORDER BY ts) FROM s": "OVER",
    "SELECT id FROM s UNION SELECT id FROM b": "UNION",
    "SELECT id FROM b EXCEPT SELECT id FROM s": "EXCEPT",
    "SELECT id FROM b INTERSECT ALL SELECT id FROM s": "INTERSECT ALL",
    "SELECT s.id FROM s JOIN s2 ON s.id = s2.id": "INNER JOIN of two unbounded tables",
    "SELECT s.id FROM s, s2": "CROSS JOIN of two unbounded tables",
    "SELECT s.id FROM s RIGHT JOIN b ON s.id = b.id": "RIGHT JOIN",
    "SELECT s.id FROM b LEFT JOIN s ON s.id = b.id": "LEFT JOIN",
    "SELECT s.id FROM s FULL JOIN b ON s.id = b.id": "FULL JOIN",
    "SELECT id FROM s UNION ALL SELECT id FROM b": "UNION ALL with a bounded table",
    "SELECT id FROM s UNION ALL VALUES (1)": "UNION ALL with a bounded table",
    "SELECT b.id FROM b, LATERAL (SELECT s.id FROM s WHERE s.id = b.id)": "LATERAL of a query",
    "SELECT s.id FROM s, LATERAL (SELECT w FROM b WHERE b.id < s.id LIMIT 1)": "LATERAL of a query",
    "SELECT (SELECT COUNT(*) FROM b WHERE b.id < s.id) FROM s": "a correlated sub-query",
    "SELECT (SELECT MAX(x) FROM UNNEST(s.a) AS t(x)) FROM s": "a correlated sub-query",
    "SELECT b.id FROM b WHERE id IN (SELECT id FROM s)": "a sub-query in an expression",
    "SELECT b.id FROM b JOIN b AS c ON b.id = c.id AND EXISTS (SELECT 1 FROM s WHERE id = b.id)": (
        "a sub-query in an expression"
    ),
    "SELECT id FROM b WHERE id IN (SELECT id FROM b WHERE id > (SELECT MAX(id) FROM s))": (
        "an aggregate without GROUP BY"
    ),
}


@pytest.mark.parametrize("query", REFUSED)
def test_operations_that_are_refused(session: Session, query: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        check(session, query)

    assert "streaming-not-supported" == caught.value.code
    assert caught.value.problem.startswith(REFUSED[query])
    assert "unbounded table default_catalog.default_database.s" in caught.value.problem


@pytest.mark.parametrize(
    "query",
    ["SELECT w, COUNT(*) FROM b GROUP BY w ORDER BY w LIMIT 3", "SELECT 1", "VALUES (1), (2)"],
)
def test_queries_of_bounded_tables_may_do_everything(session: Session, query: str) -> None:
    assert not check(session, query)


def test_a_long_chain_is_not_followed_recursively(session: Session) -> None:
    parts = " UNION ALL ".join(["SELECT id FROM s"] * 400)

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
