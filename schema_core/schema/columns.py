"""Columns, watermarks, keys and indexes of a schema: as written, and resolved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from types import NoneType
from typing import Self, TypeAlias

from schema_core.arguments import require_instance, require_names
from schema_core.errors import SchemaError
from schema_core.expressions.typed import Typed
from schema_core.sql import syntax
from schema_core.text import Span, quote_identifier, quote_string, show
from schema_core.types import AnyTimestampType, DataType, TimestampKind, UnresolvedDataType


@dataclass(frozen=True, slots=True)
class SqlExpression:
    """SQL text that nobody has looked into yet; equal when spelled equally.

    What came out of a statement brings its `syntax` along, whose spans point into `source`, the
    text of the statement.

    >>> print(SqlExpression("price * 2"))
    [price * 2]
    """

    text: str
    syntax: syntax.Expression | None = field(default=None, compare=False, repr=False)
    source: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"[{self.text}]"


@dataclass(frozen=True, slots=True)
class ResolvedExpression:
    """An expression whose type is known; equal when it means the same, however it was written."""

    typed: Typed
    written: SqlExpression = field(compare=False)

    @property
    def type(self) -> DataType:
        """The type of its value."""
        return self.typed.type

    def get_output_data_type(self) -> DataType:
        return self.typed.type

    def as_summary_string(self) -> str:
        """As it was written: what listings show."""
        return self.written.text

    def as_serializable_string(self) -> str:
        """SQL that means the same everywhere: what a catalog keeps.

        Raises:
            UnsupportedError: for a part that has no SQL of its own, such as an unregistered
                function.
        """
        from schema_core.expressions.to_sql import to_sql

        return to_sql(self.typed)

    def __str__(self) -> str:
        return self.as_summary_string()


def format_members(members: Iterable[object]) -> str:
    """One indented line a member.

    >>> print(format_members(["`a` INT", "`b` INT"]))
    (
      `a` INT,
      `b` INT
    )
    """
    return "(\n" + ",\n".join(f"  {member}" for member in members) + "\n)"


def _format_names(columns: Iterable[str]) -> str:
    """Quoted names in parentheses.

    >>> _format_names(["a", "b c"])
    '(`a`, `b c`)'
    """
    return f"({', '.join(map(quote_identifier, columns))})"


def format_metadata(key: str | None, *, virtual: bool) -> str:
    """What stands behind the type of a metadata column."""
    source = "" if key is None else f" FROM {quote_string(key)}"
    return f"METADATA{source}{' VIRTUAL' if virtual else ''}"


def _format_comment(comment: str | None) -> str:
    """The comment as it follows a column, or nothing."""
    return "" if comment is None else f" COMMENT {quote_string(comment)}"


def _format_primary_key(name: str, columns: Iterable[str]) -> str:
    """A key; Flink knows none that it enforces."""
    return f"CONSTRAINT {quote_identifier(name)} PRIMARY KEY {_format_names(columns)} NOT ENFORCED"


def _format_index(name: str, columns: Iterable[str]) -> str:
    """An index."""
    return f"INDEX {quote_identifier(name)} {_format_names(columns)}"


def _format_immutable_columns(name: str, columns: Iterable[str]) -> str:
    """Columns that never change once a row is there."""
    names = _format_names(columns)
    return f"CONSTRAINT {quote_identifier(name)} COLUMNS {names} IMMUTABLE NOT ENFORCED"


#: An expression as a schema may hold it.
Written: TypeAlias = SqlExpression | ResolvedExpression


#: A type as a schema may hold it.
WrittenType: TypeAlias = DataType | UnresolvedDataType | str


def _shown(data_type: WrittenType) -> str:
    """Text stands in brackets until it is parsed."""
    return f"[{data_type}]" if isinstance(data_type, str) else data_type.as_summary_string()


class UnresolvedMember:
    """What columns have in common, under Flink's names."""

    __slots__ = ()

    name: str
    comment: str | None

    def get_name(self) -> str:
        return self.name

    def get_comment(self) -> str | None:
        return self.comment


@dataclass(frozen=True, slots=True)
class UnresolvedPhysicalColumn(UnresolvedMember):
    """A column that is stored as it is.

    `declared` is the type that was written, where a primary key made NOT NULL of it.
    """

    name: str
    data_type: WrittenType
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    declared: WrittenType | None = field(default=None, compare=False, repr=False)

    def get_data_type(self) -> WrittenType:
        return self.data_type

    def __str__(self) -> str:
        type_ = _shown(self.data_type)
        return f"{quote_identifier(self.name)} {type_}{_format_comment(self.comment)}"


