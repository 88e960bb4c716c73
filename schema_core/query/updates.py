"""Which operation of a streaming query updates rows that it has returned before.

The rules are those of the changelog modes that Flink's planner infers for streaming queries
(``FlinkChangelogModeInferenceProgram``). An operation that Flink may simplify, such as a join with
a unique right side, is not found: then rows are added at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import Constant, FunctionCall, Typed
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.aggregation import AUXILIARY
from schema_core.query.rankings import first_rows
from schema_core.query.relation import Relation, Scan, subexpressions, without_common_tables
from schema_core.query.upsert_keys import upsert_keys
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
from schema_core.types import LocalZonedTimestampType, TimestampKind, TimestampType

#: Returns whether a table has updates or deletions.
IsChanged: TypeAlias = Callable[[Scan], bool]

#: The functions of group windows, as in typed queries.
_GROUP_WINDOWS: Final = frozenset(AUXILIARY.values())
_FALSE: Final = Literal(LiteralKind.BOOLEAN, "FALSE")
#: Functions that test for the rows of a subquery.
_ROW_TESTS: Final = ("IN", "NOT IN", "EXISTS")
_OUTER: Final = (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL)


def find_update(query: Relation, is_changed: IsChanged) -> str | None:
    """Return the operation whose rows a query without views updates or deletes, or None."""
    try:
        query = without_common_tables(query)
    except UnsupportedError:  # a common table hides another one
        return None
    return _find(query, is_changed)


def _find(relation: Relation | None, is_changed: IsChanged) -> str | None:
    match relation:
        case Scan():
            path = relation.table.identifier.as_summary_string()
            return f"the table {path}" if is_changed(relation) else None
        case relational.ProcessTable():
            return None  # its own mode is not known; TO_CHANGELOG only adds rows
        case relational.Named() | relational.Sample() | relational.WindowTable():
            return _find(relation.input, is_changed)
        case relational.Join():
            return _of_join(relation, is_changed)
        case relational.SetOperation(operator=operator, all=all_):
            inner = _find(relation.left, is_changed) or _find(relation.right, is_changed)
            is_union = operator == "UNION" and all_
            return inner if inner or is_union else operator + " ALL" * all_
        case relational.Sort(fetch=0):
            return None
        case relational.Sort():
            is_top = relation.keys and (relation.fetch is not None or relation.offset is not None)
            return "ORDER BY with LIMIT" if is_top else _find(relation.input, is_changed)
        case relational.Select():
            return _of_block(relation, is_changed)
        case _:
            return None


def _of_join(
    join: relational.Join, is_changed: IsChanged, *, is_filtered: bool = False
) -> str | None:
    left = _find(join.left, is_changed)
    if left is not None or relational.adds_elements(join) or _is_lookup(join.right):
        return left
    right = _find(join.right, is_changed)
    # joins of windows and within time bounds wait; WHERE may remove what an outer join adds
    is_regular = not any(map(_has_time, (join.left, join.right)))
    is_unique = any(map(upsert_keys, (join.left, join.right)))
    is_false = isinstance(join.condition, Constant) and join.condition.literal == _FALSE
    if right or join.kind not in _OUTER or is_filtered or is_unique or is_false or not is_regular:
        return right
    return f"{join.kind.value} JOIN"


def _is_lookup(relation: Relation) -> bool:
    """Return whether a relation is the versioned or looked up side of a join."""
    while isinstance(relation, relational.Named):
        relation = relation.input
    return isinstance(relation, relational.Snapshot)


def _has_time(relation: Relation) -> bool:
    """Return whether rows have a time attribute, or the bounds of a window."""
    return any(
        isinstance(part, relational.WindowTable) or any(map(_is_time, part.columns))
        for part in _inputs(relation)
    )


def _is_time(column: relational.Column | Typed) -> bool:
    return (
        isinstance(column.type, TimestampType | LocalZonedTimestampType)
        and column.type.kind is not TimestampKind.REGULAR
    )


def _of_block(block: relational.Select, is_changed: IsChanged) -> str | None:
    if isinstance(block.where, Constant) and block.where.literal == _FALSE:
        return None
    if isinstance(block.source, relational.Join):
        inner = _of_join(block.source, is_changed, is_filtered=block.where is not None)
    else:
        inner = _find(block.source, is_changed)
    expressions = list(relational.expressions_of(block))
    ranking = first_rows(block)
    if inner or block.qualify is not None:
        return inner
    if ranking is not None and ranking.descending:
        return "ROW_NUMBER"
    return _of_subqueries(expressions, is_changed) or _of_rows(block, expressions)


def _of_rows(block: relational.Select, expressions: Sequence[Typed]) -> str | None:
    """Return the operation of a block that needs several of its input's rows."""
    grouping, source = block.grouping, block.source
    if grouping is not None:
        is_window = any(
            isinstance(key, FunctionCall) and key.function.name in _GROUP_WINDOWS
            for key in grouping.keys
        )
        if is_window or (source is not None and _has_window(source)):
            return None
        is_grouped = bool(grouping.keys) or grouping.sets is not None
        counts = any(
            isinstance(part, FunctionCall) and part.function.name == "COUNT"
            for part in _parts(expressions)
        )
        is_unique = is_grouped and not counts and _is_unique(block, grouping.keys)
        return None if is_unique else "GROUP BY" if is_grouped else "an aggregate"
    if block.distinct:
        items = [item.expression for item in block.items]
        is_unique = source is None or _has_window(source) or _is_unique(block, items)
        return None if is_unique else "SELECT DISTINCT"
    for part in _parts(expressions):
        if isinstance(part, FunctionCall) and part.over is not None and part.over.order_by:
            first = part.over.order_by[0].value
            if not _is_time(first) and source is not None and not _has_window(source):
                return "OVER"
    return None


