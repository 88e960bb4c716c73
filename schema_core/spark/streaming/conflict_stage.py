"""The last stage of a streaming INSERT with ON CONFLICT DO NOTHING or DO ERROR.

As in Flink, the changes of the query wait until the watermark advances, and are then compared with
the row that each primary key has: see `schema_core.spark.writing.key_conflicts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from schema_core.environment.jobs.metrics import OperatorMetrics, add_known
from schema_core.spark.changelog import ROW_KIND, adding
from schema_core.spark.commit.directory import Directory
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote
from schema_core.spark.reading.comparison import comparable
from schema_core.spark.streaming.stage_state import StoredRows
from schema_core.spark.streaming.stage_watermarks import BatchTime
from schema_core.spark.streaming.state_retention import HASH, TOUCHED, ClockOfKeys
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
        action: NOTHING or ERROR.
        retention: For how many milliseconds the row of a key without changes is kept; 0 is forever.
    """

    def __init__(
        self,
        session: SparkSession,
        directory: Directory,
        key: Sequence[str],
        action: str,
        retention: int,
    ) -> None:
        waiting, rows = (
            Directory(directory.system, directory.path(f"conflicts-{name}"))
            for name in ("waiting", "rows")
        )
        self._waiting = StoredRows(session, waiting, inserts=False)
        self._rows = StoredRows(session, rows, inserts=False)
        self._key = tuple(key)
        self._action = action
        self._retention = retention

    def resolve(self, changes: DataFrame, number: int, times: BatchTime) -> DataFrame:
        """Return the changes of the table for those of a query in a micro-batch."""
        self._waiting.begin(number)
        self._rows.begin(number)
        own = [name for name in changes.columns if name != ROW_KIND]
        rows = changes if ROW_KIND in changes.columns else adding(changes)
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
        clock = ClockOfKeys(self._retention, now)
        own = [name for name in due.columns if name != ARRIVAL]
        hashed = due.select(*map(quote, own)).selectExpr("*", f"{self._hash(due)} AS {quote(HASH)}")
        old = self._rows.rows_before(clock.with_time(hashed))
        if old is not None:
            keys = hashed.select(quote(HASH)).distinct()
            old = old.join(keys, HASH, "left_semi").select(*map(quote, old.columns))
            old = clock.of_keys(old, clock.living_keys([old])).drop(HASH, TOUCHED)
            old = self._rows.remaining(old)
        changes = resolve_conflicts(due, old, self._key, fails=self._action == "ERROR")
        changes = changes.selectExpr("*", f"{self._hash(changes)} AS {quote(HASH)}")
        stored = self._rows.add(clock.with_time(changes))
        clock.compact([self._rows], [stored])
        return stored.drop(HASH, TOUCHED)

    def _hash(self, frame: DataFrame) -> str:
        types = {field.name: field.dataType for field in frame.schema.fields}
        values = (comparable(quote(name), types[name]) for name in self._key)
        return f"xxhash64({', '.join(values)})"

    def metrics(self, sink: str) -> OperatorMetrics:
        """Return what the stage has done since the query started."""
        (_, waiting), (rows_out, kept) = self._waiting.counts(), self._rows.counts()
        return OperatorMetrics(
            sink,
            f"ON CONFLICT DO {self._action}",
            rows_out=rows_out,
            state_rows=add_known([waiting, kept]),
        )
