"""Writes whose file system fails, or whose process is killed, at any operation: nothing is lost.

    python -m fuzz.file_commits --runs 200
    python -m fuzz.file_commits --spark 8     # with Spark, each killed in a process of its own

Each run draws a statement, an operation of its commit and a fault there (and often a second fault
while another process recovers), then reads as a fresh process would: the rows must be exactly the
old or exactly the new ones, as the job reported, and the next write must leave no files of the
commit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from schema_core.environment.jobs.atomicity import AtomicityLevel as Level
from schema_core.environment.jobs.atomicity import TableTransaction
from schema_core.environment.jobs.client import submit
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.jobs.run import COMMITTED, UNCERTAIN
from schema_core.environment.planner import Registration
from schema_core.errors import AlreadyExistsError, SchemaCoreError
from schema_core.spark.commit.commit import (
    APPEND,
    PREFIX,
    Definition,
    FileStage,
    OverwriteScope,
    read_consistently,
    recover,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import (
    FileStatus,
    FileSystem,
    LocalFiles,
    Release,
    locate_file_system,
    visible_files,
)
from schema_core.spark.commit.snapshots import (
    DIRECTORY,
    FILES,
    Retention,
    find_files,
    read_snapshot,
)

T = TypeVar("T")


# --- faults --------------------------------------------------------------------------------------


class Fault(Enum):
    """What goes wrong at one operation."""

    FALSE = "returns False"
    RAISE_BEFORE = "raises"
    RAISE_AFTER = "takes effect and raises"
    INTERRUPT_BEFORE = "is interrupted"
    INTERRUPT_AFTER = "takes effect and is interrupted"
    DOWN = "raises, as does everything after it"
    DOWN_AFTER = "takes effect and raises, as does everything after it"
    KILL_BEFORE = "kill -9 before it"
    KILL_AFTER = "kill -9 after it"


KILLS = (Fault.KILL_BEFORE, Fault.KILL_AFTER)
AFTER = (Fault.RAISE_AFTER, Fault.INTERRUPT_AFTER, Fault.DOWN_AFTER, Fault.KILL_AFTER)


@dataclass
class Faults:
    """Counts operations; the one with the number `at` meets the fault."""

    at: int = 0
    fault: Fault = Fault.RAISE_BEFORE
    count: int = 0

    def around(self, operation: Callable[[], T], failed: T | None = None) -> T:
        """Do an operation; `failed` is what it returns when the file system refuses."""
        self.count += 1
        if self.fault in (Fault.DOWN, Fault.DOWN_AFTER) and 0 < self.at < self.count:
            raise OSError("the file system is down")
        if self.count != self.at:
            return operation()
        if self.fault in AFTER:
            operation()
        elif self.fault is Fault.FALSE and failed is not None:
            return failed
        self._strike()
        raise OSError("injected")

    def _strike(self) -> None:
        if self.fault in KILLS:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault in (Fault.INTERRUPT_BEFORE, Fault.INTERRUPT_AFTER):
            raise KeyboardInterrupt


@dataclass(frozen=True)
class FaultyFiles:
    """A file system whose operations meet faults."""

    faults: Faults
    inner: FileSystem = field(default_factory=LocalFiles)

    def status(self, path: str) -> FileStatus | None:
        return self.faults.around(lambda: self.inner.status(path))

    def list(self, path: str, prefix: str = "") -> list[FileStatus]:
        return self.faults.around(lambda: self.inner.list(path, prefix))

    def is_link(self, path: str) -> bool:
        return self.faults.around(lambda: self.inner.is_link(path))

    def read(self, path: str) -> bytes:
        return self.faults.around(lambda: self.inner.read(path))

    def create(self, path: str, content: bytes) -> None:
        self.faults.around(lambda: self.inner.create(path, content))

    def rename(self, source: str, target: str) -> bool:
        return self.faults.around(lambda: self.inner.rename(source, target), failed=False)

    def can_publish(self, path: str) -> bool:
        return self.faults.around(lambda: self.inner.can_publish(path))

    def publish(self, source: str, target: str) -> bool:
        return self.faults.around(lambda: self.inner.publish(source, target), failed=False)

    def delete(self, path: str) -> bool:
        return self.faults.around(lambda: self.inner.delete(path), failed=False)

    def delete_file(self, path: str) -> bool:
        return self.faults.around(lambda: self.inner.delete_file(path), failed=False)

    def delete_empty(self, path: str) -> bool:
        return self.faults.around(lambda: self.inner.delete_empty(path), failed=False)

    def mkdirs(self, path: str) -> bool:
        return self.faults.around(lambda: self.inner.mkdirs(path), failed=False)

    def restrict(self, path: str) -> None:
        self.faults.around(lambda: self.inner.restrict(path))

    def lock(self, path: str) -> Release | None:
        if (release := self.faults.around(lambda: self.inner.lock(path))) is None:
            return None

        def released() -> None:
            try:
                self.faults.around(lambda: None)
            finally:
                release()  # the kernel's lock ends with its file, whatever the disk does

        return released

    def snapshot(self, path: str) -> Hashable:
        return self.faults.around(lambda: self.inner.snapshot(path))


# --- what is written -----------------------------------------------------------------------------

OLD, NEW = "old", "new"
#: The digest of the columns of all snapshots.
SCHEMA = "s"


@dataclass(frozen=True)
class Scenario:
    """A statement: the files and the definition before it, what it writes, and what must result."""

    before: Mapping[str, str]
    writes: Mapping[str, str]
    kept: tuple[str, ...]
    scope: OverwriteScope = APPEND
    level: Level = Level.CREATED_FIRST
    held: str | None = OLD
    makes: str | None = None
    retained: int | None = None

    @property
    def creates(self) -> bool:
        return self.makes is not None and self.held is None


FLAT = {"old-1": "1\n2\n", "old-2": "3\n"}
PARTS = {"p=1/old-1": "1\n", "p=2/old-2": "2\n", "p=2/old-3": "3\n", "p=a%2Fb/old-4": "4\n"}
FLAT_NEW = {"part-0": "7\n8\n", "part-1": "9\n"}
PARTS_NEW = {"p=2/part-0": "7\n", "p=3/part-1": "8\n"}

SCENARIOS: dict[str, Scenario] = {
    "INSERT INTO": Scenario(FLAT, FLAT_NEW, tuple(FLAT)),
    "INSERT INTO, empty table": Scenario({}, FLAT_NEW, ()),
    "INSERT OVERWRITE": Scenario(FLAT, FLAT_NEW, (), OverwriteScope(everything=True)),
    "INSERT OVERWRITE, no rows": Scenario(FLAT, {}, (), OverwriteScope(everything=True)),
    "INSERT INTO, partitions": Scenario(PARTS, PARTS_NEW, tuple(PARTS)),
    "INSERT OVERWRITE, partitions": Scenario(
        PARTS, PARTS_NEW, ("p=1/old-1", "p=a%2Fb/old-4"), OverwriteScope(partitions=1)
    ),
    "INSERT OVERWRITE, one partition, no rows": Scenario(
        PARTS, {}, tuple(PARTS)[:3], OverwriteScope(partitions=1, fixed=("a/b",))
    ),
    "CREATE TABLE AS": Scenario(
        {}, FLAT_NEW, (), OverwriteScope(empty=True), Level.CREATED_FIRST, None, NEW
    ),
    "CREATE TABLE AS, atomic": Scenario(
        {}, PARTS_NEW, (), OverwriteScope(empty=True), Level.ISOLATED, None, NEW
    ),
    "CREATE TABLE AS, atomic, beside hidden files": Scenario(
        {".hidden": ""}, PARTS_NEW, (), OverwriteScope(empty=True), Level.ISOLATED, None, NEW
    ),
    "REPLACE TABLE AS": Scenario(
        FLAT, PARTS_NEW, (), OverwriteScope(everything=True), Level.ISOLATED, OLD, NEW
    ),
    "REPLACE TABLE AS, same definition": Scenario(
        PARTS, PARTS_NEW, (), OverwriteScope(everything=True), Level.ISOLATED, OLD, OLD
    ),
}  # fmt: skip
SCENARIOS |= {
    f"{name}, {retained} snapshots": replace(SCENARIOS[name], retained=retained)
    for name, retained in (
        ("INSERT INTO", 2),
        ("INSERT OVERWRITE", 2),
        ("INSERT OVERWRITE, partitions", 2),
        ("INSERT OVERWRITE, no rows", 1),
    )
}


@dataclass(frozen=True)
class World:
    """A table on a disk: its directory, and a catalog of one file that holds its definition."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "table"

    @property
    def definition(self) -> str | None:
        file = self.folder / "catalog.json"
        held: str | None = json.loads(file.read_text()) if file.exists() else None
        return held

    def define(self, definition: str | None) -> None:
        draft = self.folder / f"{uuid.uuid4().hex}.json"
        draft.write_text(json.dumps(definition))
        draft.replace(self.folder / "catalog.json")

    def begin(self, scenario: Scenario) -> None:
        self.define(scenario.held)
        for path, text in scenario.before.items():
            _put(self.root / path, text)
        if scenario.retained is not None:  # a commit without rows: the version before
            stage = FileStage(Directory(LocalFiles(), str(self.root)), held=_named(scenario.held))
            stage.keep_snapshots(Retention(scenario.retained, SCHEMA))
            stage.check()
            stage.commit()


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _named(definition: str | None) -> Definition | None:
    return None if definition is None else Definition("t", definition)


