"""Writers of a table of Iceberg or Delta that are killed, and that commit at the same time.

    python -m fuzz.table_kills --format iceberg --kills 200
    python -m fuzz.table_kills --format delta --writers 8 --turns 10

Writers append and replace batches of rows at the same time by the files and commits of the
connector, without Spark. Each is killed with SIGKILL at a random time within its commits. Another
process then reads the table: each batch must have all of its rows or none, and those that were
acknowledged must be there. At the end, writers append at the same time, and no row may be lost.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
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
#: The rounds of kills on a table, which has more files, and thus longer commits, after each.
ROUNDS_OF_TABLE = 5
#: How long the first commits of a round may take, in seconds.
PATIENCE = 300


class TableFormat(Protocol):
    """How the rows of a table are written and read."""

    #: The modules that writers use. They are loaded once, so that kills hit commits, not imports.
    modules: tuple[str, ...]

    def make_catalog(self, directory: str) -> Catalog:
        """Return the catalog of the table."""

    def write_batch(self, directory: str, batch: int, replaced: int | None) -> None:
        """Commit the rows of a batch, in place of those of another one."""

    def read_batches(self, directory: str) -> Counter[int]:
        """Return the number of rows of each batch."""


class Iceberg:
    """Tables of an embedded catalog."""

    modules: tuple[str, ...] = (
        "pyiceberg.catalog.sql",
        "pyiceberg.io.pyarrow",
        "schema_core.catalogs.iceberg.catalog",
        "schema_core.connectors.iceberg.writing",
    )

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

    modules: tuple[str, ...] = (
        "schema_core.catalogs.delta.catalog",
        "schema_core.connectors.delta.writing",
    )

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


def write_until_committed(
    form: TableFormat, directory: str, batch: int, replaced: int | None
) -> None:
    """Commit a batch, again after each conflict with another writer."""
    while True:
        try:
            return form.write_batch(directory, batch, replaced)
        except ConflictError:
            continue


def write_forever(form: TableFormat, directory: str, acknowledged: Path, first: int) -> None:
    """Commit batches until the process is killed; every third one replaces the one before."""
    batch = first
    while True:
        replaced = batch - 1 if batch % 3 == 2 and batch > first else None
        write_until_committed(form, directory, batch, replaced)
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


def kill(form: TableFormat, directory: str, writers: Sequence[int], drawn: random.Random) -> None:
    """Kill each of some writers of a table within its commits, then verify the table."""
    acknowledged, started = Path(directory, "acknowledged"), time.monotonic()
    firsts = {f"{writer * BATCHES}" for writer in writers}
    children = [
        fork(partial(write_forever, form, directory, acknowledged, int(first))) for first in firsts
    ]
    acknowledged.touch()
    while not firsts <= {*acknowledged.read_text().split()}:
        if time.monotonic() - started > PATIENCE:
            sys.exit(f"a writer has committed nothing in {PATIENCE} seconds")
        time.sleep(0.01)
    waited = time.monotonic() - started
    for child in children:
        time.sleep(drawn.random() * 2 * waited / len(children))
        os.kill(child, signal.SIGKILL)
    ends = [os.waitpid(child, 0)[1] for child in children]
    if set(ends) != {signal.SIGKILL}:
        sys.exit(f"a writer failed: {ends}")
    if os.waitpid(fork(lambda: verify(form, directory, acknowledged)), 0)[1]:
        sys.exit(f"the table is wrong after the kills of the writers {writers}")


def write_together(form: TableFormat, directory: str, writers: int, turns: int) -> None:
    """Let processes append at the same time, and count the rows."""

    def append(writer: int) -> None:
        for turn in range(turns):
            write_until_committed(form, directory, 10**9 + writer * BATCHES + turn, None)

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
    for module in form.modules:
        import_module(module)
    drawn, numbers = random.Random(chosen.seed), range(chosen.kills)
    rounds = [
        numbers[start : start + chosen.writers] for start in range(0, chosen.kills, chosen.writers)
    ]
    for start in range(0, len(rounds), ROUNDS_OF_TABLE):
        with tempfile.TemporaryDirectory() as directory:
            os.waitpid(fork(partial(create, form, directory)), 0)
            for writers in rounds[start : start + ROUNDS_OF_TABLE]:
                kill(form, directory, writers, drawn)
                print(f"{writers[-1] + 1} kills: all batches are whole", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        os.waitpid(fork(partial(create, form, directory)), 0)
        write_together(form, directory, chosen.writers, chosen.turns)


if __name__ == "__main__":
    main()
