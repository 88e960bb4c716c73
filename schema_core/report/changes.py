"""Changes and migration plans as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from schema_core.base.paths import join_names
from schema_core.base.secrets import mask
from schema_core.base.text import quote_identifier
from schema_core.catalog.changes.table_changes import PARTS, describe
from schema_core.catalog.objects import CatalogTable
from schema_core.report.markup import MAX_ROWS, code, items, lines, mark, page, scroll, table, text
from schema_core.report.schemas import column_html

if TYPE_CHECKING:
    from schema_core.catalog.changes.table_changes import TableChange
    from schema_core.migration.compatibility import CompatibilityReport
    from schema_core.migration.plans import MigrationPlan, PlanStep
    from schema_core.schema.columns import UnresolvedColumn


def changes_html(changes: Iterable[TableChange], most: int | None = MAX_ROWS) -> str:
    """Return a table of the first changes in execution order, secrets masked."""
    rows = [
        (str(number), code(type(change).__name__), text(describe(change)))
        for number, change in enumerate(changes, 1)
    ]
    return table(("#", "change", "what it does"), rows, "Changes" if rows else "No changes", most)


STEP_HEADS = ("#", "statements", "changes", "at risk", "undo", "rewrites")


def plan_html(plan: MigrationPlan, most: int | None = MAX_ROWS) -> str:
    """Return a table of the first steps, and a list of unsupported changes."""
    rows = [(str(number), *_step(step)) for number, step in enumerate(plan.steps, 1)]
    steps = table(STEP_HEADS, rows, plan.headline(), most)
    return steps + items(text(f"unsupported: {loss}") for loss in plan.losses)


def _step(step: PlanStep) -> tuple[str, ...]:
    return (
        "<br>".join(map(lines, step.statements)),
        "<br>".join(map(code, step.changes)),
        "<br>".join(map(text, step.format_risks())),
        "cannot be undone" if step.undo is None else "<br>".join(map(lines, step.undo)),
        text(step.rewritten_rows() or ""),
    )


FINDING_HEADS = ("severity", "question", "version", "where", "reason", "finding")


def compatibility_html(report: CompatibilityReport) -> str:
    """Return a table of findings, errors first, and a list of acceptances that do not apply."""
    errors = {*map(id, report.errors)}
    ranked = sorted(report.findings, key=lambda finding: id(finding) not in errors)
    rows = [
        (
            text(
                f"{finding.severity.value}{' (accepted)' if finding.accepted is not None else ''}"
            ),
            text(finding.question.value),
            str(finding.version),
            code(join_names(finding.path) or "the table"),
            text(finding.reason),
            code(finding.kind),
        )
        for finding in ranked
    ]
    acceptances = items(map(text, report.ineffective()))
    return table(FINDING_HEADS, rows, report.summary(), MAX_ROWS) + acceptances


# --- before and after ----------------------------------------------------------------------------


def changes_page(
    changes: Iterable[TableChange],
    before: CatalogTable,
    after: CatalogTable,
    renames: Mapping[str, str],
    title: str,
) -> str:
    """Return a self-contained page; `renames` as in `side_by_side`."""
    return page(title, side_by_side(before, after, renames), scroll(changes_html(changes, None)))


def plan_page(plan: MigrationPlan, before: CatalogTable, after: CatalogTable) -> str:
    """Return a self-contained page; a plan does not record which columns are renamed."""
    title = f"Migration of {join_names(plan.path)}"
    return page(title, scroll(plan_html(plan, None)), side_by_side(before, after, {}))


def side_by_side(before: CatalogTable, after: CatalogTable, renames: Mapping[str, str]) -> str:
    """Return the columns and other parts of two tables side by side, secrets masked.

    `renames`: new name of a column -> old name.
    """
    columns = scroll(table(("", "before", "after"), _columns(before, after, renames), "Columns"))
    parts = [
        (_difference(old, new), text(what), code(old), code(new))
        for what, old, new in pair_parts(before, after)
    ]
    if not parts:
        return columns
    return columns + scroll(table(("", "part", "before", "after"), parts, "Other parts"))


def _columns(
    before: CatalogTable, after: CatalogTable, renames: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the kind of difference of each column, and its definitions before and after."""
    for pair in pair_columns(before, after, renames):
        old, new = ("" if column is None else column_html(column) for column in pair)
        is_renamed = pair[0] is not None and pair[1] is not None and pair[0].name != pair[1].name
        yield mark("renamed") if is_renamed else _difference(old, new), old, new


def pair_columns(
    before: CatalogTable, after: CatalogTable, renames: Mapping[str, str]
) -> Iterator[tuple[UnresolvedColumn | None, UnresolvedColumn | None]]:
    """Yield each column before and after, in the new order; a dropped one follows its predecessor.

    `renames`: new name of a column -> old name.
    """
    old = {column.name: column for column in before.schema.columns}
    pairs = {renames.get(column.name, column.name): column for column in after.schema.columns}
    names = list(pairs)
    for place, name in enumerate(old):
        if name not in pairs:
            previous = list(old)[place - 1] if place else None
            names.insert(names.index(previous) + 1 if previous is not None else 0, name)
    yield from ((old.get(name), pairs.get(name)) for name in names)


def _difference(old: str, new: str) -> str:
    if old == new:
        return ""
    return mark("changed" if old and new else "added" if new else "dropped")


def pair_parts(before: CatalogTable, after: CatalogTable) -> Iterator[tuple[str, str, str]]:
    """Yield the other parts of two tables: what they are, before and after, secrets masked."""
    for row in PARTS:
        old, new = _part(row.get(before)), _part(row.get(after))
        if old or new:
            yield row.what.removeprefix("the "), old, new
    indexes = [
        {index.name: str(index) for index in table.schema.indexes} for table in (before, after)
    ]
    for name in dict.fromkeys((*indexes[0], *indexes[1])):
        yield f"index {name}", indexes[0].get(name, ""), indexes[1].get(name, "")
    old_options, new_options = mask(before.options), mask(after.options)
    for key in dict.fromkeys((*before.options, *after.options)):
        old, new = old_options.get(key, ""), new_options.get(key, "")
        is_secret_change = old == new and before.options.get(key) != after.options.get(key)
        yield f"option {key}", old, f"{new} (changed)" if is_secret_change else new


def _part(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(quote_identifier, value))
    return "" if value is None else str(value)
