"""The one bridge from what was written to what it means: every node gets its type.

Flink types by rewriting, checking and casting as it goes, and so does this: a call that is another
way to write something is rewritten first, its arguments are typed, the row of the function tables
that fits is found, and the casts that SQL puts in by itself are put in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from schema_core.errors import SchemaError, at
from schema_core.expressions.access import field
from schema_core.expressions.aggregation import aggregated, refuse_on_scalar
from schema_core.expressions.literals import constant
from schema_core.expressions.overloads import (
    accepts_count,
    implicit_cast,
    resolve_call,
    wrong_count,
)
from schema_core.expressions.scope import ColumnScope, Scope
from schema_core.expressions.signatures import Kind
from schema_core.expressions.typed import Keyword, Rows, Select, TypeArgument, Typed
from schema_core.sql import syntax
from schema_core.sql.query_syntax import SetOperation
from schema_core.sql.type_name import data_type
from schema_core.types import DataType, RowField, RowType, SymbolType, require_resolved
from schema_core.types.casts import supports_avoiding_cast, supports_implicit_cast
from schema_core.types.unresolved import look_up

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Function

__all__ = ["ColumnScope", "Scope", "check", "infer"]

SYMBOL = SymbolType(nullable=False)
#: What a call may mean; none at all stand for ``.``, which takes a field out.
Functions: TypeAlias = "tuple[Function, ...]"
#: Calls of which each is the first argument of the one before it, where and what they are.
PendingCalls: TypeAlias = "list[tuple[Scope, syntax.Call, Functions]]"
#: Everything that an expression may be but a call.
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
    """The typed tree of an expression.

    Raises:
        SchemaError: with the span of what is wrong; `errors.within` adds the text. Among its codes
            are `unknown-column`, `unknown-field`, `unknown-function`, `wrong-argument-count`,
            `wrong-argument-type`, `no-common-type`, `number-out-of-range`.

    >>> from schema_core.sql.parser import parse_expression
    >>> from schema_core.types import DataTypes as T
    >>> scope = ColumnScope({"price": T.DECIMAL(10, 2), "qty": T.INT(nullable=False)})
    >>> print(infer(scope, parse_expression("price * qty")).type)
    DECIMAL(21, 2)
    """
    chain: PendingCalls = []
    while isinstance(expression, syntax.Call):
        known = scope.inferred.get(id(expression))
        if known is not None and known[0] is expression:
            return _type_bottom_up(chain, known[1])
        functions = _functions(scope, expression)
        if functions and functions[0].rewrite:
            expression = functions[0].rewrite(expression)
        elif not expression.arguments:
            return _type_bottom_up(chain, _call(scope, expression, functions, ()))
        else:
            chain.append((scope, expression, functions))
            call, expression = expression, expression.arguments[0]
            scope = _of_argument(scope, call, functions, expression)
    outer = chain[-1][2] if chain else ()
    first = _argument(scope, expression, outer[0]) if outer else _leaf(scope, expression)
    return _type_bottom_up(chain, first)


def _of_argument(
    scope: Scope, call: syntax.Call, functions: Functions, argument: syntax.Expression
) -> Scope:
    """The scope of an argument: that of single rows for a column that an aggregate reads."""
    if not isinstance(argument, syntax.Name) or call.over is not None:
        return scope
    is_aggregate = functions and functions[0].kind is Kind.AGGREGATE
    return scope.rows if is_aggregate else scope


def _type_bottom_up(chain: PendingCalls, first: Typed) -> Typed:
    """The outermost of calls, each the first argument of the one before it in the chain.

    So a chain of operators, which may have thousands of operands, takes one frame of Python.
    """
    for scope, call, functions in reversed(chain):
        first = _call(scope, call, functions, (first,))
    return first


def check(scope: Scope, expression: syntax.Expression, expected: DataType) -> Typed:
    """The typed tree of an expression that must be of a type, cast to it where it is not.

    Raises:
        SchemaError: as `infer`, or with code `wrong-type` for a type that does not cast by itself.
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
    """Everything but a call, as an argument of one or alone."""
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
            with at("the target of a cast", span):
                return cast_target(scope, expression)
        case syntax.Subquery(query, span):
            rows = scope.subquery(query, span)
            type_ = _row_type(rows) if scope.in_query else rows.columns[0][1]
            if isinstance(query, SetOperation) and not scope.in_query:
                type_ = type_.nullable()
            return Select(expression, type_, rows, span)
        case syntax.Named(span=span):
            raise SchemaError("arguments cannot be named here", code="named-argument", span=span)
        case _:
            assert_never(expression)


