"""A minimal catalog: two dictionaries, without optional capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.changes.table_changes import TableChange
from schema_core.catalog.objects import CatalogBaseTable, CatalogDatabase, TableKind
from schema_core.catalog.resolve import origin, require_resolved_table
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError


class ToyCatalog(Catalog):
    """Databases, tables and views in memory."""

    def __init__(self) -> None:
        self.databases: dict[str, CatalogDatabase] = {}
        self.tables: dict[ObjectPath, CatalogBaseTable] = {}

    def get_default_database(self) -> str | None:
        return None

    def list_databases(self) -> list[str]:
        return list(self.databases)

    def get_database(self, database_name: str) -> CatalogDatabase:
        if database_name not in self.databases:
            raise NotFoundError(f"no database {database_name}", code="database-not-found")
        return self.databases[database_name]

    def database_exists(self, database_name: str) -> bool:
        return database_name in self.databases

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        if not name.strip():
            raise SchemaError("a database requires a name", code="invalid-name")
        if name in self.databases and not ignore_if_exists:
            raise AlreadyExistsError(f"there is a database {name}", code="database-exists")
        self.databases.setdefault(name, database)

    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        if name not in self.databases and ignore_if_not_exists:
            return
        self.get_database(name)
        if self.list_tables(name) and not cascade:
            raise SchemaError(f"the database {name} holds tables", code="database-not-empty")
        self.tables = {p: table for p, table in self.tables.items() if p.database_name != name}
        del self.databases[name]

    def alter_database(
        self,
        name: str,
        new_database: CatalogDatabase,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogDatabase | None = None,
    ) -> None:
        if expected is not None:
            self._refuse(Capability.VERSIONS)
        if name in self.databases or not ignore_if_not_exists:
            self.get_database(name)
            self.databases[name] = new_database

    def list_tables(self, database_name: str) -> list[str]:
        self.get_database(database_name)
        return [p.object_name for p in self.tables if p.database_name == database_name]

    def list_views(self, database_name: str) -> list[str]:
        paths = [ObjectPath(database_name, name) for name in self.list_tables(database_name)]
        return [p.object_name for p in paths if self._kind(p) is TableKind.VIEW]

    def _kind(self, path: ObjectPath) -> TableKind:
        return self.get_table(path).get_table_kind()

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        if table_path not in self.tables:
            raise NotFoundError(f"no table {table_path}", code="table-not-found")
        return origin(self.tables[table_path])

    def table_exists(self, table_path: ObjectPath) -> bool:
        return table_path in self.tables

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        dropped = self.tables.pop(table_path, None)
        if dropped is None and not ignore_if_not_exists:
            self.get_table(table_path)

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        new_path = ObjectPath(table_path.database_name, new_table_name)
        if table_path not in self.tables and ignore_if_not_exists:
            return
        self.get_table(table_path)
        if new_path in self.tables:
            raise AlreadyExistsError(f"there is a table {new_path}", code="table-exists")
        try:
            self.tables[new_path] = self.tables.pop(table_path)
        except KeyError:  # another thread was faster
            raise NotFoundError(f"no table {table_path}", code="table-not-found") from None

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        self.get_database(table_path.database_name)
        if table.get_table_kind() is TableKind.MATERIALIZED_TABLE:
            self._refuse(Capability.MATERIALIZED_TABLES)
        kept = replace(require_resolved_table(table))
        if self.tables.setdefault(table_path, kept) is not kept and not ignore_if_exists:
            raise AlreadyExistsError(f"there is a table {table_path}", code="table-exists")

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogBaseTable | None = None,
        changes: Sequence[TableChange] | None = None,
    ) -> None:
        if expected is not None or changes is not None:
            self._refuse(Capability.VERSIONS)
        if table_path not in self.tables and ignore_if_not_exists:
            return
        if self._kind(table_path) is not new_table.get_table_kind():
            raise SchemaError(f"{table_path} is of another kind", code="wrong-object-type")
        self.tables[table_path] = require_resolved_table(new_table)