def _registration(world: World, scenario: Scenario, faults: Faults) -> Registration:
    if scenario.makes is None:
        return Registration()

    class Defining(Registration):
        def create(self) -> None:
            if scenario.creates and world.definition is not None:
                raise AlreadyExistsError("there is a table t", code="table-exists")
            faults.around(lambda: world.define(scenario.makes))

        def undo(self) -> None:
            if world.definition == scenario.makes:
                faults.around(lambda: world.define(scenario.held))

    return Defining(atomic=True)


class Write(JobExecution):
    """A job without an engine."""

    def __init__(self, action: Callable[[], None], transaction: TableTransaction) -> None:
        self._action = action
        self._transaction = transaction

    @property
    def committed(self) -> bool | None:
        return self._transaction.committed

    def begin(self) -> None:
        self._transaction.begin()

    def run(self, job_id: str) -> None:
        self._action()

    def commit(self) -> None:
        self._transaction.commit()

    def abort(self) -> None:
        self._transaction.abort()


def write(
    world: World, scenario: Scenario, faults: Faults, system: FileSystem | None = None
) -> None:
    """Run the statement: as the planner does, but without Spark."""
    directory = Directory(FaultyFiles(faults, system or LocalFiles()), str(world.root))
    changed = scenario.makes if scenario.held not in (None, scenario.makes) else None
    held = _named(scenario.held)
    made = _named(changed) if scenario.makes else None
    stage = FileStage(directory, scenario.scope, held=held, definition=made, lock_timeout=5)
    if scenario.retained is not None:
        stage.keep_snapshots(Retention(scenario.retained, SCHEMA))
    stage.check()

    def action() -> None:
        stage.open()
        for path, text in scenario.writes.items():
            _put(Path(stage.staging_directory, f"{path}-{stage.name.id}"), text)

    registration = _registration(world, scenario, faults)
    job = Write(action, TableTransaction(scenario.level, stage, registration))
    submit(JobGraph("write", job)).wait()


