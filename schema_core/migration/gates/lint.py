"""Linting of migrations: each is applied to a scratch catalog, undone, and applied again.

The definitions before and after each statement are compared. Findings have the position of the
statement; `RULES` has the severity and the meaning of each kind. A comment accepts a finding::

    -- lint: accept column-dropped: no reader is left

Before ``-- up`` it is for the whole file, else for the statement after it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, TypeAlias

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath, join_names
from schema_core.base.text import Span, position
from schema_core.catalog.api import rolled_back
from schema_core.catalog.changes.catalog_changes import ModifyTable
from schema_core.catalog.changes.table_changes import DropColumn, DropField, describe
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogMaterializedTable,
    CatalogTable,
    CatalogView,
    ResolvedCatalogMaterializedTable,
    ResolvedCatalogTable,
    ResolvedCatalogView,
)
from schema_core.errors import (
    Diagnostic,
    SchemaCoreError,
    SchemaError,
    caret,
    similar,
    within,
)
from schema_core.mappings.stored_types import READINGS, REWRITTEN, Reading, TypeFinding
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs
from schema_core.migration.compatibility import (
    FINDINGS,
    Finding,
    Severity,
    can_old_readers_read,
    can_read_old_data,
)
from schema_core.migration.differences import RenameHints, diff
from schema_core.migration.files.acceptances import ACCEPT, COMMENT
from schema_core.migration.files.applied_migrations import DOWN, UP, MigrationState
from schema_core.migration.files.directory import (
    MigrationDirectory,
    MigrationFile,
    list_files,
    read_file,
)
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.scratch import Scratch, open_scratch
from schema_core.migration.files.script_execution import BREAKING
from schema_core.migration.files.script_steps import ScriptStep, parse_steps
from schema_core.migration.files.variables import FilledScript, hide_values
from schema_core.migration.gates.view_checks import ViewStates, find_names, require_working_views
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import Alter, Delete, Insert, RenameColumn, RenameTo

ALLOW, WARN, ERROR = Severity


class LintRule(NamedTuple):
    """The severity of a kind of finding, its meaning, and what to do."""

    severity: Severity
    meaning: str
    hint: str | None = None


#: What to do if files cannot follow a change, or some rows may not fit.
REWRITE = "rewrite the rows, or add another column and fill it"
VALIDATE = "count the rows that do not fit: schema-core migrate upgrade --validate"


def _row_rule(kind: str) -> LintRule:
    """Return the rule of a kind of `READINGS`: an error if a plan rewrites the rows."""
    reading, meaning = READINGS[kind]
    if kind in REWRITTEN or reading is Reading.NOT:
        return LintRule(ERROR, meaning, REWRITE)
    if reading is Reading.AT_RISK:
        return LintRule(WARN, meaning, VALIDATE)
    return LintRule(ALLOW, meaning)


#: Findings of old queries, which name columns of the definition before a statement.
QUERIES = ("column-gone", "column-type-changed", "watermark-gone")

#: Kind of finding -> its rule; other kinds are codes of errors.
RULES: Mapping[str, LintRule] = {
    # destructive
    "table-dropped": LintRule(ERROR, "a table is dropped, a managed one with its rows"),
    "column-dropped": LintRule(ERROR, "the values of a column or field cannot be read any more"),
    "database-dropped": LintRule(ERROR, "a database is dropped"),
    # the rows, by the rules of their format
    **{kind: _row_rule(kind) for kind in READINGS},
    "required-field-added": LintRule(
        ERROR,
        READINGS["required-field-added"][1],
        "add the column without NOT NULL, fill it, then declare it NOT NULL",
    ),
    "partitions-changed": LintRule(ERROR, FINDINGS["partitions-changed"].meaning, REWRITE),
    "key-changed": LintRule(WARN, FINDINGS["key-changed"].meaning, VALIDATE),
    "rows-rewritten": LintRule(
        WARN, "a job rewrites all rows of a table; others must not write it meanwhile"
    ),
    "rows-deleted": LintRule(ERROR, "a job deletes rows, which '-- down' does not restore"),
    # readers
    **{kind: LintRule(WARN, FINDINGS[kind].meaning) for kind in QUERIES},
    "old-readers-affected": LintRule(
        WARN, "readers with the old definition refuse new rows, or read other values"
    ),
    "table-renamed": LintRule(WARN, "queries that name the table or view fail"),
    "view-dropped": LintRule(WARN, "queries that name the view or materialized table fail"),
    "migration-breaks-view": LintRule(ERROR, "a view does not work after the migration"),
    # the way back
    "migration-irreversible": LintRule(
        WARN, "there is no section '-- down'", "write the statements that undo the migration"
    ),
    "not-restored": LintRule(
        ERROR, "the statements of '-- down' do not restore the definitions before '-- up'"
    ),
    # files
    "migration-branches": LintRule(
        ERROR, "migrations follow the same one", "merge them: schema-core migrate merge"
    ),
    "migration-checksum-mismatch": LintRule(
        ERROR,
        "a file is not the one of the checksum file",
        "review it, then: schema-core migrate hash",
    ),
    "migration-changed": LintRule(
        ERROR, "a file was changed after it had been applied or released", "restore the file"
    ),
    "migration-missing": LintRule(
        ERROR, "a file was removed after it had been applied or released", "restore the file"
    ),
    "duplicate-number": LintRule(
        WARN, "several migrations have the same number", "rename the one that was not applied yet"
    ),
    "number-order": LintRule(WARN, "a migration follows one whose number is not lower"),
    "no-statements": LintRule(WARN, "a migration has no statements, and is not a merge"),
    "not-checked": LintRule(WARN, "migrations after an error were not checked"),
    # comments
    "invalid-acceptance": LintRule(
        ERROR,
        "a comment '-- lint:' is malformed",
        "write it like: -- lint: accept column-dropped: the reason",
    ),
    "unused-acceptance": LintRule(WARN, "a comment accepts what was not found", "remove it"),
}


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A problem of a migration.

    `kind` is a key of `RULES`, or the code of an error. `file` is the path of the file or
    directory. `line` and `column` start at 1; 0 is unknown. `subject` is the path of a table, view
    or database, and `path` a column or option of it. `excerpt` is the line of the file and a line
    with carets. `accepted` is the reason for which the finding was accepted.
    """

    kind: str
    severity: Severity
    message: str
    file: str
    line: int = 0
    column: int = 0
    subject: str = ""
    path: tuple[str, ...] = ()
    hint: str | None = None
    excerpt: tuple[str, ...] = ()
    accepted: str | None = None

    @staticmethod
    def of(kind: str, message: str, file: Path, **details: Any) -> LintFinding:
        """Return a finding of a kind of `RULES`, with its severity and hint."""
        _require_kind(kind)
        rule = RULES[kind]
        require_instance(message, str, "the message")
        require_instance(file, Path, "the file", "a path")
        return LintFinding(
            kind, rule.severity, message, str(file), **{"hint": rule.hint, **details}
        )

    def __str__(self) -> str:
        place = ":".join(
            [self.file, *(str(number) for number in (self.line, self.column) if number)]
        )
        about = f"{self.subject}: " if self.subject else ""
        accepted = f" (accepted: {self.accepted})" if self.accepted is not None else ""
        return f"{place}: {self.severity.value}: {about}{self.message} [{self.kind}]{accepted}"


