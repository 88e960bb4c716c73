"""One call typed by the rows of its function: the form that fits, the casts, the result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.expressions.coercion import holds_null, time_attribute
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.signature_dsl import NUMERIC
from schema_core.expressions.signatures import Function, Given, Rules
from schema_core.expressions.typed import (
    Constant,
    FunctionCall,
    Keyword,
    TypeArgument,
    type_at_first,
)
from schema_core.sql import syntax
from schema_core.sql.type_name import type_name_of
from schema_core.types import (
    AnyTimestampType,
    ArrayType,
    DataType,
    MultisetType,
    TimestampKind,
    TypeRoot,
)
from schema_core.types.casts import supports_avoiding_cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema_core.expressions.signatures import Arg
    from schema_core.expressions.typed import Typed


def apply(
    functions: Sequence[Function], arguments: tuple[Typed, ...], call: syntax.Call
) -> FunctionCall:
    """The call of the first function and form that take these arguments.

    Raises:
        SchemaError: with code `wrong-argument-count` or `wrong-argument-type`, placed at the
            argument that does not fit; or whatever refuses the result.
    """
    given = Given(tuple(map(type_at_first, arguments)), arguments)
    function, wanted = choose(functions, given, call)
    values = tuple(
        convert(argument, type_, function)
        for argument, type_ in zip(arguments, wanted, strict=True)
    )
    try:
        type_ = result(function, Given(tuple(value.type for value in values), arguments))
    except SchemaCoreError:  # seldom: the name of every call would take a tenth of the time
        with at(str(function), call.span):
            raise
    head = syntax.Call(call.name, (), call.path, call.symbol, inline=call.inline)
    found = FunctionCall(function, values, type_, written=head, span=call.span)
    if not any(isinstance(value, FunctionCall) and value.at_first for value in values):
        return found
    at_first = result(function, Given(tuple(map(type_at_first, values)), arguments))
    late = function.late or (call.over is not None and function.takes[:1] != (NUMERIC,))
    return replace(found, type=type_ if late else at_first, at_first=at_first)


def result(function: Function, given: Given) -> DataType:
    """What the function gives for arguments of these types, and whether that may be NULL."""
    type_ = function.gives(given)
    if function.nulls is None or type_.root is TypeRoot.NULL:
        return type_
    may_be_null = holds_null if function.rules is Rules.SQL else _is_nullable
    return type_.with_nullability(function.nulls(map(may_be_null, given.types)))


def _is_nullable(type_: DataType) -> bool:
    return type_.is_nullable


# --- which form ----------------------------------------------------------------------------------


def choose(
    functions: Sequence[Function], given: Given, call: syntax.Call
) -> tuple[Function, tuple[DataType, ...]]:
    """The first function and form that fit, and the types under which the arguments go in."""
    refusals: list[tuple[int, Function, tuple[Arg, ...]]] = []
    for function in functions:
        for short in function.forms:
            form = function.form(short, len(given.types))
            if form is None:
                continue
            wanted = [arg.accepts(given, i) for i, arg in enumerate(form)]
            types = tuple(type_ for type_ in wanted if type_ is not None)
            if len(types) == len(form):
                return function, types
            refusals.append((wanted.index(None), function, form))
    if not refusals:
        raise wrong_count(functions, call)
    raise _wrong_type(refusals, given, call)


def takes_count(function: Function, count: int) -> bool:
    """Whether the function can be called with so many arguments."""
    return any(function.form(form, count) is not None for form in function.forms)


def wrong_count(functions: Sequence[Function], call: syntax.Call) -> SchemaError:
    """The refusal of a call with too few or too many arguments."""
    forms = [function.shown(form) for function in functions for form in function.forms]
    count = len(call.arguments)
    return SchemaError(
        f"{forms[0]} called with {count} argument{'' if count == 1 else 's'}",
        code="wrong-argument-count",
        hint=f"it can be called as {', '.join(forms)}" if len(forms) > 1 else None,
        span=call.span,
    )


def _wrong_type(
    refusals: list[tuple[int, Function, tuple[Arg, ...]]], given: Given, call: syntax.Call
) -> SchemaError:
    """The refusal that came furthest speaks, of what all that came as far ask for there."""
    index, function, form = max(refusals, key=lambda refusal: refusal[0])
    asked = dict.fromkeys(one[index].shown for i, _, one in refusals if i == index)
    actual = given.types[index]
    tree = given.trees[index]
    got = tree.symbol.word if isinstance(tree, Keyword) else actual.as_summary_string()
    error = SchemaError(
        f"expected {' or '.join(asked)}, got {got}",
        code="wrong-argument-type",
        span=tree.span if tree.span.stop else call.span,
        hint="write CAST(NULL AS ...)" if actual.root is TypeRoot.NULL else None,
    )
    error.path = (f"argument {index + 1} of {function.shown(form)}",)
    return error


# --- casts that nobody wrote ---------------------------------------------------------------------


def convert(argument: Typed, type_: DataType, function: Function) -> Typed:
    """The argument, in a cast where the function's rules put one."""
    actual = type_at_first(argument)
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
    """The value cast to the target as if someone had written so; its type is that, or the other.

    Raises:
        SchemaError: with code `cast-not-in-sql` where Flink has no text for such a cast.
    """
    try:
        _refuse_months(value, target)
        written = type_name_of(target)
    except SchemaCoreError:
        with at("a cast that SQL puts in", value.span):
            raise
    cast = BUILT_IN["CAST"][-1]
    arguments = (value, TypeArgument(written, target, value.span))
    return FunctionCall(cast, arguments, type_ or target, implicit=True, span=value.span)


#: What Flink's planner cannot make of months that are written out.
SMALL = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT})


def _refuse_months(value: Typed, target: DataType) -> None:
    """Refuse months that are written out as a small number, which Flink's planner cannot make.

    The Table API asks for one where it asks for any number.
    """
    if target.root not in SMALL or value.type.root is not TypeRoot.INTERVAL_YEAR_MONTH:
        return
    inner = value.arguments[0] if isinstance(value, FunctionCall) else value
    if isinstance(inner, Constant) and (inner is value or _is_cast(value)):
        raise SchemaError(
            "an interval of months is no number", code="cast-not-in-sql", span=value.span
        )


def _is_cast(value: Typed) -> bool:
    return isinstance(value, FunctionCall) and value.function.name == "CAST"


def as_spelled(type_: DataType) -> DataType:
    """What is left of a type in the text of a cast: elements are NOT NULL, no time is an attribute.

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
