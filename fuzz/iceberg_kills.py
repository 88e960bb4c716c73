"""Writers of a table of Iceberg that are killed, and that commit at the same time.

    python -m fuzz.iceberg_kills --kills 200
    python -m fuzz.iceberg_kills --writers 8 --turns 10

A process appends, replaces and deletes batches of rows by the files and commits of the connector
`iceberg`, without Spark. It is killed with SIGKILL at a random time. Another process then reads the
table: each batch must have all of its rows or none, and those that were acknowledged must be there.
At the end, writers append at the same time, and no row may be lost.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogTable
from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.connectors.iceberg.client import open_table
from schema_core.connectors.iceberg.tasks import FileAccess, FileWriter, load_files
from schema_core.connectors.iceberg.writing import JOB, commit_files
from schema_core.errors import ConflictError
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

#: The rows of a batch, in files of this many rows.
ROWS, ROWS_OF_FILE = 30, 10


def options(directory: str) -> dict[str, str]:
    """Return the options of the table."""
    return {"warehouse": directory, "catalog-database": "default", "catalog-table": "t"}


def create(directory: str) -> None:
    """Create the catalog and its table."""
    catalog = IcebergCatalog("iceberg", {"warehouse": directory})
    catalog.open()
    schema = Schema.new_builder().column("batch", DataTypes.BIGINT()).column("n", DataTypes.INT())
    catalog.create_table(ObjectPath("default", "t"), CatalogTable(schema.build()), False)
    catalog.close()


def write_batch(directory: str, batch: int, replaced: int | None) -> None:
    """Commit the rows of a batch, in place of those of another one."""
    table, job = open_table(options(directory)), uuid.uuid4().hex
    access = FileAccess(table.metadata.model_dump_json(), dict(table.io.properties))
    writer, rows = FileWriter(access, ("batch", "n"), job), []
    for start in range(0, ROWS, ROWS_OF_FILE):
        arrays = [
            pa.array([batch] * ROWS_OF_FILE, pa.int64()),
            pa.array(range(start, start + ROWS_OF_FILE), pa.int32()),
        ]
        for result in writer.write([pa.RecordBatch.from_arrays(arrays, ["c0", "c1"])]):
            rows += [(payload.as_py(),) for payload in result.column(0)]
    removed = []
    if replaced is not None:
        tasks = table.scan(row_filter=f"batch = {replaced}").plan_files()
        removed = [task.file for task in tasks]
    added = load_files(rows, table.metadata.default_spec_id)
    commit_files(table, added, removed, options(directory), {JOB: job})


def read_batches(directory: str) -> Counter[int]:
    """Return the number of rows of each batch."""
    rows = open_table(options(directory)).scan().to_arrow()
    return Counter(rows.column("batch").to_pylist())


def fork(function: Callable[[], None]) -> int:
    """Run a function in another process; return its id."""
    if (child := os.fork()) == 0:
        try:
            function()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the exit code is the result
            traceback.print_exc()
            os._exit(1)
    return child


def write_forever(directory: str, acknowledged: Path, first: int) -> None:
    """Commit batches until the process is killed; every third one replaces the one before."""
    batch = first
    while True:
        replaced = batch - 1 if batch % 3 == 2 and batch > first else None
        write_batch(directory, batch, replaced)
        with acknowledged.open("a") as file:
            if replaced is not None:
                file.write(f"-{replaced}\n")
            file.write(f"{batch}\n")
        batch += 1


def verify(directory: str, acknowledged: Path) -> None:
    """Check the batches after a kill (`AssertionError`)."""
    lines = acknowledged.read_text().split() if acknowledged.exists() else []
    gone = {int(line[1:]) for line in lines if line.startswith("-")}
    expected = {int(line) for line in lines if not line.startswith("-")} - gone
    batches = read_batches(directory)
    assert set(batches.values()) <= {ROWS}, batches
    # the last commit may be done without an acknowledgement, also the replacement of a batch
    missing = expected - set(batches)
    assert all(batch + 1 in batches and batch == max(expected) for batch in missing), missing


def kill(directory: str, kills: int, seed: int) -> None:
    """Kill writers, and verify the table after each."""
    drawn, acknowledged = random.Random(seed), Path(directory, "acknowledged")
    for number in range(kills):
        child = fork(lambda first=number * 1000: write_forever(directory, acknowledged, first))  # type: ignore[misc]
        time.sleep(0.2 + drawn.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if os.waitpid(fork(lambda: verify(directory, acknowledged)), 0)[1]:
            sys.exit(f"the table is wrong after kill {number}")
    print(f"{kills} kills: all batches are whole")


def write_together(directory: str, writers: int, turns: int) -> None:
    """Let processes append at the same time, and count the rows."""

    def append(writer: int) -> None:
        for turn in range(turns):
            while True:
                try:
                    write_batch(directory, 10**9 + writer * 1000 + turn, None)
                    break
                except ConflictError:
                    continue

    children = [fork(lambda writer=writer: append(writer)) for writer in range(writers)]  # type: ignore[misc]
    failed = [child for child in children if os.waitpid(child, 0)[1]]

    def check() -> None:
        batches = read_batches(directory)
        expected = {10**9 + writer * 1000 + turn for writer in range(writers)
                    for turn in range(turns)}  # fmt: skip
        assert expected <= set(batches)
        assert set(batches.values()) == {ROWS}

    if failed or os.waitpid(fork(check), 0)[1]:
        sys.exit("rows of concurrent writers are lost")
    print(f"{writers} writers of {turns} batches: no row is lost")


def main() -> None:
    """Kill writers, then let others write together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.waitpid(fork(lambda: create(directory)), 0)
        kill(directory, chosen.kills, chosen.seed)
        write_together(directory, chosen.writers, chosen.turns)


if __name__ == "__main__":
    main()
