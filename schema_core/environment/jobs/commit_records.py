"""The record of a job that is committed at most once: see `CommitRecord`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.environment.planner import Planner, SupportsCommitRecords
from schema_core.environment.unbounded import scans_in
from schema_core.errors import UnsupportedError

if TYPE_CHECKING:
    from schema_core.base.paths import ObjectIdentifier
    from schema_core.environment.session import Session
    from schema_core.query.relation import Relation


def planner_of_job(session: Session, query: Relation, target: ObjectIdentifier) -> Planner:
    """Return the planner for the job of a statement, which may have a record.

    A job with a record reads tables of its target's catalog that have no storage without rows.
    """
    if session.commit_record is None:
        return session.planner
    planner = recording_planner(session)
    for scan in scans_in(session.executable(query)):
        if scan.table.identifier.catalog_name == target.catalog_name:
            source = session.bind(scan.table.identifier)
            if not source.is_temporary and session.tables.may_write(source.table.options):
                planner.ensure_storage(source)
    return planner.with_record(session.commit_record)


def recording_planner(session: Session) -> SupportsCommitRecords:
    """Return the planner of a session, whose jobs can have records (`unsupported-ability`)."""
    planner = session.planner
    if not isinstance(planner, SupportsCommitRecords):
        raise UnsupportedError(
            f"the planner {planner.identifier!r} does not record which jobs it has committed",
            code="unsupported-ability",
            hint="run data steps of migrations with the planner 'spark'",
        )
    return planner
