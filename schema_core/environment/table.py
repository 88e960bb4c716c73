"""`Table`: a query that has been resolved but not yet run."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Self, get_args

from schema_core.arguments import require_instance
from schema_core.catalog.objects import ResolvedCatalogView
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.connector import check_declared_metadata
from schema_core.environment.descriptor import CONNECTOR, TableDescriptor
from schema_core.environment.frames import frame_of
from schema_core.environment.operations.data import Writing, run_query, write
from schema_core.environment.operations.views import view_of
from schema_core.environment.planner import BoundTable
from schema_core.environment.relational import require_shallow
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.environment.table_methods import TableMethods
from schema_core.environment.table_schema import TableSchema
from schema_core.environment.views import QueryView, inline_functions, tables_in
from schema_core.environment.warning import replaced
from schema_core.errors import UnsupportedError
from schema_core.paths import UNKNOWN, ObjectIdentifier, parse_path
from schema_core.query.relation import Relation, result_columns
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import unresolve
from schema_core.sql.printer import print_query
from schema_core.sql.query_syntax import Query, Select, SelectItem, TableName
from schema_core.sql.syntax import Name, Star
from schema_core.types import RowType

if TYPE_CHECKING:
    import pandas as pd

#: Numbers the tables that have no path.
_NUMBERS = count(1)


class Table(TableMethods):
    """A query, typed and ready to run. Made by an environment, and by methods of other tables.

    FLIP-64 calls it what it is: a view that has no name yet.

    >>> from schema_core import EnvironmentSettings, TableEnvironment, col
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> _ = environment.execute_sql("CREATE TABLE orders (id INT, cost DECIMAL(10, 2))")
    >>> orders = environment.from_path("orders")
    >>> big = orders.where(orders.cost > 10).select(col("id"), (col("cost") * 2).alias("twice"))
    >>> print(big)
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
        query: Query,
        relation: Relation,
        schema: ResolvedSchema | None = None,
    ) -> None:
        require_instance(session, Session, "session")
        require_instance(query, get_args(Query), "query", "a Query")
        require_instance(relation, get_args(Relation), "relation", "a Relation")
        self._session = session
        self._query = query
        self._relation = relation
        self._schema = schema or _schema_of(relation)

    def column_names(self) -> list[str]:
        return self._schema.get_column_names()

    def of_query(self, query: Query) -> Self:
        require_instance(query, get_args(Query), "query", "a Query")
        require_shallow(query)
        return type(self)(self._session, query, self._session.query(query, None))

    @property
    def query(self) -> Query:
        return self._query

    @property
    def relation(self) -> Relation:
        """The typed tree of the query."""
        return self._relation

    def as_sql(self) -> str:
        """The query in SQL, every table by its full path.

        Raises:
            UnsupportedError: with code `query-not-in-sql` where it reads a table that has no path,
                `inline-function` where it calls a function that has no name.
        """
        return print_query(self._expanded())

    # --- schema --------------------------------------------------------------------------------

    def get_resolved_schema(self) -> ResolvedSchema:
        return self._schema

    def get_schema(self) -> TableSchema:
        """The names and types of the columns, as before `get_resolved_schema`."""
        replaced("get_schema", "get_resolved_schema")
        return TableSchema(self.column_names(), self._schema.get_column_data_types())

    def print_schema(self) -> None:
        """Print the resolved schema."""
        print(self._schema)  # noqa: T201

    def __str__(self) -> str:
        return str(self._schema)

    # --- running -------------------------------------------------------------------------------

    def execute(self) -> TableResult:
        """Run the query; its rows come when they are collected."""
        return run_query(self._session, self._relation)

    def to_pandas(self) -> pd.DataFrame:
        """Run the query; its rows as a data frame of pandas.

        Raises:
            NotFoundError: with code `missing-extra` where pandas is not installed.
        """
        return frame_of(self.column_names(), self.execute().rows)

    def execute_insert(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TableResult:
        """Run the query into a table and wait for the end.

        Raises:
            NotFoundError: with code `table-not-found`.
            SchemaError: with code `column-count-mismatch` or `not-assignable`.
        """
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def insert_into(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TablePipeline:
        """The query and the table that it is to go into, not yet run."""
        if isinstance(table_path_or_descriptor, TableDescriptor):
            target = inline(self._session, table_path_or_descriptor)
        else:
            path = parse_path(table_path_or_descriptor)
            target = self._session.bound(self._session.registry.qualify(path))
        return TablePipeline(self._session, self._relation, target, Writing(overwrite=overwrite))

    def explain(self, *extra_details: object) -> str:
        """How the engine would run the query; `extra_details` are PyFlink's and of no use here."""
        del extra_details
        return self._session.explain(self._relation)

    def print_explain(self, *extra_details: object) -> None:
        """Print how the engine would run the query."""
        print(self.explain(*extra_details))  # noqa: T201

    # --- as a view -----------------------------------------------------------------------------

    def to_view(self) -> ResolvedCatalogView:
        """The view of this query, which keeps it as text.

        Raises:
            UnsupportedError: with code `query-not-in-sql` where the query reads a table that has no
                path, `inline-function` where it calls a function that has no name.
        """
        names = [Name((name,)) for name in self._schema.get_column_names()]
        view = view_of(self._session, self._expanded(), None, names)
        return replace(view, schema=unresolve(self._schema), resolved_schema=self._schema)

    def to_temporary_view(self) -> QueryView:
        """The view of this query, which keeps the query itself."""
        query = self._session.expanded(self._query, None)
        text = print_query(query) if self._obstacle() is None else ""
        schema = self._schema
        return QueryView(unresolve(schema), text, text, resolved_schema=schema, query=query)

    def _expanded(self) -> Query:
        if (obstacle := self._obstacle()) is not None:
            raise obstacle
        return self._session.expanded(self._query, None)

    def _obstacle(self) -> UnsupportedError | None:
        """Why the query cannot be written in SQL, or None."""
        if any(one.catalog_name == UNKNOWN for one in tables_in(self._relation)):
            return UnsupportedError(
                "a table made from a descriptor has no path, so a query over it has no text",
                code="query-not-in-sql",
                hint="create a temporary table of the descriptor, or a temporary view of the query",
            )
        if name := next(inline_functions(self._query), None):
            return UnsupportedError(
                f"the function {name} has no name in SQL",
                code="inline-function",
                hint="register it with create_temporary_function and call it by its name, or "
                "create a temporary view",
            )
        return None


class TablePipeline:
    """A query and the table that it is to go into."""

    def __init__(
        self, session: Session, relation: Relation, target: BoundTable, how: Writing
    ) -> None:
        self._session = session
        self._relation = relation
        self._target = target
        self._how = how

    def execute(self) -> TableResult:
        """Run the query into the table and wait for the end."""
        return write(self._session, self._relation, self._target, self._how)

    def explain(self) -> str:
        """How the engine would run the query."""
        return self._session.explain(self._relation)

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """The path of the table, or None if it has none."""
        identifier = self._target.identifier
        return None if identifier.catalog_name == UNKNOWN else identifier


def _schema_of(relation: Relation) -> ResolvedSchema:
    columns = result_columns(relation)
    names, types = [one.name for one in columns], [one.type for one in columns]
    return ResolvedSchema.physical(names, types)


def of_query(session: Session, query: Query, text: str | None) -> Table:
    """The table of a query; it keeps meaning the same when the current path changes."""
    relation = session.query(query, text)
    return Table(session, session.expanded(query, text), relation)


def of_path(session: Session, path: str) -> Table:
    """All of a table or view.

    Raises:
        NotFoundError: with code `table-not-found`.
    """
    found = session.tables.get(session.registry.qualify(parse_path(path)))
    return _all_of(session, found.identifier, found.table.resolved_schema)


def _all_of(session: Session, identifier: ObjectIdentifier, schema: ResolvedSchema) -> Table:
    query = Select((SelectItem(Star()),), TableName(Name(tuple(identifier.to_list()))))
    return Table(session, query, session.query(query, None), schema)


def inline(session: Session, descriptor: TableDescriptor) -> BoundTable:
    """The table of a descriptor under a name that no path can spell.

    Raises:
        SchemaError: with code `missing-schema` where the descriptor has none.
    """
    table = resolve_table(descriptor.to_catalog_table(), session.resolver)
    check_declared_metadata(table, "define")
    connector = descriptor.options.get(CONNECTOR)
    word = f"anonymous_{connector}" if connector else "anonymous"
    identifier = ObjectIdentifier(UNKNOWN, UNKNOWN, f"*{word}${next(_NUMBERS)}*")
    session.temporary.tables.create(identifier, table, ignore_if_exists=False)
    return BoundTable(identifier, table)


def of_descriptor(session: Session, descriptor: TableDescriptor) -> Table:
    """All of the table that a descriptor describes."""
    bound = inline(session, descriptor)
    return _all_of(session, bound.identifier, bound.table.resolved_schema)


def of_values(session: Session, query: Query, type_: RowType) -> Table:
    """The table of rows that a query writes down, whose columns are those of the type."""
    names, types = [one.name for one in type_.fields], [one.data_type for one in type_.fields]
    schema = ResolvedSchema.physical(names, types)
    return Table(session, query, session.query(query, None), schema)