@dataclass(frozen=True, slots=True)
class UnresolvedComputedColumn(UnresolvedMember):
    """A column that an expression over the others computes."""

    name: str
    expression: Written
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def get_expression(self) -> Written:
        return self.expression

    def __str__(self) -> str:
        remark = _format_comment(self.comment)
        return f"{quote_identifier(self.name)} AS {self.expression}{remark}"


@dataclass(frozen=True, slots=True)
class UnresolvedMetadataColumn(UnresolvedMember):
    """A column that the connector fills; `metadata_key` None means: the key is the name."""

    name: str
    data_type: WrittenType
    metadata_key: str | None = None
    virtual: bool = False
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> str:
        """The key that the connector is asked for: the given one, else the name."""
        return self.name if self.metadata_key is None else self.metadata_key

    def get_data_type(self) -> WrittenType:
        return self.data_type

    def get_metadata_key(self) -> str | None:
        return self.metadata_key

    def is_virtual(self) -> bool:
        """Whether it is read but never written."""
        return self.virtual

    def __str__(self) -> str:
        extras = format_metadata(self.metadata_key, virtual=self.virtual)
        remark = _format_comment(self.comment)
        return f"{quote_identifier(self.name)} {_shown(self.data_type)} {extras}{remark}"


UnresolvedColumn: TypeAlias = (
    UnresolvedPhysicalColumn | UnresolvedComputedColumn | UnresolvedMetadataColumn
)


@dataclass(frozen=True, slots=True)
class UnresolvedWatermarkSpec:
    """How far the time in a column has advanced."""

    column_name: str
    watermark_expression: Written
    span: Span | None = field(default=None, compare=False, repr=False)

    def get_column_name(self) -> str:
        return self.column_name

    def get_watermark_expression(self) -> Written:
        return self.watermark_expression

    def __str__(self) -> str:
        column = quote_identifier(self.column_name)
        return f"WATERMARK FOR {column} AS {self.watermark_expression}"


@dataclass(frozen=True, slots=True)
class UnresolvedPrimaryKey:
    """The columns that tell rows apart."""

    name: str
    column_names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def get_constraint_name(self) -> str:
        return self.name

    def get_column_names(self) -> list[str]:
        return list(self.column_names)

    def __str__(self) -> str:
        return _format_primary_key(self.name, self.column_names)


@dataclass(frozen=True, slots=True)
class UnresolvedIndex:
    """Columns by which rows are found quickly."""

    name: str
    column_names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def get_index_name(self) -> str:
        return self.name

    def get_column_names(self) -> list[str]:
        return list(self.column_names)

    def __str__(self) -> str:
        return _format_index(self.name, self.column_names)


@dataclass(frozen=True, slots=True)
class UnresolvedImmutableColumns:
    """Columns that never change once a row is there."""

    name: str
    column_names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def get_constraint_name(self) -> str:
        return self.name

    def get_column_names(self) -> list[str]:
        return list(self.column_names)

    def __str__(self) -> str:
        return _format_immutable_columns(self.name, self.column_names)


def require_data_type(data_type: DataType) -> DataType:
    """Return a data type; strings are refused, since a resolved column parses nothing.

    Raises:
        SchemaError: with code `not-a-type`.
    """
    if not isinstance(data_type, DataType):
        raise SchemaError(
            f"the type of a column must be a DataType, got {show(data_type)}",
            code="not-a-type",
            hint="write DataTypes.INT(), or DataTypes.of('INT') for a string",
        )
    return data_type


def plain(type_: DataType) -> DataType:
    """The type without the mark of a time attribute: as it is kept and as rows have it."""
    return type_.with_kind(TimestampKind.REGULAR) if isinstance(type_, AnyTimestampType) else type_


