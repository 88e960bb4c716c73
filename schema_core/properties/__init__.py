"""Tables, views and models as Flink's property maps, and the losses of a format."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
