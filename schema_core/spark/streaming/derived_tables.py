"""Parts of a block as derived tables: parts of FROM, and subqueries, which are joined.

As in Flink, a scalar subquery is a join with its row, or its rows by the columns of the outer query
that it compares, and a row test (IN, EXISTS) compares the rows of a query that reads no outer
column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Final, NamedTuple, cast

from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import (
    Constant,
    FunctionCall,
    Ref,
    Typed,
    is_windowed,
    operands,
    substitute,
)
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.rankings import reference
from schema_core.query.relation import (
    Column,
    Columns,
    Item,
    Named,
    Names,
    Relation,
    Select,
    columns_of,
    columns_read,
    conjuncts,
    expressions_of,
    is_aggregate,
    is_own,
    joins_in,
    leaves_of,
    result_columns,
    rows_of,
    subexpressions,
    subqueries_in,
    substitute_in_block,
)
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.streaming.block_keys import MEMBERSHIPS, reads_outer
from schema_core.spark.streaming.group_windows import ANY
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
from schema_core.types import BooleanType

#: Prefix of the names of columns of derived tables.
PART: Final = f"{PREFIX}part"
#: Prefixes of the aliases of parts of FROM, of all of it, of groups, and of rows of subqueries.
_PARTS: Final = f"{PREFIX}parts"
_SOURCE: Final = f"{PREFIX}source"
_GROUPS: Final = f"{PREFIX}groups"
_SCALAR: Final = f"{PREFIX}scalar"
_TESTED: Final = f"{PREFIX}tested"
_COMPARISONS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})
#: Calls that take the rows of a subquery, not its value.
_ROW_TESTS: Final = frozenset({*MEMBERSHIPS, "EXISTS"})
#: Aggregates of one argument that are NULL without rows.
_NULL_WITHOUT_ROWS: Final = frozenset({"SUM", "MIN", "MAX", "AVG", "FIRST_VALUE", "LAST_VALUE"})


class RowTest(NamedTuple):
    """A condition of WHERE that tests for rows of a subquery, and the test in it."""

    condition: Typed
    call: FunctionCall


def row_tests(where: Typed | None) -> list[RowTest]:
    """Return the conditions of WHERE that test for rows of a subquery."""
    tests = []
    for condition in conjuncts(where):
        call = condition
        while isinstance(call, FunctionCall) and call.function.name == "NOT":
            (call,) = call.arguments
        is_test = isinstance(call, FunctionCall) and call.function.name in _ROW_TESTS
        if is_test and isinstance(cast("FunctionCall", call).arguments[-1], Subquery):
            tests.append(RowTest(condition, cast("FunctionCall", call)))
    return tests


def all_of(conditions: Collection[Typed]) -> Typed | None:
    """Return the conjunction of conditions, None without any."""
    result: Typed | None = None
    for condition in conditions:
        result = condition if result is None else both(result, condition)
    return result


def both(left: Typed, right: Typed) -> Typed:
    """Return the conjunction of two conditions."""
    return FunctionCall(BUILT_IN["AND"][0], (left, right), BooleanType())


# --- parts of FROM --------------------------------------------------------------------------------


def with_derived_source(
    block: Select, part: Relation, kept: Collection[Typed] = (), alias: str | None = None
) -> Select:
    """Return a block that reads a part of FROM as a derived table of the columns that are read.

    The derived table of all of FROM has the conditions of WHERE that are not `kept`.
    """
    is_source = part is block.source
    alias = alias or f"{_PARTS}{sum(1 for _ in leaves_of(part))}"
    own, where, inside = columns_of(part), block.where, None
    if is_source:
        where = all_of(kept)
        inside = all_of([each for each in conjuncts(block.where) if each not in kept])
    outside = [*expressions_of(replace(block, where=where))]
    outside += [
        join.condition
        for join in joins_in(block.source)
        if join.condition is not None and join is not part
    ]
    read = {
        reference(ref): ref for typed in outside for ref in columns_read(typed) if is_own(ref, own)
    }
    columns = {
        key: Ref(f"{PART}{place}", ref.type, alias) for place, (key, ref) in enumerate(read.items())
    }
    items = tuple(Item(columns[key].name, ref) for key, ref in read.items())
    inner = Select(items or (ANY,), part, inside)
    named = Named(inner, alias, inner.columns)

    def change(typed: Typed) -> Typed | None:
        if isinstance(typed, Subquery):
            return _with_outer_columns(typed, change)
        return columns.get(reference(typed)) if isinstance(typed, Ref) else None

    source = with_sources(cast("Relation", block.source), {id(part): named}, change)
    return substitute_in_block(replace(block, source=source, where=where), change)


def _with_outer_columns(
    subquery: Subquery, change: Callable[[Typed], Typed | None]
) -> Subquery | None:
    """Return a subquery over a derived table with other outer columns."""
    rows = rows_of(subquery)
    if not isinstance(rows, Select) or rows.where is None:
        return subquery
    return replace(subquery, rows=replace(rows, where=substitute(rows.where, change)))


def with_sources(
    source: Relation,
    replaced: Mapping[int, Relation],
    change: Callable[[Typed], Typed | None] = lambda _: None,
) -> Relation:
    """Return FROM with other sources, by identity, and changed conditions of joins."""
    if id(source) in replaced:
        return replaced[id(source)]
    if not isinstance(source, relational.Join):
        return source
    left, right = (with_sources(side, replaced, change) for side in (source.left, source.right))
    condition = None if source.condition is None else substitute(source.condition, change)
    columns = (*left.columns, *right.columns)
    return replace(source, left=left, right=right, condition=condition, columns=columns)


# --- groups ---------------------------------------------------------------------------------------


def split_groups(block: Select, alias: str) -> tuple[Select, Select]:
    """Return the keys and aggregates of a block with groups, and the block of its result over them.

    The alias is that of the groups in the block of the result, whose WHERE is HAVING.
    """
    grouping = cast("relational.Grouping", block.grouping)
    keys, parts = grouping.keys, dict[Typed, Ref]()

    def change(typed: Typed) -> Typed | None:
        is_grouping = isinstance(typed, FunctionCall) and typed.function.name.startswith("GROUPING")
        if typed in keys or is_aggregate(typed) or is_grouping:
            return parts.setdefault(typed, Ref(f"{PART}{len(parts)}", typed.type, alias))
        return None

    items = tuple(
        item._replace(expression=substitute(item.expression, change)) for item in block.items
    )
    having = None if block.having is None else substitute(block.having, change)
    below = [Item(ref.name, typed) for typed, ref in parts.items()]
    groups = replace(block, items=tuple(below) or block.items, having=None)
    return groups, Select(items, Named(groups, alias, groups.columns), having)


# --- subqueries -----------------------------------------------------------------------------------


def with_joined_subqueries(query: Relation) -> Relation:
    """Return a query whose scalar subqueries are joined.

    The rows of a test are a block over a derived table that reads no outer column. Subqueries that
    are neither remain as they are.
    """
    return _Joins().joined(query)


class _Joins:
    """Numbers the derived tables of a query."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def _alias(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers)}"

    def joined(self, relation: Relation) -> Relation:
        """Return a query with joined subqueries, also within FROM."""
        return relational.substitute_parts(relation, self._change)

    def _change(self, relation: Relation) -> Relation | None:
        if not isinstance(relation, Select) or relation.source is None:
            return None
        block = replace(relation, source=self.joined(relation.source))
        if not any(map(subqueries_in, expressions_of(block))):
            return block
        return self._with_tests(self._with_scalars(block))

    # --- row tests -------------------------------------------------------------------------------

    def _with_tests(self, block: Select) -> Select:
        """Return a block whose tests read derived tables, over one source."""
        tests = row_tests(block.where)
        changed: dict[int, Typed] = {}
        for _, call in tests:
            subquery = cast("Subquery", call.arguments[-1])
            rows = rows_of(subquery)
            if call.function.name == "EXISTS" and isinstance(rows, Select):
                if _is_one_group(rows):
                    return block  # it has a row before its first one arrives
                if _is_by_row(rows):
                    rows = replace(rows, items=(ANY,))
            if (split := self._split_rows(rows)) is None:
                return block
            changed[id(subquery)] = replace(subquery, rows=split)
        if not changed:
            return block
        where = substitute(cast("Typed", block.where), lambda part: changed.get(id(part)))
        block = replace(block, where=where)
        if isinstance(block.source, Named):
            return block
        kept = [test.condition for test in row_tests(where)]
        return with_derived_source(
            block, cast("Relation", block.source), kept, self._alias(_SOURCE)
        )

    def _split_rows(self, rows: Relation) -> Select | None:
        """Return the rows of a test as a block over a derived table without outer columns."""
        if not reads_outer(rows):
            alias = self._alias(_TESTED)
            named = Named(self.joined(rows), alias, result_columns(rows))
            items = (Item(name, Ref(name, type_, alias)) for name, type_ in named.columns)
            return Select(tuple(items), named)
        if not isinstance(rows, Select) or rows.source is None or not _is_by_row(rows):
            return None
        own = columns_of(rows.source)
        kept = [part for part in conjuncts(rows.where) if not _reads_only(part, own)]
        source, alias = rows.source, self._alias(_TESTED)
        split = with_derived_source(replace(rows, distinct=False), source, kept, alias)
        named = cast("Named", split.source)
        if any(map(subqueries_in, expressions_of(split))) or reads_outer(named.input):
            return None
        return replace(split, source=replace(named, input=self.joined(named.input)))

    # --- scalar subqueries -----------------------------------------------------------------------

    def _with_scalars(self, block: Select) -> Select:
        """Return a block with its scalar subqueries joined, or the block if one cannot be."""
        scalars = {id(part): part for typed in expressions_of(block) for part in _scalars_in(typed)}
        if not scalars:
            return block
        if block.grouping is not None:
            filters = {id(part) for part in _scalars_in(block.where)}
            if scalars.keys() > filters or scalars.keys() - filters:
                return self._over_groups(block)
        compared = {
            id(part)
            for condition in conjuncts(block.where)
            if isinstance(condition, FunctionCall) and condition.function.name in _COMPARISONS
            for part in condition.arguments
            if isinstance(part, Subquery)
        }
        values: dict[int, Typed] = {}
        source = cast("Relation", block.source)
        # those of WHERE first: as in Flink, they are joined before those of the select list
        for key in sorted(scalars, key=lambda key: key not in compared):
            joined = self._join(source, scalars[key], is_filter=key in compared)
            if joined is None:
                return block
            source, values[key] = joined

        def change(typed: Typed) -> Typed | None:
            return values.get(id(typed)) if isinstance(typed, Subquery) else None

        return substitute_in_block(replace(block, source=source), change)

    def _over_groups(self, block: Select) -> Select:
        """Return a block with groups whose subqueries are joined with the groups."""
        expressions = [typed for typed in expressions_of(block) if typed is not block.where]
        parts = [part for typed in expressions for part in subexpressions(typed)]
        if block.distinct or any(map(is_windowed, parts)):
            return block
        groups, above = split_groups(block, self._alias(_GROUPS))
        if any(
            subqueries_in(typed) for typed in expressions_of(groups) if typed is not groups.where
        ):
            return block
        subqueries = [query for typed in expressions_of(above) for query in subqueries_in(typed)]
        if any(reads_outer(rows_of(query)) for query in subqueries):
            return block
        named = cast("Named", above.source)
        above = replace(above, source=replace(named, input=self._with_scalars(groups)))
        return self._with_scalars(above)

    def _join(
        self, source: Relation, subquery: Subquery, *, is_filter: bool
    ) -> tuple[Relation, Typed] | None:
        """Return FROM with the rows of a scalar subquery, and its value."""
        rows, alias = rows_of(subquery), self._alias(_SCALAR)
        if not isinstance(rows, Select) or not _is_one_group(rows) or rows.source is None:
            return None
        value = Ref(PART, subquery.type, alias)
        result: Typed = value
        items, conditions = [Item(PART, rows.items[0].expression)], []
        if reads_outer(rows):
            own = columns_of(rows.source)
            equations = [part for part in conjuncts(rows.where) if not _reads_only(part, own)]
            keys = [_sides_of(part, own) for part in equations]
            without_rows = _value_without_rows(rows.items[0].expression)
            if without_rows is None or None in keys:
                return None
            pairs = cast("list[tuple[Typed, Typed]]", keys)
            rest = [part for part in conjuncts(rows.where) if part not in equations]
            grouping = relational.Grouping(tuple(dict.fromkeys(inner for inner, _ in pairs)))
            rows = replace(rows, where=all_of(rest), grouping=grouping)
            for place, (inner, outer) in enumerate(pairs):
                items.append(Item(f"{PART}{place}", inner))
                key = Ref(f"{PART}{place}", inner.type, alias)
                conditions.append(_equal(key, outer))
            if not isinstance(without_rows, Ref):
                arguments = (value, without_rows)
                result = FunctionCall(BUILT_IN["COALESCE"][0], arguments, subquery.type)
                is_filter = False
        rows = replace(rows, items=tuple(items))
        if reads_outer(rows):
            return None
        named = Named(self.joined(rows), alias, rows.columns)
        kind = JoinKind.LEFT
        if is_filter:
            kind = JoinKind.INNER if conditions else JoinKind.CROSS
        added = named.columns if is_filter else _nullable(named.columns)
        columns = (*source.columns, *added)
        return relational.Join(source, named, kind, all_of(conditions), columns), result


