"""The command line's front door: the commands, and what a mistake does to the exit code.

0 is good; 1 says that something in the input is wrong, and what; 2 that the input could not be read
or the command was not understood.
"""

from __future__ import annotations

import sys
from typing import Any

#: Exit codes.
GOOD, WRONG, UNREADABLE = 0, 1, 2


def application() -> Any:
    """The Typer application with all commands."""
    import typer

    from schema_core.cli import doctor, resolve, run

    app = typer.Typer(
        name="schema-core",
        help="Flink's schemas, resolved exactly and run on Spark.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    for command in (run.run, resolve.resolve, doctor.doctor):
        app.command()(command)
    return app


def main() -> None:
    """Run the command that the arguments name."""
    try:
        app = application()
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit("the command line needs an extra: pip install 'schema-core[cli]'")
    app()


if __name__ == "__main__":
    main()
