"""Rows of queries are printed as by Flink 2.3.0: see fuzz/oracle/prints.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from tests.support import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORDED = [
    json.loads(line)
    for line in (CASES / "printed_results.jsonl").read_text(encoding="utf-8").splitlines()
]


def environment(session: SparkSession, mode: str) -> TableEnvironment:
    settings = EnvironmentSettings
    chosen = settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode()
    return TableEnvironment.create(chosen, spark=session)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['mode']}-{case['sql'][:40]}")
def test_rows_are_printed_as_by_flink(
    session: SparkSession, case: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(session, case["mode"])
    env.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    for key, value in case["config"].items():
        env.execute_sql(f"SET '{key}' = '{value}'")
    result = env.execute_sql(case["sql"])
    capsys.readouterr()
    result.print()

    assert capsys.readouterr().out == case["printed"]


def test_kinds_of_changes_are_printed(
    session: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"op": "c", "after": {"id": 1}}, {"op": "d", "before": {"id": 1}}]
    (tmp_path / "rows").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    env = environment(session, "streaming")
    env.execute_sql(
        "CREATE TABLE t (id INT) WITH ('connector' = 'filesystem', 'format' = 'debezium-json',"
        f" 'path' = '{tmp_path}')"
    )
    result = env.execute_sql("SELECT * FROM t")
    capsys.readouterr()
    result.print()

    assert capsys.readouterr().out == (
        "+----+-------------+\n| op |          id |\n+----+-------------+\n| +I |           1 |\n"
        "| -D |           1 |\n+----+-------------+\n2 rows in set\n"
    )
    (tmp_path / "rows").write_text('{"op": "c", "after": {"id": "x"}}\n')
    with pytest.raises(Exception, match=r"debezium-json\.ignore-parse-errors"):
        env.execute_sql("SELECT * FROM t").print()
