"""Streaming queries, beside the same ones written for Structured Streaming, in one Spark.

    python tests/benchmarks/bench_streaming.py [--rows 500000] [--pairs 5] [--only WORDS]
    python tests/benchmarks/bench_streaming.py --growth 1000 [--rows 1000]

Both read all files of a directory of parquet in one micro-batch, and write parquet with a
checkpoint; those of windows have a watermark, and run a second micro-batch, which returns what it
has passed. They run by turns, each first in every other pair, and must write equal numbers
of rows. The states of those before are unloaded: with them in the heap, a run took up to twice as
long, for its garbage collection alone. The figures are medians of the processor time of Python and
the JVM, and rows per second. Structured Streaming has watermarks of TIMESTAMP only, to which it
casts the TIMESTAMP_NTZ of files. What it cannot express has no second figure.

`--growth` runs as many micro-batches of `--rows` rows each of a query in stages, and prints the
median time of a micro-batch and the bytes of the state, after each tenth of them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.files.file_layout import FileLayout
from schema_core.errors import ExternalError
from schema_core.spark.session.session import start
from schema_core.spark.session.settings import MEANING
from schema_core.spark.streaming.micro_batches import MicroBatches

sys.path.insert(0, str(Path(__file__).parent.parent.parent))  # where this is run as a script
from tests.benchmarks.bench_tpc import processor_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

COLUMNS = "k BIGINT, ts TIMESTAMP(3), v BIGINT"
WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "6g",
    "spark.sql.shuffle.partitions": "2",
}
#: How many keys and files there are, and rows in a second of event time.
KEYS, FILES, RATE = 1000, 4, 1000


class Query(NamedTuple):
    """A query in SQL and for Structured Streaming, with the columns of its sink."""

    sql: str
    plain: Callable[[DataFrame, DataFrame], DataFrame] | None
    sink: str


def expr(text: str) -> Column:
    from pyspark.sql.functions import expr

    return expr(text)


def windows(rows: DataFrame, _: DataFrame) -> DataFrame:
    from pyspark.sql.functions import count, sum, window  # noqa: A004 - of Spark

    grouped = rows.groupBy(window("t", "10 seconds"), "k").agg(sum("v").alias("v"), count("*"))
    return grouped.selectExpr("CAST(window.end AS TIMESTAMP_NTZ) AS e", "k", "v", "`count(1)` AS n")


#: Name -> what is measured.
QUERIES = {
    "projection and filter": Query(
        "SELECT k, ts, v * 2 AS v FROM s WHERE v % 10 <> 3",
        lambda rows, _: rows.where("v % 10 <> 3").selectExpr("k", "ts", "v * 2 AS v"),
        "k BIGINT, ts TIMESTAMP(3), v BIGINT",
    ),
    "tumbling windows": Query(
        "SELECT window_end, k, SUM(v) AS v, COUNT(*) AS n FROM"
        " TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        " GROUP BY window_start, window_end, k",
        windows,
        "e TIMESTAMP(3), k BIGINT, v BIGINT, n BIGINT",
    ),
    "join without bounds": Query(
        "SELECT a.v, c.v AS w FROM s AS a JOIN s AS c ON a.v = c.v + 1",
        lambda rows, others: (
            rows.alias("a")
            .join(others.drop("t").selectExpr("v + 1 AS w"), expr("a.v = w"))
            .selectExpr("v", "w - 1 AS w")
        ),
        "v BIGINT, w BIGINT",
    ),
    "interval join": Query(
        "SELECT a.v, c.v AS w FROM s AS a JOIN s AS c ON a.v = c.v AND c.ts BETWEEN"
        " a.ts - INTERVAL '5' SECOND AND a.ts + INTERVAL '5' SECOND",
        lambda rows, others: (
            rows.alias("a")
            .join(
                others.selectExpr("t AS t2", "v AS w"),
                expr("v = w AND t2 BETWEEN t - INTERVAL 5 SECONDS AND t + INTERVAL 5 SECONDS"),
            )
            .select("v", "w")
        ),
        "v BIGINT, w BIGINT",
    ),
    "first rows by processing time": Query(
        "SELECT k, ts, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY v ORDER BY pt) AS r"
        " FROM (SELECT *, PROCTIME() AS pt FROM s)) WHERE r = 1",
        lambda rows, _: rows.dropDuplicates(["v"]).select("k", "ts", "v"),
        "k BIGINT, ts TIMESTAMP(3), v BIGINT",
    ),
    "distinct rows": Query(
        "SELECT DISTINCT COALESCE(k, 0) AS k, COALESCE(v, 0) AS v FROM s",
        lambda rows, _: rows.select("k", "v").dropDuplicates(),
        "k BIGINT NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (k, v) NOT ENFORCED",
    ),
    "distinct rows of groups": Query(
        "SELECT DISTINCT n FROM (SELECT k, COUNT(DISTINCT v) AS n FROM s GROUP BY k)",
        None,
        "n BIGINT NOT NULL, PRIMARY KEY (n) NOT ENFORCED",
    ),
    "groups with HAVING": Query(
        "SELECT k, SUM(v) AS v FROM s GROUP BY k HAVING COUNT(*) > 10",
        None,
        "k BIGINT NOT NULL, v BIGINT, PRIMARY KEY (k) NOT ENFORCED",
    ),
}


def has_changes(query: Query) -> bool:
    """Return whether a query is written as changes, since only tables that take updates can be."""
    return "PRIMARY KEY" in query.sink


class Work:
    """One Spark with both candidates, each with a session of its own and equal settings."""

    def __init__(self, folder: Path, rows: int, files: int = FILES) -> None:
        root = start(SPARK)
        settings = EnvironmentSettings.in_streaming_mode()
        self.environment = TableEnvironment.create(settings, spark=root)
        self.spark: SparkSession = root.newSession()
        for key, value in MEANING.items():
            self.spark.conf.set(key, value)
        self.folder, self.count, self.rows = folder, 0, rows
        self.source = folder / "source"
        self._generate(files)
        self.environment.execute_sql(
            f"CREATE TABLE s ({COLUMNS}, {WATERMARK}) WITH ('connector' = 'filesystem', "
            f"'path' = '{self.source}', 'format' = 'parquet', 'source.monitor-interval' = '1 s')"
        )

    def _generate(self, files: int) -> None:
        """Write the rows; a last one advances the watermark beyond all others."""
        time_of = "CAST(timestamp_millis(1700000000000 + id DIV {rate} * 1000) AS TIMESTAMP_NTZ)"
        text = time_of.format(rate=RATE)
        rows = self.spark.range(0, self.rows, 1, files)
        rows = rows.selectExpr(f"id * 7919 % {KEYS} AS k", f"{text} AS ts", "id AS v")
        last = self.spark.sql("SELECT -1L AS k, TIMESTAMP_NTZ '2030-01-01' AS ts, -1L AS v")
        rows.union(last).write.parquet(str(self.source))

    def target(self) -> Path:
        self.count += 1
        return self.folder / f"t{self.count}"

    def ours(self, query: Query) -> Path:
        """Run the query in SQL until it has read all files."""
        target = self.target()
        run = self.environment.execute_sql
        run(f"SET 'execution.checkpointing.dir' = '{target}-checkpoints'")
        format_ = "debezium-json" if has_changes(query) else "parquet"
        run(
            f"CREATE TABLE {target.name} ({query.sink}) WITH ('connector' = 'filesystem', "
            f"'path' = '{target}', 'format' = '{format_}')"
        )
        job = run(f"INSERT INTO {target.name} {query.sql}").get_job_client()
        assert job is not None
        with pytest.raises(ExternalError, match="was stopped"):  # it has read all files
            job.wait()
        return target

    def plain(self, query: Query) -> Path:
        """Run the query for Structured Streaming."""
        target = self.target()
        assert query.plain is not None
        frame = query.plain(self._stream(), self._stream())
        if has_changes(query):
            frame = frame.selectExpr("struct(*) AS after", "'c' AS op")
        format_ = "json" if has_changes(query) else "parquet"
        writer = frame.writeStream.format(format_).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{target}-checkpoints")
        writer.start(str(target)).awaitTermination()
        return target

    def _stream(self) -> DataFrame:
        reader = self.spark.readStream.schema("k BIGINT, ts TIMESTAMP_NTZ, v BIGINT")
        rows = reader.parquet(str(self.source)).selectExpr("*", "CAST(ts AS TIMESTAMP) AS t")
        return rows.withWatermark("t", "5 seconds")


def measured(work: Work, run: Callable[[], Path]) -> tuple[float, float, int]:
    """Return processor time, time and the number of rows that were written."""
    jvm: Any = work.spark.sparkContext._jvm
    # unloads the states of queries that have ended, which Spark keeps in its heap for a minute
    jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()
    jvm.System.gc()
    begin, clock = processor_time(), time.perf_counter()
    target = run()
    used, passed = processor_time() - begin, time.perf_counter() - clock
    files = next(target.glob("[!._]*"))
    reader = work.spark.read
    count = (reader.text if files.suffix != ".parquet" else reader.parquet)(str(target)).count()
    shutil.rmtree(target)
    return used, passed, count


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="", help="Words in the names of the queries to measure.")
    parser.add_argument("--growth", type=int, help="How many micro-batches to run.")
    given = parser.parse_args()
    # all rows are there, and the queries end when they have read them
    until_read: Any = lambda _, one: one.trigger(availableNow=True)  # noqa: E731
    setattr(MicroBatches, "_add_trigger", until_read)  # noqa: B010 - it is private
    if given.growth:
        growth(given.growth, given.rows)
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder), given.rows)
        print("| query | schema_core | Structured Streaming | ratio | rows/s | rows/s |")
        print("|---|---:|---:|---:|---:|---:|")
        for name, query in QUERIES.items():
            if given.only in name:
                print(f"| {name} | {row(work, query, given.pairs)} |", flush=True)


def row(work: Work, query: Query, pairs: int) -> str:
    """Return the figures of a query; the first pair, which compiles, is not counted."""
    if query.plain is None:
        return alone(work, query, pairs)
    runs: tuple[Callable[[], Path], ...] = (lambda: work.ours(query), lambda: work.plain(query))
    result: tuple[list[tuple[float, float, int]], ...] = ([], [])
    for pair in range(pairs + 1):
        for place in (0, 1) if pair % 2 else (1, 0):
            one = measured(work, runs[place])
            if pair:
                result[place].append(one)
    counts = {item[2] for side in result for item in side}
    assert len(counts) == 1, counts
    used = [median(item[0] for item in side) for side in result]
    rates = [work.rows / median(item[1] for item in side) for side in result]
    ratio = median(first[0] / other[0] for first, other in zip(*result, strict=True))
    return f"{used[0]:.2f} s | {used[1]:.2f} s | {ratio:.2f} | {rates[0]:,.0f} | {rates[1]:,.0f}"


def alone(work: Work, query: Query, times: int) -> str:
    """Return the figures of a query that Structured Streaming cannot express."""
    result = [measured(work, lambda: work.ours(query)) for _ in range(times + 1)][1:]
    used, passed = (median(item[place] for item in result) for place in (0, 1))
    return f"{used:.2f} s | | | {work.rows / passed:,.0f} | "


def growth(batches: int, rows: int) -> None:
    """Print the time of a micro-batch and the size of the state as both grow."""
    times: list[float] = []
    batch = MicroBatches._batch
    step = max(1, batches // 10)

    def timed(self: MicroBatches, *arguments: Any) -> None:
        begin = time.perf_counter()
        batch(self, *arguments)
        times.append(time.perf_counter() - begin)
        if len(times) % step == 0:
            print(f"| {len(times)} | {median(times[-step:]):.2f} |", flush=True)

    setattr(MicroBatches, "_batch", timed)  # noqa: B010 - it is private
    options = FileLayout._streaming
    one_file = {"maxFilesPerTrigger": "1"}
    setattr(FileLayout, "_streaming", lambda self: {**options(self), **one_file})  # noqa: B010
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder), batches * rows, files=batches)
        print("| micro-batches | seconds each |", "|---:|---:|", sep="\n")
        work.ours(QUERIES["groups with HAVING"])
        states = Path(folder).glob("*-checkpoints/*/stages/**/*.parquet")
        size = sum(file.stat().st_size for file in states)
        print(f"state: {size / 1e6:.1f} MB of {batches * rows:,} rows")


if __name__ == "__main__":
    main()
