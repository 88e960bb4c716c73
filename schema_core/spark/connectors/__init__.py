"""Connectors of the Spark planner: how rows are read and written.

A connector reads and writes the columns that it stores: the physical columns of the table and the
metadata that its columns name. The planner does the rest for every connector: computed columns,
casts of metadata, NOT NULL, lengths, the order of columns and ``OPTIONS`` hints.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from schema_core.environment.connector import Ability, Connector, Context, metadata_columns
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.schema.columns import PhysicalColumn, plain
from schema_core.spark.transactions import Stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
    from schema_core.types import DataType

#: What the name of a metadata column begins with in the frames of connectors, as in Flink's plans.
METADATA_PREFIX = "$metadata$"


def metadata_column(key: str) -> str:
    """Return the name of the column that holds the metadata of a key in frames of connectors.

    >>> metadata_column("file.path")
    '$metadata$file.path'
    """
    return METADATA_PREFIX + key


@dataclass(frozen=True, slots=True, kw_only=True)
class TableContext(Context):
    """The table that a connector reads or writes, and the session to use.

    Attributes:
        session: The session of the job; frames must be made with it.
        zone: The time zone of the session, ``table.local-time-zone``.
        metadata: The keys of the metadata to read or write, each once.
    """

    session: SparkSession
    zone: str
    metadata: tuple[str, ...] = ()

    @property
    def options(self) -> Mapping[str, str]:
        """The options of the table, with those of its hints."""
        return self.table.options

    @property
    def physical_columns(self) -> dict[str, DataType]:
        """The physical columns with their types, in order."""
        columns = self.table.resolved_schema.columns
        return {
            one.name: plain(one.data_type) for one in columns if isinstance(one, PhysicalColumn)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContext(TableContext):
    """The table that a connector reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext(TableContext):
    """The table that a connector writes.

    Attributes:
        overwrite: Whether existing rows are replaced. Only with `Ability.OVERWRITE`.
        partition: The values of the PARTITION clause, which limits what is replaced.
        creates: Whether the job is a CREATE or REPLACE TABLE AS: the table must hold no rows,
            except those of `replaced`.
        replaced: The definition that REPLACE puts another one in place of (unresolved if its
            functions or types are missing).
        stage: What `SupportsStaging.stage` returned for the job, else None.
    """

    overwrite: bool = False
    partition: Mapping[str, str] | None = None
    creates: bool = False
    replaced: CatalogTable | None = None
    stage: Stage | None = None


@runtime_checkable
class SparkConnector(Connector, Protocol):
    """A connector that the Spark planner can use."""

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of the table: its physical columns, by name, and the metadata.

        Each column has the Spark type that `schema_core.formats.spark.pyspark_types.to_spark`
        maps its type to; the metadata of a key is in the column `metadata_column(key)`, of the
        type that `metadata` declares. The planner checks names and types.
        """

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows: the physical columns, in order, then the metadata, as `read` returns them."""


@runtime_checkable
class SupportsStaging(SparkConnector, Protocol):
    """A connector with `Ability.STAGING`: no row of a job is visible before its stage commits."""

    def stage(self, context: WriteContext) -> Stage:
        """Return a stage for the rows of a job, which `write` gets in its context.

        Errors that it raises are raised before the job starts.
        """


@runtime_checkable
class SupportsStatisticReport(SparkConnector, Protocol):
    """A connector that knows columns without NULL, which the planner then does not check."""

    def columns_without_null(self, frame: DataFrame, context: ReadContext) -> Collection[str]:
        """Return the physical columns that hold no NULL in the rows of a frame of `read`."""


def metadata_keys(table: ResolvedCatalogTable, *, persisted: bool = False) -> tuple[str, ...]:
    """Return the keys of the metadata columns of a table, or only of those that are written.

    Raises:
        SchemaError: with code `duplicate-column` for a physical column with the name that the
            metadata has in frames of connectors.
    """
    keys = [one.key for one in metadata_columns(table) if one.is_persisted() or not persisted]
    names = {one.name for one in table.resolved_schema.columns}
    for key in keys:
        if metadata_column(key) in names:
            raise SchemaError(
                f"the column {metadata_column(key)!r} has the name of metadata {key!r}",
                code="duplicate-column",
                hint="rename the column",
            )
    return tuple(dict.fromkeys(keys))


#: The attributes of a `SparkConnector`.
MEMBERS: tuple[str, ...] = (
    "identifier", "can_read", "can_write", "abilities", "metadata", "writable_metadata",
    "declared", "read", "write",
)  # fmt: skip


def for_spark(connector: Connector) -> SparkConnector:
    """Return the connector if the Spark planner can use it.

    Raises:
        UnsupportedError: with code `unsupported-engine`.
    """
    missing = [name for name in MEMBERS if not hasattr(connector, name)]
    if not missing and Ability.STAGING in connector.abilities and not hasattr(connector, "stage"):
        missing.append("stage")
    if missing or not isinstance(connector, SparkConnector):
        raise UnsupportedError(
            f"the connector {connector.identifier!r} does not work with Spark: "
            f"missing attributes: {', '.join(missing)}",
            code="unsupported-engine",
        )
    return connector
