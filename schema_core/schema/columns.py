"""Columns, watermarks, keys and indexes of a schema, unresolved and resolved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import field, replace
from enum import Enum
from types import NoneType
from typing import Any, Self, TypeAlias

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.lazy import dataclass
from schema_core.base.text import Span, quote_identifier, quote_string, show
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.typed import Typed, children
from schema_core.sql import syntax
from schema_core.types import AnyTimestampType, DataType, TimestampKind, UnresolvedDataType


@dataclass(frozen=True, slots=True)
class SqlExpression:
    """An unresolved SQL expression; expressions with equal text are equal.

    An expression of a statement has its syntax tree, whose spans point into `source`, the text of
    the statement.

    >>> print(SqlExpression("price * 2"))
    [price * 2]
    """

    text: str
    syntax: syntax.Expression | None = field(default=None, compare=False, repr=False)
    source: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"[{self.text}]"


class _Serialized:
    """A slot for printed SQL, neither compared nor pickled."""

    __slots__ = ("_sql",)

    _sql: str


@dataclass(frozen=True, slots=True)
class ResolvedExpression(_Serialized):
    """A typed expression; equality compares typed trees, not text."""

    typed: Typed
    written: SqlExpression = field(compare=False)

    @property
    def type(self) -> DataType:
        """The type of the result."""
        return self.typed.type

    def get_output_data_type(self) -> DataType:
        return self.typed.type

    def get_resolved_children(self) -> list[ResolvedExpression]:
        """Return the arguments of a call.

        Raises:
            UnsupportedError: for a part without SQL, such as an unregistered function.
        """
        parts = children(self.typed)
        return [ResolvedExpression(part, SqlExpression(to_sql(part))) for part in parts]

    def as_summary_string(self) -> str:
        """Return the expression for display.

        One of a SQL statement is displayed as Flink stores it, with implicit casts; others, and
        those with a part without SQL, as written.
        """
        if self.written.source is None:
            return self.written.text
        try:
            return self.as_serializable_string()
        except UnsupportedError:
            return self.written.text

    def as_serializable_string(self) -> str:
        """Return SQL with implicit casts, for a catalog.

        Raises:
            UnsupportedError: for a part without SQL, such as an unregistered function.
        """
        try:
            return self._sql
        except AttributeError:
            object.__setattr__(self, "_sql", to_sql(self.typed))
            return self._sql

    def __str__(self) -> str:
        return self.as_summary_string()


def format_schema(schema: Any) -> str:
    """Return the members of an unresolved or resolved schema, one a line."""
    keys = [] if schema.primary_key is None else [schema.primary_key]
    immutable = [] if schema.immutable_columns is None else [schema.immutable_columns]
    members = (*schema.columns, *schema.watermark_specs, *keys, *schema.indexes, *immutable)
    return "(\n" + ",\n".join(f"  {member}" for member in members) + "\n)"


def _format_names(columns: Iterable[str]) -> str:
    """Return quoted names in parentheses.

    >>> _format_names(["a", "b c"])
    '(`a`, `b c`)'
    """
    return f"({', '.join(map(quote_identifier, columns))})"


def format_metadata(key: str | None, *, virtual: bool) -> str:
    """Return the clause after the type of a metadata column."""
    source = "" if key is None else f" FROM {quote_string(key)}"
    return f"METADATA{source}{' VIRTUAL' if virtual else ''}"


def _format_comment(comment: str | None) -> str:
    return "" if comment is None else f" COMMENT {quote_string(comment)}"


def _format_primary_key(name: str, columns: Iterable[str]) -> str:
    """Return a primary key clause; Flink's keys are never enforced."""
    return f"CONSTRAINT {quote_identifier(name)} PRIMARY KEY {_format_names(columns)} NOT ENFORCED"


def _format_index(name: str, columns: Iterable[str]) -> str:
    return f"INDEX {quote_identifier(name)} {_format_names(columns)}"


def _format_immutable_columns(name: str, columns: Iterable[str]) -> str:
    names = _format_names(columns)
    return f"CONSTRAINT {quote_identifier(name)} COLUMNS {names} IMMUTABLE NOT ENFORCED"


#: An expression of an unresolved schema.
Written: TypeAlias = SqlExpression | ResolvedExpression


#: A type of an unresolved schema.
WrittenType: TypeAlias = DataType | UnresolvedDataType | str


def _format_type(data_type: WrittenType) -> str:
    """Return a type for display, an unparsed string in brackets."""
    return f"[{data_type}]" if isinstance(data_type, str) else data_type.as_summary_string()


class UnresolvedMember:
    """Base class of unresolved columns."""

    __slots__ = ()

    name: str
    comment: str | None

    def get_name(self) -> str:
        return self.name

    def get_comment(self) -> str | None:
        return self.comment


@dataclass(frozen=True, slots=True)
class UnresolvedPhysicalColumn(UnresolvedMember):
    """A physical column; `declared` is its declared type if a primary key makes it NOT NULL."""

    name: str
    data_type: WrittenType
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    declared: WrittenType | None = field(default=None, compare=False, repr=False)

    def get_data_type(self) -> WrittenType:
        return self.data_type

    def __str__(self) -> str:
        type_ = _format_type(self.data_type)
        return f"{quote_identifier(self.name)} {type_}{_format_comment(self.comment)}"


