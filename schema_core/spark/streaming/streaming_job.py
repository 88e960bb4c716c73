"""Streaming jobs: they run until they are cancelled or fail."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from schema_core.environment.jobs.graph import JobExecution
from schema_core.environment.planner import Registration
from schema_core.spark.jobs import inherit, spark_errors
from schema_core.spark.streaming.checkpoints import (
    Checkpoint,
)
from schema_core.spark.streaming.micro_batches import MicroBatches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.environment.jobs.metrics import JobMetrics


class StreamingJob(JobExecution):
    """A job that runs until it is cancelled or fails. What it has written stays.

    The `checkpoint` is None for a sink that needs none. CREATE TABLE AS has a `registration`, which
    creates the table before the job starts. `located` returns a context manager that adds locations
    to errors; `properties` are from `jobs.local_properties`.
    """

    has_end = False

    def __init__(
        self,
        session: SparkSession,
        batches: MicroBatches,
        checkpoint: Checkpoint | None,
        registration: Registration | None = None,
        located: Callable[[], AbstractContextManager[object]] = nullcontext,
        properties: Any = None,
    ) -> None:
        self._session = session
        self._batches = batches
        self._checkpoint = checkpoint
        self._registration = registration
        self._located = located
        self._properties = properties
        self._has_begun = False

    def begin(self) -> None:
        with self._located(), spark_errors():
            if self._checkpoint is not None:
                self._checkpoint.begin()
            if self._registration is not None:
                self._registration.create()
            self._has_begun = True

    def run(self, job_id: str) -> None:
        try:
            damage = nullcontext() if self._checkpoint is None else self._checkpoint.errors()
            with self._located(), spark_errors(self._session), damage:
                if self._properties is not None:
                    inherit(self._session, self._properties)
                self._batches.run()
        finally:
            if self._checkpoint is not None:
                self._checkpoint.end()

    def abort(self) -> None:
        """Keep the table and the checkpoint, so that the job can continue."""
        self._batches.stop()
        if self._checkpoint is not None:
            if self._has_begun:
                self._checkpoint.end()
            else:
                self._checkpoint.remove()

    def cancel(self, job_id: str) -> None:
        self._batches.stop()

    def metrics(self) -> JobMetrics | None:
        return self._batches.metrics()
