"""Writers of a table of Iceberg or Delta that are killed, and that commit at the same time.

    python -m fuzz.table_kills --format iceberg --kills 200
    python -m fuzz.table_kills --format delta --writers 8 --turns 10

A process appends, replaces and deletes batches of rows by the files and commits of the connector,
without Spark. It is killed with SIGKILL at a random time. Another process then reads the table:
each batch must have all of its rows or none, and those that were acknowledged must be there. At the
end, writers append at the same time, and no row may be lost.
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
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import CatalogTable
from schema_core.errors import ConflictError
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

#: The rows of a batch, in files of this many rows.
ROWS, ROWS_OF_FILE = 30, 10
#: The most batches of a writer; their numbers begin with the writer's.
BATCHES = 1000


class TableFormat(Protocol):
    """How the rows of a table are written and read."""

    def make_catalog(self, directory: str) -> Catalog:
        """Return the catalog of the table."""

    def write_batch(self, directory: str, batch: int, replaced: int | None) -> None:
        """Commit the rows of a batch, in place of those of another one."""

    def read_batches(self, directory: str) -> Counter[int]:
        """Return the number of rows of each batch."""


class Iceberg:
    """Tables of an embedded catalog."""

    def make_catalog(self, directory: str) -> Catalog:
        from schema_core.catalogs.iceberg.catalog import IcebergCatalog

        return IcebergCatalog("iceberg", {"warehouse": directory})

    def _options(self, directory: str) -> dict[str, str]:
        return {"warehouse": directory, "catalog-database": "default", "catalog-table": "t"}

    def write_batch(self, directory: str, batch: int, replaced: int | None) -> None:
        from schema_core.connectors.iceberg.client import open_table
        from schema_core.connectors.iceberg.tasks import FileAccess, FileWriter, load_files
        from schema_core.connectors.iceberg.writing import JOB, commit_files

        options, job = self._options(directory), uuid.uuid4().hex
        table = open_table(options)
        access = FileAccess.of(table.metadata, table.io)
        writer, rows = FileWriter(access, ("batch", "n"), job), []
        for part in batches_of(batch):
            for result in writer.write([part]):
                rows += [(payload.as_py(),) for payload in result.column(0)]
        removed = []
        if replaced is not None:
            tasks = table.scan(row_filter=f"batch = {replaced}").plan_files()
            removed = [task.file for task in tasks]
        added = load_files(rows, table.metadata.default_spec_id)
        commit_files(table, added, removed, options, {JOB: job})

    def read_batches(self, directory: str) -> Counter[int]:
        from schema_core.connectors.iceberg.client import open_table

        rows = open_table(self._options(directory)).scan().to_arrow()
        return Counter(rows.column("batch").to_pylist())


class Delta:
    """Tables of a directory."""

    def make_catalog(self, directory: str) -> Catalog:
        from schema_core.catalogs.delta.catalog import DeltaCatalog

        return DeltaCatalog("delta", directory)

    def write_batch(self, directory: str, batch: int, replaced: int | None) -> None:
        from schema_core.connectors.delta.client import TableAccess, schema_fields
        from schema_core.connectors.delta.files import list_files
        from schema_core.connectors.delta.tasks import FileWriter
        from schema_core.connectors.delta.writing import MAX_RETRIES, commit_files

        access, job = TableAccess(f"{directory}/default/t", {}), uuid.uuid4().hex
        table = access.open()
        writer = FileWriter(access, tuple(schema_fields(table)), (), ("batch", "n"), job)
        added = [file for part in batches_of(batch) for file in writer.write([part])]
        removed = [
            file
            for file in (list_files(table) if replaced is not None else ())
            if file.columns["batch"][:2] == (replaced, replaced)
        ]
        commit_files(table, added, removed, job, 0 if removed else MAX_RETRIES)

    def read_batches(self, directory: str) -> Counter[int]:
        from schema_core.connectors.delta.client import TableAccess

        rows = pa.table(TableAccess(f"{directory}/default/t", {}).open().scan())
        return Counter(rows.column("batch").to_pylist())


#: The value of `--format` -> the format.
FORMATS: Mapping[str, TableFormat] = {"iceberg": Iceberg(), "delta": Delta()}


def create(form: TableFormat, directory: str) -> None:
    """Create the catalog and its table."""
    catalog = form.make_catalog(directory)
    catalog.open()
    schema = Schema.new_builder().column("batch", DataTypes.BIGINT()).column("n", DataTypes.INT())
    catalog.create_table(ObjectPath("default", "t"), CatalogTable(schema.build()), False)
    catalog.close()


def batches_of(batch: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a batch, those of each file by themselves."""
    for start in range(0, ROWS, ROWS_OF_FILE):
        arrays = [
            pa.array([batch] * ROWS_OF_FILE, pa.int64()),
            pa.array(range(start, start + ROWS_OF_FILE), pa.int32()),
        ]
        yield pa.RecordBatch.from_arrays(arrays, ["c0", "c1"])


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


