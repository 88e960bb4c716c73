"""Queries built step by step: each function adds one operation of the Table API to a query.

A query is a syntax tree whose columns have unique names, given as Flink's Table API does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from schema_core.base.lazy import NamedTuple
from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, show
from schema_core.errors import SchemaError, similar
from schema_core.expressions.fluent import AliasedExpression, Expression, SortedExpression
from schema_core.expressions.fluent_functions import ColumnRange, ColumnSelection
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import FunctionKind
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax
from schema_core.sql.syntax import Aliased as AliasedSource
from schema_core.sql.type_name import data_type

#: Hints of several errors.
CREATE_VIEW_OF_PART = "create a temporary view of a part of it"

ALL = syntax.SelectItem(syntax.Star())


class NamedExpression(NamedTuple):
    """An expression of a SELECT list, with its name."""

    name: str
    expression: syntax.Expression


# --- arguments -----------------------------------------------------------------------------


def require_expression(value: object) -> syntax.Expression:
    """Return the syntax tree of an expression (else `invalid-argument`)."""
    if isinstance(value, Expression | AliasedExpression):
        return value.syntax
    hint = f"for a column write col({value!r})" if isinstance(value, str) else None
    raise SchemaError(f"{show(value)} is not an expression", code="invalid-argument", hint=hint)


def name_columns(
    items: Iterable[object], names: list[str], numbered: Collection[str] = ()
) -> list[NamedExpression]:
    """Return the columns of a list of expressions, with their names.

    Calls of the functions `numbered` are named as aggregates. Errors are `invalid-argument`,
    `unknown-column`, `duplicate-column`, and `missing-columns` for an empty list.
    """
    trees: list[tuple[str | None, syntax.Expression]] = []
    for item in items:
        if isinstance(item, ColumnSelection | ColumnRange):
            trees += [(name, syntax.Name((name,))) for name in item.of(names)]
        elif require_expression(item) == syntax.Name(("*",)):
            trees += [(name, syntax.Name((name,))) for name in names]
        else:
            name = item.names[0] if isinstance(item, AliasedExpression) else None
            trees.append((name, require_expression(item)))
    aggregates = list(_aggregates((tree for _, tree in trees), numbered))
    columns = [
        NamedExpression(name or default_name(tree, place, aggregates), tree)
        for place, (name, tree) in enumerate(trees)
    ]
    require_different([item.name for item in columns])
    return columns


def _aggregates(trees: Iterable[syntax.Expression], more: Collection[str]) -> Iterator[syntax.Call]:
    """Return the distinct calls of aggregates, in their order."""
    seen: list[syntax.Call] = []
    for tree in trees:
        for node in reversed(list(syntax.walk(tree))):
            if not isinstance(node, syntax.Call) or node in seen:
                continue
            if _is_aggregate(node) or node.name in more:
                seen.append(node)
                yield node


def _is_aggregate(call: syntax.Call) -> bool:
    rows = call.inline if isinstance(call.inline, tuple) else BUILT_IN.get(call.name, ())
    return not call.over and any(row.kind is FunctionKind.AGGREGATE for row in rows)


def default_name(tree: syntax.Expression, place: int, aggregates: Sequence[syntax.Call]) -> str:
    """Return an unnamed column's name in Flink.

    >>> from schema_core.expressions import col
    >>> [default_name(item.syntax, 2, ()) for item in (col("a"), col("a").x, col("a") + 1)]
    ['a', 'a$x', '_c2']
    """
    return _field_name(tree, aggregates) or _cast_name(tree, aggregates) or f"_c{place}"


def _field_name(tree: syntax.Expression, aggregates: Sequence[syntax.Call]) -> str | None:
    match tree:
        case syntax.Name(parts):
            return "$".join(parts)
        case syntax.Call() if tree in aggregates:
            return f"EXPR${aggregates.index(tree)}"
        case syntax.Call(name=".", arguments=(inner, syntax.Name(parts))):
            outer = _field_name(inner, aggregates)
            return outer and "$".join((outer, *parts))
        case _:
            return None


def _cast_name(tree: syntax.Expression, aggregates: Sequence[syntax.Call]) -> str | None:
    match tree:
        case syntax.Call(name="CAST", arguments=(inner, syntax.TypeName() as type_)):
            name = _field_name(inner, aggregates)
            target = data_type(type_, as_cast=False).as_summary_string()
            return f"{name}-{target}" if name else None
        case _:
            return None


def require_different(names: Sequence[str]) -> None:
    """Raise for no names (`missing-columns`), or for duplicates (`duplicate-column`)."""
    if not names:
        raise SchemaError("a table requires at least one column", code="missing-columns")
    if twice := duplicate_names(names):
        raise SchemaError(
            f"duplicate column name {twice[0]!r}",
            code="duplicate-column",
            hint="rename one of them with alias(...)",
        )


# --- blocks --------------------------------------------------------------------------------


def block(query: syntax.Query) -> syntax.Select:
    """Return a SELECT of all columns of a query, for more clauses."""
    match query:
        case syntax.Select(
            items=(syntax.SelectItem(expression=syntax.Star(prefix=())),),
            group_by=None, having=None, qualify=None, distinct=False,
        ):  # fmt: skip
            return query
        case _:
            return syntax.Select((ALL,), syntax.Derived(query))


def as_source(query: syntax.Query) -> syntax.Source:
    """Return a query as a source: a table itself if all of it is read."""
    match query:
        case syntax.Select(
            items=(syntax.SelectItem(expression=syntax.Star(prefix=())),),
            source=source, where=None, group_by=None, distinct=False, hints=(),
        ) if source is not None and not isinstance(source, syntax.Join):  # fmt: skip
            return source
        case _:
            return syntax.Derived(query)


def items(columns: Iterable[NamedExpression]) -> tuple[syntax.SelectItem, ...]:
    """Return the SELECT list of columns, with aliases where names are not the columns'."""
    return tuple(
        syntax.SelectItem(tree, None if tree == syntax.Name((name,)) else name)
        for name, tree in columns
    )


