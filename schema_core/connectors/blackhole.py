"""The connector `blackhole`: computes every column and stores nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from schema_core.environment.connector import DeliveryGuarantee
from schema_core.spark.connector import ConnectorBase, SupportsPartitioning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.changelog import Changelog
    from schema_core.spark.connector import WriteContext


class BlackholeConnector(ConnectorBase, SupportsPartitioning):
    """A write-only sink for measurements and tests."""

    identifier: ClassVar[str] = "blackhole"
    requires: ClassVar[tuple[str, ...]] = ("pyspark",)

    def delivery_guarantee(self, options: Mapping[str, str]) -> DeliveryGuarantee:
        """Nothing is stored, so a streaming job needs no checkpoint."""
        return DeliveryGuarantee.NONE

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Compute all rows; an error in any column fails the job."""
        frame.write.format("noop").mode("append").save()

    def consumes_changes(self, options: Mapping[str, str]) -> bool:
        """Changes are computed, too."""
        return True

    def write_changelog(self, frame: DataFrame, context: WriteContext) -> None:
        """Compute all changes, as `write`."""
        self.write(frame, context)

    def write_changes(
        self, frame: DataFrame, context: WriteContext, key: Sequence[str], changelog: Changelog
    ) -> None:
        """Compute all rows, as `write`."""
        self.write(frame, context)
