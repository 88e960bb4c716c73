"""Changes of tables: the classes of Flink's `TableChange`, and our own where Flink has none.

A change has the new value and the value that it replaces; a table with another value is refused.
Each class applies and describes itself, and states what it does to stored columns and to the order
of changes. Its JSON follows from its fields; targets of migrations have a row with its SQL.

Law: ``apply(diff(a, b), a)`` equals ``b`` in normal form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from types import NoneType
from typing import Any, ClassVar, TypeAlias, TypeVar, get_args

from schema_core.base.arguments import require_instance, require_names, require_sequence
from schema_core.base.lazy import dataclass
from schema_core.base.secrets import mask_value
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog.changes.normal_forms import (
    Table,
    as_written,
    normal_column,
    normal_part,
    normal_type,
    normalize,
    stale_change,
    steps_of,
)
from schema_core.catalog.objects import CatalogBaseTable, CatalogTable, TableDistribution
from schema_core.catalog.resolve import origin
from schema_core.errors import SchemaError, at, similar
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
    WrittenType,
)
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, RowField, RowType

T = TypeVar("T")

#: The path of a column, or of a field, element, key or value within its type.
Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnPosition:
    """The position of a column or field: first, or after another of its table or row.

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
            SchemaError: with code `invalid-argument` for a name that is not a string.
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


def _format(value: object) -> str:
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
class StoredPart:
    """A column or field whose values tables store; files do not have metadata columns."""

    path: Path
    data_type: WrittenType
    in_files: bool = True


#: A stored column or field before and after a change, None if absent.
StoredChange: TypeAlias = tuple[StoredPart | None, StoredPart | None]


