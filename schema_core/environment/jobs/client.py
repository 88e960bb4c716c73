"""Clients of submitted jobs, by the names of `pyflink.common`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from concurrent.futures import Future, InvalidStateError
from dataclasses import field
from typing import Any, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.plugins import load_higher
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.environment.jobs.progress import show_progress
from schema_core.environment.jobs.run import JobID, JobRun, JobStatus, Locating, start_job
from schema_core.errors import SchemaError, UnsupportedError

T = TypeVar("T")


class CompletableFuture(Future[T]):
    """A value that another thread computes: a `concurrent.futures.Future` that can be awaited.

    Only the first call of `set_result`, `set_exception` and `cancel` succeeds and returns True.
    `on_taken` is called when the error is returned or raised, `on_wait` before a thread waits: it
    raises for one that must not.

    >>> future = CompletableFuture()
    >>> future.done(), future.set_result(1), future.set_result(2), future.result()
    (False, True, False, 1)
    """

    def __init__(
        self,
        on_taken: Callable[[], None] | None = None,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._on_taken = on_taken
        self._on_wait = on_wait

    def result(self, timeout: float | None = None) -> T:
        """Wait, and return the value or raise the error.

        `timeout` are seconds until `TimeoutError`; None waits without limit.

        Raises:
            SchemaError: with code `invalid-state` in a hook of the job.
        """
        self._before_wait()
        try:
            return super().result(timeout)
        finally:
            self._take_result()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait, and return the error, or None where there is a value; raises as `result`."""
        self._before_wait()
        try:
            return super().exception(timeout)
        finally:
            self._take_result()

    def set_result(self, result: T) -> bool:  # type: ignore[override]
        """Set the value; return False if the future is done already."""
        try:
            super().set_result(result)
        except InvalidStateError:
            return False
        return True

    def set_exception(self, exception: BaseException | None) -> bool:  # type: ignore[override]
        """Set the error; return False if the future is done already."""
        try:
            super().set_exception(exception)
        except InvalidStateError:
            return False
        return True

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio  # not before it is needed: it imports many modules

        self._before_wait()
        self._take_result()
        return asyncio.wrap_future(self).__await__()

    def _before_wait(self) -> None:
        if self._on_wait is not None and not self.done():
            self._on_wait()

    def _take_result(self) -> None:
        if self._on_taken is not None and self.done():
            self._on_taken()


@dataclass(frozen=True, slots=True)
class JobExecutionResult:
    """The result of a finished job; `net_runtime` is in milliseconds.

    Accumulators belong to Flink's DataStream API: there are none.
    """

    job_id: JobID
    net_runtime: int
    accumulators: dict[str, Any] = field(default_factory=dict)

    def get_job_id(self) -> JobID:
        return self.job_id

    def is_job_execution_result(self) -> bool:
        """Return True."""
        return True

    def get_job_execution_result(self) -> JobExecutionResult:
        """Return the object itself."""
        return self

    def get_net_runtime(self) -> int:
        """Return how many milliseconds the job ran."""
        return self.net_runtime

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return None: there are no accumulators."""
        require_instance(accumulator_name, str, "accumulator_name")
        return self.accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return an empty dictionary: there are no accumulators."""
        return dict(self.accumulators)

    def to_string(self) -> str:
        """Return the identifier and the runtime as a sentence."""
        return str(self)

    def __str__(self) -> str:
        return f"Job {self.job_id} has finished in {self.net_runtime} ms"


