"""The application; the module of a command is imported when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from schema_core.base.plugins import installed_version
from schema_core.cli import UNREADABLE
from schema_core.cli.commands import COMMANDS, GROUPS, RUNNERS, is_program, summary
from schema_core.cli.config import ALLOWED, FILE, PREFIX, CliConfiguration, load
from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand
    from typer._click import Context
    from typer._click.core import Parameter


# --- values --------------------------------------------------------------------------------------


class Command(TyperCommand):
    """A command that converts plain values itself."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        return convert_plain_values(super().get_params(ctx))


class RunnerCommand(Command):
    """A command whose file may be a program, which gets everything after its name as arguments."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        ctx.allow_interspersed_args = False
        values, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        ctx.allow_interspersed_args = not is_program(values.get("file"))
        return super().parse_args(ctx, args)


class Group(TyperGroup):
    """A group of commands that converts plain values itself."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        return convert_plain_values(super().get_params(ctx))


def convert_plain_values(parameters: list[Parameter]) -> list[Parameter]:
    """Make parameters convert plain values without Typer's adapters, which import pydantic (0.1 s).

    Values that are not certainly valid are left to the adapters, which word the errors.
    """
    for parameter in parameters:
        # With click 8.1, an enumeration has the value as its choice, and not the member.
        if isinstance(parameter.default, Enum):
            parameter.default = parameter.default.value
        # Another version of Typer may not have the description.
        if hasattr(parameter, "type_descriptor") and not isinstance(
            parameter.process_value, ParameterConversion
        ):
            parameter.process_value = ParameterConversion(parameter)  # type: ignore[method-assign]
    return parameters


class ParameterConversion:
    """The conversion of a parameter's values."""

    def __init__(self, parameter: Any) -> None:
        annotation = parameter.type_descriptor.annotation
        self.parameter, self.by_adapter = parameter, parameter.process_value
        self.is_list = get_origin(annotation) is list
        self.type = get_args(annotation)[0] if self.is_list else annotation

    def __call__(self, ctx: Context, value: Any) -> Any:
        """Return the converted value, or the result of the parameter's callback."""
        values = value if self.is_list else [value]
        if value is None and not self.parameter.required:
            converted: Any = () if self.is_list else None
        elif values and isinstance(values, list | tuple) and all(map(self.is_plain, values)):
            each = [self.type(value) for value in values]
            converted = each if self.is_list else each[0]
        else:
            return self.by_adapter(ctx, value)
        callback = self.parameter.callback
        return converted if callback is None else callback(ctx, self.parameter, converted)

    def is_plain(self, value: object) -> bool:
        """Return whether a value, or its text, is certainly of the parameter's type."""
        if self.type in (str, int, bool):
            return type(value) is self.type
        if self.type is Path and isinstance(value, str) and value and "\0" not in value:
            return os.access(value, os.R_OK) or not Path(value).exists()
        if isinstance(self.type, type) and issubclass(self.type, Enum):
            return isinstance(value, str | Enum) and any(
                value in (member, member.value) for member in self.type
            )
        return False


# --- commands ------------------------------------------------------------------------------------


class LazyCommand(TyperCommand):
    """A command that the help lists by its summary, without an import."""

    #: The summary; the one of the superclass, which sets it, is not used.
    help = property(lambda self: summary(str(self.name)), lambda self, _: None)

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the summary for the list of all commands."""
        return summary(str(self.name))

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Any
    ) -> Context:
        """Return the context of the imported command with the configured defaults."""
        command: Any = load_command(str(self.name))
        configuration = parent.obj if parent is not None else None
        if isinstance(configuration, CliConfiguration):
            with exit_on_configuration_error():
                extra["default_map"] = defaults_of(command, str(self.name), configuration)
        return command.make_context(info_name, args, parent, **extra)  # type: ignore[no-any-return]


def defaults_of(command: Any, name: str, configuration: CliConfiguration) -> dict[str, Any]:
    """Return the configured defaults of a command, for a group by subcommand."""
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
    """Import a command or a group of commands."""
    module, _, attribute = COMMANDS[name].partition(":")
    function = getattr(import_module(f"schema_core.cli.commands.{module}"), attribute)
    if name in GROUPS:
        app = function()
    else:
        app = typer.Typer(
            add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
        )
        app.command(name, cls=RunnerCommand if name in RUNNERS else Command)(function)
    command = get_command(app)
    command.name = name
    return command


class Commands(Group):
    """All commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: MutableMapping[str, AnyCommand] = {
            name: LazyCommand(name) for name in COMMANDS
        }


def application() -> typer.Typer:
    """Return the Typer application."""
    app = typer.Typer(
        name="schema-core",
        help="Flink's schemas, resolved exactly and run on Spark.",
        cls=Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # importing rich takes longer than everything else that --help does
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

    variables_option = typer.Option(
        None,
        "--allow-env",
        metavar="NAME",
        envvar=f"{PREFIX}_ALLOW_ENV",
        help="A variable that options of tables and catalogs may name: ${env:NAME}.",
    )
    directories_option = typer.Option(
        None,
        "--allow-files",
        metavar="DIRECTORY",
        envvar=f"{PREFIX}_ALLOW_FILES",
        help="A directory below which options may name files: ${file:PATH}.",
    )

    @app.callback()
    def common(
        context: typer.Context,
        version: bool = version_option,
        config: Path | None = config_option,
        allow_env: list[str] | None = variables_option,
        allow_files: list[str] | None = directories_option,
    ) -> None:
        """Flink's schemas, resolved exactly and run on Spark."""
        with exit_on_configuration_error():
            context.obj = load(config, COMMANDS)
            allow_references(context.obj, allow_env, allow_files)
        if config is None and context.obj.is_inherited:
            print(f"schema-core: the configuration is {context.obj.path}", file=sys.stderr)

    return app


def allow_references(
    configuration: CliConfiguration, variables: list[str] | None, directories: list[str] | None
) -> None:
    """Allow references in options by the command line, or else by the configuration."""
    names = variables or configuration.strings("allow-env")
    paths = directories or configuration.strings("allow-files")
    if not (names or paths):
        ALLOWED.set(None)
        return
    from schema_core.environment.option_references import OptionReferences  # not for --help

    references = OptionReferences()
    references.allow(names, [Path(path).absolute() for path in paths])
    ALLOWED.set(references)


def print_version(requested: bool) -> None:
    """Print the version and exit, if requested."""
    if not requested:
        return
    number = installed_version("schema-core")
    print("schema-core, not installed" if number is None else f"schema-core {number}")
    raise typer.Exit
