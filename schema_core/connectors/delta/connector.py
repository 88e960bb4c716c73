"""The connector `delta`: tables of Delta Lake, through deltalake."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.connectors.delta.options import (
    CHECK_INTERVAL,
    DELTA,
    MODE,
    PATH,
    PROPERTY,
    STARTING_VERSION,
    STREAM,
    TABLE_PROPERTY,
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
from schema_core.environment.connector import DeliveryGuarantee
from schema_core.environment.options import ConfigOption
from schema_core.spark.filters import FilterResult
from schema_core.spark.session.worker_package import send_package

if TYPE_CHECKING:
    from datetime import timedelta

    from deltalake import DeltaTable
    from pyspark.sql import DataFrame

    from schema_core.connectors.open_tables.file_statistics import FileStatistics
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.spark.connector import ReadContext, WriteContext
    from schema_core.spark.filters import Filter


class DeltaConnector(OpenTableConnector):
    """A table of Delta: a job's rows become visible by one commit of its log.

    A streaming job writes each micro-batch by one commit with its number, so exactly once.
    """

    identifier: ClassVar[str] = DELTA
    requires: ClassVar[tuple[str, ...]] = ("deltalake", "pyspark", "pyarrow")
    options: ClassVar[Sequence[ConfigOption[Any]]] = (
        PATH, *VERSION, *STREAM, PROPERTY, TABLE_PROPERTY,
    )  # fmt: skip

    def is_stream(self, options: Mapping[str, str]) -> bool:
        """Return whether the option ``mode`` is ``streaming``."""
        return MODE.of(options) == "streaming"

    def monitor_interval(self, options: Mapping[str, str]) -> timedelta | None:
        """Return how often a streaming job looks for new versions."""
        return CHECK_INTERVAL.of(options)

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return the rows of the current version, and those that later ones append.

        Codes: as `read`, and `streaming-not-supported` for a table of an earlier version.
        """
        from schema_core.connectors.delta.streams import read_stream

        require_no_version(context.options, VERSION, STARTING_VERSION)
        send_package(context.session)
        return read_stream(context)

    def delivery_guarantee(self, options: Mapping[str, str]) -> DeliveryGuarantee:
        """Return EXACTLY_ONCE: the commit of a micro-batch has its number."""
        return DeliveryGuarantee.EXACTLY_ONCE

    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        """Accept the filters that can prune files; all remain."""
        from schema_core.connectors.delta.files import prunes

        return FilterResult.of([item for item in filters if prunes(item)], filters)

    def open_version(self, context: ReadContext) -> DeltaTable:
        """Return the table at the chosen version.

        Codes: `table-not-found`, `not-found` (no such version), `conflicting-options`,
        `version-not-supported`, `external-failure`.
        """
        from schema_core.connectors.delta.client import open_version

        return open_version(context.options)

    def version_id(self, version: DeltaTable, context: ReadContext) -> tuple[object, ...] | None:
        """Return the number of the version, its commit and its files."""
        from schema_core.connectors.delta.files import version_id

        return version_id(version)

    def file_statistics(
        self,
        version: DeltaTable,
        columns: Collection[str],
        context: ReadContext,
        *,
        has_bounds: bool,
    ) -> list[FileStatistics] | None:
        """Return the statistics of the files of the chosen version; codes as `read_rows`."""
        from schema_core.connectors.delta.file_statistics import file_statistics

        return file_statistics(version, columns, context)

    def read_rows(self, version: DeltaTable, context: ReadContext) -> DataFrame:
        """Return the rows of the chosen version (`schema-mismatch`, `external-failure`)."""
        from schema_core.connectors.delta.reading import read_frame

        send_package(context.session)
        return read_frame(version, context)

    def validate_write(self, context: WriteContext) -> None:
        """Refuse to write an earlier version of a table (`unsupported-ability`)."""
        require_current_version(context.options, VERSION, "remove the option")
        require_equal_columns(context, "Delta")

    def stage(self, context: WriteContext) -> Stage:
        """Return a stage for the files of a job.

        Codes: as `read`; `concurrent-modification` if others have changed rows that the job reads
        and replaces; `not-representable` for columns of a new table.
        """
        from schema_core.connectors.delta.writing import DeltaStage

        return DeltaStage(context)

    def last_batch(self, context: WriteContext, job: str) -> int | None:
        """Return the number of a job's last micro-batch in the table, or None."""
        from schema_core.connectors.delta.client import TableAccess
        from schema_core.connectors.delta.writing import last_batch

        access = TableAccess.of(context.options)
        return last_batch(access.open(), job) if access.exists() else None

    def ensure_storage(self, context: WriteContext) -> None:
        """Create the table in its directory, unless it exists."""
        from schema_core.connectors.delta.writing import ensure_table

        ensure_table(context)

    def list_files(self, context: WriteContext) -> frozenset[str]:
        """Return the version of the table."""
        from schema_core.connectors.delta.client import TableAccess
        from schema_core.connectors.delta.writing import version_names

        return version_names(TableAccess.of(context.options))

    def was_committed(self, context: WriteContext, job: str) -> bool:
        """Return whether the table has a version of the job."""
        from schema_core.connectors.delta.client import TableAccess
        from schema_core.connectors.delta.writing import has_committed

        access = TableAccess.of(context.options)
        return access.exists() and has_committed(access.open(), job)

    def execute_truncation(self, context: WriteContext) -> None:
        """Delete all rows in one commit."""
        from schema_core.connectors.delta.client import TableAccess
        from schema_core.connectors.delta.writing import delete_rows

        delete_rows(TableAccess.of(context.options))
