"""The fault matrix of CREATE and REPLACE TABLE AS: real statements on real Spark.

    python -m fuzz.ctas_matrix --kills 50 --places files,postgresql

A cell is a place (where the table and its catalog are), a statement, and whether the option
``table.ctas.atomicity-enabled`` is set, which together give the level. Each cell meets every fault,
and `--kills` kills of the process that plans, changes the catalog and commits; `--jvm-kills` adds
kills of that process with its JVM, or of the JVM only. A reader polls meanwhile. Another process
then finds what is left, recovers twice, and runs the statement again. The table that is printed
counts only processes that were killed before the statement had ended.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from fuzz.postgres_server import Server, server, why_not
from fuzz.spark_processes import Client, Gateway, cancel_jobs, prepare, warm
from schema_core.connectors.jdbc.tables import StageName
from schema_core.environment.jobs.atomicity import ACTIONS, Event, TableTransaction
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Send = Callable[[Any], None]

# --- the matrix ----------------------------------------------------------------------------------

#: The source has this many files, each read by a task, with this many rows.
FILES, ROWS = 4, 10
#: What the names of hidden files of this library contain.
HIDDEN = ".schema-core"


class Action(Enum):
    """The statement."""

    CREATE = "CREATE"
    REPLACE = "REPLACE"


@dataclass(frozen=True)
class Place:
    """Where the table and its catalog are.

    Args:
        name: The name.
        options: The options of the table; `{folder}` and so on are filled in.
        catalog: The statement that creates the catalog, or nothing for the Hive catalog.
        stages: Whether the connector stages rows.
        shares_jvm: Whether a process may be killed without its JVM: what the JVM holds for it can
            be released by others.
    """

    name: str
    options: str
    catalog: str
    stages: bool = True
    shares_jvm: bool = True


SQLITE = "'type' = 'sql', 'url' = 'sqlite:///{folder}/catalog.db'"
PATH = "'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}/tables/t'"
LOGIN = "'username' = '{username}', 'password' = '{password}'"
PLACES = {
    item.name: item
    for item in (
        Place("files", PATH, SQLITE),
        Place(
            "postgresql",
            "'connector' = 'jdbc', 'url' = 'jdbc:{url}/{data}', 'table-name' = 'public.t', "
            + LOGIN,
            "'type' = 'sql', 'url' = '{driver}:{url}/{names}', " + LOGIN,
        ),
        Place(
            "sqlite",
            "'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{folder}/catalog.db', 'table-name' = 't'",
            SQLITE,
            shares_jvm=False,
        ),
        Place("hive", "'connector' = 'hive'", "", stages=False),
        Place("files in hive", PATH, ""),
    )
}


@dataclass(frozen=True)
class Cell:
    """A statement at a place."""

    place: Place
    action: Action
    is_atomic: bool

    @property
    def level(self) -> int:
        if self.action is Action.REPLACE:
            return 3
        return 1 if not self.is_atomic else 3 if self.place.stages else 2

    def __str__(self) -> str:
        option = ", option off" if self.action is Action.REPLACE and not self.is_atomic else ""
        return f"{self.place.name}, level {self.level}, {self.action.value}{option}"


def cells(places: Sequence[str]) -> Iterator[Cell]:
    """Yield the cells of places. REPLACE is refused where the connector cannot stage."""
    for name in places:
        for action in Action:
            for is_atomic in (False, True):
                if action is Action.CREATE or PLACES[name].stages:
                    yield Cell(PLACES[name], action, is_atomic)


@dataclass(frozen=True)
class Fault:
    """What goes wrong: a kind, and a step of the commit or a delay in seconds where it applies."""

    kind: str
    step: str = ""
    delay: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.step}".strip()


NONE = Fault("nothing")
KILL, STEP_KILL = "kill -9", "kill -9 at a step"
#: Sources whose first or last task fails.
SOURCES = {"first task": "bad_first", "last task": "bad_last"}


def faults(cell: Cell, chosen: random.Random, length: float) -> Iterator[Fault]:
    """Yield the faults of a cell other than kills; `length` is how long its statement takes."""
    yield Fault("planning")
    yield from map(Fault, SOURCES)
    level = next(level for level, _ in ACTIONS if level.value == cell.level)
    for step in ACTIONS[level, Event.COMMIT]:
        yield Fault("commit", f"before {step.__name__}")
        yield Fault("commit", f"after {step.__name__}")
        yield Fault(STEP_KILL, f"after {step.__name__}")
    yield Fault("hook", "on_created")
    yield Fault("hook", "on_finished")
    for _ in range(5):
        yield Fault("cancel", delay=chosen.uniform(0, length))
    yield Fault("catalog gone", "before")
    yield Fault("catalog gone", "after")
    if cell.place.name == "postgresql":
        yield Fault("catalog gone", "server")
    if cell.place.name in ("files", "sqlite", "files in hive"):
        for _ in range(4):
            yield Fault("disk full", delay=chosen.choice([0, 1, 4, 8, 12, 16, 24]))


#: Ends the connections to a database of PostgreSQL.
END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"


# --- a world -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """A directory, a database of the metastore, and two of a server: one table and its catalog."""

    folder: str
    number: int
    sources: str
    server: Server | None = None

    def text(self, template: str) -> str:
        parts = {"folder": self.folder, "data": f"data{self.number}", "names": f"c{self.number}"}
        if self.server is not None:
            driver, _, address = self.server.url.partition("://")
            result = {"driver": driver, "url": f"//{address.partition('/')[0]}"}
            result["url"] = (
                f"{result['url']}" if "{driver}" in template else f"postgresql:{result['url']}"
            )
            parts |= {"username": self.server.username, "password": self.server.password, **result}
        return template.format(**parts)

    def statement(self, cell: Cell, source: str = "src") -> str:
        column = (
            "CAST(v AS INT) AS a" if cell.action is Action.CREATE else "CAST(v AS INT) + 1 AS b"
        )
        options = self.text(cell.place.options)
        return f"{cell.action.value} TABLE t WITH ({options}) AS SELECT id, {column} FROM {source}"

    def environment(self, session: SparkSession, cell: Cell, hooks: Sequence[Any] = ()) -> Any:
        """Return an environment with the catalog, and the sources as temporary tables."""
        options = {
            "execution.runtime-mode": "BATCH",
            "table.dml-sync": "true",
            "table.ctas.atomicity-enabled": str(cell.is_atomic),
        }
        made = TableEnvironment.create(options, spark=session, hooks=hooks)
        if cell.place.catalog:
            made.execute_sql(f"CREATE CATALOG c WITH ({self.text(cell.place.catalog)})")
        else:
            from schema_core.catalogs.hive.catalog import HiveCatalog, connection

            made.register_catalog("c", HiveCatalog("c", lambda: connection(session)))
        made.use_catalog("c")
        made.execute_sql(f"CREATE DATABASE IF NOT EXISTS w{self.number}")
        made.use_database(f"w{self.number}")
        for name in ("src", *SOURCES.values()):
            made.execute_sql(
                f"CREATE TEMPORARY TABLE {name} (id INT, v STRING) WITH ('connector' = "
                f"'filesystem', 'format' = 'csv', 'path' = '{self.sources}/{name}')"
            )
        return made

    def connection(self, database: str) -> Any:
        """Connect to a database of the server."""
        import psycopg

        assert self.server is not None
        address = self.server.url.partition("://")[2].partition("/")[0]
        login = f"{self.server.username}:{self.server.password}"
        return psycopg.connect(f"postgresql://{login}@{address}/{database}", autocommit=True)

    def hidden(self, cell: Cell, warehouse: str) -> list[str]:
        """Return the names of hidden files and tables that jobs have left."""
        result = [path.name for path in Path(self.folder).rglob("*") if HIDDEN in path.name]
        tables: list[str] = []
        if cell.place.name == "sqlite":
            with closing(sqlite3.connect(f"{self.folder}/catalog.db")) as opened:
                tables = [name for (name,) in opened.execute("SELECT name FROM sqlite_master")]
        elif cell.place.name == "postgresql":
            with self.connection(f"data{self.number}") as opened:
                tables = [name for (name,) in opened.execute("SELECT relname FROM pg_class")]
        elif cell.place.name == "hive":
            below = Path(warehouse, f"w{self.number}.db", "t")
            result += [path.name for path in below.rglob(".hive-staging*")]
        return [*result, *(table for table in tables if StageName.parse(table))]


def write_sources(folder: Path) -> None:
    """Write the sources: CSV files with one row that is not a number, or none."""
    bad = {"src": None, "bad_first": (0, 0), "bad_last": (FILES - 1, ROWS - 1)}
    for name, at in bad.items():
        (folder / name).mkdir(parents=True)
        for file in range(FILES):
            numbers = range(file * ROWS, (file + 1) * ROWS)
            lines = [
                f"{item},{'x' if (file, row) == at else item * 3}"
                for row, item in enumerate(numbers)
            ]
            (folder / name / f"part-{file}.csv").write_text("\n".join(lines) + "\n")


# --- states --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """The columns of the table, empty if there is none, the number of its rows and a checksum."""

    columns: str = ""
    count: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"table ({self.columns}) of {self.count} rows" if self.columns else "no table"


_ALL = FILES * ROWS
_SUM = sum(range(_ALL))
NOTHING, OLD, NEW = State(), State("id,a", _ALL, 4 * _SUM), State("id,b", _ALL, 4 * _SUM + _ALL)


def made(cell: Cell) -> State:
    return OLD if cell.action is Action.CREATE else NEW


def before(cell: Cell) -> State:
    return NOTHING if cell.action is Action.CREATE else OLD


def allowed(cell: Cell, state: State) -> bool:
    """Return whether the level allows a state after recovery, whenever the process ended."""
    if state in (before(cell), made(cell)):
        return True
    if cell.level > 1 or state.columns != OLD.columns:
        return False
    return state.count == 0 or not cell.place.stages


#: What the errors contain for a table without rows that no job has written, as of CREATE TABLE.
ABSENT = (
    "file-not-found",
    "external-failure the database failed to query: ERROR: relation",
    "no such table",
)


def state_of(environment: Any) -> State:
    """Return what a reader finds."""
    try:
        result = environment.execute_sql("SELECT * FROM t")
        names = ",".join(result.get_resolved_schema().get_column_names())
        rows = list(result.collect())
        return State(names, len(rows), sum(sum(row) for row in rows))
    except SchemaCoreError as error:
        results = environment.find_table("t")
        if results is None or error.code == "table-not-found":
            return NOTHING
        if any(item in f"{error.code} {error}" for item in ABSENT):
            return State(_columns(results))
        return State(f"error {error.code} {error}")


def _columns(found: Any) -> str:
    return ",".join(column.name for column in found.table.get_unresolved_schema().columns)


# --- in the process of the statement -------------------------------------------------------------


class _Hook:
    """A hook that raises."""

    def __init__(self, event: str) -> None:
        self.event = event

    def __getattr__(self, name: str) -> Any:
        def call(*_: object) -> None:
            if name == self.event:
                raise ExternalError(f"{name} failed")

        return call


def run_statement(session: SparkSession, send: Send, world: World, cell: Cell, fault: Fault) -> str:
    """Run the statement, send when it is submitted and commits, and return its error."""
    hooks = [_Hook(fault.step)] if fault.kind == "hook" else []
    environment = world.environment(session, cell, hooks)
    catalog = environment.get_catalog("c")
    text = world.statement(cell, SOURCES.get(fault.kind, "src"))
    if fault.kind == "planning":
        text = text.replace("SELECT id", "SELECT id, nowhere")
    if fault.kind == "cancel":
        environment.get_config().set("table.dml-sync", "false")
    with ExitStack() as patches:
        patches.enter_context(_commits(world, fault, catalog, send))
        if fault.kind == "disk full":
            fill(Path(world.folder).parent, fault.delay)
        send(("at", "submitted", time.monotonic()))
        try:
            result = environment.execute_sql(text)
            if fault.kind == "cancel":
                time.sleep(fault.delay)
                result.get_job_client().cancel()
            result.wait()
        except SchemaCoreError as error:
            return f"{error.code}: {error}"
        finally:
            send(("at", "end", time.monotonic()))
    return ""


@contextmanager
def _commits(world: World, fault: Fault, catalog: Any, send: Send) -> Iterator[None]:
    """Send when a transaction commits, and fail at a step of it."""

    def commit(self: Any) -> None:
        send(("at", "commit", time.monotonic()))
        if fault.kind == "catalog gone":
            _remove_catalog(world, fault, catalog)
        for step in ACTIONS[self._level, Event.COMMIT]:
            for when in ("before", "after"):
                if when == "after":
                    step(self)
                if fault.step == f"{when} {step.__name__}":
                    if fault.kind == STEP_KILL:
                        os.kill(os.getpid(), signal.SIGKILL)
                    raise ExternalError("the commit failed")

    with patch.object(TableTransaction, "commit", commit):
        yield


def _remove_catalog(world: World, fault: Fault, catalog: Any) -> None:
    """Have a catalog fail before or after it changes a table, or stop its database."""
    if fault.step == "server":
        with world.connection("postgres") as connection:
            connection.execute(f"ALTER DATABASE c{world.number} ALLOW_CONNECTIONS false")
            connection.execute(END.format(f"c{world.number}"))
        return
    for name in ("create_table", "alter_table", "drop_table"):
        setattr(catalog, name, partial(_failing, getattr(catalog, name), fault.step))


def _failing(method: Callable[..., Any], when: str, *given: Any, **named: Any) -> None:
    if when == "after":
        method(*given, **named)
    raise ExternalError("the catalog does not answer")


# --- in the process that checks ------------------------------------------------------------------


def create_old(session: SparkSession, send: Send, world: World, cell: Cell) -> None:
    """Create what a REPLACE replaces."""
    if cell.action is Action.REPLACE:
        old = Cell(cell.place, Action.CREATE, is_atomic=True)
        world.environment(session, old).execute_sql(world.statement(old))


def drop_database(session: SparkSession, send: Send, world: World, cell: Cell) -> None:
    """Drop the database of the metastore."""
    catalog = world.environment(session, cell).get_catalog("c")
    catalog.drop_database(f"w{world.number}", ignore_if_not_exists=True, cascade=True)


def recover(session: SparkSession, send: Send, world: World, cell: Cell) -> None:
    """Recover, and send when that starts."""
    environment = world.environment(session, cell)
    send("recovering")
    environment.recover()


def read_until(
    session: SparkSession, send: Send, world: World, cell: Cell, stop: str
) -> set[State]:
    """Read the table again and again until a file exists; return what was found."""
    environment, result = world.environment(session, cell), set[State]()
    send("reading")
    while not Path(stop).exists():
        result.add(state_of(environment))
    return result


@dataclass(frozen=True)
class Outcome:
    """What a process has done: whether it was killed, and the error of the statement."""

    was_killed: bool
    error: str = ""


def judge(
    session: SparkSession, send: Send, world: World, cell: Cell, fault: Fault, outcome: Outcome,
    recovers: bool, warehouse: str,
) -> list[str]:  # fmt: skip
    """Return what is wrong with what a process left, after recovery and the next statement."""
    environment, problems = world.environment(session, cell), list[str]()
    result = state_of(environment)
    # a database has the old table until the commit point, and the catalog the new definition
    is_unread = outcome.was_killed and result.columns.startswith("error schema-mismatch")
    if cell.level == 3 and not allowed(cell, result) and not is_unread:
        problems.append(f"before recovery a reader sees {result}")
    clean = not outcome.was_killed and fault.kind != "catalog gone"
    if clean and (problem := _kept(cell, fault, outcome, result)):
        problems.append(problem)
    if recovers:
        environment.recover()
        once, result = state_of(environment), state_of(environment)
        environment.recover()
        if (result := state_of(environment)) != once:
            problems.append(f"recovery is not idempotent: {once}, then {result}")
        if not allowed(cell, result):
            problems.append(f"after recovery there is {result}")
        if result.columns and (left := world.hidden(cell, warehouse)):
            problems.append(f"recovery of {result} leaves {left}")
    return [*problems, *_again(environment, world, cell, recovers, result, warehouse)]


#: The faults after which the rows of a level are committed.
COMMITTED = {
    1: ("after publish", "on_finished"),
    2: ("after settle", "before publish", "after publish", "on_finished"),
    3: ("after publish", "before settle", "after settle", "on_finished"),
}


def _kept(cell: Cell, fault: Fault, outcome: Outcome, found: State) -> str:
    """Return what is wrong with what a statement left that ended by itself."""
    if not outcome.error and found != made(cell):
        return f"the statement succeeded and left {found}"
    if not outcome.error or "are committed" in outcome.error or "is visible" in outcome.error:
        return ""
    if fault.step in COMMITTED[cell.level]:
        return "" if found == made(cell) else f"a fault after the commit, which left {found}"
    is_kept = found == before(cell)
    if cell.level == 1:
        is_kept = allowed(cell, found) and (found != made(cell) or not cell.place.stages)
    return "" if is_kept else f"the statement failed ({outcome.error}) and left {found}"


def _again(
    environment: Any, world: World, cell: Cell, recovers: bool, found: State, warehouse: str
) -> Iterator[str]:
    """Run the statement again."""
    try:
        environment.execute_sql(world.statement(cell))
    except SchemaCoreError as error:
        after = state_of(environment)
        if error.code != "table-exists" or cell.action is Action.REPLACE:
            yield f"the next statement raised {error.code}: {error}"
        elif not allowed(cell, after) or after == NOTHING:
            yield f"the next statement found {after}"
        elif recovers and after != found:
            yield f"the next statement turned {found} into {after}"
        return
    if (after := state_of(environment)) != made(cell):
        yield f"the next statement left {after}"
    if cell.action is Action.CREATE and recovers and found != NOTHING:
        yield "the table was created twice"
    if left := world.hidden(cell, warehouse):
        yield f"the next statement leaves {left}"


# --- the run -------------------------------------------------------------------------------------


class Poller(threading.Thread):
    """Another program that looks at the rows while a statement runs."""

    def __init__(self, world: World, cell: Cell) -> None:
        super().__init__(daemon=True)
        self.world, self.cell = world, cell
        self.found: set[object] = set()
        self._is_over = threading.Event()

    def run(self) -> None:
        if self.cell.place.name == "postgresql":
            with self.world.connection(f"data{self.world.number}") as connection:
                self._poll(partial(self._rows, connection), 0.002)
        else:
            self._poll(self._files, 0.0005)

    def _poll(self, look: Callable[[], object], pause: float) -> None:
        while not self._is_over.wait(pause):
            with suppress(FileNotFoundError):
                self.found.add(look())

    def _files(self) -> object:
        root = Path(self.world.folder, "tables", "t")
        return frozenset(path.name for path in root.iterdir() if path.name[0] not in "._")

    def _rows(self, connection: Any) -> object:
        import psycopg

        try:
            cursor = connection.execute("SELECT * FROM public.t")
            return ",".join(item.name for item in cursor.description), len(cursor.fetchall())
        except psycopg.Error as error:
            if isinstance(error, psycopg.errors.UndefinedTable):
                return frozenset()
            # the table was dropped or changed while the statement was planned
            return next(iter(self.found), frozenset())

    def stop(self) -> list[str]:
        """Return what is wrong with what was found."""
        self._is_over.set()
        self.join()
        result = {item for item in self.found if item}
        if self.cell.level < 3:
            return []
        if self.cell.place.name == "postgresql":
            wrong = result - {("id,a", _ALL), ("id,b", _ALL)}
        else:
            wrong = result if self.cell.action is Action.CREATE and len(result) > 1 else set()
        return [f"another program saw {wrong}"] if wrong else []


@dataclass
class Timing:
    """How long a statement takes, and how long its commit, in seconds.

    The machine may become faster: `scale` falls when kills come too late.
    """

    length: float = 1.0
    commit: float = 0.2
    scale: float = 1.0


@dataclass
class Matrix:
    """Runs of cells, with their counts and the violations."""

    folder: Path
    holder: Gateway
    chosen: random.Random
    server: Server | None = None
    warehouse: str = ""
    is_verbose: bool = False
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    #: how many states readers of this library have found while statements ran
    reads: int = 0
    killed_recoveries: int = 0
    read_errors: Counter[str] = field(default_factory=Counter)
    _number: int = 0
    _drivers: list[Client] = field(default_factory=list)
    _checkers: list[Client] = field(default_factory=list)
    _readers: list[Client] = field(default_factory=list)

    def __post_init__(self) -> None:
        write_sources(self.folder / "sources")

    def stop(self) -> None:
        for item in (*self._drivers, *self._checkers, *self._readers):
            item.stop()
        for some in (self._drivers, self._checkers, self._readers):
            some.clear()

    @property
    def checker(self) -> Client:
        """The process that checks; it runs many checks."""
        if not self._checkers:
            self._checkers.append(Client(self.holder))
        return self._checkers[0]

    def driver(self) -> Client:
        """Return a fresh process, and start the one after it."""
        while len(self._drivers) < 2:
            self._drivers.append(Client(self.holder))
        return self._drivers.pop(0)

    @contextmanager
    def world(self, cell: Cell, disk: str = "") -> Iterator[World]:
        self._number += 1
        number = self._number
        folder = Path(disk or self.folder) / f"w{number}"
        folder.mkdir()
        world = World(str(folder), number, str(self.folder / "sources"), self.server)
        if cell.place.name == "postgresql":
            with world.connection("postgres") as connection:
                for name in (f"data{number}", f"c{number}"):
                    connection.execute(f"CREATE DATABASE {name}")
        try:
            yield world
        finally:
            if not cell.place.catalog:
                self.checker.call(drop_database, world, cell)
            shutil.rmtree(folder, ignore_errors=True)
            if cell.place.name == "postgresql":
                with world.connection("postgres") as connection:
                    for name in (f"data{number}", f"c{number}"):
                        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def run(self, cell: Cell, fault: Fault = NONE, origin: str = "", victim: str = "") -> bool:
        """Run a cell with a fault; what this program cannot do is a violation, too."""
        try:
            return self._run(cell, fault, origin, victim)
        except (RuntimeError, AssertionError) as error:
            self.violations.append(f"{cell}, {fault}, {origin} + {fault.delay} [{victim}]: {error}")
            print("ERROR", self.violations[-1], flush=True)
            self.stop()
            return False

    def _run(self, cell: Cell, fault: Fault, origin: str, victim: str) -> bool:
        """Run a cell with a fault; return whether a kill came before the end of the statement."""
        began = time.monotonic()
        with ExitStack() as stack:
            disk = stack.enter_context(small_disk()) if fault.kind == "disk full" else ""
            world = stack.enter_context(self.world(cell, disk))
            self.checker.call(create_old, world, cell)
            driver = Client(None, self.warehouse) if victim else self.driver()
            if victim:
                driver.call(warm)
            polling = stack.enter_context(self._readers_of(world, cell))
            outcome = self._attempt(driver, world, cell, fault, origin, victim)
            driver.stop()
            self._release(world, cell, fault, outcome)
            wrong = polling()
            if outcome.was_killed and not victim and self.chosen.random() < 0.25:
                self._kill_recovery(world, cell)
            if disk:
                Path(disk, FILLER).unlink()
            recovers = self.chosen.random() < 0.6
            arguments = (world, cell, fault, outcome, recovers, self.warehouse)
            wrong += self.checker.call(judge, *arguments)
        if self.is_verbose:
            took = time.monotonic() - began
            print(f"{took:6.1f} s  {cell}, {fault}, {origin}: {outcome}"[:180], flush=True)
        name = str(Fault(fault.kind)) if outcome.was_killed or fault.kind != KILL else "in time"
        if fault.kind == KILL and victim and outcome.was_killed:
            name = f"{KILL} ({victim})"
        self.counts[str(cell), name] += 1
        for item in wrong:
            how = f"{origin} + {fault.delay:.4f} s" if fault.kind == KILL else str(fault)
            then = "recover" if recovers else "next"
            self.violations.append(f"{cell}, {how} [{victim}], {outcome}, {then}: {item}")
            print("VIOLATION", self.violations[-1], flush=True)
        return outcome.was_killed

    @contextmanager
    def _readers_of(self, world: World, cell: Cell) -> Iterator[Callable[[], list[str]]]:
        """Start readers; yield what stops them and returns what is wrong with what they found."""
        polls = cell.place.name in ("files", "files in hive", "postgresql")
        poller = Poller(world, cell) if polls else None
        reader, stop = None, self.folder / f"stop{world.number}"
        if cell.level == 3 and cell.place.shares_jvm and self.chosen.random() < 0.25:
            if not self._readers:
                self._readers.append(Client(self.holder))
            reader = self._readers[0]
            reader.send(read_until, world, cell, str(stop))
            assert reader.receive() == "reading", "the reader did not start"
        if poller:
            poller.start()

        def ended() -> list[str]:
            wrong = poller.stop() if poller else []
            if reader is not None:
                stop.touch()
                result = reader.receive()
                assert result is not None, "the reader ended"
                assert result[0] == "returned", result
                self.reads += len(result[1])
                for item in result[1]:  # a query that runs while rows are replaced may fail
                    if item.columns.startswith("error "):
                        self.read_errors[item.columns.split()[1]] += 1
                    elif not allowed(cell, item):
                        wrong.append(f"a reader saw {item}")
            return wrong

        yield ended

    def _attempt(
        self, driver: Client, world: World, cell: Cell, fault: Fault, origin: str, victim: str
    ) -> Outcome:
        """Run the statement in a process, and kill that at its time."""
        driver.send(run_statement, world, cell, fault)
        deadline: float | None = None
        while True:
            left = 180.0 if deadline is None else max(0.0, deadline - time.monotonic())
            event = driver.receive(left)
            if event is None and fault.kind == STEP_KILL:
                return Outcome(was_killed=True)
            if event is None:
                assert deadline is not None, f"{cell}, {fault}: the process hangs or has ended"
                driver.kill(python=victim != "jvm", jvm=bool(victim))
                if victim != "jvm":
                    return Outcome(was_killed=True)
                origin = "killed"  # the process goes on without its JVM, and raises
                deadline = None
            elif event[0] == "at":
                if event[1] == origin:
                    deadline = event[2] + fault.delay
            else:
                kind, value = event
                if kind == "returned":
                    return Outcome(origin == "killed", value)
                if origin == "killed":  # its environment cannot be used any more
                    return Outcome(was_killed=True, error=str(value))
                raise RuntimeError(f"{cell}, {fault}: {value}")

    def _kill_recovery(self, world: World, cell: Cell) -> None:
        """Recover in a process that is killed meanwhile."""
        driver = self.driver()
        driver.send(recover, world, cell)
        driver.receive()
        time.sleep(self.chosen.uniform(0, 0.3))
        driver.stop()
        self.killed_recoveries += 1
        self._release(world, cell, NONE, Outcome(was_killed=True))

    def _release(self, world: World, cell: Cell, fault: Fault, outcome: Outcome) -> None:
        """Do what the death of a JVM does: end its jobs and its connections."""
        if outcome.was_killed:
            self.checker.call(cancel_jobs)
        if cell.place.name != "postgresql":
            return
        with world.connection("postgres") as connection:
            if outcome.was_killed:
                connection.execute(END.format(f"data{world.number}"))
            if fault.step == "server":
                connection.execute(f"ALTER DATABASE c{world.number} ALLOW_CONNECTIONS true")

    def measure(self, cell: Cell) -> Timing:
        """Return how long a statement takes when nothing fails."""
        result = Timing()
        for _ in range(2):
            with self.world(cell) as world:
                self.checker.call(create_old, world, cell)
                driver, times = self.driver(), dict[str, float]()
                driver.send(run_statement, world, cell, NONE)
                while (event := driver.receive()) is not None and event[0] == "at":
                    times[event[1]] = event[2]
                driver.stop()
                assert event == ("returned", ""), event
            result = Timing(times["end"] - times["submitted"], times["end"] - times["commit"])
        return result

    def kill(self, cell: Cell, timing: Timing, victim: str = "") -> bool:
        """Kill the process of a statement at a random time, mostly while it commits."""
        if self.chosen.random() < (0.33 if timing.commit > 0.01 else 0.8):
            origin, length = "submitted", timing.length
        else:
            origin, length = "commit", timing.commit * 1.2
        delay = self.chosen.uniform(0, length * timing.scale)
        was_killed = self.run(cell, Fault(KILL, delay=delay), origin, victim)
        timing.scale = min(1.2, timing.scale * (1.1 if was_killed else 0.9))
        return was_killed


# --- disks ---------------------------------------------------------------------------------------

#: The size of a disk that is soon full, in bytes.
SIZE = 2_000_000
FILLER = "filler"


@contextmanager
def small_disk() -> Iterator[str]:
    """Yield a directory on a disk in memory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder]
        subprocess.run(mount, check=True, capture_output=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def can_mount() -> bool:
    """Return whether this process may mount a disk in memory."""
    try:
        with small_disk():
            return True
    except (subprocess.CalledProcessError, FileNotFoundError):
        return False


def fill(disk: Path, left: float) -> None:
    """Fill a disk but for some pages of 4 KB."""
    path = disk / FILLER
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    os.truncate(path, max(0, path.stat().st_size - int(left) * 4096))


# --- the program ---------------------------------------------------------------------------------


def run_cell(
    matrix: Matrix, cell: Cell, kills: int, jvm_kills: int, seconds: float, only: str = ""
) -> None:
    """Run the faults of a cell, then its kills until there are enough or the time is over."""
    began = time.monotonic()
    timing = matrix.measure(cell)
    mounts = can_mount()
    for fault in faults(cell, matrix.chosen, timing.length):
        if only in str(fault) and (fault.kind != "disk full" or mounts):
            # where a JVM holds locks for its process, each process has its own
            is_alone = fault.kind == STEP_KILL and not cell.place.shares_jvm
            matrix.run(cell, fault, victim="python and jvm" if is_alone else "")
    for _ in range(2 * kills if cell.place.shares_jvm else 0):
        if matrix.counts[str(cell), KILL] >= kills or time.monotonic() - began > seconds:
            break
        matrix.kill(cell, timing)
    if cell.place.catalog:  # the metastore in memory ends with the JVM
        for number in range(jvm_kills):
            matrix.kill(cell, timing, ("python and jvm", "jvm")[number % 2])
    total = {name: number for (key, name), number in matrix.counts.items() if key == str(cell)}
    print(f"{cell}: {total}, {timing}, {time.monotonic() - began:.0f} s", flush=True)


def main() -> int:
    """Run the matrix and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--jvm-kills", type=int, default=4)
    parser.add_argument("--places", default=",".join(PLACES))
    parser.add_argument("--only", default="", help="a part of the name of cells")
    parser.add_argument("--faults", default="", help="a part of the name of other faults")
    parser.add_argument("--seconds", type=float, default=600.0, help="at most for a cell's kills")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--verbose", action="store_true", help="print every run")
    given = parser.parse_args()
    prepare("fuzz.ctas_matrix")
    places = [part for part in given.places.split(",") if part != "postgresql" or not why_not()]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        reached = stack.enter_context(server()) if "postgresql" in places else None
        warehouse = str(folder / "warehouse")
        holder = Client(None, warehouse)
        stack.callback(holder.stop)
        chosen = random.Random(given.seed)
        matrix = Matrix(folder, holder.wait(), chosen, reached, warehouse, given.verbose)
        stack.callback(matrix.stop)
        for cell in cells(places):
            if given.only in str(cell):
                run_cell(matrix, cell, given.kills, given.jvm_kills, given.seconds, given.faults)
    kinds = list(dict.fromkeys(name for _, name in matrix.counts))
    print(f"\n{'':45}" + " ".join(f"{kind:>14}" for kind in kinds))
    for name in dict.fromkeys(cell for cell, _ in matrix.counts):
        row = " ".join(f"{matrix.counts[name, kind]:14d}" for kind in kinds)
        print(f"{name:45}{row}")
    print(f"recoveries that were killed: {matrix.killed_recoveries}")
    print(f"states that readers saw: {matrix.reads}, errors: {dict(matrix.read_errors)}")
    print(f"{sum(matrix.counts.values())} runs, {len(matrix.violations)} violations")
    return bool(matrix.violations)


if __name__ == "__main__":
    raise SystemExit(main())