def lint_migrations(
    directory: MigrationDirectory | str | os.PathLike[str],
    *,
    setup: FilledScript | str | None = None,
    variables: Mapping[str, str] | None = None,
    old: Collection[str] = (),
    severities: Mapping[str, Severity] | None = None,
    accepted: Mapping[str, str] | None = None,
) -> tuple[LintFinding, ...]:
    """Apply the migrations of a directory to an empty catalog in memory, and report problems.

    Args:
        directory: The directory, or its path.
        setup: The statements that create and select the catalog. CREATE CATALOG creates an empty
            one in memory, whatever its type.
        variables: The values of ``${NAME}`` in the files; others stay as they are.
        old: The names of migrations that are applied without being linted.
        severities: Severities by kind, in place of those of `RULES`; `ALLOW` omits findings.
        accepted: Reasons by kind, or by ``MIGRATION:KIND`` for one migration.

    Raises:
        NotFoundError: with code `migration-not-found` without such a directory.
        SchemaError: with code `invalid-argument` for an unknown kind in `severities` or `accepted`.
        ExternalError: with code `file-system-failed`.
        SchemaCoreError: of a statement of the setup.
    """
    levels = require_instance(severities or {}, Mapping, "the severities")
    reasons = require_instance(accepted or {}, Mapping, "the acceptances")
    for kind in levels:
        _require_kind(kind)
    for name in reasons:
        _require_kind(require_instance(name, str, "the kind of a finding").rpartition(":")[2])
    if not isinstance(directory, MigrationDirectory):
        path = Path(require_instance(directory, (str, os.PathLike), "directory"))
        readable = _read_directory(path)
        if not isinstance(readable, MigrationDirectory):
            return tuple(readable)
        directory = readable
    findings = [*_lint_directory(directory, frozenset(old))]
    with open_scratch(directory, setup=setup, variables=variables) as scratch:
        hidden = directory.find_hidden_values(variables or {})
        for number, file in enumerate(directory.migrations):
            linter = _FileLinter(scratch, file, directory.path / f"{file.name}.sql")
            try:
                if file.name in old:
                    linter.apply()
                    continue
                findings += linter.lint()
            except SchemaCoreError as error:
                findings += [*linter.accept([*linter.findings, *linter.locate(error)])]
                if left := len(directory.migrations) - number - 1:
                    message = f"{left} migration{'s were' if left > 1 else ' was'} not checked"
                    findings.append(LintFinding.of("not-checked", message, directory.path))
                break
    shown = [replace(finding, message=hide_values(finding.message, hidden)) for finding in findings]
    return tuple(_apply_settings(shown, levels, reasons))


