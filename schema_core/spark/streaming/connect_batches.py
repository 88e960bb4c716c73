"""Micro-batches over Spark Connect, exchanged with the server as files.

Spark calls the function of ``foreachBatch`` in a process of its server. The function writes a
micro-batch into a directory and waits until this process has staged, checked and committed it, as
with a SparkContext of this process.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from schema_core.spark.commit.file_systems import locate_file_system

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

#: Locked by this process as long as it takes micro-batches.
LOCK: Final = "lock"
#: Suffixes of marker files.
DONE, FAILED = ".done", ".failed"
#: Polling interval, in seconds.
PAUSE: Final = 0.01
#: Seconds without a micro-batch after which the query's status is polled.
POLL_TIMEOUT: Final = 0.5


class BatchDirectory:
    """The directory, which the server has as well, through which one query's micro-batches pass.

    `columns` are the names of a micro-batch's columns.
    """

    def __init__(self, session: SparkSession, path: Path, columns: list[str]) -> None:
        self._session = session
        self._path = path
        self._columns = columns

    def function(self) -> Callable[[DataFrame, int], None]:
        """Return the function of ``foreachBatch``, which needs only the standard library."""
        directory, pause, lock, ends = str(self._path), PAUSE, LOCK, (DONE, FAILED)

        def hand_over(rows: DataFrame, number: int) -> None:
            import fcntl
            import time
            from pathlib import Path

            place = Path(directory, str(number))
            done, failed = (place.with_name(f"{number}{end}") for end in ends)
            # names may not be unique, and files do not keep all of them
            numbered = rows.toDF(*(f"c{position}" for position in range(len(rows.columns))))
            numbered.write.mode("overwrite").parquet(f"file://{place}")
            while not done.exists():
                if failed.exists():
                    raise RuntimeError("the micro-batch was not written")
                with Path(directory, lock).open("rb") as file:  # the client deletes it at its end
                    try:
                        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    except BlockingIOError:
                        time.sleep(pause)
                        continue
                raise RuntimeError("the client of the query has ended")
            done.unlink()

        return hand_over

    def take(self, query: StreamingQuery, write: Callable[[DataFrame, int], None]) -> None:
        """Call a function with each micro-batch's rows and number until the query ends.

        Its error fails the query and is raised here.
        """
        asked = time.monotonic()
        error: BaseException | None = None
        while True:
            # micro-batches that the server has written
            numbers = sorted(int(path.parent.name) for path in self._path.glob("*/_SUCCESS"))
            for number in numbers:
                error = self._take(number, write)
            if numbers:
                asked = time.monotonic()
            elif time.monotonic() - asked < POLL_TIMEOUT:
                time.sleep(PAUSE)
            elif query.isActive:
                asked = time.monotonic()
            elif error is not None:
                raise error
            else:
                return

    def _take(self, number: int, write: Callable[[DataFrame, int], None]) -> BaseException | None:
        """Write a micro-batch and its marker file; return the error."""
        place = self._path / str(number)
        error: BaseException | None = None
        try:
            rows = self._session.read.parquet(f"file://{place}").toDF(*self._columns)
            write(rows, number)
        except BaseException as raised:  # noqa: BLE001 - raised when the query has failed
            error = raised
        shutil.rmtree(place)
        place.with_name(f"{number}{DONE if error is None else FAILED}").touch()
        return error


@contextmanager
def batch_directory(session: SparkSession, columns: list[str]) -> Iterator[BatchDirectory]:
    """Yield a new directory; its lock shows the server that this process takes rows.

    The server must have this process's files (`not-over-connect`).
    """
    with TemporaryDirectory(prefix="schema_core-batches-", ignore_cleanup_errors=True) as name:
        locate_file_system(session, name)
        with Path(name, LOCK).open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield BatchDirectory(session, Path(name), columns)