def _has_window(relation: Relation) -> bool:
    return any(isinstance(part, relational.WindowTable) for part in _inputs(relation))


def _inputs(relation: Relation) -> Iterator[Relation]:
    """Yield a relation and all that it reads outside of subqueries."""
    rest = [relation]
    while rest:
        yield (part := rest.pop())
        rest += relational.parts_of(part)[1]


def _is_unique(block: relational.Select, keys: Iterable[Typed]) -> bool:
    """Return whether no two rows of a block's input have the same values of expressions."""
    source = block.source
    while isinstance(source, relational.Named):
        source = source.input
    if isinstance(source, relational.Values):
        return True  # Flink compares the values
    items = tuple(relational.Item(f"k{number}", key) for number, key in enumerate(keys))
    return bool(
        upsert_keys(
            replace(block, items=items, grouping=None, having=None, distinct=False, qualify=None)
        )
    )


def _parts(expressions: Iterable[Typed]) -> Iterator[Typed]:
    for expression in expressions:
        yield from subexpressions(expression)


def _of_subqueries(expressions: Sequence[Typed], is_changed: IsChanged) -> str | None:
    """Return the operation of a subquery: an anti join, or one within a scalar subquery."""
    for part in _parts(expressions):
        match part:
            case FunctionCall(arguments=arguments) if part.function.name == "NOT IN":
                if any(relational.subqueries_in(argument) for argument in arguments):
                    return "NOT IN"
            case FunctionCall(arguments=(FunctionCall() as inner,)) if part.function.name == "NOT":
                is_semi = inner.function.name in ("IN", "EXISTS")
                if is_semi and relational.subqueries_in(inner):
                    return f"NOT {inner.function.name}"
    scalar = [
        relational.rows_of(value)
        for value in (*expressions, *_arguments_of_scalars(expressions))
        if isinstance(value, Subquery)
    ]
    return next(filter(None, (_find(each, is_changed) for each in scalar)), None)


def _arguments_of_scalars(expressions: Iterable[Typed]) -> Iterator[Typed]:
    """Yield the arguments of functions that do not test for the rows of a subquery."""
    for part in _parts(expressions):
        if isinstance(part, FunctionCall) and part.function.name not in _ROW_TESTS:
            yield from part.arguments
