"""The names of `pyflink.table`; each is loaded at first use."""

from schema_core.base.lazy import attach
from schema_core.pyflink.absent import refuse_absent

_load, __dir__, __all__ = attach(__name__, __file__)
refuse_absent(__name__, _load)
