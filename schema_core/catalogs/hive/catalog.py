"""A catalog in a Hive metastore, as Flink's HiveCatalog keeps it, so that both find the same.

Names are Hive's: letters of English, digits and underscores, all in small letters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from schema_core.arguments import require_instance, validate_methods
from schema_core.catalog.api import Capability, Catalog, require_catalog_names
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogTable,
    TableKind,
)
from schema_core.catalog.optimistic_locking import means_the_same, require_expected
from schema_core.catalog.partitions import CatalogPartition, CatalogPartitionSpec
from schema_core.catalog.resolve import require_resolved_table
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalogs.hive.metastore import (
    VIEW,
    Connection,
    HiveCodec,
    HiveDatabase,
    HiveFunction,
    HivePartition,
    HiveTable,
    Metastore,
)
from schema_core.catalogs.sql.object_store import Kind, exists, ignore_missing, missing
from schema_core.errors import ConflictError, SchemaError, UnsupportedError, at
from schema_core.paths import ObjectPath

#: How often a table is read again when somebody else altered it in between.
TRIES = 20


@validate_methods(Catalog)
class HiveCatalog(Catalog):
    """A catalog in a Hive metastore; `connect` is called when it is opened.

    Names of databases and tables are not case-sensitive and listed in small letters. Tables without
    ``'connector' = 'hive'`` are generic: Hive holds them for Flink, and partitions of them nowhere.
    """

    capabilities = frozenset({Capability.PARTITIONS, Capability.FUNCTIONS, Capability.VERSIONS})

    def __init__(
        self, name: str, connect: Callable[[], Connection], default_database: str = "default"
    ) -> None:
        require_catalog_names(name, default_database)
        self.name = name
        self._default = default_database
        self._connect = connect
        self._connection: Connection | None = None

    def open(self) -> None:
        """Connect.

        Raises:
            NotFoundError: with code `database-not-found` where there is no default database.
        """
        self._database(self._default)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.metastore.close()
            self._connection = None

    @property
    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    @property
    def _metastore(self) -> Metastore:
        return self._opened.metastore

    @property
    def _codec(self) -> HiveCodec:
        return self._opened.codec

    # --- databases -----------------------------------------------------------------------------

    def _database(self, name: str) -> HiveDatabase:
        if (found := self._metastore.database(name.lower())) is not None:
            return found
        raise missing(Kind.DATABASE, name)

    def _usual_folder(self, name: str) -> str:
        """Where a database lies of which nobody said where."""
        lowered = name.lower()
        return self._metastore.default_location("" if lowered == "default" else f"{lowered}.db")

    def get_default_database(self) -> str:
        return self._default

    def list_databases(self) -> list[str]:
        return self._metastore.databases()

    def get_database(self, database_name: str) -> CatalogDatabase:
        stored = self._database(database_name)
        return self._codec.decode_database(stored, self._usual_folder(database_name))

    def database_exists(self, database_name: str) -> bool:
        return self._metastore.database(database_name.lower()) is not None

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        self._codec.check_name("database", name)
        stored = self._codec.encode_database(name.lower(), database)
        made = not self.database_exists(name) and self._metastore.create_database(stored)
        if not made and not ignore_if_exists:
            raise exists(Kind.DATABASE, name)

    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        if not self.database_exists(name):
            return ignore_missing(Kind.DATABASE, name, ignore_if_not_exists)
        if not cascade and (self.list_tables(name) or self.list_functions(name)):
            raise SchemaError(
                f"the database {name} is not empty",
                code="database-not-empty",
                hint="drop what it holds, or drop it with CASCADE",
            )
        self._metastore.drop_database(name.lower(), cascade)
        return None

    def alter_database(
        self,
        name: str,
        new_database: CatalogDatabase,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogDatabase | None = None,
    ) -> None:
        _refuse_expected("databases", expected)
        if (stored := self._metastore.database(name.lower())) is None:
            return ignore_missing(Kind.DATABASE, name, ignore_if_not_exists)
        usual = self._usual_folder(name)
        return self._metastore.alter_database(
            self._codec.alter_database(stored, new_database, usual)
        )

    # --- tables and views ----------------------------------------------------------------------

    def _find(self, path: ObjectPath) -> HiveTable | None:
        return self._metastore.table(path.database_name.lower(), path.object_name.lower())

    def _settled(self, path: ObjectPath) -> HiveTable | None:
        """What is there, read twice alike.

        Hive reads a table row by row while others write, so what it gives may be half of the old
        definition with the time of the new one.
        """
        found = self._find(path)
        while found is not None and found != (again := self._find(path)):
            found = again
        return found

    def _table(self, path: ObjectPath) -> HiveTable:
        if (found := self._settled(path)) is not None:
            return found
        raise missing(Kind.TABLE, path)

    def _folder(self, stored: HiveTable) -> str | None:
        """Where the tables of a database lie, but for those that say otherwise."""
        if stored.database == "default":
            return self._usual_folder("default")
        found = self._metastore.database(stored.database)
        return found.location if found is not None else None

    def _decode(self, stored: HiveTable) -> CatalogBaseTable:
        with at(f"table {stored.name!r}"):
            return self._codec.decode(stored, lambda: self._folder(stored))

    def list_tables(self, database_name: str) -> list[str]:
        self._database(database_name)
        return self._metastore.tables(database_name.lower())

    def list_views(self, database_name: str) -> list[str]:
        self._database(database_name)
        return self._metastore.views(database_name.lower())

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        return self._decode(self._table(table_path))

    def get_table_kind(self, table_path: ObjectPath) -> TableKind:
        return TableKind.VIEW if self._table(table_path).kind == VIEW else TableKind.TABLE

    def table_exists(self, table_path: ObjectPath) -> bool:
        return self._find(table_path) is not None

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Drop a table or view; with the files of a table that is not external."""
        path = table_path.database_name.lower(), table_path.object_name.lower()
        if not self._metastore.drop_table(*path):
            ignore_missing(Kind.TABLE, table_path, ignore_if_not_exists)

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        resolved = self._storable(table)
        self._database(table_path.database_name)
        self._codec.check_name("table", table_path.object_name)
        database, name = table_path.database_name.lower(), table_path.object_name.lower()
        stored = self._codec.encode(database, name, resolved)
        made = not self.table_exists(table_path) and self._metastore.create_table(stored)
        if not made:
            self._database(table_path.database_name)  # which may be gone meanwhile
        if not made and not ignore_if_exists:
            raise exists(Kind.TABLE, table_path)

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogBaseTable | None = None,
    ) -> None:
        """Put another definition in place of the one that is there.

        The metastore compares the time of the last definition and writes in one transaction, so
        that none of our writers loses against another. Flink, Spark and Hive overwrite; what they
        wrote within the second of our own reading may be missed.

        Raises:
            SchemaError: with code `wrong-table-kind`, also between tables of Hive's own and others.
            ConflictError: if there is not what was `expected`.
        """
        resolved = self._storable(new_table)

        def altered(stored: HiveTable) -> HiveTable:
            found = self._decode(stored)
            kinds = found.get_table_kind(), new_table.get_table_kind()
            if kinds[0] is not kinds[1]:
                raise SchemaError(f"{table_path} is no {kinds[1].value}", code="wrong-table-kind")
            if not means_the_same(expected, found):
                require_expected(table_path, expected, found)
            return self._codec.alter(stored, resolved)

        there = self._replace(table_path, altered)
        if not there and not ignore_if_not_exists:
            require_expected(table_path, expected, None)
        if not there:
            ignore_missing(Kind.TABLE, table_path, ignore_if_not_exists)

    def get_stored_table(self, table_path: ObjectPath) -> HiveTable:
        return self._table(table_path)

    def restore_table(
        self, table_path: ObjectPath, stored: Any, *, expected: CatalogBaseTable | None = None
    ) -> None:
        table: HiveTable = require_instance(stored, HiveTable, "stored")

        def restored(current: HiveTable) -> HiveTable:
            found = self._decode(current)
            if not means_the_same(expected, found):
                require_expected(table_path, expected, found)
            return replace(table, name=current.name)

        if not self._replace(table_path, restored):
            require_expected(table_path, expected, None)
            ignore_missing(Kind.TABLE, table_path, ignore=False)

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        self._codec.check_name("table", new_table_name)
        new_path = ObjectPath(table_path.database_name, new_table_name.lower())

        def renamed(stored: HiveTable) -> HiveTable:
            if self.table_exists(new_path):
                raise exists(Kind.TABLE, new_path)
            return replace(stored, name=new_path.object_name)

        if not self._replace(table_path, renamed):
            ignore_missing(Kind.TABLE, table_path, ignore_if_not_exists)

    def _replace(self, path: ObjectPath, change: Callable[[HiveTable], HiveTable]) -> bool:
        """Change what is there; anew, if someone else was faster. Tells whether there is one.

        Raises:
            ConflictError: where someone else is always faster.
        """
        for _ in range(TRIES):
            stored = self._settled(path)
            if stored is None:
                return False
            if self._metastore.alter_table(stored, change(stored)):
                return True
        raise ConflictError(f"{path} is altered by others all the time", hint="try again later")

    def _storable(self, table: CatalogBaseTable) -> ResolvedTable:
        if table.get_table_kind() is TableKind.MATERIALIZED_TABLE:
            self._refuse(Capability.MATERIALIZED_TABLES)
        return require_resolved_table(table)

    # --- partitions ----------------------------------------------------------------------------

    def _partitioned(self, path: ObjectPath) -> tuple[HiveTable, list[str]]:
        """A table that has partition keys, and these."""
        stored = self._table(path)
        table = self._decode(stored)
        if isinstance(table, CatalogTable) and table.is_partitioned():
            return stored, table.get_partition_keys()
        raise SchemaError(f"the table {path} is not partitioned", code="not-partitioned")

    def _partition(
        self, stored: HiveTable, keys: list[str], spec: CatalogPartitionSpec
    ) -> HivePartition | None:
        given = spec.get_partition_spec()
        if set(given) != set(keys) or not stored.partition_columns:
            return None
        return self._metastore.partition(stored, tuple(given[key] for key in keys))

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        wanted = partition_spec or CatalogPartitionSpec({})
        stored, _ = self._partitioned(table_path)
        names = self._metastore.partition_names(stored)
        specs = [CatalogPartitionSpec(self._codec.spec_of(name)) for name in names]
        return [spec for spec in specs if wanted.covers(spec)]

    def get_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogPartition:
        stored, keys = self._partitioned(table_path)
        if (found := self._partition(stored, keys, partition_spec)) is None:
            raise missing(Kind.PARTITION, partition_spec)
        return self._codec.decode_partition(stored, found)

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> bool:
        stored = self._find(table_path)
        table = self._decode(stored) if stored is not None else None
        if stored is None or not isinstance(table, CatalogTable) or not table.is_partitioned():
            return False
        return self._partition(stored, table.get_partition_keys(), partition_spec) is not None

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Keep a partition of a table of Hive's own.

        Raises:
            UnsupportedError: with code `not-in-hive` for a generic table, or a value without text.
        """
        stored, keys = self._partitioned(table_path)
        given = partition_spec.get_partition_spec()
        if set(given) != set(keys):
            raise SchemaError(
                f"{partition_spec} does not give a value for each of {', '.join(keys)}",
                code="invalid-partition-spec",
            )
        made = self._codec.encode_partition(stored, tuple(given[key] for key in keys), partition)
        there = self._partition(stored, keys, partition_spec) is not None
        if (there or not self._metastore.create_partition(made)) and not ignore_if_exists:
            raise exists(Kind.PARTITION, partition_spec)

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        stored, keys = self._partitioned(table_path)
        found = self._partition(stored, keys, partition_spec)
        if found is None or not self._metastore.drop_partition(found):
            ignore_missing(Kind.PARTITION, partition_spec, ignore_if_not_exists)

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogPartition | None = None,
    ) -> None:
        _refuse_expected("partitions", expected)
        stored, keys = self._partitioned(table_path)
        if (found := self._partition(stored, keys, partition_spec)) is None:
            return ignore_missing(Kind.PARTITION, partition_spec, ignore_if_not_exists)
        return self._metastore.alter_partition(
            self._codec.alter_partition(stored, found, new_partition)
        )

    # --- functions -----------------------------------------------------------------------------

    def _function(self, path: ObjectPath) -> HiveFunction | None:
        return self._metastore.function(path.database_name.lower(), path.object_name.lower())

    def list_functions(self, database_name: str) -> list[str]:
        self._database(database_name)
        return self._metastore.functions(database_name.lower())

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        if (found := self._function(function_path)) is None:
            raise missing(Kind.FUNCTION, function_path)
        return self._codec.decode_function(found)

    def function_exists(self, function_path: ObjectPath) -> bool:
        return self._function(function_path) is not None

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        self._database(function_path.database_name)
        self._codec.check_name("function", function_path.object_name)
        made = not self.function_exists(function_path) and self._metastore.create_function(
            self._encoded(function_path, function)
        )
        if not made and not ignore_if_exists:
            raise exists(Kind.FUNCTION, function_path)

    def alter_function(
        self,
        function_path: ObjectPath,
        new_function: CatalogFunction,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogFunction | None = None,
    ) -> None:
        _refuse_expected("functions", expected)
        if not self.function_exists(function_path):
            return ignore_missing(Kind.FUNCTION, function_path, ignore_if_not_exists)
        return self._metastore.alter_function(self._encoded(function_path, new_function))

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        path = function_path.database_name.lower(), function_path.object_name.lower()
        if not self._metastore.drop_function(*path):
            ignore_missing(Kind.FUNCTION, function_path, ignore_if_not_exists)

    def _encoded(self, path: ObjectPath, function: CatalogFunction) -> HiveFunction:
        database, name = path.database_name.lower(), path.object_name.lower()
        return self._codec.encode_function(database, name, function)


def _refuse_expected(what: str, expected: object) -> None:
    """Hive compares what was expected for tables alone."""
    if expected is not None:
        raise UnsupportedError(
            f"a Hive metastore cannot compare {what} while it alters them",
            code="unsupported-capability",
            hint="leave `expected` away",
        )
