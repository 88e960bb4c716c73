"""Type checking: from syntax trees to typed trees.

As in Flink, typing, rewriting and casting are one pass: a call that is a synonym is rewritten, its
arguments are typed, its overload is resolved, and implicit casts are inserted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from schema_core import types
from schema_core.errors import SchemaError, at, similar
from schema_core.expressions.aggregate_calls import aggregate_call, reject_aggregate_clauses
from schema_core.expressions.literals import constant
from schema_core.expressions.overloads import (
    accepts_count,
    implicit_cast,
    resolve_call,
    wrong_count,
)
from schema_core.expressions.scope import ColumnScope, Scope, in_sql
from schema_core.expressions.signatures import FunctionKind
from schema_core.expressions.typed import (
    Access,
    FunctionCall,
    Keyword,
    Rows,
    Select,
    TypeArgument,
    Typed,
    walk,
)
from schema_core.sql import syntax
from schema_core.sql.syntax import SetOperation
from schema_core.sql.type_name import data_type
from schema_core.types.casts import supports_avoiding_cast, supports_implicit_cast
from schema_core.types.unresolved import look_up

if TYPE_CHECKING:
    from schema_core.base.text import Span
    from schema_core.expressions.signatures import Function

__all__ = ["ColumnScope", "Scope", "check", "infer"]

SYMBOL = types.SymbolType(nullable=False)
#: The functions that a call may refer to; empty for ``.``, the access to a field.
Functions: TypeAlias = "tuple[Function, ...]"
#: Calls whose first argument is still untyped: each is the first argument of the one before it.
PendingCalls: TypeAlias = "list[tuple[Scope, syntax.Call, Functions]]"
#: Every expression except calls.
Leaf: TypeAlias = (
    syntax.Literal
    | syntax.Interval
    | syntax.Name
    | syntax.Star
    | syntax.Symbol
    | syntax.TypeName
    | syntax.Named
    | syntax.Subquery
)


def infer(scope: Scope, expression: syntax.Expression) -> Typed:
    """Return the typed tree of an expression.

    Raises:
        SchemaError: with the span of the mistake; `errors.within` adds the source. Among its codes
            are `unknown-column`, `unknown-field`, `unknown-function`, `wrong-argument-count`,
            `wrong-argument-type`, `no-common-type`, `number-out-of-range`.

    >>> from schema_core.sql.parser import parse_expression
    >>> from schema_core.types import DataTypes as T
    >>> scope = ColumnScope({"price": T.DECIMAL(10, 2), "qty": T.INT(nullable=False)})
    >>> print(infer(scope, parse_expression("price * qty")).type)
    DECIMAL(21, 2)
    """
    pending: PendingCalls = []
    while isinstance(expression, syntax.Call):
        known = scope.inferred.get(id(expression))
        if known is not None and known[0] is expression:
            return _type_bottom_up(pending, known[1])
        functions = _functions(scope, expression)
        if functions and functions[0].rewrite:
            reject_aggregate_clauses(expression, functions[0])
            _check_rewritten(scope, expression)
            expression = functions[0].rewrite(expression)
        elif not expression.arguments:
            return _type_bottom_up(pending, _call(scope, expression, functions, ()))
        else:
            pending.append((scope, expression, functions))
            call, expression = expression, expression.arguments[0]
            scope = _of_argument(scope, call, functions, expression)
    outer = pending[-1][2] if pending else ()
    first = _argument(scope, expression, outer[0]) if outer else _leaf(scope, expression)
    return _type_bottom_up(pending, first)


def _of_argument(
    scope: Scope, call: syntax.Call, functions: Functions, argument: syntax.Expression
) -> Scope:
    """Return the scope of an argument: for a column in an aggregate, that of ungrouped rows."""
    if not isinstance(argument, syntax.Name) or call.over is not None:
        return scope
    is_aggregate = functions and functions[0].kind is FunctionKind.AGGREGATE
    return scope.rows if is_aggregate else scope


def _type_bottom_up(pending: PendingCalls, first: Typed) -> Typed:
    """Type pending calls from the innermost outwards.

    A left-deep tree of operators, which may have thousands of operands, needs no recursion.
    """
    for scope, call, functions in reversed(pending):
        first = _call(scope, call, functions, (first,))
    return first


def check(scope: Scope, expression: syntax.Expression, expected: types.DataType) -> Typed:
    """Return the typed tree of an expression in an implicit cast to the expected type.

    Raises:
        SchemaError: as `infer`, or with code `wrong-type` for a type without an implicit cast.
    """
    typed = infer(scope, expression)
    if supports_avoiding_cast(typed.type, expected):
        return typed
    if supports_implicit_cast(typed.type, expected):
        return implicit_cast(typed, expected)
    raise SchemaError(
        f"expected {expected.as_summary_string()}, got {typed.type.as_summary_string()}",
        code="wrong-type",
        hint="add a CAST",
        span=expression.span,
    )


def _leaf(scope: Scope, expression: Leaf) -> Typed:
    """Type any expression except a call."""
    match expression:
        case syntax.Literal() | syntax.Interval():
            return constant(expression)
        case syntax.Name():
            return _name(scope, expression)
        case syntax.Symbol(span=span):
            return Keyword(expression, SYMBOL, span)
        case syntax.Star(span=span):
            return Keyword(syntax.Symbol("*", span), SYMBOL, span)
        case syntax.TypeName(span=span):
            with at("the target type of a cast", span):
                return cast_target(scope, expression)
        case syntax.Subquery(query, span):
            rows = scope.subquery(query, span)
            type_ = _row_type(rows) if scope.in_query else rows.columns[0][1]
            if isinstance(query, SetOperation) and not scope.in_query:
                type_ = type_.nullable()
            return Select(expression, type_, rows, span)
        case syntax.Named(span=span):
            raise SchemaError(
                "named arguments are not supported here", code="named-argument", span=span
            )
        case _:
            assert_never(expression)


def cast_target(scope: Scope, written: syntax.TypeName) -> TypeArgument:
    """Return the target type of a cast, with the full paths of user-defined types.

    Raises:
        UnsupportedError: with code `unknown-type` for a name that is not defined.
    """
    type_ = types.require_resolved(look_up(data_type(written, as_cast=True), scope.types))
    return TypeArgument(_with_full_paths(written, type_), type_, written.span)


def _with_full_paths(written: syntax.TypeName, type_: types.DataType) -> syntax.TypeName:
    """Return the type as written, with the full paths of user-defined types."""
    if written.path:
        return replace(written, path=getattr(type_, "path", written.path))
    inner = type_.children()
    if not inner:
        return written
    fields = zip(written.fields, inner, strict=False)
    arguments = zip(written.arguments, inner, strict=False)
    return replace(
        written,
        arguments=tuple(_with_full_paths(argument, child) for argument, child in arguments),
        fields=tuple(
            replace(item, type=_with_full_paths(item.type, child)) for item, child in fields
        ),
    )


def _row_type(rows: Rows) -> types.DataType:
    """Return the type of a query's rows: the type of its only column, else a row type."""
    if len(rows.columns) == 1:
        return rows.columns[0][1]
    return types.RowType(
        [types.RowField(name, type_) for name, type_ in rows.columns], nullable=False
    )


