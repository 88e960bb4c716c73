"""Migrations with data steps whose process is killed: each step is applied once and completely.

    python -m fuzz.data_step_kills --kills 50
    python -m fuzz.data_step_kills --kills 50 --store postgresql

A process applies or undoes a migration with INSERT, UPDATE, DELETE and rewrites of managed tables
and of tables at a path. It is killed with SIGKILL at a random moment, or within the commit of a
job. In some runs another process waits for it meanwhile and then continues; in others the process
that continues is killed, too. At the end the rows must be those of a model in Python, and the
history must have the migration as applied or undone.
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
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.migration import MigrationDirectory, MigrationFile, MigrationState, Migrator
from schema_core.spark.commit import commit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Send = Callable[[Any], None]
Row = tuple[Any, ...]

#: How many rows the table has, and in how many partitions they are.
ROWS, PARTITIONS = 60, 2
#: How many data steps the migration has in each direction.
STEPS = {"up": 6, "down": 5}
#: The data steps of each migration, and of the undo.
APPLIED_STEPS = {
    "0001_create": ["insert"],
    "0002_change": ["insert", "update", "rewrite", "insert", "delete", "update"],
}
UNDONE_STEPS = ["update", "insert", "rewrite", "update", "insert"]
#: How often a migration is applied and undone before other tables are created.
CYCLES = 3

CHANGE = """-- up
INSERT INTO copies SELECT id, name FROM t WHERE id < 10;
UPDATE t SET n = CAST(CAST(n AS INT) * 2 AS STRING) WHERE n IS NOT NULL;
-- rewrite: t
ALTER TABLE t MODIFY n BIGINT;
ALTER TABLE t RENAME name TO label;
INSERT INTO copies SELECT id + 1000, label FROM t WHERE n > 90;
DELETE FROM t WHERE id < 5;
CREATE VIEW big_ones AS SELECT id FROM t WHERE n > 100;
UPDATE t SET n = n + 1;
-- down
UPDATE t SET n = n - 1;
DROP VIEW big_ones;
INSERT INTO t VALUES {restored};
-- rewrite: t
ALTER TABLE t MODIFY n STRING;
ALTER TABLE t RENAME label TO name;
UPDATE t SET n = CAST(CAST(n AS INT) / 2 AS STRING) WHERE n IS NOT NULL;
INSERT OVERWRITE copies SELECT id, full_name FROM copies WHERE id < 0;
"""


def rows_before() -> list[Row]:
    """Return the rows that the first migration writes: id, name, number as a string, partition."""
    return [
        (index, f"name {index}", None if index % 4 == 0 else str(index), index % PARTITIONS)
        for index in range(ROWS)
    ]


def number(row: Row) -> int | None:
    """Return the number of a row after the first UPDATE."""
    return None if row[2] is None else int(row[2]) * 2


def expected(direction: str) -> tuple[list[Row], list[Row]]:
    """Return the rows of both tables after the migration was applied, or undone."""
    rows = rows_before()
    if direction == "down":
        return rows, []
    copies = [row[:2] for row in rows if row[0] < 10]
    copies += [(row[0] + 1000, row[1]) for row in rows if (number(row) or 0) > 90]
    kept = [(*row[:2], number(row), row[3]) for row in rows if row[0] >= 5]
    added = [(*row[:2], None if row[2] is None else row[2] + 1, row[3]) for row in kept]
    return sorted(added), sorted(copies)


def _values(rows: list[Row]) -> str:
    def literal(value: Any) -> str:
        if value is None:
            return "CAST(NULL AS BIGINT)"
        return f"'{value}'" if isinstance(value, str) else str(value)

    return ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


def files(folder: str, form: str, managed: bool) -> list[MigrationFile]:
    """Return the migrations: the tables with their rows, and the one with the data steps."""

    def options(name: str) -> str:
        place = "" if managed else f"'connector' = 'filesystem', 'path' = '{folder}/{name}', "
        nulls = ", 'csv.null-literal' = '-'" if form == "csv" else ""
        return f"({place}'format' = '{form}'{nulls})"

    first = f"""-- up
CREATE TABLE t (id BIGINT, name STRING, n STRING, p INT) PARTITIONED BY (p) WITH {options("t")};
CREATE TABLE copies (id BIGINT, full_name STRING) WITH {options("copies")};
INSERT INTO t VALUES {_values(rows_before()).replace("BIGINT", "STRING")};
"""
    rows = [(row[0], row[1], number(row), row[3]) for row in rows_before() if row[0] < 5]
    change = CHANGE.format(restored=_values(rows))
    return [MigrationFile.parse("0001_create", first), MigrationFile.parse("0002_change", change)]


def migrator(session: SparkSession, place: CatalogPlace, form: str, managed: bool) -> Migrator:
    """Return the migrator of a process."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    environment.register_catalog("c", place.catalog(session))
    environment.use_catalog("c")
    migrations = files(place.folder, form, managed)
    return Migrator(environment, MigrationDirectory.of(Path(place.folder), migrations))


def create(session: SparkSession, send: Send, *given: Any) -> None:
    """Apply the first migration."""
    migrator(session, *given).upgrade("1")


def migrate(session: SparkSession, send: Send, direction: str, *given: Any) -> list[str]:
    """Apply or undo the second migration; send when that begins, and before each commit."""
    applied = migrator(session, *given)
    prepare_stage = commit.FileStage.prepare

    def prepare(stage: commit.FileStage) -> None:
        send("committing")
        prepare_stage(stage)

    commit.FileStage.prepare = prepare  # type: ignore[assignment,method-assign]
    send("begun")
    try:
        return [str(item) for item in _run(applied, direction)]
    finally:
        commit.FileStage.prepare = prepare_stage  # type: ignore[method-assign]


