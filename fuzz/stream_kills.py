"""Streaming jobs that are killed: no row is lost, and none is written twice.

    python -m fuzz.stream_kills --kills 30

A process runs INSERT from a directory of json files, which grows, into parquet files. It is killed
with SIGKILL at random moments, also within its commits, and started again, until all files are
read. Then the table must have every row once. Spark is started for each run.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

#: How many rows a file has.
ROWS = 40
#: After how many seconds without progress the last run has failed.
PATIENCE = 240.0

JOB = """
import sys
from schema_core import EnvironmentSettings, TableEnvironment

root = sys.argv[1]
environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
environment.execute_sql(f"SET 'execution.checkpointing.dir' = '{root}/checkpoints'")
environment.execute_sql(
    f\"\"\"CREATE TABLE source (id BIGINT, name STRING) WITH ('connector' = 'filesystem',
    'path' = '{root}/source', 'format' = 'json', 'source.monitor-interval' = '50 ms')\"\"\"
)
environment.execute_sql(
    f\"\"\"CREATE TABLE sink (id BIGINT, name STRING) WITH ('connector' = 'filesystem',
    'path' = '{root}/sink', 'format' = 'parquet')\"\"\"
)
result = environment.execute_sql("INSERT INTO sink SELECT id, UPPER(name) FROM source")
print("started", flush=True)
result.wait()
"""


class Growth(threading.Thread):
    """Adds files to the source until it has `count`."""

    def __init__(self, directory: Path, count: int, pause: float) -> None:
        super().__init__(daemon=True)
        self._directory, self._count, self._pause = directory, count, pause

    def run(self) -> None:
        for number in range(self._count):
            lines = (
                f'{{"id": {number * ROWS + row}, "name": "name {row}"}}\n' for row in range(ROWS)
            )
            draft = self._directory / f".{number}.json"
            draft.write_text("".join(lines))
            draft.rename(self._directory / f"{number}.json")
            time.sleep(self._pause)


def ids(root: Path) -> Counter[int]:
    """Return how often each id is in the files of the sink that readers see."""
    import pyarrow.parquet as pq

    found: Counter[int] = Counter()
    for path in (root / "sink").glob("*.parquet"):
        found.update(pq.ParquetFile(path).read(["id"])["id"].to_pylist())
    return found


def started(root: Path) -> subprocess.Popen[str]:
    """Start the job and wait until it runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", JOB, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "SCHEMA_CORE_SPARK": "spark.master=local[2]"},
    )
    assert process.stdout is not None
    while (line := process.stdout.readline()) and "started" not in line:
        pass
    if not line:
        raise SystemExit("the job failed before it started")
    return process


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the process and its JVM."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--window", type=float, default=8.0, help="seconds within which a job is killed"
    )
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "source").mkdir()
        (root / "sink").mkdir()
        count = options.kills * 5
        growth = Growth(root / "source", count, 1.5)
        growth.start()
        seen = []
        for number in range(options.kills):
            process = started(root)
            time.sleep(draw.uniform(0, options.window))
            kill(process)
            found = ids(root)
            seen.append(sum(found.values()))
            doubled = sum(1 for many in found.values() if many > 1)
            print(f"kill {number + 1}: {seen[-1]} rows, {doubled} doubled", flush=True)
        process = started(root)
        growth.join()
        deadline = time.monotonic() + PATIENCE
        while len(ids(root)) < count * ROWS and time.monotonic() < deadline:
            time.sleep(1)
        time.sleep(2)
        kill(process)
        found = ids(root)
    lost = count * ROWS - len(found)
    doubled = sum(many - 1 for many in found.values())
    moved = sum(1 for before, after in itertools.pairwise(seen) if after > before)
    print(
        f"{options.kills} kills, {moved + 1} runs with commits, {count * ROWS} rows: "
        f"{lost} lost, {doubled} doubled"
    )
    return 1 if lost or doubled else 0


if __name__ == "__main__":
    sys.exit(main())
