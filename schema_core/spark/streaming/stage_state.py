"""The rows that stages of a streaming query keep: files of changes, by micro-batch.

``changes-A-B`` has the changes of the micro-batches from A to B. Each micro-batch N writes its own
as ``changes-N-N``, and every `COMPACTED` micro-batches they become one file, together with the
files before it that are at most `GROWTH` times as large: the sizes of the files that remain are
geometric, so that a row is written a logarithmic number of times. A file of all changes, from 0,
has the rows that remain. Spark repeats at most the last micro-batch, which then reads what the one
before it has left, and whose files stand already if they are complete.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy import NamedTuple, regex
from schema_core.environment.jobs.metrics import add_known
from schema_core.spark.changelog import (
    ROW_KIND,
    adding,
    state_of,
    without_opposites,
    without_removed,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import locate_file_system
from schema_core.spark.session.api_mode import is_connect, java_class
from schema_core.spark.streaming.checkpoint_files import invalid_checkpoint
from schema_core.spark.streaming.checkpoints import missing_checkpoint
from schema_core.spark.streaming.stream_metrics import AwaitedCounts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: How many micro-batches write their changes before these become one file.
COMPACTED: Final = 10
#: How many times as large as the later changes a file may be to become one with them.
GROWTH: Final = 2
#: The file that Spark writes when all files of a directory are complete.
SUCCESS: Final = "_SUCCESS"
_NAME = regex(r"changes-([0-9]{1,19})-([0-9]{1,19})")


class Span(NamedTuple):
    """The first and the last micro-batch whose changes a file has."""

    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"changes-{self.first}-{self.last}"


class StoredRows:
    """Rows that change with micro-batches, in a directory of their own.

    `inserts` is whether rows are only added. Frames have the columns of the rows and `ROW_KIND`.
    A row is removed by one that is equal to it `apart` from some columns, whose first one orders
    equal rows.
    """

    def __init__(
        self,
        session: SparkSession,
        directory: Directory,
        *,
        inserts: bool,
        apart: Sequence[str] = (),
    ) -> None:
        self._session = session
        self._directory = directory
        self._inserts = inserts
        self._apart = apart
        self._number = 0
        #: the number of rows that the condition of `add` dropped since the start
        self.dropped = 0
        self._awaited = AwaitedCounts(self._add_dropped)
        #: the numbers of rows of the files that are complete, once they are counted
        self._counts: dict[Span, int | None] = {}
        #: the files of single micro-batches since the start, and the rows of removed ones
        self._written: set[Span] = set()
        self._removed: int | None = 0
        #: held while files are counted or removed
        self._lock = threading.Lock()
        #: the files with the rows before the micro-batch
        self._before: list[Span] = []

    def begin(self, number: int) -> None:
        """Begin a micro-batch: find the rows before it, and remove files that it does not read.

        Raises:
            ExternalError: `invalid-checkpoint` if changes of an earlier micro-batch are missing.
        """
        files = [span for span in self._files() if span.last < number]
        before, missing = _cover(files, number - 1)
        if missing is not None:
            raise invalid_checkpoint(self._directory.path(missing.name), "is missing")
        with self._lock:
            self._number = number
            self._before = before
            self._counts |= {span: None for span in before if span not in self._counts}
            for span in set(files).difference(before):
                self._forget(span)
                self._directory.delete(span.name)

    def add(self, changes: DataFrame, condition: str = "TRUE") -> DataFrame:
        """Store the changes of the micro-batch of a condition; return them as they are stored."""
        if condition != "TRUE":
            dropped = {"dropped": f"count_if(NOT ({condition}))"}
            changes = self._awaited.observe("dropped", changes, dropped).where(condition)
        self._write(changes, self._own)
        return self._read([self._own], changes)

    def replace(self, rows: DataFrame) -> DataFrame:
        """Store all rows after the micro-batch, and return them as they are stored."""
        every = Span(0, self._number)
        self._write(rows, every)
        return self._read([every], rows)

    def rows_before(self, changes: DataFrame) -> DataFrame | None:
        """Return the changes that leave the rows before the micro-batch; None if there are none.

        `changes` are those of the micro-batch, whose columns the rows have.
        """
        return self._read(self._before, changes) if self._before else None

    @property
    def _own(self) -> Span:
        """The file of the micro-batch alone."""
        return Span(self._number, self._number)

    @property
    def has_many_changes(self) -> bool:
        """Whether `compact` writes files of changes as one."""
        single = takewhile(lambda span: span.first == span.last, reversed(self._before))
        return len([*single]) + 1 >= COMPACTED

    def compact(
        self,
        changes: DataFrame,
        condition: str = "TRUE",
        limit: Callable[[DataFrame], DataFrame] | None = None,
    ) -> None:
        """Write the last files as one after the micro-batch, if there are many.

        Changes that do not meet the condition are left out, and so are those that `limit` does not
        select. As time passes, these are more and more of the oldest file: it is written again at
        least every `COMPACTED` times `COMPACTED` micro-batches.
        """
        if not self.has_many_changes:
            return
        oldest = self._before[0]
        has_limit = condition != "TRUE" or limit is not None
        is_old = has_limit and self._number - oldest.last >= COMPACTED**2
        place = 0 if is_old else len(self._before)
        size = self._size(self._own)
        while place:
            earlier = self._before[place - 1]
            own = self._size(earlier)
            if earlier.first < earlier.last and own > GROWTH * size:
                break
            size += own
            place -= 1
        spans = [*self._before[place:], self._own]
        rows = self._read(spans, changes)
        if place == 0:
            rows = self.remaining(rows)
        elif not self._inserts:
            rows = without_opposites(rows)
        rows = rows.where(condition)
        self._write(rows if limit is None else limit(rows), Span(spans[0].first, self._number))

    def compact_all(self, changes: DataFrame, remaining: Callable[[DataFrame], DataFrame]) -> None:
        """Write the rows that remain after the micro-batch as one file, if there are many files."""
        if self.has_many_changes:
            rows = self._read([*self._before, self._own], changes)
            self._write(remaining(rows), Span(0, self._number))

    def counts(self) -> tuple[int | None, int | None]:
        """Return the changes that were stored since the start, and those that the files have now.

        They are in the footers of the files; None over Spark Connect.
        """
        self._awaited.take()
        with self._lock:
            files, missing = _cover(self._counts, self._number)
            files = files if missing is None else self._before
            for span in {*files, *self._written} & self._counts.keys():
                self._count(span)
            changes = add_known([self._removed, *map(self._counts.get, self._written)])
            return changes, add_known([0, *map(self._counts.get, files)])

    def _count(self, span: Span) -> int | None:
        if self._counts[span] is None:
            self._counts[span] = count_rows(self._session, self._directory, span.name)
        return self._counts[span]

    def _forget(self, span: Span) -> None:
        """Keep the number of rows of a file that is to be removed."""
        if span in self._written:
            self._removed = add_known([self._removed, self._count(span)])
            self._written.discard(span)
        self._counts.pop(span, None)

    def _add_dropped(self, _: str, counts: dict[str, int]) -> None:
        self.dropped += counts["dropped"]

    def remaining(self, changes: DataFrame) -> DataFrame:
        """Return the rows that changes leave, with `ROW_KIND`."""
        if self._inserts:
            return changes
        if self._apart:
            return without_removed(changes, self._apart)
        own = [name for name in changes.columns if name != ROW_KIND]
        return adding(state_of(changes, (), own))

    def _files(self) -> list[Span]:
        matches = (_NAME.fullmatch(entry.name) for entry in self._directory.entries("changes-"))
        return [Span(int(match[1]), int(match[2])) for match in matches if match]

    def _size(self, span: Span) -> int:
        return sum(size for _, size in self._directory.files(span.name))

    def _write(self, rows: DataFrame, span: Span) -> None:
        """Write rows, except again in a repeated micro-batch: the sink may have them already."""
        path = self._directory.path(span.name)
        place = Directory(self._directory.system, path)
        if not self._number or not place.entries(SUCCESS):
            rows.write.mode("overwrite").parquet(path)
        with self._lock:
            self._counts[span] = None
            if span.first == span.last:
                self._written.add(span)

    def _read(self, spans: Sequence[Span], like: DataFrame) -> DataFrame:
        paths = [self._directory.path(span.name) for span in spans]
        return self._session.read.schema(like.schema).parquet(*paths)


def _cover(files: Iterable[Span], last: int) -> tuple[list[Span], Span | None]:
    """Return the fewest files with all changes until a micro-batch, and the first missing one."""
    by_end: dict[int, Span] = {}
    for span in files:
        by_end[span.last] = min(span, by_end.get(span.last, span))
    cover: list[Span] = []
    while last >= 0:
        if last not in by_end:
            return cover[::-1], Span(last, last)
        cover.append(by_end[last])
        last = by_end[last].first - 1
    return cover[::-1], None


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
        SchemaError: with code `missing-option` if Spark's tasks may run on other machines.
    """
    if is_connect(session) or not session.sparkContext.master.startswith("local"):
        raise missing_checkpoint("a result", "to the reader")
    path = tempfile.mkdtemp(prefix="schema-core-stages-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Directory(*locate_file_system(session, path))
