"""The storage protocol of catalogs: objects by kind and path, read and written in transactions.

A store implements only lookup, insertion, replacement and deletion, and returns None or False for
objects that exist or are missing; `StoredCatalog` implements `Catalog` over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectPath
from schema_core.base.text import is_blank
from schema_core.catalog.objects import CatalogPartitionSpec, TableKind
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError, similar


class StoredKind(Enum):
    """The kinds of objects that a catalog stores."""

    DATABASE = "database"
    TABLE = "table"
    PARTITION = "partition"
    FUNCTION = "function"
    MODEL = "model"
    TYPE = "type"
    STATISTICS = "statistics"
    #: history of migrations, which are in no database
    MIGRATION = "migration"


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """The kind and the path of an object within a catalog.

    >>> print(ObjectKey(StoredKind.TABLE, "db", "orders"))
    db.orders
    """

    kind: StoredKind
    database: str
    name: str = ""
    partition: CatalogPartitionSpec | None = None

    @staticmethod
    def of(kind: StoredKind, path: ObjectPath) -> ObjectKey:
        """Return the key of an object in a database."""
        require_instance(kind, StoredKind, "kind")
        require_instance(path, ObjectPath, "path")
        return ObjectKey(kind, path.database_name, path.object_name)

    @property
    def parent(self) -> ObjectKey | None:
        """The object that contains this one, None for a database or migration.

        A partition is in a table, statistics are in a table or partition, all others in a database.
        """
        if self.kind in (StoredKind.DATABASE, StoredKind.MIGRATION):
            return None
        if self.kind is StoredKind.STATISTICS and self.partition is not None:
            return ObjectKey(StoredKind.PARTITION, self.database, self.name, self.partition)
        if self.kind is StoredKind.STATISTICS:
            return ObjectKey(StoredKind.TABLE, self.database, self.name)
        if self.kind is StoredKind.PARTITION:
            return ObjectKey(StoredKind.TABLE, self.database, self.name)
        return ObjectKey(StoredKind.DATABASE, self.database)

    @property
    def own_name(self) -> str:
        """The name within its parent."""
        return self.database if self.kind is StoredKind.DATABASE else self.name

    def renamed(self, new_name: str) -> ObjectKey:
        """Return the key under another name in the same database (`invalid-name`)."""
        return ObjectKey.of(self.kind, ObjectPath(self.database, new_name))

    def __str__(self) -> str:
        if self.partition is not None:
            return str(self.partition)
        return ".".join(filter(None, (self.database, self.name)))


class StoredObject(Protocol):
    """An object as a transaction found it in the store."""

    @property
    def key(self) -> ObjectKey: ...

    @property
    def value(self) -> Any:
        """The unresolved object; raises `SchemaCoreError` if the stored form is malformed."""

    @property
    def table_kind(self) -> TableKind:
        """The kind of a table or view; read without decoding its definition."""

    def is_stored_form_of(self, expected: Any) -> bool:
        """Return whether a resolved object is stored exactly as this one."""


S = TypeVar("S", bound=StoredObject)


class ObjectTransaction(Protocol[S]):
    """The objects of a catalog as one transaction reads and writes them.

    `parent` is the object of ``key.parent``; without it a store looks the parent up itself.
    """

    def exists(self, key: ObjectKey, parent: S | None = None) -> bool:
        """Return whether the object exists."""

    def get(self, key: ObjectKey, parent: S | None = None, *, lock: bool = False) -> S | None:
        """Return the object at this key, or None.

        With `lock`, other writers cannot change it before the transaction ends, if the store
        supports locks.
        """

    def names(self, kind: StoredKind, parent: S | None) -> Sequence[str]:
        """Return the names of the objects of a database, or of the databases."""

    def table_names(self, database: S, table_kind: TableKind) -> Sequence[str]:
        """Return the names of the tables of one kind in a database."""

    def partitions(self, table: S) -> Sequence[CatalogPartitionSpec]:
        """Return the specifications of all partitions of a table."""

    def is_empty(self, database: S) -> bool:
        """Return whether a database may be dropped without CASCADE."""

    def create(self, key: ObjectKey, value: Any, parent: S | None) -> bool:
        """Store a new object; return False if there is one, or if its parent was dropped."""

    def replace(self, stored: S, value: Any) -> bool:
        """Store another definition; return False if the object has changed since it was read."""

    def restore(self, stored: S, earlier: S) -> bool:
        """Store the definition of an object that was read earlier, without decoding it."""

    def rename(self, stored: S, new_name: str) -> bool:
        """Rename an object; return False as `replace` does, or if the name is taken."""

    def delete(self, key: ObjectKey, parent: S | None = None, *, cascade: bool = True) -> bool:
        """Delete an object with everything in it; return False if there is none.

        Without `cascade` the caller has checked that a database is empty.
        """


T = TypeVar("T", bound=StoredObject)


class ObjectStore(Protocol[T]):
    """A place that stores the objects of a catalog."""

    #: The kinds for which `ObjectTransaction.replace` detects concurrent modification.
    compared: frozenset[StoredKind]

    def open(self) -> None:
        """Connect and prepare the store."""

    def close(self) -> None:
        """Release what `open` acquired."""

    def transaction(self, writing: bool = False) -> AbstractContextManager[ObjectTransaction[T]]:
        """Return a context in which all changes are made, or none if it raises."""

    def check_name(self, kind: StoredKind, name: str) -> None:
        """Refuse a name that the store does not support for a new object.

        Errors: `invalid-name`, `name-not-supported`.
        """


class OpenTransaction(Generic[T]):
    """An object store within a transaction of another: its transactions join the open one."""

    def __init__(self, store: ObjectStore[T], transaction: ObjectTransaction[T]) -> None:
        self._store = store
        self._transaction = transaction
        self.compared: frozenset[StoredKind] = store.compared

    def open(self) -> None:
        return

    def close(self) -> None:
        return

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[ObjectTransaction[T]]:
        yield self._transaction

    def check_name(self, kind: StoredKind, name: str) -> None:
        self._store.check_name(kind, name)


# --- errors --------------------------------------------------------------------------------------


def require_name(kind: StoredKind, name: str) -> None:
    """Refuse a blank name (`invalid-name`)."""
    if is_blank(name):
        raise SchemaError(f"a {kind.value} requires a name", code="invalid-name")


def object_kind(noun: str) -> str:
    """Return the kind of object in error codes: tables and views share one namespace.

    >>> object_kind("temporary system function"), object_kind("materialized table")
    ('function', 'table')
    """
    kind = noun.rsplit(maxsplit=1)[-1]
    return "table" if kind == "view" else kind


def missing(noun: str, name: object, known: Iterable[str] = ()) -> NotFoundError:
    """Return the error for a missing object, with similar names as its hint.

    >>> print(missing("table", "db.order", ["db.orders", "db.customers"]).hint)
    did you mean 'db.orders'?
    """
    return NotFoundError(
        f"there is no {noun} {str(name)!r}",
        code=f"{object_kind(noun)}-not-found",
        hint=similar(str(name), known),
    )


def exists(noun: str, name: object) -> AlreadyExistsError:
    """Return the error for a name that is taken."""
    return AlreadyExistsError(
        f"there is already a {noun} {str(name)!r}", code=f"{object_kind(noun)}-exists"
    )


def not_empty(database: str) -> SchemaError:
    """Return the error for a database that cannot be dropped without CASCADE."""
    return SchemaError(
        f"the database {database!r} is not empty",
        code="database-not-empty",
        hint="drop its objects first, or drop it with CASCADE",
    )
