"""The connector `iceberg`: tables of Apache Iceberg, through pyiceberg."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.connectors.iceberg.options import (
    BRANCH,
    CATALOG_DATABASE,
    CATALOG_TABLE,
    CONNECTION,
    ICEBERG,
    LAYOUT,
    MONITOR_INTERVAL,
    START_SNAPSHOT,
    STREAM,
    STREAMING,
    VERSION,
)
from schema_core.connectors.open_tables.connector import (
    OpenTableConnector,
    require_equal_columns,
)
from schema_core.connectors.open_tables.versions import (
    require_current_version,
    require_no_version,
)
from schema_core.environment.options import ConfigOption
from schema_core.errors import NotFoundError
from schema_core.spark.filters import FilterResult
from schema_core.spark.session.worker_package import send_package

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import DataFrame

    from schema_core.connectors.open_tables.file_statistics import FileStatistics
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.spark.connector import ReadContext, WriteContext
    from schema_core.spark.filters import Filter


class IcebergConnector(OpenTableConnector):
    """A table of Iceberg: a job's rows become visible by one commit of its metadata."""

    identifier: ClassVar[str] = ICEBERG
    requires: ClassVar[tuple[str, ...]] = ("pyiceberg", "pyspark", "pyarrow")
    options: ClassVar[Sequence[ConfigOption[Any]]] = (
        *CONNECTION, CATALOG_DATABASE, CATALOG_TABLE, *VERSION, *STREAM, *LAYOUT,
    )  # fmt: skip

    def is_stream(self, options: Mapping[str, str]) -> bool:
        """Return the option ``streaming``."""
        return bool(STREAMING.of(options))

    def monitor_interval(self, options: Mapping[str, str]) -> timedelta | None:
        """Return how often a streaming job looks for new snapshots."""
        return MONITOR_INTERVAL.of(options)

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return the rows of the current snapshot, and those that later ones append.

        Codes: as `read`, and `streaming-not-supported` for a table of an earlier version.
        """
        from schema_core.connectors.iceberg.streams import read_stream

        versions = [option for option in VERSION if option is not BRANCH]
        require_no_version(context.options, versions, START_SNAPSHOT)
        send_package(context.session)
        return read_stream(context)

    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        """Accept the filters that can prune files; all remain."""
        from schema_core.connectors.iceberg.reading import pruning_expression

        accepted = [item for item in filters if pruning_expression(item) is not None]
        return FilterResult.of(accepted, filters)

    def open_version(self, context: ReadContext) -> Table:
        """Return the table, whose metadata does not change (`table-not-found`)."""
        from schema_core.connectors.iceberg.client import open_table

        return open_table(context.options)

    def version_id(self, version: Table, context: ReadContext) -> str | None:
        """Return the file of the table's metadata, of which each commit writes a new one."""
        from schema_core.connectors.iceberg.reading import has_many_files

        return None if has_many_files(version, context.options) else version.metadata_location

    def file_statistics(
        self, version: Table, columns: Collection[str], context: ReadContext, *, has_bounds: bool
    ) -> list[FileStatistics] | None:
        """Return the statistics of the files of the chosen snapshot; codes as `read_rows`."""
        from schema_core.connectors.iceberg.file_statistics import file_statistics

        return file_statistics(version, columns, context, has_bounds=has_bounds)

    def read_rows(self, version: Table, context: ReadContext) -> DataFrame:
        """Return the rows of the chosen snapshot.

        Codes: `schema-mismatch`, `not-found` (no such snapshot), `conflicting-options`,
        `external-failure`.
        """
        from schema_core.connectors.iceberg.reading import read_frame

        send_package(context.session)
        return read_frame(version, context)

    def validate_write(self, context: WriteContext) -> None:
        """Refuse to write a version of a table other than a branch (`unsupported-ability`)."""
        require_current_version(
            context.options,
            [option for option in VERSION if option is not BRANCH],
            f"remove the option, or write a branch by {BRANCH.key!r}",
        )
        require_equal_columns(context, "Iceberg")

    def stage(self, context: WriteContext) -> Stage:
        """Return a stage for the files of a job.

        Codes: as `read`; `concurrent-modification` if others have changed rows that the job reads
        and replaces; `unsupported-ability` for CREATE TABLE AS in a catalog that chooses
        directories.
        """
        from schema_core.connectors.iceberg.writing import IcebergStage

        return IcebergStage(context)

    def ensure_storage(self, context: WriteContext) -> None:
        """Create the table of the options, and its database, unless it exists."""
        from schema_core.connectors.iceberg.writing import create_table

        create_table(context)

    def list_files(self, context: WriteContext) -> frozenset[str]:
        """Return the snapshot of the table."""
        from schema_core.connectors.iceberg.client import open_table
        from schema_core.connectors.iceberg.writing import snapshot_names

        return snapshot_names(open_table(context.options), context.options)

    def was_committed(self, context: WriteContext, job: str) -> bool:
        """Return whether the table has a snapshot of the job."""
        from schema_core.connectors.iceberg.client import open_table
        from schema_core.connectors.iceberg.writing import has_committed

        try:
            return has_committed(open_table(context.options), job)
        except NotFoundError:
            return False

    def execute_truncation(self, context: WriteContext) -> None:
        """Delete all rows in one commit."""
        from schema_core.connectors.iceberg.client import open_table
        from schema_core.connectors.iceberg.writing import delete_rows

        delete_rows(open_table(context.options), context.options)
