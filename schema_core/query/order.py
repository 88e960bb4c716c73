"""ORDER BY, OFFSET and FETCH resolved.

The scope of a sort key follows Flink (Calcite's conformance level "default"): a name without a
qualifier is first the name of a column of the select list, also within an expression; any other
name belongs to the sources of the block below. Over a set operation or VALUES only the columns of
the result can be named.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from schema_core.errors import SchemaError
from schema_core.expressions.signatures import Kind
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import FunctionCall, Ref, Typed, children
from schema_core.query import relation as rel
from schema_core.query.aggregates import refuse_grouping
from schema_core.query.relation import Relation, unique_names
from schema_core.query.scope import Place, SelectScope, SourceBinding
from schema_core.query.select import Built, select
from schema_core.query.typing import count
from schema_core.sql import query_syntax as written
from schema_core.sql.syntax import Expression, Literal, LiteralKind, Name, SortKey

NUMBERS = frozenset({LiteralKind.EXACT, LiteralKind.APPROXIMATE})


def ordered(query: written.Ordered, place: Place) -> Relation:
    """Resolve a query with its order and limits.

    ORDER BY after a WITH clause belongs to the body of the clause, whose sources its keys see.

    Raises:
        SchemaError: with code `invalid-order-position`, or whatever the keys and the query refuse.
    """
    from schema_core.query.resolve import resolve

    if isinstance(query.query, written.With):
        body = replace(query, query=query.query.query)
        return resolve(replace(query.query, query=body), place)
    built: Built | None = None
    relation: Relation
    if isinstance(query.query, written.Select):
        built = select(query.query, place)
        relation = built.relation
    else:
        relation = resolve(query.query, place)
    result = Result(relation, built)
    keys = tuple(_key(key, result, place) for key in query.order_by)
    return rel.Sort(relation, keys, count(query.offset), count(query.fetch))


class Result:
    """The result that is sorted, indexed once for all keys; `built` is the block that gives it."""

    def __init__(self, relation: Relation, built: Built | None = None) -> None:
        self.built = built
        self.columns = relation.columns
        self.names = unique_names(column.name for column in self.columns)
        unnamed = {index for index, one in enumerate(built.outputs) if one.unnamed} if built else ()
        self.places: dict[str, list[int]] = {}
        for index, column in enumerate(self.columns):
            if index not in unnamed:
                self.places.setdefault(column.name, []).append(index)
        self.items = (
            frozenset(item.expression for item in built.relation.items) if built else frozenset()
        )

    def output(self, index: int, key: Expression) -> Ref:
        """Return a reference to a column of the result, by the unique name it has there."""
        return Ref(self.names[index], self.columns[index].type, None, key.span)


def _key(key: SortKey, result: Result, place: Place) -> rel.Key:
    typed = (
        _by_position(key.expression, result)
        or _by_name(key.expression, result)
        or _by_expression(key.expression, result, place)
    )
    return rel.Key(typed, key.descending, key.nulls_last)


def _by_position(key: Expression, result: Result) -> Typed | None:
    """Return the column that a number stands for, without its fraction; None if negative.

    >>> _by_position(Literal(LiteralKind.EXACT, "-1"), Result(rel.Values((), ()))) is None
    True
    """
    if not isinstance(key, Literal) or key.kind not in NUMBERS:
        return None
    value = Decimal(key.text)
    if value <= -1:
        return None
    if not 1 <= value < len(result.columns) + 1:
        raise SchemaError(
            f"ORDER BY position {key.text} is out of range: the query has"
            f" {len(result.columns)} columns",
            code="invalid-order-position",
            span=key.span,
        )
    return result.output(int(value) - 1, key)


def _by_name(key: Expression, result: Result) -> Typed | None:
    """Return the column of the result with that name; generated names of a block do not count.

    Raises:
        SchemaError: with code `ambiguous-column` if several have it.
    """
    if not isinstance(key, Name) or len(key.parts) != 1:
        return None
    name = key.parts[0]
    found = result.places.get(name, [])
    if len(found) > 1:
        raise SchemaError(f"column {name!r} is ambiguous", code="ambiguous-column", span=key.span)
    return result.output(found[0], key) if found else None


def _by_expression(key: Expression, result: Result, place: Place) -> Typed:
    """Type an expression over the block; over a whole query only its columns can be read."""
    built = result.built
    if built is None:
        scope = SelectScope(place, (SourceBinding("", result.columns),))
        refuse_grouping(scope, key, "ORDER BY")
        typed = infer(scope, key)
        return replace(typed, relation=None) if isinstance(typed, Ref) else typed
    typed = built.sorted_by(key)
    if built.relation.distinct:
        own = frozenset(origin.alias for origin in built.scope.origins)
        _check_distinct(typed, result.items, own)
    return typed


def _check_distinct(typed: Typed, items: frozenset[Typed], own: frozenset[str]) -> None:
    """Require a sort key of SELECT DISTINCT to be computed from columns of its select list.

    Raises:
        SchemaError: with code `not-grouped`.
    """
    rest = [typed]
    while rest:
        one = rest.pop()
        if one in items:
            continue
        aggregate = isinstance(one, FunctionCall) and one.function.kind is Kind.AGGREGATE
        if aggregate or (isinstance(one, Ref) and one.relation in own):
            shown = f"column {one.name!r}" if isinstance(one, Ref) else "the aggregate"
            raise SchemaError(
                f"{shown} is not in the list of SELECT DISTINCT",
                code="not-grouped",
                hint="order by a column of the select list, or remove DISTINCT",
                span=one.span,
            )
        rest.extend(children(one))
