"""Migration of schemas: the changes between two definitions, applied, undone and described."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
