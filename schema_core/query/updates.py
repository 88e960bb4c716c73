"""Which operation of a streaming query updates rows that it has returned before.

The rules are those of the changelog modes that Flink's planner infers for streaming queries
(``FlinkChangelogModeInferenceProgram``). `find_update` does not return an operation that Flink may
simplify, such as a join with a unique right side, so that no query is refused that Flink runs;
`adds_rows` counts it as one that updates rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from schema_core.base.lazy import NamedTuple
from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import Constant, Function, FunctionCall, Ref, Typed
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.aggregation import AUXILIARY, ROW_WINDOW
from schema_core.query.rankings import ROW_NUMBERS, first_rows, reference
from schema_core.query.relation import (
    Relation,
    Scan,
    columns_read,
    conjuncts,
    subexpressions,
    without_common_tables,
)
from schema_core.query.upsert_keys import upsert_keys
from schema_core.query.window_bounds import bounds_in, has_bounds
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
from schema_core.types import (
    MAX_LENGTH,
    LocalZonedTimestampType,
    TimestampKind,
    TimestampType,
    VarCharType,
)

#: The function of the kind of a row, such as ``+U``, where a query returns changes.
KIND_OF_ROW: Final = Function(
    "$KIND", (), returns=lambda _: VarCharType(MAX_LENGTH, nullable=False), deterministic=False
)

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
    return _find(query, _Rules(is_changed))


def adds_rows(relation: Relation) -> bool:
    """Return whether a relation without views or tables of changes only adds rows, as in Flink."""
    try:
        relation = without_common_tables(relation)
    except UnsupportedError:
        return False
    return _find(relation, _Rules(lambda _: False, is_exact=True)) is None


class _Rules(NamedTuple):
    is_changed: IsChanged
    #: whether operations count that Flink may simplify
    is_exact: bool = False


def _find(relation: Relation | None, rules: _Rules) -> str | None:
    match relation:
        case Scan():
            path = relation.table.identifier.as_summary_string()
            return f"the table {path}" if rules.is_changed(relation) else None
        case relational.ProcessTable(function="FROM_CHANGELOG", process=None):
            return "FROM_CHANGELOG"
        case relational.ProcessTable():
            return None  # its own mode is not known; TO_CHANGELOG only adds rows
        case relational.Named() | relational.Sample() | relational.WindowTable():
            return _find(relation.input, rules)
        case relational.Join():
            return _of_join(relation, rules)
        case relational.SetOperation(operator=operator, all=all_):
            inner = _find(relation.left, rules) or _find(relation.right, rules)
            is_union = operator == "UNION" and all_
            return inner if inner or is_union else operator + " ALL" * all_
        case relational.Sort(fetch=0):
            return None
        case relational.Sort():
            is_top = relation.keys and (relation.fetch is not None or relation.offset is not None)
            return "ORDER BY with LIMIT" if is_top else _find(relation.input, rules)
        case relational.Select():
            return _of_block(relation, rules)
        case _:
            return None


def _of_join(join: relational.Join, rules: _Rules, *, is_filtered: bool = False) -> str | None:
    left = _find(join.left, rules)
    if left is not None or relational.adds_elements(join) or _is_lookup(join.right):
        return left
    right = _find(join.right, rules)
    if join.condition is not None and relational.subqueries_in(join.condition):
        return "a subquery"
    # joins of windows and within time bounds wait; WHERE may remove what an outer join adds
    is_windowed = any(map(_has_window, (join.left, join.right)))
    is_regular = not is_windowed and not _compares_times(join.condition)
    is_unique = any(map(upsert_keys, (join.left, join.right)))
    is_false = isinstance(join.condition, Constant) and join.condition.literal == _FALSE
    may_be_simpler = not rules.is_exact and (is_filtered or is_unique or is_false)
    if right or join.kind not in _OUTER or may_be_simpler or not is_regular:
        return right
    return f"{join.kind.value} JOIN"


def _is_lookup(relation: Relation) -> bool:
    """Return whether a relation is the versioned or looked up side of a join."""
    while isinstance(relation, relational.Named):
        relation = relation.input
    return isinstance(relation, relational.Snapshot)


def _compares_times(condition: Typed | None) -> bool:
    """Return whether a condition bounds time attributes of several relations by each other."""
    bounds = [
        2 if part.function.name in ("=", "BETWEEN") else 1
        for part in conjuncts(condition)
        if isinstance(part, FunctionCall)
        and len({column.relation for column in columns_read(part) if _is_time(column)}) > 1
    ]
    return sum(bounds) > 1


def _is_first_row(condition: Typed) -> bool:
    """Return whether QUALIFY keeps the rows with ROW_NUMBER 1, which Flink only adds."""
    match condition:
        case FunctionCall(function=function, arguments=(FunctionCall() as number, value)):
            is_one = isinstance(value, Constant) and getattr(value.literal, "text", None) == "1"
            return is_one and (function.name, number.function.name) == ("=", "ROW_NUMBER")
        case _:
            return False


def _is_time(column: relational.Column | Typed) -> bool:
    return (
        isinstance(column.type, TimestampType | LocalZonedTimestampType)
        and column.type.kind is not TimestampKind.REGULAR
    )


def _of_block(block: relational.Select, rules: _Rules) -> str | None:
    if isinstance(block.where, Constant) and block.where.literal == _FALSE:
        return None
    if isinstance(block.source, relational.Join):
        inner = _of_join(block.source, rules, is_filtered=block.where is not None)
    else:
        inner = _find(block.source, rules)
    if inner and _groups_windows(block) and not _has_sessions(block.source):
        inner = None  # a window is returned once, whatever changes have arrived before
    expressions = list(relational.expressions_of(block))
    ranking = first_rows(block)
    if inner:
        return inner
    if block.qualify is not None and _is_first_row(block.qualify) and not rules.is_exact:
        return None
    if block.qualify is not None:
        return "ROW_NUMBER"
    if (ranking is None or ranking.descending) and _selects_by_rank(block):
        return "ROW_NUMBER"
    return _of_subqueries(block, expressions, rules) or _of_rows(block, expressions, rules)


def _groups_windows(block: relational.Select) -> bool:
    """Return whether each row of a block is that of a window, which is returned once."""
    grouping = block.grouping
    if grouping is None:
        items = [item.expression for item in block.items]
        return block.distinct and _has_bounds(block.source, items)
    is_group_window = any(
        (isinstance(key, FunctionCall) and key.function.name in _GROUP_WINDOWS)
        or (isinstance(key, Ref) and key.name == ROW_WINDOW)
        for key in grouping.keys
    )
    return is_group_window or _has_bounds(block.source, grouping.keys)


def _has_sessions(source: Relation | None) -> bool:
    """Return whether FROM reads sessions, which Flink groups like other rows that are updated."""
    parts = () if source is None else _inputs(source)
    return any(
        isinstance(part, relational.WindowTable) and part.function == "SESSION" for part in parts
    )


def _of_rows(block: relational.Select, expressions: Sequence[Typed], rules: _Rules) -> str | None:
    """Return the operation of a block that needs several of its input's rows."""
    grouping, source = block.grouping, block.source
    if _groups_windows(block):
        return None
    if grouping is not None:
        is_grouped = bool(grouping.keys) or grouping.sets is not None
        counts = any(
            isinstance(part, FunctionCall) and part.function.name == "COUNT"
            for part in _parts(expressions)
        )
        is_unique = is_grouped and not counts and _is_unique(block, grouping.keys, rules)
        return None if is_unique else "GROUP BY" if is_grouped else "an aggregate"
    if block.distinct:
        items = [item.expression for item in block.items]
        is_unique = source is None or _is_unique(block, items, rules)
        return None if is_unique else "SELECT DISTINCT"
    for part in _parts(expressions):
        if isinstance(part, FunctionCall) and part.over is not None and part.over.order_by:
            first = part.over.order_by[0].value
            if source is None or _has_window(source):
                continue
            if not _is_time(first) or not _keeps_times(source, first, block.where):
                return "OVER"
    return None


