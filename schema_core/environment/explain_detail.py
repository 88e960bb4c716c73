"""Details of EXPLAIN beside the plan of the engine."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from schema_core.arguments import require_instance


class ExplainDetail(Enum):
    """What an explanation may contain beside the plan, as PyFlink's.

    The engine decides which of them it has; others do not change the explanation.
    """

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3


def require_details(details: Iterable[ExplainDetail]) -> tuple[ExplainDetail, ...]:
    """Return the details of an explanation.

    Raises:
        SchemaError: with code `wrong-argument` for an object of another class.
    """
    return tuple(require_instance(one, ExplainDetail, "extra_details") for one in details)
