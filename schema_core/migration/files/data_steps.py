"""Data steps of migrations: INSERT, UPDATE, DELETE and rewrites, each committed once.

UPDATE and DELETE are rewrites of all rows of the table with the same definition. Every data step is
one job that replaces or adds all of its rows in one commit, with a `CommitRecord` in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span, quote_identifier
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.environment.operations.data import check_names
from schema_core.environment.planner import CommitRecord
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import OnError, SchemaCoreError, SchemaError
from schema_core.mappings.dialects.definitions import schema_of, table_of
from schema_core.migration.differences import diff
from schema_core.migration.files.script_steps import ScriptStep
from schema_core.migration.rows.data_rewrite import validated_rewrite
from schema_core.migration.rows.validation import permanent_table
from schema_core.schema.columns import Column
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import Statement
from schema_core.sql.syntax import Expression, Literal, LiteralKind
from schema_core.types import DataType, LengthType
from schema_core.types.casts import supports_implicit_cast

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
        )
        result.wait()
        return rows
    statement = step.statements[0]
    if not isinstance(statement, syntax.Update | syntax.Delete):
        environment.execute_statement(statement, text).wait()
        return None
    _, table = permanent_table(environment, path)
    query = rows_after(environment, identifier, table, statement, text)
    rows = _count_rows(environment, identifier, statement, text)
    definition = resolve_table(origin(table), environment.schema_resolver)
    if rows:
        environment.replace_table(path, definition, environment.sql_query(query)).wait()
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
            _, table = permanent_table(environment, identifier.as_serializable_string())
            environment.sql_query(rows_after(environment, identifier, table, statement, text))


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


# --- UPDATE and DELETE ---------------------------------------------------------------------------


def rows_after(
    environment: TableEnvironment,
    identifier: ObjectIdentifier,
    table: ResolvedCatalogTable,
    statement: syntax.Update | syntax.Delete,
    text: str,
) -> str:
    """Return the query of all rows of a table after an UPDATE or DELETE.

    Raises:
        SchemaError: with code `unknown-column` or `duplicate-column` for the columns of SET,
            `not-assignable` for a value of another type.
        SchemaCoreError: of an expression.
    """
    stored = [column for column in table.resolved_schema.columns if column.is_persisted()]
    source, alias = _source(identifier, statement)
    condition = _condition(statement, text)
    if isinstance(statement, syntax.Delete):
        names = ", ".join(quote_identifier(column.name) for column in stored)
        return f"SELECT {names}\nFROM {source}\nWHERE ({condition}) IS NOT TRUE"
    check_names([column for column, _ in statement.assignments], table.resolved_schema)
    values = _assignments(statement, stored, text)
    types = _types_of(environment, source, values)
    _require_assignable(statement, stored, types)
    # the condition is evaluated once for a row, also if it is not deterministic
    chosen = _unused_name("updated", [column.name for column in table.resolved_schema.columns])
    lines = [
        _updated_value(column, values.get(column.name), types.get(column.name), chosen)
        for column in stored
    ]
    rows = f"SELECT *, ({condition}) AS {quote_identifier(chosen)} FROM {source}"
    return "SELECT\n  " + ",\n  ".join(lines) + f"\nFROM ({rows}) AS {alias}"


def _locating(statement: Statement, text: str) -> OnError:
    """Locate errors of a data step in its statement, also those about a query of `rows_after`.

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


def _source(
    identifier: ObjectIdentifier, statement: syntax.Update | syntax.Delete
) -> tuple[str, str]:
    """Return the item of FROM, and the name by which expressions refer to the table."""
    alias = quote_identifier(statement.alias or statement.path.parts[-1])
    return f"{identifier.as_serializable_string()} AS {alias}", alias


def _condition(statement: syntax.Update | syntax.Delete, text: str) -> str:
    return "TRUE" if statement.condition is None else _sql(statement.condition, text)


def _sql(expression: Expression, text: str) -> str:
    span: Span = expression.span
    return text[span.start : span.stop]


def _assignments(statement: syntax.Update, stored: Sequence[Column], text: str) -> dict[str, str]:
    """Return the expressions of SET by the names of the columns; NULL has the column's type."""
    types = {column.name: column.data_type.nullable() for column in stored}
    values: dict[str, str] = {}
    for column, expression in statement.assignments:
        name = column.parts[0]
        values[name] = _sql(expression, text)
        if isinstance(expression, Literal) and expression.kind is LiteralKind.NULL:
            values[name] = f"CAST(NULL AS {types[name].as_serializable_string()})"
    return values


def _types_of(
    environment: TableEnvironment, source: str, values: Mapping[str, str]
) -> dict[str, DataType]:
    """Return the types of the expressions of SET."""
    items = ", ".join(f"({value}) AS {quote_identifier(name)}" for name, value in values.items())
    schema = environment.sql_query(f"SELECT {items} FROM {source}").get_resolved_schema()
    return {column.name: column.data_type for column in schema.columns}


def _require_assignable(
    statement: syntax.Update, stored: Sequence[Column], types: Mapping[str, DataType]
) -> None:
    """Require values that cast implicitly to their columns, as those of INSERT."""
    columns = {column.name: column.data_type for column in stored}
    for column, expression in statement.assignments:
        name = column.parts[0]
        if not supports_implicit_cast(types[name].nullable(), columns[name].nullable()):
            raise SchemaError(
                f"column {name!r} is {columns[name]}, but the value is {types[name]}",
                code="not-assignable",
                span=expression.span,
                hint="add a CAST to the value",
            )


def _updated_value(column: Column, value: str | None, type_: DataType | None, chosen: str) -> str:
    name = quote_identifier(column.name)
    if value is None:
        return name
    declared = column.data_type.nullable()
    # a cast of strings would truncate them; without it, the job fails for one that is too long
    if type_ is not None and type_.nullable() != declared and not isinstance(declared, LengthType):
        value = f"CAST({value} AS {declared.as_serializable_string()})"
    return f"CASE WHEN {quote_identifier(chosen)} THEN ({value}) ELSE {name} END AS {name}"


def _unused_name(name: str, names: list[str]) -> str:
    while name in names:
        name += "_"
    return name


def _count_rows(
    environment: TableEnvironment,
    identifier: ObjectIdentifier,
    statement: syntax.Update | syntax.Delete,
    text: str,
) -> int:
    """Return the number of rows that fulfil the condition."""
    source, _ = _source(identifier, statement)
    query = f"SELECT COUNT(*) FROM {source} WHERE {_condition(statement, text)}"
    with environment.execute_sql(query).collect() as rows:
        return int(next(iter(rows))[0])