@dataclass(frozen=True, slots=True)
class Column(ABC):
    """What every column has: a name, a type and perhaps a comment.

    `written` is the column that it was resolved from, where that is known: it says where the type
    came from, and makes no difference between columns.

    >>> from schema_core.types import DataTypes
    >>> print(
    ...     Column.metadata("ts", DataTypes.TIMESTAMP(3), "timestamp", False).with_comment("when")
    ... )
    `ts` TIMESTAMP(3) METADATA FROM 'timestamp' COMMENT 'when'
    """

    name: str
    data_type: DataType
    comment: str | None = field(default=None, kw_only=True)
    written: UnresolvedColumn | None = field(default=None, kw_only=True, compare=False, repr=False)

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """A column that is stored as it is.

        Raises:
            SchemaError: with code `not-a-type` for what is no data type, `wrong-argument` for a
                name that is no text.
        """
        require_instance(name, str, "the name of a column")
        return PhysicalColumn(name, require_data_type(data_type))

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        """A column that an expression computes; its type is that of the expression.

        Raises:
            SchemaError: with code `wrong-argument` for an expression that was not resolved.
        """
        require_instance(name, str, "the name of a column")
        require_instance(resolved_expression, ResolvedExpression, "the expression")
        return ComputedColumn(name, resolved_expression.type, resolved_expression)

    @staticmethod
    def metadata(
        name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool
    ) -> MetadataColumn:
        """A column that the connector fills; a virtual one is read but never written.

        Raises:
            SchemaError: as `physical`; with code `wrong-argument` for a key that is no text, or a
                flag that is none.
        """
        require_data_type(data_type)
        require_instance(metadata_key, (str, NoneType), "the metadata key")
        require_instance(is_virtual, bool, "is_virtual")
        require_instance(name, str, "the name of a column")
        return MetadataColumn(name, data_type, metadata_key, is_virtual)

    @abstractmethod
    def is_physical(self) -> bool:
        """Whether it is stored as it is."""

    @abstractmethod
    def is_persisted(self) -> bool:
        """Whether it is written when rows are inserted."""

    @abstractmethod
    def explain_extras(self) -> str | None:
        """What a listing shows behind the type, if anything."""

    def get_name(self) -> str:
        return self.name

    def get_data_type(self) -> DataType:
        return self.data_type

    def get_comment(self) -> str | None:
        return self.comment

    def with_comment(self, comment: str | None) -> Self:
        """The column with this comment; None leaves it as it is, as in Flink."""
        return self if comment is None else replace(self, comment=comment)

    def rename(self, new_name: str) -> Self:
        """The column under another name; a metadata column without a key then means that key."""
        return replace(self, name=new_name)

    def copy(self, new_type: DataType) -> Self:
        """The column with another type; the expression of a computed column stays."""
        return replace(self, data_type=new_type)

    def as_summary_string(self) -> str:
        """Name, type, extras and comment as a listing shows them."""
        extras = self.explain_extras()
        shown = f"{quote_identifier(self.name)} {self.data_type.as_summary_string()}"
        return f"{shown}{f' {extras}' if extras else ''}{_format_comment(self.comment)}"

    def __str__(self) -> str:
        return self.as_summary_string()


@dataclass(frozen=True, slots=True)
class PhysicalColumn(Column):
    """A column that is stored as it is."""

    def is_physical(self) -> bool:
        return True

    def is_persisted(self) -> bool:
        return True

    def explain_extras(self) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class ComputedColumn(Column):
    """A column that an expression over physical and metadata columns computes."""

    expression: ResolvedExpression

    def get_expression(self) -> ResolvedExpression:
        return self.expression

    def is_physical(self) -> bool:
        return False

    def is_persisted(self) -> bool:
        return False

    def explain_extras(self) -> str | None:
        return f"AS {self.expression.as_summary_string()}"


@dataclass(frozen=True, slots=True)
class MetadataColumn(Column):
    """A column that the connector fills from a place of its own, such as a Kafka timestamp."""

    metadata_key: str | None = None
    virtual: bool = False

    @property
    def key(self) -> str:
        """The key that the connector is asked for: the given one, else the name."""
        return self.name if self.metadata_key is None else self.metadata_key

    def get_metadata_key(self) -> str | None:
        return self.metadata_key

    def is_virtual(self) -> bool:
        """Whether it is read but never written."""
        return self.virtual

    def is_physical(self) -> bool:
        return False

    def is_persisted(self) -> bool:
        return not self.virtual

    def explain_extras(self) -> str | None:
        return format_metadata(self.metadata_key, virtual=self.virtual)


AnyColumn: TypeAlias = PhysicalColumn | ComputedColumn | MetadataColumn


