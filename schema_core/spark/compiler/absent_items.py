"""The values that Flink has for absent items of collections whose items are NOT NULL.

Such an item is NULL within an expression. Where Flink stores it in a row, in a result, a key of a
group, order or join, or an argument of an aggregate, it is the default value of its type, and
``IS NULL`` of it is FALSE. Flink computes the items of nested queries in the query around them if
that only selects from one; `absent_columns` are the columns of such queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from schema_core import types
from schema_core.expressions import typed
from schema_core.expressions.typed import Access, Constant, FunctionCall, Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.relation import Relation, Select
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.translation import sql_type
from schema_core.sql.syntax import Literal, LiteralKind

#: Columns of a source, by alias and name, that are items -> the type of the item.
Absent: TypeAlias = "Mapping[tuple[str | None, str], types.DataType]"

#: Type -> the value of an absent item; that of other types is NULL.
DEFAULTS: dict[type[types.DataType], nodes.Node] = {
    types.BooleanType: nodes.FALSE,
    types.TinyIntType: nodes.node_of(-1),
    types.SmallIntType: nodes.node_of(-1),
    types.IntType: nodes.node_of(-1),
    types.BigIntType: nodes.node_of(-1),
    types.FloatType: nodes.node_of(-1),
    types.DoubleType: nodes.node_of(-1),
    types.CharType: nodes.node_of(""),
    types.VarCharType: nodes.node_of(""),
    types.DateType: nodes.Literal("1969-12-31", "DATE"),
    types.YearMonthIntervalType: nodes.node_of(-1),
    types.DayTimeIntervalType: nodes.node_of(-1),
}

#: Types of which Flink tests whether an absent item is NULL.
REFERENCES = (
    types.DecimalType,
    types.BinaryType,
    types.VarBinaryType,
    types.ArrayType,
    types.MapType,
    types.MultisetType,
    types.RowType,
    types.StructuredType,
)


def item_type(expression: Typed, absent: Absent) -> types.DataType | None:
    """Return the type of an item that is NOT NULL but may be absent; None of other expressions."""
    match expression:
        case Ref(name, relation=relation):
            return absent.get((relation, name))
        case FunctionCall(function=function, arguments=arguments):
            name = function.name
        case _:
            return None
    if name in ("CAST", "TRY_CAST"):
        source = item_type(arguments[0], absent)
        is_same = source is not None and source.nullable() == expression.type.nullable()
        return source if is_same else None
    collection = arguments[0].type if name in ("[]", "ELEMENT") else None
    if isinstance(collection, types.ArrayType | types.MapType) and not _is_null(arguments[-1]):
        item = collection.children()[-1]
        return None if item.is_nullable else item
    return None


def _is_null(expression: Typed) -> bool:
    while isinstance(expression, FunctionCall) and expression.function.name == "CAST":
        expression = expression.arguments[0]
    return isinstance(expression, Constant) and (
        isinstance(expression.literal, Literal) and expression.literal.kind is LiteralKind.NULL
    )


def is_never_null(expression: Typed, absent: Absent) -> bool:
    """Return whether ``IS NULL`` of an item, or of a field of an item, is FALSE in Flink."""
    item = item_type(expression, absent)
    if item is None and isinstance(expression, Access):
        row = item_type(expression.value, absent)
        if isinstance(row, types.RowType):
            item = next(part.data_type for part in row.fields if part.name == expression.name)
            item = None if item.is_nullable else item
    return item is not None and not isinstance(item, REFERENCES)


def stored_value(node: nodes.Node, expression: Typed, absent: Absent) -> nodes.Node:
    """Return the value of an expression as Flink stores it: the default value of an absent item."""
    item = item_type(expression, absent)
    default = None if item is None else DEFAULTS.get(type(item))
    if item is None or default is None:
        return node
    if isinstance(item, types.CharType) and not any(relational.columns_read(expression)):
        default = nodes.node_of(" " * item.length)  # Flink pads constants
    return nodes.call("coalesce", node, nodes.Cast(default, sql_type(item)))


def item_keys(condition: Typed | None, absent: Absent) -> list[Typed]:
    """Return the items that a condition compares with columns of other tables: keys of a join."""
    return [
        operand
        for part in relational.conjuncts(condition)
        if isinstance(part, FunctionCall) and part.function.name == "="
        for operand, other in (part.arguments, part.arguments[::-1])
        if item_type(operand, absent) is not None and _is_of_others(operand, other)
    ]


def _is_of_others(operand: Typed, other: Typed) -> bool:
    relations, others = (
        {column.relation for column in relational.columns_read(side)} for side in (operand, other)
    )
    return bool(relations and others) and not relations & others


def inlined_query(source: Relation | None) -> Select | None:
    """Return the query whose items Flink computes in the query that selects from it."""
    if not isinstance(source, relational.Named) or not isinstance(source.input, Select):
        return None
    query = source.input
    is_row_by_row = not query.distinct and query.grouping is None and query.qualify is None
    if not is_row_by_row or any(
        typed.is_windowed(part)
        for item in query.items
        for part in relational.subexpressions(item.expression)
    ):
        return None
    return query


def absent_columns(source: Relation | None) -> Absent:
    """Return the columns of a source that are items of nested queries."""
    chain: list[tuple[relational.Named, Select]] = []
    while isinstance(source, relational.Named) and (query := inlined_query(source)) is not None:
        chain.append((source, query))
        source = query.source
    absent: Absent = {}
    for named, query in reversed(chain):
        items = zip(named.columns, query.items, strict=True)
        absent = {
            (named.alias, column.name): type_
            for column, item in items
            if (type_ := item_type(item.expression, absent)) is not None
        }
    return absent
