"""`Table`: a resolved query that is not run yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast, get_args

from schema_core.base.arguments import require_instance
from schema_core.base.paths import UNKNOWN, ObjectIdentifier, UnresolvedPath, parse_path
from schema_core.base.plugins import needs
from schema_core.catalog.objects import ResolvedCatalogView
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.connector import check_declared_metadata
from schema_core.environment.jobs.progress import show_progress
from schema_core.environment.options import warn_deprecated
from schema_core.environment.planner import BoundTable, RowDifferences, SupportsComparison
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.environment.table_api import relational
from schema_core.environment.table_api.descriptor import (
    CONNECTOR,
    TableDescriptor,
)
from schema_core.environment.table_api.inline import (
    DataFramePlanner,
    InlineRows,
    require_data_frames,
)
from schema_core.environment.table_api.relational import (
    NamedExpression,
    name_columns,
    require_expression,
    require_shallow,
)
from schema_core.environment.table_api.windows import (
    GroupWindow,
    OverWindow,
    group_by_window,
    require_windows,
    resolve_bounds,
    select_over,
    select_windows,
)
from schema_core.environment.unbounded import find_unbounded_table
from schema_core.environment.views import QueryView, find_tables, inline_functions
from schema_core.errors import SchemaError, UnsupportedError, similar
from schema_core.expressions.fluent import (
    COLUMNS,
    AliasedExpression,
    Expression,
    expand_columns,
    to_tree,
)
from schema_core.expressions.fluent_functions import col, row, selected_columns
from schema_core.expressions.rewriting import column_scope, to_sql_meaning
from schema_core.expressions.scope import Scope, find_function
from schema_core.expressions.typed import FunctionKind
from schema_core.expressions.user_functions import UserFunction, as_aggregate
from schema_core.query.relation import Relation, result_schema
from schema_core.schema.columns import UnresolvedPhysicalColumn, plain
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.table_schema import TableSchema
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.sql import syntax
from schema_core.sql.printer import print_query
from schema_core.types import DataType, DataTypes, RowType, StructuredType
from schema_core.types.temporal import TimestampKind, timestamp_kind

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from schema_core.environment.plans.explain_detail import ExplainDetail
    from schema_core.environment.table_api.pipelines import CreateOrReplaceTable, TablePipeline
    from schema_core.expressions.fluent import SortedExpression, Value
    from schema_core.expressions.fluent_functions import ColumnRange, ColumnSelection
    from schema_core.expressions.typed import Function

    #: What a list of columns is made of.
    Item: TypeAlias = Expression | AliasedExpression | ColumnSelection | ColumnRange


T = TypeVar("T")


class Table:
    """A resolved query, created by an environment or by methods of other tables; immutable.

    Expressions are those of `schema_core.expressions`, typed by SQL's rules. Errors are raised
    when the table is created, not when it runs.

    >>> from schema_core import EnvironmentSettings, TableEnvironment
    >>> from schema_core.expressions import col
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> _ = environment.execute_sql("CREATE TABLE orders (id INT, cost DECIMAL(10, 2))")
    >>> orders = environment.from_path("orders")
    >>> big = orders.where(orders.cost > 10).select(col("id"), (col("cost") * 2).alias("twice"))
    >>> big
    (
      `id` INT,
      `twice` DECIMAL(21, 2)
    )
    >>> print(big.as_sql())
    SELECT `orders`.`id`, `orders`.`cost` * 2 AS `twice`
    FROM `default_catalog`.`default_database`.`orders` AS `orders`
    WHERE `orders`.`cost` > 10
    """

    def __init__(
        self,
        session: Session,
        query: syntax.Query,
        relation: Relation,
        schema: ResolvedSchema | None = None,
        *,
        expand: Callable[[], syntax.Query] | None = None,
    ) -> None:
        require_instance(session, Session, "session")
        require_instance(query, get_args(syntax.Query), "query", "a Query")
        require_instance(relation, get_args(Relation), "relation", "a Relation")
        self._session = session
        self._query = query
        #: qualifies the names of the query, at first use: most queries are only run
        self._expand = expand
        self._relation = relation
        self._schema = schema or result_schema(relation)
        #: the name of the table where it is used as a string
        self._name: str | None = None

    def column_names(self) -> list[str]:
        return self._schema.get_column_names()

    def of_query(self, query: syntax.Query) -> Table:
        require_instance(query, get_args(syntax.Query), "query", "a Query")
        require_shallow(query)
        return type(self)(self._session, query, self._session.query(query, None))

    @property
    def query(self) -> syntax.Query:
        if (expand := self._expand) is not None:
            self._query, self._expand = expand(), None
        return self._query

    @property
    def relation(self) -> Relation:
        """The resolved query."""
        return self._relation

    def as_sql(self) -> str:
        """Return the query in SQL, with full paths.

        Raises:
            UnsupportedError: with code `not-in-sql` for a table without a path, or a function
                without a name.
        """
        return print_query(self._expand_query())

    # --- schema --------------------------------------------------------------------------------

    def get_resolved_schema(self) -> ResolvedSchema:
        return self._schema

    def get_schema(self) -> TableSchema:
        """Return the names and types of the columns. Deprecated: use `get_resolved_schema`."""
        warn_deprecated("get_schema", "get_resolved_schema")
        return TableSchema(self.column_names(), self._schema.get_column_data_types())

    def print_schema(self) -> None:
        """Print the resolved schema."""
        print(self._schema)  # noqa: T201

    def __str__(self) -> str:
        """Register the table as a temporary view and return its name, for use within SQL.

        The view is in the current database, and a table has one name, as in PyFlink.

        Raises:
            SchemaCoreError: where no view can be created, such as without a current database.

        >>> from schema_core import EnvironmentSettings, TableEnvironment
        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> table = environment.from_elements([(1, "Ann"), (2, None)], ["id", "name"])
        >>> environment.sql_query(f"SELECT COUNT(*) AS n FROM {table}").print_schema()
        (
          `n` BIGINT NOT NULL
        )
        """
        views = self._session.temporary.tables
        qualify = self._session.registry.qualify
        while self._name is None:
            name = f"UnnamedTable${self._session.next_number()}"
            self._name = None if qualify(UnresolvedPath((name,))) in views else name
        identifier = qualify(UnresolvedPath((self._name,)))
        if identifier not in views:
            self._session.tables.create_temporary(identifier, self.to_temporary_view(), True)
        return self._name

    def __repr__(self) -> str:
        return str(self._schema)

    def _repr_html_(self) -> str:
        """Return the resolved schema as HTML for notebooks; the query is not run."""
        return self._schema._repr_html_()

    def __getattr__(self, name: str) -> Expression:
        """``table.a`` is the column ``a``, as in PyFlink."""
        if name.startswith("__") or "_schema" not in self.__dict__:
            raise AttributeError(name)
        if name not in self.column_names():
            hint = similar(name, self.column_names())
            raise AttributeError(
                f"the table has no column {name!r}" + (f"; {hint}" if hint else "")
            )
        return col(name)

    # --- columns -------------------------------------------------------------------------------

    def select(self, *fields: Item) -> Table:
        """Select columns, which may be computed; only aggregates give one row.

        Unnamed columns are named as in Flink: ``_c0``, ``EXPR$0`` for an aggregate, ``r$x`` for a
        field.

        Raises:
            SchemaError: with code `duplicate-column`, `unknown-column`, `invalid-argument`.
        """
        return self.of_query(self._select_query(fields, self.column_names()))

    def _select_query(self, fields: Sequence[Item], names: list[str]) -> syntax.Query:
        def build(items: Sequence[Item]) -> syntax.Query:
            return relational.select(self.query, name_columns(items, names))

        return build(_expand_flatten(self, fields, build))

    def alias(self, field: str, *fields: str) -> Table:
        """Rename the first columns by position.

        Raises:
            SchemaError: with code `column-count-mismatch` for more names than columns.
        """
        names, new = self.column_names(), [field, *fields]
        for name in new:
            require_instance(name, str, "an alias")
        if len(new) > len(names):
            raise SchemaError(
                f"{len(new)} names given for {len(names)} columns", code="column-count-mismatch"
            )
        renamed = [*new, *names[len(new) :]]
        relational.require_different(renamed)
        columns = [
            NamedExpression(name, syntax.Name((old,)))
            for name, old in zip(renamed, names, strict=True)
        ]
        return self.of_query(relational.select(self.query, columns))

    def add_columns(self, *fields: Item) -> Table:
        """Append columns.

        Raises:
            SchemaError: with code `duplicate-column` for the name of an existing column.
        """
        names = self.column_names()
        return self.of_query(self._select_query([*map(col, names), *fields], names))

    def add_or_replace_columns(self, *fields: Item) -> Table:
        """Replace columns by name and append all others."""
        names = self.column_names()
        listed = [*map(col, names), *_rewrite_items(self, fields)]
        added: list[NamedExpression] = []
        for place, item in enumerate(listed[len(names) :]):
            tree = require_expression(item)
            if isinstance(item, AliasedExpression):
                name = item.names[0]
            else:
                name = relational.default_name(tree, len(names) + place, ())
            added.append(NamedExpression(name, tree))
        return self.of_query(relational.select(self.query, relational.add_or_replace(names, added)))

    def rename_columns(self, *fields: AliasedExpression) -> Table:
        """Rename columns: ``col("old").alias("new")``.

        Raises:
            SchemaError: with code `unknown-column`, `duplicate-column`, `invalid-argument`.
        """
        return self.of_query(
            relational.select(self.query, relational.rename_columns(self.column_names(), fields))
        )

    def drop_columns(self, *fields: Item) -> Table:
        """Drop columns.

        Raises:
            SchemaError: with code `unknown-column`, or `missing-columns` where none is left.
        """
        names = self.column_names()
        dropped = {name for field in fields for name in selected_columns(field, names)}
        remaining = [name for name in names if name not in dropped]
        relational.require_different(remaining)
        columns = [NamedExpression(name, syntax.Name((name,))) for name in remaining]
        return self.of_query(relational.select(self.query, columns))

    # --- rows ----------------------------------------------------------------------------------

    def filter(self, predicate: Expression) -> Table:
        """Keep the rows for which the predicate is true.

        Raises:
            SchemaError: with code `type-mismatch` for a predicate that is not a BOOLEAN.
        """
        (condition,) = _rewrite_items(self, [predicate])
        return self.of_query(relational.where(self.query, require_expression(condition)))

    def where(self, predicate: Expression) -> Table:
        """Keep the rows for which the predicate is true, as `filter`."""
        return self.filter(predicate)

    def distinct(self) -> Table:
        """Remove duplicate rows."""
        return self.of_query(relational.distinct(self.query))

    def group_by(self, *fields: Item) -> GroupedTable:
        """Group the rows by the values of columns."""
        keys = _rewrite_items(self, fields)
        return GroupedTable(self, *relational.separate_keys(self.query, keys, self.column_names()))

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Group the rows by windows of time, and by what is given to `group_by` afterwards.

        >>> from schema_core import EnvironmentSettings, TableEnvironment
        >>> from schema_core.expressions import col, lit
        >>> from schema_core.pyflink.table.window import Tumble
        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE visits (ts TIMESTAMP(3), page STRING)")
        >>> hours = Tumble.over(lit(1).hours).on(col("ts")).alias("hour")
        >>> visits = environment.from_path("visits").window(hours)
        >>> visits.group_by(col("hour"), col("page")).select(
        ...     col("hour").start.alias("begin"), col("page"), col("page").count.alias("n")
        ... )
        (
          `begin` TIMESTAMP(3) NOT NULL,
          `page` STRING,
          `n` BIGINT NOT NULL
        )

        Raises:
            SchemaError: with code `invalid-argument` for a window without an alias.
        """
        hint = "end it with alias(name)"
        return GroupWindowedTable(self, require_instance(window, GroupWindow, "window", hint=hint))

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Define windows over the rows around each row, for ``over`` in `select`.

        >>> from schema_core import EnvironmentSettings, TableEnvironment
        >>> from schema_core.expressions import col, row_interval
        >>> from schema_core.pyflink.table.window import Over
        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> _ = environment.execute_sql("CREATE TABLE sales (ts TIMESTAMP(3), cost INT)")
        >>> last = Over.order_by(col("ts")).preceding(row_interval(2)).alias("last")
        >>> table = environment.from_path("sales").over_window(last)
        >>> print(table.select(col("cost").sum.over(col("last")).alias("cost")).as_sql())
        SELECT SUM(`sales`.`cost`) OVER `last` AS `cost`
        FROM `default_catalog`.`default_database`.`sales` AS `sales`
        WINDOW `last` AS (ORDER BY `sales`.`ts` ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)

        Raises:
            SchemaError: with code `invalid-argument` for a window without an alias, or none.
        """
        return OverWindowedTable(self, require_windows(over_windows))

    # --- functions of whole rows ---------------------------------------------------------------

    def map(self, func: Expression | UserFunction) -> Table:
        """Compute a row of each row: the fields of a function's result, or ``f0``.

        `func` is the call of a scalar function, or a function, which is called with the whole row.

        Raises:
            SchemaError: with code `invalid-argument` for anything but one scalar function.
        """
        call = _require_call(self, func, FunctionKind.SCALAR, "map")
        query = relational.select(self.query, [NamedExpression("f0", call)])
        table = self.of_query(query)
        names = field_names(table.get_resolved_schema().columns[0].data_type)
        columns = [NamedExpression(name, syntax.Name(("f0", name))) for name in names]
        return self.of_query(relational.select(query, columns)) if columns else table

    def flat_map(self, func: Expression | UserFunction) -> Table:
        """Compute any number of rows of each row.

        `func` is the call of a table function, or a function, which is called with the whole row.

        Raises:
            SchemaError: with code `invalid-argument` for anything but one table function.
        """
        call = _require_call(self, func, FunctionKind.TABLE, "flat_map")
        table = self.of_query(relational.flat_map(self.query, call))
        return table.alias("f0") if table.column_names() == ["EXPR$0"] else table

    def aggregate(self, func: Expression | AliasedExpression | UserFunction) -> AggregatedTable:
        """Compute an aggregate of all rows, as `GroupedTable.aggregate` of a group."""
        return AggregatedTable(self, self.query, (), func)

    def flat_aggregate(
        self, func: Expression | AliasedExpression | UserFunction
    ) -> FlatAggregateTable:
        """Compute any number of rows of all rows, as `GroupedTable.flat_aggregate` of a group."""
        return FlatAggregateTable(self, self.query, (), func)

    # --- process table functions ---------------------------------------------------------------

    def to_changelog(self, *arguments: Expression) -> Table:
        """Return the changes of the table as rows, with the kind of each: ``TO_CHANGELOG``.

        `arguments` are those of the function in SQL without the table, such as
        ``descriptor("kind").as_argument("op")``.
        """
        return self._process_built_in("TO_CHANGELOG", arguments)

    def from_changelog(self, *arguments: Expression) -> Table:
        """Return the rows that the changes in the table leave: ``FROM_CHANGELOG``.

        `arguments` are those of the function in SQL without the table.
        """
        return self._process_built_in("FROM_CHANGELOG", arguments)

    def _process_built_in(self, name: str, arguments: Sequence[Expression]) -> Table:
        call = syntax.Call(name, tuple(map(require_expression, arguments)))
        return self.of_query(relational.process(call, "input", 0, self.query))

    def process(self, function: UserFunction | str, *arguments: Value) -> Table:
        """Return the rows of a process table function that is called for each row of the table.

        Args:
            function: A function of `udptf`, or the path of a registered one.
            arguments: Its other arguments, all with names (``lit(2).as_argument("step")``) or none.

        Raises:
            SchemaError: as a call in SQL; `invalid-function-call` for another function.
        """
        return PartitionedTable(self, (), ()).process(function, *arguments)

    def partition_by(self, *fields: Expression) -> PartitionedTable:
        """Partition the rows by the values of columns, for `PartitionedTable.process`."""
        return PartitionedTable(self, _rewrite_items(self, fields), ())

    # --- several tables ------------------------------------------------------------------------

    def join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        """Join with another table; without a predicate, all pairs of rows.

        Raises:
            SchemaError: with code `ambiguous-column` for a column name that both tables have.
        """
        return self._join(right, syntax.JoinKind.INNER, join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        """Join as `join`, and keep unmatched rows of this table, padded with NULL."""
        return self._join(right, syntax.JoinKind.LEFT, join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        """Join as `join`, and keep unmatched rows of the other table, padded with NULL."""
        return self._join(right, syntax.JoinKind.RIGHT, join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        """Join as `join`, and keep unmatched rows of both tables, padded with NULL."""
        return self._join(right, syntax.JoinKind.FULL, join_predicate)

    def _join(self, right: Table, kind: syntax.JoinKind, predicate: Expression | None) -> Table:
        other = require_table(right, self._session, "right")
        if both := sorted({*self.column_names()} & {*other.column_names()}):
            raise SchemaError(
                f"both tables have the columns {', '.join(both)}",
                code="ambiguous-column",
                hint="rename the columns of one table: rename_columns(...)",
            )
        condition = None
        if predicate is not None:
            condition = require_expression(_rewrite_items(self, [predicate], other)[0])
        source = relational.as_source(other.query)
        return self.of_query(relational.join(self.query, source, kind, condition))

    def join_lateral(
        self,
        table_function_call: Expression | AliasedExpression | UserFunction,
        join_predicate: Expression | None = None,
    ) -> Table:
        """Join each row with the rows that a table function returns for it.

        `table_function_call` is a call, or a function, which is called with the whole row;
        ``alias`` names its columns. `join_predicate` limits the joined rows.
        """
        return self._lateral(table_function_call, syntax.JoinKind.INNER, join_predicate)

    def left_outer_join_lateral(
        self,
        table_function_call: Expression | AliasedExpression | UserFunction,
        join_predicate: Expression | None = None,
    ) -> Table:
        """Join as `join_lateral`, and keep rows without a result, padded with NULL."""
        return self._lateral(table_function_call, syntax.JoinKind.LEFT, join_predicate)

    def _lateral(
        self,
        func: Expression | AliasedExpression | UserFunction,
        kind: syntax.JoinKind,
        predicate: Expression | None,
    ) -> Table:
        condition = (
            None if predicate is None else require_expression(_rewrite_items(self, [predicate])[0])
        )
        call = _apply_to_rows(self, func)
        if isinstance(func, UserFunction) and func.names and isinstance(call, Expression):
            call = call.alias(*func.names)
        source: syntax.Source = relational.lateral_call(_rewrite_items(self, [call])[0], self.query)
        return self.of_query(relational.join(self.query, source, kind, condition))

    def union(self, right: Table) -> Table:
        """Return the distinct rows of both tables; columns are matched by position."""
        return self._combine_tables("UNION", False, right)

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables; columns are matched by position."""
        return self._combine_tables("UNION", True, right)

    def intersect(self, right: Table) -> Table:
        """Return the distinct rows in both tables."""
        return self._combine_tables("INTERSECT", False, right)

    def intersect_all(self, right: Table) -> Table:
        """Return the rows in both tables, with their smaller multiplicity."""
        return self._combine_tables("INTERSECT", True, right)

    def minus(self, right: Table) -> Table:
        """Return the distinct rows that the other table lacks."""
        return self._combine_tables("EXCEPT", False, right)

    def minus_all(self, right: Table) -> Table:
        """Return the rows with their multiplicity minus the other table's."""
        return self._combine_tables("EXCEPT", True, right)

    def _combine_tables(self, operator: str, every: bool, right: Table) -> Table:
        other = require_table(right, self._session, "right")
        return self.of_query(relational.set_operation(operator, every, self.query, other.query))

    # --- order ---------------------------------------------------------------------------------

    def order_by(self, *fields: Expression | SortedExpression) -> Table:
        """Sort the rows: ``col("a").desc``.

        As in Flink's Table API, NULL is the last value in ascending and the first in descending
        order; ORDER BY of SQL sorts it the other way round.
        """
        return self.of_query(relational.order_query(self.query, _rewrite_items(self, fields)))

    def offset(self, offset: int) -> Table:
        """Skip the first rows.

        Raises:
            SchemaError: with code `invalid-query` for a negative number, or after `fetch`.
        """
        return self.of_query(relational.limit_query(self.query, offset=offset))

    def fetch(self, fetch: int) -> Table:
        """Keep only the first rows.

        Raises:
            SchemaError: with code `invalid-query` for a negative number, or after `fetch`.
        """
        return self.of_query(relational.limit_query(self.query, fetch=fetch))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Keep `fetch` rows after the first `offset` ones."""
        require_instance(fetch, int, "fetch")
        require_instance(offset, int, "offset")
        limited = relational.limit_query(self.query, offset=offset or None, fetch=fetch)
        return self.of_query(limited)

    # --- running -------------------------------------------------------------------------------

    def execute(self) -> TableResult:
        """Run the query; its rows are computed when they are collected."""
        from schema_core.environment.operations.data import run_query

        return run_query(self._session, self._relation)

    def to_pandas(self) -> pd.DataFrame:
        """Run the query and return its rows as a pandas DataFrame with Arrow's types.

        NULL turns a column of integers into floats, as in PyFlink, or into Python integers where a
        float would change a value. Nested values are as in `TableResult.collect`.

        Raises:
            NotFoundError: with code `missing-dependency` without pandas.
            UnsupportedError: with code `unsupported-ability` for a planner without DataFrames.
        """
        with show_progress("to_pandas"):
            return self._planner().to_pandas(self._executable(), self._schema)

    def to_spark(self) -> DataFrame:
        """Return the query as a DataFrame of the environment's Spark session; nothing runs yet.

        Column metadata holds the exact types, from which `from_spark` restores a CHAR, a precision
        or a user-defined type.

        Raises:
            UnsupportedError: with code `unsupported-ability` for a planner without DataFrames.
        """
        return self._planner().to_spark(self._executable(), self._schema)

    def to_arrow(self) -> pa.RecordBatchReader:
        """Return the rows as Arrow record batches, which are computed as they are read.

        The schema is `schema_core.mappings.arrow.to_schema`'s. Memory is bounded by the largest
        partition; closing the reader early stops the job.

        Raises:
            UnsupportedError: with code `unsupported-ability` for a planner without DataFrames.
        """
        return self._planner().to_arrow(self._executable(), self._schema)

    @needs("polars")
    def to_polars(self) -> pl.DataFrame:
        """Run the query and return its rows as a polars DataFrame, by way of Arrow.

        Raises:
            NotFoundError: with code `missing-dependency` without polars.
            UnsupportedError: with code `unsupported-ability` for a planner without DataFrames.
        """
        import polars as pl

        # a table becomes a frame, one column would become a series
        with show_progress("to_polars"):
            return cast("pl.DataFrame", pl.from_arrow(self.to_arrow().read_all()))

    def _planner(self) -> DataFramePlanner:
        return require_data_frames(self._session.planner)

    def _executable(self) -> Relation:
        return self._session.executable(self._relation)

    def execute_insert(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TableResult:
        """Submit the job that writes the query into a table; `TableResult.wait` waits for it.

        Raises:
            NotFoundError: with code `table-not-found`.
            SchemaError: with code `column-count-mismatch` or `not-assignable`.
        """
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def insert_into(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TablePipeline:
        """Return the pipeline that writes the query into a table; it is not run yet.

        A descriptor without a schema, or only with metadata columns, watermarks and keys, has the
        query's columns.
        """
        from schema_core.environment.table_api.pipelines import build_insertion

        if isinstance(table_path_or_descriptor, TableDescriptor):
            target = inline(self._session, self._as_target(table_path_or_descriptor))
        else:
            path = parse_path(table_path_or_descriptor)
            target = self._session.bind(self._session.registry.qualify(path))
        return build_insertion(
            self._session, self._relation, target, self.as_sql, overwrite=overwrite
        )

    def _as_target(self, descriptor: TableDescriptor) -> TableDescriptor:
        """Return a descriptor with columns: its own, or the query's."""
        declared = descriptor.schema or Schema()
        if any(isinstance(column, UnresolvedPhysicalColumn) for column in declared.columns):
            return descriptor
        columns = Schema.new_builder().from_row_data_type(self._schema.to_sink_row_data_type())
        return descriptor.to_builder().schema(columns.from_schema(declared).build()).build()

    def save_as(self, table_path: str) -> CreateOrReplaceTable:
        """Return the table to be created from this query at a path (FLIP-218).

        `table_path` is one to three names, separated by dots, in backticks if not identifiers.

        Raises:
            ParseError: for a path outside the grammar.
        """
        from schema_core.environment.table_api.pipelines import CreateOrReplaceTable

        return CreateOrReplaceTable(self._session, self, parse_path(table_path).parts)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the typed plan and the engine's, with details."""
        from schema_core.environment.operations.explain import explain_query
        from schema_core.environment.plans.explain_detail import require_details

        return explain_query(self._session, self._relation, require_details(extra_details))

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print what `explain` returns."""
        print(self.explain(*extra_details))  # noqa: T201

    # --- as a view -----------------------------------------------------------------------------

    def to_view(self) -> ResolvedCatalogView:
        """Return the view of this query, which stores it in SQL; raises as `as_sql`."""
        from schema_core.environment.operations.create_view import view_of

        names = [syntax.Name((name,)) for name in self._schema.get_column_names()]
        view = view_of(self._session, self._expand_query(), None, names)
        return replace(view, schema=unresolve(self._schema), resolved_schema=self._schema)

    def to_temporary_view(self) -> QueryView:
        """Return the temporary view of this query, which holds the query itself."""
        query = self._session.expand(self.query, None)
        text = print_query(query) if self._obstacle() is None else ""
        schema = self._schema
        number = self._session.next_number()
        return QueryView(
            unresolve(schema),
            text,
            text,
            resolved_schema=schema,
            query=query,
            relation=self._relation,
            number=number,
        )

    def _expand_query(self) -> syntax.Query:
        if (obstacle := self._obstacle()) is not None:
            raise obstacle
        return self._session.expand(self.query, None)

    def _obstacle(self) -> UnsupportedError | None:
        """Return why SQL cannot express the query, or None."""
        if any(identifier.catalog_name == UNKNOWN for identifier in find_tables(self._relation)):
            return UnsupportedError(
                "a table made from a descriptor or a DataFrame has no path, so SQL cannot express "
                "a query over it",
                code="not-in-sql",
                hint="create a temporary table of the descriptor, or a temporary view of the query",
            )
        if name := next(inline_functions(self.query), None):
            return UnsupportedError(
                f"the function {name} is not registered, so SQL cannot call it",
                code="not-in-sql",
                hint="register it with create_temporary_function and call it by its name, or "
                "create a temporary view",
            )
        return None


def _rewrite_items(table: Table, items: Iterable[T], *others: Table) -> list[T]:
    """Return expressions over the columns of the table, and of `others`, as SQL means them."""

    def scope() -> Scope:
        columns = [
            (column.name, column.data_type)
            for one_table in (table, *others)
            for column in one_table.get_resolved_schema().columns
        ]
        session = table._session  # noqa: SLF001 - of this module
        return column_scope(columns, session.functions.function, session.types.look_up)

    def names() -> list[str]:
        return [name for each in (table, *others) for name in each.column_names()]

    return [to_sql_meaning(_with_columns(item, names), scope) for item in items]


def _with_columns(item: T, names: Callable[[], list[str]]) -> T:
    """Return an expression with selections of columns among its arguments as these columns."""
    tree = getattr(item, "syntax", None)
    if tree is None or not any(
        isinstance(node, syntax.Call) and node.name == COLUMNS for node in syntax.walk(tree)
    ):
        return item
    expanded = expand_columns(tree, names())
    if isinstance(item, Expression):
        return Expression(expanded)  # type: ignore[return-value]
    return replace(item, syntax=expanded)  # type: ignore[type-var]


def _expand_flatten(
    table: Table, fields: Sequence[Item], build: Callable[[Sequence[Item]], syntax.Query]
) -> Sequence[Item]:
    """Return the items, with one for each field of ``flatten``; `build` types the values."""
    items = _rewrite_items(table, fields)
    whole = {
        place: Expression(item.syntax.arguments[0])
        for place, item in enumerate(items)
        if isinstance(item, Expression)
        and isinstance(item.syntax, syntax.Call)
        and item.syntax.name == "$FLATTEN"
    }
    if not whole:
        return items
    named = [item.alias(f"_{place}") for place, item in enumerate(whole.values())]
    columns = table.of_query(build(named)).get_resolved_schema().columns
    parts = {
        place: [item.get(name) for name in field_names(column.data_type)] or [item]
        for (place, item), column in zip(whole.items(), columns, strict=True)
    }
    return [item for place, item in enumerate(items) for item in parts.get(place, [item])]


def _require_call(
    table: Table,
    func: Expression | AliasedExpression | UserFunction,
    kind: FunctionKind,
    method: str,
) -> syntax.Call:
    """Return the call of a function of a kind; a function itself is called with the row."""
    is_named = bool(_aliases(func)) and kind in (FunctionKind.SCALAR, FunctionKind.TABLE)
    (prepared,) = _rewrite_items(table, [_apply_to_rows(table, func)])
    tree = require_expression(prepared)
    if isinstance(tree, syntax.Call) and not is_named:
        functions = table._session.functions.function  # noqa: SLF001 - of this module
        rows = tree.inline or find_function(tree.path or (tree.name,), tree.span, functions)
        if all(row.kind is kind for row in cast("tuple[Function, ...]", rows)):
            return tree
    raise SchemaError(
        f"{method} requires the call of one {kind.value} function, got {Expression(tree)}",
        code="invalid-argument",
        hint=f"omit alias(...), and rename the columns of the result of {method}"
        if is_named
        else None,
    )


def _apply_to_rows(
    table: Table, func: Expression | AliasedExpression | UserFunction
) -> Expression | AliasedExpression:
    """Return a call unchanged, and a function as its call with the whole row."""
    if not isinstance(func, UserFunction):
        return func
    columns = table.get_resolved_schema().columns
    fields = [DataTypes.FIELD(column.name, plain(column.data_type)) for column in columns]
    return func(row(*map(col, table.column_names())).cast(DataTypes.ROW(fields)))


def _aliases(func: Expression | AliasedExpression | UserFunction) -> tuple[str, ...]:
    """Return the names that a call or a function declares for the columns of its result."""
    return func.names if isinstance(func, AliasedExpression | UserFunction) else ()


def field_names(type_: DataType) -> list[str]:
    """Return the names of the fields of a row or structured type; of others none."""
    return (
        [field.name for field in type_.fields]
        if isinstance(type_, RowType | StructuredType)
        else []
    )


class PartitionedTable:
    """A table partitioned by columns, for a process table function."""

    def __init__(
        self,
        table: Table,
        keys: Sequence[Expression],
        order: Sequence[Expression | SortedExpression],
    ) -> None:
        self._table = table
        self._keys = keys
        self._order = order

    def order_by(self, *fields: Expression | SortedExpression) -> PartitionedTable:
        """Process the rows of each partition in the order of columns."""
        return PartitionedTable(self._table, self._keys, _rewrite_items(self._table, fields))

    def process(self, function: UserFunction | str, *arguments: Value) -> Table:
        """Return the rows of a process table function, as `Table.process`."""
        from schema_core.expressions.process_functions import process_signature
        from schema_core.query.process_calls import process_implementation

        table, values = self._table, tuple(map(to_tree, arguments))
        if isinstance(function, str):
            path, functions = parse_path(function).parts, table._session.functions  # noqa: SLF001
            name, rows = function, find_function(path, syntax.NOWHERE, functions.function)
            call = syntax.Call(path[-1], values, path)
        else:
            require_instance(function, UserFunction, "function", "a function of udptf, or a path")
            name, rows = function.name, function.rows()
            call = syntax.Call(name, values, inline=rows)
        implementation = process_implementation(rows)
        if implementation is None:
            problem = f"{name} is not a process table function"
            raise SchemaError(problem, code="invalid-function-call")
        signature = process_signature(implementation)
        own, *others = signature.tables
        if others:
            raise UnsupportedError(
                f"{name} is a function of several tables: the Table API passes one",
                hint="call it in sql_query",
            )
        place = signature.arguments.index(own)
        keys = [require_expression(key) for key in self._keys]
        query = relational.process(
            call, own.name, place, table.query, keys, relational.sort_keys(self._order)
        )
        return table.of_query(query)


class GroupedTable:
    """A table grouped by columns; `select` computes one row for each group."""

    def __init__(self, table: Table, query: syntax.Query, keys: Sequence[NamedExpression]) -> None:
        self._table = table
        self._query = query
        self._keys = keys

    def select(self, *fields: Item) -> Table:
        """Select keys and aggregates, one row for each group.

        Raises:
            SchemaError: with code `invalid-grouping` for a column that is not constant within a
                group.
        """
        keys = self._keys

        def build(items: Sequence[Item]) -> syntax.Query:
            return relational.group(
                self._query, keys, name_columns(items, [key.name for key in keys])
            )

        return self._table.of_query(build(_expand_flatten(self._table, fields, build)))

    def aggregate(self, func: Expression | AliasedExpression | UserFunction) -> AggregatedTable:
        """Compute an aggregate for each group; its fields are columns for `select`.

        `func` is the call of an aggregate, with aliases for its fields, or a function, which is
        called with the whole row.

        Raises:
            SchemaError: with code `invalid-argument` for anything but one aggregate.
        """
        return AggregatedTable(self._table, self._query, self._keys, func)

    def flat_aggregate(
        self, func: Expression | AliasedExpression | UserFunction
    ) -> FlatAggregateTable:
        """Compute any number of rows for each group.

        `func` is the call of a function of `udtaf`, with aliases for its fields, or the function
        itself, which is called with the whole row.

        Raises:
            SchemaError: with code `invalid-argument` for anything but one table aggregate.
        """
        return FlatAggregateTable(self._table, self._query, self._keys, func)


class GroupWindowedTable:
    """A table with windows of time; `group_by` groups its rows by them."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        self._table = table
        self._window = window

    def group_by(self, *fields: Item) -> WindowGroupedTable:
        """Group the rows by the window and by the values of columns.

        Raises:
            SchemaError: with code `invalid-grouping` unless the window is among them.
        """
        table, window = self._table, self._window
        if window.rows is not None:
            _require_arrivals(table, window)
        query = group_by_window(
            table.query, window, _rewrite_items(table, fields), table.column_names()
        )
        return WindowGroupedTable(table, window, *query)


