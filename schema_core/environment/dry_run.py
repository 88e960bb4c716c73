"""A planner that runs no jobs: statements are resolved and change catalogs, but no rows are moved.

For checking a script before there is data or an engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schema_core.environment.connector import check_declared_metadata
from schema_core.environment.planner import (
    BoundTable,
    Job,
    JobStatus,
    JobStatusHook,
    Registration,
    Rows,
)
from schema_core.query.relation import Relation, result_columns


class DryRunPlanner:
    """A `Planner` whose queries return no rows and whose jobs finish immediately."""

    identifier = "dry-run"

    def select(self, query: Relation) -> Rows:
        """Return no rows, with the names and types of the query."""
        columns = tuple((one.name, one.type) for one in result_columns(query))
        return Rows(columns, iter(()), lambda: iter(()))

    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        hooks: Sequence[JobStatusHook] = (),
    ) -> Job:
        """Return a finished job, after the checks of metadata columns."""
        check_declared_metadata(target.table, "write")
        return Job(self.identifier, JobStatus.FINISHED)

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
        hooks: Sequence[JobStatusHook] = (),
    ) -> Job:
        """Create the table without writing rows into it."""
        check_declared_metadata(target.table, "write")
        registration.create()
        registration.settle()
        return Job(self.identifier, JobStatus.FINISHED)

    def explain(self, query: Relation) -> str:
        """Return a sentence: there is no plan."""
        return "the dry-run planner runs no jobs"
