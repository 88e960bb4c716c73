"""Convert schemas to CREATE TABLE statements of other engines, and table definitions to schemas.

With the policy `note` the comment of a column contains its exact type. Losses, and all errors of
the columns of a table, are reported at once.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, assert_never

from schema_core.base.lazy import dataclass, regex
from schema_core.errors import Gathering, SchemaCoreError, UnsupportedError, at
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer
from schema_core.mappings.dialects.expressions import write_expression
from schema_core.mappings.dialects.types import (
    ForeignType,
    Losses,
    loss_of,
    read_part,
    require_distinct,
    write_name,
    write_part,
    write_type,
)
from schema_core.mappings.exact_types import parse_exact_type
from schema_core.mappings.loss import Loss
from schema_core.schema.columns import SqlExpression, UniqueConstraint
from schema_core.schema.resolved import (
    AnyColumn,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
)
from schema_core.schema.unresolved import (
    Schema,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import Call, Name
from schema_core.types import DataType, NullType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schema_core.base.text import Span
    from schema_core.mappings.dialects.column_options import ColumnDefinition
    from schema_core.mappings.dialects.engines import Engine
    from schema_core.mappings.dialects.grammar import UserTypes
    from schema_core.mappings.dialects.table_definition import TableDefinition
    from schema_core.sql.syntax import Expression

#: The start of an exact type at the end of a comment.
EXACT_TYPE_START = regex(r"(?:\A| )\[flink: ")

MAX_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class DdlStatements:
    """The statements that create a table, and the losses."""

    text: str
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class ColumnDdl:
    """The definition of a column, and its comment if that is a separate statement."""

    line: str
    name: str
    comment: str | None
    type_: str = ""  # empty for generated columns


def write_schema(
    schema: ResolvedSchema, engine: Engine, path: tuple[str, ...], *, notes: bool
) -> DdlStatements:
    """Return the statements that create a table with these columns.

    Raises:
        UnsupportedError: for types or names that the engine does not support; with code
            `missing-columns` if no column remains.
    """
    losses: Losses = []
    columns = [
        ddl
        for column in schema.columns
        if (ddl := column_ddl(column, schema, engine, losses, notes=notes)) is not None
    ]
    if not any(column.type_ or not engine.needs_stored_column for column in columns):
        raise UnsupportedError("no column of the table can be written", code="missing-columns")
    require_distinct([column.name for column in columns], engine)
    lines, tail = [column.line for column in columns], engine.tail
    key = schema.primary_key
    if key is not None and _can_have_key(key, columns, engine, losses):
        lines += _key_lines(key, engine, losses)
        if engine.key_tail:
            tail = engine.key_tail.format(columns=_quote_names(key.columns, engine))
    unsupported: list[tuple[str, object]] = [
        *(("watermark", watermark) for watermark in schema.watermark_specs),
        *(("index", index) for index in schema.indexes),
        ("immutable columns", schema.immutable_columns),
    ]
    losses += [
        loss_of((place,), "member", str(member), "")
        for place, member in unsupported
        if member is not None
    ]
    name = ".".join(map(engine.quote_name, path))
    body = ",\n".join(f"  {line}" for line in lines)
    text = f"CREATE TABLE {name} (\n{body}\n){tail}"
    for ddl in columns:
        if ddl.comment is not None:
            column_name = engine.quote_name(engine.fold_case(ddl.name))
            comment = engine.quote_string(ddl.comment)
            text += f";\nCOMMENT ON COLUMN {name}.{column_name} IS {comment}"
    return DdlStatements(text, tuple(losses))


def column_ddl(
    column: AnyColumn, schema: ResolvedSchema, engine: Engine, losses: Losses, *, notes: bool
) -> ColumnDdl | None:
    """Return the definition of a column, or None if it is omitted."""
    with at(f"column {column.name!r}"):
        place = (column.name,)
        match column:
            case PhysicalColumn():
                pass
            case MetadataColumn(virtual=True):
                losses.append(loss_of(place, "refused", column.as_summary_string(), ""))
                return None
            case MetadataColumn():
                shown = column.as_summary_string()
                losses.append(loss_of(place, "member", shown, "a physical column"))
            case ComputedColumn():
                return _write_generated(column, schema, engine, losses)
            case _:
                assert_never(column)
        before = len(losses)
        type_ = write_part(column.data_type, "column", engine, place, losses)
        comment = column.comment
        can_note = engine.comment is not None or engine.comment_statement
        is_ambiguous = comment is not None and EXACT_TYPE_START.search(comment) is not None
        if is_ambiguous or (notes and can_note and len(losses) > before):
            exact = f"[flink: {column.data_type}]"
            comment = exact if comment is None else f"{comment} {exact}"
            losses[before:] = [replace(loss, reversible=True) for loss in losses[before:]]
        name = write_name(column.name, engine, place, losses)
        line = _with_comment(f"{name} {type_}", column.name, comment, engine, losses)
        return replace(line, type_=type_)


def split_exact_type(comment: str | None) -> tuple[str | None, DataType | None]:
    """Split a comment into the original comment and the exact type at its end.

    >>> split_exact_type("the key [flink: CHAR(3)]")
    ('the key', CharType(3))
    """
    if comment is not None and comment.endswith("]"):
        for begin in islice(EXACT_TYPE_START.finditer(comment), MAX_CANDIDATES):
            if (type_ := parse_exact_type(comment[begin.end() : -1])) is not None:
                before = comment[: begin.start()]
                return before if begin[0].startswith(" ") else None, type_
    return comment, None


def _with_comment(
    line: str, name: str, comment: str | None, engine: Engine, losses: Losses
) -> ColumnDdl:
    if comment is None:
        return ColumnDdl(line, name, None)
    if not comment and not engine.stores_empty_comments:
        losses.append(loss_of((name,), "member", "the empty comment", ""))
        return ColumnDdl(line, name, None)
    if engine.comment_statement:
        return ColumnDdl(line, name, comment)
    if engine.comment is None:
        losses.append(loss_of((name,), "member", f"the comment {comment!r}", ""))
        return ColumnDdl(line, name, None)
    text = engine.comment.format(text=engine.quote_string(comment))
    return ColumnDdl(line + text, name, None)


# --- generated columns ----------------------------------------------------------------------------


def _write_generated(
    column: ComputedColumn, schema: ResolvedSchema, engine: Engine, losses: Losses
) -> ColumnDdl | None:
    """Return the definition with its expression; None if the engine would compute another value."""
    type_losses: Losses = []
    try:
        text = _write_stored_expression(column, schema, engine)
        write = partial(write_part, position="column") if engine.wraps_nullable else write_type
        type_ = write(column.data_type, engine=engine, path=(column.name,), losses=type_losses)
    except SchemaCoreError:
        losses.append(loss_of((column.name,), "refused", column.as_summary_string(), ""))
        return None
    losses += type_losses
    name = write_name(column.name, engine, (column.name,), losses)
    generated = (engine.generated or "").format(type=type_, expression=text)
    return _with_comment(f"{name} {generated}", column.name, column.comment, engine, losses)


def _write_stored_expression(column: ComputedColumn, schema: ResolvedSchema, engine: Engine) -> str:
    if engine.generated is None:
        raise UnsupportedError(
            f"{engine.name} does not support generated columns",
            code="not-representable",
        )
    expression = column.expression.written
    tree = parse_expression(expression.text) if expression.syntax is None else expression.syntax
    stored = {column.name for column in schema.columns if column.is_persisted()}
    for name in names(tree):
        if name not in stored:
            raise UnsupportedError(
                f"the column {name!r} is not in the table", code="not-representable"
            )
    return write_expression(tree, engine)


def names(expression: Expression) -> Iterator[str]:
    """Yield the first parts of all names in an expression."""
    waiting: list[object] = [expression]
    while waiting:
        match waiting.pop():
            case Name(parts=parts):
                yield parts[0]
            case Call(arguments=arguments):
                waiting += arguments


# --- keys, comments and other members -------------------------------------------------------------


def default_key_name(columns: tuple[str, ...]) -> str:
    """Return the name that Flink gives to an unnamed key."""
    return "_".join(("PK", *columns))


def _can_have_key(
    key: UniqueConstraint, columns: list[ColumnDdl], engine: Engine, losses: Losses
) -> bool:
    types = {column.name: column.type_ for column in columns}
    if engine.no_key and any(re.fullmatch(engine.no_key, types[name]) for name in key.columns):
        losses.append(loss_of(("primary key",), "member", str(key), ""))
        return False
    return True


def _key_lines(key: UniqueConstraint, engine: Engine, losses: Losses) -> list[str]:
    """Return the line of the primary key, unless it is part of the tail."""
    if engine.key is None and not engine.key_tail:
        losses.append(loss_of(("primary key",), "member", str(key), ""))
        return []
    is_named = key.name != default_key_name(key.columns)
    if is_named and (engine.key_tail or not engine.named_keys):
        losses.append(loss_of(("primary key",), "member", f"the name {key.name!r}", ""))
    if engine.key is None or engine.key_tail:
        return []
    text = engine.key.format(columns=_quote_names(key.columns, engine))
    if is_named and engine.named_keys:
        text = f"CONSTRAINT {write_name(key.name, engine, ('primary key',), losses)} {text}"
    return [text]


def _quote_names(columns: tuple[str, ...], engine: Engine) -> str:
    return ", ".join(engine.quote_name(engine.fold_case(column)) for column in columns)


# --- from table definitions -----------------------------------------------------------------------


def build_schema(
    table: TableDefinition,
    types: UserTypes,
    *,
    expression: Callable[[Span], str],
    type_text: Callable[[str], ForeignType],
    locate: Callable[[int], tuple[int, int]],
    errors: Gathering,
) -> tuple[Schema, tuple[Loss, ...]]:
    """Build the schema of a table, and its losses, with their lines and columns.

    `expression` returns Flink's SQL for a span of the script; `type_text` parses a type that
    `write_type` wrote; `locate` returns the line and column of an offset. A column that cannot be
    read is one of `errors`, and a loss.

    Raises:
        SchemaCoreError: if none of the columns can be read.
    """
    key, key_name = table.primary_key()
    reader = _TableReader(table, types, expression, type_text, locate, errors, key)
    reader.read_stored()
    if not reader.stored:
        errors.raise_all()
    columns = reader.read_columns()
    losses = reader.losses
    if not {column.name for column in columns}.issuperset(key):
        losses.append(loss_of(("primary key",), "refused", f"PRIMARY KEY ({', '.join(key)})", ""))
        key = ()
    losses += [
        _locate_loss(loss_of(("table",), "member", rest, ""), start, locate)
        for rest, start in table.dropped
    ]
    builder = Schema.new_builder().from_columns(columns)
    if key and key_name is not None:
        builder.primary_key_named(key_name, *key)
    elif key:
        builder.primary_key(*key)
    return builder.build(), tuple(_locate_loss(loss, table.span.start, locate) for loss in losses)


@dataclass(slots=True)
class _TableReader:
    """Reads the columns of a table, first those that other columns can refer to."""

    table: TableDefinition
    types: UserTypes
    expression: Callable[[Span], str]
    type_text: Callable[[str], ForeignType]
    locate: Callable[[int], tuple[int, int]]
    errors: Gathering
    key: tuple[str, ...]
    losses: Losses = field(default_factory=list)
    stored: list[tuple[ColumnDefinition, UnresolvedPhysicalColumn]] = field(default_factory=list)

    def read_stored(self) -> None:
        """Read the columns without their expressions; one without a type of Flink is omitted."""
        for definition in self.table.columns:
            with self._reading(definition):
                self.stored.append((definition, self._read_column(definition)))

    @contextmanager
    def _reading(self, definition: ColumnDefinition) -> Iterator[None]:
        """Gather an error of a column, report its loss, and locate its losses."""
        before, is_read = len(self.losses), False
        with self.errors.catching(), at(f"column {definition.name!r}", definition.span):
            yield
            is_read = True
        if not is_read:
            loss = loss_of((definition.name,), "refused", str(definition.type) or "a column", "")
            self.losses[before:] = [loss]
        self.losses[before:] = [
            _locate_loss(loss, definition.span.start, self.locate) for loss in self.losses[before:]
        ]

    def read_columns(self) -> list[UnresolvedColumn]:
        """Return all columns; expressions refer to those that are stored."""
        scope = self._scope()
        columns: list[UnresolvedColumn] = []
        for definition, plain in self.stored:
            if definition.expression is None:
                columns.append(plain)
                continue
            with self._reading(definition):
                text = partial(self.expression, definition.expression)
                columns.append(
                    _read_generated(definition, plain, scope, self.losses, text, self.key)
                )
        return columns

    def _scope(self) -> ColumnScope | None:
        try:
            return ColumnScope(
                {
                    column.name: column.data_type
                    for declared, column in self.stored
                    if declared.expression is None and isinstance(column.data_type, DataType)
                }
            )
        except SchemaCoreError:  # Flink's SQL lacks one of the types
            return None

    def _read_column(self, column: ColumnDefinition) -> UnresolvedPhysicalColumn:
        type_losses: Losses = []
        engine, place = self.table.engine, (column.name,)
        declared = self.types.expand(column.type)
        foreign = declared.type
        if column.nullable is not None:
            foreign = replace(foreign, nullable=column.nullable)
        if column.expression is not None and str(foreign) == "":
            type_: DataType = NullType()  # the type of the expression is used
        else:
            type_ = read_part(foreign, "column", engine, place, type_losses)
        type_, comment = _find_exact_type(type_, column, engine, self.type_text)
        if column.comment == comment:
            self.losses += type_losses
        self.losses += [loss_of(place, "member", text, "") for text in declared.dropped]
        self.losses += [
            _locate_loss(loss_of(place, "member", text, ""), start, self.locate)
            for text, start in column.dropped
        ]
        if column.name not in self.key or isinstance(type_, NullType) or type_ == type_.not_null():
            return UnresolvedPhysicalColumn(column.name, type_, comment)
        return UnresolvedPhysicalColumn(column.name, type_.not_null(), comment, declared=type_)


def _locate_loss(loss: Loss, start: int | None, locate: Callable[[int], tuple[int, int]]) -> Loss:
    """Return a loss with the line and column of an offset, unless it has others."""
    if start is None or loss.line:
        return loss
    line, column = locate(start)
    return replace(loss, line=line, column=column)


def _find_exact_type(
    type_: DataType,
    column: ColumnDefinition,
    engine: Engine,
    type_text: Callable[[str], ForeignType],
) -> tuple[DataType, str | None]:
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


def _read_generated(
    column: ColumnDefinition,
    plain: UnresolvedPhysicalColumn,
    scope: ColumnScope | None,
    losses: Losses,
    text: Callable[[], str],
    key: tuple[str, ...],
) -> UnresolvedColumn:
    """Return a computed column, or a physical one if Flink would compute another value.

    Columns of the primary key are physical, too.
    """
    place = (column.name,)
    try:
        if scope is None:
            raise UnsupportedError(
                "computed columns are not supported with the types of this table",
                code="not-representable",
            )
        expression, type_ = _cast_to_declared(text(), plain, scope)
    except SchemaCoreError as error:
        if isinstance(plain.data_type, NullType):
            raise
        reason = f"a physical column: {error.problem}"
        losses.append(loss_of(place, "member", "a generated column", reason))
        return plain
    if column.name in key:
        reason = "a physical column: Flink's keys have no computed columns"
        losses.append(loss_of(place, "member", "a generated column", reason))
        return replace(plain, data_type=type_.not_null())
    if type_.is_nullable and (column.nullable is False or not _is_nullable(plain)):
        losses.append(loss_of(place, "nullability", "NOT NULL", type_.as_summary_string()))
    return UnresolvedComputedColumn(column.name, SqlExpression(expression), plain.comment)


def _is_nullable(column: UnresolvedPhysicalColumn) -> bool:
    return not isinstance(column.data_type, DataType) or column.data_type.is_nullable


def _cast_to_declared(
    text: str, plain: UnresolvedPhysicalColumn, scope: ColumnScope
) -> tuple[str, DataType]:
    """Return the expression, with a cast if the declared type differs, and its type.

    Raises:
        SchemaError: for an expression that is invalid with these columns.
    """
    declared = plain.data_type
    inferred = infer(scope, parse_expression(text)).type
    if isinstance(declared, str | NullType) or inferred.nullable() == declared.nullable():
        return text, inferred
    cast = f"CAST({text} AS {declared.nullable().as_summary_string()})"
    return cast, infer(scope, parse_expression(cast)).type
