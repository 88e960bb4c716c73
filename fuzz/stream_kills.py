"""Streaming jobs that are killed: no row is lost, and none is written twice.

    python -m fuzz.stream_kills --kills 30
    python -m fuzz.stream_kills --kills 30 --query windows
    python -m fuzz.stream_kills --kills 30 --query groups
    python -m fuzz.stream_kills --kills 30 --query set
    python -m fuzz.stream_kills --kills 30 --query conflicts
    python -m fuzz.stream_kills --kills 30 --connect
    python -m fuzz.stream_kills --kills 30 --topics source
    python -m fuzz.stream_kills --kills 30 --topics both

A process runs INSERT from a directory of json files, which grows, into parquet files, files of
changes or a table of SQLite. It is killed with SIGKILL at random moments, and started again, until
all files are read: by turns after its start and after its first commit, so that on slow machines,
too, both batches and commits are killed. Then the table must have every row once, each with the
values that the query has for all rows: see `fuzz.stream_kill_queries`. Spark is started for each
run. Over Spark Connect the process is killed alone, or, every third time, its server with it. With
`--topics` the rows come from a topic of Kafka, or the sink is one, too; the broker is killed and
started again during every third run. Rows in a topic may be doubled, since they are written at
least once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fuzz import kafka_server
from fuzz.server_processes import free_port
from fuzz.stream_kill_queries import FILES, LAST, QUERIES, ROWS, START
from tests.conftest import DRIVERS

#: Settings of Spark: few tasks for few rows, and the driver of SQLite.
SPARK = (
    "spark.master=local[2] spark.sql.shuffle.partitions=2"
    f" spark.jars={DRIVERS.get('sqlite-jdbc', '')}"
)
#: How often a job is started before the run has failed.
ATTEMPTS = 3
#: After how many seconds without progress the last run has failed.
TIMEOUT = 240.0

JOB = """
import datetime as dt
import sys
from collections.abc import Iterator
from typing import Annotated

from schema_core import (
    ArgumentHint, ArgumentTrait, EnvironmentSettings, ProcessContext, ProcessTableFunction, Row,
    StateHint, TableEnvironment, udptf,
)


class Number:
    value = 0


class Counted(ProcessTableFunction):
    def eval(
        self,
        number: Annotated[Number, StateHint()],
        row: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)],
    ) -> Iterator[tuple[int, int]]:
        number.value += 1
        yield row.id, number.value


class Reminded(ProcessTableFunction):
    def eval(
        self,
        ctx: ProcessContext,
        data: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)],
    ) -> Iterator[tuple[int, str]]:
        ctx.register_on_time(ctx.time() + dt.timedelta(seconds=5), str(data.id))
        return iter(())

    def on_timer(self, ctx: ProcessContext) -> Iterator[tuple[int, str]]:
        yield int(ctx.current_timer()), "timer"


root, columns, query, view, start, remote, source, options, *sinks = sys.argv[1:]
spark = None
if remote:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(remote).create()
environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=spark)
environment.execute_sql(f"SET 'execution.checkpointing.dir' = '{root}/checkpoints'")
environment.execute_sql(
    f\"\"\"CREATE TABLE source (id BIGINT NOT NULL, name STRING,
    ts AS TO_TIMESTAMP(FROM_UNIXTIME(id + {start})),
    WATERMARK FOR ts AS ts - INTERVAL '2' MINUTE) WITH ({source})\"\"\"
)
counted = udptf(Counted, result_type="ROW<id BIGINT, number BIGINT>")
environment.create_temporary_function("counted", counted)
reminded = udptf(Reminded, result_type="ROW<id BIGINT, name STRING>")
environment.create_temporary_function("reminded", reminded)
if view:
    environment.execute_sql(view)
statements = environment.create_statement_set()
for sink in sinks:
    environment.execute_sql(
        f"CREATE TABLE {sink} ({columns}) WITH ({options.replace('@', sink)})"
    )
    statements.add_insert_sql(f"INSERT INTO {sink} {query}")
result = statements.execute()
print("started", flush=True)
result.wait()
"""

SERVER = """
import sys
import time

from schema_core.spark.session.session import start

