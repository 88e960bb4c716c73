"""JSONPath expressions: ``$.a[0]``, ``$['a', 'b']``, ``$[1:]``, ``$[*]``, ``$..a``.

Filters and functions are not supported: `compile_path` raises `UdfError` for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from schema_core.base.lazy import dataclass, regex
from schema_core.spark.compiler.udfs import UdfError


class NoSuchPathError(Exception):
    """A path that is invalid, or that matches no value."""


@dataclass(frozen=True, slots=True)
class Members:
    """``.a``, or ``['a', 'b']``: members of an object."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Indices:
    """``[0]``, or ``[0, -1]``: elements of an array."""

    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """``[1:]``: a slice of an array."""

    start: int | None
    stop: int | None


@dataclass(frozen=True, slots=True)
class Wildcard:
    """``*``: all members or elements."""


@dataclass(frozen=True, slots=True)
class Descendants:
    """``..``: the value and all its descendants."""


Step: TypeAlias = Members | Indices | Slice | Wildcard | Descendants
Path: TypeAlias = tuple[Step, ...]

_NAME = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_STEP = regex(
    r"(?P<descendants>\.\.)(?=[^.\s])"
    r"|\[\s*(?P<wildcard>\*)\s*\]"
    r"|\[\s*(?P<from>-?\d+)?\s*:\s*(?P<to>-?\d+)?\s*\]"
    r"|\[\s*(?P<indices>-?\d+(?:\s*,\s*-?\d+)*)\s*\]"
    rf"|\[\s*(?P<names>(?:{_NAME})(?:\s*,\s*(?:{_NAME}))*)\s*\]"
    r"|\.?(?P<star>\*)"
    r"|\.?(?P<name>[^.\[\s(*]+)(?P<call>\()?"
    r"|\[\s*(?P<filter>\?)"
    r"|\.(?=\[)"
)


@lru_cache(maxsize=1000)
def compile_path(text: str) -> Path:
    """Return the steps of a path; ``name`` is short for ``$.name``.

    Raises:
        NoSuchPathError: for a string that is not a path.
        UdfError: for a path with a filter or a function.

    >>> compile_path("$.a[0]")
    (Members(names=('a',)), Indices(indices=(0,)))
    """
    path = text.strip()
    if not path or path[-1] == ".":
        raise NoSuchPathError(f"{text!r} is not a path")
    rest = path[1:] if path[0] in "$@" else f".{path}"
    if rest and rest[0] not in ".[":
        raise NoSuchPathError(f"{text!r} is not a path")
    position, steps = 0, []
    while position < len(rest):
        found = _STEP.match(rest, position)
        if found is None:
            raise NoSuchPathError(f"{text!r} is not a path")
        if found["filter"] or found["call"]:
            raise UdfError(f"filters and functions in path {text!r} are not supported")
        step = _step(found)
        steps += [step] if step is not None else []
        position = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step | None:
    """Return the step of a match; None for the dot before a bracket."""
    match found.lastgroup:
        case "descendants":
            return Descendants()
        case "wildcard" | "star":
            return Wildcard()
        case "indices":
            return Indices(tuple(int(part) for part in found["indices"].split(",")))
        case "names":
            names = re.findall(_NAME, found["names"])
            return Members(tuple(re.sub(r"\\(.)", r"\1", name[1:-1]) for name in names))
        case "name":
            return Members((found["name"],))
        case None if ":" not in found[0]:
            return None
        case _:
            start, stop = found["from"], found["to"]
            return Slice(start and int(start), stop and int(stop))  # type: ignore[arg-type]


def is_definite(path: Path) -> bool:
    """Return whether a path matches at most one value."""
    return all(_is_definite(path, position) for position in range(len(path)))


def _is_definite(path: Path, position: int) -> bool:
    step = path[position]
    if isinstance(step, Members):
        return len(step.names) == 1 or position == len(path) - 1
    return isinstance(step, Indices) and len(step.indices) == 1


def find(value: Any, text: str, *, lax: bool) -> Any:
    """Return the value of a definite path, or the list of values of an indefinite one.

    A lax path without a match returns None, or an empty list.

    Raises:
        NoSuchPathError: if a strict path matches no value.

    >>> find({"a": [1, 2]}, "$.a[1]", lax=False), find({"a": [1, 2]}, "$.a[*]", lax=False)
    (2, [1, 2])
    """
    path = compile_path(text)
    definite = is_definite(path)
    try:
        found = list(_walk(value, path, 0, upstream=True, lax=lax))
    except NoSuchPathError:
        if not lax:
            raise
        found = []
    if not definite:
        return found
    if not found and not lax:
        raise NoSuchPathError(f"no value at {text!r}")
    return found[-1] if found else None


def _walk(value: Any, path: Path, position: int, *, upstream: bool, lax: bool) -> Iterator[Any]:
    """Yield the values that the steps from a position match.

    A value of the wrong kind is an error only if all preceding steps are definite (`upstream`).
    """
    if position == len(path):
        yield value
        return
    step = path[position]
    if isinstance(step, Descendants):
        for inner in _self_and_descendants(value):
            if _can_apply(inner, path[position + 1]):
                yield from _walk(inner, path, position + 1, upstream=False, lax=lax)
        return
    if isinstance(step, Members) and not isinstance(value, dict):
        if upstream and not lax:
            raise NoSuchPathError(f"members {step.names} require an object")
        return
    if isinstance(step, Indices | Slice) and not isinstance(value, list):
        if upstream:
            raise NoSuchPathError("array access requires an array")
        return
    definite = upstream and _is_definite(path, position)
    found = _apply(value, step, leaf=position == len(path) - 1)
    if not found and definite and not lax:
        raise NoSuchPathError(f"no value at {step}")
    for inner in found:
        yield from _walk(inner, path, position + 1, upstream=definite, lax=lax)


def _apply(value: Any, step: Step, *, leaf: bool) -> list[Any]:
    """Return the values that one step matches."""
    match step:
        case Members(names) if len(names) > 1 and leaf:
            return [{name: value[name] for name in names if name in value}]
        case Members(names):
            return [value[name] for name in names if name in value]
        case Indices(indices):
            size = len(value)
            wrapped = (index + size if index < 0 else index for index in indices)
            return [value[index] for index in wrapped if 0 <= index < size]
        case Slice(start, stop):
            return list(value[start:stop])
        case _:
            return list(value.values() if isinstance(value, dict) else _elements(value))


def _elements(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _self_and_descendants(value: Any) -> Iterator[Any]:
    """Yield a value and its descendants, in pre-order."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _self_and_descendants(inner)


def _can_apply(value: Any, step: Step) -> bool:
    """Return whether the step after ``..`` applies to a value."""
    match step:
        case Members(names):
            return isinstance(value, dict) and all(name in value for name in names)
        case Indices() | Slice():
            return isinstance(value, list)
        case _:
            return True
