"""`TableEnvironment`: where a user defines tables, asks and runs, by PyFlink's method names."""

from __future__ import annotations

from collections.abc import Mapping

from schema_core.catalog.api import Catalog
from schema_core.catalog.manager import FoundTable
from schema_core.catalog.objects import TableKind
from schema_core.catalog.store import CatalogDescriptor
from schema_core.environment import table as tables
from schema_core.environment.config import Configuration, TableConfig
from schema_core.environment.descriptor import ModelDescriptor, TableDescriptor
from schema_core.environment.function_methods import FunctionMethods
from schema_core.environment.operations.dispatch import run
from schema_core.environment.planner import Planner
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.environment.settings import EnvironmentSettings
from schema_core.environment.statement_set import StatementSet
from schema_core.environment.table import Table
from schema_core.environment.type_methods import TypeMethods
from schema_core.paths import ObjectIdentifier, parse_path
from schema_core.sql.query import parse_query
from schema_core.sql.statement import parse_statement
from schema_core.sql.statement_syntax import Statement


class TableEnvironment(FunctionMethods, TypeMethods):
    """A session of tables: catalogs, temporary objects, queries and jobs.

    Nothing but a job needs an engine: definitions, listings and the types of queries are answered
    here.

    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> _ = environment.execute_sql("CREATE TABLE orders (id BIGINT NOT NULL, cost AS id * 2)")
    >>> print(environment.from_path("orders").get_resolved_schema())
    (
      `id` BIGINT NOT NULL,
      `cost` BIGINT NOT NULL AS `id` * 2
    )
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @staticmethod
    def create(
        environment_settings: EnvironmentSettings | Configuration | Mapping[str, str],
        *,
        planner: Planner | None = None,
    ) -> TableEnvironment:
        """A new environment.

        Args:
            environment_settings: Settings, or options alone.
            planner: What runs jobs, instead of the one that the options name.
        """
        settings = environment_settings
        if not isinstance(settings, EnvironmentSettings):
            settings = EnvironmentSettings.new_instance().with_configuration(settings).build()
        return TableEnvironment(Session(settings, planner))

    def get_config(self) -> TableConfig:
        return self._session.config

    # --- SQL -----------------------------------------------------------------------------------

    def execute_sql(self, stmt: str) -> TableResult:
        """Do one statement.

        Raises:
            ParseError: for a text outside the grammar, with the place.
            SchemaCoreError: for a statement that breaks a rule, with the place where there is one.
        """
        return self.execute_statement(parse_statement(stmt), stmt)

    def execute_statement(self, statement: Statement, text: str) -> TableResult:
        """Do one statement that has been parsed; `text` is where its spans point into."""
        return run(self._session, statement, text)

    def sql_query(self, query: str) -> Table:
        """The table of a query, resolved but not run."""
        return tables.of_query(self._session, parse_query(query), query)

    def create_statement_set(self) -> StatementSet:
        """An empty collection of INSERTs."""
        return StatementSet(self._session)

    # --- tables --------------------------------------------------------------------------------

    def _identifier(self, path: str) -> ObjectIdentifier:
        return self._session.registry.qualify(parse_path(path))

    def from_path(self, path: str) -> Table:
        """All of a table or view.

        Raises:
            NotFoundError: with code `table-not-found`.
        """
        return tables.of_path(self._session, path)

    def find_table(self, path: str) -> FoundTable | None:
        """What lies at a path, temporary objects first, as it is kept; None if nothing does."""
        return self._session.tables.find(self._identifier(path))

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """All of the table that a descriptor describes, which gets no path.

        Raises:
            SchemaError: with code `no-schema` where the descriptor has none.
        """
        return tables.of_descriptor(self._session, descriptor)

    def create_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool = False,  # noqa: N803 - PyFlink's name
    ) -> bool:
        """Keep a table in its catalog; tells whether it is new.

        Raises:
            AlreadyExistsError: with code `table-exists`.
        """
        table = descriptor.to_catalog_table()
        return self._session.tables.create(self._identifier(path), table, ignoreIfExists)

    def create_temporary_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool = False,  # noqa: N803 - PyFlink's name
    ) -> bool:
        """Keep a table for this session, at any path; tells whether it is new.

        Raises:
            AlreadyExistsError: with code `table-exists`.
        """
        table = descriptor.to_catalog_table()
        return self._session.tables.create_temporary(self._identifier(path), table, ignoreIfExists)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        """Keep a query in a catalog; tells whether it is new.

        Raises:
            AlreadyExistsError: with code `view-exists`.
            UnsupportedError: with code `no-sql` for a query that cannot be written in SQL.
        """
        view = table.to_view()
        return self._session.tables.create(self._identifier(view_path), view, ignore_if_exists)

    def create_temporary_view(
        self, view_path: str, table: Table, ignore_if_exists: bool = False
    ) -> bool:
        """Keep a query for this session, at any path; tells whether it is new.

        Raises:
            AlreadyExistsError: with code `view-exists`.
            UnsupportedError: with code `no-sql` for a query that cannot be written in SQL.
        """
        identifier, view = self._identifier(view_path), table.to_view()
        return self._session.tables.create_temporary(identifier, view, ignore_if_exists)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent table; tells whether there was one.

        Raises:
            NotFoundError: with code `table-not-found`, unless that is to be ignored.
            SchemaError: with code `hidden-by-temporary` (FLIP-64).
        """
        identifier = self._identifier(table_path)
        return self._session.tables.drop(TableKind.TABLE, identifier, ignore_if_not_exists)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent view; tells whether there was one.

        Raises:
            NotFoundError: with code `view-not-found`, unless that is to be ignored.
            SchemaError: with code `hidden-by-temporary` (FLIP-64).
        """
        identifier = self._identifier(view_path)
        return self._session.tables.drop(TableKind.VIEW, identifier, ignore_if_not_exists)

    def drop_temporary_table(self, table_path: str) -> bool:
        """Drop a temporary table; tells whether there was one."""
        identifier = self._identifier(table_path)
        return self._session.tables.drop_temporary(TableKind.TABLE, identifier, if_exists=True)

    def drop_temporary_view(self, view_path: str) -> bool:
        """Drop a temporary view; tells whether there was one."""
        identifier = self._identifier(view_path)
        return self._session.tables.drop_temporary(TableKind.VIEW, identifier, if_exists=True)

    # --- listings ------------------------------------------------------------------------------

    def _current(self) -> tuple[str, str]:
        return self._session.registry.qualify_database(())

    def list_catalogs(self) -> list[str]:
        """The names of all catalogs, sorted."""
        return self._session.registry.names()

    def list_databases(self) -> list[str]:
        """The databases of the current catalog, sorted."""
        return sorted(self._session.registry.current().list_databases())

    def list_tables(
        self, catalog_name: str | None = None, database_name: str | None = None
    ) -> list[str]:
        """The permanent tables, views and materialized tables of a database, sorted.

        FLIP-64: temporary objects are listed by `list_temporary_tables`.
        """
        catalog, database = self._place(catalog_name, database_name)
        return sorted(self._session.registry.get(catalog).list_tables(database))

    def list_views(self) -> list[str]:
        """The permanent views of the current database, sorted."""
        catalog, database = self._current()
        return sorted(self._session.registry.get(catalog).list_views(database))

    def list_materialized_tables(self) -> list[str]:
        """The materialized tables of the current database, sorted."""
        catalog, database = self._current()
        return sorted(self._session.registry.get(catalog).list_materialized_tables(database))

    def list_temporary_tables(
        self, catalog_name: str | None = None, database_name: str | None = None
    ) -> list[str]:
        """The temporary tables and views of a database, sorted."""
        place = self._place(catalog_name, database_name)
        return self._session.temporary.table_names(*place)

    def list_temporary_views(self) -> list[str]:
        """The temporary views of the current database, sorted."""
        return self._session.temporary.table_names(*self._current(), TableKind.VIEW)

    def list_models(self) -> list[str]:
        """The permanent models of the current database, sorted."""
        return self._session.models.list_models(*self._current())

    def list_temporary_models(self) -> list[str]:
        """The temporary models of the current database, sorted."""
        return self._session.temporary.model_names(*self._current())

    def _place(self, catalog: str | None, database: str | None) -> tuple[str, str]:
        given = [name for name in (catalog, database) if name is not None]
        return self._session.registry.qualify_database(tuple(given))

    # --- catalogs and databases ----------------------------------------------------------------

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Make a catalog from its options.

        Raises:
            AlreadyExistsError: with code `catalog-exists`.
            SchemaError: with code `catalog-type` or `catalog-option`.
        """
        given = catalog_descriptor
        descriptor = CatalogDescriptor.of(catalog_name, given.configuration, given.comment)
        self._session.registry.create(descriptor, ignore_if_exists=False)

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Use a catalog that exists as an object.

        Raises:
            AlreadyExistsError: with code `catalog-exists`.
        """
        self._session.registry.register(catalog_name, catalog)

    def get_catalog(self, catalog_name: str) -> Catalog:
        """The catalog of this name.

        Raises:
            NotFoundError: with code `catalog-not-found`.
        """
        return self._session.registry.get(catalog_name)

    def use_catalog(self, catalog_name: str | None) -> None:
        """Choose the current catalog, and its default database; None for none."""
        self._session.registry.use_catalog(catalog_name)

    def use_database(self, database_name: str | None) -> None:
        """Choose the current database; None for none."""
        self._session.registry.use_database(database_name)

    def get_current_catalog(self) -> str | None:
        return self._session.registry.current_catalog

    def get_current_database(self) -> str | None:
        return self._session.registry.current_database

    # --- models --------------------------------------------------------------------------------

    def create_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool = False
    ) -> None:
        """Keep a model in its catalog.

        Raises:
            AlreadyExistsError: with code `model-exists`.
        """
        model = model_descriptor.to_catalog_model()
        self._session.models.create(self._identifier(model_path), model, ignore_if_exists)

    def create_temporary_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool = False
    ) -> None:
        """Keep a model for this session, at any path.

        Raises:
            AlreadyExistsError: with code `temporary-model-exists`.
        """
        model = model_descriptor.to_catalog_model()
        self._session.models.create_temporary(self._identifier(model_path), model, ignore_if_exists)

    def drop_model(self, model_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent model; tells whether there was one."""
        return self._session.models.drop(self._identifier(model_path), ignore_if_not_exists)

    def drop_temporary_model(self, model_path: str) -> bool:
        """Drop a temporary model; tells whether there was one."""
        return self._session.models.drop_temporary(self._identifier(model_path), if_exists=True)
