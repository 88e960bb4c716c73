"""Atomicity of jobs that write tables: the levels of FLIP-218, and the transaction of each level.

Created first, the table stays if the job fails; rolled back, it is dropped; isolated, it is
created just before its complete rows become visible. The events are those of Flink's
``StagedTable`` (FLIP-305); `ACTIONS` lists their steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, Protocol

from schema_core.base.lazy import dataclass
from schema_core.environment.connector import (
    Ability,
    Connector,
    Visibility,
    creation_abilities,
)
from schema_core.environment.jobs.run import require_running
from schema_core.environment.options import ATOMICITY
from schema_core.environment.planner import Registration
from schema_core.errors import (
    ExternalError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    with_notes,
)

# --- levels ---------------------------------------------------------------------------------------


class AtomicityLevel(Enum):
    """What remains of a CREATE TABLE AS that fails or is cancelled; higher levels guarantee more.

    >>> AtomicityLevel(3)
    <AtomicityLevel.ISOLATED: 3>
    """

    #: the table is created before the job starts, and stays
    CREATED_FIRST = 1
    #: the table is created before the job starts, and dropped with its data if the job fails
    ROLLED_BACK = 2
    #: neither the table nor a row is visible before the job has finished
    ISOLATED = 3

    def __str__(self) -> str:
        return f"{self.value}, {self.name.lower().replace('_', ' ')}"


def is_atomic(options: Mapping[str, str]) -> bool:
    """Return whether the options of a session require a level above the first.

    Two keys with different values are `conflicting-options`; a malformed value is an
    `invalid-option-value`.

    >>> is_atomic({"table.ctas.atomicity-enabled": "true"}), is_atomic({})
    (True, False)
    """
    given = {
        key: ATOMICITY.of({key: options[key]})
        for key in ATOMICITY.keys()  # noqa: SIM118 - not a mapping
        if key in options
    }
    if len(set(given.values())) > 1:
        shown = ", ".join(f"'{key}' = '{options[key]}'" for key in given)
        raise SchemaError(
            f"the keys of one option have different values: {shown}",
            code="conflicting-options",
            hint=f"RESET one of them; Flink 2.3 reads {ATOMICITY.key!r} only",
        )
    return bool(ATOMICITY.of(options))


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """A level, and the unmet conditions of higher ones."""

    level: AtomicityLevel
    reasons: tuple[str, ...] = ()


def choose_level(
    connector: Connector | None,
    options: Mapping[str, str],
    *,
    atomic: bool,
    replaces: bool,
    unbounded: str | None = None,
) -> LevelChoice:
    """Return the level of a statement on a connector; None is one that is not installed.

    REPLACE TABLE AS is always isolated: old definition and old rows belong together. A connector
    that cannot stage refuses it. `atomic` is the option ``table.rtas-ctas.atomicity-enabled``,
    `unbounded` the path of an unbounded table that the query reads in streaming mode.
    """
    if unbounded is not None:
        return LevelChoice(
            AtomicityLevel.CREATED_FIRST,
            (f"the job does not end: it reads the unbounded table {unbounded}",),
        )
    can_stage = connector is not None and Ability.STAGING in creation_abilities(connector, options)
    reasons: list[str] = []
    if not atomic and not (can_stage and replaces):
        reasons.append(f"the option {ATOMICITY.key!r} is false")
    if not can_stage:
        name = "of the table" if connector is None else repr(connector.identifier)
        reasons.append(f"the connector {name} does not declare the ability 'staging' for the table")
    if not reasons:
        return LevelChoice(AtomicityLevel.ISOLATED)
    level = AtomicityLevel.ROLLED_BACK if atomic else AtomicityLevel.CREATED_FIRST
    return LevelChoice(level, tuple(reasons))


def visibility_of(
    connector: Connector,
    options: Mapping[str, str],
    *,
    creates: bool = False,
    streams: bool = False,
) -> Visibility:
    """Return when a reader sees the rows of a job that writes a table with these options.

    `creates`: the job is CREATE or REPLACE TABLE AS; `streams`: it does not end. Staging
    connectors are `FINAL`; the default, `WRITE_VISIBLE`, guarantees nothing.
    """
    abilities: frozenset[Ability] = getattr(connector, "abilities", frozenset())
    if streams:
        is_staged = Ability.STAGING in abilities
        return Visibility.INCREMENTAL if is_staged else Visibility.WRITE_VISIBLE
    if Ability.STAGING in (creation_abilities(connector, options) if creates else abilities):
        return Visibility.FINAL
    declared: Any = getattr(connector, "visibility", None)
    return Visibility.WRITE_VISIBLE if declared is None else Visibility(declared(options))


def needed_abilities(connector: Connector, replaced: object | None) -> set[Ability]:
    """Return the abilities that CREATE or REPLACE TABLE AS needs of a connector.

    REPLACE needs replacing and staging: else rows would mix, or a failure lose the old ones.
    """
    if replaced is None:
        return set()
    if Ability.REPLACEMENT in getattr(connector, "abilities", ()):
        return {Ability.STAGING}
    return {Ability.OVERWRITE, Ability.STAGING}


# --- transactions ---------------------------------------------------------------------------------


class Transaction(Protocol):
    """The transaction of a job on a table, named as Flink's ``StagedTable``."""

    @property
    def committed(self) -> bool | None:
        """Whether the rows are visible for good; None if the file system failed first."""

    def begin(self) -> None:
        """Called before the job starts."""

    def commit(self) -> None:
        """Make the rows visible; all are written."""

    def abort(self) -> None:
        """Undo after any error, also of `commit`, unless the commit took effect."""


