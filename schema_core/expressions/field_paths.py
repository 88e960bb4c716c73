"""Fields within rows by their names: those that expressions read, and types with only these.

A path begins with a column: ``("r", "c", "x")`` is the field ``r.c.x``. Arrays, maps and structured
types are read entirely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from schema_core.base.lazy import NamedTuple
from schema_core.expressions.typed import Access, Ref, Select, Typed, operands
from schema_core.types import DataType, RowType

#: The names from a value to a field within it; empty for the entire value.
FieldPath: TypeAlias = "tuple[str, ...]"
#: The fields that are read of a value, each of them entirely.
Fields: TypeAlias = "frozenset[FieldPath]"

#: The entire value.
ENTIRE: Fields = frozenset({()})

Key = TypeVar("Key")


class ColumnPath(NamedTuple):
    """A field within a column."""

    column: Ref
    fields: FieldPath


def column_path(typed: Typed) -> ColumnPath | None:
    """Return the path of an expression that is a column or a field within one.

    >>> from schema_core.types import parse_type
    >>> row = Ref("r", parse_type("ROW<a INT>"))
    >>> column_path(Access(row, "a", parse_type("INT"))).fields
    ('a',)
    """
    names: list[str] = []
    while isinstance(typed, Access) and isinstance(typed.value.type, RowType):
        names.append(typed.name)
        typed = typed.value
    return ColumnPath(typed, tuple(reversed(names))) if isinstance(typed, Ref) else None


def values_read(expressions: Iterable[Typed]) -> Iterator[ColumnPath | Select]:
    """Yield the columns, or fields within them, and the subqueries that expressions read."""
    rest = list(expressions)
    while rest:
        typed = rest.pop()
        path = column_path(typed)
        if path is not None:
            yield path
            continue
        if isinstance(typed, Select):
            yield typed
        rest += operands(typed)


def merge_fields(*reads: Mapping[Key, Collection[FieldPath]]) -> dict[Key, Fields]:
    """Return the fields that several readers read of values, by a key of each value."""
    merged: dict[Key, set[FieldPath]] = {}
    for read in reads:
        for key, fields in read.items():
            merged.setdefault(key, set()).update(fields)
    return {key: frozenset(fields) for key, fields in merged.items()}


def ordered_paths(type_: DataType, fields: Collection[FieldPath]) -> list[FieldPath]:
    """Return the paths of the fields that are read of a value, in the order of its type.

    A path within another one is left out.

    >>> from schema_core.types import parse_type
    >>> row = parse_type("ROW<a INT, b ROW<c INT, d INT>, e INT>")
    >>> ordered_paths(row, {("e",), ("b", "d"), ("b",), ("a",)})
    [('a',), ('b',), ('e',)]
    """
    if () in fields or not isinstance(type_, RowType):
        return [()]
    return [
        (field.name, *path)
        for field in type_.fields
        if (inner := {path[1:] for path in fields if path[0] == field.name})
        for path in ordered_paths(field.data_type, inner)
    ]


def select_fields(type_: DataType, fields: Collection[FieldPath]) -> DataType:
    """Return a type with only some fields of its rows, in its order.

    >>> from schema_core.types import parse_type
    >>> print(select_fields(parse_type("ROW<a INT, b ROW<c INT, d INT>>"), {("b", "d")}))
    ROW<`b` ROW<`d` INT>>
    """
    if () in fields or not isinstance(type_, RowType):
        return type_
    selected = [
        field.with_type(select_fields(field.data_type, inner))
        for field in type_.fields
        if (inner := {path[1:] for path in fields if path[0] == field.name})
    ]
    return RowType(selected, type_.is_nullable)