@dataclass(frozen=True, slots=True)
class TableChange(ABC):
    """The base of all changes; its static methods create them, with Flink's names.

    `str` prints a change as Flink does: the class, and the new values by Flink's names.

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
        values = (f"{name}={_format(getattr(self, value))}" for name, value in self.shown.items())
        return f"{type(self).__name__}{{{', '.join(values)}}}"

    @abstractmethod
    def apply_to(self, table: CatalogTable) -> CatalogTable:
        """Return an unresolved table after the change.

        Raises:
            SchemaError: as `apply`.
        """

    @abstractmethod
    def description(self) -> str:
        """Return the change in English, with secrets masked."""

    @property
    def redefined_column(self) -> str | None:
        """The column that the change defines anew, with its name and position."""
        return None

    @property
    def rename(self) -> tuple[Path, str] | None:
        """The path of the column or field that is renamed, and its new name."""
        return None

    def stored_changes(self) -> Sequence[StoredChange]:
        """Return what the change does to stored columns and fields."""
        return ()

    @staticmethod
    def add(part: Part, position: ColumnPosition | None = None) -> TableChange:
        """Return the change that adds a column, watermark, key, index or distribution.

        Without `position` a column is appended.

        Raises:
            SchemaError: with code `invalid-argument` for anything else.
        """
        if isinstance(part, UnresolvedColumn):
            return AddColumn(part, position)
        return _change_of(part, "add")(part)

    @staticmethod
    def modify(old: Part, new: Part, position: ColumnPosition | None = None) -> TableChange:
        """Return the change that replaces a column, watermark, key or distribution.

        Without `position` a column keeps its own.

        Raises:
            SchemaError: with code `invalid-argument` for anything else, and for an index, which is
                dropped and added.
        """
        if isinstance(old, UnresolvedColumn) and isinstance(new, UnresolvedColumn):
            return ModifyColumn(old, new, position)
        kind = _change_of(old, "modify")
        return kind(old, require_instance(new, type(old), "the new definition"))

    @staticmethod
    def drop(part: Part) -> TableChange:
        """Return the change that drops a column, watermark, key, index or distribution.

        Raises:
            SchemaError: with code `invalid-argument` for anything else.
        """
        if isinstance(part, UnresolvedColumn):
            return DropColumn(part)
        return _change_of(part, "drop")(part)

    @staticmethod
    def set(key: str, value: str, old_value: str | None = None) -> SetOption:
        """Return the change that sets an option; `old_value` is None if it is not set."""
        return SetOption(key, value, old_value)

    @staticmethod
    def reset(key: str, old_value: str) -> ResetOption:
        """Return the change that removes an option, whose current value is `old_value`."""
        return ResetOption(key, old_value)


# --- columns -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddColumn(TableChange):
    """A column is added at a position, by default as the last one."""

    shown: ClassVar[dict[str, str]] = {"column": "column", "position": "position"}

    column: UnresolvedColumn
    position: ColumnPosition | None = None

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        columns = table.schema.columns
        _require_free(self.column.name, columns)
        return _with_schema(table, columns=_insert(columns, self.column, self.position))

    def description(self) -> str:
        return f"add column {self.column}{_place(self.position)}"

    def stored_changes(self) -> Sequence[StoredChange]:
        return _replace_stored(None, self.column)


@dataclass(frozen=True, slots=True)
class ColumnChange(TableChange, ABC):
    """The base of changes of a column, which must still be defined as it was."""

    old_column: UnresolvedColumn

    @property
    def _title(self) -> str:
        return f"column {quote_identifier(self.old_column.name)}"


@dataclass(frozen=True, slots=True)
class ModifyColumn(ColumnChange):
    """A column is replaced, by default at its position; used where either is not physical."""

    shown: ClassVar[dict[str, str]] = {
        "oldColumn": "old_column",
        "newColumn": "new_column",
        "newPosition": "new_position",
    }

    new_column: UnresolvedColumn
    new_position: ColumnPosition | None = None

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        old, new = self.old_column, self.new_column
        index = _find(table, old)
        if old.name != new.name:
            table = _rename_column(table, old.name, new.name)
        rest = [*table.schema.columns[:index], *table.schema.columns[index + 1 :]]
        if self.new_position is None:
            rest.insert(index, new)
            return _with_schema(table, columns=tuple(rest))
        return _with_schema(table, columns=_insert(rest, new, self.new_position))

    def description(self) -> str:
        place = _place(self.new_position)
        return f"replace column {self.old_column} by {self.new_column}{place}"

    @property
    def rename(self) -> tuple[Path, str] | None:
        return (self.old_column.name,), self.new_column.name

    def stored_changes(self) -> Sequence[StoredChange]:
        return _replace_stored(self.old_column, self.new_column)


@dataclass(frozen=True, slots=True)
class ModifyColumnComment(ColumnChange):
    """A physical column gets another comment, or none."""

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newComment": "new_comment"}

    new_comment: str | None

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        _find(table, self.old_column)
        return _with_column(table, replace(self.old_column, comment=self.new_comment))

    def description(self) -> str:
        return _describe_comment(self._title, self.new_comment)

    @property
    def redefined_column(self) -> str | None:
        return self.old_column.name


@dataclass(frozen=True, slots=True)
class ModifyPhysicalColumnType(ColumnChange):
    """A physical column gets another type or nullability."""

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newType": "new_type"}

    new_type: WrittenType

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        _find(table, self.old_column)
        return _with_column(table, self._new_column())

    def _new_column(self) -> UnresolvedColumn:
        return replace(_require_physical(self.old_column), data_type=self.new_type)

    def description(self) -> str:
        old = _require_physical(self.old_column).data_type
        return _describe_type(self._title, old, self.new_type)

    @property
    def redefined_column(self) -> str | None:
        return self.old_column.name

    def stored_changes(self) -> Sequence[StoredChange]:
        return _replace_stored(self.old_column, self._new_column())


@dataclass(frozen=True, slots=True)
class ModifyColumnName(ColumnChange):
    """A column is renamed, also in keys and indexes; a metadata column keeps its metadata key.

    Expressions are not changed.
    """

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newName": "new_name"}

    new_name: str

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        _find(table, self.old_column)
        return _rename_column(table, self.old_column.name, self.new_name)

    def description(self) -> str:
        return f"rename {self._title} to {quote_identifier(self.new_name)}"

    @property
    def rename(self) -> tuple[Path, str] | None:
        return (self.old_column.name,), self.new_name

    def stored_changes(self) -> Sequence[StoredChange]:
        old = _stored_part(self.old_column)
        return () if old is None else [(old, replace(old, path=(self.new_name,)))]


@dataclass(frozen=True, slots=True)
class ModifyColumnPosition(ColumnChange):
    """A column is moved."""

    shown: ClassVar[dict[str, str]] = {"Column": "old_column", "newPosition": "new_position"}

    new_position: ColumnPosition

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        columns = list(table.schema.columns)
        column = columns.pop(_find(table, self.old_column))
        return _with_schema(table, columns=_insert(columns, column, self.new_position))

    def description(self) -> str:
        return f"move {self._title}{_place(self.new_position)}"


@dataclass(frozen=True, slots=True)
class DropColumn(TableChange):
    """A column is dropped."""

    shown: ClassVar[dict[str, str]] = {"columnName": "column_name"}

    column: UnresolvedColumn

    @property
    def column_name(self) -> str:
        """The name of the column."""
        return self.column.name

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        columns = list(table.schema.columns)
        del columns[_find(table, self.column)]
        return _with_schema(table, columns=tuple(columns))

    def description(self) -> str:
        return f"drop column {self.column}"

    def stored_changes(self) -> Sequence[StoredChange]:
        return _replace_stored(self.column, None)


def _stored_part(column: UnresolvedColumn | None) -> StoredPart | None:
    """Return what a table stores of a column, or None."""
    match column:
        case UnresolvedPhysicalColumn(name, type_):
            return StoredPart((name,), type_)
        case UnresolvedMetadataColumn(name, type_, virtual=False):
            return StoredPart((name,), type_, in_files=False)
        case _:
            return None


def _replace_stored(
    old: UnresolvedColumn | None, new: UnresolvedColumn | None
) -> Sequence[StoredChange]:
    before, after = _stored_part(old), _stored_part(new)
    if before is None or after is None or before.path == after.path:
        return [] if before is after else [(before, after)]
    return [(before, None), (None, after)]


def _with_schema(table: CatalogTable, **members: Any) -> CatalogTable:
    return replace(table, schema=replace(table.schema, **members))


def _index_of(name: str, members: Sequence[Any]) -> int:
    """Return the index of the column or field of this name (`unknown-column`)."""
    for index, member in enumerate(members):
        if member.name == name:
            return index
    raise SchemaError(
        f"there is no column or field {name!r}",
        code="unknown-column",
        hint=similar(name, [member.name for member in members]),
    )


def _require_free(name: str, members: Iterable[Any]) -> None:
    if any(member.name == name for member in members):
        raise SchemaError(f"there is already a column or field {name!r}", code="duplicate-column")


def _insert(members: Sequence[T], member: T, position: ColumnPosition | None) -> tuple[T, ...]:
    """Return the columns or fields with one more at a position, by default the last."""
    if position is None:
        return (*members, member)
    index = 0 if position.column is None else 1 + _index_of(position.column, members)
    return (*members[:index], member, *members[index:])


def _find(table: CatalogTable, column: UnresolvedColumn) -> int:
    """Return the index of a column, which must still be defined as it was."""
    index = _index_of(column.name, table.schema.columns)
    current = normal_column(table.schema.columns[index])
    _require_same(current, normal_column(column), f"column {column.name!r}")
    return index


def _require_same(current: object, expected: object, what: str) -> None:
    if current != expected:
        was, should = ("absent" if value is None else value for value in (current, expected))
        raise stale_change(f"{what} is {was}, expected {should}")


def _require_physical(column: UnresolvedColumn) -> UnresolvedPhysicalColumn:
    if not isinstance(column, UnresolvedPhysicalColumn):
        raise stale_change(f"column {column.name!r} is not physical", hint="use ModifyColumn")
    return column


def _with_column(table: CatalogTable, new: UnresolvedColumn) -> CatalogTable:
    columns = (new if column.name == new.name else column for column in table.schema.columns)
    return _with_schema(table, columns=tuple(columns))


def _rename_column(table: CatalogTable, old: str, new: str) -> CatalogTable:
    """Return the table with a column renamed everywhere except in expressions."""
    _require_free(new, table.schema.columns)

    def rename(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new if name == old else name for name in names)

    def rename_in(constraint: Any) -> Any:
        if constraint is None:
            return None
        return replace(constraint, column_names=rename(constraint.column_names))

    schema, distribution = table.schema, table.distribution
    if distribution is not None:
        distribution = replace(distribution, bucket_keys=rename(distribution.bucket_keys))
    schema = replace(
        schema,
        columns=tuple(
            _with_name(column, new) if column.name == old else column for column in schema.columns
        ),
        primary_key=rename_in(schema.primary_key),
        indexes=tuple(map(rename_in, schema.indexes)),
        immutable_columns=rename_in(schema.immutable_columns),
    )
    keys = rename(table.partition_keys)
    return replace(table, schema=schema, partition_keys=keys, distribution=distribution)


def _with_name(column: UnresolvedColumn, name: str) -> UnresolvedColumn:
    if isinstance(column, UnresolvedMetadataColumn):
        return replace(column, name=name, metadata_key=None if column.key == name else column.key)
    return replace(column, name=name)


def _place(position: ColumnPosition | None) -> str:
    if position is None:
        return ""
    column = position.column
    return " first" if column is None else f" after {quote_identifier(column)}"


def _describe_type(what: str, old: WrittenType, new: WrittenType) -> str:
    """Describe the change of a type, or only of its nullability."""
    before, after = normal_type(old), normal_type(new)
    if isinstance(before, DataType) and isinstance(after, DataType):
        if before.nullable() == after.nullable():
            return f"make {what} {'nullable' if after.is_nullable else 'NOT NULL'}"
        before, after = before.as_summary_string(), after.as_summary_string()
    return f"change the type of {what} from {before} to {after}"


def _describe_comment(what: str, comment: str | None) -> str:
    if comment is None:
        return f"remove the comment of {what}"
    return f"set the comment of {what} to {quote_string(comment)}"


# --- parts of types: not in Flink, which replaces the whole type ---------------------------------
#
# A path starts with the name of a physical column. Its other names are fields of rows, `element` of
# an array or multiset, and `key` or `value` of a map.


@dataclass(frozen=True, slots=True)
class NestedChange(TableChange, ABC):
    """The base of changes of a part of a type; `path` leads to the part, or to its row."""

    path: tuple[str, ...]

    @abstractmethod
    def change_type(self, type_: DataType) -> DataType:
        """Return the type at the path after the change.

        Raises:
            SchemaError: as `apply`.
        """

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        name = self.path[0] if self.path else ""
        column = _require_physical(table.schema.columns[_index_of(name, table.schema.columns)])
        type_ = normal_type(column.data_type)
        if not isinstance(type_, DataType):
            raise stale_change(f"cannot alter a part of {str(type_)!r}: the type is not resolved")
        return _with_column(table, replace(column, data_type=self._within(type_, self.path[1:])))

    def _within(self, type_: DataType, rest: Sequence[str]) -> DataType:
        if not rest:
            return self.change_type(type_)
        if rest[0] not in (steps := steps_of(type_)):
            raise stale_change(f"{type_} has no part {rest[0]!r}", hint=similar(rest[0], steps))
        children = list(type_.children())
        index = steps.index(rest[0])
        children[index] = self._within(children[index], rest[1:])
        return type_.rebuild(tuple(children))

    @property
    def redefined_column(self) -> str | None:
        return self.path[0]


@dataclass(frozen=True, slots=True)
class RowChange(NestedChange, ABC):
    """The base of changes of one field of the row at a path."""

    @property
    @abstractmethod
    def expected_field(self) -> RowField | None:
        """The field as it was; None if the change adds it."""

    @abstractmethod
    def change_fields(self, fields: Sequence[RowField], index: int) -> Iterable[RowField]:
        """Return the row's fields after the change; `index` is that of the expected field.

        Raises:
            SchemaError: as `apply`.
        """

    def change_type(self, type_: DataType) -> DataType:
        if not isinstance(type_, RowType):
            raise stale_change(f"{print_path(self.path)} is {type_}, expected a ROW")
        index, field = 0, self.expected_field
        if field is not None:
            index = _index_of(field.name, type_.fields)
            _require_same(type_.fields[index], field, f"field {field.name!r}")
        return RowType(self.change_fields(type_.fields, index), type_.is_nullable)

    def _stored_part(self, field: RowField) -> StoredPart:
        return StoredPart((*self.path, field.name), field.data_type)

    @property
    def _title(self) -> str:
        name = "" if self.expected_field is None else self.expected_field.name
        return f"field {quote_identifier(name)} of {print_path(self.path)}"


@dataclass(frozen=True, slots=True)
class AddField(RowChange):
    """A field is added to the row at a path. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "field": "field", "position": "position"}

    field: RowField
    position: ColumnPosition | None = None

    @property
    def expected_field(self) -> RowField | None:
        return None

    def change_fields(self, fields: Sequence[RowField], index: int) -> Iterable[RowField]:
        _require_free(self.field.name, fields)
        return _insert(fields, self.field, self.position)

    def description(self) -> str:
        return f"add field {self.field} to {print_path(self.path)}{_place(self.position)}"

    def stored_changes(self) -> Sequence[StoredChange]:
        return [(None, self._stored_part(self.field))]


