"""``schema-core resolve FILE.sql``: what is wrong in a script, and what its tables resolve to."""

from __future__ import annotations

from enum import Enum
from textwrap import indent
from typing import Annotated, TypeAlias, assert_never

import typer
from rich.console import Console
from rich.text import Text

from schema_core.cli import script
from schema_core.cli.main import WRONG
from schema_core.environment.dry_run import DryRunPlanner
from schema_core.environment.operations.catalog_objects import TABLE_KINDS
from schema_core.environment.operations.dispatch import run
from schema_core.environment.session import Session
from schema_core.environment.settings import EnvironmentSettings
from schema_core.errors import (
    MAX_ERRORS,
    AlreadyExistsError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
)
from schema_core.paths import UnresolvedPath
from schema_core.sql.definition_syntax import RenameTo
from schema_core.sql.parser import read_statements
from schema_core.sql.statement_syntax import (
    Alter,
    CreateCatalog,
    CreateDatabase,
    CreateMaterializedTable,
    CreateTable,
    CreateView,
    Drop,
    Statement,
)
from schema_core.text import escaped


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
    mistakes = check(Session(settings, DryRunPlanner()), text, console, form)
    script.show(console, file, [one for error in mistakes for one in error.diagnostics])
    if mistakes:
        count = sum(len(error.diagnostics) for error in mistakes)
        console.print(f"{count} mistake{'s' if count > 1 else ''}")
        raise typer.Exit(WRONG)


#: The full path of an object: catalog, database, name; or the beginning of one.
Names: TypeAlias = tuple[str, ...]


def check(
    session: Session, text: str, console: Console, form: Form = Form.LISTING
) -> list[SchemaCoreError]:
    """Do every statement in the session, print what was created, and return the mistakes.

    An error that only reports as missing what an earlier, failed statement would have created is
    left out: it has the same cause. After `MAX_ERRORS` statements with mistakes the rest is not
    checked, which the last mistake says.
    """
    mistakes: list[SchemaCoreError] = []
    missing: set[Names] = set()
    try:
        for statement in read_statements(text):
            if len(mistakes) >= MAX_ERRORS:
                mistakes.append(_too_many())
                break
            if isinstance(statement, SchemaCoreError):
                mistakes.append(statement)
                continue
            touched = affected(session, statement)
            try:
                run(session, statement, text)
                described(session, statement, console, form)
                missing -= touched
            except SchemaCoreError as error:
                if not follows(error, missing):
                    mistakes.append(error)
                if not isinstance(error, AlreadyExistsError):
                    missing |= created(session, statement)
    except SchemaCoreError as error:
        mistakes.append(error)
    return mistakes


def _too_many() -> SchemaCoreError:
    return SchemaError(
        f"{MAX_ERRORS:,} statements have mistakes, and the rest of the text is not checked",
        code="too-many-errors",
        hint="correct the first of them",
    )


def created(session: Session, statement: Statement) -> set[Names]:
    """The full path of what the statement would have created, resolved in the session."""
    match statement:
        case CreateTable() | CreateView() | CreateMaterializedTable():
            return _qualified(session, statement.path.parts)
        case Alter(change=RenameTo(path=new)) if statement.kind in TABLE_KINDS:
            return {(*old[:-1], new.parts[-1]) for old in _qualified(session, statement.path.parts)}
        case CreateCatalog(path=path):
            return {path.parts[-1:]}
        case CreateDatabase(path=path):
            return _qualified(session, path.parts, of_database=True)
        case _:
            return set()


def affected(session: Session, statement: Statement) -> set[Names]:
    """The full path of what the statement creates or drops: what failed before no longer counts."""
    match statement:
        case Drop() if statement.kind in TABLE_KINDS:
            return _qualified(session, statement.path.parts)
        case _:
            return created(session, statement)


def _qualified(session: Session, parts: Names, *, of_database: bool = False) -> set[Names]:
    """The full path of the name of an object or of a database, if it has one."""
    registry = session.registry
    try:
        if of_database:
            return {registry.qualify_database(parts)}
        return {tuple(registry.qualify(UnresolvedPath(parts)).to_list())}
    except SchemaCoreError:
        return set()


def follows(error: SchemaCoreError, missing: set[Names]) -> bool:
    """Whether the error only reports as missing what failed before, or what it would contain."""
    every = (error, *error.others)
    return all(
        isinstance(one, NotFoundError)
        and any(one.names[:length] in missing for length in range(1, len(one.names) + 1))
        for one in every
    )


def described(session: Session, statement: Statement, console: Console, form: Form) -> None:
    """Print the resolved schema of what the statement made."""
    if not isinstance(statement, CreateTable | CreateView):
        return
    found = session.found(statement.path)
    name, schema = found.identifier.as_summary_string(), found.table.resolved_schema
    match form:
        case Form.LISTING:
            shown = "\n".join(escaped(line) for line in f"{name} {schema}".split("\n"))
        case Form.EXPLAIN:
            shown = f"{escaped(name)}\n{indent(str(schema.explain()), '  ')}"
        case Form.MERMAID:
            shown = f"%% {escaped(name)}\n{schema.explain().to_mermaid()}"
        case _:
            assert_never(form)
    console.print(Text(shown), soft_wrap=True)
