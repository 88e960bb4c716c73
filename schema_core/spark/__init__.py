"""The engine Spark: jobs, connectors, and schemas as Spark types, JSON and DDL."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
