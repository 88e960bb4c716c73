"""Regressions: statements that were once accepted or refused otherwise than in Flink."""

from __future__ import annotations

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.sql.parser import read_statements
from tests.support import cases


@pytest.mark.parametrize(("statements", "expected"), cases("scripts"))
def test_statements(statements: str, expected: str) -> None:
    settings = EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings, planner=DryRunPlanner())
    *before, last = read_statements(statements)
    for file in before:
        assert not isinstance(file, SchemaCoreError)
        environment.execute_statement(file, statements)
    try:
        if isinstance(last, SchemaCoreError):
            raise last
        environment.execute_statement(last, statements)
    except SchemaCoreError:
        assert "refused" == expected
    else:
        assert "taken" == expected
