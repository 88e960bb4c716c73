"""Recovery: tables of CREATE TABLE AS whose process ended before the job was finished."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from schema_core.catalog.managed import with_folder
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable, TableKind
from schema_core.catalog.unfinished import Mark, Owner
from schema_core.environment.operations.definitions import schema_of, table_with
from schema_core.environment.planner import SupportsJobRecovery
from schema_core.environment.session import Session
from schema_core.errors import ConflictError, NotFoundError
from schema_core.paths import ObjectIdentifier
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
    """A table, and what was done about it."""

    identifier: ObjectIdentifier
    action: RecoveryAction

    def __str__(self) -> str:
        return f"{self.identifier.as_summary_string()}: {self.action.value}"


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
    own = Mark(mark.level, uuid.uuid4().hex, Owner.this())
    own.begin()
    try:
        session.tables.change_mark(identifier, mark, own)
        return _finished(session, identifier, mark, own)
    except (NotFoundError, ConflictError):  # another process recovers the table
        return None
    finally:
        own.end()


def _finished(
    session: Session, identifier: ObjectIdentifier, mark: Mark, own: Mark
) -> RecoveryAction:
    found, planner = session.tables.find_permanent(identifier), session.planner
    assert found is not None  # noqa: S101 - its mark was replaced
    if isinstance(found.table, ResolvedCatalogTable) and isinstance(planner, SupportsJobRecovery):
        target = session.bound(identifier)
        if mark.level == ISOLATED and planner.was_committed(target, mark.id) is not False:
            session.tables.change_mark(identifier, own)
            return RecoveryAction.FINISHED
        if (replaced := session.tables.replaced(identifier)) is not None:
            folder, table = session.tables.folder(identifier), _definition(replaced)
            table = table if folder is None else with_folder(table, folder)
            session.tables.replace_marked(identifier, table)
            planner.recover(target)
            return RecoveryAction.UNDONE
        planner.clean_up(target)
    session.tables.drop(TableKind.TABLE, identifier, if_exists=True)
    return RecoveryAction.UNDONE


def _definition(text: str) -> CatalogTable:
    """Return the table of a stored CREATE TABLE statement."""
    statement = parse_statement(text)
    assert isinstance(statement, CreateTable)  # noqa: S101 - written by this library
    return table_with(statement, schema_of(statement.elements, text))


#: The level whose rows may be visible before the mark is removed.
ISOLATED = 3


def recover(session: Session, identifiers: Iterator[ObjectIdentifier]) -> list[Recovery]:
    """Finish or undo what jobs of ended processes have left of tables.

    Raises:
        NotFoundError: with code `table-not-found`.
        ExternalError: if a catalog or the place of a table does not answer.
    """
    found: list[Recovery] = []
    for identifier in identifiers:
        action = finish(session, identifier)
        planner = session.planner
        if session.tables.find(identifier) is not None or action is None:
            table = session.get_table(identifier).table
            if isinstance(table, ResolvedCatalogTable) and isinstance(planner, SupportsJobRecovery):
                planner.recover(session.bound(identifier))
                action = action or RecoveryAction.CHECKED
        if action is not None:
            found.append(Recovery(identifier, action))
    return found


def tables_of(session: Session, catalog: str) -> Iterator[ObjectIdentifier]:
    """Yield the tables and views of all databases of a catalog."""
    found = session.registry.get(catalog)
    for database in found.list_databases():
        for name in found.list_tables(database):
            yield ObjectIdentifier.of(catalog, database, name)
