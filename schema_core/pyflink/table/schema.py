"""`Schema`, by the name of `pyflink.table.schema`."""

from schema_core.schema import Schema

__all__ = ["Schema"]
