"""Connectors, and their interface for authors, which does not import PySpark."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
