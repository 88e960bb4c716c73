"""Shadowing: which temporary objects hide others (FLIP-64), and whether that is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import ObjectIdentifier, ObjectPath, format_path
from schema_core.catalog.api import Catalog
from schema_core.catalog.connections import connections_of
from schema_core.catalog.objects import CatalogBaseTable
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.temporary import TemporaryObjects, TemporaryStore
from schema_core.errors import SchemaError
from schema_core.expressions.functions import BUILT_IN

#: Returns the kind of the object that a temporary one would hide, or None.
Beneath = Callable[[Any], str | None]


class Hidden(NamedTuple):
    """A temporary object that hides another: its path and the kinds of both.

    >>> print(Hidden("c.d.orders", "temporary view", "table"))
    temporary view c.d.orders hides a table
    """

    path: str
    by: str
    what: str

    def __str__(self) -> str:
        return f"{self.by} {self.path} hides a {self.what}"


#: Noun of an object -> whether a catalog has one at a path.
EXISTS: Mapping[str, Callable[[Catalog, ObjectPath], bool]] = {
    "model": lambda catalog, path: catalog.model_exists(path),
    "type": lambda catalog, path: catalog.type_exists(path),
    "function": lambda catalog, path: catalog.function_exists(path),
}


class Shadowing:
    """Lists what temporary objects hide, and refuses them while `denied` returns True."""

    def __init__(self, registry: CatalogRegistry, denied: Callable[[], bool]) -> None:
        self._registry = registry
        self._denied = denied
        #: noun of a store of temporary objects -> the objects that they may hide
        self._beneath: dict[str, Beneath] = {
            "temporary table": self._table,
            **{f"temporary {noun}": partial(self._object, noun) for noun in EXISTS},
            "temporary system function": built_in,
            "temporary connection": self._connection,
            "temporary system connection": lambda _: None,
        }

    def admit(self, noun: str, path: Any) -> None:
        """Refuse a temporary object that would hide another one, if denied (`not-allowed`)."""
        if self._denied() and (what := self._beneath[noun](path)):
            raise SchemaError(
                f"a {noun} {format_path(path)!r} would hide a {what}",
                code="not-allowed",
                hint="choose another name, or allow shadowing: "
                "SET 'table.temporary-objects.shadowing' = 'ALLOW'",
            )

    def require_seen(self, path: ObjectIdentifier, temporary: TemporaryObjects) -> None:
        """Refuse a permanent table or view that would be hidden, if denied (`not-allowed`)."""
        if self._denied() and path in temporary.tables:
            raise SchemaError(
                f"a temporary object would hide {format_path(path)!r}",
                code="not-allowed",
                hint="drop the temporary object first, or choose another name",
            )

    def hidden(self, stores: Iterable[TemporaryStore[Any, Any]]) -> Iterator[Hidden]:
        """Yield all objects of these stores that hide another."""
        for store in stores:
            for path, value in store.items():
                if what := self._beneath[store.noun](path):
                    yield Hidden(format_path(path), describe_object(value, store.noun), what)

    # --- hidden objects ------------------------------------------------------------------------

    def _table(self, path: ObjectIdentifier) -> str | None:
        catalog = self._registry.find(path.catalog_name)
        if catalog is None or not catalog.table_exists(path.to_object_path()):
            return None
        kind = catalog.get_table_kind(path.to_object_path())
        return kind.value.replace("_", " ").lower()

    def _object(self, noun: str, path: ObjectIdentifier) -> str | None:
        catalog = self._registry.find(path.catalog_name)
        return noun if catalog and EXISTS[noun](catalog, path.to_object_path()) else None

    def _connection(self, path: ObjectIdentifier) -> str | None:
        stored = connections_of(self._registry.find(path.catalog_name)) or ()
        return "connection" if path.to_object_path() in stored else None


def built_in(name: object) -> str | None:
    """Return the kind of the built-in function that a temporary one hides, or None."""
    return "built-in function" if str(name).upper() in BUILT_IN else None


def describe_object(value: object, noun: str) -> str:
    """Return the kind of a temporary object."""
    if isinstance(value, CatalogBaseTable):
        return f"temporary {value.get_table_kind().value.lower()}"
    return noun
