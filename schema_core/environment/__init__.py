"""The interface of planners: what an environment requires of the engine that runs its jobs.

The modules `relation` and `typed` have the nodes of queries and of their expressions.
"""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
