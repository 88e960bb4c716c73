"""SQL dialects of statements (`pyflink.table.sql_dialect`)."""

from __future__ import annotations

from schema_core.environment.config import SqlDialect

__all__ = ["SqlDialect"]
