"""Tables: queries that are resolved but not run yet, by the name of `pyflink.table.table`."""

from __future__ import annotations

from schema_core.environment.table import (
    AggregatedTable,
    GroupedTable,
    GroupWindowedTable,
    OverWindowedTable,
    Table,
    WindowGroupedTable,
)

__all__ = [
    "AggregatedTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "Table",
    "WindowGroupedTable",
]
