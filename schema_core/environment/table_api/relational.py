"""Queries built step by step: each function adds one operation of the Table API to a query.

A query is a syntax tree; its columns are known by name, so that every name in an expression means
one column. What an operation calls its columns is as in Flink's Table API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, show
from schema_core.errors import SchemaError, similar
from schema_core.expressions.fluent import AliasedExpression, Expression, SortedExpression
from schema_core.expressions.fluent_functions import ColumnRange, ColumnSelection
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.signatures import FunctionKind
from schema_core.schema.rules import repeated
from schema_core.sql import syntax
from schema_core.sql.syntax import Aliased as AliasedSource
from schema_core.sql.syntax import (
    Call,
    Derived,
    Join,
    JoinKind,
    Literal,
    LiteralKind,
    Name,
    Ordered,
    Query,
    Select,
    SelectItem,
    SetOperation,
    SortKey,
    Source,
    Star,
    TableFunction,
    TableName,
    Unnest,
    walk,
)
from schema_core.sql.type_name import data_type

ALL = SelectItem(Star())


class NamedExpression(NamedTuple):
    """An expression of a SELECT list, with its name."""

    name: str
    expression: syntax.Expression


# --- arguments -----------------------------------------------------------------------------


def expression_of(given: object) -> syntax.Expression:
    """Return the syntax tree of an expression.

    Raises:
        SchemaError: with code `not-an-expression` for anything else.
    """
    if isinstance(given, Expression | AliasedExpression):
        return given.syntax
    hint = f"for a column write col({given!r})" if isinstance(given, str) else None
    raise SchemaError(f"{show(given)} is not an expression", code="not-an-expression", hint=hint)


def columns_of(
    given: Iterable[object], known: list[str], numbered: Collection[str] = ()
) -> list[NamedExpression]:
    """Return the columns of a list of expressions, with their names.

    Calls of the functions `numbered` are named as aggregates are.

    Raises:
        SchemaError: with code `not-an-expression`, `unknown-column`, `duplicate-column`, or
            `missing-columns` for an empty list.
    """
    trees: list[tuple[str | None, syntax.Expression]] = []
    for one in given:
        if isinstance(one, ColumnSelection | ColumnRange):
            trees += [(name, Name((name,))) for name in one.of(known)]
        elif expression_of(one) == Name(("*",)):
            trees += [(name, Name((name,))) for name in known]
        else:
            name = one.names[0] if isinstance(one, AliasedExpression) else None
            trees.append((name, expression_of(one)))
    aggregates = list(_aggregates((tree for _, tree in trees), numbered))
    found = [
        NamedExpression(name or name_of(tree, place, aggregates), tree)
        for place, (name, tree) in enumerate(trees)
    ]
    require_different([one.name for one in found])
    return found


def _aggregates(trees: Iterable[syntax.Expression], more: Collection[str]) -> Iterator[Call]:
    """The calls of aggregates in expressions, each once, in the order in which they stand."""
    seen: list[Call] = []
    for tree in trees:
        for node in reversed(list(walk(tree))):
            if not isinstance(node, Call) or node in seen:
                continue
            if _is_aggregate(node) or node.name in more:
                seen.append(node)
                yield node


def _is_aggregate(call: Call) -> bool:
    rows = call.inline if isinstance(call.inline, tuple) else BUILT_IN.get(call.name, ())
    return not call.over and any(row.kind is FunctionKind.AGGREGATE for row in rows)


def name_of(tree: syntax.Expression, place: int, aggregates: Sequence[Call]) -> str:
    """Return the name of an unnamed column, as Flink names it.

    >>> from schema_core.expressions import col
    >>> [name_of(one.syntax, 2, ()) for one in (col("a"), col("a").x, col("a") + 1)]
    ['a', 'a$x', '_c2']
    """
    return _field_name(tree, aggregates) or _cast_name(tree, aggregates) or f"_c{place}"


def _field_name(tree: syntax.Expression, aggregates: Sequence[Call]) -> str | None:
    match tree:
        case Name(parts):
            return "$".join(parts)
        case Call() if tree in aggregates:
            return f"EXPR${aggregates.index(tree)}"
        case Call(name=".", arguments=(inner, Name(parts))):
            outer = _field_name(inner, aggregates)
            return outer and "$".join((outer, *parts))
        case _:
            return None


def _cast_name(tree: syntax.Expression, aggregates: Sequence[Call]) -> str | None:
    match tree:
        case Call(name="CAST", arguments=(inner, syntax.TypeName() as type_)):
            name = _field_name(inner, aggregates)
            target = data_type(type_, as_cast=False).as_summary_string()
            return f"{name}-{target}" if name else None
        case _:
            return None


def require_different(names: Sequence[str]) -> None:
    """Refuse no names, or one that comes twice.

    Raises:
        SchemaError: with code `missing-columns` or `duplicate-column`.
    """
    if not names:
        raise SchemaError("a table requires at least one column", code="missing-columns")
    if twice := repeated(names):
        raise SchemaError(
            f"duplicate column name {twice[0]!r}",
            code="duplicate-column",
            hint="rename one of them with alias(...)",
        )


# --- blocks --------------------------------------------------------------------------------


def block(query: Query) -> Select:
    """A SELECT of all columns of the query, to which clauses may be added."""
    match query:
        case Select(
            items=(SelectItem(expression=Star(prefix=())),),
            group_by=None, having=None, qualify=None, distinct=False,
        ):  # fmt: skip
            return query
        case _:
            return Select((ALL,), Derived(query))


def source_of(query: Query) -> Source:
    """The query as a source: the table itself where all of one is read."""
    match query:
        case Select(
            items=(SelectItem(expression=Star(prefix=())),),
            source=source, where=None, group_by=None, distinct=False, hints=(),
        ) if source is not None and not isinstance(source, Join):  # fmt: skip
            return source
        case _:
            return Derived(query)


def items(columns: Iterable[NamedExpression]) -> tuple[SelectItem, ...]:
    """The list of a SELECT with these columns; a name is written where it is not the column's."""
    return tuple(
        SelectItem(tree, None if tree == Name((name,)) else name) for name, tree in columns
    )


