"""COMPILE PLAN and EXECUTE PLAN: plans of INSERT, statement sets and CREATE TABLE AS."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NoReturn, cast
from weakref import finalize

from schema_core.base.paths import UNKNOWN, ObjectIdentifier, join_names
from schema_core.base.secrets import mask_query
from schema_core.catalog.changes.column_history import KEY as COLUMN_HISTORY
from schema_core.catalog.changes.column_history import ColumnHistory
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    ResolvedCatalogTable,
    ResolvedCatalogView,
    TableKind,
)
from schema_core.catalog.own_options import require_no_own_options
from schema_core.catalog.registry import secret_keys_of
from schema_core.catalog.resolve import resolve_table
from schema_core.catalog.stores.catalog_store import CatalogDescriptor, InMemoryCatalogStore
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalog.temporary import ResolvedTable
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import check_definition, secret_keys
from schema_core.environment.jobs.graph import JobGraph, JobStatusHook
from schema_core.environment.operations.create_table_as import (
    TableCreation,
    check_existing,
    derive_creation,
    find_level,
    place_table,
    prepare_creation,
)
from schema_core.environment.operations.data import (
    Writing,
    check_assignment,
    check_insert,
    prepare_write,
    run_job,
)
from schema_core.environment.operations.explain import explain_query
from schema_core.environment.options import FORCE_RECOMPILE
from schema_core.environment.plans import compiled_plan
from schema_core.environment.plans.compiled_plan import (
    PlanDocument,
    PlanReference,
    Secrets,
    replace_secrets,
)
from schema_core.environment.plans.explain_detail import ExplainDetail, require_details
from schema_core.environment.plans.plan_text import join_plans
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.environment.table_api.inline import InlineTable
from schema_core.environment.views import QueryView, inline_views
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError, UnsupportedError, at
from schema_core.properties.property_map import (
    decode_table,
    decode_view,
    encode_table,
    encode_view,
)
from schema_core.query.relation import Relation, result_columns
from schema_core.sql.parser import parse_query
from schema_core.sql.printer import print_query
from schema_core.sql.statement_syntax import (
    CompilePlan,
    CreateTable,
    ExecutePlan,
    Insert,
    Partition,
    Statement,
    StatementSet,
)
from schema_core.sql.syntax import Name, hinted_options

# --- statements ----------------------------------------------------------------------------------


def compile_plan(session: Session, statement: CompilePlan, text: str) -> TableResult:
    """Write the plan of the statement into a file; COMPILE AND EXECUTE PLAN also executes it."""
    path = compiled_plan.plan_path(statement.path)
    recompile = bool(FORCE_RECOMPILE.of(session.config.get_configuration()))
    if recompile or not (statement.if_not_exists and path.exists()):
        plan = compile_statement(session, statement.statement, text)
        compiled_plan.write_plan_file(path, plan.to_json(), replace=recompile)
        if statement.execute:
            return run_plan(plan, session)
    return OK


def execute_plan(session: Session, statement: ExecutePlan, text: str) -> TableResult:
    """Execute the plan in a file."""
    return run_plan(PlanReference.from_file(statement.path).load(), session)


class CompiledPlan:
    """A compiled statement, which can be executed, stored and explained, as PyFlink's.

    `TableEnvironment.compile_plan_sql` and `load_plan` return it. It holds what the statement
    depends on besides the data; see `schema_core.environment.plans.compiled_plan`.
    """

    def __init__(self, session: Session, document: PlanDocument) -> None:
        self._session = session
        self._document = document

    def as_json_string(self) -> str:
        """Return the plan as JSON, with references for secrets."""
        return self._document.to_json()

    def as_smile_bytes(self) -> NoReturn:
        """Raise `needs-flink`: plans are JSON.

        Raises:
            UnsupportedError: with code `needs-flink`.
        """
        raise compiled_plan.no_smile("CompiledPlan.as_smile_bytes", "use as_json_string")

    def get_flink_version(self) -> NoReturn:
        """Raise `needs-flink`: a plan has a version of its own format, not one of Flink.

        Raises:
            UnsupportedError: with code `needs-flink`.
        """
        raise UnsupportedError(
            "`CompiledPlan.get_flink_version` is not available: plans have a version of their own "
            "format",
            code="needs-flink",
            hint="read it from as_json_string()",
        )

    def print_json_string(self) -> None:
        """Print the plan as JSON."""
        print(self.as_json_string())  # noqa: T201 - PyFlink's method

    def write_to_file(self, file: str | os.PathLike[str], ignore_if_exists: bool = False) -> None:
        """Write the plan into a file, in one step; missing directories are created.

        `ignore_if_exists` leaves an existing file as it is.

        Raises:
            AlreadyExistsError: with code `already-exists`, unless ``table.plan.force-recompile`` is
                true.
            ExternalError: with code `file-system-failed`.
        """
        path = compiled_plan.plan_path(file)
        recompile = bool(FORCE_RECOMPILE.of(self._session.config.get_configuration()))
        if recompile or not (ignore_if_exists and path.exists()):
            compiled_plan.write_plan_file(path, self.as_json_string(), replace=recompile)

    def execute(self) -> TableResult:
        """Submit the jobs of the plan as one job; errors are those of `run_plan`."""
        return run_plan(self._document, self._session)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return how the engine would run each job, with further details; raises as `run_plan`."""
        details = require_details(extra_details)
        session = open_plan(self._document, self._session)
        return join_plans(
            explain_query(session, session.query(parse_query(job.query), job.query), details)
            for job in self._document.jobs
        )

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print what `explain` returns."""
        print(self.explain(*extra_details))  # noqa: T201 - PyFlink's method

    def __repr__(self) -> str:
        sinks = ", ".join(join_names(job.sink.to_list()) for job in self._document.jobs)
        return f"CompiledPlan({sinks})"


# --- compiling -----------------------------------------------------------------------------------


def compile_statement(session: Session, statement: Statement, text: str) -> PlanDocument:
    """Return the plan of an INSERT, a statement set or a CREATE TABLE AS.

    It raises what the statement refuses before its job, and `feature-not-supported` for other
    statements and for those that depend on what only this process has.
    """
    compiler = PlanCompiler(session)
    match statement:
        case Insert():
            compiler.insert(statement, text)
        case StatementSet(inserts=inserts):
            for insert in inserts:
                compiler.insert(insert, text)
        case CreateTable(query=query) if query is not None:
            creation = derive_creation(session, statement, session.query(query, text), text)
            compiler.creation(creation, print_query(session.expand(query, text)))
        case _:
            raise UnsupportedError(
                "only INSERT, a statement set and CREATE TABLE AS have a plan",
                code="feature-not-supported",
            )
    return compiler.document()


def _not_portable(problem: str, hint: str | None) -> UnsupportedError:
    return UnsupportedError(problem, code="feature-not-supported", hint=hint)


class PlanCompiler:
    """Collects the jobs of one plan, and what they depend on."""

    def __init__(self, session: Session, hooks: Iterable[JobStatusHook | str] = ()) -> None:
        self._session = session
        self._hooks = tuple(hooks)
        self._secrets: Secrets = {}
        #: keys that the tables' connectors declare secret, in lower case
        self._declared: set[str] = set()
        self._objects: dict[ObjectIdentifier, compiled_plan.PlanTable] = {}
        self._jobs: list[compiled_plan.PlanInsert | compiled_plan.PlanCreation] = []
        self._catalogs: dict[str, compiled_plan.PlanCatalog] = {}

    def insert(self, statement: Insert, text: str) -> None:
        relation, target = check_insert(self._session, statement, text)
        query = print_query(self._session.expand(statement.query, text))
        options = hinted_options(statement.hints)
        self.writing(relation, query, target.identifier, Writing.of(statement), options)

    def writing(
        self,
        relation: Relation,
        query: str,
        sink: ObjectIdentifier,
        how: Writing,
        hints: Mapping[str, str],
    ) -> None:
        """Add a query, with all names qualified, that is written into a table."""
        self._add_object(sink)
        secret = secret_keys(self._session.get_table(sink).table.get_options())
        self._add_reads(relation, query)
        job = compiled_plan.PlanInsert(
            sink,
            query,
            tuple(".".join(name.parts) for name in how.columns),
            None if how.partition is None else how.partition.values,
            how.overwrite,
            replace_secrets(hints, join_names(sink.to_list()), secret, self._secrets),
            how.on_conflict,
        )
        self._jobs.append(job)

    def creation(self, creation: TableCreation, query: str) -> None:
        """Add a table created from a query, with all names qualified."""
        sink, statement = creation.identifier, creation.statement
        old = self._session.tables.read_or_stored(sink)
        check_existing(self._session, statement, sink, old)
        _, target = place_table(self._session, sink, creation.table)
        check_definition(sink, target)
        if _portable_descriptor(self._session, sink.catalog_name) is None:
            raise _not_portable(
                f"the catalog {sink.catalog_name!r} exists only in this process, so no other "
                "process can create a table in it",
                "create the catalog from options, with CREATE CATALOG ... WITH (...)",
            )
        self._add_catalog(sink.catalog_name)
        self._add_reads(creation.relation, query)
        job = compiled_plan.PlanCreation(
            sink,
            query,
            _properties(sink, creation.table, {}, self._secrets),
            _level(self._session, creation),
            statement.if_not_exists,
            statement.or_replace,
            statement.create,
        )
        self._jobs.append(job)

    def document(self) -> PlanDocument:
        """Return the plan, whose queries resolve where only its content exists.

        Else it is `feature-not-supported`, for example with a temporary function.
        """
        session = self._session
        current_catalog, current_database = session.registry.current_path
        if current_catalog is not None:
            self._add_catalog(current_catalog)
        options = session.config.get_configuration()
        plan = PlanDocument(
            (current_catalog, current_database),
            replace_secrets(options, "options", secrets=self._secrets),
            self._catalogs,
            tuple(self._objects.values()),
            tuple(self._jobs),
            tuple(session.hooks.names(self._hooks)),
            self._secrets,
        )
        try:
            reopened = open_plan(plan, session.derive(session.settings))
            for job in plan.jobs:
                reopened.query(parse_query(job.query), job.query)
        except SchemaCoreError as error:
            problem = f"the statement depends on what only this process has: {error.problem}"
            raise _not_portable(problem, error.hint) from error
        return plan

    def _add_reads(self, relation: Relation, query: str) -> None:
        """Add the tables and views that a query reads, those of a view before the view."""
        identifiers: dict[ObjectIdentifier, None] = {}
        texts = [query]

        def add(identifier: ObjectIdentifier) -> None:
            if identifier in identifiers:
                return
            table = self._session.get_table(identifier).table
            if isinstance(table, ResolvedCatalogView):
                texts.extend((table.original_query, table.expanded_query))
                inline_views(self._session.query_of(identifier, table), add)
            else:
                self._declared.update(secret_keys(table.get_options()))
            identifiers[identifier] = None

        with self._session.keep_tables():
            inline_views(relation, add)
        if any(mask_query(text, self._declared) != text for text in texts):
            raise _not_portable(
                "the query or a view in it has a secret in an OPTIONS hint, which a plan must "
                "not hold",
                "set the option in the definition of the table",
            )
        for identifier in identifiers:
            self._add_object(identifier)

    def _add_object(self, identifier: ObjectIdentifier) -> None:
        if identifier in self._objects:
            return
        found = self._session.get_table(identifier)
        if (
            isinstance(found.table, InlineTable | QueryView)
            or identifier.catalog_name == UNKNOWN
            or found.kind not in (TableKind.TABLE, TableKind.VIEW)
        ):
            raise _not_portable(
                f"{identifier.as_summary_string()} exists only in this process",
                "write the rows into a table, or create the view with CREATE VIEW",
            )
        if not found.is_temporary:
            self._add_catalog(identifier.catalog_name)
        self._objects[identifier] = _plan_table(identifier, found, self._secrets)

    def _add_catalog(self, name: str) -> None:
        """Add a catalog, unless it exists only in this process."""
        descriptor = _portable_descriptor(self._session, name)
        if name not in self._catalogs and descriptor is not None:
            self._catalogs[name] = _plan_catalog(descriptor, self._secrets)


def _portable_descriptor(session: Session, name: str) -> CatalogDescriptor | None:
    """Return how another process opens a catalog with the same objects; None if it cannot."""
    if isinstance(session.registry.find(name), InMemoryCatalog):
        return None
    try:
        return session.registry.descriptor(name)
    except NotFoundError:
        return None


def _plan_catalog(
    descriptor: CatalogDescriptor, secrets: Secrets | None = None
) -> compiled_plan.PlanCatalog:
    owner, declared = join_names([descriptor.catalog_name]), secret_keys_of(descriptor)
    options = replace_secrets(descriptor.configuration, owner, declared, secrets)
    return compiled_plan.PlanCatalog(options, descriptor.comment)


def _plan_table(
    identifier: ObjectIdentifier, found: FoundTable, secrets: Secrets | None = None
) -> compiled_plan.PlanTable:
    """Return a table or view as a plan has it; `secrets` receives its secrets."""
    table, is_temporary = found.table, found.is_temporary
    properties = _properties(identifier, table, found.hidden, secrets)
    if isinstance(table, ResolvedCatalogView):
        queries = table.original_query, table.expanded_query
        return compiled_plan.PlanView(identifier, is_temporary, properties, *queries)
    return compiled_plan.PlanTable(identifier, is_temporary, properties)


def _properties(
    identifier: ObjectIdentifier,
    table: ResolvedTable,
    hidden: Mapping[str, str],
    secrets: Secrets | None,
) -> compiled_plan.PlanOptions:
    """Return the properties of a table or view, with references for secrets."""
    if isinstance(table, ResolvedCatalogTable):
        properties = {**encode_table(table), **hidden}
    else:
        properties = encode_view(cast("ResolvedCatalogView", table))
    declared = secret_keys(table.get_options())
    return replace_secrets(properties, join_names(identifier.to_list()), declared, secrets)


def _level(session: Session, creation: TableCreation) -> int:
    """Return the level at which a table would be created now."""
    old = session.tables.read_or_stored(creation.identifier)
    replaces = old is not None and not creation.statement.if_not_exists
    _, target = place_table(session, creation.identifier, creation.table)
    bound = session.bind_table(creation.identifier, target)
    return find_level(session, bound, creation.relation, replaces=replaces).value


# --- executing -----------------------------------------------------------------------------------

RECOMPILE = "compile the statement again"


def run_plan(plan: PlanDocument, parent: Session) -> TableResult:
    """Submit the jobs of a plan as one job, with the options that it was compiled with.

    The jobs see the catalogs of the `parent` session by their names, if these were created from the
    same options, and open the others. Tables and views must be as when the plan was compiled (else
    `plan-outdated`). Temporary ones, and missing ones of a catalog in memory, are as the plan
    defines them. Other errors are `variable-not-found` and those of the statement.
    """
    session = open_plan(plan, parent)
    jobs = [partial(_prepare_job, session, plan, job) for job in plan.jobs]
    return run_job(session, jobs, plan.hooks)


def open_plan(plan: PlanDocument, parent: Session) -> Session:
    """Return a session with a plan's options, catalogs and objects; raises as `run_plan`."""
    settings = EnvironmentSettings(plan.reveal(plan.options), InMemoryCatalogStore())
    session = parent.derive(settings)
    current_catalog, current_database = plan.current
    databases: dict[str, set[str]] = {name: set() for name in plan.catalogs}
    for path in (*(table.path for table in plan.objects), *(job.sink for job in plan.jobs)):
        databases.setdefault(path.catalog_name, set()).add(path.database_name)
    if current_catalog is not None:
        names = databases.setdefault(current_catalog, set())
        names |= set() if current_database is None else {current_database}
    for catalog, names in sorted(databases.items()):
        _open_catalog(session, plan, catalog, names, parent)
    with session.keep_tables():  # an object is read only by those after it
        for table in plan.objects:
            with at(table.path.as_summary_string()):
                _open_table(session, plan, table, parent)
    session.registry.use_catalog(current_catalog)
    if current_catalog is not None and current_database is not None:
        session.registry.use_database(current_database)
    return session


