"""ALTER TABLE: columns added, modified, dropped and renamed, and what speaks of a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from schema_core.catalog.objects import CatalogTable
from schema_core.environment.operations.definitions import column_of, names_in, promoted
from schema_core.errors import SchemaError, UnsupportedError, at, similar
from schema_core.schema.expression import SqlExpression
from schema_core.schema.members import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    Written,
)
from schema_core.schema.unresolved import Schema
from schema_core.sql.definition_syntax import PlacedColumn
from schema_core.sql.expression import parse_expression
from schema_core.sql.syntax import Name


def _name(name: Name) -> str:
    """The name of a column.

    Raises:
        UnsupportedError: with code `nested-column` for the path of a field.
    """
    if len(name.parts) > 1:
        raise UnsupportedError(
            "fields of a column cannot be changed alone",
            code="nested-column",
            span=name.span,
            hint="modify the whole column",
        )
    return name.parts[0]


def _require_once(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"column {name!r} is named twice", code="duplicate-column")
        seen.add(name)


def _require_known(name: Name, columns: Sequence[UnresolvedColumn]) -> int:
    """Where the column stands.

    Raises:
        SchemaError: with code `unknown-column`.
    """
    known = [column.name for column in columns]
    if name.parts[-1] not in known:
        raise SchemaError(
            f"there is no column {name.parts[-1]!r}",
            code="unknown-column",
            span=name.span,
            hint=similar(name.parts[-1], known),
        )
    return known.index(name.parts[-1])


def _place(columns: list[UnresolvedColumn], column: UnresolvedColumn, placed: PlacedColumn) -> None:
    """Put a column where it is to go: first, after another one, or last."""
    if placed.first:
        columns.insert(0, column)
    elif placed.after is not None:
        _name(placed.after)
        columns.insert(_require_known(placed.after, columns) + 1, column)
    else:
        columns.append(column)


# --- added and modified --------------------------------------------------------------------------


def added(schema: Schema, new: Sequence[PlacedColumn], text: str) -> Schema:
    """The schema with more columns, each where it is to go.

    Raises:
        SchemaError: with code `duplicate-column` or `unknown-column`.
    """
    columns = list(schema.columns)
    for placed in new:
        name = _name(placed.name)
        with at(f"column {name!r}", placed.name.span):
            if any(column.name == name for column in columns):
                raise SchemaError("the table has a column of this name", code="duplicate-column")
            _place(columns, column_of(placed.column, text), placed)
    return replace(schema, columns=tuple(columns))


def modified(schema: Schema, new: Sequence[PlacedColumn], text: str) -> Schema:
    """The schema with other definitions of some columns.

    A comment that is not given stays; columns of the primary key stay NOT NULL.

    Raises:
        SchemaError: with code `duplicate-column` or `unknown-column`.
    """
    _require_once(_name(placed.name) for placed in new)
    key = schema.primary_key.column_names if schema.primary_key else ()
    columns = list(schema.columns)
    for placed in new:
        with at(f"column {placed.name.parts[-1]!r}", placed.name.span):
            position = _require_known(placed.name, columns)
            old, column = columns[position], column_of(placed.column, text)
            if column.comment is None:
                column = replace(column, comment=old.comment)
            if isinstance(column, UnresolvedPhysicalColumn) and column.name in key:
                column = promoted(column)
            if placed.first or placed.after is not None:
                _move(columns, position, column, placed)
            else:
                columns[position] = column
    return replace(schema, columns=tuple(columns))


def _move(
    columns: list[UnresolvedColumn], position: int, column: UnresolvedColumn, placed: PlacedColumn
) -> None:
    """Take the column out and put it elsewhere; AFTER itself puts it first, as in Flink."""
    del columns[position]
    if placed.after is not None and placed.after.parts[-1] == column.name:
        columns.insert(0, column)
    else:
        _place(columns, column, placed)


# --- dropped and renamed -------------------------------------------------------------------------


def _read_by(expression: Written) -> set[str]:
    """The columns that an expression reads."""
    if not isinstance(expression, SqlExpression):
        expression = expression.written
    tree = expression.syntax or parse_expression(expression.text)
    return {name.parts[0] for name in names_in(tree)}


#: what may speak of a column -> the columns it speaks of
REFERENCES: dict[str, Callable[[CatalogTable], Iterable[str]]] = {
    "a partition key": lambda table: table.partition_keys,
    "the distribution": lambda table: table.distribution.bucket_keys if table.distribution else (),
    "the watermark": lambda table: [
        name
        for spec in table.schema.watermark_specs
        for name in {spec.column_name, *_read_by(spec.watermark_expression)}
    ],
    "an index": lambda table: [
        name for index in table.schema.indexes for name in index.column_names
    ],
    "the immutable columns": lambda table: (
        table.schema.immutable_columns.column_names if table.schema.immutable_columns else ()
    ),
}

#: the primary key may be renamed along with a column, but not lose one
KEY: dict[str, Callable[[CatalogTable], Iterable[str]]] = {
    "the primary key": lambda table: (
        table.schema.primary_key.column_names if table.schema.primary_key else ()
    ),
}


def _require_free(
    name: str,
    table: CatalogTable,
    references: dict[str, Callable[[CatalogTable], Iterable[str]]],
    dropped: Iterable[str] = (),
) -> None:
    """Require that nothing that stays speaks of the column.

    Raises:
        SchemaError: with code `still-referenced`.
    """
    gone = set(dropped)
    for column in table.schema.columns:
        if (
            isinstance(column, UnresolvedComputedColumn)
            and column.name not in gone
            and name in _read_by(column.expression)
        ):
            raise SchemaError(
                f"column {name!r} is read by column {column.name!r}", code="still-referenced"
            )
    for what, columns in references.items():
        if name in columns(table):
            raise SchemaError(f"column {name!r} is used by {what}", code="still-referenced")


def dropped(table: CatalogTable, names: Sequence[Name]) -> CatalogTable:
    """The table without some columns.

    Raises:
        SchemaError: with code `unknown-column`, `duplicate-column` or `still-referenced`.
    """
    gone = [_name(name) for name in names]
    _require_once(gone)
    for name in names:
        _require_known(name, table.schema.columns)
        _require_free(name.parts[0], table, {**REFERENCES, **KEY}, gone)
    kept = tuple(column for column in table.schema.columns if column.name not in gone)
    return replace(table, schema=replace(table.schema, columns=kept))


def renamed(table: CatalogTable, old: Name, new: Name) -> CatalogTable:
    """The table with another name of a column; the primary key follows.

    Raises:
        SchemaError: with code `unknown-column`, `duplicate-column` or `still-referenced`.
    """
    before, after = _name(old), _name(new)
    position = _require_known(old, table.schema.columns)
    if any(column.name == after for column in table.schema.columns):
        raise SchemaError(
            f"the table has a column {after!r}", code="duplicate-column", span=new.span
        )
    _require_free(before, table, REFERENCES)
    columns = list(table.schema.columns)
    columns[position] = replace(columns[position], name=after)
    key = table.schema.primary_key
    if key is not None:
        names = tuple(after if name == before else name for name in key.column_names)
        key = replace(key, column_names=names)
    schema = replace(table.schema, columns=tuple(columns), primary_key=key)
    return replace(table, schema=schema)
