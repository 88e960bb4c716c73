"""VALUES and set operations resolved: one type for all values of a column."""

from __future__ import annotations

from collections.abc import Sequence

from schema_core.errors import SchemaError, at
from schema_core.expressions.typed import Typed
from schema_core.query import relation as rel
from schema_core.query.relation import Column, Columns, Relation
from schema_core.query.scope import Place, SelectScope
from schema_core.query.typing import value
from schema_core.sql import query_syntax as written
from schema_core.text import Span
from schema_core.types import DataType
from schema_core.types.least_restrictive import least_restrictive


def set_operation(query: written.SetOperation, place: Place) -> Relation:
    """UNION, INTERSECT or EXCEPT; names are those of the left side.

    A chain of them is resolved from its left end, without recursion.

    Raises:
        SchemaError: with code `column-count-mismatch` or `no-common-type`.
    """
    from schema_core.query.resolve import resolve

    chain = [query]
    while isinstance(chain[-1].left, written.SetOperation):
        chain.append(chain[-1].left)
    left = resolve(chain[-1].left, place)
    for operation in reversed(chain):
        right = resolve(operation.right, place)
        columns = _together(operation, left.columns, right.columns)
        left = rel.SetOperation(operation.operator, operation.all, left, right, columns)
    return left


def _together(operation: written.SetOperation, left: Columns, right: Columns) -> Columns:
    if len(left) != len(right):
        raise SchemaError(
            f"{operation.operator} of {len(left)} and of {len(right)} columns",
            code="column-count-mismatch",
            span=operation.span,
        )
    return tuple(
        Column(one.name, _common((one.type, other.type), one.name, operation.span))
        for one, other in zip(left, right, strict=True)
    )


def _common(types: Sequence[DataType], name: str, span: Span) -> DataType:
    found = least_restrictive(types)
    if found is None:
        shown = " and ".join(dict.fromkeys(type_.as_summary_string() for type_ in types))
        with at(f"column {name!r}", span):
            raise SchemaError(
                f"no type holds {shown}", code="no-common-type", hint="add a CAST", span=span
            )
    return found


def values(query: written.Values, place: Place) -> rel.Values:
    """Rows of expressions.

    Raises:
        SchemaError: with code `column-count-mismatch` for rows of different lengths,
            `no-common-type`, or `untyped-null`.
    """
    scope = SelectScope(place, group_count=0)
    rows: list[tuple[Typed, ...]] = []
    for row in query.rows:
        if len(row) != len(query.rows[0]):
            raise SchemaError(
                f"a row of {len(row)} values beside one of {len(query.rows[0])}",
                code="column-count-mismatch",
                span=row[0].span,
            )
        rows.append(tuple(value(scope, one) for one in row))
    columns = tuple(
        Column(f"EXPR${index}", _common([one.type for one in column], f"EXPR${index}", query.span))
        for index, column in enumerate(zip(*rows, strict=True))
    )
    return rel.Values(tuple(rows), columns)
