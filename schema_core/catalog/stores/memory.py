"""A catalog in memory, lost when the process ends."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import field
from threading import RLock
from types import TracebackType
from typing import Any, Self

from schema_core.base.arguments import validate_methods
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.objects import (
    CatalogConnection,
    CatalogDatabase,
    CatalogPartition,
    CatalogPartitionSpec,
    TableKind,
)
from schema_core.catalog.resolve import origin
from schema_core.catalog.stores.object_store import ObjectKey, StoredKind, not_empty, require_name
from schema_core.catalog.stores.stored_catalog import StoredCatalog, partition_key, table_key
from schema_core.catalog.temporary import ResolvedTable, TemporaryStore

#: Kinds of objects that have an unresolved form.
RESOLVED = frozenset({StoredKind.TABLE, StoredKind.MODEL})

#: Kinds of objects in a table.
WITHIN_TABLES = (StoredKind.PARTITION, StoredKind.STATISTICS)

#: Kinds that CASCADE drops with their database. Flink leaves the models.
DROPPED = (StoredKind.TABLE, StoredKind.FUNCTION, StoredKind.TYPE)


@dataclass(slots=True)
class MemoryContent:
    """The stored, resolved object, and the unresolved one once it was read."""

    resolved: Any
    unresolved: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """An object in memory."""

    key: ObjectKey
    stored: MemoryContent

    @property
    def content(self) -> Any:
        """The resolved form."""
        return self.stored.resolved

    @property
    def value(self) -> Any:
        if self.key.kind not in RESOLVED:
            return self.content
        if self.stored.unresolved is None:
            self.stored.unresolved = origin(self.content)
        return self.stored.unresolved

    @property
    def table_kind(self) -> TableKind:
        kind: TableKind = self.content.get_table_kind()
        return kind

    def is_stored_form_of(self, expected: Any) -> bool:
        return False


class MemoryStore:
    """The objects of a catalog by kind and database, in the order of their creation.

    A lock serializes transactions: a store is thread-safe.
    """

    compared: frozenset[StoredKind] = frozenset(StoredKind)

    def __init__(self) -> None:
        self._lock = RLock()
        self._objects: dict[tuple[StoredKind, str, str], dict[Hashable, MemoryContent]] = {}

    def open(self) -> None:
        return

    def close(self) -> None:
        return

    def check_name(self, kind: StoredKind, name: str) -> None:
        require_name(kind, name)

    def transaction(self, writing: bool = False) -> Self:
        return self

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()

    @contextmanager
    def restored_on_error(self) -> Iterator[None]:
        """Return a context, of one thread at a time, that undoes all changes if it raises."""
        with self:
            before = {key: dict(objects) for key, objects in self._objects.items()}
            try:
                yield
            except BaseException:
                self._objects = before
                raise

    # --- operations ----------------------------------------------------------------------------

    def _siblings(self, key: ObjectKey) -> dict[Hashable, MemoryContent]:
        return self._objects.get(_container(key), {})

    def exists(self, key: ObjectKey, parent: MemoryObject | None = None) -> bool:
        return _name(key) in self._siblings(key)

    def get(
        self, key: ObjectKey, parent: MemoryObject | None = None, *, lock: bool = False
    ) -> MemoryObject | None:
        content = self._siblings(key).get(_name(key))
        return None if content is None else MemoryObject(key, content)

    def names(self, kind: StoredKind, parent: MemoryObject | None) -> list[str]:
        database = parent.key.database if parent is not None else ""
        return [str(name) for name in self._objects.get((kind, database, ""), ())]

    def table_names(self, database: MemoryObject, table_kind: TableKind) -> list[str]:
        tables = self._objects.get((StoredKind.TABLE, database.key.database, ""), {})
        return [
            str(name)
            for name, table in tables.items()
            if table.resolved.get_table_kind() is table_kind
        ]

    def partitions(self, table: MemoryObject) -> list[CatalogPartitionSpec]:
        container = (StoredKind.PARTITION, table.key.database, table.key.name)
        return [
            item
            for item in self._objects.get(container, ())
            if isinstance(item, CatalogPartitionSpec)
        ]

    def is_empty(self, database: MemoryObject) -> bool:
        return not any(self.names(kind, database) for kind in DROPPED)

    def create(self, key: ObjectKey, value: Any, parent: MemoryObject | None) -> bool:
        self._objects.setdefault(_container(key), {})[_name(key)] = MemoryContent(value)
        return True

    def replace(self, stored: MemoryObject, value: Any) -> bool:
        self._siblings(stored.key)[_name(stored.key)] = MemoryContent(value)
        return True

    def restore(self, stored: MemoryObject, earlier: MemoryObject) -> bool:
        return self.replace(stored, earlier.content)

    def rename(self, stored: MemoryObject, new_name: str) -> bool:
        key, siblings = stored.key, self._siblings(stored.key)
        siblings[_name(key.renamed(new_name))] = siblings.pop(_name(key))
        for kind in WITHIN_TABLES if key.kind is StoredKind.TABLE else ():
            if contents := self._objects.pop((kind, key.database, key.name), None):
                self._objects[kind, key.database, new_name] = contents
        return True

    def delete(
        self, key: ObjectKey, parent: MemoryObject | None = None, *, cascade: bool = True
    ) -> bool:
        if self._siblings(key).pop(_name(key), None) is None:
            return False
        if key.kind is StoredKind.TABLE:
            self._empty(key.database, key.name)
        if key.kind is StoredKind.PARTITION:
            statistics = self._objects.get((StoredKind.STATISTICS, key.database, key.name), {})
            statistics.pop(key.partition, None)
        if key.kind is StoredKind.DATABASE:
            for table in self._objects.get((StoredKind.TABLE, key.database, ""), ()):
                self._empty(key.database, str(table))
            for kind in DROPPED:
                self._objects.pop((kind, key.database, ""), None)
        return True

    def _empty(self, database: str, table: str) -> None:
        """Delete what is in a table."""
        for kind in WITHIN_TABLES:
            self._objects.pop((kind, database, table), None)


def _container(key: ObjectKey) -> tuple[StoredKind, str, str]:
    match key.kind:
        case StoredKind.DATABASE:
            return key.kind, "", ""
        case StoredKind.PARTITION | StoredKind.STATISTICS:
            return key.kind, key.database, key.name
        case _:
            return key.kind, key.database, ""


def _name(key: ObjectKey) -> Hashable:
    """Return the identity of an object within its container; functions ignore case."""
    match key.kind:
        case StoredKind.PARTITION | StoredKind.STATISTICS:
            return key.partition
        case StoredKind.FUNCTION:
            return key.name.lower()
        case _:
            return key.own_name


@validate_methods(Catalog)
class InMemoryCatalog(StoredCatalog[MemoryObject]):
    """A catalog that stores everything in memory, as the built-in catalog does; thread-safe.

    Names of tables and databases are case-sensitive, names of functions are not. As in Flink, a
    database that holds only models counts as empty, its models exist again when a database of the
    same name is created, and `create_partition` with `ignore_if_exists` replaces an existing one.

    >>> catalog = InMemoryCatalog("mine", "sales")
    >>> catalog.create_database("spare", CatalogDatabase.create_instance({}), False)
    >>> catalog.list_databases()
    ['sales', 'spare']
    """

    capabilities: frozenset[Capability] = frozenset(Capability) - {Capability.PROCEDURES}

    def __init__(self, name: str, default_database: str = "default") -> None:
        self._memory = MemoryStore()
        super().__init__(name, self._memory, default_database)
        self.connections: TemporaryStore[ObjectPath, CatalogConnection] = TemporaryStore(
            "connection"
        )
        self.create_database(default_database, CatalogDatabase(), ignore_if_exists=False)

    @contextmanager
    def _in_transaction(self) -> Iterator[Self]:
        with self._memory.restored_on_error(), super()._in_transaction() as joined:
            yield joined

    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        with self.store.transaction(writing=True):
            paths = [path for path in self.connections if path.database_name == name]
            if paths and not cascade:
                raise not_empty(name)
            super().drop_database(name, ignore_if_not_exists, cascade)
            for path in paths:
                self.connections.drop(path, ignore_if_not_exists=True)

    def get_resolved_table(self, table_path: ObjectPath) -> ResolvedTable | None:
        """Return the types of the time of creation, as Flink does.

        A function that an expression calls may have been dropped since.
        """
        stored = self._find(table_key(table_path))
        return None if stored is None else stored.content

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        with self.store.transaction(writing=True):
            if ignore_if_exists and self._exists(partition_key(table_path, partition_spec)):
                self.alter_partition(table_path, partition_spec, partition, False)
            else:
                super().create_partition(table_path, partition_spec, partition, ignore_if_exists)