def _open_catalog(
    session: Session, plan: PlanDocument, name: str, databases: set[str], parent: Session
) -> None:
    """Make a catalog known to the session of a plan: the parent session's, if it has one.

    A parent's catalog that was created from other options is a `plan-outdated`; one in
    memory that lacks a database is another one than the plan's.
    """
    own, registry = parent.registry.find(name), session.registry
    planned = plan.catalogs.get(name)
    if own is not None and planned is not None:
        _require_same_catalog(parent, name, planned)
    if own is not None and (planned is not None or databases.issubset(own.list_databases())):
        registry.share(name, own)
        return
    if planned is not None:
        descriptor = CatalogDescriptor.of(name, plan.reveal(planned.options), planned.comment)
        registry.create(descriptor, ignore_if_exists=False)
        finalize(session, registry.get(name).close)
        return
    if registry.find(name) is None:
        registry.register(name, InMemoryCatalog(name))
    for database in databases:
        registry.get(name).create_database(database, CatalogDatabase(), ignore_if_exists=True)


def _require_same_catalog(parent: Session, name: str, planned: compiled_plan.PlanCatalog) -> None:
    """Compare a session's catalog with a plan's; values of secrets are not compared."""
    try:
        own = _plan_catalog(parent.registry.descriptor(name))
    except NotFoundError:  # registered as an object: where it points is unknown
        problem = "was not created from options, so it cannot be compared with that of the plan"
    else:
        old, new = (
            {
                key: value
                for key, value in catalog.options.items()
                if isinstance(value, str) or value.masked is not None
            }
            for catalog in (planned, own)
        )
        differing = sorted({key for key, _ in old.items() ^ new.items()})
        if not differing:
            return
        problem = f"differs from the catalog of the plan in: {', '.join(differing)}"
    raise SchemaError(
        f"the catalog {name!r} of this session {problem}",
        code="plan-outdated",
        hint=f"drop the catalog {name} of this session, then the plan opens its own; "
        f"or {RECOMPILE}",
    )


