"""Processes with Spark that can be killed: many share one JVM, or each has a JVM of its own.

A JVM with Spark takes seconds to start and cannot be forked. `Jvm` starts one and keeps it. A
`Client` is a process that is forked from a server with all modules imported and connects to that
JVM: it plans, changes catalogs and commits files on its own, and is ready in half a second. Where
the JVM is to be killed, too, a `Client` starts its own.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The JDBC drivers of Debian, where they are installed.
DRIVERS = [
    str(path)
    for name in ("postgresql", "sqlite-jdbc")
    if (path := Path(f"/usr/share/java/{name}.jar")).exists()
]
#: Four small tasks for each job, a metastore in memory, and a JVM that starts fast.
SPARK: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.stream.error.file=/dev/null"
    ),
    "spark.sql.catalogImplementation": "hive",
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "spark.jars": ",".join(DRIVERS),
}
#: How long a process may take to start or to answer, in seconds.
TIMEOUT = 180.0

_FORKED = get_context("forkserver")


def prepare(module: str) -> None:
    """Have processes forked from a server that has imported Spark, this library and a module."""
    modules = ["pyspark.sql", "schema_core.spark.planner", "schema_core.catalogs.sql.catalog"]
    _FORKED.set_forkserver_preload([*modules, module])


@dataclass(frozen=True, slots=True)
class Gateway:
    """How a process connects to a JVM: port and secret of its gateway, and its process number."""

    port: int
    secret: str
    pid: int

    @classmethod
    def of(cls, session: SparkSession) -> Gateway:
        """Return the gateway of a session."""
        gateway: Any = session.sparkContext._gateway
        given = gateway.gateway_parameters
        pid = gateway.proc.pid if hasattr(gateway, "proc") else 0
        return cls(given.port, given.auth_token, pid)


def start(warehouse: str, settings: Mapping[str, str] = SPARK) -> SparkSession:
    """Return a session in a new JVM."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2]").appName("faults")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.config("spark.sql.warehouse.dir", warehouse).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def attach(gateway: Gateway) -> SparkSession:
    """Return the session of a JVM that another process has started."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_GATEWAY_PORT"] = str(gateway.port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = gateway.secret
    connected: Any = launch_gateway()
    SparkContext._ensure_initialized(gateway=connected)
    spark = connected.jvm.org.apache.spark
    java = spark.api.java.JavaSparkContext.fromSparkContext(spark.SparkContext.getOrCreate())
    conf = SparkConf(_jvm=connected.jvm, _jconf=java.getConf())
    return SparkSession(SparkContext(conf=conf, gateway=connected, jsc=java))


class Client:
    """A process with Spark, which runs the functions it is sent, one after the other.

    Args:
        gateway: The JVM to connect to; without one the process starts its own.
        warehouse: The warehouse directory of that.
    """

    def __init__(self, gateway: Gateway | None, warehouse: str = "") -> None:
        self._connection, child = _FORKED.Pipe()
        self.process = _FORKED.Process(target=_serve, args=(child, gateway, warehouse), daemon=True)
        self.process.start()
        child.close()
        self._own = gateway is None
        #: the JVM of the process, when it is ready
        self.gateway: Gateway | None = None

    def wait(self) -> Gateway:
        """Wait until the process is ready."""
        if self.gateway is None:
            result = self.receive()
            assert isinstance(result, Gateway), result
            self.gateway = result
        return self.gateway

    def send(self, function: Callable[..., Any], *given: Any) -> None:
        """Start a function, which gets the session, `send` of the other side, and arguments."""
        self.wait()
        self._connection.send((function, given))

    def receive(self, timeout: float = TIMEOUT) -> Any:
        """Return what the process sends next; None if it ended or is late."""
        try:
            return self._connection.recv() if self._connection.poll(timeout) else None
        except (EOFError, OSError):
            return None

    def call(self, function: Callable[..., Any], *given: Any) -> Any:
        """Run a function, and return its result.

        Raises:
            RuntimeError: if the function raised, or the process ended.
        """
        self.send(function, *given)
        match self.receive():
            case ("returned", result):
                return result
            case other:
                raise RuntimeError(f"{function.__name__}: {other}")

    def kill(self, *, python: bool = True, jvm: bool = False) -> None:
        """Kill the process, its JVM, or both."""
        pids = [self.process.pid] * python + [self.gateway.pid if self.gateway else 0] * jvm
        for pid in filter(None, pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if python:
            self.process.join()

    def stop(self) -> None:
        """End the process and its own JVM."""
        self.kill(jvm=self._own)
        self._connection.close()


@dataclass
class Killer:
    """Kills processes at random moments, every other time within a commit.

    Attributes:
        chosen: Draws the moments.
        counts: Kills, and processes that ended before.
        longest: The time after which a process is killed at the latest, in seconds.
        commit: The same after the begin of a commit. Both follow the times of runs that ended.
    """

    chosen: random.Random
    counts: Counter[str]
    longest: float = 4.0
    commit: float = 0.1

    def kill(self, client: Client, *, commits: int = 1, jvm: bool = False) -> bool:
        """Kill a process that sends "committing" at the begin of each of its commits.

        Returns:
            False if the process had ended before.

        Raises:
            RuntimeError: with the error of the process.
        """
        within = self.chosen.random() < 0.5
        message: Any = "committing"
        for _ in range(within and self.chosen.randint(1, commits)):
            message = client.receive() if message == "committing" else message
        started = time.monotonic()
        deadline = started + self.chosen.uniform(0, self.commit if within else self.longest)
        while message == "committing":
            message = client.receive(max(0.0, deadline - time.monotonic()))
        if message is None:
            client.kill(jvm=jvm)
            self.counts["kills"] += 1
            self.counts["killed within a commit" if within else "killed at any moment"] += 1
            return True
        if message[0] == "raised":
            raise RuntimeError(message[1])
        self.counts["ended before the kill"] += 1
        name = "commit" if within else "longest"
        setattr(self, name, 1.5 * (time.monotonic() - started))
        return False


def _serve(connection: Connection, gateway: Gateway | None, warehouse: str) -> None:
    # an own group: Ctrl-C ends the program that started this process, which then ends this one
    os.setpgid(0, 0)
    session = start(warehouse) if gateway is None else attach(gateway)
    connection.send(gateway or Gateway.of(session))
    while True:
        try:
            function, given = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        try:
            answer = ("returned", function(session, connection.send, *given))
        except BaseException as error:  # noqa: BLE001 - reported to the other side
            answer = ("raised", f"{error!r}\n{traceback.format_exc()[-3000:]}")
        with suppress(OSError):
            connection.send(answer)


def warm(session: SparkSession, send: Callable[[Any], None]) -> None:
    """Have the JVM load its classes."""
    session.range(10).selectExpr("id + 1").collect()


def cancel_jobs(session: SparkSession, send: Callable[[Any], None]) -> None:
    """Cancel the jobs that a killed process has left in the JVM, and wait until they have ended.

    A task of a cancelled job still writes for a moment, and a call of the process that was being
    planned starts its job later.
    """
    context: Any = session.sparkContext
    tracker = context._jsc.sc().statusTracker()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        context.cancelAllJobs()
        tasks = sum(executor.numRunningTasks() for executor in tracker.getExecutorInfos())
        if not tasks and not list(tracker.getActiveJobIds()) and _is_only_call(context):
            return
        time.sleep(0.02)
    raise RuntimeError("jobs of the killed process still run after 20 seconds")


def _is_only_call(context: Any) -> bool:
    """Return whether the JVM executes no call of a Python process but this one."""
    calls = 0
    for thread, stack in context._jvm.java.lang.Thread.getAllStackTraces().items():
        if thread.getName().startswith("Thread-"):
            calls += any("py4j.reflection.MethodInvoker" in frame.toString() for frame in stack)
    return calls == 1
