"""The gates of `upgrade` and `downgrade`: migrations are executed only if the rows of tables fit.

The definitions after a migration are those that its statements leave in a transaction that is
rolled back. The rows are counted in the tables as they are, by the columns from which the new ones
come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from schema_core.errors import SchemaError
from schema_core.migration.files.applied_migrations import DOWN, UP
from schema_core.migration.files.directory import MigrationFile
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.runs import MigrationResult
from schema_core.migration.files.script_steps import parse_steps
from schema_core.migration.gates.followed_rows import Change, FollowedTables, validate_change
from schema_core.migration.rows.validation import KINDS, ValidationReport, accepted_kinds


def validate_migrations(
    migrator: Migrator, files: Sequence[MigrationFile], section: str = UP
) -> tuple[ValidationReport, ...]:
    """Count the rows that do not fit the definitions after migrations.

    Nothing is changed. Only tables are read whose change may affect rows. A table whose directory
    does not exist has no rows. Rows that a migration writes itself do not exist yet: the report of
    their table says that they were not checked.

    Args:
        migrator: The migrator.
        files: The next migrations to apply, in their order, or the last ones in reverse order.
        section: ``up`` to apply them, ``down`` to undo them.

    Raises:
        SchemaCoreError: of a statement of a migration, or if a table cannot be read.
    """
    texts = [file.script(section, migrator.variables) for file in files]
    live, (catalog, database) = migrator.content(), migrator.start
    tables = FollowedTables.of(live.objects, database)
    reports: list[ValidationReport] = []
    previous = live.objects
    for text, outcome in zip(texts, migrator.try_scripts(texts), strict=True):
        tables.database = database or ""
        for step in parse_steps(text):
            tables.follow(step)
        for path, table in tables.tables.items():
            new = outcome.content.objects.get(path)
            if new is not None and new != previous.get(path):
                change = Change(table, live.objects[table.path], new)
                reports += validate_change(migrator.environment, catalog or "", change)
        previous = outcome.content.objects
    return tuple(reports)


def require_fitting_rows(
    name: str,
    reports: Iterable[ValidationReport],
    accept: Iterable[str] = (),
    section: str = UP,
) -> None:
    """Require that all rows fit, but for accepted kinds of problems.

    Args:
        name: The name of the migration.
        reports: The reports of its tables.
        accept: Kinds of problems, as for `rewrite_table`.
        section: As for `validate_migrations`.

    Raises:
        SchemaError: with code `rows-do-not-fit`; `invalid-argument` for a kind that cannot be
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
            hint = "check the rows yourself, then accept them: --accept not-checked"
        elif losses:
            options = " ".join(f"--accept {kind}" for kind in losses)
            hint += f", or accept the loss: {options}"
        done = "applied" if section == UP else "undone"
        raise SchemaError(
            f"migration {name} is not {done}, because rows do not fit: {tables}",
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
        accept: Kinds of problems that do not prevent a migration, as for `rewrite_table`, also in
            its rewrites.
        dry_run: Validate the rows, and roll the migrations back.
        take_over: As for `Migrator.upgrade`.

    Raises:
        SchemaError: with code `rows-do-not-fit`; as `Migrator.upgrade`.
    """
    kinds = accepted_kinds(accept)

    def execute(files: Sequence[MigrationFile], dry_run: bool) -> tuple[MigrationResult, ...]:
        return migrator.upgrade(files[-1].name, dry_run=dry_run, take_over=take_over, accept=kinds)

    files = [migrator.directory.find(name) for name in migrator.pending(target)]
    return _execute_validated(migrator, files, UP, kinds, execute, dry_run=dry_run)


def downgrade_validated(
    migrator: Migrator,
    target: str,
    accept: Iterable[str] = (),
    *,
    dry_run: bool = False,
    take_over: bool = False,
) -> Iterator[ValidationReport | MigrationResult]:
    """Undo migrations, each only if the rows of its tables fit; yield the reports and results.

    The arguments are those of `upgrade_validated`, but `target` is that of `Migrator.downgrade`.

    Raises:
        SchemaError: with code `rows-do-not-fit`; as `Migrator.downgrade`.
        NotFoundError: as `Migrator.downgrade`.
    """
    kinds = accepted_kinds(accept)

    def execute(files: Sequence[MigrationFile], dry_run: bool) -> tuple[MigrationResult, ...]:
        names = [file.name for file in files]
        return migrator.undo(names, dry_run=dry_run, take_over=take_over, accept=kinds)

    files = migrator.find_undone(target)
    return _execute_validated(migrator, files, DOWN, kinds, execute, dry_run=dry_run)


def _execute_validated(
    migrator: Migrator,
    files: Sequence[MigrationFile],
    section: str,
    accept: tuple[str, ...],
    execute: Callable[[Sequence[MigrationFile], bool], tuple[MigrationResult, ...]],
    *,
    dry_run: bool,
) -> Iterator[ValidationReport | MigrationResult]:
    """Validate and execute migrations one after another, or all at once in a dry run."""
    batches = [files] if dry_run and files else [[file] for file in files]
    for batch in batches:
        results = execute(batch, True)  # refuses more, without reading rows
        reports = validate_migrations(migrator, batch, section)
        yield from reports
        names = ", ".join(file.name for file in batch)
        require_fitting_rows(names, reports, accept, section)
        yield from results if dry_run else execute(batch, False)
