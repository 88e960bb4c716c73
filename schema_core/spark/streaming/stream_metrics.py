"""Metrics of a streaming query, from Spark's progress and counts of the rows that are written.

No metric starts a Spark job: rows are counted while they are written.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from schema_core.base.secrets import mask_urls
from schema_core.environment.jobs.metrics import (
    JobMetrics,
    OperatorMetrics,
    add_known,
    number_operators,
)
from schema_core.spark.session.api_mode import functions_of, is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.listener import StreamingQueryProgress

#: Maximum counts that are awaited: a sink may not read its rows.
MAX_AWAITED: Final = 100
#: The start of Spark's watermark, when no row has advanced it.
NO_WATERMARK: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a local time


class ObservedCounts:
    """Counts over the rows of a frame, which Spark computes when the rows are first read.

    `counts` are aggregates in Spark SQL by name. Read the rows of `frame`.
    """

    def __init__(self, rows: DataFrame, counts: Mapping[str, str]) -> None:
        if is_connect(rows):
            from pyspark.sql.connect.observation import Observation
        else:
            from pyspark.sql import Observation

        self._is_connect = is_connect(rows)
        self._seen: Any = Observation()
        expr = functions_of(rows).expr
        self.frame: DataFrame = rows.observe(
            self._seen, *(expr(text).alias(name) for name, text in counts.items())
        )

    def wait(self) -> dict[str, int]:
        """Wait until the rows have been read, and return the counts."""
        return dict(self._seen.get)

    def poll(self) -> dict[str, int] | None:
        """Return the counts; None if the rows have not been read, or could not be."""
        with suppress(Exception):  # the rows could not be read, or Spark has stopped
            if self._is_connect or self._seen._jo.future().isCompleted():  # noqa: SLF001 - does not wait
                return self.wait() or None
        return None


class AwaitedCounts:
    """Adds counts when they become known, in their order; thread-safe."""

    def __init__(self, add: Callable[[str, dict[str, int]], None]) -> None:
        self._add = add
        self._awaited: deque[tuple[str, ObservedCounts]] = deque(maxlen=MAX_AWAITED)
        self._lock = threading.Lock()

    def observe(self, kind: str, rows: DataFrame, counts: Mapping[str, str]) -> DataFrame:
        """Return rows whose counts are added as this `kind` when they have been read."""
        self.take()
        observed = ObservedCounts(rows, counts)
        with self._lock:
            self._awaited.append((kind, observed))
        return observed.frame

    def take(self) -> None:
        """Add the counts that have become known."""
        with self._lock:
            while self._awaited:
                kind, observed = self._awaited[0]
                if (counts := observed.poll()) is None:
                    return
                self._awaited.popleft()
                self._add(kind, counts)


class StreamMetrics:
    """The metrics of a streaming query that writes the table `sink`; thread-safe.

    `stages` returns those of the stages of the query for the path of the sink, if it has some.
    """

    def __init__(
        self, sink: str, stages: Callable[[str], Sequence[OperatorMetrics]] | None = None
    ) -> None:
        self._sink = sink
        self._stages = stages
        self._lock = threading.Lock()
        self._last: tuple[str, int] | None = None
        self._micro_batches = 0
        self._read: Counter[tuple[int, str]] = Counter()
        self._late: Counter[tuple[int, str]] = Counter()
        self._state: dict[tuple[int, str], int] = {}
        self._watermark: datetime | None = None
        self._written = 0
        self._awaited = AwaitedCounts(self._add_written)

    def count_written(self, rows: DataFrame) -> DataFrame:
        """Return the rows of a micro-batch, counted while the sink reads them."""
        with self._lock:
            return self._awaited.observe("sink", rows, {"rows": "count(*)"})

    def _add_written(self, _: str, counts: dict[str, int]) -> None:
        self._written += counts["rows"]

    def add(self, progress: StreamingQueryProgress | None) -> None:
        """Add Spark's progress of the last micro-batch, once."""
        if progress is None:
            return
        with self._lock:
            batch = (str(progress.runId), progress.batchId)
            if batch == self._last:
                return
            self._last = batch
            self._micro_batches += 1
            for place, source in enumerate(progress.sources):
                self._read[place, f"source {mask_urls(source.description)}"] += source.numInputRows
            for place, operator in enumerate(progress.stateOperators):
                key = (place, operator.operatorName)
                self._state[key] = operator.numRowsTotal
                self._late[key] += operator.numRowsDroppedByWatermark
            if (text := progress.eventTime.get("watermark")) is not None:
                watermark = datetime.fromisoformat(text).replace(tzinfo=None)
                millis = (watermark - NO_WATERMARK) // timedelta(milliseconds=1)
                self._watermark = as_watermark(millis or None)

    def value(self) -> JobMetrics:
        """Return the metrics up to now."""
        stages = () if self._stages is None else self._stages(self._sink)
        with self._lock:
            self._awaited.take()
            sources = [
                OperatorMetrics(self._sink, name, rows_out=rows)
                for (_, name), rows in self._read.items()
            ]
            states = [
                OperatorMetrics(
                    self._sink,
                    key[1],
                    state_rows=rows,
                    late_rows=self._late[key],
                    watermark=self._watermark,
                )
                for key, rows in self._state.items()
            ]
            sink = OperatorMetrics(self._sink, "sink", rows_in=self._written)
            keeping = [*states, *stages]
            watermarks = [part.watermark for part in keeping if part.watermark is not None]
            return JobMetrics(
                self._micro_batches,
                add_known(operator.rows_out for operator in sources),
                self._written,
                add_known(operator.state_rows for operator in keeping) if keeping else 0,
                sum(operator.late_rows or 0 for operator in keeping),
                self._watermark or min(watermarks, default=None),
                number_operators([*sources, *keeping, sink]),
            )


def as_watermark(millis: int | None) -> datetime | None:
    """Return Flink's watermark for that of a query here, which is a millisecond later.

    The time is one by the clock of the session's time zone.

    >>> as_watermark(1001)
    datetime.datetime(1970, 1, 1, 0, 0, 1)
    """
    return None if millis is None else NO_WATERMARK + timedelta(milliseconds=millis - 1)
