"""``schema-core migrate``: the migrations of a catalog, and the rows of its tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from schema_core.base.paths import ObjectPath, join_names, parse_path, split_names
from schema_core.base.text import escaped, quantity
from schema_core.catalog.changes.catalog_changes import ModifyTable
from schema_core.catalog.changes.json_format import catalog_changes_to_json
from schema_core.catalog.changes.table_changes import describe
from schema_core.catalog.objects import CatalogTable
from schema_core.cli import UNREADABLE, WRONG, script
from schema_core.cli.app import Command, Group
from schema_core.cli.commands.migration_gates import (
    Live,
    Risks,
    Since,
    check_definitions,
    describe_risk,
    find_risks,
    find_undo_risks,
    lint_files,
    read_setup,
)
from schema_core.cli.findings import (
    VERSION,
    FindingReport,
    Format,
    Level,
    Output,
    ReportedFinding,
    finish,
    print_lines,
)
from schema_core.cli.progress import Quiet, follow, show_elapsed_time
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import NotFoundError, SchemaError, similar
from schema_core.migration.files.applied_migrations import (
    CONTINUED_BY,
    DOWN,
    MigrationState,
    MigrationStatus,
)
from schema_core.migration.files.definitions import import_definitions, read_definitions
from schema_core.migration.files.directory import SETUP, MigrationDirectory
from schema_core.migration.files.generation import (
    NOT_CREATED,
    SECRET,
    UNSUPPORTED,
    WARNINGS,
    autogenerate,
    write_baseline,
)
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.runs import MigrationResult
from schema_core.migration.files.trial import try_migrations
from schema_core.migration.gates.row_gate import downgrade_validated, upgrade_validated
from schema_core.migration.gates.view_checks import describe_broken_view
from schema_core.migration.rows.data_rewrite import rewrite_table
from schema_core.migration.rows.table_differences import table_diff
from schema_core.migration.rows.validation import ValidationReport, validate_rows
from schema_core.report.markup import scroll
from schema_core.report.table_diffs import table_diff_parts
from schema_core.sql.parser import parse_statements


class MigrationOutput(Enum):
    """The format of a history."""

    TEXT = "text"
    JSON = "json"


LastMigration = Annotated[
    str | None, typer.Argument(metavar="TARGET", help="The last migration: its name or number.")
]
Directory = Annotated[
    Path, typer.Option("--directory", "-d", help="The directory of the migrations.")
]
Setup = Annotated[
    Path | None,
    typer.Option(help="Statements that create and select the catalog; by default setup.sql."),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print statements and risks; execute in a transaction that is rolled back.",
    ),
]
TakeOver = Annotated[
    bool,
    typer.Option(
        "--take-over", help="Continue a data step of another host, whose process has ended."
    ),
]
Sql = Annotated[bool, typer.Option("--sql", help="Print the statements instead.")]
User = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="USER",
        help="Who applies the migrations, for the history; by default the user of the process.",
    ),
]
MIGRATIONS = Path("migrations")


def migrations() -> typer.Typer:
    """Apply, undo and write migrations of a catalog."""
    app = typer.Typer(
        help=migrations.__doc__,
        no_args_is_help=True,
        add_completion=False,
        cls=Group,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    # -1 is a target, not an option
    app.command(cls=Command, context_settings={"ignore_unknown_options": True})(downgrade)
    app.command("table-diff", cls=Command)(compare_tables)
    app.command("try", cls=Command)(try_pending)
    for command in (upgrade, history, stamp, drift, new, merge, validate, rewrite):
        app.command(cls=Command)(command)
    app.command("baseline", cls=Command)(adopt)
    app.command("autogenerate", cls=Command)(generate)
    app.command("hash", cls=Command)(write_hashes)
    app.command("lint", cls=Command)(lint)
    app.command("check", cls=Command)(check)
    return app


def _migrator(
    directory: Path, setup: Path | None, define: list[str] | None, user: str | None = None
) -> Migrator:
    environment = _environment(directory, setup, define)
    with script.exit_on_error(directory, UNREADABLE):
        files = MigrationDirectory.read(directory)
        return Migrator(environment, files, variables=script.values(define or []), applied_by=user)


def _environment(directory: Path, setup: Path | None, define: list[str] | None) -> TableEnvironment:
    environment = TableEnvironment.create(script.settings())
    preceding = read_setup(directory, setup, define, warns=True)
    if preceding is not None:
        with script.exit_on_error(setup or directory / SETUP, UNREADABLE), preceding.locating():
            for statement in parse_statements(preceding.text):
                environment.execute_statement(statement, preceding.text)
    return environment


Accept = Annotated[
    list[str] | None,
    typer.Option(help="With --validate: too-long, value-dropped, not-checked and others."),
]


def upgrade(  # noqa: PLR0913 - one argument for each option
    target: LastMigration = None,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    dry_run: DryRun = False,
    sql: Sql = False,
    take_over: TakeOver = False,
    user: User = None,
    *,
    validate: Annotated[
        bool, typer.Option("--validate", help="Apply a migration only if all rows fit.")
    ] = False,
    accept: Accept = None,
) -> None:
    """Apply the migrations that were not applied yet, each in a transaction with its entry.

    Exits with 1 for a migration that fails, which is rolled back. With --validate, the rows of the
    tables that a migration changes are counted before it is applied; rows that do not fit its
    definitions stop it.
    """
    with script.exit_on_error(directory, None):
        _require_validate(accept, sql=sql, validate=validate)
        migrator = _migrator(directory, setup, define, user)
        if sql:
            print(migrator.script(target), end="")
        elif validate:
            with show_elapsed_time("validate"):
                validated = upgrade_validated(
                    migrator, target, accept or [], dry_run=dry_run, take_over=take_over
                )
                risks = find_risks(migrator, directory, setup, define, target) if dry_run else None
                _show(validated, risks)
        elif dry_run:
            results = migrator.upgrade(target, dry_run=True)
            _show(results, find_risks(migrator, directory, setup, define, target))
        else:
            _show(migrator.upgrade(target, take_over=take_over))


def _require_validate(accept: list[str] | None, *, sql: bool, validate: bool) -> None:
    if (accept and not validate) or (sql and validate):
        raise SchemaError(
            "--accept requires --validate, which excludes --sql", code="invalid-argument"
        )


def try_pending(
    target: LastMigration = None,
    copy: Annotated[
        list[str] | None,
        typer.Option(help="A table whose rows are copied, so that data steps can write them."),
    ] = None,
    diff: Annotated[
        list[str] | None, typer.Option(help="A table to compare without and with the migrations.")
    ] = None,
    on: Annotated[
        list[str] | None, typer.Option(help="A column of the key of the compared tables.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="Statements to run after the migrations.")
    ] = None,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
) -> None:
    """Apply the pending migrations to a copy of the catalog, whose tables read the real rows.

    Nothing is kept, and nothing of the catalog and its files is changed. Exits with 1 for a
    migration or a statement that fails.
    """
    last = None if run is None else script.read(run, define)
    with script.exit_on_error(directory, None):
        migrator = _migrator(directory, setup, define)
        with try_migrations(
            migrator.environment,
            migrator.directory,
            target=target,
            variables=migrator.variables,
            copy=copy or [],
        ) as trial:
            script.print_error(*map(escaped, trial.notes))
            for result in trial.results:
                print(
                    escaped(f"tried {result.name}: {quantity(len(result.statements), 'statement')}")
                )
            if not trial.results:
                print("nothing to do")
            for path in diff or []:
                print(trial.diff(path, on=on or None))
            if run is not None and last is not None:
                with script.exit_on_error(run), last.locating():
                    for statement in parse_statements(last.text):
                        answer = trial.environment.execute_statement(statement, last.text)
                        follow(answer.job, quiet=True)
                        answer.print()


def downgrade(  # noqa: PLR0913 - one argument for each option
    target: Annotated[
        str, typer.Argument(help="The last migration that stays: its name, number, -1 or base.")
    ],
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    dry_run: DryRun = False,
    sql: Sql = False,
    take_over: TakeOver = False,
    user: User = None,
    *,
    validate: Annotated[
        bool, typer.Option("--validate", help="Undo a migration only if all rows fit.")
    ] = False,
    accept: Accept = None,
) -> None:
    """Undo the migrations after another one, by the statements that the history has.

    Exits with 1 for a migration that cannot be undone. With --validate, the rows of the tables that
    the undo changes are counted before it; rows that do not fit the old definitions stop it.
    """
    with script.exit_on_error(directory, None):
        _require_validate(accept, sql=sql, validate=validate)
        migrator = _migrator(directory, setup, define, user)
        if sql:
            print(migrator.script(target, down=True), end="")
        elif validate:
            with show_elapsed_time("validate"):
                validated = downgrade_validated(
                    migrator, target, accept or [], dry_run=dry_run, take_over=take_over
                )
                risks = find_undo_risks(migrator, setup, define, target) if dry_run else None
                _show(validated, risks)
        elif dry_run:
            results = migrator.downgrade(target, dry_run=True)
            _show(results, find_undo_risks(migrator, setup, define, target))
        else:
            _show(migrator.downgrade(target, take_over=take_over))


def _show(
    results: Iterable[MigrationResult | ValidationReport], risks: Risks | None = None
) -> None:
    """Print migrations and, of a dry run, each statement with its risks.

    The risks of a file are printed after its name.
    """
    migrations = 0
    for migration in results:
        if isinstance(migration, ValidationReport):
            print(migration)
            continue
        migrations += 1
        print(escaped(str(migration)))
        for number, text in enumerate(["", *migration.statements] if risks is not None else []):
            print("".join(f"  {escaped(line)}\n" for line in text.splitlines()), end="")
            for finding in (risks or {}).get((migration.name, number), ()):
                print(escaped(f"    {describe_risk(finding)}"))
    if risks is not None:
        print("rolled back")
    if not migrations:
        print("nothing to do")


def history(
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    output: Annotated[
        MigrationOutput, typer.Option("--format", help="The output.")
    ] = MigrationOutput.TEXT,
) -> None:
    """Show the migrations that were applied or undone, when, by whom, how long, and pending ones.

    Exits with 1 where a file was changed or removed after its migration had been applied.
    """
    with script.exit_on_error(directory, None):
        entries = _migrator(directory, setup, define).history()
    if output is MigrationOutput.JSON:
        rows = [asdict(migration) | {"state": migration.state.value} for migration in entries]
        print(json.dumps({"version": VERSION, "migrations": rows}, indent=2))
    else:
        print_lines(history_lines(entries))
    if {MigrationState.CHANGED, MigrationState.MISSING} & {entry.state for entry in entries}:
        raise typer.Exit(WRONG)


def history_lines(entries: Sequence[MigrationStatus]) -> Iterator[str]:
    """Yield a line for each migration, and one for each step that wrote rows."""
    rows = [
        (
            entry.state.value,
            entry.applied_at or "",
            "stamped" if entry.stamped else format_duration(entry.milliseconds),
            entry.applied_by,
            entry.name,
        )
        for entry in entries
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for entry, row in zip(entries, rows, strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)
        yield escaped(" ".join(cells).rstrip())
        if entry.direction:
            subject = "its undo" if entry.direction == DOWN else "it"
            steps = quantity(entry.executed_steps, "step")
            command = f"schema-core migrate {CONTINUED_BY[entry.direction]}"
            yield escaped(f"  {steps} executed; {subject} is continued by: {command}")
        for step in entry.written_rows:
            table = join_names((step.database, step.name))
            count = "an unknown number of" if step.rows is None else f"{step.rows:,}"
            yield escaped(f"  {step.step} {table}: {count} rows")


def format_duration(milliseconds: int | None) -> str:
    """Return a duration with its unit, '' for an unknown one.

    >>> [format_duration(number) for number in (None, 999, 75_940)]
    ['', '999 ms', '75.9 s']
    """
    if milliseconds is None:
        return ""
    return f"{milliseconds} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:,.1f} s"


def stamp(
    target: Annotated[str, typer.Argument(help="A name or number, or base.")],
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    user: User = None,
) -> None:
    """Record that the catalog is as a migration leaves it, without executing statements."""
    with script.exit_on_error(directory, None):
        for name in _migrator(directory, setup, define, user).stamp(target):
            print(f"stamped {name}")


def drift(
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    output: Format = Output.TEXT,
) -> None:
    """Report what was changed outside of migrations; exits with 1 if there is something.

    Views that the changes have broken are reported, too. The JSON is what
    `catalog_changes_from_json` reads, with secrets masked.
    """
    with script.exit_on_error(directory, None):
        migrator = _migrator(directory, setup, define)
        changes = migrator.drift()
        document = catalog_changes_to_json(changes)
        broken = migrator.find_broken_views()
    pairs: list[tuple[str, str]] = []
    for change in changes:
        if isinstance(change, ModifyTable):
            pairs += [(str(change.path), describe(part)) for part in change.changes]
        else:
            pairs.append(("", change.description()))
    findings = [ReportedFinding(Level.ERROR, "drift", line, subject=path) for path, line in pairs]
    views = [(state.identifier.to_object_path(), describe_broken_view(state)) for state in broken]
    findings += [
        ReportedFinding(Level.ERROR, "migration-breaks-view", line, subject=str(path))
        for path, line in views
    ]
    pairs += [("", line) for _, line in views]
    if output is Output.JSON:  # the document has only changes
        script.print_error(*(line for _, line in views))
    lines = [escaped(f"{path}: {line}" if path else line) for path, line in pairs]
    subjects = [] if pairs else [str(directory)]
    finish(FindingReport("drift", findings, subjects, lines, document), output)


def new(
    name: Annotated[str, typer.Argument(help="The name after the number: add_channel.")],
    directory: Directory = MIGRATIONS,
) -> None:
    """Create the file of the next migration."""
    with script.exit_on_error(directory, None):
        print(_directory(directory).create(name, "-- up\n\n-- down\n"))


def merge(
    name: Annotated[str, typer.Argument(help="The name after the number.")] = "merge",
    directory: Directory = MIGRATIONS,
) -> None:
    """Create a migration without statements that follows the last ones of all branches."""
    with script.exit_on_error(directory, None):
        files = _directory(directory)
        if len(files.heads) < 2:
            print("there are no branches")
        else:
            print(files.create(name, "-- up\n-- down\n", parents=files.heads))


def _directory(path: Path) -> MigrationDirectory:
    with script.exit_on_error(path, UNREADABLE):
        return MigrationDirectory.read(path) if path.exists() else MigrationDirectory.of(path, ())


def write_hashes(directory: Directory = MIGRATIONS) -> None:
    """Write the checksums of the migrations, which were reviewed, into migrations.sum.

    From then on, `new`, `merge` and `autogenerate` add the checksums of their files, and other
    commands refuse files that are not those of the checksums.
    """
    with script.exit_on_error(directory, None):
        print(_directory(directory).write_checksums())


def lint(
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    since: Since = None,
    severity: Annotated[
        list[str] | None, typer.Option(help="KIND=LEVEL, a level of allow, warn and error.")
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(help="KIND=REASON or MIGRATION:KIND=REASON: findings that are intended."),
    ] = None,
    live: Live = False,
    output: Format = Output.TEXT,
) -> None:
    """Apply each migration to a scratch catalog, undo it, and report what is at risk.

    Reported are data that is lost, rows that may not fit, files that cannot follow, readers and
    views that break, and statements that do not undo each other. Exits with 1 for errors.
    """
    with script.exit_on_error(directory, None):
        migrator = _migrator(directory, setup, define) if live else None
        report = lint_files(directory, setup, define, since, severity, accept, migrator)
    finish(report, output)


def check(
    tables: Annotated[
        Path | None, typer.Option("--from", help="A script, or a directory of scripts.")
    ] = None,
    module: Annotated[
        str | None, typer.Option(help="module:attribute: a mapping of paths to descriptors.")
    ] = None,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    live: Live = False,
    output: Format = Output.TEXT,
) -> None:
    """Compare wanted definitions with what the migrations lead to on a scratch catalog.

    Exits with 1 if a migration is missing or, with --live, if the catalog differs.
    """
    with script.exit_on_error(directory, None):
        migrator = _migrator(directory, setup, define) if live else None
        report = check_definitions(directory, tables, module, setup, define, migrator)
    finish(report, output)


def adopt(
    name: Annotated[str, typer.Argument(help="The name after the number.")] = "baseline",
    tables: Annotated[
        Path | None, typer.Option(help="Also write the statements to this file, as definitions.")
    ] = None,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    user: User = None,
) -> None:
    """Write the first migration of a catalog that has tables, and record it as applied.

    It creates what the catalog contains; nothing is executed. What it does not create is also
    printed on standard error. Exits with 2, and writes nothing, if the file of --tables exists.
    """
    if tables is not None and tables.exists():
        raise script.report_unable(f"{tables} exists", "name another file")
    with script.exit_on_error(directory, None):
        _directory(directory).path.mkdir(parents=True, exist_ok=True)
        migrator = _migrator(directory, setup, define, user)
        path = write_baseline(migrator, name).path
    if path is None:
        print("nothing to do")
        return
    print(path)
    if tables is not None:
        text = migrator.directory.find(path.stem).script("up").strip()
        try:
            tables.write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise script.report_unable(f"cannot write {tables}: {error.strerror}") from None
        print(tables)
    _print_comments(path, (UNSUPPORTED, NOT_CREATED, SECRET))


def _print_comments(path: Path, starts: tuple[str, ...]) -> None:
    """Print the comments of a generated file that its author must read on standard error."""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith(starts):
            print(line.removeprefix("-- "), file=sys.stderr)


def generate(
    name: Annotated[str, typer.Argument(help="The name after the number: add_channel.")],
    tables: Annotated[
        Path | None, typer.Option("--from", help="A script, or a directory of scripts.")
    ] = None,
    module: Annotated[
        str | None, typer.Option(help="module:attribute: a mapping of paths to descriptors.")
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(help="DATABASE.TABLE=NEW, or DATABASE.TABLE.COLUMN=NEW of the new table."),
    ] = None,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Rewrite tables that cannot be altered in place.")
    ] = False,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
) -> None:
    """Write the migration from the catalog to wanted definitions, to be reviewed.

    The definitions are CREATE statements, or Python table descriptors. What is at risk, and what
    may be a rename, is also printed on standard error. Exits with 1 for tables that cannot be
    altered in place, of which all are reported, and for views that the migration would break.
    """
    with script.exit_on_error(directory, None):
        if (tables is None) == (module is None):
            raise SchemaError("pass either --from or --module", code="invalid-argument")
        _directory(directory).path.mkdir(parents=True, exist_ok=True)
        migrator = _migrator(directory, setup, define)
        if module is not None:
            sys.path.insert(0, "")  # modules beside the project, as `python -m` finds them
            wanted = import_definitions(migrator.environment, module)
        else:
            values = script.values(define or [])
            wanted = read_definitions(migrator.environment, tables or Path(), values)
        names, columns = _renames(rename or [])
        result = autogenerate(
            migrator, wanted, name, renames=names, column_renames=columns, rewrite=rewrite
        )
    if result.path is not None:
        print(result.path)
        _print_comments(result.path, WARNINGS)
    for error in result.rewrites:
        script.show(directory, error.diagnostics)
    if result.rewrites or result.broken:
        raise typer.Exit(WRONG)
    if result.path is None:
        print("nothing to do")


def _renames(
    options: list[str],
) -> tuple[dict[ObjectPath, str], dict[ObjectPath, dict[tuple[str, ...], str]]]:
    tables: dict[ObjectPath, str] = {}
    columns: dict[ObjectPath, dict[tuple[str, ...], str]] = {}
    for option in options:
        names, name = script.rename_of(option)
        if len(names) < 2 or not all(names) or not name:
            raise SchemaError(
                f"--rename requires DATABASE.TABLE=NEW or DATABASE.TABLE.COLUMN=NEW, "
                f"got {option!r}",
                code="invalid-argument",
            )
        table = ObjectPath(names[0], names[1])
        if len(names) == 2:
            tables[table] = name
        else:
            columns.setdefault(table, {})[names[2:]] = name
    return tables, columns


# --- rows ----------------------------------------------------------------------------------------

Wanted = Annotated[Path, typer.Option("--from", help="A script, or a directory of scripts.")]
TablePath = Annotated[str, typer.Argument(metavar="TABLE", help="The path of the table.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--rename", help="COLUMN=NEW or TABLE.COLUMN=NEW: a column that is renamed."),
]


def validate(
    table: TablePath,
    wanted: Wanted,
    rename: Columns = None,
    quiet: Quiet = False,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
) -> None:
    """Count the rows that a wanted definition cannot hold, by file, with samples.

    Exits with 1 if there are some.
    """
    with script.exit_on_error(directory, None):
        environment = _environment(directory, setup, define)
        new = _wanted_table(environment, table, wanted, script.values(define or []))
        renames = _column_renames(table, rename or [])
        with nullcontext() if quiet else show_elapsed_time(f"validate {table}"):
            report = validate_rows(environment, table, new, renames=renames)
    print(report)
    if report.problems:
        raise typer.Exit(WRONG)


def rewrite(
    table: TablePath,
    wanted: Wanted,
    rename: Columns = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(help="To accept: value-changed, too-long, value-dropped or not-checked."),
    ] = None,
    quiet: Quiet = False,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
) -> None:
    """Rewrite the rows of a table to a wanted definition, in one commit.

    Exits with 1, and changes nothing, if rows do not fit or the job fails.
    """
    with script.exit_on_error(directory, None):
        environment = _environment(directory, setup, define)
        new = _wanted_table(environment, table, wanted, script.values(define or []))
        result = rewrite_table(
            environment,
            table,
            new,
            renames=_column_renames(table, rename or []),
            accept=accept or [],
        )
        follow(result.job, quiet)
        result.wait()
    print(f"rewritten {escaped(table)}")


#: What is compared.
Side = "the path of a table or view, or a SELECT statement"


def compare_tables(
    left: Annotated[str, typer.Argument(metavar="LEFT", help=f"Before: {Side}.")],
    right: Annotated[str, typer.Argument(metavar="RIGHT", help=f"After: {Side}.")],
    on: Annotated[
        list[str] | None,
        typer.Option(help="A column of the key; by default those of the primary key."),
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="COLUMN=NEW: a column and its name on the right.")
    ] = None,
    samples: Annotated[int, typer.Option(help="The most samples of each difference.")] = 3,
    directory: Directory = MIGRATIONS,
    setup: Setup = None,
    define: script.Define = None,
    output: Format = Output.TEXT,
) -> None:
    """Compare the columns and rows of two tables, or of a table before and after a change.

    Rows are compared by key or, without one, as multisets. Exits with 1 for differences.
    """
    with script.exit_on_error(directory, None):
        environment = _environment(directory, setup, define)
        renames = _column_renames(left, rename or [])
        with show_elapsed_time("table-diff"):
            differences = table_diff(
                environment, left, right, on=on or None, renames=renames, samples=samples
            )
    lines = str(differences).splitlines()
    subject = f"{differences.left}, {differences.right}"
    findings = [
        ReportedFinding(Level.ERROR, "table-diff", line.strip(), subject=subject)
        for line in differences.summarize()
    ]
    report = FindingReport(
        "table-diff",
        findings,
        [differences.left, differences.right],
        lines,
        differences.to_json(),
        lambda: map(scroll, table_diff_parts(differences)),
    )
    finish(report, output)


def _wanted_table(
    environment: TableEnvironment, path: str, wanted: Path, variables: Mapping[str, str]
) -> CatalogTable:
    """Return the wanted definition of a table, or raise `table-not-found`."""
    definitions = read_definitions(environment, wanted, variables)
    identifier = parse_path(path).qualify(
        environment.get_current_catalog(), environment.get_current_database()
    )
    table = definitions.objects.get(identifier.to_object_path())
    if not isinstance(table, CatalogTable):
        raise NotFoundError(
            f"{wanted} does not create the table {identifier.as_summary_string()}",
            code="table-not-found",
            hint=similar(path, map(str, definitions.objects)),
        )
    return table


def _column_renames(table: str, options: list[str]) -> dict[tuple[str, ...], str]:
    """Return the renames of columns of a table, whose path may precede them."""
    renames: dict[tuple[str, ...], str] = {}
    parts = split_names(table)
    for option in options:
        names, name = script.rename_of(option)
        column = names[len(parts) :] if names[: len(parts)] == parts else names
        if not column or not all(column) or not name:
            raise SchemaError(
                f"--rename requires COLUMN=NEW or {table}.COLUMN=NEW, got {option!r}",
                code="invalid-argument",
            )
        renames[column] = name
    return renames