@dataclass(frozen=True, slots=True)
class FieldReplacement(RowChange, ABC):
    """The base of changes that replace a field of the row at a path."""

    old_field: RowField

    @property
    def expected_field(self) -> RowField | None:
        return self.old_field

    @property
    @abstractmethod
    def new_field(self) -> RowField:
        """The field after the change."""

    def change_fields(self, fields: Sequence[RowField], index: int) -> Iterable[RowField]:
        if self.new_field.name != self.old_field.name:
            _require_free(self.new_field.name, fields)
        return (*fields[:index], self.new_field, *fields[index + 1 :])


@dataclass(frozen=True, slots=True)
class ModifyFieldComment(FieldReplacement):
    """A field of the row at a path gets another comment, or none. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {
        "path": "path",
        "field": "old_field",
        "newComment": "new_comment",
    }

    new_comment: str | None

    @property
    def new_field(self) -> RowField:
        return replace(self.old_field, description=self.new_comment)

    def description(self) -> str:
        return _describe_comment(self._title, self.new_comment)


@dataclass(frozen=True, slots=True)
class ModifyNestedType(NestedChange):
    """A field, element, key or value at a path gets another type or nullability. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "oldType": "old_type", "newType": "new_type"}

    old_type: DataType
    new_type: DataType

    def change_type(self, type_: DataType) -> DataType:
        _require_same(type_, self.old_type, f"the type of {print_path(self.path)}")
        return self.new_type

    def description(self) -> str:
        return _describe_type(print_path(self.path), self.old_type, self.new_type)

    def stored_changes(self) -> Sequence[StoredChange]:
        return [(StoredPart(self.path, self.old_type), StoredPart(self.path, self.new_type))]


