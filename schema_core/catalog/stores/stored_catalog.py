"""`StoredCatalog`: the methods of `Catalog` over an `ObjectStore`.

Errors, the ``ignore_if_...`` flags and compare-and-set for ALTER are implemented here for the
catalogs in memory, in SQL databases and in Hive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.base.paths import ObjectPath
from schema_core.catalog import objects
from schema_core.catalog.api import Capability, Catalog, require_catalog_names
from schema_core.catalog.managed import DeferredStorage
from schema_core.catalog.migration_history import CatalogMigration
from schema_core.catalog.resolve import resolve_model, resolve_object
from schema_core.catalog.statistics import Change, StoredStatistics
from schema_core.catalog.stores.object_store import (
    ObjectKey,
    ObjectStore,
    ObjectTransaction,
    OpenTransaction,
    StoredKind,
    StoredObject,
    exists,
    missing,
    not_empty,
)
from schema_core.catalog.stores.optimistic_locking import require_expected
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import (
    ConflictError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    raise_all,
)

if TYPE_CHECKING:
    from schema_core.catalog.changes.table_changes import TableChange
from schema_core.schema.resolve import SchemaResolver

#: Hints of several errors.
TRY_LATER = "try again later"

S = TypeVar("S", bound=StoredObject)

#: Maximum attempts under concurrent modification.
MAX_ATTEMPTS = 20

#: Kinds of objects that only some catalogs store.
CAPABILITIES: dict[StoredKind, Capability] = {
    StoredKind.PARTITION: Capability.PARTITIONS,
    StoredKind.FUNCTION:  Capability.FUNCTIONS,
    StoredKind.MODEL:     Capability.MODELS,
    StoredKind.TYPE:      Capability.TYPES,
    StoredKind.STATISTICS: Capability.STATISTICS,
    StoredKind.MIGRATION: Capability.MIGRATIONS,
}  # fmt: skip


#: The entry that a transaction with migrations locks, so that they run one after the other.
HISTORY = ObjectKey(StoredKind.MIGRATION, "")


def database_key(name: str) -> ObjectKey:
    """Return the key of a database."""
    return ObjectKey(StoredKind.DATABASE, name)


def table_key(path: ObjectPath) -> ObjectKey:
    """Return the key of a table, view or materialized table."""
    return ObjectKey.of(StoredKind.TABLE, path)


def partition_key(path: ObjectPath, spec: objects.CatalogPartitionSpec) -> ObjectKey:
    """Return the key of a partition."""
    return ObjectKey(StoredKind.PARTITION, path.database_name, path.object_name, spec)


def statistics_key(path: ObjectPath, spec: objects.CatalogPartitionSpec | None) -> ObjectKey:
    """Return the key of the statistics of a table or partition."""
    return ObjectKey(StoredKind.STATISTICS, path.database_name, path.object_name, spec)


class StoredCatalog(Catalog, Generic[S]):
    """A catalog over an object store; subclasses declare their `capabilities`.

    Unresolved objects are resolved by the resolver of the first environment that uses the catalog,
    else by one with only the built-in functions.

    Attributes:
        creates_default: Whether `open` creates the default database, unless it exists.
    """

    creates_default: bool = False

    def __init__(self, name: str, store: ObjectStore[S], default_database: str) -> None:
        require_catalog_names(name, default_database)
        self.name = name
        self.store = store
        self._default = default_database
        self._resolver: SchemaResolver | None = None

    def use_resolver(self, resolver: SchemaResolver) -> None:
        if self._resolver is None:
            self._resolver = resolver

    @property
    def resolver(self) -> SchemaResolver:
        """The resolver of unresolved objects."""
        return self._resolver or SchemaResolver()

    def open(self) -> None:
        self.store.open()
        if self.creates_default and not self.database_exists(self._default):
            self.create_database(self._default, objects.CatalogDatabase(), ignore_if_exists=True)

    def close(self) -> None:
        self.store.close()

    # --- by key --------------------------------------------------------------------------------

    def _supports(self, kind: StoredKind) -> bool:
        return kind not in CAPABILITIES or CAPABILITIES[kind] in self.capabilities

    def _require_support(self, kind: StoredKind) -> None:
        if not self._supports(kind):
            self._refuse(CAPABILITIES[kind])

    def _names(self, kind: StoredKind, database_name: str) -> list[str]:
        if not self._supports(kind):
            return []
        with self.store.transaction() as transaction:
            database = self._require(transaction, database_key(database_name))
            return [*transaction.names(kind, database)]

    def _table_names(self, database_name: str, table_kind: objects.TableKind) -> list[str]:
        with self.store.transaction() as transaction:
            database = self._require(transaction, database_key(database_name))
            return [*transaction.table_names(database, table_kind)]

    def _exists(self, key: ObjectKey) -> bool:
        if not self._supports(key.kind):
            return False
        with self.store.transaction() as transaction:
            return transaction.exists(key)

    def _find(self, key: ObjectKey) -> S | None:
        with self.store.transaction() as transaction:
            return transaction.get(key)

    def _get(self, key: ObjectKey) -> S:
        self._require_support(key.kind)
        with self.store.transaction() as transaction:
            return self._require(transaction, key)

    def _require(
        self,
        transaction: ObjectTransaction[S],
        key: ObjectKey,
        parent: S | None = None,
        *,
        lock: bool = False,
    ) -> S:
        if (found := transaction.get(key, parent, lock=lock)) is not None:
            return found
        raise _not_found(transaction, key)

    def _create(self, key: ObjectKey, value: object, ignore_if_exists: bool) -> None:
        self._require_support(key.kind)
        with self.store.transaction(writing=True) as transaction:
            parent = None
            if key.parent is not None:
                parent = self._require(transaction, key.parent, lock=True)
            self.store.check_name(key.kind, key.own_name)
            self._insert(transaction, key, value, parent, ignore_if_exists)

    def _insert(
        self,
        transaction: ObjectTransaction[S],
        key: ObjectKey,
        value: object,
        parent: S | None,
        ignore_if_exists: bool,
    ) -> None:
        if not transaction.exists(key, parent) and transaction.create(key, value, parent):
            return
        if key.parent is not None and not transaction.exists(key.parent):
            raise missing(key.parent.kind.value, key.parent)  # dropped by another writer since
        if not ignore_if_exists:
            raise exists(key.kind.value, key)

    def _alter(
        self,
        key: ObjectKey,
        value: object,
        ignore_if_not_exists: bool,
        expected: object,
        changes: Sequence[TableChange] | None = None,
    ) -> None:
        self._require_support(key.kind)
        if expected is not None and key.kind not in self.store.compared:
            raise UnsupportedError(
                f"{type(self).__name__} cannot compare a {key.kind.value} when it alters it",
                code="unsupported-capability",
                hint="omit `expected`",
            )

        def replace(transaction: ObjectTransaction[S], found: S) -> bool:
            if isinstance(value, objects.CatalogBaseTable):
                _require_same_kind(found, value.get_table_kind())
            _require_expected(found, expected)
            return self._replace(transaction, found, value, changes)

        self._update(key, replace, ignore_if_not_exists, expected)

    def _replace(
        self,
        transaction: ObjectTransaction[S],
        stored: S,
        value: object,
        changes: Sequence[TableChange] | None,
    ) -> bool:
        """Store another definition; `changes`, if known, lead to that of a table."""
        return transaction.replace(stored, value)

    def _rename(self, key: ObjectKey, new_name: str, ignore_if_not_exists: bool) -> None:
        self._require_support(key.kind)
        new_key = key.renamed(new_name)
        self.store.check_name(key.kind, new_name)

        def rename(transaction: ObjectTransaction[S], found: S) -> bool:
            if transaction.exists(new_key):
                raise exists(key.kind.value, new_key)
            return transaction.rename(found, new_name)

        self._update(key, rename, ignore_if_not_exists)

    def _update(
        self,
        key: ObjectKey,
        change: Callable[[ObjectTransaction[S], S], bool],
        ignore_if_not_exists: bool,
        expected: object = None,
    ) -> None:
        """Change an object; retry if another writer was faster, then raise a `ConflictError`."""
        for _ in range(MAX_ATTEMPTS):
            with self.store.transaction(writing=True) as transaction:
                table = self._table_of(transaction, key, lock=True)
                found = transaction.get(key, table, lock=True)
                if found is None:
                    return _ignore_missing(transaction, key, ignore_if_not_exists, expected)
                if change(transaction, found):
                    return None
        raise ConflictError(f"concurrent modification of {key}; retries exhausted", hint=TRY_LATER)

    def _drop(self, key: ObjectKey, ignore_if_not_exists: bool) -> None:
        self._require_support(key.kind)
        with self.store.transaction(writing=True) as transaction:
            table = self._table_of(transaction, key, lock=True)
            if not transaction.delete(key, table):
                _ignore_missing(transaction, key, ignore_if_not_exists)

    # --- databases -----------------------------------------------------------------------------

    def get_default_database(self) -> str:
        return self._default

    def list_databases(self) -> list[str]:
        with self.store.transaction() as transaction:
            return [*transaction.names(StoredKind.DATABASE, None)]

    def get_database(self, database_name: str) -> objects.CatalogDatabase:
        database: objects.CatalogDatabase = self._get(database_key(database_name)).value
        return database

    def database_exists(self, database_name: str) -> bool:
        return self._exists(database_key(database_name))

    def create_database(
        self, name: str, database: objects.CatalogDatabase, ignore_if_exists: bool
    ) -> None:
        self._create(database_key(name), database, ignore_if_exists)

    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        key = database_key(name)
        with self.store.transaction(writing=True) as transaction:
            database = transaction.get(key, lock=True)
            if database is not None and not cascade and not transaction.is_empty(database):
                raise not_empty(name)
            if database is None or not transaction.delete(key, cascade=cascade):
                _ignore_missing(transaction, key, ignore_if_not_exists)

    def alter_database(
        self,
        name: str,
        new_database: objects.CatalogDatabase,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogDatabase | None = None,
    ) -> None:
        self._alter(database_key(name), new_database, ignore_if_not_exists, expected)

    # --- tables, views, materialized tables ----------------------------------------------------

    def list_tables(self, database_name: str) -> list[str]:
        return self._names(StoredKind.TABLE, database_name)

    def list_views(self, database_name: str) -> list[str]:
        return self._table_names(database_name, objects.TableKind.VIEW)

    def list_materialized_tables(self, database_name: str) -> list[str]:
        if Capability.MATERIALIZED_TABLES not in self.capabilities:
            self._refuse(Capability.MATERIALIZED_TABLES)
        return self._table_names(database_name, objects.TableKind.MATERIALIZED_TABLE)

    def get_table(
        self, table_path: ObjectPath, timestamp: int | None = None
    ) -> objects.CatalogBaseTable:
        """Return the table or view; with a timestamp in milliseconds, as `get_table_at`."""
        if timestamp is not None:
            return self.get_table_at(table_path, timestamp)
        table: objects.CatalogBaseTable = self._get(table_key(table_path)).value
        return table

    def get_table_kind(self, table_path: ObjectPath) -> objects.TableKind:
        return self._get(table_key(table_path)).table_kind

    def table_exists(self, table_path: ObjectPath) -> bool:
        return self._exists(table_key(table_path))

    def find_table(self, table_path: ObjectPath) -> objects.CatalogBaseTable | None:
        stored = self._find(table_key(table_path))
        table: objects.CatalogBaseTable | None = None if stored is None else stored.value
        return table

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(table_key(table_path), ignore_if_not_exists)

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        self._rename(table_key(table_path), new_table_name, ignore_if_not_exists)

    def create_table(
        self, table_path: ObjectPath, table: objects.CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        self._create(table_key(table_path), self._resolve(table), ignore_if_exists)

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: objects.CatalogBaseTable,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogBaseTable | None = None,
        changes: Sequence[TableChange] | None = None,
    ) -> None:
        table = self._resolve(new_table)
        if changes is not None:
            from schema_core.catalog.changes.table_changes import require_consistent

            require_consistent(changes, expected, table)
        self._alter(table_key(table_path), table, ignore_if_not_exists, expected, changes)

    def get_stored_table(self, table_path: ObjectPath) -> StoredObject:
        return self._get(table_key(table_path))

    def restore_table(
        self,
        table_path: ObjectPath,
        stored: Any,
        *,
        expected: objects.CatalogBaseTable | None = None,
    ) -> None:
        def restore(transaction: ObjectTransaction[S], found: S) -> bool:
            require_instance(stored, type(found), "stored")
            _require_same_kind(found, stored.table_kind)
            _require_expected(found, expected)
            return transaction.restore(found, stored)

        self._update(table_key(table_path), restore, False, expected)

    def _resolve(self, table: objects.CatalogBaseTable) -> ResolvedTable:
        if (
            table.get_table_kind() is objects.TableKind.MATERIALIZED_TABLE
            and Capability.MATERIALIZED_TABLES not in self.capabilities
        ):
            self._refuse(Capability.MATERIALIZED_TABLES)
        return resolve_object(table, self.resolver)

    # --- partitions ----------------------------------------------------------------------------

    def _get_partitioned_table(
        self, transaction: ObjectTransaction[S], key: ObjectKey, *, lock: bool = False
    ) -> tuple[S, list[str]]:
        """Return a partitioned table, and its partition keys; `key` is of it or a partition."""
        wanted = ObjectKey(StoredKind.TABLE, key.database, key.name)
        table = self._require(transaction, wanted, lock=lock)
        if keys := _partition_keys(table.value):
            return table, keys
        raise SchemaError(f"the table {str(wanted)!r} is not partitioned", code="not-partitioned")

    def _table_of(
        self, transaction: ObjectTransaction[S], key: ObjectKey, *, lock: bool = False
    ) -> S | None:
        """Return the table of a partition; None if there is none, or for another object."""
        if key.kind is not StoredKind.PARTITION:
            return None
        return transaction.get(ObjectKey(StoredKind.TABLE, key.database, key.name), lock=lock)

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec | None = None
    ) -> list[objects.CatalogPartitionSpec]:
        self._require_support(StoredKind.PARTITION)
        wanted = partition_spec or objects.CatalogPartitionSpec({})
        with self.store.transaction() as transaction:
            table, _ = self._get_partitioned_table(transaction, table_key(table_path))
            specs = transaction.partitions(table)
        return [spec for spec in specs if wanted.covers(spec)]

    def get_partition(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec
    ) -> objects.CatalogPartition:
        self._require_support(StoredKind.PARTITION)
        key = partition_key(table_path, partition_spec)
        with self.store.transaction() as transaction:
            table = self._table_of(transaction, key)
            found = None if table is None else transaction.get(key, table)
            if found is None:
                raise _missing_partition(transaction, key)
            partition: objects.CatalogPartition = found.value
        return partition

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec
    ) -> bool:
        self._require_support(StoredKind.PARTITION)
        with self.store.transaction() as transaction:
            table = transaction.get(table_key(table_path))
            key = partition_key(table_path, partition_spec)
            return table is not None and transaction.exists(key, table)

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        partition: objects.CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        self._require_support(StoredKind.PARTITION)
        key = partition_key(table_path, partition_spec)
        with self.store.transaction(writing=True) as transaction:
            table, keys = self._get_partitioned_table(transaction, key, lock=True)
            if set(partition_spec.get_partition_spec()) != set(keys):
                raise SchemaError(
                    f"the partition {partition_spec} must have exactly the keys {', '.join(keys)}",
                    code="invalid-partition-spec",
                )
            self._insert(transaction, key, partition, table, ignore_if_exists)

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        self._drop(partition_key(table_path, partition_spec), ignore_if_not_exists)

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        new_partition: objects.CatalogPartition,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogPartition | None = None,
    ) -> None:
        key = partition_key(table_path, partition_spec)
        self._alter(key, new_partition, ignore_if_not_exists, expected)

    # --- statistics ----------------------------------------------------------------------------

    def _get_measured_object(
        self, transaction: ObjectTransaction[S], key: ObjectKey, *, lock: bool = False
    ) -> tuple[ObjectKey, S | None]:
        """Return the key of the table or partition of statistics, and the object if it exists."""
        table = transaction.get(ObjectKey(StoredKind.TABLE, key.database, key.name), lock=lock)
        owner = ObjectKey(StoredKind.PARTITION, key.database, key.name, key.partition)
        if key.partition is None:
            return ObjectKey(StoredKind.TABLE, key.database, key.name), table
        return owner, None if table is None else transaction.get(owner, table, lock=lock)

    def _get_statistics(
        self, table_path: ObjectPath, spec: objects.CatalogPartitionSpec | None
    ) -> StoredStatistics:
        self._require_support(StoredKind.STATISTICS)
        key = statistics_key(table_path, spec)
        with self.store.transaction() as transaction:
            owner, measured = self._get_measured_object(transaction, key)
            if measured is None:
                raise _not_found(transaction, owner)
            stored = transaction.get(key, measured)
        return StoredStatistics() if stored is None else stored.value

    def _alter_statistics(
        self,
        table_path: ObjectPath,
        spec: objects.CatalogPartitionSpec | None,
        change: Change,
        ignore_if_not_exists: bool,
    ) -> None:
        self._require_support(StoredKind.STATISTICS)
        key = statistics_key(table_path, spec)
        for _ in range(MAX_ATTEMPTS):
            with self.store.transaction(writing=True) as transaction:
                owner, measured = self._get_measured_object(transaction, key, lock=True)
                if measured is None:
                    return _ignore_missing(transaction, owner, ignore_if_not_exists)
                stored = transaction.get(key, measured, lock=True)
                new = change(StoredStatistics() if stored is None else stored.value)
                if stored is None and transaction.create(key, new, measured):
                    return None
                if stored is not None and transaction.replace(stored, new):
                    return None
        raise ConflictError(
            f"concurrent modification of the statistics of {owner}; retries exhausted",
            hint=TRY_LATER,
        )

    # --- functions -----------------------------------------------------------------------------

    def list_functions(self, database_name: str) -> list[str]:
        return self._names(StoredKind.FUNCTION, database_name)

    def get_function(self, function_path: ObjectPath) -> objects.CatalogFunction:
        key = ObjectKey.of(StoredKind.FUNCTION, function_path)
        function: objects.CatalogFunction = self._get(key).value
        return function

    def function_exists(self, function_path: ObjectPath) -> bool:
        return self._exists(ObjectKey.of(StoredKind.FUNCTION, function_path))

    def create_function(
        self, function_path: ObjectPath, function: objects.CatalogFunction, ignore_if_exists: bool
    ) -> None:
        self._create(ObjectKey.of(StoredKind.FUNCTION, function_path), function, ignore_if_exists)

    def alter_function(
        self,
        function_path: ObjectPath,
        new_function: objects.CatalogFunction,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogFunction | None = None,
    ) -> None:
        key = ObjectKey.of(StoredKind.FUNCTION, function_path)
        self._alter(key, new_function, ignore_if_not_exists, expected)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(ObjectKey.of(StoredKind.FUNCTION, function_path), ignore_if_not_exists)

    # --- models --------------------------------------------------------------------------------

    def list_models(self, database_name: str) -> list[str]:
        return self._names(StoredKind.MODEL, database_name)

    def get_model(self, model_path: ObjectPath) -> objects.CatalogModel:
        model: objects.CatalogModel = self._get(ObjectKey.of(StoredKind.MODEL, model_path)).value
        return model

    def model_exists(self, model_path: ObjectPath) -> bool:
        return self._exists(ObjectKey.of(StoredKind.MODEL, model_path))

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(ObjectKey.of(StoredKind.MODEL, model_path), ignore_if_not_exists)

    def rename_model(
        self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool
    ) -> None:
        key = ObjectKey.of(StoredKind.MODEL, model_path)
        self._rename(key, new_model_name, ignore_if_not_exists)

    def create_model(
        self, model_path: ObjectPath, model: objects.CatalogModel, ignore_if_exists: bool
    ) -> None:
        self._require_support(StoredKind.MODEL)
        key = ObjectKey.of(StoredKind.MODEL, model_path)
        self._create(key, resolve_model(model, self.resolver), ignore_if_exists)

    def alter_model(
        self,
        model_path: ObjectPath,
        new_model: objects.CatalogModel,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogModel | None = None,
    ) -> None:
        self._require_support(StoredKind.MODEL)
        key = ObjectKey.of(StoredKind.MODEL, model_path)
        model = resolve_model(new_model, self.resolver)
        self._alter(key, model, ignore_if_not_exists, expected)

    # --- user-defined types --------------------------------------------------------------------

    def list_types(self, database_name: str) -> list[str]:
        return self._names(StoredKind.TYPE, database_name)

    def get_type(self, type_path: ObjectPath) -> objects.CatalogType:
        type_: objects.CatalogType = self._get(ObjectKey.of(StoredKind.TYPE, type_path)).value
        return type_

    def type_exists(self, type_path: ObjectPath) -> bool:
        return self._exists(ObjectKey.of(StoredKind.TYPE, type_path))

    def create_type(
        self, type_path: ObjectPath, type_: objects.CatalogType, ignore_if_exists: bool
    ) -> None:
        self._create(ObjectKey.of(StoredKind.TYPE, type_path), type_, ignore_if_exists)

    def drop_type(self, type_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(ObjectKey.of(StoredKind.TYPE, type_path), ignore_if_not_exists)

    # --- transactions and migrations -----------------------------------------------------------

    def transaction(self) -> AbstractContextManager[Self]:
        self._require_support(StoredKind.MIGRATION)
        return self._in_transaction()

    @contextmanager
    def _in_transaction(self) -> Iterator[Self]:
        joined, storage, dropped = copy(self), self.storage, list[str]()
        with self.store.transaction(writing=True) as transaction:
            _lock_history(transaction)
            joined.store = OpenTransaction(self.store, transaction)
            if storage is not None:
                joined.storage = DeferredStorage(storage.warehouse, storage.form, dropped)
            yield joined
        failures = []
        if storage is not None:
            for directory in dropped:
                try:
                    storage.remove(directory)
                except SchemaCoreError as error:  # the others are deleted nevertheless
                    failures.append(error)
        raise_all(failures)

    def list_migrations(self) -> list[CatalogMigration]:
        return [
            entry
            for entry in self._stored_migrations()
            if entry.progress is None and not entry.undone
        ]

    def list_undone_migrations(self) -> list[CatalogMigration]:
        return [entry for entry in self._stored_migrations() if entry.undone]

    def find_unfinished_migration(self) -> CatalogMigration | None:
        return next((entry for entry in self._stored_migrations() if entry.progress), None)

    def _stored_migrations(self) -> list[CatalogMigration]:
        if not self._supports(StoredKind.MIGRATION):
            return []
        with self.store.transaction() as transaction:
            names = [name for name in transaction.names(StoredKind.MIGRATION, None) if name]
            migrations = [transaction.get(_migration_key(name)) for name in names]
        return sorted(
            (migration.value for migration in migrations if migration is not None),
            key=lambda migration: migration.position,
        )

    def add_migration(self, migration: CatalogMigration) -> None:
        require_instance(migration, CatalogMigration, "the migration")
        # a migration is applied once, but may be undone often
        name = f"undone {migration.position}" if migration.undone else migration.name
        self._create(_migration_key(name), migration, ignore_if_exists=False)

    def remove_migration(self, name: str) -> None:
        self._drop(_migration_key(name), ignore_if_not_exists=False)


def _migration_key(name: str) -> ObjectKey:
    return ObjectKey(StoredKind.MIGRATION, "", name)


def _lock_history(transaction: ObjectTransaction[S]) -> None:
    """Lock the history until the transaction ends; the first transaction creates the entry."""
    if transaction.get(HISTORY, lock=True) is None:
        transaction.create(HISTORY, CatalogMigration("", 0, "", (), "", ""), None)
        transaction.get(HISTORY, lock=True)


def _similar(transaction: ObjectTransaction[S], key: ObjectKey) -> list[str]:
    if key.parent is None:
        return [*transaction.names(key.kind, None)]
    database = transaction.get(database_key(key.database))
    if database is None or key.kind is StoredKind.PARTITION:
        return []
    names = transaction.names(key.kind, database)
    return [f"{key.database}.{name}" for name in names]


def _not_found(transaction: ObjectTransaction[S], key: ObjectKey) -> NotFoundError:
    if key.kind is StoredKind.PARTITION:
        return _missing_partition(transaction, key)
    return missing(key.kind.value, key, _similar(transaction, key))


def _missing_partition(transaction: ObjectTransaction[S], key: ObjectKey) -> NotFoundError:
    """Return the error for a missing partition, with the reason as its hint.

    As in Flink, it is the same if the table does not exist or is not partitioned.
    """
    error = missing(key.kind.value, key)
    path = ObjectKey(StoredKind.TABLE, key.database, key.name)
    table = transaction.get(path)
    if table is None:
        error.hint = f"there is no table {str(path)!r}"
    elif not _partition_keys(table.value):
        error.hint = f"the table {str(path)!r} is not partitioned"
    return error


def _partition_keys(table: object) -> list[str]:
    if isinstance(table, objects.CatalogTable | objects.CatalogMaterializedTable):
        return table.get_partition_keys()
    return []


def _ignore_missing(
    transaction: ObjectTransaction[S],
    key: ObjectKey,
    ignore_if_not_exists: bool,
    expected: object = None,
) -> None:
    if not ignore_if_not_exists:
        require_expected(key, expected, None)
        raise _not_found(transaction, key)


def _require_expected(found: StoredObject, expected: object) -> None:
    if expected is not None and not found.is_stored_form_of(expected):
        require_expected(found.key, expected, found.value)


def _require_same_kind(found: StoredObject, wanted: objects.TableKind) -> None:
    if found.table_kind is not wanted:
        kinds = [kind.value.lower().replace("_", " ") for kind in (found.table_kind, wanted)]
        raise SchemaError(
            f"{found.key} is a {kinds[0]}, not a {kinds[1]}", code="wrong-object-type"
        )
