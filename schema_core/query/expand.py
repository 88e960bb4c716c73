"""Expansion of queries, which then mean the same in every session.

Tables get full paths and aliases, columns the alias of their table, user-defined functions full
paths; ``*`` becomes its columns. Views store queries in this form.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, assert_never

from schema_core.base.text import Span
from schema_core.errors import SchemaError
from schema_core.expressions.scope import Functions
from schema_core.expressions.type_checker import cast_target
from schema_core.query.from_clause import generated_name, resolve_source
from schema_core.query.relation import Tables
from schema_core.query.resolve import ResolvedSelect, common_table, resolve, select
from schema_core.query.scope import (
    Models,
    ResolutionContext,
    ScopeChain,
    SelectScope,
    SourceBinding,
    replace_merged,
    unmerged_window,
)
from schema_core.sql import syntax
from schema_core.types.unresolved import LookUp


def expand_query(
    query: syntax.Query,
    tables: Tables,
    *,
    streaming: bool = True,
    functions: Functions | None = None,
    types: LookUp | None = None,
    models: Models | None = None,
) -> syntax.Query:
    """Expand a query; arguments and errors are those of `resolve_query`."""
    context = ResolutionContext(tables, resolve, functions, streaming, types, models)
    return _expand(query, ScopeChain(context))


def _expand(query: syntax.Query, chain: ScopeChain) -> syntax.Query:
    match query:
        case syntax.Select():
            return _select(query, chain)
        case syntax.Values(rows=rows):
            scope = SelectScope(chain)
            return replace(query, rows=tuple(_expressions(row, scope) for row in rows))
        case syntax.ExplicitTable(name=name, span=span):
            star = syntax.SelectItem(syntax.Star(span=span), span=span)
            source = syntax.TableName(name, span=span)
            return _select(syntax.Select((star,), source, span=span), chain)
        case syntax.TableArgument(query=inner):
            return replace(query, query=_expand(inner, chain))
        case syntax.SetOperation():
            operations = [query]
            while isinstance(operations[-1].left, syntax.SetOperation):
                operations.append(operations[-1].left)
            expanded = _expand(operations[-1].left, chain)
            for operation in reversed(operations):
                right = _expand(operation.right, chain)
                expanded = replace(operation, left=expanded, right=right)
            return expanded
        case syntax.With(recursive=recursive):
            tables = []
            for table in query.tables:
                _, extended = common_table(table, chain, recursive=recursive)
                expanded = _expand(table.query, extended if recursive else chain)
                tables.append(replace(table, query=expanded))
                chain = extended
            return replace(query, tables=tuple(tables), query=_expand(query.query, chain))
        case syntax.Ordered():
            return _expand_ordered(query, chain)
        case _:
            assert_never(query)


def _expand_ordered(query: syntax.Ordered, chain: ScopeChain) -> syntax.Query:
    """Expand a query with ORDER BY or limits, moved into the body of a WITH clause."""
    inner = query.query
    if isinstance(inner, syntax.With):
        return _expand(replace(inner, query=replace(query, query=inner.query)), chain)
    if isinstance(inner, syntax.Select):
        resolved = select(inner, chain)
        keys = tuple(
            replace(key, expression=_sort_key(key.expression, resolved)) for key in query.order_by
        )
        return replace(query, query=_select(inner, chain), order_by=keys)
    star = syntax.SelectItem(syntax.Star(span=query.span), span=query.span)
    block = syntax.Select((star,), syntax.Derived(inner, span=query.span), span=query.span)
    return replace(query, query=_select(block, chain))


def _sort_key(key: syntax.Expression, resolved: ResolvedSelect) -> syntax.Expression:
    """Expand a key of ORDER BY, except names of the select list."""

    def change(node: syntax.Expression) -> syntax.Expression | None:
        if not isinstance(node, syntax.Name):
            return spell_out(node)
        if resolved.output(node) is not None:
            return node
        return syntax.rewrite(replace_merged(node, resolved.merged), spell_out)

    spell_out = _change(resolved.scope)
    return syntax.rewrite(key, change)


# --------------------------------------------------------------------------------------- blocks


def _select(query: syntax.Select, chain: ScopeChain) -> syntax.Query:
    resolved = select(query, chain)
    scope = resolved.scope
    merged = resolved.merged

    def expand(expression: syntax.Expression) -> syntax.Expression:
        return _expression(replace_merged(expression, merged), scope)

    def expand_if_any(expression: syntax.Expression | None) -> syntax.Expression | None:
        return None if expression is None else expand(expression)

    def expand_sets(item: syntax.GroupingSets) -> syntax.GroupingSets:
        return replace(
            item,
            sets=tuple(
                expand_sets(keys)
                if isinstance(keys, syntax.GroupingSets)
                else tuple(map(expand, keys))
                for keys in item.sets
            ),
        )

    return replace(
        query,
        items=tuple(
            syntax.SelectItem(_expression(output.expression, scope), output.alias)
            for output in resolved.outputs
        ),
        source=None if query.source is None else _source(query.source, chain, ())[0],
        where=expand_if_any(query.where),
        group_by=None
        if query.group_by is None
        else tuple(
            expand_sets(key) if isinstance(key, syntax.GroupingSets) else expand(key)
            for key in query.group_by
        ),
        having=expand_if_any(query.having),
        windows=tuple(
            (name, syntax.rewrite_window(unmerged_window(window, merged), _change(scope)))
            for name, window in query.windows
        ),
        qualify=expand_if_any(query.qualify),
    )


# --------------------------------------------------------------------------------- expressions


def _expressions(
    expressions: tuple[syntax.Expression, ...], scope: SelectScope
) -> tuple[syntax.Expression, ...]:
    return tuple(_expression(expression, scope) for expression in expressions)


def _expression(expression: syntax.Expression, scope: SelectScope) -> syntax.Expression:
    return syntax.rewrite(expression, _change(scope))


def _change(scope: SelectScope) -> syntax.Change:
    def change(node: syntax.Expression) -> syntax.Expression | None:
        match node:
            case syntax.Name(parts=parts, span=span):
                return _qualify_column(parts, span, scope)
            case syntax.Subquery(query=query):
                return replace(node, query=_expand(query, replace(scope.chain, outer=scope)))
            case syntax.TypeName():
                return cast_target(scope, node).written
            case syntax.Call(name="DESCRIPTOR"):
                return node
            case syntax.Call():
                return _qualify_call(node, scope, change)
            case _:
                return None

    return change


def _qualify_column(
    parts: tuple[str, ...], span: Span, scope: SelectScope
) -> syntax.Expression | None:
    """Return a column qualified by its source, or None for a function."""
    try:
        ref, fields = scope.lookup(parts, span)
    except SchemaError as error:
        if error.code != "unknown-column":
            raise
        return None
    qualifier = () if ref.relation is None else (ref.relation,)
    return syntax.Name((*qualifier, ref.name, *fields), span)


def _qualify_call(
    call: syntax.Call, scope: SelectScope, change: syntax.Change
) -> syntax.Expression | None:
    """Return a call with the full path of its function, or in its stored form."""
    try:
        function = scope.function(call.path or (call.name,), call.span)[0]
    except SchemaError:
        return None
    if function.rewrite is not None:
        return syntax.rewrite(function.rewrite(call), change)
    path = function.printed_path(call.path)
    if path == call.path:
        return None
    arguments = tuple(syntax.rewrite(argument, change) for argument in call.arguments)
    return replace(call, path=path, arguments=arguments)


# ------------------------------------------------------------------------------------- sources

Sources: TypeAlias = tuple[SourceBinding, ...]


def _source(
    source: syntax.Source, chain: ScopeChain, preceding: Sources
) -> tuple[syntax.Source, Sources]:
    """Expand a source, and return its bindings; lateral sources see the `preceding` ones."""
    expanded: syntax.Source
    match source:
        case syntax.Join(condition=condition):
            left, on_left = _source(source.left, chain, preceding)
            right, on_right = _source(source.right, chain, (*preceding, *on_left))
            bindings = (*on_left, *on_right)
            if condition is not None:
                condition = _expression(condition, SelectScope(chain, bindings))
            return replace(source, left=left, right=right, condition=condition), bindings
        case syntax.Aliased(source=inner):
            expanded = replace(source, source=_bare(inner, chain, preceding))
        case syntax.Sample(source=inner):
            expanded, bindings = _source(inner, chain, preceding)
            return replace(source, source=expanded), bindings
        case syntax.TableName(name=name, hints=hints):
            expanded = _bare(source, chain, preceding)
            if not hints:
                expanded = syntax.Aliased(expanded, name.parts[-1], span=source.span)
        case syntax.Derived() | syntax.TableFunction() | syntax.MatchRecognize():
            bare = _bare(source, chain, preceding)
            expanded = syntax.Aliased(bare, generated_name(preceding), span=source.span)
        case syntax.Unpivot():
            # the result has a generated alias, which precedes that of the input
            own = SourceBinding(generated_name(preceding), ())
            expanded = _bare(source, chain, (*preceding, own))
        case syntax.Unnest():
            expanded = _bare(source, chain, preceding)
        case _:
            assert_never(source)
    return expanded, resolve_source(source, chain, preceding).bindings


def _bare(source: syntax.Source, chain: ScopeChain, preceding: Sources) -> syntax.Source:
    """Expand a source without its alias."""
    scope = SelectScope(chain, preceding)
    match source:
        case syntax.TableName(name=name, period=period):
            if period is not None:
                period = _expression(period, scope)
            if len(name.parts) != 1 or name.parts[0] not in chain.common:
                table = chain.context.tables.table(name.parts, name.span)
                name = replace(name, parts=tuple(table.identifier.to_list()))
            return replace(source, name=name, period=period)
        case syntax.Derived(query=query, lateral=lateral):
            inner = replace(chain, outer=scope) if lateral else chain
            return replace(source, query=_expand(query, inner))
        case syntax.Unnest(collections=collections):
            return replace(source, collections=_expressions(collections, scope))
        case syntax.TableFunction(call=call):
            return replace(source, call=_table_call(call, scope))
        case syntax.MatchRecognize(source=inner):
            return replace(source, source=_bare(inner, chain, preceding))
        case syntax.Unpivot(source=inner):
            return replace(source, source=_source(inner, chain, preceding)[0])
        case _:
            return _source(source, chain, preceding)[0]


def _table_call(call: syntax.Call, scope: SelectScope) -> syntax.Call:
    """Expand a table function, whose keys and descriptors name columns of its own input."""

    def expand(argument: syntax.Expression) -> syntax.Expression:
        match argument:
            case syntax.Named(value=value):
                return replace(argument, value=expand(value))
            case syntax.Subquery(query=query):
                return replace(argument, query=_expand(query, scope.chain))
            case _:
                return _expression(argument, scope)

    return replace(call, arguments=tuple(map(expand, call.arguments)))
