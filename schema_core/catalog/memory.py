"""A catalog in memory: what it keeps is gone with the process."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, TypeVar

from schema_core.arguments import validate_methods
from schema_core.catalog.api import Capability, Catalog, require_catalog_names
from schema_core.catalog.materialized import CatalogMaterializedTable
from schema_core.catalog.object_store import ObjectStore, Shelves
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogTable,
    ResolvedCatalogModel,
    TableKind,
)
from schema_core.catalog.optimistic_locking import require_expected
from schema_core.catalog.partitions import CatalogPartition, CatalogPartitionSpec
from schema_core.catalog.resolve import (
    origin,
    require_resolved_model,
    require_resolved_table,
)
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalog.types import CatalogType
from schema_core.errors import SchemaError
from schema_core.paths import ObjectPath
from schema_core.text import is_blank

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K", ObjectPath, CatalogPartitionSpec, str)
V = TypeVar("V")


def lowered(path: ObjectPath) -> ObjectPath:
    """The path with the function's own name in lower case: functions differ in nothing else."""
    return ObjectPath(path.database_name, path.object_name.lower())


def alone(
    method: Callable[Concatenate[InMemoryCatalog, P], R],
) -> Callable[Concatenate[InMemoryCatalog, P], R]:
    """The method, run by one thread at a time: what it has looked at is still so when it writes."""

    @wraps(method)
    def run(self: InMemoryCatalog, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock:
            return method(self, *args, **kwargs)

    return run


def alter(shelf: ObjectStore[K, V], path: K, new: V, ignore: bool, expected: object) -> None:
    """Put another object in place of the one that was expected."""
    found = shelf.find(path)
    if found is not None or not ignore:
        require_expected(path, expected, found)
    shelf.alter(path, new, ignore)


@validate_methods(Catalog)
class InMemoryCatalog(Catalog):
    """A catalog that keeps everything in memory, as the catalog that is built in.

    Any number of threads may use it. Names of tables and databases are case-sensitive, names of
    functions are not. A database that holds only models counts as empty, and its models are there
    again when a database of that name is made anew: so does Flink's own.

    >>> catalog = InMemoryCatalog("mine", "sales")
    >>> catalog.create_database("spare", CatalogDatabase.create_instance({}), False)
    >>> catalog.list_databases()
    ['sales', 'spare']
    """

    capabilities = frozenset(Capability)

    def __init__(self, name: str, default_database: str = "default") -> None:
        require_catalog_names(name, default_database)
        self.name = name
        self.lock = RLock()
        self._default = default_database
        self._databases: ObjectStore[str, CatalogDatabase] = ObjectStore("database")
        self._tables: Shelves[ResolvedTable] = Shelves("table")
        self._functions: Shelves[CatalogFunction] = Shelves("function", lowered)
        self._models: Shelves[ResolvedCatalogModel] = Shelves("model")
        self._types: Shelves[CatalogType] = Shelves("type")
        self._partitions: dict[ObjectPath, ObjectStore[CatalogPartitionSpec, CatalogPartition]] = {}
        self._databases.create(default_database, CatalogDatabase.create_instance({}), False)

    # --- databases -----------------------------------------------------------------------------

    def get_default_database(self) -> str:
        return self._default

    def list_databases(self) -> list[str]:
        return list(self._databases)

    def get_database(self, database_name: str) -> CatalogDatabase:
        return self._databases.get(database_name)

    def database_exists(self, database_name: str) -> bool:
        return database_name in self._databases

    @alone
    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        if is_blank(name):
            raise SchemaError("a database needs a name", code="blank-name")
        self._databases.create(name, database, ignore_if_exists)

    @alone
    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        held = (self._tables, self._functions, self._types)
        if any(shelves.names(name) for shelves in held) and not cascade:
            raise SchemaError(
                f"the database {name} is not empty",
                code="database-not-empty",
                hint="drop what it holds, or drop it with CASCADE",
            )
        for table in self._tables.names(name):
            self._partitions.pop(ObjectPath(name, table), None)
        for shelves in held:
            shelves.clear(name)
        self._databases.drop(name, ignore_if_not_exists)

    @alone
    def alter_database(
        self,
        name: str,
        new_database: CatalogDatabase,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogDatabase | None = None,
    ) -> None:
        alter(self._databases, name, new_database, ignore_if_not_exists, expected)

    # --- tables, views, materialized tables ----------------------------------------------------

    def _names(self, database_name: str, *kinds: TableKind) -> list[str]:
        self._databases.get(database_name)
        kept = self._tables.items(database_name)
        return [path.object_name for path, one in kept if one.get_table_kind() in kinds]

    def list_tables(self, database_name: str) -> list[str]:
        return self._names(database_name, *TableKind)

    def list_views(self, database_name: str) -> list[str]:
        return self._names(database_name, TableKind.VIEW)

    def list_materialized_tables(self, database_name: str) -> list[str]:
        return self._names(database_name, TableKind.MATERIALIZED_TABLE)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        return origin(self._tables.of(table_path).get(table_path))

    def get_resolved_table(self, table_path: ObjectPath) -> ResolvedTable | None:
        """As Flink's own catalog in memory: what an expression calls may be gone meanwhile."""
        return self._tables.of(table_path).find(table_path)

    def table_exists(self, table_path: ObjectPath) -> bool:
        return table_path in self._tables.of(table_path)

    @alone
    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._tables.of(table_path).drop(table_path, ignore_if_not_exists)
        self._partitions.pop(table_path, None)

    @alone
    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        new_path = ObjectPath(table_path.database_name, new_table_name)
        renamed = self._tables.of(table_path).rename(table_path, new_path, ignore_if_not_exists)
        if renamed and table_path in self._partitions:
            self._partitions[new_path] = self._partitions.pop(table_path)

    @alone
    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        self._databases.get(table_path.database_name)
        self._tables.create(table_path, require_resolved_table(table), ignore_if_exists)

    @alone
    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogBaseTable | None = None,
    ) -> None:
        shelf, kind = self._tables.of(table_path), new_table.get_table_kind()
        old = shelf.find(table_path)
        if old is not None and old.get_table_kind() is not kind:
            raise SchemaError(f"{table_path} is no {kind.value}", code="wrong-table-kind")
        new = require_resolved_table(new_table)
        alter(shelf, table_path, new, ignore_if_not_exists, expected)

    # --- partitions ----------------------------------------------------------------------------

    def _shelf_of(
        self, table_path: ObjectPath
    ) -> ObjectStore[CatalogPartitionSpec, CatalogPartition]:
        """The partitions of a table that has partition keys."""
        if not self._keys_of(table_path):
            raise SchemaError(f"the table {table_path} is not partitioned", code="not-partitioned")
        return self._partitions.setdefault(table_path, ObjectStore("partition"))

    def _keys_of(self, table_path: ObjectPath) -> list[str]:
        match self._tables.of(table_path).get(table_path):
            case CatalogTable() | CatalogMaterializedTable() as table:
                return table.get_partition_keys()
            case _:
                return []

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        wanted = partition_spec or CatalogPartitionSpec({})
        return [spec for spec in self._shelf_of(table_path) if wanted.covers(spec)]

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition:
        return self._shelf_of(table_path).get(partition_spec)

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> bool:
        return partition_spec in self._partitions.get(table_path, ())

    @alone
    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        shelf = self._shelf_of(table_path)
        keys = self._keys_of(table_path)
        if set(partition_spec.get_partition_spec()) != set(keys):
            raise SchemaError(
                f"{partition_spec} does not give a value for each of {', '.join(keys)}",
                code="invalid-partition-spec",
            )
        if not shelf.create(partition_spec, partition, ignore_if_exists):
            # as Flink's own: what is there already is replaced, not kept
            shelf.alter(partition_spec, partition, ignore_if_not_exists=False)

    @alone
    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        self._shelf_of(table_path).drop(partition_spec, ignore_if_not_exists)

    @alone
    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogPartition | None = None,
    ) -> None:
        shelf = self._shelf_of(table_path)
        alter(shelf, partition_spec, new_partition, ignore_if_not_exists, expected)

    # --- functions -----------------------------------------------------------------------------

    def list_functions(self, database_name: str) -> list[str]:
        self._databases.get(database_name)
        return self._functions.names(database_name)

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        return self._functions.of(function_path).get(function_path)

    def function_exists(self, function_path: ObjectPath) -> bool:
        return function_path in self._functions.of(function_path)

    @alone
    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        self._databases.get(function_path.database_name)
        self._functions.create(function_path, function, ignore_if_exists)

    @alone
    def alter_function(
        self,
        function_path: ObjectPath,
        new_function: CatalogFunction,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogFunction | None = None,
    ) -> None:
        shelf = self._functions.of(function_path)
        alter(shelf, function_path, new_function, ignore_if_not_exists, expected)

    @alone
    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._functions.of(function_path).drop(function_path, ignore_if_not_exists)

    # --- models --------------------------------------------------------------------------------

    def list_models(self, database_name: str) -> list[str]:
        self._databases.get(database_name)
        return self._models.names(database_name)

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        return origin(self._models.of(model_path).get(model_path))

    def model_exists(self, model_path: ObjectPath) -> bool:
        return model_path in self._models.of(model_path)

    @alone
    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._models.of(model_path).drop(model_path, ignore_if_not_exists)

    @alone
    def rename_model(
        self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool
    ) -> None:
        new_path = ObjectPath(model_path.database_name, new_model_name)
        self._models.of(model_path).rename(model_path, new_path, ignore_if_not_exists)

    @alone
    def create_model(
        self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool
    ) -> None:
        self._databases.get(model_path.database_name)
        self._models.create(model_path, require_resolved_model(model), ignore_if_exists)

    @alone
    def alter_model(
        self,
        model_path: ObjectPath,
        new_model: CatalogModel,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogModel | None = None,
    ) -> None:
        new = require_resolved_model(new_model)
        alter(self._models.of(model_path), model_path, new, ignore_if_not_exists, expected)

    # --- user-defined types --------------------------------------------------------------------

    def list_types(self, database_name: str) -> list[str]:
        self._databases.get(database_name)
        return self._types.names(database_name)

    def get_type(self, type_path: ObjectPath) -> CatalogType:
        return self._types.of(type_path).get(type_path)

    def type_exists(self, type_path: ObjectPath) -> bool:
        return type_path in self._types.of(type_path)

    @alone
    def create_type(
        self, type_path: ObjectPath, type_: CatalogType, ignore_if_exists: bool
    ) -> None:
        self._databases.get(type_path.database_name)
        self._types.create(type_path, type_, ignore_if_exists)

    @alone
    def drop_type(self, type_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._types.of(type_path).drop(type_path, ignore_if_not_exists)
