"""Writes of a separate process that is killed: `kill_writes` starts it, `main` runs within it.

The process starts its own Spark. Each write stops at one point: after its rows are written, after
the stage is prepared, within the commit (before a call that changes files, sockets or databases),
or after it. When all have stopped, the process and its JVM are ended with SIGKILL: one process is
enough for all points. `ConnectorContract` then reads the tables.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from schema_core.environment import connector as connectors
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.spark.session.settings import START

if TYPE_CHECKING:
    from types import FrameType

    from schema_core.environment.connector import Ability, Connector
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.spark.connector import ReadContext, SparkConnector, WriteContext

#: Kill points: where a write can stop.
WRITTEN, PREPARED, COMMITTING, COMMITTED = "written", "prepared", "committing", "committed"
#: How a write ended that did not stop.
DONE, FAILED = "done", "failed"

#: Prefix of lines that the process prints for its parent.
PREFIX: Final = "@killed-writes "
#: Prefixes of Spark's settings that the process takes over.
KEPT_SETTINGS: Final = ("spark.jars", "spark.driver.extraClassPath", "spark.sql.catalog")
SETTINGS: Final[Mapping[str, str]] = {
    "spark.master": "local[1]",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": (
        f"{START['spark.driver.extraJavaOptions']} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    ),
}


@dataclass(frozen=True, slots=True)
class HeldWrite:
    """A write that stops at one point of its job.

    Attributes:
        table: The table's name.
        before: Statements that run first.
        write: The statement that stops.
        kill_point: Where it stops.
        part: For `COMMITTING`: after which part of a commit's calls, from 0 to 1.
        measured: An earlier table, whose write counts these calls.
    """

    table: str
    before: tuple[str, ...]
    write: str
    kill_point: str
    part: float = 0.0
    measured: str = ""


@dataclass(frozen=True, slots=True)
class KilledWriteState:
    """What a write had done when its process was killed: a kill point, `DONE` or `FAILED`."""

    name: str
    error: str = ""


# --- the parent ----------------------------------------------------------------------------------


def kill_writes(
    connector: str,
    writes: Sequence[HeldWrite],
    settings: Mapping[str, str],
    timeout: float,
) -> Mapping[str, KilledWriteState]:
    """Run writes in a process, kill it when all have stopped, and return their states by table.

    Raises AssertionError, with what the process printed, if it ended by itself or not all writes
    stopped in time.

    Args:
        connector: ``module:name`` or ``file.py:name`` of a callable that returns the connector.
        writes: They start one after the other.
        settings: Settings of Spark in this process.
        timeout: Seconds after which the process is killed in any case.
    """
    inherited = {key: value for key, value in settings.items() if key.startswith(KEPT_SETTINGS)}
    plan = {
        "connector": connector,
        "settings": {**START, **inherited, **SETTINGS},
        "writes": [asdict(write) for write in writes],
    }
    states: dict[str, KilledWriteState] = {}
    is_ready = False
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "schema_core.testing.killed_writes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            env=_environment(),
            start_new_session=True,
        )
        timer = threading.Timer(timeout, _kill, [process])
        timer.start()
        try:
            stdin, stdout = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
            stdin.write(f"{json.dumps(plan)}\n")
            stdin.flush()
            for line in stdout:
                if line.startswith(PREFIX):
                    table, name, error = json.loads(line.removeprefix(PREFIX))
                    if is_ready := not table:
                        break
                    states[table] = KilledWriteState(name, error)
        finally:
            timer.cancel()
            _kill(process)
            process.communicate()
        errors.seek(0)
        reached = {table: state.name for table, state in states.items()}
        if not is_ready:
            raise AssertionError(
                f"the process ended, or did not stop all writes within {timeout:g} seconds; "
                f"it stopped {reached}:\n{errors.read()[-4000:]}"
            )
    return states


def active_settings() -> dict[str, str]:
    """Return the settings of this process's Spark."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context  # noqa: SLF001 - getOrCreate may start one
    return dict(context.getConf().getAll()) if context is not None else {}


def _environment() -> dict[str, str]:
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith("PYSPARK_GATEWAY")
    }
    return {
        **inherited,
        "PYTHONPATH": os.pathsep.join(directory or str(Path.cwd()) for directory in sys.path),
    }


def _kill(process: subprocess.Popen[str]) -> None:
    """End the process and its JVM: both are in the session that it leads."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# --- connectors and stages that stop -------------------------------------------------------------


class Delegate:
    """A connector with other abilities."""

    def __init__(self, connector: SparkConnector, abilities: frozenset[Ability]) -> None:
        self._connector = connector
        # own attributes: since Python 3.12 protocols do not see those of __getattr__
        for name in dir(connector):
            if not name.startswith("_") and not hasattr(type(self), name):
                setattr(self, name, getattr(connector, name))
        self.abilities = abilities

    def read(self, context: ReadContext) -> Any:
        return self._connector.read(context)

    def write(self, frame: Any, context: WriteContext) -> None:
        self._connector.write(frame, context)


class HeldConnector(Delegate):
    """A connector whose jobs stop at their table's kill point in `kill_points`."""

    def __init__(self, connector: Any, kill_points: Mapping[str, KillPoint]) -> None:
        super().__init__(connector, connector.abilities)
        self._kill_points = kill_points

    def stage(self, context: WriteContext) -> Stage:
        kill_point = self._kill_points.get(context.identifier.object_name, KillPoint(DONE))
        return HeldStage(self._connector.stage(context), kill_point)  # type: ignore[attr-defined]

    def write(self, frame: Any, context: WriteContext) -> None:
        stage = cast("HeldStage", context.stage)  # `stage` returned it
        self._connector.write(frame, replace(context, stage=stage.held))


