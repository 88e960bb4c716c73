"""VECTOR_SEARCH: the rows of a table whose vectors are nearest to a vector (FLIP-540)."""

from __future__ import annotations

from schema_core import types
from schema_core.errors import SchemaError
from schema_core.query import relation as relational
from schema_core.query.relation import Column
from schema_core.query.scope import SelectScope, SourceBinding, value
from schema_core.query.table_functions import (
    ResolveTable,
    bind_arguments,
    column_of,
    require_rows,
    single_column,
    string_map,
)
from schema_core.sql import syntax
from schema_core.sql.printer import show_expression
from schema_core.types.casts import supports_implicit_cast

NAME = "VECTOR_SEARCH"
PARAMETERS = ("SEARCH_TABLE", "COLUMN_TO_SEARCH", "COLUMN_TO_QUERY", "TOP_K", "CONFIG")
REQUIRED = PARAMETERS[:4]

#: The column that follows those of the table; a number is added if one has its name.
SCORE = Column("score", types.DoubleType(nullable=False))


def vector_search(
    call: syntax.Call, scope: SelectScope, resolve_table: ResolveTable
) -> relational.VectorSearch:
    """Resolve VECTOR_SEARCH, whose vector may be a column of the sources in `scope`.

    Raises:
        SchemaError: as `bind_arguments`; `invalid-function-call`,
            `unknown-column`.
    """
    arguments = bind_arguments(call, PARAMETERS, REQUIRED)
    require_rows(NAME, arguments["SEARCH_TABLE"])
    data, _ = resolve_table(arguments["SEARCH_TABLE"], scope.chain)
    table = SelectScope(scope.chain, (SourceBinding("", data.columns),))
    searched = column_of(single_column(arguments["COLUMN_TO_SEARCH"]), table)
    if not _is_vector(searched.type):
        raise SchemaError(
            f"column {searched.name!r} must be ARRAY<FLOAT> or ARRAY<DOUBLE>, got"
            f" {searched.type.as_summary_string()}",
            code="invalid-function-call",
            span=searched.span,
        )
    query = value(scope, arguments["COLUMN_TO_QUERY"])
    if not supports_implicit_cast(query.type, searched.type):
        raise SchemaError(
            f"COLUMN_TO_QUERY must be {searched.type.as_summary_string()} as the column"
            f" {searched.name!r}, got {query.type.as_summary_string()}",
            code="invalid-function-call",
            hint="CAST it to the type of the column",
            span=arguments["COLUMN_TO_QUERY"].span,
        )
    limit = _limit(arguments["TOP_K"], scope)
    config = string_map(arguments.get("CONFIG"))
    names = relational.unique_names(column.name for column in (*data.columns, SCORE))
    columns = (*data.columns, Column(names[-1], SCORE.type))
    return relational.VectorSearch(data, searched, query, limit, config, columns)


def _is_vector(type_: types.DataType) -> bool:
    return isinstance(type_, types.ArrayType) and isinstance(
        type_.element_type, types.FloatType | types.DoubleType
    )


def _limit(argument: syntax.Expression, scope: SelectScope) -> int:
    if isinstance(argument, syntax.Literal) and isinstance(
        value(scope, argument).type, types.IntType
    ):
        limit = int(argument.text)
        if limit > 0:
            return limit
    raise SchemaError(
        f"TOP_K must be a positive INT literal, got {show_expression(argument)}",
        code="invalid-function-call",
        span=argument.span,
    )
