"""Type checking: from syntax trees to typed trees.

As in Flink, one pass rewrites synonyms, types arguments, resolves overloads and inserts implicit
casts.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias, assert_never

from schema_core import types
from schema_core.base.text import quantity
from schema_core.errors import SchemaCoreError, SchemaError, at, similar
from schema_core.expressions.aggregate_calls import aggregate_call
from schema_core.expressions.coercion import holds_null, time_attribute
from schema_core.expressions.literals import constant
from schema_core.expressions.scope import ColumnScope, Scope, in_sql
from schema_core.expressions.signatures import EXACT, INTEGER, NUMERIC
from schema_core.expressions.typed import (
    Access,
    ArgumentTypes,
    Constant,
    Function,
    FunctionCall,
    FunctionKind,
    Keyword,
    Rules,
    Select,
    TypeArgument,
    Typed,
    first_phase_type,
    walk,
)
from schema_core.sql import syntax
from schema_core.sql.type_name import data_type, type_name_of
from schema_core.types.casts import supports_avoiding_cast, supports_implicit_cast
from schema_core.types.unresolved import look_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema_core.base.text import Span
    from schema_core.expressions.typed import Parameter

    #: An overload that rejects the arguments, and the index of the first rejected one.
    Mismatch: TypeAlias = tuple[int, Function, tuple[Parameter, ...]]

__all__ = ["ColumnScope", "Scope", "check", "infer"]

SYMBOL = types.SymbolType(nullable=False)
#: The functions that a call may refer to; empty for ``.``, the access to a field.
Functions: TypeAlias = "tuple[Function, ...]"
#: Calls whose first argument is not typed yet, each the first argument of the one before.
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
    """The typed tree of an expression.

    Raises:
        SchemaError: with the span of the mistake; `errors.within` adds the source. Among its codes
            are `unknown-column`, `unknown-field`, `function-not-found`, `invalid-function-call`,
            `type-mismatch`, `invalid-literal`.

    >>> from schema_core.sql.parser import parse_expression
    >>> from schema_core.types import DataTypes as T
    >>> scope = ColumnScope({"price": T.DECIMAL(10, 2), "qty": T.INT(nullable=False)})
    >>> print(infer(scope, parse_expression("price * qty")).type)
    DECIMAL(21, 2)
    """
    pending: PendingCalls = []
    while isinstance(expression, syntax.Call):
        inferred = scope.inferred.get(id(expression))
        if inferred is not None and inferred[0] is expression:
            return _type_bottom_up(pending, inferred[1])
        functions = _find_functions(scope, expression)
        if functions and functions[0].rewrite:
            reject_aggregate_clauses(expression, functions[0])
            _check_rewritten(scope, expression)
            expression = functions[0].rewrite(expression)
        elif not expression.arguments:
            return _type_bottom_up(pending, _type_call(scope, expression, functions, ()))
        else:
            pending.append((scope, expression, functions))
            call, expression = expression, expression.arguments[0]
            scope = _argument_scope(scope, call, functions, expression)
    outer = pending[-1][2] if pending else ()
    first = _type_argument(scope, expression, outer[0]) if outer else _type_leaf(scope, expression)
    return _type_bottom_up(pending, first)


def _argument_scope(
    scope: Scope, call: syntax.Call, functions: Functions, argument: syntax.Expression
) -> Scope:
    """The scope of an argument: for a column in an aggregate, that of ungrouped rows."""
    if not isinstance(argument, syntax.Name) or call.over is not None:
        return scope
    is_aggregate = functions and functions[0].kind is FunctionKind.AGGREGATE
    return scope.rows if is_aggregate else scope


def _type_bottom_up(pending: PendingCalls, first: Typed) -> Typed:
    """Type pending calls from the innermost outwards.

    Left-deep trees may have thousands of operands, so this does not recurse.
    """
    for scope, call, functions in reversed(pending):
        first = _type_call(scope, call, functions, (first,))
    return first


def check(scope: Scope, expression: syntax.Expression, expected: types.DataType) -> Typed:
    """The typed tree of an expression in an implicit cast to the expected type.

    Raises:
        SchemaError: as `infer`, or with code `type-mismatch` for a type without an implicit cast.
    """
    typed = infer(scope, expression)
    if supports_avoiding_cast(typed.type, expected):
        return typed
    if supports_implicit_cast(typed.type, expected):
        return implicit_cast(typed, expected)
    raise SchemaError(
        f"expected {expected.as_summary_string()}, got {typed.type.as_summary_string()}",
        code="type-mismatch",
        hint="add a CAST",
        span=expression.span,
    )


def _type_leaf(scope: Scope, expression: Leaf) -> Typed:
    match expression:
        case syntax.Literal() | syntax.Interval():
            return constant(expression)
        case syntax.Name(parts=parts, span=span):
            value: Typed
            value, fields = scope.lookup(parts, span)
            for name in fields:
                value = field(value, name, span)
            return value
        case syntax.Symbol(span=span):
            return Keyword(expression, SYMBOL, span)
        case syntax.Star(span=span):
            return Keyword(syntax.Symbol("*", span), SYMBOL, span)
        case syntax.TypeName(span=span):
            with at("the target type of a cast", span):
                return cast_target(scope, expression)
        case syntax.Subquery(query, span):
            rows = scope.subquery(query, span)
            type_ = rows.columns[0][1]
            if scope.in_query and len(rows.columns) > 1:
                row_fields = [types.RowField(*column) for column in rows.columns]
                type_ = types.RowType(row_fields, nullable=False)
            elif isinstance(query, syntax.SetOperation) and not scope.in_query:
                type_ = type_.nullable()
            return Select(expression, type_, rows, span)
        case syntax.Named(span=span):
            raise SchemaError(
                "named arguments are not supported here", code="invalid-function-call", span=span
            )
        case _:
            assert_never(expression)


def cast_target(scope: Scope, written: syntax.TypeName) -> TypeArgument:
    """The target type of a cast, with the full paths of user-defined types."""
    type_ = types.require_resolved(look_up(data_type(written, as_cast=True), scope.types))
    return TypeArgument(_with_full_paths(written, type_), type_, written.span)


def _with_full_paths(written: syntax.TypeName, type_: types.DataType) -> syntax.TypeName:
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
            replace(field, type=_with_full_paths(field.type, child)) for field, child in fields
        ),
    )


def scalar(rows: Select) -> Select:
    """A query as a scalar, which is NULL without rows."""
    if len(rows.rows.columns) != 1:
        raise SchemaError(
            f"a scalar subquery must have one column, got {len(rows.rows.columns)}",
            code="column-count-mismatch",
            span=rows.span,
        )
    return replace(rows, type=rows.type.nullable())


def _type_argument(scope: Scope, argument: syntax.Expression, function: Function) -> Typed:
    """Type an argument: a value, or for some functions a bare name or a list of values."""
    match argument:
        case syntax.Name(parts=(word,), span=span) if function.bare_names:
            return Keyword(syntax.Symbol(word, span), SYMBOL, span)
        case syntax.Subquery(span=span):
            if not scope.in_query:
                raise SchemaError(
                    "subqueries are not supported here", code="feature-not-supported", span=span
                )
            rows = _type_leaf(scope, argument)
            if function.many_rows or not isinstance(rows, Select):
                return rows
            return scalar(rows)
        case _:
            return infer(scope, argument)


def field(value: Typed, name: str, span: Span) -> Access:
    """The access to a field, nullable if the value or the field is."""
    type_ = value.type
    fields = type_.fields if isinstance(type_, types.RowType | types.StructuredType) else ()
    for row_field in fields:
        if row_field.name == name:
            field_type = in_sql(row_field.data_type)
            nullable = type_.is_nullable or field_type.is_nullable
            return Access(value, name, field_type.with_nullability(nullable), span)
    raise SchemaError(
        f"{type_.as_summary_string()} has no field {name!r}",
        code="unknown-field",
        hint=similar(name, [row_field.name for row_field in fields]),
        span=span,
    )


def _find_functions(scope: Scope, call: syntax.Call) -> Functions:
    """The functions of a call's name, preferring those for its number of arguments."""
    if call.name == ".":
        return ()
    if isinstance(call.inline, tuple):  # of a Python function
        functions: Functions = call.inline
    else:
        functions = scope.function(call.path or (call.name,), call.span)
    count = len(call.arguments)
    accepting = tuple(function for function in functions if accepts_count(function, count))
    if functions[0].rewrite and not accepting:
        raise wrong_count(functions, call)
    return accepting or functions


