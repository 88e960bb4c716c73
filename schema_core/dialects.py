"""Schemas from the CREATE TABLE of other engines, and back, with every loss reported."""

from __future__ import annotations

from schema_core.formats.dialects.api import (
    ForeignScript,
    ForeignTable,
    ddl_losses,
    from_ddl,
    read_table,
    read_tables,
    to_ddl,
)

__all__ = [
    "ForeignScript",
    "ForeignTable",
    "ddl_losses",
    "from_ddl",
    "read_table",
    "read_tables",
    "to_ddl",
]