# --- what is found -------------------------------------------------------------------------------

Rows = Counter[tuple[str, str]]


def _rows(files: Mapping[str, str]) -> Rows:
    """Each row, with the partition it is in."""
    pairs = (
        (path.rpartition("/")[0], text) for path, text in files.items() if not path.startswith(".")
    )
    return Counter((folder, line) for folder, text in pairs for line in text.splitlines())


def result(scenario: Scenario) -> Rows:
    """The rows that the statement must leave."""
    kept = {path: scenario.before[path] for path in scenario.kept}
    return _rows(kept) + _rows(scenario.writes)


def read(world: World, system: FileSystem | None = None) -> Rows:
    """The rows that a reader finds who has the definition from the catalog."""
    directory = Directory(system or LocalFiles(), str(world.root))
    held = _named(world.definition)
    if not world.root.exists():
        return Counter()

    def load() -> Rows:
        files = [path for path, _ in visible_files(directory.system, directory.root)]
        return _rows({path: (world.root / path).read_text() for path in files})

    if held is None:
        recover(directory, None)
        return load()
    return read_consistently(directory, held, load)


def find_version_problem(world: World, scenario: Scenario, state: str) -> str:
    """Return what is wrong with the snapshots after a write; empty if all rows can be read."""
    if scenario.retained is None:
        return ""
    directory = Directory(LocalFiles(), str(world.root))
    versions = [_rows(scenario.before), *([result(scenario)] if state == NEW else [])]
    expected = versions[-scenario.retained :]
    names = sorted(f"{DIRECTORY}/{file.name}" for file in (world.root / DIRECTORY).glob("*.json"))
    snapshots = [read_snapshot(directory, name) for name in names]
    found, named = [], set()
    for snapshot in snapshots:
        if snapshot is None:
            return "a snapshot is missing"
        present, kept = find_files(directory, snapshot.time, SCHEMA)
        named |= {*kept}
        texts = {path: (world.root / path).read_text() for path in present}
        texts |= {path: (world.root / FILES / path).read_text() for path in kept}
        found.append(_rows(texts))
    if found != expected:
        return f"the versions are {found}"
    left = (
        {path for path, _ in visible_files(directory.system, str(world.root / FILES))}
        if (world.root / FILES).exists()
        else set()
    )
    return f"left over: {left - named}" if left - named else ""


