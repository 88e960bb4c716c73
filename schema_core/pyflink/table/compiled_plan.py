"""Compiled plans (`pyflink.table.compiled_plan`)."""

from __future__ import annotations

from schema_core.environment.operations.compile_plan import CompiledPlan

__all__ = ["CompiledPlan"]
