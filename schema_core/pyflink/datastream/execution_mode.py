"""`RuntimeExecutionMode` (`pyflink.datastream.execution_mode`)."""

from __future__ import annotations

from enum import Enum

from schema_core.pyflink.absent import refuse_absent

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """Whether jobs run in streaming mode or in batch mode; `AUTOMATIC` decides by the tables."""

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2


refuse_absent(__name__)
