"""`StatementSet`: statements that run as one job."""

from __future__ import annotations

from typing import NoReturn

from schema_core.base.arguments import require_instance, validate_arguments
from schema_core.environment.jobs.graph import JobStatusHook, require_hook
from schema_core.environment.operations.compile_plan import CompiledPlan, PlanCompiler
from schema_core.environment.operations.data import (
    Writing,
    check_on_conflict,
    insert_target,
    run_job,
)
from schema_core.environment.plans.explain_detail import ExplainDetail, require_details
from schema_core.environment.plans.plan_text import join_plans
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_api.pipelines import TablePipeline, build_write
from schema_core.environment.table_api.table import Table, require_same, require_table
from schema_core.errors import SchemaError, UnsupportedError, within
from schema_core.sql.parser import parse_statement
from schema_core.sql.printer import print_query
from schema_core.sql.statement_syntax import Insert
from schema_core.sql.syntax import hinted_options


class StatementSet:
    """INSERTs and tables to be created, which run as one job when the set is executed.

    All rows are written, one table after the other, before any are committed.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pipelines: list[TablePipeline] = []
        self._hooks: list[JobStatusHook | str] = []

    @validate_arguments(stmt=str)
    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT statement.

        Raises:
            SchemaError: with code `invalid-argument` for any other statement.
        """
        statement = parse_statement(stmt)
        if not isinstance(statement, Insert):
            raise SchemaError("a statement set accepts only INSERT", code="invalid-argument")
        with within(stmt):
            target = insert_target(self._session, statement)
            relation = self._session.query(statement.query, stmt)
            check_on_conflict(self._session, relation, target, Writing.of(statement))
        session, hints = self._session, hinted_options(statement.hints)
        return self.add(
            build_write(
                session,
                relation,
                target,
                Writing.of(statement),
                lambda: print_query(session.expand(statement.query, stmt)),
                hints,
            )
        )

    def attach_as_datastream(self) -> NoReturn:
        """Raise `needs-flink`: a job of the DataStream API would run the statements.

        Raises:
            UnsupportedError: with code `needs-flink`.
        """
        raise UnsupportedError(
            "`StatementSet.attach_as_datastream` is not available: part of the DataStream API, "
            "which Spark does not have",
            code="needs-flink",
            hint="call `execute`",
        )

    def add_insert(
        self,
        target_path_or_descriptor: str | TableDescriptor,
        table: Table,
        overwrite: bool = False,
    ) -> StatementSet:
        """Add a table to be written into another."""
        require_table(table, self._session)
        return self.add(table.insert_into(target_path_or_descriptor, overwrite))

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        """Add a pipeline with its target."""
        require_instance(table_pipeline, TablePipeline, "table_pipeline")
        require_same(table_pipeline._session, self._session, "pipeline")  # noqa: SLF001 - of this package
        self._pipelines.append(table_pipeline)
        return self

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plans of all statements, with details."""
        details = require_details(extra_details)
        return join_plans(pipeline.explain(*details) for pipeline in self._pipelines)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print what `explain` returns."""
        print(self.explain(*extra_details))  # noqa: T201 - PyFlink's method

    def compile_plan(self) -> CompiledPlan:
        """Compile the statements to one plan; errors are those of `compile_plan_sql`.

        Raises:
            SchemaError: with code `invalid-state`.
        """
        if not self._pipelines:
            raise SchemaError("the statement set is empty", code="invalid-state")
        hooks = [hook for pipeline in self._pipelines for hook in pipeline.hooks]
        compiler = PlanCompiler(self._session, [*hooks, *self._hooks])
        for pipeline in self._pipelines:
            pipeline.compile_into(compiler)
        return CompiledPlan(self._session, compiler.document())

    def execute(self) -> TableResult:
        """Submit one job for the statements and clear the set; `TableResult.wait` waits for it.

        As in Flink the set is cleared even if this raises: with ``table.dml-sync`` the rows may be
        committed already.

        Raises:
            SchemaCoreError: any error that is known before the job starts.
        """
        if not self._pipelines:
            return OK
        jobs = [pipeline.prepare for pipeline in self._pipelines]
        hooks = [hook for pipeline in self._pipelines for hook in pipeline.hooks]
        self._pipelines = []
        return run_job(self._session, jobs, [*hooks, *self._hooks])

    def register_job_status_hook(self, hook: JobStatusHook | str) -> StatementSet:
        """Add a hook for all jobs of this set, as `TablePipeline.register_job_status_hook`."""
        self._hooks.append(require_hook(hook, "hook"))
        return self