class NoTransaction:
    """The transaction of a job that writes no table."""

    committed = False

    def begin(self) -> None:
        return None

    def commit(self) -> None:
        return None

    def abort(self) -> None:
        return None


class Event(Enum):
    """The steps of a transaction, named as its methods."""

    BEGIN = "begin"
    COMMIT = "commit"
    ABORT = "abort"


class Stage(Protocol):
    """The rows of a job that has not committed."""

    @property
    def committed(self) -> bool | None:
        """Whether the rows are visible for good; None if the file system failed first."""

    def prepare(self) -> None:
        """Do everything that can fail before the rows become visible."""

    def commit(self) -> None:
        """Make the rows visible."""

    def abort(self) -> None:
        """Remove the rows; if they are committed, complete the commit instead."""


class Unstaged:
    """Rows that are visible as soon as the connector writes them.

    `clean_up` removes them if the job fails.
    """

    def __init__(self, clean_up: Callable[[], None] = lambda: None) -> None:
        self.committed: bool | None = False
        self._clean_up = clean_up

    def prepare(self) -> None:
        return None

    def commit(self) -> None:
        self.committed = True

    def abort(self) -> None:
        if not self.committed:
            self._clean_up()


class TableTransaction:
    """Runs the steps of `ACTIONS` for one job."""

    def __init__(self, level: AtomicityLevel, stage: Stage, registration: Registration) -> None:
        self._level = level
        self._stage = stage
        self._registration = registration
        #: whether the catalog was changed; None after a failure without a clear answer
        self._is_created: bool | None = False
        self._is_discarded = False
        self._has_begun = False

    @property
    def committed(self) -> bool | None:
        return self._stage.committed

    def begin(self) -> None:
        for step in ACTIONS[self._level, Event.BEGIN]:
            step(self)
        self._has_begun = True

    def commit(self) -> None:
        for step in ACTIONS[self._level, Event.COMMIT]:
            step(self)

    def abort(self) -> None:
        """Try every step of a failed or cancelled job."""
        errors: list[BaseException] = []
        for step in ACTIONS[self._level, Event.ABORT]:
            try:
                step(self)
            except BaseException as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise with_notes(errors[0], errors[1:], "while the job was aborted")

    # --- steps ---------------------------------------------------------------------------------

    def create(self) -> None:
        self._is_created = None
        try:
            self._registration.create()
        except ExternalError:
            raise
        except SchemaCoreError:
            self._is_created = False
            raise
        self._is_created = True

    def undo_if_discarded(self) -> None:
        """Undo the catalog change after the rows: till then recovery needs the pending job."""
        if self._is_discarded:
            self.end()
        else:
            self._registration.leave()

    def settle(self) -> None:
        """Remove the pending job from the table."""
        self._registration.settle()

    def end(self) -> None:
        """Settle the table if its rows are committed, undo it if not, else leave it pending."""
        if self._is_created is False or self._stage.committed is None:
            self._registration.leave()
        elif self._stage.committed:
            with suppress(NotFoundError):  # settled before, or dropped by others since
                self._registration.settle()
        else:
            self._registration.undo()

    def prepare(self) -> None:
        self._stage.prepare()

    def decide(self) -> None:
        """Raise if the job is cancelled; after this it cannot be."""
        require_running(last=True)

    def publish(self) -> None:
        self._stage.commit()

    def discard(self) -> None:
        # Unstaged rows belong to others if the job has not begun or its table was replaced.
        is_staged = not isinstance(self._stage, Unstaged)
        if is_staged or (self._has_begun and self._registration.owns()):
            self._stage.abort()
        self._is_discarded = True


_T = TableTransaction
_L = AtomicityLevel
#: Level and event -> the steps, in order. Rows become visible last.
ACTIONS: dict[tuple[AtomicityLevel, Event], tuple[Callable[[TableTransaction], None], ...]] = {
    (_L.CREATED_FIRST,  Event.BEGIN):  (_T.create,),
    (_L.CREATED_FIRST,  Event.COMMIT): (_T.prepare, _T.decide, _T.publish),
    (_L.CREATED_FIRST,  Event.ABORT):  (_T.discard,),
    (_L.ROLLED_BACK,    Event.BEGIN):  (_T.create,),
    (_L.ROLLED_BACK,    Event.COMMIT): (_T.prepare, _T.decide, _T.settle, _T.publish),
    (_L.ROLLED_BACK,    Event.ABORT):  (_T.discard, _T.undo_if_discarded),
    (_L.ISOLATED,       Event.BEGIN):  (),
    (_L.ISOLATED,       Event.COMMIT): (_T.prepare, _T.decide, _T.create, _T.publish, _T.settle),
    (_L.ISOLATED,       Event.ABORT):  (_T.discard, _T.end),
}  # fmt: skip
