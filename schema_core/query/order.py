"""ORDER BY, OFFSET and FETCH resolved."""

from __future__ import annotations

from dataclasses import replace

from schema_core.errors import SchemaError
from schema_core.expressions.infer import infer
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as rel
from schema_core.query.aggregates import check_grouped
from schema_core.query.relation import Relation, unique_names
from schema_core.query.scope import Block, Origin, Place
from schema_core.query.select import Built, select
from schema_core.query.typing import count
from schema_core.sql import query_syntax as written
from schema_core.sql.syntax import Expression, Literal, LiteralKind, Name, SortKey


def ordered(query: written.Ordered, place: Place) -> rel.Sort:
    """A query with its order and limits.

    Raises:
        SchemaError: with code `order-position`, or whatever the keys and the query refuse.
    """
    from schema_core.query.resolve import resolve

    built: Built | None = None
    relation: Relation
    if isinstance(query.query, written.Select):
        built = select(query.query, place)
        relation = built.relation
    else:
        relation = resolve(query.query, place)
    keys = tuple(_key(key, relation, built, place) for key in query.order_by)
    return rel.Sort(relation, keys, count(query.offset), count(query.fetch))


def _key(key: SortKey, relation: Relation, built: Built | None, place: Place) -> rel.Key:
    typed = (
        _by_position(key.expression, relation)
        or _by_name(key.expression, relation)
        or _by_expression(key.expression, relation, built, place)
    )
    return rel.Key(typed, key.descending, key.nulls_last)


def _output(relation: Relation, index: int, key: Expression) -> Ref:
    """A column of the result; names are unique there."""
    name = unique_names(column.name for column in relation.columns)[index]
    return Ref(name, relation.columns[index].type, None, key.span)


def _by_position(key: Expression, relation: Relation) -> Typed | None:
    """``ORDER BY 2``: the second column."""
    if not isinstance(key, Literal) or key.kind is not LiteralKind.EXACT or "." in key.text:
        return None
    position = int(key.text)
    if not 1 <= position <= len(relation.columns):
        raise SchemaError(
            f"there is no column {position} to order by", code="order-position", span=key.span
        )
    return _output(relation, position - 1, key)


def _by_name(key: Expression, relation: Relation) -> Typed | None:
    """The column of the result with that name.

    Raises:
        SchemaError: with code `ambiguous-column` where several have it.
    """
    if not isinstance(key, Name) or len(key.parts) != 1:
        return None
    name = key.parts[0]
    found = [index for index, one in enumerate(relation.columns) if one.name == name]
    if len(found) > 1:
        raise SchemaError(f"column {name!r} is ambiguous", code="ambiguous-column", span=key.span)
    return _output(relation, found[0], key) if found else None


def _by_expression(key: Expression, relation: Relation, built: Built | None, place: Place) -> Typed:
    """An expression over the block; over a whole query only its columns can be read."""
    if built is None:
        columns = tuple(relation.columns)
        typed = infer(Block(place, (Origin("", columns),)), key)
        return replace(typed, relation=None) if isinstance(typed, Ref) else typed
    typed = built.sorted_by(key)
    if built.relation.distinct:
        items = [item.expression for item in built.relation.items]
        own = frozenset(origin.alias for origin in built.scope.origins)
        check_grouped(typed, items, own)
    return typed
