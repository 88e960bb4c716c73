"""The interface of connectors: what the author of one needs, without importing PySpark."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
