"""Temporary objects: they are dropped with the session and may be created at any path.

FLIP-64: a temporary object hides the permanent one of the same path, whose catalog and database
need not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from threading import RLock
from typing import Any, Generic, TypeAlias, TypeVar

from schema_core.base.paths import ObjectIdentifier, format_path
from schema_core.catalog import objects
from schema_core.catalog.stores.object_store import exists, missing

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: A resolved table, view or materialized table.
ResolvedTable: TypeAlias = (
    objects.ResolvedCatalogTable
    | objects.ResolvedCatalogView
    | objects.ResolvedCatalogMaterializedTable
)


#: Raises an error to refuse a new temporary object, by the noun of its store and its path.
Admission: TypeAlias = Callable[[str, Any], None]


def admit_all(noun: str, path: object) -> None:
    """Refuse no temporary object."""


class TemporaryStore(Generic[K, V]):
    """Temporary objects of one kind by path, in the order of their creation; thread-safe.

    `noun` is the kind of object in messages; its last word is that in codes. `key` returns equal
    values for equal paths. `admit` is called before a new object is stored.

    >>> store: TemporaryStore[str, int] = TemporaryStore("temporary function", str.lower)
    >>> store.create("F", 1, ignore_if_exists=False), store.find("f")
    (True, 1)
    """

    def __init__(
        self,
        noun: str,
        key: Callable[[K], K] = lambda path: path,
        admit: Admission = admit_all,
    ) -> None:
        self.noun = noun
        self._key = key
        self._admit = admit
        self._objects: dict[K, V] = {}
        self._lock = RLock()

    def __contains__(self, path: K) -> bool:
        return self._key(path) in self._objects

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._objects))

    def items(self) -> list[tuple[K, V]]:
        return list(self._objects.items())

    def restore(self, items: list[tuple[K, V]]) -> None:
        """Replace all objects by those that `items` returned."""
        self._objects = dict(items)

    def find(self, path: K) -> V | None:
        return self._objects.get(self._key(path))

    def create(self, path: K, value: V, ignore_if_exists: bool) -> bool:
        """Store a new object; return False if there is one and `ignore_if_exists`, else raise."""
        with self._lock:
            if path in self:
                if ignore_if_exists:
                    return False
                raise exists(self.noun, format_path(path))
            self._admit(self.noun, path)
            self._objects[self._key(path)] = value
            return True

    def drop(self, path: K, ignore_if_not_exists: bool) -> bool:
        """Drop an object; return False if there is none and `ignore_if_not_exists`, else raise."""
        with self._lock:
            if path in self:
                del self._objects[self._key(path)]
                return True
            if ignore_if_not_exists:
                return False
            raise missing(self.noun, format_path(path), map(format_path, self._objects))

    def alter(self, path: K, change: Callable[[V], V]) -> bool:
        """Change the object at this path; return False if there is none."""
        with self._lock:
            if path not in self:
                return False
            self._objects[self._key(path)] = change(self._objects[self._key(path)])
            return True

    def rename(self, path: K, new_path: K) -> bool:
        """Move an object to another path, which must be free; return False if there is none."""
        with self._lock:
            if path not in self:
                return False
            if self._key(new_path) != self._key(path) and new_path in self:
                raise exists(self.noun, format_path(new_path))
            self._objects[self._key(new_path)] = self._objects.pop(self._key(path))
            return True


class TemporaryObjects:
    """The temporary tables, views, models and types of a session, by full path."""

    def __init__(self, admit: Admission = admit_all) -> None:
        self.tables: TemporaryStore[ObjectIdentifier, ResolvedTable] = TemporaryStore(
            "temporary table", admit=admit
        )
        self.models: TemporaryStore[ObjectIdentifier, objects.ResolvedCatalogModel] = (
            TemporaryStore("temporary model", admit=admit)
        )
        self.types: TemporaryStore[ObjectIdentifier, objects.CatalogType] = TemporaryStore(
            "temporary type", admit=admit
        )

    def kind(self, identifier: ObjectIdentifier) -> objects.TableKind | None:
        """Return the kind of the table or view at this path, or None."""
        table = self.tables.find(identifier)
        return table.get_table_kind() if table is not None else None

    def table_names(self, catalog: str, database: str, *kinds: objects.TableKind) -> list[str]:
        """Return the sorted names of the tables of these kinds, by default all, in a database."""
        return sorted(
            path.object_name
            for path in self.tables
            if (path.catalog_name, path.database_name) == (catalog, database)
            and self.kind(path) in (kinds or objects.TableKind)
        )

    def model_names(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the models in a database."""
        return sorted(
            path.object_name
            for path in self.models
            if (path.catalog_name, path.database_name) == (catalog, database)
        )

    def type_names(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the types in a database."""
        return sorted(
            path.object_name
            for path in self.types
            if (path.catalog_name, path.database_name) == (catalog, database)
        )
