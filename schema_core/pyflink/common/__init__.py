"""Jobs, rows and configurations (`pyflink.common`)."""

from __future__ import annotations

from schema_core.environment.config import (
    Configuration,
)
from schema_core.environment.jobs.client import CompletableFuture, JobClient, JobExecutionResult
from schema_core.environment.jobs.run import JobID, JobStatus
from schema_core.environment.options import (
    ConfigOption,
    ConfigOptions,
)
from schema_core.pyflink.absent import refuse_absent
from schema_core.pyflink.common.time import Duration, Instant, Time
from schema_core.pyflink.common.typeinfo import TypeInformation, Types
from schema_core.pyflink.common.watermark_strategy import WatermarkStrategy
from schema_core.types.row_value import (
    Row,
    RowKind,
)

__all__ = [
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "Duration",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "Row",
    "RowKind",
    "Time",
    "TypeInformation",
    "Types",
    "WatermarkStrategy",
]

refuse_absent(__name__)
