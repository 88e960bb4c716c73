"""``schema-core resolve FILE.sql``: what is wrong in a script, and what its tables resolve to."""

from __future__ import annotations

from enum import Enum
from textwrap import indent
from typing import Annotated, assert_never

import typer
from rich.console import Console
from rich.text import Text

from schema_core.cli import script
from schema_core.cli.main import WRONG
from schema_core.environment.operations.dispatch import run
from schema_core.environment.rehearsal import Rehearsal
from schema_core.environment.session import Session
from schema_core.environment.settings import EnvironmentSettings
from schema_core.errors import SchemaCoreError
from schema_core.sql.statement import read_statements
from schema_core.sql.statement_syntax import CreateTable, CreateView, Statement
from schema_core.text import visible


class Form(Enum):
    """How the schema of a table is printed."""

    LISTING = "listing"
    EXPLAIN = "explain"
    MERMAID = "mermaid"


def resolve(
    file: script.File,
    batch: Annotated[bool, typer.Option("--batch", help="Without time attributes.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say where every type comes from.")
    ] = False,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="Draw what is computed of what, for Mermaid.")
    ] = False,
    define: script.Define = None,
) -> None:
    """Check every statement of a script without running it, and print the resolved schemas.

    All mistakes are printed, each with its place. A statement that only fails because an earlier
    one did is not reported again. Exits with 1 when there is a mistake, with 2 when the file
    cannot be read.
    """
    text = script.read(file, define)
    settings = (
        EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    )
    console = Console(highlight=False)
    form = Form.MERMAID if mermaid else Form.EXPLAIN if explain else Form.LISTING
    mistakes = check(Session(settings, Rehearsal()), text, console, form)
    script.show(console, file, [one for error in mistakes for one in error.diagnostics])
    if mistakes:
        count = sum(len(error.diagnostics) for error in mistakes)
        console.print(f"{count} mistake{'s' if count > 1 else ''}")
        raise typer.Exit(WRONG)


def check(
    session: Session, text: str, console: Console, form: Form = Form.LISTING
) -> list[SchemaCoreError]:
    """Do every statement in the session, print what was created, and give back the mistakes."""
    mistakes: list[SchemaCoreError] = []
    missing: set[str] = set()
    try:
        for statement in read_statements(text):
            if isinstance(statement, SchemaCoreError):
                mistakes.append(statement)
                continue
            try:
                run(session, statement, text)
                described(session, statement, console, form)
            except SchemaCoreError as error:
                missing |= created(statement)
                if not follows(error, missing):
                    mistakes.append(error)
    except SchemaCoreError as error:
        mistakes.append(error)
    return mistakes


def created(statement: Statement) -> set[str]:
    """The name of what the statement would have made."""
    match statement:
        case CreateTable(path=path) | CreateView(path=path):
            return {path.parts[-1]}
        case _:
            return set()


def follows(error: SchemaCoreError, missing: set[str]) -> bool:
    """Whether the error only says that something is not there whose statement failed before."""
    if error.code != "table-not-found" or error.text is None or error.span is None:
        return False
    named = error.text[error.span.start : error.span.stop]
    return any(name in named for name in missing)


def described(session: Session, statement: Statement, console: Console, form: Form) -> None:
    """Print the resolved schema of what the statement made."""
    if not isinstance(statement, CreateTable | CreateView):
        return
    found = session.found(statement.path)
    name, schema = found.identifier.as_summary_string(), found.table.resolved_schema
    match form:
        case Form.LISTING:
            shown = "\n".join(visible(line) for line in f"{name} {schema}".split("\n"))
        case Form.EXPLAIN:
            shown = f"{visible(name)}\n{indent(str(schema.explain()), '  ')}"
        case Form.MERMAID:
            shown = f"%% {visible(name)}\n{schema.explain().to_mermaid()}"
        case _:
            assert_never(form)
    console.print(Text(shown), soft_wrap=True)
