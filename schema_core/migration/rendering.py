"""Changes and migration plans as HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from schema_core.markup import code, items, lines, table, text
from schema_core.migration.descriptions import describe

if TYPE_CHECKING:
    from schema_core.catalog.table_changes import TableChange
    from schema_core.migration.plans import MigrationPlan, PlanStep
    from schema_core.migration.rules import TypeFinding


def changes_html(changes: Iterable[TableChange]) -> str:
    """Return changes as an HTML table in execution order, with secrets masked."""
    rows = [
        (str(number), code(type(one).__name__), text(describe(one)))
        for number, one in enumerate(changes, 1)
    ]
    return table(("#", "change", "what it does"), rows, "Changes" if rows else "No changes")


STEP_HEADS = ("#", "statements", "changes", "at risk", "undo", "rewrites")


def plan_html(plan: MigrationPlan) -> str:
    """Return a plan as an HTML table of its steps, and a list of what it does not reach."""
    rows = [(str(number), *_step(one)) for number, one in enumerate(plan.steps, 1)]
    found = table(STEP_HEADS, rows, plan.headline())
    return found + items(text(f"not reached: {one}") for one in plan.losses)


def _step(step: PlanStep) -> tuple[str, ...]:
    return (
        "<br>".join(map(lines, step.statements)),
        "<br>".join(map(code, step.changes)),
        "<br>".join(text(risk_text(one)) for one in step.risks),
        "cannot be undone" if step.undo is None else "<br>".join(map(lines, step.undo)),
        text(step.rewritten_rows() or ""),
    )


def risk_text(found: TypeFinding) -> str:
    """Return a risk of a step in one line."""
    return f"{'.'.join(found.path) or 'the table'}: {found.reason} [{found.kind}]"