def select(query: syntax.Query, columns: Sequence[NamedExpression]) -> syntax.Query:
    """Select columns; successive selections are merged into one SELECT."""
    merged = _merge_selections(query, columns)
    target = query if merged is not None and isinstance(query, syntax.Select) else block(query)
    return replace(target, items=items(columns if merged is None else merged))


def _merge_selections(
    query: syntax.Query, columns: Sequence[NamedExpression]
) -> list[NamedExpression] | None:
    """Return the columns in terms of the query's source, or None if that is uncertain.

    It is certain if each column is a column of the query or an expression of columns that are not
    computed, and no computed column is used twice: it might have two values.
    """
    match query:
        case syntax.Select(group_by=None, having=None, qualify=None, distinct=False):
            inner = {
                item.alias or default_name(item.expression, 0, ()): item for item in query.items
            }
        case _:
            return None
    if any(
        isinstance(item.expression, syntax.Star) or _reads_other_rows(item.expression)
        for item in query.items
    ):
        return None
    plain = {name for name, item in inner.items() if item.expression == syntax.Name((name,))}
    taken = [
        tree.parts[0]
        for _, tree in columns
        if isinstance(tree, syntax.Name)
        if len(tree.parts) == 1
    ]
    if any(count > 1 for name, count in Counter(taken).items() if name not in plain):
        return None
    result = []
    for name, tree in columns:
        if tree == syntax.Name(("*",)) or _reads_other_rows(tree):
            return None
        if isinstance(tree, syntax.Name) and len(tree.parts) == 1 and tree.parts[0] in inner:
            result.append(NamedExpression(name, inner[tree.parts[0]].expression))
        elif all(
            node.parts[0] in plain for node in syntax.walk(tree) if isinstance(node, syntax.Name)
        ):
            result.append(NamedExpression(name, tree))
        else:
            return None
    return result


def _reads_other_rows(tree: syntax.Expression) -> bool:
    return any(
        isinstance(node, syntax.Subquery)
        or (isinstance(node, syntax.Call) and (node.over is not None or _is_aggregate(node)))
        for node in syntax.walk(tree)
    )


#: Queries and tables on one level, each counted as often as it is read.
MAX_BRANCHES = 1_000


def require_shallow(query: syntax.Query) -> None:
    """Raise for a query of more levels, or of more queries on a level, than a parsed statement has.

    The code is `limit-exceeded`.
    """
    level: dict[int, tuple[syntax.Query | syntax.Source | None, int]] = {id(query): (query, 1)}
    for _ in range(MAX_DEPTH * 2):
        following: dict[int, tuple[syntax.Query | syntax.Source | None, int]] = {}
        for tree, count in level.values():
            for below in _iterate_inputs(tree):
                _, times = following.get(id(below), (None, 0))
                following[id(below)] = below, times + count
        level = following
        if not level:
            return
        if sum(count for _, count in level.values()) > MAX_BRANCHES:
            raise SchemaError(
                f"the query reads more than {MAX_BRANCHES:,} queries and tables",
                code="limit-exceeded",
                hint=CREATE_VIEW_OF_PART,
            )
    raise SchemaError(
        f"queries are nested more than {MAX_DEPTH} levels deep",
        code="limit-exceeded",
        hint=CREATE_VIEW_OF_PART,
    )


