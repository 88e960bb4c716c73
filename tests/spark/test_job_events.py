"""Jobs and their hooks, with a session that runs nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from schema_core.environment.planner import JobStatus
from schema_core.errors import ExternalError, SchemaError
from schema_core.spark.jobs import COMMITTED, condition_of, reason, run_job


class Watcher:
    """A hook that records the events that it receives."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def on_created(self, job_id: str) -> None:
        self.events.append("created")

    def on_finished(self, job_id: str) -> None:
        self.events.append("finished")

    def on_failed(self, job_id: str, error: BaseException) -> None:
        self.events.append(f"failed: {error}")

    def on_canceled(self, job_id: str) -> None:
        self.events.append("canceled")


@pytest.fixture
def session() -> Any:
    ignored = lambda *_, **__: None  # noqa: E731
    return SimpleNamespace(
        sparkContext=SimpleNamespace(
            setJobGroup=ignored, getLocalProperty=ignored, setLocalProperty=ignored
        )
    )


def fail(error: BaseException) -> Any:
    def action() -> None:
        raise error

    return action


def test_events_of_a_finished_job(session: Any) -> None:
    watcher = Watcher()
    job = run_job(session, "name", lambda: None, (watcher,))

    assert JobStatus.FINISHED is job.status
    assert ["created", "finished"] == watcher.events


@pytest.mark.parametrize(
    ("error", "raised", "events"),
    [
        (ValueError("no space"), ExternalError, "failed: no space"),
        (SchemaError("bad"), SchemaError, "failed: bad"),
        (RuntimeError("[SPARK_JOB_CANCELLED] Job 1"), ExternalError, "canceled"),
        (KeyboardInterrupt(), KeyboardInterrupt, "canceled"),
    ],
)
def test_events_of_a_failed_job(
    session: Any, error: BaseException, raised: type[BaseException], events: str
) -> None:
    watcher = Watcher()
    with pytest.raises(raised):
        run_job(session, "name", fail(error), (watcher,))

    assert ["created", events] == watcher.events


class Step:
    """A transaction that records its calls and raises at one of them."""

    def __init__(self, fails: str = "", error: BaseException | None = None) -> None:
        self.calls: list[str] = []
        self.committed = False
        self._fails, self._error = fails, error

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name == self._fails and self._error:
            raise self._error

    def begin(self) -> None:
        self._called("begin")

    def commit(self) -> None:
        self._called("commit")
        self.committed = True
        self._called("committed")

    def abort(self) -> None:
        self._called("abort")


class Raising(Watcher):
    """A hook that raises at the events named, after it has recorded them."""

    def __init__(self, *events: str, error: type[BaseException] = ValueError) -> None:
        super().__init__()
        self._events, self._error = events, error

    def _at(self, event: str) -> None:
        self.events.append(event)
        if event in self._events:
            raise self._error(f"hook at {event}")

    def on_created(self, job_id: str) -> None:
        self._at("created")

    def on_finished(self, job_id: str) -> None:
        self._at("finished")

    def on_failed(self, job_id: str, error: BaseException) -> None:
        self._at("failed")

    def on_canceled(self, job_id: str) -> None:
        self._at("canceled")


EVENTS = ("created", "finished", "failed", "canceled")
ERRORS = (None, SchemaError("the job's own"), OSError("the job's own"), KeyboardInterrupt())


@pytest.mark.parametrize("error", [ValueError, SchemaError, KeyboardInterrupt])
@pytest.mark.parametrize("own", ERRORS)
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("event", EVENTS)
def test_each_hook_is_called_once_for_each_event_whatever_others_raise(
    session: Any, event: str, place: int, own: BaseException | None, error: type[BaseException]
) -> None:
    hooks = [Raising(), Raising(), Raising()]
    hooks[place] = Raising(event, error=error)
    ran: list[int] = []

    def action() -> None:
        ran.append(1)
        if own is not None:
            raise own

    try:
        run_job(session, "name", action, hooks)
        raised: BaseException | None = None
    except BaseException as caught:  # noqa: BLE001 - any error may win
        raised = caught

    ends = {"finished" if own is None else "canceled" if own is ERRORS[3] else "failed"}
    if event == "created":
        ends = {"canceled" if error is KeyboardInterrupt else "failed"}
    (end,) = ends
    assert [["created", end]] * 3 == [hook.events for hook in hooks]
    assert ran == ([] if event == "created" else [1])
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
    else:
        assert hook == (raised is not None)
        assert not hook or f"hook at {event}" in f"{raised} {raised.__cause__ if raised else ''}"


def test_all_errors_of_hooks_are_attached(session: Any) -> None:
    hooks = [Raising("failed"), Watcher(), Raising("failed", error=OSError)]
    with pytest.raises(ExternalError) as caught:
        run_job(session, "name", fail(RuntimeError("first")), hooks)

    assert "the job failed: first" == caught.value.problem
    assert ["afterwards: ValueError: hook at failed", "afterwards: OSError: hook at failed"] == (
        caught.value.__notes__
    )


def test_a_hook_that_raises_after_the_commit_does_not_undo_the_job(session: Any) -> None:
    step, watcher = Step(), Watcher()
    with pytest.raises(ExternalError) as caught:
        run_job(session, "name", lambda: None, (Raising("finished"), watcher), step)

    assert ("job-hook-failed", ["begin", "commit", "committed"]) == (caught.value.code, step.calls)
    assert ["created", "finished"] == watcher.events


@pytest.mark.parametrize("error", [OSError("disk full"), SchemaError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    ("fails", "events"),
    [
        ("begin", ("failed", "canceled")),
        ("commit", ("failed", "canceled")),
        ("committed", ("finished", "finished")),
    ],
)
def test_a_job_whose_transaction_fails_is_aborted(
    session: Any, fails: str, events: tuple[str, str], error: BaseException
) -> None:
    step, watcher = Step(fails, error), Raising()
    expected = error if not isinstance(error, OSError) else None
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - any of the three
        run_job(session, "name", lambda: None, (watcher,), step)

    assert "abort" == step.calls[-1]
    assert 1 == step.calls.count("abort")
    assert ["created", events[isinstance(error, KeyboardInterrupt)]] == watcher.events
    assert expected in (None, caught.value)
    assert isinstance(caught.value, ExternalError | SchemaError | KeyboardInterrupt)
    assert step.committed == any(COMMITTED in note for note in _notes(caught.value))


def _notes(error: BaseException) -> list[str]:
    return list(getattr(error, "__notes__", []))


def test_an_abort_that_fails_does_not_hide_the_cause(session: Any) -> None:
    step = Step("abort", OSError("cannot delete"))
    with pytest.raises(SchemaError, match="own") as caught:
        run_job(session, "name", fail(SchemaError("own")), (), step)

    assert ["afterwards: OSError: cannot delete"] == _notes(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[USER_RAISED_EXCEPTION] column 'a' is NOT NULL SQLSTATE: P0001\n  at x",
            "column 'a' is NOT NULL",
        ),
        ("first line\nsecond", "first line"),
        ("", "ValueError"),
    ],
)
def test_the_cause_is_one_line(text: str, expected: str) -> None:
    assert expected == reason(ValueError(text))


def test_other_java_exceptions_have_no_condition() -> None:
    class Foreign:
        def getCondition(self) -> str:
            raise AttributeError("py4j finds no such method")

    assert condition_of(Foreign()) is None
