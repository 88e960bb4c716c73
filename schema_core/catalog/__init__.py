"""Catalogs: the objects they store, the interface of a catalog, and catalogs in memory."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
