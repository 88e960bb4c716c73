"""Tables: resolved queries, not run yet (`pyflink.table.table`)."""

from __future__ import annotations

from schema_core.environment.table_api.table import (
    AggregatedTable,
    FlatAggregateTable,
    GroupedTable,
    GroupWindowedTable,
    OverWindowedTable,
    Table,
    WindowGroupedTable,
)

__all__ = [
    "AggregatedTable",
    "FlatAggregateTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "Table",
    "WindowGroupedTable",
]
