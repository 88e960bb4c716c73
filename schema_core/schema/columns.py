"""Columns whose type is known: physical, computed, metadata. Frozen; changes give new columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Self, TypeAlias

from schema_core.arguments import require_instance
from schema_core.errors import SchemaError
from schema_core.schema import formatting
from schema_core.schema.expression import ResolvedExpression
from schema_core.schema.unresolved_parts import UnresolvedColumn
from schema_core.text import quote_identifier, show
from schema_core.types import DataType


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
        return f"{shown}{f' {extras}' if extras else ''}{formatting.remark(self.comment)}"

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
        return formatting.metadata(self.metadata_key, virtual=self.virtual)


AnyColumn: TypeAlias = PhysicalColumn | ComputedColumn | MetadataColumn
