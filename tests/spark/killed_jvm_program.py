"""A program whose JVM is killed at many moments: prints the moments, and what was raised raw.

Run as ``python -m tests.spark.killed_jvm_program DIRECTORY``. Every statement has to return or to
raise an error of the library, and the statement after it has to run.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import SchemaCoreError

#: The rows of the source.
ROWS = 1000


class Program:
    """The environments of the program, and what it found."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.raw: list[str] = []
        self.moments = 0
        (root / "s").mkdir()
        (root / "s" / "1.csv").write_text("".join(f"{row}\n" for row in range(ROWS)))
        self.batch = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self.batch.get_config().set("table.dml-sync", "true")
        self.batch.execute_sql(f"CREATE TABLE s (id INT) WITH ({self.files('s', 'csv')})")
        self.batch.execute_sql(f"CREATE TABLE t (id INT) WITH ({self.files('t', 'parquet')})")
        self.stream = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        self.stream.execute_sql(f"SET 'execution.checkpointing.dir' = '{root / 'checkpoints'}'")
        monitored = f"{self.files('s', 'csv')}, 'source.monitor-interval' = '50 ms'"
        self.stream.execute_sql(f"CREATE TABLE s (id INT) WITH ({monitored})")
        self.stream.execute_sql(f"CREATE TABLE u (id INT) WITH ({self.files('u', 'parquet')})")

    def files(self, name: str, form: str) -> str:
        return f"'connector' = 'filesystem', 'path' = '{self.root / name}', 'format' = '{form}'"

    def attempt(self, what: str, action: Callable[[], object]) -> bool:
        """Return whether an action returned; note the errors that are not of the library."""
        try:
            action()
        except SchemaCoreError as error:
            print(f"{what}: {error.code}", flush=True)
            return False
        except Exception as error:  # noqa: BLE001 - this is what the program looks for
            traceback.print_exc()
            self.raw.append(f"{what}: {error!r}")
            return False
        print(f"{what}: ok", flush=True)
        return True

    def count(self) -> None:
        found = [tuple(row) for row in self.batch.execute_sql("SELECT COUNT(*) FROM s").collect()]
        assert found == [(ROWS,)], found

    def write(self) -> None:
        self.batch.execute_sql("INSERT INTO t SELECT id FROM s").wait()

    def compute(self) -> None:
        rows = "FROM s AS a, s AS b, s AS c WHERE a.id + b.id + c.id > 5"
        list(self.batch.execute_sql(f"SELECT COUNT(*) {rows}").collect())

    def killed(self, what: str, action: Callable[[], object], delay: float = 0) -> None:
        """Kill the JVM before an action, or some seconds after it begins; then run a query."""
        self.moments += 1
        if delay:
            thread = threading.Thread(target=kill, args=(delay,))
            thread.start()
            self.attempt(f"during {what} after {delay} s", action)
            thread.join()
        else:
            kill()
            self.attempt(f"before {what}", action)
        self.require(f"after {what}", self.count)

    def require(self, what: str, action: Callable[[], object]) -> None:
        if not self.attempt(what, action):
            self.raw.append(f"{what}: the process does not go on")


def kill(delay: float = 0) -> None:
    """Kill the JVM of PySpark, if there is one."""
    time.sleep(delay)
    gateway = SparkContext._gateway
    if gateway is not None:
        os.kill(gateway.proc.pid, signal.SIGKILL)
        gateway.proc.wait()


def run_batches(program: Program) -> None:
    batch = program.batch
    query = batch.sql_query("SELECT id FROM s LIMIT 2")
    program.require("start", program.count)
    program.killed("a query", program.count)
    program.killed("a write", program.write)
    program.killed("EXPLAIN", lambda: batch.explain_sql("SELECT id FROM s"))
    program.killed("a new table", lambda: batch.execute_sql("CREATE TABLE n LIKE s"))
    program.killed("pandas", query.to_pandas)
    program.killed("pandas of a kept plan", query.to_pandas)
    program.killed("a frame of Spark", lambda: query.to_spark().count())
    fresh = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    program.killed("another environment", lambda: list(fresh.execute_sql("SELECT 1").collect()))
    for delay in (0.05, 0.5, 2.0):
        program.killed("a query", program.compute, delay)
    for delay in (0.05, 0.3, 1.0):
        program.killed("a write", program.write, delay)
    kill()
    for delay in (1.0, 3.0):
        program.killed("the start of Spark", program.count, delay)
    rows = batch.execute_sql("SELECT id FROM s").collect()
    next(rows)
    program.killed("the rest of the rows", lambda: list(rows))
    result = batch.execute_sql("SELECT id FROM s")
    program.killed("all rows", lambda: list(result.collect()))


def run_streams(program: Program) -> None:
    stream, insert = program.stream, "INSERT INTO u SELECT id FROM s"
    job = stream.execute_sql(insert).get_job_client()
    assert job is not None
    time.sleep(5)
    program.killed("the end of a stream", lambda: job.get_job_execution_result().result(60))
    again = stream.execute_sql(insert).get_job_client()
    assert again is not None
    program.killed("the cancellation of a stream", lambda: again.cancel().result(60))
    rows = stream.execute_sql("SELECT id FROM s").collect()
    next(rows)
    program.killed("rows that arrive", lambda: list(rows))


def run_session_of_user(program: Program) -> None:
    session = SparkSession.builder.getOrCreate()
    own = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    program.require("a session of the user", lambda: list(own.execute_sql("SELECT 1").collect()))
    program.killed("its query", lambda: list(own.execute_sql("SELECT 1").collect()))
    program.require("a new session", lambda: SparkSession.builder.getOrCreate().range(3).count())


if __name__ == "__main__":
    found = Program(Path(sys.argv[1]))
    run_batches(found)
    run_streams(found)
    run_session_of_user(found)
    print(f"{found.moments} moments, {len(found.raw)} raw errors")
    print("\n".join(found.raw))
    sys.exit(bool(found.raw))
