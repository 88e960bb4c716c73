"""Where tables are, and how Spark reads and writes them: one file a connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from schema_core.environment.connector import Connector
from schema_core.environment.planner import BoundTable
from schema_core.errors import UnsupportedError
from schema_core.spark.jobs import Stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.catalog.objects import CatalogTable


@runtime_checkable
class SparkConnector(Connector, Protocol):
    """A connector that the Spark planner can use.

    With `Ability.STAGING` no row of a write is visible before its stage is committed.
    """

    def read(self, session: SparkSession, bound: BoundTable, zone: str) -> DataFrame:
        """Return all columns of the table, computed ones included, in a frame of this session.

        Each has the Spark type that `schema_core.formats.spark.pyspark_types.to_spark` maps its
        type to. The planner checks names and types, orders the columns and enforces NOT NULL.
        """

    def stage(
        self,
        session: SparkSession,
        bound: BoundTable,
        *,
        overwrite: bool,
        partition: Mapping[str, str] | None = None,
        creates: bool = False,
        replaced: CatalogTable | None = None,
    ) -> Stage:
        """A place for the rows of a job that has not ended.

        `overwrite` and `partition` are those of `Planner.insert`. CREATE and REPLACE TABLE
        AS set `creates`: the table must then hold no rows, except those of `replaced`, the
        definition that REPLACE puts another one in place of (unresolved if its functions or
        types are missing). Raises what the write cannot do, before the job.
        """

    def write(self, frame: DataFrame, bound: BoundTable, stage: Stage) -> None:
        """Write rows, of the persisted columns in order, into a stage."""


#: The names that a `SparkConnector` has.
MEMBERS: tuple[str, ...] = (
    "identifier", "can_read", "can_write", "abilities", "metadata", "writable_metadata",
    "declared", "read", "stage", "write",
)  # fmt: skip


def for_spark(connector: Connector) -> SparkConnector:
    """The connector, if the Spark planner can use it.

    Raises:
        UnsupportedError: with code `unsupported-engine`.
    """
    if not isinstance(connector, SparkConnector):
        missing = [name for name in MEMBERS if not hasattr(connector, name)]
        raise UnsupportedError(
            f"the connector {connector.identifier!r} does not work with Spark: "
            f"it has no {', '.join(missing)}",
            code="unsupported-engine",
        )
    return connector


__all__: Sequence[str] = ["SparkConnector", "for_spark"]
