"""Descriptors of tables and formats (`pyflink.table.table_descriptor`)."""

from __future__ import annotations

from schema_core.environment.table_api.descriptor import FormatDescriptor, TableDescriptor

__all__ = ["FormatDescriptor", "TableDescriptor"]
