"""COMPILE PLAN and EXECUTE PLAN: plans of INSERT, statement sets and CREATE TABLE AS."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast
from weakref import finalize

from schema_core.base.masking import mask_query
from schema_core.base.paths import UNKNOWN, ObjectIdentifier, join_names
from schema_core.catalog.changes.former_names import KEY as FORMER_NAMES
from schema_core.catalog.changes.former_names import FormerNames
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
    level_of,
    placed,
    prepare_creation,
    table_creation,
)
from schema_core.environment.operations.data import (
    Writing,
    check_assignment,
    checked_insert,
    prepare_write,
    run_job,
    writing_of,
)
from schema_core.environment.options import FORCE_RECOMPILE
from schema_core.environment.plans.compiled_plan import (
    MASKED,
    PlanDocument,
    PlanReference,
    Secrets,
    plan_path,
    referenced,
    write_plan_file,
)
from schema_core.environment.plans.explain_detail import ExplainDetail, require_details
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
from schema_core.query.hints import hinted_options
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
from schema_core.sql.syntax import Name

# --- statements ----------------------------------------------------------------------------------


def compile_plan(session: Session, statement: CompilePlan, text: str) -> TableResult:
    """Write the plan of the statement into a file; COMPILE AND EXECUTE PLAN also executes it."""
    path = plan_path(statement.path)
    recompile = bool(FORCE_RECOMPILE.of(session.config.get_configuration()))
    if not (statement.if_not_exists and path.exists() and not recompile):
        plan = compiled(session, statement.statement, text)
        write_plan_file(path, plan.to_json(), replace=recompile)
        if statement.execute:
            return run_plan(plan, session)
    return OK


def execute_plan(session: Session, statement: ExecutePlan, text: str) -> TableResult:
    """Execute the plan in a file."""
    return run_plan(PlanReference.from_file(statement.path).load(), session)


# --- compiling -----------------------------------------------------------------------------------


def compiled(session: Session, statement: Statement, text: str) -> PlanDocument:
    """Return the plan of an INSERT, a statement set or a CREATE TABLE AS.

    Raises:
        SchemaCoreError: whatever the statement refuses before its job.
        UnsupportedError: with code `not-a-plan` for another statement, `plan-not-portable` for one
            that depends on what only this process has.
    """
    compiler = PlanCompiler(session)
    match statement:
        case Insert():
            compiler.insert(statement, text)
        case StatementSet(inserts=inserts):
            for insert in inserts:
                compiler.insert(insert, text)
        case CreateTable(query=query) if query is not None:
            creation = table_creation(session, statement, session.query(query, text), text)
            compiler.creation(creation, print_query(session.expanded(query, text)))
        case _:
            raise UnsupportedError(
                "only INSERT, a statement set and CREATE TABLE AS have a plan", code="not-a-plan"
            )
    return compiler.document()


class CompiledPlan:
    """A compiled statement, which can be executed, stored and explained, as PyFlink's.

    `TableEnvironment.compile_plan_sql` and `load_plan` return it. It holds what the statement
    depends on besides the data; see `schema_core.environment.plans.compiled_plan`.
    """

    def __init__(self, session: Session, document: PlanDocument) -> None:
        self._session = session
        self._document = document

    def as_json_string(self) -> str:
        """Return the plan as JSON, with references in place of secrets."""
        return self._document.to_json()

    def print_json_string(self) -> None:
        """Print the plan as JSON."""
        print(self.as_json_string())  # noqa: T201 - PyFlink's method

    def write_to_file(self, file: str | os.PathLike[str], ignore_if_exists: bool = False) -> None:
        """Write the plan into a file, in one step.

        Args:
            file: The path of the file; missing directories are created.
            ignore_if_exists: Leave a file that exists as it is.

        Raises:
            AlreadyExistsError: with code `plan-exists`, unless ``table.plan.force-recompile`` is
                true.
            ExternalError: with code `file-system-failed`.
        """
        path = plan_path(file)
        recompile = bool(FORCE_RECOMPILE.of(self._session.config.get_configuration()))
        if recompile or not (ignore_if_exists and path.exists()):
            write_plan_file(path, self.as_json_string(), replace=recompile)

    def execute(self) -> TableResult:
        """Submit the jobs of the plan as one job; errors are those of `run_plan`."""
        return run_plan(self._document, self._session)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return how the engine would run each job.

        Args:
            extra_details: What to explain beside the plans.

        Raises:
            SchemaCoreError: as `run_plan`.
        """
        details = require_details(extra_details)
        session = opened(self._document, self._session)
        return "\n\n".join(
            session.explain(session.query(parse_query(one["query"]), one["query"]), details)
            for one in self._document.members["jobs"]
        )

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print what `explain` returns."""
        print(self.explain(*extra_details))  # noqa: T201 - PyFlink's method

    def __repr__(self) -> str:
        sinks = ", ".join(join_names(one["sink"]) for one in self._document.members["jobs"])
        return f"CompiledPlan({sinks})"


class PlanCompiler:
    """Collects the jobs of one plan, and all that they depend on."""

    def __init__(self, session: Session, hooks: Iterable[JobStatusHook | str] = ()) -> None:
        self._session = session
        self._hooks = tuple(hooks)
        self._secrets: Secrets = {}
        #: keys that the connectors of the tables declare secret, in lower case
        self._declared: set[str] = set()
        self._objects: dict[ObjectIdentifier, dict[str, Any]] = {}
        self._jobs: list[dict[str, Any]] = []
        self._catalogs: dict[str, dict[str, Any]] = {}

    def insert(self, statement: Insert, text: str) -> None:
        """Add an INSERT."""
        relation, target = checked_insert(self._session, statement, text)
        options = hinted_options(statement.hints)
        how = writing_of(statement)
        query = print_query(self._session.expanded(statement.query, text))
        self.writing(relation, query, target.identifier, how, options)

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
        self._add_job(
            relation,
            query,
            sink,
            kind="insert",
            columns=[".".join(name.parts) for name in how.columns],
            partition=[list(pair) for pair in how.partition.values] if how.partition else None,
            overwrite=how.overwrite,
            hints=referenced(hints, join_names(sink.to_list()), secret, self._secrets),
        )

    def creation(self, creation: TableCreation, query: str) -> None:
        """Add a table that is created from a query, with all names qualified."""
        sink, statement = creation.identifier, creation.statement
        old = self._session.tables.read_or_stored(sink)
        check_existing(self._session, statement, sink, old)
        _, target = placed(self._session, sink, creation.table)
        check_definition(sink, target)
        if not self._is_portable(sink.catalog_name):
            raise UnsupportedError(
                f"the catalog {sink.catalog_name!r} exists only in this process, so no other "
                "process can create a table in it",
                code="plan-not-portable",
                hint="create the catalog from options, with CREATE CATALOG ... WITH (...)",
            )
        self._add_catalog(sink.catalog_name)
        self._add_job(
            creation.relation,
            query,
            sink,
            kind="create",
            properties=_properties(sink, creation.table, {}, self._secrets),
            level=_level(self._session, creation),
            if_not_exists=statement.if_not_exists,
            or_replace=statement.or_replace,
            create=statement.create,
        )

    def document(self) -> PlanDocument:
        """Return the plan."""
        session = self._session
        current = session.registry.current_path
        if current[0] is not None:
            self._add_catalog(current[0])
        options = session.config.get_configuration()
        plan = PlanDocument(
            {
                "current": list(current),
                "options": referenced(options, "options", frozenset(), self._secrets),
                "catalogs": self._catalogs,
                "objects": list(self._objects.values()),
                "jobs": self._jobs,
                "hooks": session.hooks.names(self._hooks),
            },
            self._secrets,
        )
        plan.check_names()
        _check_portable(session, plan)
        return plan

    def _add_job(
        self, relation: Relation, query: str, sink: ObjectIdentifier, **members: Any
    ) -> None:
        read = list(self._read_by(relation))
        texts = [query]
        for identifier in read:
            table = self._session.get_table(identifier).table
            if isinstance(table, ResolvedCatalogView):
                texts += (table.original_query, table.expanded_query)
            else:
                self._declared.update(secret_keys(table.get_options()))
        if any(mask_query(text, self._declared) != text for text in texts):
            raise UnsupportedError(
                "the query or a view in it has a secret in an OPTIONS hint, which a plan must "
                "not hold",
                code="plan-not-portable",
                hint="set the option in the definition of the table",
            )
        for identifier in read:
            self._add_object(identifier)
        self._jobs.append({"sink": _parts(sink), "query": query, **members})

    def _read_by(self, relation: Relation) -> Iterable[ObjectIdentifier]:
        """Return the tables and views that a query reads, those of a view before the view."""
        found: dict[ObjectIdentifier, None] = {}

        def add(identifier: ObjectIdentifier) -> None:
            if identifier in found:
                return
            table = self._session.get_table(identifier).table
            if isinstance(table, ResolvedCatalogView):
                inline_views(self._session.query_of(identifier, table), add)
            found[identifier] = None

        with self._session.views_kept():
            inline_views(relation, add)
        return found

    def _add_object(self, identifier: ObjectIdentifier) -> None:
        if identifier in self._objects:
            return
        found = self._session.get_table(identifier)
        table = found.table
        inline = isinstance(table, InlineTable | QueryView) or identifier.catalog_name == UNKNOWN
        if inline or found.kind not in (TableKind.TABLE, TableKind.VIEW):
            raise UnsupportedError(
                f"{identifier.as_summary_string()} exists only in this process",
                code="plan-not-portable",
                hint="write the rows into a table, or create the view with CREATE VIEW",
            )
        if not found.is_temporary:
            self._add_catalog(identifier.catalog_name)
        self._objects[identifier] = described_table(identifier, found, self._secrets)

    def _is_portable(self, name: str) -> bool:
        return is_portable(self._session, name)

    def _add_catalog(self, name: str) -> None:
        """Add the descriptor of a catalog, unless the catalog is in memory."""
        if name in self._catalogs or not self._is_portable(name):
            return
        descriptor = self._session.registry.descriptor(name)
        options = _catalog_options(descriptor, self._secrets)
        self._catalogs[name] = {"options": options, "comment": descriptor.comment}


def _level(session: Session, creation: TableCreation) -> int:
    """Return the level at which a table would be created now."""
    old = session.tables.read_or_stored(creation.identifier)
    replaces = old is not None and not creation.statement.if_not_exists
    _, target = placed(session, creation.identifier, creation.table)
    return level_of(session, target, creation.relation, replaces=replaces).value


def _check_portable(session: Session, plan: PlanDocument) -> None:
    """Resolve the queries of a plan in a session that has only what the plan names.

    Raises:
        UnsupportedError: with code `plan-not-portable` where that fails, for example for a
            temporary function.
    """
    blank = session.derived(session.settings)
    try:
        reopened = opened(plan, blank)
        for one in plan.members["jobs"]:
            reopened.query(parse_query(one["query"]), one["query"])
    except SchemaCoreError as error:
        raise UnsupportedError(
            f"the statement depends on what only this process has: {error.problem}",
            code="plan-not-portable",
            hint=error.hint,
        ) from error


def is_portable(session: Session, name: str) -> bool:
    """Return whether another process can open a catalog and finds the same objects in it."""
    if isinstance(session.registry.find(name), InMemoryCatalog):
        return False
    try:
        session.registry.descriptor(name)
    except NotFoundError:
        return False
    return True


def _catalog_options(
    descriptor: CatalogDescriptor, secrets: Secrets | None = None
) -> dict[str, Any]:
    """Return the options of a catalog, with references in place of secrets."""
    secret = secret_keys_of(descriptor)
    return referenced(
        descriptor.configuration, join_names([descriptor.catalog_name]), secret, secrets
    )


def described_table(
    identifier: ObjectIdentifier, found: FoundTable, secrets: Secrets | None = None
) -> dict[str, Any]:
    """Return a table or view as an object of a plan; its secrets are added to `secrets`."""
    table = found.table
    described: dict[str, Any] = {
        "path": _parts(identifier),
        "kind": found.kind.value,
        "temporary": found.is_temporary,
        "properties": _properties(identifier, table, found.hidden, secrets),
    }
    if isinstance(table, ResolvedCatalogView):
        described["original_query"] = table.original_query
        described["expanded_query"] = table.expanded_query
    return described


def _properties(
    identifier: ObjectIdentifier,
    table: ResolvedTable,
    hidden: Mapping[str, str],
    secrets: Secrets | None,
) -> dict[str, Any]:
    """Return the property map of a table or view, with references in place of secrets."""
    if isinstance(table, ResolvedCatalogTable):
        properties = {**encode_table(table), **hidden}
    else:
        properties = encode_view(cast("ResolvedCatalogView", table))
    declared = secret_keys(table.get_options())
    return referenced(properties, join_names(identifier.to_list()), declared, secrets)


def _parts(identifier: ObjectIdentifier) -> list[str]:
    return [identifier.catalog_name, identifier.database_name, identifier.object_name]


# --- executing -----------------------------------------------------------------------------------


def run_plan(plan: PlanDocument, parent: Session) -> TableResult:
    """Submit the jobs of a plan as one job, with the options that it was compiled with.

    The jobs see the catalogs of the `parent` session by their names, if these were created from the
    same options, and open those that it does not have. Tables and views must be as they were when
    the plan was compiled. Temporary ones, and those of a catalog in memory that are missing, are as
    the plan defines them.

    Raises:
        SchemaError: with code `plan-outdated` for an object that has changed since; with code
            `plan-catalog-mismatch` for a catalog of the session that is not the plan's.
        NotFoundError: with code `plan-object-not-found` for one that is missing; with code
            `missing-secret`.
        SchemaCoreError: as the statement itself.
    """
    session = opened(plan, parent)
    jobs = [partial(_prepared, session, plan, one) for one in plan.members["jobs"]]
    return run_job(session, jobs, plan.members["hooks"])


def opened(plan: PlanDocument, parent: Session) -> Session:
    """Return a session with the options, the catalogs and the objects of a plan.

    Raises:
        SchemaCoreError: as `run_plan`.
    """
    members = plan.members
    options = plan.valued(members["options"])
    session = parent.derived(EnvironmentSettings(options, InMemoryCatalogStore()))
    current_catalog, current_database = members["current"]
    used = [one["path"][:2] for one in members["objects"]]
    used += [one["sink"][:2] for one in members["jobs"]]
    databases: dict[str, set[str]] = {name: set() for name in members["catalogs"]}
    for catalog, database in (*used, members["current"]):
        if catalog is not None:
            databases.setdefault(catalog, set()).update({database} - {None})
    for catalog, names in sorted(databases.items()):
        _open_catalog(session, plan, catalog, names, parent)
    for one in members["objects"]:
        identifier = ObjectIdentifier(*one["path"])
        with at(identifier.as_summary_string()):
            _restore(session, plan, identifier, one, parent)
    session.registry.use_catalog(current_catalog)
    if current_catalog is not None and current_database is not None:
        session.registry.use_database(current_database)
    return session


def _open_catalog(
    session: Session, plan: PlanDocument, name: str, databases: set[str], parent: Session
) -> None:
    """Make a catalog known to the session of a plan: that of the parent session, if it has one.

    A catalog in memory that lacks a database is another one than that of the plan.

    Raises:
        SchemaError: with code `plan-catalog-mismatch` for a catalog of the parent session that was
            created from other options.
    """
    found = parent.registry.find(name)
    if found is not None and name in plan.catalogs:
        _require_same(parent, plan, name)
    if found is not None and (name in plan.catalogs or databases.issubset(found.list_databases())):
        session.registry.share(name, found)
        return
    if name in plan.catalogs:
        described = plan.catalogs[name]
        options = plan.valued(described["options"])
        descriptor = CatalogDescriptor.of(name, options, described["comment"])
        session.registry.create(descriptor, ignore_if_exists=False)
        finalize(session, session.registry.get(name).close)
        return
    if session.registry.find(name) is None:
        session.registry.register(name, InMemoryCatalog(name))
    for database in databases:
        session.registry.get(name).create_database(
            database, CatalogDatabase(), ignore_if_exists=True
        )


def _require_same(parent: Session, plan: PlanDocument, name: str) -> None:
    """Compare a catalog of a session with that of a plan; values of secrets are not compared."""
    planned = _without_secrets(plan.catalogs[name]["options"])
    with suppress(NotFoundError):  # registered as an object: where it points is unknown
        own = _without_secrets(_catalog_options(parent.registry.descriptor(name)))
        differing = sorted(key for key in planned | own if planned.get(key) != own.get(key))
        if not differing:
            return
        problem = f"differs from the catalog of the plan in: {', '.join(differing)}"
        raise _mismatch(name, problem)
    raise _mismatch(
        name,
        "was not created from options, so it cannot be compared with the catalog of the plan",
    )


def _without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a catalog except those whose whole value is a secret."""
    return {key: one for key, one in options.items() if isinstance(one, str) or MASKED in one}


