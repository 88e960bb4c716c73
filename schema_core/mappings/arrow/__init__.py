"""Schemas and types as those of Apache Arrow, with the exact type in their metadata."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
