"""Relations that Spark SQL lacks are read as views of the frames that operators compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import UnsupportedError
from schema_core.query import relation as relational
from schema_core.query.relation import Relation
from schema_core.spark.reading import frame_operators
from schema_core.spark.reading.operator_context import OperatorContext
from tests.spark.test_query_results import environment_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHANGES = "FROM_CHANGELOG(input => TABLE {}, op => DESCRIPTOR(op))"
NESTED = (
    "WITH a AS (SELECT * FROM t WHERE id > 1) SELECT COUNT(*) FROM"
    f" (WITH a AS (SELECT * FROM t WHERE id > 2) SELECT * FROM {CHANGES.format('a')})"
)
TWICE = (
    "WITH a AS (SELECT * FROM t WHERE id > 1), b AS (SELECT * FROM a)"
    f" SELECT * FROM {CHANGES.format('b')}"
)


def first_rows(context: OperatorContext, relation: Relation) -> str:
    """Return the first two rows of the input, without its column `op`."""
    assert isinstance(relation, relational.ProcessTable)
    frame = context.rows(relation.input)
    return context.query(frame.drop("op").orderBy("id").limit(2))


@pytest.fixture
def env(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    """An environment with an operator for process table functions, and a view `t`."""
    monkeypatch.setattr(frame_operators, "FRAME_OPERATORS", {relational.ProcessTable: first_rows})
    env = environment_of(session)
    rows = "(VALUES ('INSERT', 1), ('INSERT', 2), ('INSERT', 3)) AS v(op, id)"
    env.execute_sql(f"CREATE TEMPORARY VIEW t AS SELECT * FROM {rows}")
    return env


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT * FROM {CHANGES.format('t')}", [(1,), (2,)]),
        (f"SELECT id + 1 FROM {CHANGES.format('t')} AS c WHERE id > 1", [(3,)]),
        (TWICE, [(2,), (3,)]),
        (NESTED, [(1,)]),
        (f"SELECT id FROM t WHERE id IN (SELECT id FROM {CHANGES.format('t')})", [(1,), (2,)]),
    ],
)
def test_queries_over_the_frame_of_an_operator(
    env: TableEnvironment, sql: str, expected: list[tuple[int]]
) -> None:
    with env.execute_sql(sql).collect() as rows:
        assert expected == sorted(tuple(row) for row in rows)


def test_a_kind_without_an_operator_is_refused(
    env: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_operators, "FRAME_OPERATORS", {})
    with pytest.raises(UnsupportedError, match="a process table function is not supported"):
        env.execute_sql(f"SELECT * FROM {CHANGES.format('t')}")
