"""Scopes of a query: what names refer to, and how the expressions in a scope are typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from schema_core.errors import NotFoundError, SchemaError, similar
from schema_core.expressions.scope import (
    NOTHING_INFERRED,
    Functions,
    Inferred,
    find_function,
    in_sql,
)
from schema_core.expressions.signatures import Function, Kind
from schema_core.expressions.type_checker import infer, scalar
from schema_core.expressions.typed import FunctionCall, Keyword, Ref, Select, Typed, walk
from schema_core.query import relation as rel
from schema_core.query.functions import IN_QUERY
from schema_core.query.hints import check_table_hints
from schema_core.query.relation import Column, Columns, CommonScan, Relation, Tables
from schema_core.sql import query_syntax as written
from schema_core.sql import syntax
from schema_core.sql.query_syntax import Query
from schema_core.sql.rewrite import Change, rewrite, rewrite_window
from schema_core.sql.syntax import Expression, Literal, LiteralKind, Name, Window
from schema_core.text import Span
from schema_core.types import DataType, RowType, TypeRoot
from schema_core.types.temporal import LocalZonedTimestampType, TimestampKind, TimestampType
from schema_core.types.unresolved import LookUp

#: What a model takes and what it gives.
Models: TypeAlias = Callable[[Name], tuple[Columns, Columns]]

#: Resolves a query in a scope; sub-queries are resolved by it, wherever they are written.
Resolve: TypeAlias = Callable[["Query", "ScopeChain"], "Relation"]


@dataclass(frozen=True, slots=True)
class ResolutionContext:
    """What stays the same in all of a query: tables, functions, types, and whether it streams."""

    tables: Tables
    resolve: Resolve
    functions: Functions | None = None
    streaming: bool = True
    types: LookUp | None = None
    models: Models | None = None

    def model(self, name: Name) -> tuple[Columns, Columns]:
        """What a model takes and gives.

        Raises:
            SchemaCoreError: for a name that no model has.
        """
        if self.models is None:
            problem = f"there is no model {'.'.join(name.parts)!r}"
            raise NotFoundError(problem, code="model-not-found", span=name.span)
        return self.models(name)


@dataclass(frozen=True, slots=True)
class ScopeChain:
    """Where a query stands: the common tables it may read, and the block around it, if any."""

    context: ResolutionContext
    common: Mapping[str, CommonScan] = field(default_factory=dict)
    outer: SelectScope | None = None

    def resolve(self, query: Query) -> Relation:
        """Resolve a query at this chain."""
        return self.context.resolve(query, self)

    def with_common(self, table: CommonScan) -> ScopeChain:
        """The place behind one more common table."""
        return replace(self, common={**self.common, table.name: table})


@dataclass(frozen=True, slots=True)
class SourceBinding:
    """A source of a FROM clause as names see it.

    `path` is the full path of a table without an alias of its own, so that more than its last name
    may qualify a column. Columns of a `hidden` source must be qualified.
    """

    alias: str
    columns: Columns
    path: tuple[str, ...] = ()
    hidden: bool = False
    _by_name: dict[str, list[Column]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def answers_to(self, qualifier: tuple[str, ...]) -> bool:
        """Whether the names before a column mean this source."""
        if len(qualifier) == 1:
            return qualifier[0] == self.alias
        return self.path[-len(qualifier) :] == qualifier

    def find(self, name: str) -> list[tuple[Column, tuple[str, ...]]]:
        """The columns of that name; where there is none, rows that have a field of that name.

        Each comes with the fields that lead from the column to what was named.
        """
        if not self._by_name:
            for column in self.columns:
                self._by_name.setdefault(column.name, []).append(column)
        if direct := self._by_name.get(name):
            return [(column, ()) for column in direct]
        return [
            (column, fields) for column in self.columns for fields in _within(column.type, name)
        ]


def _within(type_: DataType, name: str) -> list[tuple[str, ...]]:
    """The ways to a field of that name through rows; the nearest one where it is on the way."""
    if not isinstance(type_, RowType):
        return []
    if any(one.name == name for one in type_.fields):
        return [(name,)]
    return [(one.name, *rest) for one in type_.fields for rest in _within(one.data_type, name)]


@dataclass(frozen=True, slots=True)
class SelectScope:
    """The scope of one SELECT block: its sources, then those of the blocks around it.

    `group_count` is how many keys rows are grouped by, 0 for one group of all rows, -1 where rows
    are not grouped at all. `known` are the functions that only queries have. `ungrouped` is the
    scope of the single rows behind groups. `inferred` are calls typed before over the same sources.
    """

    chain: ScopeChain
    bindings: tuple[SourceBinding, ...] = ()
    windows: Mapping[str, syntax.Window] = field(default_factory=dict)
    group_count: int = -1
    in_query: bool = True
    known: Mapping[str, tuple[Function, ...]] = field(default_factory=lambda: IN_QUERY)
    ungrouped: SelectScope | None = None
    inferred: Inferred = field(default_factory=lambda: NOTHING_INFERRED, compare=False, repr=False)

    @property
    def streaming(self) -> bool:
        return self.chain.context.streaming

    @property
    def rows(self) -> SelectScope:
        """The scope of the single rows that aggregates read."""
        return self.ungrouped or self

    @property
    def types(self) -> LookUp | None:
        return self.chain.context.types

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...]:
        """All functions of that name: those of queries, the user's, else the built-in ones.

        Raises:
            SchemaError: with code `unknown-function`.
        """
        if len(path) == 1 and path[0].upper() in self.known:
            return self.known[path[0].upper()]
        return find_function(path, span, self.chain.context.functions)

    def lookup(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]]:
        """The column that a name means, and the names that are left over as fields.

        Raises:
            SchemaError: with code `unknown-column` or `ambiguous-column`.
        """
        found = self._qualified(parts, span) or self._plain(parts, span)
        if found is not None:
            return found
        if self.chain.outer is not None:
            return self.chain.outer.lookup(parts, span)
        raise self._unknown(parts, span)

    def _qualified(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]] | None:
        """The column behind the longest prefix that means a source."""
        for length in range(len(parts) - 1, 0, -1):
            for binding in self.bindings:
                if binding.answers_to(parts[:length]):
                    found = _one(
                        parts[length],
                        [(binding, *hit) for hit in binding.find(parts[length])],
                        span,
                    )
                    if found is not None:
                        ref, fields = found
                        return ref, (*fields, *parts[length + 1 :])
        return None

    def _plain(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]] | None:
        """The only column of that name in all sources."""
        seen = (binding for binding in self.bindings if not binding.hidden)
        hits = [(binding, *hit) for binding in seen for hit in binding.find(parts[0])]
        found = _one(parts[0], hits, span)
        return None if found is None else (found[0], (*found[1], *parts[1:]))

    def _unknown(self, parts: tuple[str, ...], span: Span) -> SchemaError:
        known = [column.name for binding in self.bindings for column in binding.columns]
        for binding in self.bindings:
            if len(parts) > 1 and binding.answers_to(parts[:1]):
                return SchemaError(
                    f"{binding.alias!r} has no column {parts[1]!r}",
                    code="unknown-column",
                    hint=similar(parts[1], [column.name for column in binding.columns]),
                    span=span,
                )
        return SchemaError(
            f"there is no column {'.'.join(parts)!r}",
            code="unknown-column",
            hint=similar(parts[0], [*known, *(binding.alias for binding in self.bindings)]),
            span=span,
        )

    def window(self, name: str, span: Span) -> syntax.Window:
        """The window that the WINDOW clause names so.

        Raises:
            SchemaError: with code `unknown-window`.
        """
        found = self.windows.get(name)
        if found is None:
            raise SchemaError(
                f"there is no window {name!r}",
                code="unknown-window",
                hint=similar(name, self.windows),
                span=span,
            )
        return found

    def subquery(self, query: Query, span: Span) -> Relation:
        """The relation of a query within an expression; it sees the columns of this block."""
        return replace(self.chain, outer=self).resolve(query)


Hit = tuple[SourceBinding, Column, tuple[str, ...]]


def _one(name: str, hits: list[Hit], span: Span) -> tuple[Ref, tuple[str, ...]] | None:
    """The only hit, or None; two of them are refused."""
    if len(hits) > 1:
        raise SchemaError(
            f"column {name!r} is ambiguous",
            code="ambiguous-column",
            hint=f"write one of {', '.join(f'{binding.alias}.{name}' for binding, *_ in hits[:3])}",
            span=span,
        )
    if not hits:
        return None
    ((binding, column, fields),) = hits
    return Ref(column.name, column.type, binding.alias, span), fields


# --- typed expressions ----------------------------------------------------------------------------


Merged = Mapping[str, Expression]


def value(scope: SelectScope, expression: Expression) -> Typed:
    """An expression that gives a column.

    Raises:
        SchemaError: with code `untyped-null` for a bare NULL, or whatever typing refuses.
    """
    typed = infer(scope, expression)
    if isinstance(typed, Select):
        typed = scalar(typed)
    for part in (typed, *_aggregated(typed)):
        if part.type.root in (TypeRoot.NULL, TypeRoot.SYMBOL):
            raise SchemaError(
                "NULL alone has no type",
                code="untyped-null",
                hint="write CAST(NULL AS ...)",
                span=part.span,
            )
    return typed


def _aggregated(typed: Typed) -> Iterator[Typed]:
    """The values that aggregates read."""
    for part in walk(typed):
        if isinstance(part, FunctionCall) and part.function.kind is Kind.AGGREGATE:
            yield from (one for one in part.arguments if not isinstance(one, Keyword))


def condition(scope: SelectScope, expression: Expression, clause: str) -> Typed:
    """An expression that chooses rows.

    Raises:
        SchemaError: with code `not-a-condition` unless it is a BOOLEAN or NULL.
    """
    typed = infer(scope, expression)
    if typed.type.root not in (TypeRoot.BOOLEAN, TypeRoot.NULL):
        raise SchemaError(
            f"{clause} takes a condition, got {typed.type.as_summary_string()}",
            code="not-a-condition",
            span=expression.span,
        )
    return typed


def unmerged(expression: Expression, merged: Merged) -> Expression:
    """The expression with the columns that USING merged spelled out."""
    return rewrite(expression, _from_merged(merged)) if merged else expression


def unmerged_window(window: Window, merged: Merged) -> Window:
    """The window with the columns that USING merged spelled out."""
    return rewrite_window(window, _from_merged(merged)) if merged else window


def _from_merged(merged: Merged) -> Change:
    def change(node: Expression) -> Expression | None:
        return (
            merged.get(node.parts[0]) if isinstance(node, Name) and len(node.parts) == 1 else None
        )

    return change


def count(expression: Expression | None) -> int | None:
    """The number behind OFFSET or FETCH."""
    match expression:
        case None:
            return None
        case Literal(kind=LiteralKind.EXACT, text=text):
            return int(text.split(".")[0] or "0")
        case _:
            raise SchemaError(
                "expected a number of rows", code="invalid-row-count", span=expression.span
            )


def nullable(type_: DataType) -> DataType:
    """The type with NULL among its values; it stays a time attribute if it is one."""
    return type_.with_nullability(True)


# --- sources --------------------------------------------------------------------------------------


class StarItem(NamedTuple):
    """One column of ``*``: its name and what it reads."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class ResolvedSource:
    """A FROM clause: its relation, its sources, what ``*`` stands for, what USING merged.

    `inferred` are the merged columns typed: joins after this one read them in their conditions.
    """

    relation: Relation
    bindings: tuple[SourceBinding, ...]
    star: tuple[StarItem, ...]
    merged: Mapping[str, Expression] = field(default_factory=dict)
    inferred: Inferred = field(default_factory=lambda: NOTHING_INFERRED)