@dataclass(frozen=True, slots=True)
class ModifyFieldName(FieldReplacement):
    """A field of the row at a path is renamed. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "field": "old_field", "newName": "new_name"}

    new_name: str

    @property
    def new_field(self) -> RowField:
        return replace(self.old_field, name=self.new_name)

    def description(self) -> str:
        return f"rename {self._title} to {quote_identifier(self.new_name)}"

    @property
    def rename(self) -> tuple[Path, str] | None:
        return (*self.path, self.old_field.name), self.new_name

    def stored_changes(self) -> Sequence[StoredChange]:
        return [(self._stored_part(self.old_field), self._stored_part(self.new_field))]


@dataclass(frozen=True, slots=True)
class ModifyFieldPosition(RowChange):
    """A field of the row at a path is moved. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {
        "path": "path",
        "field": "old_field",
        "newPosition": "new_position",
    }

    old_field: RowField
    new_position: ColumnPosition

    @property
    def expected_field(self) -> RowField | None:
        return self.old_field

    def change_fields(self, fields: Sequence[RowField], index: int) -> Iterable[RowField]:
        return _insert([*fields[:index], *fields[index + 1 :]], fields[index], self.new_position)

    def description(self) -> str:
        return f"move {self._title}{_place(self.new_position)}"


@dataclass(frozen=True, slots=True)
class DropField(RowChange):
    """A field is dropped from the row at a path. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"path": "path", "field": "field"}

    field: RowField

    @property
    def expected_field(self) -> RowField | None:
        return self.field

    def change_fields(self, fields: Sequence[RowField], index: int) -> Iterable[RowField]:
        return (*fields[:index], *fields[index + 1 :])

    def description(self) -> str:
        return f"drop {self._title}"

    def stored_changes(self) -> Sequence[StoredChange]:
        return [(self._stored_part(self.field), None)]


# --- watermark, keys, distribution ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PartChange(TableChange, ABC):
    """The base of changes of one part of a table other than a column."""

    @property
    @abstractmethod
    def before(self) -> object:
        """The part that the change expects, or None."""

    @property
    @abstractmethod
    def after(self) -> object:
        """The part after the change, or None."""

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        part = PART_OF[type(self)]
        _require_same(normal_part(part.get(table)), normal_part(self.before), part.what)
        return part.put(table, self.after)


@dataclass(frozen=True, slots=True)
class Addition(PartChange, ABC):
    """The base of changes that add the value of their only field."""

    @property
    def before(self) -> object:
        """None."""
        return None

    @property
    def after(self) -> object:
        """What is added."""
        return getattr(self, fields(self)[0].name)

    def description(self) -> str:
        return f"add {self.after}"


@dataclass(frozen=True, slots=True)
class Replacement(PartChange, ABC):
    """The base of changes that replace the value of their first field by the second."""

    @property
    def before(self) -> object:
        """The old value."""
        return getattr(self, fields(self)[0].name)

    @property
    def after(self) -> object:
        """The new value."""
        return getattr(self, fields(self)[1].name)

    def description(self) -> str:
        return f"replace {self.before} by {self.after}"


@dataclass(frozen=True, slots=True)
class Removal(PartChange, ABC):
    """The base of changes that drop the value of their only field."""

    @property
    def before(self) -> object:
        """What is dropped."""
        return getattr(self, fields(self)[0].name)

    @property
    def after(self) -> object:
        """None."""
        return None

    def description(self) -> str:
        return f"drop {self.before}"


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

    def description(self) -> str:
        return f"make the table {self.distribution}"


@dataclass(frozen=True, slots=True)
class ModifyDistribution(Replacement):
    """The distribution is replaced."""

    shown: ClassVar[dict[str, str]] = {"newDistribution": "new_distribution"}

    old_distribution: TableDistribution
    new_distribution: TableDistribution

    def description(self) -> str:
        return f"make the table {self.new_distribution} instead of {self.old_distribution}"


@dataclass(frozen=True, slots=True)
class DropDistribution(Removal):
    """The distribution is dropped."""

    distribution: TableDistribution

    def description(self) -> str:
        return f"make the table no longer {self.distribution}"


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

    def description(self) -> str:
        old, new = (
            ", ".join(map(quote_identifier, keys)) or "none"
            for keys in (self.old_keys, self.new_keys)
        )
        return f"change the partition keys from {old} to {new}"


@dataclass(frozen=True, slots=True)
class ModifyTableComment(Replacement):
    """The table gets another comment, or none. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"newComment": "new_comment"}

    old_comment: str | None
    new_comment: str | None

    def description(self) -> str:
        return _describe_comment("the table", self.new_comment)