def select(query: Query, columns: Sequence[NamedExpression]) -> Query:
    """Select columns of a query; successive selections are merged into one SELECT."""
    merged = _merged(query, columns)
    found = query if merged is not None and isinstance(query, Select) else block(query)
    return replace(found, items=items(columns if merged is None else merged))


def _merged(query: Query, columns: Sequence[NamedExpression]) -> list[NamedExpression] | None:
    """Return the columns in terms of the source of the query, or None if that is uncertain.

    It is sure where each is one of its columns, or made of such as are not computed themselves, and
    no computed one is needed twice: it might not give the same twice.
    """
    match query:
        case Select(group_by=None, having=None, qualify=None, distinct=False):
            inner = {item.alias or name_of(item.expression, 0, ()): item for item in query.items}
        case _:
            return None
    if any(
        isinstance(item.expression, Star) or _reads_other_rows(item.expression)
        for item in query.items
    ):
        return None
    plain = {name for name, one in inner.items() if one.expression == Name((name,))}
    taken = [tree.parts[0] for _, tree in columns if isinstance(tree, Name) if len(tree.parts) == 1]
    if any(count > 1 for name, count in Counter(taken).items() if name not in plain):
        return None
    found = []
    for name, tree in columns:
        if tree == Name(("*",)) or _reads_other_rows(tree):
            return None
        if isinstance(tree, Name) and len(tree.parts) == 1 and tree.parts[0] in inner:
            found.append(NamedExpression(name, inner[tree.parts[0]].expression))
        elif all(node.parts[0] in plain for node in walk(tree) if isinstance(node, Name)):
            found.append(NamedExpression(name, tree))
        else:
            return None
    return found


def _reads_other_rows(tree: syntax.Expression) -> bool:
    """Whether an expression looks at more than one row, or at other tables."""
    return any(
        isinstance(node, syntax.Subquery)
        or (isinstance(node, Call) and (node.over is not None or _is_aggregate(node)))
        for node in walk(tree)
    )


#: Queries and tables on one level of a query, each counted as often as it is read.
MAX_BRANCHES = 1_000


