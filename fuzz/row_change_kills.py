"""DELETE and UPDATE whose process is killed: the table has the rows before or those after.

    python -m fuzz.row_change_kills --kills 100
    python -m fuzz.row_change_kills --kills 20 --connector jdbc

A process deletes or updates rows of a table of files, or of a table of SQLite. It is killed with
SIGKILL at a random moment, every other time within the commit. Another process then reads the
table: it must have exactly the rows of before the statement, or those of after it. At the end one
more statement is run to its end, and nothing else may be left.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzz.spark_processes import Client, cancel_jobs, prepare, warm
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.jdbc.connector import JdbcStage
from schema_core.spark.commit.commit import PREFIX, FileStage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Send = Callable[[Any], None]
#: The rows by their id: a number and a partition.
Rows = dict[int, tuple[int, int]]

ROWS, PARTITIONS = 300, 3
#: Below so many rows the table is filled again.
FEW = 60
#: The longest time after which a process is killed, of the statement and of its commit, in seconds.
LONGEST, COMMIT = 4.0, 0.1


class Place(NamedTuple):
    """Where the table is."""

    connector: str
    folder: str


class Statement(NamedTuple):
    """A DELETE or UPDATE of the rows whose id has a remainder."""

    kind: str
    divisor: int
    remainder: int

    def sql(self) -> str:
        condition = f"WHERE MOD(id, {self.divisor}) = {self.remainder}"
        if self.kind == "DELETE":
            return f"DELETE FROM t {condition}"
        return f"UPDATE t SET n = n + id {condition}"

    def apply(self, rows: Rows) -> Rows:
        """Return the rows after the statement."""
        chosen = {id_ for id_ in rows if id_ % self.divisor == self.remainder}
        if self.kind == "DELETE":
            return {id_: row for id_, row in rows.items() if id_ not in chosen}
        return {id_: (n + id_ if id_ in chosen else n, part) for id_, (n, part) in rows.items()}


def environment_of(session: SparkSession, place: Place) -> TableEnvironment:
    """Return an environment with the table."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    environment.get_config().set("table.dml-sync", "true")
    columns = "id INT NOT NULL, n INT, p INT"
    if place.connector == "jdbc":
        environment.execute_sql(
            f"CREATE TABLE t ({columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ("
            f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{place.folder}/t.db', 'table-name' = 't')"
        )
        return environment
    environment.execute_sql(
        f"CREATE TABLE t ({columns}) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{place.folder}/t', 'format' = 'parquet')"
    )
    return environment


def fill(session: SparkSession, send: Send, place: Place) -> None:
    """Replace all rows of the table by those of `first_rows`."""
    if place.connector == "jdbc":
        with sqlite3.connect(f"{place.folder}/t.db") as database:
            database.execute("DROP TABLE IF EXISTS t")
            database.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, n INT, p INT)")
    values = ", ".join(f"({id_}, {n}, {part})" for id_, (n, part) in first_rows().items())
    environment = environment_of(session, place)
    word = "INTO" if place.connector == "jdbc" else "OVERWRITE"
    environment.execute_sql(f"INSERT {word} t VALUES {values}")


def first_rows() -> Rows:
    return {id_: (id_ * 7, id_ % PARTITIONS) for id_ in range(ROWS)}


def change(session: SparkSession, send: Send, place: Place, statement: Statement) -> None:
    """Run a statement; send when it begins, and before its commit."""
    environment = environment_of(session, place)
    for stage in (FileStage, JdbcStage):
        _announce(stage, send)
    send("begun")
    environment.execute_sql(statement.sql()).wait()


def _announce(stage: Any, send: Send) -> None:
    commit = stage.commit

    def announced(self: Any) -> None:
        send("committing")
        commit(self)

    stage.commit = announced


def change_quietly(session: SparkSession, send: Send, place: Place, statement: Statement) -> None:
    """Run a statement without messages."""
    environment_of(session, place).execute_sql(statement.sql()).wait()


def look(session: SparkSession, send: Send, place: Place) -> Rows:
    """Return the rows of the table."""
    with environment_of(session, place).execute_sql("SELECT id, n, p FROM t").collect() as rows:
        found = [tuple(row) for row in rows]
    assert len({row[0] for row in found}) == len(found), "a row is there twice"
    return {id_: (n, part) for id_, n, part in found}


class Program:
    """Kills of statements, with counts of what was found."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place = place
        self.chosen = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        prepare("fuzz.row_change_kills")
        self.warehouse = tempfile.mkdtemp()
        self.calm = Client(None, self.warehouse)
        self.calm.call(warm)

    def run(self, kills: int) -> None:
        """Kill processes until so many were killed before their statement had ended."""
        rows: Rows = {}
        while self.counts["kills"] < kills:
            if len(rows) < FEW:
                self.calm.call(fill, self.place)
                rows = first_rows()
            rows = self._one(rows)
        statement = self._statement()
        self.calm.call(change_quietly, self.place, statement)
        left = [str(path) for path in Path(self.place.folder).rglob(f"{PREFIX}*")]
        if self.calm.call(look, self.place) != statement.apply(rows) or left:
            self.problems.append(f"the last statement: other rows, or left over: {left}")

    def _statement(self) -> Statement:
        divisor = self.chosen.randrange(5, 15)
        kind = self.chosen.choice(["DELETE", "UPDATE"])
        return Statement(kind, divisor, self.chosen.randrange(divisor))

    def _one(self, rows: Rows) -> Rows:
        statement = self._statement()
        killed = self._killed(statement)
        self.calm.call(cancel_jobs)
        found = self.calm.call(look, self.place)
        after = statement.apply(rows)
        if killed:
            self.counts["kills"] += 1
            state = "before" if found == rows else "after"
            self.counts[f"{statement.kind}: the rows of {state} it"] += 1
        if found not in ([rows, after] if killed else [after]):
            self.problems.append(f"{statement}: {len(rows)} rows became {len(found)} others")
        print(f"{self.counts['kills']} kills, {len(self.problems)} problems", flush=True)
        return dict(found)

    def _killed(self, statement: Statement) -> bool:
        """Run a statement in a process that is killed; return False if it had ended before."""
        client = Client(self.calm.wait(), self.warehouse)
        try:
            client.wait()
            client.send(change, self.place, statement)
            assert client.receive() == "begun"
            within = self.chosen.random() < 0.5
            message: Any = client.receive() if within else "committing"
            deadline = time.monotonic() + self.chosen.uniform(0, COMMIT if within else LONGEST)
            while message == "committing":
                message = client.receive(max(0.0, deadline - time.monotonic()))
            if message is None:
                client.kill()
                self.counts["within the commit" if within else "at any moment"] += 1
                return True
            if message[0] == "raised":
                raise RuntimeError(message[1])
            self.counts["ended before the kill"] += 1
            return False
        finally:
            client.stop()


def main() -> int:
    """Run the program; return 1 if rows were lost."""
    parser = argparse.ArgumentParser(description="Kill processes that delete or update rows.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--connector", choices=["filesystem", "jdbc"], default="filesystem")
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Place(given.connector, folder), given.seed)
        try:
            program.run(given.kills)
        finally:
            program.calm.stop()
    for name, number in sorted(program.counts.items()):
        print(f"{number:6d}  {name}")
    print("\n".join(program.problems))
    seconds = time.monotonic() - started
    print(
        f"{given.connector}: {given.kills} kills, {len(program.problems)} violations, "
        f"{seconds:.0f} s"
    )
    return bool(program.problems)


if __name__ == "__main__":
    sys.exit(main())