@dataclass(frozen=True, slots=True)
class ModifySnapshot(Replacement):
    """The table refers to another snapshot, or to none. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"newSnapshot": "new_snapshot"}

    old_snapshot: int | None
    new_snapshot: int | None

    def description(self) -> str:
        if self.new_snapshot is None:
            return "remove the snapshot"
        return f"set the snapshot to {self.new_snapshot}"


@dataclass(frozen=True, slots=True)
class TablePart:
    """A part of a table: its name in messages, its class and changes, how it is read and replaced.

    Without `add` and `drop` it always exists, maybe empty; `TableChange.add` creates parts with a
    class only.
    """

    what: str
    kind: type | None
    add: Callable[..., PartChange] | None
    modify: Callable[..., PartChange]
    drop: Callable[..., PartChange] | None
    get: Callable[[CatalogTable], Any]
    put: Callable[[CatalogTable, Any], CatalogTable]


#: Parts in an order in which none is added before one that it requires.
PARTS: tuple[TablePart, ...] = (
    TablePart(
        "the primary key", UnresolvedPrimaryKey,
        AddUniqueConstraint, ModifyUniqueConstraint, DropConstraint,
        lambda table: table.schema.primary_key,
        lambda table, key: _with_schema(table, primary_key=key),
    ),
    TablePart(
        "the watermark", UnresolvedWatermarkSpec,
        AddWatermark, ModifyWatermark, DropWatermark,
        lambda table: next(iter(table.schema.watermark_specs), None),
        lambda table, spec: _with_schema(table, watermark_specs=() if spec is None else (spec,)),
    ),
    TablePart(
        "the distribution", TableDistribution,
        AddDistribution, ModifyDistribution, DropDistribution,
        lambda table: table.distribution,
        lambda table, distribution: replace(table, distribution=distribution),
    ),
    TablePart(
        "the immutable columns", UnresolvedImmutableColumns,
        AddImmutableColumns, ModifyImmutableColumns, DropImmutableColumns,
        lambda table: table.schema.immutable_columns,
        lambda table, columns: _with_schema(table, immutable_columns=columns),
    ),
    TablePart(
        "the partition keys", None, None, ModifyPartitionKeys, None,
        lambda table: table.partition_keys,
        lambda table, keys: replace(table, partition_keys=keys),
    ),
    TablePart(
        "the comment", None, None, ModifyTableComment, None,
        lambda table: table.comment,
        lambda table, comment: replace(table, comment=comment),
    ),
    TablePart(
        "the snapshot", None, None, ModifySnapshot, None,
        lambda table: table.snapshot,
        lambda table, snapshot: replace(table, snapshot=snapshot),
    ),
)  # fmt: skip

#: change -> the part that it changes
PART_OF: dict[object, TablePart] = {
    kind: part for part in PARTS for kind in (part.add, part.modify, part.drop) if kind is not None
}


@dataclass(frozen=True, slots=True)
class AddIndex(TableChange):
    """An index is appended. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"index": "index"}

    index: UnresolvedIndex

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        indexes = table.schema.indexes
        if any(index.name == self.index.name for index in indexes):
            raise stale_change(f"there is already an index {self.index.name!r}")
        return _with_schema(table, indexes=(*indexes, self.index))

    def description(self) -> str:
        return f"add {self.index}"


