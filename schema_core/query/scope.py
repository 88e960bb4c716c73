"""Scopes of a query: what names refer to, types of expressions, functions of queries only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

from schema_core.base.lazy import dataclass
from schema_core.base.text import Span
from schema_core.errors import NotFoundError, SchemaError, similar
from schema_core.errors.hints import CAST_NULL
from schema_core.expressions.functions.collections import multiset
from schema_core.expressions.scope import NOTHING_INFERRED, Functions, Inferred, find_function
from schema_core.expressions.signatures import ANY, exactly, never
from schema_core.expressions.type_checker import infer, scalar
from schema_core.expressions.typed import (
    ArgumentTypes,
    Function,
    FunctionCall,
    FunctionKind,
    Keyword,
    Parameter,
    Ref,
    Select,
    Typed,
    walk,
)
from schema_core.query.relation import (
    Column,
    Columns,
    CommonScan,
    Model,
    Relation,
    SourceTable,
    Tables,
)
from schema_core.sql import syntax
from schema_core.sql.printer import show_expression
from schema_core.types import DataType, RowType, TimestampKind, TypeRoot
from schema_core.types import DataTypes as T
from schema_core.types.common import least_restrictive
from schema_core.types.unresolved import LookUp

# --- functions that exist only in queries ---------------------------------------------------------


over_rows: partial[Function] = partial(Function, nullability=never, many_rows=True)
of_group: partial[Function] = partial(Function, nullability=never, kind=FunctionKind.AGGREGATE)
of_match: partial[Function] = partial(Function, nullability=never)

COUNT_TYPE = exactly(T.BIGINT())


def array_of_rows(args: ArgumentTypes) -> DataType:
    """Return the type of ARRAY over a query; several columns form a row."""
    return T.ARRAY(args.types[0])


def multiset_of_rows(args: ArgumentTypes) -> DataType:
    """Return the type of MULTISET over a query."""
    return T.MULTISET(args.types[0])


def map_of_rows(args: ArgumentTypes) -> DataType:
    """Return the type of MAP over a query of keys and values (`column-count-mismatch`)."""
    match args.types[0]:
        case RowType(fields=(key, value)):
            return T.MAP(key.data_type, value.data_type)
        case _:
            raise SchemaError("MAP requires a query with two columns", code="column-count-mismatch")


def _without_rows(args: ArgumentTypes) -> DataType | None:
    """Return the least restrictive type of arguments without rows, aggregates and subqueries."""
    for part in (part for tree in args.trees for part in walk(tree)):
        match part:
            case Select() | FunctionCall(function=Function(kind=FunctionKind.AGGREGATE), over=None):
                return None
    common = least_restrictive(args.types)
    return None if isinstance(common, RowType) else common


#: An element of a MULTISET, which Flink plans as a table: in a schema it reads no columns.
ELEMENT = Parameter("<ANY> except rows", lambda args, _: args.evaluate_once(_without_rows))


def match_rowtime(args: ArgumentTypes) -> DataType:
    """Return the event time of a match, of the kind of the named column, if any."""
    if args.types:
        return args.types[0].not_null()
    return T.TIMESTAMP(3).with_kind(TimestampKind.ROWTIME)


def navigated(args: ArgumentTypes) -> DataType:
    """Return the type of the value at another row of a match."""
    return args.types[0]


FUNCTIONS = (
    over_rows("EXISTS",         (ANY,), exactly(T.BOOLEAN())),
    over_rows("ARRAY QUERY",    (ANY,), array_of_rows),
    over_rows("MULTISET QUERY", (ANY,), multiset_of_rows),
    over_rows("MAP QUERY",      (ANY,), map_of_rows),
    Function("MULTISET",        (ELEMENT,), multiset, repeats=1, nullability=never),
    of_group("GROUPING",        (ANY,), COUNT_TYPE, repeats=1),
    of_group("GROUPING_ID",     (ANY,), COUNT_TYPE, repeats=1),
    of_group("GROUP_ID",        (),     COUNT_TYPE),
)  # fmt: skip

#: Functions that describe the grouping set of a group.
OF_GROUPING = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})

#: Functions that navigate to a row of a match; the second argument is a number of rows.
NAVIGATION = ("FIRST", "LAST", "PREV", "NEXT")

IN_MATCH = (
    *(Function(name, (ANY, ANY), navigated, optional=1, nullability=None) for name in NAVIGATION),
    *(Function(name, (ANY,), navigated, nullability=None) for name in ("FINAL", "RUNNING")),
    of_match("MATCH_ROWTIME",  (ANY,), match_rowtime, optional=1),
    of_match("MATCH_PROCTIME", (),
             exactly(T.TIMESTAMP_LTZ(3).with_kind(TimestampKind.PROCTIME))),
)  # fmt: skip

#: Functions of any query by name.
IN_QUERY: Mapping[str, tuple[Function, ...]] = {
    function.name: (function,) for function in FUNCTIONS
}

#: Functions of measures and definitions of row patterns by name.
IN_PATTERN: Mapping[str, tuple[Function, ...]] = {
    **IN_QUERY,
    **{function.name: (function,) for function in IN_MATCH},
}


# --- scopes ---------------------------------------------------------------------------------------


#: Returns a model by its name.
Models: TypeAlias = Callable[[syntax.Name], Model]

#: Resolves a query in a scope.
Resolve: TypeAlias = Callable[["syntax.Query", "ScopeChain"], "Relation"]


class Lookups:
    """The tables, functions, types and models of one query, each looked up once.

    An expansion that uses them later has the meaning of the resolved query, even if the session
    changed since. Errors are not stored.
    """

    def __init__(self, tables: Tables, functions: Functions, types: LookUp, models: Models) -> None:
        self.table = _look_up_once(tables.table)
        if (read := getattr(tables, "table_at", None)) is not None:  # `VersionedTables`
            versions: dict[tuple[tuple[str, ...], dt.datetime], tuple[SourceTable, int]] = {}

            def table_at(
                path: tuple[str, ...], time: dt.datetime, span: Span
            ) -> tuple[SourceTable, int]:
                if (path, time) not in versions:
                    versions[path, time] = read(path, time, span)
                return versions[path, time]

            self.table_at = table_at
        self.function = _look_up_once(functions)
        self.type = _look_up_once(types)
        self.model = _look_up_once(models)


LookUpT = TypeVar("LookUpT", bound=Callable[..., Any])


def _look_up_once(look_up: LookUpT) -> LookUpT:
    """Store the results of a function by its first argument."""
    results: dict[Hashable, Any] = {}

    def look_up_stored(name: Hashable, *where: Span) -> Any:
        if name not in results:
            results[name] = look_up(name, *where)
        return results[name]

    return cast("LookUpT", look_up_stored)


@dataclass(frozen=True, slots=True)
class ResolutionContext:
    """What is constant in a query: tables, functions, types, and the runtime mode."""

    tables: Tables
    resolve: Resolve
    functions: Functions | None = None
    streaming: bool = True
    types: LookUp | None = None
    models: Models | None = None

    def model(self, name: syntax.Name) -> Model:
        """Return a model (`model-not-found`)."""
        if self.models is None:
            problem = f"there is no model {'.'.join(name.parts)!r}"
            raise NotFoundError(problem, code="model-not-found", span=name.span)
        return self.models(name)


@dataclass(frozen=True, slots=True)
class ScopeChain:
    """The common tables that a query may read, and the enclosing SELECT, if any."""

    context: ResolutionContext
    common: Mapping[str, CommonScan] = field(default_factory=dict)
    outer: SelectScope | None = None

    def resolve(self, query: syntax.Query) -> Relation:
        """Resolve a query in this scope."""
        return self.context.resolve(query, self)

    def with_common(self, table: CommonScan) -> ScopeChain:
        return replace(self, common={**self.common, table.name: table})


@dataclass(frozen=True, slots=True)
class SourceBinding:
    """A source of a FROM clause, as names refer to it.

    Any suffix of `path`, the full path of a table without an alias, can qualify a column. Columns
    of a `hidden` source must be qualified.
    """

    alias: str
    columns: Columns
    path: tuple[str, ...] = ()
    hidden: bool = False
    _by_name: dict[str, list[Column]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def answers_to(self, qualifier: tuple[str, ...]) -> bool:
        """Return whether a qualifier refers to this source."""
        if len(qualifier) == 1:
            return qualifier[0] == self.alias
        return self.path[-len(qualifier) :] == qualifier

    def find(self, name: str) -> list[tuple[Column, tuple[str, ...]]]:
        """Return the columns of a name, or else the rows with such a field.

        Each comes with the names of the fields from the column to the match.
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
    """Return the paths to fields of a name; a row's own field hides deeper ones."""
    if not isinstance(type_, RowType):
        return []
    if any(field_.name == name for field_ in type_.fields):
        return [(name,)]
    return [
        (field_.name, *rest) for field_ in type_.fields for rest in _within(field_.data_type, name)
    ]


