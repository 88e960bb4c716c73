"""``schema-core run FILE.sql``: run the statements of a script on Spark."""

from __future__ import annotations

import typer
from rich.console import Console

from schema_core.cli import script
from schema_core.cli.main import WRONG
from schema_core.environment.operations.dispatch import run as run_statement
from schema_core.environment.session import Session
from schema_core.environment.settings import EnvironmentSettings
from schema_core.errors import SchemaCoreError
from schema_core.sql.parser import parse_statements


def run(file: script.File, define: script.Define = None) -> None:
    """Run a script in batch mode and print the results of its statements.

    Nothing is run if a statement cannot be parsed. Exits with 1 at the first statement that fails,
    with 2 if the file cannot be read.
    """
    text = script.read(file, define)
    errors = Console(stderr=True, highlight=False)
    try:
        session = Session(EnvironmentSettings.in_batch_mode())
        for statement in parse_statements(text):
            run_statement(session, statement, text).print()
    except SchemaCoreError as error:
        script.show(errors, file, error.diagnostics)
        raise typer.Exit(WRONG) from None
