"""Windows of the processing time in streaming queries, by the clock of micro-batches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.streaming.watermarks import earlier_clock, last_instant
from tests.spark.test_streaming_state import MONITORED, added, table, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.environment.jobs.client import JobClient

PROCTIME = ", pt AS PROCTIME()"
#: 2024-01-01 00:00:00 in UTC.
START = 1_704_067_200_000


class Clock:
    """The processing time of micro-batches, which a test sets in seconds."""

    def __init__(self) -> None:
        self.seconds = 0

    def now(self) -> int:
        return START + self.seconds * 1000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("schema_core.spark.streaming.stage_runs.now", clock.now)
    return clock


@pytest.fixture
def env(session: SparkSession, tmp_path: Path) -> TableEnvironment:
    """A streaming environment with an unbounded table `s`, which is empty."""
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    made.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    (tmp_path / "s").mkdir()
    made.execute_sql(table("s", tmp_path / "s", PROCTIME, MONITORED))
    with_rowtime = f"{PROCTIME}, WATERMARK FOR ts AS ts"
    made.execute_sql(table("w", tmp_path / "s", with_rowtime, MONITORED))
    made.execute_sql(
        "CREATE TABLE t (f STRING, s STRING, e STRING, k STRING, n BIGINT, c BIGINT) WITH ("
        f"'connector' = 'filesystem', 'path' = '{tmp_path / 't'}', 'format' = 'csv')"
    )
    return made


@contextmanager
def running(env: TableEnvironment, statement: str) -> Iterator[JobClient]:
    """Run a streaming job, which is stopped at the end."""
    job = env.execute_sql(statement).get_job_client()
    assert job is not None
    try:
        yield job
    finally:
        env.execute_sql(f"STOP JOB '{job.get_job_id()}'")


def rows_read(job: JobClient) -> Callable[[], int | None]:
    """Return a function that returns how many rows a job has read since it started."""

    def count() -> int | None:
        metrics = job.get_metrics()
        return None if metrics is None else metrics.rows_in

    return count


def lines_of(folder: Path) -> Callable[[], list[str]]:
    """Return a function that returns the lines of the files in a directory, sorted."""

    def lines() -> list[str]:
        files = folder.glob("[!.]*")
        return sorted(
            line.replace('"', "") for path in files for line in path.read_text().splitlines()
        )

    return lines


#: Forms of windows, each with the name of its rows.
FORMS = (
    (
        "SELECT 'tumble', CAST(window_start AS STRING), CAST(window_end AS STRING), k, SUM(v),"
        " COUNT(DISTINCT v) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(pt), INTERVAL '10' SECOND))"
        " GROUP BY window_start, window_end, k"
    ),
    (
        "SELECT 'group', CAST(TUMBLE_START(pt, INTERVAL '10' SECOND) AS STRING),"
        " CAST(TUMBLE_PROCTIME(pt, INTERVAL '10' SECOND) AS STRING), k, SUM(v), COUNT(*) FROM s"
        " GROUP BY TUMBLE(pt, INTERVAL '10' SECOND), k"
    ),
    (
        "SELECT 'hop', CAST(window_start AS STRING), CAST(window_end AS STRING), k, SUM(v),"
        " COUNT(*) FROM TABLE(HOP(TABLE s, DESCRIPTOR(pt), INTERVAL '5' SECOND, INTERVAL '10'"
        " SECOND)) GROUP BY window_start, window_end, k"
    ),
    (
        "SELECT 'session', CAST(window_start AS STRING), CAST(window_end AS STRING), k, SUM(v),"
        " COUNT(*) FROM TABLE(SESSION(TABLE s PARTITION BY k, DESCRIPTOR(pt), INTERVAL '8' SECOND))"
        " GROUP BY window_start, window_end, k"
    ),
    (
        "SELECT 'cascade', CAST(window_start AS STRING), CAST(window_end AS STRING), 'all', SUM(n),"
        " COUNT(*) FROM TABLE(TUMBLE((SELECT window_time AS wt, k, SUM(v) AS n FROM TABLE(TUMBLE("
        "TABLE s, DESCRIPTOR(pt), INTERVAL '5' SECOND)) GROUP BY window_start, window_end,"
        " window_time, k), DESCRIPTOR(wt), INTERVAL '5' SECOND)) GROUP BY window_start, window_end"
    ),
    (
        "SELECT 'over', CAST(window_start AS STRING), CAST(window_end AS STRING), k, SUM(v) OVER o,"
        " COUNT(*) OVER o FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' DAY)) WINDOW o AS"
        " (PARTITION BY window_start, window_end ORDER BY pt RANGE BETWEEN INTERVAL '5' SECOND"
        " PRECEDING AND CURRENT ROW)"
    ),
)
#: The bounds of a day's window in a line.
DAY = "over,2024-01-01 00:00:00.000,2024-01-02 00:00:00.000"
#: The rows that are returned when the clock is at 12 and, after a restart, at 21 seconds.
EARLY = [
    *(
        f"{form},{start}.000,{end}.000,{group}"
        for form, start, end in [
            ("tumble", "2024-01-01 00:00:00", "2024-01-01 00:00:10"),
            ("group", "2024-01-01 00:00:00", "2024-01-01 00:00:12"),
            ("hop", "2023-12-31 23:59:55", "2024-01-01 00:00:05"),
            ("hop", "2024-01-01 00:00:00", "2024-01-01 00:00:10"),
            ("session", "2024-01-01 00:00:03", "2024-01-01 00:00:11"),
        ]
        for group in ("a,5,2", "b,2,1")
    ),
    # rows of a window of a rowtime, by the time of their arrival, do not wait for its end
    *(f"{DAY},{key},7,3" for key in "aab"),
]
LATE = [
    "tumble,2024-01-01 00:00:10.000,2024-01-01 00:00:20.000,a,8,1",
    "group,2024-01-01 00:00:10.000,2024-01-01 00:00:21.000,a,8,1",
    "hop,2024-01-01 00:00:05.000,2024-01-01 00:00:15.000,a,8,1",
    "hop,2024-01-01 00:00:10.000,2024-01-01 00:00:20.000,a,8,1",
    "session,2024-01-01 00:00:12.000,2024-01-01 00:00:20.000,a,8,1",
    # the results of the first windows arrived at 12 seconds
    "cascade,2024-01-01 00:00:10.000,2024-01-01 00:00:15.000,all,7,2",
    f"{DAY},a,8,1",
]


def test_windows_are_returned_when_the_clock_has_passed_their_end(
    env: TableEnvironment, clock: Clock, tmp_path: Path
) -> None:
    """No new rows are needed, and a job that continues returns each window once."""
    lines = lines_of(tmp_path / "t")
    statement = f"INSERT INTO t {' UNION ALL '.join(FORMS)}"
    time = "2024-01-01 00:00:01"
    added(tmp_path / "s", "1", f"a,{time},1,\nb,{time},2,\na,{time},4,\n")
    clock.seconds = 3
    with running(env, statement) as job:
        until(rows_read(job), 3 * len(FORMS))
        clock.seconds = 12
        until(lines, sorted(EARLY))
        added(tmp_path / "s", "2", f"a,{time},8,\n")
        until(rows_read(job), 4 * len(FORMS))
    clock.seconds = 21
    with running(env, statement):
        until(lines, sorted(EARLY + LATE))


#: Windows of a rowtime whose rows are ranked by their arrival, the last one first.
RANKS = " UNION ALL ".join(
    f"SELECT '{name}', CAST(window_start AS STRING), CAST(window_end AS STRING), k, v, r FROM ("
    "SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY pt DESC) AS r"
    f" FROM TABLE({name}(TABLE w{keys}, DESCRIPTOR(ts), INTERVAL '9' SECOND))) WHERE r <= 2"
    for name, keys in (("TUMBLE", ""), ("SESSION", " PARTITION BY k"))
)


@pytest.mark.slow
def test_rows_of_windows_are_ranked_in_the_order_of_their_arrival(
    env: TableEnvironment, tmp_path: Path
) -> None:
    """Those of older files are first; Spark reads larger files first."""
    time = "2024-01-01 00:00:0"
    added(tmp_path / "s", "new", f"a,{time}0,1,\na,{time}3,2,\nb,{time}1,5,\n")
    added(tmp_path / "s", "old", f"a,{time}1,4,\n")
    os.utime(tmp_path / "s" / "old", (1, 1))
    with running(env, f"INSERT INTO t {RANKS}") as job:
        until(rows_read(job), 8)
        added(tmp_path / "s", "later", f"a,{time}2,3,\n")
        until(rows_read(job), 10)
        added(tmp_path / "s", "last", "c,2024-01-01 00:01:00,6,\n")
        ranked = {"a": ["a,3,1", "a,2,2"], "b": ["b,5,1"]}
        windows = [
            ("SESSION", "a", "00", "12"),
            ("SESSION", "b", "01", "10"),
            ("TUMBLE", "a", "00", "09"),
            ("TUMBLE", "b", "00", "09"),
        ]
        until(
            lines_of(tmp_path / "t"),
            sorted(
                f"{name},2024-01-01 00:00:{start}.000,2024-01-01 00:00:{end}.000,{row}"
                for name, key, start, end in windows
                for row in ranked[key]
            ),
        )


#: Windows of changes.
OF_CHANGES = (
    FORMS[0].replace("TABLE s", "TABLE u"),
    (
        "SELECT 'hop', CAST(window_start AS STRING), CAST(window_end AS STRING), k, SUM(v),"
        " COUNT(*) FROM TABLE(HOP(TABLE u, DESCRIPTOR(pt), INTERVAL '5' SECOND, INTERVAL '10'"
        " SECOND)) GROUP BY window_start, window_end, k"
    ),
    (
        "SELECT 'session', CAST(SESSION_START(pt, INTERVAL '8' SECOND) AS STRING),"
        " CAST(SESSION_END(pt, INTERVAL '8' SECOND) AS STRING), k, SUM(v), COUNT(*) FROM u"
        " GROUP BY SESSION(pt, INTERVAL '8' SECOND), k"
    ),
)
#: The rows that are returned when the clock is at 12, and then at 21 seconds.
EARLY_CHANGES = [
    f"{form},{start}.000,{end}.000,{group}"
    for form, start, end, *groups in [
        ("tumble", "2024-01-01 00:00:00", "2024-01-01 00:00:10", "b,2,1", "c,4,1"),
        ("hop", "2023-12-31 23:59:55", "2024-01-01 00:00:05", "a,1,1", "b,2,1"),
        ("hop", "2024-01-01 00:00:00", "2024-01-01 00:00:10", "b,2,1", "c,4,1"),
        ("session", "2024-01-01 00:00:03", "2024-01-01 00:00:11", "b,2,1"),
    ]
    for group in groups
]
LATE_CHANGES = [
    "hop,2024-01-01 00:00:05.000,2024-01-01 00:00:15.000,c,4,1",
    "session,2024-01-01 00:00:06.000,2024-01-01 00:00:14.000,c,4,1",
]


def change(key: str, value: int, *, adds: bool = True) -> str:
    """Return the message of a change of the table of changes."""
    row = {"k": key, "v": value}
    before, after, code = (None, row, "c") if adds else (row, None, "d")
    return json.dumps({"before": before, "after": after, "op": code}) + "\n"


@pytest.mark.slow
def test_a_change_counts_in_the_windows_in_which_it_arrives(
    env: TableEnvironment, clock: Clock, tmp_path: Path
) -> None:
    """A row that is removed after its window was returned is removed from no later one."""
    (tmp_path / "u").mkdir()
    changes = table("u", tmp_path / "u", PROCTIME, MONITORED).replace("'csv'", "'debezium-json'")
    env.execute_sql(changes.replace(" 'csv.null-literal' = '',", ""))
    lines = lines_of(tmp_path / "t")
    added(tmp_path / "u", "1", change("a", 1) + change("b", 2))
    clock.seconds = 3
    with running(env, f"INSERT INTO t {' UNION ALL '.join(OF_CHANGES)}") as job:
        count = rows_read(job)
        until(lambda: (count() or 0) > 0, True)
        clock.seconds, last = 6, count()
        added(tmp_path / "u", "2", change("a", 1, adds=False) + change("c", 4))
        until(lambda: count() != last, True)
        clock.seconds = 12
        until(lines, sorted(EARLY_CHANGES))
        last = count()
        added(tmp_path / "u", "3", change("b", 2, adds=False))
        until(lambda: count() != last, True)
        clock.seconds = 21
        until(lines, sorted(EARLY_CHANGES + LATE_CHANGES))


#: Time zone -> local times, and the times in UTC when the clock has them for the last time.
LOCAL = {
    "UTC": {"2024-11-03 05:00": "2024-11-03 05:00"},
    "America/New_York": {
        "2024-11-03 00:59:59.999": "2024-11-03 04:59:59.999",
        "2024-11-03 01:00": "2024-11-03 06:00",
        "2024-11-03 01:59:59.999": "2024-11-03 06:59:59.999",
        "2024-11-03 02:00": "2024-11-03 07:00",
        "2024-03-10 01:30": "2024-03-10 06:30",
        "2024-03-10 03:00": "2024-03-10 07:00",
    },
    "Australia/Lord_Howe": {
        "2024-04-07 01:29:59.999": "2024-04-06 14:29:59.999",
        "2024-04-07 01:45": "2024-04-06 15:15",
        "2024-04-07 02:00": "2024-04-06 15:30",
    },
}


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def test_a_window_lasts_until_the_clock_has_its_end_for_the_last_time(
    session: SparkSession,
) -> None:
    """As in Flink, the hours that a clock has twice are of one window."""
    cases = [(zone, *pair) for zone, times in LOCAL.items() for pair in times.items()]
    texts = [
        nodes.to_sql(last_instant(nodes.Literal(milliseconds(local)), zone))
        for zone, local, _ in cases
    ]
    assert [milliseconds(instant) for _, _, instant in cases] == list(
        session.sql(f"SELECT {', '.join(texts)}").first() or ()
    )


#: Time zone and local time -> what its clock has shown an hour before, or less.
HOUR_BEFORE = {
    ("UTC", "2024-03-10 03:30"): "2024-03-10 02:30",
    ("America/New_York", "2024-03-10 12:30"): "2024-03-10 11:30",
    # the clock is put forward by an hour at 02:00, and back at 02:00
    ("America/New_York", "2024-03-10 03:30"): "2024-03-10 01:30",
    ("America/New_York", "2024-11-03 01:30"): "2024-11-03 00:30",
    ("America/New_York", "2024-11-03 02:30"): "2024-11-03 01:30",
}


def test_a_delay_is_one_of_instants_and_of_local_times(session: SparkSession) -> None:
    texts = [
        nodes.to_sql(earlier_clock(milliseconds(local), 3_600_000, zone))
        for zone, local in HOUR_BEFORE
    ]
    assert list(map(milliseconds, HOUR_BEFORE.values())) == list(
        session.sql(f"SELECT {', '.join(texts)}").first() or ()
    )
