"""`JobStatus`, by the name of `pyflink.common.job_status`."""

from schema_core.environment.jobs.client import JobStatus

__all__ = ["JobStatus"]
