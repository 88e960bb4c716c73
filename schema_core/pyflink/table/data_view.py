"""Lists and maps in accumulators (`pyflink.table.data_view`)."""

from __future__ import annotations

from schema_core.expressions.data_views import DataView, ListView, MapView

__all__ = ["DataView", "ListView", "MapView"]