@dataclass(frozen=True, slots=True)
class DropIndex(TableChange):
    """An index is dropped. Not in Flink."""

    shown: ClassVar[dict[str, str]] = {"indexName": "index_name"}

    index: UnresolvedIndex

    @property
    def index_name(self) -> str:
        """The name of the index."""
        return self.index.name

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        indexes = table.schema.indexes
        if self.index not in indexes:
            raise stale_change(f"there is no {self.index}")
        rest = tuple(index for index in indexes if index != self.index)
        return _with_schema(table, indexes=rest)

    def description(self) -> str:
        return f"drop {self.index}"


# --- options -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class OptionChange(TableChange, ABC):
    """The base of changes of an option. Secrets are masked in `str` and `repr`."""

    key: str

    def __repr__(self) -> str:
        return str(self)

    def _require_value(self, table: CatalogTable, value: str | None) -> None:
        if table.options.get(self.key) != value:  # values may be secret: they are not shown
            raise stale_change(f"option {self.key!r} has changed since the change was made")


@dataclass(frozen=True, slots=True, repr=False)
class SetOption(OptionChange):
    """An option is set; `old_value` is None if it was not.

    >>> SetOption("password", "hunter2", None)
    SetOption{key='password', value='******'}
    """

    shown: ClassVar[dict[str, str]] = {"key": "key", "value": "masked_value"}

    value: str
    old_value: str | None = None

    @property
    def masked_value(self) -> str:
        """The new value, masked if it is secret."""
        return mask_value(self.key, self.value)

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        self._require_value(table, self.old_value)
        return table.copy({**table.options, self.key: self.value})

    def description(self) -> str:
        return f"set option {quote_string(self.key)} to {quote_string(self.masked_value)}"


