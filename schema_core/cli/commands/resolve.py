"""``schema-core resolve`` and ``check``: the errors of a script, and the schemas of its tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from textwrap import indent
from typing import Annotated, TypeAlias, assert_never

import typer

from schema_core.base.paths import ObjectIdentifier, UnresolvedPath, join_names
from schema_core.base.text import Span, escaped
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.cli import script
from schema_core.cli.findings import (
    FindingReport,
    Format,
    Level,
    Output,
    ReportedFinding,
    as_json,
    as_text,
    diagnostic_findings,
    finish,
)
from schema_core.environment.connector import (
    check_definition,
    find_connector,
    using,
    validate,
)
from schema_core.environment.operations.dispatch import TABLE_KINDS
from schema_core.environment.plans.dry_run import dry_run_session, dry_run_statement
from schema_core.environment.session import Session
from schema_core.errors import (
    MAX_ERRORS,
    AlreadyExistsError,
    Diagnostic,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
)
from schema_core.migration.files.variables import FilledScript
from schema_core.sql import statement_syntax
from schema_core.sql.parser import read_statements
from schema_core.sql.syntax import Call, Literal, LiteralKind


class Form(Enum):
    """The output format of a schema."""

    LISTING = "listing"
    EXPLAIN = "explain"
    MERMAID = "mermaid"


Batch = Annotated[bool, typer.Option("--batch", help="Without time attributes.")]


def resolve(
    file: script.File,
    batch: Batch = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the origin of every type.")
    ] = False,
    mermaid: Annotated[
        bool,
        typer.Option("--mermaid", help="Print the dependencies of columns as Mermaid diagrams."),
    ] = False,
    define: script.Define = None,
    output: Format = Output.TEXT,
) -> None:
    """Check every statement of a script without running it, and print the resolved schemas.

    All errors are printed with their positions. A statement that fails only because an earlier one
    failed is not reported. As HTML, the columns of tables and views are shown with those that they
    read. Nothing is changed, also in catalogs that the script opens. Exits with 1 if there are
    errors, with 2 if the file cannot be read.
    """
    filled = script.read(file, define)
    form = Form.MERMAID if mermaid else Form.EXPLAIN if explain else Form.LISTING
    schemas: dict[ObjectIdentifier, str] = {}
    parts: tuple[str, ...] = ()
    with dry_run_session(
        script.settings(batch=batch), checks_connectors=False, checks_metadata=False
    ) as session:
        errors = check(session, filled.text, describe_to(form, schemas))
        findings = findings_of(file, filled, errors)
        if output is Output.HTML:
            from schema_core.report.lineage import find_lineage, lineage_parts

            try:
                left = (path for path in schemas if session.tables.find(path) is not None)
                parts = lineage_parts(find_lineage(session, left), filled.hide_values)
            except SchemaCoreError as error:
                filled.locate_error(error)
                findings += diagnostic_findings(file, error.diagnostics, Level.WARNING)
    report = FindingReport("resolve", findings, [str(file)], html=lambda: parts)
    tables = {
        join_names(identifier.to_list()): filled.hide_values(text)
        for identifier, text in schemas.items()
    }
    document = json.loads(as_json(report)) | {"tables": tables}
    finish(replace(report, text=[*tables.values(), *as_text(report)], document=document), output)


def check_script(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scripts; - reads one from stdin.")
    ],
    setup: Annotated[
        Path | None,
        typer.Option(help="A script whose statements precede those of each file."),
    ] = None,
    batch: Batch = False,
    define: script.Define = None,
    output: Format = Output.TEXT,
) -> None:
    """Check every statement of scripts, and the options of their tables, without running them.

    Beyond the errors of `resolve` it reports what would fail when a table is first used: a
    connector or format that is not installed, options that are missing, unknown or invalid, and
    metadata columns that the connector does not have. It warns of calls that return a value for a
    string that does not match a pattern, as in Flink. Each file is a session of its own. Nothing
    is changed, also in catalogs that a script opens. Exits with 1 if there are errors, with 2 if a
    file cannot be read.
    """
    before = None if setup is None else script.read(setup, define)
    scripts = [(file, script.read(file, define)) for file in files]
    findings: dict[ReportedFinding, None] = {}  # errors of the setup are those of every file
    for file, filled in scripts:
        with dry_run_session(script.settings(batch=batch)) as session:
            if setup is not None and before is not None:
                errors = check(session, before.text, definitions=True)
                findings |= dict.fromkeys(findings_of(setup, before, errors))
            findings |= dict.fromkeys(_check_file(session, file, filled))
    finish(FindingReport("check", list(findings), [str(file) for file in files]), output)


def _check_file(session: Session, file: Path, filled: FilledScript) -> list[ReportedFinding]:
    correct: list[statement_syntax.Statement] = []
    errors = check(
        session, filled.text, lambda _, statement: correct.append(statement), definitions=True
    )
    warnings = [
        replace(warning, span=filled.locate(warning.span or Span(0, 0)), text=filled.source)
        for statement in correct
        for warning in lenient_calls(statement, filled.text)
    ]
    return [*findings_of(file, filled, errors), *diagnostic_findings(file, warnings, Level.WARNING)]


def findings_of(
    file: Path, filled: FilledScript, errors: Iterable[SchemaCoreError]
) -> list[ReportedFinding]:
    """Return errors of a script, located in its source, as findings; `not-checked` is a note."""
    return [
        finding
        for error in errors
        for finding in diagnostic_findings(
            file, filled.locate_error(error).diagnostics, LEVELS.get(error.code, Level.ERROR)
        )
    ]


#: Code -> the level of a finding that is not an error.
LEVELS = {"not-checked": Level.NOTE}

#: The full path of an object, or a prefix of it.
Names: TypeAlias = tuple[str, ...]


def check(
    session: Session,
    text: str,
    keep: Callable[[Session, statement_syntax.Statement], None] = lambda *_: None,
    *,
    definitions: bool = False,
) -> list[SchemaCoreError]:
    """Execute every statement in the session of a dry run, and return the errors.

    Errors only about objects of earlier, failed statements are omitted. After `MAX_ERRORS` errors,
    the last one reports that the rest is not checked.

    Args:
        session: A session of `dry_run_session`.
        text: The script.
        keep: Called after each statement without errors.
        definitions: Whether tables are checked against their connectors when they are defined.
    """
    errors: list[SchemaCoreError] = []
    missing: set[Names] = set()
    unusable: set[str] = set()
    try:
        for statement in read_statements(text):
            if len(errors) >= MAX_ERRORS:
                message = (
                    f"{MAX_ERRORS:,} statements have errors; the rest of the script is not checked"
                )
                errors.append(
                    SchemaError(message, code="too-many-errors", hint="correct the first ones")
                )
                break
            if isinstance(statement, SchemaCoreError):
                errors.append(statement)
                continue
            touched = names_affected(session, statement)
            try:
                dry_run_statement(session, statement, text)
                missing -= touched
                keep(session, statement)
            except SchemaCoreError as error:
                used = error.path[0].split(" table ", 1)[-1] if error.path else ""
                if not is_consequence(error, missing) and used not in unusable:
                    errors.append(error)
                if error.code == "not-checked":
                    return errors
                if not isinstance(error, AlreadyExistsError):
                    missing |= names_created(session, statement)
                    if definitions:
                        errors += check_options(session, statement, text)
                continue
            if definitions:
                errors += check_connector(session, statement, text, unusable)
        session.require_no_open_set()
    except SchemaCoreError as error:
        errors.append(error)
    return errors


def names_created(session: Session, statement: statement_syntax.Statement) -> set[Names]:
    """Return the full paths that a statement would have created."""
    match statement:
        case (
            statement_syntax.CreateTable()
            | statement_syntax.CreateView()
            | statement_syntax.CreateMaterializedTable()
        ):
            return _qualify_names(session, statement.path.parts)
        case statement_syntax.Alter(change=statement_syntax.RenameTo(path=new)) if (
            statement.kind in TABLE_KINDS
        ):
            return {
                (*old[:-1], new.parts[-1]) for old in _qualify_names(session, statement.path.parts)
            }
        case statement_syntax.CreateCatalog(path=path):
            return {path.parts[-1:]}
        case statement_syntax.CreateDatabase(path=path):
            return _qualify_names(session, path.parts, of_database=True)
        case _:
            return set()


def names_affected(session: Session, statement: statement_syntax.Statement) -> set[Names]:
    """Return the full paths that a statement creates or drops."""
    if isinstance(statement, statement_syntax.Drop) and statement.kind in TABLE_KINDS:
        return _qualify_names(session, statement.path.parts)
    return names_created(session, statement)


def _qualify_names(session: Session, parts: Names, *, of_database: bool = False) -> set[Names]:
    registry = session.registry
    try:
        if of_database:
            return {registry.qualify_database(parts)}
        return {tuple(registry.qualify(UnresolvedPath(parts)).to_list())}
    except SchemaCoreError:
        return set()


def is_consequence(error: SchemaCoreError, missing: set[Names]) -> bool:
    """Return whether an error reports only objects of failed statements as missing."""
    return all(
        isinstance(part, NotFoundError)
        and any(part.names[:length] in missing for length in range(1, len(part.names) + 1))
        for part in (error, *error.others)
    )


def check_connector(
    session: Session, statement: statement_syntax.Statement, text: str, unusable: set[str]
) -> list[SchemaCoreError]:
    """Check a created or altered table against its connector; return the errors.

    They are placed at the option or column that they name, else at the table, which is added to
    `unusable`.
    """
    match statement:
        case statement_syntax.CreateTable(path=path, options=options, elements=elements):
            spans = {option.key: option.span for option in options}
            columns = {column.name: column.span for column in elements.columns}
        case statement_syntax.Alter(kind=statement_syntax.ObjectKind.TABLE, path=path) if (
            not isinstance(statement.change, statement_syntax.RenameTo)
        ):
            spans, columns = {}, {}
        case _:
            return []
    entry = session.look_up(path)
    if not isinstance(entry.table, ResolvedCatalogTable):
        return []
    name = entry.identifier.as_summary_string()
    unusable.discard(name)
    try:
        check_definition(entry.identifier, session.bind_found(entry).table)
    except SchemaCoreError as error:
        unusable.add(name)
        return [_locate_error(error, spans, columns, text, path.span)]
    return []


def check_options(
    session: Session, statement: statement_syntax.Statement, text: str
) -> list[SchemaCoreError]:
    """Check the options of a table that cannot be created, for example for its columns.

    Options of LIKE, and the connector of a managed table, are unknown.
    """
    if not isinstance(statement, statement_syntax.CreateTable) or statement.like is not None:
        return []
    values = {option.key: option.value for option in statement.options}
    if "connector" not in values:
        return []
    try:
        with using(session.identifier(statement.path), values, "use"):
            validate(find_connector(values), values)
    except SchemaCoreError as error:
        spans = {option.key: option.span for option in statement.options}
        return [_locate_error(error, spans, {}, text, statement.path.span)]
    return []


def _locate_error(
    error: SchemaCoreError,
    options: Mapping[str, Span],
    columns: Mapping[str, Span],
    text: str,
    default: Span,
) -> SchemaCoreError:
    """Place an error and its others at the option or column that they name."""
    for other in (error, *error.others):
        place = f"{other.problem} {' '.join(other.path)}"
        spans = [span for key, span in options.items() if key in place]
        spans += [span for key, span in columns.items() if f"'{key}'" in place]
        if other.code == "factory-not-found":
            kinds = (key for key in ("connector", "format") if f"no {key} " in other.problem)
            spans = [options[key] for key in kinds if key in options] or spans
        other.text, other.span = text, next(iter(spans), default)
    return error


def describe_to(
    form: Form, shown: dict[ObjectIdentifier, str]
) -> Callable[[Session, statement_syntax.Statement], None]:
    """Return a function that adds the schema of a created table or view to `shown`."""

    def add(session: Session, statement: statement_syntax.Statement) -> None:
        if isinstance(statement, statement_syntax.CreateTable | statement_syntax.CreateView):
            entry = session.look_up(statement.path)
            shown[entry.identifier] = describe_table(entry, form)

    return add


def describe_table(entry: FoundTable, form: Form) -> str:
    """Return the resolved schema of a table or view."""
    name, schema = join_names(entry.identifier.to_list()), entry.table.resolved_schema
    match form:
        case Form.LISTING:
            return "\n".join(escaped(line) for line in f"{name} {schema}".split("\n"))
        case Form.EXPLAIN:
            return f"{escaped(name)}\n{indent(str(schema.explain()), '  ')}"
        case Form.MERMAID:
            return f"%% {escaped(name)}\n{schema.explain().to_mermaid()}"
        case _:
            assert_never(form)


# --- warnings ------------------------------------------------------------------------------------

#: (function, number of arguments) -> Flink's result for a string that does not match the pattern.
LENIENT_RESULTS = {
    ("TO_DATE", 2): "a date in the year 1705471",
    ("UNIX_TIMESTAMP", 1): "-9223372036854775808",
    ("UNIX_TIMESTAMP", 2): "-9223372036854775808",
}

#: The pattern of UNIX_TIMESTAMP without a second argument.
DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"


def lenient_calls(statement: statement_syntax.Statement, text: str) -> Iterator[Diagnostic]:
    """Yield a warning for each call that returns a value for a string that does not match.

    Literals that match are not reported.
    """
    pending: list[object] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple | list):
            pending += reversed(node)
        elif is_dataclass(node):
            pending += [getattr(node, field.name) for field in reversed(fields(node))]
        if not isinstance(node, Call):
            continue
        result = LENIENT_RESULTS.get((node.name, len(node.arguments)))
        if result is None or _matches(node):
            continue
        hint = "filter the rows that do not match, for example by TRY_CAST or SIMILAR TO"
        if node.name == "TO_DATE":
            hint = "TO_DATE without a pattern and TRY_CAST(... AS DATE) return NULL"
        yield Diagnostic(
            "lenient-pattern",
            f"{node.name} returns {result} for a string that does not match the pattern",
            hint=hint,
            span=node.span,
            text=text,
        )


def _matches(call: Call) -> bool:
    texts = [
        argument.text
        for argument in call.arguments
        if isinstance(argument, Literal) and argument.kind is LiteralKind.STRING
    ]
    if len(texts) != len(call.arguments):
        return False
    from schema_core.spark.compiler.udfs.java_dates import UNPARSEABLE, simple_parse

    return simple_parse(texts[0], (*texts, DEFAULT_PATTERN)[1], "UTC") != UNPARSEABLE
