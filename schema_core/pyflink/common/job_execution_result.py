"""`JobExecutionResult` (`pyflink.common.job_execution_result`)."""

from schema_core.environment.jobs.client import JobExecutionResult

__all__ = ["JobExecutionResult"]
