"""Migrations of a catalog: applied, undone, recorded and compared with the catalog.

Each migration and its entry in the history are one transaction. A process that is killed leaves it
applied or not; of concurrent processes, one applies it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from time import monotonic
from typing import Final, NamedTuple, TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath, UnresolvedPath
from schema_core.base.secrets import mask, mask_query, mask_text
from schema_core.base.text import Span
from schema_core.catalog.api import Capability, Catalog, rolled_back
from schema_core.catalog.changes.catalog_changes import CatalogChange, apply_to_catalog
from schema_core.catalog.migration_history import (
    CatalogMigration,
    RecordedObject,
    WrittenRows,
    user_name,
)
from schema_core.catalog.objects import CatalogBaseTable, CatalogDatabase, TableKind
from schema_core.catalog.own_options import without_own_options
from schema_core.environment.connector import secret_keys
from schema_core.environment.table_environment import TableEnvironment
from schema_core.environment.view_states import ViewState
from schema_core.errors import (
    ConflictError,
    NotFoundError,
    SchemaError,
    UnsupportedError,
    at,
    similar,
    within,
)
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs, read_catalog
from schema_core.migration.file_guard import require_files_follow
from schema_core.migration.files import MigrationDirectory, MigrationFile, closure_of, is_target
from schema_core.migration.view_checks import (
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
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import ObjectKind, Statement
from schema_core.sql.syntax import Name

#: The target before the first migration.
BASE: Final = "base"
#: Properties with a query, in which hints may have secrets.
QUERIES: Final = frozenset({ORIGINAL, EXPANDED})
#: The kind of a database in the history.
DATABASE: Final = "DATABASE"
#: Statements after which a view may not work.
BREAKING: Final = (syntax.Alter, syntax.AlterFunction, syntax.Drop)

#: The database, and the name or '', of what a script creates, alters or drops -> the statement.
Touched: TypeAlias = dict[tuple[str, str], Span]


class MigrationState(Enum):
    """The state of a migration: `CHANGED` if the file is not the one that was applied."""

    APPLIED = "applied"
    PENDING = "pending"
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


class _RolledBack(Exception):  # noqa: N818 - it is not an error
    """Ends the transaction of a dry run."""


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
        """Return the applied migrations in that order, then the pending ones."""
        files = {migration.name: migration for migration in self.directory.migrations}
        applied = self.catalog.list_migrations()
        history = [
            MigrationStatus(
                record.name,
                _state(record, files),
                record.applied_at,
                record.stamped,
                record.applied_by,
                record.milliseconds,
                record.written_rows,
            )
            for record in applied
        ]
        done = {record.name for record in applied}
        history += [
            MigrationStatus(name, MigrationState.PENDING) for name in files if name not in done
        ]
        return tuple(history)

    @property
    def resolver(self) -> SchemaResolver:
        """The resolver of the environment."""
        return self.environment.schema_resolver

    def pending(self) -> tuple[str, ...]:
        """Return the names of the migrations that `upgrade` applies, in order.

        Raises:
            SchemaError: as `upgrade`.
        """
        return tuple(file.name for file in self._find_pending(self.catalog.list_migrations(), None))

    def content(self) -> CatalogContent:
        """Return the databases, tables and views of the catalog, as sessions see them."""
        return _visible(read_catalog(self.catalog))

    def try_scripts(self, scripts: Sequence[str]) -> list[ScriptOutcome]:
        """Execute scripts in one transaction that is rolled back; return what each leaves.

        Raises:
            SchemaCoreError: of a statement.
        """
        outcomes: list[ScriptOutcome] = []
        with suppress(_RolledBack), self.catalog.transaction() as catalog:
            for text in scripts:
                with self._within(catalog):
                    before = self.environment.read_view_states()
                    self._execute(catalog, text, checks_files=False)
                    broken = find_broken_views(before, self.environment.read_view_states())
                    outcomes.append(ScriptOutcome(_visible(read_catalog(catalog)), broken))
            raise _RolledBack
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
            for migration in self.catalog.list_migrations():
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
        self, target: str | None = None, *, dry_run: bool = False
    ) -> tuple[MigrationResult, ...]:
        """Apply the migrations up to a target, each in one transaction.

        Args:
            target: The name or number of the last migration to apply; by default all are applied.
            dry_run: Execute all of them in one transaction, and roll it back.

        Returns:
            What this call has applied; nothing if another process was faster.

        Raises:
            SchemaError: with code `migration-checksum-mismatch`; `migration-branches`;
                `migration-changed` or `migration-missing` if the files are not those that were
                applied; `migration-variable-missing`;
                `migration-statement-not-allowed` for a statement that a transaction cannot contain;
                `files-do-not-follow` for an ALTER TABLE that the files of the table do not follow.
            NotFoundError: with code `migration-not-found` for another target.
            SchemaCoreError: of a statement; its migration is rolled back, those before it are not.
        """

        def next_one(catalog: Catalog) -> MigrationResult | None:
            applied = catalog.list_migrations()
            pending = self._find_pending(applied, target)
            position = max((record.position for record in applied), default=0) + 1
            if not pending:
                return None
            file, started = pending[0], monotonic()
            statements, touched = self._execute_file(catalog, file, "up")
            objects = tuple(self._record_object(catalog, *key) for key in touched)
            milliseconds = round((monotonic() - started) * 1000)
            catalog.add_migration(self._entry(file, position, objects, milliseconds=milliseconds))
            # after `_record_object`: the connectors of the objects have declared their secret keys
            return MigrationResult(file.name, "upgrade", tuple(map(mask_text, statements)))

        return self._repeat(next_one, dry_run)

    def downgrade(self, target: str, *, dry_run: bool = False) -> tuple[MigrationResult, ...]:
        """Undo migrations in reverse order, each in one transaction.

        The statements are those of the file as it was applied, which the history has.

        Args:
            target: The last migration that stays, by name or number; ``base`` undoes all, ``-1``
            the
                last one.
            dry_run: Execute all of them in one transaction, and roll it back.

        Raises:
            SchemaError: with code `migration-irreversible`, before any is undone, and as `upgrade`.
            NotFoundError: with code `migration-not-found` for a target that was not applied.
            ConflictError: if another process applies a migration that follows one of them.
        """
        require_instance(target, str, "target")
        names = [entry.name for entry in self._find_undone(self.catalog.list_migrations(), target)]

        def next_one(catalog: Catalog) -> MigrationResult | None:
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
            statements, _ = self._execute_file(catalog, file, "down")
            catalog.remove_migration(entry.name)
            return MigrationResult(entry.name, "downgrade", tuple(map(mask_text, statements)))

        return self._repeat(next_one, dry_run)

    def stamp(self, target: str) -> tuple[str, ...]:
        """Record that the catalog is as a migration leaves it, without executing statements.

        The history then has this migration and those that it follows, with the checksums of their
        files. `drift` compares with the catalog as it is now.

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
            for entry in catalog.list_migrations():
                catalog.remove_migration(entry.name)
            for position, file in enumerate(files, 1):
                keys = self._iterate_keys(catalog) if file is files[-1] else ()
                objects = tuple(self._record_object(catalog, *key) for key in keys)
                catalog.add_migration(self._entry(file, position, objects, stamped=True))
        return tuple(file.name for file in files)

    # --- transactions --------------------------------------------------------------------------

    def _repeat(
        self, next_one: Callable[[Catalog], MigrationResult | None], dry_run: bool
    ) -> tuple[MigrationResult, ...]:
        """Run migrations until there is none, each in a transaction, in a dry run all in one."""
        results: list[MigrationResult] = []
        if dry_run:
            with suppress(_RolledBack), self.catalog.transaction() as catalog:
                result: MigrationResult | None
                while True:
                    with self._within(catalog):
                        result = next_one(catalog)
                    if result is None:
                        raise _RolledBack
                    results.append(result)
            return tuple(results)
        while True:
            with self.catalog.transaction() as catalog, self._within(catalog):
                result = next_one(catalog)
            if result is None:
                return tuple(results)
            results.append(result)

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
        milliseconds: int | None = None,
        written_rows: Sequence[WrittenRows] = (),
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
            milliseconds,
            tuple(written_rows),
        )

    def _execute_file(
        self, catalog: Catalog, file: MigrationFile, section: str
    ) -> tuple[tuple[str, ...], Touched]:
        """Execute a section of a migration, unless it breaks views (`migration-breaks-view`)."""
        path = self.directory.path / f"{file.name}.sql"
        own = self.directory.get(file.name)
        name = str(path) if own is not None and own.text == file.text else None
        with at(f"migration {file.name}, {section}"):
            with within(file.script(section), name):
                script = file.fill_script(section, self.variables)
            with script.locating(name):
                return self._execute_checked(catalog, script.text)

    def _execute_checked(self, catalog: Catalog, text: str) -> tuple[tuple[str, ...], Touched]:
        with within(text):
            statements = parse_statements(text)
            if not any(isinstance(statement, BREAKING) for statement in statements):
                return self._execute(catalog, text)
            names = find_names(statements)
            before = self.environment.read_view_states(names)
            texts, touched = self._execute(catalog, text)
            spans = {
                ObjectIdentifier.of(self._registry.current_catalog or "", *key): span
                for key, span in touched.items()
                if all(key)
            }
            require_working_views(before, self.environment.read_view_states(names), spans)
        return texts, touched

    def _execute(
        self, catalog: Catalog, text: str, *, checks_files: bool = True
    ) -> tuple[tuple[str, ...], Touched]:
        """Execute a script; return its statements, and what they name, with the last of them."""
        touched: Touched = {}
        texts = []
        for statement in parse_statements(text):
            span: Span = statement.span
            with within(text):
                touched |= dict.fromkeys(self._find_touched(catalog, statement), span)
            check: AbstractContextManager[None] = nullcontext()
            if checks_files:
                check = require_files_follow(self.environment, statement, text)
            with within(text), check:
                self.environment.execute_statement(statement, text)
            texts.append(text[span.start : span.stop])
        return tuple(texts), touched

    def find_touched(self, statement: Statement) -> tuple[tuple[str, str], ...]:
        """Return the databases, with '', and the objects that a statement creates, alters or drops.

        Raises:
            SchemaError: with code `migration-statement-not-allowed`.
        """
        return tuple(self._find_touched(self.catalog, statement))

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
                    "models; put SET and CREATE CATALOG into setup.sql, and move rows with a job",
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
            raise SchemaError(
                f"migration {entry.name} was changed after it had been applied",
                code="migration-changed",
                hint=f"restore the file, or accept it: schema-core migrate stamp {last}",
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
