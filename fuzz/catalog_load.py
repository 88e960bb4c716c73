"""Many processes use one SQL catalog at once, or are killed while they write: nothing may be lost.

    python -m fuzz.catalog_load churn --seconds 60 --writers 8 --store sqlite
    python -m fuzz.catalog_load kills --times 100 --store postgresql

Every table contains the number of its alterations and a checksum. At the end the logs of all
writers are compared: each number of each table must have been written once, so no update is lost,
and every table that was ever read must have been complete. A writer that was too late must have
received an error: a `ConflictError` for ALTER, `*-exists` for CREATE, `*-not-found` for DROP.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256

from fuzz.postgres_server import server, why_not
from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogBaseTable
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.errors import (
    ConflictError,
    SchemaCoreError,
    TableAlreadyExistException,
    TableNotExistException,
)
from schema_core.testing.catalog_cases import PLAIN, with_derived_schema

DATABASE = "default"
#: A table that is only altered, so that all alterations of all writers must be found in it.
COUNTER = ObjectPath(DATABASE, "counter")
TABLES = [ObjectPath(DATABASE, f"t{number}") for number in range(6)]
#: What makes a table large enough to be half-written.
PADDING = "x" * 5_000


@dataclass(frozen=True, slots=True)
class Address:
    """Where the catalog is; every process opens its own."""

    url: str
    username: str | None = None
    password: str | None = None

    def opened(self) -> SqlCatalog:
        catalog = SqlCatalog("mine", self.url, username=self.username, password=self.password)
        catalog.open()
        return catalog


@contextmanager
def store(kind: str) -> Iterator[Address]:
    """An empty store of this kind."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield Address(f"sqlite:///{folder}/catalog.db")
        return
    if reason := why_not():
        raise SystemExit(reason)
    with server() as reached:
        yield Address(reached.url, reached.username, reached.password)


# --- tables with a proof -------------------------------------------------------------------------


def proven(made: str, number: int) -> CatalogBaseTable:
    """A table that was made under this name and altered so often."""
    options = {"made": made, "n": str(number), "padding": PADDING}
    whole: CatalogBaseTable = PLAIN.copy(options | {"sum": checksum(options)})
    return whole


def checksum(options: Mapping[str, str]) -> str:
    """The value that marks options of one write."""
    text = "\0".join(options[key] for key in ("made", "n", "padding"))
    return sha256(text.encode()).hexdigest()


def is_whole(table: CatalogBaseTable) -> bool:
    """Whether the table is one that somebody has written, and all of it."""
    options = table.get_options()
    made = {key: options.get(key, "") for key in ("made", "n", "padding")}
    return options.get("sum") == checksum(made) and with_derived_schema(table) == PLAIN.copy(
        options
    )


# --- churn ---------------------------------------------------------------------------------------


@dataclass
class Book:
    """The operations of one writer and the errors that it received."""

    #: what happened -> how often
    events: Counter[str] = field(default_factory=Counter)
    #: (made, number) of every alteration that was accepted
    written: list[tuple[str, int]] = field(default_factory=list)
    longest: float = 0.0


def churn(address: Address, seed: int, seconds: float) -> Book:
    """Create, alter and drop for a while."""
    draw, book, catalog = random.Random(seed), Book(), address.opened()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        path = draw.choice([COUNTER, *TABLES])
        acts = [_alter] if path == COUNTER else [_alter, _alter, _create, _drop]
        act, started = draw.choice(acts), time.monotonic()
        try:
            act(catalog, path, book)
        except SchemaCoreError as error:
            name = f"{act.__name__[1:]}: {type(error).__name__} {error.code}"
            book.events[name] += 1
        book.longest = max(book.longest, time.monotonic() - started)
    catalog.close()
    return book


def _create(catalog: SqlCatalog, path: ObjectPath, book: Book) -> None:
    catalog.create_table(path, proven(uuid.uuid4().hex, 0), ignore_if_exists=False)
    book.events["create"] += 1


def _drop(catalog: SqlCatalog, path: ObjectPath, book: Book) -> None:
    catalog.drop_table(path, ignore_if_not_exists=False)
    book.events["drop"] += 1


def _alter(catalog: SqlCatalog, path: ObjectPath, book: Book) -> None:
    try:
        read = catalog.get_table(path)
    except TableNotExistException:
        book.events["nothing to read"] += 1
        return
    book.events["read" if is_whole(read) else "half-written"] += 1
    options = read.get_options()
    made, number = options["made"], int(options["n"]) + 1
    catalog.alter_table(path, proven(made, number), ignore_if_not_exists=False, expected=read)
    book.events["alter"] += 1
    book.written.append((made, number))


