"""The transactions in which a migration is executed, and continued by another process.

A migration without data steps and its entry in the history are one transaction. A process that is
killed leaves it applied or not; of concurrent processes, one applies it. A migration with data
steps has a transaction before and after each of their jobs; the history has its progress, and the
table of a job the record that it was committed. So another process continues it with the step that
is missing. See ``docs/decisions/0040-data-steps-of-migrations.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import Final
from uuid import uuid4

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import quantity
from schema_core.catalog.api import Catalog, rolled_back
from schema_core.catalog.migration_history import (
    CatalogMigration,
    MigrationProgress,
    WrittenRows,
)
from schema_core.catalog.objects import CatalogTable
from schema_core.environment.jobs.pending import ISOLATED, Owner, PendingJob
from schema_core.environment.planner import CommitRecord
from schema_core.errors import ConflictError, SchemaCoreError, within
from schema_core.migration.files.applied_migrations import (
    DOWN,
    UP,
    changed_error,
    next_position,
    require_unchanged,
    unfinished_error,
)
from schema_core.migration.files.data_steps import change_definition, kind_of_step, run_data_step
from schema_core.migration.files.directory import MigrationDirectory, MigrationFile
from schema_core.migration.files.drift import record_object
from schema_core.migration.files.existing_rows import require_fitting_rows_of_steps
from schema_core.migration.files.script_execution import Script, ScriptExecutor, parse_script
from schema_core.migration.files.touched_objects import Touched

#: Seconds between two looks at a migration that another process runs.
PAUSE: Final = 0.1


@dataclass(frozen=True, slots=True)
class MigrationResult:
    """A migration that was applied or undone.

    Its statements are those of the file, with variables in place of values, and secrets masked.
    """

    name: str
    direction: str
    statements: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.direction} {self.name}: {quantity(len(self.statements), 'statement')}"


@dataclass(slots=True)
class MigrationRun:
    """A migration that is being applied or undone, and its entry, which `is_stored` or not.

    `done` is the number of executed steps, `is_committed` whether the data step after them is. This
    call executes the steps from `start` on, which have `touched` databases and tables.
    """

    entry: CatalogMigration
    direction: str
    script: Script
    start: int = 0
    done: int = 0
    sequence: str = field(default_factory=lambda: uuid4().hex)
    is_stored: bool = False
    is_committed: bool = False
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
        # called after `record_object`: the connectors have declared their secret keys
        name = "upgrade" if self.direction == UP else "downgrade"
        steps = self.script.steps[self.start : self.done]
        return MigrationResult(self.entry.name, name, tuple(map(self.script.show, steps)))


class MigrationRunner:
    """Runs migrations of a directory, once: see the module.

    Its claim is the mark of this process in the history, for the data step that it runs.
    """

    def __init__(
        self,
        executor: ScriptExecutor,
        directory: MigrationDirectory,
        variables: Mapping[str, str],
        *,
        applied_by: str,
        accept: tuple[str, ...] = (),
    ) -> None:
        self._executor = executor
        self._environment = executor.environment
        self._catalog = executor.catalog
        self._directory = directory
        self._variables = variables
        self._applied_by = applied_by
        self._accept = accept
        self._claim = PendingJob(ISOLATED, uuid4().hex, Owner.this())

    def run(
        self,
        begin: Callable[[Catalog], MigrationRun | None],
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
        self._claim.begin()
        try:
            while run := self._continue(direction, take_over) or self._begin(begin):
                if isinstance(run, MigrationRun):
                    self._finish(run)
                    results.append(run.result())
        except BaseException:
            self._release()
            raise
        finally:
            self._claim.end()
        return tuple(results)

    def _try(self, begin: Callable[[Catalog], MigrationRun | None]) -> tuple[MigrationResult, ...]:
        """Run migrations in one transaction that is rolled back, without the rows of data steps."""
        results: list[MigrationResult] = []
        with rolled_back(self._catalog) as catalog:
            if (unfinished := catalog.find_unfinished_migration()) is not None:
                raise unfinished_error(unfinished)
            results += self.try_each(catalog, begin)
        return tuple(results)

    def try_each(
        self,
        catalog: Catalog,
        begin: Callable[[Catalog], MigrationRun | None],
        *,
        checks_files: bool = True,
    ) -> list[MigrationResult]:
        results: list[MigrationResult] = []
        while (run := begin(catalog)) is not None:
            with self._executor.using(catalog), run.script.locating():
                run.touched |= self._executor.execute_checked(
                    catalog, run.script, checks_files=checks_files
                )
                run.done = len(run.script.steps)
                self._store(catalog, run)
            results.append(run.result())
        return results

    def _begin(self, begin: Callable[[Catalog], MigrationRun | None]) -> MigrationRun | bool | None:
        """Return a migration after its first transaction; None if there is none.

        Return True if another process has begun one, which is to be continued.
        """
        if (next_run := begin(self._catalog)) is not None and next_run.script.writes_rows:
            self._try_data_steps(next_run.script)
        with self._catalog.transaction() as catalog:
            if catalog.find_unfinished_migration() is not None:
                return True
            if (run := begin(catalog)) is None:
                return None
            with self._executor.using(catalog), run.script.locating():
                if run.script.writes_rows:
                    self._advance(catalog, run)
                else:
                    with self._executor.keeping_views(run.script, run.touched):
                        self._advance(catalog, run)
        return run

    def _try_data_steps(self, script: Script, done: int = 0) -> None:
        """Execute the steps after those that are `done` without rows, to find errors beforehand.

        The rows that exist already are validated, too.
        """
        with script.locating():
            self._environment.recorded_jobs.require_support()
            with rolled_back(self._catalog) as catalog, self._executor.using(catalog):
                self._executor.use_databases(script.steps[:done])
                self._executor.execute_checked(catalog, script, done)
            require_fitting_rows_of_steps(self._executor, script, done)

    def _finish(self, run: MigrationRun) -> None:
        """Run the next data step of a migration, then the statements after it, until the end."""
        while not run.is_finished:
            with run.script.locating():
                try:
                    self._run_job(run)
                except SchemaCoreError:  # another process may have changed the table meanwhile
                    self._require_claimed(self._catalog, run)
                    raise
                self._proceed(run)

    def _proceed(self, run: MigrationRun) -> None:
        """Execute the statements up to the next data step or the end, in one transaction."""
        with self._catalog.transaction() as catalog, self._executor.using(catalog):
            self._require_claimed(catalog, run)
            self._advance(catalog, run)

    def _advance(self, catalog: Catalog, run: MigrationRun) -> None:
        """Execute the steps up to the next data step or the end, and store the progress."""
        started, steps = monotonic(), run.script.steps
        self._executor.use_databases(steps[: run.done])
        while run.done < len(steps) and not steps[run.done].writes_rows:
            step = steps[run.done]
            with within(run.script.text):
                run.touched.update(self._executor.touched.find(catalog, step))
            self._executor.execute_statement(step, run.script.text)
            run.done += 1
        run.seconds += monotonic() - started
        self._store(catalog, run)

    def _run_job(self, run: MigrationRun) -> None:
        """Run the data step at which a migration is, unless it is committed."""
        started, step = monotonic(), run.script.steps[run.done]
        with self._executor.using(self._catalog):
            self._executor.use_databases(run.script.steps[: run.done])
            with within(run.script.text):
                (database, name), *_ = self._executor.touched.find(self._catalog, step)
            identifier = self._executor.identify(database, name)
            rows = None
            if not run.is_committed:
                new = None if step.rewrite is None else self._definition_after(identifier, run)
                rows = run_data_step(
                    self._environment, identifier, step, run.script.text, run.record, new
                )
            run.written.append(WrittenRows(database, name, kind_of_step(step), rows))
        run.is_committed = False
        run.touched[database, name] = step.span
        run.done += 1
        run.seconds += monotonic() - started

    def _definition_after(self, identifier: ObjectIdentifier, run: MigrationRun) -> CatalogTable:
        """Return the new definition of a table after the statements of a rewrite."""
        steps = run.script.steps
        with rolled_back(self._catalog) as catalog, self._executor.using(catalog):
            self._executor.use_databases(steps[: run.done])
            return change_definition(
                self._environment, identifier, steps[run.done], run.script.text
            )

    def _store(self, catalog: Catalog, run: MigrationRun) -> None:
        """Store the progress of a migration, or its end, in the transaction of its steps."""
        if run.is_stored:
            catalog.remove_migration(run.entry.name)
        progress = None
        if not run.is_finished:
            progress = MigrationProgress(run.direction, run.done, run.sequence, str(self._claim))
        objects = {(object_.database, object_.name): object_ for object_ in run.entry.objects}
        if run.direction == UP:
            objects |= {key: record_object(self._environment, catalog, *key) for key in run.touched}
        run.entry = replace(
            run.entry,
            objects=tuple(objects.values()),
            applied_at=datetime.now(UTC).isoformat(timespec="seconds"),
            milliseconds=round(run.seconds * 1000),
            applied_by=self._applied_by,
            written_rows=tuple(run.written),
            progress=progress,
        )
        if run.direction == DOWN and run.is_finished:
            run.entry = replace(
                run.entry,
                position=next_position(catalog),
                text="",
                objects=(),
                stamped=False,
                undone=True,
            )
        catalog.add_migration(run.entry)
        run.is_stored = True

    # --- unfinished migrations -----------------------------------------------------------------

    def _continue(self, direction: str, take_over: bool) -> MigrationRun | None:
        """Return the unfinished migration, claimed for this process, if there is one.

        It waits for a process of this host that runs the data step.
        """
        while True:
            with self._catalog.transaction() as catalog:
                entry = catalog.find_unfinished_migration()
                if entry is None or (progress := entry.progress) is None:
                    return None
                if progress.direction != direction:
                    raise unfinished_error(entry)
                owner = PendingJob.parse(progress.claim)
                may_run = owner is not None and not owner.is_abandoned()
                if take_over or not may_run:
                    self._replace_claim(catalog, entry, str(self._claim))
                    break
            if owner is not None and owner.owner.host != Owner.this().host:
                raise _running_error(entry, owner)
            sleep(PAUSE)
        return self._resume(entry, progress, may_run)

    def _resume(
        self, entry: CatalogMigration, progress: MigrationProgress, may_run: bool
    ) -> MigrationRun:
        """Return a claimed migration with the remaining steps of its file.

        `may_run` is whether its former process may still run the next step.
        """
        file = MigrationFile.parse(entry.name, entry.text)
        script = parse_script(
            self._directory, file, progress.direction, self._variables, self._accept
        )
        run = MigrationRun(
            entry,
            progress.direction,
            script,
            start=progress.steps,
            done=progress.steps,
            sequence=progress.sequence,
            is_stored=True,
            written=[*entry.written_rows],
            seconds=(entry.milliseconds or 0) / 1000,
        )
        with run.script.locating():
            self._environment.recorded_jobs.require_support()
            run.is_committed = self._was_committed(run)
        self._take_new_text(run, may_run)
        # a corrected file may continue with another statement; it is stored before the job
        if not run.is_committed:
            with run.script.locating():
                self._proceed(run)
        return run

    def _was_committed(self, run: MigrationRun) -> bool:
        """Return whether the data step of an ended process was committed, after its recovery."""
        with self._executor.using(self._catalog):
            self._executor.use_databases(run.script.steps[: run.done])
            with within(run.script.text):
                keys = self._executor.touched.find(self._catalog, run.script.steps[run.done])
                identifier = self._executor.identify(*next(iter(keys)))
            self._environment.recover(identifier.as_serializable_string())
            return self._environment.recorded_jobs.contains(identifier, run.record)

    def _take_new_text(self, run: MigrationRun, may_run: bool) -> None:
        """Let a migration continue with its file, whose executed steps must be the same.

        So must the next step if its former process may still run, and commit it by the old text.
        An undo continues without its file, too.
        """
        files = {migration.name: migration for migration in self._directory.migrations}
        file = files.get(run.entry.name)
        if run.direction == UP:
            self._directory.require_checksums()
            if file is None:
                require_unchanged(run.entry, files, run.entry.name)
        if file is None or file.checksum == run.entry.checksum:
            return
        self._directory.require_checksums()
        script = parse_script(self._directory, file, run.direction, self._variables, self._accept)
        executed = run.done + run.is_committed
        fixed = run.done + 1 if may_run else executed
        old, new = run.script.steps[:fixed], script.steps[:fixed]
        if [step.text for step in old] != [step.text for step in new]:
            raise changed_error(run.entry, f"restore the first {fixed} of its statements")
        self._try_data_steps(script, executed)
        run.script = script
        run.entry = replace(run.entry, text=file.text, checksum=file.checksum)

    def _require_claimed(self, catalog: Catalog, run: MigrationRun) -> None:
        """Require that no other process has taken a migration over."""
        if self._find_claimed(catalog) is None:
            raise ConflictError(
                f"migration {run.entry.name} was continued by another process",
                code="lock-not-available",
                hint="start again: it is applied once",
            )

    def _find_claimed(self, catalog: Catalog) -> CatalogMigration | None:
        """Return the unfinished migration if it has the claim of this process."""
        entry = catalog.find_unfinished_migration()
        progress = None if entry is None else entry.progress
        return entry if progress is not None and progress.claim == str(self._claim) else None

    def _replace_claim(self, catalog: Catalog, entry: CatalogMigration, claim: str) -> None:
        if entry.progress is not None:
            catalog.remove_migration(entry.name)
            catalog.add_migration(replace(entry, progress=replace(entry.progress, claim=claim)))

    def _release(self) -> None:
        """Let other processes continue a migration that has failed.

        The history decides whether it has the claim: the outcome of a commit may be unknown.
        """
        self._claim.end()
        with suppress(SchemaCoreError):
            if self._find_claimed(self._catalog) is not None:
                with self._catalog.transaction() as catalog:
                    if (entry := self._find_claimed(catalog)) is not None:
                        self._replace_claim(catalog, entry, "")


def _running_error(entry: CatalogMigration, job: PendingJob) -> ConflictError:
    return ConflictError(
        f"process {job.owner.pid} on the host {job.owner.host!r} runs a data step of migration "
        f"{entry.name}",
        code="lock-not-available",
        hint="wait for it; if it has ended, continue the migration with --take-over",
    )
