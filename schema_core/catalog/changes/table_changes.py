"""Changes of tables: the classes of Flink's `TableChange`, and ours for what Flink has none for.

A change is data. It holds the new value and the value that it replaces, so that
`schema_core.catalog.changes.application` can refuse a table that differs from the one it was made
for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from types import NoneType
from typing import ClassVar, TypeAlias, get_args

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.secrets import masked_value
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog.objects import TableDistribution
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
    WrittenType,
)
from schema_core.types import DataType, RowField


@dataclass(frozen=True, slots=True)
class ColumnPosition:
    """The position of a column or field: first, or after another one of the same table or row.

    >>> print(ColumnPosition.first(), ColumnPosition.after("id"))
    FIRST AFTER `id`
    """

    column: str | None = None

    @staticmethod
    def first() -> ColumnPosition:
        """Return the first position."""
        return ColumnPosition()

    @staticmethod
    def after(column: str) -> ColumnPosition:
        """Return the position after a column.

        Raises:
            SchemaError: with code `wrong-argument` for a name that is not a string.
        """
        return ColumnPosition(require_instance(column, str, "the name of a column"))

    def __str__(self) -> str:
        return "FIRST" if self.column is None else f"AFTER {quote_identifier(self.column)}"


def print_path(path: tuple[str, ...]) -> str:
    """Return the path of a column or of a part of its type.

    >>> print_path(("tags", "element", "name"))
    '`tags`.`element`.`name`'
    """
    return ".".join(map(quote_identifier, path))


def _shown(value: object) -> str:
    """Return a value as the `str` of a change prints it."""
    match value:
        case None:
            return "null"
        case str():
            return quote_string(value)
        case tuple():
            return print_path(value)
        case DataType():
            return value.as_summary_string()
        case _:
            return str(value)


@dataclass(frozen=True, slots=True)
class TableChange:
    """The base of all changes; the static methods create them, with Flink's names.

    `str` prints a change as Flink does: the class, and the new values by their names in Flink.

    >>> from schema_core.schema.columns import UnresolvedPhysicalColumn
    >>> from schema_core.types import DataTypes
    >>> channel = UnresolvedPhysicalColumn("channel", DataTypes.STRING())
    >>> print(TableChange.add(channel, ColumnPosition.after("id")))
    AddColumn{column=`channel` STRING, position=AFTER `id`}
    >>> print(TableChange.set("connector", "kafka"))
    SetOption{key='connector', value='kafka'}
    """

    #: name in `str` -> attribute
    shown: ClassVar[dict[str, str]] = {}

    def __post_init__(self) -> None:
        for field in fields(self):
            value, what = getattr(self, field.name), f"{field.name} of {type(self).__name__}"
            if field.type == NAMES:
                object.__setattr__(self, field.name, require_names(value, what))
            else:
                require_instance(value, KINDS[str(field.type)], what)

    def __str__(self) -> str:
        values = (f"{name}={_shown(getattr(self, one))}" for name, one in self.shown.items())
        return f"{type(self).__name__}{{{', '.join(values)}}}"

    @staticmethod
    def add(part: Part, position: ColumnPosition | None = None) -> TableChange:
        """Return the change that adds a column, watermark, key, index or distribution.

        Args:
            part: What is added.
            position: The position of a column; None appends it.

        Raises:
            SchemaError: with code `wrong-argument` for anything else.
        """
        if isinstance(part, UnresolvedColumn):
            return AddColumn(part, position)
        return ADD[_kind(part)](part)

    @staticmethod
    def modify(old: Part, new: Part, position: ColumnPosition | None = None) -> TableChange:
        """Return the change that replaces a column, watermark, key or distribution.

        Args:
            old: The current definition.
            new: The new definition, of the same kind.
            position: The new position of a column; None keeps it.

        Raises:
            SchemaError: with code `wrong-argument` for anything else, and for an index, which is
                dropped and added.
        """
        if isinstance(old, UnresolvedColumn) and isinstance(new, UnresolvedColumn):
            return ModifyColumn(old, new, position)
        kind = _kind(old, MODIFY)
        return MODIFY[kind](old, require_instance(new, kind, "the new definition"))

    @staticmethod
    def drop(part: Part) -> TableChange:
        """Return the change that drops a column, watermark, key, index or distribution.

        Raises:
            SchemaError: with code `wrong-argument` for anything else.
        """
        return DropColumn(part) if isinstance(part, UnresolvedColumn) else DROP[_kind(part)](part)

    @staticmethod
    def set(key: str, value: str, old_value: str | None = None) -> SetOption:
        """Return the change that sets an option.

        Args:
            key: The key of the option.
            value: The new value.
            old_value: The current value; None if the option is not set.
        """
        return SetOption(key, value, old_value)

    @staticmethod
    def reset(key: str, old_value: str) -> ResetOption:
        """Return the change that removes an option, whose current value is `old_value`."""
        return ResetOption(key, old_value)


# --- columns -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddColumn(TableChange):
    """A column is added at a position; without one it is appended."""

    shown: ClassVar[dict[str, str]] = {"column": "column", "position": "position"}

    column: UnresolvedColumn
    position: ColumnPosition | None = None


@dataclass(frozen=True, slots=True)
class ModifyColumn(TableChange):
    """A column is replaced by another one; used where either is not physical.

    The position is kept without a new one.
    """

    shown: ClassVar[dict[str, str]] = {
        "oldColumn": "old_column",
        "newColumn": "new_column",
        "newPosition": "new_position",
    }

    old_column: UnresolvedColumn
    new_column: UnresolvedColumn
    new_position: ColumnPosition | None = None


@dataclass(frozen=True, slots=True)
class ModifyColumnComment(TableChange):
    """A physical column gets another comment, or none."""

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newComment": "new_comment"}

    old_column: UnresolvedColumn
    new_comment: str | None


@dataclass(frozen=True, slots=True)
class ModifyPhysicalColumnType(TableChange):
    """A physical column gets another type or nullability."""

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newType": "new_type"}

    old_column: UnresolvedColumn
    new_type: WrittenType


@dataclass(frozen=True, slots=True)
class ModifyColumnName(TableChange):
    """A column is renamed, also in keys and indexes; a metadata column keeps its metadata key.

    Expressions are not changed.
    """

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newName": "new_name"}

    old_column: UnresolvedColumn
    new_name: str


@dataclass(frozen=True, slots=True)
class ModifyColumnPosition(TableChange):
    """A column is moved."""

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newPosition": "new_position"}

    old_column: UnresolvedColumn
    new_position: ColumnPosition


@dataclass(frozen=True, slots=True)
class DropColumn(TableChange):
    """A column is dropped."""

    shown: ClassVar[dict[str, str]] = {"columnName": "column_name"}

    column: UnresolvedColumn

    @property
    def column_name(self) -> str:
        """The name of the column."""
        return self.column.name


# --- parts of types: not in Flink, which replaces the whole type ---------------------------------
#
# A path starts with the name of a physical column. Its other names are fields of rows, `element` of
# an array or multiset, and `key` or `value` of a map.


@dataclass(frozen=True, slots=True)
class AddField(TableChange):
    """A field is added to the row at a path. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "field": "field", "position": "position"}

    path: tuple[str, ...]
    field: RowField
    position: ColumnPosition | None = None


