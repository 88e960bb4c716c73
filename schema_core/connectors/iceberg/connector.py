"""The connector `iceberg`: tables of Apache Iceberg, through pyiceberg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from schema_core.connectors.iceberg.options import (
    BRANCH,
    CATALOG_DATABASE,
    CATALOG_TABLE,
    CONNECTION,
    FILE_PATH,
    ICEBERG,
    LAYOUT,
    VERSION,
)
from schema_core.environment.connector import Boundedness
from schema_core.environment.options import ConfigOption
from schema_core.errors import NotFoundError, UnsupportedError
from schema_core.spark.connector import (
    ConnectorBase,
    RowLevelInfo,
    RowLevelMode,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsProjectionPushDown,
    SupportsRowLevelDelete,
    SupportsRowLevelUpdate,
    SupportsStaging,
    SupportsTruncate,
    SupportsUpsert,
)
from schema_core.spark.filters import FilterResult
from schema_core.spark.session.worker_package import send_package
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.catalog.objects import CatalogTable
    from schema_core.connectors.iceberg.writing import IcebergStage
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.spark.connector import ReadContext, WriteContext
    from schema_core.spark.filters import Filter
    from schema_core.types import DataType


class IcebergConnector(
    ConnectorBase,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsProjectionPushDown,
    SupportsRowLevelDelete,
    SupportsRowLevelUpdate,
    SupportsStaging,
    SupportsTruncate,
    SupportsUpsert,
):
    """A table of Iceberg: a job's rows become visible by one commit of its metadata.

    DELETE and UPDATE, and INSERT INTO a table with a primary key, rewrite the files that have a
    changed row.
    """

    identifier: ClassVar[str] = ICEBERG
    requires: ClassVar[tuple[str, ...]] = ("pyiceberg", "pyspark", "pyarrow")
    options: ClassVar[Sequence[ConfigOption[Any]]] = (
        *CONNECTION, CATALOG_DATABASE, CATALOG_TABLE, *VERSION, *LAYOUT,
    )  # fmt: skip
    metadata: Mapping[str, DataType] = {FILE_PATH: DataTypes.STRING().not_null()}

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        """Return BOUNDED: a job reads one snapshot, also in streaming mode."""
        return Boundedness.BOUNDED

    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        """Accept the filters that can prune files; all remain."""
        from schema_core.connectors.iceberg.reading import pruning_expression

        accepted = [item for item in filters if pruning_expression(item) is not None]
        return FilterResult.of(accepted, filters)

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of the chosen snapshot.

        Codes: `table-not-found`, `source-schema-mismatch`, `not-found` (no such snapshot),
        `conflicting-options`, `iceberg-failed`.
        """
        from schema_core.connectors.iceberg.client import open_table
        from schema_core.connectors.iceberg.reading import read_frame

        send_package(context.session)
        return read_frame(open_table(context.options), context)

    def validate_write(self, context: WriteContext) -> None:
        """Refuse to write a version of a table other than a branch (`unsupported-ability`)."""
        for option in VERSION:
            if option is not BRANCH and option.key in context.options:
                raise UnsupportedError(
                    f"a table with the option {option.key!r} is only read",
                    code="unsupported-ability",
                    hint=f"remove the option, or write a branch by {BRANCH.key!r}",
                )
        old = context.replaced
        if old is not None and _typed_names(old) != _typed_names(context.table):
            raise UnsupportedError(
                "REPLACE TABLE AS does not change the columns of a table of Iceberg",
                code="unsupported-ability",
                hint="DROP the table first, or ALTER it and use INSERT OVERWRITE",
            )

    def stage(self, context: WriteContext) -> Stage:
        """Return a stage for the files of a job.

        Codes: as `read`; `concurrent-modification` if others have changed rows that the job reads
        and replaces; `unsupported-ability` for CREATE TABLE AS in a catalog that chooses
        directories.
        """
        from schema_core.connectors.iceberg.writing import IcebergStage

        return IcebergStage(context)

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows into new files; errors are those of the job."""
        cast("IcebergStage", context.stage).write(frame, context)

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

    def recover(self, context: WriteContext) -> None:
        """Do nothing: files that no snapshot has are never read."""

    def apply_row_level_delete(self, context: WriteContext) -> RowLevelInfo:
        """Return that files with a deleted row are rewritten."""
        return RowLevelInfo(RowLevelMode.ALL_ROWS, FILE_PATH)

    def apply_row_level_update(self, columns: Sequence[str], context: WriteContext) -> RowLevelInfo:
        """Return that files with an updated row are rewritten."""
        return RowLevelInfo(RowLevelMode.ALL_ROWS, FILE_PATH)

    def execute_truncation(self, context: WriteContext) -> None:
        """Delete all rows in one commit."""
        from schema_core.connectors.iceberg.client import open_table
        from schema_core.connectors.iceberg.writing import delete_rows

        delete_rows(open_table(context.options), context.options)


def _typed_names(table: CatalogTable) -> list[tuple[str, object]]:
    return [(column.name, getattr(column, "data_type", None)) for column in table.schema.columns]
