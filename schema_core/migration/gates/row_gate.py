"""The gate of `upgrade`: a migration is applied only if the rows of its tables fit.

The definitions after a migration are those that its statements leave in a transaction that is
rolled back. The rows are counted in the tables as they are, by the columns from which the new ones
come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Final

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.catalog.objects import CatalogBaseTable, CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.connector import installed_connector
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.mappings.stored_types import READINGS, Reading
from schema_core.migration.compatibility import can_read_old_data
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.runs import MigrationResult
from schema_core.migration.files.script_steps import ScriptStep, parse_steps
from schema_core.migration.rows.validation import (
    KINDS,
    ValidationReport,
    accepted_kinds,
    validate_rows,
)
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import ObjectKind, Statement
from schema_core.sql.syntax import Name

#: Why the rows of a table are not counted: they do not exist before the migration is applied.
WRITES_ROWS: Final = "a step of the migration writes rows, which do not exist yet"


@dataclass(slots=True)
class _Tracked:
    """A table with rows: its path, and the current names of its columns.

    `accepted` are the kinds of problems that its rewrites accept. `unchecked` is why its rows
    cannot be compared with the new definition.
    """

    path: ObjectPath
    columns: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    unchecked: str | None = None


@dataclass(slots=True)
class _Tracker:
    """Follows the tables with rows through the statements of migrations, by their current paths."""

    tables: dict[ObjectPath, _Tracked]
    database: str

    def follow(self, step: ScriptStep) -> None:
        """Record what a step renames, drops or writes, and what it accepts."""
        for statement in step.statements:
            self._follow_statement(statement)
        if step.rewrite is not None:
            tracked = self.tables.get(self._qualify(Name(step.rewrite.path)))
            if tracked is not None:
                tracked.accepted |= set(step.rewrite.accept)

    def _follow_statement(self, statement: Statement) -> None:
        match statement:
            case syntax.UseDatabase(path):
                self.database = path.parts[-1]
            case syntax.Drop(ObjectKind.TABLE, path):
                self.tables.pop(self._qualify(path), None)
            case syntax.Drop(ObjectKind.DATABASE, path):
                for table in [*self.tables]:
                    if table.database_name == path.parts[-1]:
                        del self.tables[table]
            case syntax.Alter(ObjectKind.TABLE, path, change):
                self._follow_change(self._qualify(path), change)
            case syntax.Insert(path) | syntax.Update(path) | syntax.Delete(path):
                if (tracked := self.tables.get(self._qualify(path))) is not None:
                    tracked.unchecked = WRITES_ROWS
            case _:
                pass

    def _follow_change(self, path: ObjectPath, change: syntax.Change) -> None:
        tracked = self.tables.get(path)
        if tracked is None:
            return
        match change:
            case syntax.RenameTo(new):
                self.tables[self._qualify(new)] = self.tables.pop(path)
            case syntax.RenameColumn(Name(parts=(column,)), Name(parts=(*_, new_name))):
                self._rename(tracked, column, new_name)
            case syntax.RenameColumn():
                tracked.unchecked = "a field is renamed"
            case syntax.DropColumns(columns):
                tracked.dropped |= {column.parts[0] for column in columns if len(column.parts) == 1}
            case syntax.AddElements(columns):
                if tracked.dropped & {placed.name.parts[-1] for placed in columns}:
                    tracked.unchecked = "a column is dropped and added again"
            case _:
                pass

    def _rename(self, tracked: _Tracked, column: str, new_name: str) -> None:
        current = {name: old for old, name in tracked.columns.items()}
        tracked.columns[current.get(column, column)] = new_name

    def _qualify(self, path: Name) -> ObjectPath:
        *parents, name = path.parts
        return ObjectPath(parents[-1] if parents else self.database, name)


def validate_migrations(migrator: Migrator, names: Sequence[str]) -> tuple[ValidationReport, ...]:
    """Count the rows that do not fit the definitions after pending migrations.

    Nothing is changed. Only tables are read whose change may affect rows. A table whose directory
    does not exist has no rows. Rows that a migration writes itself do not exist yet: the report of
    their table says that they were not checked.

    Args:
        migrator: The migrator.
        names: The names of the next migrations, in their order.

    Raises:
        SchemaCoreError: of a statement of a migration, or if a table cannot be read.
    """
    files = map(migrator.directory.find, names)
    texts = [file.script("up", migrator.variables) for file in files]
    live = migrator.content()
    tracker = _Tracker({path: _Tracked(path) for path in live.objects}, migrator.start[1] or "")
    reports: list[ValidationReport] = []
    previous = live.objects
    for text, outcome in zip(texts, migrator.try_scripts(texts), strict=True):
        for step in parse_steps(text):
            tracker.follow(step)
        for path, tracked in tracker.tables.items():
            new = outcome.content.objects.get(path)
            if new is not None and new != previous.get(path):
                reports += _validate_table(migrator, tracked, live.objects[tracked.path], new)
        previous = outcome.content.objects
    return tuple(reports)


def _validate_table(
    migrator: Migrator, tracked: _Tracked, old: CatalogBaseTable, new: CatalogBaseTable
) -> Iterator[ValidationReport]:
    resolver = migrator.resolver
    if not isinstance(old, CatalogTable) or not isinstance(new, CatalogTable):
        return
    old, new = resolve_table(old, resolver), resolve_table(new, resolver)
    names = (tracked.path.database_name, tracked.path.object_name)
    identifier = ObjectIdentifier.of(migrator.start[0] or "", *names)
    if tracked.unchecked is not None:
        reasons = () if "not-checked" in tracked.accepted else (tracked.unchecked,)
        yield ValidationReport(identifier.as_summary_string(), 0, 0, (), reasons)
        return
    left = {*new.resolved_schema.get_column_names()}
    renames = {name: to for name, to in tracked.columns.items() if to in left and name != to}
    findings = can_read_old_data(old, new, None, renames, migrator.catalog.storage)
    is_affected = any(_affects_rows(finding.kind) for finding in findings)
    if is_affected and _is_readable(migrator, identifier):
        path = identifier.as_serializable_string()
        try:
            report = validate_rows(migrator.environment, path, new, renames=renames)
        except SchemaCoreError as error:
            if error.code != "files-not-found":
                raise
            report = ValidationReport(identifier.as_summary_string(), 0, 0, ())
        problems = [each for each in report.problems if each.kind not in tracked.accepted]
        unchecked = () if "not-checked" in tracked.accepted else report.unchecked
        yield replace(report, problems=tuple(problems), unchecked=unchecked)


def _affects_rows(kind: str) -> bool:
    """Return whether rows may not fit after a change."""
    if kind == "field-dropped":
        return True
    return kind == "key-changed" or READINGS.get(kind, (Reading.EXACT,))[0] is not Reading.EXACT


def _is_readable(migrator: Migrator, identifier: ObjectIdentifier) -> bool:
    """Return whether a table has rows: a connector that only writes has none."""
    entry = migrator.environment.catalog_manager.find_permanent(identifier)
    connector = None if entry is None else installed_connector(entry.connector_options)
    return connector is None or connector.can_read


def require_fitting_rows(
    name: str, reports: Iterable[ValidationReport], accept: Iterable[str] = ()
) -> None:
    """Require that all rows fit, but for accepted kinds of problems.

    Args:
        name: The name of the migration.
        reports: The reports of its tables.
        accept: Kinds of problems, as for `rewrite_table`.

    Raises:
        SchemaError: with code `rows-do-not-fit`; `wrong-argument` for a kind that cannot be
            accepted.
    """
    accepted = accepted_kinds(accept)
    refused: dict[str, str] = {}
    kinds: dict[str, None] = {}
    for report in reports:
        problems = [problem for problem in report.problems if problem.kind not in accepted]
        unchecked = () if "not-checked" in accepted else report.unchecked
        kinds |= dict.fromkeys(problem.kind for problem in problems)
        kinds |= {"not-checked": None} if unchecked else {}
        texts = [str(problem).partition("\n")[0] for problem in problems]
        if reasons := [*texts, *(f"not checked: {reason}" for reason in unchecked)]:
            refused[report.path] = "; ".join(reasons)
    if refused:
        tables = "; ".join(f"{path}: {reasons}" for path, reasons in refused.items())
        losses = [kind for kind in kinds if not KINDS[kind]]
        hint = "correct the rows first"
        if losses == ["not-checked"] == [*kinds]:
            hint = "check the rows yourself, then accept: not-checked"
        elif losses:
            hint += f", or accept the loss: {', '.join(losses)}"
        raise SchemaError(
            f"migration {name} is not applied, because rows do not fit: {tables}",
            code="rows-do-not-fit",
            hint=hint,
        )


def upgrade_validated(
    migrator: Migrator,
    target: str | None = None,
    accept: Iterable[str] = (),
    *,
    dry_run: bool = False,
    take_over: bool = False,
) -> Iterator[ValidationReport | MigrationResult]:
    """Apply migrations, each only if the rows of its tables fit; yield the reports and results.

    Args:
        migrator: The migrator.
        target: As for `Migrator.upgrade`.
        accept: Kinds of problems that do not prevent a migration, as for `rewrite_table`.
        dry_run: Validate the rows, and roll the migrations back.
        take_over: As for `Migrator.upgrade`.

    Raises:
        SchemaError: with code `rows-do-not-fit`; as `Migrator.upgrade`.
    """
    kinds = accepted_kinds(accept)
    names = migrator.pending(target)
    batches = [names] if dry_run and names else [(name,) for name in names]
    for batch in batches:
        results = migrator.upgrade(batch[-1], dry_run=True)  # refuses more, without reading rows
        reports = validate_migrations(migrator, batch)
        yield from reports
        require_fitting_rows(", ".join(batch), reports, kinds)
        yield from results if dry_run else migrator.upgrade(batch[-1], take_over=take_over)
