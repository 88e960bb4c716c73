"""`Schema` (`pyflink.table.schema`)."""

from schema_core.schema import Schema

__all__ = ["Schema"]
