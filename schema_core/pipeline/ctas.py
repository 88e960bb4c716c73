"""CREATE TABLE AS: what happens to the table at each event of its job, as one table (FLIP-218).

Without atomicity the table is created before the job starts and stays whatever becomes of it. With
it nothing is to be seen of a job that did not finish: where the connector can stage, the table is
created once the data is there; elsewhere it is created first and dropped again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from schema_core.environment.planner import Registration


class Mode(Enum):
    """How much a failed job leaves behind."""

    PLAIN = "the table stays"
    DROPPED = "the table is dropped, data may stay"
    STAGED = "nothing"


class Event(Enum):
    """What happens to a job, by the methods of JobStatusHook."""

    CREATED = "on_created"
    FINISHED = "on_finished"
    FAILED = "on_failed"
    CANCELED = "on_canceled"


class Stage(Protocol):
    """A place where the rows of a job wait until it has ended."""

    def commit(self) -> None:
        """Let the rows be seen."""

    def abort(self) -> None:
        """Forget the rows."""


def create(stage: Stage, table: Registration) -> None:
    """Make the table known to its catalog."""
    table.create()


def drop(stage: Stage, table: Registration) -> None:
    """Take the table out of its catalog."""
    table.drop()


def publish(stage: Stage, table: Registration) -> None:
    """Let the rows be seen."""
    stage.commit()


def discard(stage: Stage, table: Registration) -> None:
    """Forget the rows."""
    stage.abort()


Step = Callable[[Stage, Registration], None]

#: What is done at which event, in order.
ACTIONS: dict[tuple[Mode, Event], tuple[Step, ...]] = {
    (Mode.PLAIN,   Event.CREATED):  (create,),
    (Mode.PLAIN,   Event.FINISHED): (publish,),
    (Mode.PLAIN,   Event.FAILED):   (discard,),
    (Mode.PLAIN,   Event.CANCELED): (discard,),
    (Mode.DROPPED, Event.CREATED):  (create,),
    (Mode.DROPPED, Event.FINISHED): (publish,),
    (Mode.DROPPED, Event.FAILED):   (discard, drop),
    (Mode.DROPPED, Event.CANCELED): (discard, drop),
    (Mode.STAGED,  Event.CREATED):  (),
    (Mode.STAGED,  Event.FINISHED): (publish, create),
    (Mode.STAGED,  Event.FAILED):   (discard,),
    (Mode.STAGED,  Event.CANCELED): (discard,),
}  # fmt: skip


def mode_of(registration: Registration, *, can_stage: bool) -> Mode:
    """The mode for what was asked and for what the connector can do."""
    if not registration.atomic:
        return Mode.PLAIN
    return Mode.STAGED if can_stage else Mode.DROPPED


@dataclass(frozen=True, slots=True)
class CreateTableAs:
    """The hook of a CREATE TABLE AS job: does what the table of actions says."""

    mode: Mode
    stage: Stage
    registration: Registration

    def _at(self, event: Event) -> None:
        for step in ACTIONS[self.mode, event]:
            step(self.stage, self.registration)

    def on_created(self, job_id: str) -> None:
        """Before the job starts."""
        self._at(Event.CREATED)

    def on_finished(self, job_id: str) -> None:
        """All rows are written."""
        self._at(Event.FINISHED)

    def on_failed(self, job_id: str, error: BaseException) -> None:
        """The job ended with an error."""
        self._at(Event.FAILED)

    def on_canceled(self, job_id: str) -> None:
        """The job was stopped."""
        self._at(Event.CANCELED)
