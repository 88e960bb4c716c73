"""The upsert keys of a query: sets of columns of which no two rows have the same values.

Flink derives them for streaming queries (``FlinkRelMdUpsertKeys``), and compares them with the
primary key of the table that a query is written into.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import TypeAlias

from schema_core.expressions.typed import Constant, FunctionCall, Over, Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.relation import Relation
from schema_core.sql.syntax import JoinKind
from schema_core.types import BigIntType, IntType

#: Positions of columns, as sets that are each a key.
Keys: TypeAlias = frozenset[frozenset[int]]

NONE: Keys = frozenset()
#: The key of at most one row.
SINGLE: Keys = frozenset({frozenset()})


def upsert_keys(query: Relation) -> Keys:
    """Return the upsert keys of a query, without views, as positions of its columns.

    A key that is not found is a conservative answer: Flink then requires ON CONFLICT.
    """
    match query:
        case relational.Scan(table=table):
            key = table.schema.primary_key
            if key is None:
                return NONE
            names = [column.name for column in query.columns]
            return frozenset({frozenset(map(names.index, key.columns))})
        case relational.Named(input=input_) | relational.Sort(input=input_):
            return upsert_keys(input_)
        case relational.SetOperation(all=all_) if not all_:
            return frozenset({frozenset(range(len(query.columns)))})
        case relational.Select():
            return _of_block(query)
        case _:
            return NONE


def _of_block(block: relational.Select) -> Keys:
    """Return the keys of a SELECT block, whose items are columns of its sources."""
    items = [item.expression for item in block.items]
    if block.grouping is not None:
        keys = _of_groups(block.grouping, items)
    elif block.source is None:
        return NONE
    else:
        sources = _Sources(block.source)
        inner = sources.keys | _ranked_keys(block, sources)
        inner = _keys_of_semijoins(block.where, inner, sources)
        keys = _project(inner, items, sources)
    fixed = {
        simple
        for simple in map(_fixed_column, relational.conjuncts(block.where))
        if simple is not None
    }
    gone = {place for place, item in enumerate(items) if _simplify(item) in fixed}
    keys = frozenset(key for key in keys if not key & gone)
    if block.distinct:
        varying = {place for place, item in enumerate(items) if not isinstance(item, Constant)}
        keys = keys | {frozenset(varying - _constants(items))}
    return keys


def _constants(items: Iterable[Typed]) -> set[int]:
    return {place for place, item in enumerate(items) if _is_constant(item)}


def _is_constant(item: Typed) -> bool:
    match item:
        case Constant():
            return True
        case FunctionCall(arguments=(inner, *_)) if item.function.name == "CAST":
            return _is_constant(inner)
        case _:
            return False


def _of_groups(grouping: relational.Grouping, items: list[Typed]) -> Keys:
    if grouping.sets is not None:
        return NONE
    return _places(grouping.keys, items)


def _places(wanted: Iterable[Typed], items: list[Typed]) -> Keys:
    """Return the keys of expressions in a SELECT list, which may have one several times."""
    simple = [_simplify(item) for item in items]
    options = [
        [place for place, item in enumerate(simple) if item == expression]
        for expression in map(_simplify, wanted)
        if not _is_constant(expression)
    ]
    return _choices(options)


#: The most keys that are derived from one whose columns are selected several times.
MAX_KEYS = 64


def _choices(options: Sequence[Sequence[int]]) -> Keys:
    """Return the keys with one place of each column; none if a column has no place."""
    return frozenset(map(frozenset, islice(product(*options), MAX_KEYS)))


def _simplify(item: Typed) -> Typed:
    """Return what the optimizer makes of an expression without an effect."""
    match item:
        case FunctionCall(arguments=(inner, *_)) if item.function.name == "COALESCE":
            return _simplify(inner) if not inner.type.is_nullable else item
        case FunctionCall(arguments=(inner, *_)) if item.function.name == "CAST":
            same = inner.type.nullable() == item.type.nullable()
            return _simplify(inner) if same else item
        case FunctionCall(arguments=(inner, Constant() as constant)):
            is_zero = getattr(constant.literal, "text", None) == "0"
            is_sum = item.function.name in {"+", "-"} and isinstance(
                inner.type, IntType | BigIntType
            )
            return _simplify(inner) if is_zero and is_sum else item
        case _:
            return item


class _Sources:
    """The columns of FROM by alias and name, and the keys of the joined rows."""

    def __init__(self, source: Relation) -> None:
        self.columns: dict[tuple[str, str], int] = {}
        self.named: dict[str, relational.Named] = {}
        self.keys: Keys = self._visit(source)

    def position(self, typed: Typed) -> int | None:
        """Return the position of a column; None for another expression."""
        simple = _simplify(typed)
        if not isinstance(simple, Ref):
            return None
        return self.columns.get((simple.relation or "", simple.name))

    def _visit(self, source: Relation) -> Keys:
        match source:
            case relational.Named(alias=alias, columns=columns):
                first = len(self.columns)
                self.named[alias] = source
                for place, column in enumerate(columns):
                    self.columns.setdefault((alias, column.name), first + place)
                return _shift(upsert_keys(source), first)
            case relational.Join():
                return self._join(source)
            case _:
                return NONE

    def _join(self, join: relational.Join) -> Keys:
        left = self._visit(join.left)
        middle = len(self.columns)
        right = self._visit(join.right)
        pairs = [
            sorted(pair)
            for pair in self._equations(join.condition)
            if min(pair) < middle <= max(pair)
        ]
        left_on = frozenset(pair[0] for pair in pairs)
        right_on = frozenset(pair[1] for pair in pairs)
        # rows of a key meet in one task only if the join is by columns of the key
        left = frozenset(key for key in left if key >= left_on) if pairs else NONE
        right = frozenset(key for key in right if key >= right_on) if pairs else NONE
        left_unique = any(key <= left_on for key in left)
        right_unique = any(key <= right_on for key in right)
        keys = {left_key | right_key for left_key in left for right_key in right}
        if join.kind in (JoinKind.INNER, JoinKind.COMMA, JoinKind.CROSS):
            keys |= left if right_unique else set()
            keys |= right if left_unique else set()
        elif join.kind is JoinKind.LEFT and right_unique:
            keys |= left
        elif join.kind is JoinKind.RIGHT and left_unique:
            keys |= right
        return frozenset(keys)

    def _equations(self, condition: Typed | None) -> Iterable[tuple[int, int]]:
        rest = [] if condition is None else [condition]
        while rest:
            match rest.pop():
                case FunctionCall(arguments=arguments) as call if call.function.name == "AND":
                    rest += arguments
                case FunctionCall(arguments=(left, right)) as call if call.function.name == "=":
                    places = self.position(left), self.position(right)
                    if places[0] is not None and places[1] is not None:
                        yield places[0], places[1]


def _shift(keys: Keys, first: int) -> Keys:
    return frozenset(frozenset(place + first for place in key) for key in keys)


def _project(keys: Keys, items: list[Typed], sources: _Sources) -> Keys:
    """Return the keys whose columns are all selected, by their places in the SELECT list."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        if (position := sources.position(item)) is not None:
            places[position].append(place)
    return frozenset(
        projected
        for key in keys
        for projected in _choices([places[column] for column in sorted(key)])
    )


