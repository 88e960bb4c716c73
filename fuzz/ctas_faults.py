"""CREATE and REPLACE TABLE AS under faults: catalog and rows keep what the level guarantees.

    python -m fuzz.ctas_faults --runs 300

Each run draws a level, a statement and a fault at one of the operations on files and on the
catalog, which is a SQL database. The statement runs in a process of its own. A fresh process then
finds what is left, recovers twice, and runs the statement again. No Spark is started: the rows are
written as files, by the stages and the transactions that the planner uses.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from fuzz.file_commits import KILLS, Fault, Faults, FaultyFiles, Write
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.connectors.files import filesystem as connector
from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.environment.jobs.atomicity import AtomicityLevel as Level
from schema_core.environment.jobs.atomicity import Stage, TableTransaction, Unstaged
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.planner import BoundTable, Registration
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.query.relation import Relation
from schema_core.spark.commit.commit import PREFIX, FileStage
from schema_core.spark.commit.file_systems import LocalFiles, visible_files
from schema_core.spark.connector import WriteContext

#: How many files a statement writes.
FILES = 5
#: Methods of a catalog that meet faults.
METHODS = ("create_table", "alter_table", "drop_table")


class Action(Enum):
    """The statement."""

    CREATE = "CREATE"
    REPLACE = "REPLACE"


@dataclass(frozen=True)
class Case:
    """A statement at a level; `fails` is whether its job fails when all rows are written."""

    level: Level
    action: Action = Action.CREATE
    fails: bool = False

    def __str__(self) -> str:
        return f"level {self.level.value} {self.action.value}{', failing' if self.fails else ''}"


#: REPLACE is always isolated on files.
CASES = tuple(
    Case(level, action, fails)
    for level in Level
    for action in Action
    for fails in (False, True)
    if action is Action.CREATE or level is Level.ISOLATED
)


class FilePlanner(DryRunPlanner):
    """A planner that writes files at the places of tables, without Spark."""

    def __init__(self, case: Case, faults: Faults) -> None:
        self.case = case
        self.files = FaultyFiles(faults)
        self.connector = FilesystemConnector()

    def located(self, _: object, path: str) -> tuple[FaultyFiles, str]:
        return self.files, path

    def context(self, target: BoundTable, **given: Any) -> WriteContext:
        session: Any = SimpleNamespace()
        return WriteContext(
            target.identifier, target.table, {}, session=session, zone="UTC", **given
        )

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        old = registration.replaced
        context = self.context(
            target, creates=True, replaced=old, overwrite=old is not None, job=registration.id
        )
        stage: Stage = Unstaged(lambda: self.clean_up(target, registration.id))
        place = Path(context.options["path"])
        if self.case.level is not Level.ROLLED_BACK:
            stage = self.connector.stage(context)
            assert isinstance(stage, FileStage)
            place = Path(stage.staging_directory)

        def action() -> None:
            place.mkdir(parents=True, exist_ok=True)
            for number in range(FILES):
                name = f"{self.case.action.value}-{number}-{registration.id}"
                (place / name).write_text("1\n")
                self.files.status(str(place))  # a fault may be between two files
            if self.case.fails:
                raise ExternalError("the job failed")

        transaction = TableTransaction(self.case.level, stage, registration)
        return JobGraph("create", Write(action, transaction), [target.identifier])

    def was_committed(self, target: BoundTable, job: str) -> bool | None:
        return self.connector.was_committed(self.context(target), job)

    def clean_up(self, target: BoundTable, job: str) -> None:
        self.connector.recover(self.context(target, creates=True))
        if self.case.level is Level.ROLLED_BACK:
            LocalFiles().delete(target.table.options["path"])

    def recover(self, target: BoundTable, job: str = "") -> None:
        self.connector.recover(self.context(target))


@dataclass
class World:
    """A directory with a catalog and the directory of a table."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "tables" / "t"

    def statement(self, action: Action) -> str:
        options = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{self.root}'"
        column = "b" if action is Action.REPLACE else "a"
        return f"{action.value} TABLE t WITH ({options}) AS SELECT 1 AS {column}"

    def prepare(self, environment: TableEnvironment) -> None:
        """Create the table that is replaced."""
        environment.execute_sql(self.statement(Action.CREATE))

    def execute(self, environment: TableEnvironment, action: Action) -> None:
        """Run the statement."""
        environment.execute_sql(self.statement(action))

    def column(self, environment: TableEnvironment) -> str | None:
        """Return the first column of the table, None if there is no table."""
        result = environment.find_table("t")
        return None if result is None else result.table.get_unresolved_schema().columns[0].name

    @contextmanager
    def environment(self, case: Case, faults: Faults) -> Iterator[TableEnvironment]:
        """Yield an environment of a fresh process."""
        planner = FilePlanner(case, faults)
        atomic = case.level is not Level.CREATED_FIRST and case.action is Action.CREATE
        options = {"execution.runtime-mode": "BATCH", "table.ctas.atomicity-enabled": str(atomic)}
        made = TableEnvironment.create(options, planner=planner)
        catalog = SqlCatalog("c", f"sqlite:///{self.folder / 'catalog.db'}")
        made.register_catalog("c", catalog)
        made.use_catalog("c")
        made.get_config().set("table.dml-sync", "true")
        for name in METHODS:
            setattr(catalog, name, _faulty(getattr(catalog, name), faults))
        with patch.object(connector, "locate_file_system", planner.located), _levels(case):
            yield made
        catalog.close()


