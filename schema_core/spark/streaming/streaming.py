"""Streaming jobs: queries of unbounded tables as streaming queries of Spark, in micro-batches.

The table's connector writes each micro-batch as a batch job; see
``docs/decisions/0027-streaming-jobs.md``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from schema_core.environment.connector import (
    Boundedness,
    Context,
    DeliveryGuarantee,
    boundedness_of,
    delivery_guarantee_of,
    find_connector,
    using,
)
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.options import (
    CHECKPOINT_INTERVAL,
    CHECKPOINTS,
    IDLE_TIMEOUT,
    MINI_BATCH,
    MINI_BATCH_LATENCY,
    STATE_RETENTION,
)
from schema_core.environment.planner import BoundTable, Registration, Rows, fingerprint
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.environment.table_api.inline import InlineTable
from schema_core.environment.unbounded import is_unbounded, scans_in
from schema_core.errors import (
    ConflictError,
    Gathering,
    NotFoundError,
    UnsupportedError,
)
from schema_core.query.relation import Columns, Named, Relation, Scan, With, result_columns
from schema_core.query.upsert_keys import upsert_keys
from schema_core.spark.changelog import (
    Changelog,
    has_changes,
    in_order_of_changes,
    normalization_key,
    require_changes,
    without_old_rows,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.connector import (
    MicroBatch,
    Read,
    SparkConnector,
    SupportsMicroBatches,
    SupportsStreamingRead,
    WriteContext,
    for_spark,
    is_streaming,
    open_spark_connector,
    snapshot,
    zone_of,
)
from schema_core.spark.jobs import local_properties, spark_errors
from schema_core.spark.reading.results import python_rows, string_rows
from schema_core.spark.reading.row_kinds import KIND, as_changes
from schema_core.spark.session.session import active_session
from schema_core.spark.streaming.batch_writes import (
    require_replay,
    require_updates,
    takes_updates,
    validate_stream,
    write_batch,
)
from schema_core.spark.streaming.changelog_stages import staged_query
from schema_core.spark.streaming.checkpoints import (
    Checkpoint,
    JobDescription,
    checkpoint_of,
    missing_checkpoint,
)
from schema_core.spark.streaming.conflict_stage import ConflictStage
from schema_core.spark.streaming.group_windows import with_window_functions
from schema_core.spark.streaming.incremental import (
    PERMANENT,
    StreamPlan,
    stream_plan,
    updated_parts,
)
from schema_core.spark.streaming.micro_batches import (
    MicroBatches,
    require_streaming,
    rows_as_they_arrive,
)
from schema_core.spark.streaming.stage_plans import INSERTIONS, SourceChanges, StagedQuery
from schema_core.spark.streaming.stage_state import temporary_directory
from schema_core.spark.streaming.staged_frames import staged_frame
from schema_core.spark.streaming.state_retention import FOREVER, has_retention
from schema_core.spark.streaming.stream_metrics import (
    StreamMetrics,
)
from schema_core.spark.streaming.stream_stages import (
    StreamedQuery,
    mode_of,
)
from schema_core.spark.streaming.streaming_job import StreamingJob
from schema_core.spark.streaming.watermarks import with_join_time
from schema_core.spark.writing.sinks import Sink, require_upsert_key
from schema_core.types import RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.planner import PlannerContext
    from schema_core.environment.plans.plan_tree import ChangesOf
    from schema_core.spark.explain import ExplainRecorder
    from schema_core.spark.reading.reader import Reader
    from schema_core.spark.session.session import JobSession
    from schema_core.spark.writing.sinks import Writer


class StreamPlanner:
    """Plans queries of unbounded tables, returns their rows, and prepares jobs that write them."""

    def __init__(
        self, context: PlannerContext, session: JobSession, reader: Reader, writer: Writer
    ) -> None:
        self._context = context
        self._session = session
        self._reader = reader
        self._writer = writer

    def plan(
        self, query: Relation, on_conflict: str | None = None
    ) -> StreamPlan | StagedQuery | None:
        """Return the plan of a query of streaming mode that reads unbounded tables, else None.

        Spark's own operators compute a query with at most one operation with state, stages all
        others, and those whose rows expire, or are compared with others of the primary key of their
        table (`on_conflict`). An operation that cannot be computed as rows arrive is
        refused (`streaming-not-supported`).
        """
        if not any(map(self._is_unbounded, scans_in(query))):
            return None
        query = with_window_functions(query)
        if on_conflict is not None:
            return self._plan_stages(query, on_conflict)
        plan = None if self._reads_changes(query) else stream_plan(query, self._is_unbounded)
        options = self._context.options
        if plan is None or (plan.state in PERMANENT and has_retention(query, options)):
            return self._plan_stages(query)
        # Spark's watermark is that of all sources, whether they have rows or not
        if plan.has_watermark and IDLE_TIMEOUT.of(options) and self._count_sources(query) > 1:
            return self._plan_stages(query)
        return plan

    def _is_unbounded(self, scan: Scan) -> bool:
        return is_unbounded(self._context.source(scan))

    def _count_sources(self, query: Relation) -> int:
        return sum(map(self._is_unbounded, scans_in(query)))

    def _plan_stages(self, query: Relation, on_conflict: str | None = None) -> StagedQuery | None:
        options = self._context.options
        return staged_query(
            query,
            self._is_unbounded,
            self._changes_of,
            STATE_RETENTION.of(options) or FOREVER,
            has_operators=not IDLE_TIMEOUT.of(options),
            on_conflict=on_conflict,
        )

    def _reads_changes(self, query: Relation) -> bool:
        """Return whether rows of an unbounded table are updated."""
        scans = filter(self._is_unbounded, scans_in(query))
        return any(not self._changes_of(scan).inserts for scan in scans)

    def _changes_of(self, scan: Scan) -> SourceChanges:
        bound = self._context.source(scan)
        if isinstance(bound.table, InlineTable):
            return INSERTIONS
        connector = for_spark(find_connector(bound.table.options))
        if not has_changes(connector, bound.table.options):
            return INSERTIONS
        configuration = snapshot(self._context.options)
        context = Context(bound.identifier, bound.table, configuration, bound.is_temporary)
        return SourceChanges(inserts=False, key=normalization_key(connector, context))

    def changelog_modes(self, query: Relation) -> ChangesOf:
        """Return the changes of each part of a query (`streaming-not-supported`, as `plan`).

        Updates have both of their rows.
        """
        if not is_streaming(self._context.options):
            return lambda _: ChangelogMode.insert_only()
        query = with_window_functions(query)
        if self._reads_changes(query):
            return self._modes_of_stages(query)
        updates = updated_parts(query, self._is_unbounded)
        if updates is None:
            return self._modes_of_stages(query)
        modes = {
            False: ChangelogMode.insert_only(),
            True: ChangelogMode(frozenset(RowKind) - {RowKind.DELETE}),
        }
        return lambda part: modes[updates[id(part)]] if id(part) in updates else None

    def _modes_of_stages(self, query: Relation) -> ChangesOf:
        staged = self._plan_stages(query)
        if staged is None:
            return lambda _: ChangelogMode.insert_only()
        modes = {True: ChangelogMode.insert_only(), False: ChangelogMode.all()}

        def mode_of_part(part: Relation) -> ChangelogMode | None:
            while isinstance(part, Named | With):
                part = part.input
            return modes[staged.parts[id(part)]] if id(part) in staged.parts else None

        return mode_of_part

    def rows(self, plan: StreamPlan | StagedQuery, query: Relation, columns: Columns) -> Rows:
        if isinstance(plan, StagedQuery):
            return self._staged_rows(plan, query, columns)
        reads: list[Read] = []
        streamed = self.frame(plan, query, columns, reads)
        require_streaming(streamed.frame, streamed.mode)
        zone = zone_of(self._context.options)
        arriving = partial(rows_as_they_arrive, streamed, interval=self._interval(reads))

        def changes(
            rows_of: Callable[[DataFrame], Iterator[tuple[Any, ...]]],
        ) -> Iterator[tuple[Any, ...]]:
            if not plan.is_updated:
                return arriving(rows_of)
            changelog = Changelog(plan.key)
            return arriving(lambda rows: changelog.changes(rows_of(rows)))

        return Rows(
            tuple((column.name, column.type) for column in columns),
            changes(lambda rows: python_rows(rows, columns)),
            lambda: changes(lambda rows: string_rows(rows, columns, zone)),
        )

    def _staged_rows(self, plan: StagedQuery, query: Relation, columns: Columns) -> Rows:
        """Return the rows of a query in stages, which have kinds if some are updated."""
        reads: list[Read] = []
        every = columns if plan.inserts else (*columns, KIND)
        zone = zone_of(self._context.options)
        place = temporary_directory(self._session.open_session())
        streamed = staged_frame(plan, columns, reads, place, self._reader, self._context)
        if not plan.inserts:
            key = next(iter(sorted(map(sorted, upsert_keys(query)))), None)
            names = None if key is None else [columns[place].name for place in key]
            streamed = _with_updates(plan, streamed, names)
        interval = self._interval(reads)

        def changes(
            rows_of: Callable[[DataFrame], Iterator[tuple[Any, ...]]],
        ) -> Iterator[tuple[Any, ...]]:
            arriving = rows_as_they_arrive(streamed, rows_of, interval=interval)
            return arriving if plan.inserts else as_changes(arriving)

        return Rows(
            tuple((column.name, column.type) for column in columns),
            changes(lambda rows: python_rows(rows, every)),
            lambda: changes(lambda rows: string_rows(rows, every, zone)),
        )

    def explained(
        self,
        plan: StreamPlan | StagedQuery,
        query: Relation,
        columns: Columns,
        recorder: ExplainRecorder,
    ) -> DataFrame:
        """Return a query as a frame to explain; that of stages is computed from all rows."""
        recorder.state = plan.describe_state()
        if isinstance(plan, StreamPlan):
            return self.frame(plan, query, columns, [], recorder).frame
        return self._reader.frame(query, columns, reads=[], recorder=recorder)

    def frame(
        self,
        plan: StreamPlan,
        query: Relation,
        targets: Columns,
        reads: list[Read],
        recorder: ExplainRecorder | None = None,
    ) -> StreamedQuery:
        """Return a query as a streaming frame; add its sources to `reads`."""
        session, mode = self._reader.session_for(query), mode_of(plan)
        read = partial(
            self._reader.frame, reads=reads, recorder=recorder, plan=plan, session=session
        )
        sides: dict[int, DataFrame] = {}
        for side in plan.sides:
            columns = result_columns(side.input)
            type_ = columns[side.time].type
            sides[id(side.place)] = with_join_time(read(side.input, columns), side.time, type_)
        return StreamedQuery(read(plan.query, targets, frames=sides), mode)

    def write(
        self,
        plan: StreamPlan | StagedQuery,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
        *,
        partition: Mapping[str, str] | None = None,
        registration: Registration | None = None,
    ) -> JobGraph:
        """Prepare a job that writes a query's rows in micro-batches.

        With a registration it creates the table first.
        """
        creates = registration is not None
        connector = self._writer.open_sink(target)
        description = self._description(query, target, columns, has_state=plan.has_state)
        self._reader.validate(query)
        checkpoint = self._checkpoint(connector, target, description, creates=creates)
        session = self._session.open_session()
        reads: list[Read] = []
        sink = Sink(target.table.resolved_schema, columns, self._context.options)
        targets = sink.targets(query)
        names = [column.name for column in targets]
        context = self._writer.context(connector, target, partition=partition, columns=columns)
        fill = partial(sink.frame, connector=connector, zone=zone_of(self._context.options))
        if isinstance(plan, StagedQuery):
            place = self._place_of_stages(session, checkpoint)
            streamed = self._staged_sink(plan, targets, reads, place, context, fill)
        else:
            if plan.is_updated:
                require_updates(connector, target, names, plan)
            streamed = self.frame(plan, query, targets, reads).then(fill)
        if checkpoint is not None:
            require_replay(connector for connector, _ in reads)
        if isinstance(plan, StagedQuery) and not plan.inserts:
            require_changes(connector, context)
            if plan.conflicts is None:
                require_upsert_key(query, columns, context)
            context = replace(context, has_kinds=True)
            streamed = _with_updates(plan, streamed, context.upsert_key or None)
        located = partial(using, context.identifier, context.options, "write")
        require_streaming(streamed.frame, streamed.mode)
        with located(), spark_errors():
            validate_stream(connector, replace(context, creates=creates), checkpoint)
        path = target.identifier.as_summary_string()
        metrics = StreamMetrics(path, streamed.stages, has_clock=streamed.has_clock)
        write = self._batch_writer(
            plan, connector, context, targets, checkpoint, metrics, creates=creates
        )
        batches = MicroBatches(
            streamed,
            write,
            None if checkpoint is None else checkpoint.location,
            self._interval(reads),
            metrics,
        )
        execution = StreamingJob(
            session, batches, checkpoint, registration, located, local_properties(session)
        )
        name = f"{'create' if creates else 'insert into'} {path}"
        return JobGraph(name, execution, [target.identifier])

    def _staged_sink(
        self,
        plan: StagedQuery,
        targets: Columns,
        reads: list[Read],
        place: Directory,
        context: WriteContext,
        fill: Callable[[DataFrame], DataFrame],
    ) -> StreamedQuery:
        """Return the rows of a table for those of a query in stages; see `staged_frame`."""
        conflicts = None
        if plan.conflicts is not None:
            key = context.upsert_key
            conflicts = ConflictStage(context.session, place, key, plan.conflicts)
        return staged_frame(
            plan, targets, reads, place, self._reader, self._context, fill, conflicts
        )

    def _batch_writer(
        self,
        plan: StreamPlan | StagedQuery,
        connector: SparkConnector,
        context: WriteContext,
        targets: Columns,
        checkpoint: Checkpoint | None,
        metrics: StreamMetrics,
        *,
        creates: bool,
    ) -> Callable[[DataFrame, int], None]:
        """Return a function that writes a micro-batch's rows, by its number."""
        job = uuid.uuid4().hex if checkpoint is None else checkpoint.id
        # a connector that creates the table itself does so with a new job's first rows
        creates_table = creates and not isinstance(connector, SupportsMicroBatches)
        require_unchanged = self._require_unchanged(context.identifier)
        is_updated = isinstance(plan, StreamPlan) and plan.is_updated
        key = [targets[place].name for place in plan.key] if isinstance(plan, StreamPlan) else []
        changelog = Changelog(range(len(key)))

        def write(rows: DataFrame, number: int) -> None:
            require_unchanged()
            part, first = MicroBatch(job, number), creates_table and number == 0
            context_of_part = replace(context, batch=part, creates=first)
            if is_updated and takes_updates(connector, context.options):
                before = changelog.count
                with active_session(context.session):
                    connector.write_changes(rows, context_of_part, key, changelog)
                metrics.report_rows(changelog.count - before)
                return
            context_of_part = replace(context_of_part, report_rows=metrics.report_rows)
            with metrics.counting(rows) as counted:
                write_batch(connector, counted, context_of_part, has_state=plan.has_state)

        return write if checkpoint is None else checkpoint.recording(write)

    def problems(
        self, query: Relation, target: BoundTable, replaced: CatalogTable | None
    ) -> Gathering:
        """Return why CREATE or REPLACE TABLE AS of unbounded tables would be refused."""
        problems = Gathering()
        plan: StreamPlan | StagedQuery | None = None
        with problems.catching():
            plan = self.plan(query)
            if plan is not None and replaced is not None:
                raise needs_all_rows("REPLACE TABLE AS")
        with problems.catching():
            if plan is not None:
                connector = open_spark_connector(target, "write", self._context.options)
                columns = [column.name for column in result_columns(query)]
                description = self._description(query, target, columns, has_state=plan.has_state)
                self._checkpoint(connector, target, description, creates=True)
        return problems

    # --- steps ---------------------------------------------------------------------------------

    def _place_of_stages(self, session: SparkSession, checkpoint: Checkpoint | None) -> Directory:
        return temporary_directory(session) if checkpoint is None else checkpoint.stages

    def _require_unchanged(self, identifier: ObjectIdentifier) -> Callable[[], None]:
        """Return a function that raises if others have altered or dropped a table.

        For CREATE TABLE AS, later tables are compared with that of the first call
        (`concurrent-modification`).
        """
        previous = list[str]()
        with suppress(NotFoundError):
            previous.append(fingerprint(self._context.table(identifier).table))

        def check() -> None:
            shown = identifier.as_summary_string()
            try:
                current = fingerprint(self._context.table(identifier).table)
            except NotFoundError as error:
                raise ConflictError(
                    f"the table {shown} was dropped while a streaming job writes it",
                    code="concurrent-modification",
                ) from error
            if not previous:
                previous.append(current)
            if previous[0] != current:
                raise ConflictError(
                    f"the table {shown} was altered while a streaming job writes it",
                    code="concurrent-modification",
                    hint="run the statement again for the new definition",
                )

        return check

    def _interval(self, reads: Sequence[Read]) -> timedelta | None:
        """Return the unbounded tables' shortest interval; None unless all have one."""
        options = self._context.options
        if (interval := CHECKPOINT_INTERVAL.of(options)) is not None:
            return interval
        if MINI_BATCH.of(options) and (latency := MINI_BATCH_LATENCY.of(options)):
            return latency
        intervals = [
            connector.monitor_interval(context.options)
            for connector, context in reads
            if isinstance(connector, SupportsStreamingRead)
            and boundedness_of(connector, context.options) is not Boundedness.BOUNDED
        ]
        declared = [interval for interval in intervals if interval is not None]
        return min(declared, default=None) if len(declared) == len(intervals) else None

    def _description(
        self,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
        *,
        has_state: bool,
    ) -> JobDescription:
        if columns is None:
            all_columns = target.table.resolved_schema.columns
            columns = [column.name for column in all_columns if column.is_persisted()]
        return JobDescription.of(target, query, columns, has_state=has_state)

    def _checkpoint(
        self,
        connector: SparkConnector,
        target: BoundTable,
        description: JobDescription,
        *,
        creates: bool,
    ) -> Checkpoint | None:
        """Return a streaming job's checkpoint, None for a sink that needs none.

        Errors have the code `missing-option`, or are those of `checkpoint_of`.
        """
        options = self._context.options
        guarantee = delivery_guarantee_of(connector, target.table.options)
        if CHECKPOINTS.of(options) is None:
            if guarantee is not DeliveryGuarantee.NONE:
                raise missing_checkpoint(description.sink, guarantee.value)
            return None
        with spark_errors():
            return checkpoint_of(
                self._session.open_session(), options, description, creates=creates
            )


def _with_updates(
    plan: StagedQuery, streamed: StreamedQuery, key: Sequence[str] | None
) -> StreamedQuery:
    """Return changes with updates by a key, if there is one, unless sources have all kinds."""
    if plan.conflicts is not None:  # as in Flink, a row replaces the one of its key
        return streamed.then(partial(in_order_of_changes, key=key)).then(without_old_rows)
    if plan.by_change is not None:
        return streamed
    return streamed.then(partial(in_order_of_changes, key=key))


def needs_all_rows(operation: str) -> UnsupportedError:
    """Return the error for an operation that no query of unbounded tables supports."""
    return UnsupportedError(
        f"{operation} needs all rows, but the query reads an unbounded table",
        code="streaming-not-supported",
        hint="write the rows into a table with INSERT INTO or CREATE TABLE AS",
    )
