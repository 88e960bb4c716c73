"""Metrics of streaming jobs: by the job's client, and by hooks while the job runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.environment.jobs import run as job_run
from schema_core.environment.jobs.metrics import JobMetrics, OperatorMetrics
from schema_core.pyflink.common import JobClient
from schema_core.spark.streaming import stream_metrics
from schema_core.spark.streaming.stream_metrics import EXECUTED, StreamMetrics
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
    "p": ("k STRING, n BIGINT", "", "SELECT k, COUNT(*) FROM s GROUP BY k"),
    "q": ("id INT", "", "SELECT id FROM s"),
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


@pytest.mark.usefixtures("one_task")
def test_operators_count_their_rows(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_run, "PROGRESS_INTERVAL", 0.5)
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
        files = f"'filesystem', 'path' = '{tmp_path / name}', 'format' = '{form}'"
        connector = files if form else "'print'"
        env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ('connector' = {connector})")
        statements.add_insert_sql(f"INSERT INTO {name} {query}")
    minute = "2024-01-01 00:0"
    added(source, "1.csv", f"1,a,{minute}0:01\n2,b,{minute}0:59\n3,a,{minute}2:00.5\n")
    job = cast("JobClient", statements.execute().get_job_client())
    until(job, lambda metrics: metrics.rows_in == 15)
    added(source, "2.csv", f"4,a,{minute}0:01\n5,b,{minute}5:59\n3,a,{minute}2:00.5\n")
    # the windows of the first and the third minute, 6 changes of groups twice, 6 rows, 4 of OVER
    metrics = until(job, lambda metrics: (metrics.rows_in, metrics.rows_out) == (30, 24))
    until(job, lambda _: bool(hook.metrics) and hook.metrics[-1].rows_out == 24)
    last = datetime(2024, 1, 1, 0, 5, 59)  # noqa: DTZ001 - a TIMESTAMP

    state, sink = operators(metrics, "w")
    assert ("stateStoreSave", last) == (state.name, state.watermark)
    assert (None, None, 1, 1) == counts(state), "the last window; a row is late"
    assert (2, None, None, None) == counts(sink)
    group, sink = operators(metrics, "g")
    assert (6, 6, 12, None) == counts(group), "all rows and changes, until they are rewritten"
    assert (6, None, None, None) == counts(sink)
    state, sink = operators(metrics, "p")
    assert (2, 6) == (state.state_rows, sink.rows_in)
    gate, *_, sink = operators(metrics, "o")
    assert (6, 2, last) == (gate.rows_in, gate.late_rows, gate.watermark)
    assert (4, None, None, None) == counts(sink)
    assert (3, last) == (metrics.late_rows, metrics.watermark)
    job.cancel().result()
    assert metrics.operators == getattr(job.get_metrics(), "operators", None), "after the end"
    assert ["created", "canceled"] == hook.events


def test_a_micro_batch_that_was_not_executed_is_not_counted() -> None:
    """While a query waits, Spark's progress has the number of the next micro-batch."""
    metrics = StreamMetrics("t")

    def progress(batch: int, rows: int, duration: str) -> Any:
        source = SimpleNamespace(description="files at ftp://u:secret@h/x", numInputRows=rows)
        state = SimpleNamespace(
            operatorName="dedupe", numRowsTotal=rows, numRowsDroppedByWatermark=1
        )
        return SimpleNamespace(
            runId="r",
            batchId=batch,
            timestamp=f"{duration} {batch}",
            durationMs={duration: 1},
            sources=[source, source],
            stateOperators=[state],
            eventTime={"watermark": "1970-01-01T00:00:00.000Z"},
        )

    recent = [
        progress(0, 0, "triggerExecution"),
        progress(0, 3, EXECUTED),
        progress(1, 0, "triggerExecution"),
        progress(1, 4, EXECUTED),
        progress(2, 0, "triggerExecution"),
    ]
    for end in (0, 1, 2, 2, 5, 5):
        metrics.add(reversed(recent[:end]))
    value = metrics.value()

    assert (2, 14, 4, 2) == (value.micro_batches, value.rows_in, value.state_rows, value.late_rows)
    assert value.watermark is None
    source = "source files at ftp://u:******@h/x"
    names = [source, f"{source} 2", "dedupe", "sink"]
    assert names == [operator.name for operator in value.operators]


@pytest.mark.parametrize("limit", ["MAX_WAIT", "MAX_AWAITED"])
def test_rows_that_spark_does_not_count_are_unknown(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[dict[str, int] | None] = []
    observed = [Mock(poll=lambda n=n: counts[n]) for n in range(4)]
    monkeypatch.setattr(stream_metrics, "ObservedCounts", Mock(side_effect=observed))
    metrics = StreamMetrics("t")
    for count in ({"rows": 5}, None):
        counts.append(count)
        with metrics.counting(Mock()) as rows:
            assert rows is observed[len(counts) - 1].frame
    assert 5 == metrics.value().rows_out, "the second count may follow"
    counts[1] = {"rows": 2}
    assert 7 == metrics.value().rows_out
    counts.append(None)
    with metrics.counting(Mock()):
        pass
    monkeypatch.setattr(stream_metrics, limit, -1)
    assert metrics.value().rows_out is None
    counts[2] = {"rows": 2}
    monkeypatch.undo()
    with metrics.counting(plain := Mock()) as rows:
        assert rows is plain, "no longer counted"
    assert metrics.value().rows_out is None
