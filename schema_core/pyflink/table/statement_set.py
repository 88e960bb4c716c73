"""Statements that run as one job (`pyflink.table.statement_set`)."""

from __future__ import annotations

from schema_core.environment.table_api.statement_sets import StatementSet

__all__ = ["StatementSet"]
