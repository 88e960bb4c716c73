"""The base class of connectors for tables of open formats."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from schema_core.connectors.open_tables.file_statistics import (
    FileStatistics,
    aggregated_columns,
    columns_without_null,
    compute_aggregates,
)
from schema_core.connectors.open_tables.frames import FILE_PATH
from schema_core.environment.connector import Boundedness
from schema_core.errors import UnsupportedError
from schema_core.spark.connector import (
    ConnectorBase,
    RowLevelInfo,
    RowLevelMode,
    SupportsAggregatePushDown,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsProjectionPushDown,
    SupportsReuse,
    SupportsRowLevelDelete,
    SupportsRowLevelUpdate,
    SupportsStaging,
    SupportsStatisticReport,
    SupportsTruncate,
    SupportsUpsert,
)
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.catalog.objects import CatalogTable
    from schema_core.connectors.open_tables.staging import OpenTableStage
    from schema_core.spark.connector import Aggregation, ReadContext, WriteContext
    from schema_core.types import DataType


class OpenTableConnector(
    ConnectorBase,
    SupportsAggregatePushDown,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsProjectionPushDown,
    SupportsReuse,
    SupportsRowLevelDelete,
    SupportsRowLevelUpdate,
    SupportsStaging,
    SupportsStatisticReport,
    SupportsTruncate,
    SupportsUpsert,
):
    """A connector for tables of files whose metadata is changed by commits.

    DELETE and UPDATE, and INSERT INTO a table with a primary key, rewrite the files that have a
    changed row. Of several rows that a job writes with a key the last is stored.
    """

    metadata: Mapping[str, DataType] = {FILE_PATH: DataTypes.STRING().not_null()}
    is_versioned = True

    def __init__(self) -> None:
        #: What `apply_aggregates` has computed.
        self._aggregates: tuple[Any, ...] = ()
        #: The version that `data_version` has opened, until `read` takes it.
        self._opened: Any = None

    @abstractmethod
    def is_stream(self, options: Mapping[str, str]) -> bool:
        """Return whether a streaming job reads the rows that are appended later, too."""

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        """Return that a table that is read as a stream is unbounded; others have one version."""
        is_stream = self.is_stream(options)
        return Boundedness.CONTINUOUS_UNBOUNDED if is_stream else Boundedness.BOUNDED

    @abstractmethod
    def open_version(self, context: ReadContext) -> Any:
        """Return the chosen version of the table, as the format's library has it."""

    @abstractmethod
    def version_id(self, version: Any, context: ReadContext) -> object | None:
        """Return what no other version of any table has.

        None if it has none, or more than `MAX_KEPT_FILES` files.
        """

    def data_version(self, context: ReadContext) -> object | None:
        """Return the `version_id` of the chosen version; errors are those of `open_version`."""
        self._opened = self.open_version(context)
        return self.version_id(self._opened, context)

    @abstractmethod
    def file_statistics(
        self, version: Any, columns: Collection[str], context: ReadContext, *, has_bounds: bool
    ) -> Iterable[FileStatistics] | None:
        """Return the statistics of the files of a version; None if one has deleted rows.

        Errors are those of `read`.
        """

    def apply_aggregates(self, aggregation: Aggregation, context: ReadContext) -> bool:
        """Return whether the statistics of files have the aggregates; errors as `read`."""
        columns = aggregated_columns(aggregation)
        if columns is None:
            return False
        version = self.open_version(context)
        files = self.file_statistics(version, columns, context, has_bounds=True)
        if files is None:
            return False
        values = compute_aggregates(aggregation, context.physical_columns, files)
        self._aggregates = values or ()
        return values is not None

    @abstractmethod
    def read_rows(self, version: Any, context: ReadContext) -> DataFrame:
        """Return the rows of a version."""

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of the chosen version, or its aggregates.

        Errors are those of `open_version` and `read_rows`.
        """
        return self.read_with_statistics(context)[0]

    def read_with_statistics(self, context: ReadContext) -> tuple[DataFrame, Collection[str]]:
        """Return what `read` returns, and the NOT NULL columns of which no file has a NULL."""
        if context.aggregation is not None:
            return context.frame([self._aggregates]), ()
        version, self._opened = self._opened or self.open_version(context), None
        required = {name for name, type_ in context.columns.items() if not type_.is_nullable}
        files = (
            self.file_statistics(version, required, context, has_bounds=False) if required else None
        )
        return self.read_rows(version, context), columns_without_null(required, files or ())

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows into new files; errors are those of the job."""
        cast("OpenTableStage[Any]", context.stage).write(frame, context)

    def recover(self, context: WriteContext) -> None:
        """Do nothing: files that no version has are never read."""

    def apply_row_level_delete(self, context: WriteContext) -> RowLevelInfo:
        """Return that files with a deleted row are rewritten."""
        return RowLevelInfo(RowLevelMode.ALL_ROWS, FILE_PATH)

    def apply_row_level_update(self, columns: Sequence[str], context: WriteContext) -> RowLevelInfo:
        """Return that files with an updated row are rewritten.

        Raises:
            UnsupportedError: with code `unsupported-ability` for columns of the primary key, of
                which several rows could then have the same.
        """
        if key := sorted(set(columns) & set(context.upsert_key)):
            raise UnsupportedError(
                f"column {key[0]!r} is part of the primary key, which UPDATE does not change",
                code="unsupported-ability",
                hint="DELETE the rows, and INSERT them with the other key",
            )
        return RowLevelInfo(RowLevelMode.ALL_ROWS, FILE_PATH)


def require_equal_columns(context: WriteContext, format_name: str) -> None:
    """Refuse a REPLACE TABLE AS with other columns (`unsupported-ability`)."""
    old = context.replaced
    if old is not None and _typed_names(old) != _typed_names(context.table):
        raise UnsupportedError(
            f"REPLACE TABLE AS does not change the columns of a table of {format_name}",
            code="unsupported-ability",
            hint="DROP the table first, or ALTER it and use INSERT OVERWRITE",
        )


def _typed_names(table: CatalogTable) -> list[tuple[str, object]]:
    return [(column.name, getattr(column, "data_type", None)) for column in table.schema.columns]
