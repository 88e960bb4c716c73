"""Checks that values which must not be NULL are not NULL, at any depth of their type.

Spark forgets NOT NULL in files and in many sources, so the check is part of the query. It applies
where rows enter from outside (scans) and where they leave (sinks).
"""

from __future__ import annotations

from collections.abc import Iterator

from schema_core.spark.compiler.sql_builder import bind, fail, quote
from schema_core.types import (
    ArrayType,
    DataType,
    DistinctType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
)


def required(text: str, type_: DataType, name: str) -> str:
    r"""Return a Spark SQL expression for the value `text` that fails the job at a forbidden NULL.

    `text` is a Spark SQL expression in the physical type of `type_`; `name` is the column that the
    message names. Rows, arrays, maps, multisets and structured types are checked at every depth.
    Without NOT NULL anywhere in the type, `text` is returned unchanged.

    >>> from schema_core.types import parse_type
    >>> required("a", parse_type("INT"), "a")
    'a'
    >>> print(required("a", parse_type("INT NOT NULL"), "a"))
    coalesce(a, raise_error('column \'a\' is NOT NULL but received NULL'))
    >>> print(required("a", parse_type("ARRAY<INT NOT NULL>"), "a")[:52])
    CASE WHEN exists(a, e0 -> e0 IS NULL) THEN raise_err
    """
    column = f"column {name!r}"
    inner = type_.nullable()
    if not any(True for _ in _nulls(text, inner, "", 0)):
        return text if type_.is_nullable else f"coalesce({text}, {_refused(column, '')})"

    def checked(value: str) -> str:
        branches = " ".join(
            f"WHEN {is_null} THEN {_refused(column, place)}"
            for is_null, place in _nulls(value, type_, "", 0)
        )
        return f"CASE {branches} ELSE {value} END"

    return bind(text, checked)


def _refused(column: str, place: str) -> str:
    return fail(f"{column}{place and ': ' + place} is NOT NULL but received NULL")


def _nulls(text: str, type_: DataType, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """Every place in a value that must not be NULL: the predicate that it is, and its description.

    A predicate is true for a forbidden NULL, and false or NULL otherwise.
    """
    if not type_.is_nullable:
        yield f"{text} IS NULL", place
    of = f" of {place}" if place else ""
    match type_:
        case RowType() | StructuredType():
            for field in type_.fields:
                inner = _nulls(
                    f"{text}.{quote(field.name)}",
                    field.data_type,
                    f"field {field.name!r}{of}",
                    depth,
                )
                for is_null, where in inner:
                    yield f"({text} IS NOT NULL AND {is_null})", where
        case ArrayType(element_type=element):
            yield from _among(text, element, f"an array element{of}", depth)
        case MultisetType(element_type=element):
            yield from _among(
                f"map_keys({text})", element.nullable(), f"a multiset element{of}", depth
            )
        case MapType(key_type=key, value_type=value):
            yield from _among(f"map_keys({text})", key.nullable(), f"a map key{of}", depth)
            yield from _among(f"map_values({text})", value, f"a map value{of}", depth)
        case DistinctType(source_type=source):
            yield from _nulls(text, source.nullable(), place, depth)
        case _:
            return


def _among(elements: str, type_: DataType, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """The same for the elements of an array."""
    element = f"e{depth}"
    for is_null, where in _nulls(element, type_, place, depth + 1):
        yield f"exists({elements}, {element} -> {is_null})", where
