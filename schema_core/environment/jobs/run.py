"""The execution of jobs on threads of their own: life cycle, cancellation, errors, and exit.

A job's thread writes the rows, commits them, and calls the hooks. The interpreter waits for it
at exit. See ``docs/decisions/0025-asynchronous-jobs.md``.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - its executors are to be shut down after the jobs
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from types import TracebackType
from typing import TypeAlias, cast
from uuid import uuid4

from schema_core.base.secrets import mask_urls
from schema_core.environment.jobs.graph import JobExecution, JobGraph, JobProgressHook
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.errors import (
    ExternalError,
    SchemaCoreError,
    SchemaError,
    with_notes,
)

_LOG = logging.getLogger("schema_core.jobs")

#: The note of an error that is raised after the commit.
COMMITTED = "the rows of the job are committed: do not run the statement again"

#: Seconds between two calls of `JobProgressHook.on_progress`.
PROGRESS_INTERVAL = 5.0
#: Seconds between the first two interrupts of a call, and the most between two.
INTERRUPTING, MAX_INTERRUPTING = 0.05, 1.0

UNCERTAIN = "the rows may be committed: read the table before you run the statement again"


class JobStatus(Enum):
    """The states of a job, with the numbers of PyFlink.

    A job is CREATED, RUNNING, then FINISHED, FAILED or CANCELED; FAILING or CANCELLING while its
    output is removed. RESTARTING, SUSPENDED and RECONCILING occur only on Flink's clusters.
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Return whether the job has ended, and is not run again.

        >>> [one.name for one in JobStatus if one.is_globally_terminal_state()]
        ['FAILED', 'CANCELED', 'FINISHED']
        """
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Return whether nothing runs any more: globally terminal, or SUSPENDED."""
        return self.is_globally_terminal_state() or self is JobStatus.SUSPENDED


class JobID(str):
    """The identifier of a job: a string of 32 hexadecimal digits."""

    __slots__ = ()

    @classmethod
    def generate(cls) -> JobID:
        """Return a new identifier."""
        return cls(uuid4().hex)


#: Adds a location to the errors of a job, such as the position of its statement.
Locating: TypeAlias = Callable[[], AbstractContextManager[object]]
#: The last status of a job, and the error to raise.
Outcome: TypeAlias = tuple[JobStatus, BaseException | None]


def start_job(graph: JobGraph) -> JobRun:
    """Begin a job on this thread, run it on another one, and return the run at once.

    An error of the execution's `begin` is raised: the job is aborted, no hook is called.
    """
    run = JobRun(graph)
    try:
        graph.execution.begin()
        run.start()
    except BaseException as error:
        if not run.withdraw():  # Ctrl-C just after it: the thread of the job aborts it
            run.cancel()
            run.join()
            run.add_outcome(error)
            raise
        late = _errors_of([graph.execution.abort])
        raised = with_notes(_to_raised_error(error), late, "afterwards")
        if raised is error:
            raise
        raise raised from error
    return run


