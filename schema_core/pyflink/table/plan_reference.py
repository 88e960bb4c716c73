"""References to compiled plans (`pyflink.table.plan_reference`)."""

from __future__ import annotations

from schema_core.environment.plans.compiled_plan import (
    FilePlanReference,
    JsonContentPlanReference,
    PlanReference,
)
from schema_core.pyflink.absent import refuse_absent

__all__ = ["FilePlanReference", "JsonContentPlanReference", "PlanReference"]

refuse_absent(__name__)