class JobClient:
    """The client of one job, which runs on its own thread; see `TableResult.get_job_client`.

    Without references to its client the job goes on, and its error is logged (logger
    ``schema_core.jobs``, level ERROR).
    """

    def __init__(self, run: JobRun) -> None:
        self._run = run
        weakref.finalize(self, run.abandon)

    def __repr__(self) -> str:
        return f"<JobClient of job {self._run.id}: {self._run.status.name}>"

    def _repr_html_(self) -> str:
        """Return the name, the status and the progress of the job as HTML for notebooks."""
        return str(load_higher("job_html")(self))

    def get_job_id(self) -> JobID:
        """Return the identifier of the job."""
        return self._run.id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return a future with the status of the job as it is now."""
        future: CompletableFuture[JobStatus] = CompletableFuture()
        future.set_result(self._run.status)
        return future

    def cancel(self) -> CompletableFuture[None]:
        """Cancel the job; the future is done when the job has ended and its rows are removed.

        A job that is committing or has ended becomes FINISHED or FAILED instead.
        """
        future: CompletableFuture[None] = CompletableFuture(on_wait=self._run.require_waitable)
        self._run.cancel()
        self._run.at_end(lambda _: future.set_result(None))
        return future

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return a future with the result of the job, or with its error."""
        client = self  # the error has not been dropped as long as the future exists

        def taken() -> None:
            client._run.take()

        future: CompletableFuture[JobExecutionResult] = CompletableFuture(
            taken, self._run.require_waitable
        )

        def end(run: JobRun) -> None:
            if run.error is not None:
                future.set_exception(run.error)
            else:
                future.set_result(JobExecutionResult(run.id, run.net_runtime))

        self._run.at_end(end)
        return future

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return a future with an empty dictionary: there are no accumulators."""
        future: CompletableFuture[dict[str, Any]] = CompletableFuture()
        future.set_result({})
        return future

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str
    ) -> CompletableFuture[str]:
        """Raise an error: jobs on Spark have no savepoints (`feature-not-supported`)."""
        raise no_savepoints("cancel the job with JobClient.cancel()")

    def trigger_savepoint(self, savepoint_directory: str) -> CompletableFuture[str]:
        """Raise an error, as `stop_with_savepoint` (`feature-not-supported`)."""
        raise no_savepoints("cancel the job with JobClient.cancel()")

    # --- methods of this library ---------------------------------------------------------------

    @property
    def run(self) -> JobRun:
        """The run of the job; dropping the client does not end it."""
        return self._run

    def locate(self, locating: Locating) -> None:
        """Add a location to the error of the job, also if it has failed."""
        self._run.locate(locating)

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the job has ended, and raise its error, at every call.

        Ctrl-C cancels the job, and raises `KeyboardInterrupt` when it has ended. `timeout_ms` None
        or 0 waits without limit. A cell of a notebook shows the progress.

        Raises:
            SchemaError: with code `invalid-state` in a hook of the job.
            ExternalError: with code `wait-timeout`, `job-failed`, `job-canceled` or
                `job-hook-failed`.
            SchemaCoreError: the error of the job.
        """
        if timeout_ms is not None:
            require_instance(timeout_ms, int, "timeout_ms")
            if timeout_ms < 0:
                problem = f"timeout_ms must not be negative, got {timeout_ms}"
                raise SchemaError(problem, code="invalid-argument")
        with show_progress(self.get_job_name(), self.get_progress):
            self._run.wait(timeout_ms)

    def get_job_name(self) -> str:
        """Return the name of the job, such as ``insert into`` with a path."""
        return self._run.name

    def get_progress(self) -> tuple[int, int] | None:
        """Return the numbers of finished and of known tasks; None if unknown or not running."""
        return self._run.progress()

    def get_metrics(self) -> JobMetrics | None:
        """Return what a streaming job has done since it started, also after its end; else None."""
        return self._run.metrics()


def no_savepoints(instead: str) -> UnsupportedError:
    """Return the error for a savepoint, with what to do instead."""
    return UnsupportedError(
        "jobs on Spark do not have savepoints",
        code="feature-not-supported",
        hint=f"{instead}: a streaming job leaves its checkpoint, from which the same statement "
        "continues",
    )


def submit(graph: JobGraph) -> JobClient:
    """Begin a job, run it on a thread, and return its client; raises as `start_job`."""
    return JobClient(start_job(graph))