def scalar(rows: Select) -> Select:
    """Return a query as a scalar, which is NULL if the query has no rows.

    Raises:
        SchemaError: with code `subquery-column-count` unless it has one column.
    """
    if len(rows.rows.columns) != 1:
        raise SchemaError(
            f"a scalar subquery must have one column, got {len(rows.rows.columns)}",
            code="subquery-column-count",
            span=rows.span,
        )
    return replace(rows, type=rows.type.nullable())


def _argument(scope: Scope, argument: syntax.Expression, function: Function) -> Typed:
    """Type an argument: a value, or for some functions a bare name or a list of values."""
    match argument:
        case syntax.Name(parts=(word,), span=span) if function.bare_names:
            return Keyword(syntax.Symbol(word, span), SYMBOL, span)
        case syntax.Subquery(span=span):
            if not scope.in_query:
                raise SchemaError(
                    "subqueries are not supported here", code="subquery-not-supported", span=span
                )
            rows = _leaf(scope, argument)
            if function.many_rows or not isinstance(rows, Select):
                return rows
            return scalar(rows)
        case _:
            return infer(scope, argument)


def _field(value: Typed, call: syntax.Call) -> Typed:
    """Type ``value.field`` where the value is not a column."""
    name = call.arguments[1]
    if not isinstance(name, syntax.Name):
        raise SchemaError("* is not a value", code="missing-value", span=call.span)
    return field(value, name.parts[0], call.span)


