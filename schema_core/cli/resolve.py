"""``schema-core resolve FILE.sql``: the errors of a script, and the schemas of its tables."""

from __future__ import annotations

from enum import Enum
from textwrap import indent
from typing import Annotated, TypeAlias, assert_never

import typer
from rich.console import Console
from rich.text import Text

from schema_core.cli import WRONG, script
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.dry_run import DryRunPlanner
from schema_core.environment.operations.catalog_objects import TABLE_KINDS
from schema_core.environment.operations.dispatch import run
from schema_core.environment.session import Session
from schema_core.errors import (
    MAX_ERRORS,
    AlreadyExistsError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
)
from schema_core.paths import UnresolvedPath
from schema_core.sql.parser import read_statements
from schema_core.sql.statement_syntax import (
    Alter,
    CreateCatalog,
    CreateDatabase,
    CreateMaterializedTable,
    CreateTable,
    CreateView,
    Drop,
    RenameTo,
    Statement,
)
from schema_core.text import escaped


class Form(Enum):
    """The output format of a schema."""

    LISTING = "listing"
    EXPLAIN = "explain"
    MERMAID = "mermaid"


def resolve(
    file: script.File,
    batch: Annotated[bool, typer.Option("--batch", help="Without time attributes.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the origin of every type.")
    ] = False,
    mermaid: Annotated[
        bool,
        typer.Option("--mermaid", help="Print the dependencies of columns as Mermaid diagrams."),
    ] = False,
    define: script.Define = None,
) -> None:
    """Check every statement of a script without running it, and print the resolved schemas.

    All errors are printed with their positions. A statement that fails only because an earlier one
    failed is not reported. Exits with 1 if there are errors, with 2 if the file cannot be read.
    """
    text = script.read(file, define)
    settings = (
        EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    )
    console = Console(highlight=False)
    form = Form.MERMAID if mermaid else Form.EXPLAIN if explain else Form.LISTING
    errors = check(Session(settings, DryRunPlanner()), text, console, form)
    script.show(console, file, [one for error in errors for one in error.diagnostics])
    if errors:
        count = sum(len(error.diagnostics) for error in errors)
        console.print(f"{count} error{'s' if count > 1 else ''}")
        raise typer.Exit(WRONG)


#: The full path of an object (catalog, database, name), or a prefix of it.
Names: TypeAlias = tuple[str, ...]


def check(
    session: Session, text: str, console: Console, form: Form = Form.LISTING
) -> list[SchemaCoreError]:
    """Execute every statement in the session, print created schemas, and return the errors.

    An error that only reports as missing what an earlier, failed statement would have created is
    omitted: it has the same cause. After `MAX_ERRORS` statements with errors, the rest is not
    checked, and the last error reports this.
    """
    errors: list[SchemaCoreError] = []
    missing: set[Names] = set()
    try:
        for statement in read_statements(text):
            if len(errors) >= MAX_ERRORS:
                errors.append(_too_many())
                break
            if isinstance(statement, SchemaCoreError):
                errors.append(statement)
                continue
            touched = affected(session, statement)
            try:
                run(session, statement, text)
                described(session, statement, console, form)
                missing -= touched
            except SchemaCoreError as error:
                if not follows(error, missing):
                    errors.append(error)
                if not isinstance(error, AlreadyExistsError):
                    missing |= created(session, statement)
    except SchemaCoreError as error:
        errors.append(error)
    return errors


def _too_many() -> SchemaCoreError:
    return SchemaError(
        f"{MAX_ERRORS:,} statements have errors; the rest of the script is not checked",
        code="too-many-errors",
        hint="correct the first ones",
    )


def created(session: Session, statement: Statement) -> set[Names]:
    """Return the full paths of what the statement would have created."""
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
    """Return the full paths of what the statement creates or drops."""
    match statement:
        case Drop() if statement.kind in TABLE_KINDS:
            return _qualified(session, statement.path.parts)
        case _:
            return created(session, statement)


def _qualified(session: Session, parts: Names, *, of_database: bool = False) -> set[Names]:
    """Return the full path of an object or a database, if the name can be qualified."""
    registry = session.registry
    try:
        if of_database:
            return {registry.qualify_database(parts)}
        return {tuple(registry.qualify(UnresolvedPath(parts)).to_list())}
    except SchemaCoreError:
        return set()


def follows(error: SchemaCoreError, missing: set[Names]) -> bool:
    """Return whether an error reports only objects that failed before as missing."""
    every = (error, *error.others)
    return all(
        isinstance(one, NotFoundError)
        and any(one.names[:length] in missing for length in range(1, len(one.names) + 1))
        for one in every
    )


def described(session: Session, statement: Statement, console: Console, form: Form) -> None:
    """Print the resolved schema of a created table or view."""
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
