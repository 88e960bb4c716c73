"""Application of changes to a table, each checked against the state that it is applied to.

Law: ``apply(diff(a, b), a)`` equals ``b`` in normal form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, assert_never

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.lazy_dataclass import dataclass
from schema_core.catalog.changes.table_changes import (
    AddColumn,
    AddDistribution,
    AddField,
    AddImmutableColumns,
    AddIndex,
    AddUniqueConstraint,
    AddWatermark,
    ColumnPosition,
    DropColumn,
    DropConstraint,
    DropDistribution,
    DropField,
    DropImmutableColumns,
    DropIndex,
    DropWatermark,
    ModifyColumn,
    ModifyColumnComment,
    ModifyColumnName,
    ModifyColumnPosition,
    ModifyDistribution,
    ModifyFieldComment,
    ModifyFieldName,
    ModifyFieldPosition,
    ModifyImmutableColumns,
    ModifyNestedType,
    ModifyPartitionKeys,
    ModifyPhysicalColumnType,
    ModifySnapshot,
    ModifyTableComment,
    ModifyUniqueConstraint,
    ModifyWatermark,
    PartChange,
    ResetOption,
    SetOption,
    TableChange,
    print_path,
)
from schema_core.catalog.objects import CatalogBaseTable, CatalogTable
from schema_core.catalog.resolve import origin
from schema_core.errors import SchemaCoreError, SchemaError, at, similar
from schema_core.schema.columns import (
    ResolvedExpression,
    SqlExpression,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedWatermarkSpec,
    Written,
    WrittenType,
    plain,
)
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, walk
from schema_core.types import (
    ArrayType,
    DataType,
    DistinctType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    StructuredType,
    parse_type,
)

T = TypeVar("T")
Table = TypeVar("Table", Schema, CatalogTable)

# --- normal forms --------------------------------------------------------------------------------


def normal_type(written: WrittenType) -> WrittenType:
    """Return a type as a value, with user-defined types by name; a string that is not one stays.

    >>> print(normal_type("string NOT NULL"))
    VARCHAR(2147483647) NOT NULL
    """
    try:
        if isinstance(written, str):
            return plain(parse_type(written))
        if not isinstance(written, DataType):
            return written
        if any(isinstance(node, DistinctType | StructuredType) for node in written.walk()):
            return parse_type(written.as_serializable_string())
    except SchemaCoreError:
        return written
    return plain(written)


def normal_expression(written: Written) -> Written:
    """Return an expression in the SQL that the printer writes; SQL that does not parse stays.

    >>> print(normal_expression(SqlExpression("price*2")))
    [`price` * 2]
    """
    if isinstance(written, ResolvedExpression):
        written = SqlExpression(written.as_serializable_string())
    try:
        tree = written.syntax or parse_expression(written.text)
        if any(isinstance(node, Call) and node.inline is not None for node in walk(tree)):
            return written
        return SqlExpression(print_expression(tree))
    except SchemaCoreError:
        return SqlExpression(written.text)


def normal_column(column: UnresolvedColumn) -> UnresolvedColumn:
    """Return a column whose type and expression have their normal form.

    A metadata key that repeats the name of its column is left out.
    """
    match column:
        case UnresolvedPhysicalColumn(name, type_, comment):
            return UnresolvedPhysicalColumn(name, normal_type(type_), comment)
        case UnresolvedComputedColumn(name, expression, comment):
            return UnresolvedComputedColumn(name, normal_expression(expression), comment)
        case UnresolvedMetadataColumn(name, type_, key, virtual, comment):
            key = None if key == name else key
            return UnresolvedMetadataColumn(name, normal_type(type_), key, virtual, comment)
        case _:
            assert_never(column)


def _normal_part(part: T) -> T:
    """Return a watermark whose expression has its normal form; other parts have one form only."""
    if isinstance(part, UnresolvedWatermarkSpec):
        return replace(part, watermark_expression=normal_expression(part.watermark_expression))
    return part


def normalized(table: Table) -> Table:
    """Return a schema or table in the normal form in which definitions are compared.

    Types are values, not strings; expressions are in the SQL that the printer writes. A resolved
    table gives its unresolved form, in which types have their full names.

    Raises:
        UnsupportedError: for an expression of a resolved schema that has no SQL.
        SchemaError: with code `wrong-argument` for anything else.

    >>> schema = Schema.new_builder().column("a", "string").column_by_expression("b", "a||'!'")
    >>> print(normalized(schema.build()))
    (
      `a` STRING,
      `b` AS [`a` || '!']
    )
    """
    if isinstance(table, Schema):
        return replace(
            table,
            columns=tuple(map(normal_column, table.columns)),
            watermark_specs=tuple(map(_normal_part, table.watermark_specs)),
        )
    require_instance(table, CatalogTable, "the table", "a schema or a table")
    written = origin(table)
    return replace(written, schema=normalized(written.schema))


def as_table(definition: Schema | ResolvedSchema | CatalogTable) -> CatalogTable:
    """Return a table; a schema is one without options.

    Raises:
        SchemaError: with code `wrong-argument` for anything else.
    """
    if isinstance(definition, CatalogTable):
        return definition
    if isinstance(definition, ResolvedSchema):
        return CatalogTable(unresolve(definition))
    kinds = (Schema, ResolvedSchema, CatalogTable)
    require_instance(definition, kinds, "the definition", "a schema or a table")
    return CatalogTable(definition)


# --- application ---------------------------------------------------------------------------------


def apply(changes: Iterable[TableChange], table: Table) -> Table:
    """Return the schema or table after the changes, in their order.

    Each change is compared with the state that it is applied to, which has to contain the old
    value of the change. What no change touches stays as it is. The result is not resolved: the
    changes in between may refer to columns that later ones add.

    Args:
        changes: The changes, as `diff` returns them.
        table: A schema or a table; the changes of a resolved table are applied to its unresolved
            form. A schema accepts changes of its columns, keys and watermark only.

    Raises:
        SchemaError: with code `change-does-not-fit` where the state is not the one that a change
            was made for, `unknown-column` or `duplicate-column` for its names, `wrong-argument`
            for arguments of other types.

    >>> from schema_core.types import DataTypes
    >>> name = UnresolvedPhysicalColumn("name", DataTypes.STRING())
    >>> print(apply([TableChange.add(name)], Schema.new_builder().column("id", "INT").build()))
    (
      `id` [INT],
      `name` STRING
    )
    """
    steps = require_sequence(changes, "the changes")
    if isinstance(table, Schema):
        found = apply(steps, CatalogTable(table))
        if replace(found, schema=table) != CatalogTable(table):
            raise stale_change("a schema has no options, comment, distribution or partition keys")
        return found.schema
    require_instance(table, CatalogTable, "the table", "a schema or a table")
    changed = origin(table)
    for position, change in enumerate(steps, 1):
        require_instance(change, TableChange, "a change")
        with at(f"change {position}, {type(change).__name__}"):
            changed = applied(changed, change)
    return changed


def applied(table: CatalogTable, change: TableChange) -> CatalogTable:
    """Return an unresolved table after one change.

    Raises:
        SchemaError: as `apply`.
    """
    if isinstance(change, PartChange):
        return _with_part(table, change)
    return APPLIED[type(change)](table, change)


def require_consistent(
    changes: Iterable[TableChange], expected: CatalogBaseTable | None, new: CatalogBaseTable
) -> None:
    """Refuse changes that do not lead from the expected definition of a table to the new one.

    Raises:
        SchemaError: with code `change-does-not-fit`; as `apply`.
    """
    if not isinstance(expected, CatalogTable) or not isinstance(new, CatalogTable):
        raise stale_change(
            "changes require the table that they were made for",
            hint="pass the table that was read as `expected`",
        )
    if normalized(apply(changes, expected)) != normalized(as_written(new)):
        raise stale_change("the changes lead to another definition than the new one")


def as_written(table: CatalogTable) -> CatalogTable:
    """Return the unresolved definition of a table, with the names of types as they are written."""
    return CatalogTable(
        table.schema,
        table.partition_keys,
        options=table.options,
        comment=table.comment,
        distribution=table.distribution,
        snapshot=table.snapshot,
    )


def stale_change(problem: str, hint: str | None = None) -> SchemaError:
    """Return the error of a change that was made for another state."""
    hint = hint or "compare the current definition with the new one again"
    return SchemaError(problem, code="change-does-not-fit", hint=hint)


def _require_same(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise stale_change(f"{what} is {_described(found)}, expected {_described(expected)}")


def _described(value: object) -> str:
    return "absent" if value is None else str(value)


# --- columns -------------------------------------------------------------------------------------


def _with_columns(table: CatalogTable, columns: Iterable[UnresolvedColumn]) -> CatalogTable:
    return replace(table, schema=replace(table.schema, columns=tuple(columns)))


def _index_of(name: str, members: Sequence[Any]) -> int:
    """Return the index of the column or field of this name.

    Raises:
        SchemaError: with code `unknown-column`.
    """
    for index, one in enumerate(members):
        if one.name == name:
            return index
    raise SchemaError(
        f"there is no column or field {name!r}",
        code="unknown-column",
        hint=similar(name, [member.name for member in members]),
    )


def _require_free(name: str, members: Iterable[Any]) -> None:
    if any(member.name == name for member in members):
        raise SchemaError(f"there is already a column or field {name!r}", code="duplicate-column")


def _placed(members: Sequence[T], member: T, position: ColumnPosition | None) -> list[T]:
    """Return the columns or fields with one more at a position; without one it is the last."""
    if position is None:
        return [*members, member]
    index = 0 if position.column is None else 1 + _index_of(position.column, members)
    return [*members[:index], member, *members[index:]]


def _find(table: CatalogTable, column: UnresolvedColumn) -> int:
    """Return the index of a column that has to be defined as it was when the change was made."""
    index = _index_of(column.name, table.schema.columns)
    found = normal_column(table.schema.columns[index])
    _require_same(found, normal_column(column), f"column {column.name!r}")
    return index


def _add_column(table: CatalogTable, change: AddColumn) -> CatalogTable:
    columns = table.schema.columns
    _require_free(change.column.name, columns)
    return _with_columns(table, _placed(columns, change.column, change.position))


def _modify_column(table: CatalogTable, change: ModifyColumn) -> CatalogTable:
    old, new = change.old_column, change.new_column
    index = _find(table, old)
    if old.name != new.name:
        table = _renamed(table, old.name, new.name)
    rest = [*table.schema.columns[:index], *table.schema.columns[index + 1 :]]
    if change.new_position is None:
        rest.insert(index, new)
        return _with_columns(table, rest)
    return _with_columns(table, _placed(rest, new, change.new_position))


def _modify_comment(table: CatalogTable, change: ModifyColumnComment) -> CatalogTable:
    _find(table, change.old_column)
    return _with_column(table, replace(change.old_column, comment=change.new_comment))


def _modify_type(table: CatalogTable, change: ModifyPhysicalColumnType) -> CatalogTable:
    _find(table, change.old_column)
    return _with_column(table, replace(_physical(change.old_column), data_type=change.new_type))


def _physical(column: UnresolvedColumn) -> UnresolvedPhysicalColumn:
    if not isinstance(column, UnresolvedPhysicalColumn):
        raise stale_change(f"column {column.name!r} is not physical", hint="use ModifyColumn")
    return column


def _with_column(table: CatalogTable, column: UnresolvedColumn) -> CatalogTable:
    """Return the table with another definition of the column of the same name."""
    columns = [column if one.name == column.name else one for one in table.schema.columns]
    return _with_columns(table, columns)


def _modify_name(table: CatalogTable, change: ModifyColumnName) -> CatalogTable:
    _find(table, change.old_column)
    return _renamed(table, change.old_column.name, change.new_name)


def _renamed(table: CatalogTable, old: str, new: str) -> CatalogTable:
    """Return the table with a column renamed wherever it is named, except in expressions."""
    _require_free(new, table.schema.columns)

    def names(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new if name == old else name for name in given)

    def constraint(given: Any) -> Any:
        return None if given is None else replace(given, column_names=names(given.column_names))

    schema, distribution = table.schema, table.distribution
    if distribution is not None:
        distribution = replace(distribution, bucket_keys=names(distribution.bucket_keys))
    schema = replace(
        schema,
        columns=tuple(
            _with_name(column, new) if column.name == old else column for column in schema.columns
        ),
        primary_key=constraint(schema.primary_key),
        indexes=tuple(map(constraint, schema.indexes)),
        immutable_columns=constraint(schema.immutable_columns),
    )
    keys = names(table.partition_keys)
    return replace(table, schema=schema, partition_keys=keys, distribution=distribution)


def _with_name(column: UnresolvedColumn, name: str) -> UnresolvedColumn:
    if isinstance(column, UnresolvedMetadataColumn):
        return replace(column, name=name, metadata_key=None if column.key == name else column.key)
    return replace(column, name=name)


def _modify_position(table: CatalogTable, change: ModifyColumnPosition) -> CatalogTable:
    columns = list(table.schema.columns)
    column = columns.pop(_find(table, change.old_column))
    return _with_columns(table, _placed(columns, column, change.new_position))


def _drop_column(table: CatalogTable, change: DropColumn) -> CatalogTable:
    columns = list(table.schema.columns)
    del columns[_find(table, change.column)]
    return _with_columns(table, columns)


# --- parts of types ------------------------------------------------------------------------------

#: type -> the names of its children in paths; those of a row are its fields
STEPS: dict[type[DataType], tuple[str, ...]] = {
    ArrayType: ("element",),
    MultisetType: ("element",),
    MapType: ("key", "value"),
}


def steps_of(type_: DataType) -> list[str]:
    """Return the names of the children of a type in paths; none for types without a path within.

    >>> steps_of(MapType(RowType(), RowType()))
    ['key', 'value']
    """
    if isinstance(type_, RowType):
        return type_.field_names()
    return list(STEPS.get(type(type_), ()))


def _at_path(
    table: CatalogTable, path: tuple[str, ...], change: Callable[[DataType], DataType]
) -> CatalogTable:
    """Return the table with another type at a path."""

    def within(type_: DataType, rest: Sequence[str]) -> DataType:
        if not rest:
            return change(type_)
        if rest[0] not in (steps := steps_of(type_)):
            raise stale_change(f"{type_} has no part {rest[0]!r}", hint=similar(rest[0], steps))
        children = list(type_.children())
        index = steps.index(rest[0])
        children[index] = within(children[index], rest[1:])
        return type_.rebuild(tuple(children))

    name = path[0] if path else ""
    column = _physical(table.schema.columns[_index_of(name, table.schema.columns)])
    found = normal_type(column.data_type)
    if not isinstance(found, DataType):
        problem = f"cannot alter a part of {str(found)!r}: the type is not resolved"
        raise stale_change(problem)
    return _with_column(table, replace(column, data_type=within(found, path[1:])))


def _on_row(
    table: CatalogTable,
    path: tuple[str, ...],
    old: RowField | None,
    change: Callable[[list[RowField], int], Iterable[RowField]],
) -> CatalogTable:
    """Return the table with other fields of the row at a path.

    `old` is the field as it was when the change was made, whose index `change` is called with.
    """

    def changed(type_: DataType) -> DataType:
        if not isinstance(type_, RowType):
            raise stale_change(f"{print_path(path)} is {type_}, expected a ROW")
        index = 0
        if old is not None:
            index = _index_of(old.name, type_.fields)
            _require_same(type_.fields[index], old, f"field {old.name!r}")
        return RowType(change(list(type_.fields), index), type_.is_nullable)

    return _at_path(table, path, changed)


def _add_field(table: CatalogTable, change: AddField) -> CatalogTable:
    def changed(fields: list[RowField], _: int) -> Iterable[RowField]:
        _require_free(change.field.name, fields)
        return _placed(fields, change.field, change.position)

    return _on_row(table, change.path, None, changed)


def _replace_field(
    table: CatalogTable, path: tuple[str, ...], old: RowField, new: RowField
) -> CatalogTable:
    def changed(fields: list[RowField], index: int) -> Iterable[RowField]:
        if new.name != old.name:
            _require_free(new.name, fields)
        return [*fields[:index], new, *fields[index + 1 :]]

    return _on_row(table, path, old, changed)


def _modify_nested_type(table: CatalogTable, change: ModifyNestedType) -> CatalogTable:
    def changed(type_: DataType) -> DataType:
        _require_same(type_, change.old_type, f"the type of {print_path(change.path)}")
        return change.new_type

    return _at_path(table, change.path, changed)


def _modify_field_position(table: CatalogTable, change: ModifyFieldPosition) -> CatalogTable:
    def changed(fields: list[RowField], index: int) -> Iterable[RowField]:
        field = fields.pop(index)
        return _placed(fields, field, change.new_position)

    return _on_row(table, change.path, change.old_field, changed)


def _drop_field(table: CatalogTable, change: DropField) -> CatalogTable:
    def changed(fields: list[RowField], index: int) -> Iterable[RowField]:
        return [*fields[:index], *fields[index + 1 :]]

    return _on_row(table, change.path, change.field, changed)


# --- parts and options ---------------------------------------------------------------------------


def _watermark(table: CatalogTable) -> UnresolvedWatermarkSpec | None:
    specs = table.schema.watermark_specs
    return specs[0] if specs else None


def _with_schema(table: CatalogTable, **members: Any) -> CatalogTable:
    return replace(table, schema=replace(table.schema, **members))


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of a table: its name in messages, its changes, how it is read, how it is set.

    A part without `add` and `drop` is always there, maybe empty.
    """

    what: str
    add: Callable[..., PartChange] | None
    modify: Callable[..., PartChange]
    drop: Callable[..., PartChange] | None
    get: Callable[[CatalogTable], object]
    put: Callable[[CatalogTable, Any], CatalogTable]


