"""The commands `run`, `explain`, `doctor` and those of plans, and the application of all."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from schema_core.catalog.registry import FACTORIES
from schema_core.catalogs.hive.catalog import hive_support
from schema_core.cli import UNREADABLE, WRONG, script
from schema_core.cli.compatibility import compat
from schema_core.cli.diff import diff_tables
from schema_core.cli.migrate import migrations
from schema_core.cli.plan import plan_tables
from schema_core.cli.progress import follow
from schema_core.cli.recover import recover
from schema_core.cli.resolve import check_script, resolve
from schema_core.cli.sweep import sweep_catalog
from schema_core.codes import page, summaries
from schema_core.environment.compiled_plan import (
    MAX_PLAN,
    PlanDocument,
    plan_path,
    write_plan_file,
)
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import DynamicTableFactory
from schema_core.environment.discovery import GROUPS, Found, discover
from schema_core.environment.operations.compile_plan import compiled
from schema_core.environment.operations.compile_plan import run_plan as execute
from schema_core.environment.operations.dispatch import of
from schema_core.environment.operations.dispatch import run as run_statement
from schema_core.environment.operations.jobs import require_closed
from schema_core.environment.session import Session
from schema_core.errors import NotFoundError, SchemaCoreError, within
from schema_core.extras import EXTRAS, missing
from schema_core.spark.connectors import MEMBERS
from schema_core.spark.java import find_java
from schema_core.sql.parser import parse_statements


def application() -> typer.Typer:
    """Return the Typer application with all commands."""
    app = typer.Typer(
        name="schema-core",
        help="Flink's schemas, resolved exactly and run on Spark.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    for command in (run, compile_plan, run_plan, recover, resolve, compat, explain, doctor):
        app.command()(command)
    app.command("check")(check_script)
    app.command("diff")(diff_tables)
    app.command("plan")(plan_tables)
    app.command("sweep")(sweep_catalog)
    app.add_typer(migrations(), name="migrate")
    version_option = typer.Option(
        False, "--version", is_eager=True, callback=print_version, help="Show the version."
    )

    @app.callback()
    def common(version: bool = version_option) -> None:
        """Flink's schemas, resolved exactly and run on Spark."""

    return app


def print_version(requested: bool) -> None:
    """Print the version and exit, if it is requested."""
    if not requested:
        return
    found = installed("schema-core")
    print("schema-core, not installed" if found is None else f"schema-core {found}")
    raise typer.Exit


# --- run ------------------------------------------------------------------------------------------


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the progress of jobs.")]


def run(file: script.File, define: script.Define = None, quiet: Quiet = False) -> None:
    """Run a script in batch mode and print the results of its statements.

    Each statement waits for its job, whose progress is shown on stderr; Ctrl-C cancels it. Nothing
    is run if a statement cannot be parsed. Exits with 1 at the first statement that fails, with 2
    if the file cannot be read, with 130 after Ctrl-C.
    """
    text = script.read(file, define)
    errors = Console(stderr=True, highlight=False)
    try:
        session = Session(EnvironmentSettings.in_batch_mode())
        for statement in parse_statements(text):
            result = run_statement(session, statement, text)
            if result.job is not None and not quiet:
                follow(result.job, errors)
            result.print()
        require_closed(session)
    except SchemaCoreError as error:
        script.show(errors, file, error.diagnostics)
        raise typer.Exit(WRONG) from None
    except KeyboardInterrupt as interrupt:
        raise script.interrupted(errors, interrupt) from None


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
    try:
        session = Session(EnvironmentSettings.in_batch_mode())
        *before, last = parse_statements(text)
        for statement in before:
            result = run_statement(session, statement, text)
            if result.job is not None:
                follow(result.job, errors)
        with within(text), of(last, text):
            document = compiled(session, last, text)
        write_plan_file(plan_path(str(output)), document.to_json(), replace=replace)
    except SchemaCoreError as error:
        script.show(errors, file, error.diagnostics)
        raise typer.Exit(WRONG) from None
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
    try:
        document = PlanDocument.from_json(text)
        result = execute(document, Session(EnvironmentSettings.in_batch_mode()))
        if result.job is not None:
            follow(result.job, errors) if not quiet else result.wait()
        result.print()
    except SchemaCoreError as error:
        script.show(errors, file, error.diagnostics)
        raise typer.Exit(WRONG) from None
    except KeyboardInterrupt as interrupt:
        raise script.interrupted(errors, interrupt) from None


