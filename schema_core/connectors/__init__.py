"""The interface of connectors, for their authors; it does not import PySpark."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