def _keeps_times(source: Relation, time: Typed, where: Typed | None = None) -> bool:
    """Return whether a time attribute of FROM is one of its result, as in Flink.

    Joins without bounds of the rowtimes, which `where` may have, and versions have none.
    """
    if not isinstance(time, Ref):
        return True
    match source:
        case relational.Join(left=left, right=right):
            is_right = time.relation in _aliases(right)
            if relational.adds_elements(source) or _is_lookup(right):
                return not is_right and _keeps_times(left, time)
            conditions = _compares_times(source.condition) or _compares_times(where)
            return conditions and _keeps_times(right if is_right else left, time)
        case relational.Named(input=relational.Select() as block, columns=columns):
            places = {column.name: place for place, column in enumerate(columns)}
            if time.name not in places or block.source is None:
                return True
            below = block.items[places[time.name]].expression
            return _keeps_times(block.source, below, block.where)
        case _:
            return True


def _aliases(source: Relation) -> frozenset[str]:
    """Return the aliases of the sources of FROM."""
    leaves = relational.leaves_of(source)
    return frozenset(leaf.alias for leaf in leaves if isinstance(leaf, relational.Named))


def _selects_by_rank(block: relational.Select) -> bool:
    """Return whether WHERE compares the number of a row, except one within a window."""
    named = block.source
    inner = named.input if isinstance(named, relational.Named) else None
    if not isinstance(named, relational.Named) or not isinstance(inner, relational.Select):
        return False
    numbers = {
        (named.alias, column.name): item.expression
        for column, item in zip(named.columns, inner.items, strict=True)
        if isinstance(item.expression, FunctionCall)
        and item.expression.function.name in ROW_NUMBERS
    }
    compared = {
        reference(column) for part in conjuncts(block.where) for column in columns_read(part)
    }
    return any(
        number.over is not None and not _has_bounds(inner.source, number.over.partition_by)
        for name, number in numbers.items()
        if name in compared
    )


