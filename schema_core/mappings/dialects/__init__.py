"""Schemas from the CREATE TABLE of other engines, and back, with every loss reported."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
