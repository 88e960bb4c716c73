"""The members of a schema as they were written: columns, watermarks, keys, indexes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from schema_core.schema import formatting
from schema_core.schema.expression import ResolvedExpression, SqlExpression
from schema_core.text import Span, quote_identifier
from schema_core.types import DataType, UnresolvedDataType

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
        return f"{quote_identifier(self.name)} {type_}{formatting.remark(self.comment)}"


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
        remark = formatting.remark(self.comment)
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
        extras = formatting.metadata(self.metadata_key, virtual=self.virtual)
        remark = formatting.remark(self.comment)
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
        return formatting.primary_key(self.name, self.column_names)


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
        return formatting.index(self.name, self.column_names)


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
        return formatting.immutable_columns(self.name, self.column_names)