def _iterate_inputs(
    tree: syntax.Query | syntax.Source | None,
) -> Iterator[syntax.Query | syntax.Source | None]:
    match tree:
        case syntax.Select(source=inner) | AliasedSource(source=inner):
            yield inner
        case syntax.Derived(query=query) | syntax.Ordered(query=query):
            yield query
        case syntax.Join(left=left, right=right) | syntax.SetOperation(left=left, right=right):
            yield from (left, right)
        case _:
            return


def where(query: syntax.Query, condition: syntax.Expression) -> syntax.Query:
    """Return the rows of a query for which a condition holds."""
    rows = block(query)
    both = condition if rows.where is None else syntax.Call("AND", (rows.where, condition))
    return replace(rows, where=both)


def distinct(query: syntax.Query) -> syntax.Query:
    """Return the distinct rows of a query."""
    return replace(block(query), distinct=True)


# --- grouping ------------------------------------------------------------------------------


def separate_keys(
    query: syntax.Query, keys: Sequence[object], names: list[str]
) -> tuple[syntax.Query, list[NamedExpression]]:
    """Return a query with the named grouping keys as columns, and the keys.

    A key with the name of an existing column is a `duplicate-column`.
    """
    columns, added = [], []
    for place, key in enumerate(keys):
        tree = require_expression(key)
        name = key.names[0] if isinstance(key, AliasedExpression) else default_name(tree, place, ())
        if isinstance(key, AliasedExpression) and tree != syntax.Name((name,)):
            added.append(NamedExpression(name, tree))
            tree = syntax.Name((name,))
        columns.append(NamedExpression(name, tree))
    if added:
        require_different([*names, *(key.name for key in added)])
        query = select(query, [*add_or_replace(names, ()), *added])
    return query, columns


def group(
    query: syntax.Query, keys: Sequence[NamedExpression], columns: Sequence[NamedExpression]
) -> syntax.Query:
    """Return columns of the groups of a query."""
    return replace(block(query), items=items(columns), group_by=tuple(tree for _, tree in keys))


# --- columns -------------------------------------------------------------------------------


def add_or_replace(names: list[str], added: Iterable[NamedExpression]) -> list[NamedExpression]:
    """Return columns of these names and the added ones, which replace columns of their names."""
    columns = {name: NamedExpression(name, syntax.Name((name,))) for name in names}
    return list({**columns, **{column.name: column for column in added}}.values())


def rename_columns(names: list[str], renamings: Iterable[object]) -> list[NamedExpression]:
    """Return the columns under new names.

    An object that is not a renamed column is `invalid-argument`; names may be `unknown-column` or
    `duplicate-column`.
    """
    new: dict[str, str] = {}
    for renaming in renamings:
        match renaming:
            case AliasedExpression(syntax.Name(parts=(old,)), (name,)):
                new[old] = name
            case _:
                raise SchemaError(
                    f"expected a renamed column, got {show(renaming)}",
                    code="invalid-argument",
                    hint='write col("old").alias("new")',
                )
    for old in new:
        require_known(old, names)
    columns = [NamedExpression(new.get(name, name), syntax.Name((name,))) for name in names]
    require_different([renaming.name for renaming in columns])
    return columns


def require_known(name: str, names: Sequence[str]) -> None:
    """Raise for a name that is not a column (`unknown-column`)."""
    if name not in names:
        raise SchemaError(
            f"there is no column {name!r}", code="unknown-column", hint=similar(name, names)
        )


# --- several tables ------------------------------------------------------------------------


def join(
    left: syntax.Query,
    right: syntax.Source,
    kind: syntax.JoinKind,
    condition: syntax.Expression | None,
) -> syntax.Query:
    """Join two tables; without a condition, all pairs of rows."""
    if condition is None and kind is syntax.JoinKind.INNER:
        return syntax.Select((ALL,), syntax.Join(as_source(left), right, syntax.JoinKind.CROSS))
    held = condition or syntax.Literal(syntax.LiteralKind.BOOLEAN, "TRUE")
    return syntax.Select((ALL,), syntax.Join(as_source(left), right, kind, condition=held))


def lateral_call(call_or_alias: object, left: syntax.Query) -> syntax.Source:
    """Return the source of a table function that is called for each row of a query.

    Anything but a call is `invalid-argument`.
    """
    tree = require_expression(call_or_alias)
    if not isinstance(tree, syntax.Call):
        problem = f"expected a table function call, got {show(call_or_alias)}"
        raise SchemaError(problem, code="invalid-argument")
    source = syntax.TableFunction(tree, lateral=True)
    names = call_or_alias.names if isinstance(call_or_alias, AliasedExpression) else ()
    # a query without an alias is EXPR$0
    alias = "EXPR$0" if isinstance(as_source(left), syntax.TableName) else "EXPR$1"
    return AliasedSource(source, alias, names) if names else source


