"""DELETE and UPDATE: their checks, and the rows of a table after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.environment.connector import check_declared_metadata
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.jobs.recovery import finish, finish_for_write, require_unchanged
from schema_core.environment.operations.data import check_names, run_job, staged_target
from schema_core.environment.operations.streaming_sinks import require_batch
from schema_core.environment.options import LENGTH_ENFORCER
from schema_core.environment.planner import (
    BoundTable,
    RowChange,
    RowChangeKind,
    SupportsRowChanges,
)
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.query import relation as relational
from schema_core.schema.columns import Column
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql import syntax
from schema_core.sql.statement_syntax import Delete, TruncateTable, Update
from schema_core.sql.type_name import type_name_of
from schema_core.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    LengthType,
    NullType,
    TimeType,
)
from schema_core.types.casts import supports_implicit_cast

#: A statement that changes rows.
Statement: TypeAlias = "Delete | Update"


def delete(session: Session, statement: Delete, text: str) -> TableResult:
    """Submit the job that deletes the rows for which the condition is TRUE."""
    return _change(session, statement, text)


def update(session: Session, statement: Update, text: str) -> TableResult:
    """Submit the job that updates the rows for which the condition is TRUE."""
    return _change(session, statement, text)


def kind_of(statement: Statement) -> RowChangeKind:
    """Return what a statement does with the rows."""
    return RowChangeKind.UPDATE if isinstance(statement, Update) else RowChangeKind.DELETE


def _change(session: Session, statement: Statement, text: str) -> TableResult:
    require_batch(session, kind_of(statement).value)
    with at_span(statement.path.span):
        identifier = session.identifier(statement.path)
        if session.temporary.kind(identifier) is None:
            finish(session, identifier)
        target = session.bind(identifier)
        check_declared_metadata(target.table, "write")
    rows = resolve_rows(session, identifier, target.table.resolved_schema, statement, text)
    return run_job(session, [partial(_prepare, session, rows, target, statement)])


def _prepare(
    session: Session, rows: ChangedRows, target: BoundTable, statement: Statement
) -> JobGraph:
    planner = _planner(session, statement)
    session.tables.require_writable(target.identifier, target.table.options)
    target = finish_for_write(session, target)
    staged = staged_target(session, target)
    change = RowChange(
        kind_of(statement),
        session.executable(rows.marked),
        rows.columns,
        session.executable(rows.condition),
        has_condition=statement.condition is not None,
    )
    with at_span(statement.path.span):
        graph = planner.change_rows(change, target)
    if staged is not None:
        graph.before_commit.append(partial(require_unchanged, session, staged))
    return graph


def _planner(session: Session, statement: Statement | TruncateTable) -> SupportsRowChanges:
    planner = session.planner
    if not isinstance(planner, SupportsRowChanges):
        raise UnsupportedError(
            f"the planner {planner.identifier!r} cannot change rows",
            code="feature-not-supported",
            span=statement.path.span,
        )
    return planner


# --- the rows of the table -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """The resolved rows of a DELETE or UPDATE.

    Attributes:
        marked: See `RowChange.rows`.
        condition: See `RowChange.condition`.
        query: The query of `marked`.
        columns: The columns that an UPDATE sets.
    """

    marked: relational.Relation
    condition: relational.Relation
    query: syntax.Select
    columns: tuple[str, ...]


def resolve_rows(
    session: Session,
    identifier: ObjectIdentifier,
    schema: ResolvedSchema,
    statement: Statement,
    text: str,
) -> ChangedRows:
    """Resolve a DELETE or UPDATE of a table.

    Raises:
        SchemaError: with code `unknown-column` or `duplicate-column` for the columns of SET,
            `not-assignable` for a value of another type.
        SchemaCoreError: of an expression.
    """
    stored = [column for column in schema.columns if column.is_persisted()]
    source = _source(identifier, statement)
    values: dict[str, syntax.Expression] = {}
    if isinstance(statement, Update):
        check_names([column for column, _ in statement.assignments], schema)
        values = _assignments(statement, stored)
    one = syntax.SelectItem(syntax.Literal(syntax.LiteralKind.EXACT, "1"))
    items = [syntax.SelectItem(value, name) for name, value in values.items()]
    checked = syntax.Select(tuple(items) or (one,), source, where=statement.condition)
    condition = session.query(checked, text)
    found = [column.type for column in relational.result_columns(condition)]
    types = dict(zip(values, found, strict=False))
    if isinstance(statement, Update):
        _require_assignable(statement, stored, found)
    query = _marked_rows(statement, schema, source, values, types, cuts=_cuts_strings(session))
    return ChangedRows(session.query(query, text), condition, query, tuple(values))


def rows_after(
    session: Session,
    identifier: ObjectIdentifier,
    schema: ResolvedSchema,
    statement: Statement,
    text: str,
) -> syntax.Query:
    """Return the query of all rows of a table after a DELETE or UPDATE.

    Raises:
        SchemaCoreError: as `resolve_rows`.
    """
    marked = resolve_rows(session, identifier, schema, statement, text).query
    if isinstance(statement, Update):
        return syntax.Select(marked.items[:-1], marked.source)
    stays = syntax.Call("IS NOT TRUE", (marked.items[-1].expression,))
    return syntax.Select(marked.items[:-1], marked.source, where=stays)


def rows_to_change(identifier: ObjectIdentifier, statement: Statement) -> syntax.Query:
    """Return the query of the number of rows that a DELETE or UPDATE changes."""
    number = syntax.SelectItem(syntax.Call("COUNT", (syntax.Star(),)))
    return syntax.Select((number,), _source(identifier, statement), where=statement.condition)


def _source(identifier: ObjectIdentifier, statement: Statement) -> syntax.Aliased:
    """Return the table, by the name by which expressions refer to it."""
    name = syntax.Name(tuple(identifier.to_list()), span=statement.path.span)
    return syntax.Aliased(syntax.TableName(name), statement.alias or statement.path.parts[-1])


def _marked_rows(
    statement: Statement,
    schema: ResolvedSchema,
    source: syntax.Aliased,
    values: Mapping[str, syntax.Expression],
    types: Mapping[str, DataType],
    *,
    cuts: bool,
) -> syntax.Select:
    """Return the query of the rows after a statement, and last whether each is changed.

    The condition is evaluated once for a row, also if it is not deterministic.
    """
    chosen = _unused_name("changed", [column.name for column in schema.columns])
    true = syntax.Literal(syntax.LiteralKind.BOOLEAN, "TRUE")
    condition = _typed_null(statement.condition or true, BooleanType())
    # in CASE, the rows of a subquery may be compared with IN: see `conditions_of`
    false = syntax.Literal(syntax.LiteralKind.BOOLEAN, "FALSE")
    marked_as = syntax.Call("CASE", (condition, true, false))
    mark = syntax.SelectItem(marked_as, chosen)
    rows = syntax.Select((syntax.SelectItem(syntax.Star()), mark), source)
    items = [
        syntax.SelectItem(
            _value_after(
                column, values.get(column.name), types.get(column.name), chosen, cuts=cuts
            ),
            column.name,
        )
        for column in schema.columns
        if column.is_persisted()
    ]
    marked = syntax.Aliased(syntax.Derived(rows), source.name)
    return syntax.Select((*items, syntax.SelectItem(syntax.Name((chosen,)))), marked)


def _value_after(
    column: Column,
    value: syntax.Expression | None,
    type_: DataType | None,
    chosen: str,
    *,
    cuts: bool,
) -> syntax.Expression:
    before = syntax.Name((column.name,))
    if value is None:
        return before
    declared = column.data_type.nullable()
    is_kept = isinstance(declared, LengthType) and not cuts
    if type_ is not None and type_.nullable() != declared and not is_kept:
        # CAST refuses a literal that does not fit; assigned, it is NULL, as in Flink
        cast = "TRY_CAST" if isinstance(declared, DecimalType) else "CAST"
        value = syntax.Call(cast, (value, type_name_of(declared)), span=value.span)
    return syntax.Call("CASE", (syntax.Name((chosen,)), value, before), span=value.span)


def _cuts_strings(session: Session) -> bool:
    """Return whether UPDATE cuts a string that exceeds the length of its column, as in Flink.

    Flink does so also if it is to be an error; here the job fails.
    """
    return LENGTH_ENFORCER.of(session.config.get_configuration()) != "ERROR"


def _assignments(statement: Update, stored: Sequence[Column]) -> dict[str, syntax.Expression]:
    """Return the expressions of SET by the names of the columns; NULL has the column's type."""
    types = {column.name: column.data_type.nullable() for column in stored}
    values: dict[str, syntax.Expression] = {}
    for column, expression in statement.assignments:
        name = column.parts[0]
        values[name] = _typed_null(expression, types[name])
    return values


