"""Lists and maps in the accumulators of aggregate functions, with PyFlink's names.

They are in memory, as the rest of an accumulator is.

>>> view = MapView()
>>> view.put("a", 1)
>>> view["a"], view.contains("b"), list(view.items())
(1, False, [('a', 1)])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Generic, TypeVar

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class DataView(ABC):
    """A collection in an accumulator."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all elements."""


class ListView(DataView, Generic[T]):
    """A list in an accumulator."""

    def __init__(self) -> None:
        self._list: list[T] = []

    def get(self) -> list[T]:
        """The elements."""
        return self._list

    def add(self, value: T) -> None:
        """Append an element."""
        self._list.append(value)

    def add_all(self, values: Iterable[T]) -> None:
        """Append elements."""
        self._list += values

    def clear(self) -> None:
        self._list = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListView) and self._list == other.get()

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[T]:
        return iter(self._list)


class MapView(DataView, Generic[K, V]):
    """A map in an accumulator."""

    def __init__(self) -> None:
        self._dict: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        return self._dict.get(key)

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._dict[key] = value

    def put_all(self, dict_value: Mapping[K, V]) -> None:
        """Set the values of keys."""
        self._dict.update(dict_value)

    def remove(self, key: K) -> None:
        """Remove a key if it is there."""
        self._dict.pop(key, None)

    def contains(self, key: K) -> bool:
        return key in self._dict

    def items(self) -> Iterable[tuple[K, V]]:
        return self._dict.items()

    def keys(self) -> Iterable[K]:
        return self._dict.keys()

    def values(self) -> Iterable[V]:
        return self._dict.values()

    def is_empty(self) -> bool:
        return not self._dict

    def clear(self) -> None:
        self._dict = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapView) and dict(self.items()) == dict(other.items())

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __getitem__(self, key: K) -> V:
        return self._dict[key]

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self._dict)

    def __contains__(self, key: K) -> bool:
        return key in self._dict