@dataclass(frozen=True, slots=True)
class ModifyFieldComment(TableChange):
    """A field of the row at a path gets another comment, or none. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {
        "path": "path",
        "field": "old_field",
        "newComment": "new_comment",
    }

    path: tuple[str, ...]
    old_field: RowField
    new_comment: str | None


@dataclass(frozen=True, slots=True)
class ModifyNestedType(TableChange):
    """A field, element, key or value at a path gets another type or nullability. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "oldType": "old_type", "newType": "new_type"}

    path: tuple[str, ...]
    old_type: DataType
    new_type: DataType


@dataclass(frozen=True, slots=True)
class ModifyFieldName(TableChange):
    """A field of the row at a path is renamed. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "field": "old_field", "newName": "new_name"}

    path: tuple[str, ...]
    old_field: RowField
    new_name: str


@dataclass(frozen=True, slots=True)
class ModifyFieldPosition(TableChange):
    """A field of the row at a path is moved. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {
        "path": "path",
        "field": "old_field",
        "newPosition": "new_position",
    }

    path: tuple[str, ...]
    old_field: RowField
    new_position: ColumnPosition


@dataclass(frozen=True, slots=True)
class DropField(TableChange):
    """A field is dropped from the row at a path. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "field": "field"}

    path: tuple[str, ...]
    field: RowField


# --- watermark, keys, distribution ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PartChange(TableChange, ABC):
    """The base of changes that add, replace or drop one part of a table, other than a column."""

    @property
    @abstractmethod
    def before(self) -> object:
        """The part that the change expects, or None."""

    @property
    @abstractmethod
    def after(self) -> object:
        """The part after the change, or None."""


@dataclass(frozen=True, slots=True)
class Addition(PartChange):
    """The base of changes that add what their only field holds."""

    @property
    def before(self) -> object:
        """None."""
        return None

    @property
    def after(self) -> object:
        """What is added."""
        return getattr(self, fields(self)[0].name)


@dataclass(frozen=True, slots=True)
class Replacement(PartChange):
    """The base of changes that replace the value of their first field by that of the second."""

    @property
    def before(self) -> object:
        """The old value."""
        return getattr(self, fields(self)[0].name)

    @property
    def after(self) -> object:
        """The new value."""
        return getattr(self, fields(self)[1].name)


@dataclass(frozen=True, slots=True)
class Removal(PartChange):
    """The base of changes that drop what their only field holds."""

    @property
    def before(self) -> object:
        """What is dropped."""
        return getattr(self, fields(self)[0].name)

    @property
    def after(self) -> object:
        """None."""
        return None


@dataclass(frozen=True, slots=True)
class AddUniqueConstraint(Addition):
    """A primary key is added."""

    shown: ClassVar[dict[str, str]] = {"constraint": "constraint"}

    constraint: UnresolvedPrimaryKey


@dataclass(frozen=True, slots=True)
class ModifyUniqueConstraint(Replacement):
    """The primary key is replaced."""

    shown: ClassVar[dict[str, str]] = {"newConstraint": "new_constraint"}

    old_constraint: UnresolvedPrimaryKey
    new_constraint: UnresolvedPrimaryKey


@dataclass(frozen=True, slots=True)
class DropConstraint(Removal):
    """The primary key is dropped; its columns stay NOT NULL."""

    shown: ClassVar[dict[str, str]] = {"constraintName": "constraint_name"}

    constraint: UnresolvedPrimaryKey

    @property
    def constraint_name(self) -> str:
        """The name of the primary key."""
        return self.constraint.name


@dataclass(frozen=True, slots=True)
class AddWatermark(Addition):
    """A watermark is added."""

    shown: ClassVar[dict[str, str]] = {"watermarkSpec": "watermark_spec"}

    watermark_spec: UnresolvedWatermarkSpec


@dataclass(frozen=True, slots=True)
class ModifyWatermark(Replacement):
    """The watermark is replaced."""

    shown: ClassVar[dict[str, str]] = {"newWatermark": "new_watermark"}

    old_watermark: UnresolvedWatermarkSpec
    new_watermark: UnresolvedWatermarkSpec


@dataclass(frozen=True, slots=True)
class DropWatermark(Removal):
    """The watermark is dropped."""

    watermark_spec: UnresolvedWatermarkSpec


@dataclass(frozen=True, slots=True)
class AddDistribution(Addition):
    """A distribution is added."""

    shown: ClassVar[dict[str, str]] = {"distribution": "distribution"}

    distribution: TableDistribution


@dataclass(frozen=True, slots=True)
class ModifyDistribution(Replacement):
    """The distribution is replaced."""

    shown: ClassVar[dict[str, str]] = {"newDistribution": "new_distribution"}

    old_distribution: TableDistribution
    new_distribution: TableDistribution


@dataclass(frozen=True, slots=True)
class DropDistribution(Removal):
    """The distribution is dropped."""

    distribution: TableDistribution


@dataclass(frozen=True, slots=True)
class AddImmutableColumns(Addition):
    """Columns are declared immutable. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"constraint": "constraint"}

    constraint: UnresolvedImmutableColumns