def _run(applied: Migrator, direction: str) -> tuple[Any, ...]:
    return applied.upgrade() if direction == "up" else applied.downgrade("1")


def finish(session: SparkSession, send: Send, direction: str, *given: Any) -> list[str]:
    """Apply or undo the second migration; return what this call has done."""
    return [str(item) for item in _run(migrator(session, *given), direction)]


def look(session: SparkSession, send: Send, direction: str, undos: int, *given: Any) -> str:
    """Return what is wrong with the rows, the history and the directories, if anything."""
    applied = migrator(session, *given)
    environment = applied.environment
    label = "label" if direction == "up" else "name"
    actual = []
    for query in (f"SELECT id, {label}, n, p FROM t", "SELECT id, full_name FROM copies"):
        with environment.execute_sql(query).collect() as rows:
            actual.append(sorted(map(tuple, rows)))
    problems = [
        f"{name}: {len(rows)} rows, expected {len(wanted)}, or other values"
        for name, rows, wanted in zip(("t", "copies"), actual, expected(direction), strict=True)
        if rows != wanted
    ]
    history = applied.history()
    states = [item.state.value for item in history if item.state is not MigrationState.UNDONE]
    if states != ["applied", "applied" if direction == "up" else "pending"]:
        problems.append(f"history: {states}")
    undone = [item for item in history if item.state is MigrationState.UNDONE]
    if len(undone) != undos:
        problems.append(f"history: {len(undone)} undone, expected {undos}")
    for item in history:
        # UPDATE, DELETE and rewrites have a number, unless a kill came after their commit
        steps = [step.step for step in item.written_rows]
        wanted = UNDONE_STEPS if item in undone else APPLIED_STEPS.get(item.name, [])
        if item.applied_at is not None and steps != wanted:
            problems.append(f"history: {item.name} {item.state.value} has the steps {steps}")
    problems += [f"drift: {change}" for change in applied.drift()]
    environment.recover()
    folder = Path(given[0].folder)
    left = [path.name for path in folder.rglob(f"{commit.PREFIX}*")]
    left = [name for name in left if not commit.Batch.parse(name) and name != commit.LOCK]
    return "; ".join([*problems, *([f"left over: {left}"] if left else [])])


class Program:
    """Kills of migrations, with counts of what was found."""

    def __init__(self, places: CatalogPlaces, seed: int) -> None:
        self.places = places
        self.chosen = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.killer = Killer(self.chosen, self.counts, longest=7.0)
        self.problems: list[str] = []
        self.undos = 0
        prepare("fuzz.data_step_kills")
        self.jvm = Client(None, tempfile.mkdtemp())
        self.jvm.call(warm)
        self.calm = Client(self.jvm.wait())

    def run(self, kills: int) -> None:
        """Kill processes until so many were killed before their migration had ended."""
        while self.counts["kills"] < kills:
            with tempfile.TemporaryDirectory() as folder:
                managed = self.chosen.random() < 0.5
                form = self.chosen.choice(("parquet", "json", "csv"))
                given = (self.places.create(folder), form, managed)
                self.undos = 0
                try:
                    self.calm.call(create, *given)
                    for direction in ("up", "down") * CYCLES:
                        if self.counts["kills"] < kills:
                            self._migrate(direction, given)
                except (AssertionError, RuntimeError) as error:
                    self.problems.append(str(error)[-1500:])
                    print(self.problems[-1], flush=True)
                    self.calm.stop()  # it may have answers that nobody has received
                    self.calm = Client(self.jvm.wait())

    def _migrate(self, direction: str, given: tuple[Any, ...]) -> None:
        """Apply or undo a migration, with kills, and compare the result."""
        waits = self.chosen.random() < 0.2
        is_killed = self._killed(direction, given, waits=waits)
        while is_killed and not waits and self.chosen.random() < 0.6:
            is_killed = self._killed(direction, given, waits=False)
        if not waits:
            self.calm.call(finish, direction, *given)
        self.undos += direction == "down"
        if problem := self.calm.call(look, direction, self.undos, *given):
            raise AssertionError(f"{given[1:]} {direction}: {problem}")
        self.counts[f"{direction}: rows as the model's"] += 1
        print(f"{self.counts['kills']} kills, {len(self.problems)} differences", flush=True)

    def _killed(self, direction: str, given: tuple[Any, ...], *, waits: bool) -> bool:
        """Migrate in a process that is killed; return False if it had ended before.

        With `waits` another process starts meanwhile, and finishes the migration.
        """
        client = Client(self.jvm.wait())
        try:
            client.wait()
            client.send(migrate, direction, *given)
            assert client.receive() == "begun"
            if waits:
                self.calm.send(finish, direction, *given)
            is_killed = self.killer.kill(client, commits=STEPS[direction])
            if waits:
                answer = self.calm.receive()
                if answer is None or answer[0] == "raised":
                    raise RuntimeError(f"the other process: {answer}")
                self.counts["another process was waiting"] += is_killed
            elif is_killed:
                self.calm.call(cancel_jobs)
            return is_killed
        finally:
            client.stop()


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=STORES[:2], default="sqlite")
    options = parser.parse_args()
    started = time.monotonic()
    with catalog_places(options.store) as places:
        program = Program(places, options.seed)
        try:
            program.run(options.kills)
        finally:
            program.calm.stop()
            program.jvm.stop()
    for name, count in sorted(program.counts.items()):
        print(f"{count:6d}  {name}")
    print("\n".join(program.problems))
    seconds = time.monotonic() - started
    killed, problems = program.counts["kills"], len(program.problems)
    print(f"{options.store}: {killed} kills, {problems} differences, {seconds:.0f} s")
    return bool(program.problems)


if __name__ == "__main__":
    sys.exit(main())
