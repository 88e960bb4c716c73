"""What a resolved schema says beside its columns: watermark, key, indexes, immutable columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from schema_core.arguments import require_instance, require_names
from schema_core.schema import formatting
from schema_core.schema.expression import ResolvedExpression
from schema_core.text import quote_identifier


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
        return formatting.primary_key(self.name, self.columns)


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
        return formatting.immutable_columns(self.name, self.columns)


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
        return formatting.index(self.name, self.columns)

    def __str__(self) -> str:
        return self.as_summary_string()
