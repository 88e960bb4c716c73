"""`TableEnvironment`: where a user defines tables, asks and runs, by PyFlink's method names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from schema_core.arguments import require_instance, validate_arguments
from schema_core.catalog.manager import FoundTable
from schema_core.catalog.objects import TableKind
from schema_core.environment import elements, frames
from schema_core.environment import table as tables
from schema_core.environment.catalog_methods import CatalogMethods
from schema_core.environment.completion import complete
from schema_core.environment.config import Configuration, TableConfig
from schema_core.environment.deprecated_methods import DeprecatedMethods
from schema_core.environment.description import Description, describe
from schema_core.environment.descriptor import TableDescriptor
from schema_core.environment.function_methods import FunctionMethods
from schema_core.environment.operations.data import explained_text
from schema_core.environment.operations.dispatch import run
from schema_core.environment.operations.show_create import create_statement
from schema_core.environment.planner import JobStatusHook, Planner
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.environment.settings import EnvironmentSettings
from schema_core.environment.statement_set import StatementSet
from schema_core.environment.table import Table
from schema_core.environment.type_methods import TypeMethods
from schema_core.errors import SchemaError
from schema_core.paths import parse_path
from schema_core.sql.parser import parse_query, parse_statement
from schema_core.sql.statement_syntax import Statement
from schema_core.sql.summary import Operation

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession


class TableEnvironment(CatalogMethods, FunctionMethods, TypeMethods, DeprecatedMethods):
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
        spark: SparkSession | None = None,
        hooks: Iterable[JobStatusHook] = (),
        planner: Planner | None = None,
    ) -> TableEnvironment:
        """Create an environment.

        Args:
            environment_settings: Settings, or a mapping of options.
            spark: The Spark session in whose SparkContext jobs run. Jobs open a session of their
                own in it, so it is not changed. Without it, jobs run in the SparkContext of the
                process; Spark is started if none runs.
            hooks: Called when the status of a job of this environment changes (FLIP-218).
            planner: The planner that runs jobs, instead of the one that the options name. It has
                its own session, so `spark` cannot be passed as well.

        Raises:
            SchemaError: with code `wrong-argument` for an argument of another type.
        """
        if planner is not None and spark is not None:
            raise SchemaError("spark and planner exclude each other", code="wrong-argument")
        require_instance(hooks, Iterable, "hooks")
        hooks = tuple(hooks)
        for hook in hooks:
            require_instance(hook, JobStatusHook, "hooks")
        settings = environment_settings
        if not isinstance(settings, EnvironmentSettings):
            require_instance(settings, Mapping, "environment_settings")
            settings = EnvironmentSettings.new_instance().with_configuration(settings).build()
        return TableEnvironment(Session(settings, planner, engine_session=spark, hooks=hooks))

    def get_config(self) -> TableConfig:
        return self._session.config

    # --- SQL -----------------------------------------------------------------------------------

    @validate_arguments(stmt=str)
    def execute_sql(self, stmt: str) -> TableResult:
        """Do one statement.

        Raises:
            ParseError: for a text outside the grammar, with the place.
            SchemaCoreError: for a statement that breaks a rule, with the place where there is one.
        """
        return self.execute_statement(parse_statement(stmt), stmt)

    def execute_statement(self, statement: Statement, text: str) -> TableResult:
        """Execute one parsed statement; `text` is what its spans point into.

        Raises:
            SchemaError: with code `wrong-argument` for what is not a statement.
        """
        require_instance(statement, Operation, "statement")
        require_instance(text, str, "text")
        return run(self._session, statement, text)

    def explain_sql(self, stmt: str, *extra_details: object) -> str:
        """How the engine would run a query or an INSERT, as text.

        Args:
            stmt: The statement, without EXPLAIN.
            extra_details: What else to tell, as in PyFlink; an engine that has no more tells less.

        Raises:
            UnsupportedError: with code `not-explainable` for a statement without a query.
        """
        del extra_details
        require_instance(stmt, str, "stmt")
        return explained_text(self._session, parse_statement(stmt), stmt)

    @validate_arguments(text=str, position=int)
    def complete_statement(self, text: str, position: int) -> list[str]:
        """What may stand in place of the word that ends at a position (FLIP-32): names, then words.

        Names are those of what there is: tables behind FROM, columns of the tables that the whole
        text reads, functions, databases, catalogs. Words are those that the parser takes there.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE orders (id INT, cost INT)")
        >>> environment.complete_statement("SELECT * FROM o", 15)
        ['orders']
        >>> environment.complete_statement("SELECT co FROM orders", 9)[0]
        'cost'
        >>> environment.complete_statement("SELECT id FROM orders ORD", 25)
        ['ORDER']
        """
        return complete(self._session, text, position)

    @validate_arguments(query=str)
    def sql_query(self, query: str) -> Table:
        """The table of a query, resolved but not run."""
        return tables.of_query(self._session, parse_query(query), query)

    def create_statement_set(self) -> StatementSet:
        """An empty collection of INSERTs."""
        return StatementSet(self._session)

    # --- tables --------------------------------------------------------------------------------

    @validate_arguments(path=str)
    def from_path(self, path: str) -> Table:
        """All of a table or view.

        Raises:
            NotFoundError: with code `table-not-found`.
        """
        return tables.of_path(self._session, path)

    @validate_arguments(path=str)
    def find_table(self, path: str) -> FoundTable | None:
        """What lies at a path, temporary objects first, as it is kept; None if nothing does."""
        return self._session.tables.find(self._identifier(path))

    @validate_arguments(descriptor=TableDescriptor)
    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """All of the table that a descriptor describes, which gets no path.

        Raises:
            SchemaError: with code `missing-schema` where the descriptor has none.
        """
        return tables.of_descriptor(self._session, descriptor)

    def from_elements(
        self, elements: Iterable[Any], schema: object = None, verify_schema: bool = True
    ) -> Table:
        """The table of Python values.

        Args:
            elements: Rows: tuples, lists, dictionaries, `Row` objects.
            schema: A row type or its text, or the names of the columns; types that are not given
                are inferred from all rows.
            verify_schema: Whether every value is compared with its type.

        Raises:
            SchemaError: with code `not-a-value`, `data-type-not-inferred`, `column-count-mismatch`,
                `invalid-row-values` or `too-many-rows`.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> print(environment.from_elements([(1, "Ann"), (2, None)], ["id", "name"]))
        (
          `id` BIGINT,
          `name` STRING
        )
        """
        require_instance(elements, Iterable, "elements")
        rows = list(elements)
        return self._of_rows(rows, schema, verify_schema)

    def from_pandas(self, pdf: pd.DataFrame, schema: object = None, split_num: int = 1) -> Table:
        """The table of a data frame of pandas.

        Args:
            pdf: The frame.
            schema: A row type, or names or types of the columns; else those of the frame.
            split_num: Is of no use here; PyFlink has it.

        Raises:
            SchemaError: as `from_elements`.
        """
        del split_num
        told = frames.schema_of(pdf, schema)
        return self._of_rows(frames.rows_of(pdf), told, verify=True)

    def _of_rows(self, rows: list[Any], schema: object, verify: bool) -> Table:
        type_ = elements.row_type(rows, schema)
        zone = self.get_config().get_local_timezone()
        query = elements.query_of(rows, type_, zone, verify=verify)
        return tables.of_values(self._session, query, type_)

    @validate_arguments(path=str, descriptor=TableDescriptor)
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

    @validate_arguments(path=str, descriptor=TableDescriptor)
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

    @validate_arguments(view_path=str, table=Table)
    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        """Keep a query in a catalog; tells whether it is new.

        Raises:
            AlreadyExistsError: with code `view-exists`.
            UnsupportedError: with code `query-not-in-sql` or `inline-function` for a query that
                cannot be written in SQL; a temporary view takes any query.
        """
        view = table.to_view()
        return self._session.tables.create(self._identifier(view_path), view, ignore_if_exists)

    @validate_arguments(view_path=str, table=Table)
    def create_temporary_view(
        self, view_path: str, table: Table, ignore_if_exists: bool = False
    ) -> bool:
        """Keep a query for this session, at any path; return whether it is new.

        The view holds the query itself, so it may be one that has no text in SQL: over a table of a
        descriptor, or with functions that are not registered.

        Raises:
            AlreadyExistsError: with code `view-exists`.
        """
        identifier, view = self._identifier(view_path), table.to_temporary_view()
        return self._session.tables.create_temporary(identifier, view, ignore_if_exists)

    @validate_arguments(table_path=str, ignore_if_not_exists=bool)
    def drop_table(self, table_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent table; return whether there was one.

        Raises:
            NotFoundError: with code `table-not-found`, unless that is to be ignored.
            SchemaError: with code `hidden-by-temporary` where a temporary table or view exists at
                the path (FLIP-64); the statement DROP TABLE only minds a temporary table.
        """
        identifier = self._identifier(table_path)
        tables = self._session.tables
        return tables.drop_unless_hidden(TableKind.TABLE, identifier, ignore_if_not_exists)

    @validate_arguments(view_path=str, ignore_if_not_exists=bool)
    def drop_view(self, view_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent view; return whether there was one.

        Raises:
            NotFoundError: with code `view-not-found`, unless that is to be ignored.
            SchemaError: with code `hidden-by-temporary` where a temporary table or view exists at
                the path (FLIP-64); the statement DROP VIEW only minds a temporary view.
        """
        identifier = self._identifier(view_path)
        tables = self._session.tables
        return tables.drop_unless_hidden(TableKind.VIEW, identifier, ignore_if_not_exists)

    @validate_arguments(table_path=str)
    def drop_temporary_table(self, table_path: str) -> bool:
        """Drop a temporary table; tells whether there was one."""
        identifier = self._identifier(table_path)
        return self._session.tables.drop_temporary(TableKind.TABLE, identifier, if_exists=True)

    @validate_arguments(view_path=str)
    def drop_temporary_view(self, view_path: str) -> bool:
        """Drop a temporary view; tells whether there was one."""
        identifier = self._identifier(view_path)
        return self._session.tables.drop_temporary(TableKind.VIEW, identifier, if_exists=True)

    # --- temporary objects ---------------------------------------------------------------------

    def temporary_scope(self) -> AbstractContextManager[None]:
        """A block that leaves no temporary object behind, and none changed.

        Tables, views, functions, models and types that are made within it are gone behind it, also
        after an error; those that it dropped or replaced are there again. Blocks may be nested.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> with environment.temporary_scope():
        ...     _ = environment.execute_sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
        ...     environment.list_temporary_views()
        ['v']
        >>> environment.list_temporary_views()
        []
        """
        return self._session.temporary_scope()

    @validate_arguments(path=str)
    def describe(self, path: str) -> Description:
        """What a path means here, and what it hides (FLIP-64).

        Raises:
            NotFoundError: with code `table-not-found` where nothing lies there.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE t (a INT)")
        >>> _ = environment.execute_sql("CREATE TEMPORARY VIEW t AS SELECT 1 AS b")
        >>> print(environment.describe("t"))
        temporary view default_catalog.default_database.t, which hides a table
        (
          `b` INT NOT NULL
        )
        """
        return describe(self._session, parse_path(path))

    def list_hidden(self) -> list[str]:
        """What temporary objects hide at the moment, a sentence each, sorted."""
        return sorted(map(str, self._session.shadowing.hidden()))

    @validate_arguments(path=str)
    def get_create_statement(self, path: str) -> str:
        """The statement that would make a table or view again, with its secrets.

        SHOW CREATE masks them, as everything does that people see. This is for programs. A table
        whose functions or types are missing is written from its stored text.

        Raises:
            NotFoundError: with code `table-not-found`.
        """
        return create_statement(self._session, self._identifier(path), with_secrets=True)
