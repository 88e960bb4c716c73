"""ON CONFLICT leaves the rows of Flink 2.3.0, or fails as its job does."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle.conflicts import COLUMNS, QUERIES, RECORDING, TABLES, files_of
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.environment import connector as module
from schema_core.errors import ExternalError
from tests.spark.memory_connector import STORE, MemoryConnector
from tests.spark.test_change_formats import EVERYTHING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.environment.connector import Connector

pytestmark = pytest.mark.usefixtures("one_task", "one_file_at_a_time")

CASES = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
#: The rows of these are only added.
ROWS = [case for case in CASES if not re.search("GROUP BY|ROW_NUMBER", case["sql"])]
#: Rows that are compared at once, and a removal that leaves the key to a later row.
DRAWN = [
    case
    for case in CASES
    if EVERYTHING
    or (case["sql"] == "SELECT k, v FROM batch" and case["action"] != "DEDUPLICATE")
    or (case["sql"] == "SELECT MAX(k), MAX(v) FROM s GROUP BY id" and case["action"] != "ERROR")
]
UNBOUNDED = ", 'source.monitor-interval' = '50 ms'"


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with `'connector' = 'memory'`, which replaces rows by the primary key."""
    find = module.find_connector
    STORE.pop("sink", None)

    def find_own(options: Mapping[str, str]) -> Connector:
        return MemoryConnector() if options.get("connector") == "memory" else find(options)

    monkeypatch.setattr(module, "find_connector", find_own)


def label(case: Mapping[str, Any]) -> str:
    return f"{case['action']}-{case['sql']}"


@pytest.mark.parametrize("case", DRAWN, ids=label)
def test_rows_that_arrive(
    session: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    case: Mapping[str, Any],
) -> None:
    """Changes of rows are printed: the memory takes only additions."""
    options = (
        "'connector' = 'memory', 'place' = 'sink'" if case in ROWS else "'connector' = 'print'"
    )
    env = environment(session, tmp_path, case["sql"], options, UNBOUNDED)
    with pytest.raises(ExternalError) as caught:
        env.execute_sql(statement_of(case)).wait()

    if "message" in case:
        assert error_of(case) in caught.value.problem
    else:
        assert "the streaming query was stopped" in caught.value.problem
        assert case["rows"] == (
            stored() if case in ROWS else remaining(capsys.readouterr().out.splitlines())
        )


def test_kept_rows_are_explained(session: SparkSession, tmp_path: Path) -> None:
    sql = "SELECT MAX(k), MAX(v) FROM s GROUP BY id"
    env = environment(session, tmp_path, sql, "'connector' = 'print'", UNBOUNDED)
    for action in ("NOTHING", "DEDUPLICATE"):
        plan = env.explain_sql(statement_of({"sql": sql, "action": action}))

        assert f"ON CONFLICT DO {action}: " in plan.partition("== State ==")[2]


@pytest.mark.parametrize("case", ROWS if EVERYTHING else ROWS[:1], ids=label)
def test_rows_of_bounded_tables(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    options = "'connector' = 'memory', 'place' = 'sink'"
    env = environment(session, tmp_path, case["sql"], options)
    if "message" in case:
        problem = "several rows of the query have the primary key"  # of which is not determined
        with pytest.raises(ExternalError, match=problem):
            env.execute_sql(statement_of(case)).wait()
    else:
        env.execute_sql(statement_of(case)).wait()
        assert case["rows"] == stored()


def environment(
    session: SparkSession, place: Path, sql: str, sink: str, options: str = ""
) -> TableEnvironment:
    """Return an environment with the tables of a query and its sink.

    With the option of unbounded tables the files arrive one by one.
    """
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    env.execute_sql(f"SET 'execution.checkpointing.dir' = '{place / 'checkpoints'}'")
    for name in TABLES:
        (place / name).mkdir()
        files = files_of(name)
        for number, text in enumerate(files if options else ["".join(files)]):
            path = place / name / str(number)
            path.write_text(text, encoding="utf-8")
            os.utime(path, (1_700_000_000 + number,) * 2)
        env.execute_sql(
            f"CREATE TABLE {name} ({COLUMNS}) WITH ('connector' = 'filesystem', 'format' = 'csv',"
            f" 'path' = '{place / name}'{options})"
        )
    env.execute_sql(f"CREATE TABLE sink ({QUERIES[sql]}) WITH ({sink})")
    return env


def statement_of(case: Mapping[str, Any]) -> str:
    return f"INSERT INTO sink {case['sql']} ON CONFLICT DO {case['action']}"


def error_of(case: Mapping[str, Any]) -> str:
    """Return the error for the key of that of Flink."""
    key = case["message"].partition("Conflicting key: ")[2].partition(".")[0]
    return f"several rows of the query have the primary key {key}"


def stored() -> list[list[Any]]:
    return sorted(([*row.values()] for row in STORE.get("sink", [])), key=json.dumps)


def remaining(lines: list[str]) -> list[list[Any]]:
    """Return the rows that printed changes leave by their key, the first column."""
    rows: dict[str, list[Any]] = {}
    for line in lines:
        kind, values = line[:2], line[3:-1].split(", ")
        rows.pop(values[0], None)
        if kind != "-D":
            rows[values[0]] = [int(value) if value.isdigit() else value for value in values]
        assert kind != "-U"
    return sorted(rows.values(), key=json.dumps)
