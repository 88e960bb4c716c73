"""Streaming queries with state: the steps for which Spark has frames, but no SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy import dataclass
from schema_core.query.relation import Relation, result_columns
from schema_core.spark.compiler.tree import quote
from schema_core.spark.session.session import TemporaryNames
from schema_core.spark.streaming.incremental import OperatorState, StreamPlan
from schema_core.spark.streaming.watermarks import with_event_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.environment.jobs.metrics import OperatorMetrics

#: States of one row per key, which frames compute.
UNIQUE: Final = frozenset({OperatorState.DISTINCT, OperatorState.FIRST})


@dataclass(frozen=True, slots=True)
class StreamedQuery:
    """A query of unbounded tables as a streaming frame, and Spark's mode for its rows.

    `finish` returns the query's rows for those of a micro-batch, by its number; None if they are
    the same. `stages` returns the metrics of stages for the path of the sink. `has_clock` is
    whether the rows of the last source only begin micro-batches.
    """

    frame: DataFrame
    mode: str
    finish: Callable[[DataFrame, int], DataFrame] | None = None
    stages: Callable[[str], Sequence[OperatorMetrics]] | None = None
    has_clock: bool = False

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
    return frame.dropDuplicates([frame.columns[place] for place in ranking.key])
