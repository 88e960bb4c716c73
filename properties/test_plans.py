"""Laws of migration plans: they are data, lead to the new table, and end where nothing differs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from schema_core.catalog.changes.normal_forms import normalize
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects.apply_alterations import apply_change
from schema_core.migration.plans import MigrationPlan, plan
from schema_core.migration.targets.target_statements import TARGETS
from schema_core.schema.resolve import SchemaResolver
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import Alter
from schema_core.testing.strategies import tables

#: What a target does not have, and what a property map does not hold.
REFUSED = (
    "type-not-supported", "name-not-supported", "not-representable", "lossy", "missing-columns",
)  # fmt: skip


def attempt(old: CatalogTable, new: CatalogTable, target: str) -> MigrationPlan | None:
    """Return the plan, or None where the target or the property map refuses a table."""
    try:
        return plan(old, new, target)
    except SchemaCoreError as error:
        if error.code not in REFUSED:
            raise
        return None


@settings(max_examples=40)
@given(tables(), tables(), st.sampled_from(sorted(TARGETS)))
def test_a_plan_is_read_as_it_was_written(
    old: CatalogTable, new: CatalogTable, target: str
) -> None:
    result = attempt(old, new, target)

    assert result is None or result == MigrationPlan.from_json(result.to_json())


@settings(max_examples=40)
@given(tables(), st.sampled_from(sorted(TARGETS)))
def test_nothing_is_to_do_between_equal_tables(table: CatalogTable, target: str) -> None:
    result = attempt(table, table, target)

    assert result is None or ((), (), None) == (result.statements, result.steps, result.rewrite)


@settings(max_examples=40)
@given(tables(), tables())
def test_undone_steps_lead_back_in_flink(old: CatalogTable, new: CatalogTable) -> None:
    """Each step that can be undone leaves the table as it was before the step."""
    result = attempt(old, new, "flink")
    if result is None or result.rewrite is not None:
        return
    table = normalize(resolve_table(old, SchemaResolver()))
    for step in result.steps:
        after = executed(table, step.statements)
        if step.undo is not None:
            assert (
                normalize(table).schema.columns
                == normalize(executed(after, step.undo)).schema.columns
            )
        table = after


def executed(table: CatalogTable, statements: tuple[str, ...]) -> CatalogTable:
    """Return the table after ALTER statements."""
    for text in statements:
        statement = parse_statement(text)
        assert isinstance(statement, Alter)
        table = apply_change(table, statement.change, text)
    return table