def write_forever(form: TableFormat, directory: str, acknowledged: Path, first: int) -> None:
    """Commit batches until the process is killed; every third one replaces the one before."""
    batch = first
    while True:
        replaced = batch - 1 if batch % 3 == 2 and batch > first else None
        form.write_batch(directory, batch, replaced)
        with acknowledged.open("a") as file:
            if replaced is not None:
                file.write(f"-{replaced}\n")
            file.write(f"{batch}\n")
        batch += 1


def verify(form: TableFormat, directory: str, acknowledged: Path) -> None:
    """Check the batches after a kill (`AssertionError`)."""
    lines = acknowledged.read_text().split() if acknowledged.exists() else []
    gone = {int(line[1:]) for line in lines if line.startswith("-")}
    expected = {int(line) for line in lines if not line.startswith("-")} - gone
    batches = form.read_batches(directory)
    assert set(batches.values()) <= {ROWS}, batches
    # the last commit of a writer may be done without an acknowledgement, also the replacement of a
    # batch
    last = {batch // BATCHES: batch for batch in sorted(expected)}
    missing = expected - set(batches)
    assert all(batch + 1 in batches and batch == last[batch // BATCHES] for batch in missing), (
        missing
    )


def kill(form: TableFormat, directory: str, kills: int, seed: int) -> None:
    """Kill writers, and verify the table after each."""
    drawn, acknowledged = random.Random(seed), Path(directory, "acknowledged")
    for number in range(kills):
        child = fork(partial(write_forever, form, directory, acknowledged, number * BATCHES))
        time.sleep(0.2 + drawn.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if os.waitpid(fork(lambda: verify(form, directory, acknowledged)), 0)[1]:
            sys.exit(f"the table is wrong after kill {number}")
    print(f"{kills} kills: all batches are whole")


def write_together(form: TableFormat, directory: str, writers: int, turns: int) -> None:
    """Let processes append at the same time, and count the rows."""

    def append(writer: int) -> None:
        for turn in range(turns):
            while True:
                try:
                    form.write_batch(directory, 10**9 + writer * BATCHES + turn, None)
                    break
                except ConflictError:
                    continue

    children = [fork(partial(append, writer)) for writer in range(writers)]
    failed = [child for child in children if os.waitpid(child, 0)[1]]

    def check() -> None:
        batches = form.read_batches(directory)
        expected = {10**9 + writer * BATCHES + turn for writer in range(writers)
                    for turn in range(turns)}  # fmt: skip
        assert expected <= set(batches)
        assert set(batches.values()) == {ROWS}

    if failed or os.waitpid(fork(check), 0)[1]:
        sys.exit("rows of concurrent writers are lost")
    print(f"{writers} writers of {turns} batches: no row is lost")


def main() -> None:
    """Kill writers, then let others write together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=FORMATS, default="iceberg")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    form = FORMATS[chosen.format]
    with tempfile.TemporaryDirectory() as directory:
        os.waitpid(fork(lambda: create(form, directory)), 0)
        kill(form, directory, chosen.kills, chosen.seed)
        write_together(form, directory, chosen.writers, chosen.turns)


if __name__ == "__main__":
    main()