def _type_call(
    scope: Scope, call: syntax.Call, functions: Functions, first: tuple[Typed, ...]
) -> Typed:
    """Type a call whose first argument, if any, is already typed."""
    if not functions:
        name = call.arguments[1]
        if not isinstance(name, syntax.Name):
            raise SchemaError("* is not a value", code="invalid-function-call", span=call.span)
        return field(first[0], name.parts[0], call.span)
    is_aggregate = functions[0].kind is FunctionKind.AGGREGATE
    if not is_aggregate:
        reject_aggregate_clauses(call, functions[0])
    rest = (
        _type_argument(_argument_scope(scope, call, functions, argument), argument, functions[0])
        for argument in call.arguments[len(first) :]
    )
    typed = resolve_call(functions, (*first, *rest), call)
    if scope.in_query and typed.function.aligns:
        _reject_aligned_intervals(typed)
    return aggregate_call(scope, typed, call, infer) if is_aggregate else typed


def reject_aggregate_clauses(call: syntax.Call, function: Function) -> None:
    """Reject the clauses of aggregates on other functions."""
    clauses = {
        "DISTINCT": call.symbol == "DISTINCT",
        "ALL": call.symbol == "ALL",
        call.nulls or "": call.nulls is not None,
        "FILTER": call.filter is not None,
        "WITHIN GROUP": bool(call.within),
        "OVER": call.over is not None,
    }
    for clause, is_present in clauses.items():
        if is_present:
            raise SchemaError(
                f"{clause} requires an aggregate, and {function.name} is not one",
                code="invalid-function-call",
                span=call.span,
            )


