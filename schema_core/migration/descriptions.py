"""Changes in English: one line for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schema_core.base.arguments import require_instance
from schema_core.base.text import quote_identifier as quoted
from schema_core.base.text import quote_string
from schema_core.catalog.changes.application import normal_type
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
    ResetOption,
    SetOption,
    TableChange,
    print_path,
)
from schema_core.schema.columns import WrittenType
from schema_core.types import DataType


def describe(change: TableChange) -> str:
    """Return a change in English, in one line; secrets are masked.

    Raises:
        SchemaError: with code `wrong-argument` for anything but a change.

    >>> from schema_core import DataTypes
    >>> from schema_core.schema.columns import UnresolvedPhysicalColumn
    >>> column = UnresolvedPhysicalColumn("id", DataTypes.INT())
    >>> print(describe(ModifyPhysicalColumnType(column, DataTypes.INT(nullable=False))))
    make column `id` NOT NULL
    """
    require_instance(change, TableChange, "the change")
    return " ".join(DESCRIPTIONS[type(change)](change).splitlines())


def _type(what: str, old: WrittenType, new: WrittenType) -> str:
    """Describe the change of a type; a change of its nullability only by that."""
    before, after = normal_type(old), normal_type(new)
    if isinstance(before, DataType) and isinstance(after, DataType):
        if before.nullable() == after.nullable():
            return f"make {what} {'nullable' if after.is_nullable else 'NOT NULL'}"
        before, after = before.as_summary_string(), after.as_summary_string()
    return f"change the type of {what} from {before} to {after}"


def _comment(what: str, comment: str | None) -> str:
    if comment is None:
        return f"remove the comment of {what}"
    return f"set the comment of {what} to {quote_string(comment)}"


def _placed(position: ColumnPosition | None, default: str = "") -> str:
    if position is None:
        return default
    return " first" if position.column is None else f" after {quoted(position.column)}"


def _field(change: Any) -> str:
    """Return the name of the field of a change, and the path of its row."""
    field = getattr(change, "old_field", None) or change.field
    return f"field {quoted(field.name)} of {print_path(change.path)}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(quoted, names)) or "none"


#: change -> its description
DESCRIPTIONS: dict[type[TableChange], Callable[[Any], str]] = {
    AddColumn: lambda one: f"add column {one.column}{_placed(one.position)}",
    ModifyColumn: lambda one: (
        f"replace column {one.old_column} by {one.new_column}{_placed(one.new_position)}"
    ),
    ModifyColumnComment: lambda one: _comment(
        f"column {quoted(one.old_column.name)}", one.new_comment
    ),
    ModifyPhysicalColumnType: lambda one: _type(
        f"column {quoted(one.old_column.name)}", one.old_column.data_type, one.new_type
    ),
    ModifyColumnName: lambda one: (
        f"rename column {quoted(one.old_column.name)} to {quoted(one.new_name)}"
    ),
    ModifyColumnPosition: lambda one: (
        f"move column {quoted(one.old_column.name)}{_placed(one.new_position)}"
    ),
    DropColumn: lambda one: f"drop column {one.column}",
    AddField: lambda one: f"add field {one.field} to {print_path(one.path)}{_placed(one.position)}",
    ModifyFieldComment: lambda one: _comment(_field(one), one.new_comment),
    ModifyNestedType: lambda one: _type(print_path(one.path), one.old_type, one.new_type),
    ModifyFieldName: lambda one: f"rename {_field(one)} to {quoted(one.new_name)}",
    ModifyFieldPosition: lambda one: f"move {_field(one)}{_placed(one.new_position)}",
    DropField: lambda one: f"drop {_field(one)}",
    AddUniqueConstraint: lambda one: f"add {one.constraint}",
    ModifyUniqueConstraint: lambda one: f"replace {one.old_constraint} by {one.new_constraint}",
    DropConstraint: lambda one: f"drop {one.constraint}",
    AddWatermark: lambda one: f"add {one.watermark_spec}",
    ModifyWatermark: lambda one: f"replace {one.old_watermark} by {one.new_watermark}",
    DropWatermark: lambda one: f"drop {one.watermark_spec}",
    AddDistribution: lambda one: f"make the table {one.distribution}",
    ModifyDistribution: lambda one: (
        f"make the table {one.new_distribution} instead of {one.old_distribution}"
    ),
    DropDistribution: lambda one: f"make the table no longer {one.distribution}",
    AddImmutableColumns: lambda one: f"add {one.constraint}",
    ModifyImmutableColumns: lambda one: f"replace {one.old_constraint} by {one.new_constraint}",
    DropImmutableColumns: lambda one: f"drop {one.constraint}",
    AddIndex: lambda one: f"add {one.index}",
    DropIndex: lambda one: f"drop {one.index}",
    ModifyPartitionKeys: lambda one: (
        f"change the partition keys from {_names(one.old_keys)} to {_names(one.new_keys)}"
    ),
    ModifyTableComment: lambda one: _comment("the table", one.new_comment),
    ModifySnapshot: lambda one: (
        "remove the snapshot"
        if one.new_snapshot is None
        else f"set the snapshot to {one.new_snapshot}"
    ),
    SetOption: lambda one: (
        f"set option {quote_string(one.key)} to {quote_string(one.masked_value)}"
    ),
    ResetOption: lambda one: f"remove option {quote_string(one.key)}",
}
