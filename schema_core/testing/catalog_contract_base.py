"""How a contract gets at its catalog, and what it compares: all that the catalog holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.objects import CatalogFunction
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import UnsupportedError
from schema_core.paths import ObjectPath
from schema_core.testing.catalog_cases import (
    DATABASE,
    EVENTS,
    FUNCTION_PATH,
    MODEL_PATH,
    MONEY,
    ORDERS,
    PARTITION,
    RECENT,
    SPEC,
    TYPE_PATH,
)
from schema_core.testing.catalog_samples import (
    FUNCTIONS,
    MODEL,
    PARTITIONED,
    PLAIN,
    TABLES,
    understood,
    understood_model,
)


def by_name(rows: tuple[Any, ...]) -> list[Any]:
    """The rows as parameters of a test, each under the name in its second place."""
    return [pytest.param(row[0], *row[2:], id=row[1]) for row in rows]


def need(catalog: Catalog, capability: Capability | None) -> None:
    """Skip the test where the catalog does not keep such things."""
    if capability is not None and capability not in catalog.capabilities:
        pytest.skip(f"{type(catalog).__name__} keeps no {capability.value}")


def refused_name(call: Callable[[], None]) -> None:
    """The call is refused for a name that the catalog cannot bear."""
    with pytest.raises(UnsupportedError) as caught:
        call()

    assert caught.value.code.startswith("name-")


def state(catalog: Catalog) -> dict[str, object]:
    """All that the catalog holds, by what it means."""
    found: dict[str, object] = {}
    for name in catalog.list_databases():
        database = catalog.get_database(name)
        found[f"database {name}"] = (database.get_properties(), database.get_comment())
        for table in catalog.list_tables(name):
            path = ObjectPath(name, table)
            found[f"table {path}"] = understood(catalog.get_table(path))
        if Capability.FUNCTIONS in catalog.capabilities:
            for function in catalog.list_functions(name):
                path = ObjectPath(name, function)
                found[f"function {path}"] = catalog.get_function(path)
        if Capability.MODELS in catalog.capabilities:
            for model in catalog.list_models(name):
                path = ObjectPath(name, model)
                found[f"model {path}"] = understood_model(catalog.get_model(path))
        if Capability.TYPES in catalog.capabilities:
            for type_ in catalog.list_types(name):
                path = ObjectPath(name, type_)
                found[f"type {path}"] = catalog.get_type(path)
    if Capability.PARTITIONS in catalog.capabilities and catalog.table_exists(EVENTS):
        for spec in catalog.list_partitions(EVENTS):
            found[f"partition {spec}"] = catalog.get_partition(EVENTS, spec)
    return found


class ContractBase(ABC):
    """How the catalog under test is made, and what lies in it when a test begins."""

    #: Whether a catalog that is made again in the same directory knows what the first one kept.
    durable = False
    #: Whether tables, views and models without types are refused, as FLIP-164 wants it.
    refuses_unresolved = True
    #: Whether a process that makes a durable catalog may be forked and killed while it writes.
    killable = False
    #: Whether of many who drop a table at once only one is told that it did.
    tells_who_dropped = True
    #: Whether names of databases and tables differ by case; if not, they are listed in small ones.
    keeps_case = True
    #: A table with the partition keys `b` and `c` that may have partitions.
    partitioned: ResolvedTable = PARTITIONED
    #: Functions that it can keep, by what is special about them.
    functions: Mapping[str, CatalogFunction] = FUNCTIONS

    def bears(self, name: str) -> bool:
        """Whether an object may have this name; where not, making it is refused.

        The error is an `UnsupportedError` whose code begins with ``name-``.
        """
        return True

    def listed(self, name: str) -> str:
        """The name as the catalog lists it."""
        return name if self.keeps_case else name.lower()

    @abstractmethod
    def make_catalog(self, directory: Path) -> Catalog:
        """A catalog that keeps what it keeps in this directory; an empty one in an empty one."""

    @pytest.fixture
    def catalog(self, tmp_path: Path) -> Iterator[Catalog]:
        """A catalog with an empty database `db`."""
        catalog = self.make_catalog(tmp_path)
        catalog.open()
        catalog.create_database("db", DATABASE, False)
        yield catalog
        catalog.close()

    @pytest.fixture
    def furnished(self, catalog: Catalog) -> Catalog:
        """A catalog with one of everything that it can keep."""
        self.furnish(catalog)
        return catalog

    def furnish(self, catalog: Catalog) -> None:
        """Make one of everything that the catalog can keep."""
        catalog.create_table(ORDERS, PLAIN, False)
        catalog.create_table(RECENT, TABLES["view"], False)
        catalog.create_table(EVENTS, self.partitioned, False)
        if Capability.PARTITIONS in catalog.capabilities:
            catalog.create_partition(EVENTS, SPEC, PARTITION, False)
        if Capability.FUNCTIONS in catalog.capabilities:
            catalog.create_function(FUNCTION_PATH, self.functions["every clause"], False)
        if Capability.MODELS in catalog.capabilities:
            catalog.create_model(MODEL_PATH, MODEL, False)
        if Capability.TYPES in catalog.capabilities:
            catalog.create_type(TYPE_PATH, MONEY, False)

    def another(self, catalog: Catalog, directory: Path) -> Catalog:
        """What a second user of the same store has; one that forgets with the process is shared."""
        if not self.durable:
            return catalog
        again = self.make_catalog(directory)
        again.open()
        return again