class JobRun:
    """One run of a job; all methods may be called on any thread."""

    def __init__(self, graph: JobGraph) -> None:
        self.id: JobID = JobID.generate()
        self.error: BaseException | None = None
        self._trace: TracebackType | None = None
        self._graph = graph
        self._has_end = graph.execution.has_end
        self._lock = threading.RLock()  # a finalizer may run on a thread that holds it
        self._status = JobStatus.CREATED
        self._is_canceled = False
        #: whether the job cannot be cancelled any more: it reached its commit point or failed
        self._is_decided = False
        self._ended = threading.Event()
        self._left = threading.Event()
        self._process = os.getpid()
        self._locating: list[Locating] = []
        self._at_end: list[Callable[[JobRun], object]] = []
        self._is_taken = False
        self._is_abandoned = False
        #: whether the thread of the job runs it, or must not any more: the first decides
        self._is_started = False
        self._is_withdrawn = False
        #: what ends the calls that the thread of the job waits for
        self._interrupts: list[Callable[[], object]] = []
        self.started_at: datetime = datetime.now(UTC)
        self._started = time.monotonic()
        self._runtime = 0.0
        self._thread = _JobThread(self)
        self._progress_thread: threading.Thread | None = None
        #: the metrics of the job when it ended
        self._last_metrics: JobMetrics | None = None

    @property
    def name(self) -> str:
        return self._graph.name

    @property
    def has_end(self) -> bool:
        """Whether the job ends without being cancelled, as all but streaming jobs do."""
        return self._has_end

    @property
    def status(self) -> JobStatus:
        return self._status

    @property
    def net_runtime(self) -> int:
        """How many milliseconds the job ran, once it has ended."""
        return round(self._runtime * 1000)

    def start(self) -> None:
        """Start the thread. If this raises, call `withdraw`: the thread may run."""
        _RUNNING.add(self)
        self._thread.start()

    def withdraw(self) -> bool:
        """Keep the thread from running the job; return False if it runs already.

        Ctrl-C may end `start` before the thread exists, or when it has ended.
        """
        with self._lock:
            if self._is_started:
                return False
            self._is_withdrawn = True
        _RUNNING.discard(self)
        return True

    def join(self) -> None:
        """Wait for the thread; `Thread.join` interrupted by Ctrl-C takes the thread for ended."""
        if self._process == os.getpid():  # a process that was forked has no such thread
            self._left.wait()

    def progress(self) -> tuple[int, int] | None:
        """Return the numbers of done and of all tasks; None if unknown."""
        with suppress(Exception):  # the engine may have stopped
            return self._graph.execution.progress(self.id)
        return None

    def metrics(self) -> JobMetrics | None:
        """Return the metrics of a streaming job, of its end if it has ended; else None."""
        if self._ended.is_set():
            return self._last_metrics
        with suppress(Exception):  # the engine may have stopped
            return self._graph.execution.metrics()
        return None

    # --- waiting -------------------------------------------------------------------------------

    def require_waitable(self) -> None:
        """Raise if the thread of the job would wait for itself (`invalid-state`)."""
        own = (self._thread, self._progress_thread)
        if threading.current_thread() in own and not self._ended.is_set():
            raise SchemaError(
                f"the job {self._graph.name!r} cannot wait for its own end",
                code="invalid-state",
                hint="wait on another thread: the job itself calls its job status hooks",
            )

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait for the end and raise the job's error; see `JobClient.wait`."""
        self.require_waitable()
        try:
            has_ended = self._ended.wait(timeout_ms / 1000 if timeout_ms else None)
        except KeyboardInterrupt as interrupt:
            self.cancel()
            self._ended.wait()
            self.add_outcome(interrupt)
            raise
        if not has_ended:
            raise ExternalError(
                f"the job {self._graph.name!r} has not ended within {timeout_ms} ms",
                code="wait-timeout",
                hint="the job still runs: wait again, or cancel it with get_job_client().cancel()",
            )
        self.take()
        if self.error is not None:
            raise self.error.with_traceback(self._trace)

    def add_outcome(self, interrupt: BaseException) -> None:
        """Add the outcome of the ended job to the interrupt that cancelled it."""
        self.take()
        if self._status is JobStatus.FINISHED:
            interrupt.add_note(COMMITTED)
        elif self._status is JobStatus.FAILED:
            interrupt.add_note(str(self.error))

    def at_end(self, call: Callable[[JobRun], object]) -> None:
        """Make a call when the job has ended; now, if it has."""
        with self._lock:
            if not self._ended.is_set():
                self._at_end.append(call)
                return
        call(self)

    def locate(self, locating: Locating) -> None:
        """Add a location to the job's error, also if it has failed already."""
        with self._lock:
            self._locating.append(locating)
            if self.error is not None:
                self.error = _locate_error(self.error, [locating])

    def take(self) -> None:
        """Note that the outcome was retrieved, so that its error is not logged."""
        if self._ended.is_set():
            self._is_taken = True

    def abandon(self) -> None:
        """Log the job's error, now or later: its client was collected."""
        with self._lock:
            self._is_abandoned = True
        self._report()

    def _report(self) -> None:
        with self._lock:
            is_due = self._ended.is_set() and self._is_abandoned and not self._is_taken
            was_requested = self._is_canceled and self._status is JobStatus.CANCELED
            if not is_due or self.error is None or was_requested:
                return
            self._is_taken = True
        notes = [mask_urls(item) for item in getattr(self.error, "__notes__", ())]
        lines = "\n".join([mask_urls(str(self.error)), *notes])
        _LOG.error("%s (job %s): %s", self._graph.name, self.id, lines)

    # --- cancellation --------------------------------------------------------------------------

    def cancel(self) -> None:
        """Cancel the job, unless it commits its rows or has ended."""
        with self._lock:
            if self._is_decided or self._is_canceled:
                return
            self._is_canceled = True
            self._status = JobStatus.CANCELLING
        with suppress(Exception):  # the engine may have stopped
            self._graph.execution.cancel(self.id)
        threading.Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        """Interrupt waiting calls, and cancel again until the job ends.

        A call may not have begun; Spark starts the next stage of an adaptive query, though the
        group of its jobs was cancelled between two stages.
        """
        graph, pause = self._graph, INTERRUPTING
        while True:
            with self._lock:
                calls = tuple(self._interrupts)
            for call in calls:
                with suppress(Exception):  # it has ended, or the engine has stopped
                    call()
            if self._ended.wait(pause):
                return
            with suppress(Exception):
                graph.execution.cancel(self.id)
            pause = min(2 * pause, MAX_INTERRUPTING)

    @contextmanager
    def interruptible(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Call `interrupt` if the job is cancelled within the block; see `interruptible`."""
        with self._lock:
            is_open = not self._is_decided
            if is_open:
                self.require_running()
                self._interrupts.append(interrupt)
        try:
            yield
        finally:
            if is_open:
                with self._lock:
                    self._interrupts.remove(interrupt)

    def require_running(self, *, last: bool = False) -> None:
        """Raise if the job is cancelled (`job-canceled`); after the `last` call it cannot be."""
        with self._lock:
            if self._is_canceled and not self._is_decided:
                raise _canceled_error()
            self._is_decided = self._is_decided or last

    # --- the life cycle ------------------------------------------------------------------------

    def run_to_end(self) -> None:
        """Run the job, on its own thread, unless it was withdrawn."""
        try:
            with self._lock:
                if self._is_withdrawn:
                    return
                self._is_started = True
            self._end(*self._run())
        finally:
            _RUNNING.discard(self)
            self._left.set()

    def _end(self, status: JobStatus, error: BaseException | None) -> None:
        if error is not None:
            _clear_frames(error)
        self._last_metrics = self.metrics()
        with self._lock:
            self._runtime = time.monotonic() - self._started
            if error is not None:
                self.error = _locate_error(error, self._locating)
                self._trace = self.error.__traceback__
            self._status = status
            self._ended.set()
            calls, self._at_end = self._at_end, []
            # frees what the engine holds for the job, however long its client is kept
            self._graph = JobGraph(self._graph.name, JobExecution())
        for call in calls:
            with suppress(Exception):
                call(self)
        self._report()

    def _run(self) -> Outcome:
        graph, hooks = self._graph, self._graph.hooks
        try:
            if errors := _errors_of([partial(hook.on_created, self.id) for hook in hooks]):
                raise with_notes(errors[0], errors[1:], "while the job was created")  # noqa: TRY301
            with self._lock:
                self.require_running()
                self._status = JobStatus.RUNNING
            with self._reporting():
                graph.execution.run(self.id)
            for call in graph.before_commit:
                call()
            self.require_running()
            graph.execution.commit()
            with self._lock:
                self._is_decided = True
            for call in graph.after_commit:
                call()
        except BaseException as error:  # noqa: BLE001 - raised by `wait`
            return self._fail_job(error)
        errors = _errors_of([partial(hook.on_finished, self.id) for hook in hooks])
        return JobStatus.FINISHED, _of_hooks(errors) if errors else None

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Call the hooks with the metrics of the job while the block runs, and at its end."""
        hooks = [hook for hook in self._graph.hooks if isinstance(hook, JobProgressHook)]
        has_ended = threading.Event()

        def report() -> None:
            previous: JobMetrics | None = None
            is_last = False
            while not is_last:
                is_last = has_ended.wait(PROGRESS_INTERVAL)
                metrics = self.metrics()
                if metrics is None or metrics == previous:
                    continue
                previous = metrics
                for error in _errors_of(
                    [partial(hook.on_progress, self.id, metrics) for hook in hooks]
                ):
                    text = mask_urls(first_line(error))
                    _LOG.error("%s (job %s): on_progress failed: %s", self.name, self.id, text)

        if not hooks:
            yield
            return
        name = f"schema-core progress {self.id}"
        self._progress_thread = threading.Thread(target=report, name=name, daemon=True)
        self._progress_thread.start()
        try:
            yield
        finally:
            has_ended.set()
            self._progress_thread.join()

    def _fail_job(self, error: BaseException) -> Outcome:
        raised = _to_raised_error(error)
        with self._lock:
            # a job that was cancelled before its commit has the error of the cancellation
            was_requested = self._is_canceled and not self._is_decided
            self._is_decided = True
            is_canceled = was_requested or _is_cancellation(raised)
            self._status = JobStatus.CANCELLING if is_canceled else JobStatus.FAILING
        if was_requested and not _is_cancellation(raised):
            raised = _canceled_error()
        if raised is not error:
            raised.__cause__ = error
        late = _errors_of([self._graph.execution.abort])
        committed = self._graph.execution.committed
        hooks, calls = self._graph.hooks, list[Callable[[], object]]()
        if committed:
            status, calls = (
                JobStatus.FINISHED,
                [partial(hook.on_finished, self.id) for hook in hooks],
            )
        elif is_canceled:
            status, calls = (
                JobStatus.CANCELED,
                [partial(hook.on_canceled, self.id) for hook in hooks],
            )
        else:
            status = JobStatus.FAILED
            calls = [partial(hook.on_failed, self.id, raised) for hook in hooks]
        late += _errors_of(calls)
        if committed is not False:
            raised.add_note(COMMITTED if committed else UNCERTAIN)
        return status, with_notes(raised, late, "afterwards")


class _JobThread(threading.Thread):
    """The thread of a job; not a daemon, so the interpreter waits for it."""

    def __init__(self, job: JobRun) -> None:
        super().__init__(name=f"schema-core job {job.id}", daemon=False)
        self.job: JobRun | None = job

    def run(self) -> None:
        try:
            cast("JobRun", self.job).run_to_end()  # a thread runs once
        finally:
            self.job = None


def require_running(*, last: bool = False) -> None:
    """Raise if this is the thread of a cancelled job (`job-canceled`); for loops that wait.

    `last`: the job reaches its commit point, and cannot be cancelled any more.
    """
    thread = threading.current_thread()
    if isinstance(thread, _JobThread) and thread.job is not None:
        thread.job.require_running(last=last)


@contextmanager
def interruptible(interrupt: Callable[[], object]) -> Iterator[None]:
    """Let a call to another system be interrupted when its job is cancelled.

    Not after the commit point, nor while the job is aborted. `interrupt` makes the call raise, from
    another thread, possibly several times and before the call has begun. A cancelled job raises
    at once (`job-canceled`).
    """
    thread = threading.current_thread()
    if isinstance(thread, _JobThread) and thread.job is not None:
        with thread.job.interruptible(interrupt):
            yield
        return
    try:
        yield
    except KeyboardInterrupt:
        with suppress(Exception):
            interrupt()
        raise


# --- errors ---------------------------------------------------------------------------------------


def _errors_of(calls: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Make every call; return the errors in order."""
    errors: list[BaseException] = []
    for call in calls:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            errors.append(error)
    return errors


def _to_raised_error(error: BaseException) -> BaseException:
    """Return the error to raise: of the library, or one not meant to be caught."""
    if isinstance(error, SchemaCoreError) or not isinstance(error, Exception):
        return error
    converted = ExternalError(f"the job failed: {first_line(error)}", code="job-failed")
    for note in getattr(error, "__notes__", ()):
        converted.add_note(note)
    return converted


def _clear_frames(error: BaseException) -> None:
    """Clear the variables in the tracebacks of an error and its causes: they hold rows."""
    pending, seen = [error], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        traceback.clear_frames(one.__traceback__)
        pending += [other for other in (one.__cause__, one.__context__) if other is not None]
        pending += one.exceptions if isinstance(one, BaseExceptionGroup) else ()


def _canceled_error() -> ExternalError:
    return ExternalError("the job was cancelled", code="job-canceled")


def _is_cancellation(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) or getattr(error, "code", "") == "job-canceled"


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an error, or the name of its class."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _of_hooks(errors: list[BaseException]) -> BaseException:
    """Return the error of a job that finished although hooks raised."""
    first = errors[0]
    if not isinstance(first, Exception):
        return with_notes(first, errors[1:], "afterwards")
    raised = ExternalError(
        f"the job finished, but a job status hook failed: {first_line(first)}",
        code="job-hook-failed",
        hint="do not run the statement again: its rows are written",
    )
    raised.__cause__ = first
    return with_notes(raised, errors[1:], "afterwards")


def _locate_error(error: BaseException, locating: Sequence[Locating]) -> BaseException:
    for each in locating:
        try:
            with each():
                raise error  # noqa: TRY301
        except BaseException as found:  # noqa: BLE001 - raised by `wait`
            error = found
    return error


# --- exit -----------------------------------------------------------------------------------------

#: The running jobs, for which the interpreter waits at exit.
_RUNNING: set[JobRun] = set()


def _wait_at_exit() -> None:
    """Wait for running jobs; Ctrl-C cancels them."""
    try:
        _join_all()
    except KeyboardInterrupt:
        for job in tuple(_RUNNING):
            job.cancel()
        _join_all()


def _join_all() -> None:
    """Wait for the running jobs, and for jobs that they start."""
    joined: set[JobRun] = set()
    while waiting := _RUNNING - joined:
        for job in waiting:
            job.join()
            joined.add(job)


# Runs before all handlers of `atexit`, which may stop the engine, and before threads are joined,
# where Ctrl-C would leave them running. `concurrent.futures` uses it, too.
getattr(threading, "_register_atexit", atexit.register)(_wait_at_exit)
