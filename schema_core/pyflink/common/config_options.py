"""`ConfigOption` and `ConfigOptions` (`pyflink.common.config_options`)."""

from schema_core.environment.options import ConfigOption, ConfigOptions

__all__ = ["ConfigOption", "ConfigOptions"]