#: The errors that a writer may receive; any other breaks the law.
EXPECTED = {
    "create", "drop", "alter", "read", "nothing to read",
    f"create: {TableAlreadyExistException.__name__} table-exists",
    f"drop: {TableNotExistException.__name__} table-not-found",
    f"alter: {ConflictError.__name__} concurrent-modification",
}  # fmt: skip


def broken(books: list[Book], address: Address) -> list[str]:
    """The laws that were broken."""
    events = sum((book.events for book in books), Counter[str]())
    result = [f"{name}: {times}" for name, times in events.items() if name not in EXPECTED]
    numbers: dict[str, list[int]] = {}
    for made, number in (item for book in books for item in book.written):
        numbers.setdefault(made, []).append(number)
    result += [
        f"lost updates of {made}"
        for made, written in numbers.items()
        if sorted(written) != list(range(1, len(written) + 1))
    ]
    catalog = address.opened()
    for name in catalog.list_tables(DATABASE):
        table = catalog.get_table(ObjectPath(DATABASE, name))
        options = table.get_options()
        if not is_whole(table):
            result.append(f"{name} is half-written")
        elif int(options["n"]) != len(numbers.get(options["made"], [])):
            result.append(f"the last update of {name} is lost")
    return result


def run_churn(kind: str, writers: int, seconds: float) -> int:
    """Run writers on one store and return the number of broken laws."""
    with store(kind) as address:
        address.opened().create_table(COUNTER, proven("counter", 0), ignore_if_exists=False)
        with multiprocessing.get_context("spawn").Pool(writers) as pool:
            books = pool.starmap(churn, [(address, seed, seconds) for seed in range(writers)])
        result = broken(books, address)
    events = sum((book.events for book in books), Counter[str]())
    print(f"{kind}: {writers} writers, {seconds:g} s, {sum(events.values())} events")
    for name, times in sorted(events.items()):
        print(f"  {times:8}  {name}")
    print(f"  longest wait {max(book.longest for book in books):.2f} s")
    return _told(result)


# --- kills ---------------------------------------------------------------------------------------


def write_for_ever(address: Address) -> None:
    """Create, alter and drop until killed."""
    catalog, made = address.opened(), uuid.uuid4().hex
    while True:
        for number, path in enumerate(TABLES):
            catalog.create_table(path, proven(made, number), ignore_if_exists=True)
            catalog.alter_table(path, proven(made, number + 1), ignore_if_not_exists=True)
        for path in TABLES:
            catalog.drop_table(path, ignore_if_not_exists=True)


def kill_one(address: Address, delay: float) -> list[str]:
    """Kill a writer after some seconds and return what is wrong with the catalog it leaves."""
    if (child := os.fork()) == 0:
        try:
            write_for_ever(address)
        finally:
            os._exit(1)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    result = [] if os.WIFSIGNALED(status) else ["the writer ended by itself"]
    try:
        catalog = address.opened()
        paths = [ObjectPath(DATABASE, name) for name in catalog.list_tables(DATABASE)]
        result += [f"{p} is half-written" for p in paths if not is_whole(catalog.get_table(p))]
        catalog.create_table(COUNTER, proven("after", 0), ignore_if_exists=False)
        catalog.drop_table(COUNTER, ignore_if_not_exists=False)
        catalog.close()
    except SchemaCoreError as error:
        result.append(str(error))
    return result


def run_kills(kind: str, times: int, longest: float = 0.4) -> int:
    """Kill writers one after the other and return the number of broken catalogs."""
    draw = random.Random(times)
    with store(kind) as address:
        address.opened().close()
        broken_ones = [
            result for _ in range(times) if (result := kill_one(address, draw.random() * longest))
        ]
    print(f"{kind}: {times} writers killed, {len(broken_ones)} left something broken")
    return _told([item for result in broken_ones for item in result])


def _told(found: list[str]) -> int:
    for item in found:
        print(f"  BROKEN: {item}")
    return len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=("churn", "kills"))
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--times", type=int, default=100)
    given = parser.parse_args()
    if given.what == "churn":
        sys.exit(run_churn(given.store, given.writers, given.seconds) > 0)
    sys.exit(run_kills(given.store, given.times) > 0)


if __name__ == "__main__":
    main()
