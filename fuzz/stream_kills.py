"""Streaming jobs that are killed: no row is lost, and none is written twice.

    python -m fuzz.stream_kills --kills 30
    python -m fuzz.stream_kills --kills 30 --query windows
    python -m fuzz.stream_kills --kills 30 --query groups
    python -m fuzz.stream_kills --kills 30 --query set
    python -m fuzz.stream_kills --kills 30 --connect
    python -m fuzz.stream_kills --kills 30 --topics source
    python -m fuzz.stream_kills --kills 30 --topics both

A process runs INSERT from a directory of json files, which grows, into parquet files. It is killed
with SIGKILL at random moments, and started again, until all files are read: by turns after its
start and after its first commit, so that on slow machines, too, both batches and commits are
killed. Then the table must have every row once; of windows, each must be there once with the sum of
its rows; of groups, whose changes are written as debezium-json, the last row of each must count the
rows. `joined`, `cascade` and `groups` are computed in stages; `set` is a statement set of two
sinks. Spark is started for each run. Over Spark Connect the process is killed alone, or, every
third time, its server with it. With `--topics` the rows come from a topic of Kafka, or the sink is
one, too; the broker is killed and started again during every third run. Rows in a topic may be
doubled, since they are written at least once.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fuzz import kafka_server
from fuzz.server_processes import free_port

#: How many rows a file has.
ROWS = 40
#: How many files are added for each run of the job.
FILES = 5
#: Settings of Spark: few tasks for few rows.
SPARK = "spark.master=local[2] spark.sql.shuffle.partitions=2"
#: The time of the first row, in seconds since 1970; each row is a second later.
START = 1_704_067_200
#: The id of a final row, which moves the watermark beyond all windows.
LAST = 1_000_000
#: How many groups the rows have.
GROUPS = 7
#: Statement -> the columns of the sink, and what is written. A window has the rows of a file.
QUERIES = {
    "rows": ("id BIGINT, name STRING", "SELECT id, UPPER(name) FROM source"),
    "windows": (
        "first_ TIMESTAMP(3), total BIGINT, many BIGINT",
        f"""SELECT window_start, SUM(id), COUNT(*) FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts),
        INTERVAL '{ROWS}' SECOND)) GROUP BY window_start, window_end""",
    ),
    "joined": (
        "id BIGINT, name STRING",
        "SELECT a.id, UPPER(b.name) FROM source AS a JOIN source AS b ON a.id = b.id",
    ),
    "cascade": (
        "first_ TIMESTAMP(3), total BIGINT, many BIGINT",
        f"""SELECT window_start, SUM(total), SUM(many) FROM TABLE(TUMBLE((SELECT window_time AS rt,
        SUM(id) AS total, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts),
        INTERVAL '{ROWS // 4}' SECOND)) GROUP BY window_start, window_end, window_time),
        DESCRIPTOR(rt), INTERVAL '{ROWS}' SECOND)) GROUP BY window_start, window_end""",
    ),
    "groups": (
        "k BIGINT, total BIGINT, many BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        f"""SELECT MOD(id, {GROUPS}) AS k, SUM(id) AS total, COUNT(DISTINCT id) AS many FROM source
        WHERE id < {LAST} GROUP BY MOD(id, {GROUPS}) HAVING COUNT(DISTINCT id) > 1""",
    ),
}
QUERIES["set"] = QUERIES["rows"]
#: Query -> the format of its sink; parquet for the others.
FORMATS = {"groups": "debezium-json"}
#: Query -> its sinks, if there are several.
SINKS = {"set": ("sink", "other")}
#: How often a job is started before the run has failed.
ATTEMPTS = 3
#: After how many seconds without progress the last run has failed.
TIMEOUT = 240.0

JOB = """
import sys
from schema_core import EnvironmentSettings, TableEnvironment

root, columns, query, start, remote, source, options, *sinks = sys.argv[1:]
spark = None
if remote:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(remote).create()
environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=spark)
environment.execute_sql(f"SET 'execution.checkpointing.dir' = '{root}/checkpoints'")
environment.execute_sql(
    f\"\"\"CREATE TABLE source (id BIGINT, name STRING,
    ts AS TO_TIMESTAMP(FROM_UNIXTIME(id + {start})),
    WATERMARK FOR ts AS ts - INTERVAL '2' MINUTE) WITH ({source})\"\"\"
)
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


def ids(root: Path, query: str) -> Counter[int]:
    """Return how often each id is in the files of the sink that readers see, but for the last one.

    The ids of a window are those that its row must have counted; of a statement set, those that
    are in all of its sinks.
    """
    if query == "groups":
        return ids_of_groups(root)
    if query == "set":
        first, second = (ids_of_files(root / name, "rows") for name in SINKS["set"])
        return Counter({id_: max(first[id_], second[id_]) for id_ in first.keys() & second})
    return ids_of_files(root / "sink", query)


def ids_of_files(sink: Path, query: str) -> Counter[int]:
    """Return how often each id is in the files of a sink; see `ids`."""
    import pyarrow.parquet as pq

    result: Counter[int] = Counter()
    for path in sink.glob("*.parquet"):
        table = pq.ParquetFile(path).read()
        if query in ("rows", "joined"):
            result.update(item for item in table["id"].to_pylist() if item < LAST)
            continue
        for row in table.to_pylist():
            first = round(row["first_"].replace(tzinfo=dt.UTC).timestamp()) - START
            within = range(first, first + ROWS)
            if (row["total"], row["many"]) != (sum(within), ROWS):
                raise SystemExit(f"the window of id {first} has other rows: {row}")
            result.update(within)
    return result


def ids_of_groups(root: Path) -> Counter[int]:
    """Return how often each id is counted by the rows that the changes of groups leave."""
    rows: Counter[tuple[int, int, int]] = Counter()
    for path in (root / "sink").glob("part-*"):
        for line in path.read_text().splitlines():
            change = json.loads(line)
            row = change["after"] or change["before"]
            adds = change["op"] == "c"
            rows[row["k"], row["total"], row["many"]] += 1 if adds else -1
    result: Counter[int] = Counter()
    for (key, total, many), times in rows.items():
        within = range(key, key + GROUPS * many, GROUPS)
        if times < 0 or (times and sum(within) != total):
            raise SystemExit(f"the group {key} has another row: {total}, {many}, {times} times")
        result.update(list(within) * times)
    return result


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
        files = cls(
            f"'connector' = 'filesystem', 'path' = '{root}/source', 'format' = 'json',"
            " 'source.monitor-interval' = '50 ms'",
            f"'connector' = 'filesystem', 'path' = '{root}/@',"
            f" 'format' = '{FORMATS.get(query, 'parquet')}'",
            partial(add_file, root / "source"),
            partial(ids, root, query),
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
        arguments = [*QUERIES[self._query], str(START), self._remote, *self._options]
        command = [JOB, str(self._root), *arguments, *SINKS.get(self._query, ("sink",))]
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
        for sink in SINKS.get(query, ("sink",)):
            (root / sink).mkdir()
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
