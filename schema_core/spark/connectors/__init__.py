"""Connectors of the Spark planner: how tables are read and written."""

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
        """Return a stage for the rows of a job.

        `overwrite` and `partition` are those of `Planner.insert`. CREATE and REPLACE TABLE
        AS set `creates`: the table must then hold no rows, except those of `replaced`, the
        definition that REPLACE puts another one in place of (unresolved if its functions or
        types are missing). Raises errors before the job starts.
        """

    def write(self, frame: DataFrame, bound: BoundTable, stage: Stage) -> None:
        """Write rows, of the persisted columns in order, into a stage."""


#: The attributes of a `SparkConnector`.
MEMBERS: tuple[str, ...] = (
    "identifier", "can_read", "can_write", "abilities", "metadata", "writable_metadata",
    "declared", "read", "stage", "write",
)  # fmt: skip


def for_spark(connector: Connector) -> SparkConnector:
    """Return the connector if the Spark planner can use it.

    Raises:
        UnsupportedError: with code `unsupported-engine`.
    """
    if not isinstance(connector, SparkConnector):
        missing = [name for name in MEMBERS if not hasattr(connector, name)]
        raise UnsupportedError(
            f"the connector {connector.identifier!r} does not work with Spark: "
            f"missing attributes: {', '.join(missing)}",
            code="unsupported-engine",
        )
    return connector


__all__: Sequence[str] = ["SparkConnector", "for_spark"]