#: Parts in an order in which none is added before one that it requires.
PARTS: tuple[PartRow, ...] = (
    PartRow(
        "the primary key", AddUniqueConstraint, ModifyUniqueConstraint, DropConstraint,
        lambda table: table.schema.primary_key,
        lambda table, key: _with_schema(table, primary_key=key),
    ),
    PartRow(
        "the watermark", AddWatermark, ModifyWatermark, DropWatermark,
        _watermark,
        lambda table, spec: _with_schema(table, watermark_specs=() if spec is None else (spec,)),
    ),
    PartRow(
        "the distribution", AddDistribution, ModifyDistribution, DropDistribution,
        lambda table: table.distribution,
        lambda table, distribution: replace(table, distribution=distribution),
    ),
    PartRow(
        "the immutable columns", AddImmutableColumns, ModifyImmutableColumns, DropImmutableColumns,
        lambda table: table.schema.immutable_columns,
        lambda table, columns: _with_schema(table, immutable_columns=columns),
    ),
    PartRow(
        "the partition keys", None, ModifyPartitionKeys, None,
        lambda table: table.partition_keys,
        lambda table, keys: replace(table, partition_keys=keys),
    ),
    PartRow(
        "the comment", None, ModifyTableComment, None,
        lambda table: table.comment,
        lambda table, comment: replace(table, comment=comment),
    ),
    PartRow(
        "the snapshot", None, ModifySnapshot, None,
        lambda table: table.snapshot,
        lambda table, snapshot: replace(table, snapshot=snapshot),
    ),
)  # fmt: skip