def _check_rewritten(scope: Scope, call: syntax.Call) -> None:
    """Check the arguments of a rewritten call: Flink validates them as in a query."""
    if scope.in_query:
        return
    parts = (part for argument in call.arguments for part in syntax.walk(argument))
    if not any(isinstance(part, syntax.Call) and part.name in ("ARRAY", "MAP") for part in parts):
        return
    for argument in call.arguments:
        for part in walk(infer(scope, argument)):
            if isinstance(part, FunctionCall) and part.function.aligns:
                _reject_aligned_intervals(part)


def _reject_aligned_intervals(constructor: FunctionCall) -> None:
    """Reject a constructor of a collection that casts an interval to a datetime."""
    for value in constructor.arguments:
        if not isinstance(value, FunctionCall) or not value.implicit:
            continue
        source = value.arguments[0].type
        if source.is_(types.TypeFamily.INTERVAL) and value.type.is_(types.TypeFamily.DATETIME):
            raise SchemaError(
                f"{source.as_summary_string()} and {value.type.as_summary_string()} have no common "
                "type",
                code="invalid-function-call",
                span=value.span,
            )


# --- overload resolution: the overload that a call matches, its implicit casts and its type ------


def resolve_call(
    functions: Sequence[Function], arguments: tuple[Typed, ...], call: syntax.Call
) -> FunctionCall:
    """The call of the first function and overload that accept the arguments."""
    argument_types = ArgumentTypes(tuple(map(first_phase_type, arguments)), arguments)
    function, targets = resolve_overload(functions, argument_types, call)
    values = tuple(
        coerce_argument(argument, target, function)
        for argument, target in zip(arguments, targets, strict=True)
    )
    try:
        type_ = result_type(
            function, ArgumentTypes(tuple(value.type for value in values), arguments)
        )
    except SchemaCoreError:  # formatting every call's name up front would cost 10 %
        with at(str(function), call.span):
            raise
    written = syntax.Call(call.name, (), call.path, call.symbol, inline=call.inline)
    typed = FunctionCall(function, values, type_, written=written, span=call.span)
    if not any(isinstance(value, FunctionCall) and value.first_phase_type for value in values):
        return typed
    first = ArgumentTypes(tuple(map(first_phase_type, values)), arguments)
    first_type = result_type(function, first)
    retyped = call.over is not None and function.parameters[:1] != (NUMERIC,)
    if not (function.two_phase_type or retyped):
        type_ = first_type
    return replace(typed, type=type_, first_phase_type=first_type)


def result_type(function: Function, args: ArgumentTypes) -> types.DataType:
    """The type of a call for these arguments, with its nullability."""
    type_ = function.returns(args)
    if function.nullability is None or type_.root is types.TypeRoot.NULL:
        return type_
    is_nullable = holds_null if function.rules is Rules.SQL else attrgetter("is_nullable")
    return type_.with_nullability(function.nullability(map(is_nullable, args.types)))


def resolve_overload(
    functions: Sequence[Function], args: ArgumentTypes, call: syntax.Call
) -> tuple[Function, tuple[types.DataType, ...]]:
    """The first function with a matching overload, and the types to pass arguments as."""
    mismatches: list[Mismatch] = []
    for function in functions:
        for declared in function.overloads:
            overload = function.expand(declared, len(args.types))
            if overload is None:
                continue
            targets = [parameter.accepts(args, i) for i, parameter in enumerate(overload)]
            accepted = tuple(type_ for type_ in targets if type_ is not None)
            if len(accepted) == len(overload):
                return function, accepted
            mismatches.append((targets.index(None), function, overload))
    if not mismatches:
        raise wrong_count(functions, call)
    raise _wrong_type(mismatches, args, call)


def accepts_count(function: Function, count: int) -> bool:
    return any(function.expand(overload, count) is not None for overload in function.overloads)


def wrong_count(functions: Sequence[Function], call: syntax.Call) -> SchemaError:
    """The error for a number of arguments that no overload accepts."""
    signatures = [
        function.format(overload) for function in functions for overload in function.overloads
    ]
    return SchemaError(
        f"{signatures[0]} called with {quantity(len(call.arguments), 'argument')}",
        code="invalid-function-call",
        hint=f"call {' or '.join(signatures)}" if len(signatures) > 1 else None,
        span=call.span,
    )


