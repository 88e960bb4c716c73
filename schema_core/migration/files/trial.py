"""Trials of migrations on a copy of the catalog, whose tables read the real rows.

Nothing of the real catalog and its files is changed: jobs may write only below a scratch directory.
See ``docs/decisions/0041-trials-of-migrations.md``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.contained_paths import normalize_path
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath, parse_path
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.managers import CatalogManager, FoundTable
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable, TableKind
from schema_core.catalog.own_options import MANAGED, PENDING_JOB
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ConflictError, ExternalError, SchemaCoreError, SchemaError, at
from schema_core.migration.differences import RenameHints
from schema_core.migration.files.directory import MigrationDirectory
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.runs import MigrationResult
from schema_core.migration.rows.table_differences import TableDiff, table_diff

#: The suffix of the catalog with the definitions before the migrations.
BEFORE: Final = "before"


@dataclass(frozen=True, slots=True)
class Trial:
    """Migrations that were applied to a copy of a catalog.

    Within the context of `try_migrations`, statements of `environment` use the copy. The catalog
    `before` has the tables as they are without the migrations, but no views: their queries name
    the tables of the copy. `notes` are objects that could not be copied.
    """

    environment: TableEnvironment
    before: str
    results: tuple[MigrationResult, ...]
    notes: tuple[str, ...] = ()

    def diff(
        self,
        path: str,
        *,
        on: Iterable[str] | None = None,
        renames: RenameHints | None = None,
        samples: int = 3,
    ) -> TableDiff:
        """Compare the rows of a table without and with the migrations.

        Args:
            path: The path of a table that the migrations do not rename.
            on: As for `table_diff`, and the following arguments.
            renames: The columns that the migrations rename.
            samples: The most samples of each difference.

        Raises:
            SchemaError: with code `wrong-object-type` for a view or a materialized table.
            SchemaCoreError: as `table_diff`.
        """
        identifier = _identify(self.environment, path)
        entry = self.environment.catalog_manager.find_permanent(identifier)
        if entry is not None and entry.kind is not TableKind.TABLE:
            raise SchemaError(
                f"{identifier.as_summary_string()} is not a table",
                code="wrong-object-type",
                hint="compare the tables that its query reads",
            )
        before = replace(identifier, catalog_name=self.before)
        left, right = (table.as_serializable_string() for table in (before, identifier))
        return table_diff(self.environment, left, right, on=on, renames=renames, samples=samples)


@contextmanager
def try_migrations(
    environment: TableEnvironment,
    directory: MigrationDirectory | str | os.PathLike[str],
    *,
    target: str | None = None,
    variables: Mapping[str, str] | None = None,
    copy: Iterable[str] = (),
) -> Iterator[Trial]:
    """Apply the pending migrations to a copy of the current catalog, which exists in the context.

    Tables of the copy read the real rows. Data steps and other jobs may write tables that they
    create without a connector, and those of `copy`.

    Args:
        environment: The environment; other threads must not use it meanwhile.
        directory: The directory of the migrations, or its path.
        target: As for `Migrator.upgrade`.
        variables: As for `Migrator`.
        copy: The paths of tables of local files whose rows are copied to a scratch directory first.

    Raises:
        SchemaError: as `Migrator` and `Migrator.upgrade`; with code `invalid-argument` for a table
            whose files cannot be copied.
        ConflictError: for a table with the job of an ended process, or an unfinished migration.
        UnsupportedError: with code `not-allowed` for a job that writes other rows.
    """
    require_instance(environment, TableEnvironment, "environment")
    migrator = Migrator(environment, directory, variables=variables)
    manager, catalog = environment.catalog_manager, migrator.catalog
    name = environment.get_current_catalog() or ""
    paths = [_identify(environment, path) for path in require_names(copy, "copy")]
    _require_settled(catalog)
    with TemporaryDirectory(prefix="schema-core-trial-") as folder:
        scratch = Path(folder).resolve()
        notes: list[str] = []
        before = _copy_catalog(manager, catalog, name, [], has_views=False)
        trial = _copy_catalog(manager, catalog, name, notes)
        form = catalog.storage.form if catalog.storage is not None else "parquet"
        trial.storage = ManagedStorage(str(scratch / "managed"), form)
        for place, identifier in enumerate(paths):
            _copy_rows(manager, trial, identifier, scratch / f"copy-{place}")
        with _using(environment, name, catalog, trial, before, scratch) as before_name:
            results = Migrator(environment, migrator.directory, variables=variables).upgrade(target)
            yield Trial(environment, before_name, results, tuple(notes))


def _identify(environment: TableEnvironment, path: str) -> ObjectIdentifier:
    catalog, database = environment.get_current_catalog(), environment.get_current_database()
    return parse_path(path).qualify(catalog, database)


@contextmanager
def _using(
    environment: TableEnvironment,
    name: str,
    catalog: Catalog,
    trial: Catalog,
    before: Catalog,
    scratch: Path,
) -> Iterator[str]:
    """Let the environment use the copies, and let its jobs write only in the scratch directory."""
    manager = environment.catalog_manager
    registry = manager.registry
    path, may_write = registry.current_path, manager.may_write
    before_name = f"{name}__{BEFORE}"
    while before_name in registry.names():
        before_name += "_"
    try:
        registry.share(name, trial)
        registry.share(before_name, before)
        manager.may_write = lambda options: _is_below(scratch, options)
        yield before_name
    finally:
        manager.may_write = may_write
        registry.current_path = path
        registry.share(name, catalog)
        registry.unshare(before_name)


def _is_below(scratch: Path, options: Mapping[str, str]) -> bool:
    """Return whether a table's files are in the scratch directory, also after symbolic links."""
    path = _local_path(options)
    return path is not None and path.resolve().is_relative_to(scratch)