@dataclass(frozen=True, slots=True)
class UnresolvedComputedColumn(UnresolvedMember):
    """A column computed from other columns."""

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
    """A column provided by the connector; its key is by default the name."""

    name: str
    data_type: WrittenType
    metadata_key: str | None = None
    virtual: bool = False
    comment: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> str:
        """The metadata key: the declared one, else the name."""
        return self.name if self.metadata_key is None else self.metadata_key

    def get_data_type(self) -> WrittenType:
        return self.data_type

    def get_metadata_key(self) -> str | None:
        return self.metadata_key

    def is_virtual(self) -> bool:
        """Return whether the column is read but never written."""
        return self.virtual

    def __str__(self) -> str:
        extras = format_metadata(self.metadata_key, virtual=self.virtual)
        remark = _format_comment(self.comment)
        return f"{quote_identifier(self.name)} {_format_type(self.data_type)} {extras}{remark}"


UnresolvedColumn: TypeAlias = (
    UnresolvedPhysicalColumn | UnresolvedComputedColumn | UnresolvedMetadataColumn
)


@dataclass(frozen=True, slots=True)
class UnresolvedWatermarkSpec:
    """A watermark: a lower bound of the event times to come."""

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
class _NamedColumns:
    """Base class of named lists of columns."""

    name: str
    column_names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def get_column_names(self) -> list[str]:
        return list(self.column_names)


@dataclass(frozen=True, slots=True)
class UnresolvedPrimaryKey(_NamedColumns):
    """A primary key."""

    def get_constraint_name(self) -> str:
        return self.name

    def __str__(self) -> str:
        return _format_primary_key(self.name, self.column_names)


@dataclass(frozen=True, slots=True)
class UnresolvedIndex(_NamedColumns):
    """An index."""

    def get_index_name(self) -> str:
        return self.name

    def __str__(self) -> str:
        return _format_index(self.name, self.column_names)


@dataclass(frozen=True, slots=True)
class UnresolvedImmutableColumns(_NamedColumns):
    """Columns whose values never change for a given primary key."""

    def get_constraint_name(self) -> str:
        return self.name

    def __str__(self) -> str:
        return _format_immutable_columns(self.name, self.column_names)


def require_data_type(data_type: DataType) -> DataType:
    """Return a data type; strings and others are refused (`invalid-argument`)."""
    if not isinstance(data_type, DataType):
        raise SchemaError(
            f"the type of a column must be a DataType, got {show(data_type)}",
            code="invalid-argument",
            hint="write DataTypes.INT(), or DataTypes.of('INT') for a string",
        )
    return data_type


def plain(type_: DataType) -> DataType:
    """Return the type without its time attribute, as in rows and stored schemas."""
    return type_.with_kind(TimestampKind.REGULAR) if isinstance(type_, AnyTimestampType) else type_


