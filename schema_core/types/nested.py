"""Types with children: arrays, multisets, maps and rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self, overload

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import load_higher
from schema_core.base.text import MAX_DEPTH, is_blank, quote_identifier, quote_string, show
from schema_core.errors import SchemaError, similar
from schema_core.errors.hints import SPLIT_TYPE
from schema_core.types.base import DataType
from schema_core.types.families import TypeRoot

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ArrayType",
    "MapType",
    "MultisetType",
    "RowField",
    "RowType",
]

#: Maximum number of types in one type.
MAX_PARTS = 20_000

FIELD_HINT = 'write DataTypes.FIELD("name", DataTypes.INT())'


def require_type(value: object, place: str) -> DataType:
    """Refuse anything but a data type."""
    if not isinstance(value, DataType):
        raise SchemaError(
            f"{place} must be a data type, got {show(value)}", code="invalid-argument"
        )
    return value


def require_types(value: object) -> None:
    """Refuse anything but a sequence of data types."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SchemaError(
            f"expected a list of data types, got {show(value)}", code="invalid-argument"
        )
    for type_ in value:
        require_type(type_, "one of the types")


def require_text(value: object, place: str) -> str:
    """Refuse anything but a string."""
    if not isinstance(value, str):
        raise SchemaError(f"{place} must be a string, got {show(value)}", code="invalid-argument")
    return value


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ComposedType(DataType):
    """A type with children, of limited depth, so that recursion over types is safe.

    Parts that occur several times are counted each time. The code is `limit-exceeded`.
    """

    depth: int = field(init=False, compare=False, repr=False)
    node_count: int = field(init=False, compare=False, repr=False)

    def _measure(self) -> None:
        depth, count = 0, 1
        for child in self.children():
            depth = max(depth, child.depth)
            count += child.node_count
        if depth >= MAX_DEPTH:
            raise too_deep()
        if count > MAX_PARTS:
            raise SchemaError(
                f"a type has at most {MAX_PARTS:,} parts",
                code="limit-exceeded",
                hint="split it into several columns",
            )
        object.__setattr__(self, "depth", 1 + depth)
        object.__setattr__(self, "node_count", count)


def too_deep() -> SchemaError:
    """The error for a type of too many levels."""
    return SchemaError(
        f"nested more than {MAX_DEPTH} levels deep",
        code="limit-exceeded",
        hint=SPLIT_TYPE,
    )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ElementType(ComposedType):
    """A collection of elements of one type."""

    element_type: DataType

    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        self._fill(nullable, element_type=require_type(element_type, "the element"))

    def children(self) -> tuple[DataType, ...]:
        return (self.element_type,)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        (element,) = children
        return type(self)(element, self.is_nullable)

    def body(self) -> str:
        return f"{self.keyword}<{self.element_type}>"

    def summary_body(self) -> str:
        return f"{self.keyword}<{self.element_type.as_summary_string()}>"


class ArrayType(ElementType):
    """An ordered collection."""

    __slots__ = ()
    keyword = "ARRAY"
    root = TypeRoot.ARRAY


class MultisetType(ElementType):
    """An unordered collection of elements with their counts."""

    __slots__ = ()
    keyword = "MULTISET"
    root = TypeRoot.MULTISET


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MapType(ComposedType):
    """A map; keys and values may have any type."""

    keyword = "MAP"
    root = TypeRoot.MAP

    key_type: DataType
    value_type: DataType

    def __init__(self, key_type: DataType, value_type: DataType, nullable: bool = True) -> None:
        self._fill(
            nullable,
            key_type=require_type(key_type, "the key"),
            value_type=require_type(value_type, "the value"),
        )

    def children(self) -> tuple[DataType, ...]:
        return (self.key_type, self.value_type)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        key, value = children
        return type(self)(key, value, self.is_nullable)

    def body(self) -> str:
        return f"MAP<{self.key_type}, {self.value_type}>"

    def summary_body(self) -> str:
        key, value = self.key_type.as_summary_string(), self.value_type.as_summary_string()
        return f"MAP<{key}, {value}>"