def _local_path(options: Mapping[str, str]) -> Path | None:
    """Return the path of a table of local files, or None."""
    if options.get("connector") != "filesystem" or not options.get("path"):
        return None
    path = normalize_path(options["path"])
    return None if "://" in path else Path(path)


# --- copies --------------------------------------------------------------------------------------


def _require_settled(catalog: Catalog) -> None:
    unfinished = catalog.find_unfinished_migration()
    if unfinished is not None:
        raise ConflictError(
            f"migration {unfinished.name} is unfinished",
            code="migration-unfinished",
            hint="continue it with schema-core migrate upgrade",
        )


def _copy_catalog(
    manager: CatalogManager,
    catalog: Catalog,
    name: str,
    notes: list[str],
    *,
    has_views: bool = True,
) -> InMemoryCatalog:
    """Return a copy of the definitions and the history of a catalog.

    Managed tables become tables at the paths of their files. What cannot be resolved, such as a
    view of a table that was dropped, is left out and noted. Without `has_views` the copy has
    neither views nor materialized tables.
    """
    copy = InMemoryCatalog(name, catalog.get_default_database() or "default")
    for database in catalog.list_databases():
        if not copy.database_exists(database):
            copy.create_database(database, catalog.get_database(database), False)
        _copy_others(catalog, copy, database)
        for table in _list_tables(catalog, database):
            path = ObjectPath(database, table)
            try:
                entry = manager.find_permanent(ObjectIdentifier.of(name, database, table))
            except SchemaCoreError as error:
                notes.append(f"{path} is not copied: {error.problem}")
                continue
            if entry is not None and (has_views or entry.kind is TableKind.TABLE):
                with at(str(path)):
                    copy.create_table(path, entry.table.copy(_options_of(entry)), False)
                    _copy_partitions(catalog, copy, path)
    for migration in catalog.list_migrations():
        copy.add_migration(migration)
    return copy


def _list_tables(catalog: Catalog, database: str) -> Iterable[str]:
    names = [*catalog.list_tables(database), *catalog.list_views(database)]
    if Capability.MATERIALIZED_TABLES in catalog.capabilities:
        names += catalog.list_materialized_tables(database)
    return dict.fromkeys(names)


def _copy_others(catalog: Catalog, copy: Catalog, database: str) -> None:
    """Copy the types, functions and models of a database."""
    if Capability.TYPES in catalog.capabilities:
        for name in catalog.list_types(database):
            path = ObjectPath(database, name)
            copy.create_type(path, catalog.get_type(path), False)
    if Capability.FUNCTIONS in catalog.capabilities:
        for name in catalog.list_functions(database):
            path = ObjectPath(database, name)
            copy.create_function(path, catalog.get_function(path), False)
    if Capability.MODELS in catalog.capabilities:
        for name in catalog.list_models(database):
            path = ObjectPath(database, name)
            copy.create_model(path, catalog.get_model(path), False)


def _copy_partitions(catalog: Catalog, copy: Catalog, path: ObjectPath) -> None:
    table = copy.get_table(path)
    is_partitioned = isinstance(table, CatalogTable) and table.is_partitioned()
    if Capability.PARTITIONS in catalog.capabilities and is_partitioned:
        for spec in catalog.list_partitions(path):
            copy.create_partition(path, spec, catalog.get_partition(path, spec), False)


def _options_of(entry: FoundTable) -> dict[str, str]:
    """Return the options of a copied table, with those that sessions do not show."""
    if PENDING_JOB in entry.own_options:
        raise ConflictError(
            f"{entry.identifier.as_summary_string()} has a job that has not ended",
            hint="wait for it, or run schema-core recover",
        )
    if entry.kind is not TableKind.TABLE:
        return dict(entry.table.get_options())
    own = {key: value for key, value in entry.own_options.items() if key != MANAGED}
    return {**(entry.derived or entry.table.get_options()), **own}


def _copy_rows(
    manager: CatalogManager, catalog: Catalog, identifier: ObjectIdentifier, folder: Path
) -> None:
    """Copy the files of a table of the copied catalog, which then reads the new files."""
    path, shown = identifier.to_object_path(), identifier.as_summary_string()
    table = catalog.get_resolved_table(path)
    if table is None:
        raise SchemaError(f"there is no table {shown!r} to copy", code="table-not-found")
    source = _local_path(manager.registry.resolve_options(table.get_options()))
    if not isinstance(table, ResolvedCatalogTable) or source is None:
        raise SchemaError(
            f"the rows of {shown!r} cannot be copied: it is not a table of local files",
            code="invalid-argument",
        )
    target = folder / (source.name or "rows")
    try:
        if source.is_dir():
            shutil.copytree(source, target)
        elif source.exists():
            folder.mkdir(parents=True)
            shutil.copy2(source, target)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or "a file cannot be copied"
        raise ExternalError(f"the files of {shown!r} cannot be copied: {reason}") from error
    catalog.alter_table(path, table.copy({**table.options, "path": str(target)}), False)