#: Labels of parameters that take only numbers.
_NUMERIC_LABELS = frozenset({NUMERIC.label, EXACT.label, INTEGER.label})


def _wrong_type(mismatches: list[Mismatch], args: ArgumentTypes, call: syntax.Call) -> SchemaError:
    """The error of the overloads that matched most arguments."""
    index, function, overload = max(mismatches, key=lambda mismatch: mismatch[0])
    furthest = [mismatch[2] for mismatch in mismatches if mismatch[0] == index]
    expected = dict.fromkeys(parameters[index].label for parameters in furthest)
    actual = args.types[index]
    tree = args.trees[index]
    got = tree.symbol.word if isinstance(tree, Keyword) else actual.as_summary_string()
    rules = (parameters[index].mismatch for parameters in furthest)
    reasons = (rule(args, index) for rule in rules if rule)
    hint = "write CAST(NULL AS ...)" if actual.root is types.TypeRoot.NULL else None
    if actual.is_(types.TypeFamily.CHARACTER_STRING) and _NUMERIC_LABELS.issuperset(expected):
        hint = "convert the string: CAST(... AS DECIMAL(38, 9)), or TRY_CAST for NULL if it fails"
    if call.name == "||" and actual.root is types.TypeRoot.BOOLEAN:
        hint = "write OR: || joins strings"
    error = SchemaError(
        next(filter(None, reasons), None) or f"expected {' or '.join(expected)}, got {got}",
        code="invalid-function-call",
        span=tree.span if tree.span.stop else call.span,
        hint=hint,
    )
    error.path = (f"argument {index + 1} of {function.format(overload)}",)
    return error


# --- implicit casts -------------------------------------------------------------------------------


def coerce_argument(argument: Typed, type_: types.DataType, function: Function) -> Typed:
    """The argument, in an implicit cast if the function's rules require one."""
    actual = first_phase_type(argument)
    if function.aligns:
        aligned = actual == type_ and time_attribute(actual) is time_attribute(type_)
        spelled = as_spelled(type_).with_nullability(argument.type.is_nullable)
        return argument if aligned else implicit_cast(argument, type_, spelled)
    if function.rules is Rules.SQL or isinstance(argument, TypeArgument):
        return argument
    if supports_avoiding_cast(actual, type_):
        return argument
    return implicit_cast(argument, type_)


def implicit_cast(
    value: Typed, target: types.DataType, type_: types.DataType | None = None
) -> FunctionCall:
    """The value in an implicit cast; `type_` overrides the type of the call.

    Raises:
        SchemaError: with code `not-in-sql` where Flink has no SQL for the cast.
    """
    from schema_core.expressions.functions import BUILT_IN

    try:
        _refuse_months(value, target)
        type_name = type_name_of(target)
    except SchemaCoreError:
        with at("an implicit cast", value.span):
            raise
    cast = BUILT_IN["CAST"][-1]
    arguments = (value, TypeArgument(type_name, target, value.span))
    return FunctionCall(cast, arguments, type_ or target, implicit=True, span=value.span)


SMALL_INTEGERS = frozenset({types.TypeRoot.TINYINT, types.TypeRoot.SMALLINT})


def _refuse_months(value: Typed, target: types.DataType) -> None:
    """Reject the cast of a literal of months to a small integer, on which Flink's planner fails.

    The Table API casts to TINYINT for any numeric parameter.
    """
    if (
        target.root not in SMALL_INTEGERS
        or value.type.root is not types.TypeRoot.INTERVAL_YEAR_MONTH
    ):
        return
    inner = value.arguments[0] if isinstance(value, FunctionCall) else value
    is_cast = isinstance(value, FunctionCall) and value.function.name == "CAST"
    if isinstance(inner, Constant) and (inner is value or is_cast):
        raise SchemaError(
            f"cannot cast {value.type.as_summary_string()} to {target.as_summary_string()}",
            code="not-in-sql",
            span=value.span,
        )


def as_spelled(type_: types.DataType) -> types.DataType:
    """A type as a cast in SQL spells it: elements NOT NULL, timestamps without attributes.

    >>> from schema_core.types import parse_type
    >>> print(as_spelled(parse_type("MAP<INT, ARRAY<INT>>")))
    MAP<INT, ARRAY<INT NOT NULL>>
    """
    children = tuple(map(as_spelled, type_.children()))
    if isinstance(type_, types.ArrayType | types.MultisetType):
        return type_.rebuild(tuple(child.not_null() for child in children))
    if isinstance(type_, types.AnyTimestampType):
        return type_.with_kind(types.TimestampKind.REGULAR)
    return type_.rebuild(children)
