"""The table of a CREATE or REPLACE TABLE AS in its catalog, during and after its job.

`TableRegistration` changes the catalog for a running job. For one whose process has ended,
`finish` commits or undoes by what the engine reports. Both use the pending job (`jobs.pending`).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from enum import Enum

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.changes.column_history import ColumnHistory
from schema_core.catalog.managed import is_managed, remove_directory, with_directory
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogTable,
    ResolvedCatalogTable,
    ResolvedCatalogView,
)
from schema_core.catalog.own_options import (
    COLUMN_HISTORY,
    PENDING_JOB,
    own_options_of,
    without_own_options,
)
from schema_core.environment.jobs.atomicity import is_atomic
from schema_core.environment.jobs.pending import (
    ISOLATED,
    Owner,
    PendingJob,
    PendingTable,
    ReplacedTable,
    add_replacing_job,
)
from schema_core.environment.jobs.run import require_running
from schema_core.environment.operations.show_create import create_statement
from schema_core.environment.planner import (
    BoundTable,
    Registration,
    SupportsJobRecovery,
    fingerprint,
)
from schema_core.environment.session import Session
from schema_core.errors import (
    ConflictError,
    ExternalError,
    Gathering,
    NotFoundError,
    SchemaCoreError,
    at,
)
from schema_core.errors.hints import RESTORE_ENTRY, RUN_AGAIN
from schema_core.mappings.dialects.definitions import schema_of, table_with
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import CreateTable

#: The longest statement stored in an option: Hive's limit is 4000.
MAX_STATEMENT = 3_500

# --- by the job -----------------------------------------------------------------------------------


class TableRegistration(Registration):
    """The changes of one job to its table in the catalog, each in one operation.

    An old definition that does not resolve is put back as stored. It is read just before the
    replacement, which the catalog refuses unless it still is `replaced`. `table` is as stored,
    `replaced` as a connector reads it. Without a `job` the table stays after a failure.
    """

    def __init__(
        self,
        session: Session,
        path: ObjectIdentifier,
        table: ResolvedCatalogTable,
        replaced: CatalogTable | None,
        job: PendingJob | None,
    ) -> None:
        super().__init__(
            atomic=is_atomic(session.config.get_configuration()),
            replaced=replaced,
            id=uuid.uuid4().hex if job is None else job.id,
        )
        self._session, self._tables, self._path = session, session.tables, path
        self._pending = PendingTable(session.tables, path)
        self._table = table
        self._old = None if replaced is None else session.tables.find_raw(path)
        #: the old definition in the catalog's own form, if it does not resolve
        self._stored: object | None = None
        self._job = job
        #: whether the table is stored with the pending job
        self._is_pending = False
        #: whether removing the pending job failed without a clear answer
        self._is_unclear = False

    def create(self) -> None:
        tables, path, table, job = self._tables, self._path, self._table, self._job
        if job is not None:
            job.begin()
        if self.replaced is None or self._old is None:
            own_options = own_options_of(table)
            if self.replaced is None and job is not None:
                self._is_pending = True
                own_options[PENDING_JOB] = str(job)
            visible = without_own_options(table)
            tables.create(path, visible, ignore_if_exists=False, own_options=own_options)
            return
        if not isinstance(self.replaced, ResolvedCatalogTable):
            self._stored = tables.get_stored(path)
        statement = None if job is None else _statement_of(self._session, path)
        if job is not None and statement is not None:
            self._is_pending = True
            table = add_replacing_job(table, job, self._old, statement)
        tables.alter(path, table, expected=self._old)

    def settle(self) -> None:
        if (job := self._job) is None:
            return
        try:
            if self.replaced is None or self._pending.job() == job:
                self._pending.replace_job(job)
        except NotFoundError:
            raise
        except BaseException:
            self._is_unclear = True
            raise
        finally:
            job.end()

    def undo(self) -> None:
        self.leave()
        if not self._holds():
            return
        tables, path = self._tables, self._path
        job = self._pending.job()
        if not _is_same(tables.read_or_stored(path), self._table):  # altered by others meanwhile
            if job is not None:
                self._pending.replace_job(job)
        elif self.replaced is None:
            tables.drop_permanent(path, if_exists=True)
        elif self._stored is not None:
            if (table := tables.find_raw(path)) is not None:
                tables.restore(path, self._stored, table)
        elif self._old is not None:
            self._pending.replace_table(self._old)

    def leave(self) -> None:
        if self._job is not None:
            self._job.end()

    def owns(self) -> bool:
        return self._holds() or self._tables.find_raw(self._path) is None

    def _holds(self) -> bool:
        """Return whether the path has the table of the job, not another's."""
        job = self._pending.job()
        return job == self._job or (job is None and (self._is_unclear or not self._is_pending))


