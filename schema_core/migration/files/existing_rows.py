"""The rows that exist before a migration with data steps, validated before it is begun.

These are the rows of rewrites, and the rows that an UPDATE or DELETE leaves before a column becomes
NOT NULL. Rows that an earlier step writes are validated by the job of the later one only.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import TypeAlias

from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import ObjectPath
from schema_core.base.text import quantity
from schema_core.catalog.api import Catalog, rolled_back
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import CatalogBaseTable, ResolvedCatalogTable
from schema_core.errors import SchemaError, within
from schema_core.migration.catalog_differences import read_catalog
from schema_core.migration.files.data_steps import count_null_values, require_fitting_step
from schema_core.migration.files.script_execution import Script, ScriptExecutor
from schema_core.migration.files.script_steps import REPLACING, ScriptStep
from schema_core.migration.gates.followed_rows import (
    WRITES_ROWS,
    Change,
    FollowedTables,
    validate_change,
)
from schema_core.sql.statement_syntax import RenameColumn
from schema_core.sql.syntax import Name


class Fill(NamedTuple):
    """An UPDATE or DELETE of existing rows, and the table with the definition that it reads."""

    step: ScriptStep
    entry: FoundTable


class Narrowing(NamedTuple):
    """Columns that a statement makes NOT NULL after the rows were changed."""

    fill: Fill
    columns: tuple[str, ...]


#: What is validated of a step, which is the first one.
Validation: TypeAlias = tuple[ScriptStep, "Change | Narrowing"]


def require_fitting_rows_of_steps(executor: ScriptExecutor, script: Script, done: int = 0) -> None:
    """Validate the existing rows for the steps after those that are `done`.

    Raises:
        SchemaError: with code `rows-do-not-fit`.
        SchemaCoreError: if a table cannot be read.
    """
    with rolled_back(executor.catalog) as catalog, executor.using(catalog):
        executor.use_databases(script.steps[:done])
        validations = [*_iterate_validations(executor, catalog, script, done)]
    for step, what in validations:
        if isinstance(what, Change):
            reports = validate_change(executor.environment, executor.start[0] or "", what)
            require_fitting_step(step, script.text, reports)
        else:
            with within(script.text):
                _require_no_nulls(executor, script, step, what)


def _iterate_validations(
    executor: ScriptExecutor, catalog: Catalog, script: Script, done: int
) -> Iterator[Validation]:
    manager = executor.environment.catalog_manager
    live = read_catalog(catalog).objects
    followed = FollowedTables.of(live, executor.environment.get_current_database())
    fills: dict[ObjectPath, Fill] = {}
    for step in script.steps[done:]:
        keys = executor.touched.find(catalog, step)
        path = getattr(step.statements[0], "path", None)
        table = followed.find(path) if isinstance(path, Name) else None
        if table is None:
            executor.try_step(step, keys, script.text, checks_files=False)
            followed.follow(step)
            continue
        is_known, identifier = table.unchecked is None, executor.identify(*next(iter(keys)))
        before = manager.find_permanent(identifier)
        executor.try_step(step, keys, script.text, checks_files=False)
        followed.follow(step)
        after = manager.find_permanent(identifier)
        if before is None or after is None:
            continue
        if step.rewrite is not None:
            if is_known:
                followed_table = deepcopy(table)  # later statements are not part of the change
                old = live[table.path]
                yield step, Change(followed_table, old, after.table, before.table)
            table.unchecked = WRITES_ROWS
        elif isinstance(step.statements[0], REPLACING) and is_known:
            fills[table.path] = Fill(step, before)
        elif step.writes_rows or isinstance(_change_of(step), RenameColumn):
            fills.pop(table.path, None)
        elif table.path in fills and (columns := _narrowed_columns(before.table, after.table)):
            yield step, Narrowing(fills[table.path], columns)


def _change_of(step: ScriptStep) -> object:
    return getattr(step.statements[0], "change", None)


def _narrowed_columns(old: CatalogBaseTable, new: CatalogBaseTable) -> tuple[str, ...]:
    """Return the stored columns that become NOT NULL."""
    if not isinstance(old, ResolvedCatalogTable) or not isinstance(new, ResolvedCatalogTable):
        return ()
    required, before = (
        {
            column.name
            for column in table.resolved_schema.columns
            if column.is_persisted() and not column.data_type.is_nullable
        }
        for table in (new, old)
    )
    return tuple(sorted(required - before))


def _require_no_nulls(
    executor: ScriptExecutor, script: Script, step: ScriptStep, narrowing: Narrowing
) -> None:
    """Require that an UPDATE or DELETE leaves no NULL in columns that become NOT NULL."""
    fill, columns = narrowing
    with executor.using(executor.catalog):
        rows = count_null_values(executor.environment, fill.entry, fill.step, script.text, columns)
    if rows:
        names = ", ".join(map(repr, columns))
        count = quantity(rows, "row")
        raise SchemaError(
            f"the data steps before leave NULL in {names}, in {count} of table "
            f"{fill.entry.identifier.as_summary_string()}",
            code="rows-do-not-fit",
            span=step.span,
            hint="let the UPDATE fill all rows, or keep the column nullable",
        )
