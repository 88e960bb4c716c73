"""Resolution of FROM clauses: tables, subqueries, joins, UNNEST and MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import assert_never

from schema_core.base.text import Span
from schema_core.errors import SchemaError, similar
from schema_core.expressions.scope import Inferred
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as rel
from schema_core.query.aggregation import row_condition
from schema_core.query.relation import Column, Columns, Relation
from schema_core.query.scope import (
    IN_PATTERN,
    ResolvedSource,
    ScopeChain,
    SelectScope,
    SourceBinding,
    StarItem,
    condition,
    generated_name,
    name_relation,
    nullable,
    table_source,
    value,
)
from schema_core.query.table_functions import row_columns, table_function
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax
from schema_core.types import ArrayType, DataType, IntType, MapType, MultisetType

#: Maximum length of a chain of joins; each is one level of the tree.
MAX_JOINS = 256


def from_clause(source: syntax.Source, chain: ScopeChain) -> ResolvedSource:
    """Resolve a FROM clause.

    Raises:
        SchemaError: with code `duplicate-alias` if two sources have the same alias, `too-deep` for
            a longer chain of joins, or an error in a source.
    """
    _require_few(source)
    rows = resolve_source(source, chain, ())
    if twice := duplicate_names(binding.alias for binding in rows.bindings):
        raise SchemaError(
            f"duplicate alias {twice[0]!r}",
            code="duplicate-alias",
            hint="give one of the sources another alias with AS",
            span=source.span,
        )
    return rows


def _require_few(source: syntax.Source) -> None:
    """Require a chain of joins that does not exhaust the stack."""
    count, last = 0, source
    while isinstance(last, syntax.Join):
        count, last = count + 1, last.left
    if count > MAX_JOINS:
        raise SchemaError(
            f"{count} consecutive joins exceed the limit of {MAX_JOINS}",
            code="too-deep",
            hint="move some of them into WITH or a view",
            span=last.span,
        )


def resolve_source(
    source: syntax.Source, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve one source; `preceding` are those on its left, which lateral sources see."""
    match source:
        case syntax.TableName():
            return table_source(source, chain, preceding)
        case syntax.Derived():
            return _resolve_derived(source, chain, preceding)
        case syntax.Aliased():
            return _resolve_aliased(source, chain, preceding)
        case syntax.Join():
            return join(source, chain, preceding)
        case syntax.Unnest():
            return unnest(source, SelectScope(chain, preceding), preceding)
        case syntax.TableFunction():
            return table_function(source, SelectScope(chain, preceding), preceding)
        case syntax.Sample():
            return _sample(source, chain, preceding)
        case syntax.MatchRecognize():
            return match_recognize(source, chain, preceding)
        case _:
            assert_never(source)


