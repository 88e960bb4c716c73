"""How long a catalog of many tables takes: to open, list, complete, look up and resolve.

    python -m tests.benchmarks catalogs [--tables 1000 100000 1000000] [--postgresql URL]
    python -m tests.benchmarks catalogs --memory 100000

The tables of a SQLite file, which is kept between runs with --folder, or of a PostgreSQL database,
that is empty. Times are processor times of this process, and time that passed for PostgreSQL, whose
server works elsewhere; they should not depend on the number of tables, but for listing. --memory
registers resolved tables of 50 columns in a catalog in memory, and prints what they take.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from schema_core import EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalogs import SqlCatalog
from schema_core.catalogs.sql.entries import ENTRIES
from schema_core.errors import SchemaCoreError

DATABASE = "default"
#: Columns of each table, and types that its columns have in turn.
WIDTH = 50
TYPES = ("BIGINT NOT NULL", "STRING", "DECIMAL(10, 2)", "TIMESTAMP(3)", "ARRAY<INT>")
#: Rows of one INSERT.
PORTION = 10_000
ROUNDS = 5


def name_of(number: int) -> str:
    return f"table_{number:07}"


def wide(number: int) -> TableDescriptor:
    """A table of fifty columns, of which one is its own."""
    builder = Schema.new_builder().column(f"c{number}", "INT")
    for place in range(1, WIDTH):
        builder.column(f"column_{place}", TYPES[place % len(TYPES)])
    return TableDescriptor.for_connector("datagen").schema(builder.build()).build()


def filled(url: str, count: int) -> SqlCatalog:
    """A catalog with so many tables, which are copies of one that it has written itself."""
    catalog = SqlCatalog("c", url)
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.register_catalog("c", catalog)
    if catalog.table_exists(ObjectPath(DATABASE, name_of(count - 1))):
        return catalog
    environment.use_catalog("c")
    environment.execute_sql("CREATE TABLE copied (a INT, b STRING) WITH ('connector' = 'datagen')")
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        query = sa.select(ENTRIES).where(ENTRIES.c.name == "copied")
        copied = dict(connection.execute(query).mappings().one())
        del copied["id"]
        for start in range(0, count, PORTION):
            numbers = range(start, min(start + PORTION, count))
            rows = [copied | {"key": name, "name": name} for name in map(name_of, numbers)]
            connection.execute(sa.insert(ENTRIES), rows)
        if engine.dialect.name == "postgresql":  # it does so itself within a minute
            connection.execute(sa.text("ANALYZE"))
    engine.dispose()
    environment.execute_sql("DROP TABLE copied")
    return catalog


def shortest(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return the shortest time of a few runs, in milliseconds."""
    took = []
    for _ in range(ROUNDS):
        began = clock()
        work()
        took.append((clock() - began) * 1000)
    return min(took)


def measured(url: str, count: int) -> dict[str, float]:
    """Return the milliseconds of each operation on a catalog with so many tables."""
    catalog = filled(url, count)
    catalog.close()
    clock = time.process_time if url.startswith("sqlite") else time.perf_counter
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())

    def opened() -> None:
        one = SqlCatalog("o", url)
        one.open()
        one.close()

    result = {"open": shortest(opened, clock)}
    environment.register_catalog("c", catalog)
    environment.use_catalog("c")
    numbers = iter(range(0, count, max(count // (4 * ROUNDS), 1)))

    def unknown() -> None:
        with suppress(SchemaCoreError):
            environment.from_path("tabel_0000007")
            raise AssertionError

    text = f"SELECT * FROM {name_of(count // 2)[:-1]}"
    works: dict[str, Callable[[], object]] = {
        "list all": lambda: catalog.list_tables(DATABASE),
        "list by prefix": lambda: catalog.find_table_names(DATABASE, text[-12:], 20),
        "look up": lambda: catalog.get_table(ObjectPath(DATABASE, name_of(next(numbers)))),
        "resolve": lambda: environment.from_path(name_of(next(numbers))).get_resolved_schema(),
        "hint for an unknown table": unknown,
        "complete": lambda: environment.complete_statement(text, len(text)),
    }
    result |= {name: shortest(work, clock) for name, work in works.items()}
    catalog.close()
    return result


def memory(count: int) -> None:
    """Print what resolved tables take in a catalog in memory."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    before = resident()
    for number in range(count):
        environment.create_table(name_of(number), wide(number))
        environment.from_path(name_of(number)).get_resolved_schema()
    taken = resident() - before
    print(
        f"{count:,} tables of {WIDTH} columns: {taken / 2**20:,.0f} MB, {taken / count:,.0f} B each"
    )


def resident() -> int:
    """The bytes of memory of this process."""
    line = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )
    return int(line.split()[1]) * 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks catalogs")
    parser.add_argument("--tables", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--folder", help="where files of SQLite are kept; a temporary one")
    parser.add_argument("--postgresql", help="the URL of an empty database, for one number only")
    parser.add_argument("--memory", type=int, help="so many tables in memory, and nothing else")
    parser.add_argument("--json", help="a file for all figures")
    given = parser.parse_args()
    if given.memory:
        memory(given.memory)
        return
    if given.postgresql and len(given.tables) > 1:
        parser.error("--postgresql needs one number of tables")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or temporary
        result = {
            count: measured(given.postgresql or f"sqlite:///{folder}/{count}.db", count)
            for count in given.tables
        }
    print(f"| operation | {' | '.join(f'{count:,} tables' for count in result)} |")
    print("|---|" + "---:|" * len(result))
    for operation in next(iter(result.values())):
        times = " | ".join(f"{entry[operation]:,.1f} ms" for entry in result.values())
        print(f"| {operation} | {times} |")
    if given.json:
        Path(given.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
