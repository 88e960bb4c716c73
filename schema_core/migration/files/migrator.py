"""Migrations of a catalog: applied, undone, recorded and compared with the catalog.

A migration without data steps and its entry in the history are one transaction. A process that is
killed leaves it applied or not; of concurrent processes, one applies it. A migration with data
steps has a transaction before and after each of their jobs; the history has its progress, and the
table of a job the record that it was committed. So another process continues it with the step that
is missing. See ``docs/decisions/0040-data-steps-of-migrations.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from time import monotonic, sleep
from typing import Final, NamedTuple, TypeAlias
from uuid import uuid4

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath, UnresolvedPath
from schema_core.base.secrets import mask, mask_query, mask_text
from schema_core.base.text import Span
from schema_core.catalog.api import Capability, Catalog, rolled_back
from schema_core.catalog.changes.catalog_changes import CatalogChange, apply_to_catalog
from schema_core.catalog.migration_history import (
    CatalogMigration,
    MigrationProgress,
    RecordedObject,
    WrittenRows,
    user_name,
)
from schema_core.catalog.objects import CatalogBaseTable, CatalogDatabase, CatalogTable, TableKind
from schema_core.catalog.own_options import without_own_options
from schema_core.environment.connector import secret_keys
from schema_core.environment.jobs.pending import ISOLATED, Owner, PendingJob
from schema_core.environment.planner import CommitRecord
from schema_core.environment.table_environment import TableEnvironment
from schema_core.environment.view_states import ViewState
from schema_core.errors import (
    ConflictError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    at,
    similar,
    within,
)
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs, read_catalog
from schema_core.migration.files.data_steps import change_definition, check_data_step, run_data_step
from schema_core.migration.files.directory import (
    MigrationDirectory,
    MigrationFile,
    closure_of,
    is_target,
)
from schema_core.migration.files.script_steps import ScriptStep, parse_steps
from schema_core.migration.files.variables import FilledScript
from schema_core.migration.gates.file_guard import require_files_follow
from schema_core.migration.gates.view_checks import (
    find_broken_views,
    find_names,
    require_working_views,
)
from schema_core.properties.property_map import (
    EXPANDED,
    ORIGINAL,
    decode_object,
    encode_object,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import ObjectKind, Statement
from schema_core.sql.syntax import Name

#: The target before the first migration.
BASE: Final = "base"
#: The sections of a migration, and the directions in which it is executed.
UP: Final = "up"
DOWN: Final = "down"
#: Seconds between two looks at a migration that another process runs.
PAUSE: Final = 0.1
#: Properties with a query, in which hints may have secrets.
QUERIES: Final = frozenset({ORIGINAL, EXPANDED})
#: The kind of a database in the history.
DATABASE: Final = "DATABASE"
#: Statements after which a view may not work.
BREAKING: Final = (syntax.Alter, syntax.AlterFunction, syntax.Drop)

#: The database, and the name or '', of what a script creates, alters or drops -> the statement.
Touched: TypeAlias = dict[tuple[str, str], Span]


class MigrationState(Enum):
    """The state of a migration.

    `UNFINISHED` if some of its steps were executed, `CHANGED` if the file is not the one that was
    applied, `MISSING` if there is none.
    """

    APPLIED = "applied"
    PENDING = "pending"
    UNFINISHED = "unfinished"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """A migration of the directory or the history.

    The other fields are those of `CatalogMigration`; `applied_at` is None while it is pending.
    """

    name: str
    state: MigrationState
    applied_at: str | None = None
    stamped: bool = False
    applied_by: str = ""
    milliseconds: int | None = None
    written_rows: tuple[WrittenRows, ...] = ()

    @property
    def written_row_count(self) -> int:
        """The number of rows that the steps wrote."""
        return sum(step.rows for step in self.written_rows)


@dataclass(frozen=True, slots=True)
class MigrationResult:
    """A migration that was applied or undone, with its statements, secrets masked."""

    name: str
    direction: str
    statements: tuple[str, ...]

    def __str__(self) -> str:
        count = len(self.statements)
        return f"{self.direction} {self.name}: {count} statement{'' if count == 1 else 's'}"


class ScriptOutcome(NamedTuple):
    """The content of the catalog after a script, and the views that the script breaks."""

    content: CatalogContent
    broken: tuple[ViewState, ...]


@dataclass(frozen=True, slots=True)
class _Script:
    """A section of a migration: its text with the values of variables, and its steps.

    `file` is the path of the migration if it has this text.
    """

    filled: FilledScript
    steps: tuple[ScriptStep, ...]
    location: str
    file: str | None = None

    @property
    def text(self) -> str:
        return self.filled.text

    @property
    def statements(self) -> list[Statement]:
        return [statement for step in self.steps for statement in step.statements]

    @property
    def writes_rows(self) -> bool:
        """Whether there is a data step."""
        return any(step.writes_rows for step in self.steps)

    @property
    def may_break_views(self) -> bool:
        """Whether a view may not work afterwards."""
        return any(step.rewrite or isinstance(step.statements[0], BREAKING) for step in self.steps)

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Locate errors about the text in the migration and its file."""
        with at(self.location), self.filled.locating(self.file):
            yield


def _new_claim() -> PendingJob:
    """Return the mark of this process for a data step that it runs."""
    claim = PendingJob(ISOLATED, uuid4().hex, Owner.this())
    claim.begin()
    return claim