def lint_undo(
    migrator: Migrator, names: Sequence[str], *, setup: FilledScript | str | None = None
) -> tuple[LintFinding, ...]:
    """Apply what the history of a catalog has to an empty one in memory, undo a part, and report.

    Args:
        migrator: The migrator of the catalog.
        names: The applied migrations to undo, in this order.
        setup: As for `lint_migrations`.

    Raises:
        SchemaCoreError: of a statement of the setup.
    """
    require_instance(migrator, Migrator, "migrator")
    require_names(names, "names")
    entries = migrator.catalog.list_migrations()
    files = {entry.name: MigrationFile.parse(entry.name, entry.text) for entry in entries}
    path = migrator.directory.path
    directory = MigrationDirectory(
        path, tuple(files.values()), {entry.name: entry.parents for entry in entries}
    )
    findings: list[LintFinding] = []
    with open_scratch(directory, setup=setup, variables=migrator.variables) as scratch:
        hidden = directory.find_hidden_values(migrator.variables)
        steps = [*((name, UP) for name in files), *((name, DOWN) for name in names)]
        for name, section in steps:
            linter = _FileLinter(scratch, files[name], path / f"{name}.sql")
            try:
                if section == UP:
                    linter.apply()
                else:
                    findings += linter.lint(DOWN)
            except SchemaCoreError as error:
                findings += linter.locate(error)
                break
    shown = [replace(finding, message=hide_values(finding.message, hidden)) for finding in findings]
    return tuple(_apply_settings(shown, {}, {}))


def lint_history(migrator: Migrator) -> tuple[LintFinding, ...]:
    """Return the files that were changed or removed after they had been applied to a catalog."""
    require_instance(migrator, Migrator, "migrator")
    kinds = {
        MigrationState.CHANGED: ("migration-changed", "was changed"),
        MigrationState.MISSING: ("migration-missing", "was removed"),
    }
    path = migrator.directory.path
    return tuple(
        LintFinding.of(
            kind, f"the file {problem} after it had been applied", path / f"{status.name}.sql"
        )
        for status in migrator.history()
        if status.state in kinds
        for kind, problem in [kinds[status.state]]
    )


def _require_kind(kind: str) -> None:
    if require_instance(kind, str, "the kind of a finding") not in RULES:
        raise SchemaError(
            f"unknown finding {kind!r}", code="invalid-argument", hint=similar(kind, RULES)
        )


def _apply_settings(
    findings: Iterable[LintFinding], levels: Mapping[str, Severity], reasons: Mapping[str, str]
) -> Iterator[LintFinding]:
    for finding in findings:
        severity = levels.get(finding.kind, finding.severity)
        reason = reasons.get(f"{Path(finding.file).stem}:{finding.kind}", reasons.get(finding.kind))
        accepted = finding.accepted if finding.accepted is not None else reason
        if severity is not ALLOW:
            yield replace(finding, severity=severity, accepted=accepted)


# --- directories ---------------------------------------------------------------------------------