@dataclass(frozen=True, slots=True)
class WatermarkSpec:
    """How far the time in `rowtime_attribute` has advanced."""

    rowtime_attribute: str
    watermark_expression: ResolvedExpression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: ResolvedExpression) -> WatermarkSpec:
        """A watermark of a column.

        Raises:
            SchemaError: with code `wrong-argument` for an expression that was not resolved.
        """
        require_instance(watermark_expression, ResolvedExpression, "the watermark")
        return WatermarkSpec(
            require_instance(rowtime_attribute, str, "the name of a column"), watermark_expression
        )

    def get_rowtime_attribute(self) -> str:
        return self.rowtime_attribute

    def get_watermark_expression(self) -> ResolvedExpression:
        return self.watermark_expression

    def as_summary_string(self) -> str:
        """Column, type and expression as a listing shows them."""
        column = quote_identifier(self.rowtime_attribute)
        expression = self.watermark_expression
        type_ = expression.type.as_summary_string()
        return f"WATERMARK FOR {column}: {type_} AS {expression.as_summary_string()}"

    def __str__(self) -> str:
        return self.as_summary_string()


class Constraint(ABC):
    """A rule about rows under a name. Flink knows none that it enforces."""

    __slots__ = ()

    class ConstraintType(Enum):
        """What kind of rule it is."""

        PRIMARY_KEY = "PRIMARY KEY"
        #: Flink names it and has none.
        UNIQUE_KEY = "UNIQUE KEY"
        IMMUTABLE_COLUMNS = "IMMUTABLE COLUMNS"

    name: str
    columns: tuple[str, ...]

    @abstractmethod
    def get_type(self) -> ConstraintType:
        """What kind of rule it is."""

    @abstractmethod
    def as_summary_string(self) -> str:
        """The rule as a listing shows it."""

    def get_name(self) -> str:
        return self.name

    def get_columns(self) -> list[str]:
        return list(self.columns)

    def is_enforced(self) -> bool:
        """Whether rows that break it are refused: never."""
        return False

    def get_type_string(self) -> str:
        """The kind of rule in words."""
        return self.get_type().value

    def __str__(self) -> str:
        return self.as_summary_string()


@dataclass(frozen=True, slots=True)
class UniqueConstraint(Constraint):
    """The columns that tell rows apart.

    >>> print(UniqueConstraint.primary_key("pk", ["id", "day"]))
    CONSTRAINT `pk` PRIMARY KEY (`id`, `day`) NOT ENFORCED
    """

    name: str
    columns: tuple[str, ...]

    @staticmethod
    def primary_key(name: str, columns: Iterable[str]) -> UniqueConstraint:
        """A primary key of these columns.

        Raises:
            SchemaError: with code `wrong-argument` for names that are no texts.
        """
        what = "the primary key"
        return UniqueConstraint(
            require_instance(name, str, f"the name of {what}"), require_names(columns, what)
        )

    def get_type(self) -> Constraint.ConstraintType:
        return Constraint.ConstraintType.PRIMARY_KEY

    def as_summary_string(self) -> str:
        return _format_primary_key(self.name, self.columns)


@dataclass(frozen=True, slots=True)
class ImmutableColumns(Constraint):
    """Columns that never change once a row is there."""

    name: str
    columns: tuple[str, ...]

    @staticmethod
    def of(name: str, columns: Iterable[str]) -> ImmutableColumns:
        """Immutable columns under a name.

        Raises:
            SchemaError: with code `wrong-argument` for names that are no texts.
        """
        what = "the immutable columns"
        return ImmutableColumns(
            require_instance(name, str, f"the name of {what}"), require_names(columns, what)
        )

    def get_type(self) -> Constraint.ConstraintType:
        return Constraint.ConstraintType.IMMUTABLE_COLUMNS

    def as_summary_string(self) -> str:
        return _format_immutable_columns(self.name, self.columns)


@dataclass(frozen=True, slots=True)
class Index:
    """Columns by which rows are found quickly."""

    name: str
    columns: tuple[str, ...]

    @staticmethod
    def of(name: str, columns: Iterable[str]) -> Index:
        """An index of these columns.

        Raises:
            SchemaError: with code `wrong-argument` for names that are no texts.
        """
        return Index(
            require_instance(name, str, "the name of the index"),
            require_names(columns, "the index"),
        )

    def get_name(self) -> str:
        return self.name

    def get_columns(self) -> list[str]:
        return list(self.columns)

    def as_summary_string(self) -> str:
        """The index as a listing shows it."""
        return _format_index(self.name, self.columns)

    def __str__(self) -> str:
        return self.as_summary_string()
