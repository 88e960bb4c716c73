"""Metrics of streaming jobs: by the job's client, and by hooks while the job runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast
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


class Sink(NamedTuple):
    """A sink of a statement set, and what its operators count for the six rows of the source."""

    columns: str
    format: str
    query: str
    rows: int
    late: int = 0


#: Name -> sink; those without a format print.
SINKS = {
    # the windows of the first and the third minute
    "w": Sink(
        "n BIGINT",
        "parquet",
        f"SELECT COUNT(*) FROM {WINDOWS} GROUP BY window_start, window_end",
        rows=2,
        late=1,
    ),
    "g": Sink(
        "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        "debezium-json",
        "SELECT k, COUNT(DISTINCT id) FROM s GROUP BY k",
        rows=6,
    ),
    "p": Sink("k STRING, n BIGINT", "", "SELECT k, COUNT(*) FROM s GROUP BY k", rows=6),
    "q": Sink("id INT", "", "SELECT id FROM s", rows=6),
    "o": Sink(
        "id INT, n BIGINT",
        "parquet",
        "SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM s",
        rows=4,
        late=2,
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
@pytest.mark.parametrize("sinks", ["wg", pytest.param("pqo", marks=pytest.mark.slow)])
def test_operators_count_their_rows(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sinks: str
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
    for name in sinks:
        sink = SINKS[name]
        files = f"'filesystem', 'path' = '{tmp_path / name}', 'format' = '{sink.format}'"
        connector = files if sink.format else "'print'"
        env.execute_sql(f"CREATE TABLE {name} ({sink.columns}) WITH ('connector' = {connector})")
        statements.add_insert_sql(f"INSERT INTO {name} {sink.query}")
    minute = "2024-01-01 00:0"
    added(source, "1.csv", f"1,a,{minute}0:01\n2,b,{minute}0:59\n3,a,{minute}2:00.5\n")
    job = cast("JobClient", statements.execute().get_job_client())
    until(job, lambda metrics: metrics.rows_in == 3 * len(sinks))
    added(source, "2.csv", f"4,a,{minute}0:01\n5,b,{minute}5:59\n3,a,{minute}2:00.5\n")
    rows = (6 * len(sinks), sum(SINKS[name].rows for name in sinks))
    metrics = until(job, lambda metrics: (metrics.rows_in, metrics.rows_out) == rows)
    until(job, lambda _: bool(hook.metrics) and hook.metrics[-1].rows_out == rows[1])
    last = datetime(2024, 1, 1, 0, 5, 59)  # noqa: DTZ001 - a TIMESTAMP

    if "w" in sinks:
        state, writer = operators(metrics, "w")
        assert ("stateStoreSave", last) == (state.name, state.watermark)
        assert (None, None, 1, 1) == counts(state), "the last window; a row is late"
        assert (2, None, None, None) == counts(writer)
        group, writer = operators(metrics, "g")
        assert (6, 6, 12, None) == counts(group), "all rows and changes, until they are rewritten"
        assert (6, None, None, None) == counts(writer)
    else:
        state, writer = operators(metrics, "p")
        assert (2, 6) == (state.state_rows, writer.rows_in)
        gate, *_, writer = operators(metrics, "o")
        assert (6, 2, last) == (gate.rows_in, gate.late_rows, gate.watermark)
        assert (4, None, None, None) == counts(writer)
    assert (sum(SINKS[name].late for name in sinks), last) == (metrics.late_rows, metrics.watermark)
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
