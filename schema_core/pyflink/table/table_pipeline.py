"""`TablePipeline` (`pyflink.table.table_pipeline`)."""

from __future__ import annotations

from schema_core.environment.table_api.pipelines import TablePipeline

__all__ = ["TablePipeline"]
