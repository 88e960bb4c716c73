"""Kinds of results (`pyflink.table.result_kind`)."""

from __future__ import annotations

from schema_core.environment.result import ResultKind

__all__ = ["ResultKind"]