@contextmanager
def _levels(case: Case) -> Iterator[None]:
    """Make the connector one that cannot stage, for the level that only such a connector has."""
    if case.level is not Level.ROLLED_BACK:
        yield
        return
    with patch.object(FilesystemConnector, "abilities", frozenset()):
        yield


def _faulty(method: Callable[..., Any], faults: Faults) -> Callable[..., Any]:
    return lambda *given, **named: faults.around(lambda: method(*given, **named))


# --- what is found -------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """What a fresh process finds: the columns of the table, if any, and the visible files."""

    column: str | None
    files: frozenset[str]

    def __str__(self) -> str:
        return f"table {self.column}, files {sorted(self.files)}"


NEW = {
    action: frozenset(f"{action.value}-{number}" for number in range(FILES)) for action in Action
}


def _without_job(name: str) -> str:
    return name.rpartition("-")[0]


def state_of(environment: TableEnvironment, world: World) -> State:
    column = world.column(environment)
    files: frozenset[str] = frozenset()
    if world.root.is_dir():
        every = [path for path, _ in visible_files(LocalFiles(), str(world.root))]
        files = frozenset(map(_without_job, every))
        if len(every) > len(files):  # files of two jobs
            files = frozenset(every)
    return State(column, files)


def allowed(case: Case) -> set[State]:
    """Return the states that the level allows after recovery, whenever the process ended."""
    none = frozenset[str]()
    if case.action is Action.REPLACE:
        return {State("a", NEW[Action.CREATE]), State("b", NEW[Action.REPLACE])}
    states = {State(None, none), State("a", NEW[Action.CREATE])}
    return states | {State("a", none)} if case.level is Level.CREATED_FIRST else states


def run(case: Case, faults: Faults, kind: type[World] = World) -> str:
    """Run a statement that meets a fault; return what is wrong afterwards, or an empty string."""
    with tempfile.TemporaryDirectory() as folder:
        world = kind(Path(folder))
        if case.action is Action.REPLACE:
            with world.environment(Case(Level.ISOLATED), Faults()) as environment:
                world.prepare(environment)
        died, raised = _attempt(world, case, faults)
        calm = Case(case.level, case.action)
        with world.environment(calm, Faults()) as environment:
            return _judged(world, environment, case, faults, died=died, raised=raised)