def _read_directory(path: Path) -> MigrationDirectory | list[LintFinding]:
    """Return the migrations of a directory, or what prevents reading them, for all files."""
    if not path.is_dir():
        return MigrationDirectory.read(path)  # raises
    problems: list[LintFinding] = []
    for file in list_files(path):
        try:
            read_file(file)
        except SchemaCoreError as error:
            problems += _error_findings(error, file)
    if problems:
        return problems
    try:
        return MigrationDirectory.read(path)
    except SchemaCoreError as error:
        return [*_error_findings(error, path)]


def _error_findings(error: SchemaCoreError, file: Path) -> Iterator[LintFinding]:
    for diagnostic in error.diagnostics:
        yield _error_finding(diagnostic, diagnostic.file or str(file))


def _error_finding(diagnostic: Diagnostic, file: str) -> LintFinding:
    has_excerpt = diagnostic.text and diagnostic.span
    return LintFinding(
        diagnostic.code,
        ERROR,
        diagnostic.message,
        file,
        diagnostic.line,
        diagnostic.column,
        hint=diagnostic.hint,
        excerpt=tuple(caret(diagnostic.text or "", diagnostic.span or Span(0, 0)))
        if has_excerpt
        else (),
    )


def _lint_directory(directory: MigrationDirectory, old: Collection[str]) -> Iterator[LintFinding]:
    """Yield the problems of names, parents and checksums."""
    for mismatch in directory.mismatches:
        path = directory.path / f"{mismatch.name}.sql" if mismatch.name else directory.path
        yield LintFinding.of("migration-checksum-mismatch", str(mismatch), path)
    if len(directory.heads) > 1:
        message = f"there are {len(directory.heads)} branches: {', '.join(directory.heads)}"
        yield LintFinding.of("migration-branches", message, directory.path)
    numbers = Counter(file.number for file in directory.migrations)
    by_name = {file.name: file for file in directory.migrations}
    for file in directory.migrations:
        path = directory.path / f"{file.name}.sql"
        if file.name in old:
            continue
        if numbers[file.number] > 1:
            others = [
                other.name
                for other in directory.migrations
                if other.number == file.number and other is not file
            ]
            message = f"{', '.join(others)} has the number {file.number}, too"
            yield LintFinding.of("duplicate-number", message, path)
        for parent in directory.parents[file.name]:
            if by_name[parent].number >= file.number:
                message = f"it follows {parent}, whose number is not lower"
                yield LintFinding.of("number-order", message, path)
        if len(directory.parents[file.name]) < 2 and not _has_statements(file):
            yield LintFinding.of("no-statements", "the migration has no statements", path)


def _has_statements(file: MigrationFile) -> bool:
    """Return whether a migration does something; one that cannot be parsed is assumed to."""
    try:
        return bool(parse_statements(file.script("up"), is_migration=True))
    except SchemaCoreError:
        return True


# --- files ---------------------------------------------------------------------------------------

#: Objects that store a query.
READING_OTHERS = (ResolvedCatalogView, ResolvedCatalogMaterializedTable)
#: The database and the name, or '', of an object.
Key: TypeAlias = tuple[str, str]
#: An object of a catalog; None if it does not exist.
Stored: TypeAlias = CatalogBaseTable | CatalogDatabase | None