@dataclass(frozen=True)
class Verdict:
    """What one run found; `problem` is empty if all is well."""

    state: str
    problem: str = ""


def judged(world: World, scenario: Scenario, reported: BaseException | None, died: bool) -> Verdict:
    """Whether table and rows are the old ones or the new ones, as the job reported."""
    definition, rows = world.definition, read(world)
    old, new = _rows(scenario.before), result(scenario)
    makes = scenario.makes or scenario.held
    if scenario.creates and definition == makes and not rows:
        state = OLD  # an empty table, whose rows were never visible
    elif (definition, rows) == (makes, new):
        state = NEW
    elif (definition, rows) == (scenario.held, old):
        state = OLD
    else:
        kind = "lost" if (old & new) - rows or (rows != new and old - rows) else "mixed"
        return Verdict(kind, f"rows {kind}: {definition} {dict(rows)}")
    notes = getattr(reported, "__notes__", [])
    if old == new and makes == scenario.held:
        return Verdict(state)
    if not died and reported is None and state == OLD:
        return Verdict(state, "the job reported success, but the rows are the old ones")
    if not died and reported is not None and UNCERTAIN not in notes:
        if (COMMITTED in notes) != (state == NEW):
            return Verdict(state, f"the job reported {reported!r} {notes}")
        if not isinstance(reported, SchemaCoreError | KeyboardInterrupt):
            return Verdict(state, f"a raw error: {reported!r}")
    return Verdict(state)


