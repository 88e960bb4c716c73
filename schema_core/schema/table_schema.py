"""`TableSchema`: names and types of columns, the predecessor of `ResolvedSchema`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.lazy import dataclass
from schema_core.errors import SchemaError
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, DataTypes, RowField, RowType


class TableSchemaBuilder:
    """Builder of `TableSchema`."""

    def __init__(self) -> None:
        self._fields: list[tuple[str, DataType]] = []

    def field(self, name: str, data_type: DataType) -> TableSchemaBuilder:
        """Append a column."""
        self._fields.append((name, data_type))
        return self

    def build(self) -> TableSchema:
        """Return the schema; another name or type is an error (`invalid-argument`)."""
        return TableSchema([name for name, _ in self._fields], [type_ for _, type_ in self._fields])


@dataclass(frozen=True, slots=True)
class TableSchema:
    """Columns by name and type; FLIP-164 replaced it by `ResolvedSchema`.

    >>> schema = TableSchema(["id", "name"], [DataTypes.INT(), DataTypes.STRING()])
    >>> schema.get_field_data_type("id")
    IntType()
    >>> print(schema)
    root
     |-- id: INT
     |-- name: STRING
    <BLANKLINE>
    """

    Builder: ClassVar[type[TableSchemaBuilder]] = TableSchemaBuilder

    field_names: Sequence[str] = ()
    data_types: Sequence[DataType] = ()

    def __post_init__(self) -> None:
        for name, kind in (("field_names", str), ("data_types", DataType)):
            elements = getattr(self, name)
            elements = () if elements is None else require_sequence(elements, name)
            for element in elements:
                require_instance(element, kind, f"an element of {name}")
            object.__setattr__(self, name, elements)
        if len(self.field_names) != len(self.data_types):
            raise SchemaError(
                f"{len(self.field_names)} names for {len(self.data_types)} types",
                code="column-count-mismatch",
            )

    def copy(self) -> TableSchema:
        """Return the schema itself, which is immutable."""
        return self

    def get_field_count(self) -> int:
        return len(self.field_names)

    def get_field_names(self) -> list[str]:
        return list(self.field_names)

    def get_field_data_types(self) -> list[DataType]:
        return list(self.data_types)

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of the column at a position from 0, or None."""
        require_instance(field_index, int, "field_index")
        return self.field_names[field_index] if 0 <= field_index < len(self.field_names) else None

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column by its position from 0 or its name, or None."""
        if not isinstance(field, int):
            require_instance(field, str, "field")
            field = self.field_names.index(field) if field in self.field_names else -1
        return self.data_types[field] if 0 <= field < len(self.data_types) else None

    def to_row_data_type(self) -> RowType:
        """Return the type of a row of these columns."""
        pairs = zip(self.field_names, self.data_types, strict=True)
        return DataTypes.ROW([RowField(name, type_) for name, type_ in pairs])

    def to_schema(self) -> Schema:
        """Return the columns as an unresolved schema."""
        return Schema.new_builder().from_fields(self.field_names, self.data_types).build()

    @classmethod
    def builder(cls) -> TableSchemaBuilder:
        """Return a builder without columns."""
        return TableSchemaBuilder()

    def __str__(self) -> str:
        pairs = zip(self.field_names, self.data_types, strict=True)
        lines = (f" |-- {name}: {type_.as_summary_string()}\n" for name, type_ in pairs)
        return "root\n" + "".join(lines)

    def __repr__(self) -> str:
        return str(self)
