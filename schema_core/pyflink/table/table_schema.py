"""`TableSchema` (`pyflink.table.table_schema`)."""

from __future__ import annotations

from schema_core.schema.table_schema import TableSchema

__all__ = ["TableSchema"]
