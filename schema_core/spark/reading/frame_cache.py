"""Planned frames that are kept between conversions of one `Table` to pandas, Arrow or Spark.

Spark plans each new frame, which takes longer than to compute a few rows. A frame is used again if
the SQL of its query is the same: it contains the names of views, and each view that is kept is of
one state of its data (decision 22). What Spark would keep with a planned frame, the rows of
shuffles and of broadcasts, would outlive the use of it, so only frames without these are kept.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, NamedTuple

from schema_core.spark.jobs import spark_errors
from schema_core.spark.reading.sources import is_deterministic
from schema_core.spark.session.api_mode import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.schema.resolved import ResolvedSchema

#: How many frames an environment keeps.
MAX_FRAMES: Final = 32

#: Parts of physical plans whose results Spark keeps with the plan.
_RESULTS: Final = ("Exchange", "Subquery")


class FrameKey(NamedTuple):
    """What a frame is made of: a query, and the columns of its result; `is_run` if it is run."""

    text: str
    schema: ResolvedSchema
    is_run: bool


class FrameCache:
    """The frames of one environment, in one session at a time; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        #: from the least to the most recently used
        self._frames: dict[FrameKey, DataFrame] = {}

    def find(self, session: SparkSession, key: FrameKey) -> DataFrame | None:
        """Return the frame that was kept with an equal key, if any."""
        with self._lock:
            self._enter(session)
            if (found := self._frames.pop(key, None)) is not None:
                self._frames[key] = found
            return found

    def add(self, session: SparkSession, key: FrameKey, frame: DataFrame) -> None:
        """Keep a frame, unless it may give other rows the next time or hold results."""
        if not _can_be_kept(session, frame, is_run=key.is_run):
            return
        with self._lock:
            self._enter(session)
            self._frames[key] = frame
            if len(self._frames) > MAX_FRAMES:
                del self._frames[next(iter(self._frames))]

    def forget(self, view: str) -> None:
        """Forget the frames that read a view."""
        with self._lock:
            self._frames = {key: one for key, one in self._frames.items() if view not in key.text}

    def _enter(self, session: SparkSession) -> None:
        """Forget the frames of another session: its SparkContext was stopped."""
        if self._session is not session:
            self._session, self._frames = session, {}


def _can_be_kept(session: SparkSession, frame: DataFrame, *, is_run: bool) -> bool:
    """Return whether a frame gives the same rows each time, and Spark keeps none of them."""
    if not is_deterministic(frame):
        return False
    execution = frame._jdf.queryExecution()  # noqa: SLF001
    pattern = java_class(session, "org.apache.spark.sql.catalyst.trees.TreePattern")
    if execution.analyzed().containsPattern(pattern.CURRENT_LIKE()):  # the time of the plan
        return False
    if not is_run:
        return True
    with spark_errors():
        plan = execution.executedPlan().toString()
    return not any(result in plan for result in _RESULTS)