class HeldStage:
    """A stage that stops at a kill point."""

    def __init__(self, held: Stage, kill_point: KillPoint) -> None:
        self.held = held
        self._kill_point = kill_point

    @property
    def committed(self) -> bool | None:
        return self.held.committed

    def prepare(self) -> None:
        self._kill_point.reach(WRITTEN)
        self.held.prepare()
        self._kill_point.reach(PREPARED)

    def commit(self) -> None:
        sys.setprofile(self._kill_point.profile)
        try:
            self.held.commit()
        finally:
            sys.setprofile(None)
        self._kill_point.reach(COMMITTED)

    def abort(self) -> None:
        self.held.abort()


@dataclass
class KillPoint:
    """The point at which a job stops, and how many calls its commit has made.

    Attributes:
        name: The point.
        stop: The call of the commit before which it stops, from 1.
        report: Called when the job stops.
        calls: The number of calls.
    """

    name: str
    stop: int = 0
    report: Callable[[str], object] = str
    calls: int = 0

    def reach(self, name: str) -> None:
        """Stop the thread for good if this is its kill point."""
        if name == self.name:
            self.report(name)
            threading.Event().wait()

    def profile(self, frame: FrameType, event: str, called: Any) -> None:
        """Count calls that change something outside the process."""
        if event == "c_call" and _has_effect(called):
            self.calls += 1
            if self.calls == self.stop:
                self.reach(COMMITTING)


#: Standard library modules whose functions change files, sockets or databases.
EFFECTS: Final = frozenset(
    {"posix", "nt", "_io", "io", "fcntl", "_socket", "socket", "_ssl", "ssl", "_sqlite3", "sqlite3"}
)
#: Functions of these modules that change nothing.
READING: Final = frozenset({
    "stat", "lstat", "scandir", "listdir", "fspath", "getpid", "access", "getcwd", "read",
    "readinto", "readline", "recv", "recv_into", "fileno", "isatty", "tell", "seek", "urandom",
    "close", "_path_lexists", "_path_isdir", "_path_exists", "_path_isfile", "_path_islink",
    "text_encoding", "fstat", "__enter__",
})  # fmt: skip
#: Classes of these modules whose methods change nothing.
LISTINGS: Final = frozenset({"DirEntry", "ScandirIterator"})


def _has_effect(called: Any) -> bool:
    owner = getattr(called, "__self__", None) or getattr(called, "__objclass__", None)
    module = getattr(owner, "__name__" if isinstance(owner, type(os)) else "__module__", None)
    first = str(module or "builtins").partition(".")[0]
    if first != "builtins" and first not in sys.stdlib_module_names:
        return True
    changes = type(owner).__name__ not in LISTINGS and called.__name__ not in READING
    return first in EFFECTS and changes


# --- the process ---------------------------------------------------------------------------------


def load_factory(path: str) -> Callable[[], Connector]:
    """Return the callable that ``module:name`` or ``file.py:name`` names."""
    module, _, name = path.rpartition(":")
    if module.endswith(".py"):
        spec = importlib.util.spec_from_file_location("_connector_of_the_contract", module)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot import {module!r}")
        target: Any = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = target
        spec.loader.exec_module(target)
    else:
        target = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    factory: Callable[[], Connector] = target
    return factory


def main() -> None:
    """Run the writes of the plan in the input's first line; end when the input ends."""
    plan = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    kill_points: dict[str, KillPoint] = {}
    _install(load_factory(plan["connector"]), kill_points)
    environment = _start(plan["settings"])
    for fields in plan["writes"]:
        _run(environment, HeldWrite(**fields), kill_points)
    _report("", "ready")
    threading.Event().wait()


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def _report(table: str, name: str, error: str = "") -> None:
    sys.stdout.write(f"{PREFIX}{json.dumps([table, name, error])}\n")
    sys.stdout.flush()


def _install(make: Callable[[], Connector], kill_points: Mapping[str, KillPoint]) -> None:
    find, identifier = connectors.find_connector, make().identifier

    def find_held(options: Mapping[str, str]) -> Connector:
        if options.get("connector") != identifier:
            return find(options)
        held: Any = HeldConnector(make(), kill_points)
        return held  # type: ignore[no-any-return]

    connectors.find_connector = find_held


def _start(settings: Mapping[str, str]) -> TableEnvironment:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=builder.getOrCreate())


def _run(environment: TableEnvironment, one: HeldWrite, kill_points: dict[str, KillPoint]) -> None:
    """Run one write in a thread; report whether it stops or ends."""
    stopped = threading.Event()

    def report(name: str, error: str = "") -> None:
        _report(one.table, name, error)
        stopped.set()

    def run() -> None:
        try:
            for statement in one.before:
                environment.execute_sql(statement).wait()
            stop = round(kill_points[one.measured].calls * one.part) if one.measured else 0
            kill_points[one.table] = KillPoint(one.kill_point, stop, report)
            environment.execute_sql(one.write).wait()
            report(DONE)
        except BaseException as error:  # noqa: BLE001 - reported to the parent
            report(FAILED, repr(error))

    threading.Thread(target=run, daemon=True).start()
    stopped.wait()


if __name__ == "__main__":
    main()
