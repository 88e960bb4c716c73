"""`JobID` (`pyflink.common.job_id`)."""

from schema_core.environment.jobs.run import JobID

__all__ = ["JobID"]