@dataclass(slots=True)
class _FileLinter:
    """Applies a migration to the scratch catalog.

    `before` has the objects that it has touched, as they were. `existing` are those that it has not
    created, by their current names, with the columns that it has added to them.
    """

    scratch: Scratch
    file: MigrationFile
    path: Path
    findings: list[LintFinding] = field(default_factory=list)
    before: dict[Key, Stored] = field(default_factory=dict)
    existing: dict[Key, set[str]] = field(default_factory=dict)

    def apply(self) -> None:
        """Apply the migration without linting it."""
        for _ in self._execute("up"):
            pass

    def lint(self, section: str = UP) -> list[LintFinding]:
        """Return the findings of the migration, which is applied at the end.

        Those of ``down``, with which it is undone, are without the problems of comments.
        """
        statements = [
            statement for step in self._parse(section)[1] for statement in step.statements
        ]
        names = find_names(statements)
        views: ViewStates = {}
        is_breaking = any(isinstance(statement, BREAKING) for statement in statements)
        if is_breaking:
            views = self.scratch.environment.read_view_states(names)
        spans: dict[ObjectIdentifier, Span] = {}
        for step in self._execute(section):
            for key, (old, _) in step.objects.items():
                if old is not None and self.before[key] is old:
                    self.existing.setdefault(key, set())
            self._report_data_step(step)
            for key, (old, new) in step.objects.items():
                self._compare(step, key, old, new)
                spans[self.scratch.identify(key)] = step.step.span
            self._follow(step)
        if is_breaking:
            self._check_views(section, views, names, spans)
        if section == UP:
            self._undo()
        findings = sorted(self.findings, key=lambda finding: finding.line)
        accepted = [*self.accept(findings)]
        return accepted if section == UP else accepted[: len(findings)]

    def _undo(self) -> None:
        """Execute the statements of ``down``, compare the definitions, and apply them again."""
        if not self.file.has_down:
            line = self.file.section_line("up")
            message = "the migration cannot be undone: it has no section '-- down'"
            self._add("migration-irreversible", message, line=line, column=1)
            return
        with rolled_back(self.scratch.catalog):
            before = dict(self.before)
            line = self.file.section_line("down")
            try:
                for _ in self._execute("down"):
                    pass
                differences = [*self._find_differences(before)]
                for subject, text in differences:
                    message = f"'-- down' does not {text}"
                    self._add("not-restored", message, line=line, column=1, subject=subject)
                if not differences:
                    self.apply()
            except SchemaCoreError as error:
                self.findings += self.locate(error)

    def _find_differences(self, before: Mapping[Key, Stored]) -> Iterator[tuple[str, str]]:
        """Yield what ``down`` leaves to do, with the paths of tables.

        Objects that only ``down`` touches must be as they were before it.
        """
        restored = _content({key: self.scratch.read_object(key) for key in self.before})
        for change in diff_catalogs(restored, _content({**self.before, **before})):
            if isinstance(change, ModifyTable):
                yield from ((str(change.path), describe(part)) for part in change.changes)
            else:
                yield "", change.description()

    # --- statements ----------------------------------------------------------------------------

    def _execute(self, section: str) -> Iterator[_Step]:
        """Execute the statements of a section, and yield what each has changed."""
        script, steps = self._parse(section)
        self.scratch.select_start()
        with script.locating(str(self.path)), within(script.text):
            for step in steps:
                keys = self.scratch.migrator.find_touched(step)
                old = {key: self.scratch.read_object(key) for key in keys}
                for key, value in old.items():
                    self.before.setdefault(key, value)
                self.scratch.migrator.try_step(step, script.text)
                objects = {key: (old[key], self.scratch.read_object(key)) for key in keys}
                yield _Step(step, objects, script)

    def _parse(self, section: str) -> tuple[FilledScript, tuple[ScriptStep, ...]]:
        script = self.file.fill_script(section, self.scratch.migrator.variables)
        with script.locating(str(self.path)), within(script.text):
            return script, parse_steps(script.text)

    def _follow(self, step: _Step) -> None:
        """Record the objects that a step renames or drops, and the columns that it adds."""
        for key, (old, new) in step.objects.items():
            if key not in self.existing:
                continue
            if new is None:
                added = self.existing.pop(key)
                if isinstance(getattr(step.step.statements[0], "change", None), RenameTo):
                    self.existing |= {other: added for other in step.objects if other != key}
            elif isinstance(old, ResolvedCatalogTable) and isinstance(new, ResolvedCatalogTable):
                names = set(new.resolved_schema.get_column_names())
                renamed = _renames(step.step).values()
                fresh = names - {*old.resolved_schema.get_column_names(), *renamed}
                self.existing[key] = (self._added_columns(step, key) | fresh) & names

    def _added_columns(self, step: _Step, key: Key) -> set[str]:
        """Return the columns that the migration has added, by their names before and after a step.

        Rows do not have them: they are NULL.
        """
        added = self.existing[key]
        return added | {to for path, to in _renames(step.step).items() if path[0] in added}

    # --- findings ------------------------------------------------------------------------------

    def _add(self, kind: str, message: str, **details: Any) -> None:
        self.findings.append(LintFinding.of(kind, message, self.path, **details))

    def _report(
        self,
        step: _Step,
        key: Key,
        kind: str,
        message: str,
        path: tuple[str, ...] = (),
        accepted: str | None = None,
    ) -> None:
        line, column = position(step.script.source, step.span.start)
        self._add(
            kind,
            message,
            line=line,
            column=column,
            subject=join_names(part for part in key if part),
            path=path,
            excerpt=tuple(caret(step.script.source, step.span)),
            accepted=accepted,
        )

    def _report_data_step(self, step: _Step) -> None:
        """Report what a data step does to the rows of a table that the migration did not create."""
        statement = step.step.statements[0]
        kind, message = "rows-rewritten", "all rows are rewritten"
        if isinstance(statement, Delete) or (isinstance(statement, Insert) and statement.overwrite):
            kind, message = "rows-deleted", "rows are deleted"
        elif not step.step.writes_rows or isinstance(statement, Insert):
            return
        for key in step.objects:
            if key in self.existing:
                self._report(step, key, kind, message)

    def _compare(self, step: _Step, key: Key, old: Stored, new: Stored) -> None:
        """Report what a statement does to an object that the migration has not created."""
        if old is None or key not in self.existing:
            return
        if new is None:
            self._report_removal(step, key, old)
        elif isinstance(old, ResolvedCatalogTable) and isinstance(new, ResolvedCatalogTable):
            self._compare_tables(step, key, old, new)
        elif isinstance(old, READING_OTHERS) and isinstance(new, READING_OTHERS):
            for finding in can_old_readers_read(old.resolved_schema, new.resolved_schema):
                if finding.kind in QUERIES:
                    self._report(step, key, finding.kind, finding.reason, finding.path)

    def _report_removal(
        self, step: _Step, key: Key, old: CatalogBaseTable | CatalogDatabase
    ) -> None:
        change = getattr(step.step.statements[0], "change", None)
        if isinstance(change, RenameTo):
            name = change.path.parts[-1]
            self._report(step, key, "table-renamed", f"it is renamed to {name!r}")
        elif isinstance(old, CatalogView):
            self._report(step, key, "view-dropped", "the view is dropped")
        elif isinstance(old, CatalogMaterializedTable):
            message = "the materialized table is dropped, with its rows"
            self._report(step, key, "view-dropped", message)
        elif isinstance(old, CatalogTable):
            self._report(step, key, "table-dropped", "the table is dropped")
        elif isinstance(old, CatalogDatabase):
            self._report(step, key, "database-dropped", "the database is dropped")

    def _compare_tables(
        self, step: _Step, key: Key, old: ResolvedCatalogTable, new: ResolvedCatalogTable
    ) -> None:
        storage, renames = self.scratch.catalog.storage, _renames(step.step)
        added = self._added_columns(step, key)
        dropped = [*_dropped_columns(old, new, renames)]
        for path in [path for path in dropped if path[0] not in added]:
            message = "its values cannot be read any more"
            if step.step.rewrite is not None and step.accepted_loss is None:
                message += "; if there are values, the rewrite requires '-- accept: value-dropped'"
            self._report(step, key, "column-dropped", message, path, step.accepted_loss)
        reported = {*dropped}
        rewritten = step.step.rewrite is not None  # the rewrite validates the rows
        findings = [] if rewritten else can_read_old_data(old, new, None, renames, storage)
        for finding in findings:
            is_absent = bool(added.intersection(finding.path[:1]))
            if finding.kind in RULES and (not is_absent or finding.kind == "nullability-narrowed"):
                self._report(step, key, finding.kind, finding.reason, finding.path)
                if RULES[finding.kind].severity is not ALLOW:
                    reported.add(finding.path)
        readers = can_old_readers_read(old, new, None, renames, storage)
        for reader in _reader_findings(readers):
            if reader.path not in reported and not added.intersection(reader.path[:1]):
                self._report(step, key, reader.kind, reader.reason, reader.path)

    def _check_views(
        self,
        section: str,
        before: ViewStates,
        names: set[str] | None,
        spans: Mapping[ObjectIdentifier, Span],
    ) -> None:
        script, _ = self._parse(section)
        try:
            with script.locating(str(self.path)), within(script.text):
                after = self.scratch.environment.read_view_states(names)
                require_working_views(before, after, spans)
        except SchemaError as error:
            self.findings += self.locate(error)

    def locate(self, error: SchemaCoreError) -> Iterator[LintFinding]:
        """Return an error as findings in the file."""
        return _error_findings(error, self.path)

    # --- acceptances ---------------------------------------------------------------------------

    def accept(self, findings: Iterable[LintFinding]) -> Iterator[LintFinding]:
        """Yield findings with the reasons of the file's comments, and the problems of these."""
        acceptances, problems = self._read_acceptances()
        used: set[_Acceptance] = set()
        for finding in findings:
            covering = [each for each in acceptances if each.covers(finding)]
            used.update(covering)
            yield replace(finding, accepted=covering[-1].reason) if covering else finding
        yield from problems
        for acceptance in acceptances:
            if acceptance not in used:
                message = f"nothing of the kind {acceptance.kind!r} was found"
                line = acceptance.comment_line
                yield LintFinding.of("unused-acceptance", message, self.path, line=line, column=1)

    def _read_acceptances(self) -> tuple[list[_Acceptance], list[LintFinding]]:
        acceptances, problems = [], []
        start = len(self.file.head)
        lines = sorted(self._statement_lines())
        for number, text in enumerate(self.file.text.split("\n"), 1):
            if (comment := COMMENT.fullmatch(text.rstrip("\r"))) is None:
                continue
            match = ACCEPT.fullmatch(comment[1])
            kinds = [] if match is None else [kind.strip() for kind in match[1].split(",")]
            unknown = [kind for kind in kinds if kind not in RULES]
            if match is None or unknown:
                message = "expected '-- lint: accept KIND: REASON'"
                if unknown:
                    message = f"unknown finding {unknown[0]!r}"
                details = {"line": number, "column": 1}
                problems.append(LintFinding.of("invalid-acceptance", message, self.path, **details))
                continue
            target = next((line for line in lines if line > number), number)
            acceptances += [
                _Acceptance(kind, match[2].strip(), number, target if number > start else None)
                for kind in kinds
            ]
        return acceptances, problems

    def _statement_lines(self) -> Iterator[int]:
        """Yield the lines on which statements start, and the markers of sections."""
        for section in ("up", "down") if self.file.has_down else ("up",):
            yield self.file.section_line(section)
            try:
                script, steps = self._parse(section)
            except SchemaCoreError:  # reported where it is executed
                continue
            for step in steps:
                yield position(script.source, script.locate(step.span).start)[0]


