"""`ResolvedExpression` (`pyflink.table.resolved_expression`)."""

from __future__ import annotations

from schema_core.schema.columns import ResolvedExpression

__all__ = ["ResolvedExpression"]
