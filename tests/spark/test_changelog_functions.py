"""TO_CHANGELOG and FROM_CHANGELOG leave the rows that Flink's streaming mode leaves."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle.changelog_functions import RECORDING, SETUP
from fuzz.oracle.streams import folded
from properties.answers.values import canonical
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.environment.options import RUNTIME_MODE
from schema_core.errors import ExternalError, SchemaCoreError, UnsupportedError
from tests.slow_tests import draw_cases, keywords
from tests.spark.test_streaming_results import rows
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("one_task")

RECORDED = {
    line["sql"]: line for line in map(json.loads, RECORDING.read_text("utf-8").splitlines())
}


@pytest.fixture(scope="module", params=["batch", "streaming"])
def env(session: SparkSession, request: pytest.FixtureRequest) -> TableEnvironment:
    settings = EnvironmentSettings
    is_batch = request.param == "batch"
    mode = settings.in_batch_mode() if is_batch else settings.in_streaming_mode()
    env = TableEnvironment.create(mode, spark=session)
    for statement in SETUP:
        env.execute_sql(statement)
    return env


def words(case: tuple[str, str]) -> frozenset[str]:
    return keywords(case[0]) | {case[1]}


def is_streaming(env: TableEnvironment) -> bool:
    return RUNTIME_MODE.of(env.get_config().get_configuration()) == "STREAMING"


def rows_left(changes: list[list[Any]]) -> Counter[str]:
    """Return the rows that encoded changes leave."""
    left: Counter[str] = Counter()
    for code, *row in changes:
        left[str(row)] += 1 if code in ("INSERT", "UPDATE_AFTER") else -1
    return +left


CHANGES = cases("changelog_functions")
NAMES = ["-".join(case) for case in CHANGES]


@pytest.mark.parametrize("case", draw_cases(CHANGES, words), ids=NAMES)
def test_functions_return_the_rows_of_flink(env: TableEnvironment, case: tuple[str, str]) -> None:
    sql, expected = case
    recorded = RECORDED[sql]
    match expected:
        case "rows":
            assert folded(recorded["changes"]) == rows(env, sql)
        case "more":
            flink, here = folded(recorded["changes"]), rows(env, sql)
            assert len(flink) < len(here)
            assert all(row in here for row in flink)
        case "fails":
            assert "error" in recorded
            with pytest.raises((ExternalError, SchemaCoreError)) as caught:
                rows(env, sql)
            assert caught.value.code in ("job-failed", "invalid-function-call")
        case "ordered" if is_streaming(env):
            assert folded(recorded["changes"]) == rows(env, sql)
        case "in turn" if is_streaming(env):
            assert rows_left(folded(recorded["changes"])) == rows_left(rows(env, sql))
        case "ordered" | "in turn":
            assert recorded["changes"]
            with pytest.raises(UnsupportedError, match="depend on the order"):
                rows(env, sql)
        case _:
            assert "error" in recorded
            with pytest.raises(SchemaCoreError) as caught:
                rows(env, sql)
            assert caught.value.code != "job-failed"


def test_rows_without_an_expected_code_are_skipped_on_demand(env: TableEnvironment) -> None:
    """`invalid_op_handling` is an option of FLIP-564, which Flink 2.3 ignores."""
    arguments = "TABLE debezium, op => DESCRIPTOR(__op), op_mapping => MAP['c', 'INSERT']"
    query = f"SELECT * FROM FROM_CHANGELOG(input => {arguments}, invalid_op_handling => '{{}}')"

    assert [[1, "a"]] == rows(env, query.format("SKIP"))
    with pytest.raises(ExternalError, match="expects one of the codes 'c'"):
        rows(env, query.format("FAIL"))
    with pytest.raises(SchemaCoreError, match="must be 'FAIL' or 'SKIP'"):
        rows(env, query.format("skip"))


def test_changes_have_complete_deletes(env: TableEnvironment) -> None:
    query = "SELECT * FROM TO_CHANGELOG(input => TABLE s, produces_full_deletes => {})"

    assert rows(env, "SELECT * FROM TO_CHANGELOG(TABLE s)") == rows(env, query.format("TRUE"))
    with pytest.raises(SchemaCoreError, match="must be TRUE"):
        rows(env, query.format("FALSE"))


#: Queries whose changes depend on the order in which Flink's tasks run.
UNORDERED = ("SUM(", "COUNT(", "MAX(", " JOIN ", "DISTINCT", "UNION")
CHANGED = [
    sql
    for sql, expected in cases("changelog_functions")
    if expected == "rows"
    and any(kind != "+I" for kind, *_ in RECORDED[sql]["changes"])
    and not any(word in sql for word in UNORDERED)
]


@pytest.mark.parametrize("sql", CHANGED[::5])
def test_streaming_results_have_the_kinds_of_flink(session: SparkSession, sql: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    for statement in SETUP:
        env.execute_sql(statement)
    result = env.execute_sql(sql)
    types = [column.data_type for column in result.get_resolved_schema().columns]
    changes = [[str(row.get_row_kind()), *map(canonical, row, types)] for row in result.collect()]
    assert sorted(changes, key=json.dumps) == sorted(RECORDED[sql]["changes"], key=json.dumps)
