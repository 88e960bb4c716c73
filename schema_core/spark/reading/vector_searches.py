"""VECTOR_SEARCH by connectors that search themselves: a table function of each vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeAlias

from schema_core.errors import UnsupportedError
from schema_core.expressions.type_checker import implicit_cast
from schema_core.expressions.typed import FunctionCall
from schema_core.expressions.user_functions import udtf
from schema_core.query.relation import (
    FunctionTable,
    Relation,
    Scan,
    VectorSearch,
    relations_in,
    substitute_parts,
)
from schema_core.spark.connector import ReadContext, SupportsVectorSearch, VectorQuery
from schema_core.types import DataType, DataTypes

#: Returns the connector of a table that searches itself, with the table; None for any other.
FindSearcher: TypeAlias = Callable[[Scan], tuple[SupportsVectorSearch, ReadContext] | None]


def with_searches(query: Relation, find_searcher: FindSearcher) -> Relation:
    """Return a query whose connectors answer VECTOR_SEARCH where they can.

    Raises:
        UnsupportedError: `not-executable` for columns that are not stored, and in subqueries of
            expressions.
    """

    def change(relation: Relation) -> Relation | None:
        if not isinstance(relation, VectorSearch) or not isinstance(relation.input, Scan):
            return None
        searcher = find_searcher(relation.input)
        return None if searcher is None else _function_table(relation, *searcher)

    changed = substitute_parts(query, change)
    for relation in relations_in(changed):
        if isinstance(relation, VectorSearch) and change(relation) is not None:
            raise UnsupportedError(
                "a connector cannot answer VECTOR_SEARCH in a subquery of an expression",
                code="not-executable",
                hint="write the search in FROM",
            )
    return changed


def _function_table(
    search: VectorSearch, connector: SupportsVectorSearch, context: ReadContext
) -> FunctionTable:
    *stored, _ = search.columns
    if [column.name for column in stored] != list(context.physical_columns):
        raise UnsupportedError(
            f"{context.identifier.as_summary_string()} has computed or metadata columns, which its"
            " connector does not return for VECTOR_SEARCH",
            code="not-executable",
            hint="declare a table with its stored columns only",
        )
    request = VectorQuery(search.searched.name, search.limit, dict(search.config))
    find = connector.vector_search(request, context)
    limit = search.limit

    def nearest(vector: Sequence[float] | None) -> list[tuple[Any, ...]]:
        if vector is None:
            return []
        return [tuple(row) for row in islice(find(list(vector)), limit)]

    row: DataType = DataTypes.ROW(
        [DataTypes.FIELD(column.name, column.type) for column in search.columns]
    )
    vector = implicit_cast(search.query, search.searched.type.nullable())
    function = udtf(nearest, [vector.type], row, deterministic=False, name="VECTOR_SEARCH")
    (signature,) = function.rows()
    return FunctionTable(FunctionCall(signature, (vector,), row), search.columns)
