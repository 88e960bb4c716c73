"""The planner of Spark passes the contract of planners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment.planner import PlannerContext
from schema_core.spark.planner import SparkPlanner
from schema_core.testing import PlannerContract


class TestSparkPlanner(PlannerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def engine_session(cls, spark: Any) -> Any:
        return spark

    def make_planner(self, context: PlannerContext) -> SparkPlanner:
        return SparkPlanner(context)

    def table_options(self, directory: Path) -> Mapping[str, str]:
        directory.mkdir(exist_ok=True)
        return {"connector": "filesystem", "path": str(directory), "format": "parquet"}
