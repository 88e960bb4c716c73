"""The command ``schema-core``: its subcommands and exit codes.

The exit code is 0 for success, 1 for errors in the input, which are printed, and 2 if the input
cannot be read, the output cannot be written, or the arguments are invalid.
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
    """Return the Typer application with all commands."""
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
    version_option = typer.Option(
        False, "--version", is_eager=True, callback=print_version, help="Show the version."
    )

    @app.callback()
    def common(version: bool = version_option) -> None:
        """Flink's schemas, resolved exactly and run on Spark."""

    return app


def print_version(requested: bool) -> None:
    """Print the version and exit, if it is requested."""
    import typer

    if not requested:
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
        sys.exit(f"schema-core: the command requires an extra: {install_hint('typer')}")
    if sys.stdout is None:
        sys.exit(unwritable("it is closed"))
    if isinstance(sys.stdout, TextIOWrapper):  # names may contain characters outside its encoding
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            flush()
    except OSError as error:
        discard_output()
        if isinstance(error, BrokenPipeError):  # the reader closed the pipe
            sys.exit(WRONG)
        sys.exit(unwritable(error.strerror or str(error)))


def unwritable(reason: str) -> int:
    """Report on stderr that stdout cannot be written; return the exit code."""
    print(f"schema-core: cannot write to stdout: {reason}", file=sys.stderr)
    return UNREADABLE


def flush() -> None:
    """Flush stdout, so that a full disk is reported before the exit."""
    if not sys.stdout.closed:
        sys.stdout.flush()


def discard_output() -> None:
    """Redirect stdout to the null device, so that Python does not flush it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
