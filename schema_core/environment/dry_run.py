"""A planner that runs nothing: statements are resolved and change the catalog, and no row moves.

It serves whoever wants to know whether a script is right before there is data or an engine.
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
    """A `Planner` whose queries give no rows and whose jobs end at once."""

    identifier = "rehearsal"

    def select(self, query: Relation) -> Rows:
        """No rows, under the names and types of the query."""
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
        """A job that is done; metadata columns are checked as for a real one."""
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
        """The table is made known; nothing is written into it."""
        check_declared_metadata(target.table, "write")
        registration.create()
        return Job(self.identifier, JobStatus.FINISHED)

    def explain(self, query: Relation) -> str:
        """There is nothing to explain."""
        return "a rehearsal runs nothing"