def again(world: World, scenario: Scenario, state: str) -> str:
    """Run the statement again without faults: it works, and nothing of the first run remains."""
    before = read(world)
    if scenario.creates:
        world.define(None)
    elif state == NEW and scenario.makes is not None:
        world.define(scenario.held)
        return ""  # the definition that it replaces is gone
    try:
        write(world, scenario, Faults())
        refused = False
    except SchemaCoreError as error:
        refused = True
        if not (scenario.creates and state == NEW and error.code == "target-not-empty"):
            return f"the next write failed: {error!r}"
    if scenario.creates and state == NEW:
        return "" if refused and read(world) == before else "CREATE wrote over existing rows"
    expected = result(scenario)
    if state == NEW and scenario.scope == APPEND:
        expected = before + _rows(scenario.writes)
    if read(world) != expected:
        return f"the next write left {dict(read(world))}"
    left = [
        path.name
        for folder in (world.root, world.folder)
        for path in folder.iterdir()
        if path.name.startswith(PREFIX) and path.name != DIRECTORY
    ]
    return f"left over: {left}" if left else ""


# --- runs ----------------------------------------------------------------------------------------


def attempt(work: Callable[[], object], fault: Fault) -> tuple[BaseException | None, bool]:
    """Do something that meets a fault, in a process of its own if that is a kill.

    Returns what it raised, and whether it was killed.
    """
    if fault in KILLS:
        if not (child := os.fork()):
            try:
                work()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        return None, os.WIFSIGNALED(status)
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - judged by the caller
        return error, False
    return None, False


def operations(scenario: Scenario) -> int:
    """How many operations the statement has when nothing fails."""
    with tempfile.TemporaryDirectory() as folder:
        world, faults = World(Path(folder)), Faults()
        world.begin(scenario)
        write(world, scenario, faults)
    return faults.count


def run(
    scenario: Scenario,
    first: Faults,
    second: Faults | None = None,
    system: FileSystem | None = None,
) -> Verdict:
    """One write with a fault; then perhaps a recovery with a fault; then a fresh read."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.begin(scenario)
        reported, died = attempt(lambda: write(world, scenario, first, system), first.fault)
        if second is not None:
            attempt(lambda: read(world, FaultyFiles(second)), second.fault)
        verdict = judged(world, scenario, reported, died)
        if verdict.problem:
            return verdict
        if problem := find_version_problem(world, scenario, verdict.state):
            return Verdict(verdict.state, problem)
        if not died and first.fault not in (Fault.DOWN, Fault.DOWN_AFTER) and second is None:
            nothing = scenario.level is Level.ISOLATED and verdict.state == OLD
            if nothing and world.definition != scenario.held:
                return Verdict(OLD, "the table of a failed statement stays in the catalog")
        return Verdict(verdict.state, again(world, scenario, verdict.state))


# --- with Spark ----------------------------------------------------------------------------------

#: Statement on a table of the rows 1 and 2 -> the columns and rows that it leaves.
STATEMENTS: dict[str, tuple[str, list[str]]] = {
    "INSERT INTO t VALUES (3, 3)": ("a, p", ["1 1", "2 2", "3 3"]),
    "INSERT OVERWRITE t VALUES (3, 2)": ("a, p", ["1 1", "3 2"]),
    "INSERT OVERWRITE t PARTITION (p = '2') SELECT a FROM t WHERE a > 9": ("a, p", ["1 1"]),
    "REPLACE TABLE t {with} AS SELECT 7 AS z": ("z", ["7"]),
}
OLD_TABLE = ("a, p", ["1 1", "2 2"])


def _environment(folder: Path) -> Any:
    """A fresh environment over the catalog in a folder."""
    from schema_core import EnvironmentSettings, TableEnvironment

    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.get_config().set("table.dml-sync", "true")
    url = f"sqlite:///{folder}/catalog.db"
    environment.execute_sql(f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = '{url}')")
    environment.execute_sql("USE CATALOG c")
    environment.execute_sql("CREATE DATABASE IF NOT EXISTS d")
    environment.execute_sql("USE d")
    return environment


def _with(folder: Path) -> str:
    return f"WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv')"


def killed_on_spark(folder: Path, statement: str, at: int) -> None:
    """Run a statement on Spark whose process is killed at one operation on files."""
    from schema_core.connectors.files import filesystem

    faults = Faults(at, Fault.KILL_AFTER)

    def found(session: Any, path: str) -> tuple[FileSystem, str]:
        system, root = locate_file_system(session, path)
        return FaultyFiles(faults, system), root

    vars(filesystem)["locate_file_system"] = found
    _environment(folder).execute_sql(statement.replace("{with}", _with(folder)))


def spark_run(statement: str, at: int) -> Verdict:
    """One statement on Spark, killed in a process of its own, then read in a fresh environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = _environment(folder)
        first.execute_sql(f"CREATE TABLE t (a INT, p INT) PARTITIONED BY (p) {_with(folder)}")
        first.execute_sql("INSERT INTO t VALUES (1, 1), (2, 2)")
        given = ["--statement", statement, "--at", str(at), "--folder", name]
        command = [sys.executable, "-m", "fuzz.file_commits", *given]
        ended = subprocess.run(command, check=False, capture_output=True)
        fresh = _environment(folder).sql_query("SELECT * FROM t")
        columns = ", ".join(fresh.get_resolved_schema().get_column_names())
        rows = sorted(" ".join(map(str, row)) for row in fresh.execute().collect())
    state = {OLD_TABLE[0]: OLD} if (columns, rows) == OLD_TABLE else {}
    if (columns, rows) == STATEMENTS[statement]:
        state = {columns: NEW}
    killed = ended.returncode == -signal.SIGKILL
    fine = bool(state) if killed else ended.returncode == 0 and NEW in state.values()
    problem = "" if fine else f"{columns} {rows}, ended with {ended.returncode}"
    return Verdict(state.get(columns, "mixed"), problem)