def _require_arrivals(table: Table, window: GroupWindow) -> None:
    """Require that rows have an order of arrival: bounded ones, by the processing time.

    Raises:
        SchemaError: with code `invalid-argument` for another column than a processing time.
        UnsupportedError: with code `streaming-not-supported` in batch mode, as in Flink, and for
            unbounded tables.
    """
    session = table._session  # noqa: SLF001 - of this module
    time = relational.select(table.query, [NamedExpression("time", window.call.arguments[0])])
    type_ = session.query(time, None).columns[0].type
    if session.streaming and timestamp_kind(type_) is not TimestampKind.PROCTIME:
        raise SchemaError(
            f"windows of a number of rows must be on a processing time, got {type_}",
            code="invalid-argument",
            hint="add a column PROCTIME(), and pass it to on(...)",
        )
    path = find_unbounded_table(session, table.relation)
    if path is not None or not session.streaming:
        raise UnsupportedError(
            "windows of a number of rows require "
            + ("streaming mode" if path is None else f"bounded tables, unlike {path}"),
            code="streaming-not-supported",
            hint="use windows of time: Tumble.over(lit(10).minutes)",
        )


class WindowGroupedTable:
    """A table grouped by windows of time; `select` computes one row for each group."""

    def __init__(
        self,
        table: Table,
        window: GroupWindow,
        query: syntax.Query,
        keys: Sequence[NamedExpression],
    ) -> None:
        self._table = table
        self._window = window
        self._query = query
        self._keys = keys

    def select(self, *fields: Item) -> Table:
        """Select keys, aggregates, and the bounds of the window: ``col("w").start``.

        Raises:
            SchemaError: with code `invalid-grouping` for a column that is not constant within a
                group.
        """

        def build(items: Sequence[Item]) -> syntax.Query:
            return select_windows(self._query, self._window, self._keys, items)

        return self._table.of_query(build(_expand_flatten(self._table, fields, build)))

    def aggregate(self, func: Expression | AliasedExpression | UserFunction) -> AggregatedTable:
        """Compute an aggregate for each group, as `GroupedTable.aggregate`."""
        return AggregatedTable(self._table, self._query, self._keys, func, self._window)


