"""The rows that stages of a streaming query keep: files of changes, by micro-batch.

A micro-batch writes its changes as ``delta-N``. Every `COMPACTED` micro-batches the rows that
remain are written as ``base-N``, and the files before it are removed. Spark repeats at most the
last micro-batch, which then reads what the one before it has left and replaces its own files.
"""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy import regex
from schema_core.spark.changelog import ROW_KIND, adding, state_of
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import locate_file_system
from schema_core.spark.session.api_mode import is_connect
from schema_core.spark.streaming.checkpoints import missing_checkpoint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: How many micro-batches write changes before the rows that remain are written.
COMPACTED: Final = 10
_NAME = regex(r"(base|delta)-([0-9]{1,19})")


class StoredRows:
    """Rows that change with micro-batches, in a directory of their own.

    `inserts` is whether rows are only added. Frames have the columns of the rows and `ROW_KIND`.
    """

    def __init__(
        self,
        session: SparkSession,
        directory: Directory,
        *,
        inserts: bool,
        compacted: int = COMPACTED,
    ) -> None:
        self._session = session
        self._directory = directory
        self._inserts = inserts
        self._compacted = compacted

    def add(self, changes: DataFrame, number: int) -> DataFrame:
        """Store the changes of a micro-batch, and return them as they are stored."""
        name = f"delta-{number}"
        self._write(changes, name)
        return self._read([name], changes)

    def rows_before(self, number: int, changes: DataFrame) -> DataFrame | None:
        """Return the changes before a micro-batch that leave its rows; None if there are none.

        `changes` are those of the micro-batch, whose columns the rows have.
        """
        names = self._names(number)
        return self._read(names, changes) if names else None

    def compact(self, number: int, changes: DataFrame, condition: str = "TRUE") -> None:
        """Write the rows that remain after a micro-batch, if there are many changes."""
        names = [*self._names(number), f"delta-{number}"]
        if len(names) > self._compacted:
            remaining = self.remaining(self._read(names, changes)).where(condition)
            self._write(remaining, f"base-{number}")

    def remaining(self, changes: DataFrame) -> DataFrame:
        """Return the rows that changes leave, with `ROW_KIND`."""
        if self._inserts:
            return changes
        own = [name for name in changes.columns if name != ROW_KIND]
        return adding(state_of(changes, (), own))

    def remove_old(self, number: int) -> None:
        """Remove the files that a micro-batch and later ones do not read."""
        read = set(self._names(number))
        for kind, of in self._files():
            if of < number and f"{kind}-{of}" not in read:
                self._directory.delete(f"{kind}-{of}")

    def _files(self) -> list[tuple[str, int]]:
        """Return the kind and micro-batch of each file of changes, in their order."""
        names = (
            entry.name for kind in ("base-", "delta-") for entry in self._directory.entries(kind)
        )
        found = [match for name in names if (match := re.fullmatch(_NAME.pattern, name))]
        return sorted(((match[1], int(match[2])) for match in found), key=lambda file: file[1])

    def _names(self, number: int) -> list[str]:
        """Return the files with the rows before a micro-batch."""
        files = [(kind, of) for kind, of in self._files() if of < number]
        base = max((of for kind, of in files if kind == "base"), default=-1)
        later = [f"delta-{of}" for kind, of in files if kind == "delta" and of > base]
        return ([f"base-{base}"] if base >= 0 else []) + later

    def _write(self, rows: DataFrame, name: str) -> None:
        rows.write.mode("overwrite").parquet(self._directory.path(name))

    def _read(self, names: list[str], like: DataFrame) -> DataFrame:
        paths = [self._directory.path(name) for name in names]
        return self._session.read.schema(like.schema).parquet(*paths)


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
