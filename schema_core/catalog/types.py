"""`CatalogType`: a user-defined type as a catalog keeps it, without its path."""

from __future__ import annotations

from dataclasses import dataclass

from schema_core.errors import SchemaError
from schema_core.paths import ObjectIdentifier
from schema_core.types import DataType, DistinctType, RowType, StructuredType, require_resolved


@dataclass(frozen=True, slots=True)
class CatalogType:
    """What a user-defined type is made of: rows and classes make structured types, others distinct.

    The SQL standard calls both user-defined types: one is defined by attributes, the other by its
    source.

    >>> from schema_core.types import DataTypes as T
    >>> money = CatalogType(T.DECIMAL(10, 2)).named(ObjectIdentifier.of("c", "d", "money"))
    >>> print(money, "from", money.source_type)
    `c`.`d`.`money` from DECIMAL(10, 2)
    """

    definition: DataType
    description: str | None = None

    def __post_init__(self) -> None:
        require_resolved(self.definition)
        if isinstance(self.definition, StructuredType) and self.definition.path:
            raise SchemaError(
                f"{self.definition} has a path already",
                code="type-path-already-set",
                hint="define it by its attributes; the path is where it is kept",
            )

    def named(self, identifier: ObjectIdentifier) -> DataType:
        """The type under the path where it was found; nullable, as every type is at first."""
        path = (identifier.catalog_name, identifier.database_name, identifier.object_name)
        return named_type(path, self.definition, self.description)


def named_type(
    path: tuple[str, ...], definition: DataType, description: str | None
) -> StructuredType | DistinctType:
    """Return the nullable user-defined type with this path."""
    match definition:
        case RowType(fields=fields):
            return StructuredType(None, fields, path=path, description=description)
        case StructuredType(class_name=name, fields=fields):
            return StructuredType(name, fields, path=path, description=description)
        case source:
            return DistinctType(path, source.nullable(), description=description)


def definition_of(named: StructuredType | DistinctType) -> DataType:
    """Return the definition from which `named_type` makes this type."""
    match named:
        case DistinctType(source_type=source):
            return source.nullable()
        case StructuredType(class_name=None, fields=fields):
            return RowType(fields)
        case StructuredType(class_name=name, fields=fields):
            return StructuredType(name, fields)
