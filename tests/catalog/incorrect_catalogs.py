"""Catalogs with one error each, all of which the contract must detect."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Self

from schema_core.base.paths import ObjectPath
from schema_core.catalog.migration_history import CatalogMigration
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogPartitionSpec,
    TableKind,
)
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalog.stores.object_store import ObjectKey, StoredKind
from schema_core.catalog.stores.optimistic_locking import require_expected
from schema_core.errors import ConflictError, NotFoundError, SchemaError
from schema_core.testing.catalog_cases import with_derived_schema
from tests.catalog.toy_catalog import ToyCatalog


class IgnoresCase(ToyCatalog):
    def table_exists(self, table_path: ObjectPath) -> bool:
        return str(table_path).lower() in {str(path).lower() for path in self.tables}


class ForgetsComments(ToyCatalog):
    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        super().create_database(name, replace(database, comment=None), ignore_if_exists)


class ForgetsOptions(ToyCatalog):
    def alter_table(self, *args: Any, **more: Any) -> None:
        path, table, ignore = args
        super().alter_table(path, table.copy({}), ignore, **more)


class GivesResolved(ToyCatalog):
    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        super().get_table(table_path)
        return self.tables[table_path]


class TakesUnresolved(ToyCatalog):
    def create_table(self, *args: Any) -> None:
        path, table, ignore = args
        super().create_table(path, with_derived_schema(table), ignore)


class OverwritesTables(ToyCatalog):
    def create_table(self, *args: Any) -> None:
        if args[2]:
            self.tables.pop(args[0], None)
        super().create_table(*args)


class DropsFullDatabases(ToyCatalog):
    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        super().drop_database(name, ignore_if_not_exists, True)


class LeavesTablesBehind(ToyCatalog):
    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        kept = self.tables
        super().drop_database(name, ignore_if_not_exists, cascade)
        self.tables = kept


class RenamesOverOthers(ToyCatalog):
    def rename_table(self, table_path: ObjectPath, *more: Any) -> None:
        if table_path in self.tables:
            self.tables.pop(ObjectPath(table_path.database_name, more[0]), None)
        super().rename_table(table_path, *more)


class ListsNoViewsAmongTables(ToyCatalog):
    def list_tables(self, database_name: str) -> list[str]:
        names = super().list_tables(database_name)
        paths = [ObjectPath(database_name, name) for name in names]
        return [p.object_name for p in paths if self._kind(p) is TableKind.TABLE]

    def list_views(self, database_name: str) -> list[str]:
        names = super().list_tables(database_name)
        paths = [ObjectPath(database_name, name) for name in names]
        return [p.object_name for p in paths if self._kind(p) is TableKind.VIEW]


class AltersKinds(ToyCatalog):
    def _kind(self, path: ObjectPath) -> TableKind:
        return TableKind.TABLE


class RefusesWithoutCode(ToyCatalog):
    def get_database(self, database_name: str) -> CatalogDatabase:
        if database_name not in self.databases:
            raise NotFoundError(f"no database {database_name}")
        return super().get_database(database_name)


class IgnoresExpectations(ToyCatalog):
    def alter_table(self, *args: Any, **more: Any) -> None:
        super().alter_table(*args)


class TrimsNames(ToyCatalog):
    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        super().create_database(name.strip(), database, ignore_if_exists)


class HandsOutWhatItKeeps(ToyCatalog):
    def list_databases(self) -> Any:
        return self.databases


class AltersWhatIsNotThere(ToyCatalog):
    def alter_database(self, *args: Any, **more: Any) -> None:
        self.databases.setdefault(args[0], args[1])
        super().alter_database(*args, **more)


class ComparesTooLate(InMemoryCatalog):
    """Two threads that read the same version both succeed."""

    def alter_table(self, *args: Any, expected: Any = None, changes: Any = None) -> None:
        if expected is not None:
            require_expected(args[0], expected, self.get_table(args[0]))
        time.sleep(0.002)
        super().alter_table(*args)


class ShowsOnlyOne(InMemoryCatalog):
    def alter_table(self, *args: Any, **more: Any) -> None:
        try:
            super().alter_table(*args, **more)
        except ConflictError as error:
            error.found = None
            raise


class TellsSecrets(InMemoryCatalog):
    def alter_table(self, *args: Any, **more: Any) -> None:
        try:
            super().alter_table(*args, **more)
        except ConflictError as error:
            error.hint = str(more["expected"].get_options().get("password"))
            raise


class ForgetsConflictsOfDropped(InMemoryCatalog):
    def alter_table(self, *args: Any, **more: Any) -> None:
        if self.table_exists(args[0]):
            super().alter_table(*args, **more)


class ForgetsDescriptions(InMemoryCatalog):
    def create_type(self, *args: Any) -> None:
        path, type_, ignore = args
        super().create_type(path, replace(type_, description=None), ignore)


class KeepsTypesOfDropped(InMemoryCatalog):
    def drop_database(self, name: str, *more: Any) -> None:
        paths = (
            [ObjectPath(name, data_type) for data_type in self.list_types(name)]
            if name == "db"
            else []
        )
        kept = {path: self.get_type(path) for path in paths}
        super().drop_database(name, *more)
        for path, type_ in kept.items():
            with self.store.transaction(writing=True) as transaction:
                transaction.create(ObjectKey.of(StoredKind.TYPE, path), type_, None)


class LosesPartitions(InMemoryCatalog):
    def rename_table(self, table_path: ObjectPath, *more: Any) -> None:
        super().rename_table(table_path, *more)
        renamed = ObjectPath(table_path.database_name, more[0])
        with suppress(SchemaError):  # it has no partition keys
            for spec in self.list_partitions(renamed):
                self.drop_partition(renamed, spec, False)


class KeepsConnectionsOfDropped(InMemoryCatalog):
    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        connections = self.connections.items()
        super().drop_database(name, ignore_if_not_exists, cascade)
        self.connections.restore(connections)


class SplitsPartitions(InMemoryCatalog):
    """Partitions are identified by an ambiguous string."""

    def create_partition(self, path: ObjectPath, spec: CatalogPartitionSpec, *more: Any) -> None:
        super().create_partition(path, _split(spec), *more)


def _split(spec: CatalogPartitionSpec) -> CatalogPartitionSpec:
    pairs = spec.get_partition_spec().items()
    return CatalogPartitionSpec({key: value.split("/")[0] for key, value in pairs})


class ChangesAtOnce(InMemoryCatalog):
    @contextmanager
    def transaction(self) -> Iterator[Self]:
        yield self


class ForgetsWhoMigrated(InMemoryCatalog):
    def list_migrations(self) -> list[CatalogMigration]:
        return [replace(migration, parents=()) for migration in super().list_migrations()]


#: Catalogs with one error each.
WRONG = (
    IgnoresCase, ForgetsComments, ForgetsOptions, GivesResolved, TakesUnresolved, OverwritesTables,
    DropsFullDatabases, LeavesTablesBehind, RenamesOverOthers, ListsNoViewsAmongTables, AltersKinds,
    RefusesWithoutCode, IgnoresExpectations, TrimsNames, HandsOutWhatItKeeps, AltersWhatIsNotThere,
    ComparesTooLate, ShowsOnlyOne, TellsSecrets, ForgetsConflictsOfDropped, ForgetsDescriptions,
    KeepsTypesOfDropped, LosesPartitions, KeepsConnectionsOfDropped, SplitsPartitions,
    ChangesAtOnce, ForgetsWhoMigrated,
)  # fmt: skip
