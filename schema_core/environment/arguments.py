"""What methods take: a value of another kind is refused before anything is done with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from schema_core.errors import SchemaError

Given = ParamSpec("Given")
Result = TypeVar("Result")

#: How kinds are called in messages.
WORDS: dict[type, str] = {str: "a text", bool: "True or False", int: "a whole number"}
#: Classes that stand for what users know by another name.
SHORT = {"TableMethods": "Table", "Mapping": "mapping", "Iterable": "list"}


def require(value: object, kind: type, name: str) -> None:
    """Refuse a value that is not of the kind.

    Raises:
        SchemaError: with code `wrong-argument`.

    >>> require(None, str, "stmt")
    Traceback (most recent call last):
        ...
    schema_core.errors.SchemaError: stmt takes a text, not None
    """
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return
    wanted = WORDS.get(kind) or _article(SHORT.get(kind.__name__, kind.__name__))
    given = "None" if value is None else _article(type(value).__name__)
    raise SchemaError(f"{name} takes {wanted}, not {given}", code="wrong-argument")


def require_one_of(value: object, kinds: tuple[type, ...], name: str) -> None:
    """Refuse a value that is an instance of none of these classes.

    Raises:
        SchemaError: with code `wrong-argument`.
    """
    if not isinstance(value, kinds):
        problem = f"{name} takes a {name}, not {_article(type(value).__name__)}"
        raise SchemaError(problem, code="wrong-argument")


def require_text_or_none(value: object, name: str) -> None:
    """Refuse what is neither a text nor None.

    Raises:
        SchemaError: with code `wrong-argument`.
    """
    if value is not None:
        require(value, str, name)


def _article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiouAEIOU' else 'a'} {word}"


def takes(**kinds: type) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """A method whose arguments of these names must be of these kinds.

    >>> @takes(count=int)
    ... def double(count):
    ...     return count * 2
    >>> double(2)
    4
    >>> double("2")
    Traceback (most recent call last):
        ...
    schema_core.errors.SchemaError: count takes a whole number, not a str
    """

    def decorate(method: Callable[Given, Result]) -> Callable[Given, Result]:
        places = {name: place for place, name in enumerate(signature(method).parameters)}

        @wraps(method)
        def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            for name, kind in kinds.items():
                given: dict[str, Any] = dict(kwargs)
                if name in given:
                    require(given[name], kind, name)
                elif places[name] < len(args):
                    require(args[places[name]], kind, name)
            return method(*args, **kwargs)

        return checked

    return decorate
