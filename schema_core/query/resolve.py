"""Resolution of queries: from syntax trees to relations with typed columns.

The rules are Flink 2.3's (SQL standard, Calcite's conformance level "default", Flink's types).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from decimal import Decimal
from typing import assert_never

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.text import Span
from schema_core.errors import MAX_PLACE, SchemaError, at, cut, similar
from schema_core.expressions.scope import Functions
from schema_core.expressions.signatures import no_common_type
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import FunctionCall, FunctionKind, Ref, Typed, children
from schema_core.query import relation as relational
from schema_core.query.aggregation import (
    Groups,
    aggregates,
    check_calls,
    check_grouped,
    check_windows,
    declared_windows,
    group_by,
    iterate_windowed,
    outside_aggregates,
    refuse_grouping,
    row_condition,
)
from schema_core.query.from_clause import (
    ResolvedSource,
    StarItem,
    check_hints,
    check_named_sources,
    from_clause,
    rename_columns,
    star_of,
)
from schema_core.query.scope import (
    Merged,
    Models,
    ResolutionContext,
    ScopeChain,
    SelectScope,
    SourceBinding,
    condition,
    nullable,
    replace_merged,
    row_count,
    value,
)
from schema_core.sql import syntax
from schema_core.sql.printer import print_expression
from schema_core.types import DataType, RowType
from schema_core.types.common import least_restrictive
from schema_core.types.unresolved import LookUp


def resolve_query(
    query: syntax.Query,
    tables: relational.Tables,
    *,
    streaming: bool = True,
    functions: Functions | None = None,
    types: LookUp | None = None,
    models: Models | None = None,
) -> relational.Relation:
    """Resolve a query; its result has the `result_columns` of the relation.

    Time attributes exist only if `streaming`. `functions` are those beside the built-in ones,
    `types` resolves user-defined types in casts, `models` returns input and output columns.

    Raises:
        SchemaError: the first error, with its span; `errors.within` adds the text.
    """
    context = ResolutionContext(tables, resolve, functions, streaming, types, models)
    return ScopeChain(context).resolve(query)


def resolve(query: syntax.Query, chain: ScopeChain) -> relational.Relation:
    """Resolve a query in a scope."""
    match query:
        case syntax.Select():
            return select(query, chain).relation
        case syntax.Values():
            return values(query, chain)
        case syntax.SetOperation():
            return set_operation(query, chain)
        case syntax.With(recursive=recursive):
            tables = []
            for table in query.tables:  # each sees the preceding ones, and the query sees all
                common, chain = common_table(table, chain, recursive=recursive)
                tables.append(common)
            is_recursive = recursive and any(map(relational.reads_itself, tables))
            return relational.With(tuple(tables), resolve(query.query, chain), is_recursive)
        case syntax.Ordered():
            return resolve_order(query, chain)
        case syntax.ExplicitTable(name=name, span=span):
            star = syntax.SelectItem(syntax.Star(span=span), span=span)
            return resolve(syntax.Select((star,), syntax.TableName(name, span=span)), chain)
        case syntax.TableArgument(query=inner):
            return resolve(inner, chain)
        case _:
            assert_never(query)


def common_table(
    table: syntax.CommonTable, chain: ScopeChain, *, recursive: bool
) -> tuple[relational.Common, ScopeChain]:
    """Resolve a common table, and return the scope that includes it."""
    inner = chain
    if recursive:  # it reads itself with the columns of the first operand of its UNION
        first, seed = table.query, relational.Columns()
        while isinstance(first, syntax.SetOperation) and first.operator == "UNION":
            first = first.left
        if first is not table.query:
            seed = rename_columns(resolve(first, chain).columns, table.columns, table.span)
        inner = chain.with_common(relational.CommonScan(table.name, seed))
    relation = resolve(table.query, inner)
    columns = rename_columns(relation.columns, table.columns, table.span)
    common = relational.Common(table.name, relation, columns)
    return common, chain.with_common(relational.CommonScan(table.name, columns))


# --- SELECT ---------------------------------------------------------------------------------------


class SelectOutput(NamedTuple):
    """A column of a SELECT, with the alias that its expression needs for the name."""

    name: str
    expression: syntax.Expression
    alias: str | None = None
    unnamed: bool = False


#: Maximum number of nodes of the select list that the keys of an ORDER BY may repeat.
MAX_REPEATED = 50_000


@dataclass(slots=True, eq=False)
class ResolvedSelect:
    """A resolved SELECT, with what ORDER BY and expansion need.

    `scope` is that of rows; the clauses after GROUP BY use the scope of `groups`.
    """

    relation: relational.Select
    scope: SelectScope
    groups: Groups | None
    merged: Merged
    outputs: tuple[SelectOutput, ...]
    _by_name: dict[str, list[SelectOutput]] = field(default_factory=dict, init=False, repr=False)
    #: The number of nodes of the select list that the keys of ORDER BY repeat.
    _repeated: int = field(default=0, init=False, repr=False)

    def output(self, name: syntax.Name) -> SelectOutput | None:
        """Return the column of the select list that a sort key names (`ambiguous-column`)."""
        if len(name.parts) != 1:
            return None
        if not self._by_name:
            for output in self.outputs:
                if not output.unnamed:
                    self._by_name.setdefault(output.name, []).append(output)
        outputs = self._by_name.get(name.parts[0], [])
        if len(outputs) > 1:
            raise SchemaError(
                f"column {name.parts[0]!r} is ambiguous", code="ambiguous-column", span=name.span
            )
        return outputs[0] if outputs else None

    def infer_sort_key(self, expression: syntax.Expression) -> Typed:
        """Type a sort key over the rows or groups and the select list, whose names come first.

        Raises:
            SchemaError: `limit-exceeded` if all keys repeat more than `MAX_REPEATED` nodes.
        """
        scope = self.groups.scope if self.groups else self.scope

        def change(node: syntax.Expression) -> syntax.Expression | None:
            if not isinstance(node, syntax.Name):
                return None
            output = self.output(node)
            if output is None:
                return replace_merged(node, self.merged)
            if isinstance(output.expression, syntax.Call):
                self._repeated += syntax.size(output.expression).nodes
            if self._repeated > MAX_REPEATED:
                raise SchemaError(
                    f"the keys of ORDER BY repeat more than {MAX_REPEATED:,} parts of the select"
                    " list",
                    code="limit-exceeded",
                    hint="compute the large expression in a subquery and order by its columns",
                    span=node.span,
                )
            return output.expression

        expression = syntax.rewrite(expression, change)
        if self.groups is None:
            refuse_grouping(scope, expression, "ORDER BY")
        if isinstance(expression, syntax.Literal) and expression.kind is syntax.LiteralKind.NULL:
            return infer(scope, expression)
        return _value(scope, expression, self.groups)


def select(query: syntax.Select, chain: ScopeChain) -> ResolvedSelect:
    """Resolve a SELECT."""
    rows = from_clause(query.source, chain) if query.source else None
    check_hints(query.hints)
    if rows and isinstance(query.source, syntax.Join):
        check_named_sources(query.hints, [binding.alias for binding in rows.bindings])
    merged = rows.merged if rows else {}
    windows = declared_windows(query.windows, merged)
    scope = SelectScope(chain, rows.bindings if rows else (), windows)
    check_windows(scope, windows)
    outputs = tuple(_outputs(query, scope, rows, merged))
    where = None
    if query.where is not None:
        with _explaining_alias(outputs, "WHERE", scope):
            where = row_condition(scope, query.where, "WHERE")
    groups = _groups(query, scope, outputs, merged)
    inner = groups.scope if groups else scope
    items = []
    for output in outputs:
        with at(f"column {output.name!r}"):
            typed = _value(inner, output.expression, groups)
            items.append(relational.Item(output.name, typed, output.unnamed))
    having = None
    if query.having is not None:
        with _explaining_alias(outputs, "HAVING", scope):
            having = _condition(inner, replace_merged(query.having, merged), "HAVING", groups)
    qualify = None if query.qualify is None else _qualify(inner, query.qualify, outputs, groups)
    relation = relational.Select(
        tuple(items),
        rows.relation if rows else None,
        where,
        groups.grouping if groups else None,
        having,
        qualify,
        query.distinct,
        query.hints,
    )
    return ResolvedSelect(relation, scope, groups, merged, outputs)


def _groups(
    query: syntax.Select, scope: SelectScope, outputs: tuple[SelectOutput, ...], merged: Merged
) -> Groups | None:
    """Return the groups of a SELECT that aggregates, else None."""
    if (
        query.group_by is not None
        or query.having is not None
        or any(True for output in outputs for _ in aggregates(scope, output.expression))
    ):
        with _explaining_alias(outputs, "GROUP BY", scope):
            return group_by(query.group_by, scope, merged)
    return None


@contextmanager
def _explaining_alias(
    outputs: Sequence[SelectOutput], clause: str, scope: SelectScope
) -> Iterator[None]:
    """Add a hint to the error of a name that only the SELECT list defines."""
    try:
        yield
    except SchemaError as error:
        if error.code == "unknown-column":
            for output in outputs:
                if output.alias and error.problem == f"there is no column {output.alias!r}":
                    expression = cut(print_expression(output.expression), MAX_PLACE)
                    advice = f"write {expression} in place of {output.alias}"
                    if clause != "HAVING" and any(aggregates(scope, output.expression)):
                        advice = f"{output.alias} is an aggregate, which HAVING may compare"
                    error.hint = f"{clause} is computed before the SELECT list: {advice}"
        raise


def _condition(
    scope: SelectScope, expression: syntax.Expression, clause: str, groups: Groups | None
) -> Typed:
    check_calls(scope, expression)
    typed = condition(scope, expression, clause)
    _check_groups(typed, groups)
    return typed


def _qualify(
    scope: SelectScope,
    expression: syntax.Expression,
    outputs: tuple[SelectOutput, ...],
    groups: Groups | None,
) -> Typed:
    """Type QUALIFY, which can use the names of the select list."""
    expression = replace_merged(
        expression, {output.name: output.expression for output in outputs if output.alias}
    )
    if not any(True for _ in iterate_windowed(expression)):
        raise SchemaError(
            "QUALIFY requires a window function",
            code="invalid-window",
            hint="move a condition without window functions to WHERE",
            span=expression.span,
        )
    return _condition(scope, expression, "QUALIFY", groups)


def _value(scope: SelectScope, expression: syntax.Expression, groups: Groups | None) -> Typed:
    check_calls(scope, expression)
    typed = value(scope, expression)
    _check_groups(typed, groups)
    if groups is not None and any(part in groups.missing for part in outside_aggregates(typed)):
        return replace(typed, type=nullable(typed.type))
    return typed


def _check_groups(typed: Typed, groups: Groups | None) -> None:
    if groups is not None:
        check_grouped(typed, groups.keys, groups.own)


# ------------------------------------------------------------------------------------- columns


def _outputs(
    query: syntax.Select, scope: SelectScope, rows: ResolvedSource | None, merged: Merged
) -> Iterator[SelectOutput]:
    """Yield the columns, with ``*`` expanded.

    Flink numbers unnamed columns by the distinct names before them, and makes only names from ``*``
    unique.
    """
    taken = relational.TakenNames()
    count = 0
    for item in query.items:
        if isinstance(item.expression, syntax.Star):
            for name, expression in _star(item.expression, scope, rows):
                count += 1
                relational.require_width(count, item.span)
                unique = taken.unique(name)
                yield SelectOutput(
                    unique, expression, None if _has_name(expression, unique) else unique
                )
        else:
            count += 1
            relational.require_width(count, item.span)
            own = item.alias or _own_name(item.expression)
            name = own or f"EXPR${len(taken.names)}"
            taken.add(name)
            expression = replace_merged(item.expression, merged)
            is_named = item.alias is None and (own is None or _has_name(expression, own))
            yield SelectOutput(name, expression, None if is_named else own, own is None)


def _own_name(expression: syntax.Expression) -> str | None:
    """Return the name of the column that an expression reads, if any."""
    match expression:
        case syntax.Name(parts=parts):
            return parts[-1]
        case syntax.Call(symbol="BARE", word=word):
            return word
        case _:
            return None


def _has_name(expression: syntax.Expression, name: str) -> bool:
    """Return whether the printed expression gives a column of that name without an alias."""
    if isinstance(expression, syntax.Call) and expression.symbol == "BARE":
        return expression.name == name
    return _own_name(expression) == name


def _star(star: syntax.Star, scope: SelectScope, rows: ResolvedSource | None) -> Iterator[StarItem]:
    """Yield the columns of ``*``, ``source.*`` or ``row.*``."""
    if rows is None:
        raise SchemaError("* requires a FROM clause", code="invalid-query", span=star.span)
    if not star.prefix:
        yield from rows.star
        return
    for binding in rows.bindings:
        if binding.answers_to(star.prefix):
            yield from star_of(binding)
            return
    try:
        typed = value(scope, syntax.Name(star.prefix, star.span))
    except SchemaError as error:
        raise SchemaError(
            f"unknown source {'.'.join(star.prefix)!r}",
            code="unknown-column",
            hint=similar(star.prefix[0], [binding.alias for binding in scope.bindings]),
            span=star.span,
        ) from error
    if not isinstance(typed.type, RowType):
        raise SchemaError(
            f"{'.'.join(star.prefix)!r} has no fields", code="unknown-column", span=star.span
        )
    for row_field in typed.type.fields:
        yield StarItem(row_field.name, syntax.Name((*star.prefix, row_field.name), star.span))


# --- ORDER BY -------------------------------------------------------------------------------------


NUMBERS = frozenset({syntax.LiteralKind.EXACT, syntax.LiteralKind.APPROXIMATE})


def resolve_order(query: syntax.Ordered, chain: ScopeChain) -> relational.Relation:
    """Resolve ORDER BY and limits; after WITH they belong to its body, whose sources keys see.

    Raises:
        SchemaError: `invalid-query`, or an error in a key or the query.
    """
    if isinstance(query.query, syntax.With):
        body = replace(query, query=query.query.query)
        return resolve(replace(query.query, query=body), chain)
    resolved = select(query.query, chain) if isinstance(query.query, syntax.Select) else None
    relation = resolved.relation if resolved else resolve(query.query, chain)
    result = SortedResult(relation, resolved)
    keys = []
    for key in query.order_by:
        typed = (
            _by_position(key.expression, result)
            or _by_name(key.expression, result)
            or _by_expression(key.expression, result, chain)
        )
        keys.append(relational.Key(typed, key.descending, key.nulls_last))
    return relational.Sort(relation, tuple(keys), row_count(query.offset), row_count(query.fetch))


class SortedResult:
    """A sorted result, indexed once for all keys; `resolved` is its SELECT."""

    def __init__(
        self, relation: relational.Relation, resolved: ResolvedSelect | None = None
    ) -> None:
        self.resolved = resolved
        self.columns: relational.Columns = relation.columns
        self.names: list[str] = relational.unique_names(column.name for column in self.columns)
        self.places: dict[str, list[int]] = {}
        for index, column in enumerate(self.columns):
            if not (resolved and resolved.outputs[index].unnamed):
                self.places.setdefault(column.name, []).append(index)
        items = resolved.relation.items if resolved else ()
        self.items: frozenset[Typed] = frozenset(item.expression for item in items)

    def output(self, index: int, key: syntax.Expression) -> Ref:
        """Return a reference to a column of the result by its unique name."""
        return Ref(self.names[index], self.columns[index].type, None, key.span)


def _by_position(key: syntax.Expression, result: SortedResult) -> Typed | None:
    """Return the column at a position, or None for a negative number.

    >>> minus_one = syntax.Literal(syntax.LiteralKind.EXACT, "-1")
    >>> _by_position(minus_one, SortedResult(relational.Values((), ()))) is None
    True
    """
    if not isinstance(key, syntax.Literal) or key.kind not in NUMBERS:
        return None
    value = Decimal(key.text)
    if value <= -1:
        return None
    if not 1 <= value < len(result.columns) + 1:
        raise SchemaError(
            f"ORDER BY position {key.text} is out of range: the query has"
            f" {len(result.columns)} columns",
            code="invalid-query",
            span=key.span,
        )
    return result.output(int(value) - 1, key)


def _by_name(key: syntax.Expression, result: SortedResult) -> Typed | None:
    """Return the column of that name; generated names do not count (`ambiguous-column`)."""
    if not isinstance(key, syntax.Name) or len(key.parts) != 1:
        return None
    name = key.parts[0]
    places = result.places.get(name, [])
    if len(places) > 1:
        raise SchemaError(f"column {name!r} is ambiguous", code="ambiguous-column", span=key.span)
    return result.output(places[0], key) if places else None


def _by_expression(key: syntax.Expression, result: SortedResult, chain: ScopeChain) -> Typed:
    """Type an expression over a SELECT, or over columns of another query."""
    resolved = result.resolved
    if resolved is None:
        scope = SelectScope(chain, (SourceBinding("", result.columns),))
        refuse_grouping(scope, key, "ORDER BY")
        typed = infer(scope, key)
        return replace(typed, relation=None) if isinstance(typed, Ref) else typed
    typed = resolved.infer_sort_key(key)
    if resolved.relation.distinct:
        own = frozenset(binding.alias for binding in resolved.scope.bindings)
        _check_distinct(typed, result.items, own)
    return typed


def _check_distinct(typed: Typed, items: frozenset[Typed], own: frozenset[str]) -> None:
    """Require a sort key of SELECT DISTINCT to read its select list (`invalid-grouping`)."""
    rest = [typed]
    while rest:
        part = rest.pop()
        if part in items:
            continue
        problem = None
        if isinstance(part, Ref) and part.relation in own:
            problem = f"column {part.name!r}"
        elif isinstance(part, FunctionCall) and part.function.kind is FunctionKind.AGGREGATE:
            problem = "the aggregate"
        if problem:
            raise SchemaError(
                f"{problem} is not in the list of SELECT DISTINCT",
                code="invalid-grouping",
                hint="order by a column of the select list, or remove DISTINCT",
                span=part.span,
            )
        rest.extend(children(part))


# --- set operations and VALUES --------------------------------------------------------------------


def set_operation(query: syntax.SetOperation, chain: ScopeChain) -> relational.Relation:
    """Resolve UNION, INTERSECT or EXCEPT, chains of them without recursion.

    The names are those of the left side.

    Raises:
        SchemaError: `column-count-mismatch` or `type-mismatch`.
    """
    operations = [query]
    while isinstance(operations[-1].left, syntax.SetOperation):
        operations.append(operations[-1].left)
    left = resolve(operations[-1].left, chain)
    for operation in reversed(operations):
        right = resolve(operation.right, chain)
        counts = len(left.columns), len(right.columns)
        if counts[0] != counts[1]:
            raise SchemaError(
                f"{operation.operator} requires equal column counts: {counts[0]} and {counts[1]}",
                code="column-count-mismatch",
                span=operation.span,
            )
        columns = tuple(
            relational.Column(name, _common_type((type_, other), name, operation.span))
            for (name, type_), (_, other) in zip(left.columns, right.columns, strict=True)
        )
        left = relational.SetOperation(operation.operator, operation.all, left, right, columns)
    return left


def _common_type(types: Sequence[DataType], name: str, span: Span) -> DataType:
    common = least_restrictive(types)
    if common is None:
        with at(f"column {name!r}", span):
            raise SchemaError(
                no_common_type(types), code="type-mismatch", hint="add a CAST", span=span
            )
    return common


def values(query: syntax.Values, chain: ScopeChain) -> relational.Values:
    """Resolve VALUES.

    Raises:
        SchemaError: `column-count-mismatch`, `type-mismatch` or `data-type-not-inferred`.
    """
    scope = SelectScope(chain, group_count=0)
    rows: list[tuple[Typed, ...]] = []
    for row in query.rows:
        if len(row) != len(query.rows[0]):
            raise SchemaError(
                f"VALUES requires rows of equal length: {len(query.rows[0])} and {len(row)}",
                code="column-count-mismatch",
                span=row[0].span,
            )
        rows.append(tuple(value(scope, cell) for cell in row))
    columns = []
    for index, cells in enumerate(zip(*rows, strict=True)):
        name = f"EXPR${index}"
        type_ = _common_type([cell.type for cell in cells], name, query.span)
        columns.append(relational.Column(name, type_))
    return relational.Values(tuple(rows), tuple(columns))