def _attempt(world: World, case: Case, faults: Faults) -> tuple[bool, bool]:
    """Run the statement in a process; return whether it was killed, and whether it raised."""
    if not (child := os.fork()):
        code = 2
        try:
            with world.environment(case, faults) as environment:
                world.execute(environment, case.action)
            code = 0
        except (SchemaCoreError, KeyboardInterrupt):
            code = 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGKILL, False
    return False, os.WEXITSTATUS(status) == 1


def _judged(
    world: World,
    environment: TableEnvironment,
    case: Case,
    faults: Faults,
    *,
    died: bool,
    raised: bool,
) -> str:
    foreign = {_without_job(path.name) for path in world.root.glob(f"{case.action.value}-*")}
    isolated = case.level is Level.ISOLATED and case.action is Action.CREATE
    if isolated and foreign not in (set(), NEW[Action.CREATE]):
        return f"a foreign reader saw {sorted(foreign)}"
    environment.recover()
    once = state_of(environment, world)
    environment.recover()
    if (twice := state_of(environment, world)) != once:
        return f"recovery is not idempotent: {once}, then {twice}"
    if once not in allowed(case):
        return f"not allowed: {once}"
    if case.fails and not died and once.column == _made(case) and case.level is not Level(1):
        return f"a failed job left {once}"
    if not (died or raised or case.fails) and once.files != NEW[case.action]:
        return f"the statement succeeded, but left {once}"
    return _again(world, environment, case, once)


def _made(case: Case) -> str:
    return "a" if case.action is Action.CREATE else "b"


def _again(world: World, environment: TableEnvironment, case: Case, found: State) -> str:
    """Run the statement again: it works if nothing was left, and leaves no hidden files."""
    if case.action is Action.CREATE and found.column is not None:
        try:
            environment.execute_sql(world.statement(Action.CREATE))
        except SchemaCoreError as error:
            return "" if error.code == "table-exists" else f"refused with {error.code}"
        return "a table was created twice"
    world.execute(environment, case.action)
    if (after := state_of(environment, world)) != State(_made(case), NEW[case.action]):
        return f"the next statement left {after}"
    left = [path.name for path in world.folder.rglob(f"{PREFIX}*")]
    return f"left over: {left}" if left else ""


def operations(case: Case, kind: type[World] = World) -> int:
    """Return how many operations the statement has when nothing fails."""
    with tempfile.TemporaryDirectory() as folder:
        world, faults = kind(Path(folder)), Faults()
        if case.action is Action.REPLACE:
            with world.environment(Case(Level.ISOLATED), Faults()) as environment:
                world.prepare(environment)
        with world.environment(case, faults) as environment:
            try:
                world.execute(environment, case.action)
            except SchemaCoreError:
                assert case.fails
        return faults.count


#: The faults that are tried: those of file systems that lie about what they did are in
#: `fuzz.file_commits`.
TRIED = (*KILLS, Fault.RAISE_BEFORE, Fault.RAISE_AFTER, Fault.INTERRUPT_BEFORE)


def main() -> int:
    """Run random cases and print a table of what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    chosen = random.Random(given.seed)
    counts, problems = Counter[str](), list[str]()
    lengths = {case: operations(case) for case in CASES}
    for _ in range(given.runs):
        case, fault = chosen.choice(CASES), chosen.choice(TRIED)
        at = chosen.randint(1, lengths[case])
        counts[f"{case}, {fault.value}"] += 1
        if problem := run(case, Faults(at, fault)):
            problems.append(f"{case}, {fault.value}, operation {at}: {problem}")
    for name, number in sorted(counts.items()):
        print(f"{number:6d}  {name}")
    print("\n".join(problems))
    print(f"{given.runs} runs, {len(problems)} violations")
    return bool(problems)


if __name__ == "__main__":
    raise SystemExit(main())
