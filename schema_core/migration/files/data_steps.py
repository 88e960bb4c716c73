"""Data steps of migrations: INSERT, UPDATE, DELETE and rewrites, each committed once.

UPDATE and DELETE are rewrites of all rows of the table with the same definition. Every data step is
one job that replaces or adds all of its rows in one commit, with a `CommitRecord` in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import or_
from typing import Final

from schema_core.base.paths import ObjectIdentifier, join_names
from schema_core.base.text import Span
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.environment.planner import CommitRecord
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import OnError, SchemaCoreError
from schema_core.expressions.fluent_functions import col, lit
from schema_core.mappings.dialects.definitions import schema_of, table_of
from schema_core.migration.differences import diff
from schema_core.migration.files.script_steps import Rewrite, ScriptStep
from schema_core.migration.gates.file_guard import has_older_files
from schema_core.migration.rows.data_rewrite import require_fit, validated_rewrite
from schema_core.migration.rows.validation import (
    ValidationReport,
    permanent_table,
    registered_table,
)
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import Statement

#: The options of a data step's job: a value that its column does not hold fails the job.
STRICT: Final[Mapping[str, str]] = {
    "table.exec.sink.not-null-enforcer": "ERROR",
    "table.exec.sink.type-length-enforcer": "ERROR",
}


def run_data_step(
    environment: TableEnvironment,
    identifier: ObjectIdentifier,
    step: ScriptStep,
    text: str,
    record: CommitRecord,
    new: CatalogTable | None = None,
) -> int | None:
    """Run a data step, unless its table has the record; return the number of rows if known.

    Args:
        environment: The environment, whose engine runs the job.
        identifier: The table that the step writes.
        step: The data step.
        text: The script with the step.
        record: What identifies the job of the step.
        new: The new definition of a rewrite.

    Raises:
        SchemaCoreError: of the statement and of its job; as `rewrite_table`.
    """
    jobs = environment.recorded_jobs
    with _locating(step.statements[0], text):
        jobs.ensure_storage(identifier)
        with _options(environment, STRICT), jobs.committing(record):
            return _run(environment, identifier, step, text, new)


def require_fitting_step(step: ScriptStep, text: str, reports: Iterable[ValidationReport]) -> None:
    """Require that the rows of a rewrite fit, without those that it accepts (`rows-do-not-fit`)."""
    if step.rewrite is not None:
        describe = partial(_describe_acceptance, step.rewrite)
        with _locating(step.statements[0], text):
            for report in reports:
                require_fit(report, (), describe)


def _describe_acceptance(rewrite: Rewrite, kinds: Sequence[str]) -> str:
    """Return what accepts the losses of a rewrite."""
    options = " ".join(f"--accept {kind}" for kind in kinds)
    return (
        f"write '-- accept: {', '.join(kinds)}' after the line "
        f"'-- rewrite: {join_names(rewrite.path)}' or, if the migration is already applied, run "
        f"with --validate {options}"
    )


def kind_of_step(step: ScriptStep) -> str:
    """Return the kind of a data step for the history: ``rewrite``, or the name of its statement."""
    return "rewrite" if step.rewrite is not None else type(step.statements[0]).__name__.lower()


def _run(
    environment: TableEnvironment,
    identifier: ObjectIdentifier,
    step: ScriptStep,
    text: str,
    new: CatalogTable | None,
) -> int | None:
    """Run the job of a data step; return the number of rows, None for INSERT."""
    path = identifier.as_serializable_string()
    if step.rewrite is not None:
        rows, result = validated_rewrite(
            environment,
            path,
            new or permanent_table(environment, path)[1],
            renames=column_renames_of(step),
            accept=step.rewrite.accept,
            describe_acceptance=partial(_describe_acceptance, step.rewrite),
        )
        result.wait()
        return rows
    statement = step.statements[0]
    if not isinstance(statement, syntax.Update | syntax.Delete):
        environment.execute_statement(statement, text).wait()
        return None
    entry, table = permanent_table(environment, path)
    jobs = environment.recorded_jobs
    after = jobs.rows_after(identifier, statement, text)
    rows = jobs.count_rows_to_change(identifier, statement, text)
    definition = resolve_table(origin(table), environment.schema_resolver)
    # a statement without matching rows also replaces files that are older than a column
    if rows or has_older_files(environment, entry):
        environment.replace_table(path, definition, after).wait()
    return rows


@contextmanager
def _options(environment: TableEnvironment, options: Mapping[str, str]) -> Iterator[None]:
    """Set options of an environment, which are restored afterwards."""
    config = environment.get_config()
    previous = {key: config.get_configuration().get(key) for key in options}
    try:
        for key, value in options.items():
            config.set(key, value)
        yield
    finally:
        for key, before in previous.items():
            if before is None:
                config.reset(key)
            else:
                config.set(key, before)


def count_null_values(
    environment: TableEnvironment,
    entry: FoundTable,
    step: ScriptStep,
    text: str,
    columns: Sequence[str],
) -> int:
    """Return the number of rows with NULL in one of some columns after an UPDATE or DELETE.

    The statement is not executed. Its table has the given definition meanwhile.

    Args:
        environment: The environment, whose engine reads the table.
        entry: The table as the statement reads it.
        step: The step of the statement.
        text: The script with the step.
        columns: The names of the columns.

    Raises:
        SchemaCoreError: of the statement, or if the table cannot be read.
    """
    statement, identifier = step.statements[0], entry.identifier
    if not isinstance(statement, syntax.Update | syntax.Delete) or not isinstance(
        entry.table, ResolvedCatalogTable
    ):
        return 0
    missing = reduce(or_, (col(name).is_null for name in columns))
    readable = origin(entry.table).copy(dict(entry.connector_options))
    with _locating(statement, text):
        try:
            with registered_table(environment, identifier, readable):
                after = environment.recorded_jobs.rows_after(identifier, statement, text)
                counted = after.where(missing).select(lit(1).count)
                with counted.execute().collect() as rows:
                    return int(next(iter(rows))[0])
        except SchemaCoreError as error:
            if error.code != "file-not-found":
                raise
            return 0


# --- without rows --------------------------------------------------------------------------------


def check_data_step(
    environment: TableEnvironment, identifier: ObjectIdentifier, step: ScriptStep, text: str
) -> None:
    """Resolve a data step, and change the definition as it does; rows are not written.

    Raises:
        SchemaCoreError: of the statement.
    """
    statement = step.statements[0]
    with _locating(statement, text):
        if step.rewrite is not None:
            change_definition(environment, identifier, step, text)
        elif isinstance(statement, syntax.Insert):
            environment.recorded_jobs.check_insert(statement, text)
        elif isinstance(statement, syntax.Update | syntax.Delete):
            environment.recorded_jobs.rows_after(identifier, statement, text)


def change_definition(
    environment: TableEnvironment, identifier: ObjectIdentifier, step: ScriptStep, text: str
) -> ResolvedCatalogTable:
    """Change the definition of a table as a rewrite does; return the new one.

    Raises:
        SchemaCoreError: of a statement.
    """
    path = identifier.as_serializable_string()
    for statement in step.statements:
        if isinstance(statement, syntax.CreateTable):
            _, old = permanent_table(environment, path)
            new = table_of(statement, schema_of(statement.elements, text))
            environment.alter_table(path, diff(origin(old), new))
        else:
            environment.execute_statement(statement, text)
    return permanent_table(environment, path)[1]


def column_renames_of(step: ScriptStep) -> dict[tuple[str, ...], str]:
    """Return the new names of columns by the old paths, after all RENAME of a step."""
    renames: dict[tuple[str, ...], str] = {}
    for statement in step.statements:
        change = statement.change if isinstance(statement, syntax.Alter) else None
        if not isinstance(change, syntax.RenameColumn):
            continue
        old, new = change.column.parts, change.new_name.parts[-1]
        earlier = [path for path, name in renames.items() if (*path[:-1], name) == old]
        renames[earlier[0] if earlier else old] = new
    return {path: name for path, name in renames.items() if path[-1] != name}


# --- errors --------------------------------------------------------------------------------------


def _locating(statement: Statement, text: str) -> OnError:
    """Locate errors of a data step in its statement, also those about a query of a rewrite.

    The query has the values of variables, which may be secret and are not to be shown.
    """

    def locate(error: SchemaCoreError) -> bool:
        for other in (error, *error.others):
            if other.text is not None and other.text != text:
                other.span = _find_span(other.text, other.span, statement.span, text)
            other.text, other.span = text, other.span or statement.span
        return False

    return OnError(locate)


def _find_span(query: str, span: Span | None, statement: Span, text: str) -> Span:
    """Return where a part of a query is in its statement; the statement if that is not unique."""
    part = "" if span is None else query[span.start : span.stop]
    if not part or text.count(part, statement.start, statement.stop) != 1:
        return statement
    start = text.index(part, statement.start)
    return Span(start, start + len(part))