@dataclass(frozen=True, slots=True)
class SelectScope:
    """The scope of a SELECT: its sources, then those of the enclosing queries.

    `group_count` is the number of grouping keys, 0 for one group of all rows, -1 if rows are not
    grouped. `ungrouped` is the scope of the rows of groups. `inferred` are calls already typed over
    the same sources.
    """

    chain: ScopeChain
    bindings: tuple[SourceBinding, ...] = ()
    windows: Mapping[str, syntax.Window] = field(default_factory=dict)
    group_count: int = -1
    in_query: bool = True
    query_functions: Mapping[str, tuple[Function, ...]] = field(default_factory=lambda: IN_QUERY)
    ungrouped: SelectScope | None = None
    inferred: Inferred = field(default_factory=lambda: NOTHING_INFERRED, compare=False, repr=False)

    @property
    def streaming(self) -> bool:
        return self.chain.context.streaming

    @property
    def rows(self) -> SelectScope:
        """The scope of the rows that aggregates read."""
        return self.ungrouped or self

    @property
    def types(self) -> LookUp | None:
        return self.chain.context.types

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...]:
        """Return a query's, user-defined or built-in functions of a name (`function-not-found`)."""
        if len(path) == 1 and path[0].upper() in self.query_functions:
            return self.query_functions[path[0].upper()]
        return find_function(path, span, self.chain.context.functions)

    def lookup(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]]:
        """Return the column that a name refers to, and the fields after it.

        Raises:
            SchemaError: `unknown-column` or `ambiguous-column`.
        """
        column = self._find_qualified(parts, span) or self._find_unqualified(parts, span)
        if column is not None:
            return column
        if self.chain.outer is not None:
            return self.chain.outer.lookup(parts, span)
        for binding in self.bindings:
            if len(parts) > 1 and binding.answers_to(parts[:1]):
                raise SchemaError(
                    f"{binding.alias!r} has no column {parts[1]!r}",
                    code="unknown-column",
                    hint=similar(parts[1], [column.name for column in binding.columns]),
                    span=span,
                )
        names = [column.name for binding in self.bindings for column in binding.columns]
        raise SchemaError(
            f"there is no column {'.'.join(parts)!r}",
            code="unknown-column",
            hint=similar(parts[0], [*names, *(binding.alias for binding in self.bindings)]),
            span=span,
        )

    def _find_qualified(
        self, parts: tuple[str, ...], span: Span
    ) -> tuple[Ref, tuple[str, ...]] | None:
        for length in range(len(parts) - 1, 0, -1):
            for binding in self.bindings:
                if binding.answers_to(parts[:length]) and (
                    column := _only_match((binding,), parts[length:], span)
                ):
                    return column
        return None

    def _find_unqualified(
        self, parts: tuple[str, ...], span: Span
    ) -> tuple[Ref, tuple[str, ...]] | None:
        return _only_match(
            [binding for binding in self.bindings if not binding.hidden], parts, span
        )

    def window(self, name: str, span: Span) -> syntax.Window:
        """Return a window of the WINDOW clause (`invalid-window`)."""
        if name not in self.windows:
            raise SchemaError(
                f"there is no window {name!r}",
                code="invalid-window",
                hint=similar(name, self.windows),
                span=span,
            )
        return self.windows[name]

    def subquery(self, query: syntax.Query, span: Span) -> Relation:
        """Resolve a subquery, which sees the columns of this SELECT."""
        return replace(self.chain, outer=self).resolve(query)


