"""The settings of an environment (`pyflink.table.environment_settings`)."""

from __future__ import annotations

from schema_core.environment.config import EnvironmentSettings

__all__ = ["EnvironmentSettings"]
