"""Parts of a block as derived tables: parts of FROM, and subqueries, which are joined.

As in Flink, a scalar subquery is a join with its row, or its rows by the columns of the outer query
that it compares, and a row test (IN, EXISTS) compares the rows of a query that reads no outer
column. The value of a row test that is not a condition of WHERE, as below OR, is that of an outer
join with the distinct rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Final, cast

from schema_core.base.lazy import NamedTuple
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import (
    Constant,
    Function,
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
from schema_core.types import BigIntType, BooleanType

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
_TRUE: Final = Constant(Literal(LiteralKind.BOOLEAN, "TRUE"), BooleanType(nullable=False))
_FALSE: Final = Constant(Literal(LiteralKind.BOOLEAN, "FALSE"), BooleanType(nullable=False))
_UNKNOWN: Final = Constant(Literal(LiteralKind.NULL, "NULL"), BooleanType())
_COUNT_TYPE: Final = BigIntType(nullable=False)
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
    return _call("AND", left, right)


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
        block = substitute_in_block(block, lambda part: _TRUE if _is_always_true(part) else None)
        if not any(map(subqueries_in, expressions_of(block))):
            return block
        return self._with_tests(self._with_values(block))

    # --- row tests -------------------------------------------------------------------------------

    def _with_tests(self, block: Select) -> Select:
        """Return a block whose tests read derived tables, over one source."""
        tests = row_tests(block.where)
        changed: dict[int, Typed] = {}
        for _, call in tests:
            subquery = cast("Subquery", call.arguments[-1])
            rows = rows_of(subquery)
            if call.function.name == "EXISTS" and isinstance(rows, Select) and _is_by_row(rows):
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

    def _with_values(self, block: Select) -> Select:
        """Return a block whose subqueries that are values are joined.

        Return the block itself if one cannot be.
        """
        tests = {id(test.call) for test in row_tests(block.where)}

        def parts(typed: Typed | None) -> dict[int, Subquery | FunctionCall]:
            return {id(part): part for part in _values_in(typed, tests)}

        queries = {
            key: part for typed in expressions_of(block) for key, part in parts(typed).items()
        }
        if not queries:
            return block
        if block.grouping is not None and queries.keys() - parts(block.where).keys():
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
        for key in sorted(queries, key=lambda key: key not in compared):
            match queries[key]:
                case Subquery() as query:
                    joined = self._join(source, query, is_filter=key in compared)
                case FunctionCall(function=Function(name="EXISTS"), arguments=(query,)):
                    joined = self._join_existence(source, rows_of(cast("Subquery", query)))
                case test:
                    joined = self._join_membership(source, test)
            if joined is None:
                return block
            source, values[key] = joined
        return substitute_in_block(
            replace(block, source=source), lambda typed: values.get(id(typed))
        )

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
        above = replace(above, source=replace(named, input=self._with_values(groups)))
        return self._with_values(above)

    def _join(
        self, source: Relation, subquery: Subquery, *, is_filter: bool
    ) -> tuple[Relation, Typed] | None:
        """Return FROM with the rows of a scalar subquery, and its value."""
        rows, alias = rows_of(subquery), self._alias(_SCALAR)
        if not isinstance(rows, Select) or not _is_one_group(rows) or rows.source is None:
            return None
        value = Ref(PART, subquery.type, alias)
        result: Typed = value
        items, conditions = [Item(PART, rows.items[0].expression)], list[Typed]()
        if reads_outer(rows):
            without_rows = _value_without_rows(rows.items[0].expression)
            correlated = _split_equations(rows)
            if without_rows is None or correlated is None:
                return None
            rows, pairs = correlated
            grouping = relational.Grouping(tuple(dict.fromkeys(inner for inner, _ in pairs)))
            rows = replace(rows, grouping=grouping)
            conditions = _add_keys(items, pairs, alias)
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

    # --- values of row tests ---------------------------------------------------------------------

    def _join_existence(self, source: Relation, rows: Relation) -> tuple[Relation, Typed] | None:
        """Return FROM with the keys of the rows that EXISTS tests, and its value."""
        alias, items, conditions = self._alias(_TESTED), [Item(PART, _TRUE)], list[Typed]()
        if reads_outer(rows):
            if not isinstance(rows, Select) or rows.source is None or not _is_by_row(rows):
                return None
            if (correlated := _split_equations(rows)) is None:
                return None
            rows, pairs = correlated
            conditions = _add_keys(items, pairs, alias)
            listed = replace(rows, items=tuple(items), distinct=True)
        else:
            listed = Select(tuple(items), self._rows_of_test(rows), distinct=True)
        if reads_outer(listed):
            return None
        return self._join_listed(source, listed, alias, conditions)

    def _join_membership(
        self, source: Relation, test: FunctionCall
    ) -> tuple[Relation, Typed] | None:
        """Return FROM with the values that IN looks for and their number, and its value."""
        *operands_, query = test.arguments
        rows = rows_of(cast("Subquery", query))
        columns = result_columns(rows)
        if len(operands_) != 1 or len(columns) != 1 or reads_outer(rows):
            return None
        (operand,), (column,) = operands_, columns
        if subqueries_in(operand) or operand.type.nullable() != column.type.nullable():
            return None
        unknown: Typed | None = None
        if operand.type.is_nullable or column.type.is_nullable:
            source, unknown = self._join_counts(source, rows, operand)
        alias, tested = self._alias(_TESTED), self._rows_of_test(rows)
        items = (Item(PART, _TRUE), Item(f"{PART}0", Ref(*column, tested.alias)))
        listed = Select(items, tested, distinct=True)
        condition = _equal(Ref(f"{PART}0", column.type, alias), operand)
        source, value = self._join_listed(source, listed, alias, [condition])
        if unknown is not None:
            arguments = (value, _TRUE, unknown, _UNKNOWN, _FALSE)
            value = FunctionCall(BUILT_IN["CASE"][0], arguments, test.type)
        if test.function.name == "NOT IN":
            value = FunctionCall(BUILT_IN["NOT"][0], (value,), test.type)
        return source, value

    def _join_counts(
        self, source: Relation, rows: Relation, operand: Typed
    ) -> tuple[Relation, Typed]:
        """Return FROM with the number of rows that IN tests, and whether IN is NULL, not FALSE.

        It is NULL for NULL, and if a row has NULL, unless there are no rows.
        """
        alias, tested = self._alias(_SCALAR), self._rows_of_test(rows)
        (column,) = tested.columns
        number, values = (Ref(f"{PART}{place}", _COUNT_TYPE, alias) for place in range(2))
        items = [Item(number.name, _count(_TRUE))]
        tests: list[Typed] = []
        if operand.type.is_nullable:
            tests.append(_call("IS NULL", operand))
        if column.type.is_nullable:
            items.append(Item(values.name, _count(Ref(*column, tested.alias))))
            tests.append(_call("<", values, number))
        counts = Select(tuple(items), tested, grouping=relational.Grouping(()))
        named = Named(counts, alias, counts.columns)
        joined = relational.Join(
            source, named, JoinKind.CROSS, None, (*source.columns, *named.columns)
        )
        is_null = tests[0] if len(tests) == 1 else _call("OR", *tests)
        zero = Constant(Literal(LiteralKind.EXACT, "0"), _COUNT_TYPE)
        return joined, both(_call("<>", number, zero), is_null)

    def _join_listed(
        self, source: Relation, listed: Select, alias: str, conditions: Collection[Typed]
    ) -> tuple[Relation, Typed]:
        """Return FROM with distinct rows, if they are there, and whether they are."""
        named = Named(self.joined(listed), alias, listed.columns)
        columns = (*source.columns, *_nullable(named.columns))
        joined = relational.Join(source, named, JoinKind.LEFT, all_of(conditions), columns)
        return joined, _call("IS NOT NULL", Ref(PART, BooleanType(), alias))

    def _rows_of_test(self, rows: Relation) -> Named:
        return Named(rows, self._alias(_TESTED), result_columns(rows))


def _values_in(typed: Typed | None, tests: Collection[int]) -> Iterator[Subquery | FunctionCall]:
    """Yield the subqueries of an expression whose value is read, and the row tests with subqueries.

    Those of `tests`, by identity, have no value.
    """
    rest = [] if typed is None else [typed]
    while rest:
        part = rest.pop()
        if isinstance(part, Subquery):
            yield part
            continue
        parts: Sequence[Typed] = operands(part)
        if isinstance(part, FunctionCall) and part.function.name in _ROW_TESTS:
            others = [each for each in parts if not isinstance(each, Subquery)]
            if len(others) < len(parts) and id(part) not in tests:
                yield part
                continue
            parts = others
        rest += parts


def _is_always_true(typed: Typed) -> bool:
    """Return whether an expression is EXISTS of a subquery that always has a row."""
    if not isinstance(typed, FunctionCall) or typed.function.name != "EXISTS":
        return False
    rows = rows_of(cast("Subquery", typed.arguments[0]))
    return isinstance(rows, Select) and _is_one_group(rows)


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


def _split_equations(rows: Select) -> tuple[Select, list[tuple[Typed, Typed]]] | None:
    """Return a block without its equations with outer columns, and their inner and outer sides.

    None if it has other conditions over outer columns.
    """
    own = columns_of(cast("Relation", rows.source))
    equations = [part for part in conjuncts(rows.where) if not _reads_only(part, own)]
    pairs = [sides for part in equations if (sides := _sides_of(part, own)) is not None]
    if len(pairs) < len(equations):
        return None
    rest = [part for part in conjuncts(rows.where) if part not in equations]
    return replace(rows, where=all_of(rest)), pairs


def _add_keys(items: list[Item], pairs: Collection[tuple[Typed, Typed]], alias: str) -> list[Typed]:
    """Add the inner sides of equations to a select list; return the equations with its columns."""
    equations = []
    for place, (inner, outer) in enumerate(pairs):
        items.append(Item(f"{PART}{place}", inner))
        equations.append(_equal(Ref(f"{PART}{place}", inner.type, alias), outer))
    return equations


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
    return _call("=", left, right)


def _call(name: str, *arguments: Typed) -> Typed:
    return FunctionCall(BUILT_IN[name][0], arguments, BooleanType())


def _count(value: Typed) -> Typed:
    return FunctionCall(BUILT_IN["COUNT"][0], (value,), _COUNT_TYPE)


def _nullable(columns: Columns) -> Columns:
    return tuple(Column(name, type_.nullable()) for name, type_ in columns)
