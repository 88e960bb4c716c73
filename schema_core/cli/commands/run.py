"""Commands that run statements: ``run``, ``ctas``, ``recover``, and those of compiled plans."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from schema_core.base.paths import parse_path
from schema_core.base.text import quote_identifier
from schema_core.cli import UNREADABLE, WRONG, script
from schema_core.cli.commands import is_program
from schema_core.cli.commands.resolve import check, findings_of
from schema_core.cli.findings import FindingReport, Level, as_text
from schema_core.cli.progress import Quiet, Streaming, follow, follow_endless, stop_jobs
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.client import JobClient
from schema_core.environment.jobs.recovery import (
    Recovery,
    RecoveryAction,
    list_identifiers,
    recover_tables,
)
from schema_core.environment.operations.compile_plan import compile_statement
from schema_core.environment.operations.compile_plan import run_plan as execute
from schema_core.environment.operations.dispatch import locate_errors
from schema_core.environment.operations.dispatch import run as run_statement
from schema_core.environment.options import RUNTIME_MODE
from schema_core.environment.plans.compiled_plan import (
    MAX_PLAN,
    PlanDocument,
    plan_path,
    write_plan_file,
)
from schema_core.environment.plans.dry_run import dry_run_session
from schema_core.environment.session import Session
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError, within
from schema_core.migration.files.variables import FilledScript, escape_variables
from schema_core.pyflink.programs import run_program
from schema_core.sql import statement_syntax
from schema_core.sql.parser import parse_query, parse_statements, read_statements


def run(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="SQL statements, separated by semicolons (- reads them from stdin), or a program"
            " of PyFlink, whose name ends with .py."
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="The arguments of a program.")
    ] = None,
    define: script.Define = None,
    quiet: Quiet = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Run the script without checking all of it first.")
    ] = False,
    streaming: Streaming = False,
    progress: Annotated[
        bool,
        typer.Option("--progress", help="Show the rows of streaming jobs also without a terminal."),
    ] = False,
    override_pyflink: Annotated[
        bool,
        typer.Option(
            "--override-pyflink", help="Run a program also where PyFlink itself is installed."
        ),
    ] = False,
) -> None:
    """Run a script in batch mode and print the results of its statements, or run a program.

    The whole script is checked before its first statement is run: nothing is run if a statement
    cannot be resolved, or if a table that it reads or writes has invalid options. Each statement
    waits for its job, whose progress is shown on stderr; Ctrl-C and SIGTERM cancel it. Exits with 1
    for errors of the check, or at the first statement that fails, with 2 if the file cannot be
    read, with 130 after Ctrl-C, with 143 after SIGTERM.

    In streaming mode, by --streaming or by SET at the beginning of the script, a job of unbounded
    tables runs while the following statements are run. At its end the script waits for these jobs,
    and every ten seconds prints their rows and watermarks on stderr. If one of them fails, and at
    Ctrl-C and SIGTERM, all are stopped: they continue when the script is run again.

    A program of PyFlink is executed without changes: its imports of pyflink are those of
    schema_core.pyflink, and everything after its name are its arguments. The options of scripts do
    not apply to it. The exit code is that of the program.
    """
    if is_program(file):
        options = options_in(context, SCRIPT_OPTIONS)
        require_no_options(options, "scripts of SQL", f"{file} is a program")
        with script.exit_on_error(file, UNREADABLE):
            run_program(file, arguments or (), override=override_pyflink)
    options = options_in(context, ("arguments", "override_pyflink"))
    require_no_options(options, "programs in Python", f"{file} is a script of SQL")
    filled = script.read(file, define)
    with script.exit_on_error(file), filled.locating(), script.sigterm_as_interrupt():
        settings = settings_of(filled.text, streaming=streaming)
        if not no_check:
            require_valid(file, filled, settings)
        session = Session(settings)
        endless: list[JobClient] = []
        try:
            for statement in parse_statements(filled.text):
                result = run_statement(session, statement, filled.text)
                if result.job is not None and not result.job.run.has_end:
                    print(f"Job ID: {result.job.get_job_id()}")
                    endless.append(result.job)
                    script.keep_jobs_at_interrupt()
                    continue
                follow(result.job, quiet)
                result.print()
            session.require_no_open_set()
        except BaseException as error:
            stop_jobs(endless, error)
            raise
        follow_endless(endless, shows=progress or (sys.stderr.isatty() and not quiet))


#: The parameters of `run` that apply to scripts of SQL.
SCRIPT_OPTIONS = ("define", "quiet", "no_check", "streaming", "progress")


def options_in(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Return the options of the command line among the parameters of these names."""
    parameters = {parameter.name: parameter for parameter in context.command.params}
    return [
        parameters[name].opts[0]
        for name in names
        if getattr(context.get_parameter_source(name), "name", None) == "COMMANDLINE"
    ]


