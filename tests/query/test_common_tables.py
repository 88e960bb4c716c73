"""Common tables read in place: each reader gets the table that is visible where it is written."""

from __future__ import annotations

import re

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.operations.dispatch import run
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.plans.plan_tree import plan_node, tree_text
from schema_core.environment.session import Session
from schema_core.errors import UnsupportedError
from schema_core.query.relation import Relation, without_common_tables
from schema_core.sql.parser import parse_query, parse_statement

TABLE = "CREATE TABLE s (id INT) WITH ('connector' = 'x')"

#: Query -> the numbers in the conditions of what it reads.
READS = {
    "WITH a AS (SELECT id FROM s WHERE id > 1) SELECT * FROM a, a AS b": [1, 1],
    "WITH a AS (SELECT id FROM s WHERE id > 1), b AS (SELECT * FROM a) SELECT * FROM b": [1],
    "WITH a AS (SELECT id FROM s WHERE id > 1) SELECT * FROM ("
    " WITH b AS (SELECT * FROM a), a AS (SELECT id FROM s WHERE id > 2) SELECT * FROM b)": [1],
    "WITH a AS (SELECT id FROM s WHERE id > 1) SELECT * FROM ("
    " WITH a AS (SELECT id FROM s WHERE id > 2), b AS (SELECT * FROM a) SELECT * FROM b)": [2],
    "WITH a AS (SELECT id FROM s WHERE id > 1) SELECT * FROM ("
    " WITH a AS (SELECT id FROM a WHERE id > 2) SELECT * FROM a)": [2, 1],
    "WITH a AS (SELECT id FROM s WHERE id > 1) SELECT * FROM ("
    " WITH a AS (SELECT id FROM s WHERE id > 2) SELECT * FROM a), a": [2, 1],
}


@pytest.fixture
def session() -> Session:
    session = Session(EnvironmentSettings.in_streaming_mode(), DryRunPlanner())
    run(session, parse_statement(TABLE), TABLE)
    return session


def resolved(session: Session, query: str) -> Relation:
    return session.executable(session.query(parse_query(query), query))


@pytest.mark.parametrize("query", READS)
def test_each_reader_gets_the_visible_table(session: Session, query: str) -> None:
    text = tree_text(plan_node(without_common_tables(resolved(session, query))))

    assert "CommonTableScan" not in text
    assert READS[query] == [int(number) for number in re.findall(r"`id` > (\d)", text)]


def test_a_subquery_in_an_expression_keeps_its_table(session: Session) -> None:
    query = "WITH a AS (SELECT id FROM s WHERE id > 1) SELECT id IN (SELECT id FROM a) FROM s"

    assert "tables=[a]" in tree_text(plan_node(without_common_tables(resolved(session, query))))


def test_a_subquery_in_an_expression_that_could_read_two_tables_is_refused(
    session: Session,
) -> None:
    query = (
        "WITH a AS (SELECT id FROM s) SELECT * FROM (WITH b AS (SELECT id IN (SELECT id FROM a)"
        " FROM s), a AS (SELECT id FROM s WHERE id > 1) SELECT * FROM b)"
    )

    with pytest.raises(UnsupportedError, match="one of several common tables 'a'"):
        without_common_tables(resolved(session, query))