def _typed_null(expression: syntax.Expression, type_: DataType) -> syntax.Expression:
    """Return an expression; NULL is cast to a type."""
    if isinstance(expression, syntax.Literal) and expression.kind is syntax.LiteralKind.NULL:
        return syntax.Call("CAST", (expression, type_name_of(type_)), span=expression.span)
    return expression


def _require_assignable(
    statement: Update, stored: Sequence[Column], types: Sequence[DataType]
) -> None:
    """Require values that cast implicitly to their columns, as those of INSERT."""
    columns = {column.name: column.data_type for column in stored}
    for (column, expression), type_ in zip(statement.assignments, types, strict=True):
        name = column.parts[0]
        declared = columns[name].nullable()
        # unlike INSERT, UPDATE assigns no timestamp to a DATE or TIME, as in Flink
        is_part = isinstance(declared, DateType | TimeType) and type(type_) is not type(declared)
        is_null = isinstance(type_, NullType)
        fits = supports_implicit_cast(type_.nullable(), declared)
        if not fits or (is_part and not is_null):
            raise SchemaError(
                f"column {name!r} is {columns[name]}, but the value is {type_}",
                code="not-assignable",
                span=expression.span,
                hint="add a CAST to the value",
            )


def _unused_name(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "_"
    return name


# --- TRUNCATE TABLE ------------------------------------------------------------------------------


def truncate(session: Session, statement: TruncateTable, text: str) -> TableResult:
    """Delete all rows of a table, in one commit."""
    require_batch(session, "TRUNCATE TABLE")
    with at_span(statement.path.span):
        identifier = session.identifier(statement.path)
        if session.temporary.kind(identifier) is None:
            finish(session, identifier)
        target = session.bind(identifier)
        planner = _planner(session, statement)
        session.tables.require_writable(identifier, target.table.options)
        planner.truncate(finish_for_write(session, target))
    return OK
