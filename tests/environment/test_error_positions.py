"""Errors of statements have positions, also those raised while rows are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.planner import Rows
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, UnsupportedError
from schema_core.query.relation import Relation
from schema_core.sql.parser import parse_statements

SCRIPT = """\
CREATE TABLE t (a INT, b STRING);

{statement};
"""


class Failing(DryRunPlanner):
    """A planner whose jobs fail, those of queries when their rows are read."""

    def select(self, query: Relation) -> Rows:
        result = super().select(query)
        return Rows(result.columns, self._rows(), self._rows)

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        yield (1,)
        raise ExternalError("division by zero", code="job-failed")

    def insert(self, *given: Any, **more: Any) -> JobGraph:
        raise UnsupportedError("not on this engine", code="not-executable")


@pytest.mark.parametrize(
    ("statement", "code", "line", "column"),
    [
        ("SELECT a FROM t", "job-failed", 3, 1),
        ("  SELECT a\n FROM t", "job-failed", 3, 3),
        ("INSERT INTO t SELECT 1, 'x'", "not-executable", 3, 1),
        ("INSERT INTO t\n SELECT 1", "column-count-mismatch", 4, 2),
        ("INSERT INTO t\n SELECT 'x', 1", "not-assignable", 4, 2),
        ("INSERT INTO t (a, c) SELECT 1, 2", "unknown-column", 3, 19),
        ("INSERT INTO gone SELECT 1", "table-not-found", 3, 13),
        (
            "EXECUTE STATEMENT SET BEGIN INSERT INTO t\n SELECT 1; END",
            "column-count-mismatch",
            4,
            2,
        ),
        ("DROP TABLE gone", "table-not-found", 3, 12),
        ("EXPLAIN DROP TABLE t", "syntax", 3, 9),
        ("EXPLAIN CREATE TABLE x (a INT)", "feature-not-supported", 3, 9),
        ("DELETE FROM t", "missing-connector", 3, 13),
    ],
)
def test_position_of_an_error(statement: str, code: str, line: int, column: int) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=Failing())
    text = SCRIPT.format(statement=statement)

    def run() -> None:
        for parsed in parse_statements(text):
            list(environment.execute_statement(parsed, text).collect())

    with pytest.raises(SchemaCoreError) as caught:
        run()
    (diagnostic, *_) = caught.value.diagnostics
    assert (code, line, column) == (diagnostic.code, diagnostic.line, diagnostic.column)


def test_position_of_an_error_while_formatting_rows() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=Failing())
    result = environment.execute_sql("SELECT 1")

    with pytest.raises(ExternalError) as caught:
        list(result.format_rows())
    assert (1, 1) == (caught.value.diagnostics[0].line, caught.value.diagnostics[0].column)