def flat_map(query: syntax.Query, call: syntax.Call) -> syntax.Query:
    """Return the rows that a table function returns for each row of a query."""
    source = AliasedSource(syntax.TableFunction(call, lateral=True), MAPPED, ())
    joined_ = syntax.Join(as_source(query), source, syntax.JoinKind.CROSS)
    return syntax.Select((syntax.SelectItem(syntax.Star((MAPPED,))),), joined_)


def process(
    call: syntax.Call,
    table: str,
    place: int,
    query: syntax.Query,
    keys: Sequence[syntax.Expression] = (),
    order: Sequence[syntax.SortKey] = (),
) -> syntax.Query:
    """Return the rows of a process table function of a query.

    The query becomes the argument `table`, at the position `place` unless arguments have names.
    """
    if keys or order:
        query = syntax.TableArgument(block(query), tuple(keys), tuple(order))
    argument: syntax.Expression = syntax.Subquery(query)
    arguments = list(call.arguments)
    if any(isinstance(one, syntax.Named) for one in arguments):
        argument = syntax.Named(table, argument)
    arguments.insert(place, argument)
    source = syntax.TableFunction(replace(call, arguments=tuple(arguments)))
    return syntax.Select((ALL,), source)


#: The alias of a table function whose rows replace those of a query.
MAPPED = "flat_map"


def fields_of(column: str, fields: Sequence[str], aliases: Sequence[str]) -> list[NamedExpression]:
    """Return the fields of a column as columns, with aliases if any (`column-count-mismatch`)."""
    trees = [syntax.Name((column, field)) for field in fields] or [syntax.Name((column,))]
    if aliases and len(aliases) != len(trees):
        raise SchemaError(
            f"{len(aliases)} aliases given for {len(trees)} fields", code="column-count-mismatch"
        )
    names = aliases or ["$".join(tree.parts) for tree in trees]
    return [NamedExpression(name, tree) for name, tree in zip(names, trees, strict=True)]


def unnest_emitted(query: syntax.Query, keys: Sequence[str], names: Sequence[str]) -> syntax.Query:
    """Return a query's keys, each with the rows of the array in its last column, ``TMP_0``."""
    rows = AliasedSource(
        syntax.Unnest((syntax.Name(("TMP_0",)),), lateral=True), MAPPED, tuple(names)
    )
    columns = [NamedExpression(name, syntax.Name((name,))) for name in (*keys, *names)]
    return syntax.Select(
        items(columns), syntax.Join(syntax.Derived(query), rows, syntax.JoinKind.CROSS)
    )


def set_operation(
    operator: str, every: bool, left: syntax.Query, right: syntax.Query
) -> syntax.Query:
    """Combine the rows of two tables with the same columns."""
    return syntax.SetOperation(operator, every, _operand(left), _operand(right))


def _operand(query: syntax.Query) -> syntax.Query:
    return (
        syntax.Select((ALL,), syntax.Derived(query))
        if isinstance(query, syntax.Ordered | syntax.SetOperation)
        else query
    )


# --- order and limits ----------------------------------------------------------------------


def order_query(query: syntax.Query, fields: Iterable[object]) -> syntax.Query:
    """Return the rows of a query in an order.

    As in Flink, NULL is the highest value here (the default of Calcite's `RelBuilder`), but the
    lowest in SQL.
    """
    keys = tuple(replace(key, nulls_last=not key.descending) for key in sort_keys(fields))
    return syntax.Ordered(block(query), keys) if keys else query


def sort_keys(fields: Iterable[object]) -> tuple[syntax.SortKey, ...]:
    """Return the keys of ORDER BY."""
    return tuple(
        syntax.SortKey(key.syntax, key.descending) if isinstance(key, SortedExpression)
        else syntax.SortKey(require_expression(key))
        for key in fields
    )  # fmt: skip


def limit_query(
    query: syntax.Query, *, offset: int | None = None, fetch: int | None = None
) -> syntax.Query:
    """Skip the first rows of a query, or limit their number.

    A number below 0, or a second limit, is an `invalid-query`.
    """
    for number in (offset, fetch):
        if number is not None and (type(number) is not int or not 0 <= number < 10**MAX_DIGITS):
            raise SchemaError(f"{show(number)} is not a number of rows", code="invalid-query")
    rows = query if isinstance(query, syntax.Ordered) else syntax.Ordered(query)
    if rows.fetch is not None or (offset and rows.offset is not None):
        raise SchemaError("the number of rows is already limited", code="invalid-query")
    return replace(
        rows,
        offset=rows.offset
        if offset is None
        else syntax.Literal(syntax.LiteralKind.EXACT, str(offset)),
        fetch=None if fetch is None else syntax.Literal(syntax.LiteralKind.EXACT, str(fetch)),
    )