class AggregatedTable:
    """A table with an aggregate of each group, whose fields are columns of `select`.

    Fields without an alias are ``TMP_0$x``, as in Flink, an aggregate of one value is ``TMP_0``.
    """

    def __init__(
        self,
        table: Table,
        query: syntax.Query,
        keys: Sequence[NamedExpression],
        func: Expression | AliasedExpression | UserFunction,
        window: GroupWindow | None = None,
    ) -> None:
        self._table = table
        self._query = query
        self._keys = keys
        self._call = _require_call(table, func, FunctionKind.AGGREGATE, "aggregate")
        self._names = _aliases(func)
        self._window = window

    def select(self, *fields: Item) -> Table:
        """Select keys, fields of the aggregate, and the bounds of a window.

        Raises:
            SchemaError: with code `unknown-column`; `column-count-mismatch` for a wrong number of
                aliases.
        """
        table, window = self._table, self._window
        keys = [key for key in self._keys if window is None or key.expression != window.key]
        items: Sequence[Item] = fields
        bounds: list[NamedExpression] = []
        if window is not None:
            items, bounds = resolve_bounds(window, fields)
        inner = relational.group(
            self._query, self._keys, [*keys, NamedExpression("TMP_0", self._call), *bounds]
        )
        result = table.of_query(inner)
        type_ = result.get_resolved_schema().columns[len(keys)].data_type
        columns = [NamedExpression(key.name, syntax.Name((key.name,))) for key in keys]
        columns += relational.fields_of("TMP_0", field_names(type_), self._names)
        columns += [NamedExpression(bound.name, syntax.Name((bound.name,))) for bound in bounds]
        return table.of_query(relational.select(inner, columns)).select(*items)


