"""Shelves store objects of one kind by their paths, and raise for a wrong path.

Any number of threads may use a shelf: what a method has looked at is still so when it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from threading import RLock
from typing import Generic, TypeVar

from schema_core.errors import AlreadyExistsError, NotFoundError, similar
from schema_core.paths import ObjectPath

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ObjectStore(Generic[K, V]):
    """Objects of one kind in the order in which they came.

    `noun` makes the messages and the codes: ``table-not-found``, ``table-exists``. `key` is what
    makes two paths the same.

    >>> shelf: ObjectStore[str, int] = ObjectStore("table")
    >>> shelf.create("orders", 1, ignore_if_exists=False)
    True
    >>> shelf.get("order")
    Traceback (most recent call last):
        ...
    schema_core.errors.NotFoundError: there is no table order
      hint: did you mean 'orders'?
    """

    def __init__(self, noun: str, key: Callable[[K], K] = lambda path: path) -> None:
        self.noun = noun
        self.code = noun.replace(" ", "-")
        self._key = key
        self._kept: dict[K, V] = {}
        self._lock = RLock()
        #: asked before a new object is kept; it raises what speaks against that
        self.admit: Callable[[K], None] | None = None

    def __contains__(self, path: K) -> bool:
        return self._key(path) in self._kept

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._kept))

    def items(self) -> list[tuple[K, V]]:
        """All paths with what lies there."""
        return list(self._kept.items())

    def restore(self, kept: list[tuple[K, V]]) -> None:
        """Keep just this: what `items` gave at some time before."""
        self._kept = dict(kept)

    def get(self, path: K) -> V:
        """The object at this path."""
        with self._lock:
            if path not in self:
                raise self._missing(path)
            return self._kept[self._key(path)]

    def find(self, path: K) -> V | None:
        """The object at this path, or None."""
        return self._kept.get(self._key(path))

    def create(self, path: K, kept: V, ignore_if_exists: bool) -> bool:
        """Keep a new object; tells whether it was not there before."""
        with self._lock:
            if path in self:
                if ignore_if_exists:
                    return False
                raise self._exists(path)
            if self.admit is not None:
                self.admit(path)
            self._kept[self._key(path)] = kept
            return True

    def alter(self, path: K, kept: V, ignore_if_not_exists: bool) -> bool:
        """Put another object in place of the one at this path; tells whether there was one."""
        with self._lock:
            if path not in self:
                return self._ignore_missing(path, ignore_if_not_exists)
            self._kept[self._key(path)] = kept
            return True

    def drop(self, path: K, ignore_if_not_exists: bool) -> bool:
        """Forget the object at this path; tells whether there was one."""
        with self._lock:
            if path not in self:
                return self._ignore_missing(path, ignore_if_not_exists)
            del self._kept[self._key(path)]
            return True

    def rename(self, path: K, new_path: K, ignore_if_not_exists: bool) -> bool:
        """Keep the object at another path; tells whether there was one."""
        with self._lock:
            if path not in self:
                return self._ignore_missing(path, ignore_if_not_exists)
            if new_path in self:
                raise self._exists(new_path)
            self._kept[self._key(new_path)] = self._kept.pop(self._key(path))
            return True

    def _ignore_missing(self, path: K, ignore: bool) -> bool:
        if not ignore:
            raise self._missing(path)
        return False

    def _missing(self, path: K) -> NotFoundError:
        return NotFoundError(
            f"there is no {self.noun} {path}",
            code=f"{self.code}-not-found",
            hint=similar(str(path), map(str, self._kept)),
        )

    def _exists(self, path: K) -> AlreadyExistsError:
        return AlreadyExistsError(
            f"there is already a {self.noun} {path}", code=f"{self.code}-exists"
        )


class Shelves(Generic[V]):
    """Objects of one kind by paths of two names: a shelf a database, so none grows with the others.

    >>> shelves: Shelves[int] = Shelves("table")
    >>> shelves.create(ObjectPath("db", "orders"), 1, ignore_if_exists=False)
    True
    >>> shelves.names("db"), shelves.names("other")
    (['orders'], [])
    """

    def __init__(
        self, noun: str, key: Callable[[ObjectPath], ObjectPath] = lambda path: path
    ) -> None:
        self._noun = noun
        self._key = key
        self._shelves: dict[str, ObjectStore[ObjectPath, V]] = {}

    def of(self, path: ObjectPath) -> ObjectStore[ObjectPath, V]:
        """The shelf of the database of this path."""
        return self._shelves.get(path.database_name) or ObjectStore(self._noun, self._key)

    def create(self, path: ObjectPath, kept: V, ignore_if_exists: bool) -> bool:
        """Keep a new object; tells whether it was not there before."""
        shelf = self._shelves.setdefault(path.database_name, ObjectStore(self._noun, self._key))
        return shelf.create(path, kept, ignore_if_exists)

    def items(self, database_name: str) -> list[tuple[ObjectPath, V]]:
        """What lies on the shelf of a database, in the order in which it came."""
        shelf = self._shelves.get(database_name)
        return [] if shelf is None else shelf.items()

    def names(self, database_name: str) -> list[str]:
        """The names of that."""
        return [path.object_name for path, _ in self.items(database_name)]

    def clear(self, database_name: str) -> None:
        """Forget all that lies on the shelf of a database."""
        self._shelves.pop(database_name, None)
