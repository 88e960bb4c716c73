"""Files of change data are read and written as by Flink 2.3.0: see fuzz/oracle/changelogs.py."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle.changelogs import (
    AS_ROWS,
    NESTED,
    PROCESSED,
    TIMED,
    create,
    make_tables,
    statements_of,
)
from fuzz.oracle.streams import folded
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import SchemaCoreError
from tests.slow_tests import draw_cases
from tests.spark.recorded_changes import changes_until_stopped
from tests.support import CASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("one_task")

RECORDED = [
    json.loads(line)
    for line in (CASES / "changelog_results.jsonl").read_text(encoding="utf-8").splitlines()
]
#: Whether all queries are compared, or some of those that take longest.
EVERYTHING = os.environ.get("CHANGELOGS") == "all"
#: Queries of windows of changes, which are computed as they arrive.
TIMED_CASES = [case for case in RECORDED if case["columns"] == TIMED]
#: Process table functions of changes, which are called as they arrive.
PROCESSED_CASES = [case for case in RECORDED if case["sql"] in PROCESSED]
#: Queries of several tables, and tables that others have written. Of OFFSET, Flink removes rows
#: that are not there, and VAR_POP depends on the order of rows.
RELATIONAL = [
    case
    for case in RECORDED
    if "setup" in case and not any(word in case["sql"] for word in ("OFFSET", "VAR_POP"))
]
READ = [
    case
    for case in RECORDED
    if "setup" not in case
    and case not in (*TIMED_CASES, *PROCESSED_CASES)
    and (case["lines"] or "PRIMARY KEY" in case["columns"])
]
CHANGED, CORRUPT = ([case for case in READ if key in case] for key in ("changes", "error"))
WRITTEN = [case for case in RECORDED if "written" in case]
ALL = "SELECT * FROM t"


def forms(case: Mapping[str, Any]) -> set[str]:
    """Return the format and options of a case, and whether names are nested."""
    options = (key.partition(".")[2] for key in case["options"])
    is_nested = ["nested"] if case["columns"] == NESTED else []
    return {case["format"], *options, *case["config"], *is_nested}


def environment(
    session: SparkSession, config: Mapping[str, str], *, streaming: bool
) -> TableEnvironment:
    settings = EnvironmentSettings
    mode = settings.in_streaming_mode() if streaming else settings.in_batch_mode()
    result = TableEnvironment.create(mode, spark=session)
    for key, value in {"table.local-time-zone": "UTC", **config}.items():
        result.execute_sql(f"SET '{key}' = '{value}'")
    return result


def changes(
    session: SparkSession, case: Mapping[str, Any], place: Path, *, streaming: bool = True
) -> list[list[Any]]:
    """Return the changes of a case's query, each with its kind first."""
    place = place / str(streaming)
    env = environment(session, {"table.dml-sync": "true", **case["config"]}, streaming=streaming)
    for statement in (*make_tables(case, place), *statements_of(case, place)):
        env.execute_sql(statement)
    return changes_until_stopped(env.execute_sql(case["sql"]))


def remaining(case: Mapping[str, Any]) -> list[list[Any]]:
    """Return the rows that Flink's changes leave: the last of each key, or as often as added."""
    rows: dict[str, list[list[Any]]] = {}
    has_key = "PRIMARY KEY" in case["columns"]
    for kind, *row in case["changes"]:
        found = rows.setdefault(json.dumps(row[:1] if has_key else row), [])
        if kind in ("+I", "+U"):
            found[:] = [row] if has_key else [*found, row]
        elif found:
            found.pop()
    return sorted((row for each in rows.values() for row in each), key=json.dumps)


def is_plain(case: Mapping[str, Any]) -> bool:
    """Return whether a query returns a change for each change that it reads.

    Flink joins with an array of constants as with a table: it returns changes in another order.
    """
    return not any(word in case["sql"] for word in ("COUNT", " JOIN "))


