"""A planner that runs no jobs: statements are resolved and change catalogs, but no rows are moved.

For checking a script before there is data or an engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schema_core.environment.connector import check_declared_metadata
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.planner import BoundTable, Registration, Rows
from schema_core.query.relation import Relation, result_columns


class Creation(JobExecution):
    """A job that creates a table and writes no rows."""

    def __init__(self, registration: Registration) -> None:
        self._registration = registration

    def begin(self) -> None:
        """Create the table."""
        self._registration.create()

    def commit(self) -> None:
        """Remove the pending job from the table."""
        self._registration.settle()


class DryRunPlanner:
    """A `Planner` whose queries return no rows and whose jobs do nothing."""

    identifier = "dry-run"

    def select(self, query: Relation) -> Rows:
        """Return no rows, with the names and types of the query."""
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
    ) -> JobGraph:
        """Return a job that does nothing, after the checks of metadata columns."""
        check_declared_metadata(target.table, "write")
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
        check_declared_metadata(target.table, "write")
        return JobGraph(self.identifier, Creation(registration), [target.identifier])

    def explain(self, query: Relation) -> str:
        """Return a sentence: there is no plan."""
        return "the dry-run planner runs no jobs"
