"""`SqlCatalog`: a catalog in a SQL database, such as a file of SQLite or a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from schema_core.base.arguments import require_instance, validate_methods
from schema_core.base.caching import cached
from schema_core.base.lazy import dataclass
from schema_core.base.paths import join_names
from schema_core.base.plugins import require_modules
from schema_core.catalog.api import Capability, Catalog, names_starting_with, rolled_back
from schema_core.catalog.managed import FORMAT, WAREHOUSE, ManagedStorage
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogPartitionSpec,
    TableKind,
)
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.resolve import ORIGINS
from schema_core.catalog.stores.object_store import ObjectKey, StoredKind, require_name
from schema_core.catalog.stores.stored_catalog import StoredCatalog, database_key
from schema_core.catalogs import serialization
from schema_core.errors import SchemaError, at
from schema_core.properties.property_map import decode_object

if TYPE_CHECKING:
    from schema_core.catalogs.sql.entries import CatalogEntry, EntryStore, EntryTransaction


def entry_store(url: str, username: str | None, password: str | None) -> EntryStore:
    """Return the entries of the database at this URL; imports SQLAlchemy.

    Errors: `missing-dependency` without SQLAlchemy or the database's driver.
    """
    require_modules("sqlalchemy")
    from schema_core.catalogs.sql.entries import EntryStore  # imports SQLAlchemy

    return EntryStore(url, username, password)


@dataclass(frozen=True, slots=True)
class SqlObject:
    """An object in an entry."""

    key: ObjectKey
    entry: CatalogEntry

    @property
    def value(self) -> Any:
        kind = self.key.kind
        name = str(self.key) if kind is StoredKind.PARTITION else repr(self.entry.name)
        with at(f"{kind.value} {name}"):
            if kind is StoredKind.TABLE:
                return _decoded_table(self.entry.content, self.table_kind)
            return serialization.deserialize(kind, self.entry.content)

    @property
    def table_kind(self) -> TableKind:
        return TableKind(self.entry.form)

    def is_stored_form_of(self, expected: Any) -> bool:
        if type(expected) not in ORIGINS:
            return False
        return serialization.serialize(self.key.kind, expected) == self.entry.content


@cached()
def _decoded_table(content: str, kind: TableKind) -> CatalogBaseTable:
    """Decode a table or view; a statement reads the same content several times."""
    return decode_object(kind, serialization.read_map(content))


@dataclass(frozen=True, slots=True)
class SqlTransaction:
    """The objects of a catalog in one transaction of the database."""

    entries: EntryTransaction

    def exists(self, key: ObjectKey, parent: SqlObject | None = None) -> bool:
        return self._entry(key, parent) is not None

    def get(
        self, key: ObjectKey, parent: SqlObject | None = None, *, lock: bool = False
    ) -> SqlObject | None:
        entry = self._entry(key, parent, lock)
        return None if entry is None else SqlObject(key, entry)

    def _entry(
        self, key: ObjectKey, parent: SqlObject | None, lock: bool = False
    ) -> CatalogEntry | None:
        if parent is not None:
            number = parent.entry.id
        elif key.parent is None:
            number = self.entries.root
        elif (above := self._entry(key.parent, None)) is not None:
            number = above.id
        else:
            return None
        return self.entries.find(number, key.kind.value, entry_key(key), lock)

    def names(self, kind: StoredKind, parent: SqlObject | None) -> Sequence[str]:
        number = self.entries.root if parent is None else parent.entry.id
        return self.entries.names(number, kind.value)

    def table_names(self, database: SqlObject, table_kind: TableKind) -> Sequence[str]:
        return self.entries.names(database.entry.id, StoredKind.TABLE.value, table_kind.value)

    def partitions(self, table: SqlObject) -> list[CatalogPartitionSpec]:
        names = self.names(StoredKind.PARTITION, table)
        return [serialization.read_spec(name) for name in names]

    def is_empty(self, database: SqlObject) -> bool:
        return not self.entries.holds_any(database.entry.id)

    def create(self, key: ObjectKey, value: Any, parent: SqlObject | None) -> bool:
        number = self.entries.root if parent is None else parent.entry.id
        name = entry_key(key)
        if key.kind is StoredKind.PARTITION and key.partition is not None:
            name = serialization.write_spec(key.partition)
        form = value.get_table_kind().value if key.kind is StoredKind.TABLE else ""
        content = serialization.serialize(key.kind, value)
        return self.entries.create(number, key.kind.value, entry_key(key), name, form, content)

    def replace(self, stored: SqlObject, value: Any) -> bool:
        content = serialization.serialize(stored.key.kind, value)
        return self.entries.alter(stored.entry, content)

    def restore(self, stored: SqlObject, earlier: SqlObject) -> bool:
        return self.entries.alter(stored.entry, earlier.entry.content)

    def rename(self, stored: SqlObject, new_name: str) -> bool:
        name = entry_key(stored.key.renamed(new_name))
        return self.entries.rename(stored.entry, name, name)

    def delete(
        self, key: ObjectKey, parent: SqlObject | None = None, *, cascade: bool = True
    ) -> bool:
        entry = self._entry(key, parent, lock=True)
        if entry is not None:
            self.entries.drop(entry)
        return entry is not None


def entry_key(key: ObjectKey) -> str:
    """Return the key of an object within its parent; names of functions ignore case."""
    if key.kind is StoredKind.STATISTICS:
        return ""
    if key.partition is not None:
        return serialization.key_of_spec(key.partition)
    return key.name.lower() if key.kind is StoredKind.FUNCTION else key.own_name


class SqlStore:
    """The objects of a catalog in a SQL database.

    Every transaction is one of the database: writers lock what they read. With `upgrades` it first
    creates and migrates the tables of the entries.
    """

    compared: frozenset[StoredKind] = frozenset(StoredKind)

    def __init__(self, entries: EntryStore, *, upgrades: bool = False) -> None:
        self.entries = entries
        self._upgrades = upgrades

    def open(self) -> None:
        self.entries.open()

    def close(self) -> None:
        self.entries.close()

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[SqlTransaction]:
        with self.entries.transaction(writing) as entries:
            if self._upgrades:
                entries.upgrade()
            yield SqlTransaction(entries)

    def check_name(self, kind: StoredKind, name: str) -> None:
        require_name(kind, name)


@validate_methods(Catalog)
class SqlCatalog(StoredCatalog[SqlObject]):
    """A catalog in the database at a SQLAlchemy URL.

    Many processes may use it at once: each method is a transaction. To detect that another process
    changed an object since it was read, pass what was read as `expected`: an ALTER then raises a
    `ConflictError` with both versions instead of overwriting. Models count as content of a
    database. Creating a partition with `ignore_if_exists` keeps an existing one.

    With a `warehouse`, an absolute path of a local directory, tables without a connector are
    managed: their files are below it, in `warehouse_format` or a table's option ``format``.

    Raises:
        SchemaError: with code `invalid-option-value` for the URL, or a warehouse that is not such
            a path, or `exposed-secret` for a URL with a password.
        NotFoundError: with code `missing-dependency`.

    >>> catalog = SqlCatalog("shop", "sqlite://")
    >>> catalog.open()
    >>> catalog.list_databases()
    ['default']
    """

    capabilities: frozenset[Capability] = frozenset(Capability) - {Capability.PROCEDURES}
    creates_default: bool = True

    def __init__(
        self,
        name: str,
        url: str,
        *,
        default_database: str = "default",
        username: str | None = None,
        password: str | None = None,
        warehouse: str | None = None,
        warehouse_format: str = "parquet",
    ) -> None:
        if warehouse is not None:
            require_instance(warehouse, str, "warehouse")
            require_instance(warehouse_format, str, "warehouse_format")
            options = {WAREHOUSE: warehouse, FORMAT: warehouse_format}
            self.storage: ManagedStorage | None = ManagedStorage.of(options)
        self.entries: EntryStore = entry_store(url, username, password)
        super().__init__(name, SqlStore(self.entries), default_database)

    def stored_maps(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the property map, as JSON, of every table, view and model.

        Nothing is parsed, and memory does not grow with the number of objects. The catalog need not
        be open.

        Raises:
            ExternalError: with code `catalog-store-failed`.
        """
        with self._transaction() as transaction:
            for kind in (StoredKind.TABLE, StoredKind.MODEL):
                for database, name, content in transaction.entries.contents(kind.value):
                    yield join_names([database, name]), content

    def find_table_names(
        self, database_name: str, prefix: str = "", limit: int | None = None
    ) -> list[str]:
        count = None if prefix else limit
        with self._transaction() as transaction:
            database = self._require(transaction, database_key(database_name)).entry.id
            names = transaction.entries.some_names(database, StoredKind.TABLE.value, prefix, count)
        return names_starting_with(prefix, names)[:limit]

    def _transaction(self) -> AbstractContextManager[SqlTransaction]:
        """Return a transaction, or the one that is open."""
        return cast("AbstractContextManager[SqlTransaction]", self.store.transaction())

    @contextmanager
    def dry_run(self) -> Iterator[Catalog]:
        """Open the catalog as `Catalog.dry_run`: a database without its tables keeps none.

        A missing file of SQLite is not created.
        """
        entries = (
            entry_store("sqlite://", None, None) if self.entries.is_missing() else self.entries
        )
        other = copy(self)
        other.entries, other.store = entries, SqlStore(entries, upgrades=True)
        try:
            with rolled_back(other) as inner:
                inner.open()
                yield inner
        finally:
            entries.close()


def make_sql_catalog(name: str, options: Mapping[str, str]) -> SqlCatalog:
    """Return the catalog of a CREATE CATALOG statement (`missing-option` without a URL)."""
    if "url" not in options:
        raise SchemaError(
            "a catalog of type 'sql' requires the option 'url'",
            code="missing-option",
            hint="set it to a URL such as sqlite:///catalog.db",
        )
    ManagedStorage.of(options)
    return SqlCatalog(
        name,
        options["url"],
        default_database=options.get("default-database", "default"),
        username=options.get("username"),
        password=options.get("password"),
        warehouse=options.get(WAREHOUSE),
        warehouse_format=options.get(FORMAT, "parquet"),
    )


#: The factory of ``CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///shop.db')``.
SQL = CatalogFactory(
    frozenset({"url", "username", "password", "default-database", WAREHOUSE, FORMAT}),
    make_sql_catalog,
    requires=("sqlalchemy",),
)
