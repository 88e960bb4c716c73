"""Streaming queries of Spark that call a function with each micro-batch, as a batch frame."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from schema_core.errors import (
    ExternalError,
    UnsupportedError,
)
from schema_core.spark.jobs import reason, spark_errors
from schema_core.spark.session.api_mode import in_session, is_connect, java_class
from schema_core.spark.streaming.connect_batches import batch_directory
from schema_core.spark.streaming.stream_metrics import (
    StreamMetrics,
    progress_of,
)
from schema_core.spark.streaming.stream_stages import (
    StreamedQuery,
)

if TYPE_CHECKING:
    from datetime import timedelta

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from schema_core.environment.jobs.metrics import JobMetrics

T = TypeVar("T")

#: How many seconds a cancelled job waits for its micro-batch, which may be committing.
STOP_TIMEOUT: Final = 60.0
#: Maximum starts of a query: on a busy machine its Python worker may not connect within Spark's ten
#: seconds.
STARTS: Final = 5
TOO_SLOW: Final = "Python worker failed to connect back"


class MicroBatches:
    """A streaming query of Spark that calls a function with each micro-batch, as a batch frame.

    `write` is called with a micro-batch's rows and number, on a thread of Spark. Without the
    location of a `checkpoint`, a new one is deleted at the end. Micro-batches start in the
    `interval`; None: as soon as there are rows. Spark's progress is added to the `metrics`.
    """

    def __init__(
        self,
        streamed: StreamedQuery,
        write: Callable[[DataFrame, int], None],
        checkpoint: str | None = None,
        interval: timedelta | None = None,
        metrics: StreamMetrics | None = None,
    ) -> None:
        self._streamed = streamed
        self._metrics = metrics
        self._write = write
        self._checkpoint = checkpoint
        self._interval = interval
        self._query: StreamingQuery | None = None
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._is_stopped = False
        #: held while a micro-batch is written
        self._writing = threading.Lock()

    def run(self) -> None:
        """Run until the query fails or is stopped; raise a micro-batch's error unchanged."""
        try:
            frame = self._streamed.frame
            if is_connect(frame):
                with batch_directory(frame.sparkSession, frame.columns) as directory:
                    if (query := self._start(directory.function())) is not None:
                        directory.take(query, self._batch)
                        query.awaitTermination()
            elif (query := self._start(self._batch)) is not None:
                query.awaitTermination()
        except Exception:
            if self._error is not None:
                raise self._error from None
            if not self._is_stopped:
                raise
        finally:
            # a micro-batch in its commit continues when its query is stopped
            if self._writing.acquire(timeout=STOP_TIMEOUT):
                self._writing.release()
        if self._error is not None and not self._is_stopped:
            raise self._error  # Spark may fail to report it
        if not self._is_stopped:
            raise ExternalError("the streaming query was stopped", code="job-failed")

    def metrics(self) -> JobMetrics | None:
        """Return what the query has done since it started, None without `metrics`."""
        if self._metrics is None:
            return None
        self._add_progress()
        return self._metrics.value()

    def _add_progress(self) -> None:
        with suppress(Exception):  # the query may have ended, and Spark may have stopped
            if self._metrics is not None and self._query is not None:
                self._metrics.add(progress_of(self._query))

    def stop(self) -> None:
        """Stop the query, even before it starts, without waiting for its micro-batch."""
        with self._lock:
            self._is_stopped = True
        if self._query is not None:
            threading.Thread(target=self._stop, name="schema-core stop", daemon=True).start()

    def _stop(self) -> None:
        with suppress(Exception):  # Spark may be what has stopped
            if self._query is not None:
                self._query.stop()

    def _start(self, function: Callable[[DataFrame, int], None]) -> StreamingQuery | None:
        """Start the query; None if it is stopped."""
        frame, mode = self._streamed.frame, self._streamed.mode
        writer = frame.writeStream.foreachBatch(function).outputMode(mode)
        if self._checkpoint is not None:
            writer = writer.option("checkpointLocation", self._checkpoint)
        for further in reversed(range(STARTS)):
            with self._lock:
                if self._is_stopped:
                    break
                try:
                    self._query = self._add_trigger(writer).start()
                except Exception as error:
                    if not further or TOO_SLOW not in str(error):
                        raise
                else:
                    return self._query
        return None

    def _add_trigger(self, writer: DataStreamWriter) -> DataStreamWriter:
        if self._interval is None:
            return writer
        milliseconds = round(self._interval.total_seconds() * 1000)
        return writer.trigger(processingTime=f"{milliseconds} milliseconds")

    def _batch(self, rows: DataFrame, number: int) -> None:
        with self._writing:
            if self._is_stopped:  # Spark must not count the rows as written
                raise RuntimeError("the query was stopped")
            self._add_progress()  # of the micro-batch before
            try:
                # Spark runs streams in a clone of their session
                rows = in_session(rows, self._streamed.frame.sparkSession)
                self._write(self._streamed.rows(rows, number), number)
            except BaseException as error:  # noqa: BLE001 - kept for the job
                self._error = error
                # short: Spark searches it by a pattern whose stack a long trace overflows
                raise RuntimeError(f"the micro-batch failed: {type(error).__name__}") from None


def require_streaming(frame: DataFrame, mode: str = "append") -> None:
    """Require that Spark computes a frame as rows arrive (`streaming-not-supported`).

    Spark checks its plan and mode itself; a server of Spark Connect when the query starts.
    """
    if is_connect(frame):
        return
    spark, session = "org.apache.spark.sql", frame.sparkSession
    modes = java_class(session, f"{spark}.streaming.OutputMode")
    output = modes.Update() if mode == "update" else modes.Append()
    checker = java_class(session, f"{spark}.catalyst.analysis.UnsupportedOperationChecker")
    try:
        checker.checkForStreaming(frame._jdf.queryExecution().analyzed(), output)  # noqa: SLF001
    except Exception as error:
        raise UnsupportedError(
            f"the query cannot be computed as rows arrive: {reason(error)}",
            code="streaming-not-supported",
        ) from error


def rows_as_they_arrive(
    streamed: StreamedQuery,
    rows_of: Callable[[DataFrame], Iterator[T]],
    interval: timedelta | None = None,
) -> Iterator[T]:
    """Yield a query's rows forever; closing the iterator stops the query.

    `rows_of` returns a micro-batch's rows; the next one starts when they are yielded. Micro-batches
    start in the `interval`; None: as soon as there are rows.
    """
    fetched: queue.Queue[list[T] | BaseException | None] = queue.Queue(maxsize=1)
    closed = threading.Event()

    def put(item: list[T] | BaseException | None) -> None:
        while not closed.is_set():
            with suppress(queue.Full):
                fetched.put(item, timeout=0.1)
                return

    batches = MicroBatches(streamed, lambda rows, _: put(list(rows_of(rows))), interval=interval)

    def run() -> None:
        try:
            with spark_errors():
                batches.run()
            put(None)
        except BaseException as error:  # noqa: BLE001 - raised by the reader
            put(error)

    thread = threading.Thread(target=run, name="schema-core query", daemon=True)
    thread.start()
    try:
        while (item := fetched.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield from item
    finally:
        closed.set()
        batches.stop()
        thread.join()