@dataclass(frozen=True, slots=True, repr=False)
class ResetOption(OptionChange):
    """An option is removed."""

    shown: ClassVar[dict[str, str]] = {"key": "key"}

    old_value: str

    def apply_to(self, table: CatalogTable) -> CatalogTable:
        self._require_value(table, self.old_value)
        return table.copy({key: option for key, option in table.options.items() if key != self.key})

    def description(self) -> str:
        return f"remove option {quote_string(self.key)}"


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

#: class of a part other than a column -> the changes that add, replace and drop it
CHANGES_OF_PARTS: dict[type, dict[str, Callable[..., TableChange]]] = {
    **{
        part.kind: {"add": part.add, "modify": part.modify, "drop": part.drop}
        for part in PARTS
        if part.kind is not None and part.add is not None and part.drop is not None
    },
    UnresolvedIndex: {"add": AddIndex, "drop": DropIndex},
}

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


def _change_of(part: object, verb: str) -> Callable[..., TableChange]:
    """Return the change that adds, replaces or drops a part other than a column."""
    kinds = {kind: verbs[verb] for kind, verbs in CHANGES_OF_PARTS.items() if verb in verbs}
    require_instance(part, tuple(kinds), "the part of a table")
    return kinds[type(part)]


# --- application and description -----------------------------------------------------------------


