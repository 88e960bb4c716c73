"""Changes of ALTER TABLE: columns, constraints, watermarks, distribution and options.

Each returns a new definition of the table. `REFERENCES` lists what can refer to a column, so that
no reference to a dropped or renamed column remains.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from schema_core.catalog.changes.column_history import (
    NameChange,
    paths_of,
    replaced_names,
    with_column_history,
)
from schema_core.catalog.changes.normal_forms import normal_type, steps_of
from schema_core.catalog.changes.table_changes import ModifyFieldName, apply, print_path
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import CatalogTable
from schema_core.errors import SchemaError, UnsupportedError, at, similar
from schema_core.mappings.dialects import definitions
from schema_core.schema.columns import (
    SqlExpression,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    Written,
)
from schema_core.schema.rules import duplicate_names
from schema_core.schema.unresolved import Schema
from schema_core.sql.parser import parse_expression
from schema_core.sql.statement_syntax import (
    AddElements,
    DropColumns,
    DropConstraint,
    DropDistribution,
    DropPrimaryKey,
    DropWatermark,
    ModifyElements,
    PlacedColumn,
    RenameColumn,
    ResetOptions,
    SetColumnComment,
    SetOptions,
    SetTableComment,
)
from schema_core.sql.syntax import Name
from schema_core.types import DataType, RowType


def apply_change(table: CatalogTable, change: Any, text: str) -> CatalogTable:
    """Return the table after a change.

    Raises:
        SchemaError: where the change does not fit the table.
        UnsupportedError: with code `feature-not-supported` for other changes.
    """
    change_of = CHANGES.get(type(change))
    if change_of is None:
        raise UnsupportedError(
            f"ALTER TABLE does not support {type(change).__name__}", code="feature-not-supported"
        )
    return change_of(table, change, text)


def name_changes_of(old: CatalogTable, new: CatalogTable, change: Any) -> list[NameChange]:
    """Return the names of columns and fields that a change of ALTER TABLE has changed."""
    unchanged = {*map(id, old.schema.columns)} & {*map(id, new.schema.columns)}
    before, after = (
        paths_of(column for column in schema.schema.columns if id(column) not in unchanged)
        for schema in (old, new)
    )
    if isinstance(change, RenameColumn):
        path = change.column.parts
        return [(path, (*path[:-1], change.new_name.parts[-1]))] if path in before else []
    return replaced_names(before, after)


def apply_stored_change(
    table: CatalogTable, change: Any, text: str, storage: ManagedStorage | None
) -> CatalogTable:
    """Return a table after a change, with the history of its columns.

    `storage` is of the catalog, for its managed tables.

    Raises:
        SchemaError: as `apply_change` and `ColumnHistory.of`.
    """
    after = apply_change(table, change, text)
    return with_column_history(after, table, name_changes_of(table, after, change), storage)


def option_keys(change: Any) -> Collection[str]:
    """Return the keys of the options that a change sets or resets."""
    if isinstance(change, ResetOptions):
        return change.keys
    return definitions.options_of(change.options).keys() if isinstance(change, SetOptions) else ()


# --- columns, watermark, key, distribution -------------------------------------------------


def _add(table: CatalogTable, change: AddElements, text: str) -> CatalogTable:
    schema = with_added(table.schema, change.columns, text)
    table = _with_watermark(replace(table, schema=schema), change, text)
    return _with_distribution(_with_key(table, change), change)


def _modify(table: CatalogTable, change: ModifyElements, text: str) -> CatalogTable:
    table = _with_key(table, change)
    schema = with_modified(table.schema, change.columns, text)
    table = _with_watermark(replace(table, schema=schema), change, text)
    return _with_distribution(table, change)


Elements: TypeAlias = AddElements | ModifyElements


def _with_watermark(table: CatalogTable, change: Elements, text: str) -> CatalogTable:
    if change.watermark is None:
        return table
    _check_presence(table.schema.watermark_specs, change, "watermark")
    specs = (definitions.watermark_of(change.watermark, text),)
    return replace(table, schema=replace(table.schema, watermark_specs=specs))


def _with_key(table: CatalogTable, change: Elements) -> CatalogTable:
    if not change.constraints:
        return table
    _check_presence(table.schema.primary_key, change, "primary key")
    key = definitions.primary_key_of(change.constraints[0])
    columns = definitions.with_key_not_null(table.schema.columns, key.column_names)
    return replace(table, schema=replace(table.schema, columns=columns, primary_key=key))


def _with_distribution(table: CatalogTable, change: Elements) -> CatalogTable:
    if change.distribution is None:
        return table
    _check_presence(table.distribution, change, "distribution")
    return replace(table, distribution=definitions.distribution_of(change.distribution))


def _check_presence(current: object, change: Elements, what: str) -> None:
    """Require that ADD finds no such element, and MODIFY one."""
    if isinstance(change, ModifyElements):
        _require_present(current, what, f"write ADD {what.upper()}")
    elif current:
        raise SchemaError(
            f"the table already has a {what}",
            code="already-declared",
            hint=f"write MODIFY {what.upper()}",
        )


def _require_present(current: object, what: str, hint: str | None = None) -> None:
    if not current:
        raise SchemaError(f"the table has no {what}", code="not-declared", hint=hint)


def _drop(
    what: str,
    current: Callable[[CatalogTable], object],
    without: Callable[[CatalogTable], CatalogTable],
) -> Callable[[CatalogTable, Any, str], CatalogTable]:
    def drop(table: CatalogTable, change: object, text: str) -> CatalogTable:
        _require_present(current(table), what)
        return without(table)

    return drop


def _drop_constraint(table: CatalogTable, change: DropConstraint, text: str) -> CatalogTable:
    key, name = table.schema.primary_key, change.name.parts[-1]
    if key is None or key.name != name:
        raise SchemaError(
            f"the table has no constraint {name!r}",
            code="not-declared",
            span=change.name.span,
            hint=f"its primary key is called {key.name!r}" if key else None,
        )
    return replace(table, schema=_without_key(table.schema))


def _without_key(schema: Schema) -> Schema:
    """Return the schema without its primary key; its columns stay NOT NULL."""
    if schema.immutable_columns is not None:
        raise SchemaError("immutable columns require the primary key", code="object-in-use")
    return replace(schema, primary_key=None)


# --- options -------------------------------------------------------------------------------


def _reset_options(table: CatalogTable, change: ResetOptions, text: str) -> CatalogTable:
    if not change.keys:
        raise SchemaError("expected at least one option", code="invalid-statement")
    if "connector" in change.keys:
        raise connector_is_required()
    return table.copy({key: v for key, v in table.options.items() if key not in change.keys})


def _set_table_comment(table: CatalogTable, change: SetTableComment, text: str) -> CatalogTable:
    return replace(table, comment=change.comment)


def _set_column_comment(table: CatalogTable, change: SetColumnComment, text: str) -> CatalogTable:
    columns = {column.name: column for column in table.schema.columns}
    _require_known(change.column, columns)
    name = change.column.parts[-1]
    columns[name] = replace(columns[name], comment=change.comment)
    return replace(table, schema=replace(table.schema, columns=tuple(columns.values())))


def connector_is_required() -> SchemaError:
    """Return the error for a change that removes the connector."""
    return SchemaError("the option 'connector' cannot be reset", code="missing-connector")


CHANGES: Mapping[type, Callable[[CatalogTable, Any, str], CatalogTable]] = {
    AddElements: _add,
    ModifyElements: _modify,
    DropColumns: lambda table, change, _: without_columns(table, change.columns),
    RenameColumn: lambda table, change, _: with_renamed(table, change.column, change.new_name),
    DropPrimaryKey: _drop(
        "primary key",
        lambda table: table.schema.primary_key,
        lambda table: replace(table, schema=_without_key(table.schema)),
    ),
    DropConstraint: _drop_constraint,
    DropWatermark: _drop(
        "watermark",
        lambda table: table.schema.watermark_specs,
        lambda table: replace(table, schema=replace(table.schema, watermark_specs=())),
    ),
    DropDistribution: _drop(
        "distribution",
        lambda table: table.distribution,
        lambda table: replace(table, distribution=None),
    ),
    SetOptions: lambda table, change, _: table.copy(
        {**table.options, **definitions.options_of(change.options)}
    ),
    ResetOptions: _reset_options,
    SetTableComment: _set_table_comment,
    SetColumnComment: _set_column_comment,
}


# --- columns -------------------------------------------------------------------------------


def _column_name(name: Name) -> str:
    """Return the name of a column; refuse the path of a field with code `feature-not-supported`."""
    if len(name.parts) > 1:
        raise UnsupportedError(
            "single fields of a column cannot be altered",
            code="feature-not-supported",
            span=name.span,
            hint="modify the whole column",
        )
    return name.parts[0]


def _require_once(names: Iterable[str]) -> None:
    if twice := duplicate_names(names):
        raise SchemaError(f"column {twice[0]!r} is named twice", code="duplicate-column")


def _require_known(name: Name, columns: Collection[str]) -> None:
    if name.parts[-1] not in columns:
        raise SchemaError(
            f"there is no column {name.parts[-1]!r}",
            code="unknown-column",
            span=name.span,
            hint=similar(name.parts[-1], columns),
        )


class OrderedColumns:
    """Columns by name and in order; every operation takes constant time."""

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
        before, after = self._previous.pop(name), self._next.pop(name)
        self._next[before], self._previous[after] = after, before
        del self.columns[name]

    def place(self, column: UnresolvedColumn, placed: PlacedColumn) -> None:
        """Insert a column first, after another one, or last."""
        if placed.first:
            self.insert_after(None, column)
        elif placed.after is not None:
            name = _column_name(placed.after)
            _require_known(placed.after, self.columns)
            self.insert_after(name, column)
        else:
            self.insert_after(self._previous[None], column)

    def __iter__(self) -> Iterator[UnresolvedColumn]:
        name = self._next[None]
        while name is not None:
            yield self.columns[name]
            name = self._next[name]


class AppendOnlyColumns:
    """Columns by name that are only appended to: cheaper than `OrderedColumns`."""

    def __init__(self, columns: Iterable[UnresolvedColumn]) -> None:
        self.columns: dict[str, UnresolvedColumn] = {column.name: column for column in columns}

    def place(self, column: UnresolvedColumn, placed: PlacedColumn) -> None:
        del placed
        self.columns[column.name] = column

    def __iter__(self) -> Iterator[UnresolvedColumn]:
        return iter(self.columns.values())


# --- added and modified --------------------------------------------------------------------


def with_added(schema: Schema, new: Sequence[PlacedColumn], text: str) -> Schema:
    """Return the schema with columns added at their positions.

    Raises:
        SchemaError: with code `duplicate-column` or `unknown-column`.
    """
    last = not any(placed.first or placed.after is not None for placed in new)
    columns = AppendOnlyColumns(schema.columns) if last else OrderedColumns(schema.columns)
    for placed in new:
        name = _column_name(placed.name)
        with at(f"column {name!r}", placed.name.span):
            if name in columns.columns:
                raise SchemaError(
                    f"the table already has a column {name!r}", code="duplicate-column"
                )
            columns.place(definitions.column_of(placed.column, text), placed)
    return replace(schema, columns=tuple(columns))


def with_modified(schema: Schema, new: Sequence[PlacedColumn], text: str) -> Schema:
    """Return the schema with new definitions of some columns.

    A comment that is omitted stays; columns of the primary key stay NOT NULL.

    Raises:
        SchemaError: with code `duplicate-column` or `unknown-column`.
    """
    _require_once(_column_name(placed.name) for placed in new)
    key = schema.primary_key.column_names if schema.primary_key else ()
    columns = OrderedColumns(schema.columns)
    for placed in new:
        with at(f"column {placed.name.parts[-1]!r}", placed.name.span):
            _require_known(placed.name, columns.columns)
            old = columns.columns[placed.name.parts[-1]]
            column = definitions.column_of(placed.column, text)
            if column.comment is None:
                column = replace(column, comment=old.comment)
            if isinstance(column, UnresolvedPhysicalColumn) and column.name in key:
                column = definitions.make_not_null(column)
            if not placed.first and placed.after is None:
                columns.columns[column.name] = column
                continue
            columns.remove(column.name)
            if placed.after is not None and placed.after.parts[-1] == column.name:
                columns.insert_after(None, column)  # AFTER itself, as in Flink
            else:
                columns.place(column, placed)
    return replace(schema, columns=tuple(columns))


# --- dropped and renamed -------------------------------------------------------------------


def _read_by(expression: Written) -> set[str]:
    if not isinstance(expression, SqlExpression):
        expression = expression.written
    tree = expression.syntax or parse_expression(expression.text)
    return {name.parts[0] for name in definitions.names_in(tree)}


#: What may refer to a column -> the columns.
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
    """Return what refers to each column, apart from dropped columns."""
    uses: dict[str, str] = {}
    for column in table.schema.columns:
        if isinstance(column, UnresolvedComputedColumn) and column.name not in dropped:
            for name in _read_by(column.expression):
                uses.setdefault(name, f"read by column {column.name!r}")
    for what, columns in references.items():
        for name in columns(table):
            uses.setdefault(name, f"used by {what}")
    return uses


def _require_free(name: str, uses: dict[str, str]) -> None:
    if name in uses:
        raise SchemaError(f"column {name!r} is {uses[name]}", code="object-in-use")


def without_columns(table: CatalogTable, names: Sequence[Name]) -> CatalogTable:
    """Return the table without some columns.

    Raises:
        SchemaError: with code `unknown-column`, `duplicate-column` or `object-in-use`.
    """
    gone = [_column_name(name) for name in names]
    _require_once(gone)
    own_names = {column.name: None for column in table.schema.columns}
    every = set(gone)
    uses = _uses(table, {**REFERENCES, **KEY}, every)
    for name in names:
        _require_known(name, own_names)
        _require_free(name.parts[0], uses)
    remaining = tuple(column for column in table.schema.columns if column.name not in every)
    return replace(table, schema=replace(table.schema, columns=remaining))


def with_renamed(table: CatalogTable, old: Name, new: Name) -> CatalogTable:
    """Return the table with a column renamed, also in its primary key, or a field of a column.

    Raises:
        SchemaError: with code `unknown-column`, `duplicate-column` or `object-in-use`; for a
            field `unknown-field` or `invalid-type`.
    """
    if len(old.parts) > 1:
        return _with_renamed_field(table, old, new)
    before, after = _column_name(old), _column_name(new)
    positions = {column.name: position for position, column in enumerate(table.schema.columns)}
    _require_known(old, positions)
    if any(column.name == after for column in table.schema.columns):
        raise SchemaError(
            f"the table has a column {after!r}", code="duplicate-column", span=new.span
        )
    _require_free(before, _uses(table, REFERENCES))
    columns, position = list(table.schema.columns), positions[before]
    columns[position] = replace(columns[position], name=after)
    key = table.schema.primary_key
    if key is not None:
        names = tuple(after if name == before else name for name in key.column_names)
        key = replace(key, column_names=names)
    schema = replace(table.schema, columns=tuple(columns), primary_key=key)
    return replace(table, schema=schema)


def find_part(column: UnresolvedColumn, steps: Sequence[str]) -> object:
    """Return the type of a column, or of the part of it at a path; None if it has no such part."""
    type_: object = normal_type(getattr(column, "data_type", ""))
    for step in steps:
        children = {}
        if isinstance(type_, DataType):
            children = dict(zip(steps_of(type_), type_.children(), strict=False))
        type_ = children.get(step)
    return type_


def _with_renamed_field(table: CatalogTable, old: Name, new: Name) -> CatalogTable:
    """Return the table with a field renamed; Flink has the syntax and refuses it."""
    *outer, before = old.parts
    if new.parts[:-1] not in ((), tuple(outer)):
        raise UnsupportedError(
            f"cannot move field {before!r} to another row",
            code="feature-not-supported",
            span=new.span,
            hint="write the new name only, or modify the whole column",
        )
    columns = {column.name: column for column in table.schema.columns}
    _require_known(replace(old, parts=old.parts[:1]), columns)
    type_ = find_part(columns[outer[0]], outer[1:])
    fields = {field.name: field for field in type_.fields} if isinstance(type_, RowType) else {}
    if before not in fields:
        raise SchemaError(
            f"there is no field {print_path(old.parts)}",
            code="unknown-field",
            span=old.span,
            hint=similar(before, fields),
        )
    if new.parts[-1] in fields:
        raise SchemaError(
            f"the row has a field {new.parts[-1]!r}", code="invalid-type", span=new.span
        )
    return apply([ModifyFieldName(tuple(outer), fields[before], new.parts[-1])], table)
