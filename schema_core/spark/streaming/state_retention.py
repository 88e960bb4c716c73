"""Rows of keys that do not change expire: ``table.exec.state.ttl`` and the hint STATE_TTL.

As in Flink, the rows of a key are kept for at least this time after its last change. Rows that have
expired are not read, and are removed when changes are compacted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial, reduce
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy import dataclass
from schema_core.environment.options import STATE_RETENTION, duration
from schema_core.query.from_clause import STATE_TTL
from schema_core.query.relation import Relation, Select, relations_in
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote
from schema_core.spark.session.api_mode import functions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.streaming.stage_state import StoredRows

#: The retention of rows that do not expire.
FOREVER: Final = timedelta(0)
#: The column with the hash of a key.
HASH: Final = f"{PREFIX}hash"
#: The column with the time of the micro-batch that changed a key, in milliseconds.
TOUCHED: Final = f"{PREFIX}touched"
#: The columns with the last change of a key, and the first one since it has expired.
LAST: Final = f"{PREFIX}last"
FIRST: Final = f"{PREFIX}first"


def has_retention(query: Relation, options: Mapping[str, str]) -> bool:
    """Return whether an option or a hint of a query limits how long rows are kept."""
    return bool(STATE_RETENTION.of(options)) or any(True for _ in _retention_hints(query))


def retention_of(query: Relation, inputs: int, default: timedelta) -> int:
    """Return for how many milliseconds an operation keeps the rows of a key without changes.

    If hints give its inputs different times, it is the longest; 0 is forever.

    Raises:
        SchemaError: `invalid-option` for a hint whose value is not a duration.
    """
    hinted = dict(_retention_hints(query))
    times = [duration(text) for text in hinted.values()]
    if len(times) < inputs:
        times.append(default)
    return round(max(times).total_seconds() * 1000) if all(times) else 0


def _retention_hints(query: Relation) -> Iterator[tuple[str, str]]:
    """Yield the aliases and times of the hints STATE_TTL of a query."""
    for part in relations_in(query):
        if isinstance(part, Select):
            for hint in part.hints:
                if hint.name.upper() == STATE_TTL:
                    yield from hint.options


def rows_of_keys(rows: DataFrame, keys: DataFrame) -> DataFrame:
    """Return the rows that have one of the keys in the column `HASH`."""
    return rows.join(keys, HASH, "left_semi").select(*map(quote, rows.columns))


@dataclass(frozen=True, slots=True)
class ClockOfKeys:
    """Which keys live at the time `now`: those that changed within `retention`, in milliseconds.

    All keys live if the retention is 0.
    """

    retention: int
    now: int

    def with_time(self, rows: DataFrame) -> DataFrame:
        """Return changes with the time at which their keys change."""
        if not self.retention:
            return rows
        return rows.selectExpr("*", f"{self.now}L AS {quote(TOUCHED)}")

    def living_keys(self, stored: Iterable[DataFrame]) -> DataFrame | None:
        """Return the keys of stored rows that live; None if all live.

        Their columns are the last change of a key, and the first one after it has expired before.
        """
        times = [rows.select(quote(HASH), quote(TOUCHED)) for rows in stored if self.retention]
        if not times:
            return None
        by_key = f"OVER (PARTITION BY {quote(HASH)} ORDER BY {quote(TOUCHED)})"
        pause = f"{quote(TOUCHED)} - lag({quote(TOUCHED)}) {by_key}"
        every = reduce(lambda left, right: left.union(right), times).distinct()
        begins = every.selectExpr("*", f"coalesce({pause}, {self.retention}L) AS pause")
        expr = functions_of(begins).expr
        living = begins.groupBy(quote(HASH)).agg(
            expr(f"max({quote(TOUCHED)}) AS {quote(LAST)}"),
            expr(f"max(if(pause >= {self.retention}L, {quote(TOUCHED)}, NULL)) AS {quote(FIRST)}"),
        )
        return living.where(f"{quote(LAST)} > {self.now - self.retention}L")

    def of_keys(self, rows: DataFrame, living: DataFrame | None) -> DataFrame:
        """Return the rows of living keys that have not expired."""
        if living is None:
            return rows
        joined = rows.join(living, HASH).where(f"{quote(TOUCHED)} >= {quote(FIRST)}")
        return joined.select(*map(quote, rows.columns))

    def compact(
        self,
        inputs: Sequence[StoredRows],
        new: Sequence[DataFrame],
        results: Sequence[tuple[StoredRows, DataFrame]] = (),
        limits: Iterable[Callable[[DataFrame], DataFrame] | None] = (),
    ) -> None:
        """Compact the inputs of a stage with their new rows, and its results with their changes.

        `limits` select the rows of each input that are kept.
        """
        pairs = list(zip(inputs, new, strict=True))
        living = None
        if any(stored.has_many_changes for stored in inputs):
            every = [
                rows
                for stored, own in (*pairs, *results)
                for rows in (stored.rows_before(own), own)
            ]
            living = self.living_keys(rows for rows in every if rows is not None)
        for (stored, own), limit in zip_longest((*pairs, *results), limits):
            if living is None:
                stored.compact(own, limit=limit)
            else:
                stored.compact_all(own, partial(_remaining_rows, living, limit, stored))


def _remaining_rows(
    living: DataFrame,
    limit: Callable[[DataFrame], DataFrame] | None,
    stored: StoredRows,
    changes: DataFrame,
) -> DataFrame:
    """Return the rows that remain of living keys, and of a limit."""
    rows = _living_rows(living, stored, changes)
    return rows if limit is None else limit(rows)


def _living_rows(living: DataFrame, stored: StoredRows, changes: DataFrame) -> DataFrame:
    """Return the rows that remain of living keys, with the time of the last change of the key."""
    own = changes.join(living, HASH).where(f"{quote(TOUCHED)} >= {quote(FIRST)}")
    remaining = stored.remaining(own.select(*map(quote, changes.columns)).drop(TOUCHED))
    stamped = remaining.join(living, HASH).withColumnRenamed(LAST, TOUCHED)
    return stamped.select(*map(quote, changes.columns))
