"""`Session`: the state shared by the statements of one environment, and name resolution."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from itertools import count
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from schema_core.base.paths import UNKNOWN, ObjectIdentifier, UnresolvedPath
from schema_core.base.text import Span
from schema_core.catalog import objects
from schema_core.catalog.connections import ConnectionManager
from schema_core.catalog.functions import FunctionCatalog, Modules
from schema_core.catalog.managed import ensure_directory
from schema_core.catalog.managers import CatalogManager, FoundTable, ModelManager, TypeManager
from schema_core.catalog.own_options import MANAGED
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.resolve import (
    read_view,
    resolve_materialized_table,
    resolve_model,
    resolve_table,
    resolve_view,
)
from schema_core.catalog.shadowing import Hidden, Shadowing
from schema_core.catalog.stores.catalog_store import catalog_store
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalog.stores.storable import require_storable, require_storable_model
from schema_core.catalog.temporary import ResolvedTable, TemporaryObjects, TemporaryStore
from schema_core.environment.config import EnvironmentSettings, TableConfig
from schema_core.environment.connector import check_declared_metadata, secret_keys
from schema_core.environment.jobs.graph import HookFactories, JobStatusHook
from schema_core.environment.jobs.pending import require_visible
from schema_core.environment.jobs.session_jobs import SessionJobs
from schema_core.environment.modules import load_installed_module
from schema_core.environment.option_references import OptionReferences
from schema_core.environment.options import (
    LOCAL_TIME_ZONE,
    METADATA_CHECK,
    PLANNER,
    SHADOWING,
    epoch_millis,
)
from schema_core.environment.planner import (
    BoundTable,
    CommitRecord,
    Planner,
    PlannerContext,
    SupportsJobRecovery,
    find_planner,
)
from schema_core.environment.table_api.inline import InlineRows, InlineTable, inline_table
from schema_core.environment.views import OpenViews, QueryView, conform_columns, inline_views
from schema_core.errors import (
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    at,
    within,
)
from schema_core.query.expand import expand_query
from schema_core.query.relation import Column, Columns, Model, Relation, SourceTable, result_columns
from schema_core.query.resolve import resolve_query
from schema_core.query.scope import Lookups
from schema_core.schema.resolve import SchemaResolver
from schema_core.sql.parser import parse_query
from schema_core.sql.statement_syntax import Insert
from schema_core.sql.syntax import Name, Query
from schema_core.types import DataType

Result = TypeVar("Result")


@contextmanager
def at_span(span: Span | None) -> Iterator[None]:
    """Attach a span to every error of the block that has none."""
    try:
        yield
    except SchemaCoreError as error:
        error.span = error.span or span
        raise


class Session:
    """The state shared by the statements of one environment; thread-safe.

    All threads share the current database, the options and the temporary objects.
    """

    #: whether a managed table's directory is created at its first use
    makes_directories = True
    #: the record for the next job: see `schema_core.environment.jobs.commit_records`
    commit_record: CommitRecord | None = None

    def __init__(
        self,
        settings: EnvironmentSettings,
        planner: Planner | None = None,
        *,
        engine_session: object | None = None,
        hooks: Iterable[JobStatusHook | str] = (),
    ) -> None:
        name, database = settings.get_built_in_catalog_name(), settings.get_built_in_database_name()
        self.streaming: bool = settings.is_streaming_mode()
        self.config: TableConfig = TableConfig(settings.configuration)
        built_in = InMemoryCatalog(name, database)
        store = settings.catalog_store or catalog_store(settings.configuration)
        self.option_references: OptionReferences = OptionReferences(settings.option_references)
        resolve = self.option_references.resolve
        self.registry: CatalogRegistry = CatalogRegistry(name, built_in, store, resolve)
        self.shadowing: Shadowing = Shadowing(
            self.registry,
            denied=lambda: SHADOWING.of(self.config.get_configuration()) == "DENY",
        )
        self.temporary: TemporaryObjects = TemporaryObjects(self.shadowing.admit)
        self.functions: FunctionCatalog = FunctionCatalog(
            self.registry, Modules(load_installed_module), admit=self.shadowing.admit
        )
        self.types: TypeManager = TypeManager(self.registry, self.temporary)
        self.resolver: SchemaResolver = SchemaResolver(
            streaming=self.streaming,
            functions=self.functions.function,
            types=self.types.look_up,
            subqueries=lambda query, _: self.query(query, None),
        )
        self.registry.use_resolver(self.resolver)
        self.models: ModelManager = ModelManager(
            self.registry,
            self.temporary,
            self.resolve_model,
            lambda model: require_storable_model(model, self.resolver),
        )
        self.connections: ConnectionManager = ConnectionManager(self.registry, self.shadowing.admit)
        self.tables: CatalogManager = CatalogManager(
            self.registry,
            self.temporary,
            self.resolve,
            self.read,
            self.check_definition,
            admit=lambda path: self.shadowing.require_seen(path, self.temporary),
            secret_keys=secret_keys,
        )
        self.hooks: HookFactories = HookFactories(hooks)
        self.jobs: SessionJobs = SessionJobs()
        #: the INSERT statements since BEGIN STATEMENT SET with their texts; None outside a set
        self.statement_set: list[tuple[Insert, str]] | None = None
        self.settings = settings
        self._given_planner = self._planner = planner
        self._engine_session = engine_session
        self._lock, self._opened = RLock(), OpenViews()
        self._inline_tables: WeakValueDictionary[ObjectIdentifier, InlineTable] = (
            WeakValueDictionary()
        )
        self._numbers = count(1)

    def derive(self, settings: EnvironmentSettings) -> Session:
        """Return a session with other settings, the same engine and hook factories.

        It has no hooks of its own, and shares no catalogs, functions or temporary objects. Options
        may refer to the same values.
        """
        made = Session(settings, self._given_planner, engine_session=self._engine_session)
        made.hooks = self.hooks.without_hooks()
        made.option_references.allow_all(self.option_references)
        return made

    def require_no_open_set(self) -> None:
        """Raise if a script ends with an open statement set (`invalid-state`)."""
        if self.statement_set is not None:
            raise SchemaError(
                f"the script ends within a statement set of {len(self.statement_set)} statements, "
                "which were not run",
                code="invalid-state",
                hint="add END; after the last INSERT",
            )

    def next_number(self) -> int:
        """Return a number, unique in the session, for a table or view without a path."""
        return next(self._numbers)

    @property
    def temporary_stores(self) -> tuple[TemporaryStore[Any, Any], ...]:
        """The stores of all temporary objects."""
        temporary, functions = self.temporary, self.functions
        stores = (temporary.tables, temporary.models, temporary.types)
        connections = (self.connections.temporary, self.connections.system)
        return (*stores, functions.temporary, functions.system, *connections)

    def hidden(self) -> Iterator[Hidden]:
        """Yield all temporary objects that hide another object."""
        return self.shadowing.hidden(self.temporary_stores)

    @contextmanager
    def temporary_scope(self) -> Iterator[None]:
        """Restore the session's temporary objects after the block, other threads' included."""
        stores = self.temporary_stores
        before = [store.items() for store in stores]
        try:
            yield
        finally:
            for store, kept in zip(stores, before, strict=True):
                store.restore(kept)

    # --- names to paths ------------------------------------------------------------------------

    def identifier(self, name: Name) -> ObjectIdentifier:
        """Return the path of the object that a name in a statement refers to.

        Codes: `invalid-path` above three parts; `current-database-not-set` where the name leaves
        one open.
        """
        with at_span(name.span):
            return self.registry.qualify(UnresolvedPath(name.parts))

    def database(self, name: Name | None) -> tuple[str, str]:
        """Return the catalog and database of a name, or the current ones without a name."""
        with at_span(name.span if name else None):
            return self.registry.qualify_database(name.parts if name else ())

    def look_up(self, name: Name) -> FoundTable:
        """Return the table or view of a name in a statement (`table-not-found`)."""
        with at_span(name.span):
            return self._opened.table(self.identifier(name), self.tables.get)

    # --- resolution ----------------------------------------------------------------------------

    def resolve(self, table: objects.CatalogBaseTable) -> ResolvedTable:
        """Resolve a table, view or materialized table."""
        match table:
            case objects.CatalogTable():
                return resolve_table(table, self.resolver)
            case objects.CatalogView():
                return resolve_view(table, self.resolver, self.columns_of)
            case objects.CatalogMaterializedTable():
                return resolve_materialized_table(table, self.resolver)
            case _:
                raise UnsupportedError(
                    f"a catalog returned {type(table).__name__!r} instead of a table",
                    code="wrong-object-type",
                )

    def read(self, table: objects.CatalogBaseTable) -> ResolvedTable:
        """Resolve a stored table, view or materialized table."""
        if isinstance(table, objects.CatalogView):
            view = table
            return read_view(
                view, self.resolver, lambda _: result_columns(self.view_relation(view))
            )
        return self.resolve(table)

    def require_storable(self, new: ResolvedTable, old: objects.CatalogBaseTable | None) -> None:
        """Raise if reading back a definition's text gives another object (`not-representable`)."""
        if isinstance(new, QueryView):
            return

        def columns(text: str) -> Columns:
            return result_columns(self.query(parse_query(text), text))

        require_storable(new, self.resolver, columns, old)

    def check_definition(
        self, new: ResolvedTable, old: objects.CatalogBaseTable | None = None
    ) -> None:
        """Check a definition before it is stored: its text and its metadata columns.

        Errors are those of `require_storable` and, for columns that `old` lacks,
        `connector.check_metadata`.
        """
        self.require_storable(new, old)
        if isinstance(new, objects.ResolvedCatalogTable) and self.checks_metadata:
            check_declared_metadata(new, "define", old=old)

    @property
    def checks_metadata(self) -> bool:
        """Whether metadata columns are checked when a table is defined."""
        return METADATA_CHECK.of(self.config.get_configuration()) is True

    def resolve_model(self, model: objects.CatalogModel) -> objects.ResolvedCatalogModel:
        """Resolve a model."""
        return resolve_model(model, self.resolver)

    # --- queries -------------------------------------------------------------------------------

    def query(self, query: Query, text: str | None) -> Relation:
        """Resolve a query, which is written in `text`."""
        return self._in_session(resolve_query, query, text)

    def expand(self, query: Query, text: str | None) -> Query:
        """Return the query with every name in it qualified."""
        return self._in_session(expand_query, query, text)

    def resolve_expandable(
        self, query: Query, text: str | None
    ) -> tuple[Relation, Callable[[], Query]]:
        """Resolve a query, and return a function that expands it with the same meaning.

        Expanding resolves every block again, and few callers need it. Lookups are stored, so the
        function may be called after the session has changed.
        """
        lookups = self._lookups()
        expand = partial(self._in_session, expand_query, query, text, lookups)
        return self._in_session(resolve_query, query, text, lookups), expand

    def _lookups(self) -> Lookups:
        return Lookups(self, self.functions.function, self.types.look_up, self.model)

    def _in_session(
        self,
        process: Callable[..., Result],
        query: Query,
        text: str | None,
        lookups: Lookups | None = None,
    ) -> Result:
        found = lookups or self._lookups()
        with within(text), self._opened.kept():
            return process(
                query,
                found,
                streaming=self.streaming,
                functions=found.function,
                types=found.type,
                models=found.model,
            )

    def model(self, name: Name) -> Model:
        """Return a model (`model-not-found`) with the values of the references in its options."""
        identifier = self.identifier(name)
        with at_span(name.span):
            found = self.models.get(identifier)
        inputs, outputs = (
            tuple(Column(column.name, column.data_type) for column in schema.columns)
            for schema in (found.resolved_input_schema, found.resolved_output_schema)
        )
        options = self.option_references.resolve(found.options)
        return Model(inputs, outputs, options, identifier)

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        """Resolve a table in a query; a view's query is checked."""
        if path[0] == UNKNOWN and len(path) == 3:  # of a descriptor or of rows: not a user's name
            found = self.get_table(ObjectIdentifier(*path))
        else:
            found = self.look_up(Name(path, span))
        with at_span(span):
            require_visible(found, partial(self._was_committed, found))
        if isinstance(found.table, objects.ResolvedCatalogView):
            with at_span(span):
                self.query_of(found.identifier, found.table)
        rows = found.table if isinstance(found.table, InlineTable) else None
        return SourceTable(found.identifier, found.table.resolved_schema, found.kind.value, rows)

    def table_at(
        self, path: tuple[str, ...], time: dt.datetime, span: Span
    ) -> tuple[SourceTable, int]:
        """Resolve a table as it was at a local time of the session's time zone."""
        zone = LOCAL_TIME_ZONE.of(self.config.get_configuration()) or "UTC"
        timestamp = epoch_millis(time, zone)
        with at_span(span):
            found = self.tables.get_at(self.identifier(Name(path, span)), timestamp)
        schema = found.table.resolved_schema
        return SourceTable(found.identifier, schema), timestamp

    def _was_committed(self, found: FoundTable, job: str) -> bool | None:
        """Return whether the rows of the job that creates a table are visible; None if unknown."""
        if isinstance(found.table, objects.ResolvedCatalogTable) and isinstance(
            planner := self.planner, SupportsJobRecovery
        ):
            return planner.was_committed(self.bind_found(found), job)
        return None

    def get_table(self, identifier: ObjectIdentifier) -> FoundTable:
        """Return the table or view with an identifier, inline ones included (`table-not-found`)."""
        if (inline := self._inline_tables.get(identifier)) is not None:
            return FoundTable(identifier, inline, is_temporary=True)
        return self._opened.table(identifier, self.tables.get)

    def add_inline_table(self, rows: InlineRows) -> tuple[ObjectIdentifier, InlineTable]:
        """Register a table of rows, found as long as a reference to it exists."""
        identifier, table = inline_table(rows, self.next_number())
        self._inline_tables[identifier] = table
        return identifier, table

    def columns_of(self, text: str) -> tuple[tuple[str, DataType], ...]:
        """Return the names and types of the columns of a view's query."""
        return tuple(result_columns(self._query_from_text(text)))

    def query_of(self, identifier: ObjectIdentifier, view: objects.ResolvedCatalogView) -> Relation:
        """Return the query of a view, its rows cast to the view's declared types.

        It raises where what the view reads is missing or no longer fits.
        """
        with at(f"view {identifier.as_summary_string()}"):
            return conform_columns(self.view_relation(view), view.resolved_schema)

    def view_relation(
        self, view: objects.CatalogView | objects.CatalogMaterializedTable
    ) -> Relation:
        """Return the query of a view or materialized table, its rows as the query returns them."""
        if isinstance(view, QueryView):
            query = view.query
            return self._opened.relation(f"*{view.number}*", lambda: self.query(query, None))
        return self._query_from_text(view.expanded_query)

    def _query_from_text(self, text: str) -> Relation:
        """Resolve a view's query once for all views that read it."""
        return self._opened.relation(text, lambda: self.query(parse_query(text), text))

    def executable(self, relation: Relation) -> Relation:
        """Return the relation with views replaced by their queries, for engines."""

        @cache
        def query_at(identifier: ObjectIdentifier) -> Relation | None:
            table = self.get_table(identifier).table
            if not isinstance(table, objects.ResolvedCatalogView):
                return None
            return inline_views(self.query_of(identifier, table), query_at)

        with self._opened.kept():
            return inline_views(relation, query_at)

    def keep_tables(self) -> AbstractContextManager[None]:
        """Look up each table, and resolve each view, only once within the block.

        The block must not change them.
        """
        return self._opened.kept()

    # --- jobs ----------------------------------------------------------------------------------

    @property
    def planner(self) -> Planner:
        """The engine that runs jobs, created at first use (`NotFoundError` if not installed)."""
        with self._lock:
            if self._planner is None:
                options = self.config.get_configuration()
                context = PlannerContext(
                    options,
                    self.bind,
                    self._engine_session,
                    lambda: self.registry.current_database,
                )
                self._planner = find_planner(PLANNER.of(options) or "", context)
            return self._planner

    def bind(self, identifier: ObjectIdentifier, timestamp: int | None = None) -> BoundTable:
        """Return the table at a path for an engine to read or write.

        With a `timestamp`, in milliseconds since 1970, the table as it was at that time, to read.

        A materialized table is bound as the table of its stored rows. Codes: `table-not-found`,
        `wrong-object-type` for a view.
        """
        if timestamp is not None:
            return self.bind_found(self.tables.get_at(identifier, timestamp))
        return self.bind_found(self.get_table(identifier))

    def bind_found(self, found: FoundTable) -> BoundTable:
        """Return a found table for an engine to read or write (`wrong-object-type` for a view)."""
        return self.bind_table(found.identifier, self.connector_table(found), found.is_temporary)

    def connector_table(self, found: FoundTable) -> objects.ResolvedCatalogTable:
        """Return a found table with the options of its connector (`wrong-object-type`)."""
        bound = found.table
        if isinstance(bound, objects.ResolvedCatalogMaterializedTable):
            bound = bound.as_table(found.connector_options)
        if not isinstance(bound, objects.ResolvedCatalogTable):
            shown = found.identifier.as_summary_string()
            raise SchemaError(
                f"{shown!r} is a {found.kind.value}, not a table", code="wrong-object-type"
            )
        if MANAGED in found.own_options and self.makes_directories and found.derived is not None:
            ensure_directory(found.derived)
        if (found.derived is None and not found.hidden) or bound is not found.table:
            return bound
        return bound.copy(found.connector_options)

    def bind_table(
        self,
        identifier: ObjectIdentifier,
        table: objects.ResolvedCatalogTable,
        is_temporary: bool = False,
    ) -> BoundTable:
        """Return a table with the values of the references in its options.

        Errors are those of `OptionReferences.resolve`.
        """
        options = self.option_references.resolve(table.options)
        bound = table if options == table.options else table.copy(options)
        return BoundTable(identifier, bound, self.option_references, is_temporary)
