"""`TableEnvironment`: PyFlink's entry point to catalogs, tables, queries and jobs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from types import NoneType
from typing import TYPE_CHECKING, Any, cast, overload

from schema_core.base.arguments import (
    require_instance,
    require_sequence,
    validate_arguments,
)
from schema_core.base.paths import ObjectIdentifier, parse_path
from schema_core.base.plugins import load_higher
from schema_core.base.text import is_blank, quote_identifier
from schema_core.catalog.api import Catalog
from schema_core.catalog.functions import FunctionClass, check_declaration
from schema_core.catalog.managers import CatalogManager, FoundTable
from schema_core.catalog.objects import CatalogFunction, CatalogTable, TableKind
from schema_core.catalog.resolve import resolve_table
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.environment.config import EnvironmentSettings, TableConfig
from schema_core.environment.jobs.graph import HookFactory, JobStatusHook, require_hook
from schema_core.environment.jobs.session_jobs import SessionJobs
from schema_core.environment.modules import (
    FunctionArgument,
    ModuleEntry,
    to_definition,
    to_definitions,
)
from schema_core.environment.operations.dispatch import run
from schema_core.environment.options import (
    PYTHON_ARCHIVES,
    PYTHON_FILES,
    PYTHON_REQUIREMENTS,
    warn_deprecated,
)
from schema_core.environment.planner import Planner
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.environment.table_api import table as tables
from schema_core.environment.table_api.descriptor import ModelDescriptor, TableDescriptor
from schema_core.environment.table_api.inline import declared_rows, require_data_frames
from schema_core.environment.table_api.table import Table, require_table
from schema_core.errors import SchemaError
from schema_core.expressions.fluent import Expression
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.sql.parser import parse_query, parse_statement
from schema_core.sql.statement_syntax import CreateTable, Statement
from schema_core.sql.syntax import Name
from schema_core.types import RowType, parse_type

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.catalog.changes.table_changes import TableChange
    from schema_core.environment.jobs.recovery import Recovery
    from schema_core.environment.lineage import Lineage
    from schema_core.environment.operations.compile_plan import CompiledPlan
    from schema_core.environment.operations.plan_ctas import CtasPlan
    from schema_core.environment.operations.recorded_jobs import RecordedJobs
    from schema_core.environment.operations.show import Description
    from schema_core.environment.plans.compiled_plan import PlanReference
    from schema_core.environment.plans.explain_detail import ExplainDetail
    from schema_core.environment.table_api.statement_sets import StatementSet
    from schema_core.environment.view_states import ViewState


class TableEnvironment:
    """A session with catalogs, temporary objects, queries and jobs.

    Only jobs need an engine: definitions, listings and the types of queries are resolved here.

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
        environment_settings: EnvironmentSettings | TableConfig | Mapping[str, str] | None = None,
        *,
        spark: SparkSession | None = None,
        hooks: Iterable[JobStatusHook | str] = (),
        planner: Planner | None = None,
    ) -> TableEnvironment:
        """Create an environment.

        Args:
            environment_settings: Settings, or options as a configuration or mapping. The default
                is `EnvironmentSettings.new_instance`: streaming mode, as in Flink.
            spark: The Spark session in whose SparkContext jobs run. They use a session of their
                own, so it is not changed. The default is the SparkContext of the process, started
                if none runs.
            hooks: Job status hooks of all jobs (FLIP-218): objects, or names registered by
                `register_job_status_hook` or by packages.
            planner: Runs the jobs instead of the planner that the options name; excludes `spark`.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        if planner is not None and spark is not None:
            raise SchemaError("spark and planner are mutually exclusive", code="invalid-argument")
        hooks = tuple(require_hook(hook, "hooks") for hook in require_sequence(hooks, "hooks"))
        settings = environment_settings
        if isinstance(settings, TableConfig):
            settings = settings.get_configuration()
        if not isinstance(settings, EnvironmentSettings):
            options = {} if settings is None else settings
            require_instance(options, Mapping, "environment_settings")
            settings = EnvironmentSettings.new_instance().with_configuration(options).build()
        return TableEnvironment(Session(settings, planner, engine_session=spark, hooks=hooks))

    @property
    def jobs(self) -> SessionJobs:
        """The running jobs of this environment and the last that ended, as SHOW JOBS lists them."""
        return self._session.jobs

    @property
    def catalog_manager(self) -> CatalogManager:
        """The tables of the session: temporary ones first, then those of catalogs."""
        return self._session.tables

    @property
    def schema_resolver(self) -> SchemaResolver:
        """The resolver of schemas, with the functions and types of the session.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> from schema_core.schema import Schema
        >>> schema = Schema.new_builder().column("id", "INT").build()
        >>> environment.schema_resolver.resolve(schema).get_column_names()
        ['id']
        """
        return self._session.resolver

    def read_view_states(
        self, names: Collection[str] | None = None, *, catalog: str | None = None
    ) -> dict[ObjectIdentifier, ViewState]:
        """Return what the views and materialized tables of a catalog read.

        The state of a view has the reason if it does not work, for example after a table that it
        reads was dropped.

        Args:
            names: Names of tables, views and functions: only the views of these names are returned,
                and those that mention them, directly or through other views. None returns all.
            catalog: The name of the catalog, by default the current one.

        Raises:
            NotFoundError: with code `catalog-not-found`.
            SchemaCoreError: of the catalog; problems of views are results.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE t (a INT)")
        >>> _ = environment.execute_sql("CREATE VIEW v AS SELECT a FROM t")
        >>> _ = environment.execute_sql("ALTER TABLE t RENAME a TO b")
        >>> (state,) = environment.read_view_states().values()
        >>> state.problem.code
        'unknown-column'
        """
        from schema_core.environment.view_states import read_view_states

        if catalog is None:
            catalog, _ = self._current_path()
        require_instance(catalog, str, "catalog")
        if names is not None:
            names = [
                require_instance(name, str, "a name") for name in require_sequence(names, "names")
            ]
        return read_view_states(self._session, catalog, names)

    def get_config(self) -> TableConfig:
        """Return the options of the session, which can be changed."""
        return self._session.config

    def register_job_status_hook(self, name: str, factory: HookFactory) -> None:
        """Register a factory of job status hooks by a name.

        The name can be used wherever a hook can; each job gets a hook of its own, and can be
        described as data. Packages register factories as entry points of
        ``schema_core.job_status_hooks``.

        Args:
            factory: A class without parameters, or a function, that returns a `JobStatusHook`.

        Raises:
            AlreadyExistsError: with code `already-exists`.
            SchemaError: with code `invalid-argument`.
        """
        self._session.hooks.register(name, factory)

    # --- SQL -----------------------------------------------------------------------------------

    @validate_arguments(stmt=str)
    def execute_sql(self, stmt: str) -> TableResult:
        """Execute one statement.

        INSERT and CREATE TABLE AS return when their job is submitted; `TableResult.wait` waits for
        its end. With the option ``table.dml-sync`` the statement itself waits.

        Raises:
            ParseError: for a string outside the grammar, with its position.
            SchemaCoreError: for an invalid statement, with its position if known.
        """
        return self.execute_statement(parse_statement(stmt), stmt)

    def execute_statement(self, statement: Statement, text: str) -> TableResult:
        """Execute one parsed statement.

        Args:
            statement: A result of `parse_statement`.
            text: The string that it was parsed from, which errors quote.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        require_instance(statement, Statement, "statement")
        require_instance(text, str, "text")
        return run(self._session, statement, text)

    def explain_sql(self, stmt: str, *extra_details: ExplainDetail) -> str:
        """Return the plans of a query, INSERT, statement set or CREATE TABLE AS, without EXPLAIN.

        Raises:
            UnsupportedError: with code `feature-not-supported` for a statement without a query.
        """
        from schema_core.environment.operations.explain import explain_statement
        from schema_core.environment.plans.explain_detail import require_details

        details = require_details(extra_details)
        require_instance(stmt, str, "stmt")
        return explain_statement(self._session, parse_statement(stmt), stmt, details)

    @validate_arguments(statement=str)
    def plan_ctas(self, statement: str) -> CtasPlan:
        """Return the effects, guarantees and losses of a CREATE or REPLACE TABLE AS.

        Nothing is run.

        Raises:
            ParseError: for a string outside the grammar.
            UnsupportedError: with code `feature-not-supported` for another statement.
            SchemaError: for a query or schema that does not resolve. Other problems that prevent
                the statement are in `CtasPlan.problems`.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> plan = environment.plan_ctas(
        ...     "CREATE TABLE t WITH ('connector' = 'filesystem') AS SELECT 1"
        ... )
        >>> plan.level, plan.visibility.value, plan.exists
        (<AtomicityLevel.CREATED_FIRST: 1>, 'final', False)
        >>> plan.problems[0].message
        'required options are missing: format, path'
        """
        from schema_core.environment.operations.plan_ctas import plan_statement

        return plan_statement(self._session, statement)

    @validate_arguments(stmt=str)
    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Compile an INSERT or CREATE TABLE AS to a plan for another process.

        Nothing is run or changed; Spark is not needed. `CompiledPlan.execute`, EXECUTE PLAN and
        ``schema-core run-plan`` execute the plan.

        Raises:
            ParseError: for a string outside the grammar.
            UnsupportedError: with code `feature-not-supported` for another statement, or one
                that needs what only this process has: temporary functions, new tables in a catalog
                in memory.
            SchemaCoreError: every error of the statement before its job.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
        >>> environment.compile_plan_sql("INSERT INTO t VALUES (1)")
        CompiledPlan(default_catalog.default_database.t)
        """
        from schema_core.environment.operations.compile_plan import CompiledPlan, compile_statement

        document = compile_statement(self._session, parse_statement(stmt), stmt)
        return CompiledPlan(self._session, document)

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Load a plan.

        Raises:
            NotFoundError: with code `file-not-found`.
            SchemaError: with code `invalid-plan` or `version-not-supported`.
        """
        from schema_core.environment.operations.compile_plan import CompiledPlan
        from schema_core.environment.plans.compiled_plan import PlanReference

        require_instance(plan_reference, PlanReference, "plan_reference")
        return CompiledPlan(self._session, plan_reference.load())

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Load a plan and submit its jobs; errors are those of `load_plan` and of the jobs."""
        return self.load_plan(plan_reference).execute()

    @property
    def recorded_jobs(self) -> RecordedJobs:
        """The jobs that are committed at most once, such as those of data steps in migrations."""
        from schema_core.environment.operations.recorded_jobs import RecordedJobs

        return RecordedJobs(self._session)

    def recover(self, path: str | None = None) -> list[Recovery]:
        """Commit or roll back the tables of jobs whose processes have ended.

        The next write into a table does so, too. Safe to repeat, and to run beside jobs.

        Args:
            path: The path of a table; None for all tables of the current catalog.

        Returns:
            The checked tables, with the action on each.

        Raises:
            NotFoundError: with code `table-not-found`.
            ExternalError: if a catalog or the storage of a table does not respond. Other tables
                are still recovered; the error has a note for each that was changed.
        """
        from schema_core.environment.jobs.recovery import list_identifiers, recover_tables

        require_instance(path, (str, NoneType), "path")
        if path is not None:
            return recover_tables(self._session, iter([self._identifier(path)]))
        catalog, _ = self._current_path()
        return recover_tables(self._session, list_identifiers(self._session, catalog))

    @validate_arguments(text=str, position=int)
    def complete_statement(self, text: str, position: int) -> list[str]:
        """Complete the word that ends at a position (FLIP-32): objects, then valid keywords.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE orders (id INT, cost INT)")
        >>> environment.complete_statement("SELECT * FROM o", 15)
        ['orders']
        >>> environment.complete_statement("SELECT co FROM orders", 9)[0]
        'cost'
        >>> environment.complete_statement("SELECT id FROM orders ORD", 25)
        ['ORDER']
        """
        from schema_core.environment.completion import complete

        return complete(self._session, text, position)

    @validate_arguments(query=str)
    def sql_query(self, query: str) -> Table:
        """Return the table of a query, which is resolved but not run."""
        return tables.of_query(self._session, parse_query(query), query)

    def create_statement_set(self) -> StatementSet:
        """Return an empty set of INSERT statements."""
        from schema_core.environment.table_api.statement_sets import StatementSet

        return StatementSet(self._session)

    # --- tables --------------------------------------------------------------------------------

    @validate_arguments(path=str)
    def from_path(self, path: str) -> Table:
        """Return the table or view at a path.

        Raises:
            NotFoundError: with code `table-not-found`.
        """
        return tables.table_of_path(self._session, path)

    @validate_arguments(path=str)
    def find_table(self, path: str) -> FoundTable | None:
        """Return the stored table or view at a path, temporary ones first, or None."""
        return self._session.tables.find(self._identifier(path))

    @validate_arguments(descriptor=TableDescriptor)
    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return the table that a descriptor describes; it has no path.

        Raises:
            SchemaError: with code `missing-columns` where the descriptor has none.
        """
        return tables.table_of_descriptor(self._session, descriptor)

    def from_elements(
        self, elements: Iterable[Any], schema: object = None, verify_schema: bool = True
    ) -> Table:
        """Return a table of Python values.

        Args:
            elements: Rows as tuples, lists, dictionaries, `Row` objects or expressions:
                ``row(1, "a")``. Values of user-defined types are serialized.
            schema: A row type or its string, or column names; missing types are inferred from all
                rows. Expressions require a row type, to which they are cast.
            verify_schema: Whether every value is checked against its type.

        Raises:
            SchemaError: with code `invalid-data`, `data-type-not-inferred`,
                `column-count-mismatch` or `limit-exceeded`.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> environment.from_elements([(1, "Ann"), (2, None)], ["id", "name"]).print_schema()
        (
          `id` BIGINT,
          `name` STRING
        )
        """
        from schema_core.environment.table_api.elements import (
            expressions_query,
            infer_rows,
            storage_type,
            values_query,
        )

        require_instance(elements, Iterable, "elements")
        elements = list(elements)
        if elements and all(isinstance(element, Expression) for element in elements):
            given = parse_type(schema) if isinstance(schema, str) else schema
            require_instance(given, RowType, "schema", "a row type for expressions")
            row_type = cast("RowType", given)
            query = expressions_query(elements, row_type)
            return tables.table_of_values(self._session, query, row_type)
        rows, type_ = infer_rows(elements, schema)
        zone = self.get_config().get_local_timezone()
        query = values_query(rows, type_, zone, verify=verify_schema)
        return tables.table_of_values(self._session, query, storage_type(type_))

    def from_pandas(self, pdf: pd.DataFrame, schema: object = None, splits_num: int = 1) -> Table:
        """Return a table with the rows of a pandas DataFrame, which is copied without its index.

        Types are Arrow's: a category has the type of its values, a datetime with a time zone is
        TIMESTAMP_LTZ(6). NaN, NaT, None and ``pd.NA`` are NULL. A datetime without a time zone in
        a TIMESTAMP_LTZ column is a local time of the session.

        Args:
            schema: A row type or its string, or the names or types of the columns; default: the
                frame's. Or a `Schema`, as in `from_spark`.
            splits_num: PyFlink's number of source tasks; without effect on Spark.

        Raises:
            SchemaError: with code `invalid-data` for a value that its column cannot hold unchanged,
                `data-type-not-inferred`, `column-count-mismatch`, `duplicate-column`,
                `invalid-argument`.
            NotFoundError: with code `missing-dependency` without pyarrow.
        """
        require_instance(splits_num, int, "splits_num")
        if splits_num < 1:
            raise SchemaError(
                f"splits_num must be at least 1, got {splits_num}", code="invalid-argument"
            )
        return self._of_data("pandas", pdf, schema)

    def from_arrow(
        self,
        data: pa.Table | pa.RecordBatch | pa.RecordBatchReader,
        schema: Schema | None = None,
    ) -> Table:
        """Return a table with the rows of Arrow, of the types of `schema_core.mappings.arrow`.

        Args:
            data: A table, a record batch, a reader (read to its end), or an object with the method
                ``__arrow_c_stream__``.
            schema: The schema of the table, as in `from_spark`.

        Raises:
            SchemaError: with code `invalid-data` for a value outside the type of its column,
                `duplicate-column`, `invalid-argument`.
            UnsupportedError: with code `type-not-supported`.
            NotFoundError: with code `missing-dependency` without pyarrow.
        """
        return self._of_data("arrow", data, require_schema(schema))

    def from_polars(
        self, frame: pl.DataFrame | pl.LazyFrame, schema: Schema | None = None
    ) -> Table:
        """Return a table with the rows of a polars DataFrame, by way of Arrow.

        Args:
            frame: The DataFrame.
            schema: The schema of the table, as in `from_spark`.

        Raises:
            SchemaError, UnsupportedError: as `from_arrow`.
            NotFoundError: with code `missing-dependency` without polars or pyarrow.
        """
        return self._of_data("polars", frame, require_schema(schema))

    def from_spark(self, df: DataFrame, schema: Schema | None = None) -> Table:
        """Return a table with the rows of a Spark DataFrame, which runs with the query.

        Types are the nearest of Flink, or the exact ones in the metadata that `Table.to_spark`
        writes. A query fails at a value outside its exact type, such as four characters in a
        CHAR(3) after a union. The DataFrame may belong to any session of the environment's
        SparkContext. A streaming DataFrame is an unbounded table, which streaming jobs read.

        Args:
            df: The DataFrame.
            schema: The schema of the table, as that of Flink's `from_data_stream`. Physical columns
                are those of the DataFrame with the same names, cast to their types where nothing is
                lost; without any, all columns of the DataFrame come first. Computed columns,
                watermarks and a primary key are those of a table. The metadata ``rowtime`` is the
                column on which ``withWatermark`` of a streaming DataFrame was called, and
                ``SOURCE_WATERMARK()`` its watermark.

        Raises:
            SchemaError: with code `duplicate-column`; `invalid-argument` for anything but a
                DataFrame of this SparkContext; `unknown-column` or `not-assignable` for a physical
                column that the DataFrame does not have; `invalid-metadata-column`.
            UnsupportedError: with code `type-not-supported`.
        """
        return self._of_data("spark", df, require_schema(schema))

    def _of_data(self, library: str | None, data: object, schema: object = None) -> Table:
        planner = require_data_frames(self._session.planner)
        if isinstance(schema, Schema):
            rows = declared_rows(planner, self._session.resolver, library, data, schema)
        else:
            rows = planner.rows_of(library, data, schema)
        return tables.table_of_rows(self._session, rows)

    @overload
    def create_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool = False,  # noqa: N803 - PyFlink's name
    ) -> bool: ...

    @overload
    def create_table(
        self, path: str, options: Mapping[str, object], query: Table, /
    ) -> TableResult: ...

    def create_table(
        self,
        path: str,
        descriptor: TableDescriptor | Mapping[str, object],
        ignoreIfExists: bool | Table = False,  # noqa: N803 - PyFlink's name
    ) -> bool | TableResult:
        """Create a table in its catalog; or, from options and a query, with its rows (FLIP-218).

        Args:
            descriptor: The descriptor; or the options of a table with the columns of a query.
            ignoreIfExists: Whether an existing object at the path is kept; or the query.

        Returns:
            Whether the table is new; for a query the result of its job, which `wait` waits for.

        Raises:
            AlreadyExistsError: with code `table-exists`.
            SchemaError: with code `invalid-argument`.
        """
        require_instance(path, str, "path")
        if isinstance(descriptor, Mapping):
            query = require_table(ignoreIfExists, self._session, "query")
            created = query.save_as(path)
            for key, value in descriptor.items():
                created = created.option(key, value)
            return created.create().execute()
        require_instance(descriptor, TableDescriptor, "descriptor")
        require_instance(ignoreIfExists, bool, "ignoreIfExists")
        table = descriptor.to_catalog_table()
        return self._session.tables.create(self._identifier(path), table, bool(ignoreIfExists))

    def replace_table(self, path: str, table: CatalogTable, query: Table) -> TableResult:
        """Replace a permanent table by another definition, and its rows by those of a query.

        A REPLACE TABLE AS with a full definition: both are replaced in one commit, after all rows
        are written; a job that fails changes nothing. The query may read the table itself.

        Args:
            table: The new definition. Columns of the query are matched by name and checked as in
                INSERT.

        Returns:
            The result of the job, which `wait` waits for.

        Raises:
            NotFoundError: with code `table-not-found`.
            UnsupportedError: if the connector cannot stage the rows.
            SchemaError: with code `invalid-argument`; as `create_table`; as an INSERT for a query
                that does not fit.
        """
        from schema_core.environment.operations.create_table_as import (
            TableCreation,
            create_table_as,
        )
        from schema_core.environment.operations.data import Writing, require_fit

        require_instance(path, str, "path")
        require_instance(table, CatalogTable, "the definition")
        relation = require_table(query, self._session, "query").relation
        identifier = self._identifier(path)
        parts = (identifier.catalog_name, identifier.database_name, identifier.object_name)
        statement = CreateTable(Name(parts), query=query.query, or_replace=True, create=False)
        resolved = resolve_table(table, self._session.resolver)
        filled = tuple(Name((column.name,)) for column in relation.columns)
        require_fit(relation, self._session.bind_table(identifier, resolved), Writing(filled))
        creation = TableCreation(statement, identifier, relation, resolved)
        return create_table_as(self._session, creation)

    @validate_arguments(path=str, descriptor=TableDescriptor)
    def create_temporary_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool = False,  # noqa: N803 - PyFlink's name
    ) -> bool:
        """Create a temporary table at any path; return whether it is new.

        Raises:
            AlreadyExistsError: with code `table-exists`.
        """
        table = descriptor.to_catalog_table()
        return self._session.tables.create_temporary(self._identifier(path), table, ignoreIfExists)

    @validate_arguments(view_path=str, table=Table)
    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        """Create a view in its catalog; return whether it is new.

        Raises:
            AlreadyExistsError: with code `table-exists`.
            UnsupportedError: with code `not-in-sql` for a query that
                SQL cannot express; a temporary view takes any query.
        """
        view = table.to_view()
        return self._session.tables.create(self._identifier(view_path), view, ignore_if_exists)

    @validate_arguments(view_path=str)
    def create_temporary_view(
        self,
        view_path: str,
        table_or_data_stream: Table | object,
        *fields_or_schema: Schema,
        ignore_if_exists: bool = False,
    ) -> bool:
        """Create a temporary view at any path; return whether it is new.

        The view holds the query itself, also one that SQL cannot express: over a descriptor or a
        DataFrame, or with functions that are not registered.

        Args:
            table_or_data_stream: A table, a DataFrame of Spark, pandas or polars, or what
                `from_arrow` takes.
            fields_or_schema: For a DataFrame, the schema of its table, as in `from_spark`.
            ignore_if_exists: Whether an existing view is kept.

        Raises:
            AlreadyExistsError: with code `table-exists`.
            SchemaError: as `from_spark`, `from_pandas`, `from_polars` and `from_arrow`; with code
                `invalid-argument` for a table of another environment.
        """
        table, schema = table_or_data_stream, _one_schema(fields_or_schema)
        if isinstance(table, Table):
            if schema is not None:
                raise SchemaError(
                    "the columns of a Table are those of its query",
                    code="invalid-argument",
                    hint="select them, or omit the schema",
                )
            rows = require_table(table, self._session)
        else:
            rows = self._of_data(None, table, schema)
        identifier, view = self._identifier(view_path), rows.to_temporary_view()
        return self._session.tables.create_temporary(identifier, view, ignore_if_exists)

    @validate_arguments(table_path=str, ignore_if_not_exists=bool)
    def drop_table(self, table_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent table; return whether it existed.

        Raises:
            NotFoundError: with code `table-not-found`, unless ignored.
            SchemaError: with code `hidden-by-temporary` where a temporary object has the path
                (FLIP-64). DROP TABLE considers only temporary tables.
        """
        identifier = self._identifier(table_path)
        tables = self._session.tables
        return tables.drop_unless_hidden(TableKind.TABLE, identifier, ignore_if_not_exists)

    @validate_arguments(view_path=str, ignore_if_not_exists=bool)
    def drop_view(self, view_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent view; return whether it existed.

        Raises:
            NotFoundError: with code `table-not-found`, unless ignored.
            SchemaError: with code `hidden-by-temporary` where a temporary object has the path
                (FLIP-64). DROP VIEW considers only temporary views.
        """
        identifier = self._identifier(view_path)
        tables = self._session.tables
        return tables.drop_unless_hidden(TableKind.VIEW, identifier, ignore_if_not_exists)

    @validate_arguments(path=str, ignore_if_not_exists=bool)
    def alter_table(
        self, path: str, changes: Iterable[TableChange], ignore_if_not_exists: bool = False
    ) -> bool:
        """Apply changes to a permanent table, as ALTER TABLE does; return whether it exists.

        The result is validated, and stored unless the table was altered after it was read.

        Args:
            changes: Changes, such as those of `schema_core.migration.diff`.
            ignore_if_not_exists: Whether a missing table is ignored.

        Raises:
            NotFoundError: with code `table-not-found`, unless ignored.
            SchemaError: with code `change-does-not-fit` where a change was made for another table;
                as CREATE TABLE for the new definition.
            ConflictError: if another process alters the table at the same time.

        >>> from schema_core.catalog import TableChange
        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'print')")
        >>> environment.alter_table("t", [TableChange.set("standard-error", "true")])
        True
        """
        from schema_core.environment.operations.alter_table import alter_by_changes

        steps = require_sequence(changes, "changes")
        identifier = self._identifier(path)
        return alter_by_changes(self._session, identifier, steps, ignore_if_not_exists)

    @validate_arguments(table_path=str)
    def drop_temporary_table(self, table_path: str) -> bool:
        """Drop a temporary table; return whether it existed."""
        identifier = self._identifier(table_path)
        return self._session.tables.drop_temporary(TableKind.TABLE, identifier, if_exists=True)

    @validate_arguments(view_path=str)
    def drop_temporary_view(self, view_path: str) -> bool:
        """Drop a temporary view; return whether it existed."""
        identifier = self._identifier(view_path)
        return self._session.tables.drop_temporary(TableKind.VIEW, identifier, if_exists=True)

    # --- temporary objects ---------------------------------------------------------------------

    def temporary_scope(self) -> AbstractContextManager[None]:
        """Return a context manager that restores all temporary objects at its end.

        It does so after errors, too. What the block creates is dropped; what it drops or replaces
        is restored. Blocks can be nested.

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
        """Describe the object at a path and what it hides (FLIP-64).

        Raises:
            NotFoundError: with code `table-not-found` where there is no object.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE t (a INT)")
        >>> _ = environment.execute_sql("CREATE TEMPORARY VIEW t AS SELECT 1 AS b")
        >>> print(environment.describe("t"))
        temporary view default_catalog.default_database.t, which hides a table
        (
          `b` INT NOT NULL
        )
        """
        from schema_core.environment.operations.show import describe_path

        return describe_path(self._session, parse_path(path))

    def lineage(self, *paths: str) -> Lineage:
        """Return which columns of tables and views are computed from which; nothing is run.

        Args:
            paths: Paths of tables and views, to which all that they read is added. By default those
                of the current database, temporary ones included.

        Raises:
            NotFoundError: with code `table-not-found`.
            SchemaCoreError: for a view whose query does not fit what it reads any more.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE t (a INT, b AS a + 1)")
        >>> _ = environment.execute_sql("CREATE VIEW v AS SELECT b * 2 AS c FROM t")
        >>> print(environment.lineage("v").to_mermaid())
        flowchart LR
            subgraph g0["v #40;view#41;"]
                c0("c INT")
            end
            subgraph g1["t"]
                c1["a INT"]
                c2("b INT")
            end
            c2 --> c0
            c1 --> c2
        """
        listed = paths or tuple(
            map(quote_identifier, [*self.list_tables(), *self.list_temporary_tables()])
        )
        found: Lineage = load_higher("lineage")(self._session, map(self._identifier, listed))
        return found

    def list_hidden(self) -> list[str]:
        """Return a sorted list of sentences, one for each object that a temporary one hides."""
        return sorted(map(str, self._session.hidden()))

    @validate_arguments(path=str)
    def get_create_statement(self, path: str) -> str:
        """Return the statement that creates a table or view, with its secrets.

        SHOW CREATE masks them. A table whose functions or types are missing is written from its
        stored text.

        Raises:
            NotFoundError: with code `table-not-found`.
        """
        from schema_core.environment.operations.show_create import create_statement

        return create_statement(self._session, self._identifier(path), with_secrets=True)

    def _identifier(self, path: str) -> ObjectIdentifier:
        return self._session.registry.qualify(parse_path(path))

    # --- listings ------------------------------------------------------------------------------

    def _current_path(self) -> tuple[str, str]:
        return self._session.registry.qualify_database(())

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs, sorted."""
        return self._session.registry.names()

    def list_databases(self) -> list[str]:
        """Return the databases of the current catalog, sorted."""
        return sorted(self._session.registry.current().list_databases())

    def list_tables(
        self, catalog_name: str | None = None, database_name: str | None = None
    ) -> list[str]:
        """Return the permanent tables, views and materialized tables of a database, sorted.

        FLIP-64: temporary objects are listed by `list_temporary_tables`.
        """
        catalog, database = self._catalog_and_database(catalog_name, database_name)
        return sorted(self._session.registry.get(catalog).list_tables(database))

    def list_views(self) -> list[str]:
        """Return the permanent views of the current database, sorted."""
        catalog, database = self._current_path()
        return sorted(self._session.registry.get(catalog).list_views(database))

    def list_materialized_tables(self) -> list[str]:
        """Return the materialized tables of the current database, sorted."""
        catalog, database = self._current_path()
        return sorted(self._session.registry.get(catalog).list_materialized_tables(database))

    def list_temporary_tables(
        self, catalog_name: str | None = None, database_name: str | None = None
    ) -> list[str]:
        """Return the temporary tables and views of a database, sorted."""
        place = self._catalog_and_database(catalog_name, database_name)
        return self._session.temporary.table_names(*place)

    def list_temporary_views(self) -> list[str]:
        """Return the temporary views of the current database, sorted."""
        return self._session.temporary.table_names(*self._current_path(), TableKind.VIEW)

    def list_models(self) -> list[str]:
        """Return the permanent models of the current database, sorted."""
        return self._session.models.list_models(*self._current_path())

    def list_temporary_models(self) -> list[str]:
        """Return the temporary models of the current database, sorted."""
        return self._session.temporary.model_names(*self._current_path())

    def _catalog_and_database(self, catalog: str | None, database: str | None) -> tuple[str, str]:
        given = [name for name in (catalog, database) if name is not None]
        for name in given:
            require_instance(name, str, "a name of a catalog or database")
        return self._session.registry.qualify_database(tuple(given))

    # --- catalogs and databases ----------------------------------------------------------------

    @validate_arguments(catalog_name=str, catalog_descriptor=CatalogDescriptor)
    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Create a catalog from its options and store its descriptor.

        Raises:
            AlreadyExistsError: with code `catalog-exists`.
            SchemaError: with code `factory-not-found` or `unknown-option`.
        """
        given = catalog_descriptor
        descriptor = CatalogDescriptor.of(catalog_name, given.configuration, given.comment)
        self._session.registry.create(descriptor, ignore_if_exists=False)

    @validate_arguments(catalog_name=str, catalog=Catalog)
    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Register a catalog object; it is not stored.

        Raises:
            AlreadyExistsError: with code `catalog-exists`.
        """
        self._session.registry.register(catalog_name, catalog)

    @validate_arguments(catalog_name=str)
    def get_catalog(self, catalog_name: str) -> Catalog:
        """Return the catalog with this name.

        Raises:
            NotFoundError: with code `catalog-not-found`.
        """
        return self._session.registry.get(catalog_name)

    def use_catalog(self, catalog_name: str | None) -> None:
        """Set the current catalog and its default database; None unsets both."""
        require_instance(catalog_name, (str, NoneType), "catalog_name")
        self._session.registry.use_catalog(catalog_name)

    def use_database(self, database_name: str | None) -> None:
        """Set the current database; None unsets it."""
        require_instance(database_name, (str, NoneType), "database_name")
        self._session.registry.use_database(database_name)

    def get_current_catalog(self) -> str | None:
        return self._session.registry.current_catalog

    def get_current_database(self) -> str | None:
        return self._session.registry.current_database

    # --- models --------------------------------------------------------------------------------

    @validate_arguments(model_path=str, model_descriptor=ModelDescriptor)
    def create_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool = False
    ) -> None:
        """Create a model in its catalog.

        Raises:
            AlreadyExistsError: with code `model-exists`.
        """
        model = model_descriptor.to_catalog_model()
        self._session.models.create(self._identifier(model_path), model, ignore_if_exists)

    @validate_arguments(model_path=str, model_descriptor=ModelDescriptor)
    def create_temporary_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool = False
    ) -> None:
        """Create a temporary model at any path.

        Raises:
            AlreadyExistsError: with code `model-exists`.
        """
        model = model_descriptor.to_catalog_model()
        self._session.models.create_temporary(self._identifier(model_path), model, ignore_if_exists)

    @validate_arguments(model_path=str)
    def drop_model(self, model_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent model; return whether it existed.

        Raises:
            NotFoundError: with code `model-not-found`, unless it is ignored.
            SchemaError: with code `hidden-by-temporary` where a temporary model exists at the path
                (FLIP-64).
        """
        identifier = self._identifier(model_path)
        return self._session.models.drop_unless_hidden(identifier, ignore_if_not_exists)

    @validate_arguments(model_path=str)
    def drop_temporary_model(self, model_path: str) -> bool:
        """Drop a temporary model; return whether it existed."""
        return self._session.models.drop_temporary(self._identifier(model_path), if_exists=True)

    @validate_arguments(class_name=str, declaration=FunctionClass)
    def declare_function_class(self, class_name: str, declaration: FunctionClass) -> None:
        """Declare the signatures of a class that functions refer to; the class is never imported.

        Raises:
            SchemaError: with code `invalid-argument` for signatures that are not pairs of argument
                types and a result type.
        """
        if is_blank(class_name):
            raise SchemaError("class_name must not be blank", code="invalid-argument")
        check_declaration(declaration)
        self._session.functions.classes[class_name] = declaration

    @validate_arguments(file_path=str)
    def add_python_file(self, file_path: str) -> None:
        """Add a module, a directory of modules, or a zip, egg or wheel that functions import.

        It is sent to the workers of Spark with the first job that calls a function in Python, which
        raises `incompatible-installation` if it does not exist or is compiled.
        """
        self._add_to_option(PYTHON_FILES.key, file_path)

    @validate_arguments(archive_path=str)
    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Add an archive that is extracted in the working directory of functions in Python.

        Args:
            archive_path: A zip, jar or tar file.
            target_dir: The directory of its files, by default the name of the archive.
        """
        require_instance(target_dir, (str, NoneType), "target_dir")
        item = archive_path if target_dir is None else f"{archive_path}#{target_dir}"
        self._add_to_option(PYTHON_ARCHIVES.key, item)

    @validate_arguments(requirements_file_path=str)
    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Set the requirements file of the packages that functions in Python import.

        The first job that calls such a function installs them with pip in a temporary directory,
        and sends them to the workers of Spark. Packages with compiled modules are refused
        (`incompatible-installation`): workers need them installed.

        Args:
            requirements_file_path: The file.
            requirements_cache_dir: A directory with the packages; then no index is asked.
        """
        require_instance(requirements_cache_dir, (str, NoneType), "requirements_cache_dir")
        directory = "" if requirements_cache_dir is None else f"#{requirements_cache_dir}"
        self.get_config().set(PYTHON_REQUIREMENTS.key, f"{requirements_file_path}{directory}")

    def _add_to_option(self, key: str, item: str) -> None:
        listed = self.get_config().get(key, "")
        self.get_config().set(key, f"{listed},{item}" if listed else item)

    def allow_python_modules(self, *modules: str) -> None:
        """Allow statements to name the functions of these modules, whose import runs their code.

        ``CREATE FUNCTION f AS 'module.f' LANGUAGE PYTHON`` then imports the module. No other
        module is imported, and no option allows one: a script could set it. Results of `udf`,
        `udtf`, `udaf` and `udtaf` in modules that the program has imported are always allowed.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> text = "CREATE TEMPORARY FUNCTION here AS 'os.getcwd' LANGUAGE PYTHON"
        >>> environment.execute_sql(text)
        Traceback (most recent call last):
            ...
        schema_core.errors.InvalidArgumentError: unknown function class 'os.getcwd'
            CREATE TEMPORARY FUNCTION here AS 'os.getcwd' LANGUAGE PYTHON
                                      ^^^^
          hint: if you trust its code, call allow_python_modules('os') of the environment

        Raises:
            SchemaError: with code `invalid-argument` for a name that is not a string.
        """
        for module in modules:
            require_instance(module, str, "the name of a module")
        self._session.functions.python_modules.update(modules)

    def allow_option_references(
        self,
        environment_variables: Iterable[str] = (),
        directories: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        """Allow options to name values elsewhere: ``${env:NAME}`` and ``${file:PATH}``.

        A table, catalog or connection stores the reference. Its value is read where the table is
        read or written, or the catalog is opened, and is masked in all output. No option allows a
        reference: a script could set it.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> environment.allow_option_references(["SHOP_PASSWORD"], ["/run/secrets"])

        Args:
            environment_variables: The variables of the process that options may name.
            directories: Absolute paths of directories, below which options may name files.

        Raises:
            SchemaError: with code `invalid-argument` for other arguments.
        """
        self._session.option_references.allow(environment_variables, directories)

    @validate_arguments(path=str, function_class_name=str)
    def create_java_function(
        self, path: str, function_class_name: str, ignore_if_exists: bool = False
    ) -> None:
        """Create a function in its catalog; its class must be declared.

        Raises:
            AlreadyExistsError: with code `function-exists` where a
                temporary one hides it.
            SchemaError: with code `invalid-function`.
        """
        identifier, functions = self._identifier(path), self._session.functions
        function = CatalogFunction.create_instance(function_class_name, "Java")
        functions.check(function)
        if not ignore_if_exists or identifier not in functions.temporary:
            functions.require_not_hidden(identifier)
            functions.create(identifier, function, ignore_if_exists)

    @validate_arguments(name=str)
    def create_temporary_system_function(self, name: str, function: FunctionArgument) -> None:
        """Create a temporary system function, which hides a built-in one.

        Raises:
            AlreadyExistsError: with code `function-exists`.
            SchemaError: with code `invalid-function` for a class that cannot be used.
        """
        definition = to_definition(function)
        self._session.functions.create_temporary_system(name, definition, ignore_if_exists=False)

    @validate_arguments(path=str)
    def create_temporary_function(self, path: str, function: FunctionArgument) -> None:
        """Create a temporary function.

        FLIP-64: a path of one part makes a temporary system function.

        Raises:
            AlreadyExistsError: with code `function-exists`.
            SchemaError: with code `invalid-function` for a class that cannot be used.
        """
        parsed = parse_path(path)
        if len(parsed.parts) == 1:
            self.create_temporary_system_function(parsed.object_name, function)
            return
        identifier = self._session.registry.qualify(parsed)
        definition = to_definition(function)
        self._session.functions.create_temporary(identifier, definition, ignore_if_exists=False)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> None:
        """Create a temporary system function from a declared class.

        Raises:
            AlreadyExistsError: with code `function-exists`.
            SchemaError: with code `invalid-function` for a class that cannot be used.
        """
        self.create_temporary_system_function(name, function_class_name)

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        """Create a temporary function from a declared class, as `create_temporary_function`.

        Raises:
            AlreadyExistsError: with code `function-exists`.
            SchemaError: with code `invalid-function` for a class that cannot be used.
        """
        self.create_temporary_function(path, function_class_name)

    @validate_arguments(path=str)
    def drop_function(self, path: str) -> bool:
        """Drop a permanent function; return whether it existed.

        Raises:
            AlreadyExistsError: with code `function-exists` where a temporary one hides
                it.
        """
        identifier = self._identifier(path)
        self._session.functions.require_not_hidden(identifier)
        return self._session.functions.drop(identifier, ignore_if_not_exists=True)

    @validate_arguments(name=str)
    def drop_temporary_system_function(self, name: str) -> bool:
        """Drop a temporary system function; return whether it existed."""
        return self._session.functions.system.drop(name, ignore_if_not_exists=True)

    @validate_arguments(path=str)
    def drop_temporary_function(self, path: str) -> bool:
        """Drop a temporary function; return whether it existed.

        FLIP-64: a path of one part means a temporary system function.
        """
        parsed = parse_path(path)
        if len(parsed.parts) == 1:
            return self.drop_temporary_system_function(parsed.object_name)
        identifier = self._session.registry.qualify(parsed)
        return self._session.functions.temporary.drop(identifier, ignore_if_not_exists=True)

    def list_user_defined_functions(self) -> list[str]:
        """Return the user-defined functions, temporary ones included, sorted, in lower case."""
        return self._session.functions.list_user_defined(*self._session.registry.current_path)

    def list_functions(self) -> list[str]:
        """Return the permanent and built-in functions callable by one name, sorted (FLIP-64)."""
        catalog, database = self._current_path()
        kept = self._session.registry.get(catalog).list_functions(database)
        return sorted({*kept, *self._session.functions.list_system()})

    def list_temporary_functions(self) -> list[str]:
        """Return the temporary functions that can be called by one name, sorted (FLIP-64)."""
        functions, place = self._session.functions, self._current_path()
        here = [
            path.object_name
            for path in functions.temporary
            if (path.catalog_name, path.database_name) == place
        ]
        return sorted({*functions.system, *here})

    # --- modules -------------------------------------------------------------------------------

    @validate_arguments(module_name=str)
    def load_module(
        self, module_name: str, module: Mapping[str, FunctionArgument] | None = None
    ) -> None:
        """Load a module and use it after all others.

        Args:
            module_name: The name of the module, which an installed package may provide.
            module: The functions of the module by name, if no package provides it.

        Raises:
            AlreadyExistsError: with code `already-exists`.
            NotFoundError: with code `not-found`.
        """
        modules = self._session.functions.modules
        if module is None:
            modules.load(module_name)
        else:
            modules.add(module_name, to_definitions(module_name, module))

    @validate_arguments(module_name=str)
    def unload_module(self, module_name: str) -> None:
        """Unload a module."""
        self._session.functions.modules.unload(module_name)

    def use_modules(self, *module_names: str) -> None:
        """Use these modules, in this order, and no others."""
        for name in module_names:
            require_instance(name, str, "module_names")
        self._session.functions.modules.use(module_names)

    def list_modules(self) -> list[str]:
        """Return the names of the modules in use, in order."""
        return list(self._session.functions.modules.used)

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return the names of all loaded modules, each with whether it is in use."""
        return [ModuleEntry(*item) for item in self._session.functions.modules.listed()]

    # --- types: methods of this library, for types in catalogs (FLIP-164) ----------------------

    def create_type(
        self,
        path: str,
        definition: object,
        ignore_if_exists: bool = False,
        *,
        description: str | None = None,
    ) -> None:
        """Create a user-defined type in its catalog.

        Args:
            path: One to three names.
            definition: What `DataTypes.of` takes: a row or dataclass makes a structured type, any
                other type is the source of a distinct one.
            ignore_if_exists: Keep an existing type.
            description: A description of the type.

        Raises:
            AlreadyExistsError: with code `type-exists`.
            UnsupportedError: with code `unsupported-capability` for a catalog without types.
        """
        kept = self._session.types.define(definition, description)
        self._session.types.create(self._identifier(path), kept, ignore_if_exists)

    def create_temporary_type(
        self,
        path: str,
        definition: object,
        ignore_if_exists: bool = False,
        *,
        description: str | None = None,
    ) -> None:
        """Create a temporary type at any path; it hides a permanent one.

        Raises:
            AlreadyExistsError: with code `type-exists`.
        """
        kept = self._session.types.define(definition, description)
        self._session.types.create_temporary(self._identifier(path), kept, ignore_if_exists)

    def drop_type(self, path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent type; return whether it existed. Tables that use it are unchanged.

        Raises:
            NotFoundError: with code `type-not-found`, unless it is ignored.
            SchemaError: with code `hidden-by-temporary` (FLIP-64).
        """
        return self._session.types.drop(self._identifier(path), ignore_if_not_exists)

    def drop_temporary_type(self, path: str) -> bool:
        """Drop a temporary type; return whether it existed."""
        return self._session.types.drop_temporary(self._identifier(path), if_exists=True)

    def list_types(self) -> list[str]:
        """Return the permanent types of the current database, sorted."""
        return self._session.types.list_types(*self._current_path())

    def list_temporary_types(self) -> list[str]:
        """Return the temporary types of the current database, sorted."""
        return self._session.temporary.type_names(*self._current_path())

    # --- deprecated since FLIP-64 --------------------------------------------------------------

    def register_table(self, name: str, table: Table) -> None:
        """As `create_temporary_view`."""
        warn_deprecated("register_table", "create_temporary_view")
        self.create_temporary_view(_quote_name(name), table)

    def register_table_source(self, name: str, table_source: TableDescriptor) -> None:
        """As `create_temporary_table`, of a descriptor: sources are found by their options."""
        warn_deprecated("register_table_source", "create_temporary_table")
        self.create_temporary_table(_quote_name(name), table_source)

    def register_table_sink(self, name: str, table_sink: TableDescriptor) -> None:
        """As `create_temporary_table`, of a descriptor: sinks are found by their options."""
        warn_deprecated("register_table_sink", "create_temporary_table")
        self.create_temporary_table(_quote_name(name), table_sink)

    def scan(self, *table_path: str) -> Table:
        """As `from_path`, with the names of the path one by one."""
        warn_deprecated("scan", "from_path")
        return self.from_path(".".join(map(_quote_name, table_path)))

    def insert_into(self, target_path: str, table: Table) -> TableResult:
        """As `Table.execute_insert`."""
        warn_deprecated("insert_into", "Table.execute_insert")
        return require_table(table, self._session).execute_insert(target_path)

    def register_function(self, name: str, function: FunctionArgument) -> None:
        """As `create_temporary_system_function`."""
        warn_deprecated("register_function", "create_temporary_system_function")
        self.create_temporary_system_function(name, function)

    def register_java_function(self, name: str, function_class_name: str) -> None:
        """As `create_java_temporary_system_function`."""
        warn_deprecated("register_java_function", "create_java_temporary_system_function")
        self.create_java_temporary_system_function(name, function_class_name)

    def sql_update(self, stmt: str) -> TableResult:
        """As `execute_sql`."""
        warn_deprecated("sql_update", "execute_sql")
        return self.execute_sql(stmt)

    def get_completion_hints(self, statement: str, position: int) -> list[str]:
        """As `complete_statement`."""
        warn_deprecated("get_completion_hints", "complete_statement")
        return self.complete_statement(statement, position)


def require_schema(schema: object) -> Schema | None:
    """Return the schema of a DataFrame's table, or None (`invalid-argument` for anything else)."""
    if schema is not None:
        require_instance(schema, Schema, "schema")
    return cast("Schema | None", schema)


def _one_schema(fields_or_schema: tuple[object, ...]) -> Schema | None:
    """Return the only schema of a list, None for an empty one (`invalid-argument`)."""
    if len(fields_or_schema) > 1:
        raise SchemaError(
            "a DataFrame has one schema and no list of fields",
            code="invalid-argument",
            hint="pass a Schema: Schema.new_builder().column('a', 'INT').build()",
        )
    return require_schema(next(iter(fields_or_schema), None))


def _quote_name(name: str) -> str:
    """Return one name as the string of a path.

    Raises:
        SchemaError: with code `invalid-argument` for a name that is not a string.
    """
    require_instance(name, str, "name")
    return quote_identifier(name)
