"""`JobID`, by the name of `pyflink.common.job_id`."""

from schema_core.environment.jobs.client import JobID

__all__ = ["JobID"]