def _statement_of(session: Session, identifier: ObjectIdentifier) -> str | None:
    """Return a stored table as SQL; None if SQL lacks a part or it is too long."""
    try:
        text = create_statement(session, identifier, with_secrets=True)
    except SchemaCoreError:
        return None
    return text if len(text) <= MAX_STATEMENT else None


def _is_same(stored: CatalogBaseTable | None, table: ResolvedCatalogTable) -> bool:
    own = fingerprint(without_own_options(table))
    return isinstance(stored, ResolvedCatalogTable) and fingerprint(stored) == own


def delete_directory(session: Session, identifier: ObjectIdentifier, directory: str | None) -> None:
    """Delete the directory of a replaced managed table, unless a table still has it."""
    catalog = session.registry.find(identifier.catalog_name)
    if catalog is not None:
        remove_directory(catalog, identifier.to_object_path(), directory)


# --- by a write on the table ----------------------------------------------------------------------

#: How long a write waits for the commit of an isolated job on its table, in seconds.
COMMIT_TIMEOUT = 10.0
#: Polling interval of the pending job, in seconds.
PAUSE = 0.05


def finish_for_write(session: Session, target: BoundTable) -> BoundTable:
    """Finish or undo the table that a job is about to write, and return its state after that.

    The table of an isolated job is pending only while it commits: the write waits for it. An undone
    table is `table-not-found`. While its job runs, or if it ended on another host, this raises
    `ConflictError` (`lock-not-available`): undoing would remove the new rows, or rows of two
    definitions would mix.
    """
    identifier = target.identifier
    if target.is_temporary or PendingTable(session.tables, identifier).job() is None:
        return target
    before = session.bind(identifier).table.options
    _await_commit(session, identifier)
    found = session.bind(identifier)
    hints = {
        key: option for key, option in target.table.options.items() if before.get(key) != option
    }
    return replace(found, table=found.table.copy({**found.table.options, **hints}))


def _await_commit(session: Session, identifier: ObjectIdentifier) -> None:
    deadline = time.monotonic() + COMMIT_TIMEOUT
    while finish(session, identifier) is None:
        job = PendingTable(session.tables, identifier).job()
        if job is None:
            return
        if job.level < ISOLATED or time.monotonic() > deadline:
            raise ConflictError(
                f"the job that creates or replaces {identifier.as_summary_string()} has not "
                "finished; if it fails, rows that others write meanwhile are lost",
                code="lock-not-available",
                hint=f"wait for the job; if its process has ended, run recover on the host "
                f"{job.owner.host!r}, or drop the table",
            )
        require_running()
        time.sleep(PAUSE)


def require_unchanged(session: Session, target: BoundTable) -> None:
    """Check that a job's table still has the job's columns, partition keys and options.

    Others are `concurrent-modification`, since two layouts would mix; else errors are those of
    `finish_for_write`. A dropped table is accepted: the rows belong to the path.
    """
    identifier = target.identifier
    with suppress(ExternalError):  # a catalog that does not answer does not keep a job from ending
        _await_commit(session, identifier)
        found = session.tables.find_permanent(identifier)
        if found is None or isinstance(found.table, ResolvedCatalogView):
            return
        if _layout(session.bind_found(found).table) == _layout(target.table):
            return
        raise ConflictError(
            f"the table {identifier.as_summary_string()} was replaced or altered while the job "
            "wrote rows for its old definition; they are removed",
            code="concurrent-modification",
            hint=RUN_AGAIN,
        )


def _layout(table: ResolvedCatalogTable) -> object:
    """Return what decides how the rows of a table are stored."""
    columns = [
        (column.name, column.data_type)
        for column in table.resolved_schema.columns
        if column.is_persisted()
    ]
    return columns, list(table.partition_keys), dict(table.options)


# --- after the process of a job has ended ---------------------------------------------------------


class RecoveryAction(Enum):
    """What was done about a table."""

    #: its rows were visible already: the table stays
    FINISHED = "finished"
    #: its rows were incomplete: the table was dropped, or has its old definition and rows, and what
    #: was written is removed
    UNDONE = "undone"
    #: anything that jobs on the table left was completed or removed
    CHECKED = "checked"


@dataclass(frozen=True, slots=True)
class Recovery:
    """A table, and what recovery did about it."""

    identifier: ObjectIdentifier
    action: RecoveryAction

    def __str__(self) -> str:
        return f"{self.identifier.as_summary_string()}: {self.action.value}"


