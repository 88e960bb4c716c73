"""Checks of NOT NULL, row by row, when rows are read from a connector or written to one.

Spark does not keep NOT NULL in files and in many sources. The check is part of the query and
reaches every depth of a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import (
    Case,
    Field,
    Lambda,
    Node,
    Raise,
    Variable,
    call,
    fail,
    is_null,
    let,
)
from schema_core.types import (
    ArrayType,
    DataType,
    DistinctType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
)

if TYPE_CHECKING:
    pass


# --- NOT NULL ------------------------------------------------------------------------------------


def required(node: Node, type_: DataType, name: str) -> Node:
    r"""Return an expression for a value that fails the job at a forbidden NULL.

    `node` is a value in the physical type of `type_`; `name` is the column that the message names.
    Rows, arrays, maps, multisets and structured types are checked at every depth. Without NOT NULL
    anywhere in the type, `node` is returned unchanged.

    >>> from schema_core.spark.compiler.printer import to_sql
    >>> from schema_core.spark.compiler.tree import Column
    >>> from schema_core.types import parse_type
    >>> to_sql(required(Column("a"), parse_type("INT"), "a"))
    '`a`'
    >>> print(to_sql(required(Column("a"), parse_type("INT NOT NULL"), "a")))
    coalesce(`a`, raise_error('column \'a\' is NOT NULL but received NULL'))
    >>> print(to_sql(required(Column("a"), parse_type("ARRAY<INT NOT NULL>"), "a"))[:62])
    CASE WHEN exists(`a`, the_x1 -> the_x1 IS NULL) THEN raise_err
    """
    column = f"column {name!r}"
    inner = type_.nullable()
    if not any(True for _ in _nulls(node, inner, "")):
        return node if type_.is_nullable else call("coalesce", node, _refused(column, ""))

    def checked(value: Node) -> Node:
        branches = ((found, _refused(column, place)) for found, place in _nulls(value, type_, ""))
        return Case(tuple(branches), value)

    return let(node, checked)


def _refused(column: str, place: str) -> Raise:
    return fail(f"{column}{place and ': ' + place} is NOT NULL but received NULL")


def _nulls(node: Node, type_: DataType, place: str) -> Iterator[tuple[Node, str]]:
    """Yield each part of a value that must not be NULL: a predicate and a description.

    A predicate is true for a forbidden NULL, and false or NULL otherwise.
    """
    if not type_.is_nullable:
        yield is_null(node), place
    of = f" of {place}" if place else ""
    match type_:
        case RowType() | StructuredType():
            for field in type_.fields:
                value = Field(node, field.name)
                for found, where in _nulls(value, field.data_type, f"field {field.name!r}{of}"):
                    yield inline("{row} IS NOT NULL AND {found}", row=node, found=found), where
        case ArrayType(element_type=element):
            yield from _among(node, element, f"an array element{of}")
        case MultisetType(element_type=element):
            yield from _among(call("map_keys", node), element.nullable(), f"a multiset element{of}")
        case MapType(key_type=key, value_type=value_type):
            yield from _among(call("map_keys", node), key.nullable(), f"a map key{of}")
            yield from _among(call("map_values", node), value_type, f"a map value{of}")
        case DistinctType(source_type=source):
            yield from _nulls(node, source.nullable(), place)
        case _:
            return


def _among(elements: Node, type_: DataType, place: str) -> Iterator[tuple[Node, str]]:
    """Yield the forbidden NULLs of the elements of an array."""
    element = Variable()
    for found, where in _nulls(element, type_, place):
        yield call("exists", elements, Lambda((element,), found)), where