def _with_part(table: CatalogTable, change: PartChange) -> CatalogTable:
    row = PART_OF[type(change)]
    _require_same(_normal_part(row.get(table)), _normal_part(change.before), row.what)
    return row.put(table, change.after)


#: change -> the part that it changes
PART_OF: dict[object, PartRow] = {
    kind: row for row in PARTS for kind in (row.add, row.modify, row.drop) if kind is not None
}


def _add_index(table: CatalogTable, change: AddIndex) -> CatalogTable:
    indexes = table.schema.indexes
    if any(index.name == change.index.name for index in indexes):
        raise stale_change(f"there is already an index {change.index.name!r}")
    return _with_schema(table, indexes=(*indexes, change.index))


def _drop_index(table: CatalogTable, change: DropIndex) -> CatalogTable:
    indexes = table.schema.indexes
    if change.index not in indexes:
        raise stale_change(f"there is no {change.index}")
    return _with_schema(table, indexes=tuple(index for index in indexes if index != change.index))


def _require_option(table: CatalogTable, key: str, value: str | None) -> None:
    if table.options.get(key) != value:  # values may be secret: they are not shown
        raise stale_change(f"option {key!r} has changed since the change was made")


def _set_option(table: CatalogTable, change: SetOption) -> CatalogTable:
    _require_option(table, change.key, change.old_value)
    return table.copy({**table.options, change.key: change.value})


