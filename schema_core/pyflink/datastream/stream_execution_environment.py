"""`StreamExecutionEnvironment` (`pyflink.datastream.stream_execution_environment`)."""

from __future__ import annotations

from schema_core.pyflink.absent import refuse_absent
from schema_core.pyflink.datastream.environments import StreamExecutionEnvironment

__all__ = ["StreamExecutionEnvironment"]

refuse_absent(__name__)
