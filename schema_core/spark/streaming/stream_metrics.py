"""Metrics of a streaming query, from Spark's progress and counts of the rows that are written.

No metric starts a Spark job: rows are counted while they are written.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
    from pyspark.sql.streaming.query import StreamingQuery

#: How many counts are awaited at most, and for how many seconds after the rows were written: a sink
#: may read rows in a way that Spark does not count.
MAX_AWAITED: Final = 10
MAX_WAIT: Final = 2.0
#: The duration that only the progress of an executed micro-batch has.
EXECUTED: Final = "addBatch"
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
        self._awaited: deque[tuple[str, ObservedCounts]] = deque()
        self._lock = threading.Lock()

    def observe(self, kind: str, rows: DataFrame, counts: Mapping[str, str]) -> DataFrame:
        """Return rows whose counts are added as this `kind` when they have been read."""
        self.take()
        observed = ObservedCounts(rows, counts)
        self.wait_for(kind, observed)
        return observed.frame

    def wait_for(self, kind: str, observed: ObservedCounts) -> None:
        """Add counts as this `kind` when they have become known."""
        with self._lock:
            self._awaited.append((kind, observed))

    def take(self) -> int:
        """Add the counts that have become known; return how many are awaited."""
        with self._lock:
            while self._awaited:
                kind, observed = self._awaited[0]
                if (counts := observed.poll()) is None:
                    break
                self._awaited.popleft()
                self._add(kind, counts)
            return len(self._awaited)


class StreamMetrics:
    """The metrics of a streaming query that writes the table `sink`; thread-safe.

    `stages` returns those of the stages of the query for the path of the sink, if it has some.
    `has_clock` is whether the rows of the last source only begin micro-batches.
    """

    def __init__(
        self,
        sink: str,
        stages: Callable[[str], Sequence[OperatorMetrics]] | None = None,
        *,
        has_clock: bool = False,
    ) -> None:
        self._sink = sink
        self._stages = stages
        self._has_clock = has_clock
        self._lock = threading.Lock()
        #: the newest progress of Spark that was added
        self._last: tuple[str, int, str] | None = None
        self._micro_batches = 0
        self._read: Counter[tuple[int, str]] = Counter()
        self._late: Counter[tuple[int, str]] = Counter()
        self._state: dict[tuple[int, str], int] = {}
        self._watermark: datetime | None = None
        self._written = 0
        self._awaited = AwaitedCounts(lambda _, counts: self._add_written(counts["rows"]))
        #: whether the rows of all micro-batches were counted
        self._is_counted = True
        self._has_written: float | None = None
        self._has_report = False

    @contextmanager
    def counting(self, rows: DataFrame) -> Iterator[DataFrame]:
        """Yield the rows of a micro-batch, which are counted while the sink reads them."""
        self._has_written, self._has_report = None, False
        if self._count_written() is None:
            yield rows
            return
        observed = ObservedCounts(rows, {"rows": "count(*)"})
        yield observed.frame
        if not self._has_report:
            self._awaited.wait_for("sink", observed)
        self._has_written = time.monotonic()

    def report_rows(self, rows: int) -> None:
        """Add the rows of the micro-batch, which the sink has counted itself."""
        self._has_report = True
        self._add_written(rows)

    def _add_written(self, rows: int) -> None:
        self._written += rows

    def _count_written(self) -> int | None:
        """Return the number of rows that were written; None if some were not counted."""
        awaited, since = self._awaited.take(), self._has_written
        is_late = bool(awaited) and since is not None and time.monotonic() > since + MAX_WAIT
        self._is_counted = self._is_counted and not is_late and awaited <= MAX_AWAITED
        return self._written if self._is_counted else None

    def add(self, progress: Iterable[StreamingQueryProgress]) -> None:
        """Add Spark's progress, the newest first, of micro-batches since the last call.

        While a query waits for rows, its progress is that of a micro-batch that is not executed.
        """
        with self._lock:
            new = []
            for item in progress:
                key = (str(item.runId), item.batchId, item.timestamp)
                if key == self._last:
                    break
                new.append((key, item))
            for key, item in reversed(new):
                self._last = key
                if EXECUTED in item.durationMs:
                    self._add_executed(item)

    def _add_executed(self, progress: StreamingQueryProgress) -> None:
        self._micro_batches += 1
        sources = progress.sources[:-1] if self._has_clock else progress.sources
        for place, source in enumerate(sources):
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
        written = self._count_written()
        with self._lock:
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
            sink = OperatorMetrics(self._sink, "sink", rows_in=written)
            keeping = [*states, *stages]
            watermarks = [part.watermark for part in keeping if part.watermark is not None]
            return JobMetrics(
                self._micro_batches,
                add_known(operator.rows_out for operator in sources),
                written,
                add_known(operator.state_rows for operator in keeping) if keeping else 0,
                sum(operator.late_rows or 0 for operator in keeping),
                self._watermark or min(watermarks, default=None),
                number_operators([*sources, *keeping, sink]),
            )


def progress_of(query: StreamingQuery) -> Iterator[StreamingQueryProgress]:
    """Yield the recent progress of a query, the newest first."""
    if (java := getattr(query, "_jsq", None)) is None:  # over Spark Connect
        yield from reversed(query.recentProgress)
        return
    from pyspark.sql.streaming.listener import StreamingQueryProgress

    recent = java.recentProgress()
    for place in reversed(range(len(recent))):
        yield StreamingQueryProgress.fromJson(json.loads(recent[place].json()))


def as_watermark(millis: int | None) -> datetime | None:
    """Return Flink's watermark for that of a query here, which is a millisecond later.

    The time is one by the clock of the session's time zone.

    >>> as_watermark(1001)
    datetime.datetime(1970, 1, 1, 0, 0, 1)
    """
    return None if millis is None else NO_WATERMARK + timedelta(milliseconds=millis - 1)
