"""Checkpoints of streaming jobs that lose or damage a part: no row is lost, none is written twice.

    python -m fuzz.checkpoint_damage
    python -m fuzz.checkpoint_damage --query windows --only state

A job reads csv files in micro-batches and is stopped. Then each file of its checkpoint is removed,
emptied, cut in half, cut before its last line and overwritten with random bytes, and each directory
is removed. The job is started again with one more file: either the table then has every row once,
or the start is refused with `invalid-checkpoint`, which names the damaged part and a remedy.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.pyflink.common import JobClient

#: Settings of Spark: few tasks for few rows, and a log of sources that is compacted.
SPARK = (
    "spark.master=local[2] spark.sql.shuffle.partitions=1 "
    "spark.sql.streaming.fileSource.log.compactInterval=3"
)
#: How many files are read before the job is stopped, and how many rows a file has: a minute each.
FILES, ROWS = 5, 10
#: After how many seconds a job is stopped that has not written all rows.
TIMEOUT = 40.0
#: How long a job runs after all rows are written, in seconds: rows that it doubles would follow.
REST = 1.2
#: The statement by the name of the query.
QUERIES = {
    "rows": "INSERT INTO sink SELECT id, name FROM source",
    "distinct": "INSERT INTO sink SELECT DISTINCT id, name FROM source",
    "windows": """INSERT INTO sink SELECT CAST(COUNT(*) AS INT), CAST(window_start AS STRING)
        FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end""",
}
#: The damage to a file: its content -> the new content, or None to remove it.
DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "removed": lambda content: None,
    "emptied": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "last line": lambda content: content.rstrip(b"\n").rpartition(b"\n")[0],
    "random": lambda content: random.Random(len(content)).randbytes(max(1, len(content))),
}


class Job:
    """A streaming job, with its source, sink and checkpoint in a directory."""

    def __init__(self, root: Path, query: str) -> None:
        self.root, self.query = root, query
        (root / "source").mkdir(parents=True)
        self.environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        run = self.environment.execute_sql
        run(f"SET 'execution.checkpointing.dir' = '{root}/checkpoints'")
        run(
            "CREATE TABLE source (id INT, name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
            f"WITH ('connector' = 'filesystem', 'path' = '{root}/source', 'format' = 'csv', "
            "'source.monitor-interval' = '20 ms')"
        )
        run(
            "CREATE TABLE sink (id INT, name STRING) WITH "
            f"('connector' = 'filesystem', 'path' = '{root}/sink', 'format' = 'csv')"
        )

    @property
    def checkpoint(self) -> Path:
        return next((self.root / "checkpoints").iterdir())

    def add(self, number: int) -> None:
        """Add a file with the rows of a minute to the source, in one step."""
        rows = "".join(
            f"{number * ROWS + row},x,2024-01-01 00:{number:02}:{row:02}\n" for row in range(ROWS)
        )
        new = self.root / "source" / f".{number}.csv"
        new.write_text(rows)
        new.rename(self.root / "source" / f"{number}.csv")

    def written(self) -> list[str]:
        files = (self.root / "sink").glob("[!.]*")
        return sorted(line for file in files for line in file.read_text().splitlines())

    def expected(self, files: int) -> list[str]:
        """Return the rows after so many files; the window of the last one is still open."""
        if self.query == "windows":
            return [f"{ROWS},2024-01-01 00:{number:02}:00.000" for number in range(files - 1)]
        return sorted(f"{number},x" for number in range(files * ROWS))

    def run(self, files: int, *, stepwise: bool = False) -> None:
        """Run the job until it has written the rows of so many files, or has failed.

        Raises:
            SchemaCoreError: the job's.
        """
        client = self.environment.execute_sql(QUERIES[self.query]).get_job_client()
        assert client is not None
        for number in range(files) if stepwise else ():
            self.add(number)
            self.wait(client, number + 1)
        self.wait(client, files)
        if is_running(client):
            client.cancel().result(60)
        else:
            client.get_job_execution_result().result(60)

    def wait(self, client: JobClient, files: int) -> None:
        """Wait until the rows of so many files are written, or the job has ended."""
        deadline = time.monotonic() + TIMEOUT
        while is_running(client) and time.monotonic() < deadline:
            if len(self.written()) >= len(self.expected(files)):
                break
            time.sleep(0.05)
        time.sleep(REST)


def is_running(client: JobClient) -> bool:
    return client.get_job_status().result().name in ("RUNNING", "CREATED")


def damages(checkpoint: Path, only: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a checkpoint, as relative paths, with what is done to each."""
    parts = sorted(part.relative_to(checkpoint) for part in checkpoint.rglob("*"))
    for part in parts:
        if only in str(part):
            kinds = ["removed"] if (checkpoint / part).is_dir() else list(DAMAGES)
            yield from ((str(part), kind) for kind in kinds)


def damage(part: Path, kind: str) -> None:
    """Damage a file of a checkpoint, or remove a directory of it."""
    if part.is_dir():
        shutil.rmtree(part)
        return
    content = DAMAGES[kind](part.read_bytes())
    if content is None:
        part.unlink()
    else:
        part.write_bytes(content)


def outcome(job: Job, part: str) -> str:
    """Return what the job makes of its damaged checkpoint."""
    name = part.rpartition("/")[2]
    try:
        job.run(FILES + 1)
    except SchemaCoreError as error:
        text = str(error)
        if error.code != "invalid-checkpoint" or not error.hint:
            return f"FAILED {error.code}: {error.problem}"
        is_named = name.strip(".").removesuffix(".crc") in text or "state" in part
        return "refused" if is_named else f"FAILED to name the part: {error.problem}"
    rows = job.written()
    if rows == job.expected(FILES + 1):
        return "continued"
    return "DOUBLED" if len(rows) > len(set(rows)) else "LOST"


def main() -> None:
    """Damage every part once, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--query", choices=QUERIES, default="rows")
    parser.add_argument("--only", default="", help="a substring of the parts that are damaged")
    parser.add_argument("--checksums", action="store_true", help="keep the checksums of files")
    arguments = parser.parse_args()
    os.environ["SCHEMA_CORE_SPARK"] = SPARK
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        job = Job(Path(temporary, "job"), arguments.query)
        job.run(FILES, stepwise=True)
        if not arguments.checksums:
            for checksum in list(job.checkpoint.rglob(".*.crc")):
                checksum.unlink()
        kept = Path(temporary, "kept")
        shutil.copytree(job.root, kept)
        for part, kind in list(damages(job.checkpoint, arguments.only)):
            shutil.rmtree(job.root)
            shutil.copytree(kept, job.root)
            damage(job.checkpoint / part, kind)
            job.add(FILES)
            result = outcome(job, part)
            outcomes[result.partition(" ")[0]] += 1
            print(f"{result:10} {kind:9} {part}", flush=True)
    print(dict(outcomes))
    sys.exit(any(name.isupper() for name in outcomes))


if __name__ == "__main__":
    main()