@dataclass(frozen=True, slots=True)
class Column(ABC):
    """Base class of resolved columns.

    `written` is the unresolved column, if known: the origin of the type in explanations. Equality
    ignores it.

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
        """Return a physical column.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        require_instance(name, str, "the name of a column")
        return PhysicalColumn(name, require_data_type(data_type))

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        """Return a computed column, with the type of its expression.

        Raises:
            SchemaError: with code `invalid-argument` for an unresolved expression.
        """
        require_instance(name, str, "the name of a column")
        require_instance(resolved_expression, ResolvedExpression, "the expression")
        return ComputedColumn(name, resolved_expression.type, resolved_expression)

    @staticmethod
    def metadata(
        name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool
    ) -> MetadataColumn:
        """Return a column provided by the connector; a virtual one is never written.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        require_data_type(data_type)
        require_instance(metadata_key, (str, NoneType), "the metadata key")
        require_instance(is_virtual, bool, "is_virtual")
        require_instance(name, str, "the name of a column")
        return MetadataColumn(name, data_type, metadata_key, is_virtual)

    @abstractmethod
    def is_physical(self) -> bool:
        """Return whether the column is physical."""

    @abstractmethod
    def is_persisted(self) -> bool:
        """Return whether INSERT writes the column."""

    @abstractmethod
    def explain_extras(self) -> str | None:
        """Return the clause after the type, or None."""

    def get_name(self) -> str:
        return self.name

    def get_data_type(self) -> DataType:
        return self.data_type

    def get_comment(self) -> str | None:
        return self.comment

    def with_comment(self, comment: str | None) -> Self:
        """Return the column with another comment; None keeps it, as in Flink."""
        return self if comment is None else replace(self, comment=comment)

    def rename(self, new_name: str) -> Self:
        """Return the column with another name, which is the default of a metadata key."""
        return replace(self, name=new_name)

    def copy(self, new_type: DataType) -> Self:
        """Return the column with another type; a computed one keeps its expression."""
        return replace(self, data_type=new_type)

    def as_summary_string(self) -> str:
        """Return the column for display."""
        extras = self.explain_extras()
        shown = f"{quote_identifier(self.name)} {self.data_type.as_summary_string()}"
        return f"{shown}{f' {extras}' if extras else ''}{_format_comment(self.comment)}"

    def __str__(self) -> str:
        return self.as_summary_string()


@dataclass(frozen=True, slots=True)
class PhysicalColumn(Column):
    """A physical column."""

    def is_physical(self) -> bool:
        return True

    def is_persisted(self) -> bool:
        return True

    def explain_extras(self) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class ComputedColumn(Column):
    """A column computed from physical and metadata columns."""

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
    """A column provided by the connector, such as the timestamp of a Kafka record."""

    metadata_key: str | None = None
    virtual: bool = False

    @property
    def key(self) -> str:
        """The metadata key: the declared one, else the name."""
        return self.name if self.metadata_key is None else self.metadata_key

    def get_metadata_key(self) -> str | None:
        return self.metadata_key

    def is_virtual(self) -> bool:
        """Return whether the column is read but never written."""
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
        """Return the watermark of a column.

        Raises:
            SchemaError: with code `invalid-argument` for an unresolved expression.
        """
        require_instance(watermark_expression, ResolvedExpression, "the watermark")
        require_instance(rowtime_attribute, str, "the name of a column")
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        return self.rowtime_attribute

    def get_watermark_expression(self) -> ResolvedExpression:
        return self.watermark_expression

    def as_summary_string(self) -> str:
        """Return the watermark for display."""
        column = quote_identifier(self.rowtime_attribute)
        expression = self.watermark_expression
        type_ = expression.type.as_summary_string()
        return f"WATERMARK FOR {column}: {type_} AS {expression.as_summary_string()}"

    def __str__(self) -> str:
        return self.as_summary_string()


@dataclass(frozen=True, slots=True)
class Constraint(ABC):
    """Base class of named constraints, which Flink never enforces."""

    class ConstraintType(Enum):
        """The kinds of constraints."""

        PRIMARY_KEY = "PRIMARY KEY"
        #: Declared by Flink, but not used.
        UNIQUE_KEY = "UNIQUE KEY"
        IMMUTABLE_COLUMNS = "IMMUTABLE COLUMNS"

    name: str
    columns: tuple[str, ...]

    @abstractmethod
    def get_type(self) -> ConstraintType:
        """Return the kind of the constraint."""

    @abstractmethod
    def as_summary_string(self) -> str:
        """Return the constraint for display."""

    def get_name(self) -> str:
        return self.name

    def get_columns(self) -> list[str]:
        return list(self.columns)

    def is_enforced(self) -> bool:
        """Return False: Flink enforces no constraints."""
        return False

    def get_type_string(self) -> str:
        """Return the kind of the constraint."""
        return self.get_type().value

    def __str__(self) -> str:
        return self.as_summary_string()


@dataclass(frozen=True, slots=True)
class UniqueConstraint(Constraint):
    """A primary key.

    >>> print(UniqueConstraint.primary_key("pk", ["id", "day"]))
    CONSTRAINT `pk` PRIMARY KEY (`id`, `day`) NOT ENFORCED
    """

    @staticmethod
    def primary_key(name: str, columns: Iterable[str]) -> UniqueConstraint:
        """Return a primary key; other names are an error (`invalid-argument`)."""
        require_instance(name, str, "the name of the primary key")
        return UniqueConstraint(name, require_names(columns, "the primary key"))

    def get_type(self) -> Constraint.ConstraintType:
        return Constraint.ConstraintType.PRIMARY_KEY

    def as_summary_string(self) -> str:
        return _format_primary_key(self.name, self.columns)


@dataclass(frozen=True, slots=True)
class ImmutableColumns(Constraint):
    """Columns whose values never change for a given primary key."""

    @staticmethod
    def of(name: str, columns: Iterable[str]) -> ImmutableColumns:
        """Return a constraint of immutable columns (`invalid-argument` for other names)."""
        require_instance(name, str, "the name of the immutable columns")
        return ImmutableColumns(name, require_names(columns, "the immutable columns"))

    def get_type(self) -> Constraint.ConstraintType:
        return Constraint.ConstraintType.IMMUTABLE_COLUMNS

    def as_summary_string(self) -> str:
        return _format_immutable_columns(self.name, self.columns)


@dataclass(frozen=True, slots=True)
class Index:
    """An index."""

    name: str
    columns: tuple[str, ...]

    @staticmethod
    def of(name: str, columns: Iterable[str]) -> Index:
        """Return an index; other names are an error (`invalid-argument`)."""
        require_instance(name, str, "the name of the index")
        return Index(name, require_names(columns, "the index"))

    def get_name(self) -> str:
        return self.name

    def get_columns(self) -> list[str]:
        return list(self.columns)

    def as_summary_string(self) -> str:
        """Return the index for display."""
        return _format_index(self.name, self.columns)

    def __str__(self) -> str:
        return self.as_summary_string()