def cast_target(scope: Scope, written: syntax.TypeName) -> TypeArgument:
    """The type that a cast names, and how it is written with the full paths of types.

    Raises:
        UnsupportedError: with code `unknown-type` for a name that nobody knows.
    """
    type_ = require_resolved(look_up(data_type(written, as_cast=True), scope.types))
    return TypeArgument(_in_full(written, type_), type_, written.span)


def _in_full(written: syntax.TypeName, type_: DataType) -> syntax.TypeName:
    """The type as written, with the full paths of the user-defined types in it."""
    if written.path:
        return replace(written, path=getattr(type_, "path", written.path))
    inner = type_.children()
    if not inner:
        return written
    fields = zip(written.fields, inner, strict=False)
    arguments = zip(written.arguments, inner, strict=False)
    return replace(
        written,
        arguments=tuple(_in_full(one, child) for one, child in arguments),
        fields=tuple(replace(one, type=_in_full(one.type, child)) for one, child in fields),
    )


def _row_type(rows: Rows) -> DataType:
    """The type of a row of a query: that of its column, or a row of several."""
    if len(rows.columns) == 1:
        return rows.columns[0][1]
    return RowType([RowField(name, type_) for name, type_ in rows.columns], nullable=False)


def scalar(rows: Select) -> Select:
    """A query in the place of one value, which is NULL where it has no row.

    Raises:
        SchemaError: with code `subquery-column-count` unless it has one column.
    """
    if len(rows.rows.columns) != 1:
        raise SchemaError(
            f"a query of {len(rows.rows.columns)} columns is no value",
            code="subquery-column-count",
            span=rows.span,
        )
    return replace(rows, type=rows.type.nullable())


def _argument(scope: Scope, argument: syntax.Expression, function: Function) -> Typed:
    """An argument of a function: a bare name or a list of values if it takes such, else a value."""
    match argument:
        case syntax.Name(parts=(word,), span=span) if function.bare_names:
            return Keyword(syntax.Symbol(word, span), SYMBOL, span)
        case syntax.Subquery(span=span):
            if not scope.in_query:
                raise SchemaError(
                    "there are no queries here", code="subquery-not-supported", span=span
                )
            rows = _leaf(scope, argument)
            if function.many_rows or not isinstance(rows, Select):
                return rows
            return scalar(rows)
        case _:
            return infer(scope, argument)


def _field(value: Typed, call: syntax.Call) -> Typed:
    """``value.field``, where the value is no plain column."""
    name = call.arguments[1]
    if not isinstance(name, syntax.Name):
        raise SchemaError("a star stands for no value here", code="missing-value", span=call.span)
    return field(value, name.parts[0], call.span)


def _name(scope: Scope, name: syntax.Name) -> Typed:
    """A column, and the fields behind it."""
    typed, fields = scope.lookup(name.parts, name.span)
    found: Typed = typed
    for one in fields:
        found = field(found, one, name.span)
    return found


def _functions(scope: Scope, call: syntax.Call) -> Functions:
    """The functions that a call may mean: those that take so many arguments, if there are any."""
    if call.name == ".":
        return ()
    functions = _called(scope, call)
    count = len(call.arguments)
    fitting = tuple(function for function in functions if accepts_count(function, count))
    if functions[0].rewrite and not fitting:
        raise wrong_count(functions, call)
    return fitting or functions


def _called(scope: Scope, call: syntax.Call) -> Functions:
    """All functions of the name of a call; one that was called in Python is at hand."""
    if isinstance(call.inline, tuple):
        return call.inline
    return scope.function(call.path or (call.name,), call.span)


def _call(scope: Scope, call: syntax.Call, functions: Functions, first: tuple[Typed, ...]) -> Typed:
    """The call, whose first argument is already typed if there is one."""
    if not functions:
        return _field(first[0], call)
    is_aggregate = functions[0].kind is Kind.AGGREGATE
    if not is_aggregate:
        refuse_on_scalar(call, functions[0])
    rest = (
        _argument(_of_argument(scope, call, functions, one), one, functions[0])
        for one in call.arguments[len(first) :]
    )
    typed = resolve_call(functions, (*first, *rest), call)
    return aggregated(scope, typed, call, infer) if is_aggregate else typed
