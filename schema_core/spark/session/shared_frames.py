"""DataFrames of Spark Connect in another session of the same server.

A DataFrame of Spark Connect is a plan that is analysed by every action, with the settings and the
temporary names of its session. A global temporary view keeps the analysed plan, which any session
of the server can read. The views are dropped after the frames that read them have ended.
"""

from __future__ import annotations

import atexit
import uuid
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

from schema_core.errors import ExternalError
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.session.api_mode import is_running

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The database of global temporary views.
DATABASE: Final = "global_temp"


class SharedFrames:
    """The global temporary views of this process; threads may share it."""

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[SparkSession, ...]] = {}
        self._ended: deque[str] = deque()

    def share(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        """Return a frame in another session of its server.

        Raises:
            ExternalError: with code `spark-session-stopped` for a session of another server.
        """
        from pyspark.errors import AnalysisException

        if not self._sessions:
            atexit.unregister(self._drop_all)
            atexit.register(self._drop_all)  # before the clients of both sessions are closed
        self._drop_ended()
        name = f"{PREFIX}shared_{uuid.uuid4().hex}"
        frame.createGlobalTempView(name)
        self._sessions[name] = frame.sparkSession, session
        made = session.table(f"{DATABASE}.{name}")
        try:
            made.schema  # noqa: B018 - it is analysed
        except AnalysisException:
            self._drop(name)
            raise ExternalError(
                "the DataFrame belongs to another server of Spark Connect than the jobs of the "
                "environment",
                code="spark-session-stopped",
                hint="create the DataFrame in a session of that server",
            ) from None
        plan: Any = made
        # frames refer to the plans of the frames that they are derived from
        finalize(plan._plan, self._ended.append, name).atexit = False  # noqa: SLF001
        return made

    def _drop_ended(self) -> None:
        while self._ended:
            with suppress(IndexError):  # another thread may have taken the last one
                self._drop(self._ended.popleft())

    def _drop(self, name: str) -> None:
        for session in filter(is_running, self._sessions.pop(name, ())):
            session.catalog.dropGlobalTempView(name)
            return

    def _drop_all(self) -> None:
        """Drop all views at the end of the process, in a single attempt for each session."""
        for name, sessions in [*self._sessions.items()]:
            with suppress(Exception):
                for session in sessions:
                    connect: Any = session
                    connect.client.set_retry_policies([])
                self._drop(name)


#: Those of this process.
SHARED: Final = SharedFrames()