@pytest.mark.parametrize("case", draw_cases(CHANGED, forms), ids=str)
def test_changes_are_those_of_flink(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    result = changes(session, case, tmp_path / "t")
    if is_plain(case):
        assert sorted(result, key=json.dumps) == sorted(case["changes"], key=json.dumps)
        if "UNION" not in case["sql"]:
            assert result == case["changes"]
    else:
        assert folded(result) == folded(case["changes"])
    if case["sql"] == ALL:
        state = changes(session, case, tmp_path / "t", streaming=False)
        assert {kind for kind, *_ in state} <= {"+I"}
        assert sorted((row for _, *row in state), key=json.dumps) == remaining(case)


@pytest.mark.parametrize("case", RELATIONAL if EVERYTHING else RELATIONAL[::50], ids=str)
def test_queries_of_changes_leave_the_rows_of_flink(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    """In batch mode, which Flink refuses, the rows are those that its changes leave."""
    if "error" in case:
        with pytest.raises(SchemaCoreError):
            changes(session, case, tmp_path / "t")
        return
    expected = folded(case["changes"])
    assert folded(changes(session, case, tmp_path / "t")) == expected
    state = changes(session, case, tmp_path / "t", streaming=False)
    assert {kind for kind, *_ in state} <= {"+I"}
    assert folded(state) == expected


AS_ROWS_CASES = [case for case in READ if case["sql"] in AS_ROWS]


@pytest.mark.parametrize("case", AS_ROWS_CASES if EVERYTHING else AS_ROWS_CASES[::4], ids=str)
def test_changes_as_rows_are_those_of_flink(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    result = changes(session, case, tmp_path / "t")
    if is_plain(case):
        assert sorted(result, key=json.dumps) == sorted(case["changes"], key=json.dumps)
    else:
        assert folded(result) == folded(case["changes"])


@pytest.mark.parametrize("case", draw_cases(CORRUPT, forms), ids=str)
def test_corrupt_messages_are_refused(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    for streaming in (True, False):
        with pytest.raises(SchemaCoreError) as caught:
            changes(session, case, tmp_path / "t", streaming=streaming)
        if "REPLICA IDENTITY" in (case["message"] or ""):
            assert "REPLICA IDENTITY" in str(caught.value)
        elif "Unknown" in (case["message"] or ""):
            assert "unknown" in str(caught.value)


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", draw_cases(WRITTEN, forms), ids=str)
def test_messages_are_written_as_by_flink(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    env = environment(session, case["config"], streaming=True)
    env.execute_sql(create("t", case, tmp_path / "t"))
    if "source" in case:
        (tmp_path / "s").mkdir()
        (tmp_path / "s" / "rows").write_text("\n".join(case["source"]) + "\n")
        env.execute_sql(create("s", {**case, "options": {}}, tmp_path / "s", "debezium-json"))
    env.execute_sql(f"INSERT INTO t {case['sql']}").wait()
    lines = [
        line
        for path in sorted((tmp_path / "t").glob("part-*"))
        for line in path.read_text().splitlines()
    ]
    if "source" not in case:
        lines.sort()
        case = {**case, "written": sorted(case["written"])}

    assert list(map(json.loads, lines)) == list(map(json.loads, case["written"]))
    if any("plain" in option for option in case["options"]):
        assert not any("E" in line.partition('"d":')[2].partition("}")[0] for line in lines)


def test_tables_of_rows_refuse_changes(session: SparkSession, tmp_path: Path) -> None:
    """In batch mode the rows that the changes leave are written."""
    case = next(case for case in READ if "changes" in case and case["sql"] == ALL)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "rows").write_text("".join(f"{line}\n" for line in case["lines"]))
    sink = {**case, "options": {}, "format": "json"}
    for streaming in (True, False):
        env = environment(session, {}, streaming=streaming)
        env.execute_sql(create("t", case, tmp_path / "t"))
        env.execute_sql(create("k", sink, tmp_path / "k"))
        if streaming:
            with pytest.raises(SchemaCoreError) as caught:
                env.execute_sql("INSERT INTO k SELECT * FROM t").wait()
            assert "streaming-not-supported" == caught.value.code
        else:
            env.execute_sql("INSERT INTO k SELECT * FROM t").wait()
            assert 3 == len(list(env.execute_sql("SELECT * FROM k").collect()))


def test_changes_are_printed_with_their_kinds(
    session: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(case for case in READ if "changes" in case and case["sql"] == ALL)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "rows").write_text("".join(f"{line}\n" for line in case["lines"]))
    env = environment(session, {}, streaming=True)
    env.execute_sql(create("t", case, tmp_path / "t"))
    env.execute_sql("CREATE TABLE p (id INT, n STRING) WITH ('connector' = 'print')")
    env.execute_sql("INSERT INTO p SELECT id, n FROM t WHERE id = 1").wait()

    printed = [
        f"{kind}[{id_}, {name or 'null'}]" for kind, id_, name, _ in case["changes"] if id_ == 1
    ]
    assert capsys.readouterr().out.splitlines() == printed


@pytest.mark.parametrize("form", ["debezium-json", "canal-json"])
def test_partition_columns_may_have_any_name(
    session: SparkSession, tmp_path: Path, form: str
) -> None:
    env = environment(session, {}, streaming=False)
    names = ["p", "e", "PAIR", "change", "own", "place", "kind"]
    columns = ", ".join(f"`{name}` STRING" for name in names)
    env.execute_sql(
        f"CREATE TABLE t (id INT, {columns}) PARTITIONED BY ({', '.join(f'`{n}`' for n in names)})"
        f" WITH ('connector' = 'filesystem', 'format' = '{form}', 'path' = '{tmp_path}')"
    )
    values = ", ".join(f"'{name} value'" for name in names)
    env.execute_sql(f"INSERT INTO t VALUES (1, {values})").wait()
    with env.execute_sql(ALL).collect() as rows:
        assert [(1, *(f"{name} value" for name in names))] == [tuple(row) for row in rows]
