"""CREATE TABLE AS: the table of actions is total, and an uncommitted job leaves nothing."""

from __future__ import annotations

from itertools import product

import pytest

from schema_core.environment.planner import Registration
from schema_core.errors import AlreadyExistsError, ExternalError
from schema_core.spark.transactions import ACTIONS, Event, Mode, TableTransaction, mode_of

CALLS = ("prepare", "create", "commit")


class Recorder:
    """A stage and a catalog that record the calls they get; the call `fails` raises `error`.

    With `late` the call takes effect before it raises.
    """

    def __init__(
        self, fails: str = "", error: BaseException | None = None, *, late: bool = False
    ) -> None:
        self.calls: list[str] = []
        self.committed: bool | None = False
        self.has_table = False
        self._fails, self._error, self._late = fails, error, late

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name == self._fails and not self._late and self._error:
            raise self._error
        if name == "commit":
            self.committed = True
        if name in ("create", "undo"):
            self.has_table = name == "create"
        if name == self._fails and self._error:
            raise self._error

    def prepare(self) -> None:
        self._called("prepare")

    def commit(self) -> None:
        self._called("commit")

    def abort(self) -> None:
        self._called("abort")

    def registration(self, *, atomic: bool = False, replaced: object = None) -> Registration:
        return Registration(
            lambda: self._called("create"),
            lambda: self._called("undo"),
            atomic,
            replaced,  # type: ignore[arg-type]
        )


def run(mode: Mode, recorder: Recorder, *, job_fails: bool = False) -> None:
    """Run a transaction as `run_job` does."""
    transaction = TableTransaction(mode, recorder, recorder.registration())
    try:
        transaction.begin()
        if job_fails:
            _fail()
        transaction.commit()
    except BaseException:
        transaction.abort()
        raise


def _fail() -> None:
    raise ExternalError("the job failed")


def test_every_event_of_every_mode_has_its_actions() -> None:
    assert set(product(Mode, Event)) == set(ACTIONS)


@pytest.mark.parametrize(
    ("mode", "calls"),
    [
        (Mode.PLAIN, ["create", "prepare", "commit"]),
        (Mode.DROPPED, ["create", "prepare", "commit"]),
        (Mode.STAGED, ["prepare", "create", "commit"]),
    ],
)
def test_the_catalog_holds_the_table_before_its_rows_are_visible(
    mode: Mode, calls: list[str]
) -> None:
    recorder = Recorder()
    run(mode, recorder)

    assert calls == recorder.calls


@pytest.mark.parametrize(
    ("mode", "calls"),
    [
        (Mode.PLAIN, ["create", "abort"]),
        (Mode.DROPPED, ["create", "abort", "undo"]),
        (Mode.STAGED, ["abort"]),
    ],
)
def test_state_after_a_failed_job(mode: Mode, calls: list[str]) -> None:
    recorder = Recorder()
    with pytest.raises(ExternalError):
        run(mode, recorder, job_fails=True)

    assert calls == recorder.calls


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("error", [ExternalError("disk full"), OSError(), KeyboardInterrupt()])
@pytest.mark.parametrize("fails", CALLS)
@pytest.mark.parametrize("mode", Mode)
def test_rows_and_table_become_visible_atomically(
    mode: Mode, fails: str, error: BaseException, late: bool
) -> None:
    recorder = Recorder(fails, error, late=late)
    with pytest.raises(type(error)):
        run(mode, recorder)

    assert "abort" in recorder.calls
    if recorder.committed:
        assert recorder.has_table
    elif mode is not Mode.PLAIN:
        assert not recorder.has_table


def test_a_table_of_another_session_is_not_dropped() -> None:
    recorder = Recorder("create", AlreadyExistsError("there is a table"))
    with pytest.raises(AlreadyExistsError):
        run(Mode.STAGED, recorder)

    assert ["prepare", "create", "abort"] == recorder.calls


def test_the_table_stays_if_it_is_unknown_whether_the_rows_are_committed() -> None:
    class Unsure(Recorder):
        def commit(self) -> None:
            self.committed = None
            raise ExternalError("the store does not answer")

    recorder = Unsure()
    with pytest.raises(ExternalError):
        run(Mode.STAGED, recorder)

    assert recorder.has_table


def test_the_catalog_is_restored_although_the_abort_fails() -> None:
    recorder = Recorder("abort", OSError("cannot delete"))
    with pytest.raises(OSError, match="cannot delete"):
        run(Mode.DROPPED, recorder, job_fails=True)

    assert ["create", "abort", "undo"] == recorder.calls


@pytest.mark.parametrize(
    ("atomic", "can_stage", "replaces", "mode"),
    [
        (False, True, False, Mode.PLAIN),
        (False, False, False, Mode.PLAIN),
        (True, True, False, Mode.STAGED),
        (True, False, False, Mode.DROPPED),
        (False, True, True, Mode.STAGED),
        (False, False, True, Mode.PLAIN),
        (True, True, True, Mode.STAGED),
    ],
)
def test_the_mode_follows_the_option_the_statement_and_the_connector(
    atomic: bool, can_stage: bool, replaces: bool, mode: Mode
) -> None:
    registration = Recorder().registration(atomic=atomic, replaced=object() if replaces else None)

    assert mode is mode_of(registration, can_stage=can_stage)
