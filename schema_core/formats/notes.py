"""The notes that carry exact types through foreign metadata, and the comments beside them."""

from __future__ import annotations

from functools import lru_cache

from schema_core.errors import SchemaCoreError
from schema_core.types import DataType, parse_type

#: Keys in the metadata of a field: the exact type, the physical layout in Arrow, the comment.
NOTE = "schema_core.type"
LAYOUT = "schema_core.layout"
COMMENT = "comment"

#: Where Spark keeps a field's metadata, as JSON, in the metadata of Arrow's fields.
SPARK_METADATA = "SPARK::metadata::json"


@lru_cache(maxsize=4096)
def noted(text: str) -> DataType | None:
    """The type that a note tells, or None where it cannot be read.

    >>> noted("CHAR(3)"), noted("CHAR(")
    (CharType(3), None)
    """
    try:
        return parse_type(text)
    except SchemaCoreError:
        return None
