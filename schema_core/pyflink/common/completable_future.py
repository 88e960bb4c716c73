"""`CompletableFuture` (`pyflink.common.completable_future`)."""

from schema_core.environment.jobs.client import CompletableFuture

__all__ = ["CompletableFuture"]
