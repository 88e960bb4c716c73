"""Caches bounded by the size of their content, and how much they hold.

Keys come from input, which may be long: ``lru_cache`` would bound their number and not their size.
A hit takes 0.1 us (0.06 us with ``lru_cache``); parsing a short type takes 8 us, an expression 40
us. A key of an `IdentityCache` is not hashed, which takes 14 us for a row of twenty arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, Generic, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

from schema_core.base.lazy import NamedTuple

__all__ = ["CacheUsage", "cache_usage", "clear_caches"]

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
    def entries(self) -> GenerationalCache[Any]:
        """The results by arguments, for callers that look up many."""

    def cache_clear(self) -> None:
        """Clear the cache."""


class CacheUsage(NamedTuple):
    """What a cache holds.

    Attributes:
        name: The module and the function whose results are kept.
        entries: The number of results.
        size: The sum of their sizes.
        budget: The maximum of `size`.
        unit: What sizes count: characters of input, types in trees, columns.
    """

    name: str
    entries: int
    size: int
    budget: int
    unit: str


class Counted(ABC):
    """A cache that `cache_usage` lists; the arguments are the fields of `CacheUsage`."""

    __slots__ = ("__weakref__", "budget", "name", "unit")

    def __init__(self, name: str, budget: int, unit: str = "characters") -> None:
        self.name, self.budget, self.unit = name, budget, unit
        self.clear()
        with _LOCK:
            _COUNTED.add(self)

    @abstractmethod
    def clear(self) -> None:
        """Clear the cache."""

    @abstractmethod
    def held(self) -> tuple[int, int]:
        """Return the number of results and the sum of their sizes."""


_COUNTED: WeakSet[Counted] = WeakSet()
_LOCK = Lock()


def _caches() -> list[Counted]:
    with _LOCK:
        return list(_COUNTED)


def cache_usage() -> tuple[CacheUsage, ...]:
    """Return what each cache of this process holds, by name. Modules not yet imported have none.

    >>> from schema_core.types import parse_type
    >>> number = parse_type("DECIMAL(10, 2)")
    >>> usages = {usage.name: usage for usage in cache_usage()}
    >>> types = usages["schema_core.types.type_parser.parse"]
    >>> types.entries > 0, types.budget, types.unit
    (True, 200000, 'characters')
    """
    return tuple(
        sorted(
            CacheUsage(cache.name, *cache.held(), cache.budget, cache.unit) for cache in _caches()
        )
    )


def clear_caches() -> None:
    """Clear all caches of this process; results are computed again when they are needed.

    >>> clear_caches()
    >>> sum(usage.entries for usage in cache_usage())
    0
    """
    for cache in _caches():
        cache.clear()


#: How often the recent generation is dropped for an older one that is not used.
MAX_UNUSED = 8
#: How many dropped keys a cache recognizes.
MAX_DROPPED = 10_000


class GenerationalCache(Counted, Generic[R]):
    """A cache of two generations: when the recent one is full, it replaces the older one.

    A result that is used is copied to the recent generation. A typical hit costs one lookup in a
    dict. If keys are read cyclically and exceed the budget, each would be dropped before it is read
    again: where most new keys are dropped ones, the older generation stays and the recent one is
    dropped.
    """

    __slots__ = (
        "dropped", "missed", "older", "older_size", "recent", "returned", "size", "unused",
    )  # fmt: skip

    def clear(self) -> None:
        self.recent: dict[tuple[Any, ...], R] = {}
        self.older: dict[tuple[Any, ...], R] = {}
        self.size: int = 0
        self.older_size: int = 0
        #: The hashes of keys that were dropped.
        self.dropped: set[int] = set()
        #: The sizes of the new keys in the recent generation, and of those dropped before.
        self.missed: int = 0
        self.returned: int = 0
        #: The generations since a result of the older one was used.
        self.unused: int = 0

    def held(self) -> tuple[int, int]:
        return len(self.recent) + len(self.older), self.size + self.older_size

    def get(self, key: tuple[Any, ...]) -> R | None:
        result = self.recent.get(key)
        return self.older.get(key) if result is None else result

    def keep(self, key: tuple[Any, ...], weight: int) -> R | None:
        """Return the result of a key, or None, and keep it in the recent generation."""
        result = self.recent.get(key)
        if result is None and (result := self.older.get(key)) is not None:
            self.add(key, result, weight)
        return result

    def add(self, key: tuple[Any, ...], result: R, weight: int) -> None:
        if 2 * weight > self.budget:
            return
        if 2 * (self.size + weight) > self.budget:
            self._start_generation()
        if key in self.older:
            self.unused = 0
        else:
            self.missed += weight
            self.returned += weight if hash(key) in self.dropped else 0
        self.recent[key] = result
        self.size += weight

    def _start_generation(self) -> None:
        if 2 * self.returned >= self.missed and self.unused < MAX_UNUSED:
            dropped = self.recent
            self.unused += 1
        else:
            dropped, self.older, self.older_size = self.older, self.recent, self.size
            self.unused = 0
        if len(self.dropped) > MAX_DROPPED:
            self.dropped = set()
        self.dropped.update(hash(key) for key in dropped if key not in self.older)
        self.recent, self.size, self.missed, self.returned = {}, 0, 0, 0


def length(text: str, *_: object) -> int:
    """Return the weight of a string: its length plus a constant overhead.

    >>> length("a + 1")
    21
    """
    return len(text) + 16


def cached(
    weight: Callable[..., int] = length, budget: int = MAX_CACHED, unit: str = "characters"
) -> Callable[[Callable[P, R]], Cached[P, R]]:
    """Cache the results of a function by its positional arguments; errors are not cached.

    `weight` returns the size of the arguments, by default the length of the first one, a string;
    `budget` is the maximum sum, and `unit` what sizes count.

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
        entries: GenerationalCache[Any] = GenerationalCache(_name_of(function), budget, unit)

        @wraps(function)
        def look_up(*key: Any) -> Any:
            result = entries.recent.get(key, missing)
            if result is missing:
                result = entries.older.get(key, missing)
                if result is missing:
                    result = function(*key)  # type: ignore[call-arg]
                entries.add(key, result, weight(*key))
            return result

        look_up.entries = entries  # type: ignore[attr-defined]
        look_up.cache_clear = entries.clear  # type: ignore[attr-defined]
        return look_up  # type: ignore[return-value]

    return decorate


