"""A query resolved: from what was written to relations with typed columns.

The rules are those of Flink 2.3 (SQL standard, with Calcite's conformance level "default" and
Flink's types): what it accepts, how columns are called, which types they have.
"""

from __future__ import annotations

from typing import assert_never

from schema_core.expressions.scope import Functions
from schema_core.query import relation as rel
from schema_core.query.order import ordered
from schema_core.query.relation import Columns, CommonScan, Relation, Tables
from schema_core.query.scope import Models, Place, ResolutionContext
from schema_core.query.select import select
from schema_core.query.setops import set_operation, values
from schema_core.query.sources import renamed
from schema_core.sql import query_syntax as written
from schema_core.sql.syntax import Star
from schema_core.types.unresolved import LookUp


def resolve_query(
    query: written.Query,
    tables: Tables,
    *,
    streaming: bool = True,
    functions: Functions | None = None,
    types: LookUp | None = None,
    models: Models | None = None,
) -> Relation:
    """The relation that a query stands for; `result_columns` of it are the columns it returns.

    Args:
        query: As written.
        tables: Where its tables are found.
        streaming: Whether rows keep coming; time attributes exist only then.
        functions: Functions beside the built-in ones, as the scopes of expressions take them.
        types: Finds the user-defined types that casts name.
        models: Finds what a model takes and gives.

    Raises:
        SchemaError: for the first mistake, with its place; `errors.within` adds the text.
    """
    return resolve(query, Place(ResolutionContext(tables, functions, streaming, types, models)))


def resolve(query: written.Query, place: Place) -> Relation:
    """A query at its place."""
    match query:
        case written.Select():
            return select(query, place).relation
        case written.Values():
            return values(query, place)
        case written.SetOperation():
            return set_operation(query, place)
        case written.With():
            return _with(query, place)
        case written.Ordered():
            return ordered(query, place)
        case written.ExplicitTable(name=name, span=span):
            star = written.SelectItem(Star(span=span), span=span)
            return resolve(written.Select((star,), written.TableName(name, span=span)), place)
        case written.TableArgument(query=inner):
            return resolve(inner, place)
        case _:
            assert_never(query)


def _with(query: written.With, place: Place) -> rel.With:
    """Common tables, each of which sees those before it, and the query that sees them all."""
    tables = []
    for table in query.tables:
        common, place = common_table(table, place, recursive=query.recursive)
        tables.append(common)
    return rel.With(tuple(tables), resolve(query.query, place), query.recursive)


def common_table(
    table: written.CommonTable, place: Place, *, recursive: bool
) -> tuple[rel.Common, Place]:
    """A common table, and the place behind it."""
    inner = place
    if recursive:
        inner = place.with_common(CommonScan(table.name, _seed(table, place)))
    relation = resolve(table.query, inner)
    columns = renamed(relation.columns, table.columns, table.span)
    common = rel.Common(table.name, relation, columns)
    return common, place.with_common(CommonScan(table.name, columns))


def _seed(table: written.CommonTable, place: Place) -> Columns:
    """The columns of a recursive table: those of the part that begins its UNION."""
    first = table.query
    while isinstance(first, written.SetOperation) and first.operator == "UNION":
        first = first.left
    if first is table.query:
        return ()
    return renamed(resolve(first, place).columns, table.columns, table.span)