class FlatAggregateTable:
    """A table with a table aggregate of each group, whose fields are columns of `select`."""

    def __init__(
        self,
        table: Table,
        query: syntax.Query,
        keys: Sequence[NamedExpression],
        func: Expression | AliasedExpression | UserFunction,
    ) -> None:
        self._table = table
        self._query = query
        self._keys = keys
        self._call = _require_call(table, func, FunctionKind.TABLE_AGGREGATE, "flat_aggregate")
        self._names = _aliases(func)

    def select(self, *fields: Item) -> Table:
        """Select keys and fields of the rows that the function emits for each group.

        Raises:
            SchemaError: with code `unknown-column`; `column-count-mismatch` for a wrong number of
                aliases.
        """
        call, type_ = as_aggregate(self._call)
        keys = [key.name for key in self._keys]
        inner = relational.group(
            self._query, self._keys, [*self._keys, NamedExpression("TMP_0", call)]
        )
        columns = relational.fields_of("TMP_0", field_names(type_), self._names)
        names = self._names or [column.name.removeprefix("TMP_0$") for column in columns]
        names = ["f0"] if names == ["TMP_0"] else names
        rows = relational.unnest_emitted(inner, keys, names)
        return self._table.of_query(rows).select(*fields)


class OverWindowedTable:
    """A table with windows over rows; `select` computes one row for each row."""

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        self._table = table
        self._windows = windows

    def select(self, *fields: Item) -> Table:
        """Select columns and aggregates over the windows: ``col("a").sum.over(col("w"))``."""
        table = self._table
        names = table.column_names()
        items = _rewrite_items(table, fields)
        return table.of_query(select_over(table.query, self._windows, items, names))


