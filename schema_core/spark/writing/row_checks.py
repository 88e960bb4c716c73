"""Checks of values, row by row: of NOT NULL, and of what else Spark's types do not guarantee.

Spark loses NOT NULL in files and many sources, and keeps metadata of exact types where it changes
values. A check is part of the query, at every depth of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import MAX_PRECISION, NANOS, is_fine
from schema_core.types import (
    MAX_LENGTH,
    AnyTimestampType,
    ArrayType,
    BinaryType,
    CharType,
    DataType,
    DistinctType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
    VarBinaryType,
    VarCharType,
)

#: A predicate that is true for a value not of the type, and what is wrong.
Violation: TypeAlias = "tuple[nodes.Node, str]"
#: Yields a value's own violations, not its parts'.
Find: TypeAlias = "Callable[[nodes.Node, DataType], Iterator[Violation]]"


def require_not_null(node: nodes.Node, type_: DataType, name: str) -> nodes.Node:
    r"""Return an expression for a value that fails the job at a forbidden NULL, at every depth.

    `node` has the physical type of `type_`; without NOT NULL in that it is returned unchanged. The
    message has the column's `name`.

    >>> from schema_core.spark.compiler.tree import to_sql
    >>> from schema_core.spark.compiler.tree import Column
    >>> from schema_core.types import parse_type
    >>> to_sql(require_not_null(Column("a"), parse_type("INT"), "a"))
    '`a`'
    >>> print(to_sql(require_not_null(Column("a"), parse_type("INT NOT NULL"), "a")))
    coalesce(`a`, raise_error('column \'a\' is NOT NULL but received NULL'))
    >>> print(to_sql(require_not_null(Column("a"), parse_type("ARRAY<INT NOT NULL>"), "a"))[:62])
    CASE WHEN exists(`a`, the_x1 -> the_x1 IS NULL) THEN raise_err
    """
    inner = type_.nullable()
    if not any(True for _ in _violations(node, inner, "", _null)):
        refused = _fail_column(name, "", NULL_PROBLEM)
        return node if type_.is_nullable else nodes.call("coalesce", node, refused)
    return _check_value(node, type_, name, _null)


def of_exact_type(node: nodes.Node, type_: DataType, name: str) -> nodes.Node:
    r"""Return an expression for a value that fails the job if it is not of its exact type.

    `node` has the physical type of `type_`, such as STRING for CHAR(3); the message has the
    column's `name`. A type that Spark guarantees costs nothing.

    >>> from schema_core.spark.compiler.tree import to_sql
    >>> from schema_core.spark.compiler.tree import Column
    >>> from schema_core.types import parse_type
    >>> to_sql(of_exact_type(Column("a"), parse_type("ARRAY<DECIMAL(5, 2)>"), "a"))
    '`a`'
    >>> print(to_sql(of_exact_type(Column("a"), parse_type("VARCHAR(2)"), "a"))[:47])
    CASE WHEN char_length(`a`) > 2 THEN raise_error
    """
    if not any(True for _ in _violations(node, type_, "", _inexact)):
        return node
    return _check_value(node, type_, name, _inexact)


def _check_value(node: nodes.Node, type_: DataType, name: str, find: Find) -> nodes.Node:
    def check_value(value: nodes.Node) -> nodes.Node:
        found = _violations(value, type_, "", find)
        branches = ((wrong, _fail_column(name, place, problem)) for wrong, place, problem in found)
        return nodes.Case(tuple(branches), value)

    return nodes.let(node, check_value)


NULL_PROBLEM = "is NOT NULL but received NULL"


def _fail_column(name: str, place: str, problem: str) -> nodes.Raise:
    return nodes.fail(f"column {name!r}{place and ': ' + place} {problem}")


def _null(node: nodes.Node, type_: DataType) -> Iterator[Violation]:
    if not type_.is_nullable:
        yield nodes.is_null(node), NULL_PROBLEM


def _inexact(node: nodes.Node, type_: DataType) -> Iterator[Violation]:
    """Yield what a value of Spark's type may have but not one of the exact type."""
    yield from _null(node, type_)
    shown = type_.nullable().as_summary_string()
    match type_:
        case CharType() | BinaryType():
            yield (
                nodes.operator("<>", _length(node, type_), type_.length),
                (f"is {shown} but received a value of another length"),
            )
        case VarCharType() | VarBinaryType() if type_.length < MAX_LENGTH:
            yield (
                nodes.operator(">", _length(node, type_), type_.length),
                (f"is {shown} but received a longer value"),
            )
        case AnyTimestampType() if is_fine(type_):
            unit = 10 ** (9 - type_.precision)
            wrong = inline(
                "{n} < 0 OR {n} > 999 OR {n} % {unit} <> 0", n=nodes.Field(node, NANOS), unit=unit
            )
            yield wrong, f"is {shown} but received more fractional digits"
        case AnyTimestampType() if type_.precision < MAX_PRECISION:
            cut = datetimes.truncate_digits(node, 9, type_.precision)
            yield nodes.operator("<>", node, cut), f"is {shown} but received more fractional digits"
        case MultisetType():
            wrong = inline("exists(map_values({v}), x -> x IS NULL OR x <= 0)", v=node)
            yield wrong, f"is {shown} but received a count that is not positive"


def _length(node: nodes.Node, type_: DataType) -> nodes.Node:
    is_string = isinstance(type_, CharType | VarCharType)
    return nodes.call("char_length" if is_string else "octet_length", node)


def _violations(
    node: nodes.Node, type_: DataType, place: str, find: Find
) -> Iterator[tuple[nodes.Node, str, str]]:
    """Yield each violation of a value and its parts: a predicate, the part, and the problem.

    The predicate is true for what is forbidden, else false or NULL.
    """
    for wrong, problem in find(node, type_):
        yield wrong, place, problem
    of = f" of {place}" if place else ""
    match type_:
        case RowType() | StructuredType():
            for field in type_.fields:
                value, part = nodes.Field(node, field.name), f"field {field.name!r}{of}"
                for wrong, where, problem in _violations(value, field.data_type, part, find):
                    present = inline("{row} IS NOT NULL AND ({wrong})", row=node, wrong=wrong)
                    yield present, where, problem
        case ArrayType(element_type=element):
            yield from _among(node, element, f"an array element{of}", find)
        case MultisetType(element_type=element):
            keys, part = nodes.call("map_keys", node), f"a multiset element{of}"
            yield from _among(keys, element.nullable(), part, find)
        case MapType(key_type=key, value_type=value_type):
            keys, part = nodes.call("map_keys", node), f"a map key{of}"
            yield from _among(keys, key.nullable(), part, find)
            yield from _among(nodes.call("map_values", node), value_type, f"a map value{of}", find)
        case DistinctType(source_type=source):
            yield from _violations(node, source.nullable(), place, find)
        case _:
            return


def _among(
    elements: nodes.Node, type_: DataType, place: str, find: Find
) -> Iterator[tuple[nodes.Node, str, str]]:
    element = nodes.Variable()
    for wrong, where, problem in _violations(element, type_, place, find):
        yield nodes.call("exists", elements, nodes.Lambda((element,), wrong)), where, problem
