"""The rows of tables that scripts change: followed through the statements, and validated.

A table is followed by its current name, with the names of its columns, so that its rows are counted
as they are before the script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Final

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.catalog.objects import CatalogBaseTable, CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.connector import installed_connector
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.mappings.stored_types import READINGS, Reading
from schema_core.migration.compatibility import can_read_old_data
from schema_core.migration.files.script_steps import ScriptStep
from schema_core.migration.rows.validation import ValidationReport, validate_rows
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import ObjectKind, Statement
from schema_core.sql.syntax import Name

#: Why the rows of a table are not counted: they do not exist before the migration is applied.
WRITES_ROWS: Final = "a step of the migration writes rows, which do not exist yet"


@dataclass(slots=True)
class FollowedTable:
    """A table with rows: its path before the script, and the current names of its columns.

    `accepted` are the kinds of problems that its rewrites accept. `unchecked` is why its rows
    cannot be compared with the new definition.
    """

    path: ObjectPath
    columns: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    unchecked: str | None = None


@dataclass(slots=True)
class FollowedTables:
    """The tables with rows of a catalog, by their current paths during a script."""

    tables: dict[ObjectPath, FollowedTable]
    database: str

    @staticmethod
    def of(paths: Iterable[ObjectPath], database: str | None) -> FollowedTables:
        """Return tables before a script that begins in a database."""
        return FollowedTables({path: FollowedTable(path) for path in paths}, database or "")

    def find(self, path: Name) -> FollowedTable | None:
        """Return the table at a path of a statement."""
        return self.tables.get(self._qualify(path))

    def follow(self, step: ScriptStep) -> None:
        """Record what a step renames, drops or writes, and what it accepts."""
        for statement in step.statements:
            self._follow_statement(statement)
        if step.rewrite is not None:
            table = self.find(Name(step.rewrite.path))
            if table is not None:
                table.accepted |= set(step.rewrite.accept)

    def _follow_statement(self, statement: Statement) -> None:
        match statement:
            case syntax.UseDatabase(path):
                self.database = path.parts[-1]
            case syntax.Drop(ObjectKind.TABLE, path):
                self.tables.pop(self._qualify(path), None)
            case syntax.Drop(ObjectKind.DATABASE, path):
                for name in [*self.tables]:
                    if name.database_name == path.parts[-1]:
                        del self.tables[name]
            case syntax.Alter(ObjectKind.TABLE, path, change):
                self._follow_change(self._qualify(path), change)
            case syntax.Insert(path) | syntax.Update(path) | syntax.Delete(path):
                if (table := self.find(path)) is not None:
                    table.unchecked = WRITES_ROWS
            case _:
                pass

    def _follow_change(self, path: ObjectPath, change: syntax.Change) -> None:
        table = self.tables.get(path)
        if table is None:
            return
        match change:
            case syntax.RenameTo(new):
                self.tables[self._qualify(new)] = self.tables.pop(path)
            case syntax.RenameColumn(Name(parts=(column,)), Name(parts=(*_, new_name))):
                self._rename(table, column, new_name)
            case syntax.RenameColumn():
                table.unchecked = "a field is renamed"
            case syntax.DropColumns(columns):
                table.dropped |= {column.parts[0] for column in columns if len(column.parts) == 1}
            case syntax.AddElements(columns):
                if table.dropped & {placed.name.parts[-1] for placed in columns}:
                    table.unchecked = "a column is dropped and added again"
            case _:
                pass

    def _rename(self, table: FollowedTable, column: str, new_name: str) -> None:
        current = {name: old for old, name in table.columns.items()}
        table.columns[current.get(column, column)] = new_name

    def _qualify(self, path: Name) -> ObjectPath:
        *parents, name = path.parts
        return ObjectPath(parents[-1] if parents else self.database, name)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a table with rows.

    `old` is the definition of the stored rows. `before` is the one to which statements have changed
    it before, if only the rest of the change is to be validated.
    """

    table: FollowedTable
    old: CatalogBaseTable
    new: CatalogBaseTable
    before: CatalogBaseTable | None = None


def validate_change(
    environment: TableEnvironment, catalog: str, change: Change
) -> Iterator[ValidationReport]:
    """Count the rows of a table that do not fit a new definition, if it may affect rows.

    Args:
        environment: The environment, whose engine reads the table.
        catalog: The name of the catalog.
        change: The change.

    Raises:
        SchemaCoreError: if the table cannot be read.
    """
    table, old, new, before = change.table, change.old, change.new, change.before
    if not isinstance(old, CatalogTable) or not isinstance(new, CatalogTable):
        return
    identifier = ObjectIdentifier.of(catalog, table.path.database_name, table.path.object_name)
    if table.unchecked is not None:
        reasons = () if "not-checked" in table.accepted else (table.unchecked,)
        path = identifier.as_summary_string()
        yield ValidationReport(path, 0, 0, (), reasons, not_counted=table.unchecked)
        return
    if isinstance(before, CatalogTable) and _may_affect_rows(environment, change, old, before):
        return
    if _may_affect_rows(environment, change, old, new) and _is_readable(environment, identifier):
        path, renames = identifier.as_serializable_string(), _renames(change, new)
        try:
            report = validate_rows(environment, path, new, renames=renames)
        except SchemaCoreError as error:
            if error.code != "file-not-found":
                raise
            report = ValidationReport(identifier.as_summary_string(), 0, 0, ())
        problems = [each for each in report.problems if each.kind not in table.accepted]
        unchecked = () if "not-checked" in table.accepted else report.unchecked
        yield replace(report, problems=tuple(problems), unchecked=unchecked)


def _may_affect_rows(
    environment: TableEnvironment, change: Change, old: CatalogTable, new: CatalogTable
) -> bool:
    """Return whether rows may not fit after a change."""
    resolver = environment.schema_resolver
    storage = environment.catalog_manager.registry.current().storage
    old, new = resolve_table(old, resolver), resolve_table(new, resolver)
    findings = can_read_old_data(old, new, None, _renames(change, new), storage)
    return any(
        finding.kind in ("field-dropped", "key-changed")
        or READINGS.get(finding.kind, (Reading.EXACT,))[0] is not Reading.EXACT
        for finding in findings
    )


def _renames(change: Change, new: CatalogTable) -> dict[str, str]:
    """Return the new names of the columns that a definition still has."""
    left = {column.name for column in new.schema.columns}
    return {name: to for name, to in change.table.columns.items() if to in left and name != to}


def _is_readable(environment: TableEnvironment, identifier: ObjectIdentifier) -> bool:
    """Return whether a table has rows: a connector that only writes has none."""
    entry = environment.catalog_manager.find_permanent(identifier)
    connector = None if entry is None else installed_connector(entry.connector_options)
    return connector is None or connector.can_read
