"""The rows that stages of a streaming query keep: files of changes, by micro-batch.

A micro-batch writes its changes as ``delta-N``. Every `COMPACTED` micro-batches the rows that
remain are written as ``base-N``, and the files before it are removed. Spark repeats at most the
last micro-batch, which then reads what the one before it has left and replaces its own files.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy import regex
from schema_core.environment.jobs.metrics import add_known
from schema_core.spark.changelog import ROW_KIND, adding, state_of
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import locate_file_system
from schema_core.spark.session.api_mode import is_connect, java_class
from schema_core.spark.streaming.checkpoint_files import invalid_checkpoint
from schema_core.spark.streaming.checkpoints import missing_checkpoint
from schema_core.spark.streaming.stream_metrics import AwaitedCounts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: How many micro-batches write changes before the rows that remain are written.
COMPACTED: Final = 10
#: The file that Spark writes when all files of a directory are complete.
SUCCESS: Final = "_SUCCESS"
_NAME = regex(r"(base|delta)-([0-9]{1,19})")


class StoredRows:
    """Rows that change with micro-batches, in a directory of their own.

    `inserts` is whether rows are only added. Frames have the columns of the rows and `ROW_KIND`.
    """

    def __init__(self, session: SparkSession, directory: Directory, *, inserts: bool) -> None:
        self._session = session
        self._directory = directory
        self._inserts = inserts
        self._number = 0
        #: the number of rows that the condition of `add` dropped since the start
        self.dropped = 0
        self._awaited = AwaitedCounts(self._add_dropped)
        #: the numbers of rows of the files of changes that are complete, once they are counted
        self._counts: dict[str, int | None] = {}
        #: the files among them that were written since the start, and the rows of removed ones
        self._written: set[str] = set()
        self._removed: int | None = 0
        #: held while files are counted or removed
        self._lock = threading.Lock()
        #: the files with the rows before the micro-batch
        self._before: list[str] = []

    def begin(self, number: int) -> None:
        """Begin a micro-batch: find the rows before it, and remove files that it does not read.

        Raises:
            ExternalError: `invalid-checkpoint` if changes of an earlier micro-batch are missing.
        """
        files = [(kind, of) for kind, of in self._files() if of < number]
        base = max((of for kind, of in files if kind == "base"), default=-1)
        later = [f"delta-{of}" for of in range(base + 1, number)]
        present = {f"{kind}-{of}" for kind, of in files}
        for name in later:
            if name not in present:
                raise invalid_checkpoint(self._directory.path(name), "is missing")
        with self._lock:
            self._number = number
            self._before = ([f"base-{base}"] if base >= 0 else []) + later
            self._counts |= {name: None for name in self._before if name not in self._counts}
            for kind, of in files:
                if (name := f"{kind}-{of}") not in self._before:
                    self._forget(name)
                    self._directory.delete(name)

    def add(self, changes: DataFrame, condition: str = "TRUE") -> DataFrame:
        """Store the changes of the micro-batch of a condition; return them as they are stored."""
        name = f"delta-{self._number}"
        if condition != "TRUE":
            dropped = {"dropped": f"count_if(NOT ({condition}))"}
            changes = self._awaited.observe("dropped", changes, dropped).where(condition)
        self._write(changes, name)
        return self._read([name], changes)

    def replace(self, rows: DataFrame) -> DataFrame:
        """Store all rows after the micro-batch, and return them as they are stored."""
        name = f"base-{self._number}"
        self._write(rows, name)
        return self._read([name], rows)

    def rows_before(self, changes: DataFrame) -> DataFrame | None:
        """Return the changes that leave the rows before the micro-batch; None if there are none.

        `changes` are those of the micro-batch, whose columns the rows have.
        """
        return self._read(self._before, changes) if self._before else None

    @property
    def has_many_changes(self) -> bool:
        """Whether `compact` writes the rows that remain."""
        return len(self._before) >= COMPACTED

    def compact(
        self, changes: DataFrame, remaining: Callable[[DataFrame], DataFrame] | None = None
    ) -> None:
        """Write the rows that remain after the micro-batch, if there are many changes.

        `remaining` returns them for all changes, by default those of `remaining`.
        """
        if self.has_many_changes:
            every = self._read([*self._before, f"delta-{self._number}"], changes)
            rows = self.remaining(every) if remaining is None else remaining(every)
            self._write(rows, f"base-{self._number}")

    def counts(self) -> tuple[int | None, int | None]:
        """Return the changes that were stored since the start, and those that the files have now.

        They are in the footers of the files; None over Spark Connect.
        """
        self._awaited.take()
        with self._lock:
            base, delta = (f"{kind}-{self._number}" for kind in ("base", "delta"))
            files = [base] if base in self._counts else [*self._before, delta]
            for name in {*files, *self._written} & self._counts.keys():
                self._count(name)
            changes = add_known([self._removed, *map(self._counts.get, self._written)])
            return changes, add_known([0, *(self._counts.get(name, 0) for name in files)])

    def _count(self, name: str) -> int | None:
        if self._counts[name] is None:
            self._counts[name] = count_rows(self._session, self._directory, name)
        return self._counts[name]

    def _forget(self, name: str) -> None:
        """Keep the number of rows of a file that is to be removed."""
        if name in self._written:
            self._removed = add_known([self._removed, self._count(name)])
            self._written.discard(name)
        self._counts.pop(name, None)

    def _add_dropped(self, _: str, counts: dict[str, int]) -> None:
        self.dropped += counts["dropped"]

    def remaining(self, changes: DataFrame) -> DataFrame:
        """Return the rows that changes leave, with `ROW_KIND`."""
        if self._inserts:
            return changes
        own = [name for name in changes.columns if name != ROW_KIND]
        return adding(state_of(changes, (), own))

    def _files(self) -> list[tuple[str, int]]:
        """Return the kind and micro-batch of each file of changes, in their order."""
        matches = (_NAME.fullmatch(entry.name) for entry in self._directory.entries(""))
        files = [(match[1], int(match[2])) for match in matches if match]
        return sorted(files, key=lambda file: file[1])

    def _write(self, rows: DataFrame, name: str) -> None:
        """Write rows, except again in a repeated micro-batch: the sink may have them already."""
        path = self._directory.path(name)
        place = Directory(self._directory.system, path)
        if not self._number or not place.entries(SUCCESS):
            rows.write.mode("overwrite").parquet(path)
        with self._lock:
            self._counts[name] = None
            if name.startswith("delta"):
                self._written.add(name)

    def _read(self, names: list[str], like: DataFrame) -> DataFrame:
        paths = [self._directory.path(name) for name in names]
        return self._session.read.schema(like.schema).parquet(*paths)


def count_rows(session: SparkSession, directory: Directory, name: str) -> int | None:
    """Return the number of rows in parquet files by their footers, None over Spark Connect."""
    if is_connect(session):
        return None
    path = java_class(session, "org.apache.hadoop.fs.Path")
    files = java_class(session, "org.apache.parquet.hadoop.util.HadoopInputFile")
    readers = java_class(session, "org.apache.parquet.hadoop.ParquetFileReader")
    configuration = session._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark has no method
    place = Directory(directory.system, directory.path(name))
    count = 0
    for entry in place.entries("part-"):
        reader = readers.open(files.fromPath(path(place.path(entry.name)), configuration))
        count += reader.getRecordCount()
        reader.close()
    return count


def temporary_directory(session: SparkSession) -> Directory:
    """Return a directory for the stages of a query without a checkpoint, deleted at the end.

    Raises:
        SchemaError: with code `missing-checkpoint` if Spark's tasks may run on other machines.
    """
    if is_connect(session) or not session.sparkContext.master.startswith("local"):
        raise missing_checkpoint("a result", "to the reader")
    path = tempfile.mkdtemp(prefix="schema-core-stages-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Directory(*locate_file_system(session, path))
