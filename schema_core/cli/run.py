"""``schema-core run FILE.sql``: do the statements of a script, one after the other, on Spark."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from schema_core.cli import script
from schema_core.cli.main import UNREADABLE, WRONG
from schema_core.environment.operations.dispatch import run as run_statement
from schema_core.environment.session import Session
from schema_core.environment.settings import EnvironmentSettings
from schema_core.errors import SchemaCoreError
from schema_core.sql.statement import parse_statements


def run(
    file: Annotated[Path, typer.Argument(help="SQL statements, separated by semicolons.")],
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", help="NAME=VALUE: what ${NAME} in the file stands for."),
    ] = None,
) -> None:
    """Run a script in batch mode and print what its statements give.

    Nothing is run while a statement of the file cannot be read. Exits with 1 at the first
    statement that fails, with 2 when the file cannot be read.
    """
    text = filled(script.read(file), define or [])
    errors = Console(stderr=True, highlight=False)
    try:
        session = Session(EnvironmentSettings.in_batch_mode())
        for statement in parse_statements(text):
            run_statement(session, statement, text).print()
    except SchemaCoreError as error:
        script.show(errors, file, error.diagnostics)
        raise typer.Exit(WRONG) from None


def filled(text: str, definitions: list[str]) -> str:
    """The text with ``${NAME}`` replaced; what is not defined stays as it is.

    >>> filled("'${folder}/a' ${other}", ["folder=data"])
    "'data/a' ${other}"
    """
    pairs = dict(one.split("=", 1) for one in definitions if "=" in one)
    if len(pairs) < len(definitions):
        print("schema-core: --define takes NAME=VALUE", file=sys.stderr)
        raise typer.Exit(UNREADABLE)
    return re.sub(r"\$\{(\w+)\}", lambda found: pairs.get(found[1], found[0]), text)
