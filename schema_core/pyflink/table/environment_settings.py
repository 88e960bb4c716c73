"""The settings of an environment, by the name of `pyflink.table.environment_settings`."""

from __future__ import annotations

from schema_core.environment.config import EnvironmentSettings

__all__ = ["EnvironmentSettings"]