# --- explain --------------------------------------------------------------------------------------


def explain(
    code: Annotated[str | None, typer.Argument(help="The code in brackets after 'error'.")] = None,
) -> None:
    """Print the page of an error code, or without a code a list of all.

    Exits with 2 for an unknown code.
    """
    console = Console(highlight=False)
    if code is None:
        print_all(console)
        return
    try:
        text = page(code)
    except NotFoundError as error:
        print(f"schema-core: {error.problem}", file=sys.stderr)
        print(f"  hint: {error.hint or 'list all with: schema-core explain'}", file=sys.stderr)
        raise typer.Exit(UNREADABLE) from None
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        print(text, end="")


def print_all(console: Console) -> None:
    """Print every code with its summary, one per line, or as a table on a terminal."""
    if not console.is_terminal:
        print("\n".join(f"{code}: {sentence}" for code, sentence in summaries()))
        return
    table = Table("code", "meaning", box=None, pad_edge=False)
    for code, sentence in summaries():
        table.add_row(Text(code, "bold", no_wrap=True), Text(sentence))
    console.print(table)


# --- doctor ---------------------------------------------------------------------------------------

#: The version that is shown without Java.
NO_JAVA = "none"


def installed(package: str) -> str | None:
    """Return the version of an installed package, or None.

    >>> installed("a-package-that-does-not-exist") is None
    True
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def doctor() -> None:
    """Show versions, extras, Java, entry points, and why something cannot be used."""
    console = Console()
    table = Table("what", "found", "where, or why not", box=None, pad_edge=False)
    table.add_row("schema_core", installed("schema-core") or "not installed", "")
    table.add_row("Python", platform.python_version(), platform.platform())
    for extra, modules in EXTRAS.items():
        packages = modules.values()
        versions = ", ".join(f"{package} {installed(package) or '-'}" for package in packages)
        error = next(filter(None, map(missing, modules)), None)
        hint = f"{error.problem}; pip install 'schema-core[{extra}]'" if error else ""
        table.add_row(f"extra {extra}", versions, Text(hint))
    table.add_row("Java", *java())
    table.add_row("Hive", *map(Text, hive_support()))
    for kind in FACTORIES:
        table.add_row(f"catalog {kind}", "ready", "schema_core.catalog.registry (built in)")
    for group, (what, _) in GROUPS.items():
        for one in discover(group):
            problem = why_not_usable(one)
            unusable = "not loaded" if one.problem else "not usable"
            state = "ready" if problem is None else unusable
            where = problem or f"{one.target}{serves(one)}"
            table.add_row(f"{what} {one.identifier}", state, Text(f"{where} ({one.package})"))
    console.print(table)


def serves(found: Found) -> str:
    """Return which engine a connector serves and what it can do; '' for anything else."""
    if not isinstance(found.loaded, type) or not hasattr(found.loaded, "can_read"):
        return ""
    connector = found.loaded()
    if isinstance(connector, DynamicTableFactory):
        return ": makes its sources and sinks for each table"
    does = [word for word in ("read", "write") if getattr(connector, f"can_{word}", False)]
    abilities = sorted(one.value for one in getattr(connector, "abilities", ()))
    missing_members = [one for one in MEMBERS if not hasattr(connector, one)]
    engine = "Spark" if not missing_members else "no engine that is installed"
    return f": {engine}, {', '.join([*does, *abilities])}"


def why_not_usable(found: Found) -> str | None:
    """Return why the object of an entry point cannot be used, or None.

    Its attribute `requires` names the modules that it imports when it is used.
    """
    if found.problem is not None:
        return f"{found.problem}; {found.hint}" if found.hint else found.problem
    requires: tuple[str, ...] = getattr(found.loaded, "requires", ())
    for module in requires:
        if error := missing(module):
            return f"{error.problem}; {error.hint}"
    if "pyspark" in requires:
        version, reason = java()
        return None if version != NO_JAVA else reason
    return None


def java() -> tuple[str, str]:
    """Return the version and location of the Java for Spark, or `NO_JAVA` and the reason."""
    try:
        found = find_java()
    except SchemaCoreError as error:
        return NO_JAVA, f"{error.problem}; {error.hint or ''}"
    return str(found.version), f"{found.home} ({found.source})"
