"""The migrations that a catalog's history has: their states, files and order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

from schema_core.base.lazy import dataclass
from schema_core.base.text import quantity
from schema_core.catalog.api import Catalog
from schema_core.catalog.migration_history import CatalogMigration, WrittenRows
from schema_core.errors import NotFoundError, SchemaError, similar
from schema_core.migration.files.directory import (
    MigrationDirectory,
    MigrationFile,
    closure_of,
    is_target,
)

#: The target before the first migration.
BASE: Final = "base"
#: The sections of a migration, and the directions in which it is executed.
UP: Final = "up"
DOWN: Final = "down"
#: Direction -> the command that continues an unfinished migration.
CONTINUED_BY: Final[Mapping[str, str]] = {UP: "upgrade", DOWN: "downgrade -1"}


class MigrationState(Enum):
    """The state of a migration.

    `UNFINISHED` if some of its steps were executed, `CHANGED` if the file is not the one that was
    applied, `MISSING` if there is none. `UNDONE` records that it was undone; if it is not applied
    again, it is also pending, unless its file is missing.
    """

    APPLIED = "applied"
    PENDING = "pending"
    UNFINISHED = "unfinished"
    CHANGED = "changed"
    MISSING = "missing"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """A migration of the directory or the history.

    The other fields are those of `CatalogMigration`; `applied_at` is None while it is pending. In
    the state `UNDONE` the time, the user, the duration and the rows are those of the undo. In the
    state `UNFINISHED`, `direction` is ``up`` or ``down``, and `executed_steps` are the statements
    and rewrites of this section that were executed.
    """

    name: str
    state: MigrationState
    applied_at: str | None = None
    stamped: bool = False
    applied_by: str = ""
    milliseconds: int | None = None
    written_rows: tuple[WrittenRows, ...] = ()
    direction: str = ""
    executed_steps: int = 0

    @property
    def written_row_count(self) -> int | None:
        """The number of rows that the steps wrote; None if that of a step is unknown."""
        counts = [step.rows for step in self.written_rows if step.rows is not None]
        return sum(counts) if len(counts) == len(self.written_rows) else None


def next_position(catalog: Catalog) -> int:
    """Return the position of the next entry in the history of a catalog."""
    entries = [*catalog.list_migrations(), *catalog.list_undone_migrations()]
    return max((entry.position for entry in entries), default=0) + 1


def status_of(entry: CatalogMigration, state: MigrationState) -> MigrationStatus:
    """Return the status of a migration with its entry in the history."""
    return MigrationStatus(
        entry.name,
        state,
        entry.applied_at,
        entry.stamped,
        entry.applied_by,
        entry.milliseconds,
        entry.written_rows,
        "" if entry.progress is None else entry.progress.direction,
        0 if entry.progress is None else entry.progress.steps,
    )


def unfinished_error(entry: CatalogMigration) -> SchemaError:
    """Return the error that a migration must be finished first (`migration-unfinished`)."""
    status = status_of(entry, MigrationState.UNFINISHED)
    subject = "migration" if status.direction == UP else "the undo of migration"
    return SchemaError(
        f"{subject} {entry.name} is unfinished: it ended after "
        f"{quantity(status.executed_steps, 'step')}",
        code="migration-unfinished",
        hint=f"finish it: schema-core migrate {CONTINUED_BY[status.direction]}; a statement that "
        "fails may be corrected in its file, and stamp accepts the catalog as it is",
    )


def changed_error(entry: CatalogMigration, hint: str) -> SchemaError:
    """Return the error that the file of a migration was changed (`migration-changed`)."""
    return SchemaError(
        f"migration {entry.name} was changed after it had been applied",
        code="migration-changed",
        hint=hint,
    )


def state_of(entry: CatalogMigration, files: Mapping[str, MigrationFile]) -> MigrationState:
    """Return whether a migration is undone, or applied and still has its file."""
    if entry.undone:
        return MigrationState.UNDONE
    file = files.get(entry.name)
    if file is None:
        return MigrationState.MISSING
    same = file.checksum == entry.checksum
    return MigrationState.APPLIED if same else MigrationState.CHANGED


def require_unchanged(
    entry: CatalogMigration, files: Mapping[str, MigrationFile], last: str
) -> None:
    """Require that an applied migration has its file.

    Args:
        entry: The migration.
        files: The migrations of the directory by their names.
        last: The last applied migration.

    Raises:
        SchemaError: with code `migration-missing` or `migration-changed`.
    """
    match state_of(entry, files):
        case MigrationState.MISSING:
            raise SchemaError(
                f"migration {entry.name} was applied, but its file is missing",
                code="migration-missing",
                hint="restore the file, or undo the migration with downgrade, which does not need "
                "it",
            )
        case MigrationState.CHANGED:
            raise changed_error(
                entry, f"restore the file, or accept it: schema-core migrate stamp {last}"
            )
        case _:
            pass


def find_pending(
    directory: MigrationDirectory, applied: Sequence[CatalogMigration], target: str | None
) -> list[MigrationFile]:
    """Return the migrations up to a target that are not applied, in order.

    Raises:
        SchemaError: as `Migrator.upgrade`.
        NotFoundError: with code `migration-not-found`.
    """
    files = {migration.name: migration for migration in directory.migrations}
    directory.require_checksums()
    for record in applied:
        require_unchanged(record, files, applied[-1].name)
    if target is None:
        directory.require_single_head()
        wanted = frozenset(files)
    else:
        wanted = directory.closure(directory.find(target).name)
    done = {record.name for record in applied}
    return [
        migration
        for migration in directory.migrations
        if migration.name in wanted and migration.name not in done
    ]


def find_undone(applied: Sequence[CatalogMigration], target: str) -> list[CatalogMigration]:
    """Return the applied migrations after a target in reverse order, all of which can be undone.

    Raises:
        SchemaError: with code `migration-irreversible`.
        NotFoundError: with code `migration-not-found`.
    """
    if target == "-1":
        undone = [*applied[-1:]]
    elif target == BASE:
        undone = [*reversed(applied)]
    else:
        staying = _closure(applied, target)
        undone = [record for record in reversed(applied) if record.name not in staying]
    for migration in undone:
        MigrationFile.parse(migration.name, migration.text).script(DOWN)
    return undone


def _closure(applied: Sequence[CatalogMigration], target: str) -> frozenset[str]:
    """Return an applied migration and those that it follows, or raise `migration-not-found`."""
    parents = {record.name: record.parents for record in applied}
    names = [parent for parent in parents if is_target(target, parent)]
    if len(names) != 1:
        raise NotFoundError(
            f"no migration {target!r} was applied"
            if not names
            else f"several migrations have the number {target}",
            code="migration-not-found",
            hint=", ".join(names) or similar(target, parents),
        )
    return closure_of(names[0], parents)