@dataclass(slots=True)
class _Run:
    """A migration that is being applied or undone, and its entry, which `is_stored` or not.

    `done` is the number of executed steps, `is_committed` whether the data step after them is. This
    call has executed `texts`, which have `touched` databases and tables.
    """

    entry: CatalogMigration
    direction: str
    script: _Script
    done: int = 0
    sequence: str = field(default_factory=lambda: uuid4().hex)
    claim: PendingJob | None = None
    is_stored: bool = False
    is_committed: bool = False
    texts: list[str] = field(default_factory=list)
    touched: Touched = field(default_factory=dict)
    written: list[WrittenRows] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_finished(self) -> bool:
        return self.done == len(self.script.steps)

    @property
    def record(self) -> CommitRecord:
        """What identifies the job of the next step."""
        return CommitRecord(self.sequence, self.done)

    def result(self) -> MigrationResult:
        # called after `_record_object`: the connectors have declared their secret keys
        name = "upgrade" if self.direction == UP else "downgrade"
        return MigrationResult(self.entry.name, name, tuple(map(mask_text, self.texts)))


class Migrator:
    """Applies the migrations of a directory to the current catalog of an environment.

    The catalog must support `Capability.MIGRATIONS`, as those in memory and in SQL databases do.
    Other threads must not use the environment meanwhile.

    Args:
        environment: The environment; migrations begin in its current database.
        directory: The directory, or its path.
        variables: The values of ``${NAME}`` in the files.
        applied_by: Who applies the migrations, for the history; by default the process's user.

    Raises:
        SchemaError: with code `current-catalog-not-set`; as `MigrationDirectory.read`.
        UnsupportedError: with code `unsupported-capability`.
    """

    def __init__(
        self,
        environment: TableEnvironment,
        directory: MigrationDirectory | str | os.PathLike[str],
        *,
        variables: Mapping[str, str] | None = None,
        applied_by: str | None = None,
    ) -> None:
        self.environment: TableEnvironment = require_instance(
            environment, TableEnvironment, "environment"
        )
        if not isinstance(directory, MigrationDirectory):
            directory = MigrationDirectory.read(directory)
        self.directory = directory
        self.variables: Mapping[str, str] = dict(
            require_instance(variables or {}, Mapping, "variables")
        )
        self._applied_by = user_name(require_instance(applied_by, (str, type(None)), "applied_by"))
        self._manager = environment.catalog_manager
        self._registry = self._manager.registry
        self.catalog: Catalog = self._registry.current()
        self._path = self._registry.current_path
        if Capability.MIGRATIONS not in self.catalog.capabilities:
            raise UnsupportedError(
                f"{type(self.catalog).__name__} does not support migrations",
                code="unsupported-capability",
                hint="keep the tables in a catalog of type 'sql'",
            )

    # --- what there is -------------------------------------------------------------------------

    def history(self) -> tuple[MigrationStatus, ...]:
        """Return the applied migrations in that order, an unfinished one, then the pending ones."""
        files = {migration.name: migration for migration in self.directory.migrations}
        applied = self.catalog.list_migrations()
        history = [_status(record, _state(record, files)) for record in applied]
        if (unfinished := self.catalog.find_unfinished_migration()) is not None:
            applied.append(unfinished)
            history.append(_status(unfinished, MigrationState.UNFINISHED))
        done = {record.name for record in applied}
        history += [
            MigrationStatus(name, MigrationState.PENDING) for name in files if name not in done
        ]
        return tuple(history)

    @property
    def resolver(self) -> SchemaResolver:
        """The resolver of the environment."""
        return self.environment.schema_resolver

    @property
    def start(self) -> tuple[str | None, str | None]:
        """The catalog and the database in which migrations begin."""
        return self._path

    def pending(self, target: str | None = None) -> tuple[str, ...]:
        """Return the names of the migrations that `upgrade` applies, in order.

        Raises:
            SchemaError: as `upgrade`.
        """
        applied = self.catalog.list_migrations()
        return tuple(file.name for file in self._find_pending(applied, target))

    def content(self) -> CatalogContent:
        """Return the databases, tables and views of the catalog, as sessions see them."""
        return _visible(read_catalog(self.catalog))

    def try_scripts(self, scripts: Sequence[str]) -> list[ScriptOutcome]:
        """Execute scripts in one transaction that is rolled back; return what each leaves.

        Raises:
            SchemaCoreError: of a statement.
        """
        outcomes: list[ScriptOutcome] = []
        with rolled_back(self.catalog) as catalog:
            for text in scripts:
                with self._within(catalog):
                    before = self.environment.read_view_states()
                    self._execute(catalog, parse_steps(text), text, checks_files=False)
                    broken = find_broken_views(before, self.environment.read_view_states())
                    outcomes.append(ScriptOutcome(_visible(read_catalog(catalog)), broken))
        return outcomes

    def drift(self) -> tuple[CatalogChange, ...]:
        """Return what was changed outside of migrations.

        Databases, tables and views that a migration created, altered or dropped are compared, with
        secrets masked.

        Raises:
            SchemaCoreError: for an object of the catalog that cannot be resolved.
        """
        return diff_catalogs(*self._compare_with_history())

    def find_broken_views(self) -> tuple[ViewState, ...]:
        """Return the views that changes outside of migrations have broken.

        These are views that do not work now, and that worked when a migration created or altered
        them, or as long as the catalog was as the migrations have left it.

        Raises:
            SchemaCoreError: as `drift`.
        """
        with self._within(self.catalog):
            after = self.environment.read_view_states()
        if all(state.problem is None for state in after.values()):
            return ()
        left, current = self._compare_with_history()
        with rolled_back(self.catalog) as catalog, self._within(catalog):
            apply_to_catalog(diff_catalogs(current, left), catalog)
            before = self.environment.read_view_states()
        recorded = {
            ObjectPath(object_.database, object_.name): object_.properties
            for migration in self.catalog.list_migrations()
            for object_ in migration.objects
            if not migration.stamped
        }
        worked = {
            identifier: replace(state, problem=None)
            if recorded.get(identifier.to_object_path())
            else state
            for identifier, state in before.items()
        }
        return find_broken_views(worked, after)

    def _compare_with_history(self) -> tuple[CatalogContent, CatalogContent]:
        """Return what migrations have left and what there is now, of objects that differ."""
        left: dict[tuple[str, str], RecordedObject] = {}
        with self._within(self.catalog):
            unfinished = self.catalog.find_unfinished_migration()
            for migration in (*self.catalog.list_migrations(), *filter(None, [unfinished])):
                left |= {(object_.database, object_.name): object_ for object_ in migration.objects}
            current = {key: self._record_object(self.catalog, *key) for key in left}
        differing = [key for key, value in left.items() if current[key] != value]
        recorded, stored = (
            _content([objects[key] for key in differing]) for objects in (left, current)
        )
        return recorded, stored

    def script(self, target: str | None = None, *, down: bool = False) -> str:
        """Return the statements of `upgrade` or `downgrade` as one script.

        Variables are not replaced: their values may be secret.

        Raises:
            SchemaCoreError: as `upgrade` or `downgrade`.
        """
        applied, section = self.catalog.list_migrations(), "up"
        files: Sequence[MigrationFile] = ()
        if down:
            section = "down"
            undone = self._find_undone(applied, require_instance(target or "", str, "target"))
            files = [MigrationFile.parse(migration.name, migration.text) for migration in undone]
        else:
            files = self._find_pending(applied, target)
        texts = [(file.name, file.script(section).strip()) for file in files]
        return "\n".join(f"-- {name}\n{text}\n;\n" for name, text in texts)

    # --- application ---------------------------------------------------------------------------

    def upgrade(
        self, target: str | None = None, *, dry_run: bool = False, take_over: bool = False
    ) -> tuple[MigrationResult, ...]:
        """Apply the migrations up to a target, each in one transaction or, with data steps, more.

        An unfinished migration is continued with its first step that was not executed. Its file may
        be changed after the steps that were.

        Args:
            target: The name or number of the last migration to apply; by default all are applied.
            dry_run: Execute all of them in one transaction, without data steps, and roll it back.
            take_over: Continue a migration of a process on another host, which must have ended.

        Returns:
            What this call has applied; nothing if another process was faster.

        Raises:
            SchemaError: with code `migration-checksum-mismatch`; `migration-branches`;
                `migration-changed` or `migration-missing` if the files are not those that were
                applied; `migration-variable-missing`; `migration-unfinished` if another migration
                must be finished or undone first; `migration-statement-not-allowed` for a statement
                that a migration cannot contain; `files-do-not-follow` for an ALTER TABLE that the
                files of the table do not follow.
            ConflictError: with code `migration-running` if a process on another host applies one.
            NotFoundError: with code `migration-not-found` for another target.
            SchemaCoreError: of a statement; its transaction is rolled back, those before it are
                not.
        """
        if not dry_run and (entry := self.catalog.find_unfinished_migration()) is not None:
            self._require_wanted(entry, target)
        begin = partial(self._find_next, target)
        return self._apply(begin, UP, dry_run=dry_run, take_over=take_over)

    def upgrade_definitions(self) -> None:
        """Apply all migrations in one transaction, without the rows of data steps.

        This is for scratch catalogs: the files of tables are not looked at.

        Raises:
            SchemaCoreError: as `upgrade`.
        """
        with self.catalog.transaction() as catalog:
            self._try_each(catalog, partial(self._find_next, None), checks_files=False)

    def _find_next(self, target: str | None, catalog: Catalog) -> _Run | None:
        """Return the next migration up to a target that is not applied, not yet begun."""
        applied = catalog.list_migrations()
        pending = self._find_pending(applied, target)
        if not pending:
            return None
        position = max((record.position for record in applied), default=0) + 1
        entry = self._entry(pending[0], position, ())
        return _Run(entry, UP, self._parse_script(pending[0], UP))

    def _require_wanted(self, entry: CatalogMigration, target: str | None) -> None:
        """Require that an unfinished migration is one of those up to a target."""
        if target is not None and entry.name not in self.directory.closure(
            self.directory.find(target).name
        ):
            raise _unfinished_error(entry)

    def downgrade(
        self, target: str, *, dry_run: bool = False, take_over: bool = False
    ) -> tuple[MigrationResult, ...]:
        """Undo migrations in reverse order, each in one transaction or, with data steps, more.

        The statements are those of the file as it was applied, which the history has.

        Args:
            target: The last migration that stays, by name or number; ``base`` undoes all, ``-1``
            the
                last one.
            dry_run: As for `upgrade`.
            take_over: As for `upgrade`.

        Raises:
            SchemaError: with code `migration-irreversible`, before any is undone, and as `upgrade`.
            NotFoundError: with code `migration-not-found` for a target that was not applied.
            ConflictError: if another process applies a migration that follows one of them.
        """
        require_instance(target, str, "target")
        unfinished = self.catalog.find_unfinished_migration()
        names = [] if unfinished is None else [unfinished.name]
        if unfinished is None or target != "-1":
            undone = self._find_undone(self.catalog.list_migrations(), target)
            names += [entry.name for entry in undone]

        def begin(catalog: Catalog) -> _Run | None:
            applied = {migration.name: migration for migration in catalog.list_migrations()}
            left = [name for name in names if name in applied]
            if not left:
                return None
            for record in applied.values():
                if left[0] in record.parents and record.name not in names:
                    raise ConflictError(
                        f"migration {record.name}, which follows {left[0]}, was applied meanwhile",
                        hint="start again",
                    )
            entry = applied[left[0]]
            file = MigrationFile.parse(entry.name, entry.text)
            return _Run(entry, DOWN, self._parse_script(file, DOWN), is_stored=True)

        return self._apply(begin, DOWN, dry_run=dry_run, take_over=take_over)

    def stamp(self, target: str) -> tuple[str, ...]:
        """Record that the catalog is as a migration leaves it, without executing statements.

        The history then has this migration and those that it follows, with the checksums of their
        files, and no unfinished one. `drift` compares with the catalog as it is now.

        Args:
            target: The name or number of a migration; ``base`` empties the history.

        Returns:
            The names of the migrations in the history.

        Raises:
            NotFoundError: with code `migration-not-found`.
            SchemaError: with code `migration-checksum-mismatch`.
        """
        closure = (
            frozenset[str]()
            if target == BASE
            else self.directory.closure(self.directory.find(target).name)
        )
        files = [migration for migration in self.directory.migrations if migration.name in closure]
        self.directory.require_checksums()
        with self.catalog.transaction() as catalog, self._within(catalog):
            unfinished = catalog.find_unfinished_migration()
            for entry in (*catalog.list_migrations(), *filter(None, [unfinished])):
                catalog.remove_migration(entry.name)
            for position, file in enumerate(files, 1):
                keys = self._iterate_keys(catalog) if file is files[-1] else ()
                objects = tuple(self._record_object(catalog, *key) for key in keys)
                catalog.add_migration(self._entry(file, position, objects, stamped=True))
        return tuple(file.name for file in files)

    # --- transactions --------------------------------------------------------------------------

    def _apply(
        self,
        begin: Callable[[Catalog], _Run | None],
        direction: str,
        *,
        dry_run: bool,
        take_over: bool,
    ) -> tuple[MigrationResult, ...]:
        """Finish an unfinished migration, then run those that `begin` returns until there is none.

        `begin` is called in the first transaction of a migration.
        """
        if dry_run:
            return self._try(begin)
        results: list[MigrationResult] = []
        while True:
            run = self._continue(direction, take_over) or self._begin(begin)
            if run is None:
                return tuple(results)
            if isinstance(run, _Run):
                self._finish(run)
                results.append(run.result())

    def _try(self, begin: Callable[[Catalog], _Run | None]) -> tuple[MigrationResult, ...]:
        """Run migrations in one transaction that is rolled back, without the rows of data steps."""
        results: list[MigrationResult] = []
        with rolled_back(self.catalog) as catalog:
            if (unfinished := catalog.find_unfinished_migration()) is not None:
                raise _unfinished_error(unfinished)
            results += self._try_each(catalog, begin)
        return tuple(results)

    def _try_each(
        self,
        catalog: Catalog,
        begin: Callable[[Catalog], _Run | None],
        *,
        checks_files: bool = True,
    ) -> list[MigrationResult]:
        results: list[MigrationResult] = []
        while (run := begin(catalog)) is not None:
            with self._within(catalog), run.script.locating():
                run.texts, touched = self._execute_checked(
                    catalog, run.script, checks_files=checks_files
                )
                run.touched.update(touched)
                run.done = len(run.script.steps)
                self._store(catalog, run)
            results.append(run.result())
        return results

    def _begin(self, begin: Callable[[Catalog], _Run | None]) -> _Run | bool | None:
        """Return a migration after its first transaction; None if there is none.

        Return True if another process has begun one, which is to be continued.
        """
        if (next_run := begin(self.catalog)) is not None and next_run.script.writes_rows:
            self._try_data_steps(next_run.script)
        with self.catalog.transaction() as catalog:
            if catalog.find_unfinished_migration() is not None:
                return True
            if (run := begin(catalog)) is None:
                return None
            with self._within(catalog), run.script.locating():
                if run.script.writes_rows:
                    self._advance(catalog, run)
                else:
                    with self._keeping_views(run.script, run.touched):
                        self._advance(catalog, run)
        return run

    def _try_data_steps(self, script: _Script, done: int = 0) -> None:
        """Execute the steps after those that are `done` without rows, to find errors beforehand."""
        with script.locating():
            self.environment.recorded_jobs.require_support()
            with rolled_back(self.catalog) as catalog, self._within(catalog):
                self._use_databases(script.steps[:done])
                self._execute_checked(catalog, script, done)

    def _finish(self, run: _Run) -> None:
        """Run the next data step of a migration, then the statements after it, until the end."""
        try:
            while not run.is_finished:
                with run.script.locating():
                    self._run_job(run)
                    self._proceed(run)
        except BaseException:
            self._release(run)
            raise
        finally:
            if run.claim is not None:
                run.claim.end()

    def _proceed(self, run: _Run) -> None:
        """Execute the statements up to the next data step or the end, in one transaction."""
        with self.catalog.transaction() as catalog, self._within(catalog):
            self._require_claimed(catalog, run)
            self._advance(catalog, run)

    def _advance(self, catalog: Catalog, run: _Run) -> None:
        """Execute the steps up to the next data step or the end, and store the progress."""
        started, steps = monotonic(), run.script.steps
        self._use_databases(steps[: run.done])
        while run.done < len(steps) and not steps[run.done].writes_rows:
            step = steps[run.done]
            with within(run.script.text):
                run.touched.update(self._find_touched_by(catalog, step))
            self._execute_statement(step, run.script.text)
            run.texts.append(step.text)
            run.done += 1
        run.seconds += monotonic() - started
        self._store(catalog, run)

    def _run_job(self, run: _Run) -> None:
        """Run the data step at which a migration is, unless it is committed."""
        started, step = monotonic(), run.script.steps[run.done]
        with self._within(self.catalog):
            self._use_databases(run.script.steps[: run.done])
            with within(run.script.text):
                (database, name), *_ = self._find_touched_by(self.catalog, step)
            identifier = self._identify(database, name)
            if not run.is_committed:
                new = None if step.rewrite is None else self._definition_after(identifier, run)
                rows = run_data_step(
                    self.environment, identifier, step, run.script.text, run.record, new
                )
                run.written.extend(filter(None, [rows]))
        run.is_committed = False
        run.touched[database, name] = step.span
        run.texts.append(step.text)
        run.done += 1
        run.seconds += monotonic() - started

    def _definition_after(self, identifier: ObjectIdentifier, run: _Run) -> CatalogTable:
        """Return the new definition of a table after the statements of a rewrite."""
        steps = run.script.steps
        with rolled_back(self.catalog) as catalog, self._within(catalog):
            self._use_databases(steps[: run.done])
            return change_definition(self.environment, identifier, steps[run.done], run.script.text)

    def _store(self, catalog: Catalog, run: _Run) -> None:
        """Store the progress of a migration, or its end, in the transaction of its steps."""
        if run.is_stored:
            catalog.remove_migration(run.entry.name)
        progress = None
        if not run.is_finished:
            run.claim = run.claim or _new_claim()
            progress = MigrationProgress(run.direction, run.done, run.sequence, str(run.claim))
        elif run.direction == DOWN:
            return
        objects = {(object_.database, object_.name): object_ for object_ in run.entry.objects}
        if run.direction == UP:
            objects |= {key: self._record_object(catalog, *key) for key in run.touched}
        run.entry = replace(
            run.entry,
            objects=tuple(objects.values()),
            applied_at=datetime.now(UTC).isoformat(timespec="seconds"),
            milliseconds=round(run.seconds * 1000),
            written_rows=tuple(run.written),
            progress=progress,
        )
        catalog.add_migration(run.entry)
        run.is_stored = True

    # --- unfinished migrations -----------------------------------------------------------------

    def _continue(self, direction: str, take_over: bool) -> _Run | None:
        """Return the unfinished migration, claimed for this process, if there is one.

        It waits for a process of this host that runs the data step.
        """
        while True:
            with self.catalog.transaction() as catalog:
                entry = catalog.find_unfinished_migration()
                if entry is None or (progress := entry.progress) is None:
                    return None
                if progress.direction != direction:
                    raise _unfinished_error(entry)
                owner = PendingJob.parse(progress.claim)
                if owner is None or take_over or owner.is_abandoned():
                    claim = _new_claim()
                    entry = replace(entry, progress=replace(progress, claim=str(claim)))
                    catalog.remove_migration(entry.name)
                    catalog.add_migration(entry)
                    break
            if owner.owner.host != Owner.this().host:
                raise _running_error(entry, owner)
            sleep(PAUSE)
        return self._resume(entry, progress, claim)

    def _resume(
        self, entry: CatalogMigration, progress: MigrationProgress, claim: PendingJob
    ) -> _Run:
        """Return a claimed migration with the remaining steps of its file."""
        file = MigrationFile.parse(entry.name, entry.text)
        script = self._parse_script(file, progress.direction)
        run = _Run(
            entry,
            progress.direction,
            script,
            done=progress.steps,
            sequence=progress.sequence,
            claim=claim,
            is_stored=True,
            written=[*entry.written_rows],
            seconds=(entry.milliseconds or 0) / 1000,
        )
        try:
            with run.script.locating():
                self.environment.recorded_jobs.require_support()
                run.is_committed = self._was_committed(run)
            if run.direction == UP:
                self._take_new_text(run)
            # a corrected file may continue with another statement; it is stored before the job
            if not run.is_committed:
                with run.script.locating():
                    self._proceed(run)
        except BaseException:
            self._release(run)
            raise
        return run

    def _was_committed(self, run: _Run) -> bool:
        """Return whether the data step of an ended process was committed, after its recovery."""
        with self._within(self.catalog):
            self._use_databases(run.script.steps[: run.done])
            with within(run.script.text):
                keys = self._find_touched_by(self.catalog, run.script.steps[run.done])
                identifier = self._identify(*next(iter(keys)))
            self.environment.recover(identifier.as_serializable_string())
            return self.environment.recorded_jobs.contains(identifier, run.record)

    def _take_new_text(self, run: _Run) -> None:
        """Let a migration continue with its file, whose executed steps must be the same."""
        self.directory.require_checksums()
        files = {migration.name: migration for migration in self.directory.migrations}
        if (file := files.get(run.entry.name)) is None:
            _require_unchanged(run.entry, files, run.entry.name)
        elif file.checksum != run.entry.checksum:
            script = self._parse_script(file, UP)
            executed = run.done + run.is_committed
            old, new = run.script.steps[:executed], script.steps[:executed]
            if [step.text for step in old] != [step.text for step in new]:
                raise _changed_error(run.entry, f"restore the first {executed} of its statements")
            self._try_data_steps(script, executed)
            run.script = script
            run.entry = replace(run.entry, text=file.text, checksum=file.checksum)

    def _require_claimed(self, catalog: Catalog, run: _Run) -> None:
        """Require that no other process has taken a migration over."""
        entry = catalog.find_unfinished_migration()
        progress = None if entry is None else entry.progress
        if entry is None or progress is None or progress.claim != str(run.claim):
            raise ConflictError(
                f"migration {run.entry.name} was continued by another process",
                code="migration-running",
                hint="start again: it is applied once",
            )

    def _release(self, run: _Run) -> None:
        """Let other processes continue a migration whose data step has failed."""
        if run.claim is None:
            return
        run.claim.end()
        with suppress(SchemaCoreError), self.catalog.transaction() as catalog:
            entry = catalog.find_unfinished_migration()
            if entry and entry.progress and entry.progress.claim == str(run.claim):
                catalog.remove_migration(entry.name)
                progress = replace(entry.progress, claim="")
                catalog.add_migration(replace(entry, progress=progress))

    @contextmanager
    def _within(self, catalog: Catalog) -> Iterator[None]:
        """Let the environment use a catalog in a transaction; its current path is restored."""
        path, name = self._registry.current_path, self._path[0] or ""
        if self._registry.find(name) is not self.catalog:
            raise ConflictError(
                f"the catalog {name} was replaced by another one",
                hint="create the Migrator again",
            )
        try:
            self._registry.share(name, catalog)
            self._registry.current_path = self._path
            yield
        finally:
            self._registry.share(name, self.catalog)
            self._registry.current_path = path

    def _entry(
        self,
        file: MigrationFile,
        position: int,
        objects: Sequence[RecordedObject],
        *,
        stamped: bool = False,
    ) -> CatalogMigration:
        return CatalogMigration(
            file.name,
            position,
            file.checksum,
            self.directory.parents[file.name],
            datetime.now(UTC).isoformat(timespec="seconds"),
            file.text,
            tuple(objects),
            stamped,
            self._applied_by,
        )

    def _parse_script(self, file: MigrationFile, section: str) -> _Script:
        """Return a section of a migration, with the values of variables."""
        path = self.directory.path / f"{file.name}.sql"
        own = self.directory.get(file.name)
        name = str(path) if own is not None and own.text == file.text else None
        location = f"migration {file.name}, {section}"
        with at(location):
            with within(file.script(section), name):
                filled = file.fill_script(section, self.variables)
            with filled.locating(name), within(filled.text):
                return _Script(filled, parse_steps(filled.text), location, name)

    def _execute_checked(
        self, catalog: Catalog, script: _Script, done: int = 0, *, checks_files: bool = True
    ) -> tuple[list[str], Touched]:
        """Execute steps as `_execute`, unless they break views (`migration-breaks-view`)."""
        touched: Touched = {}
        with self._keeping_views(script, touched):
            texts, changed = self._execute(
                catalog, script.steps[done:], script.text, checks_files=checks_files
            )
            touched |= changed
        return texts, touched

    @contextmanager
    def _keeping_views(self, script: _Script, touched: Touched) -> Iterator[None]:
        """Refuse changes of the context that break views; it adds to `touched`."""
        if not script.may_break_views:
            yield
            return
        with within(script.text):
            names = find_names(script.statements)
            before = self.environment.read_view_states(names)
            yield
            spans = {self._identify(*key): span for key, span in touched.items() if all(key)}
            require_working_views(before, self.environment.read_view_states(names), spans)

    def _execute(
        self,
        catalog: Catalog,
        steps: Iterable[ScriptStep],
        text: str,
        *,
        checks_files: bool = True,
    ) -> tuple[list[str], Touched]:
        """Execute steps of a script without the rows of data steps.

        Return the statements, and what they name, with the last of them.
        """
        touched: Touched = {}
        replaced: Touched = {}
        texts = []
        for step in steps:
            with within(text):
                keys = self._find_touched_by(catalog, step)
            touched |= keys
            are_replaced = not replaced.keys().isdisjoint(keys)
            self._try_step(step, keys, text, checks_files=checks_files, are_replaced=are_replaced)
            texts.append(step.text)
            if step.replaces_rows:
                replaced |= keys
        return texts, touched

    def _try_step(
        self,
        step: ScriptStep,
        keys: Touched,
        text: str,
        *,
        checks_files: bool = True,
        are_replaced: bool = False,
    ) -> None:
        """Execute a step without the rows of a data step, which replace files if `are_replaced`."""
        if step.writes_rows:
            with within(text):
                check_data_step(self.environment, self._identify(*next(iter(keys))), step, text)
        else:
            self._execute_statement(
                step, text, checks_files=checks_files, are_replaced=are_replaced
            )

    def _execute_statement(
        self, step: ScriptStep, text: str, *, checks_files: bool = True, are_replaced: bool = False
    ) -> None:
        """Execute a statement that is not a data step (`files-do-not-follow`)."""
        (statement,) = step.statements
        check: AbstractContextManager[None] = nullcontext()
        if checks_files:
            check = require_files_follow(
                self.environment, statement, text, are_replaced=are_replaced
            )
        with within(text), check:
            self.environment.execute_statement(statement, text)

    def _identify(self, database: str, name: str) -> ObjectIdentifier:
        return ObjectIdentifier.of(self._registry.current_catalog or "", database, name)

    def _use_databases(self, steps: Iterable[ScriptStep]) -> None:
        """Select the current database as the steps of a script do."""
        for step in steps:
            if isinstance(use := step.statements[0], syntax.UseDatabase):
                self._registry.current_path = self._registry.qualify_database(use.path.parts)

    def _find_touched_by(self, catalog: Catalog, step: ScriptStep) -> Touched:
        """Return what a step creates, alters, drops or writes, with the last statement."""
        return {
            key: statement.span
            for statement in step.statements
            for key in self._find_touched(catalog, statement)
        }

    def find_touched(self, step: ScriptStep) -> Touched:
        """Return the databases, with '', and the objects that a step changes, with a statement.

        Raises:
            SchemaError: with code `migration-statement-not-allowed`.
        """
        return self._find_touched_by(self.catalog, step)

    def try_step(self, step: ScriptStep, text: str) -> None:
        """Execute a step of a script in the catalog, without the rows of a data step.

        The files of tables are not looked at.

        Raises:
            SchemaCoreError: of the statement.
        """
        self._try_step(step, self.find_touched(step), text, checks_files=False)

    def _find_touched(self, catalog: Catalog, statement: Statement) -> Iterator[tuple[str, str]]:
        """Yield the database, and the name or '', of what a statement creates, alters or drops."""
        match statement:
            case syntax.UseDatabase(path):
                self._database(path, statement)
            case syntax.CreateDatabase(path) | syntax.Alter(ObjectKind.DATABASE, path):
                yield self._database(path, statement), ""
            case syntax.Drop(ObjectKind.DATABASE, path):
                database = self._database(path, statement)
                yield database, ""
                if statement.cascade and catalog.database_exists(database):
                    yield from ((database, name) for name in catalog.list_tables(database))
            case (
                syntax.CreateTable(path, query=None, temporary=False)
                | syntax.CreateView(path, temporary=False)
                | syntax.Drop(ObjectKind.TABLE | ObjectKind.VIEW, path, temporary=False)
            ):
                yield self._object(path, statement)
            case syntax.Insert(path) | syntax.Update(path) | syntax.Delete(path):
                yield self._object(path, statement)
            case syntax.Alter(ObjectKind.TABLE | ObjectKind.VIEW, path, change):
                database, name = self._object(path, statement)
                yield database, name
                if isinstance(change, syntax.RenameTo):
                    there, new_name = self._object(change.path, statement)
                    if there != database:
                        raise _not_allowed_error(
                            statement, "a table is renamed within its database"
                        )
                    yield database, new_name
            case (
                syntax.CreateFunction(path, temporary=False, system=False)
                | syntax.AlterFunction(path, temporary=False, system=False)
                | syntax.CreateModel(path, query=None, temporary=False)
                | syntax.Drop(
                    ObjectKind.FUNCTION | ObjectKind.MODEL, path, temporary=False, system=False
                )
                | syntax.Alter(ObjectKind.MODEL, path)
            ):
                self._object(path, statement)
            case _:
                raise _not_allowed_error(
                    statement,
                    "a migration creates, alters and drops databases, tables, views, functions and "
                    "models, and writes rows with INSERT, UPDATE and DELETE; put SET and CREATE "
                    "CATALOG into setup.sql",
                )

    def _object(self, path: Name, statement: Statement) -> tuple[str, str]:
        identifier = self._registry.qualify(UnresolvedPath(path.parts))
        self._require_same_catalog(identifier.catalog_name, statement)
        return identifier.database_name, identifier.object_name

    def _database(self, path: Name, statement: Statement) -> str:
        catalog, database = self._registry.qualify_database(path.parts)
        self._require_same_catalog(catalog, statement)
        return database

    def _require_same_catalog(self, name: str, statement: Statement) -> None:
        if name != self._registry.current_catalog:
            raise _not_allowed_error(
                statement, f"the transaction is one of the catalog {self._registry.current_catalog}"
            )

    # --- objects -------------------------------------------------------------------------------

    def _record_object(self, catalog: Catalog, database: str, name: str) -> RecordedObject:
        with at(f"{database}.{name}" if name else database):
            if not name:
                return _recorded_database(catalog, database)
            identifier = ObjectIdentifier.of(self._registry.current_catalog or "", database, name)
            entry = self._manager.find_permanent(identifier)
            if entry is None:
                return RecordedObject(database, name, TableKind.TABLE.value, None)
            options = entry.table.get_options()
            masked = entry.table.copy(mask(options, secret_keys(options)))
            properties = {
                key: mask_query(value) if key in QUERIES else value
                for key, value in encode_object(masked).items()
            }
            return RecordedObject(database, name, entry.kind.value, properties)

    def _iterate_keys(self, catalog: Catalog) -> Iterator[tuple[str, str]]:
        for database in catalog.list_databases():
            names = [*catalog.list_tables(database), *catalog.list_views(database)]
            yield from ((database, name) for name in dict.fromkeys(["", *names]))

    # --- order ---------------------------------------------------------------------------------

    def _find_pending(
        self, applied: Sequence[CatalogMigration], target: str | None
    ) -> list[MigrationFile]:
        files = {migration.name: migration for migration in self.directory.migrations}
        self.directory.require_checksums()
        for record in applied:
            _require_unchanged(record, files, applied[-1].name)
        if target is None:
            self.directory.require_single_head()
            wanted = frozenset(files)
        else:
            wanted = self.directory.closure(self.directory.find(target).name)
        done = {record.name for record in applied}
        return [
            migration
            for migration in self.directory.migrations
            if migration.name in wanted and migration.name not in done
        ]

    def _find_undone(
        self, applied: Sequence[CatalogMigration], target: str
    ) -> list[CatalogMigration]:
        if target == "-1":
            undone = [*applied[-1:]]
        elif target == BASE:
            undone = [*reversed(applied)]
        else:
            staying = _closure(applied, target)
            undone = [record for record in reversed(applied) if record.name not in staying]
        for migration in undone:
            MigrationFile.parse(migration.name, migration.text).script("down")
        return undone