def _scalars_in(typed: Typed | None) -> Iterator[Subquery]:
    """Yield the subqueries of an expression whose value is read."""
    rest = [] if typed is None else [typed]
    while rest:
        part = rest.pop()
        if isinstance(part, Subquery):
            yield part
            continue
        parts = operands(part)
        if isinstance(part, FunctionCall) and part.function.name in _ROW_TESTS:
            parts = [each for each in parts if not isinstance(each, Subquery)]
        rest += parts


def _is_by_row(block: Select) -> bool:
    """Return whether the rows of a block are computed from one row of FROM, or are distinct."""
    parts = (part for typed in expressions_of(block) for part in subexpressions(typed))
    return block.grouping is None and block.qualify is None and not any(map(is_windowed, parts))


def _is_one_group(block: Select) -> bool:
    """Return whether a block has one row: an aggregate without GROUP BY."""
    grouping = block.grouping
    return (
        grouping is not None
        and not grouping.keys
        and grouping.sets is None
        and block.having is None
        and block.qualify is None
        and len(block.items) == 1
    )


def _reads_only(typed: Typed, own: Names) -> bool:
    return all(is_own(column, own) for column in columns_read(typed))


def _sides_of(condition: Typed, own: Names) -> tuple[Typed, Typed] | None:
    """Return the inner and the outer side of an equation."""
    if not isinstance(condition, FunctionCall) or condition.function.name != "=":
        return None
    left, right = condition.arguments
    for inner, outer in ((left, right), (right, left)):
        is_outer = not any(is_own(column, own) for column in columns_read(outer))
        if _reads_only(inner, own) and is_outer and not subqueries_in(condition):
            return inner, outer
    return None


def _value_without_rows(typed: Typed) -> Typed | None:
    """Return the value of an aggregate of no rows: 0, or a reference for NULL; None if unknown."""
    if not isinstance(typed, FunctionCall) or typed.over is not None:
        return None
    if typed.function.name == "COUNT":
        return Constant(Literal(LiteralKind.EXACT, "0"), typed.type)
    return Ref(PART, typed.type) if typed.function.name in _NULL_WITHOUT_ROWS else None


def _equal(left: Typed, right: Typed) -> Typed:
    return FunctionCall(BUILT_IN["="][0], (left, right), BooleanType())


def _nullable(columns: Columns) -> Columns:
    return tuple(Column(name, type_.nullable()) for name, type_ in columns)
