"""`ConfigOption` and `ConfigOptions`, by the names of `pyflink.common.config_options`."""

from schema_core.environment.options import ConfigOption, ConfigOptions

__all__ = ["ConfigOption", "ConfigOptions"]