def _open_table(
    session: Session, plan: PlanDocument, planned: compiled_plan.PlanTable, parent: Session
) -> None:
    """Find an object of a plan as it was when the plan was compiled, or define it."""
    path = planned.path
    try:
        present = (parent if planned.temporary else session).get_table(path)
    except NotFoundError:
        present = None
    same = present if present is not None and _plan_table(path, present) == planned else None
    if same is not None and not same.is_temporary:
        return
    if planned.temporary or (present is None and path.catalog_name not in plan.catalogs):
        if same is not None:
            table: CatalogBaseTable = same.table
            history = ColumnHistory.of(same.hidden)
        else:
            properties = plan.reveal(planned.properties)
            history = ColumnHistory.of(properties)
            properties.pop(COLUMN_HISTORY, None)
            if isinstance(planned, compiled_plan.PlanView):
                queries = planned.original_query, planned.expanded_query
                table = decode_view(properties, *queries)
            else:
                table = decode_table(properties)
        session.tables.create_temporary(path, table, ignore_if_exists=False, history=history)
        return
    if present is None:
        problem = "the plan reads or writes an object that no longer exists"
        raise NotFoundError(problem, code="plan-outdated", hint=RECOMPILE)
    problem = "the object has changed since the plan was compiled"
    raise SchemaError(problem, code="plan-outdated", hint=RECOMPILE)


