"""A catalog in a SQL database: one file of SQLite, or whatever SQLAlchemy knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schema_core.arguments import require_instance, validate_methods
from schema_core.catalog.api import Capability, Catalog, require_catalog_names
from schema_core.catalog.materialized import CatalogMaterializedTable
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogTable,
    TableKind,
)
from schema_core.catalog.partitions import CatalogPartition, CatalogPartitionSpec
from schema_core.catalog.resolve import ORIGINS, require_resolved_model, require_resolved_table
from schema_core.catalog.types import CatalogType
from schema_core.catalogs import documents
from schema_core.catalogs.documents import Codec
from schema_core.catalogs.sql import object_store
from schema_core.catalogs.sql.object_store import Expected, Kind, Place, Written
from schema_core.errors import SchemaError, at
from schema_core.extras import require_modules
from schema_core.paths import ObjectPath
from schema_core.text import is_blank

if TYPE_CHECKING:
    from schema_core.catalogs.sql.entries import Entries, Entry, Store


def store_at(url: str, username: str | None, password: str | None) -> Store:
    """The store at this address; SQLAlchemy is loaded only now.

    Raises:
        NotFoundError: with code `missing-extra` where SQLAlchemy is not installed,
            `missing-driver` where the driver of the database is not.
    """
    require_modules("sqlalchemy")
    from schema_core.catalogs.sql.entries import Store

    return Store(url, username, password)


@validate_methods(Catalog)
class SqlCatalog(Catalog):
    """A catalog in a SQL database; `codec` says how tables and models become maps of strings.

    Many processes may use it at once: each method is a transaction. What was read may be changed
    by someone else before it is altered; whoever minds hands over as `expected` what was read, and
    gets a `ConflictError` with both instead of overwriting it. A database that holds only models
    is not empty, and a partition that is there is kept where `ignore_if_exists` is given.
    """

    capabilities = frozenset(Capability)

    def __init__(
        self,
        name: str,
        url: str,
        codec: Codec,
        *,
        default_database: str = "default",
        username: str | None = None,
        password: str | None = None,
    ) -> None:
        require_catalog_names(name, default_database)
        self.name = name
        self._default = default_database
        self._codec = codec
        self._store = store_at(url, username, password)

    def open(self) -> None:
        self._store.open()
        if not self.database_exists(self._default):
            self.create_database(self._default, CatalogDatabase(), ignore_if_exists=True)

    def close(self) -> None:
        self._store.close()

    # --- by path -------------------------------------------------------------------------------

    def _names(self, kind: Kind, database_name: str, form: str | None = None) -> list[str]:
        with self._store.transaction() as entries:
            database = object_store.get_database(entries, database_name)
            return [entry.name for entry in entries.list(database.id, kind.value, form)]

    def _get(self, kind: Kind, path: ObjectPath) -> Entry:
        with self._store.transaction() as entries:
            return object_store.get(entries, kind, path)

    def _exists(self, kind: Kind, path: ObjectPath) -> bool:
        with self._store.transaction() as entries:
            return object_store.find(entries, kind, path) is not None

    def _create(self, kind: Kind, path: ObjectPath, written: Written, ignore: bool) -> None:
        with self._store.transaction(writing=True) as entries:
            where = object_store.place(entries, kind, path)
            object_store.create(entries, where, written, ignore)

    def _alter(
        self, kind: Kind, path: ObjectPath, written: Written, ignore: bool, expected: Expected
    ) -> None:
        with self._store.transaction(writing=True) as entries:
            entry = object_store.find(entries, kind, path, for_change=True)
            if entry is None:
                return object_store.ignore_missing(kind, path, ignore, expected.value)
            return object_store.alter(entries, entry, path, written, expected)

    def _rename(self, kind: Kind, path: ObjectPath, new_name: str, ignore: bool) -> None:
        with self._store.transaction(writing=True) as entries:
            object_store.rename(entries, kind, path, new_name, ignore)

    def _drop(self, kind: Kind, path: ObjectPath, ignore: bool) -> None:
        with self._store.transaction(writing=True) as entries:
            object_store.drop(entries, kind, path, ignore)

    # --- databases -----------------------------------------------------------------------------

    def get_default_database(self) -> str:
        return self._default

    def list_databases(self) -> list[str]:
        with self._store.transaction() as entries:
            return [entry.name for entry in entries.list(entries.root, Kind.DATABASE.value)]

    def get_database(self, database_name: str) -> CatalogDatabase:
        with self._store.transaction() as entries:
            return object_store.read_database(object_store.get_database(entries, database_name))

    def database_exists(self, database_name: str) -> bool:
        with self._store.transaction() as entries:
            return object_store.find_database(entries, database_name) is not None

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        if is_blank(name):
            raise SchemaError("a database needs a name", code="blank-name")
        written = Written(documents.write_database(database))
        with self._store.transaction(writing=True) as entries:
            where = Place(entries.root, Kind.DATABASE, name, name, name)
            object_store.create(entries, where, written, ignore_if_exists)

    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        with self._store.transaction(writing=True) as entries:
            database = object_store.find_database(entries, name, for_change=True)
            if database is None:
                return object_store.ignore_missing(Kind.DATABASE, name, ignore_if_not_exists)
            if not cascade and entries.holds_any(database.id):
                raise SchemaError(
                    f"the database {name} is not empty",
                    code="database-not-empty",
                    hint="drop what it holds, or drop it with CASCADE",
                )
            return entries.drop(database)

    def alter_database(
        self,
        name: str,
        new_database: CatalogDatabase,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogDatabase | None = None,
    ) -> None:
        written = Written(documents.write_database(new_database))
        with self._store.transaction(writing=True) as entries:
            entry = object_store.find_database(entries, name, for_change=True)
            if entry is None:
                return object_store.ignore_missing(
                    Kind.DATABASE, name, ignore_if_not_exists, expected
                )
            read = Expected(expected, object_store.read_database)
            return object_store.alter(entries, entry, name, written, read)

    # --- tables, views, materialized tables ----------------------------------------------------

    def list_tables(self, database_name: str) -> list[str]:
        return self._names(Kind.TABLE, database_name)

    def list_views(self, database_name: str) -> list[str]:
        return self._names(Kind.TABLE, database_name, TableKind.VIEW.value)

    def list_materialized_tables(self, database_name: str) -> list[str]:
        return self._names(Kind.TABLE, database_name, TableKind.MATERIALIZED_TABLE.value)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        return self._read_table(self._get(Kind.TABLE, table_path))

    def get_table_kind(self, table_path: ObjectPath) -> TableKind:
        return TableKind(self._get(Kind.TABLE, table_path).form)

    def table_exists(self, table_path: ObjectPath) -> bool:
        return self._exists(Kind.TABLE, table_path)

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(Kind.TABLE, table_path, ignore_if_not_exists)

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        self._rename(Kind.TABLE, table_path, new_table_name, ignore_if_not_exists)

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        """Keep a resolved table, view or materialized table.

        Raises:
            SchemaError: with code `unresolved-object` for one whose types are not known.
        """
        self._create(Kind.TABLE, table_path, self._write_table(table), ignore_if_exists)

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogBaseTable | None = None,
    ) -> None:
        """Put another definition in place of the one that is there, which must be `expected`.

        Raises:
            ConflictError: if `expected` is given and another one is there.
        """
        written = self._write_table(new_table)
        read = self._expected(expected)
        self._alter(Kind.TABLE, table_path, written, ignore_if_not_exists, read)

    def get_stored_table(self, table_path: ObjectPath) -> Written:
        entry = self._get(Kind.TABLE, table_path)
        return Written(entry.content, entry.form)

    def restore_table(
        self, table_path: ObjectPath, stored: Any, *, expected: CatalogBaseTable | None = None
    ) -> None:
        require_instance(stored, Written, "stored")
        self._alter(Kind.TABLE, table_path, stored, False, self._expected(expected))

    def _expected(self, expected: CatalogBaseTable | None) -> Expected:
        content = None
        if expected is not None and type(expected) in ORIGINS:
            content = self._write_table(expected).content
        return Expected(expected, self._read_table, content)

    def _write_table(self, table: CatalogBaseTable) -> Written:
        properties = self._codec.encode_table(require_resolved_table(table))
        return Written(documents.write_texts(properties), table.get_table_kind().value)

    def _read_table(self, entry: Entry) -> CatalogBaseTable:
        with at(f"table {entry.name!r}"):
            properties = documents.read_texts(entry.content)
            return self._codec.decode_table(TableKind(entry.form), properties)

    # --- partitions ----------------------------------------------------------------------------

    def _partitioned(
        self, entries: Entries, path: ObjectPath, for_change: bool = False
    ) -> tuple[Entry, list[str]]:
        """A table that has partition keys, and these; nobody drops it meanwhile, if so asked."""
        entry = object_store.get(entries, Kind.TABLE, path, for_change)
        table = self._read_table(entry)
        if isinstance(table, CatalogTable | CatalogMaterializedTable) and table.is_partitioned():
            return entry, table.get_partition_keys()
        raise SchemaError(f"the table {path} is not partitioned", code="not-partitioned")

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        wanted = partition_spec or CatalogPartitionSpec({})
        with self._store.transaction() as entries:
            table, _ = self._partitioned(entries, table_path)
            found = entries.list(table.id, Kind.PARTITION.value)
        specs = [documents.read_spec(entry.name) for entry in found]
        return [spec for spec in specs if wanted.covers(spec)]

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition:
        with self._store.transaction() as entries:
            table, _ = self._partitioned(entries, table_path)
            entry = object_store.find_partition(entries, table, partition_spec)
        if entry is None:
            raise object_store.missing(Kind.PARTITION, partition_spec)
        return object_store.read_partition(entry)

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> bool:
        with self._store.transaction() as entries:
            table = object_store.find(entries, Kind.TABLE, table_path)
            return table is not None and bool(
                object_store.find_partition(entries, table, partition_spec)
            )

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        written = Written(documents.write_partition(partition))
        key, name = documents.key_of_spec(partition_spec), documents.write_spec(partition_spec)
        with self._store.transaction(writing=True) as entries:
            table, keys = self._partitioned(entries, table_path, for_change=True)
            if set(partition_spec.get_partition_spec()) != set(keys):
                raise SchemaError(
                    f"{partition_spec} does not give a value for each of {', '.join(keys)}",
                    code="invalid-partition-spec",
                )
            where = Place(table.id, Kind.PARTITION, key, name, partition_spec)
            object_store.create(entries, where, written, ignore_if_exists)

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        with self._store.transaction(writing=True) as entries:
            table, _ = self._partitioned(entries, table_path, for_change=True)
            if entry := object_store.find_partition(entries, table, partition_spec):
                return entries.drop(entry)
            return object_store.ignore_missing(Kind.PARTITION, partition_spec, ignore_if_not_exists)

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogPartition | None = None,
    ) -> None:
        written = Written(documents.write_partition(new_partition))
        read = Expected(expected, object_store.read_partition)
        with self._store.transaction(writing=True) as entries:
            table, _ = self._partitioned(entries, table_path, for_change=True)
            if entry := object_store.find_partition(entries, table, partition_spec):
                return object_store.alter(entries, entry, partition_spec, written, read)
            return object_store.ignore_missing(
                Kind.PARTITION, partition_spec, ignore_if_not_exists, expected
            )

    # --- functions -----------------------------------------------------------------------------

    def list_functions(self, database_name: str) -> list[str]:
        return self._names(Kind.FUNCTION, database_name)

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        return object_store.read_function(self._get(Kind.FUNCTION, function_path))

    def function_exists(self, function_path: ObjectPath) -> bool:
        return self._exists(Kind.FUNCTION, function_path)

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        written = Written(documents.write_function(function))
        self._create(Kind.FUNCTION, function_path, written, ignore_if_exists)

    def alter_function(
        self,
        function_path: ObjectPath,
        new_function: CatalogFunction,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogFunction | None = None,
    ) -> None:
        written = Written(documents.write_function(new_function))
        read = Expected(expected, object_store.read_function)
        self._alter(Kind.FUNCTION, function_path, written, ignore_if_not_exists, read)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(Kind.FUNCTION, function_path, ignore_if_not_exists)

    # --- models --------------------------------------------------------------------------------

    def list_models(self, database_name: str) -> list[str]:
        return self._names(Kind.MODEL, database_name)

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        return self._read_model(self._get(Kind.MODEL, model_path))

    def model_exists(self, model_path: ObjectPath) -> bool:
        return self._exists(Kind.MODEL, model_path)

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(Kind.MODEL, model_path, ignore_if_not_exists)

    def rename_model(
        self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool
    ) -> None:
        self._rename(Kind.MODEL, model_path, new_model_name, ignore_if_not_exists)

    def create_model(
        self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool
    ) -> None:
        self._create(Kind.MODEL, model_path, self._write_model(model), ignore_if_exists)

    def alter_model(
        self,
        model_path: ObjectPath,
        new_model: CatalogModel,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogModel | None = None,
    ) -> None:
        written, read = self._write_model(new_model), Expected(expected, self._read_model)
        self._alter(Kind.MODEL, model_path, written, ignore_if_not_exists, read)

    def _write_model(self, model: CatalogModel) -> Written:
        properties = self._codec.encode_model(require_resolved_model(model))
        return Written(documents.write_texts(properties))

    def _read_model(self, entry: Entry) -> CatalogModel:
        with at(f"model {entry.name!r}"):
            return self._codec.decode_model(documents.read_texts(entry.content))

    # --- user-defined types --------------------------------------------------------------------

    def list_types(self, database_name: str) -> list[str]:
        return self._names(Kind.TYPE, database_name)

    def get_type(self, type_path: ObjectPath) -> CatalogType:
        with at(f"type {type_path}"):
            return documents.read_type(self._get(Kind.TYPE, type_path).content)

    def type_exists(self, type_path: ObjectPath) -> bool:
        return self._exists(Kind.TYPE, type_path)

    def create_type(
        self, type_path: ObjectPath, type_: CatalogType, ignore_if_exists: bool
    ) -> None:
        written = Written(documents.write_type(type_))
        self._create(Kind.TYPE, type_path, written, ignore_if_exists)

    def drop_type(self, type_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._drop(Kind.TYPE, type_path, ignore_if_not_exists)
