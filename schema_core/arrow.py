"""Schemas and types as those of Apache Arrow, with the exact type in their metadata."""

from __future__ import annotations

from schema_core.formats.arrow.schemas import (
    from_arrow,
    from_field,
    from_schema,
    layout_of,
    read_schema,
    to_arrow,
    to_field,
    to_schema,
)
from schema_core.formats.loss import ForeignSchema

__all__ = [
    "ForeignSchema",
    "from_arrow",
    "from_field",
    "from_schema",
    "layout_of",
    "read_schema",
    "to_arrow",
    "to_field",
    "to_schema",
]
