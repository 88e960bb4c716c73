"""Validation of arguments. Messages name the type of a wrong value, which may be secret."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial, wraps
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, ParamSpec, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from schema_core.errors import SchemaError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type[Any])
T = TypeVar("T")

#: A class, or the classes of which one is accepted.
Kind: TypeAlias = type[Any] | tuple[type[Any], ...]

NAMES: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    NoneType: "None",
    Mapping: "a mapping",
    Iterable: "an iterable",
}


def require_instance(
    value: T, kind: Kind, name: str, expected: str | None = None, hint: str | None = None
) -> T:
    """Return a value that is an instance of a class, or refuse it; `True` is not an integer.

    `name` is the subject of the message, usually a parameter; `expected` is the noun for an
    instance.

    Raises:
        SchemaError: with code `invalid-argument`.

    >>> require_instance(None, str, "stmt")
    Traceback (most recent call last):
        ...
    schema_core.errors.InvalidArgumentError: stmt must be a string, got None
    """
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = expected or " or ".join(map(_describe, kinds))
    problem = f"{name} must be {wanted}, got {type_name(value)}"
    raise SchemaError(problem, code="invalid-argument", hint=hint)


def require_sequence(values: Iterable[T], name: str) -> tuple[T, ...]:
    """Return the elements of an iterable; a string does not count as one.

    Raises:
        SchemaError: with code `invalid-argument`.
    """
    try:
        elements = None if isinstance(values, str | bytes) else iter(values)
    except TypeError:
        elements = None
    if elements is None:
        problem = f"{name} must be a list, got {type_name(values)}"
        raise SchemaError(problem, code="invalid-argument")
    return tuple(elements)


def require_names(names: Iterable[str], owner: str) -> tuple[str, ...]:
    """Return the names of the columns of `owner`, a key or an index.

    Raises:
        SchemaError: with code `invalid-argument`.

    >>> require_names((["id", "day"],), "the primary key")
    Traceback (most recent call last):
        ...
    schema_core.errors.InvalidArgumentError: a column of the primary key must be a string, got list
      hint: unpack the list: *names
    """
    columns = require_sequence(names, f"the columns of {owner}")
    for column in columns:
        value: object = column
        hint = "unpack the list: *names" if isinstance(value, Iterable) else None
        require_instance(value, str, f"a column of {owner}", hint=hint)
    return columns


def validate_arguments(
    **kinds: Kind,
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a function so that the arguments of these names must be of these classes.

    >>> @validate_arguments(count=int)
    ... def double(count):
    ...     return count * 2
    >>> double(2)
    4
    >>> double("2")
    Traceback (most recent call last):
        ...
    schema_core.errors.InvalidArgumentError: count must be an integer, got str
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        return _validate_calls(function, lambda: (_parameters(function), kinds))

    return decorate


def validate_methods(interface: type[Any]) -> Callable[[Class], Class]:
    """Decorate an implementation so that its methods check the types that an interface annotates.

    Only classes and unions of classes are checked. The annotations are read by the first call.
    """

    def decorate(implementation: Class) -> Class:
        from inspect import getmembers, isfunction

        for name, method in getmembers(interface, isfunction):
            code = method.__code__
            if not name.startswith("_") and code.co_argcount + code.co_kwonlyargcount > 1:
                own = getattr(implementation, name)
                setattr(
                    implementation, name, _validate_calls(own, partial(_parameter_classes, method))
                )
        return implementation

    return decorate


def _parameters(function: Callable[..., object]) -> tuple[str, ...]:
    from inspect import signature

    return tuple(signature(function).parameters)


def _parameter_classes(method: Callable[..., object]) -> tuple[tuple[str, ...], dict[str, Kind]]:
    """Return the names of the parameters of a method, and the classes of those that have them.

    Annotations with parameters, which are not classes, may name what only type checkers import.
    """
    code = method.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    hints = {
        name: hint
        for name, hint in method.__annotations__.items()
        if name in parameters and "[" not in hint
    }
    evaluated = get_type_hints(SimpleNamespace(__annotations__=hints), method.__globals__)
    kinds = {name: _kind(hint) for name, hint in evaluated.items()}
    return parameters, {name: kind for name, kind in kinds.items() if kind}


def _validate_calls(
    function: Callable[Parameters, Result],
    read: Callable[[], tuple[tuple[str, ...], Mapping[str, Kind]]],
) -> Callable[Parameters, Result]:
    """Return a function that checks its arguments by what `read` returns at the first call."""
    expected = cache(read)

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        parameters, kinds = expected()
        for name, value in (*zip(parameters, args, strict=False), *kwargs.items()):
            if name in kinds:
                require_instance(value, kinds[name], name)
        return function(*args, **kwargs)

    return call


def _kind(hint: object) -> Kind | None:
    """Return the classes of an annotation, or None if it is not made of classes."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if any(option in (object, Any) or not isinstance(option, type) for option in options):
        return None
    return tuple(options)


def type_name(value: object) -> str:
    """Return the name of a value's type, for messages.

    >>> type_name(None), type_name(5), type_name(int)
    ('None', 'int', 'the class int')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return "None" if value is None else type(value).__name__


def _describe(kind: type) -> str:
    name = kind.__name__
    return NAMES.get(kind) or f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
