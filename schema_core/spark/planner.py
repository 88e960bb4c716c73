"""The planner `spark`: runs resolved queries as jobs of Spark with Flink's semantics.

`Reader`, `Writer` and `StreamPlanner` return its frames and jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from schema_core.environment.connector import find_connector
from schema_core.environment.planner import (
    BoundTable,
    CommitRecord,
    PlannerContext,
    Registration,
    RowChange,
    RowDifferences,
    Rows,
)
from schema_core.query.relation import Columns, Relation, result_columns
from schema_core.spark.connector import (
    Read,
    diagnosed_rows,
    diagnosing,
    for_spark,
    is_streaming,
    zone_of,
)
from schema_core.spark.explain import ExplainRecorder, explain_query, plan_of
from schema_core.spark.jobs import jvm_errors, spark_errors
from schema_core.spark.reading import results
from schema_core.spark.reading.comparison import ComparedColumns, compare_frames
from schema_core.spark.reading.inputs import rows_of
from schema_core.spark.reading.reader import Reader, computes_all_rows
from schema_core.spark.reading.row_kinds import KIND, as_changes
from schema_core.spark.session.session import JobSession
from schema_core.spark.streaming.changes_by_row import (
    ChangesByRow,
    changes_by_row,
    frame_of_changes,
    returns_changes,
)
from schema_core.spark.streaming.stage_plans import StagedQuery
from schema_core.spark.streaming.streaming import StreamPlanner, needs_all_rows
from schema_core.spark.writing.row_changes import RowChanger
from schema_core.spark.writing.sinks import ChangesOfQuery, Writer, sink_losses

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.jobs.graph import JobGraph
    from schema_core.environment.operations.plan_ctas import SinkLoss
    from schema_core.environment.plans.plan_tree import ChangesOf
    from schema_core.environment.table_api.inline import InlineRows
    from schema_core.errors import Diagnostic
    from schema_core.schema.resolved import ResolvedSchema
    from schema_core.spark.streaming.incremental import StreamPlan
    from schema_core.types import DataType


#: Returns the rows of a frame with columns, as values or strings.
Convert: TypeAlias = "Callable[[DataFrame, Columns], Iterator[tuple[Any, ...]]]"
#: Returns the rows of a query.
RowsAs: TypeAlias = "Callable[[Convert], Iterator[tuple[Any, ...]]]"


def _rows_as(frame: DataFrame, columns: Columns, convert: Convert) -> Iterator[tuple[Any, ...]]:
    return convert(frame, columns)


class SparkPlanner:
    """Run queries in a Spark session of its own, which is opened for the first one."""

    identifier: Final = "spark"
    requires: Final = ("pyspark",)
    refreshes: Final = True

    def __init__(self, context: PlannerContext) -> None:
        self.context = context
        self._record: CommitRecord | None = None
        self._session = JobSession(cast("SparkSession | None", context.session))
        self._reader = Reader(context, self._session)
        self._writer = Writer(context, self._session, self._reader)
        self._changer = RowChanger(context, self._reader, self._writer)
        self._streams = StreamPlanner(context, self._session, self._reader, self._writer)

    @property
    def session(self) -> SparkSession:
        """The session that jobs run in; errors as `JobSession.open_session`."""
        return self._session.open_session()

    def _stream_plan(
        self, query: Relation, on_conflict: str | None = None
    ) -> StreamPlan | StagedQuery | None:
        """Return the plan of a query of unbounded tables in streaming mode, else None."""
        is_stream = is_streaming(self.context.options)
        return self._streams.plan(query, on_conflict) if is_stream else None

    @jvm_errors()
    def select(self, query: Relation) -> Rows:
        """Return a query's rows, which runs when they are first read.

        Rows of unbounded tables arrive forever.
        """
        columns = result_columns(query)
        if (plan := self._stream_plan(query)) is not None:
            return self._streams.rows(plan, query, columns)
        reads: list[Read] = []
        zone = zone_of(self.context.options)
        named = tuple((column.name, column.type) for column in columns)
        streams = is_streaming(self.context.options)
        if streams and (changes := self._reader.change_query(query)) is not None:
            every = (*columns, KIND)
            frame = self._reader.frame(changes, every, reads=reads, nanoseconds=True)
            return Rows(
                named,
                as_changes(diagnosed_rows(results.python_rows(frame, every), reads)),
                lambda: as_changes(diagnosed_rows(results.string_rows(frame, every, zone), reads)),
            )
        rows = self._rows_or_changes(query, columns, reads)
        may_be_small = not computes_all_rows(query, reads)
        as_values = partial(results.python_rows, may_be_small=may_be_small)
        as_strings = partial(results.string_rows, zone=zone, may_be_small=may_be_small)
        return Rows(
            named,
            diagnosed_rows(rows(as_values), reads),
            lambda: diagnosed_rows(rows(as_strings), reads),
        )

    def _rows_or_changes(self, query: Relation, columns: Columns, reads: list[Read]) -> RowsAs:
        """Return the rows of a query, or their changes in streaming mode."""
        frame = partial(self._reader.frame, query, columns, reads=reads, nanoseconds=True)
        plan = None
        if returns_changes(self.context.options) and not self._reader.reads_changes(query):
            plan = changes_by_row(query)
        if plan is None:
            return partial(_rows_as, frame(), columns)
        if plan.encodes_changes:
            return self._changes_as(plan, columns, lambda convert: convert(frame(), columns), reads)
        return self._changes_as(plan, columns, partial(_rows_as, frame(), columns), reads)

    def _changes_for_sink(self, query: Relation) -> ChangesOfQuery | None:
        """Return the changes of a query of bounded tables in streaming mode, if there are any."""
        if not returns_changes(self.context.options) or self._reader.reads_changes(query):
            return None
        if (plan := changes_by_row(query)) is None:
            return None
        frame_of = partial(self._reader.frame, session=self._session.open_session(), reads=[])
        leaves = {id(leaf): frame_of(leaf, result_columns(leaf)) for leaf in plan.leaves}

        def parts(query: Relation, columns: Columns, frames: Mapping[int, DataFrame]) -> DataFrame:
            return frame_of(query, columns, frames=frames)

        return ChangesOfQuery(plan.query, partial(frame_of_changes, plan, leaves, parts))

    def _changes_as(
        self, plan: ChangesByRow, columns: Columns, rows: RowsAs, reads: list[Read]
    ) -> RowsAs:
        """Return changes, or the rows that they leave if there are too many."""
        session, every = self._session.open_session(), (*columns, KIND)
        frame_of = partial(self._reader.frame, session=session)
        leaves = {
            id(leaf): frame_of(leaf, result_columns(leaf), reads=reads) for leaf in plan.leaves
        }

        def changes(convert: Convert) -> Iterator[tuple[Any, ...]]:
            with spark_errors(session):
                frame = frame_of_changes(
                    plan, leaves, lambda *args: frame_of(*args[:2], reads=[], frames=args[2]), every
                )
            yield from rows(convert) if frame is None else as_changes(convert(frame, every))

        return changes

    @jvm_errors()
    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        on_conflict: str | None = None,
    ) -> JobGraph:
        """Prepare the write of a query; all rows become visible at the end.

        In a streaming job they become visible with their micro-batch.
        """
        if (plan := self._stream_plan(query, on_conflict)) is not None:
            if overwrite or self._record is not None:
                raise needs_all_rows("INSERT OVERWRITE" if overwrite else "a job with a record")
            return self._streams.write(plan, query, target, columns, partition=partition)
        streams = is_streaming(self.context.options)
        changes = self._reader.change_query(query) if streams else None
        # the connector replaces the rows of a bounded query, which are written once
        action = None if on_conflict == "DEDUPLICATE" else on_conflict
        return self._writer.insert(
            changes or query,
            target,
            columns,
            overwrite=overwrite,
            partition=partition,
            record=self._record,
            has_kinds=changes is not None,
            on_conflict=action,
            changes=self._changes_for_sink(query) if changes is None and action is None else None,
        )

    @jvm_errors()
    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        """Prepare CREATE or REPLACE TABLE AS: see `schema_core.environment.jobs.atomicity`."""
        if (plan := self._stream_plan(query)) is not None:
            if registration.replaced is not None or self._record is not None:
                raise needs_all_rows("REPLACE TABLE AS")
            return self._streams.write(plan, query, target, columns, registration=registration)
        return self._writer.create_as(query, target, registration, columns, self._record)

    @jvm_errors()
    def change_rows(self, change: RowChange, target: BoundTable) -> JobGraph:
        """Prepare a DELETE or UPDATE: see `schema_core.spark.writing.row_changes`."""
        if self._record is not None:
            raise needs_all_rows("a job with a record")
        return self._changer.change(change, target)

    @jvm_errors()
    def truncate(self, target: BoundTable) -> None:
        """Delete all rows of a table, in one commit."""
        self._changer.truncate(target)

    def with_record(self, record: CommitRecord) -> SparkPlanner:
        """Return this planner for a job with a record."""
        planner = copy(self)
        planner._record = record  # noqa: SLF001 - of this class
        return planner

    @jvm_errors()
    def has_record(self, target: BoundTable, record: CommitRecord) -> bool:
        """Return whether a table has the record of a job, or a later one of its sequence."""
        return self._writer.has_record(target, record)

    @jvm_errors()
    def ensure_storage(self, table: BoundTable) -> None:
        """Create the directory of a table of files that does not exist."""
        self._writer.ensure_storage(table)

    @jvm_errors()
    def was_committed(self, target: BoundTable, job: str) -> bool | None:
        """Return whether the rows of a CREATE TABLE AS are visible; None if unknown."""
        return self._writer.was_committed(target, job)

    @jvm_errors()
    def clean_up(self, target: BoundTable, job: str) -> None:
        """Remove what the job, an unfinished CREATE TABLE AS, has written."""
        self._writer.recover(target, job, creates=True)

    @jvm_errors()
    def recover(self, target: BoundTable, job: str = "") -> None:
        """Finish what jobs on a table have committed, and remove what they have not."""
        self._writer.recover(target, job, creates=False)

    @jvm_errors()
    def compare(
        self, left: Relation, right: Relation, *, key: int, compared: int, samples: int
    ) -> RowDifferences:
        """Compare the rows of two queries."""
        reads: list[Read] = []
        columns = result_columns(right)
        if any(self._stream_plan(query) is not None for query in (left, right)):
            raise needs_all_rows("the comparison of rows")
        with diagnosing(reads):
            return compare_frames(
                self._reader.frame(left, columns, reads=reads),
                self._reader.frame(right, columns, reads=reads),
                ComparedColumns(columns, key, compared),
                samples,
                zone_of(self.context.options),
            )

    def sink_problems(
        self, query: Relation, target: BoundTable, replaced: CatalogTable | None
    ) -> tuple[Diagnostic, ...]:
        """Return why CREATE or REPLACE TABLE AS would be refused, without running anything."""
        problems = [self._writer.problems(query, target, replaced)]
        if is_streaming(self.context.options):
            problems.insert(0, self._streams.problems(query, target, replaced))
        return tuple(error.diagnostics[0] for gathering in problems for error in gathering.errors)

    def sink_losses(self, query: Relation, target: BoundTable) -> tuple[SinkLoss, ...]:
        """Return what the table would lose of a query's rows."""
        connector = for_spark(find_connector(target.table.options))
        return sink_losses(query, target, connector, self.context.options)

    @jvm_errors()
    def explain(self, query: Relation, *, on_conflict: str | None = None) -> str:
        """Return how a query is run, in sections: see `schema_core.spark.explain`."""
        columns, recorder = result_columns(query), ExplainRecorder()
        if (plan := self._stream_plan(query, on_conflict)) is not None:
            frame = self._streams.explained(plan, query, columns, recorder)
        else:
            frame = self._reader.frame(query, columns, reads=[], recorder=recorder)
        with spark_errors():
            of_spark = plan_of(frame, recorder.text)
        return explain_query(query, columns, recorder, of_spark)

    def changelog_modes(self, query: Relation) -> ChangesOf:
        """Return the changes of each part of a query: updates have both of their rows.

        Errors: `streaming-not-supported`, as `explain`.
        """
        return self._streams.changelog_modes(query)

    # --- DataFrames ----------------------------------------------------------------------------

    @jvm_errors()
    def rows_of(
        self,
        library: str | None,
        data: object,
        schema: object = None,
        declared: Mapping[str, DataType] | None = None,
    ) -> InlineRows:
        """Return the rows of a Spark, pandas or polars DataFrame, or of Arrow."""
        return rows_of(library, data, schema, declared, zone_of(self.context.options))

    @jvm_errors()
    def to_spark(self, query: Relation, schema: ResolvedSchema) -> DataFrame:
        """Return a query as a new DataFrame of the user's session."""
        self._reader.session_for(query)  # its sources are validated first
        if (plan := self._stream_plan(query)) is not None:
            if isinstance(plan, StagedQuery):
                raise needs_all_rows("the conversion to a DataFrame")
            streamed = self._streams.frame(plan, query, results.columns_of(schema), [])
            if streamed.finish is not None:
                raise needs_all_rows("the conversion to a DataFrame")
            frame = streamed.frame
        else:
            frame = self._reader.converted_frame(query, schema, None, [])
        return results.to_user_frame(frame, schema, self._session.root())

    @jvm_errors()
    def to_arrow(self, query: Relation, schema: ResolvedSchema) -> pa.RecordBatchReader:
        """Return a query's rows as record batches, computed as they are read."""
        frame, reads = self._exchanged_frame(query, schema)
        return results.arrow_reader(frame, schema, reads)

    @jvm_errors()
    def to_pandas(self, query: Relation, schema: ResolvedSchema) -> pd.DataFrame:
        """Run a query and return its rows."""
        frame, reads = self._exchanged_frame(query, schema)
        with diagnosing(reads):
            return results.pandas_frame(frame, schema, zone_of(self.context.options))

    def _exchanged_frame(
        self, query: Relation, schema: ResolvedSchema
    ) -> tuple[DataFrame, list[Read]]:
        """Return a query as a frame to fetch as Arrow, and its sources."""
        reads: list[Read] = []
        self._reader.session_for(query)  # its sources are validated first
        if self._stream_plan(query) is not None:
            raise needs_all_rows("the conversion to Arrow or pandas")
        convert = partial(results.as_exchanged, schema)
        return self._reader.converted_frame(query, schema, convert, reads), reads
