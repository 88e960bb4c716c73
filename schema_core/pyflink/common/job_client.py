"""`JobClient` (`pyflink.common.job_client`)."""

from schema_core.environment.jobs.client import JobClient

__all__ = ["JobClient"]
