"""What a script declares of a table, made into a schema; every mistake is told at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.errors import Gathering, SchemaCoreError, at
from schema_core.formats.dialect.types import Foreign, Losses, lost, read_part, write_type
from schema_core.formats.dialect.writing import split_note
from schema_core.formats.loss import Loss
from schema_core.schema.expression import SqlExpression
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import (
    Schema,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.types import DataType, NullType

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.formats.dialect.columns import WrittenColumn
    from schema_core.formats.dialect.engines import Engine
    from schema_core.formats.dialect.reading import WrittenTable
    from schema_core.text import Span


def assemble(
    written: WrittenTable,
    *,
    expression: Callable[[Span], str],
    type_text: Callable[[str], Foreign],
) -> tuple[Schema, tuple[Loss, ...]]:
    """The schema and what got lost on the way.

    `expression` gives Flink's SQL for a part of the text, `type_text` reads a type that we wrote.

    Raises:
        SchemaCoreError: the first column that cannot be read, with all others behind it.
    """
    losses: Losses = []
    gathering = Gathering()
    key = written.key or tuple(one.name for one in written.columns if one.is_key)
    columns: list[UnresolvedColumn] = []
    for column in written.columns:
        with gathering.catching(), at(f"column {column.name!r}", column.span):
            columns.append(_column(column, written, key, losses, type_text))
    gathering.raise_all()
    stored = Schema(tuple(columns))
    for index, column in enumerate(written.columns):
        if column.expression is not None:
            columns[index] = _generated(column, stored, index, losses, expression)
    losses += [lost(("table",), "member", text, "") for text in written.beside]
    return _with_key(columns, written, key), tuple(losses)


def _column(
    column: WrittenColumn,
    written: WrittenTable,
    key: tuple[str, ...],
    losses: Losses,
    type_text: Callable[[str], Foreign],
) -> UnresolvedPhysicalColumn:
    """The column as a stored one, with the exact type where its comment notes one."""
    found: Losses = []
    engine, place = written.engine, (column.name,)
    foreign = column.type
    if column.nullable is not None:
        foreign = replace(foreign, nullable=column.nullable)
    if column.expression is not None and foreign == Foreign(""):
        type_: DataType = NullType()  # the expression will tell
    else:
        type_ = read_part(foreign, "column", engine, place, found)
    type_, comment = _noted(type_, column, engine, type_text)
    if column.comment == comment:
        losses += found
    if column.name in key and not isinstance(type_, NullType):
        type_ = type_.not_null()
    losses += [lost(place, "member", text, "") for text in column.beside]
    return UnresolvedPhysicalColumn(column.name, type_, comment)


def _noted(
    type_: DataType, column: WrittenColumn, engine: Engine, type_text: Callable[[str], Foreign]
) -> tuple[DataType, str | None]:
    """The type that the comment notes, while it still fits the one beside it; the plain comment."""
    comment, exact = split_note(column.comment)
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


def _generated(
    column: WrittenColumn,
    stored: Schema,
    index: int,
    losses: Losses,
    expression: Callable[[Span], str],
) -> UnresolvedColumn:
    """The column as a computed one, or the stored one where Flink would not compute the same."""
    plain = stored.columns[index]
    if column.expression is None or not isinstance(plain, UnresolvedPhysicalColumn):
        return plain
    try:
        text = expression(column.expression)
        computed = UnresolvedComputedColumn(column.name, SqlExpression(text), plain.comment)
        return _as_declared(computed, plain, stored, index)
    except SchemaCoreError as error:
        reason = f"an ordinary column: {error.problem}"
        losses.append(lost((column.name,), "member", "a generated column", reason))
        if isinstance(plain.data_type, NullType):
            raise
        return plain


def _as_declared(
    computed: UnresolvedComputedColumn,
    plain: UnresolvedPhysicalColumn,
    stored: Schema,
    index: int,
) -> UnresolvedComputedColumn:
    """The computed column, with a cast where the declared type is not that of the expression.

    Raises:
        SchemaError: for an expression that Flink refuses beside these columns.
    """
    declared = plain.data_type
    others = stored.columns[:index] + stored.columns[index + 1 :]
    resolver = SchemaResolver()
    resolved = resolver.resolve(Schema((*others, computed))).columns[-1]
    if isinstance(declared, str | NullType):
        return computed
    if resolved.data_type.nullable() == declared.nullable():
        return computed
    text = computed.expression.text if isinstance(computed.expression, SqlExpression) else ""
    cast = SqlExpression(f"CAST({text} AS {declared.nullable().as_summary_string()})")
    computed = replace(computed, expression=cast)
    resolver.resolve(Schema((*others, computed)))
    return computed


def _with_key(
    columns: list[UnresolvedColumn], written: WrittenTable, key: tuple[str, ...]
) -> Schema:
    builder = Schema.new_builder().from_columns(columns)
    if key and written.key_name is not None:
        builder.primary_key_named(written.key_name, *key)
    elif key:
        builder.primary_key(*key)
    return builder.build()