def _status(entry: CatalogMigration, state: MigrationState) -> MigrationStatus:
    return MigrationStatus(
        entry.name,
        state,
        entry.applied_at,
        entry.stamped,
        entry.applied_by,
        entry.milliseconds,
        entry.written_rows,
    )


def _unfinished_error(entry: CatalogMigration) -> SchemaError:
    progress = entry.progress
    command = "upgrade" if progress is None or progress.direction == UP else "downgrade"
    return SchemaError(
        f"migration {entry.name} is unfinished: some of its statements were executed",
        code="migration-unfinished",
        hint=f"finish it: schema-core migrate {command}; a statement that fails may be corrected "
        "in its file, and stamp accepts the catalog as it is",
    )


def _running_error(entry: CatalogMigration, job: PendingJob) -> ConflictError:
    return ConflictError(
        f"process {job.owner.pid} on the host {job.owner.host!r} runs a data step of migration "
        f"{entry.name}",
        code="migration-running",
        hint="wait for it; if it has ended, continue the migration with --take-over",
    )


def _changed_error(entry: CatalogMigration, hint: str) -> SchemaError:
    return SchemaError(
        f"migration {entry.name} was changed after it had been applied",
        code="migration-changed",
        hint=hint,
    )


def _state(entry: CatalogMigration, files: Mapping[str, MigrationFile]) -> MigrationState:
    file = files.get(entry.name)
    if file is None:
        return MigrationState.MISSING
    same = file.checksum == entry.checksum
    return MigrationState.APPLIED if same else MigrationState.CHANGED


