"""DELETE and UPDATE whose process is killed: the table has the rows before or those after.

    python -m fuzz.row_change_kills --kills 100
    python -m fuzz.row_change_kills --kills 20 --store postgresql

A process deletes or updates rows of a table of files, or through jdbc of a table of SQLite or
PostgreSQL. It is killed with SIGKILL at a random moment, every other time within the commit, and
with jdbc together with its JVM, which holds the connections. Another process then reads the table:
it must have exactly the rows of before the statement, or those of after it. At the end one more
statement is run to its end, and nothing else may be left.
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
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzz import postgres_server
from fuzz.spark_processes import Client, Killer, cancel_jobs, prepare, warm
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.jdbc.connector import JdbcStage
from schema_core.connectors.jdbc.tables import PREFIX as STAGE
from schema_core.spark.commit.commit import PREFIX, FileStage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Send = Callable[[Any], None]
#: The rows by their id: a number and a partition.
Rows = dict[int, tuple[int, int]]

ROWS, PARTITIONS = 300, 3
#: Below so many rows the table is filled again.
FEW = 60


class Place(NamedTuple):
    """Where the table is: in a folder, or in the database of a server."""

    folder: str
    store: str
    server: postgres_server.Server | None = None

    def jdbc(self) -> str:
        """Return the options of the connector."""
        options = {"connector": "jdbc", "table-name": "t", "url": f"jdbc:sqlite:{self.folder}/t.db"}
        if self.server is not None:
            address = self.server.url.partition("://")[2]
            options["url"] = f"jdbc:postgresql://{address}"
            options |= {"username": self.server.username, "password": self.server.password}
        return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())

    def connect(self) -> Any:
        """Open a connection of the database."""
        if self.server is None:
            return sqlite3.connect(f"{self.folder}/t.db")
        import psycopg

        address = self.server.url.partition("://")[2]
        login = f"{self.server.username}:{self.server.password}"
        return psycopg.connect(f"postgresql://{login}@{address}")

    def left(self) -> list[str]:
        """Return what unfinished jobs have left: files, or tables with staged rows."""
        if self.store == "files":
            return [str(path) for path in Path(self.folder).rglob(f"{PREFIX}*")]
        query = "SELECT name FROM sqlite_master"
        if self.server is not None:
            query = "SELECT table_name FROM information_schema.tables"
        with closing(self.connect()) as connection:
            names = [row[0] for row in connection.execute(query).fetchall()]
        return [name for name in names if name.startswith(STAGE)]


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
    if place.store != "files":
        environment.execute_sql(
            f"CREATE TABLE t ({columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ({place.jdbc()})"
        )
        return environment
    environment.execute_sql(
        f"CREATE TABLE t ({columns}) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{place.folder}/t', 'format' = 'parquet')"
    )
    return environment


def fill(session: SparkSession, send: Send, place: Place) -> None:
    """Replace all rows of the table by those of `first_rows`."""
    if place.store != "files":
        with closing(place.connect()) as connection:
            connection.execute("DROP TABLE IF EXISTS t")
            connection.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, n INT, p INT)")
            connection.commit()
    values = ", ".join(f"({id_}, {n}, {part})" for id_, (n, part) in first_rows().items())
    environment = environment_of(session, place)
    word = "OVERWRITE" if place.store == "files" else "INTO"
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
        self.killer = Killer(self.chosen, self.counts)
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
        left = self.place.left()
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
            state = "before" if found == rows else "after"
            self.counts[f"{statement.kind}: the rows of {state} it"] += 1
        if found not in ([rows, after] if killed else [after]):
            self.problems.append(f"{statement}: {len(rows)} rows became {len(found)} others")
        print(f"{self.counts['kills']} kills, {len(self.problems)} problems", flush=True)
        return dict(found)

    def _killed(self, statement: Statement) -> bool:
        """Run a statement in a process that is killed; return False if it had ended before."""
        jvm = self.place.store != "files"
        client = Client(None if jvm else self.calm.wait(), self.warehouse)
        try:
            client.wait()
            if jvm:
                client.call(warm)
            client.send(change, self.place, statement)
            assert client.receive() == "begun"
            return self.killer.kill(client, jvm=jvm)
        finally:
            client.stop()


def main() -> int:
    """Run the program; return 1 if rows were lost."""
    parser = argparse.ArgumentParser(description="Kill processes that delete or update rows.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=["files", "sqlite", "postgresql"], default="files")
    given = parser.parse_args()
    started = time.monotonic()
    serves = given.store == "postgresql"
    running = postgres_server.server() if serves else nullcontext()
    with tempfile.TemporaryDirectory() as folder, running as server:
        program = Program(Place(folder, given.store, server), given.seed)
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