class IdentityCache(Counted, Generic[P1, R]):
    """A cache by the identity of an argument; it is cleared when it is full.

    An entry keeps its argument alive, so an identity is never reused.
    """

    __slots__ = ("results", "size")

    def clear(self) -> None:
        self.results: dict[int, tuple[P1, R]] = {}
        self.size: int = 0

    def held(self) -> tuple[int, int]:
        return len(self.results), self.size

    def add(self, argument: P1, result: R, weight: int) -> None:
        if weight > self.budget:
            return
        if self.size + weight > self.budget:
            self.clear()
        self.results[id(argument)] = (argument, result)
        self.size += weight


def cached_by_identity(
    weight: Callable[..., int], budget: int, unit: str
) -> Callable[[Callable[[P1], R]], Callable[[P1], R]]:
    """Cache the results of a function by the identity of its argument, as `cached`.

    It suits arguments that are shared and slow to hash.
    """

    def decorate(function: Callable[[P1], R]) -> Callable[[P1], R]:
        entries: IdentityCache[P1, R] = IdentityCache(_name_of(function), budget, unit)

        @wraps(function)
        def look_up(argument: P1) -> R:
            entry = entries.results.get(id(argument))
            if entry is None:
                result = function(argument)
                entries.add(argument, result, weight(argument))
                return result
            return entry[1]

        return look_up

    return decorate


def _name_of(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__name__.lstrip('_')}"