class _Acceptance(NamedTuple):
    """A comment that accepts findings on a line, None for the whole file."""

    kind: str
    reason: str
    comment_line: int
    line: int | None

    def covers(self, finding: LintFinding) -> bool:
        """Return whether the comment accepts a finding of its file."""
        return self.kind == finding.kind and self.line in (None, finding.line)


class _Step(NamedTuple):
    """An executed step: the objects before and after it, and the script with its position."""

    step: ScriptStep
    objects: Mapping[Key, tuple[Stored, Stored]]
    script: FilledScript

    @property
    def span(self) -> Span:
        """The position of the first statement in the file."""
        return self.script.locate(self.step.span)

    @property
    def accepted_loss(self) -> str | None:
        """The reason if a rewrite accepts that values are dropped."""
        rewrite = self.step.rewrite
        is_accepted = rewrite is not None and "value-dropped" in rewrite.accept
        return "'-- accept: value-dropped'" if is_accepted else None


def _renames(step: ScriptStep) -> dict[tuple[str, ...], str]:
    """Return the rename of a column or field that a statement makes, or those of a rewrite."""
    return {
        tuple(change.column.parts): change.new_name.parts[-1]
        for statement in step.statements
        if isinstance(statement, Alter)
        for change in [statement.change]
        if isinstance(change, RenameColumn)
    }


