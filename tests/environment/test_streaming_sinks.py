"""INSERT and CREATE TABLE AS in streaming mode: what Flink 2.3.0 refuses to write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.errors import UnsupportedError
from tests.support import CASES

SETUP, *CASES_OF_FLINK = (
    json.loads(line)
    for line in (CASES / "streaming_sinks.jsonl").read_text(encoding="utf-8").splitlines()
)
#: The end of a statement that Flink refuses and this library does not: it sorts bounded tables.
NOT_REFUSED = "FROM b ORDER BY v"


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), planner=DryRunPlanner())
    for statement in SETUP["setup"]:
        made.execute_sql(statement)
    return made


@pytest.mark.parametrize(
    "case",
    [case for case in CASES_OF_FLINK if not case["sql"].endswith(NOT_REFUSED)],
    ids=lambda case: case["sql"][-60:],
)
def test_statements_are_refused_as_by_flink(
    environment: TableEnvironment, case: dict[str, Any]
) -> None:
    statement = case["sql"]
    if not statement.startswith(("EXPLAIN", "EXECUTE")):
        statement = f"EXPLAIN {statement}"
    if case["flink"] == "ok":
        environment.execute_sql(statement)
        return
    with pytest.raises(UnsupportedError) as caught:
        environment.execute_sql(statement)
    assert caught.value.code in {
        "streaming-not-supported",
        "feature-not-supported",
        "unsupported-ability",
    }


def test_the_table_api_refuses_the_same(environment: TableEnvironment) -> None:
    counts = environment.sql_query("SELECT id, COUNT(*) AS n FROM b GROUP BY id")
    rows = environment.sql_query("SELECT id, v FROM b")

    with pytest.raises(UnsupportedError, match="cannot consume update changes, which GROUP BY"):
        counts.execute_insert("f")
    with pytest.raises(UnsupportedError, match="INSERT OVERWRITE is not supported in streaming"):
        rows.execute_insert("f", overwrite=True)
    with pytest.raises(UnsupportedError, match="cannot consume update changes"):
        environment.execute_sql(
            "CREATE TABLE counts WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')"
            " AS SELECT COUNT(*) AS n FROM b"
        )


def test_the_mode_may_be_set() -> None:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), planner=DryRunPlanner())
    for statement in SETUP["setup"]:
        made.execute_sql(statement)
    made.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    made.execute_sql("EXPLAIN INSERT OVERWRITE f SELECT id, COUNT(*) FROM b GROUP BY id")
