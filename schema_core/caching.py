"""Caches bounded by the size of their content, not by the number of entries."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
P1 = TypeVar("P1")

#: Characters of input per cache. A syntax tree takes up to 250 bytes per character.
MAX_CACHED = 200_000


class Cached(Protocol[P, R_co]):
    """A function whose results are cached."""

    @property
    def __wrapped__(self) -> Callable[P, R_co]:
        """The function without the cache."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the cached or computed result."""

    @property
    def entries(self) -> Entries[Any]:
        """The results by arguments, for callers that look up many."""

    def cache_clear(self) -> None:
        """Clear the cache."""


class Entries(Generic[R]):
    """Results of two generations: when the recent one is full, it replaces the older one.

    A result that is used moves into the recent generation, so recently used results are kept, and a
    typical hit costs one lookup in a dict.
    """

    __slots__ = ("budget", "older", "recent", "size")

    def __init__(self, budget: int) -> None:
        self.budget: int = budget
        self.clear()

    def clear(self) -> None:
        """Clear the cache."""
        self.recent: dict[tuple[Any, ...], R] = {}
        self.older: dict[tuple[Any, ...], R] = {}
        self.size: int = 0

    def get(self, key: tuple[Any, ...]) -> R | None:
        """Return the result of a key, or None."""
        found = self.recent.get(key)
        return self.older.get(key) if found is None else found

    def keep(self, key: tuple[Any, ...], weight: int) -> R | None:
        """Return the result of a key, or None, and keep it in the recent generation."""
        found = self.recent.get(key)
        if found is None and (found := self.older.get(key)) is not None:
            self.add(key, found, weight)
        return found

    def add(self, key: tuple[Any, ...], result: R, weight: int) -> None:
        """Cache a result, unless it exceeds half of the budget."""
        if 2 * weight > self.budget:
            return
        if 2 * (self.size + weight) > self.budget:
            self.older, self.recent, self.size = self.recent, {}, 0
        self.recent[key] = result
        self.size += weight


def length(text: str, *_: object) -> int:
    """Return the weight of a string: its length plus a constant overhead.

    >>> length("a + 1")
    21
    """
    return len(text) + 16


def cached(
    weight: Callable[..., int] = length, budget: int = MAX_CACHED
) -> Callable[[Callable[P, R]], Cached[P, R]]:
    """Cache the results of a function by its positional arguments; errors are not cached.

    Args:
        weight: The size of the arguments; by default the length of the first one, a string.
        budget: The sum of the sizes of all arguments whose results are kept.

    >>> @cached()
    ... def doubled(text: str) -> str:
    ...     print("computed")
    ...     return text * 2
    >>> doubled("ab"), doubled("ab")
    computed
    ('abab', 'abab')
    """
    missing = object()

    def decorate(function: Callable[P, R]) -> Cached[P, R]:
        entries: Entries[Any] = Entries(budget)

        @wraps(function)
        def look_up(*key: Any) -> Any:
            found = entries.recent.get(key, missing)
            if found is missing:
                found = entries.older.get(key, missing)
                if found is missing:
                    found = function(*key)  # type: ignore[call-arg]
                entries.add(key, found, weight(*key))
            return found

        look_up.entries = entries  # type: ignore[attr-defined]
        look_up.cache_clear = entries.clear  # type: ignore[attr-defined]
        return look_up  # type: ignore[return-value]

    return decorate


def cached_by_identity(maximum: int) -> Callable[[Callable[[P1], R]], Callable[[P1], R]]:
    """Cache the results of a function of one argument by its identity; errors are not cached.

    It suits arguments that are shared and slow to hash. An entry keeps its argument alive, so an
    identity is never reused.

    Args:
        maximum: The number of results that are kept.
    """

    def decorate(function: Callable[[P1], R]) -> Callable[[P1], R]:
        entries: dict[int, tuple[P1, R]] = {}

        @wraps(function)
        def look_up(argument: P1) -> R:
            found = entries.get(id(argument))
            if found is None:
                if len(entries) >= maximum:
                    entries.clear()
                found = entries[id(argument)] = (argument, function(argument))
            return found[1]

        return look_up

    return decorate