def _dropped_columns(
    old: ResolvedCatalogTable, new: ResolvedCatalogTable, renames: RenameHints
) -> Iterator[tuple[str, ...]]:
    """Yield the paths of stored columns and fields that a statement drops."""
    stored = set(old.resolved_schema.to_persisted_row_data_type().names)
    for change in diff(old, new, renames=renames):
        match change:
            case DropColumn() if change.column_name in stored:
                yield (change.column_name,)
            case DropField():
                yield (*change.path, change.field.name)
            case _:
                pass


def _reader_findings(findings: Iterable[Finding]) -> Iterator[TypeFinding]:
    """Yield what affects readers with the old definition, by the kind of a rule."""
    for finding in findings:
        if finding.severity is not ALLOW:
            if finding.kind in QUERIES:
                yield TypeFinding(finding.kind, finding.path, finding.reason)
            elif finding.kind in READINGS:
                reason = f"readers with the old definition: {finding.reason}"
                yield TypeFinding("old-readers-affected", finding.path, reason)


def _content(objects: Mapping[Key, Stored]) -> CatalogContent:
    databases, tables = {}, {}
    for (database, name), value in objects.items():
        if isinstance(value, CatalogDatabase):
            databases[database] = value
        elif value is not None:
            tables[ObjectPath(database, name)] = value
    return CatalogContent(databases, tables)