def require_shallow(query: Query) -> None:
    """Raise for a query whose nesting exceeds the limits of a parsed statement.

    Raises:
        SchemaError: with code `too-deep`, or `too-wide` for a query that reads others again and
            again.
    """
    level: dict[int, tuple[Query | Source | None, int]] = {id(query): (query, 1)}
    for _ in range(MAX_DEPTH * 2):
        following: dict[int, tuple[Query | Source | None, int]] = {}
        for one, count in level.values():
            for below in _below(one):
                _, times = following.get(id(below), (None, 0))
                following[id(below)] = below, times + count
        level = following
        if not level:
            return
        if sum(count for _, count in level.values()) > MAX_BRANCHES:
            raise SchemaError(
                f"the query reads more than {MAX_BRANCHES:,} queries and tables",
                code="too-wide",
                hint="create a temporary view of a part of it",
            )
    raise SchemaError(
        f"queries are nested more than {MAX_DEPTH} levels deep",
        code="too-deep",
        hint="create a temporary view of a part of it",
    )


def _below(one: Query | Source | None) -> Iterator[Query | Source | None]:
    match one:
        case Select(source=inner) | AliasedSource(source=inner):
            yield inner
        case Derived(query=query) | Ordered(query=query):
            yield query
        case Join(left=left, right=right) | SetOperation(left=left, right=right):
            yield from (left, right)
        case _:
            return


def where(query: Query, condition: syntax.Expression) -> Query:
    """The rows of a query for which a condition holds."""
    found = block(query)
    both = condition if found.where is None else Call("AND", (found.where, condition))
    return replace(found, where=both)


def distinct(query: Query) -> Query:
    """The rows of a query, each once."""
    return replace(block(query), distinct=True)


# --- grouping ------------------------------------------------------------------------------


def grouped(
    query: Query, keys: Sequence[object], known: list[str]
) -> tuple[Query, list[NamedExpression]]:
    """A query that has its grouping keys as columns where they were given names, and the keys.

    Raises:
        SchemaError: with code `duplicate-column` for the name of a column that is there.
    """
    columns, added = [], []
    for place, one in enumerate(keys):
        tree = expression_of(one)
        name = one.names[0] if isinstance(one, AliasedExpression) else name_of(tree, place, ())
        if isinstance(one, AliasedExpression) and tree != Name((name,)):
            added.append(NamedExpression(name, tree))
            tree = Name((name,))
        columns.append(NamedExpression(name, tree))
    if added:
        require_different([*known, *(one.name for one in added)])
        query = select(query, [*add_or_replace(known, ()), *added])
    return query, columns


def group(
    query: Query, keys: Sequence[NamedExpression], columns: Sequence[NamedExpression]
) -> Query:
    """Columns of the groups of a query."""
    return replace(block(query), items=items(columns), group_by=tuple(tree for _, tree in keys))


# --- columns -------------------------------------------------------------------------------


def add_or_replace(known: list[str], added: Iterable[NamedExpression]) -> list[NamedExpression]:
    """The columns that are known, then those that are added; one of a known name replaces it."""
    found = {name: NamedExpression(name, Name((name,))) for name in known}
    return list({**found, **{one.name: one for one in added}}.values())


def renamed(known: list[str], given: Iterable[object]) -> list[NamedExpression]:
    """The columns under new names.

    Raises:
        SchemaError: with code `not-an-expression` for an object that is not a renamed column,
            `unknown-column`, `duplicate-column`.
    """
    new: dict[str, str] = {}
    for one in given:
        match one:
            case AliasedExpression(Name(parts=(old,)), (name,)):
                new[old] = name
            case _:
                raise SchemaError(
                    f"expected a renamed column, got {show(one)}",
                    code="not-an-expression",
                    hint='write col("old").alias("new")',
                )
    for old in new:
        require_known(old, known)
    found = [NamedExpression(new.get(name, name), Name((name,))) for name in known]
    require_different([one.name for one in found])
    return found


def require_known(name: str, known: Sequence[str]) -> None:
    """Raise for a name that is not a column.

    Raises:
        SchemaError: with code `unknown-column`.
    """
    if name not in known:
        raise SchemaError(
            f"there is no column {name!r}", code="unknown-column", hint=similar(name, known)
        )


# --- several tables ------------------------------------------------------------------------


