"""Jobs on threads of their own: hooks, errors, waiting and cancellation, with a job of Python."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from schema_core.base.paths import ObjectIdentifier
from schema_core.environment.jobs import run as job_run
from schema_core.environment.jobs.client import submit
from schema_core.environment.jobs.graph import (
    JobExecution,
    JobGraph,
    JobProgressHook,
    JobStatusHook,
)
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.environment.jobs.run import COMMITTED, UNCERTAIN, interruptible, require_running
from schema_core.environment.result import TableResult
from schema_core.errors import (
    AlreadyExistsError,
    ExternalError,
    SchemaError,
    UnsupportedError,
)
from schema_core.pyflink.common import (
    CompletableFuture,
    JobClient,
    JobExecutionResult,
    JobID,
    JobStatus,
)
from schema_core.schema.resolved import ResolvedSchema
from tests.support import RecordingHook


class Watcher(RecordingHook):
    """A hook that records the events that it receives, with the errors of jobs."""

    def called(self, event: str, error: BaseException | None = None) -> None:
        self.events.append(event if error is None else f"{event}: {error}")


class Step(JobExecution):
    """A job that records its calls and raises at one of them; `at` is called at another."""

    def __init__(
        self,
        fails: str = "",
        error: BaseException | None = None,
        at: dict[str, Callable[[], object]] | None = None,
    ) -> None:
        self.calls: list[str] = []
        self._committed: bool | None = False
        self._fails, self._error, self._at = fails, error, at or {}
        self.canceled = threading.Event()

    @property
    def committed(self) -> bool | None:
        return self._committed

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self._at:
            self._at[name]()
        if name == self._fails and self._error:
            raise self._error

    def begin(self) -> None:
        self._called("begin")

    def run(self, job_id: str) -> None:
        self._called("run")

    def commit(self) -> None:
        self._called("commit")
        self._committed = True
        self._called("committed")

    def abort(self) -> None:
        self._called("abort")

    def cancel(self, job_id: str) -> None:
        self.canceled.set()


class Waiting(Step):
    """A job that runs until it is released or cancelled."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.started = threading.Event()
        self.released = threading.Event()

    def run(self, job_id: str) -> None:
        super().run(job_id)
        self.started.set()
        while not self.released.wait(0.005):
            if self.canceled.is_set():
                raise RuntimeError("interrupted")


def submitted(
    execution: JobExecution, hooks: Sequence[JobStatusHook] = (), name: str = "a job"
) -> JobClient:
    graph = JobGraph(name, execution)
    for hook in hooks:
        graph.register_job_status_hook(hook)
    return submit(graph)


def run(execution: JobExecution, hooks: Sequence[JobStatusHook] = ()) -> JobClient:
    """Run a job to its end."""
    client = submitted(execution, hooks)
    client.wait()
    return client


def status(client: JobClient) -> JobStatus:
    return client.get_job_status().result()


class Measured(Waiting):
    """A job with metrics, which change when it is released."""

    has_end = False

    def metrics(self) -> JobMetrics:
        return JobMetrics(1 + self.released.is_set(), rows_in=3)


# --- hooks ---------------------------------------------------------------------------------------


def test_events_of_a_finished_job() -> None:
    watcher = Watcher()
    client = run(Step(), (watcher,))

    assert JobStatus.FINISHED is status(client)
    assert ["created", "finished"] == watcher.events


@pytest.mark.parametrize(
    ("error", "raised", "events"),
    [
        (ValueError("no space"), ExternalError, "failed: the job failed: no space"),
        (SchemaError("bad"), SchemaError, "failed: bad"),
        (ExternalError("gone", code="job-canceled"), ExternalError, "canceled"),
        (KeyboardInterrupt(), KeyboardInterrupt, "canceled"),
    ],
)
def test_events_of_a_failed_job(
    error: BaseException, raised: type[BaseException], events: str
) -> None:
    watcher = Watcher()
    with pytest.raises(raised):
        run(Step("run", error), (watcher,))

    assert ["created", events] == watcher.events


class Raising(RecordingHook):
    """A hook that raises at the events named, after it has recorded them."""

    def __init__(self, *events: str, error: type[BaseException] = ValueError) -> None:
        super().__init__()
        self._events, self._error = events, error

    def called(self, event: str, error: BaseException | None = None) -> None:
        self.events.append(event)
        if event in self._events:
            raise self._error(f"hook at {event}")


