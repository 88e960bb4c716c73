"""The history of migrations that a catalog stores in the transactions that apply them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from schema_core.base.lazy import dataclass
from schema_core.base.text import escaped

#: The most characters of a user's name.
MAX_USER: Final = 200


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """An object as a migration left it, to detect changes from outside.

    `name` is '' for a database; `kind` is ``DATABASE`` or the name of a `TableKind`. `properties`
    are its property map with secrets masked, None if the migration dropped it.
    """

    database: str
    name: str
    kind: str
    properties: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The number of rows that a step of a migration wrote to a table; None if it is unknown.

    `step` is the kind of the step, such as ``rewrite`` or ``insert``. The number is unknown if the
    process ended after the commit of the step and before its entry in the history.
    """

    database: str
    name: str
    step: str
    rows: int | None


@dataclass(frozen=True, slots=True)
class MigrationProgress:
    """How far a migration with data steps has come, for the process that continues it.

    `direction` is ``up`` or ``down``. `steps` is the number of steps of the script that are done,
    except that the data step after them may be committed: its table then has the commit record
    `sequence` (32 hexadecimal digits) with the number `steps`. `claim` is the process that runs it
    (a `PendingJob`), '' if none does.
    """

    direction: str
    steps: int
    sequence: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class CatalogMigration:
    """A migration that was applied to a catalog.

    `position` counts from 1 in the order of application. `text` is the file, kept to undo the
    migration without it, and `checksum` its checksum. `applied_at` is in UTC (ISO 8601), the time
    at which `applied_by` had executed its statements, in `milliseconds`. `stamped` migrations were
    recorded without being executed. `applied_by` is '' and `milliseconds` None in entries of
    versions that did not record them. `written_rows` has the rows of each step that wrote some.
    A migration with `progress` is unfinished: its remaining steps are not executed. An entry that
    is `undone` records that `applied_by` undid the migration at `applied_at`; it has no text and
    no objects, and a migration may have several.
    """

    name: str
    position: int
    checksum: str
    parents: tuple[str, ...]
    applied_at: str
    text: str
    objects: tuple[RecordedObject, ...] = ()
    stamped: bool = False
    applied_by: str = ""
    milliseconds: int | None = None
    written_rows: tuple[WrittenRows, ...] = ()
    progress: MigrationProgress | None = None
    undone: bool = False


#: The fields of `CatalogMigration` that entries of older versions do not have.
ADDED_FIELDS: Final = frozenset(
    {"applied_by", "milliseconds", "written_rows", "progress", "undone"}
)


def user_name(name: str | None = None) -> str:
    r"""Return a user's name for the history, escaped and truncated; by default the process's user.

    >>> print(user_name("ann\u202e"))
    ann\u202e
    """
    return escaped((_process_user() if name is None else name)[:MAX_USER])[:MAX_USER]


def _process_user() -> str:
    from getpass import getuser  # slow to import

    try:
        return getuser()
    except (ImportError, KeyError, OSError):  # a container's user often has no name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"
