"""Correlated subqueries on Spark: which run over groups, and which are refused before a job.

Flink's validator does not look into subqueries: one that reads a column that is not grouped is
valid, and fails when it is planned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import FunctionCall, Ref, Typed, is_windowed
from schema_core.expressions.typed import Select as Subquery
from schema_core.query.correlation import (
    Names,
    columns_of,
    columns_read,
    expressions_of,
    is_aggregate,
    is_own,
    outer_columns,
    rows_of,
    subexpressions,
    subqueries_in,
    subqueries_of_group,
)
from schema_core.query.relation import Join, Named, Relation, Select
from schema_core.spark.compiler.tree import unsupported


def require_near_columns(block: Select, hidden: Sequence[Typed]) -> None:
    """Refuse columns of enclosing queries where Spark cannot read them.

    Spark reads a column only from the block directly around a subquery, and in a grouped block
    only outside of its keys, items and aggregates.

    Raises:
        UnsupportedError: with code `not-executable`.
    """
    own = columns_of(block.source)
    expressions = (*expressions_of(block), *hidden)
    inner = [rows_of(query) for expression in expressions for query in subqueries_in(expression)]
    for query in (*inner, *_lateral(block.source)):
        for column in _foreign(outer_columns(query), own):
            raise _unsupported_column(
                column,
                f"a subquery reads the column {column.name!r} of a query two levels above it",
                "join the inner tables in a derived table, or select the column in between",
            )
    for expression in _grouped_parts(block, hidden):
        for column in _foreign(columns_read(expression), own):
            raise _unsupported_column(
                column,
                f"a subquery with groups or windows reads the column {column.name!r} of the"
                " enclosing query outside of WHERE",
                "use groups and windows in a derived table without the column",
            )


def _foreign(columns: Iterable[Ref], own: Names) -> Iterator[Ref]:
    return (column for column in columns if not is_own(column, own))


def _grouped_parts(block: Select, hidden: Sequence[Typed]) -> Iterator[Typed]:
    """The expressions of a block in which Spark reads only columns of its own sources."""
    items = [*(item.expression for item in block.items), *hidden]
    conditions = [one for one in (block.having, block.qualify) if one is not None]
    if block.grouping is not None:
        yield from (*items, *block.grouping.keys)
    for one in (*items, *conditions):
        yield from (part for part in subexpressions(one) if is_aggregate(part) or is_windowed(part))


def _lateral(source: Relation | None) -> Iterator[Relation]:
    """The lateral sources of the joins of a block."""
    rest = [source.left, source.right] if isinstance(source, Join) else []
    while rest:
        match rest.pop():
            case Join(left=left, right=right):
                rest += [left, right]
            case Named(input=below, lateral=True):
                yield below
            case _:
                continue


def conditions_of(filters: Sequence[Typed], values: Sequence[Typed]) -> frozenset[int]:
    """Return the identities of the calls whose NULL has the effect of FALSE.

    They are the conditions of clauses and of CASE, and the operands of AND, OR and NOT in these.
    """
    rest = list(filters)
    for one in (*filters, *values):
        for part in subexpressions(one):
            if isinstance(part, FunctionCall) and part.function.name == "CASE":
                rest.extend(part.arguments[:-1:2])
    found = set()
    while rest:
        one = rest.pop()
        found.add(id(one))
        if isinstance(one, FunctionCall) and one.function.name in ("AND", "OR", "NOT"):
            rest.extend(one.arguments)
    return frozenset(found)


def grouped_subqueries(block: Select, hidden: Sequence[Typed]) -> frozenset[int]:
    """Return the identities of the subqueries that are computed from any row of a group.

    Their value is the same for all rows of a group: they read the keys only. Spark computes such a
    subquery over groups only if it reads no more than columns that are keys, and is not a value.

    Raises:
        UnsupportedError: with code `not-executable` for a subquery that reads a column which is
            neither grouped nor aggregated, or that Spark does not run for another reason.
    """
    grouping = block.grouping
    if grouping is None:
        return frozenset()
    own, keys = columns_of(block.source), frozenset(grouping.keys)
    plain = frozenset(key for key in keys if isinstance(key, Ref))
    found = set()
    over_groups = [item.expression for item in block.items]
    over_groups += [*hidden, *([block.having] if block.having is not None else [])]
    for expression in over_groups:
        for query, is_value in subqueries_of_group(expression, keys):
            if not _reads(query, own):
                continue
            if grouping.sets is not None:
                raise unsupported(
                    "a correlated subquery over several grouping sets is not supported on Spark",
                    hint="group in a derived table, and use the subquery over that",
                )
            _require_grouped(query, own, keys)
            if is_value:
                found.add(id(query))
            elif _reads(query, own, plain):
                raise unsupported(
                    "a subquery over groups reads an expression of GROUP BY that is not a column",
                    hint="group in a derived table, and use the subquery over that",
                )
    if block.qualify is not None:
        for query, _ in subqueries_of_group(block.qualify, keys):
            if _reads(query, own):
                problem = "a correlated subquery in QUALIFY over groups is not supported on Spark"
                raise unsupported(problem, hint="use QUALIFY over a derived table")
    return frozenset(found)


def _reads(query: Subquery, own: Names, keys: Collection[Typed] = ()) -> list[Ref]:
    """The columns of a block that a subquery reads, outside of `keys`."""
    return [one for one in columns_read(query, keys) if is_own(one, own)]


def _require_grouped(query: Subquery, own: Names, keys: Collection[Typed]) -> None:
    for column in _reads(query, own, keys):
        raise _unsupported_column(
            column,
            f"a subquery over groups reads the column {column.name!r}, which is neither grouped"
            " nor aggregated",
            "add the column to GROUP BY",
        )


def _unsupported_column(column: Ref, problem: str, hint: str) -> UnsupportedError:
    error = unsupported(problem, hint=hint)
    error.span = column.span
    return error