@dataclass(frozen=True, slots=True)
class RowField:
    """A field of a row or an attribute of a structured type.

    >>> print(RowField("a", ArrayType(RowType()), "it's"))
    `a` ARRAY<ROW<>> 'it''s'
    """

    name: str
    data_type: DataType
    description: str | None = None

    def __str__(self) -> str:
        note = "" if self.description is None else f" {quote_string(self.description)}"
        return f"{quote_identifier(self.name)} {self.data_type}{note}"

    def as_summary_string(self) -> str:
        """The summary; a comment is abbreviated as '...'."""
        note = "" if self.description is None else " '...'"
        return f"{quote_identifier(self.name)} {self.data_type.as_summary_string()}{note}"

    def need_conversion(self) -> bool:
        """Whether PyFlink's workers exchange values in another form."""
        return self.data_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        """Return a value as PyFlink's workers exchange it."""
        return self.data_type.to_sql_type(obj)

    def from_sql_type(self, obj: Any) -> Any:
        """Return the value of what PyFlink's workers exchange."""
        return self.data_type.from_sql_type(obj)

    def with_type(self, data_type: DataType) -> RowField:
        """The field with another type."""
        return RowField(self.name, data_type, self.description)


def require_fields(value: object) -> tuple[RowField, ...]:
    """Refuse anything but fields."""
    if not isinstance(value, list) and not isinstance(value, Iterable):
        raise SchemaError(f"expected a list of fields, got {show(value)}", code="invalid-argument")
    fields = tuple(value)
    for row_field in fields:
        if not isinstance(row_field, RowField):
            raise SchemaError(
                f"expected a field, got {show(row_field)}", code="invalid-argument", hint=FIELD_HINT
            )
        name: object = require_text(row_field.name, "the name of a field")
        type_: object = row_field.data_type
        if not isinstance(type_, DataType):
            require_type(type_, f"field {name!r}")
        if row_field.description is not None:
            require_text(row_field.description, f"the comment of field {name!r}")
    return fields


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RowType(ComposedType):
    """A row of named fields; names are case-sensitive and unique.

    >>> print(RowType([RowField("a", RowType())]))
    ROW<`a` ROW<>>
    """

    keyword = "ROW"
    root = TypeRoot.ROW

    fields: tuple[RowField, ...]

    def __init__(self, fields: Iterable[RowField] | None = None, nullable: bool = True) -> None:
        self._fill(nullable, fields=require_fields(() if fields is None else fields))
        seen: set[str] = set()
        for name in self.field_names():
            if not name.isidentifier() and is_blank(name):
                raise SchemaError("the name of a field must not be blank", code="invalid-type")
            if name in seen:
                raise SchemaError(f"duplicate field name {name!r}", code="invalid-type")
            seen.add(name)

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.data_type for field in self.fields)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        pairs = zip(self.fields, children, strict=True)
        return type(self)([field.with_type(type_) for field, type_ in pairs], self.is_nullable)

    def body(self) -> str:
        return f"ROW<{', '.join(map(str, self.fields))}>"

    def summary_body(self) -> str:
        return f"ROW<{', '.join(field.as_summary_string() for field in self.fields)}>"

    def _repr_html_(self) -> str:
        """The fields as an escaped HTML table."""
        return str(load_higher("row_type_html")(self))

    # --- PyFlink's methods ---------------------------------------------------------------------

    def add(self, field: str | RowField, data_type: DataType | None = None) -> RowType:
        """A row with an additional field at the end; unlike in PyFlink the row does not change."""
        if isinstance(field, str):
            field = RowField(field, require_type(data_type, f"field {field!r}"))
        return RowType((*self.fields, field), self.is_nullable)

    @property
    def names(self) -> list[str]:
        """As `field_names`."""
        return self.field_names()

    def field_names(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in self.fields]

    def field_types(self) -> list[DataType]:
        """The types of the fields."""
        return [field.data_type for field in self.fields]

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True  # a row without fields is a valid type

    @overload
    def __getitem__(self, key: str | int) -> RowField: ...
    @overload
    def __getitem__(self, key: slice) -> RowType: ...
    def __getitem__(self, key: str | int | slice) -> RowField | RowType:
        if isinstance(key, slice):
            return RowType(self.fields[key], self.is_nullable)
        if isinstance(key, int):
            return self.fields[key]
        for row_field in self.fields:
            if row_field.name == key:
                return row_field
        raise KeyError(f"no field {key!r}", similar(key, self.field_names()))
