"""Details of EXPLAIN beside the typed plan and the plan of the engine."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from schema_core.base.arguments import require_instance


class ExplainDetail(Enum):
    """What an explanation contains beside the plans, as PyFlink's.

    ESTIMATED_COST: the tables' numbers of rows, from the statistics of their catalogs.
    CHANGELOG_MODE: the changes of each node: inserted rows, or also updates in streaming mode.
    JSON_EXECUTION_PLAN: the typed plan as JSON. PLAN_ADVICE: a section without advice.
    """

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3


def require_details(details: Iterable[ExplainDetail]) -> tuple[ExplainDetail, ...]:
    """Return the details of an explanation (`invalid-argument`)."""
    return tuple(require_instance(detail, ExplainDetail, "extra_details") for detail in details)
