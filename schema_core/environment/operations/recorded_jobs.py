"""Jobs that are committed at most once, however often they are run: see `CommitRecord`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schema_core.base.arguments import require_instance
from schema_core.base.paths import ObjectIdentifier
from schema_core.environment.jobs.commit_records import recording_planner
from schema_core.environment.operations.data import check_insert
from schema_core.environment.operations.dispatch import locate_errors
from schema_core.environment.operations.row_changes import rows_after, rows_to_change
from schema_core.environment.planner import CommitRecord
from schema_core.environment.session import Session
from schema_core.environment.table_api.table import Table, of_query
from schema_core.sql.statement_syntax import Delete, Insert, Update


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

    def rows_after(self, table: ObjectIdentifier, statement: Delete | Update, text: str) -> Table:
        """Return all rows of a table after a DELETE or UPDATE, which is not executed.

        Raises:
            SchemaCoreError: of the statement.
        """
        with locate_errors(statement, text):
            schema = self._session.bind(table).table.resolved_schema
            query = rows_after(self._session, table, schema, statement, text)
            return of_query(self._session, query, text)

    def count_rows_to_change(
        self, table: ObjectIdentifier, statement: Delete | Update, text: str
    ) -> int:
        """Return the number of rows that a DELETE or UPDATE changes.

        Raises:
            SchemaCoreError: of the statement, or of the job that counts.
        """
        with locate_errors(statement, text):
            counted = of_query(self._session, rows_to_change(table, statement), text)
            with counted.execute().collect() as rows:
                return int(next(iter(rows))[0])

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
