"""Jobs and their hooks, with a session that runs nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from schema_core.environment.planner import JobStatus
from schema_core.errors import ExternalError, SchemaError
from schema_core.pipeline.jobs import condition_of, reason, run_job


class Watcher:
    """A hook that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_created(self, job_id: str) -> None:
        self.told.append("created")

    def on_finished(self, job_id: str) -> None:
        self.told.append("finished")

    def on_failed(self, job_id: str, error: BaseException) -> None:
        self.told.append(f"failed: {error}")

    def on_canceled(self, job_id: str) -> None:
        self.told.append("canceled")


class Refusing(Watcher):
    def on_created(self, job_id: str) -> None:
        raise SchemaError("not now")


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


def test_a_job_that_ends_well(session: Any) -> None:
    watcher = Watcher()
    job = run_job(session, "name", lambda: None, (watcher,))

    assert JobStatus.FINISHED is job.status
    assert ["created", "finished"] == watcher.told


@pytest.mark.parametrize(
    ("error", "raised", "told"),
    [
        (ValueError("no space"), ExternalError, "failed: no space"),
        (SchemaError("bad"), SchemaError, "failed: bad"),
        (RuntimeError("[SPARK_JOB_CANCELLED] Job 1"), ExternalError, "canceled"),
        (KeyboardInterrupt(), KeyboardInterrupt, "canceled"),
    ],
)
def test_a_job_that_does_not(
    session: Any, error: BaseException, raised: type[BaseException], told: str
) -> None:
    watcher = Watcher()
    with pytest.raises(raised):
        run_job(session, "name", fail(error), (watcher,))

    assert ["created", told] == watcher.told


def test_an_error_before_the_start_ends_all(session: Any) -> None:
    watcher = Watcher()
    ran: list[int] = []
    with pytest.raises(SchemaError):
        run_job(session, "name", lambda: ran.append(1), (Refusing(), watcher))

    assert ([], []) == (ran, watcher.told)


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
def test_the_reason_is_a_line(text: str, expected: str) -> None:
    assert expected == reason(ValueError(text))


def test_a_java_exception_of_others_has_no_condition() -> None:
    class Foreign:
        def getCondition(self) -> str:
            raise AttributeError("py4j finds no such method")

    assert condition_of(Foreign()) is None
