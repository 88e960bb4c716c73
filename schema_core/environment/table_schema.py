"""`TableSchema`: names and types of columns, PyFlink's predecessor of `ResolvedSchema`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schema_core.arguments import require_instance
from schema_core.errors import SchemaError
from schema_core.types import DataType, DataTypes, RowField, RowType


@dataclass(frozen=True, slots=True)
class TableSchema:
    """Columns by name and type, and no more: FLIP-164 replaced it by `ResolvedSchema`.

    >>> TableSchema(["id"], [DataTypes.INT()]).get_field_data_type("id")
    IntType()
    """

    field_names: Sequence[str] = ()
    data_types: Sequence[DataType] = ()

    def __post_init__(self) -> None:
        if len(self.field_names) != len(self.data_types):
            raise SchemaError(
                f"{len(self.field_names)} names for {len(self.data_types)} types",
                code="column-count-mismatch",
            )
        object.__setattr__(self, "field_names", tuple(self.field_names))
        object.__setattr__(self, "data_types", tuple(self.data_types))

    def copy(self) -> TableSchema:
        """Itself: it does not change."""
        return self

    def get_field_count(self) -> int:
        return len(self.field_names)

    def get_field_names(self) -> list[str]:
        return list(self.field_names)

    def get_field_data_types(self) -> list[DataType]:
        return list(self.data_types)

    def get_field_name(self, field_index: int) -> str | None:
        """The name of the column at a position, counted from 0; None after the last.

        Raises:
            SchemaError: with code `wrong-argument` for a position that is not an integer.
        """
        require_instance(field_index, int, "field_index")
        return self.field_names[field_index] if 0 <= field_index < len(self.field_names) else None

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """The type of a column by its position, counted from 0, or its name; None if there is none.

        Raises:
            SchemaError: with code `wrong-argument` for what is neither.
        """
        place = field if isinstance(field, int) else self._place(field)
        return self.data_types[place] if 0 <= place < len(self.data_types) else None

    def _place(self, name: str) -> int:
        require_instance(name, str, "field")
        return self.field_names.index(name) if name in self.field_names else -1

    def to_row_data_type(self) -> RowType:
        """The columns as a row."""
        pairs = zip(self.field_names, self.data_types, strict=True)
        return DataTypes.ROW([RowField(name, type_) for name, type_ in pairs])

    @classmethod
    def builder(cls) -> TableSchemaBuilder:
        """A builder."""
        return TableSchemaBuilder()


class TableSchemaBuilder:
    """Collects columns; every method gives the builder back."""

    def __init__(self) -> None:
        self._fields: list[tuple[str, DataType]] = []

    def field(self, name: str, data_type: DataType) -> TableSchemaBuilder:
        """Append a column."""
        self._fields.append((name, data_type))
        return self

    def build(self) -> TableSchema:
        return TableSchema([name for name, _ in self._fields], [type_ for _, type_ in self._fields])