def on_spark(runs: int, draw: random.Random) -> int:
    """Kill processes that write on Spark; return the number of failures."""
    wrong = 0
    for number in range(runs):
        statement = list(STATEMENTS)[number % len(STATEMENTS)]
        at = draw.randint(12, 40)
        verdict = spark_run(statement, at)
        print(f"{statement}; kill -9 after operation {at}: {verdict.state} {verdict.problem}")
        wrong += bool(verdict.problem)
    return wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spark", type=int, default=0, help="so many kills of jobs on Spark")
    for option in ("--statement", "--at", "--folder"):
        parser.add_argument(option, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.statement:
        killed_on_spark(Path(options.folder), options.statement, int(options.at))
        return 0
    draw = random.Random(options.seed)
    if options.spark:
        return 1 if on_spark(options.spark, draw) else 0
    counts = {name: operations(value) for name, value in SCENARIOS.items()}
    states: Counter[tuple[str, str]] = Counter()
    problems: list[str] = []
    for _ in range(options.runs):
        name, fault = draw.choice(list(SCENARIOS)), draw.choice(list(Fault))
        first = Faults(draw.randint(1, counts[name]), fault)
        second = (
            Faults(draw.randint(1, 25), draw.choice(list(Fault))) if draw.random() < 0.5 else None
        )
        drawn = f"{name}; operation {first.at} {fault.value}; then {second}"
        verdict = run(SCENARIOS[name], first, second)
        states[fault.value, verdict.state] += 1
        if verdict.problem:
            problems.append(f"{drawn}: {verdict.problem}")
    print(f"{'fault':55} old  new  lost mixed")
    for fault in Fault:
        results = [states[fault.value, item] for item in (OLD, NEW, "lost", "mixed")]
        print(f"{fault.value:55}" + "".join(f"{number:>4} " for number in results))
    lost = sum(number for (_, state), number in states.items() if state == "lost")
    mixed = sum(number for (_, state), number in states.items() if state == "mixed")
    other = len(problems) - lost - mixed
    print(f"{options.runs} runs: rows lost {lost}, rows mixed {mixed}, other {other}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
