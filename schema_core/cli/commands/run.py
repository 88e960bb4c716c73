"""``schema-core run``, and the commands of compiled plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from schema_core.cli import WRONG, script
from schema_core.cli.commands.resolve import check, findings_of
from schema_core.cli.findings import FindingReport, Level, as_text
from schema_core.cli.progress import Quiet, follow
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.operations.compile_plan import compile_statement
from schema_core.environment.operations.compile_plan import run_plan as execute
from schema_core.environment.operations.dispatch import locate_errors
from schema_core.environment.operations.dispatch import run as run_statement
from schema_core.environment.operations.jobs import require_closed
from schema_core.environment.plans.compiled_plan import (
    MAX_PLAN,
    PlanDocument,
    plan_path,
    write_plan_file,
)
from schema_core.environment.plans.dry_run_session import dry_run_session
from schema_core.environment.session import Session
from schema_core.errors import within
from schema_core.sql.parser import parse_statements


def run(
    file: script.File,
    define: script.Define = None,
    quiet: Quiet = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Run the script without checking all of it first.")
    ] = False,
) -> None:
    """Run a script in batch mode and print the results of its statements.

    The whole script is checked before its first statement is run: nothing is run if a statement
    cannot be resolved, or if a table that it reads or writes has invalid options. Each statement
    waits for its job, whose progress is shown on stderr; Ctrl-C cancels it. Exits with 1 for errors
    of the check, or at the first statement that fails, with 2 if the file cannot be read, with 130
    after Ctrl-C.
    """
    text = script.read(file, define)
    errors = Console(stderr=True, highlight=False)
    if not no_check:
        require_valid(file, text, errors)
    with script.exit_on_error(errors, file):
        session = Session(EnvironmentSettings.in_batch_mode())
        for statement in parse_statements(text):
            result = run_statement(session, statement, text)
            if result.job is not None and not quiet:
                follow(result.job, errors)
            result.print()
        require_closed(session)


def require_valid(file: Path, text: str, console: Console) -> None:
    """Check a script in a dry run; print its errors on stderr and exit with 1 if there are some."""
    with dry_run_session(EnvironmentSettings.in_batch_mode()) as session:
        findings = findings_of(file, check(session, text))
    report = FindingReport("run", [finding for finding in findings if finding.level is Level.ERROR])
    if report.findings:
        for line in as_text(report):
            console.print(line, soft_wrap=True)
        console.print("nothing was run")
        raise typer.Exit(WRONG)


# --- plans ----------------------------------------------------------------------------------------


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
    text = script.read(file, define)
    errors = Console(stderr=True, highlight=False)
    with script.exit_on_error(errors, file):
        session = Session(EnvironmentSettings.in_batch_mode())
        *before, last = parse_statements(text)
        for statement in before:
            result = run_statement(session, statement, text)
            if result.job is not None:
                follow(result.job, errors)
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
    errors = Console(stderr=True, highlight=False)
    with script.exit_on_error(errors, file):
        document = PlanDocument.from_json(text)
        result = execute(document, Session(EnvironmentSettings.in_batch_mode()))
        if result.job is not None:
            follow(result.job, errors) if not quiet else result.wait()
        result.print()
