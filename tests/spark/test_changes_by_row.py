"""Queries of bounded tables return the changes of Flink in streaming mode, row by row.

The changes were recorded with PyFlink 2.3 and `parallelism.default` = 1. Those of several tables
differ from run to run of Flink: recorded is a run in which rows of both arrived in turn.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, RowKind, TableEnvironment
from schema_core.expressions import col
from schema_core.expressions.user_functions import AggregateFunction, udaf
from schema_core.spark.streaming import changes_by_row
from tests.slow_tests import draw_cases, keywords
from tests.support import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schema_core import TableResult

RECORDED = [
    json.loads(line)
    for line in (CASES / "changes_by_row.jsonl").read_text(encoding="utf-8").splitlines()
]
ROWS = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 2), ("a", 0), ("c", -4)]
NAMES = [("a", "x"), ("b", "y"), ("b", "z")]
CHANGES = [
    ("INSERT", "a", 1), ("INSERT", "b", 2), ("UPDATE_BEFORE", "a", 1), ("UPDATE_AFTER", "a", 5),
    ("INSERT", "c", 2), ("DELETE", "b", 2), ("UPDATE_BEFORE", "c", 2), ("UPDATE_AFTER", "c", 7),
]  # fmt: skip
KINDS = ", ".join(f"'{kind.name}', '{kind.name}'" for kind in RowKind)
COUNT = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
FINAL = [["+I", "a", 3], ["+I", "b", 2], ["+I", "c", 2]]


@pytest.fixture(scope="module")
def env(session: SparkSession) -> TableEnvironment:
    return environment(session, EnvironmentSettings.in_streaming_mode())


def environment(session: SparkSession, settings: EnvironmentSettings | None) -> TableEnvironment:
    env = TableEnvironment.create(settings, spark=session)
    env.create_temporary_view("t", env.from_elements(ROWS, ["k", "v"]))
    env.create_temporary_view("d", env.from_elements(NAMES, ["k", "n"]))
    env.create_temporary_view("p", env.sql_query("SELECT k, v, PROCTIME() AS pt FROM t"))
    env.create_temporary_view("c", env.from_elements(CHANGES, ["op", "k", "v"]))
    changed = f"FROM_CHANGELOG(input => TABLE c, op_mapping => MAP[{KINDS}])"
    env.create_temporary_view("f", env.sql_query(f"SELECT * FROM {changed}"))
    return env


def changes(result: TableResult) -> list[list[Any]]:
    with result.collect() as rows:
        return [[str(row.get_row_kind()), *row] for row in rows]


@pytest.mark.parametrize("case", draw_cases(RECORDED, lambda case: keywords(case["sql"])))
def test_changes_are_those_of_flink(env: TableEnvironment, case: dict[str, Any]) -> None:
    in_order = (lambda rows: sorted(rows, key=str)) if case.get("any_order") else list

    assert in_order(case["changes"]) == in_order(changes(env.execute_sql(case["sql"])))


def test_rows_of_one_task_arrive_in_their_order_by_the_processing_time(
    env: TableEnvironment,
) -> None:
    """Peers would have the sum of all rows of their time."""
    rows = "(SELECT k, v, PROCTIME() AS pt FROM (VALUES ('a', 1), ('a', 2), ('b', 4)) AS r (k, v))"
    sums = env.execute_sql(f"SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY pt) FROM {rows}")
    hour = "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"
    counts = env.execute_sql(f"SELECT COUNT(*) OVER (ORDER BY pt {hour}) FROM {rows}")

    assert sorted(changes(sums)) == [["+I", "a", 1], ["+I", "a", 3], ["+I", "b", 4]]
    assert changes(counts) == [["+I", 1], ["+I", 2], ["+I", 3]]


def test_changes_are_printed_with_their_kinds(
    env: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    env.execute_sql("SELECT MAX(v) AS m FROM t WHERE k = 'a'").print()

    assert capsys.readouterr().out == (
        "+----+----------------------+\n| op |                    m |\n"
        "+----+----------------------+\n| +I |                    1 |\n"
        "| -U |                    1 |\n| +U |                    3 |\n"
        "+----+----------------------+\n3 rows in set\n"
    )


def test_sinks_of_changes_are_written_as_rows_arrive(
    env: TableEnvironment, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A table with a key, such as one of `jdbc`, has the final rows of each key."""
    columns = "(k STRING, n BIGINT) WITH"
    env.execute_sql(f"CREATE TEMPORARY TABLE printed {columns} ('connector' = 'print')")
    env.execute_sql(
        f"CREATE TEMPORARY TABLE stored {columns} ('connector' = 'filesystem',"
        f" 'path' = '{tmp_path}/stored', 'format' = 'debezium-json')"
    )
    counts = "SELECT k, COUNT(*) FROM t WHERE k <> 'b' GROUP BY k"
    env.execute_sql(f"INSERT INTO printed {counts}").wait()
    env.execute_sql(f"INSERT INTO stored {counts}").wait()
    lines = [
        json.loads(line)
        for file in (tmp_path / "stored").rglob("*")
        if file.is_file() and not file.name.startswith((".", "_"))
        for line in file.read_text("utf-8").splitlines()
    ]

    assert ["+I[a, 1]", "-U[a, 1]", "+U[a, 2]", "+I[c, 1]"] == (
        capsys.readouterr().out.splitlines()[:4]
    )
    assert ["c", "d", "c", "c", "d", "c", "d", "c"] == [line["op"] for line in lines]


class Total(AggregateFunction[int, list[int]]):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[0] += value

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


def test_final_rows_where_flink_merges_changes_or_there_are_many_rows(
    session: SparkSession, env: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flink calls aggregates in Python bundle by bundle; mini-batches merge changes, too."""
    total = udaf(Total(), result_type=DataTypes.BIGINT())
    totals = env.from_path("t").group_by(col("k")).select(col("k"), total(col("v")))
    batched = environment(session, EnvironmentSettings.in_streaming_mode())
    batched.get_config().set("table.exec.mini-batch.enabled", "true")
    monkeypatch.setattr(changes_by_row, "MAX_ROWS", 6)

    assert [["+I", "a", 4], ["+I", "b", 4], ["+I", "c", 0]] == sorted(changes(totals.execute()))
    assert sorted(changes(batched.execute_sql(COUNT))) == FINAL
    assert sorted(changes(env.execute_sql(COUNT))) == FINAL
    assert sorted(changes(environment(session, None).execute_sql(COUNT))) == FINAL


def test_final_rows_where_joins_return_many_rows(
    env: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = "SELECT t.k, n FROM t LEFT JOIN d ON t.k = d.k"
    assert "-D" in {kind for kind, *_ in changes(env.execute_sql(join))}
    monkeypatch.setattr(changes_by_row, "MAX_JOINED_ROWS", 69)

    assert {kind for kind, *_ in changes(env.execute_sql(join))} == {"+I"}


def test_programs_filter_rows_by_their_kinds(env: TableEnvironment) -> None:
    with env.execute_sql(COUNT).collect() as rows:
        last = {row[0]: row[1] for row in rows if row.get_row_kind() is RowKind.UPDATE_AFTER}

    assert {"a": 3, "b": 2, "c": 2} == last
