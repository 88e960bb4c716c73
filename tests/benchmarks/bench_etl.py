"""Reading csv files and writing tables, beside the same work written for plain PySpark.

    python tests/benchmarks/bench_etl.py [FOLDER] [PAIRS]

Each pair runs both candidates once, in turns, in one Spark; the figures are the medians of the
processor time of the driver, its JVM and their Python workers. FOLDER (default: a temporary one)
gets the data.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.session import JobSession, start

LINES = 600_000
COLUMNS = (
    "orderkey BIGINT NOT NULL, partkey BIGINT NOT NULL, linenumber INT NOT NULL, "
    "quantity DECIMAL(15, 2) NOT NULL, price DECIMAL(15, 2) NOT NULL, discount DOUBLE NOT NULL, "
    "flag CHAR(1) NOT NULL, mode VARCHAR(10) NOT NULL, note VARCHAR(44) NOT NULL"
)
BY_HAND = (
    "orderkey BIGINT, partkey BIGINT, linenumber INT, "
    "quantity DECIMAL(15, 2), price DECIMAL(15, 2), discount DOUBLE, "
    "flag STRING, mode STRING, note STRING"
)
TICKS = os.sysconf("SC_CLK_TCK")


def processor_time() -> float:
    """The seconds of this process and of all that it started."""
    parents, times = {}, {}
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                fields = (one / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(one.name)] = int(fields[1])
            times[int(one.name)] = sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    for _ in parents:
        more = {one for one, parent in parents.items() if parent in ours} - ours
        if not more:
            break
        ours |= more
    return sum(times[one] for one in ours) / TICKS


def data(folder: Path) -> Path:
    """Write lines like those of TPC-H's lineitem."""
    path = folder / "lines" / "lines.csv"
    path.parent.mkdir(parents=True)
    drawn = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(LINES):
            cents = drawn.randint(90_000, 9_000_000)
            file.write(
                f"{number // 4},{drawn.randint(1, 200_000)},{number % 4},{drawn.randint(1, 50)}.00,"
                f"{cents // 100}.{cents % 100:02},0.0{drawn.randint(0, 9)},{drawn.choice('ANR')},"
                f"{drawn.choice(('AIR', 'SHIP', 'TRUCK'))},quickly final deposits {number % 9973}\n"
            )
    return path.parent


def noop(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def candidates(folder: Path) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Name -> the work through SQL and the same work by hand."""
    session = JobSession(start({"spark.master": "local[2]"})).get()
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    lines, target = data(folder), folder / "target"
    csv = f"('connector' = 'filesystem', 'path' = '{lines}', 'format' = 'csv')"
    environment.execute_sql(
        f"CREATE TABLE lines ({COLUMNS}, net AS price * (1 - discount), "
        f"file STRING NOT NULL METADATA FROM 'file.name' VIRTUAL) WITH {csv}"
    )
    by_hand = session.read.schema(BY_HAND).csv(str(lines))
    numbers = iter(range(1_000_000))

    def sink(query: str) -> None:
        name = f"sink{next(numbers)}"
        shutil.rmtree(target, ignore_errors=True)
        environment.execute_sql(
            f"CREATE TABLE {name} WITH ('connector' = 'filesystem', 'path' = '{target}', "
            f"'format' = 'parquet') AS {query}"
        ).wait()

    def count(query: str) -> None:
        list(environment.execute_sql(query).collect())

    def write(frame: Any) -> None:
        shutil.rmtree(target, ignore_errors=True)
        frame.write.parquet(str(target))

    stored = "orderkey, partkey, linenumber, quantity, price, discount, flag, mode, note"
    sums = (
        "SUM(orderkey), SUM(quantity), SUM(price), SUM(discount), MAX(note), MAX(mode), MAX(flag)"
    )
    net = "price * (1 - discount) AS net"
    return {
        "csv: all columns": (
            lambda: count(f"SELECT {sums} FROM lines"),
            lambda: by_hand.selectExpr(*sums.split(", ")).collect(),
        ),
        "csv: two columns and a filter": (
            lambda: count("SELECT MAX(mode) FROM lines WHERE linenumber = 2"),
            lambda: by_hand.where("linenumber = 2").selectExpr("MAX(mode)").collect(),
        ),
        "csv: computed and metadata columns": (
            lambda: count("SELECT SUM(net), MAX(file) FROM lines"),
            lambda: (
                by_hand.selectExpr(net, "_metadata.file_name AS file")
                .selectExpr("SUM(net)", "MAX(file)")
                .collect()
            ),
        ),
        "CTAS with checks and a computed column": (
            lambda: sink(f"SELECT {stored}, net FROM lines"),
            lambda: write(by_hand.selectExpr(*stored.split(", "), net)),
        ),
    }


def main() -> None:
    """Print the ratios."""
    given = sys.argv[1] if len(sys.argv) > 1 else None
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(dir=given) as folder:
        work = candidates(Path(folder))
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
        for _ in range(pairs + 1):
            for name, both in work.items():
                pair = []
                for one in both:
                    before = processor_time()
                    one()
                    pair.append(processor_time() - before)
                times[name].append((pair[0], pair[1]))
        print("| work | schema_core | by hand | ratio | first |\n|---|---:|---:|---:|---:|")
        for name, measured in times.items():
            ours, theirs = (statistics.median(column) for column in zip(*measured[1:], strict=True))
            first = measured[0][0] / measured[0][1]
            print(f"| {name} | {ours:.2f} s | {theirs:.2f} s | {ours / theirs:.2f} | {first:.2f} |")


if __name__ == "__main__":
    main()