def joined(
    left: Query, right: Source, kind: JoinKind, condition: syntax.Expression | None
) -> Query:
    """Join two tables; without a condition, all pairs of rows."""
    if condition is None and kind is JoinKind.INNER:
        return Select((ALL,), Join(source_of(left), right, JoinKind.CROSS))
    held = condition or Literal(LiteralKind.BOOLEAN, "TRUE")
    return Select((ALL,), Join(source_of(left), right, kind, condition=held))


def lateral_call(given: object, left: Query) -> Source:
    """The rows that a table function gives for each row of a query.

    Raises:
        SchemaError: with code `not-an-expression` for anything but a call.
    """
    tree = expression_of(given)
    if not isinstance(tree, Call):
        problem = f"expected a table function call, got {show(given)}"
        raise SchemaError(problem, code="not-an-expression")
    source = TableFunction(tree, lateral=True)
    names = given.names if isinstance(given, AliasedExpression) else ()
    # a query without an alias is EXPR$0
    alias = "EXPR$0" if isinstance(source_of(left), TableName) else "EXPR$1"
    return AliasedSource(source, alias, names) if names else source


def flat_mapped(query: Query, call: Call) -> Query:
    """The rows that a table function gives for each row of a query."""
    source = AliasedSource(TableFunction(call, lateral=True), MAPPED, ())
    joined_ = Join(source_of(query), source, JoinKind.CROSS)
    return Select((SelectItem(Star((MAPPED,))),), joined_)


#: The alias of a table function whose rows replace those of a query.
MAPPED = "flat_map"


def fields_of(column: str, fields: Sequence[str], aliases: Sequence[str]) -> list[NamedExpression]:
    """The fields of a column as columns, with aliases if there are any.

    Raises:
        SchemaError: with code `alias-count-mismatch`.
    """
    trees = [Name((column, field)) for field in fields] or [Name((column,))]
    if aliases and len(aliases) != len(trees):
        raise SchemaError(
            f"{len(aliases)} aliases given for {len(trees)} fields", code="alias-count-mismatch"
        )
    names = aliases or ["$".join(tree.parts) for tree in trees]
    return [NamedExpression(name, tree) for name, tree in zip(names, trees, strict=True)]


def unnest_emitted(query: Query, keys: Sequence[str], names: Sequence[str]) -> Query:
    """The keys of a query, each with the rows in the array of its last column, ``TMP_0``."""
    rows = AliasedSource(Unnest((Name(("TMP_0",)),), lateral=True), MAPPED, tuple(names))
    columns = [NamedExpression(name, Name((name,))) for name in (*keys, *names)]
    return Select(items(columns), Join(Derived(query), rows, JoinKind.CROSS))


def set_operation(operator: str, every: bool, left: Query, right: Query) -> Query:
    """The rows of two tables of the same columns, put together."""
    return SetOperation(operator, every, _operand(left), _operand(right))


def _operand(query: Query) -> Query:
    return Select((ALL,), Derived(query)) if isinstance(query, Ordered | SetOperation) else query


# --- order and limits ----------------------------------------------------------------------


def ordered(query: Query, given: Iterable[object]) -> Query:
    """The rows of a query in an order."""
    keys = tuple(
        SortKey(one.syntax, one.descending) if isinstance(one, SortedExpression)
        else SortKey(expression_of(one))
        for one in given
    )  # fmt: skip
    return Ordered(block(query), keys) if keys else query


def limited(query: Query, *, offset: int | None = None, fetch: int | None = None) -> Query:
    """The rows of a query without the first ones, or only so many.

    Raises:
        SchemaError: with code `invalid-row-count` for a number below 0, or where one was set
            before.
    """
    for number in (offset, fetch):
        if number is not None and (type(number) is not int or not 0 <= number < 10**MAX_DIGITS):
            raise SchemaError(f"{show(number)} is not a number of rows", code="invalid-row-count")
    found = query if isinstance(query, Ordered) else Ordered(query)
    if found.fetch is not None or (offset and found.offset is not None):
        raise SchemaError("the number of rows is already limited", code="invalid-row-count")
    return replace(
        found,
        offset=found.offset if offset is None else Literal(LiteralKind.EXACT, str(offset)),
        fetch=None if fetch is None else Literal(LiteralKind.EXACT, str(fetch)),
    )
