"""Descriptors of models (`pyflink.table.model_descriptor`)."""

from __future__ import annotations

from schema_core.environment.table_api.descriptor import ModelDescriptor

__all__ = ["ModelDescriptor"]
