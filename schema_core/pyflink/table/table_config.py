"""The options of a session (`pyflink.table.table_config`)."""

from __future__ import annotations

from schema_core.environment.config import TableConfig

__all__ = ["TableConfig"]
