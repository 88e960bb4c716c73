"""Rewrites that fail or are killed at each operation: the old table or the new one remains.

The rows are files that are written without Spark; `fuzz.rewrite_kills` kills rewrites on Spark.
"""

from __future__ import annotations

from typing import Any

import pytest

from fuzz.ctas_faults import TRIED, Action, Case, World, operations, run
from fuzz.file_commits import Faults
from schema_core import Schema, TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog import CatalogTable
from schema_core.catalog.changes.column_history import ColumnHistory
from schema_core.environment.jobs.atomicity import AtomicityLevel
from schema_core.migration import ValidationReport, rewrite_table

PATH = ObjectPath("default", "t")


class Rewritten(World):
    """A table whose column was renamed before, and is renamed again by a rewrite."""

    def statement(self, action: Action) -> str:
        options = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{self.root}'"
        return f"CREATE TABLE t WITH ({options}) AS SELECT 1 AS first_"

    def prepare(self, environment: TableEnvironment) -> None:
        super().prepare(environment)
        environment.execute_sql("ALTER TABLE t RENAME first_ TO a")

    def execute(self, environment: TableEnvironment, action: Action) -> None:
        new = Schema.new_builder().column("b", "INT NOT NULL").build()
        renames = {"a": "b"} if (self.column(environment) or "").startswith("a") else None
        rewrite_table(environment, "t", new, renames=renames).wait()

    def column(self, environment: TableEnvironment) -> str | None:
        """Return the column; with its history, if it is not that of its definition."""
        table = environment.get_catalog("c").get_table(PATH)
        assert isinstance(table, CatalogTable)
        name = table.schema.columns[0].name
        changes = [change.to_json() for change in ColumnHistory.of(table.options).changes]
        expected = [["rename", ["first_"], ["a"]]] if name == "a" else []
        return name if changes == expected else f"{name} {changes}"


@pytest.mark.parametrize(("fails", "step"), [(False, 3), (True, 9)])
def test_a_rewrite_leaves_the_old_table_or_the_new_one(
    monkeypatch: pytest.MonkeyPatch, fails: bool, step: int
) -> None:
    def validated(environment: Any, path: str, new: Any, **_: Any) -> ValidationReport:
        return ValidationReport(path, 1, 1, (), ())

    monkeypatch.setattr("schema_core.migration.rows.data_rewrite.validate_rows", validated)
    case = Case(AtomicityLevel.ISOLATED, Action.REPLACE, fails)
    last = operations(case, Rewritten)
    drawn = [(at, TRIED[at % len(TRIED)]) for at in range(1, last + 1, step)]

    result = {(at, fault.value): run(case, Faults(at, fault), Rewritten) for at, fault in drawn}

    assert {} == {key: problem for key, problem in result.items() if problem}
    assert last > 10
    assert "" == run(case, Faults(), Rewritten)