def _ranked_keys(block: relational.Select, sources: _Sources) -> Keys:
    """Return the keys of rows that a condition on their ROW_NUMBER() keeps.

    They are the columns of the partition and the number, and of first rows the partition alone.
    """
    keys: set[frozenset[int]] = set()
    for rank, operator, limit in filter(None, map(_limit_of, relational.conjuncts(block.where))):
        partitions, number = _partitions_of_rank(rank, sources)
        if operator != "=":
            keys |= {key | {number} for key in partitions}
        if isinstance(limit, Constant) and getattr(limit.literal, "text", None) == "1":
            keys |= {key for key in partitions if key}
    return frozenset(keys)


def _limit_of(conjunct: Typed) -> tuple[Ref, str, Typed] | None:
    """Return a column, the operator and the greatest value to which a condition limits it."""
    operators: tuple[str, ...]
    match conjunct:
        case FunctionCall(arguments=(Ref() as rank, *_, limit)) as call:
            operators = ("=", "<", "<=", "BETWEEN")
        case FunctionCall(arguments=(limit, Ref() as rank)) as call:
            operators = (">", ">=")
        case _:
            return None
    return (rank, call.function.name, limit) if call.function.name in operators else None


def _partitions_of_rank(rank: Ref, sources: _Sources) -> tuple[Keys, int]:
    """Return the keys of the partitions of a row number, none for another column, and its place."""
    named = sources.named.get(rank.relation or "")
    if named is None or not isinstance(named.input, relational.Select):
        return NONE, -1
    block = named.input
    names = [column.name for column in named.columns]
    match block.items[names.index(rank.name)].expression:
        case FunctionCall(over=Over() as over) as call if call.function.name == "ROW_NUMBER":
            first = sources.columns[named.alias, names[0]]
            keys = _places(over.partition_by, [item.expression for item in block.items])
            return _shift(keys, first), first + names.index(rank.name)
        case _:
            return NONE, -1


def _fixed_column(conjunct: Typed) -> Typed | None:
    """Return a column that a predicate compares with a constant: the optimizer replaces it."""
    match conjunct:
        case FunctionCall(arguments=(Ref() as column, Constant())) as call:
            return column if call.function.name == "=" else None
        case _:
            return None


def _keys_of_semijoins(where: Typed | None, keys: Keys, sources: _Sources) -> Keys:
    """Return the keys that have the columns by which IN and EXISTS join."""
    for conjunct in relational.conjuncts(where):
        subqueries = relational.subqueries_in(conjunct)
        if not subqueries:
            continue
        read = [
            column
            for subquery in subqueries
            for column in relational.outer_columns(relational.rows_of(subquery))
        ]
        if isinstance(conjunct, FunctionCall) and conjunct.function.name in {"IN", "NOT IN"}:
            read += [argument for argument in conjunct.arguments if isinstance(argument, Ref)]
        on = {place for place in map(sources.position, read) if place is not None}
        keys = frozenset(key for key in keys if key >= on)
    return keys