def _prepare_job(
    session: Session,
    plan: PlanDocument,
    job: compiled_plan.PlanInsert | compiled_plan.PlanCreation,
) -> JobGraph:
    relation = session.query(parse_query(job.query), job.query)
    if isinstance(job, compiled_plan.PlanCreation):
        return _prepare_creation(session, plan, relation, job)
    target = session.bind(job.sink)
    if hints := plan.reveal(job.hints):
        require_no_own_options(hints)
        target = target.with_options(hints)
    columns = tuple(Name((column,)) for column in job.columns)
    partition = None if job.partition is None else Partition(job.partition)
    how = Writing(columns, partition, job.overwrite, job.on_conflict)
    return prepare_write(session, relation, target, how)


def _prepare_creation(
    session: Session, plan: PlanDocument, relation: Relation, job: compiled_plan.PlanCreation
) -> JobGraph:
    statement = CreateTable(
        Name(tuple(job.sink.to_list())),
        if_not_exists=job.if_not_exists,
        or_replace=job.or_replace,
        create=job.create,
    )
    resolved = resolve_table(decode_table(plan.reveal(job.properties)), session.resolver)
    creation = TableCreation(statement, job.sink, relation, resolved)
    check_assignment(result_columns(relation), resolved.resolved_schema)
    level = _level(session, creation)
    if level != job.level:
        raise SchemaError(
            f"{job.sink.as_summary_string()!r}: the plan requires level {job.level}, "
            f"but the table would be created at level {level}",
            code="plan-outdated",
            hint=RECOMPILE,
        )
    return prepare_creation(session, creation)
