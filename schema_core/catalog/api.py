"""The interface of catalogs, which store databases, tables, views, functions, models and types.

Paths within a catalog have two names, without the catalog's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.paths import ObjectPath
from schema_core.base.text import is_blank
from schema_core.catalog import objects
from schema_core.catalog.migration_history import CatalogMigration
from schema_core.catalog.statistics import (
    CatalogColumnStatistics,
    CatalogTableStatistics,
    Change,
    StoredStatistics,
)
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError
from schema_core.expressions.fluent import Expression
from schema_core.schema.resolve import SchemaResolver

if TYPE_CHECKING:
    from schema_core.catalog.changes.table_changes import TableChange
    from schema_core.catalog.managed import ManagedStorage
    from schema_core.catalog.procedures import Procedure

#: The options of tables of files: how many versions are kept, and the time of the one to read.
RETAINED_SNAPSHOTS: Final = "snapshot.num-retained.max"
VERSION_TIME: Final = "scan.timestamp-millis"


class Capability(Enum):
    """What a catalog may support besides databases, tables and views."""

    PARTITIONS = "partitions"
    FUNCTIONS = "functions"
    MODELS = "models"
    TYPES = "types"
    STATISTICS = "statistics"
    PROCEDURES = "procedures"
    MATERIALIZED_TABLES = "materialized tables"
    #: `expected` is compared in the transaction that alters, at least for tables and views
    VERSIONS = "versions"
    #: several changes in one transaction, and the history of migrations
    MIGRATIONS = "migrations"


def require_catalog_names(name: object, default_database: object) -> None:
    """Refuse invalid names of a catalog and its default database.

    Errors: `invalid-argument`, `invalid-name`.
    """
    for what, item in (("name", name), ("default_database", default_database)):
        if is_blank(str(require_instance(item, str, what))):
            raise SchemaError(f"{what} must not be blank", code="invalid-name")


class FunctionDefinitionFactory(Protocol):
    """Loads the functions of a catalog, as Flink's interface of this name."""

    def create_function_definition(
        self, name: str, catalog_function: objects.CatalogFunction
    ) -> object:
        """Return a function in Python, the result of `udf`, or a `FunctionClass`.

        The factory decides which code the stored definition may name.

        Args:
            name: The name of the function.
            catalog_function: Its definition in the catalog.
        """


