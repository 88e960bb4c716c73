"""The session of a user: statements, jobs, plans and the Table API.

The public names are the interface of planners: what a session requires of the engine that runs its
queries, with the nodes of queries and expressions (`schema_core.query.relation`,
`schema_core.expressions.typed`).
"""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
