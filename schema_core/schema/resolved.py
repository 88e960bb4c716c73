"""`ResolvedSchema`: an immutable schema with all data types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.lazy import dataclass
from schema_core.base.plugins import load_higher
from schema_core.errors import SchemaError
from schema_core.schema.columns import (
    AnyColumn,
    Column,
    ComputedColumn,
    Constraint,
    ImmutableColumns,
    Index,
    MetadataColumn,
    PhysicalColumn,
    ResolvedExpression,
    UniqueConstraint,
    WatermarkSpec,
    format_schema,
    plain,
)
from schema_core.types import DataType, RowField, RowType

if TYPE_CHECKING:
    from schema_core.schema.explanation import Explanation

__all__ = [
    "AnyColumn",
    "Column",
    "ComputedColumn",
    "Constraint",
    "ImmutableColumns",
    "Index",
    "MetadataColumn",
    "PhysicalColumn",
    "ResolvedExpression",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False)
class ResolvedSchema:
    """Columns with data types, watermarks, a primary key, indexes, immutable columns.

    Raises:
        SchemaError: with code `invalid-constraint`, or `invalid-argument` for an argument of
            another type.

    >>> from schema_core.types import DataTypes
    >>> print(ResolvedSchema.physical(["id"], [DataTypes.BIGINT(nullable=False)]))
    (
      `id` BIGINT NOT NULL
    )
    """

    columns: tuple[AnyColumn, ...]
    watermark_specs: tuple[WatermarkSpec, ...]
    primary_key: UniqueConstraint | None
    indexes: tuple[Index, ...]
    immutable_columns: ImmutableColumns | None

    def __init__(
        self,
        columns: Iterable[AnyColumn] | None = None,
        watermark_specs: Iterable[WatermarkSpec] | None = None,
        primary_key: UniqueConstraint | None = None,
        indexes: Iterable[Index] | None = None,
        immutable_columns: ImmutableColumns | None = None,
    ) -> None:
        require_instance(primary_key, (UniqueConstraint, NoneType), "the primary key")
        require_instance(immutable_columns, (ImmutableColumns, NoneType), "the immutable columns")
        if immutable_columns is not None and primary_key is None:
            raise SchemaError("immutable columns require a primary key", code="invalid-constraint")
        object.__setattr__(self, "columns", _all(columns, Column, "column"))
        watermarks = _all(watermark_specs, WatermarkSpec, "watermark spec")
        object.__setattr__(self, "watermark_specs", watermarks)
        object.__setattr__(self, "primary_key", primary_key)
        object.__setattr__(self, "indexes", _all(indexes, Index, "index"))
        object.__setattr__(self, "immutable_columns", immutable_columns)

    @staticmethod
    def of(columns: Iterable[AnyColumn]) -> ResolvedSchema:
        """Return a schema of columns only."""
        return ResolvedSchema(columns)

    @staticmethod
    def physical(
        column_names: Sequence[str], column_data_types: Sequence[DataType]
    ) -> ResolvedSchema:
        """Return a schema of physical columns.

        Raises:
            SchemaError: with code `column-count-mismatch`, or as `Column.physical`.
        """
        names = require_sequence(column_names, "the names of the columns")
        types = require_sequence(column_data_types, "the types of the columns")
        if len(names) != len(types):
            raise SchemaError(
                f"{len(names)} names for {len(types)} types", code="column-count-mismatch"
            )
        return ResolvedSchema(map(Column.physical, names, types))

    # --- members -------------------------------------------------------------------------------

    def get_column_count(self) -> int:
        return len(self.columns)

    def get_columns(self) -> list[AnyColumn]:
        return list(self.columns)

    def get_column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    def get_column_data_types(self) -> list[DataType]:
        return [column.data_type for column in self.columns]

    def get_column(self, column_index_or_name: int | str) -> AnyColumn | None:
        """Return the column at a position or of a case-sensitive name, or None.

        Raises:
            SchemaError: with code `invalid-argument` for any other argument.
        """
        require_instance(column_index_or_name, (int, str), "the position or name of a column")
        if isinstance(column_index_or_name, int):
            inside = 0 <= column_index_or_name < len(self.columns)
            return self.columns[column_index_or_name] if inside else None
        named = (column for column in self.columns if column.name == column_index_or_name)
        return next(named, None)

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        return list(self.watermark_specs)

    def get_primary_key(self) -> UniqueConstraint | None:
        return self.primary_key

    def get_primary_key_indexes(self) -> list[int]:
        """Return the positions of the key columns among the physical columns."""
        return self._positions(self.primary_key)

    def get_indexes(self) -> list[Index]:
        return list(self.indexes)

    def get_immutable_columns(self) -> ImmutableColumns | None:
        return self.immutable_columns

    def get_immutable_column_indexes(self) -> list[int]:
        """Return the positions of the immutable columns among the physical columns."""
        return self._positions(self.immutable_columns)

    def _positions(self, constraint: Constraint | None) -> list[int]:
        """Return positions among the physical columns, -1 for others (as in Flink)."""
        physical = [column.name for column in self.columns if column.is_physical()]
        position = {name: index for index, name in reversed(list(enumerate(physical)))}
        return [] if constraint is None else [position.get(name, -1) for name in constraint.columns]

    # --- rows ----------------------------------------------------------------------------------

    def to_source_row_data_type(self) -> RowType:
        """Return the row type that a query reads: all columns.

        The row is NOT NULL; time attributes become regular timestamps.

        Raises:
            SchemaError: with code `invalid-type` for a column name that is not a field name.
        """
        return _row(self.columns)

    def to_row_data_type(self) -> RowType:
        """FLIP-164's name for `to_source_row_data_type`."""
        return self.to_source_row_data_type()

    def to_physical_row_data_type(self) -> RowType:
        """Return the row type of the physical columns."""
        return _row(column for column in self.columns if column.is_physical())

    def to_sink_row_data_type(self) -> RowType:
        """Return the row type that INSERT writes: physical and non-virtual metadata columns."""
        return _row(column for column in self.columns if column.is_persisted())

    def to_persisted_row_data_type(self) -> RowType:
        """FLIP-164's name for `to_sink_row_data_type`."""
        return self.to_sink_row_data_type()

    # --- display -------------------------------------------------------------------------------

    def explain(self) -> Explanation:
        """Explain the origin of all types, and the lineage of computed columns and watermarks.

        >>> from schema_core import Schema, SchemaResolver
        >>> written = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1")
        >>> explanation = SchemaResolver().resolve(written.build()).explain()
        >>> explanation.column("b").leaves
        ('a',)
        """
        explanation: Explanation = load_higher("explain")(self)
        return explanation

    def to_html(self, title: str = "Schema") -> str:
        """Return a self-contained HTML page with a lineage diagram.

        >>> from schema_core.types import DataTypes
        >>> page = ResolvedSchema.physical(["id"], [DataTypes.BIGINT()]).to_html("orders")
        >>> page.startswith("<!DOCTYPE html>"), "<h1>orders</h1>" in page
        (True, True)
        """
        return str(load_higher("schema_page")(self, require_instance(title, str, "the title")))

    def _repr_html_(self) -> str:
        return str(load_higher("schema_html")(self))

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(str(self))

    def __str__(self) -> str:
        return format_schema(self)


def _all(members: Iterable[T] | None, kind: type[Any], what: str) -> tuple[T, ...]:
    """Return the validated members of a class; None means none, as in PyFlink."""
    members = () if members is None else require_sequence(members, f"the {what}s")
    if not all(issubclass(class_, kind) for class_ in set(map(type, members))):
        for member in members:
            require_instance(member, kind, f"a {what}")
    return members


def _row(columns: Iterable[Column]) -> RowType:
    fields = [RowField(column.name, plain(column.data_type)) for column in columns]
    return RowType(fields, nullable=False)
