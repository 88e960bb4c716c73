"""Build schemas from table definitions of other engines, with all errors at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from schema_core.errors import Gathering, SchemaCoreError, UnsupportedError, at
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer
from schema_core.formats.dialects.types import ForeignType, Losses, loss_of, read_part, write_type
from schema_core.formats.dialects.writing import split_exact_type
from schema_core.formats.loss import Loss
from schema_core.schema.columns import SqlExpression
from schema_core.schema.unresolved import (
    Schema,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.sql.parser import parse_expression
from schema_core.types import DataType, NullType

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.formats.dialects.engines import Engine
    from schema_core.formats.dialects.grammar import ColumnDefinition, UserTypes
    from schema_core.formats.dialects.statements import TableDefinition
    from schema_core.text import Span


def build_schema(
    written: TableDefinition,
    types: UserTypes,
    *,
    expression: Callable[[Span], str],
    type_text: Callable[[str], ForeignType],
) -> tuple[Schema, tuple[Loss, ...]]:
    """Build the schema of a table, and its losses.

    `expression` returns Flink's SQL for a span of the script; `type_text` parses a type that
    `write_type` wrote.

    Raises:
        SchemaCoreError: for the first column that cannot be read, with the errors of all others.
    """
    losses: Losses = []
    gathering = Gathering()
    key = written.key or tuple(one.name for one in written.columns if one.is_key)
    stored: list[UnresolvedPhysicalColumn] = []
    for one in written.columns:
        with gathering.catching(), at(f"column {one.name!r}", one.span):
            stored.append(_column(one, written, types, key, losses, type_text))
    gathering.raise_all()
    scope = _scope(stored, written)
    columns: list[UnresolvedColumn] = []
    for one, plain in zip(written.columns, stored, strict=True):
        if one.expression is None:
            columns.append(plain)
            continue
        with at(f"column {one.name!r}", one.span):
            text = partial(expression, one.expression)
            columns.append(_generated(one, plain, scope, losses, text))
    losses += [loss_of(("table",), "member", rest, "") for rest in written.dropped]
    return _with_key(columns, written, key), tuple(losses)


def _column(
    column: ColumnDefinition,
    written: TableDefinition,
    types: UserTypes,
    key: tuple[str, ...],
    losses: Losses,
    type_text: Callable[[str], ForeignType],
) -> UnresolvedPhysicalColumn:
    """Return the column as a physical one, with the exact type if its comment contains one."""
    found: Losses = []
    engine, place = written.engine, (column.name,)
    declared = types.expanded(column.type)
    foreign = declared.type
    if column.nullable is not None:
        foreign = replace(foreign, nullable=column.nullable)
    if column.expression is not None and foreign == ForeignType(""):
        type_: DataType = NullType()  # the type of the expression is used
    else:
        type_ = read_part(foreign, "column", engine, place, found)
    type_, comment = _exact_type(type_, column, engine, type_text)
    if column.comment == comment:
        losses += found
    losses += [loss_of(place, "member", text, "") for text in (*declared.dropped, *column.dropped)]
    if column.name not in key or isinstance(type_, NullType) or type_ == type_.not_null():
        return UnresolvedPhysicalColumn(column.name, type_, comment)
    return UnresolvedPhysicalColumn(column.name, type_.not_null(), comment, declared=type_)


def _exact_type(
    type_: DataType,
    column: ColumnDefinition,
    engine: Engine,
    type_text: Callable[[str], ForeignType],
) -> tuple[DataType, str | None]:
    """Return the exact type in the comment, if it matches, and the original comment."""
    comment, exact = split_exact_type(column.comment)
    if exact is None:
        return type_, column.comment
    try:
        again = type_text(write_type(exact, engine, (), []))
        twin = read_part(again, "column", engine, (), [])
    except SchemaCoreError:
        return type_, column.comment
    if twin.nullable() != type_.nullable():
        return type_, column.comment
    return exact, comment


# --- generated columns ----------------------------------------------------------------------------


def _generated(
    column: ColumnDefinition,
    plain: UnresolvedPhysicalColumn,
    scope: ColumnScope | None,
    losses: Losses,
    text: Callable[[], str],
) -> UnresolvedColumn:
    """Return a computed column, or a physical one if Flink would compute another value."""
    try:
        if scope is None:
            raise UnsupportedError(
                "computed columns are not supported with the types of this table",
                code="computed-column-not-supported",
            )
        return UnresolvedComputedColumn(
            column.name, SqlExpression(_cast_to_declared(text(), plain, scope)), plain.comment
        )
    except SchemaCoreError as error:
        if isinstance(plain.data_type, NullType):
            raise
        reason = f"a physical column: {error.problem}"
        losses.append(loss_of((column.name,), "member", "a generated column", reason))
        return plain


def _cast_to_declared(text: str, plain: UnresolvedPhysicalColumn, scope: ColumnScope) -> str:
    """Return the expression, with a cast if the declared type differs.

    Raises:
        SchemaError: for an expression that is invalid with these columns.
    """
    declared = plain.data_type
    found = infer(scope, parse_expression(text)).type
    if isinstance(declared, str | NullType) or found.nullable() == declared.nullable():
        return text
    cast = f"CAST({text} AS {declared.nullable().as_summary_string()})"
    infer(scope, parse_expression(cast))
    return cast


def _scope(columns: list[UnresolvedPhysicalColumn], written: TableDefinition) -> ColumnScope | None:
    """Return the scope of the physical columns; None if Flink's SQL lacks one of their types."""
    stored = {
        one.name: one.data_type
        for one, declared in zip(columns, written.columns, strict=True)
        if declared.expression is None and isinstance(one.data_type, DataType)
    }
    try:
        return ColumnScope(stored)
    except SchemaCoreError:
        return None


def _with_key(
    columns: list[UnresolvedColumn], written: TableDefinition, key: tuple[str, ...]
) -> Schema:
    builder = Schema.new_builder().from_columns(columns)
    if key and written.key_name is not None:
        builder.primary_key_named(written.key_name, *key)
    elif key:
        builder.primary_key(*key)
    return builder.build()