port, *settings = sys.argv[1:]
session = start(dict(one.split("=", 1) for one in settings))
java = session.sparkContext._jsc.sc()
java.conf().set("spark.connect.grpc.binding.port", port)
session._jvm.org.apache.spark.sql.connect.service.SparkConnectService.start(java)
print("started", flush=True)
time.sleep(1e6)
"""


class Growth(threading.Thread):
    """Adds files to the source until it has `count`, some for each run of the job.

    `add` adds the lines of a file.
    """

    def __init__(self, add: Callable[[str, Sequence[str]], None], count: int, pause: float) -> None:
        super().__init__(daemon=True)
        self._add, self._count, self._pause = add, count, pause
        self._allowed = threading.Semaphore(0)

    def allow(self, files: int) -> None:
        """Add so many more files."""
        self._allowed.release(files)

    def run(self) -> None:
        for number in range(self._count):
            self._allowed.acquire()
            ids_ = range(number * ROWS, (number + 1) * ROWS)
            self._add(str(number), [f'{{"id": {id_}, "name": "name {id_}"}}' for id_ in ids_])
            time.sleep(self._pause)
        self._add("last", [f'{{"id": {LAST}, "name": "last"}}'])


def add_file(directory: Path, name: str, lines: Sequence[str]) -> None:
    draft = directory / f".{name}"
    draft.write_text("".join(f"{line}\n" for line in lines))
    draft.rename(directory / f"{name}.json")


def create_topic(brokers: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": brokers})
    admin.create_topics([NewTopic("source", 3, 1)])["source"].result(60)


def add_messages(brokers: str, _: str, lines: Sequence[str]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True, "log_level": 0})
    for line in lines:
        producer.produce("source", line.encode())
    while producer.flush(1):
        pass


def ids_of_topic(brokers: str) -> Counter[int]:
    """Return how often each id is in the topic of the sink."""
    from schema_core.connectors.kafka.client_source import TopicError, TopicReader, Topics

    options = {"kafka.bootstrap.servers": brokers, "kafka.log_level": "0"}
    topics = Topics({**options, "subscribe": "sink", "startingOffsets": "earliest"})
    reader = TopicReader(topics)
    with suppress(TopicError):  # there is no topic before the first row
        parts = reader.partitions()
        values = (
            json.loads(value)["id"]
            for part in parts
            for batch in reader.read(part)
            for value in batch["value"].to_pylist()
        )
        return Counter(id_ for id_ in values if id_ < LAST)
    return Counter()


def started(*command: str) -> subprocess.Popen[str]:
    """Start a Python program and wait until it says that it has started."""
    process = subprocess.Popen(
        [sys.executable, "-c", *command],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "SCHEMA_CORE_SPARK": SPARK},
    )
    assert process.stdout is not None
    while (line := process.stdout.readline()) and "started" not in line:
        pass
    if not line:
        raise RuntimeError("the program failed before it started")
    return process


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the process and its JVM."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def commits(root: Path) -> int:
    """Return how many micro-batches are committed, by the checkpoints."""
    return sum(1 for _ in (root / "checkpoints").glob("*/*/commits/[0-9]*"))


def wait_for_commit(root: Path, before: int) -> None:
    """Wait until more micro-batches are committed, or for `TIMEOUT` seconds."""
    deadline = time.monotonic() + TIMEOUT
    while commits(root) <= before and time.monotonic() < deadline:
        time.sleep(0.05)


@dataclass
class Place:
    """Where the rows are: the options of both tables, and what adds and reads rows."""

    source: str
    sink: str
    add: Callable[[str, Sequence[str]], None]
    written: Callable[[], Counter[int]]
    broker: kafka_server.Broker | None = None

    @classmethod
    def in_topics(cls, root: Path, topics: str | None, query: str, stack: ExitStack) -> Place:
        """Return files, or the topics of a broker that runs until the end of the stack."""
        form, written = QUERIES[query].format, QUERIES[query].written
        files = cls(
            f"'connector' = 'filesystem', 'path' = '{root}/source', 'format' = 'json',"
            " 'source.monitor-interval' = '50 ms'",
            f"'connector' = 'filesystem', 'path' = '{root}/@', 'format' = '{form}'"
            if form is not None
            else f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{root}/@.db', 'table-name' = '@'",
            partial(add_file, root / "source"),
            partial(written, root),
        )
        if topics is None:
            return files
        broker = stack.enter_context(kafka_server.broker())
        create_topic(broker.address)
        topic = (
            "'connector' = 'kafka', 'topic' = '{}', 'format' = 'json',"
            f" 'properties.bootstrap.servers' = '{broker.address}'"
        )
        source = f"{topic.format('source')}, 'scan.startup.mode' = 'earliest-offset'"
        add = partial(add_messages, broker.address)
        if topics == "source":
            return cls(source, files.sink, add, files.written, broker)
        return cls(source, topic.format("@"), add, partial(ids_of_topic, broker.address), broker)


class Runs:
    """Starts the job, and kills it; over Spark Connect with a server that survives most kills."""

    def __init__(self, root: Path, query: str, source: str, sink: str, *, connect: bool) -> None:
        self._root, self._query, self._connect = root, query, connect
        self._options = source, sink
        self._server: subprocess.Popen[str] | None = None
        self._job: subprocess.Popen[str] | None = None
        self._remote = ""

    def start(self) -> None:
        """Start the job, and a server that it needs, and wait until it runs."""
        if self._connect and self._server is None:
            port = free_port()
            self._server = started(SERVER, str(port), *SPARK.split(" "))
            self._remote = f"sc://127.0.0.1:{port}"
        query = QUERIES[self._query]
        sql = f"{query.sql} {query.on_conflict}"
        arguments = [query.columns, sql, query.view, str(START), self._remote, *self._options]
        command = [JOB, str(self._root), *arguments, *query.sinks]
        for _ in range(ATTEMPTS):
            with suppress(RuntimeError):
                self._job = started(*command)
                return
            print("the job has failed and is started again", flush=True)
        raise SystemExit("the job does not start")

    def restart(self) -> None:
        """Start the job again if it has failed, such as for a server that is too slow."""
        if self._job is not None and self._job.poll() is not None:
            print("the job has failed and is started again", flush=True)
            self.start()

    def kill(self, *, server: bool = True) -> None:
        """Kill the job, and its server if there is one and it is wanted."""
        if self._job is not None and self._job.poll() is None:
            kill(self._job)
        if server and self._server is not None:
            kill(self._server)
            self._server = None


def create_sinks(root: Path, query: str) -> None:
    for sink in QUERIES[query].sinks:
        (root / sink).mkdir()
    if QUERIES[query].format is None:
        with closing(sqlite3.connect(root / "sink.db")) as database:
            database.execute("CREATE TABLE sink (id BIGINT PRIMARY KEY, name TEXT)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--window",
        type=float,
        default=8.0,
        help="seconds within which a job is killed after its start, or after its first commit",
    )
    parser.add_argument("--query", choices=QUERIES, default="rows")
    parser.add_argument("--connect", action="store_true", help="run over Spark Connect")
    parser.add_argument("--topics", choices=("source", "both"), help="which tables are topics")
    options = parser.parse_args()
    query = options.query
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        root = Path(folder)
        (root / "source").mkdir()
        create_sinks(root, query)
        count = options.kills * FILES
        place = Place.in_topics(root, options.topics, query, stack)
        growth = Growth(place.add, count, 1.5)
        growth.start()
        seen = []
        runs = Runs(root, query, place.source, place.sink, connect=options.connect)
        for number in range(options.kills):
            before = commits(root)
            growth.allow(FILES)
            runs.start()
            if number % 2:
                wait_for_commit(root, before)
            time.sleep(draw.uniform(0, options.window))
            if place.broker is not None and number % 3 == 2:
                place.broker.kill()
                time.sleep(draw.uniform(0, 3))
                place.broker.start()
                time.sleep(draw.uniform(0, options.window))
            runs.kill(server=number % 3 == 2)
            result = place.written()
            seen.append(sum(result.values()))
            doubled = sum(1 for many in result.values() if many > 1)
            print(f"kill {number + 1}: {seen[-1]} rows, {doubled} doubled", flush=True)
        runs.start()
        growth.join()
        deadline = time.monotonic() + TIMEOUT
        while len(place.written()) < count * ROWS and time.monotonic() < deadline:
            time.sleep(1)
            runs.restart()
        time.sleep(2)
        runs.kill()
        result = place.written()
    lost = count * ROWS - len(result)
    doubled = sum(many - 1 for many in result.values())
    moved = sum(1 for before, after in itertools.pairwise(seen) if after > before)
    print(
        f"{options.kills} kills, {moved + 1} runs with commits, {count * ROWS} rows: "
        f"{lost} lost, {doubled} doubled"
    )
    return 1 if lost or (doubled and options.topics != "both") else 0


if __name__ == "__main__":
    sys.exit(main())
