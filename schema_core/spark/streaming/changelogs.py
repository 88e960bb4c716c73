"""Changelogs: the rows of a streaming query that are updated, and which tables can be updated.

Each micro-batch of Spark has the new row of every changed key. A table with that primary key
replaces the old row. `collect` returns and `print` prints the changes as Flink does, for which the
last row of each key is kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from schema_core.environment.connector import Ability
from schema_core.environment.planner import BoundTable, Change
from schema_core.errors import UnsupportedError
from schema_core.spark.connector import SparkConnector, WriteContext
from schema_core.spark.streaming.incremental import StreamPlan
from schema_core.types import RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Changelog:
    """The changes of rows that the values at the positions `key` identify.

    >>> changelog = Changelog([0])
    >>> [str(one.kind) for one in changelog.changes([("a", 1), ("b", 1), ("a", 1), ("a", 2)])]
    ['+I', '+I', '-U', '+U']
    """

    def __init__(self, key: Sequence[int]) -> None:
        self._key = tuple(key)
        self._rows: dict[str, tuple[Any, ...]] = {}

    def changes(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Change]:
        """Yield the changes that replace earlier rows by these; equal rows change nothing."""
        for row in rows:
            key = repr([row[place] for place in self._key])  # values may be lists
            old = self._rows.get(key)
            if old == row:
                continue
            self._rows[key] = row
            if old is None:
                yield Change(row, RowKind.INSERT)
            else:
                yield Change(old, RowKind.UPDATE_BEFORE)
                yield Change(row, RowKind.UPDATE_AFTER)


@runtime_checkable
class SupportsChangelog(SparkConnector, Protocol):
    """A connector that takes every change of updated rows from a streaming job."""

    def write_changes(
        self, frame: DataFrame, context: WriteContext, key: Sequence[str], changelog: Changelog
    ) -> None:
        """Write the rows of a micro-batch, each of which replaces the one with its key.

        `frame` has the columns as for `write`; those of `key` are the key. `changelog` has seen
        this run's earlier micro-batches; its rows begin with the key.
        """


def require_updates(
    connector: SparkConnector, target: BoundTable, columns: Sequence[str], plan: StreamPlan
) -> None:
    """Require that a table takes the changes of a query, or replaces its rows by the query's key.

    `columns` are those that the query fills, in its order (`streaming-not-supported`).
    """
    if isinstance(connector, SupportsChangelog):
        return
    shown = target.identifier.as_summary_string()
    operation = plan.state.value if plan.state is not None else ""
    primary = target.table.resolved_schema.primary_key
    if Ability.UPSERT not in connector.abilities or primary is None:
        raise UnsupportedError(
            f"the table {shown} cannot consume update changes, which {operation} produces",
            code="streaming-not-supported",
            hint="write a table with a primary key whose connector replaces rows, such as 'jdbc' "
            "or 'upsert-kafka'; or group by the windows of a window function",
        )
    own = [columns[place] for place in plan.key]
    if set(own) != set(primary.columns) or not own:
        raise UnsupportedError(
            f"the primary key ({', '.join(primary.columns)}) of the table {shown} differs from the "
            f"key ({', '.join(own)}) by which {operation} updates its rows",
            code="streaming-not-supported",
            hint="declare the columns of that key as the primary key",
        )
