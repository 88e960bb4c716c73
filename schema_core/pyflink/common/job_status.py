"""`JobStatus` (`pyflink.common.job_status`)."""

from schema_core.environment.jobs.run import JobStatus

__all__ = ["JobStatus"]
