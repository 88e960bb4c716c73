"""Details of EXPLAIN (`pyflink.table.explain_detail`)."""

from __future__ import annotations

from schema_core.environment.plans.explain_detail import ExplainDetail

__all__ = ["ExplainDetail"]
