"""UNNEST resolved: a collection's elements as rows."""

from __future__ import annotations

from schema_core.errors import SchemaError
from schema_core.query import relation as rel
from schema_core.query.relation import Column, Columns
from schema_core.query.scope import SelectScope, SourceBinding
from schema_core.query.sources import Rows, made_up, named
from schema_core.query.typing import value
from schema_core.sql import query_syntax as written
from schema_core.types import ArrayType, DataType, IntType, MapType, MultisetType, RowType


def unnest(source: written.Unnest, scope: SelectScope, before: tuple[SourceBinding, ...]) -> Rows:
    """The elements of a collection; the scope is that of the sources on the left.

    Raises:
        SchemaError: with code `not-a-collection`, or `unnest-argument-count` for more than one.
    """
    if len(source.collections) != 1:
        raise SchemaError(
            "UNNEST takes one collection", code="unnest-argument-count", span=source.span
        )
    collection = value(scope, source.collections[0])
    columns = element_columns(collection.type)
    if columns is None:
        raise SchemaError(
            f"UNNEST takes a collection, got {collection.type.as_summary_string()}",
            code="not-a-collection",
            span=source.collections[0].span,
        )
    if source.ordinality:
        columns = (*columns, Column("ORDINALITY", IntType(nullable=False)))
    relation = rel.Unnest(collection, source.ordinality, columns)
    return named(relation, made_up(before), columns, lateral=True)


def element_columns(type_: DataType) -> Columns | None:
    """The columns of a collection's elements, or None for what has none.

    >>> from schema_core.types import parse_type
    >>> element_columns(parse_type("MAP<INT NOT NULL, DATE>"))
    (Column(name='KEY', type=IntType(nullable=False)), Column(name='VALUE', type=DateType()))
    """
    match type_:
        case ArrayType(element_type=element) | MultisetType(element_type=element):
            return _fields(element)
        case MapType(key_type=key, value_type=value_type):
            return (Column("KEY", key), Column("VALUE", value_type))
        case _:
            return None


def _fields(element: DataType) -> Columns:
    """The fields of a row, NOT NULL ones even where the row may be NULL; or the value itself."""
    if isinstance(element, RowType):
        return tuple(Column(one.name, one.data_type) for one in element.fields)
    return (Column("EXPR$0", element),)
