"""Dry runs: statements run on the catalogs as usual, no rows are moved, nothing is kept.

A catalog with transactions is changed within one that is rolled back; others are only read. Jobs
do nothing, but the tables that they read and write are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, cast

from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import (
    ROW_LEVEL_ABILITIES,
    Ability,
    check_declared_metadata,
    find_connector,
    open_connector,
    require_abilities,
    using,
)
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.operations.dispatch import locate_errors, run
from schema_core.environment.option_references import UnresolvedReferences
from schema_core.environment.options import METADATA_CHECK
from schema_core.environment.planner import (
    BoundTable,
    PlannerContext,
    Registration,
    RowChange,
    Rows,
)
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.environment.table_api.inline import InlineTable
from schema_core.environment.unbounded import scans_in
from schema_core.errors import UnsupportedError
from schema_core.query.relation import Relation, result_columns
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import Statement


class Creation(JobExecution):
    """A job that creates a table and writes no rows."""

    def __init__(self, registration: Registration) -> None:
        self._registration = registration

    def begin(self) -> None:
        self._registration.create()

    def commit(self) -> None:
        self._registration.settle()


class DryRunPlanner:
    """A `Planner` whose queries return no rows and whose jobs do nothing."""

    identifier = "dry-run"

    def select(self, query: Relation) -> Rows:
        """Return no rows, with the names and types of the query."""
        self._check_job(query)
        columns = tuple((column.name, column.type) for column in result_columns(query))
        return Rows(columns, iter(()), lambda: iter(()))

    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        on_conflict: str | None = None,
    ) -> JobGraph:
        """Return a job that does nothing, after the checks of metadata columns."""
        self._check_job(query, target)
        return JobGraph(self.identifier, JobExecution(), [target.identifier])

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        """Return a job that creates the table without writing rows into it."""
        self._check_job(query, target)
        return JobGraph(self.identifier, Creation(registration), [target.identifier])

    def change_rows(self, change: RowChange, target: BoundTable) -> JobGraph:
        """Return a job that does nothing, if the connector can change rows."""
        connector = find_connector(target.table.options)
        require_abilities(connector, [ROW_LEVEL_ABILITIES[change.kind.value]])
        self._check_job(change.rows, target)
        return JobGraph(self.identifier, JobExecution(), [target.identifier])

    def truncate(self, target: BoundTable) -> None:
        """Check that the connector can delete all rows."""
        require_abilities(find_connector(target.table.options), [Ability.TRUNCATE])

    def explain(self, query: Relation, *, on_conflict: str | None = None) -> str:
        """Return a sentence: there is no plan."""
        return "the dry-run planner runs no jobs"

    def _check_job(self, query: Relation, target: BoundTable | None = None) -> None:
        """Check what a job would read and write."""
        if target is not None:
            check_declared_metadata(target.table, "write")


class ValidatingPlanner(DryRunPlanner):
    """Runs no jobs, and checks the tables that they would read and write."""

    refreshes = True

    def __init__(self) -> None:
        self.context: PlannerContext | None = None

    def _check_job(self, query: Relation, target: BoundTable | None = None) -> None:
        if self.context is not None:
            for table in map(self.context.source, scans_in(query)):
                self._check(table, "read")
        if target is not None:
            self._check(target, "write")
        super()._check_job(query, target)

    def _check(self, table: BoundTable, purpose: str) -> None:
        if self.context is None or isinstance(table.table, InlineTable):
            return
        with using(table.identifier, table.table.options, purpose):
            open_connector(table, purpose, self.context.options)


@contextmanager
def dry_run_session(
    settings: EnvironmentSettings, *, checks_connectors: bool = True, checks_metadata: bool = True
) -> Iterator[Session]:
    """Return a session for `dry_run_statement`, whose changes end with the block.

    `checks_connectors`: whether the connectors of tables that statements read and write are
    checked, and their options; `checks_metadata`: whether the metadata columns of tables are, when
    they are defined, as the option `table.metadata-columns.check-on-create` has it.
    """
    planner, stack = ValidatingPlanner(), ExitStack()
    session = Session(settings, planner)
    session.makes_directories = False
    session.registry.open_by(partial(_open_catalog, stack))
    if not checks_metadata:
        session.config.set(METADATA_CHECK.key, "false")
    if not checks_connectors:
        session.option_references = UnresolvedReferences()
    else:
        planner.context = PlannerContext(session.config.get_configuration(), session.bind)
    with stack:
        yield session


def dry_run_statement(session: Session, statement: Statement, text: str) -> TableResult:
    """Execute one statement in the session of a dry run, and wait for its job.

    A statement that changes a catalog without transactions is `not-checked`.
    """
    if (operation := WITHOUT_EFFECTS.get(type(statement))) is not None:
        with locate_errors(statement, text):
            return operation(session, statement, text)
    result = run(session, statement, text)
    if result.job is not None:
        result.job.wait()
    return result


# --- catalogs ------------------------------------------------------------------------------------


def _open_catalog(stack: ExitStack, catalog: Catalog) -> Catalog:
    """Open a catalog, and return what a dry run uses in its place."""
    if isinstance(catalog, InMemoryCatalog):  # no other session has it
        catalog.open()
        return catalog
    if Capability.MIGRATIONS in catalog.capabilities:
        return stack.enter_context(catalog.dry_run())
    catalog.open()
    stack.callback(catalog.close)
    return cast("Catalog", _ReadOnlyCatalog(catalog))


#: How the names of methods start that change a catalog.
CHANGING = ("create_", "alter_", "drop_", "rename_", "replace_", "add_", "remove_", "settle_")


class _ReadOnlyCatalog:
    """A catalog whose changing methods raise."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def close(self) -> None:
        """Leave the catalog open: the dry run closes it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith(CHANGING):
            raise UnsupportedError(
                "cannot check this statement and those after it: "
                f"{type(self._catalog).__name__} does not support transactions",
                code="not-checked",
                hint="check them in a catalog of the type 'sql' or 'generic_in_memory'",
            )
        return getattr(self._catalog, name)


# --- statements ----------------------------------------------------------------------------------


def _compile(session: Session, statement: syntax.CompilePlan, text: str) -> TableResult:
    from schema_core.environment.operations.compile_plan import compile_statement  # few scripts do

    compile_statement(session, statement.statement, text)
    return OK


def _skip(session: Session, statement: Statement, text: str) -> TableResult:
    return OK


#: Statements with effects outside catalogs, or about jobs and files of plans, which exist only when
#: the script runs -> what a dry run does instead.
WITHOUT_EFFECTS: dict[type[Statement], Callable[[Session, Any, str], TableResult]] = {
    syntax.CallProcedure: _skip,
    syntax.CompilePlan:   _compile,
    syntax.DescribeJob:   _skip,
    syntax.ExecutePlan:   _skip,
    syntax.StopJob:       _skip,
}  # fmt: skip
