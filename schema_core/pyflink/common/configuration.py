"""`Configuration` (`pyflink.common.configuration`)."""

from schema_core.environment.config import Configuration

__all__ = ["Configuration"]