def finish(session: Session, identifier: ObjectIdentifier) -> RecoveryAction | None:
    """Finish or undo the table of a job whose process has ended; return the action, if any.

    It does nothing while the job runs. It may be repeated, and run in several processes: the one
    that replaces the pending job by its own goes on.
    """
    pending = PendingTable(session.tables, identifier)
    job = pending.job()
    if job is None or not job.is_abandoned():
        return None
    if job.level == ISOLATED and not isinstance(session.planner, SupportsJobRecovery):
        return None
    # the id is kept: it identifies what the job has left
    own = PendingJob(job.level, job.id, Owner.this())
    if not own.claim():  # another thread recovers the table
        return None
    try:
        try:
            pending.replace_job(job, own)
        except (NotFoundError, ConflictError):  # another process recovers the table
            return None
        return _finish_claimed(session, identifier, own)
    finally:
        own.release()


def _finish_claimed(
    session: Session, identifier: ObjectIdentifier, job: PendingJob
) -> RecoveryAction | None:
    tables, planner = session.tables, session.planner
    table = tables.find_permanent(identifier)
    if table is None:  # dropped by others since
        return None
    if isinstance(table.table, ResolvedCatalogTable) and isinstance(planner, SupportsJobRecovery):
        target = session.bind_found(table)
        pending = PendingTable(tables, identifier)
        replaced = ReplacedTable.of(pending.options())
        if job.level == ISOLATED and planner.was_committed(target, job.id) is not False:
            pending.replace_job(job)
            planner.recover(target, job.id)
            delete_directory(session, identifier, replaced.directory)
            return RecoveryAction.FINISHED
        if replaced.statement is not None:
            directory = tables.find_directory(identifier)
            old = _old_table(replaced, replaced.statement, directory)
            pending.replace_table(old)
            planner.recover(target, job.id)
            delete_directory(session, identifier, directory)
            return RecoveryAction.UNDONE
        planner.clean_up(target, job.id)
    tables.drop_permanent(identifier, if_exists=True)
    return RecoveryAction.UNDONE


def _old_table(replaced: ReplacedTable, statement: str, directory: str | None) -> CatalogTable:
    """Return the replaced definition as its catalog stores it; `directory` is the new table's."""
    table = _table_of(statement)
    if is_managed(table) and (replaced.directory or directory) is not None:
        table = with_directory(table, replaced.directory or directory or "")
    history = replaced.column_history
    return ColumnHistory.of({} if history is None else {COLUMN_HISTORY: history}).of_table(table)


def _table_of(text: str) -> CatalogTable:
    """Parse the stored CREATE TABLE statement (`corrupt-entry`)."""
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
        hint=RESTORE_ENTRY,
    )


def recover_tables(
    session: Session,
    identifiers: Iterable[ObjectIdentifier],
    done: Callable[[Recovery], object] = lambda _: None,
) -> list[Recovery]:
    """Commit or roll back tables of jobs whose processes have ended; return the checked tables.

    `done` is called for each of them, also if others fail. Failures, such as `table-not-found`, are
    raised together at the end, with a note for each table that was finished or undone.
    """
    recoveries: list[Recovery] = []
    errors = Gathering()
    for identifier in identifiers:
        with errors.catching(), at(f"table {identifier.as_summary_string()}"):
            if (recovery := _recover_table(session, identifier)) is not None:
                recoveries.append(recovery)
                done(recovery)
    if errors.errors:
        for recovery in recoveries:
            if recovery.action is not RecoveryAction.CHECKED:
                errors.errors[0].add_note(str(recovery))
    errors.raise_all()
    return recoveries


def _recover_table(session: Session, identifier: ObjectIdentifier) -> Recovery | None:
    action, planner = finish(session, identifier), session.planner
    table = session.tables.find_permanent(identifier)
    if table is None and action is None:
        table = session.get_table(identifier)
    if (
        table is not None
        and not isinstance(table.table, ResolvedCatalogView)
        and isinstance(planner, SupportsJobRecovery)
    ):
        # what the job of a pending table has left shows whether it has committed
        if PendingJob.of(table.own_options) is None:
            planner.recover(session.bind_found(table))
        action = action or RecoveryAction.CHECKED
    return None if action is None else Recovery(identifier, action)


def list_identifiers(session: Session, catalog: str) -> Iterator[ObjectIdentifier]:
    """Yield the tables and views of all databases of a catalog."""
    found = session.registry.get(catalog)
    for database in found.list_databases():
        for name in found.list_tables(database):
            yield ObjectIdentifier.of(catalog, database, name)
