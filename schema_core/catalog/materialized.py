"""Materialized tables: a query whose result is kept, how fresh it is and how it is refreshed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from schema_core.arguments import require_instance
from schema_core.catalog.objects import CatalogBaseTable, TableDistribution, TableKind
from schema_core.errors import SchemaError
from schema_core.schema.resolved import ResolvedSchema


class FreshnessUnit(Enum):
    """The units of a freshness, with their length in seconds."""

    SECOND = 1
    MINUTE = 60
    HOUR = 3_600
    DAY = 86_400
    WEEK = 604_800


class LogicalRefreshMode(Enum):
    """How the table was asked to be refreshed."""

    CONTINUOUS = "CONTINUOUS"
    FULL = "FULL"
    AUTOMATIC = "AUTOMATIC"


class RefreshMode(Enum):
    """How the table is refreshed."""

    CONTINUOUS = "CONTINUOUS"
    FULL = "FULL"


class RefreshStatus(Enum):
    """What becomes of the refresh at the moment."""

    INITIALIZING = "INITIALIZING"
    ACTIVATED = "ACTIVATED"
    SUSPENDED = "SUSPENDED"


class StartMode(Enum):
    """From where a refresh reads when it starts for the first time."""

    FROM_BEGINNING = "FROM_BEGINNING"


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far a materialized table may lag behind its sources.

    >>> print(Freshness.of("3", FreshnessUnit.MINUTE))
    INTERVAL '3' MINUTE
    """

    interval: int
    unit: FreshnessUnit

    @staticmethod
    def of(interval: str, unit: FreshnessUnit) -> Freshness:
        """The freshness of that many units.

        Raises:
            SchemaError: with code `invalid-freshness` unless the text is a whole number above zero.
        """
        require_instance(interval, str, "interval")
        require_instance(unit, FreshnessUnit, "unit")
        number = int(interval) if re.fullmatch(r"[+-]?\d{1,30}", interval) else 0
        if not 0 < number < 2**31:
            raise SchemaError(
                f"the freshness {interval!r} is no whole number above zero",
                code="invalid-freshness",
            )
        return Freshness(number, unit)

    @property
    def seconds(self) -> int:
        """Its length."""
        return self.interval * self.unit.value

    def __str__(self) -> str:
        return f"INTERVAL '{self.interval}' {self.unit.name}"


#: What is assumed where no freshness is given, by the logical mode (Flink's defaults).
DEFAULT_FRESHNESS = {
    LogicalRefreshMode.FULL: Freshness(1, FreshnessUnit.HOUR),
    LogicalRefreshMode.CONTINUOUS: Freshness(3, FreshnessUnit.MINUTE),
    LogicalRefreshMode.AUTOMATIC: Freshness(3, FreshnessUnit.MINUTE),
}

#: AUTOMATIC means CONTINUOUS below so many seconds (``materialized-table.refresh-mode.
#: freshness-threshold``, 30 minutes).
CONTINUOUS_BELOW = 1_800

#: Unit -> how many of them make the next larger one, which a full refresh must divide evenly; there
#: is no full refresh by weeks.
CYCLES = {
    FreshnessUnit.SECOND: 60,
    FreshnessUnit.MINUTE: 60,
    FreshnessUnit.HOUR: 24,
    FreshnessUnit.DAY: 1,
}


@dataclass(frozen=True, slots=True)
class CatalogMaterializedTable(CatalogBaseTable):
    """A query under a name, whose result is kept."""

    original_query: str
    expanded_query: str
    logical_refresh_mode: LogicalRefreshMode = field(kw_only=True)
    refresh_status: RefreshStatus = field(kw_only=True)
    refresh_mode: RefreshMode | None = field(default=None, kw_only=True)
    freshness: Freshness | None = field(default=None, kw_only=True)
    start_mode: StartMode | None = field(default=None, kw_only=True)
    refresh_handler_description: str | None = field(default=None, kw_only=True)
    refresh_handler: bytes | None = field(default=None, kw_only=True)
    partition_keys: tuple[str, ...] = field(default=(), kw_only=True)
    distribution: TableDistribution | None = field(default=None, kw_only=True)
    snapshot: int | None = field(default=None, kw_only=True)

    def get_table_kind(self) -> TableKind:
        return TableKind.MATERIALIZED_TABLE

    def is_partitioned(self) -> bool:
        return bool(self.partition_keys)

    def get_partition_keys(self) -> list[str]:
        return list(self.partition_keys)

    def get_distribution(self) -> TableDistribution | None:
        return self.distribution

    def get_original_query(self) -> str:
        return self.original_query

    def get_expanded_query(self) -> str:
        return self.expanded_query


@dataclass(frozen=True, slots=True)
class ResolvedCatalogMaterializedTable(CatalogMaterializedTable):
    """A materialized table whose types, freshness and refresh mode are known."""

    resolved_schema: ResolvedSchema = field(kw_only=True)

    def get_resolved_schema(self) -> ResolvedSchema:
        return self.resolved_schema
