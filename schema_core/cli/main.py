"""The command line's front door: the commands, and what a mistake does to the exit code.

0 is good; 1 says that something in the input is wrong, and what; 2 that the input could not be
read, the output not be written, or the command was not understood.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from io import TextIOWrapper
from typing import Any

from schema_core.extras import extra_of, install_hint

#: Exit codes.
GOOD, WRONG, UNREADABLE = 0, 1, 2


def application() -> Any:
    """The Typer application with all commands."""
    import typer

    from schema_core.cli import doctor, explain, resolve, run

    app = typer.Typer(
        name="schema-core",
        help="Flink's schemas, resolved exactly and run on Spark.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    for command in (run.run, resolve.resolve, explain.explain, doctor.doctor):
        app.command()(command)
    told = typer.Option(
        False, "--version", is_eager=True, callback=tell_version, help="Show the version."
    )

    @app.callback()
    def common(version: bool = told) -> None:
        """Flink's schemas, resolved exactly and run on Spark."""

    return app


def tell_version(asked: bool) -> None:
    """Print the version and be done, if it was asked for."""
    import typer

    if not asked:
        return
    try:
        print(f"schema-core {version('schema-core')}")
    except PackageNotFoundError:
        print("schema-core, not installed")
    raise typer.Exit


def main() -> None:
    """Run the command that the arguments name."""
    try:
        app = application()
    except ModuleNotFoundError as missing:
        if extra_of(missing.name or "") != "cli":
            raise
        sys.exit(f"schema-core: the command line needs an extra: {install_hint('typer')}")
    if sys.stdout is None:
        sys.exit(unwritable("it is closed"))
    if isinstance(sys.stdout, TextIOWrapper):  # names may hold what the terminal cannot write
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            flush()
    except OSError as error:
        nowhere()
        if isinstance(error, BrokenPipeError):  # whoever was reading has seen enough
            sys.exit(WRONG)
        sys.exit(unwritable(error.strerror or str(error)))


def unwritable(reason: str) -> int:
    """Say that nothing can be printed; gives the exit code."""
    print(f"schema-core: cannot write to stdout: {reason}", file=sys.stderr)
    return UNREADABLE


def flush() -> None:
    """Write what was printed: a full disk is noticed here, not behind the last line."""
    if not sys.stdout.closed:
        sys.stdout.flush()


def nowhere() -> None:
    """Leave what could not be written, so that Python does not try once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