def _only_match(
    bindings: Sequence[SourceBinding], parts: tuple[str, ...], span: Span
) -> tuple[Ref, tuple[str, ...]] | None:
    """Return the only column of a name, and the fields after it, or None (`ambiguous-column`)."""
    name = parts[0]
    matches = [(binding, *match) for binding in bindings for match in binding.find(name)]
    if len(matches) > 1:
        aliases = (f"{binding.alias}.{name}" for binding, *_ in matches[:3])
        raise SchemaError(
            f"column {name!r} is ambiguous",
            code="ambiguous-column",
            hint=f"write one of {', '.join(aliases)}",
            span=span,
        )
    if not matches:
        return None
    ((binding, column, fields),) = matches
    return Ref(column.name, column.type, binding.alias, span), (*fields, *parts[1:])


# --- typed expressions ----------------------------------------------------------------------------


Merged = Mapping[str, syntax.Expression]


def value(scope: SelectScope, expression: syntax.Expression) -> Typed:
    """Type an expression that returns a value.

    Raises:
        SchemaError: `data-type-not-inferred` for a bare NULL, or an error of type checking.
    """
    typed = infer(scope, expression)
    if isinstance(typed, Select):
        typed = scalar(typed)
    aggregated = [
        argument
        for part in walk(typed)
        if isinstance(part, FunctionCall) and part.function.kind is FunctionKind.AGGREGATE
        for argument in part.arguments
        if not isinstance(argument, Keyword)
    ]
    for part in (typed, *aggregated):
        if part.type.root in (TypeRoot.NULL, TypeRoot.SYMBOL):
            raise SchemaError(
                "cannot infer a type from an untyped NULL",
                code="data-type-not-inferred",
                hint=CAST_NULL,
                span=part.span,
            )
    return typed


