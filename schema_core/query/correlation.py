"""Correlated subqueries: which columns of the enclosing blocks a query reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, TypeAlias, assert_never, cast

from schema_core.expressions.signatures import FunctionKind
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, children
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind

#: Aliases and names of columns.
Names: TypeAlias = frozenset[tuple[str, str]]


def columns_of(source: relational.Relation | None) -> Names:
    """Return the columns that the expressions over a source can read, by alias and name."""
    found: set[tuple[str, str]] = set()
    rest = [source]
    while rest:
        match rest.pop():
            case relational.Join(left=left, right=right):
                rest += [left, right]
            case relational.Named(alias=alias, columns=columns):
                found |= {(alias, column.name) for column in columns}
            case _:
                continue
    return frozenset(found)


def adds_elements(join: relational.Join) -> bool:
    """Return whether a join adds each element of a collection to a row: UNNEST joined ON TRUE.

    The rows of a table function are such elements, too. LEFT JOIN keeps a row without elements.
    """
    right, condition = join.right, join.condition
    is_true = isinstance(condition, Constant) and condition.literal == TRUE
    return (
        isinstance(right, relational.Named)
        and right.lateral
        and isinstance(right.input, relational.Unnest | relational.FunctionTable)
        and join.kind in (JoinKind.INNER, JoinKind.LEFT)
        and is_true
    )


#: The condition of a join of all rows.
TRUE: Final = Literal(LiteralKind.BOOLEAN, "TRUE")


def operands(typed: Typed) -> tuple[Typed, ...]:
    """Return the expressions directly below this one, those of FILTER and OVER included."""
    if not isinstance(typed, FunctionCall):
        return children(typed)
    found = list(typed.arguments)
    if typed.filter is not None:
        found.append(typed.filter)
    if typed.over is not None:
        found += [*typed.over.partition_by, *(key.value for key in typed.over.order_by)]
    return tuple(found)


def subexpressions(typed: Typed) -> Iterator[Typed]:
    """Yield an expression and all that is below it, but not what its subqueries consist of."""
    rest = [typed]
    while rest:
        one = rest.pop()
        yield one
        rest.extend(operands(one))


def subqueries_in(typed: Typed) -> list[Subquery]:
    """Return the subqueries of an expression, without those within them."""
    return [
        subexpression
        for subexpression in subexpressions(typed)
        if isinstance(subexpression, Subquery)
    ]


def columns_read(typed: Typed, keys: Collection[Typed] = ()) -> Iterator[Ref]:
    """Yield the columns that an expression reads, subqueries included, outside of `keys`."""
    rest = [typed]
    while rest:
        one = rest.pop()
        if keys and one in keys:
            continue
        match one:
            case Ref(relation=relation) if relation:
                yield one
            case Subquery():
                yield from outer_columns(rows_of(one), keys)
            case _:
                rest.extend(operands(one))


def outer_columns(query: relational.Relation, keys: Collection[Typed] = ()) -> Iterator[Ref]:
    """Yield the columns of enclosing blocks that a query reads, outside of `keys`.

    Chains of joins and set operations are long: only blocks are read recursively.
    """
    rest = [query]
    while rest:
        expressions, inputs, own = parts_of(rest.pop())
        for expression in expressions:
            yield from (item for item in columns_read(expression, keys) if not is_own(item, own))
        if not own:
            rest += inputs
            continue
        for below in inputs:
            yield from (column for column in outer_columns(below, keys) if not is_own(column, own))


def is_own(column: Ref, own: Names) -> bool:
    """Whether a column belongs to the sources with these columns."""
    return (column.relation or "", column.name) in own


def rows_of(subquery: Subquery) -> relational.Relation:
    """Return the relation of a query used as a value."""
    return cast("relational.Relation", subquery.rows)


def parts_of(query: relational.Relation) -> tuple[list[Typed], list[relational.Relation], Names]:
    """The expressions and inputs of a query, and the columns that these can read."""
    match query:
        case relational.Scan() | relational.CommonScan():
            return [], [], frozenset()
        case (
            relational.Named(input=below)
            | relational.WindowTable(input=below)
            | relational.Sample(input=below)
        ):
            return [], [below], frozenset()
        case relational.ProcessTable(input=below) | relational.Match(input=below):
            return [], [below], frozenset()
        case relational.Join(left=left, right=right, condition=condition):
            return [] if condition is None else [condition], [left, right], frozenset()
        case relational.Unnest(collection=collection):
            return [collection], [], frozenset()
        case relational.FunctionTable(call=call):
            return [call], [], frozenset()
        case relational.Select():
            inputs = [] if query.source is None else [query.source]
            return list(expressions_of(query)), inputs, columns_of(query.source)
        case relational.Values(rows=rows):
            return [value for row in rows for value in row], [], frozenset()
        case relational.SetOperation(left=left, right=right):
            return [], [left, right], frozenset()
        case relational.Sort(input=below, keys=keys):
            own = columns_of(below.source) if isinstance(below, relational.Select) else frozenset()
            return [key.expression for key in keys], [below], own
        case relational.With(tables=tables, input=below):
            return [], [*(table.relation for table in tables), below], frozenset()
        case _:
            assert_never(query)


def relations_in(query: relational.Relation) -> Iterator[relational.Relation]:
    """Yield a query and all relations in it, subqueries included."""
    rest = [query]
    while rest:
        relation = rest.pop()
        yield relation
        expressions, inputs, _ = parts_of(relation)
        rest += reversed(inputs)
        rest += [rows_of(part) for typed in expressions for part in subqueries_in(typed)]


def calls_in(query: relational.Relation) -> Iterator[FunctionCall]:
    """Yield the function calls of a query, those of its subqueries included."""
    for relation in relations_in(query):
        for expression in parts_of(relation)[0]:
            for part in subexpressions(expression):
                if isinstance(part, FunctionCall):
                    yield part


def expressions_of(block: relational.Select) -> Iterator[Typed]:
    """Yield the expressions of all clauses of a block."""
    yield from (item.expression for item in block.items)
    yield from block.grouping.keys if block.grouping is not None else ()
    for condition in (block.where, block.having, block.qualify):
        if condition is not None:
            yield condition


def is_aggregate(typed: Typed) -> bool:
    """Whether an expression is an aggregate over the rows of a group."""
    return (
        isinstance(typed, FunctionCall)
        and typed.function.kind is FunctionKind.AGGREGATE
        and typed.over is None
    )


def subqueries_of_group(typed: Typed, keys: Collection[Typed]) -> Iterator[tuple[Subquery, bool]]:
    """Yield the subqueries in an expression over groups that are computed once for each group.

    Those within aggregates are computed for each row, those within the keys before the rows are
    grouped. The flag is set for a subquery that is used as a value, not as rows.
    """
    rest = [(typed, True)]
    while rest:
        one, is_value = rest.pop()
        if one in keys or is_aggregate(one):
            continue
        if isinstance(one, Subquery):
            yield one, is_value
        below = operands(one)
        rows = _rows_argument(one)
        rest += [(operand, operand is not rows) for operand in below]


def _rows_argument(typed: Typed) -> Typed | None:
    """Return the argument whose rows a function reads: that of EXISTS, and the only one of IN."""
    if not isinstance(typed, FunctionCall) or not typed.function.many_rows:
        return None
    return typed.arguments[-1] if len(typed.arguments) <= 2 else None
