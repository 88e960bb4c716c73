"""How fast maps are swept, beside a job that only decodes their JSON; on one and on two cores.

    python tests/benchmarks/bench_sweep.py [--spark] [COUNT]

All figures are of one run: the steps take turns on the same maps, and each figure is the ratio to
decoding JSON in that turn. Processor time is that of this process; with --spark that of all
processes of the job, whose plain variant is `mapInArrow` with `json.loads`. The maps are those of
tables of 10 to 50 columns, of which a fifth have comments, a quarter have a computed column and a
watermark, and half have a primary key; no two are equal.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schema_core.catalog.resolve import resolve_table
from schema_core.properties.property_map import decode_table
from schema_core.properties.verification import verify
from schema_core.schema.resolve import SchemaResolver
from schema_core.spark.session.session import JobSession
from schema_core.spark.sweep import REPORT, report_batches, sweep_batches

TYPES = (
    "BIGINT NOT NULL", "INT", "VARCHAR(2147483647)", "DECIMAL(10, 2)", "TIMESTAMP(3)", "BOOLEAN",
    "DOUBLE", "DATE", "VARCHAR(64) NOT NULL", "TIMESTAMP_LTZ(3)", "ARRAY<VARCHAR(2147483647)>",
    "MAP<VARCHAR(2147483647), VARCHAR(2147483647)>", "ROW<`a` INT, `b` VARCHAR(2147483647)>",
)  # fmt: skip
OWNERS = "customer order product payment shipment store event session user account"
FIELDS = "id name code status amount price count created_at updated_at country city flag note"
NAMES = [f"{owner}_{name}" for owner in OWNERS.split() for name in FIELDS.split()]

COMPUTED = {
    "name": "day",
    "data-type": "VARCHAR(2147483647)",
    "expr": "DATE_FORMAT(`ts`, 'yyyy-MM-dd')",
}
WATERMARK = {
    "rowtime": "ts",
    "strategy.expr": "`ts` - INTERVAL '5' SECOND",
    "strategy.data-type": "TIMESTAMP(3)",
}
TURN = 200


def generated(number: int, source: random.Random) -> dict[str, str]:
    """The map of one table."""
    names = source.sample(NAMES, source.randint(10, 50))
    columns = [("id", TYPES[0]), ("ts", "TIMESTAMP(3)")]
    columns += [(name, source.choice(TYPES)) for name in names]
    properties: dict[str, str] = {}
    for row, (name, type_) in enumerate(columns):
        properties |= {f"schema.{row}.name": name, f"schema.{row}.data-type": type_}
        if source.random() < 0.2:
            properties[f"schema.{row}.comment"] = f"the {name}"
    if number % 4 == 0:
        properties |= {f"schema.{len(columns)}.{key}": value for key, value in COMPUTED.items()}
        properties |= {f"schema.watermark.0.{key}": value for key, value in WATERMARK.items()}
    if number % 2 == 0:
        properties |= {"schema.primary-key.name": "PK_id", "schema.primary-key.columns": "id"}
    return properties | {"connector": "filesystem", "path": f"/data/{number}", "format": "parquet"}


def texts(count: int) -> list[str]:
    """So many maps as JSON."""
    source = random.Random(1)
    return [json.dumps(generated(number, source)) for number in range(count)]


def batch_of(maps: list[str]) -> pa.RecordBatch:
    paths = pa.array([str(number) for number in range(len(maps))])
    return pa.RecordBatch.from_arrays([paths, pa.array(maps)], names=["path", "definition"])


def steps() -> dict[str, Callable[[list[str]], object]]:
    """What is measured, by name."""
    resolver = SchemaResolver()
    sweeping = partial(sweep_batches, True)
    reporting = partial(report_batches, True)
    return {
        "JSON only":            lambda maps: [json.loads(text) for text in maps],
        "decode":               lambda maps: [decode_table(json.loads(text)) for text in maps],
        "decode and resolve":   lambda maps: [
            resolve_table(decode_table(json.loads(text)), resolver) for text in maps
        ],
        "verify":               lambda maps: [verify(json.loads(text)) for text in maps],
        "sweep, results":       lambda maps: list(sweeping(iter([batch_of(maps)]))),
        "sweep, report":        lambda maps: list(reporting(iter([batch_of(maps)]))),
    }  # fmt: skip


def within_this_process(maps: list[str]) -> None:
    """Print the processor time of each step, after some maps to warm up."""
    result: dict[str, list[float]] = {name: [] for name in steps()}
    works = steps()
    for start in range(0, len(maps) - TURN + 1, TURN):
        for name, work in works.items():
            began = time.process_time()
            work(maps[start : start + TURN])
            result[name].append((time.process_time() - began) / TURN * 1e6)
    kept = {name: turns[len(turns) // 4 :] for name, turns in result.items()}
    plain = kept["JSON only"]
    print(f"{'one process':22}{'us a map':>10}{'maps a second':>15}{'x JSON':>10}")
    for name, turns in kept.items():
        ratio = statistics.median(first / other for first, other in zip(turns, plain, strict=True))
        least = statistics.median(turns)
        print(f"{name:22}{least:10.1f}{1e6 / least:15,.0f}{ratio:10.2f}")


# --- on Spark -------------------------------------------------------------------------------------


def counting(
    work: Callable[[dict[str, str]], object], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """A plain job: decode the JSON of every map, do some work with it, and count the keys."""
    keys = 0
    for batch in batches:
        for item in batch.column(1).to_pylist():
            properties = json.loads(item)
            work(properties)
            keys += len(properties)
    yield pa.RecordBatch.from_arrays([pa.array([str(keys).encode()])], names=["report"])


def decode_and_resolve(properties: dict[str, str]) -> object:
    return resolve_table(decode_table(properties), SchemaResolver())


def processor_time() -> float:
    """Seconds of processor time of this process and all processes below it."""
    stats: dict[int, tuple[int, int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        stats[int(file.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    below = {os.getpid()}
    for _ in stats:
        further = {pid for pid, (parent, _) in stats.items() if parent in below} - below
        if not further:
            break
        below |= further
    return sum(stats[pid][1] for pid in below if pid in stats) / os.sysconf("SC_CLK_TCK")


def on_spark(maps: list[str]) -> None:
    """Print wall and processor time of all jobs, on one core and on two."""
    session = JobSession(settings={"spark.master": "local[2]"}).open_session()
    with TemporaryDirectory() as folder:
        pq.write_table(pa.Table.from_batches([batch_of(maps)]), f"{folder}/maps.parquet")
        compare(session.read.parquet(folder), len(maps))
    session.stop()


def compare(frame: Any, count: int) -> None:
    """Print the times of all jobs over a frame of so many maps."""
    jobs: dict[str, Any] = {
        "JSON only": partial(counting, len),
        "decode": partial(counting, decode_table),
        "decode and resolve": partial(counting, decode_and_resolve),
        "sweep, report": partial(report_batches, True),
    }
    print(f"\n{'on Spark':22}{'cores':>6}{'maps a second':>15}{'processor s':>13}{'x JSON':>10}")
    for cores in (1, 2):
        placed = frame.coalesce(1) if cores == 1 else frame.repartition(2)
        placed = placed.persist()
        placed.count()
        used = {}
        for name, job in jobs.items():
            runs = [timed(placed.mapInArrow(job, REPORT).collect) for _ in range(3)]
            wall, used[name] = min(runs)
            ratio = used[name] / used["JSON only"]
            speed = count / wall
            print(f"{name:22}{cores:6}{speed:15,.0f}{used[name]:13.2f}{ratio:10.2f}")
        placed.unpersist()


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall time and the processor time of all processes."""
    began, used = time.perf_counter(), processor_time()
    work()
    return time.perf_counter() - began, processor_time() - used


def main() -> None:
    numbers = [int(item) for item in sys.argv[1:] if item.isdigit()]
    maps = texts(numbers[0] if numbers else 6_000)
    within_this_process(maps)
    if "--spark" in sys.argv:
        on_spark(maps)


if __name__ == "__main__":
    main()
