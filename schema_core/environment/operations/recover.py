"""Recovery: tables of CREATE TABLE AS whose process ended before the job was finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from enum import Enum

from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.managed import is_managed, with_directory
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.catalog.unfinished import ISOLATED, Mark, Owner
from schema_core.environment.jobs.run import require_running
from schema_core.environment.planner import BoundTable, SupportsJobRecovery
from schema_core.environment.session import Session
from schema_core.errors import (
    ConflictError,
    ExternalError,
    Gathering,
    NotFoundError,
    SchemaCoreError,
    at,
)
from schema_core.mappings.dialects.definitions import schema_of, table_with
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import CreateTable


class RecoveryAction(Enum):
    """What was done about a table."""

    #: its rows were visible already: the table stays
    FINISHED = "finished"
    #: its rows were not complete: the table was dropped, or has its old definition and rows, and
    #: what was written is removed
    UNDONE = "undone"
    #: what jobs on the table left was completed or removed, if there was anything
    CHECKED = "checked"


@dataclass(frozen=True, slots=True)
class Recovery:
    """A table, and the action that recovery took."""

    identifier: ObjectIdentifier
    action: RecoveryAction

    def __str__(self) -> str:
        return f"{self.identifier.as_summary_string()}: {self.action.value}"


#: Maximum wait of a write for the commit of an isolated job on its table, in seconds.
COMMIT_TIMEOUT = 10.0
#: Polling interval of the mark, in seconds.
PAUSE = 0.05


def finish_for_write(session: Session, target: BoundTable) -> BoundTable:
    """Finish or undo the table that a job is about to write, and return it as it is then.

    An isolated job has its mark in the catalog only while it commits: the write waits for it.

    Raises:
        NotFoundError: with code `table-not-found` for a table that is undone.
        ConflictError: with code `unfinished-table` for one whose job has not finished, or ended in
            a process of another host: if it is undone, the rows of the write would be removed, or
            mixed with those of another definition.
    """
    identifier = target.identifier
    if target.is_temporary or session.tables.mark(identifier) is None:
        return target
    before = session.bound(identifier).table.options
    _await_commit(session, identifier)
    found = session.bound(identifier)
    hints = {key: one for key, one in target.table.options.items() if before.get(key) != one}
    return replace(found, table=found.table.copy({**found.table.options, **hints}))


def _await_commit(session: Session, identifier: ObjectIdentifier) -> None:
    """Wait until the table has no mark.

    Raises:
        ConflictError: as `finish_for_write`.
    """
    deadline = time.monotonic() + COMMIT_TIMEOUT
    while finish(session, identifier) is None:
        mark = session.tables.mark(identifier)
        if mark is None:
            return
        if mark.level < ISOLATED or time.monotonic() > deadline:
            raise ConflictError(
                f"the job that creates or replaces {identifier.as_summary_string()} has not "
                "finished; if it fails, rows that others write meanwhile are lost",
                code="unfinished-table",
                hint=f"wait for the job; if its process has ended, run recover on the host "
                f"{mark.owner.host!r}, or drop the table",
            )
        require_running()
        time.sleep(PAUSE)


def require_unchanged(session: Session, target: BoundTable) -> None:
    """Check that the table of a job has the columns, partition keys and options that it is for.

    If the table was dropped, the job does not fail: its rows belong to the path.

    Raises:
        ConflictError: with code `table-changed`, since rows of two layouts would be mixed; as
            `finish_for_write`.
    """
    identifier = target.identifier
    with suppress(ExternalError):  # a catalog that does not answer does not keep a job from ending
        _await_commit(session, identifier)
        found = session.tables.find_permanent(identifier)
        if found is None or not isinstance(found.table, ResolvedCatalogTable):
            return
        if _layout(session.bound_as_found(found).table) == _layout(target.table):
            return
        raise ConflictError(
            f"the table {identifier.as_summary_string()} was replaced or altered while the job "
            "wrote rows for its old definition; they are removed",
            code="table-changed",
            hint="run the statement again",
        )


def _layout(table: ResolvedCatalogTable) -> object:
    """Return what decides how the rows of a table are stored."""
    columns = [
        (column.name, column.data_type)
        for column in table.resolved_schema.columns
        if column.is_persisted()
    ]
    return columns, list(table.partition_keys), dict(table.options)


def finish(session: Session, identifier: ObjectIdentifier) -> RecoveryAction | None:
    """Finish or undo the table of a CREATE TABLE AS whose process has ended.

    It does nothing while the job runs, and may be repeated, also by several processes at once: the
    one that replaces the mark by its own goes on.

    Returns:
        What was done; None if there was nothing to do.
    """
    mark = session.tables.mark(identifier)
    if mark is None or not mark.is_abandoned():
        return None
    if mark.level == ISOLATED and not isinstance(session.planner, SupportsJobRecovery):
        return None
    # the id is kept: until the table is finished, it identifies what the job has left
    own = Mark(mark.level, mark.id, Owner.this())
    if not own.claim():  # another thread recovers the table
        return None
    try:
        try:
            session.tables.change_mark(identifier, mark, own)
        except (NotFoundError, ConflictError):  # another process recovers the table
            return None
        return _finished(session, identifier, own)
    finally:
        own.release()


def _finished(session: Session, identifier: ObjectIdentifier, own: Mark) -> RecoveryAction | None:
    found, planner = session.tables.find_permanent(identifier), session.planner
    if found is None:  # dropped by others since
        return None
    if isinstance(found.table, ResolvedCatalogTable) and isinstance(planner, SupportsJobRecovery):
        target = session.bound_as_found(found)
        before = session.tables.replaced_directory(identifier)
        if own.level == ISOLATED and planner.was_committed(target, own.id) is not False:
            session.tables.change_mark(identifier, own)
            planner.recover(target, own.id)
            session.tables.remove_directory(identifier, before)
            return RecoveryAction.FINISHED
        if (replaced := session.tables.replaced(identifier)) is not None:
            directory, table = session.tables.directory(identifier), _definition(replaced)
            if is_managed(table) and (before or directory) is not None:
                table = with_directory(table, before or directory or "")
            table = session.tables.replaced_former_names(identifier).of_table(table)
            session.tables.replace_marked(identifier, table)
            planner.recover(target, own.id)
            session.tables.remove_directory(identifier, directory)
            return RecoveryAction.UNDONE
        planner.clean_up(target, own.id)
    session.tables.drop_permanent(identifier)
    return RecoveryAction.UNDONE


def _definition(text: str) -> CatalogTable:
    """Return the table of a stored CREATE TABLE statement.

    Raises:
        ExternalError: with code `corrupt-entry` for any other text.
    """
    try:
        statement = parse_statement(text)
        if isinstance(statement, CreateTable) and statement.query is None is statement.like:
            return table_with(statement, schema_of(statement.elements, text))
        problem = "it is not a CREATE TABLE statement without a query"
    except SchemaCoreError as error:
        problem = error.problem
    raise ExternalError(
        f"the stored definition of the table that was replaced is malformed: {problem}",
        code="corrupt-entry",
        hint="restore the entry of the table in its catalog, or drop the table",
    )


def recover(
    session: Session,
    identifiers: Iterable[ObjectIdentifier],
    done: Callable[[Recovery], object] = lambda _: None,
) -> list[Recovery]:
    """Recover tables of jobs whose processes have ended: commit or roll back.

    A table that cannot be recovered does not keep the others from that.

    Args:
        session: The session.
        identifiers: The paths of the tables.
        done: Called for each checked table, also if others fail.

    Returns:
        The checked tables.

    Raises:
        NotFoundError: with code `table-not-found`.
        ExternalError: if a catalog or the storage of a table does not respond; it carries the
            errors of the other tables, and has a note for each table that was finished or undone.
    """
    found: list[Recovery] = []
    errors = Gathering()
    for identifier in identifiers:
        with errors.catching(), at(f"table {identifier.as_summary_string()}"):
            if (one := _recovered(session, identifier)) is not None:
                found.append(one)
                done(one)
    if errors.errors:
        for one in found:
            if one.action is not RecoveryAction.CHECKED:
                errors.errors[0].add_note(str(one))
    errors.raise_all()
    return found


def _recovered(session: Session, identifier: ObjectIdentifier) -> Recovery | None:
    action, planner = finish(session, identifier), session.planner
    table = session.tables.find_permanent(identifier)
    if table is None and action is None:
        table = session.get_table(identifier)
    if (
        table is not None
        and isinstance(table.table, ResolvedCatalogTable)
        and isinstance(planner, SupportsJobRecovery)
    ):
        # what the job of a mark has left shows whether it has committed
        if session.tables.mark(identifier) is None:
            planner.recover(session.bound_as_found(table))
        action = action or RecoveryAction.CHECKED
    return None if action is None else Recovery(identifier, action)


def tables_of(session: Session, catalog: str) -> Iterator[ObjectIdentifier]:
    """Yield the tables and views of all databases of a catalog."""
    found = session.registry.get(catalog)
    for database in found.list_databases():
        for name in found.list_tables(database):
            yield ObjectIdentifier.of(catalog, database, name)