EVENTS = ("created", "finished", "failed", "canceled")
ERRORS = (None, SchemaError("the job's own"), OSError("the job's own"), KeyboardInterrupt())


@pytest.mark.parametrize("error", [ValueError, SchemaError, KeyboardInterrupt])
@pytest.mark.parametrize("own", ERRORS)
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("event", EVENTS)
def test_each_hook_is_called_once_for_each_event_whatever_others_raise(
    event: str, place: int, own: BaseException | None, error: type[BaseException]
) -> None:
    hooks = [Raising(), Raising(), Raising()]
    hooks[place] = Raising(event, error=error)
    step = Step("run", own)
    try:
        run(step, hooks)
        raised: BaseException | None = None
    except BaseException as caught:  # noqa: BLE001 - any error may win
        raised = caught

    ends = {"finished" if own is None else "canceled" if own is ERRORS[3] else "failed"}
    if event == "created":
        ends = {"canceled" if error is KeyboardInterrupt else "failed"}
    (end,) = ends
    assert [["created", end]] * 3 == [hook.events for hook in hooks]
    assert ("run" in step.calls) == (event != "created")
    _check_raised(raised, own, event, end)


def _check_raised(
    raised: BaseException | None, own: BaseException | None, event: str, end: str
) -> None:
    """The first error of the job is raised; the error of the hook is it, or is attached to it."""
    hook = event in ("created", end)
    if event != "created" and own is not None:
        assert raised is own or (raised is not None and raised.__cause__ is own)
        notes = " ".join(getattr(raised, "__notes__", []))
        assert hook == (f"hook at {event}" in notes)
        if raised is own and hasattr(own, "__notes__"):
            del own.__notes__  # the errors are shared by the cases
    else:
        assert hook == (raised is not None)
        assert not hook or f"hook at {event}" in f"{raised} {raised.__cause__ if raised else ''}"


def test_all_errors_of_hooks_are_attached() -> None:
    hooks = [Raising("failed"), Watcher(), Raising("failed", error=OSError)]
    with pytest.raises(ExternalError) as caught:
        run(Step("run", RuntimeError("first")), hooks)

    assert "the job failed: first" == caught.value.problem
    assert ["afterwards: ValueError: hook at failed", "afterwards: OSError: hook at failed"] == (
        caught.value.__notes__
    )


def test_a_hook_that_raises_after_the_commit_does_not_undo_the_job() -> None:
    step, watcher = Step(), Watcher()
    client = submitted(step, (Raising("finished"), watcher))
    with pytest.raises(ExternalError) as caught:
        client.wait()

    expected = ["begin", "run", "commit", "committed"]
    assert ("job-hook-failed", expected) == (caught.value.code, step.calls)
    assert ["created", "finished"] == watcher.events
    assert JobStatus.FINISHED is status(client)


class WaitsForItself(RecordingHook):
    """A hook that waits for its own job at one event, in every way."""

    def __init__(self, event: str) -> None:
        super().__init__()
        self.event, self.submitted = event, threading.Event()
        self.codes: list[str] = []
        self.client: JobClient | None = None

    def called(self, event: str, error: BaseException | None = None) -> None:
        if event != self.event:
            return
        assert self.submitted.wait(10)
        client = self.client
        assert client is not None
        result = TableResult(ResolvedSchema(()), [(-1,)], job=client)
        finished = client.get_job_execution_result()
        for wait in (
            client.wait,
            partial(client.wait, 10_000),
            finished.result,
            partial(finished.result, 10),
            finished.exception,
            lambda: asyncio.run(_awaited(finished)),
            client.cancel().result,
            result.wait,
            result.print,
            lambda: list(result.collect()),
        ):
            with pytest.raises(SchemaError) as caught:
                wait()
            self.codes.append(caught.value.code)


@pytest.mark.parametrize(
    ("event", "last"),
    [("created", JobStatus.CANCELED), ("finished", JobStatus.FINISHED),
     ("failed", JobStatus.FAILED)],
)  # fmt: skip
def test_a_hook_that_waits_for_its_own_job_is_refused(event: str, last: JobStatus) -> None:
    hook = WaitsForItself(event)
    fails = "run" if event == "failed" else ""
    hook.client = submitted(Step(fails, ExternalError("no")), [hook])
    hook.submitted.set()
    _ended(hook.client)

    assert ["invalid-state"] * 10 == hook.codes
    assert last is status(hook.client)
    finished = hook.client.get_job_execution_result()
    assert (finished.exception() is None) == (event == "finished")


async def _awaited(future: CompletableFuture[Any]) -> None:
    await future