def _reset_option(table: CatalogTable, change: ResetOption) -> CatalogTable:
    _require_option(table, change.key, change.old_value)
    return table.copy({key: one for key, one in table.options.items() if key != change.key})


#: change -> what applies it; those of parts are in `PARTS`
APPLIED: dict[type[TableChange], Callable[[CatalogTable, Any], CatalogTable]] = {
    AddColumn:                _add_column,
    ModifyColumn:             _modify_column,
    ModifyColumnComment:      _modify_comment,
    ModifyPhysicalColumnType: _modify_type,
    ModifyColumnName:         _modify_name,
    ModifyColumnPosition:     _modify_position,
    DropColumn:               _drop_column,
    AddField:                 _add_field,
    ModifyFieldComment:       lambda table, change: _replace_field(
        table, change.path, change.old_field,
        replace(change.old_field, description=change.new_comment),
    ),
    ModifyNestedType:         _modify_nested_type,
    ModifyFieldName:          lambda table, change: _replace_field(
        table, change.path, change.old_field, replace(change.old_field, name=change.new_name)
    ),
    ModifyFieldPosition:      _modify_field_position,
    DropField:                _drop_field,
    AddIndex:                 _add_index,
    DropIndex:                _drop_index,
    SetOption:                _set_option,
    ResetOption:              _reset_option,
}  # fmt: skip
