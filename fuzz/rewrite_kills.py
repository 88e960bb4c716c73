"""Rewrites of tables whose process is killed: the table has its old definition or the new one.

    python -m fuzz.rewrite_kills --kills 30
    python -m fuzz.rewrite_kills --kills 30 --jvm
    python -m fuzz.rewrite_kills --kills 50 --store hive

A process rewrites a managed table, or one at a path, whose rows are in files with a column by two
names. It is killed with SIGKILL at a random moment, every other time within the commit, and with
`--jvm` together with its Spark. Another process then recovers twice, or writes into the table; the
rows must be exactly those of before, under the definition that is found, and nothing else may be
left. A rewrite that was undone is killed again; at the end it is run to its end.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.catalog_places import STORES, CatalogPlace, CatalogPlaces, catalog_places
from fuzz.spark_processes import Client, Killer, cancel_jobs, prepare, warm
from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.catalog import CatalogTable, ObjectPath
from schema_core.catalog.changes.column_history import ColumnHistory
from schema_core.migration import rewrite_table
from schema_core.spark.commit.commit import PREFIX

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Send = Callable[[Any], None]
Rows = list[tuple[Any, ...]]

#: How many rows a file has, and in how many partitions they are.
ROWS, PARTITIONS = 200, 3
PATH = ObjectPath("default", "t")
OLD, NEW = "old", "new"
#: A row that the next write adds, by definition.
ADDED = {OLD: "(999, 'x', 1, 0)", NEW: "(999, 'x', 1, CAST(NULL AS INT), 0)"}


def environment_of(session: SparkSession, place: CatalogPlace) -> TableEnvironment:
    """Return the environment of a process, with the catalog of a place."""
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    result.get_config().set("table.dml-sync", "true")
    result.register_catalog("c", place.catalog(session))
    result.use_catalog("c")
    return result


def create(session: SparkSession, send: Send, place: CatalogPlace, managed: bool) -> None:
    """Create the table: one file for each partition has the former name of its column."""
    environment = environment_of(session, place)
    path = "" if managed else f"'connector' = 'filesystem', 'path' = '{place.folder}/t', "
    environment.execute_sql("DROP TABLE IF EXISTS t")  # a metastore has that of the last kill
    environment.execute_sql(
        "CREATE TABLE t (id BIGINT, a STRING, n INT, p INT) PARTITIONED BY (p)"
        f" WITH ({path}'format' = 'parquet')"
    )
    for statement in (_insert(0), "ALTER TABLE t RENAME a TO b", _insert(ROWS)):
        environment.execute_sql(statement)


def _insert(first: int) -> str:
    rows = ", ".join(
        f"({index}, 'name {index}', {index * 7}, {index % PARTITIONS})"
        for index in range(first, first + ROWS)
    )
    return f"INSERT INTO t VALUES {rows}"


def expected(added: bool) -> Rows:
    """Return the rows: id, name, number and partition."""
    rows: Rows = [
        (index, f"name {index}", index * 7, index % PARTITIONS) for index in range(2 * ROWS)
    ]
    return rows + ([(999, "x", 1, 0)] if added else [])


def rewrite(session: SparkSession, send: Send, place: CatalogPlace) -> None:
    """Rewrite the table to its new definition; send when that begins, and before its commit."""
    environment = environment_of(session, place)
    catalog: Any = environment.get_catalog("c")
    old, alter = catalog.get_table(PATH).schema, catalog.alter_table

    def alter_table(*given: Any, **named: Any) -> None:
        send("committing")
        alter(*given, **named)

    catalog.alter_table = alter_table
    send("begun")
    name = old.columns[1].name
    new = (
        Schema.new_builder()
        .column("id", "BIGINT")
        .column("label", "STRING")
        .column("n", "BIGINT")
        .column("extra", "INT")
        .column("p", "INT")
    )
    renames = {} if name == "label" else {name: "label"}
    rewrite_table(environment, "t", new.build(), renames=renames).wait()


def recover(session: SparkSession, send: Send, place: CatalogPlace) -> tuple[list[str], list[str]]:
    """Recover twice; return what was done each time."""
    environment = environment_of(session, place)
    first = [str(item.action.value) for item in environment.recover()]
    return first, [str(item.action.value) for item in environment.recover()]


def write(session: SparkSession, send: Send, place: CatalogPlace) -> None:
    """Add a row to the table, by the definition that it has after it was recovered."""
    environment = environment_of(session, place)
    environment.execute_sql(f"INSERT INTO t {'VALUES ' + ADDED[definition(environment)]}")


def definition(environment: TableEnvironment) -> str:
    """Return which definition the table has.

    Raises:
        AssertionError: for a mix of both.
    """
    table = environment.get_catalog("c").get_table(PATH)
    assert isinstance(table, CatalogTable)
    result = (
        [column.name for column in table.schema.columns],
        [change.to_json() for change in ColumnHistory.of(table.options).changes],
    )
    if result == (["id", "b", "n", "p"], [["rename", ["a"], ["b"]]]):
        return OLD
    assert result == (["id", "label", "n", "extra", "p"], []), result
    return NEW


def look(session: SparkSession, send: Send, place: CatalogPlace, added: bool) -> tuple[str, str]:
    """Return the definition that is found, and what is wrong with the rows, if anything."""
    environment = environment_of(session, place)
    result = definition(environment)
    columns = "id, b, n, p" if result == OLD else "id, label, n, p"
    with environment.execute_sql(f"SELECT {columns} FROM t").collect() as rows:
        actual = sorted(map(tuple, rows))
    problem = "" if actual == expected(added) else f"{len(actual)} rows, or other values"
    options = environment.get_catalog("c").get_table(PATH).options
    marks = [key for key in options if "unfinished" in key or "replaced" in key]
    left = [str(path) for path in Path(place.folder).rglob(f"{PREFIX}*")]
    return result, problem or (f"left over: {[*marks, *left]}" if marks or left else "")


class Program:
    """Kills of rewrites, with counts of what was found."""

    def __init__(self, places: CatalogPlaces, seed: int, jvm: bool) -> None:
        self.places = places
        self.chosen = random.Random(seed)
        self.jvm = jvm
        self.counts: Counter[str] = Counter()
        self.killer = Killer(self.chosen, self.counts)
        self.problems: list[str] = []
        prepare("fuzz.rewrite_kills")
        self.warehouse = tempfile.mkdtemp()
        self.calm = Client(None, self.warehouse)
        self.calm.call(warm)

    def run(self, kills: int) -> None:
        """Kill processes until so many were killed before the rewrite had ended."""
        while self.counts["kills"] < kills:
            with tempfile.TemporaryDirectory() as folder:
                managed = self.chosen.random() < 0.5
                try:
                    self._one(self.places.create(folder), managed)
                except (AssertionError, RuntimeError) as error:
                    self.problems.append(str(error)[-1500:])
                    print(self.problems[-1], flush=True)

    def _one(self, place: CatalogPlace, managed: bool) -> None:
        self.calm.call(create, place, managed)
        result, added = OLD, False
        while result == OLD:
            if not self._killed(place):
                return
            self.calm.call(cancel_jobs)
            writes = not added and self.chosen.random() < 0.4
            if writes:
                self.calm.call(write, place)
                added = True
            first, second = self.calm.call(recover, place)
            if not writes:
                self.counts[f"recover: {', '.join(first)}"] += 1
            assert second == ["checked"], f"recovery is not idempotent: {first}, {second}"
            result, problem = self.calm.call(look, place, added)
            self.counts[f"{result} definition, {'next write' if writes else 'recover'}"] += 1
            print(f"{self.counts['kills']} kills, {len(self.problems)} problems", flush=True)
            if problem:
                raise AssertionError(f"{result}: {problem}")
        self.calm.call(rewrite_again, place)
        again, problem = self.calm.call(look, place, added)
        if problem or again != NEW:
            self.problems.append(f"the next rewrite: {again}: {problem}")

    def _killed(self, place: CatalogPlace) -> bool:
        """Rewrite in a process that is killed; return False if it had ended before."""
        client = Client(None if self.jvm else self.calm.wait(), self.warehouse)
        try:
            client.wait()
            if self.jvm:
                client.call(warm)
            client.send(rewrite, place)
            assert client.receive() == "begun"
            return self.killer.kill(client, jvm=self.jvm)
        finally:
            client.stop()


def rewrite_again(session: SparkSession, send: Send, place: CatalogPlace) -> None:
    """Rewrite the table without messages."""
    rewrite(session, lambda _: None, place)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jvm", action="store_true", help="kill the process with its Spark")
    parser.add_argument("--store", choices=STORES, default="sqlite", help="that of the catalog")
    given = parser.parse_args()
    if given.jvm and given.store == "hive":
        parser.error("the metastore of --store hive is in the JVM that --jvm kills")
    started = time.monotonic()
    with catalog_places(given.store) as places:
        program = Program(places, given.seed, given.jvm)
        try:
            program.run(given.kills)
        finally:
            program.calm.stop()
    for name, number in sorted(program.counts.items()):
        print(f"{number:6d}  {name}")
    print("\n".join(program.problems))
    seconds = time.monotonic() - started
    print(
        f"{given.store}: {given.kills} kills, {len(program.problems)} violations, {seconds:.0f} s"
    )
    return bool(program.problems)


if __name__ == "__main__":
    sys.exit(main())