@pytest.mark.parametrize("error", [OSError("disk full"), SchemaError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    ("fails", "events"),
    [("commit", ("failed", "canceled")), ("committed", ("finished", "finished"))],
)
def test_a_job_whose_commit_fails_is_aborted(
    fails: str, events: tuple[str, str], error: BaseException
) -> None:
    step, watcher = Step(fails, error), Raising()
    expected = error if not isinstance(error, OSError) else None
    client = submitted(step, (watcher,))
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - any of the three
        client.wait()

    assert "abort" == step.calls[-1]
    assert 1 == step.calls.count("abort")
    assert ["created", events[isinstance(error, KeyboardInterrupt)]] == watcher.events
    assert expected in (None, caught.value)
    assert isinstance(caught.value, ExternalError | SchemaError | KeyboardInterrupt)
    assert step.committed == any(COMMITTED in note for note in _notes(caught.value))
    assert step.committed == (status(client) is JobStatus.FINISHED)


@pytest.mark.parametrize("error", [OSError("no catalog"), AlreadyExistsError("there is a table")])
def test_a_job_that_cannot_begin_is_refused_at_once(error: Exception) -> None:
    step, watcher = Step("begin", error), Watcher()
    with pytest.raises((ExternalError, AlreadyExistsError)) as caught:
        submitted(step, (watcher,))

    assert ["begin", "abort"] == step.calls
    assert [] == watcher.events
    assert "no catalog" in str(caught.value) or caught.value is error


def _notes(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", []))


def test_an_abort_that_fails_does_not_hide_the_cause() -> None:
    class Failing(Step):
        def abort(self) -> None:
            self._committed = None
            raise OSError("cannot delete")

    with pytest.raises(SchemaError, match="own") as caught:
        run(Failing("run", SchemaError("own")))

    assert [UNCERTAIN, "afterwards: OSError: cannot delete"] == _notes(caught.value)


# --- the clients ---------------------------------------------------------------------------------


def test_a_job_runs_while_its_client_is_used() -> None:
    waiting = Waiting()
    client = submitted(waiting)
    waiting.started.wait()
    result = client.get_job_execution_result()
    before = status(client), result.done()
    with pytest.raises(ExternalError) as caught:
        client.wait(timeout_ms=20)
    waiting.released.set()
    client.wait()

    assert (JobStatus.RUNNING, False) == before
    assert "wait-timeout" == caught.value.code
    assert ("the job 'a job' has not ended within 20 ms") == caught.value.problem
    assert JobStatus.FINISHED is status(client)
    results = result.result(timeout=1)
    assert isinstance(results, JobExecutionResult)
    assert client.get_job_id() == results.get_job_id() == results.get_job_execution_result().job_id
    assert isinstance(results.get_job_id(), JobID)
    assert 32 == len(str(client.get_job_id()))
    assert 20 <= results.get_net_runtime() < 10_000
    assert ({}, None) == (
        results.get_all_accumulator_results(),
        results.get_accumulator_result("x"),
    )
    assert results.is_job_execution_result()
    assert str(results.job_id) in results.to_string()
    assert {} == client.get_accumulators().result()


def test_the_same_error_is_raised_at_every_wait() -> None:
    client = submitted(Step("run", OSError("disk full")))
    raised = []
    for _ in range(3):
        with pytest.raises(ExternalError) as caught:
            client.wait()
        raised.append((caught.value, len(caught.traceback)))

    assert "the job failed: disk full" == caught.value.problem
    assert raised[0] == raised[1] == raised[2]
    assert caught.value is client.get_job_execution_result().exception()
    with pytest.raises(ExternalError, match="disk full"):
        client.get_job_execution_result().result()


@pytest.mark.parametrize("limit", [True, "1", 1.5, -1])
def test_timeouts_are_integers(limit: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        run(Step()).wait(limit)

    assert "invalid-argument" == caught.value.code


def test_savepoints_are_refused() -> None:
    client = run(Step())
    with pytest.raises(UnsupportedError) as stopped:
        client.stop_with_savepoint(False, "x")
    with pytest.raises(UnsupportedError) as triggered:
        client.trigger_savepoint("x")

    assert {"feature-not-supported"} == {stopped.value.code, triggered.value.code}


def test_statuses_have_the_numbers_of_pyflink() -> None:
    ends = {item.name for item in JobStatus if item.is_globally_terminal_state()}

    assert {"FAILED", "CANCELED", "FINISHED"} == ends
    assert {*ends, "SUSPENDED"} == {item.name for item in JobStatus if item.is_terminal_state()}
    assert (0, 6, list(range(10))) == (
        JobStatus.CREATED.value,
        JobStatus.FINISHED.value,
        [item.value for item in JobStatus],
    )


def test_one_of_several_completions_of_a_future_succeeds() -> None:
    future: CompletableFuture[int] = CompletableFuture()
    done = [future.set_result(1), future.set_exception(ValueError()), future.cancel()]

    assert [True, False, False] == done
    assert (1, None, True, False) == (
        future.result(), future.exception(), future.done(), future.cancelled()
    )  # fmt: skip
    canceled: CompletableFuture[int] = CompletableFuture()
    assert canceled.cancel()
    assert canceled.cancelled()


def test_futures_can_be_awaited() -> None:
    waiting = Waiting()
    client = submitted(waiting)

    async def main() -> int:
        waiting.released.set()
        return (await client.get_job_execution_result()).get_net_runtime()

    assert asyncio.run(main()) >= 0


# --- cancellation --------------------------------------------------------------------------------


def test_a_cancelled_job_is_aborted_and_notifies_its_hooks() -> None:
    waiting, watcher = Waiting(), Watcher()
    client = submitted(waiting, (watcher,))
    waiting.started.wait()
    assert client.cancel().result(timeout=5) is None
    client.cancel().result(timeout=5)

    assert JobStatus.CANCELED is status(client)
    assert (["created", "canceled"], ["begin", "run", "abort"]) == (watcher.events, waiting.calls)
    for _ in range(2):
        with pytest.raises(ExternalError) as caught:
            client.wait()
        assert ("job-canceled", "the job was cancelled") == (
            caught.value.code,
            caught.value.problem,
        )
    assert isinstance(client.get_job_execution_result().exception(), ExternalError)


def test_a_job_that_is_cancelled_before_it_runs_writes_nothing() -> None:
    clients: list[JobClient] = []
    given = threading.Event()

    class Canceling(Watcher):
        def on_created(self, job_id: str) -> None:
            super().on_created(job_id)
            given.wait()
            clients[0].cancel()

    step, hook = Step(), Canceling()
    clients.append(submitted(step, (hook,)))
    given.set()
    with pytest.raises(ExternalError, match="cancelled"):
        clients[0].wait()

    assert (["begin", "abort"], ["created", "canceled"]) == (step.calls, hook.events)


def test_rows_that_are_complete_when_the_job_is_cancelled_are_not_committed() -> None:
    clients: list[JobClient] = []
    given = threading.Event()

    def cancel() -> None:
        given.wait()
        clients[0].cancel()

    step = Step(at={"run": cancel})
    clients.append(submitted(step))
    given.set()
    with pytest.raises(ExternalError, match="cancelled"):
        clients[0].wait()

    assert ["begin", "run", "abort"] == step.calls


@pytest.mark.parametrize("last", [False, True])
def test_a_cancel_after_the_commit_point_is_too_late(last: bool) -> None:
    clients: list[JobClient] = []
    given, watcher = threading.Event(), Watcher()

    def commit() -> None:
        given.wait()
        if last:
            require_running(last=True)
        clients[0].cancel()
        if last:
            require_running()

    step = Step(at={"commit": commit})
    clients.append(submitted(step, (watcher,)))
    given.set()
    clients[0].wait()
    clients[0].cancel().result(timeout=5)

    assert JobStatus.FINISHED is status(clients[0])
    assert ["created", "finished"] == watcher.events
    ended = run(Step())
    ended.cancel().result(timeout=5)
    assert JobStatus.FINISHED is status(ended)


def test_a_job_that_waits_within_its_commit_can_be_cancelled() -> None:
    waits = threading.Event()

    def wait() -> None:
        waits.set()
        while True:
            require_running()
            time.sleep(0.005)

    step = Step(at={"commit": wait})
    client = submitted(step)
    waits.wait()
    client.cancel().result(timeout=5)

    assert JobStatus.CANCELED is status(client)
    assert ["begin", "run", "commit", "abort"] == step.calls
    require_running()  # of no job: this thread is not cancelled


class Calling(Step):
    """A job that calls another system in one of its steps, which an interrupt ends."""

    def __init__(self, step: str, *, last: bool = False) -> None:
        super().__init__(at={step: self._call})
        self.started, self.ended = threading.Event(), threading.Event()
        self.interrupts = 0
        self._last = last

    def _interrupt(self) -> None:
        self.interrupts += 1
        if self.interrupts == 1:
            raise RuntimeError("the call has not begun")
        self.ended.set()

    def _call(self) -> None:
        if self._last:
            require_running(last=True)
        with interruptible(self._interrupt):
            self.started.set()
            if self.ended.wait(0.2 if self._last else 10):
                raise RuntimeError("interrupted")


@pytest.mark.parametrize("step", ["run", "commit"])
def test_a_call_of_a_job_that_is_cancelled_is_interrupted(step: str) -> None:
    job = Calling(step)
    client = submitted(job)
    assert job.started.wait(10)
    client.cancel().result(timeout=5)

    assert JobStatus.CANCELED is status(client)
    assert 2 == job.interrupts
    assert "abort" == job.calls[-1]


@pytest.mark.parametrize(("step", "last"), [("abort", False), ("commit", True)])
def test_calls_after_the_commit_point_and_of_an_abort_are_not_interrupted(
    step: str, last: bool
) -> None:
    job = Calling(step, last=last)
    if step == "abort":
        job._fails, job._error = "run", ExternalError("no")
    client = submitted(job)
    assert job.started.wait(10)
    canceled = client.cancel()
    job.ended.set() if step == "abort" else None
    canceled.result(timeout=5)

    assert 0 == job.interrupts
    assert status(client) is (JobStatus.FAILED if step == "abort" else JobStatus.FINISHED)


def test_a_call_of_a_job_that_is_cancelled_does_not_begin() -> None:
    waiting = Waiting()
    called: list[int] = []

    def call() -> None:
        waiting.released.wait(10)
        with interruptible(list):
            called.append(1)

    client = submitted(Step(at={"run": call}))
    canceled = client.cancel()
    waiting.released.set()
    canceled.result(timeout=5)

    assert (JobStatus.CANCELED, []) == (status(client), called)


def test_ctrl_c_interrupts_a_call_on_the_thread_of_the_program() -> None:
    called: list[int] = []
    with pytest.raises(KeyboardInterrupt), interruptible(lambda: called.append(1)):
        raise KeyboardInterrupt

    assert [1] == called


def test_an_engine_that_cannot_cancel_any_more_does_not_raise() -> None:
    class Stopped(Waiting):
        def cancel(self, job_id: str) -> None:
            super().cancel(job_id)
            raise RuntimeError("the engine is stopped")

        def progress(self, job_id: str) -> tuple[int, int] | None:
            raise RuntimeError("the engine is stopped")

    stopped = Stopped()
    client = submitted(stopped)
    stopped.started.wait()
    assert client.get_progress() is None
    client.cancel().result(timeout=5)

    assert JobStatus.CANCELED is status(client)


def test_a_cancellation_between_two_stages_is_repeated() -> None:
    class Adaptive(Waiting):
        requests = 0

        def cancel(self, job_id: str) -> None:
            self.requests += 1
            if self.requests > 2:  # its jobs of before had ended
                super().cancel(job_id)

    adaptive = Adaptive()
    client = submitted(adaptive)
    adaptive.started.wait()
    client.cancel().result(timeout=5)

    assert (JobStatus.CANCELED, 3) == (status(client), adaptive.requests)


def interrupt(when: threading.Event) -> None:
    """Send SIGINT to this process shortly after an event."""

    def send() -> None:
        when.wait()
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()


@contextmanager
def default_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt at SIGINT, also where PySpark has a handler of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_waiting_cancels_the_job() -> None:
    waiting, watcher = Waiting(), Watcher()
    client = submitted(waiting, (watcher,))
    with default_interrupts():
        interrupt(waiting.started)
        with pytest.raises(KeyboardInterrupt) as caught:
            client.wait()

    assert JobStatus.CANCELED is status(client)
    assert ["created", "canceled"] == watcher.events
    assert [] == _notes(caught.value)


def test_ctrl_c_after_the_commit_point_says_that_the_rows_are_committed() -> None:
    commits, goes_on = threading.Event(), threading.Event()

    def commit() -> None:
        require_running(last=True)
        commits.set()
        goes_on.wait()

    client = submitted(Step(at={"commit": commit}))
    threading.Timer(0.3, goes_on.set).start()
    with default_interrupts():
        interrupt(commits)
        with pytest.raises(KeyboardInterrupt) as caught:
            client.wait()

    assert JobStatus.FINISHED is status(client)
    assert [COMMITTED] == _notes(caught.value)


def test_ctrl_c_just_after_the_start_cancels_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, watcher = Waiting(), Watcher()
    start = job_run.JobRun.start

    def interrupted(run: job_run.JobRun) -> None:
        start(run)
        waiting.started.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(job_run.JobRun, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        submitted(waiting, (watcher,))

    assert ["begin", "run", "abort"] == waiting.calls
    assert ["created", "canceled"] == watcher.events


@pytest.mark.parametrize("has_started", [False, True])
def test_ctrl_c_while_the_thread_starts_leaves_the_job_to_one_thread(
    monkeypatch: pytest.MonkeyPatch, has_started: bool
) -> None:
    """`Thread.start` waits for the new thread, which may run the job already."""
    goes_on, threads = threading.Event(), list[threading.Thread]()
    on: list[str] = []
    begin, run_to_end = threading.Thread.start, job_run.JobRun.run_to_end

    def noted() -> None:
        on.append(type(threading.current_thread()).__name__)

    def started(thread: threading.Thread) -> None:
        threads.append(thread)
        begin(thread)
        if has_started:
            waiting.started.wait()
        raise KeyboardInterrupt

    def late(run: job_run.JobRun) -> None:
        assert has_started or goes_on.wait(20)
        run_to_end(run)

    waiting, watcher = Waiting(at={"abort": noted}), Watcher()
    with monkeypatch.context() as patched:
        patched.setattr(job_run._JobThread, "start", started)
        patched.setattr(job_run.JobRun, "run_to_end", late)
        with pytest.raises(KeyboardInterrupt):
            submitted(waiting, (watcher,))
    goes_on.set()
    threads[0].join()

    ran = ["run"] * has_started
    assert ["begin", *ran, "abort"] == waiting.calls
    assert ["_JobThread" if has_started else "MainThread"] == [
        item.replace("_MainThread", "MainThread") for item in on
    ]
    assert (["created", "canceled"] if has_started else []) == watcher.events
    assert set() == job_run._RUNNING


def test_a_thread_that_cannot_be_started_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    step, watcher = Step(), Watcher()
    with monkeypatch.context() as patched:
        patched.setattr(job_run._JobThread, "start", refused)
        with pytest.raises(ExternalError, match="can't start new thread"):
            submitted(step, (watcher,))

    assert (["begin", "abort"], []) == (step.calls, watcher.events)
    assert set() == job_run._RUNNING


# --- errors that are not retrieved ---------------------------------------------------------------


def _ended(client: JobClient) -> None:
    """Wait for the end of a job without taking its error."""
    while not status(client).is_globally_terminal_state():
        time.sleep(0.002)


def _logged(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    gc.collect()
    deadline = time.monotonic() + 2
    while not caplog.records and time.monotonic() < deadline:
        time.sleep(0.01)
    return [(record.levelno, record.getMessage()) for record in caplog.records]


@pytest.mark.parametrize("dropped_first", [False, True])
def test_an_error_that_nobody_takes_is_logged_once(
    caplog: pytest.LogCaptureFixture, dropped_first: bool
) -> None:
    waiting = Waiting(fails="commit", error=OSError("no jdbc:db://ann:secret@host/x"))
    client: JobClient | None = submitted(waiting, name="insert into t")
    assert client is not None
    job = client.get_job_id()
    if not dropped_first:
        waiting.released.set()
        _ended(client)
    assert [] == caplog.records
    client = None
    waiting.released.set()

    logged = _logged(caplog)
    assert [
        (
            logging.ERROR,
            f"insert into t (job {job}): the job failed: no jdbc:db://ann:******@host/x",
        )
    ] == logged


def test_a_job_that_others_cancelled_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    submitted(Step("run", ExternalError("the job was cancelled", code="job-canceled")))

    assert ["the job was cancelled"] == [text.partition("): ")[2] for _, text in _logged(caplog)]


@pytest.mark.parametrize("way", ["wait", "result", "exception", "await", "canceled", "finished"])
def test_what_someone_took_is_not_logged(caplog: pytest.LogCaptureFixture, way: str) -> None:
    waiting = Waiting() if way == "canceled" else None
    client: JobClient | None = submitted(
        waiting or Step("" if way == "finished" else "run", OSError("x"))
    )
    assert client is not None
    future = client.get_job_execution_result()
    if way == "wait":
        with pytest.raises(ExternalError):
            client.wait()
    elif way == "result":
        with pytest.raises(ExternalError):
            future.result()
    elif way == "exception":
        assert future.exception() is not None
    elif way == "await":

        async def main() -> None:
            await future

        with pytest.raises(ExternalError):
            asyncio.run(main())
    else:
        if way == "canceled":
            client.cancel()
        _ended(client)
    client, future = None, CompletableFuture()
    gc.collect()
    time.sleep(0.05)

    assert [] == caplog.records


# --- exit ----------------------------------------------------------------------------------------

PROGRAM = """
import atexit, os, signal, sys, threading, time
from schema_core.environment.jobs.client import submit
from schema_core.environment import JobExecution, JobGraph

class Slow(JobExecution):
    def __init__(self):
        self.canceled = threading.Event()
    def run(self, job_id):
        print("running", flush=True)
        if self.canceled.wait(float(sys.argv[1])):
            raise RuntimeError
        if len(sys.argv) > 2 and sys.argv[2] == "fails":
            raise OSError("disk full")
    def commit(self):
        print("committed", flush=True)
    def abort(self):
        print("aborted", flush=True)
    def cancel(self, job_id):
        self.canceled.set()

atexit.register(lambda: print("engine stopped", flush=True))
client = submit(JobGraph("slow", Slow()))
"""


def _program(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_interpreter_waits_for_running_jobs_when_it_exits() -> None:
    with _program("0.3") as process:
        output, errors = process.communicate(timeout=30)

    assert ("running\ncommitted\nengine stopped\n", "", 0) == (output, errors, process.returncode)


def test_an_error_of_a_job_at_exit_is_logged() -> None:
    with _program("0.1", "fails") as process:
        output, errors = process.communicate(timeout=30)

    assert "running\naborted\nengine stopped\n" == output
    assert errors.startswith("slow (job ")
    assert errors.endswith("): the job failed: disk full\n")


def test_ctrl_c_at_exit_cancels_running_jobs() -> None:
    with _program("60") as process:
        assert process.stdout is not None
        assert "running\n" == process.stdout.readline()
        time.sleep(0.3)  # until the main thread has reached its end
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)

    assert "aborted\nengine stopped\n" == output
    assert "" == errors
    assert time.monotonic() - start < 20


# --- graphs --------------------------------------------------------------------------------------


def test_several_jobs_in_one_write_all_rows_before_they_commit() -> None:
    calls: list[str] = []

    class Part(JobExecution):
        def __init__(self, name: str, fails: str = "") -> None:
            self._name, self._fails = name, fails
            self.done = False

        @property
        def committed(self) -> bool | None:
            return self.done

        def _called(self, event: str) -> None:
            calls.append(f"{event} {self._name}")
            if event == self._fails:
                raise OSError(f"no {event}")

        def begin(self) -> None:
            self._called("begin")

        def run(self, job_id: str) -> None:
            self._called("run")

        def commit(self) -> None:
            self._called("commit")
            self.done = True

        def abort(self) -> None:
            self._called("abort")

    def graph(fails: str) -> JobGraph:
        return JobGraph.of_all([JobGraph("one", Part("a")), JobGraph("two", Part("b", fails))])

    submit(graph("")).wait()
    assert ["begin a", "begin b", "run a", "run b", "commit a", "commit b"] == calls
    calls.clear()
    with pytest.raises(ExternalError, match="no begin"):
        submit(graph("begin"))
    assert ["begin a", "begin b", "abort b", "abort a"] == calls
    calls.clear()
    watcher = Watcher()
    failing = graph("commit")
    failing.register_job_status_hook(watcher)
    client = submit(failing)
    with pytest.raises(ExternalError, match="no commit") as caught:
        client.wait()
    assert ["abort b", "abort a"] == calls[-2:]
    assert ["the rows of the job 'one' are committed"] == _notes(caught.value)
    assert (JobStatus.FAILED, "created") == (status(client), watcher.events[0])
    assert watcher.events[1].startswith("failed")


def test_jobs_without_an_end_run_at_once_and_the_first_that_fails_stops_all() -> None:
    class Endless(JobExecution):
        has_end = False

        def __init__(self, error: Exception | None = None) -> None:
            self._error = error
            self._canceled = threading.Event()
            self.calls: list[str] = []

        def run(self, job_id: str) -> None:
            self.calls.append("run")
            both.wait(60)
            if self._error is not None:
                raise self._error
            assert self._canceled.wait(60)

        def cancel(self, job_id: str) -> None:
            self._canceled.set()

        def abort(self) -> None:
            self.calls.append("abort")

    for error in (None, OSError("no disk")):
        both = threading.Barrier(2)
        parts = [Endless(), Endless(error)]
        client = submit(JobGraph.of_all([JobGraph("a", parts[0]), JobGraph("b", parts[1])]))
        if error is None:
            client.cancel().result(60)
            assert JobStatus.CANCELED is status(client)
        else:
            with pytest.raises(ExternalError, match="no disk") as caught:
                client.wait()
            assert ["in the job 'b'"] == _notes(caught.value)
            assert JobStatus.FAILED is status(client)
        assert [["run", "abort"]] * 2 == [part.calls for part in parts]
    with pytest.raises(UnsupportedError, match="reads only bounded tables") as mixed:
        JobGraph.of_all([JobGraph("a", Endless()), JobGraph("b", Step())])
    assert "streaming-not-supported" == mixed.value.code


@pytest.mark.parametrize(
    "error", [None, OSError("no https://u:secret@host/x"), KeyboardInterrupt()]
)
def test_hooks_receive_the_metrics_of_a_job_and_their_errors_do_not_fail_it(
    error: BaseException | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Progress(Watcher):
        def on_progress(self, job_id: str, metrics: JobMetrics) -> None:
            self.called(f"{metrics.micro_batches} {metrics.rows_in}")
            called.set()
            with pytest.raises(SchemaError, match="cannot wait for its own end"):
                clients[0].wait()
            if error is not None:
                raise error

    monkeypatch.setattr(job_run, "PROGRESS_INTERVAL", 0.01)
    called, hook, step = threading.Event(), Progress(), Measured()
    assert isinstance(hook, JobProgressHook)
    graph = JobGraph("a job", step)
    graph.register_job_status_hook(hook)
    clients: list[JobClient] = []
    clients.append(JobClient(job_run.JobRun(graph)))
    client = clients[0]
    client.run.start()
    assert called.wait(60)
    time.sleep(0.05)
    step.released.set()
    client.wait()

    assert ["created", "1 3", "2 3", "finished"] == hook.events, "once for each change"
    assert JobMetrics(2, rows_in=3) == client.get_metrics()
    assert (0 if error is None else 2) == caplog.text.count("on_progress failed")
    assert "secret" not in caplog.text
    assert run(Step()).get_metrics() is None


def test_a_graph_is_described_by_the_names_of_its_hooks() -> None:
    sinks = [ObjectIdentifier.of("c", "d", "t"), ObjectIdentifier.of("c", "d", "`u.v`")]
    graph = JobGraph("insert into two", JobExecution(), sinks)
    graph.register_job_status_hook(Watcher(), "audit")
    graph.register_job_status_hook(Watcher(), "metrics")
    expected = {
        "name": "insert into two",
        "sinks": [["c", "d", "t"], ["c", "d", "`u.v`"]],
        "hooks": ["audit", "metrics"],
    }
    assert expected == graph.to_dict() == json.loads(json.dumps(graph.to_dict()))

    graph.register_job_status_hook(Raising())
    with pytest.raises(UnsupportedError, match="the job status hook Raising of the job") as caught:
        graph.to_dict()
    assert "invalid-state" == caught.value.code
    assert 3 == len(graph.hooks)
    with pytest.raises(SchemaError) as wrong:
        graph.register_job_status_hook(object())  # type: ignore[arg-type]
    assert "invalid-argument" == wrong.value.code


def test_a_client_does_not_keep_what_the_engine_holds_for_its_job() -> None:
    step: Step | None = Step()
    assert step is not None
    held = weakref.ref(step)
    client = run(step)
    step = None
    gc.collect()

    assert held() is None
    assert ("a job", None, JobStatus.FINISHED) == (
        client.get_job_name(), client.get_progress(), status(client)
    )  # fmt: skip


def test_a_client_does_not_keep_what_the_engine_holds_for_a_job_that_failed() -> None:
    class Rows:
        """What an engine holds."""

    class Failing(Step):
        def run(self, job_id: str) -> None:
            rows = self.rows = Rows()
            result.append(weakref.ref(rows))
            try:
                raise OSError("disk full")  # noqa: TRY301
            except OSError as error:
                raise ValueError("no space") from error

    result: list[weakref.ref[Rows]] = []
    client = submitted(Failing())
    with pytest.raises(ExternalError, match="no space") as caught:
        client.wait()
    gc.collect()

    assert caught.value.__cause__ is not None
    assert [None] == [item() for item in result]
    shown = "".join(traceback.format_exception(caught.value))
    assert 'raise ValueError("no space") from error' in shown  # the lines stay