def field(value: Typed, name: str, span: Span) -> Access:
    """Return the access to a field, nullable if the value or the field is.

    Raises:
        SchemaError: with code `unknown-field`.
    """
    type_ = value.type
    fields = type_.fields if isinstance(type_, types.RowType | types.StructuredType) else ()
    for item in fields:
        if item.name == name:
            found = in_sql(item.data_type)
            nullable = type_.is_nullable or found.is_nullable
            return Access(value, name, found.with_nullability(nullable), span)
    raise SchemaError(
        f"{type_.as_summary_string()} has no field {name!r}",
        code="unknown-field",
        hint=similar(name, [item.name for item in fields]),
        span=span,
    )


def _name(scope: Scope, name: syntax.Name) -> Typed:
    """Type a column and the fields that follow it."""
    typed, fields = scope.lookup(name.parts, name.span)
    found: Typed = typed
    for item in fields:
        found = field(found, item, name.span)
    return found


def _functions(scope: Scope, call: syntax.Call) -> Functions:
    """Return the functions of a call's name, preferring those for its number of arguments."""
    if call.name == ".":
        return ()
    functions = _functions_of_name(scope, call)
    count = len(call.arguments)
    accepting = tuple(function for function in functions if accepts_count(function, count))
    if functions[0].rewrite and not accepting:
        raise wrong_count(functions, call)
    return accepting or functions


def _functions_of_name(scope: Scope, call: syntax.Call) -> Functions:
    """Return all functions of a call's name; a Python function carries its own."""
    if isinstance(call.inline, tuple):
        return call.inline
    return scope.function(call.path or (call.name,), call.span)


def _call(scope: Scope, call: syntax.Call, functions: Functions, first: tuple[Typed, ...]) -> Typed:
    """Type a call whose first argument, if any, is already typed."""
    if not functions:
        return _field(first[0], call)
    is_aggregate = functions[0].kind is FunctionKind.AGGREGATE
    if not is_aggregate:
        reject_aggregate_clauses(call, functions[0])
    rest = (
        _argument(_of_argument(scope, call, functions, argument), argument, functions[0])
        for argument in call.arguments[len(first) :]
    )
    typed = resolve_call(functions, (*first, *rest), call)
    if scope.in_query and typed.function.aligns:
        _reject_aligned_intervals(typed)
    return aggregate_call(scope, typed, call, infer) if is_aggregate else typed


def _check_rewritten(scope: Scope, call: syntax.Call) -> None:
    """Check the arguments of a call that is rewritten: Flink validates them as those of a query."""
    if scope.in_query or not any(map(_has_constructor, call.arguments)):
        return
    for argument in call.arguments:
        for part in walk(infer(scope, argument)):
            if isinstance(part, FunctionCall) and part.function.aligns:
                _reject_aligned_intervals(part)


def _has_constructor(expression: syntax.Expression) -> bool:
    return any(
        isinstance(part, syntax.Call) and part.name in ("ARRAY", "MAP")
        for part in syntax.walk(expression)
    )


def _reject_aligned_intervals(constructor: FunctionCall) -> None:
    """Reject a constructor of a collection that casts an interval to a datetime.

    Raises:
        SchemaError: with code `wrong-argument-type`.
    """
    for value in constructor.arguments:
        if not isinstance(value, FunctionCall) or not value.implicit:
            continue
        source = value.arguments[0].type
        if source.is_(types.TypeFamily.INTERVAL) and value.type.is_(types.TypeFamily.DATETIME):
            raise SchemaError(
                f"{source.as_summary_string()} and {value.type.as_summary_string()} have no common "
                "type",
                code="wrong-argument-type",
                span=value.span,
            )