def condition(scope: SelectScope, expression: syntax.Expression, clause: str) -> Typed:
    """Type a condition, a BOOLEAN or NULL (`type-mismatch`)."""
    typed = infer(scope, expression)
    if typed.type.root not in (TypeRoot.BOOLEAN, TypeRoot.NULL):
        raise SchemaError(
            f"{clause} requires a BOOLEAN condition, got {typed.type.as_summary_string()}",
            code="type-mismatch",
            span=expression.span,
        )
    return typed


def replace_merged(expression: syntax.Expression, merged: Merged) -> syntax.Expression:
    """Replace references to columns that USING merged."""
    return syntax.rewrite(expression, _from_merged(merged)) if merged else expression


def unmerged_window(window: syntax.Window, merged: Merged) -> syntax.Window:
    """Replace references to columns that USING merged."""
    return syntax.rewrite_window(window, _from_merged(merged)) if merged else window


def _from_merged(merged: Merged) -> syntax.Change:
    def change(node: syntax.Expression) -> syntax.Expression | None:
        if isinstance(node, syntax.Name) and len(node.parts) == 1:
            return merged.get(node.parts[0])
        return None

    return change


def row_count(expression: syntax.Expression | None) -> int | None:
    """Return the number of rows of OFFSET or FETCH (`invalid-query`)."""
    match expression:
        case None:
            return None
        case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text):
            return int(text.split(".")[0] or "0")
        case _:
            problem = f"expected a number of rows, found {show_expression(expression)}"
            raise SchemaError(problem, code="invalid-query", span=expression.span)


def nullable(type_: DataType) -> DataType:
    """Return the nullable type; a time attribute remains one."""
    return type_.with_nullability(True)
