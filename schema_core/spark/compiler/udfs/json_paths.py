"""Paths into JSON as Flink reads them: ``$.a[0]``, ``$['a', 'b']``, ``$[1:]``, ``$[*]``, ``$..a``.

Filters and functions of a path are not known here: `compile_path` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from schema_core.spark.compiler.udfs.errors import UdfError


class NoSuchPathError(Exception):
    """Nothing stands where a path points, or the path is none."""


@dataclass(frozen=True, slots=True)
class Names:
    """``.a``, or ``['a', 'b']``: members of an object."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """``[0]``, or ``[0, -1]``: elements of an array."""

    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """``[1:]``: a part of an array."""

    start: int | None
    stop: int | None


@dataclass(frozen=True, slots=True)
class Every:
    """``*``: all members or elements."""


@dataclass(frozen=True, slots=True)
class Deep:
    """``..``: what follows, at every depth."""


Step: TypeAlias = Names | Places | Slice | Every | Deep
Path: TypeAlias = tuple[Step, ...]

_NAME = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_STEP = re.compile(
    r"(?P<deep>\.\.)(?=[^.\s])"
    r"|\[\s*(?P<every>\*)\s*\]"
    r"|\[\s*(?P<from>-?\d+)?\s*:\s*(?P<to>-?\d+)?\s*\]"
    r"|\[\s*(?P<places>-?\d+(?:\s*,\s*-?\d+)*)\s*\]"
    rf"|\[\s*(?P<names>(?:{_NAME})(?:\s*,\s*(?:{_NAME}))*)\s*\]"
    r"|\.?(?P<star>\*)"
    r"|\.?(?P<name>[^.\[\s(*]+)(?P<call>\()?"
    r"|\[\s*(?P<filter>\?)"
    r"|\.(?=\[)"
)


@lru_cache(maxsize=1000)
def compile_path(text: str) -> Path:
    """The steps of a path; a name alone stands for ``$.name``.

    Raises:
        NoSuchPathError: for a string that is not a path.
        UdfError: for a path with a filter or a function.

    >>> compile_path("$.a[0]")
    (Names(names=('a',)), Places(places=(0,)))
    """
    path = text.strip()
    if not path or path[-1] == ".":
        raise NoSuchPathError(f"{text!r} is not a path")
    rest = path[1:] if path[0] in "$@" else f".{path}"
    if rest and rest[0] not in ".[":
        raise NoSuchPathError(f"{text!r} is not a path")
    place, steps = 0, []
    while place < len(rest):
        found = _STEP.match(rest, place)
        if found is None:
            raise NoSuchPathError(f"{text!r} is not a path")
        if found["filter"] or found["call"]:
            raise UdfError(f"filters and functions of the path {text!r} are not computed")
        step = _step(found)
        steps += [step] if step is not None else []
        place = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step | None:
    """What a part of a path says; a point before a bracket says nothing."""
    match found.lastgroup:
        case "deep":
            return Deep()
        case "every" | "star":
            return Every()
        case "places":
            return Places(tuple(int(one) for one in found["places"].split(",")))
        case "names":
            names = re.findall(_NAME, found["names"])
            return Names(tuple(re.sub(r"\\(.)", r"\1", one[1:-1]) for one in names))
        case "name":
            return Names((found["name"],))
        case None if ":" not in found[0]:
            return None
        case _:
            start, stop = found["from"], found["to"]
            return Slice(start and int(start), stop and int(stop))  # type: ignore[arg-type]


def is_definite(path: Path) -> bool:
    """Whether a path points at one place."""
    return all(_is_definite(path, place) for place in range(len(path)))


def _is_definite(path: Path, place: int) -> bool:
    step = path[place]
    if isinstance(step, Names):
        return len(step.names) == 1 or place == len(path) - 1
    return isinstance(step, Places) and len(step.places) == 1


def find(value: Any, text: str, *, lax: bool) -> Any:
    """What a path points at: a value, or a list of values if it points at several.

    A lax path that finds nothing gives None, or an empty list.

    Raises:
        NoSuchPathError: where nothing is there.

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
        raise NoSuchPathError(f"nothing is at {text}")
    return found[-1] if found else None


def _walk(value: Any, path: Path, place: int, *, upstream: bool, lax: bool) -> Iterator[Any]:
    """All values that the steps from a place on lead to.

    Only where all steps so far are definite does the wrong kind of value end the search.
    """
    if place == len(path):
        yield value
        return
    step = path[place]
    if isinstance(step, Deep):
        for inner in _nested(value):
            if _fits(inner, path[place + 1]):
                yield from _walk(inner, path, place + 1, upstream=False, lax=lax)
        return
    if isinstance(step, Names) and not isinstance(value, dict):
        if upstream and not lax:
            raise NoSuchPathError(f"no object has {step.names}")
        return
    if isinstance(step, Places | Slice) and not isinstance(value, list):
        if upstream:
            raise NoSuchPathError("no array is there")
        return
    definite = upstream and _is_definite(path, place)
    found = _inner(value, step, leaf=place == len(path) - 1)
    if not found and definite and not lax:
        raise NoSuchPathError(f"nothing is at {step}")
    for inner in found:
        yield from _walk(inner, path, place + 1, upstream=definite, lax=lax)


def _inner(value: Any, step: Step, *, leaf: bool) -> list[Any]:
    """The values one step further down."""
    match step:
        case Names(names) if len(names) > 1 and leaf:
            return [{name: value[name] for name in names if name in value}]
        case Names(names):
            return [value[name] for name in names if name in value]
        case Places(places):
            size = len(value)
            indices = (place + size if place < 0 else place for place in places)
            return [value[index] for index in indices if 0 <= index < size]
        case Slice(start, stop):
            return list(value[start:stop])
        case _:
            return list(value.values() if isinstance(value, dict) else _elements(value))


def _elements(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _nested(value: Any) -> Iterator[Any]:
    """A value and all that it holds, from the outside in."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _nested(inner)


def _fits(value: Any, step: Step) -> bool:
    """Whether a step can be done from a value, as far as a search at every depth asks."""
    match step:
        case Names(names):
            return isinstance(value, dict) and all(name in value for name in names)
        case Places() | Slice():
            return isinstance(value, list)
        case _:
            return True