def named(
    relation: Relation,
    alias: str,
    columns: Columns,
    path: tuple[str, ...] = (),
    *,
    lateral: bool = False,
) -> ResolvedSource:
    """A relation as a source of its own."""
    binding = SourceBinding(alias, columns, path)
    return ResolvedSource(
        rel.Named(relation, alias, columns, lateral), (binding,), tuple(star_of(binding))
    )


def star_of(binding: SourceBinding) -> Iterator[StarItem]:
    """What ``alias.*`` stands for."""
    for column in binding.columns:
        yield StarItem(column.name, Name((binding.alias, column.name)))


def generated_name(preceding: Iterable[SourceBinding]) -> str:
    """The alias of a source that was given none."""
    return f"EXPR${len(tuple(preceding))}"


# ------------------------------------------------------------------------------ kinds of source


def table_source(
    source: written.TableName, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """The table, view or common table of a name, as a source."""
    parts = source.name.parts
    common = chain.common.get(parts[0]) if len(parts) == 1 else None
    if common is not None:
        check_table_hints(source.hints, parts[0], "common table")
        return named(common, parts[0], common.columns)
    table = chain.context.tables.table(parts, source.name.span)
    check_table_hints(source.hints, ".".join(parts), table.kind)
    columns = tuple(Column(one.name, _readable(one.data_type)) for one in table.schema.columns)
    period = None
    if source.period is not None:
        own = SourceBinding(parts[-1], columns, hidden=any(preceding))
        period = _moment(source.period, SelectScope(chain, (*preceding, own)))
    scan = rel.Scan(table, columns, source.hints, period)
    return named(scan, parts[-1], columns, tuple(table.identifier.to_list()))


def _readable(type_: DataType) -> DataType:
    """The type of a table's column in a query: a time attribute counts milliseconds there."""
    readable = in_sql(type_)
    match readable:
        case (
            TimestampType(kind=TimestampKind.ROWTIME)
            | LocalZonedTimestampType(kind=TimestampKind.ROWTIME)
        ):
            return type(readable)(3, readable.is_nullable, kind=readable.kind)
        case _:
            return readable


def _moment(period: Expression, scope: SelectScope) -> Typed:
    """The column that says as of when a row of the other side is looked up."""
    hint = "FOR SYSTEM_TIME AS OF takes a time attribute of the other side of a join"
    if not isinstance(period, Name):
        problem = "a table cannot be read as of a fixed moment"
        raise SchemaError(problem, code="time-travel-not-supported", hint=hint, span=period.span)
    typed = value(scope, period)
    if not isinstance(typed.type, TimestampType | LocalZonedTimestampType):
        problem = f"expected a moment, got {typed.type.as_summary_string()}"
        raise SchemaError(problem, code="time-travel-not-supported", hint=hint, span=period.span)
    return typed