def apply(changes: Iterable[TableChange], table: Table) -> Table:
    """Return the schema or table after the changes, in their order.

    Each change is compared with the state that it is applied to, which must contain its old value.
    The result is unresolved, also for a resolved table: changes may refer to columns that later
    ones add. A schema accepts changes of its columns, keys and watermark only.

    Raises:
        SchemaError: with code `change-does-not-fit` where the state is not the one that a
            change was made for, `unknown-column`, `duplicate-column` or `invalid-argument`.

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
        after = apply(steps, CatalogTable(table))
        if replace(after, schema=table) != CatalogTable(table):
            raise stale_change("a schema has no options, comment, distribution or partition keys")
        return after.schema
    require_instance(table, CatalogTable, "the table", "a schema or a table")
    result = origin(table)
    for position, change in enumerate(steps, 1):
        require_instance(change, TableChange, "a change")
        with at(f"change {position}, {type(change).__name__}"):
            result = change.apply_to(result)
    return result


def require_consistent(
    changes: Iterable[TableChange], expected: CatalogBaseTable | None, new: CatalogBaseTable
) -> None:
    """Refuse changes that do not lead from one definition of a table to another.

    Errors: as `apply`; `change-does-not-fit`.
    """
    if not isinstance(expected, CatalogTable) or not isinstance(new, CatalogTable):
        raise stale_change(
            "changes require the table that they were made for",
            hint="pass the table that was read as `expected`",
        )
    if normalize(apply(changes, expected)) != normalize(as_written(new)):
        raise stale_change("the changes lead to another definition than the new one")


def describe(change: TableChange) -> str:
    """Return a change in one line of English, with secrets masked.

    Raises:
        SchemaError: with code `invalid-argument` for anything but a change.

    >>> from schema_core import DataTypes
    >>> column = UnresolvedPhysicalColumn("id", DataTypes.INT())
    >>> print(describe(ModifyPhysicalColumnType(column, DataTypes.INT(nullable=False))))
    make column `id` NOT NULL
    """
    require_instance(change, TableChange, "the change")
    return " ".join(change.description().splitlines())