def _mismatch(name: str, problem: str) -> SchemaError:
    return SchemaError(
        f"the catalog {name!r} of this session {problem}",
        code="plan-catalog-mismatch",
        hint=f"drop the catalog {name} of this session, then the plan opens its own; "
        "or compile the statement again",
    )


def _restore(
    session: Session,
    plan: PlanDocument,
    identifier: ObjectIdentifier,
    described: Mapping[str, Any],
    parent: Session,
) -> None:
    """Find an object of a plan as it was when the plan was compiled, or define it."""
    found = _found(parent if described["temporary"] else session, identifier)
    is_same = found is not None and described_table(identifier, found) == described
    if found is not None and is_same and not found.is_temporary:
        return
    if described["temporary"] or (found is None and identifier.catalog_name not in plan.catalogs):
        if found is not None and is_same:
            table: CatalogBaseTable = found.table
            former = FormerNames.of(found.hidden)
        else:
            table, former = _decoded(plan.valued(described))
        session.tables.create_temporary(identifier, table, ignore_if_exists=False, former=former)
        return
    if found is None:
        raise NotFoundError(
            "the plan reads or writes an object that no longer exists",
            code="plan-object-not-found",
            hint="compile the statement again",
        )
    raise SchemaError(
        "the object has changed since the plan was compiled",
        code="plan-outdated",
        hint="compile the statement again",
    )