def _has_bounds(source: Relation | None, expressions: Iterable[Typed]) -> bool:
    """Return whether expressions over FROM have both bounds of a window."""
    return source is not None and has_bounds(bounds_in(source), expressions)


def _has_window(relation: Relation) -> bool:
    return any(isinstance(part, relational.WindowTable) for part in _inputs(relation))


def _inputs(relation: Relation) -> Iterator[Relation]:
    """Yield a relation and all that it reads outside of subqueries."""
    rest = [relation]
    while rest:
        yield (part := rest.pop())
        rest += relational.parts_of(part)[1]


def _is_unique(block: relational.Select, keys: Iterable[Typed], rules: _Rules) -> bool:
    """Return whether no two rows of a block's input have the same values of expressions."""
    source = block.source
    while isinstance(source, relational.Named):
        source = source.input
    if isinstance(source, relational.Values) and not rules.is_exact:
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


def _of_subqueries(
    block: relational.Select, expressions: Sequence[Typed], rules: _Rules
) -> str | None:
    """Return the operation of a subquery: a join other than a semi join, or one within it."""
    semi_joins = {id(part) for part in conjuncts(block.where)}
    for part in _parts(expressions):
        if not isinstance(part, FunctionCall) or part.function.name not in _ROW_TESTS:
            continue
        name = part.function.name
        queries = [
            relational.rows_of(each) for each in part.arguments if isinstance(each, Subquery)
        ]
        if queries and (name == "NOT IN" or id(part) not in semi_joins):
            return name
        if name == "EXISTS" and not any(True for _ in relational.outer_columns(queries[0])):
            return name  # of a count of its rows
        inner = next(filter(None, (_find(each, rules) for each in queries)), None)
        if inner is not None:
            return inner
    values = (*expressions, *_arguments_of_scalars(expressions))
    return "a subquery" if any(isinstance(value, Subquery) for value in values) else None


def _arguments_of_scalars(expressions: Iterable[Typed]) -> Iterator[Typed]:
    """Yield the arguments of functions that do not test for the rows of a subquery."""
    for part in _parts(expressions):
        if isinstance(part, FunctionCall) and part.function.name not in _ROW_TESTS:
            yield from part.arguments
