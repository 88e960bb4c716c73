"""`Row` and `RowKind` (`pyflink.common.types`)."""

from schema_core.types.row_value import Row, RowKind

__all__ = ["Row", "RowKind"]