class Catalog(ABC):
    """Stores objects by path. The method names are PyFlink's.

    A subclass declares in `capabilities` what it supports besides databases, tables and views.

    Every method raises `NotFoundError` for a missing object (`database-not-found`,
    `table-not-found`, `function-not-found`, `model-not-found`, `type-not-found`,
    `partition-not-found`), and `AlreadyExistsError` for a new object that exists
    (`database-exists`, `table-exists`, ...), unless a flag ``ignore_if_...`` disables it. A
    failure of the store raises `ExternalError` (`catalog-store-failed`).

    Tables, views and models are stored resolved: a catalog resolves an unresolved one, or refuses
    it (`unresolved-object`). Results are unresolved (FLIP-164).

    ALTER methods accept as `expected` the definition that was read. If the current one differs, or
    was dropped, they raise a `ConflictError` with both and alter nothing; see `require_expected`.
    Without `Capability.VERSIONS` a catalog refuses `expected`, and thus `changes`
    (`unsupported-capability`); with it, it may do so for other kinds than tables and views.
    """

    #: What it supports besides databases, tables and views.
    capabilities: frozenset[Capability] = frozenset()
    #: Where it keeps the rows of tables without a connector; None if it manages none.
    storage: ManagedStorage | None = None

    def open(self) -> None:
        """Connect or prepare; called once before any other method."""
        return

    def close(self) -> None:
        """Release what `open` acquired."""
        return

    def use_resolver(self, resolver: SchemaResolver) -> None:
        """Receive an environment's resolver, with its functions and types.

        A catalog that does not resolve objects ignores it.
        """
        return

    # --- databases -----------------------------------------------------------------------------

    @abstractmethod
    def get_default_database(self) -> str | None:
        """Return the database that USE CATALOG makes current, or None."""

    @abstractmethod
    def list_databases(self) -> list[str]: ...

    @abstractmethod
    def get_database(self, database_name: str) -> objects.CatalogDatabase: ...

    @abstractmethod
    def database_exists(self, database_name: str) -> bool: ...

    @abstractmethod
    def create_database(
        self, name: str, database: objects.CatalogDatabase, ignore_if_exists: bool
    ) -> None: ...

    @abstractmethod
    def drop_database(self, name: str, ignore_if_not_exists: bool, cascade: bool = False) -> None:
        """Drop the database; without `cascade` only an empty one (`database-not-empty`)."""

    @abstractmethod
    def alter_database(
        self,
        name: str,
        new_database: objects.CatalogDatabase,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogDatabase | None = None,
    ) -> None: ...

    # --- tables, views, materialized tables ----------------------------------------------------

    @abstractmethod
    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of tables, views and materialized tables."""

    def find_table_names(
        self, database_name: str, prefix: str = "", limit: int | None = None
    ) -> list[str]:
        """Return at most `limit` names of `list_tables`, for hints and completion.

        They start with `prefix` in any case; leading quotes are ignored.
        """
        return names_starting_with(prefix, self.list_tables(database_name))[:limit]

    @abstractmethod
    def list_views(self, database_name: str) -> list[str]: ...

    def list_materialized_tables(self, database_name: str) -> list[str]:
        self._refuse(Capability.MATERIALIZED_TABLES)

    @abstractmethod
    def get_table(self, table_path: ObjectPath) -> objects.CatalogBaseTable:
        """Return the unresolved table, view or materialized table."""

    def connector_options(
        self, table_path: ObjectPath, table: objects.CatalogBaseTable
    ) -> Mapping[str, str] | None:
        """Return the options from which a connector reads and writes a table of this catalog.

        They are those of a table without the option ``connector`` in a catalog that has rows of its
        own; a session does not show them. None: the table's own options.

        Args:
            table_path: The path of the table.
            table: The table, as a session shows it.
        """
        return None

    def get_table_at(self, table_path: ObjectPath, timestamp: int) -> objects.CatalogBaseTable:
        """Return the unresolved table as it was at a time, for ``FOR SYSTEM_TIME AS OF``.

        Flink's ``Catalog.getTable(ObjectPath, long)``. The connector reads the rows of that time
        from the options of the result. Here it is the current definition with the time, if the
        table keeps snapshots.

        Args:
            table_path: The path of the table.
            timestamp: The time in milliseconds since 1970.

        Raises:
            NotFoundError: `table-not-found` if there was no such table at the time.
            UnsupportedError: `time-travel-not-supported` if the table has no versions.
        """
        table = self.find_table(table_path)
        if isinstance(table, objects.CatalogTable) and RETAINED_SNAPSHOTS in table.options:
            return table.copy({**table.options, VERSION_TIME: str(timestamp)})
        raise UnsupportedError(
            f"{type(self).__name__} does not keep versions of {table_path.get_full_name()!r}",
            code="time-travel-not-supported",
            hint="read the current version; a table of files keeps those of later commits with the "
            f"option {RETAINED_SNAPSHOTS!r}",
        )

    def get_table_kind(self, table_path: ObjectPath) -> objects.TableKind:
        """Return the kind of a table or view.

        A catalog that stores the kind separately overrides this, so that an object with an invalid
        definition can be dropped.
        """
        return self.get_table(table_path).get_table_kind()

    def get_resolved_table(self, table_path: ObjectPath) -> ResolvedTable | None:
        """Return the object with the types of its creation, None without an object or types."""
        return None

    @abstractmethod
    def table_exists(self, table_path: ObjectPath) -> bool: ...

    def find_table(self, table_path: ObjectPath) -> objects.CatalogBaseTable | None:
        """Return the table or view as `get_table` does, or None.

        A catalog that needs only one read for this overrides it.
        """
        if not self.table_exists(table_path):
            return None
        try:
            return self.get_table(table_path)
        except NotFoundError:  # dropped by another writer since
            return None

    @abstractmethod
    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None: ...

    @abstractmethod
    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> None:
        """Rename a table within its database; a name without characters is `invalid-name`."""

    @abstractmethod
    def create_table(
        self, table_path: ObjectPath, table: objects.CatalogBaseTable, ignore_if_exists: bool
    ) -> None:
        """Store a table, view or materialized table."""

    @abstractmethod
    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: objects.CatalogBaseTable,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogBaseTable | None = None,
        changes: Sequence[TableChange] | None = None,
    ) -> None:
        """Replace the definition of a table, view or materialized table.

        `changes`, for stores that alter a table in steps, lead from `expected` to `new_table`. A
        catalog that does not need them checks them.

        Raises:
            SchemaError: `wrong-object-type` for another kind, `change-does-not-fit` for wrong
                changes.
            ConflictError: if the current definition is not `expected`.
        """

    def get_stored_table(self, table_path: ObjectPath) -> object:
        """Return a definition in the catalog's own form, for `restore_table`.

        A catalog that stores text overrides both, to restore what no longer resolves.
        """
        return self.get_resolved_table(table_path) or self.get_table(table_path)

    def restore_table(
        self,
        table_path: ObjectPath,
        stored: Any,
        *,
        expected: objects.CatalogBaseTable | None = None,
    ) -> None:
        """Replace the current definition by one that `get_stored_table` returned.

        Raises:
            NotFoundError: `table-not-found`.
            ConflictError: if the current definition is not `expected`.
            SchemaError: `unresolved-object` where a catalog stores only what resolves.
        """
        if expected is None:
            self.alter_table(table_path, stored, ignore_if_not_exists=False)
        else:
            self.alter_table(table_path, stored, ignore_if_not_exists=False, expected=expected)

    # --- partitions ----------------------------------------------------------------------------
    #
    # As in Flink, a table that does not exist or is not partitioned has no partitions: methods of
    # one partition raise `partition-not-found`. Methods of all partitions, and `create_partition`,
    # raise `table-not-found` or `not-partitioned`.

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec | None = None
    ) -> list[objects.CatalogPartitionSpec]:
        """Return the partitions that have all values of `partition_spec`."""
        self._refuse(Capability.PARTITIONS)

    def list_partitions_by_filter(
        self, table_path: ObjectPath, filters: Sequence[Expression | str]
    ) -> list[objects.CatalogPartitionSpec]:
        """Return the partitions for which all filters are TRUE.

        Args:
            table_path: The path of the table.
            filters: Conditions over the partition keys, as expressions or in SQL: comparisons of
                one key with constants, combined by AND, OR and NOT. Values that are not of the
                type of their key are NULL.

        Raises:
            NotFoundError: `table-not-found`.
            SchemaError: `not-partitioned`, or an error of an expression such as `unknown-column`.
            UnsupportedError: `feature-not-supported` for other conditions.
        """
        from schema_core.catalog.partition_filters import select_partitions

        specs = self.list_partitions(table_path)
        return select_partitions(self.get_table(table_path), specs, filters)

    def get_partition(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec
    ) -> objects.CatalogPartition:
        self._refuse(Capability.PARTITIONS)

    def partition_exists(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec
    ) -> bool:
        self._refuse(Capability.PARTITIONS)

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        partition: objects.CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Store a partition.

        Raises:
            SchemaError: `not-partitioned`, or `invalid-partition-spec` if the names are not exactly
                the partition keys.
        """
        self._refuse(Capability.PARTITIONS)

    def drop_partition(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        ignore_if_not_exists: bool,
    ) -> None:
        self._refuse(Capability.PARTITIONS)

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        new_partition: objects.CatalogPartition,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogPartition | None = None,
    ) -> None:
        self._refuse(Capability.PARTITIONS)

    # --- statistics ----------------------------------------------------------------------------

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return the statistics of a table; -1 where none are stored."""
        return self._get_statistics(table_path, None).table

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return the statistics of the columns of a table that have any."""
        return self._get_statistics(table_path, None).columns

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return the statistics of a partition; -1 where none are stored."""
        return self._get_statistics(table_path, partition_spec).table

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: objects.CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return the statistics of the columns of a partition."""
        return self._get_statistics(table_path, partition_spec).columns

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: Sequence[objects.CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        """Return the statistics of partitions, in the given order."""
        specs = require_sequence(partition_specs, "partition_specs")
        return [self.get_partition_statistics(table_path, spec) for spec in specs]

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: Sequence[objects.CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        """Return the statistics of the columns of partitions, in the given order."""
        specs = require_sequence(partition_specs, "partition_specs")
        return [self.get_partition_column_statistics(table_path, spec) for spec in specs]

    def alter_table_statistics(
        self,
        table_path: ObjectPath,
        table_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace the statistics of a table."""
        change = partial(StoredStatistics.with_table, table=table_statistics)
        self._alter_statistics(table_path, None, change, ignore_if_not_exists)

    def alter_table_column_statistics(
        self,
        table_path: ObjectPath,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace all statistics of the columns of a table."""
        change = partial(StoredStatistics.with_columns, columns=column_statistics)
        self._alter_statistics(table_path, None, change, ignore_if_not_exists)

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace the statistics of a partition."""
        change = partial(StoredStatistics.with_table, table=partition_statistics)
        self._alter_statistics(table_path, partition_spec, change, ignore_if_not_exists)

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: objects.CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace all statistics of the columns of a partition."""
        change = partial(StoredStatistics.with_columns, columns=column_statistics)
        self._alter_statistics(table_path, partition_spec, change, ignore_if_not_exists)

    def _get_statistics(
        self, table_path: ObjectPath, spec: objects.CatalogPartitionSpec | None
    ) -> StoredStatistics:
        self._refuse(Capability.STATISTICS)

    def _alter_statistics(
        self,
        table_path: ObjectPath,
        spec: objects.CatalogPartitionSpec | None,
        change: Change,
        ignore_if_not_exists: bool,
    ) -> None:
        self._refuse(Capability.STATISTICS)

    # --- functions -----------------------------------------------------------------------------

    def list_functions(self, database_name: str) -> list[str]:
        return []

    def get_function(self, function_path: ObjectPath) -> objects.CatalogFunction:
        self._refuse(Capability.FUNCTIONS)

    def function_exists(self, function_path: ObjectPath) -> bool:
        return False

    def get_function_definition_factory(self) -> FunctionDefinitionFactory | None:
        """Return what loads the functions of this catalog, as Flink's method; None by default.

        Without it, a function is a declared class or a function in Python of an allowed module.
        """
        return None

    def create_function(
        self, function_path: ObjectPath, function: objects.CatalogFunction, ignore_if_exists: bool
    ) -> None:
        self._refuse(Capability.FUNCTIONS)

    def alter_function(
        self,
        function_path: ObjectPath,
        new_function: objects.CatalogFunction,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogFunction | None = None,
    ) -> None:
        self._refuse(Capability.FUNCTIONS)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._refuse(Capability.FUNCTIONS)

    # --- procedures ----------------------------------------------------------------------------

    def list_procedures(self, database_name: str) -> list[str]:
        self._refuse(Capability.PROCEDURES)

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        """Return the procedure that CALL runs (`procedure-not-found`)."""
        self._refuse(Capability.PROCEDURES)

    # --- models --------------------------------------------------------------------------------

    def list_models(self, database_name: str) -> list[str]:
        return []

    def get_model(self, model_path: ObjectPath) -> objects.CatalogModel:
        self._refuse(Capability.MODELS)

    def model_exists(self, model_path: ObjectPath) -> bool:
        return False

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._refuse(Capability.MODELS)

    def rename_model(
        self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool
    ) -> None:
        self._refuse(Capability.MODELS)

    def create_model(
        self, model_path: ObjectPath, model: objects.CatalogModel, ignore_if_exists: bool
    ) -> None:
        self._refuse(Capability.MODELS)

    def alter_model(
        self,
        model_path: ObjectPath,
        new_model: objects.CatalogModel,
        ignore_if_not_exists: bool,
        *,
        expected: objects.CatalogModel | None = None,
    ) -> None:
        self._refuse(Capability.MODELS)

    # --- user-defined types --------------------------------------------------------------------

    def list_types(self, database_name: str) -> list[str]:
        return []

    def get_type(self, type_path: ObjectPath) -> objects.CatalogType:
        self._refuse(Capability.TYPES)

    def type_exists(self, type_path: ObjectPath) -> bool:
        return False

    def create_type(
        self, type_path: ObjectPath, type_: objects.CatalogType, ignore_if_exists: bool
    ) -> None:
        self._refuse(Capability.TYPES)

    def drop_type(self, type_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._refuse(Capability.TYPES)

    # --- transactions and migrations -----------------------------------------------------------

    def transaction(self) -> AbstractContextManager[Catalog]:
        """Return a context of this catalog in which all changes are made, or none if it raises.

        Transactions run one after the other, across processes. Requires `Capability.MIGRATIONS`.
        """
        self._refuse(Capability.MIGRATIONS)

    @contextmanager
    def dry_run(self) -> Iterator[Catalog]:
        """Yield this catalog, open for changes that only the context sees and that are undone.

        Called instead of `open`, it closes the catalog; requires `Capability.MIGRATIONS`. The
        default rolls a transaction back. A catalog whose `open` changes its store overrides it.
        """
        self.open()
        try:
            with rolled_back(self) as inner:
                yield inner
        finally:
            self.close()

    def list_migrations(self) -> list[CatalogMigration]:
        """Return the applied migrations, in that order, without an unfinished one."""
        return []

    def list_undone_migrations(self) -> list[CatalogMigration]:
        """Return the entries of migrations that were undone, in that order."""
        return []

    def find_unfinished_migration(self) -> CatalogMigration | None:
        """Return the migration with `CatalogMigration.progress`, if there is one."""
        return None

    def add_migration(self, migration: CatalogMigration) -> None:
        """Add a migration in the transaction that applies or undoes it (`migration-exists`)."""
        self._refuse(Capability.MIGRATIONS)

    def remove_migration(self, name: str) -> None:
        """Remove a migration in the transaction that undoes it (`migration-not-found`)."""
        self._refuse(Capability.MIGRATIONS)

    def _refuse(self, capability: Capability) -> NoReturn:
        raise UnsupportedError(
            f"{type(self).__name__} does not support {capability.value}",
            code="unsupported-capability",
        )


def names_starting_with(prefix: str, names: Iterable[str]) -> list[str]:
    """Return the names that start with a prefix in any case; leading quotes are ignored.

    >>> names_starting_with("or", ["Orders", "`orders`", "customers"])
    ['Orders', '`orders`']
    """
    wanted = prefix.lower()
    return [name for name in names if name.lower().lstrip("`").startswith(wanted)]


def sorted_names(*lists: Sequence[str]) -> list[str]:
    """Return the sorted names of several lists without duplicates.

    >>> sorted_names(["b", "a"], ["a"])
    ['a', 'b']
    """
    return sorted({name for names in lists for name in names})


class _DryRunEnded(Exception):  # noqa: N818 - a signal, which is never raised outside
    """Rolls back a dry run."""


@contextmanager
def rolled_back(catalog: Catalog) -> Iterator[Catalog]:
    """Return a context whose changes to the catalog are undone at its end."""
    with suppress(_DryRunEnded), catalog.transaction() as inner:
        yield inner
        raise _DryRunEnded