def _resolve_derived(
    source: syntax.Derived, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    inner = replace(chain, outer=SelectScope(chain, preceding)) if source.lateral else chain
    relation = inner.resolve(source.query)
    return name_relation(
        relation, generated_name(preceding), relation.columns, lateral=source.lateral
    )


def _resolve_aliased(
    source: syntax.Aliased, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    rows = resolve_source(source.source, chain, preceding)
    if isinstance(rows.relation, rel.Named):
        inner = rows.relation
        columns = rename_columns(inner.columns, source.columns, source.span)
        if not source.columns and _is_single(inner.input):
            columns = (Column(source.name, columns[0].type), *columns[1:])
        path = rows.bindings[0].path if source.name == inner.alias else ()
        return name_relation(inner.input, source.name, columns, path, lateral=inner.lateral)
    columns = rename_columns(rows.relation.columns, source.columns, source.span)
    return name_relation(rows.relation, source.name, columns)


def _is_single(relation: Relation) -> bool:
    """Return whether the only column is unnamed: it then has the name of the source."""
    match relation:
        case rel.Unnest(columns=columns, ordinality=ordinality):
            return len(columns) - ordinality == 1 and columns[0].name == "EXPR$0"
        case rel.Values(columns=columns):
            return len(columns) == 1
        case _:
            return False


def rename_columns(columns: Columns, names: tuple[str, ...], span: Span) -> Columns:
    """Return the columns under new names, if there are any.

    Raises:
        SchemaError: with code `alias-count-mismatch` for a different number of names,
            `duplicate-column` for a repeated name.
    """
    if not names:
        return columns
    if len(names) != len(columns):
        raise SchemaError(
            f"alias list has {len(names)} names for {len(columns)} columns",
            code="alias-count-mismatch",
            span=span,
        )
    if twice := duplicate_names(names):
        raise SchemaError(f"duplicate name {twice[0]!r}", code="duplicate-column", span=span)
    return tuple(map(Column, names, (column.type for column in columns)))


def _sample(
    source: syntax.Sample, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    rows = resolve_source(source.source, chain, preceding)
    percentage = value(SelectScope(chain), source.percentage)
    match rows.relation:
        case rel.Named(input=inner) as outer:
            sample = rel.Sample(inner, source.method, percentage, inner.columns)
            return replace(rows, relation=replace(outer, input=sample))
        case other:
            return replace(
                rows, relation=rel.Sample(other, source.method, percentage, other.columns)
            )


# --- joins ----------------------------------------------------------------------------------------


#: Kind -> whether the rows of its left and right side may be missing.
MAY_MISS = {
    syntax.JoinKind.COMMA: (False, False),
    syntax.JoinKind.CROSS: (False, False),
    syntax.JoinKind.INNER: (False, False),
    syntax.JoinKind.LEFT: (False, True),
    syntax.JoinKind.RIGHT: (True, False),
    syntax.JoinKind.FULL: (True, True),
}

#: Kinds that require a join condition.
CONDITIONAL = (
    syntax.JoinKind.INNER,
    syntax.JoinKind.LEFT,
    syntax.JoinKind.RIGHT,
    syntax.JoinKind.FULL,
)


def join(
    source: syntax.Join, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve a join.

    Lateral sources do not see the columns of a side that may be missing. A column that NATURAL
    merged belongs to ``*`` only, as in Flink; its name alone remains ambiguous.

    Raises:
        SchemaError: with code `invalid-join-condition` for a missing or redundant condition,
            `unknown-column` or `ambiguous-column` for USING, or an error in a source.
    """
    left = resolve_source(source.left, chain, preceding)
    _check_form(source)
    left_misses, right_misses = MAY_MISS[source.kind]
    seen = preceding if left_misses else (*preceding, *left.bindings)
    right = _apart(source, resolve_source(source.right, chain, seen), (*preceding, *left.bindings))
    merged = _merge_columns(source, left, right)
    matching = _condition(source, merged, left, right)
    inferred = {
        **({} if left_misses else left.inferred),
        **({} if right_misses else right.inferred),
    }
    scope = SelectScope(chain, (*left.bindings, *right.bindings), inferred=inferred)
    typed = None if matching is None else _type_condition(scope, matching, source)
    bindings = (*_side(left, misses=left_misses), *_side(right, misses=right_misses))
    columns = tuple(column for binding in bindings for column in binding.columns)
    rel.require_width(len(columns), source.span)
    relation = rel.Join(left.relation, right.relation, source.kind, typed, columns)
    together = {name: syntax.Call("COALESCE", pair) for name, pair in merged.items()}
    known = {**left.merged, **right.merged, **({} if source.natural else together)}
    inferred |= _infer_merged(SelectScope(chain, bindings, inferred=inferred), together.values())
    return ResolvedSource(relation, bindings, _star(together, left, right), known, inferred)


def _apart(
    source: syntax.Join, right: ResolvedSource, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Return the right side under a generated alias that no source before it has.

    In RIGHT and FULL joins it is resolved without them.
    """
    relation = right.relation
    is_named = isinstance(source.right, (syntax.Aliased, syntax.TableName))
    if is_named or not isinstance(relation, rel.Named):
        return right
    if relation.alias not in {binding.alias for binding in preceding}:
        return right
    name = generated_name(preceding)
    return name_relation(relation.input, name, relation.columns, lateral=relation.lateral)


def _type_condition(
    scope: SelectScope, expression: syntax.Expression, source: syntax.Join
) -> Typed:
    """Type the condition of a join; the one that USING and NATURAL generate has no aggregates."""
    if source.condition is None:
        return condition(scope, expression, "ON")
    return row_condition(scope, expression, "ON")


def _infer_merged(scope: SelectScope, calls: Iterable[syntax.Call]) -> Inferred:
    """Type the merged columns, whose operands are typed already.

    A column without a type is omitted: the error is reported when the column is read.
    """
    found: dict[int, tuple[syntax.Expression, Typed]] = {}
    for call in calls:
        with suppress(SchemaError):
            found[id(call)] = call, infer(scope, call)
    return found


def _check_form(source: syntax.Join) -> None:
    has_condition = source.natural or bool(source.using) or source.condition is not None
    problem = None
    if source.kind in CONDITIONAL and not has_condition:
        problem = f"{source.kind.value} requires a condition"
    elif source.kind not in CONDITIONAL and has_condition:
        problem = f"{source.kind.value} does not accept a condition"
    elif source.natural and (source.using or source.condition is not None):
        problem = "NATURAL cannot be combined with ON or USING"
    if problem:
        hint = "write ON condition, USING (columns) or NATURAL"
        raise SchemaError(problem, code="invalid-join-condition", hint=hint, span=source.span)


def _side(rows: ResolvedSource, *, misses: bool) -> tuple[SourceBinding, ...]:
    """Return the bindings of one side, with nullable columns if its rows may be missing."""
    if not misses:
        return rows.bindings
    return tuple(replace(binding, columns=_nullable(binding.columns)) for binding in rows.bindings)


def _nullable(columns: Columns) -> Columns:
    return tuple(Column(name, nullable(type_)) for name, type_ in columns)


# --------------------------------------------------------------------------- USING and NATURAL

Pairs = dict[str, tuple[syntax.Expression, syntax.Expression]]


def _merge_columns(source: syntax.Join, left: ResolvedSource, right: ResolvedSource) -> Pairs:
    """Return the left and the right expression of each merged column."""
    if source.natural:
        theirs = {item.name for item in right.star}
        names = [(item.name, source.span) for item in left.star if item.name in theirs]
    else:
        names = [(name.parts[0], name.span) for name in source.using]
    sides = (_by_name(left), _by_name(right))
    return {
        name: (_only(left, sides[0], name, span), _only(right, sides[1], name, span))
        for name, span in names
    }


def _by_name(rows: ResolvedSource) -> dict[str, list[syntax.Expression]]:
    """Return the columns of a side by name."""
    found: dict[str, list[syntax.Expression]] = {}
    for item in rows.star:
        found.setdefault(item.name, []).append(item.expression)
    return found


def _only(
    rows: ResolvedSource, by_name: dict[str, list[syntax.Expression]], name: str, span: Span
) -> syntax.Expression:
    """Return the only column of that name on a side."""
    found = by_name.get(name)
    if not found:
        raise SchemaError(
            f"column {name!r} is missing on one side of the join",
            code="unknown-column",
            hint=similar(name, [item.name for item in rows.star]),
            span=span,
        )
    if len(found) > 1:
        raise SchemaError(f"column {name!r} is ambiguous", code="ambiguous-column", span=span)
    return found[0]


def _condition(
    source: syntax.Join, merged: Pairs, left: ResolvedSource, right: ResolvedSource
) -> syntax.Expression | None:
    if source.condition is not None or not merged:
        return source.condition
    equations: list[syntax.Expression] = [
        syntax.Call("=", pair, span=source.span) for pair in merged.values()
    ]
    return reduce(lambda one, other: syntax.Call("AND", (one, other), span=source.span), equations)


def _star(
    together: dict[str, syntax.Call], left: ResolvedSource, right: ResolvedSource
) -> tuple[StarItem, ...]:
    """Return the merged columns first, then the others of the left and of the right side."""
    return (
        *(StarItem(name, call) for name, call in together.items()),
        *(item for item in left.star if item.name not in together),
        *(item for item in right.star if item.name not in together),
    )


# --- UNNEST ---------------------------------------------------------------------------------------


def unnest(
    source: syntax.Unnest, scope: SelectScope, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve UNNEST; the scope is that of the preceding sources.

    Raises:
        SchemaError: with code `not-a-collection`, or `unnest-argument-count` unless there is one
            collection.
    """
    if len(source.collections) != 1:
        raise SchemaError(
            "UNNEST requires exactly one collection", code="unnest-argument-count", span=source.span
        )
    collection = value(scope, source.collections[0])
    columns = element_columns(collection.type)
    if columns is None:
        raise SchemaError(
            f"UNNEST requires a collection, got {collection.type.as_summary_string()}",
            code="not-a-collection",
            span=source.collections[0].span,
        )
    if source.ordinality:
        columns = (*columns, Column("ORDINALITY", IntType(nullable=False)))
    relation = rel.Unnest(collection, source.ordinality, columns)
    return name_relation(relation, generated_name(preceding), columns, lateral=True)


def element_columns(type_: DataType) -> Columns | None:
    """Return the columns of a collection's elements, or None for another type.

    >>> from schema_core.types import parse_type
    >>> element_columns(parse_type("MAP<INT NOT NULL, DATE>"))
    (Column(name='KEY', type=IntType(nullable=False)), Column(name='VALUE', type=DateType()))
    """
    match type_:
        case ArrayType(element_type=element) | MultisetType(element_type=element):
            return row_columns(element)
        case MapType(key_type=key, value_type=value_type):
            return (Column("KEY", key), Column("VALUE", value_type))
        case _:
            return None


# --- MATCH_RECOGNIZE ------------------------------------------------------------------------------


#: Functions that navigate to a row of a match: their type is that of their first argument.
NAVIGATION = frozenset({"FIRST", "LAST", "PREV", "NEXT", "FINAL", "RUNNING"})


def match_recognize(
    source: syntax.MatchRecognize, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve MATCH_RECOGNIZE: its columns are the partition keys, then the measures.

    Raises:
        SchemaError: with code `misplaced-navigation`, or an error in one of its parts.
    """
    inner = resolve_source(source.source, chain, preceding)
    variables = {*_variables(source), *(define.name for define in source.defines)}
    bindings = tuple(_as_variables(inner, variables))
    scope = SelectScope(chain, bindings, group_count=0, known=IN_PATTERN)
    for define in source.defines:
        condition(scope, _plain(define.expression), "DEFINE")
    rows = SelectScope(chain, inner.bindings)
    keys = [value(rows, key) for key in source.partition_by]
    order = [value(rows, key.expression) for key in source.order_by]
    measures = tuple(
        rel.Item(measure.name, value(scope, _plain(_resolve_measure(measure.expression))))
        for measure in source.measures
    )
    columns = (
        *(_match_columns(inner, keys, order) if _all_rows(source) else _key_columns(keys)),
        *(Column(item.name, item.expression.type) for item in measures),
    )
    relation = rel.Match(inner.relation, source, measures, columns)
    return name_relation(relation, generated_name(preceding), columns)


def _variables(source: syntax.MatchRecognize) -> Iterator[str]:
    if source.pattern is not None:
        yield from (
            node.parts[0] for node in syntax.walk(source.pattern) if isinstance(node, syntax.Name)
        )
    yield from (name for name, _ in source.subsets)


def _as_variables(inner: ResolvedSource, variables: set[str]) -> Iterator[SourceBinding]:
    """Yield the bindings of the input, and its columns under each pattern variable."""
    yield from inner.bindings
    columns = tuple(column for binding in inner.bindings for column in binding.columns)
    yield from (SourceBinding(variable, columns, hidden=True) for variable in sorted(variables))


def _resolve_measure(expression: syntax.Expression) -> syntax.Expression:
    """Return a measure, which cannot navigate to neighbouring rows.

    Raises:
        SchemaError: with code `misplaced-navigation`.
    """
    for call in syntax.walk(expression):
        if isinstance(call, syntax.Call) and call.name in ("PREV", "NEXT"):
            problem = f"{call.name} is valid only in DEFINE"
            raise SchemaError(problem, code="misplaced-navigation", span=call.span)
    return expression


def _plain(expression: syntax.Expression) -> syntax.Expression:
    """Return the expression with each navigation function replaced by its argument."""

    def change(node: syntax.Expression) -> syntax.Expression | None:
        if isinstance(node, syntax.Call) and node.name in NAVIGATION and node.arguments:
            return syntax.rewrite(node.arguments[0], change)
        return None

    return syntax.rewrite(expression, change)


def _all_rows(source: syntax.MatchRecognize) -> bool:
    return source.rows_per_match is not None and source.rows_per_match.startswith("ALL")


def _key_columns(keys: Sequence[Typed]) -> Iterator[Column]:
    for key in keys:
        if isinstance(key, Ref):
            yield Column(key.name, key.type)


def _match_columns(
    inner: ResolvedSource, keys: Sequence[Typed], order: Sequence[Typed]
) -> Iterator[Column]:
    """Yield all columns of the input, those that it is partitioned and ordered by first."""
    first = dict.fromkeys(_key_columns((*keys, *order)))
    yield from first
    yield from (
        column for binding in inner.bindings for column in binding.columns if column not in first
    )
