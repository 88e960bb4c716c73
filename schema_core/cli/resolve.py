"""``schema-core resolve`` and ``check``: the errors of a script, and the schemas of its tables."""

from __future__ import annotations

from enum import Enum
from textwrap import indent
from typing import Annotated, TypeAlias, assert_never

import typer
from rich.console import Console
from rich.text import Text

from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.cli import WRONG, script
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import check_definition
from schema_core.environment.dry_run import DryRunPlanner
from schema_core.environment.operations.catalog_objects import TABLE_KINDS
from schema_core.environment.operations.dispatch import run
from schema_core.environment.operations.jobs import require_closed
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
    ObjectKind,
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
    console = Console(highlight=False)
    form = Form.MERMAID if mermaid else Form.EXPLAIN if explain else Form.LISTING
    report(file, check(_session(batch=batch), text, console, form), console)


def check_script(
    file: script.File,
    batch: Annotated[bool, typer.Option("--batch", help="Without time attributes.")] = False,
    define: script.Define = None,
) -> None:
    """Check every statement of a script, and the options of its tables, without running it.

    Beyond the errors of `resolve` it reports what would fail when a table is first used: a
    connector or format that is not installed, options that are missing, unknown or invalid. Exits
    with 1 if there are errors, with 2 if the file cannot be read.
    """
    text = script.read(file, define)
    errors = check(_session(batch=batch), text, Console(highlight=False), None)
    report(file, errors, Console(highlight=False))


def _session(*, batch: bool) -> Session:
    settings = (
        EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    )
    return Session(settings, DryRunPlanner())


def report(file: script.File, errors: list[SchemaCoreError], console: Console) -> None:
    """Print errors and their number; exit with 1 if there are any."""
    script.show(console, file, [one for error in errors for one in error.diagnostics])
    if errors:
        count = sum(len(error.diagnostics) for error in errors)
        console.print(f"{count} error{'s' if count > 1 else ''}")
        raise typer.Exit(WRONG)


#: The full path of an object (catalog, database, name), or a prefix of it.
Names: TypeAlias = tuple[str, ...]


def check(
    session: Session, text: str, console: Console, form: Form | None = Form.LISTING
) -> list[SchemaCoreError]:
    """Execute every statement in the session, print created schemas, and return the errors.

    Without a form no schema is printed; the connectors of tables are checked instead.

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
                missing -= touched
                if form is None:
                    check_connector(session, statement, text)
                else:
                    described(session, statement, console, form)
            except SchemaCoreError as error:
                if not follows(error, missing):
                    errors.append(error)
                if not isinstance(error, AlreadyExistsError):
                    missing |= created(session, statement)
        require_closed(session)
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


def check_connector(session: Session, statement: Statement, text: str) -> None:
    """Check a table that was created or altered against its connector.

    Errors are placed at the option that they name, else at the statement.
    """
    match statement:
        case CreateTable(path=path, options=options):
            spans = {one.key: one.span for one in options}
        case Alter(kind=ObjectKind.TABLE, path=path) if not isinstance(statement.change, RenameTo):
            spans = {}
        case _:
            return
    found = session.found(path)
    if not isinstance(found.table, ResolvedCatalogTable):
        return
    try:
        check_definition(found.identifier, found.table)
    except SchemaCoreError as error:
        for one in (error, *error.others):
            place = f"{one.problem} {' '.join(one.path)}"
            named = (span for key, span in spans.items() if key in place)
            if one.code == "not-discovered":
                named = (spans[key] for key in ("format", "connector") if key in spans)
            one.text, one.span = text, next(named, path.span)
        raise


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
