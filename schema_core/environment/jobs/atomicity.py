"""Levels of CREATE TABLE AS (FLIP-218): what remains of a job that fails, and what readers see."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from schema_core.base.lazy_dataclass import dataclass
from schema_core.environment.connector import (
    Ability,
    Connector,
    Visibility,
    creation_abilities,
)
from schema_core.environment.options import ATOMICITY
from schema_core.errors import SchemaError


class AtomicityLevel(Enum):
    """What remains of a CREATE TABLE AS that fails or is cancelled; a higher level guarantees more.

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

    Raises:
        SchemaError: with code `conflicting-options` if both keys are set, to different values;
            with code `invalid-option-value`.

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
    """A level, and the reason for each condition of a higher one that is not met."""

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

    REPLACE TABLE AS is always isolated: the old definition and the old rows belong together. On a
    connector that cannot stage it is refused.

    Args:
        connector: The connector of the table.
        options: The options of the table.
        atomic: The option ``table.rtas-ctas.atomicity-enabled``.
        replaces: Whether the statement replaces a table.
        unbounded: The path of an unbounded table that the query reads in streaming mode.
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

    `creates` is whether the job is CREATE or REPLACE TABLE AS, `streams` whether it does not end.

    A connector that stages is `Visibility.FINAL`. One that declares nothing is
    `Visibility.WRITE_VISIBLE`, which guarantees nothing.
    """
    abilities: frozenset[Ability] = getattr(connector, "abilities", frozenset())
    if streams:
        is_staged = Ability.STAGING in abilities
        return Visibility.INCREMENTAL if is_staged else Visibility.WRITE_VISIBLE
    if Ability.STAGING in (creation_abilities(connector, options) if creates else abilities):
        return Visibility.FINAL
    declared: Any = getattr(connector, "visibility", None)
    return Visibility.WRITE_VISIBLE if declared is None else Visibility(declared(options))
