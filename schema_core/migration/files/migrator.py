"""Migrations of a catalog: applied, undone, recorded and compared with the catalog."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.lazy import NamedTuple
from schema_core.catalog.api import Capability, Catalog, rolled_back
from schema_core.catalog.changes.catalog_changes import CatalogChange
from schema_core.catalog.migration_history import (
    CatalogMigration,
    RecordedObject,
    user_name,
)
from schema_core.catalog.own_options import without_own_options
from schema_core.environment.table_environment import TableEnvironment
from schema_core.environment.view_states import ViewState
from schema_core.errors import (
    ConflictError,
    UnsupportedError,
)
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs, read_catalog
from schema_core.migration.files.applied_migrations import (
    BASE,
    DOWN,
    UP,
    MigrationState,
    MigrationStatus,
    find_pending,
    find_undone,
    next_position,
    state_of,
    status_of,
    unfinished_error,
)
from schema_core.migration.files.directory import (
    MigrationDirectory,
    MigrationFile,
)
from schema_core.migration.files.drift import (
    compare_with_history,
    find_views_broken_outside,
    iterate_keys,
    record_object,
)
from schema_core.migration.files.runs import MigrationResult, MigrationRun, MigrationRunner
from schema_core.migration.files.script_execution import ScriptExecutor, parse_script
from schema_core.migration.files.script_steps import ScriptStep, parse_steps
from schema_core.migration.files.touched_objects import Touched
from schema_core.migration.gates.view_checks import (
    find_broken_views,
)
from schema_core.migration.rows.validation import accepted_kinds
from schema_core.schema.resolve import SchemaResolver


class ScriptOutcome(NamedTuple):
    """The content of the catalog after a script, and the views that the script breaks."""

    content: CatalogContent
    broken: tuple[ViewState, ...]


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
        SchemaError: with code `current-database-not-set`; as `MigrationDirectory.read`.
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
        self._executor = ScriptExecutor(environment)
        self.catalog: Catalog = self._executor.catalog
        if Capability.MIGRATIONS not in self.catalog.capabilities:
            raise UnsupportedError(
                f"{type(self.catalog).__name__} does not support migrations",
                code="unsupported-capability",
                hint="keep the tables in a catalog of type 'sql'",
            )

    # --- what there is -------------------------------------------------------------------------

    def history(self) -> tuple[MigrationStatus, ...]:
        """Return what was applied and undone in that order, what is unfinished and pending.

        A migration that was undone has an entry for each time; the entry of its application is
        removed then.
        """
        files = {migration.name: migration for migration in self.directory.migrations}
        applied = self.catalog.list_migrations()
        entries = sorted(
            (*applied, *self.catalog.list_undone_migrations()), key=lambda entry: entry.position
        )
        history = [status_of(entry, state_of(entry, files)) for entry in entries]
        if (unfinished := self.catalog.find_unfinished_migration()) is not None:
            applied.append(unfinished)
            history.append(status_of(unfinished, MigrationState.UNFINISHED))
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
        return self._executor.start

    def pending(self, target: str | None = None) -> tuple[str, ...]:
        """Return the names of the migrations that `upgrade` applies, in order.

        Raises:
            SchemaError: as `upgrade`.
        """
        applied = self.catalog.list_migrations()
        return tuple(file.name for file in find_pending(self.directory, applied, target))

    def find_undone(self, target: str) -> tuple[MigrationFile, ...]:
        """Return the migrations that `downgrade` undoes, in order, with the text of the history.

        Raises:
            SchemaError: with code `migration-unfinished`; as `downgrade`.
            NotFoundError: as `downgrade`.
        """
        if (unfinished := self.catalog.find_unfinished_migration()) is not None:
            raise unfinished_error(unfinished)
        return self._find_undone(target)

    def _find_undone(self, target: str) -> tuple[MigrationFile, ...]:
        undone = find_undone(
            self.catalog.list_migrations(), require_instance(target, str, "target")
        )
        return tuple(MigrationFile.parse(entry.name, entry.text) for entry in undone)

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
                with self._executor.using(catalog):
                    before = self.environment.read_view_states()
                    self._executor.execute(catalog, parse_steps(text), text, checks_files=False)
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
        return diff_catalogs(*compare_with_history(self._executor))

    def find_broken_views(self) -> tuple[ViewState, ...]:
        """Return the views that changes outside of migrations have broken.

        These are views that do not work now, and that worked when a migration created or altered
        them, or as long as the catalog was as the migrations have left it.

        Raises:
            SchemaCoreError: as `drift`.
        """
        return find_views_broken_outside(self._executor)

    def script(self, target: str | None = None, *, down: bool = False) -> str:
        """Return the statements of `upgrade` or `downgrade` as one script.

        Variables are not replaced: their values may be secret.

        Raises:
            SchemaCoreError: as `upgrade` or `downgrade`.
        """
        section = DOWN if down else UP
        if down:
            files: Sequence[MigrationFile] = self._find_undone(target or "")
        else:
            files = find_pending(self.directory, self.catalog.list_migrations(), target)
        texts = [(file.name, file.script(section).strip()) for file in files]
        return "\n".join(f"-- {name}\n{text}\n;\n" for name, text in texts)

    def find_touched(self, step: ScriptStep) -> Touched:
        """Return the databases, with '', and the objects that a step changes, with a statement.

        Raises:
            SchemaError: with code `invalid-migration-file`.
        """
        return self._executor.touched.find(self.catalog, step)

    def try_step(self, step: ScriptStep, text: str) -> None:
        """Execute a step of a script in the catalog, without the rows of a data step.

        The files of tables are not looked at.

        Raises:
            SchemaCoreError: of the statement.
        """
        self._executor.try_step(step, self.find_touched(step), text, checks_files=False)

    # --- application ---------------------------------------------------------------------------

    def upgrade(
        self,
        target: str | None = None,
        *,
        dry_run: bool = False,
        take_over: bool = False,
        accept: Iterable[str] = (),
    ) -> tuple[MigrationResult, ...]:
        """Apply the migrations up to a target, each in one transaction or, with data steps, more.

        An unfinished migration is continued with its first step that was not executed. Its file may
        be changed after the steps that were.

        Args:
            target: The name or number of the last migration to apply; by default all are applied.
            dry_run: Execute all of them in one transaction, without data steps, and roll it back.
            take_over: Continue a migration of a process on another host, which must have ended, or
                of one that may still run: each step is applied once nevertheless, by the text
                that the history has, and the other process fails with `lock-not-available`.
            accept: Kinds of problems that all rewrites accept, beside those of their lines ``--
                accept:``, as for `rewrite_table`.

        Returns:
            What this call has applied; nothing if another process was faster.

        Raises:
            SchemaError: with code `migration-checksum-mismatch`; `migration-branches`;
                `migration-changed` or `migration-missing` if the files are not those that were
                applied; `variable-not-found`; `migration-unfinished` if another migration
                must be finished or undone first; `invalid-migration-file` for a statement
                that a migration cannot contain; `rows-do-not-fit` for an ALTER TABLE that the
                files of the table do not follow, or rows that a rewrite does not accept, before the
                migration is begun if they exist then.
            ConflictError: with code `lock-not-available` if a process on another host applies one,
                or has taken it over.
            NotFoundError: with code `migration-not-found` for another target.
            SchemaCoreError: of a statement; its transaction is rolled back, those before it are
                not.
        """
        if not dry_run and (entry := self.catalog.find_unfinished_migration()) is not None:
            self._require_wanted(entry, target)
        kinds = accepted_kinds(accept)
        begin = partial(self._find_next, target, kinds)
        return self._runner(kinds).run(begin, UP, dry_run=dry_run, take_over=take_over)

    def upgrade_definitions(self) -> None:
        """Apply all migrations in one transaction, without the rows of data steps.

        This is for scratch catalogs: the files of tables are not looked at.

        Raises:
            SchemaCoreError: as `upgrade`.
        """
        with self.catalog.transaction() as catalog:
            begin = partial(self._find_next, None, ())
            self._runner().try_each(catalog, begin, checks_files=False)

    def _runner(self, accept: tuple[str, ...] = ()) -> MigrationRunner:
        return MigrationRunner(
            self._executor,
            self.directory,
            self.variables,
            applied_by=self._applied_by,
            accept=accept,
        )

    def _find_next(
        self, target: str | None, accept: tuple[str, ...], catalog: Catalog
    ) -> MigrationRun | None:
        """Return the next migration up to a target that is not applied, not yet begun."""
        applied = catalog.list_migrations()
        pending = find_pending(self.directory, applied, target)
        if not pending:
            return None
        entry = self._entry(pending[0], next_position(catalog), ())
        script = parse_script(self.directory, pending[0], UP, self.variables, accept)
        return MigrationRun(entry, UP, script)

    def _require_wanted(self, entry: CatalogMigration, target: str | None) -> None:
        """Require that an unfinished migration is one of those up to a target."""
        if target is not None and entry.name not in self.directory.closure(
            self.directory.find(target).name
        ):
            raise unfinished_error(entry)

    def downgrade(
        self,
        target: str,
        *,
        dry_run: bool = False,
        take_over: bool = False,
        accept: Iterable[str] = (),
    ) -> tuple[MigrationResult, ...]:
        """Undo migrations in reverse order, each in one transaction or, with data steps, more.

        The statements are those of the file as it was applied, which the history has.

        Args:
            target: The last migration that stays, by name or number; ``base`` undoes all, ``-1``
                the last one.
            dry_run: As for `upgrade`.
            take_over: As for `upgrade`.
            accept: As for `upgrade`.

        Raises:
            SchemaError: with code `migration-irreversible`, before any is undone, and as `upgrade`.
            NotFoundError: with code `migration-not-found` for a target that was not applied.
            ConflictError: if another process applies a migration that follows one of them.
        """
        require_instance(target, str, "target")
        unfinished = self.catalog.find_unfinished_migration()
        names = [] if unfinished is None else [unfinished.name]
        if unfinished is None or target != "-1":
            undone = find_undone(self.catalog.list_migrations(), target)
            names += [entry.name for entry in undone]
        return self.undo(names, dry_run=dry_run, take_over=take_over, accept=accept)

    def undo(
        self,
        names: Sequence[str],
        *,
        dry_run: bool = False,
        take_over: bool = False,
        accept: Iterable[str] = (),
    ) -> tuple[MigrationResult, ...]:
        """Undo applied migrations in the given order, as `downgrade` does.

        Args:
            names: Their names; those that follow one of them come before it.
            dry_run: As for `upgrade`.
            take_over: As for `upgrade`.
            accept: As for `upgrade`.

        Raises:
            SchemaError: as `downgrade`.
            ConflictError: as `downgrade`.
        """
        require_names(names, "names")
        kinds = accepted_kinds(accept)

        def begin(catalog: Catalog) -> MigrationRun | None:
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
            return MigrationRun(
                entry,
                DOWN,
                parse_script(self.directory, file, DOWN, self.variables, kinds),
                is_stored=True,
            )

        return self._runner(kinds).run(begin, DOWN, dry_run=dry_run, take_over=take_over)

    def stamp(self, target: str) -> tuple[str, ...]:
        """Record that the catalog is as a migration leaves it, without executing statements.

        The history then has this migration and those that it follows, with the checksums of their
        files, no unfinished one, and still what was undone. `drift` compares with the catalog as it
        is now.

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
        with self.catalog.transaction() as catalog, self._executor.using(catalog):
            first, unfinished = next_position(catalog), catalog.find_unfinished_migration()
            for entry in (*catalog.list_migrations(), *filter(None, [unfinished])):
                catalog.remove_migration(entry.name)
            for position, file in enumerate(files, first):
                keys = iterate_keys(catalog) if file is files[-1] else ()
                objects = tuple(record_object(self.environment, catalog, *key) for key in keys)
                catalog.add_migration(self._entry(file, position, objects, stamped=True))
        return tuple(file.name for file in files)

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


def _visible(content: CatalogContent) -> CatalogContent:
    objects = {path: without_own_options(object_) for path, object_ in content.objects.items()}
    return replace(content, objects=objects)
