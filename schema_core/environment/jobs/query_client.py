"""The client of a query, which runs on the thread that iterates over its rows."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from schema_core.environment.jobs.client import CompletableFuture, JobClient, JobExecutionResult
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.environment.jobs.progress import show_until_first
from schema_core.environment.jobs.run import JobID, JobStatus
from schema_core.errors import ExternalError

T = TypeVar("T")


class QueryClient(JobClient):
    """The client of a query: it runs from its statement until all rows are read.

    `TableResult.wait` does not wait for it: only the caller reads the rows.
    """

    def __init__(self) -> None:
        self._id = JobID.generate()
        self._status = JobStatus.RUNNING
        self._begin = time.monotonic()
        self._result: CompletableFuture[JobExecutionResult] = CompletableFuture()

    def __repr__(self) -> str:
        return f"<JobClient of query {self._id}: {self._status.name}>"

    def follow(self, rows: Iterable[T]) -> Iterator[T]:
        """Yield the rows until the query is cancelled; its status is that of the last one."""
        try:
            for row in show_until_first(self.get_job_name(), rows):
                if self._status is JobStatus.CANCELED:
                    return
                yield row
        except Exception as error:
            self._status = JobStatus.FAILED
            self._result.set_exception(error)
            raise
        if self._status is JobStatus.RUNNING:
            self._status = JobStatus.FINISHED
            runtime = int(1000 * (time.monotonic() - self._begin))
            self._result.set_result(JobExecutionResult(self._id, runtime))

    def get_job_id(self) -> JobID:
        return self._id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        future: CompletableFuture[JobStatus] = CompletableFuture()
        future.set_result(self._status)
        return future

    def cancel(self) -> CompletableFuture[None]:
        """End the rows after the next one; a query that has ended is not changed."""
        if self._status is JobStatus.RUNNING:
            self._status = JobStatus.CANCELED
            self._result.set_exception(ExternalError("the query was canceled", code="job-canceled"))
        future: CompletableFuture[None] = CompletableFuture()
        future.set_result(None)
        return future

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return a future with the result of the query, which is done when all rows are read."""
        return self._result

    def wait(self, timeout_ms: int | None = None) -> None:
        """Return at once: the rows are computed while they are read."""

    def get_job_name(self) -> str:
        return "collect"

    def get_progress(self) -> tuple[int, int] | None:
        """Return None: the number of tasks is not known."""
        return None

    def get_metrics(self) -> JobMetrics | None:
        """Return None: queries have no metrics."""
        return None
