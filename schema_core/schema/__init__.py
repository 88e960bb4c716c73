"""Schemas: unresolved as declared, resolved with all types, and the resolution between them."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