def require_no_options(options: list[str], kind: str, reason: str) -> None:
    """Exit with 2 for options that apply to the other kind of file."""
    if options:
        print(f"schema-core: {options[0]} applies to {kind}: {reason}", file=sys.stderr)
        raise typer.Exit(UNREADABLE)


def settings_of(text: str, *, streaming: bool) -> EnvironmentSettings:
    """Return the settings of a script, which may begin with SET statements for the runtime mode."""
    for statement in read_statements(text):
        if not isinstance(statement, statement_syntax.SetOption):
            break
        if statement.key == RUNTIME_MODE.key:
            streaming = RUNTIME_MODE.of({RUNTIME_MODE.key: statement.value or ""}) == "STREAMING"
    return script.settings(batch=not streaming)


def require_valid(file: Path, filled: FilledScript, settings: EnvironmentSettings) -> None:
    """Check a script in a dry run; print its errors and exit with 1 if there are some."""
    with dry_run_session(settings) as session:
        findings = findings_of(file, filled, check(session, filled.text))
    if errors := [finding for finding in findings if finding.level is Level.ERROR]:
        script.print_error(*as_text(FindingReport("run", errors)), "nothing was run")
        raise typer.Exit(WRONG)


def ctas(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The path of the new table.")],
    query: Annotated[
        Path, typer.Argument(metavar="QUERY", help="A file with a query; - reads it from stdin.")
    ],
    setup: Annotated[
        Path | None, typer.Option(help="A script that creates the catalogs and the sources.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="KEY=VALUE: an option of the table.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing table.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print its effects, guarantees and losses.")
    ] = False,
    define: script.Define = None,
    quiet: Quiet = False,
) -> None:
    """Create a table from the rows of a query, and wait for the job.

    The setup is run before. Everything is checked before anything is changed. Exits with 1 if a
    statement is invalid or fails, with 2 if a file cannot be read, with 130 after Ctrl-C.
    """
    before = None if setup is None else script.read(setup, define)
    selected = script.read(query, define)
    with script.exit_on_error(query, None):
        with selected.locating():
            parse_query(selected.text.strip().removesuffix(";"))
        source = create_table_as(table, selected.source, option or [], replace=replace)
    created = script.fill(source, define or [], warns=False)
    preceding = "" if before is None else before.source.rstrip().rstrip(";")
    filled = script.fill(f"{preceding};\n{source}", define or [], warns=False)
    require_valid(setup or query, filled, script.settings())
    with script.exit_on_error(query), created.locating():
        environment = TableEnvironment.create(script.settings())
        if before is not None:
            with before.locating():
                for statement in parse_statements(before.text):
                    environment.execute_statement(statement, before.text).wait()
        if dry_run:
            print(created.hide_values(str(environment.plan_ctas(created.text))))
            return
        result = environment.execute_sql(created.text)
        follow(result.job, quiet)
        result.wait()
    print(f"created {table}")


def create_table_as(table: str, query: str, options: list[str], *, replace: bool = False) -> str:
    """Return the CREATE TABLE AS of a query, whose variables are not replaced.

    Raises:
        SchemaError: with code `invalid-argument` for an option of another form.
        ParseError: for a path outside the grammar.

    >>> print(create_table_as("d.t", "SELECT 1 AS a", ["connector=print"]))
    CREATE TABLE `d`.`t`
    WITH ('connector' = 'print')
    AS SELECT 1 AS a
    """
    text = query.strip().removesuffix(";")
    path = ".".join(map(quote_identifier, parse_path(table).parts))
    pairs = []
    for option in options:
        key, sign, value = (part.replace("'", "''") for part in option.partition("="))
        if not (key and sign):
            raise SchemaError(
                f"--option requires KEY=VALUE, got {option!r}", code="invalid-argument"
            )
        pairs.append(f"'{key}' = '{value}'")
    start = "CREATE OR REPLACE TABLE" if replace else "CREATE TABLE"
    clause = f"\nWITH ({', '.join(pairs)})" if pairs else ""
    return f"{escape_variables(f'{start} {path}{clause}')}\nAS {text}"


# --- compiled plans ------------------------------------------------------------------------------


def compile_plan(
    file: script.File,
    output: Annotated[Path, typer.Option("--output", "-o", help="The plan file to write.")],
    define: script.Define = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the plan file.")] = False,
) -> None:
    """Compile the last statement of a script to a plan; the statements before it are run.

    The last statement is an INSERT, a statement set or a CREATE TABLE AS, which is not run.
    `run-plan` executes the plan, here or elsewhere. Exits with 1 for a statement that fails, with
    2 if the file cannot be read.
    """
    filled = script.read(file, define)
    text = filled.text
    with script.exit_on_error(file), filled.locating():
        session = Session(script.settings())
        *before, last = parse_statements(text)
        for statement in before:
            follow(run_statement(session, statement, text).job)
        with within(text), locate_errors(last, text):
            document = compile_statement(session, last, text)
        write_plan_file(plan_path(str(output)), document.to_json(), replace=replace)
    for name in document.variables():
        print(f"schema-core: the plan needs the environment variable {name}", file=sys.stderr)


def run_plan(
    file: Annotated[Path, typer.Argument(help="A plan file; - reads it from stdin.")],
    quiet: Quiet = False,
) -> None:
    """Execute a plan, which `compile-plan` or COMPILE PLAN wrote, and wait for its job.

    It opens the catalogs that the plan names, in this process or under spark-submit. Exits with 1
    if the plan cannot be executed or its job fails, with 2 if the file cannot be read, with 130
    after Ctrl-C, which cancels the job.
    """
    text = script.read_text(file, MAX_PLAN)
    with script.exit_on_error(file):
        document = PlanDocument.from_json(text)
        result = execute(document, Session(script.settings()))
        follow(result.job, quiet)
        result.wait()
        result.print()


# --- recovery ------------------------------------------------------------------------------------

#: The statements that `recover` executes: catalogs and tables depend on them.
SETTING_UP: tuple[type[statement_syntax.Statement], ...] = (
    statement_syntax.CreateCatalog,
    statement_syntax.CreateFunction,
    statement_syntax.Jar,
    statement_syntax.LoadModule,
    statement_syntax.SetOption,
    statement_syntax.UseCatalog,
    statement_syntax.UseDatabase,
    statement_syntax.UseModules,
)


def recover(
    file: script.File,
    define: script.Define = None,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", "-t", help="A table; by default all of the current catalog."),
    ] = None,
) -> None:
    """Recover tables of jobs whose processes have ended: commit or roll back.

    Of the script only the statements that set a session up are executed, such as CREATE CATALOG,
    USE and SET. Exits with 1 if a table cannot be recovered, with 2 if the file cannot be read.
    """

    def show(recovery: Recovery) -> None:
        if recovery.action is not RecoveryAction.CHECKED:
            print(recovery)

    filled = script.read(file, define)
    with script.exit_on_error(file), filled.locating():
        session = Session(script.settings())
        for statement in parse_statements(filled.text):
            if isinstance(statement, SETTING_UP):
                run_statement(session, statement, filled.text)
        catalog = session.registry.current_catalog
        if table:
            tables = iter([session.registry.qualify(parse_path(name)) for name in table])
        else:
            tables = iter(()) if catalog is None else list_identifiers(session, catalog)
        recoveries = recover_tables(session, tables, show)
    print(f"{len(recoveries)} {'table' if len(recoveries) == 1 else 'tables'}")
