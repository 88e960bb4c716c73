"""`TableEnvironment`, by the name of `pyflink.table.table_environment`."""

from __future__ import annotations

from schema_core.environment.table_environment import TableEnvironment

__all__ = ["TableEnvironment"]
