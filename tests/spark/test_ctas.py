"""CREATE TABLE AS: the table of actions is total, and an uncommitted job leaves nothing."""

from __future__ import annotations

from itertools import product

import pytest

from schema_core.environment.connector import Ability
from schema_core.environment.jobs.atomicity import (
    ACTIONS,
    Event,
    TableTransaction,
    Unstaged,
    choose_level,
    needed_abilities,
)
from schema_core.environment.jobs.atomicity import AtomicityLevel as Level
from schema_core.environment.planner import Registration
from schema_core.errors import AlreadyExistsError, ExternalError, NotFoundError
from tests.spark.conftest import FrameConnector

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

    def record(self, name: str) -> None:
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
        self.record("prepare")

    def commit(self) -> None:
        self.record("commit")

    def abort(self) -> None:
        self.record("abort")

    def registration(self) -> Registration:
        return RecordedRegistration(self)


class RecordedRegistration(Registration):
    """The changes of the catalog, of which a `Recorder` records those that are not optional."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def create(self) -> None:
        self._recorder.record("create")

    def undo(self) -> None:
        self._recorder.record("undo")

    def leave(self) -> None:
        self._recorder.record("leave")


def run(level: Level, recorder: Recorder, *, job_fails: bool = False) -> None:
    """Run a transaction as `run_job` does."""
    transaction = TableTransaction(level, recorder, recorder.registration())
    try:
        transaction.begin()
        if job_fails:
            _fail()
        transaction.commit()
    except BaseException as error:
        try:
            transaction.abort()
        except ExternalError:
            raise error from None
        raise


def _fail() -> None:
    raise ExternalError("the job failed")


def test_every_event_of_every_level_has_its_actions() -> None:
    assert set(product(Level, Event)) == set(ACTIONS)


@pytest.mark.parametrize(
    ("level", "calls"),
    [
        (Level.CREATED_FIRST, ["create", "prepare", "commit"]),
        (Level.ROLLED_BACK, ["create", "prepare", "commit"]),
        (Level.ISOLATED, ["prepare", "create", "commit"]),
    ],
)
def test_the_catalog_holds_the_table_before_its_rows_are_visible(
    level: Level, calls: list[str]
) -> None:
    recorder = Recorder()
    run(level, recorder)

    assert calls == recorder.calls


@pytest.mark.parametrize(
    ("level", "calls"),
    [
        (Level.CREATED_FIRST, ["create", "abort"]),
        (Level.ROLLED_BACK, ["create", "abort", "undo"]),
        (Level.ISOLATED, ["abort", "leave"]),
    ],
)
def test_state_after_a_failed_job(level: Level, calls: list[str]) -> None:
    recorder = Recorder()
    with pytest.raises(ExternalError):
        run(level, recorder, job_fails=True)

    assert calls == recorder.calls


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("error", [ExternalError("disk full"), OSError(), KeyboardInterrupt()])
@pytest.mark.parametrize("fails", CALLS)
@pytest.mark.parametrize("level", Level)
def test_rows_and_table_become_visible_atomically(
    level: Level, fails: str, error: BaseException, late: bool
) -> None:
    recorder = Recorder(fails, error, late=late)
    with pytest.raises(type(error)):
        run(level, recorder)

    assert "abort" in recorder.calls
    if recorder.committed:
        assert recorder.has_table
    elif level is not Level.CREATED_FIRST:
        assert not recorder.has_table


def test_a_table_of_another_session_is_not_dropped() -> None:
    recorder = Recorder("create", AlreadyExistsError("there is a table"))
    with pytest.raises(AlreadyExistsError):
        run(Level.ISOLATED, recorder)

    assert ["prepare", "create", "abort", "leave"] == recorder.calls


def test_the_table_stays_if_it_is_unknown_whether_the_rows_are_committed() -> None:
    class Unsure(Recorder):
        def commit(self) -> None:
            self.committed = None
            raise ExternalError("the store does not answer")

    recorder = Unsure()
    with pytest.raises(ExternalError):
        run(Level.ISOLATED, recorder)

    assert recorder.has_table
    assert "leave" == recorder.calls[-1]


@pytest.mark.parametrize("is_settled", [False, True])
def test_a_job_that_fails_after_its_commit_point_settles_its_table(is_settled: bool) -> None:
    calls: list[str] = []

    class Settled(RecordedRegistration):
        def settle(self) -> None:
            calls.append("settle")
            if is_settled:
                raise NotFoundError("there is no pending job")

    recorder = Recorder("commit", ExternalError("some files are still to be moved"), late=True)
    transaction = TableTransaction(Level.ISOLATED, recorder, Settled(recorder))
    transaction.begin()
    with pytest.raises(ExternalError):
        transaction.commit()
    transaction.abort()

    assert ["settle"] == calls
    assert recorder.has_table


def test_the_catalog_is_restored_although_the_abort_fails() -> None:
    class Late(Recorder):
        """The table is created before the error."""

        def commit(self) -> None:
            self.record("commit")

    recorder = Late("commit", OSError("cannot rename"))
    recorder.abort = _fail  # type: ignore[method-assign]
    with pytest.raises(OSError, match="cannot rename"):
        run(Level.ISOLATED, recorder)

    assert ["prepare", "create", "commit", "undo"] == recorder.calls


def test_a_table_whose_rows_cannot_be_removed_keeps_its_mark() -> None:
    recorder = Recorder("abort", OSError("cannot delete"))
    with pytest.raises(OSError, match="cannot delete"):
        run(Level.ROLLED_BACK, recorder, job_fails=True)

    assert ["create", "abort", "leave"] == recorder.calls


@pytest.mark.parametrize(
    ("atomic", "can_stage", "replaces", "level", "reasons"),
    [
        (False, True, False, Level.CREATED_FIRST, ["is false"]),
        (False, False, False, Level.CREATED_FIRST, ["is false", "'staging'"]),
        (True, True, False, Level.ISOLATED, []),
        (True, False, False, Level.ROLLED_BACK, ["'staging'"]),
        (False, True, True, Level.ISOLATED, []),
        (False, False, True, Level.CREATED_FIRST, ["is false", "'staging'"]),
        (True, True, True, Level.ISOLATED, []),
    ],
)
def test_the_level_follows_the_option_the_statement_and_the_connector(
    atomic: bool, can_stage: bool, replaces: bool, level: Level, reasons: list[str]
) -> None:
    abilities = frozenset({Ability.STAGING} if can_stage else ())
    connector = FrameConnector(abilities=abilities)
    chosen = choose_level(connector, {}, atomic=atomic, replaces=replaces)

    assert level is chosen.level
    assert len(reasons) == len(chosen.reasons)
    assert all(part in item for part, item in zip(reasons, chosen.reasons, strict=True))


def test_replacing_needs_a_connector_that_keeps_the_old_rows() -> None:
    overwrites = FrameConnector()
    replaces = FrameConnector(abilities=frozenset({Ability.REPLACEMENT}))

    assert set() == needed_abilities(overwrites, None)
    assert {Ability.OVERWRITE, Ability.STAGING} == needed_abilities(overwrites, object())
    assert {Ability.STAGING} == needed_abilities(replaces, object())


def test_a_job_that_has_not_begun_removes_nothing_of_others() -> None:
    removed: list[str] = []
    begun = Recorder("create", AlreadyExistsError("there is a table"))
    for recorder in (Recorder(), begun):
        stage = Unstaged(lambda: removed.append("rows"))
        transaction = TableTransaction(Level.ROLLED_BACK, stage, recorder.registration())
        if recorder is begun:
            with pytest.raises(AlreadyExistsError):
                transaction.begin()
        transaction.abort()
        assert [] == removed

    stage = Unstaged(lambda: removed.append("rows"))
    transaction = TableTransaction(Level.ROLLED_BACK, stage, Recorder().registration())
    transaction.begin()
    transaction.abort()
    assert ["rows"] == removed


def test_rows_of_others_are_not_removed() -> None:
    """Others have replaced the table while the job ran."""
    removed: list[str] = []

    class Replaced(RecordedRegistration):
        def owns(self) -> bool:
            return False

    stage = Unstaged(lambda: removed.append("rows"))
    transaction = TableTransaction(Level.ROLLED_BACK, stage, Replaced(Recorder()))
    transaction.begin()
    transaction.abort()

    assert [] == removed
