"""Overload resolution: the overload that a call matches, its implicit casts and its type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.expressions.coercion import holds_null, time_attribute
from schema_core.expressions.signature_dsl import EXACT, INTEGER, NUMERIC
from schema_core.expressions.signatures import ArgumentTypes, Function, Rules
from schema_core.expressions.typed import (
    Constant,
    FunctionCall,
    Keyword,
    TypeArgument,
    first_phase_type,
)
from schema_core.sql import syntax
from schema_core.sql.type_name import type_name_of
from schema_core.types import (
    AnyTimestampType,
    ArrayType,
    DataType,
    MultisetType,
    TimestampKind,
    TypeFamily,
    TypeRoot,
)
from schema_core.types.casts import supports_avoiding_cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from schema_core.expressions.signatures import Parameter
    from schema_core.expressions.typed import Typed

    #: An overload that does not accept the arguments, and the index of the first rejected one.
    Mismatch: TypeAlias = tuple[int, Function, tuple[Parameter, ...]]


def resolve_call(
    functions: Sequence[Function], arguments: tuple[Typed, ...], call: syntax.Call
) -> FunctionCall:
    """Return the call of the first function and overload that accept the arguments.

    Raises:
        SchemaError: with code `wrong-argument-count` or `wrong-argument-type`, located at the
            argument that does not match; or as the function's return type rule.
    """
    given = ArgumentTypes(tuple(map(first_phase_type, arguments)), arguments)
    function, targets = resolve_overload(functions, given, call)
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


def result_type(function: Function, args: ArgumentTypes) -> DataType:
    """Return the type of a call for arguments of these types, with its nullability."""
    type_ = function.returns(args)
    if function.nullability is None or type_.root is TypeRoot.NULL:
        return type_
    is_nullable = holds_null if function.rules is Rules.SQL else _is_nullable
    return type_.with_nullability(function.nullability(map(is_nullable, args.types)))


def _is_nullable(type_: DataType) -> bool:
    return type_.is_nullable


# --- overloads ------------------------------------------------------------------------------------


def resolve_overload(
    functions: Sequence[Function], args: ArgumentTypes, call: syntax.Call
) -> tuple[Function, tuple[DataType, ...]]:
    """Return the first function with a matching overload, and the types to pass arguments as.

    Raises:
        SchemaError: with code `wrong-argument-count` or `wrong-argument-type`.
    """
    mismatches: list[Mismatch] = []
    for function in functions:
        for declared in function.overloads:
            overload = function.expand(declared, len(args.types))
            if overload is None:
                continue
            targets = [parameter.accepts(args, i) for i, parameter in enumerate(overload)]
            types = tuple(type_ for type_ in targets if type_ is not None)
            if len(types) == len(overload):
                return function, types
            mismatches.append((targets.index(None), function, overload))
    if not mismatches:
        raise wrong_count(functions, call)
    raise _wrong_type(mismatches, args, call)


def accepts_count(function: Function, count: int) -> bool:
    """Return whether a function has an overload for this number of arguments."""
    return any(function.expand(overload, count) is not None for overload in function.overloads)


def wrong_count(functions: Sequence[Function], call: syntax.Call) -> SchemaError:
    """Return the error for a call with a number of arguments that no overload accepts."""
    signatures = [
        function.format(overload) for function in functions for overload in function.overloads
    ]
    count = len(call.arguments)
    return SchemaError(
        f"{signatures[0]} called with {count} argument{'' if count == 1 else 's'}",
        code="wrong-argument-count",
        hint=f"call {' or '.join(signatures)}" if len(signatures) > 1 else None,
        span=call.span,
    )


#: Labels of parameters that take only numbers.
_NUMERIC_LABELS = frozenset({NUMERIC.label, EXACT.label, INTEGER.label})


def _wrong_type(mismatches: list[Mismatch], args: ArgumentTypes, call: syntax.Call) -> SchemaError:
    """Return the error of the overload that matched most arguments.

    It lists what all overloads that matched as many arguments expect next.
    """
    index, function, overload = max(mismatches, key=lambda mismatch: mismatch[0])
    expected = dict.fromkeys(item[index].label for i, _, item in mismatches if i == index)
    actual = args.types[index]
    tree = args.trees[index]
    got = tree.symbol.word if isinstance(tree, Keyword) else actual.as_summary_string()
    reasons = (
        rule(args, i) for i, _, item in mismatches if i == index and (rule := item[i].mismatch)
    )
    hint = "write CAST(NULL AS ...)" if actual.root is TypeRoot.NULL else None
    if actual.is_(TypeFamily.CHARACTER_STRING) and _NUMERIC_LABELS.issuperset(expected):
        hint = "convert the string: CAST(... AS DECIMAL(38, 9)), or TRY_CAST for NULL if it fails"
    if call.name == "||" and actual.root is TypeRoot.BOOLEAN:
        hint = "write OR: || joins strings"
    error = SchemaError(
        next(filter(None, reasons), None) or f"expected {' or '.join(expected)}, got {got}",
        code="wrong-argument-type",
        span=tree.span if tree.span.stop else call.span,
        hint=hint,
    )
    error.path = (f"argument {index + 1} of {function.format(overload)}",)
    return error


# --- implicit casts -------------------------------------------------------------------------------


def coerce_argument(argument: Typed, type_: DataType, function: Function) -> Typed:
    """Return the argument, in an implicit cast if the function's rules require one."""
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


def implicit_cast(value: Typed, target: DataType, type_: DataType | None = None) -> FunctionCall:
    """Return the value in an implicit cast to the target; `type_` overrides the type of the call.

    Raises:
        SchemaError: with code `cast-not-in-sql` where Flink has no SQL for the cast.
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


#: Roots that Flink's planner cannot cast a literal of months to.
SMALL_INTEGERS = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT})


def _refuse_months(value: Typed, target: DataType) -> None:
    """Reject the cast of a literal of months to a small integer, on which Flink's planner fails.

    The Table API casts to TINYINT for a parameter of any numeric type.
    """
    if target.root not in SMALL_INTEGERS or value.type.root is not TypeRoot.INTERVAL_YEAR_MONTH:
        return
    inner = value.arguments[0] if isinstance(value, FunctionCall) else value
    if isinstance(inner, Constant) and (inner is value or _is_cast(value)):
        raise SchemaError(
            f"cannot cast {value.type.as_summary_string()} to {target.as_summary_string()}",
            code="cast-not-in-sql",
            span=value.span,
        )


def _is_cast(value: Typed) -> bool:
    return isinstance(value, FunctionCall) and value.function.name == "CAST"


def as_spelled(type_: DataType) -> DataType:
    """Return a type as a cast in SQL spells it: elements NOT NULL, timestamps without attributes.

    >>> from schema_core.types import parse_type
    >>> print(as_spelled(parse_type("MAP<INT, ARRAY<INT>>")))
    MAP<INT, ARRAY<INT NOT NULL>>
    """
    children = tuple(map(as_spelled, type_.children()))
    if isinstance(type_, ArrayType | MultisetType):
        return type_.rebuild(tuple(child.not_null() for child in children))
    if isinstance(type_, AnyTimestampType):
        return type_.with_kind(TimestampKind.REGULAR)
    return type_.rebuild(children)
