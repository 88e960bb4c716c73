"""Replacements for the connectors of the recording Flink, which looks for them early.

Flink makes the source of a table as soon as a query that reads it is typed, and refuses the query
where that fails; the library looks for connectors when rows move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.catalog.objects import (
    ResolvedCatalogMaterializedTable,
    ResolvedCatalogTable,
    ResolvedCatalogView,
)
from schema_core.environment.connector import IMPLICIT_OPTIONS
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.planner import BoundTable, Registration, RowChange
from schema_core.environment.plans.dry_run import Creation, DryRunPlanner
from schema_core.environment.session import Session
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.query.relation import Relation, SourceTable
from schema_core.schema.columns import MetadataColumn


@dataclass(frozen=True, slots=True)
class Connector:
    """The abilities and options of a connector; ``fields.`` matches all keys with this prefix."""

    can: frozenset[str]
    options: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()


READ, WRITE = frozenset({"read"}), frozenset({"write"})

#: Connectors that the recording Flink had.
CONNECTORS = {
    "datagen": Connector(
        READ, frozenset({"rows-per-second", "number-of-rows", "scan.parallelism", "fields."})
    ),
    "blackhole": Connector(WRITE),
    "print": Connector(
        WRITE, frozenset({"print-identifier", "standard-error", "sink.parallelism"})
    ),
    "filesystem": Connector(
        READ | WRITE,
        frozenset({"path", "format", "partition.", "sink.", "source.", "auto-compaction",
                   "compaction."}),
        frozenset({"path"}),
    ),
}  # fmt: skip

#: Formats of files that it had.
FORMATS = ("raw", "json", "csv")


def require_connector(
    identifier: ObjectIdentifier,
    table: ResolvedCatalogTable | ResolvedCatalogMaterializedTable,
    purpose: str,
) -> None:
    """What Flink checks when it makes a source or a sink.

    Raises:
        SchemaError: where the table cannot be used so.
    """
    options = table.options
    known = CONNECTORS.get(options.get("connector", ""))
    if known is None or purpose not in known.can:
        raise SchemaError(f"no connector to {purpose} {identifier}", code="missing-connector")
    _require_options(known, set(options), options.get("format"))
    metadata = [
        column for column in table.resolved_schema.columns if isinstance(column, MetadataColumn)
    ]
    if purpose == "write" and table.distribution is not None:
        raise SchemaError("the connector has no buckets", code="no-buckets")
    if purpose == "write" and any(item.is_persisted() for item in metadata):
        raise SchemaError("the connector writes no metadata", code="invalid-metadata-column")
    if purpose == "read" and metadata and options["connector"] == "datagen":
        raise SchemaError("the connector reads no metadata", code="invalid-metadata-column")


def _require_options(known: Connector, given: set[str], file_format: str | None) -> None:
    own = {*known.options, *IMPLICIT_OPTIONS}
    groups = tuple(option for option in own if option.endswith("."))
    if file_format is not None and "format" in own:
        if file_format not in FORMATS:
            raise SchemaError(f"no format {file_format}", code="factory-not-found")
        groups = (*groups, f"{file_format}.")
    unknown = [key for key in given if key not in own and not key.startswith(groups or (" ",))]
    if unknown or known.required - given:
        raise SchemaError(f"options do not fit: {unknown}", code="unknown-option")


class CheckedSession(Session):
    """A session that looks for the connector of every table that a query in SQL reads."""

    #: The Table API of Flink does not look for them.
    checks = True

    @property
    def checks_metadata(self) -> bool:
        """Flink checks metadata columns only when a table is used."""
        return False

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        result = super().table(path, span)
        kept = self.tables.get(result.identifier).table
        if self.checks and not isinstance(kept, ResolvedCatalogView):
            require_connector(result.identifier, kept, "read")
        return result


class CheckedCreation(Creation):
    """A job that creates a table and is refused afterwards if it has no connector, as in Flink."""

    def __init__(self, registration: Registration, target: BoundTable, planner: Recorder) -> None:
        super().__init__(registration)
        self._target = target
        self._planner = planner

    def begin(self) -> None:
        super().begin()
        require_connector(self._target.identifier, self._target.table, "write")
        self._planner.jobs += 1


class Recorder(DryRunPlanner):
    """A planner with the connectors of the recording Flink, which notes that a job would run."""

    def __init__(self) -> None:
        self.jobs = 0

    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        on_conflict: str | None = None,
    ) -> JobGraph:
        require_connector(target.identifier, target.table, "write")
        self.jobs += 1
        return super().insert(
            query, target, columns=columns, overwrite=overwrite, partition=partition
        )

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        job = super().create_as(query, target, registration, columns=columns)
        return JobGraph(job.name, CheckedCreation(registration, target, self), job.sinks)

    def change_rows(self, change: RowChange, target: BoundTable) -> JobGraph:
        """Refuse: no connector of the recording Flink changes rows."""
        require_connector(target.identifier, target.table, "write")
        raise UnsupportedError(f"{change.kind.value} is not supported")

    def truncate(self, target: BoundTable) -> None:
        """Refuse, as `change_rows`."""
        require_connector(target.identifier, target.table, "write")
        raise UnsupportedError("TRUNCATE TABLE is not supported")
