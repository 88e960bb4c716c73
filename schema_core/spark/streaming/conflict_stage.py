"""The last stage of a streaming INSERT with ON CONFLICT, if rows may have the same primary key.

As in Flink, the changes of the query wait until the watermark advances, and are then compared with
the row that each primary key has: see `schema_core.spark.writing.key_conflicts`. DEDUPLICATE keeps
all rows of a key instead, of which the last one is returned at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from schema_core.environment.jobs.metrics import OperatorMetrics, add_known
from schema_core.spark.changelog import (
    CHANGE_ORDER,
    ROW_KIND,
    adding,
    difference,
    last_of_key,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote
from schema_core.spark.reading.comparison import comparable
from schema_core.spark.streaming.stage_plans import Conflicts
from schema_core.spark.streaming.stage_state import StoredRows
from schema_core.spark.streaming.stage_watermarks import BatchTime
from schema_core.spark.streaming.state_retention import HASH, TOUCHED, ClockOfKeys, rows_of_keys
from schema_core.spark.writing.key_conflicts import ARRIVAL, resolve_conflicts, with_arrival

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The column with the watermark before the micro-batch of a change.
WAITS_AT: Final = f"{PREFIX}waits_at"


class ConflictStage:
    """The changes that wait, and the row of each primary key, in a directory.

    Args:
        session: The session of Spark.
        directory: The directory of the stages of the query.
        key: The columns of the primary key.
        conflicts: What rows with the same key do.
    """

    def __init__(
        self,
        session: SparkSession,
        directory: Directory,
        key: Sequence[str],
        conflicts: Conflicts,
    ) -> None:
        waiting, rows = (
            Directory(directory.system, directory.path(f"conflicts-{name}"))
            for name in ("waiting", "rows")
        )
        self._waiting = StoredRows(session, waiting, inserts=False)
        apart = () if conflicts.wait else (ARRIVAL,)
        self._rows = StoredRows(session, rows, inserts=False, apart=apart)
        self._key = tuple(key)
        self._conflicts = conflicts

    def resolve(self, changes: DataFrame, number: int, times: BatchTime) -> DataFrame:
        """Return the changes of the table for those of a query in a micro-batch."""
        self._rows.begin(number)
        own = [name for name in changes.columns if name != ROW_KIND]
        rows = changes if ROW_KIND in changes.columns else adding(changes)
        if not self._conflicts.wait:
            return self._last_changes(with_arrival(rows, number), times.now)
        self._waiting.begin(number)
        before = "CAST(NULL AS BIGINT)" if times.before is None else f"{times.before}L"
        stamped = with_arrival(rows, number).selectExpr("*", f"{before} AS {quote(WAITS_AT)}")
        earlier = self._waiting.rows_before(stamped)
        if earlier is not None:
            # those of an earlier watermark have been compared when it advanced
            stamped = earlier.where(f"{quote(WAITS_AT)} <=> {before}").union(stamped)
        stored = self._waiting.replace(stamped).drop(WAITS_AT)
        is_due = times.after is not None and times.after != times.before
        due = stored if is_due else stored.limit(0)
        return self._compare(due, times.now).select(*map(quote, (*own, ROW_KIND)))

    def _compare(self, due: DataFrame, now: int) -> DataFrame:
        """Return the changes of the keys of changes, and store them."""
        clock = ClockOfKeys(self._conflicts.retention, now)
        old = self._rows_before(clock.with_time(self._with_hash(due.drop(ARRIVAL))), clock)
        if old is not None:
            old = self._rows.remaining(old.drop(HASH, TOUCHED))
        fails = self._conflicts.action == "ERROR"
        changes = self._with_hash(resolve_conflicts(due, old, self._key, fails=fails))
        stored = self._rows.add(clock.with_time(changes))
        clock.compact([self._rows], [stored])
        return stored.drop(HASH, TOUCHED)

    def _last_changes(self, arrived: DataFrame, now: int) -> DataFrame:
        """Store changes, and return those of the last row of each key.

        If the last row is removed, the key has the one that arrived before it, as in Flink.
        """
        clock = ClockOfKeys(self._conflicts.retention, now)
        new = self._rows.add(clock.with_time(self._with_hash(arrived)))
        before = self._rows_before(new, clock)
        old = None if before is None else self._last_rows(before)
        rows = self._last_rows(new if before is None else before.union(new))
        clock.compact([self._rows], [new])
        return difference(rows, old)

    def _last_rows(self, changes: DataFrame) -> DataFrame:
        """Return the last one of the rows that changes leave of each key."""
        rows = self._rows.remaining(changes.drop(HASH, TOUCHED))
        return last_of_key(rows.withColumnRenamed(ARRIVAL, CHANGE_ORDER), self._key)

    def _rows_before(self, new: DataFrame, clock: ClockOfKeys) -> DataFrame | None:
        """Return the changes before the micro-batch of the keys of new ones that have not expired.

        None if there are none.
        """
        stored = self._rows.rows_before(new)
        if stored is None:
            return None
        stored = rows_of_keys(stored, new.select(quote(HASH)).distinct())
        return clock.of_keys(stored, clock.living_keys([stored]))

    def _with_hash(self, frame: DataFrame) -> DataFrame:
        types = {field.name: field.dataType for field in frame.schema.fields}
        values = (comparable(quote(name), types[name]) for name in self._key)
        return frame.selectExpr("*", f"xxhash64({', '.join(values)}) AS {quote(HASH)}")

    def metrics(self, sink: str) -> OperatorMetrics:
        """Return what the stage has done since the query started."""
        (_, waiting), (rows_out, kept) = self._waiting.counts(), self._rows.counts()
        return OperatorMetrics(
            sink,
            f"ON CONFLICT DO {self._conflicts.action}",
            rows_out=rows_out,
            state_rows=add_known([waiting, kept]),
        )