@dataclass(frozen=True, slots=True)
class ModifyImmutableColumns(Replacement):
    """Other columns are declared immutable. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"newConstraint": "new_constraint"}

    old_constraint: UnresolvedImmutableColumns
    new_constraint: UnresolvedImmutableColumns


@dataclass(frozen=True, slots=True)
class DropImmutableColumns(Removal):
    """No columns are immutable any more. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"constraint": "constraint"}

    constraint: UnresolvedImmutableColumns


@dataclass(frozen=True, slots=True)
class ModifyPartitionKeys(Replacement):
    """The table gets other partition keys. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"oldKeys": "old_keys", "newKeys": "new_keys"}

    old_keys: tuple[str, ...]
    new_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModifyTableComment(Replacement):
    """The table gets another comment, or none. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"newComment": "new_comment"}

    old_comment: str | None
    new_comment: str | None


@dataclass(frozen=True, slots=True)
class ModifySnapshot(Replacement):
    """The table refers to another snapshot, or to none. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"newSnapshot": "new_snapshot"}

    old_snapshot: int | None
    new_snapshot: int | None


@dataclass(frozen=True, slots=True)
class AddIndex(TableChange):
    """An index is appended. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"index": "index"}

    index: UnresolvedIndex


@dataclass(frozen=True, slots=True)
class DropIndex(TableChange):
    """An index is dropped. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"indexName": "index_name"}

    index: UnresolvedIndex

    @property
    def index_name(self) -> str:
        """The name of the index."""
        return self.index.name


# --- options -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class SetOption(TableChange):
    """An option is set; `old_value` is None if it was not set before.

    Secrets are masked in `str` and `repr`.

    >>> SetOption("password", "hunter2", None)
    SetOption{key='password', value='******'}
    """

    shown: ClassVar[dict[str, str]] = {"key": "key", "value": "masked_value"}

    key: str
    value: str
    old_value: str | None = None

    @property
    def masked_value(self) -> str:
        """The new value, masked if it is secret."""
        return masked_value(self.key, self.value)

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True, repr=False)
class ResetOption(TableChange):
    """An option is removed; secrets are masked as in `SetOption`."""

    shown: ClassVar[dict[str, str]] = {"key": "key"}

    key: str
    old_value: str

    def __repr__(self) -> str:
        return str(self)


# --- tables --------------------------------------------------------------------------------------

#: What `TableChange.add` and `TableChange.drop` accept.
Part: TypeAlias = (
    UnresolvedColumn
    | UnresolvedWatermarkSpec
    | UnresolvedPrimaryKey
    | UnresolvedIndex
    | UnresolvedImmutableColumns
    | TableDistribution
)

#: The annotation of paths and partition keys.
NAMES = "tuple[str, ...]"

#: annotation of a field -> the classes of its values
KINDS: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "str | None": (str, NoneType),
    "int | None": (int, NoneType),
    "ColumnPosition": ColumnPosition,
    "ColumnPosition | None": (ColumnPosition, NoneType),
    "UnresolvedColumn": get_args(UnresolvedColumn),
    "WrittenType": get_args(WrittenType),
    "DataType": DataType,
    "RowField": RowField,
    "UnresolvedPrimaryKey": UnresolvedPrimaryKey,
    "UnresolvedWatermarkSpec": UnresolvedWatermarkSpec,
    "UnresolvedImmutableColumns": UnresolvedImmutableColumns,
    "UnresolvedIndex": UnresolvedIndex,
    "TableDistribution": TableDistribution,
}

#: kind of part -> the change that adds it
ADD: dict[type, Callable[..., TableChange]] = {
    UnresolvedWatermarkSpec:    AddWatermark,
    UnresolvedPrimaryKey:       AddUniqueConstraint,
    UnresolvedIndex:            AddIndex,
    UnresolvedImmutableColumns: AddImmutableColumns,
    TableDistribution:          AddDistribution,
}  # fmt: skip

#: kind of part -> the change that replaces it
MODIFY: dict[type, Callable[..., TableChange]] = {
    UnresolvedWatermarkSpec:    ModifyWatermark,
    UnresolvedPrimaryKey:       ModifyUniqueConstraint,
    UnresolvedImmutableColumns: ModifyImmutableColumns,
    TableDistribution:          ModifyDistribution,
}  # fmt: skip

#: kind of part -> the change that drops it
DROP: dict[type, Callable[..., TableChange]] = {
    UnresolvedWatermarkSpec:    DropWatermark,
    UnresolvedPrimaryKey:       DropConstraint,
    UnresolvedIndex:            DropIndex,
    UnresolvedImmutableColumns: DropImmutableColumns,
    TableDistribution:          DropDistribution,
}  # fmt: skip

#: All classes of changes.
CHANGES: tuple[type[TableChange], ...] = (
    AddColumn, ModifyColumn, ModifyColumnComment, ModifyPhysicalColumnType, ModifyColumnName,
    ModifyColumnPosition, DropColumn,
    AddField, ModifyFieldComment, ModifyNestedType, ModifyFieldName, ModifyFieldPosition, DropField,
    AddUniqueConstraint, ModifyUniqueConstraint, DropConstraint,
    AddWatermark, ModifyWatermark, DropWatermark,
    AddDistribution, ModifyDistribution, DropDistribution,
    AddImmutableColumns, ModifyImmutableColumns, DropImmutableColumns,
    AddIndex, DropIndex,
    ModifyPartitionKeys, ModifyTableComment, ModifySnapshot,
    SetOption, ResetOption,
)  # fmt: skip


def _kind(part: object, table: dict[type, Callable[..., TableChange]] = ADD) -> type:
    """Return the class of a part other than a column."""
    require_instance(part, tuple(table), "the part of a table")
    return type(part)
