"""Metrics of streaming jobs: by the job's client, and by hooks while the job runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.environment.jobs.metrics import JobMetrics, OperatorMetrics
from schema_core.pyflink.common import JobClient
from tests.support import RecordingHook

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: For how many seconds the test waits for rows, at most.
TIMEOUT = 180.0
WINDOWS = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
#: Sink -> its columns, the format, and its query.
SINKS = {
    "w": (
        "n BIGINT",
        "parquet",
        f"SELECT COUNT(*) FROM {WINDOWS} GROUP BY window_start, window_end",
    ),
    "g": (
        "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        "debezium-json",
        "SELECT k, COUNT(DISTINCT id) FROM s GROUP BY k",
    ),
    "o": (
        "id INT, n BIGINT",
        "parquet",
        "SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM s",
    ),
}


class Progress(RecordingHook):
    """A hook that records the metrics of a job."""

    def __init__(self) -> None:
        super().__init__()
        self.metrics: list[JobMetrics] = []

    def on_progress(self, job_id: str, metrics: JobMetrics) -> None:
        self.metrics.append(metrics)


def added(folder: Path, name: str, text: str) -> None:
    (folder / f".{name}").write_text(text)
    (folder / f".{name}").rename(folder / name)


def until(job: JobClient, condition: Callable[[JobMetrics], bool]) -> JobMetrics:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        metrics = job.get_metrics()
        if metrics is not None and condition(metrics):
            return metrics
        time.sleep(0.1)
    raise AssertionError(metrics)


def operators(metrics: JobMetrics, sink: str) -> list[OperatorMetrics]:
    """Return the operators of a sink after its source."""
    path = f"default_catalog.default_database.{sink}"
    source, *others = [item for item in metrics.operators if item.sink == path]
    assert source.name.startswith("source FileStreamSource[")
    assert (None, 6) == (source.rows_in, source.rows_out)
    return others


def counts(operator: OperatorMetrics) -> tuple[int | None, ...]:
    return operator.rows_in, operator.rows_out, operator.state_rows, operator.late_rows


def test_operators_count_their_rows(session: SparkSession, tmp_path: Path) -> None:
    hook = Progress()
    settings = EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings, spark=session, hooks=[hook])
    env.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    source = tmp_path / "source"
    source.mkdir()
    env.execute_sql(
        "CREATE TABLE s (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH"
        f" ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'csv',"
        " 'source.monitor-interval' = '50 ms')"
    )
    statements = env.create_statement_set()
    for name, (columns, form, query) in SINKS.items():
        env.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem',"
            f" 'path' = '{tmp_path / name}', 'format' = '{form}')"
        )
        statements.add_insert_sql(f"INSERT INTO {name} {query}")
    minute = "2024-01-01 00:0"
    added(source, "1.csv", f"1,a,{minute}0:01\n2,b,{minute}0:59\n3,a,{minute}2:00.5\n")
    job = cast("JobClient", statements.execute().get_job_client())
    until(job, lambda metrics: metrics.rows_in == 9)
    added(source, "2.csv", f"4,a,{minute}0:01\n5,b,{minute}5:59\n3,a,{minute}2:00.5\n")
    # the window of the first minute and that of the third, 6 changes of groups, 4 rows of OVER
    metrics = until(job, lambda metrics: (metrics.rows_in, metrics.rows_out) == (18, 12))
    until(job, lambda _: bool(hook.metrics) and hook.metrics[-1].rows_out == 12)
    last = datetime(2024, 1, 1, 0, 5, 59)  # noqa: DTZ001 - a TIMESTAMP

    state, sink = operators(metrics, "w")
    assert ("stateStoreSave", last) == (state.name, state.watermark)
    assert (None, None, 1, 1) == counts(state), "the last window; a row is late"
    assert (2, None, None, None) == counts(sink)
    group, sink = operators(metrics, "g")
    assert (6, 6, 8, None) == counts(group), "all rows, and the last row of two groups"
    assert (6, None, None, None) == counts(sink)
    gate, *_, sink = operators(metrics, "o")
    assert (6, 2, last) == (gate.rows_in, gate.late_rows, gate.watermark)
    assert (4, None, None, None) == counts(sink)
    assert (3, last) == (metrics.late_rows, metrics.watermark)
    job.cancel().result()
    assert metrics.operators == getattr(job.get_metrics(), "operators", None), "after the end"
    assert ["created", "canceled"] == hook.events