def require_same(own: Session, session: Session, what: str) -> None:
    """Refuse what belongs to another environment (`invalid-argument`)."""
    if own is not session:
        raise SchemaError(f"the {what} belongs to another environment", code="invalid-argument")


def require_table(table: object, session: Session, name: str = "table") -> Table:
    """Return a table of this environment; another's has other catalogs (`invalid-argument`)."""
    require_instance(table, Table, name, "a Table")
    checked = cast("Table", table)
    require_same(checked._session, session, "table")  # noqa: SLF001 - of this module
    return checked


def compare_rows(
    left: Table, right: Table, *, key: int, compared: int, samples: int
) -> RowDifferences:
    """Compare the rows of two tables of an environment, as `SupportsComparison.compare`.

    Raises:
        UnsupportedError: with code `unsupported-capability` for another planner.
    """
    session = left._session  # noqa: SLF001 - of this module
    require_table(right, session, "right")
    planner = session.planner
    if not isinstance(planner, SupportsComparison):
        raise UnsupportedError(
            f"the planner {planner.identifier!r} does not compare rows",
            code="unsupported-capability",
        )
    relations = (session.executable(table.relation) for table in (left, right))
    return planner.compare(*relations, key=key, compared=compared, samples=samples)


def of_query(session: Session, query: syntax.Query, text: str | None) -> Table:
    """Return the table of a query, with all paths qualified."""
    relation, expand = session.resolve_expandable(query, text)
    return Table(session, query, relation, expand=expand)


