"""The application with all commands; the module of a command is imported when it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from schema_core.cli import UNREADABLE
from schema_core.cli.config import FILE, PREFIX, CliConfiguration, load
from schema_core.cli.plain_values import Command, Group
from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand
    from typer._click import Context


class CommandSpec(NamedTuple):
    """A command or a group of commands, and the module that holds it.

    Attributes:
        module: The module in `schema_core.cli.commands`.
        function: The name of its function; of one that returns an application, for a group.
        summary: The first paragraph of its help.
        is_group: Whether it has commands of its own.
    """

    module: str
    function: str
    summary: str
    is_group: bool = False


#: Name -> the command, in the order of the help.
COMMANDS = {
    "run": CommandSpec(
        "run", "run", "Run a script in batch mode and print the results of its statements."
    ),
    "sql": CommandSpec(
        "shell",
        "sql",
        "Run statements one by one: from a prompt, or from stdin if it is not a terminal.",
    ),
    "compile-plan": CommandSpec(
        "run",
        "compile_plan",
        "Compile the last statement of a script to a plan; the statements before it are run.",
    ),
    "run-plan": CommandSpec(
        "run",
        "run_plan",
        "Execute a plan, which `compile-plan` or COMPILE PLAN wrote, and wait for its job.",
    ),
    "ctas": CommandSpec(
        "ctas", "ctas", "Create a table from the rows of a query, and wait for the job."
    ),
    "recover": CommandSpec(
        "recover",
        "recover",
        "Recover tables of jobs whose processes have ended: commit or roll back.",
    ),
    "resolve": CommandSpec(
        "resolve",
        "resolve",
        "Check every statement of a script without running it, and print the resolved schemas.",
    ),
    "compat": CommandSpec(
        "compatibility",
        "compat",
        "Compare the tables of a script with those of an older one, by path.",
    ),
    "explain": CommandSpec(
        "explain",
        "explain",
        "Print the page of an error code, or without a code a list of all.",
    ),
    "doctor": CommandSpec(
        "doctor",
        "doctor",
        "Show versions, extras, Java, implementations, why something cannot be used, and caches.",
    ),
    "check": CommandSpec(
        "resolve",
        "check_script",
        "Check every statement of scripts, and the options of their tables, without running them.",
    ),
    "show": CommandSpec(
        "tables",
        "show",
        "Print the tables and views that a script leaves in its current catalog.",
    ),
    "snapshot": CommandSpec(
        "tables",
        "snapshot",
        "Write the tables and views of a catalog as files, with one CREATE statement each.",
    ),
    "convert": CommandSpec(
        "tables", "convert", "Convert CREATE TABLE statements from one SQL dialect to another."
    ),
    "validate": CommandSpec(
        "migrate",
        "validate",
        "Count the rows that a wanted definition cannot hold, by file, with samples.",
    ),
    "drift": CommandSpec(
        "migrate",
        "drift",
        "Report what was changed outside of migrations; exits with 1 if there is something.",
    ),
    "init": CommandSpec(
        "init",
        "init",
        "Write the files of a new project: configuration, table, setup and workflow for CI.",
    ),
    "new": CommandSpec(
        "new",
        "new",
        "Write a package with a catalog or connector that works, and tests which it passes.",
    ),
    "diff": CommandSpec(
        "diff",
        "diff_tables",
        "Print the changes between the tables that two scripts leave, by path.",
    ),
    "plan": CommandSpec(
        "plan", "plan_tables", "Plan the migration of the tables that both scripts have, by path."
    ),
    "sweep": CommandSpec(
        "sweep",
        "sweep_catalog",
        "Resolve and verify every table of a catalog on Spark, and print a report.",
    ),
    "migrate": CommandSpec(
        "migrate",
        "migrations",
        "Apply, undo and write migrations of a catalog.",
        is_group=True,
    ),
}


class LazyCommand(TyperCommand):
    """A command of which the help of the application shows the summary, and imports nothing."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Any
    ) -> Context:
        """Import the command, and return the context of its call with the configured defaults."""
        command: Any = load_command(str(self.name))
        configuration = parent.obj if parent is not None else None
        if isinstance(configuration, CliConfiguration):
            with exit_on_configuration_error():
                extra["default_map"] = defaults_of(command, str(self.name), configuration)
        return command.make_context(info_name, args, parent, **extra)  # type: ignore[no-any-return]


def defaults_of(command: Any, name: str, configuration: CliConfiguration) -> dict[str, Any]:
    """Return the configured defaults of a command, or those of each command of a group."""
    if isinstance(command, TyperGroup):
        return {
            subcommand: defaults_of(below, f"{name} {subcommand}", configuration)
            for subcommand, below in command.commands.items()
        }
    options = {
        option.removeprefix("--"): (
            str(parameter.name),
            bool(getattr(parameter, "multiple", False)),
        )
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    }
    return configuration.defaults(name, options)


@contextmanager
def exit_on_configuration_error() -> Iterator[None]:
    """Report errors of the configuration on stderr and exit with 2."""
    try:
        yield
    except SchemaCoreError as error:
        print(f"schema-core: error[{error.code}]: {error}", file=sys.stderr)
        raise typer.Exit(UNREADABLE) from None


def load_command(name: str) -> Any:
    """Import a command."""
    entry = COMMANDS[name]
    found = getattr(import_module(f"schema_core.cli.commands.{entry.module}"), entry.function)
    if entry.is_group:
        app = found()
    else:
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name, cls=Command)(found)
    command = get_command(app)
    command.name = name
    return command


class Commands(Group):
    """All commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: MutableMapping[str, AnyCommand] = {
            name: LazyCommand(name, help=spec.summary) for name, spec in COMMANDS.items()
        }


def application() -> typer.Typer:
    """Return the Typer application with all commands."""
    app = typer.Typer(
        name="schema-core",
        help="Flink's schemas, resolved exactly and run on Spark.",
        cls=Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    version_option = typer.Option(
        False, "--version", is_eager=True, callback=print_version, help="Show the version."
    )
    config_option = typer.Option(
        None,
        "--config",
        envvar=f"{PREFIX}_CONFIG",
        help=f"The configuration: {FILE}, or a pyproject.toml.",
    )

    @app.callback()
    def common(
        context: typer.Context, version: bool = version_option, config: Path | None = config_option
    ) -> None:
        """Flink's schemas, resolved exactly and run on Spark."""
        with exit_on_configuration_error():
            context.obj = load(config, COMMANDS)
        if config is None and context.obj.is_inherited:
            print(f"schema-core: the configuration is {context.obj.path}", file=sys.stderr)

    return app


def print_version(requested: bool) -> None:
    """Print the version and exit, if it is requested."""
    if not requested:
        return
    found = installed_version("schema-core")
    print("schema-core, not installed_version" if found is None else f"schema-core {found}")
    raise typer.Exit


def installed_version(package: str) -> str | None:
    """Return the version of an installed package, or None.

    >>> installed_version("a-package-that-does-not-exist") is None
    True
    """
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version(package)
    except PackageNotFoundError:
        return None