def _found(session: Session, identifier: ObjectIdentifier) -> FoundTable | None:
    try:
        return session.get_table(identifier)
    except NotFoundError:
        return None


def _decoded(described: Mapping[str, Any]) -> tuple[CatalogBaseTable, FormerNames]:
    """Return the table or view of an object of a plan, and the former names of its columns."""
    properties = dict(described["properties"])
    former = FormerNames.of(properties)
    properties.pop(FORMER_NAMES, None)
    if described["kind"] == TableKind.VIEW.value:
        queries = described["original_query"], described["expanded_query"]
        return decode_view(properties, *queries), former
    return decode_table(properties), former


def _prepared(session: Session, plan: PlanDocument, job: Mapping[str, Any]) -> JobGraph:
    """Prepare one job of a plan."""
    text, sink = job["query"], ObjectIdentifier(*job["sink"])
    relation = session.query(parse_query(text), text)
    if job["kind"] == "create":
        return _prepared_creation(session, plan, relation, sink, job)
    target = session.bound(sink)
    if hints := plan.valued(job["hints"]):
        require_no_own_options(hints)
        target = replace(target, table=target.table.copy({**target.table.options, **hints}))
    fixed = job["partition"]
    how = Writing(
        tuple(Name((one,)) for one in job["columns"]),
        None if fixed is None else Partition(tuple((key, value) for key, value in fixed)),
        job["overwrite"],
    )
    return prepare_write(session, relation, target, how)


def _prepared_creation(
    session: Session,
    plan: PlanDocument,
    relation: Relation,
    sink: ObjectIdentifier,
    job: Mapping[str, Any],
) -> JobGraph:
    """Prepare a job that creates its table, at the level that was planned."""
    table = decode_table(plan.valued(job["properties"]))
    statement = CreateTable(
        Name(tuple(_parts(sink))),
        if_not_exists=job["if_not_exists"],
        or_replace=job["or_replace"],
        create=job["create"],
    )
    resolved = resolve_table(table, session.resolver)
    creation = TableCreation(statement, sink, relation, resolved)
    check_assignment(result_columns(relation), resolved.resolved_schema)
    level = _level(session, creation)
    if level != job["level"]:
        raise SchemaError(
            f"{sink.as_summary_string()!r}: the plan requires level {job['level']}, "
            f"but the table would be created at level {level}",
            code="plan-outdated",
            hint="compile the statement again",
        )
    return prepare_creation(session, creation)
