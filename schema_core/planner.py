"""The interface of planners: what an environment requires of the engine that runs its jobs.

The modules `relation` and `typed` have the nodes of queries and of their expressions.
"""

from __future__ import annotations

from schema_core.environment.dry_run import (
    DryRunPlanner,
)
from schema_core.environment.job_client import (
    JobStatus,
)
from schema_core.environment.job_graph import (
    JobExecution,
    JobGraph,
    JobStatusHook,
)
from schema_core.environment.planner import (
    BoundTable,
    Planner,
    PlannerContext,
    Registration,
    Rows,
)
from schema_core.expressions import typed
from schema_core.query import relation
from schema_core.query.relation import (
    Relation,
    Scan,
    result_columns,
)

__all__ = [
    "BoundTable",
    "DryRunPlanner",
    "JobExecution",
    "JobGraph",
    "JobStatus",
    "JobStatusHook",
    "Planner",
    "PlannerContext",
    "Registration",
    "Relation",
    "Rows",
    "Scan",
    "relation",
    "result_columns",
    "typed",
]
