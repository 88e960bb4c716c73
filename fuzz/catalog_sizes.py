"""How long a catalog takes to open, list and look up, as the rest of what it holds grows.

    python -m fuzz.catalog_sizes --store sqlite --tables 1000 10000 100000

One database of a hundred tables is looked at, in a catalog that holds ever more tables in others.
Each figure is what nine of ten turns take longer than, in milliseconds, since other work on the
machine only adds to it; the last column is what the largest takes for each millisecond of the
smallest, and grows with nothing if it stays near one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzz.catalog_load import Address, store
from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import CatalogDatabase
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalog.stores.object_store import StoredKind
from schema_core.catalogs.serialization import serialize
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.errors import NotFoundError
from schema_core.testing.catalog_cases import PLAIN

#: How many tables the database has that is looked at, and how many the others have.
LOOKED_AT, OTHERS = 100, 1_000
SOME, NOTHING, NEW = (ObjectPath("small", name) for name in ("t50", "nothing", "new"))


def fill(catalog: Catalog, tables: int) -> None:
    """Put so many tables into the catalog, all but a hundred of them into other databases."""
    sizes = {"small": LOOKED_AT}
    for start in range(LOOKED_AT, tables, OTHERS):
        sizes[f"other{start}"] = min(OTHERS, tables - start)
    for name, size in sizes.items():
        if not catalog.database_exists(name):
            catalog.create_database(name, CatalogDatabase(), ignore_if_exists=False)
            _fill_database(catalog, name, size)


def _fill_database(catalog: Catalog, name: str, size: int) -> None:
    names = [f"t{number}" for number in range(size)]
    if not isinstance(catalog, SqlCatalog):
        for item in names:
            catalog.create_table(ObjectPath(name, item), PLAIN, ignore_if_exists=False)
        return
    content = serialize(StoredKind.TABLE, PLAIN)
    with catalog.entries.transaction(writing=True) as entries:  # one for each would take minutes
        database = entries.find(entries.root, StoredKind.DATABASE.value, name)
        assert database is not None
        for entry in names:
            entries.create(database.id, StoredKind.TABLE.value, entry, entry, "TABLE", content)


def _missing(catalog: Catalog) -> None:
    try:
        catalog.get_table(NOTHING)
    except NotFoundError:
        return
    raise AssertionError(NOTHING)


def _create_and_drop(catalog: Catalog) -> None:
    catalog.create_table(NEW, PLAIN, ignore_if_exists=False)
    catalog.drop_table(NEW, ignore_if_not_exists=False)


ACTS: dict[str, Callable[[Catalog], object]] = {
    "open": lambda catalog: catalog.open(),
    "list tables": lambda catalog: catalog.list_tables("small"),
    "list views": lambda catalog: catalog.list_views("small"),
    "get a table": lambda catalog: catalog.get_table(SOME),
    "look for nothing": lambda catalog: catalog.table_exists(NOTHING),
    "refuse a table": _missing,
    "create and drop": _create_and_drop,
}


def measured(catalog: Catalog, turns: int) -> dict[str, float]:
    """How long each act takes where nothing disturbs it, in milliseconds."""
    result = {}
    for name, act in ACTS.items():
        times = []
        for _ in range(turns):
            started = time.perf_counter()
            act(catalog)
            times.append(time.perf_counter() - started)
        result[name] = statistics.quantiles(times, n=10)[0] * 1_000
    return result


@contextmanager
def empty(kind: str) -> Iterator[Callable[[], Catalog]]:
    """What opens a catalog of this kind, which holds nothing at first."""
    if kind == "memory":
        kept = InMemoryCatalog("mine")
        yield lambda: kept
        return
    with store(kind) as address:
        yield _opener(address)


def _opener(address: Address) -> Callable[[], Catalog]:
    return address.opened


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--store", choices=("memory", "sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--tables", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--turns", type=int, default=200)
    given = parser.parse_args()
    columns = []
    with empty(given.store) as opened:
        for tables in given.tables:
            fill(opened(), tables)
            columns.append(measured(opened(), given.turns))
    print(f"{given.store:18}", *(f"{tables:>10}" for tables in given.tables), "     ratio")
    for name in ACTS:
        row = [column[name] for column in columns]
        print(f"{name:18}", *(f"{cell:10.3f}" for cell in row), f"{row[-1] / row[0]:10.2f}")


if __name__ == "__main__":
    main()
