"""One call typed by the rows of its function: the form that fits, the casts, the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError, at
from schema_core.expressions.coercion import holds_null
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.signatures import Function, Given, Rules
from schema_core.expressions.typed import Apply, Target
from schema_core.sql.type_name import data_type, type_name_of
from schema_core.types import DataType, TypeRoot
from schema_core.types.casts import supports_avoiding_cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema_core.expressions.signatures import Arg
    from schema_core.expressions.typed import Typed
    from schema_core.sql import syntax


def apply(functions: Sequence[Function], arguments: tuple[Typed, ...], call: syntax.Call) -> Apply:
    """The call of the first function and form that take these arguments.

    Raises:
        SchemaError: with code `argument-count` or `argument-type`, placed at the argument that
            does not fit; or whatever refuses the result.
    """
    given = Given(tuple(argument.type for argument in arguments), arguments)
    function, wanted = choose(functions, given, call)
    values = tuple(
        convert(argument, type_, function)
        for argument, type_ in zip(arguments, wanted, strict=True)
    )
    converted = Given(tuple(value.type for value in values), arguments)
    with at(str(function), call.span):
        type_ = result(function, converted)
    return Apply(function, values, type_, written=call, span=call.span)


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
        code="argument-count",
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
    error = SchemaError(
        f"expected {' or '.join(asked)}, got {actual.as_summary_string()}",
        code="argument-type",
        span=given.trees[index].span if given.trees[index].span.stop else call.span,
        hint="write CAST(NULL AS ...)" if actual.root is TypeRoot.NULL else None,
    )
    error.path = (f"argument {index + 1} of {function.shown(form)}",)
    return error


# --- casts that nobody wrote ---------------------------------------------------------------------


def convert(argument: Typed, type_: DataType, function: Function) -> Typed:
    """The argument, in a cast where the function's rules put one."""
    if function.aligns:
        if argument.type == type_:
            return argument
        target = _target(type_, argument)
        nullable = argument.type.is_nullable
        return _cast(argument, target, target.type.with_nullability(nullable))
    if function.rules is Rules.SQL or isinstance(argument, Target):
        return argument
    if supports_avoiding_cast(argument.type, type_):
        return argument
    return implicit_cast(argument, type_)


def implicit_cast(value: Typed, type_: DataType) -> Apply:
    """The value cast to exactly the type, as if someone had written so."""
    return _cast(value, _target(type_, value), type_)


def _target(type_: DataType, value: Typed) -> Target:
    """The type as a cast spells it, which may say less: elements have no NOT NULL of their own."""
    with at("a cast that SQL puts in", value.span):
        written = type_name_of(type_)
    return Target(written, data_type(written, as_cast=True), value.span)


def _cast(value: Typed, target: Target, type_: DataType) -> Apply:
    (cast,) = BUILT_IN["CAST"]
    return Apply(cast, (value, target), type_, implicit=True, span=value.span)
