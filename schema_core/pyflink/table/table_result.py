"""Results of statements (`pyflink.table.table_result`)."""

from __future__ import annotations

from schema_core.environment.result import CloseableIterator, TableResult

__all__ = ["CloseableIterator", "TableResult"]
