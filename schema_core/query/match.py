"""MATCH_RECOGNIZE resolved: what the measures of a row pattern are.

Flink documentation, "Pattern Recognition".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schema_core.errors import SchemaError
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as rel
from schema_core.query.functions import IN_PATTERN
from schema_core.query.relation import Column
from schema_core.query.scope import Place, SelectScope, SourceBinding
from schema_core.query.sources import Rows, made_up, named, resolve_source
from schema_core.query.typing import condition, value
from schema_core.sql import query_syntax as written
from schema_core.sql.rewrite import rewrite, walk
from schema_core.sql.syntax import Call, Expression, Name

#: Functions that pick one row of a match: the value is that of their first argument.
NAVIGATION = frozenset({"FIRST", "LAST", "PREV", "NEXT", "FINAL", "RUNNING"})


def match_recognize(
    source: written.MatchRecognize, place: Place, before: tuple[SourceBinding, ...]
) -> Rows:
    """One row a match: the partition keys, then the measures.

    Raises:
        SchemaError: with code `misplaced-navigation`, or whatever the parts refuse.
    """
    inner = resolve_source(source.source, place, before)
    variables = {*_variables(source), *(define.name for define in source.defines)}
    origins = tuple(_as_variables(inner, variables))
    scope = SelectScope(place, origins, group_count=0, known=IN_PATTERN)
    for define in source.defines:
        condition(scope, _plain(define.expression), "DEFINE")
    rows = SelectScope(place, inner.origins)
    keys = [value(rows, key) for key in source.partition_by]
    order = [value(rows, key.expression) for key in source.order_by]
    measures = tuple(
        rel.Item(measure.name, value(scope, _plain(_measured(measure.expression))))
        for measure in source.measures
    )
    columns = (
        *(_columns(inner, keys, order) if _all_rows(source) else _key_columns(keys)),
        *(Column(item.name, item.expression.type) for item in measures),
    )
    relation = rel.Match(inner.relation, source, measures, columns)
    return named(relation, made_up(before), columns)


def _variables(source: written.MatchRecognize) -> Iterator[str]:
    if source.pattern is not None:
        yield from (one.parts[0] for one in walk(source.pattern) if isinstance(one, Name))
    yield from (name for name, _ in source.subsets)


def _as_variables(inner: Rows, variables: set[str]) -> Iterator[SourceBinding]:
    """The input under its own alias and, column by column, under each variable of the pattern."""
    yield from inner.origins
    columns = tuple(column for origin in inner.origins for column in origin.columns)
    yield from (SourceBinding(variable, columns, hidden=True) for variable in sorted(variables))


def _measured(expression: Expression) -> Expression:
    """A measure, which speaks about the whole match and so not of the rows beside one.

    Raises:
        SchemaError: with code `misplaced-navigation`.
    """
    for call in walk(expression):
        if isinstance(call, Call) and call.name in ("PREV", "NEXT"):
            problem = f"{call.name} stands in DEFINE only"
            raise SchemaError(problem, code="misplaced-navigation", span=call.span)
    return expression


def _plain(expression: Expression) -> Expression:
    """The expression with each function that picks a row replaced by what it picks."""

    def change(node: Expression) -> Expression | None:
        if isinstance(node, Call) and node.name in NAVIGATION and node.arguments:
            return rewrite(node.arguments[0], change)
        return None

    return rewrite(expression, change)


def _all_rows(source: written.MatchRecognize) -> bool:
    return source.rows_per_match is not None and source.rows_per_match.startswith("ALL")


def _key_columns(keys: Sequence[Typed]) -> Iterator[Column]:
    for key in keys:
        if isinstance(key, Ref):
            yield Column(key.name, key.type)


def _columns(inner: Rows, keys: Sequence[Typed], order: Sequence[Typed]) -> Iterator[Column]:
    """All columns of the input, what it is partitioned and ordered by first."""
    first = dict.fromkeys(_key_columns((*keys, *order)))
    yield from first
    yield from (one for origin in inner.origins for one in origin.columns if one not in first)
