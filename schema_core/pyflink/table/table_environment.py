"""`TableEnvironment` (`pyflink.table.table_environment`)."""

from __future__ import annotations

from schema_core.environment.table_environment import TableEnvironment
from schema_core.pyflink.absent import refuse_absent
from schema_core.pyflink.datastream.environments import StreamTableEnvironment

__all__ = ["StreamTableEnvironment", "TableEnvironment"]

refuse_absent(__name__)