def _require_unchanged(
    entry: CatalogMigration, files: Mapping[str, MigrationFile], last: str
) -> None:
    match _state(entry, files):
        case MigrationState.MISSING:
            raise SchemaError(
                f"migration {entry.name} was applied, but its file is missing",
                code="migration-missing",
                hint="restore the file, or undo the migration with downgrade, which does not need "
                "it",
            )
        case MigrationState.CHANGED:
            raise _changed_error(
                entry, f"restore the file, or accept it: schema-core migrate stamp {last}"
            )
        case _:
            pass


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


def _not_allowed_error(statement: Statement, hint: str) -> SchemaError:
    return SchemaError(
        "a migration cannot contain this statement",
        code="migration-statement-not-allowed",
        hint=hint,
        span=statement.span,
    )


def _visible(content: CatalogContent) -> CatalogContent:
    objects = {path: without_own_options(object_) for path, object_ in content.objects.items()}
    return replace(content, objects=objects)


def _recorded_database(catalog: Catalog, name: str) -> RecordedObject:
    if not catalog.database_exists(name):
        return RecordedObject(name, "", DATABASE, None)
    database = catalog.get_database(name)
    pairs = mask(database.get_properties()).items()
    properties = {f"properties.{key}": value for key, value in pairs}
    if database.comment is not None:
        properties["comment"] = database.comment
    return RecordedObject(name, "", DATABASE, properties)


def _content(objects: Sequence[RecordedObject]) -> CatalogContent:
    databases, tables = {}, dict[ObjectPath, CatalogBaseTable]()
    for object_ in objects:
        if object_.properties is None:
            continue
        if object_.kind == DATABASE:
            properties = {
                key.removeprefix("properties."): value
                for key, value in object_.properties.items()
                if key.startswith("properties.")
            }
            databases[object_.database] = CatalogDatabase(
                properties, object_.properties.get("comment")
            )
        else:
            path = ObjectPath(object_.database, object_.name)
            tables[path] = decode_object(TableKind(object_.kind), object_.properties)
    return CatalogContent(databases, tables)
