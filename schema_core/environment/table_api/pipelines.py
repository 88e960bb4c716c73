"""`TablePipeline`: a query and the table into which its rows are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import starmap
from typing import Any, Protocol

from schema_core.base.arguments import require_instance
from schema_core.base.paths import UNKNOWN, ObjectIdentifier
from schema_core.environment.jobs.graph import JobGraph, JobStatusHook, require_hook
from schema_core.environment.operations.compile_plan import CompiledPlan, PlanCompiler
from schema_core.environment.operations.create_table_as import (
    TableCreation,
    derive_creation,
    prepare_creation,
)
from schema_core.environment.operations.data import Writing, prepare_write, run_job
from schema_core.environment.operations.explain import (
    explain_creation,
    explain_query,
    explain_write,
)
from schema_core.environment.operations.plan_ctas import CtasPlan, plan_creation
from schema_core.environment.operations.streaming_sinks import (
    require_batch,
    require_consumed_updates,
)
from schema_core.environment.options import ConfigOption
from schema_core.environment.planner import BoundTable
from schema_core.environment.plans.explain_detail import ExplainDetail, require_details
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session
from schema_core.environment.table_api.descriptor import option_key, option_text
from schema_core.errors import UnsupportedError
from schema_core.query.relation import Relation
from schema_core.sql import syntax
from schema_core.sql.statement_syntax import CreateTable, Option


class WrittenQuery(Protocol):
    """What a pipeline reads of a `Table`."""

    @property
    def query(self) -> syntax.Query: ...

    @property
    def relation(self) -> Relation: ...

    def as_sql(self) -> str: ...


class TablePipeline:
    """A query and the table that it is written into or that is created from it."""

    def __init__(
        self,
        session: Session,
        relation: Relation,
        sink: ObjectIdentifier,
        prepare: Callable[[], JobGraph],
        compile_: Callable[[PlanCompiler], None],
        creation: TableCreation | None = None,
        explain: Callable[[Sequence[ExplainDetail]], str] | None = None,
    ) -> None:
        self._session = session
        self._relation = relation
        self._explain = explain
        self._sink = sink
        self._prepare = prepare
        self._compile = compile_
        self._creation = creation
        self._hooks: list[JobStatusHook | str] = []

    def execute(self) -> TableResult:
        """Submit the job that writes the query into the table; `TableResult.wait` waits for it.

        Raises:
            SchemaCoreError: what is known before the job starts.
        """
        return run_job(self._session, [self._prepare], self._hooks)

    def register_job_status_hook(self, hook: JobStatusHook | str) -> TablePipeline:
        """Add a hook, or the name of its factory, after those of the environment (FLIP-218)."""
        self._hooks.append(require_hook(hook, "hook"))
        return self

    def prepare(self) -> JobGraph:
        """Return the job of the pipeline, which must be submitted or aborted."""
        return self._prepare()

    def compile_plan(self) -> CompiledPlan:
        """Compile the pipeline to a plan; errors are those of `compile_plan_sql`."""
        compiler = PlanCompiler(self._session, self._hooks)
        self.compile_into(compiler)
        return CompiledPlan(self._session, compiler.document())

    def compile_into(self, compiler: PlanCompiler) -> None:
        """Add the job of the pipeline to a plan."""
        self._compile(compiler)

    @property
    def hooks(self) -> tuple[JobStatusHook | str, ...]:
        """The hooks of the pipeline, in order."""
        return tuple(self._hooks)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plans, for a new table after the text of `plan_ctas`."""
        details = require_details(extra_details)
        if self._creation is not None:
            return explain_creation(self._session, self._creation, details)
        if self._explain is not None:
            return self._explain(details)
        return explain_query(self._session, self._relation, details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print what `explain` returns."""
        print(self.explain(*extra_details))  # noqa: T201 - PyFlink's method

    def plan_ctas(self) -> CtasPlan:
        """Return the effects, guarantees and losses of creating the table; nothing is run.

        Raises:
            UnsupportedError: with code `feature-not-supported` for an existing table.
        """
        if self._creation is None:
            raise UnsupportedError(
                "plan_ctas requires a pipeline that creates a table",
                code="feature-not-supported",
                hint="use explain()",
            )
        return plan_creation(self._session, self._creation)

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the path of the table, or None if it has none."""
        return None if self._sink.catalog_name == UNKNOWN else self._sink


def build_insertion(
    session: Session,
    relation: Relation,
    target: BoundTable,
    as_sql: Callable[[], str],
    *,
    overwrite: bool = False,
) -> TablePipeline:
    """Return the pipeline of a query that is written into a table, as INSERT does."""
    return build_write(session, relation, target, Writing(overwrite=overwrite), as_sql)


def build_write(
    session: Session,
    relation: Relation,
    target: BoundTable,
    how: Writing,
    as_sql: Callable[[], str],
    hints: Mapping[str, str] | None = None,
) -> TablePipeline:
    """Return the pipeline of a query that is written into a table."""

    def prepare() -> JobGraph:
        if how.overwrite:
            require_batch(session, "INSERT OVERWRITE")
        require_consumed_updates(session, relation, target)
        return prepare_write(session, relation, target, how)

    def compile_(compiler: PlanCompiler) -> None:
        compiler.writing(relation, as_sql(), target.identifier, how, hints or {})

    explain = partial(explain_write, session, relation, target, how)
    return TablePipeline(session, relation, target.identifier, prepare, compile_, explain=explain)


class CreateOrReplaceTable:
    """A table to be created from a query, whose schema it has (FLIP-218); see `Table.save_as`.

    `create`, `replace` and `create_or_replace` return the pipeline; only executing it creates the
    table.

    >>> from schema_core import EnvironmentSettings, TableEnvironment
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> table = environment.sql_query("SELECT * FROM (VALUES (1, 'a')) AS v (id, name)")
    >>> pipeline = table.save_as("copy").option("connector", "blackhole").create()
    >>> pipeline.get_sink_identifier().as_summary_string()
    'default_catalog.default_database.copy'
    """

    def __init__(
        self,
        session: Session,
        table: WrittenQuery,
        path: Sequence[str],
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._session = session
        self._table = table
        self._path = syntax.Name(tuple(path))
        self._options = dict(options or {})

    def option(self, key: str | ConfigOption[Any], value: object) -> CreateOrReplaceTable:
        """Return this table with an option set.

        Raises:
            SchemaError: with code `invalid-argument` for a key or value of another type.
        """
        options = {**self._options, option_key(key): option_text(value)}
        return CreateOrReplaceTable(self._session, self._table, self._path.parts, options)

    def create(self, ignore_if_exists: bool = False) -> TablePipeline:
        """Return the pipeline of CREATE TABLE AS.

        `ignore_if_exists` writes into an existing table, as IF NOT EXISTS does; else executing
        raises `AlreadyExistsError`, code `table-exists`.

        Raises:
            SchemaError: for a query whose schema cannot be stored, such as a column of NULL (code
                `data-type-not-inferred`).
        """
        require_instance(ignore_if_exists, bool, "ignore_if_exists")
        return self._pipeline(if_not_exists=ignore_if_exists)

    def replace(self) -> TablePipeline:
        """Return the pipeline of REPLACE TABLE AS; raises as `create`.

        The table must exist when it is executed.
        """
        return self._pipeline(or_replace=True, create=False)

    def create_or_replace(self) -> TablePipeline:
        """Return the pipeline of CREATE OR REPLACE TABLE AS; raises as `create`."""
        return self._pipeline(or_replace=True)

    def _pipeline(
        self, *, if_not_exists: bool = False, or_replace: bool = False, create: bool = True
    ) -> TablePipeline:
        statement = CreateTable(
            self._path,
            options=tuple(starmap(Option, self._options.items())),
            query=self._table.query,
            if_not_exists=if_not_exists,
            or_replace=or_replace,
            create=create,
        )
        session, relation = self._session, self._table.relation
        creation = derive_creation(session, statement, relation)
        prepare = partial(prepare_creation, session, creation)
        as_sql = self._table.as_sql

        def compile_(compiler: PlanCompiler) -> None:
            compiler.creation(creation, as_sql())

        return TablePipeline(session, relation, creation.identifier, prepare, compile_, creation)
