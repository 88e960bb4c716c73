"""Jobs that are committed at most once, however often they are run: see `CommitRecord`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schema_core.base.arguments import require_instance
from schema_core.base.paths import ObjectIdentifier
from schema_core.environment.jobs.commit_records import recording_planner
from schema_core.environment.operations.data import check_insert
from schema_core.environment.operations.dispatch import locate_errors
from schema_core.environment.planner import CommitRecord
from schema_core.environment.session import Session
from schema_core.sql.statement_syntax import Insert


class RecordedJobs:
    """Runs statements of an environment whose jobs have records."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def require_support(self) -> None:
        """Require a planner whose jobs can have records.

        Raises:
            NotFoundError: as `find_planner`, if the planner is not installed.
            UnsupportedError: with code `unsupported-ability` for one without records.
        """
        recording_planner(self._session)

    @contextmanager
    def committing(self, record: CommitRecord) -> Iterator[None]:
        """Give a record to the job of the statement that the context executes.

        Raises:
            SchemaCoreError: as `require_support`.
        """
        require_instance(record, CommitRecord, "record")
        self.require_support()
        previous, self._session.commit_record = self._session.commit_record, record
        try:
            yield
        finally:
            self._session.commit_record = previous

    def check_insert(self, statement: Insert, text: str) -> None:
        """Resolve an INSERT and its target, as before its job.

        Raises:
            SchemaCoreError: of the statement.
        """
        with locate_errors(statement, text):
            check_insert(self._session, statement, text)

    def contains(self, table: ObjectIdentifier, record: CommitRecord) -> bool:
        """Return whether the job with a record was committed to a table.

        Raises:
            NotFoundError: with code `table-not-found`.
            SchemaCoreError: as `require_support`.
        """
        return recording_planner(self._session).has_record(self._session.bind(table), record)

    def ensure_storage(self, table: ObjectIdentifier) -> None:
        """Create the storage of a table that has none, so that it is read without rows.

        Raises:
            SchemaCoreError: as `contains`.
        """
        bound = self._session.bind(table)
        self._session.tables.require_writable(table, bound.table.options)
        recording_planner(self._session).ensure_storage(bound)
