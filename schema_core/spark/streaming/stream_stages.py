"""Streaming queries with state: the steps for which Spark has frames, but no SQL.

When the watermark passes a window, Spark returns all of its rows. What Spark cannot stream is then
computed from them as from a bounded table: see `StreamPlan.rest`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.query.relation import Relation, Scan, SourceTable, WindowTable, result_columns
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote
from schema_core.spark.compiler.windows import lengths_of
from schema_core.spark.session.api_mode import functions_of
from schema_core.spark.session.session import TemporaryNames
from schema_core.spark.streaming.incremental import OperatorState, StreamPlan
from schema_core.spark.streaming.interval_joins import TIME
from schema_core.spark.streaming.watermarks import with_event_time, with_session_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A window's rows, as an array.
ROWS: Final = f"{PREFIX}rows"
#: Columns of sessions: their bounds, and a key for those without one.
SESSION: Final = f"{PREFIX}session"
ONE: Final = f"{PREFIX}one"
#: States of one row per key, which frames compute.
UNIQUE: Final = frozenset({OperatorState.DISTINCT, OperatorState.FIRST, OperatorState.RANKED})


@dataclass(frozen=True, slots=True)
class StreamedQuery:
    """A query of unbounded tables as a streaming frame, and Spark's mode for its rows.

    `finish` returns the query's rows for those of a micro-batch, by its number; None if they are
    the same.
    """

    frame: DataFrame
    mode: str
    finish: Callable[[DataFrame, int], DataFrame] | None = None

    def then(self, change: Callable[[DataFrame], DataFrame]) -> StreamedQuery:
        """Return the query with a change of each row by itself."""
        finish = self.finish
        if finish is None:
            return replace(self, frame=change(self.frame))
        return replace(self, finish=lambda rows, number: change(finish(rows, number)))

    def rows(self, batch: DataFrame, number: int) -> DataFrame:
        return batch if self.finish is None else self.finish(batch, number)


def mode_of(plan: StreamPlan) -> str:
    """Return the mode in which Spark returns a query's rows."""
    return "update" if plan.is_updated else "append"


def staging(
    plan: StreamPlan, names: TemporaryNames, analysed: Callable[[str], DataFrame]
) -> Callable[[Relation, str], str]:
    """Return a function that replaces operations in SQL text by views of frames.

    `analysed` returns the frame of a query in Spark SQL.
    """
    if plan.state is None:
        return lambda _, text: text
    windows = {id(window) for window in plan.windows} if plan.has_windows else set()
    unique = id(plan.operation) if plan.state in UNIQUE else None

    def stage_text(relation: Relation, text: str) -> str:
        if id(relation) in windows:
            frame = analysed(_select_with_names(relation, text))
            frame = with_event_time(frame, frame.columns[-2])
        elif id(relation) == unique:
            frame = _unique(plan, analysed(_select_with_names(relation, text)))
        else:
            return text
        return f"SELECT * FROM {names.view(frame)}"

    return stage_text


def _select_with_names(relation: Relation, text: str) -> str:
    """Return the text of a relation with unique names for its result."""
    columns = ", ".join(quote(column.name) for column in result_columns(relation))
    return f"SELECT * FROM ({text}) AS w({columns})"


def _unique(plan: StreamPlan, frame: DataFrame) -> DataFrame:
    """Return one row of a frame for each key: of its ranking, else of all columns."""
    ranking = plan.ranking
    if ranking is None:
        return frame.dropDuplicates()
    names = frame.columns
    keys = [names[place] for place in ranking.key]
    if plan.state is OperatorState.FIRST:
        return frame.dropDuplicates(keys)
    expr = functions_of(frame).expr
    function = "max_by" if ranking.descending else "min_by"
    row = expr(f"{function}(struct(*), {quote(names[ranking.time])})").alias(ROWS)
    return frame.groupBy(*map(quote, keys)).agg(row).select(f"{quote(ROWS)}.*")


def grouped_rows(plan: StreamPlan, frame: DataFrame, zone: str) -> DataFrame:
    """Return the streaming frame of a plan's operation to start.

    A row has all rows of a window for `OperatorState.ROWS` and `OperatorState.SESSION`.
    """
    if plan.state is OperatorState.SESSION:
        return _sessions(cast("WindowTable", plan.operation), frame, zone)
    if plan.state is not OperatorState.ROWS:
        return frame
    expr = functions_of(frame).expr
    end = frame.columns[-2]
    return frame.groupBy(quote(end)).agg(expr("collect_list(struct(*))").alias(ROWS))


def _sessions(window: WindowTable, frame: DataFrame, zone: str) -> DataFrame:
    expr = functions_of(frame).expr
    names = ", ".join(map(quote, frame.columns))
    time, keys = window.time, [quote(key.name) for key in window.partition_by]
    frame = with_session_time(frame, time.name, time.type, zone)
    gap = lengths_of(window.function, window.sizes)[0]
    session = expr(f"session_window({quote(TIME)}, '{gap} milliseconds')").alias(SESSION)
    # Spark has no sessions without a key, and removes a constant key
    key = expr(f"isnull({quote(TIME)})").alias(ONE)
    rows = expr(f"collect_list(struct({names}))").alias(ROWS)
    return frame.groupBy(session, *(keys or [key])).agg(rows).select(quote(ROWS))


def rows_of_batch(plan: StreamPlan, rows: DataFrame) -> DataFrame:
    """Return the rows of a plan's operation in a micro-batch of `grouped_rows`."""
    has_rows = plan.state in (OperatorState.ROWS, OperatorState.SESSION)
    return rows.selectExpr(f"inline({quote(ROWS)})") if has_rows else rows


def scan_of(operation: Relation) -> Scan:
    """Return a scan with an operation's columns."""
    columns = result_columns(operation)
    schema = ResolvedSchema.physical(
        [column.name for column in columns], [column.type for column in columns]
    )
    return Scan(SourceTable(ObjectIdentifier.of("", "", ROWS), schema), columns)