def table_of_path(session: Session, path: str) -> Table:
    """Return the table or view at a path (`table-not-found`)."""
    bound = session.tables.get(session.registry.qualify(parse_path(path)))
    return _select_all(session, bound.identifier, bound.table.resolved_schema)


def _select_all(session: Session, identifier: ObjectIdentifier, schema: ResolvedSchema) -> Table:
    query = syntax.Select(
        (syntax.SelectItem(syntax.Star()),),
        syntax.TableName(syntax.Name(tuple(identifier.to_list()))),
    )
    return Table(session, query, session.query(query, None), schema)


def inline(session: Session, descriptor: TableDescriptor) -> BoundTable:
    """Register a descriptor's table under a name that no path can express (`missing-columns`).

    Errors are also those of `Session.bind_table`.
    """
    table = resolve_table(descriptor.to_catalog_table(), session.resolver)
    if session.checks_metadata:
        check_declared_metadata(table, "define")
    connector = descriptor.options.get(CONNECTOR)
    word = f"anonymous_{connector}" if connector else "anonymous"
    identifier = ObjectIdentifier(UNKNOWN, UNKNOWN, f"*{word}${session.next_number()}*")
    session.temporary.tables.create(identifier, table, ignore_if_exists=False)
    return session.bind_table(identifier, table, is_temporary=True)


def table_of_descriptor(session: Session, descriptor: TableDescriptor) -> Table:
    """Return the table that a descriptor describes."""
    bound = inline(session, descriptor)
    return _select_all(session, bound.identifier, bound.table.resolved_schema)


def table_of_rows(session: Session, rows: InlineRows) -> Table:
    """Return the table of rows that the planner reads directly."""
    identifier, table = session.add_inline_table(rows)
    result = _select_all(session, identifier, table.resolved_schema)
    del table  # the relation of the table refers to it
    return result


def table_of_values(session: Session, query: syntax.Query, type_: DataType) -> Table:
    """Return the table of a VALUES query, with the column types of a row."""
    fields = type_.fields if isinstance(type_, RowType) else ()
    schema = ResolvedSchema.physical(
        [field.name for field in fields], [field.data_type for field in fields]
    )
    return Table(session, query, session.query(query, None), schema)
