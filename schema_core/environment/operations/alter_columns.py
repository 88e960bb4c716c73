"""ALTER TABLE: columns added, modified, dropped and renamed, and what speaks of a column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from schema_core.catalog.objects import CatalogTable
from schema_core.environment.operations.definitions import column_of, names_in, promoted
from schema_core.errors import SchemaError, UnsupportedError, at, similar
from schema_core.schema.columns import (
    SqlExpression,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    Written,
)
from schema_core.schema.unresolved import Schema
from schema_core.sql.definition_syntax import PlacedColumn
from schema_core.sql.parser import parse_expression
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


def _require_known(name: Name, columns: Collection[str]) -> None:
    """Require a column of that name.

    Raises:
        SchemaError: with code `unknown-column`.
    """
    if name.parts[-1] not in columns:
        raise SchemaError(
            f"there is no column {name.parts[-1]!r}",
            code="unknown-column",
            span=name.span,
            hint=similar(name.parts[-1], columns),
        )


class Ordered:
    """Columns by name and in order. Each step takes the same time, however many there are."""

    def __init__(self, columns: Iterable[UnresolvedColumn]) -> None:
        self.columns: dict[str, UnresolvedColumn] = {}
        self._next: dict[str | None, str | None] = {None: None}
        self._previous: dict[str | None, str | None] = {None: None}
        for column in columns:
            self.insert_after(self._previous[None], column)

    def insert_after(self, before: str | None, column: UnresolvedColumn) -> None:
        """Insert a column after another one, or first."""
        after, name = self._next[before], column.name
        self._next[before] = self._previous[after] = name
        self._next[name], self._previous[name] = after, before
        self.columns[name] = column

    def remove(self, name: str) -> None:
        """Remove a column."""
        before, after = self._previous.pop(name), self._next.pop(name)
        self._next[before], self._previous[after] = after, before
        del self.columns[name]

    def place(self, column: UnresolvedColumn, placed: PlacedColumn) -> None:
        """Insert a column where it is to go: first, after another one, or last.

        Raises:
            SchemaError: with code `unknown-column`.
        """
        if placed.first:
            self.insert_after(None, column)
        elif placed.after is not None:
            name = _name(placed.after)
            _require_known(placed.after, self.columns)
            self.insert_after(name, column)
        else:
            self.insert_after(self._previous[None], column)

    def __iter__(self) -> Iterator[UnresolvedColumn]:
        name = self._next[None]
        while name is not None:
            yield self.columns[name]
            name = self._next[name]


class Appended:
    """Columns by name, to which others are only appended: a small part of the work of `Ordered`."""

    def __init__(self, columns: Iterable[UnresolvedColumn]) -> None:
        self.columns = {column.name: column for column in columns}

    def place(self, column: UnresolvedColumn, placed: PlacedColumn) -> None:
        """Append a column."""
        del placed
        self.columns[column.name] = column

    def __iter__(self) -> Iterator[UnresolvedColumn]:
        return iter(self.columns.values())


# --- added and modified --------------------------------------------------------------------------


def added(schema: Schema, new: Sequence[PlacedColumn], text: str) -> Schema:
    """The schema with more columns, each where it is to go.

    Raises:
        SchemaError: with code `duplicate-column` or `unknown-column`.
    """
    last = not any(placed.first or placed.after is not None for placed in new)
    columns = Appended(schema.columns) if last else Ordered(schema.columns)
    for placed in new:
        name = _name(placed.name)
        with at(f"column {name!r}", placed.name.span):
            if name in columns.columns:
                raise SchemaError("the table has a column of this name", code="duplicate-column")
            columns.place(column_of(placed.column, text), placed)
    return replace(schema, columns=tuple(columns))


def modified(schema: Schema, new: Sequence[PlacedColumn], text: str) -> Schema:
    """The schema with other definitions of some columns.

    A comment that is not given stays; columns of the primary key stay NOT NULL.

    Raises:
        SchemaError: with code `duplicate-column` or `unknown-column`.
    """
    _require_once(_name(placed.name) for placed in new)
    key = schema.primary_key.column_names if schema.primary_key else ()
    columns = Ordered(schema.columns)
    for placed in new:
        with at(f"column {placed.name.parts[-1]!r}", placed.name.span):
            _require_known(placed.name, columns.columns)
            old, column = columns.columns[placed.name.parts[-1]], column_of(placed.column, text)
            if column.comment is None:
                column = replace(column, comment=old.comment)
            if isinstance(column, UnresolvedPhysicalColumn) and column.name in key:
                column = promoted(column)
            if placed.first or placed.after is not None:
                _move(columns, column, placed)
            else:
                columns.columns[column.name] = column
    return replace(schema, columns=tuple(columns))


def _move(columns: Ordered, column: UnresolvedColumn, placed: PlacedColumn) -> None:
    """Move a column; AFTER itself moves it to the start, as in Flink."""
    columns.remove(column.name)
    if placed.after is not None and placed.after.parts[-1] == column.name:
        columns.insert_after(None, column)
    else:
        columns.place(column, placed)


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


def _uses(
    table: CatalogTable,
    references: dict[str, Callable[[CatalogTable], Iterable[str]]],
    dropped: Collection[str] = (),
) -> dict[str, str]:
    """What refers to each column, apart from columns that are dropped as well."""
    found: dict[str, str] = {}
    for column in table.schema.columns:
        if isinstance(column, UnresolvedComputedColumn) and column.name not in dropped:
            for name in _read_by(column.expression):
                found.setdefault(name, f"read by column {column.name!r}")
    for what, columns in references.items():
        for name in columns(table):
            found.setdefault(name, f"used by {what}")
    return found


def _require_free(name: str, uses: dict[str, str]) -> None:
    """Require that nothing refers to a column.

    Raises:
        SchemaError: with code `still-referenced`.
    """
    if name in uses:
        raise SchemaError(f"column {name!r} is {uses[name]}", code="still-referenced")


def dropped(table: CatalogTable, names: Sequence[Name]) -> CatalogTable:
    """The table without some columns.

    Raises:
        SchemaError: with code `unknown-column`, `duplicate-column` or `still-referenced`.
    """
    gone = [_name(name) for name in names]
    _require_once(gone)
    known = {column.name: None for column in table.schema.columns}
    every = set(gone)
    uses = _uses(table, {**REFERENCES, **KEY}, every)
    for name in names:
        _require_known(name, known)
        _require_free(name.parts[0], uses)
    kept = tuple(column for column in table.schema.columns if column.name not in every)
    return replace(table, schema=replace(table.schema, columns=kept))


def renamed(table: CatalogTable, old: Name, new: Name) -> CatalogTable:
    """The table with another name of a column; the primary key follows.

    Raises:
        SchemaError: with code `unknown-column`, `duplicate-column` or `still-referenced`.
    """
    before, after = _name(old), _name(new)
    known = {column.name: position for position, column in enumerate(table.schema.columns)}
    _require_known(old, known)
    if any(column.name == after for column in table.schema.columns):
        raise SchemaError(
            f"the table has a column {after!r}", code="duplicate-column", span=new.span
        )
    _require_free(before, _uses(table, REFERENCES))
    columns, position = list(table.schema.columns), known[before]
    columns[position] = replace(columns[position], name=after)
    key = table.schema.primary_key
    if key is not None:
        names = tuple(after if name == before else name for name in key.column_names)
        key = replace(key, column_names=names)
    schema = replace(table.schema, columns=tuple(columns), primary_key=key)
    return replace(table, schema=schema)
