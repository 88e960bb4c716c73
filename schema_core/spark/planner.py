"""The planner `spark`: runs resolved queries as jobs of Spark with Flink's semantics."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from schema_core.environment.config import Configuration
from schema_core.environment.connector import (
    Ability,
    Boundedness,
    DeliveryGuarantee,
    boundedness_of,
    creation_abilities,
    delivery_guarantee_of,
    find_connector,
    installed_connector,
    opened,
    require_abilities,
    using,
    validated,
)
from schema_core.environment.jobs.atomicity import (
    AtomicityLevel,
    Stage,
    TableTransaction,
    Unstaged,
    choose_level,
    needed_abilities,
)
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.options import (
    CHECKPOINT_INTERVAL,
    CHECKPOINTS,
    LOCAL_TIME_ZONE,
    RUNTIME_MODE,
)
from schema_core.environment.planner import (
    BoundTable,
    PlannerContext,
    Registration,
    Rows,
    fingerprint,
)
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.environment.plans.ctas_plan import SinkLoss
from schema_core.environment.plans.plan_tree import ChangesOf
from schema_core.environment.table_api.inline import InlineRows, InlineTable
from schema_core.environment.unbounded import is_unbounded, require_bounded, scans_in
from schema_core.errors import (
    ConflictError,
    Diagnostic,
    Gathering,
    NotFoundError,
    UnsupportedError,
)
from schema_core.query.relation import Column, Columns, Relation, Scan, result_columns
from schema_core.schema.columns import plain
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.compiler.expression import from_physical
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.printer import quote
from schema_core.spark.compiler.projection import select
from schema_core.spark.compiler.query import query_text
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import Node
from schema_core.spark.connector import (
    MicroBatch,
    Read,
    ReadContext,
    SparkConnector,
    SupportsCleanUp,
    SupportsMicroBatches,
    SupportsRecovery,
    SupportsStreamingRead,
    SupportsWriteValidation,
    WriteContext,
    diagnosed_rows,
    diagnosing,
    for_spark,
    metadata_types,
    stages,
)
from schema_core.spark.explain import ExplainRecorder, explained, plan_of
from schema_core.spark.filters import Filter
from schema_core.spark.jobs import SparkJob, jvm_errors, local_properties, spark_errors
from schema_core.spark.python.udf_registration import require_udfs
from schema_core.spark.python.user_functions import UserCalls
from schema_core.spark.reading.frame_cache import FrameCache, FrameKey
from schema_core.spark.reading.inputs import InlineViews, rows_of
from schema_core.spark.reading.pushdown import ScanDemand, scan_demands
from schema_core.spark.reading.sources import (
    ScanCache,
    ScanRequest,
    Source,
    can_be_kept,
    read_context,
    source_frame,
    with_raw_conditions,
)
from schema_core.spark.session.api_mode import analysed
from schema_core.spark.session.session import JobSession, TemporaryNames, UnusedNames
from schema_core.spark.streaming.changelogs import Changelog, SupportsChangelog, require_updates
from schema_core.spark.streaming.checkpoints import (
    Checkpoint,
    JobDescription,
    checkpoint_of,
    missing_checkpoint,
)
from schema_core.spark.streaming.incremental import (
    StreamPlan,
    require_no_expiry,
    stream_plan,
    updated_parts,
)
from schema_core.spark.streaming.stream_stages import (
    StreamedQuery,
    grouped_rows,
    mode_of,
    rows_of_batch,
    scan_of,
    staging,
)
from schema_core.spark.streaming.streaming import (
    MicroBatches,
    StreamingJob,
    require_replay,
    require_streaming,
    rows_as_they_arrive,
    validate_stream,
    write_batch,
)
from schema_core.spark.streaming.watermarks import (
    columns_of_watermark,
    watermark_of,
    with_join_time,
    with_watermark,
)
from schema_core.spark.writing.outputs import (
    arrow_reader,
    as_exchanged,
    exposed,
    pandas_frame,
    python_rows,
    string_rows,
)
from schema_core.spark.writing.sinks import Sink, sink_losses
from schema_core.types import (
    MAX_LENGTH,
    DataType,
    NullType,
    RowKind,
    VarCharType,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.catalog.objects import CatalogTable

STRING = VarCharType(MAX_LENGTH)


class SparkPlanner:
    """Run queries in a Spark session of its own, which is opened for the first one."""

    identifier: Final = "spark"
    requires: Final = ("pyspark",)

    def __init__(self, context: PlannerContext) -> None:
        self.context = context
        self._scans = ScanCache()
        self._frames = FrameCache()
        self._inline = InlineViews(self._frames.forget)
        self._unused = UnusedNames()
        self._session = JobSession(cast("SparkSession | None", context.session))

    @property
    def session(self) -> SparkSession:
        """The session that jobs run in; see `JobSession.opened` for what may be raised."""
        return self._session.opened()

    def _validate_sources(self, query: Relation) -> None:
        """Validate the options of the tables that a query reads, before Spark is started."""
        if self._session.is_open:
            return
        for bound in map(self.context.source, scans_in(query)):
            if not isinstance(bound.table, InlineTable):
                with using(bound.identifier, bound.table.options, "read"):
                    validated(bound, "read")

    def _session_for(self, query: Relation) -> SparkSession:
        """Return the session for a query, whose sources are validated first."""
        self._validate_sources(query)
        return self.session

    # --- the Planner interface --------------------------------------------------------------

    @jvm_errors()
    def select(self, query: Relation) -> Rows:
        """Return the rows of a query, which runs when they are first read.

        Those of a query of unbounded tables arrive forever.
        """
        columns = result_columns(query)
        if (plan := self._streams(query)) is not None:
            return self._arriving(plan, columns)
        reads: list[Read] = []
        frame = self._frame(self._session_for(query), query, columns, reads=reads)
        return Rows(
            tuple((column.name, column.type) for column in columns),
            diagnosed_rows(python_rows(frame, columns), reads),
            lambda: diagnosed_rows(_strings(frame, columns, self._zone), reads),
        )

    @jvm_errors()
    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
    ) -> JobGraph:
        """Prepare the write of a query; its rows become visible when all are written.

        Those of a query of unbounded tables become visible with their micro-batch.
        """
        if (plan := self._streams(query)) is not None:
            if overwrite:
                raise _refused("INSERT OVERWRITE")
            return self._stream(plan, query, target, columns, partition)
        needed = {Ability.OVERWRITE} if overwrite else set()
        connector = self._sink(target, needed)
        session = self._session_for(query)
        reads: list[Read] = []
        frame = self._sink_frame(session, query, target, columns, connector, reads)
        context = self._writing(
            connector, target, session, overwrite=overwrite, partition=partition
        )
        return self._write(
            f"insert into {target.identifier.as_summary_string()}",
            connector,
            frame,
            context,
            (AtomicityLevel.CREATED_FIRST, Registration()),
            reads,
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
        old = registration.replaced
        if (plan := self._streams(query)) is not None:
            if old is not None:
                raise _refused("REPLACE TABLE AS")
            return self._stream(plan, query, target, columns, registration=registration)
        connector = self._new_table_sink(target, old)
        session = self._session_for(query)
        reads: list[Read] = []
        frame = self._sink_frame(session, query, target, columns, connector, reads)
        atomic, replaces = registration.atomic, old is not None
        options = target.table.options
        level = choose_level(connector, options, atomic=atomic, replaces=replaces).level
        context = self._writing(
            connector, target, session, overwrite=old is not None, creates=True, replaced=old,
            job="" if level is AtomicityLevel.CREATED_FIRST else registration.id,
        )  # fmt: skip
        return self._write(
            f"create {target.identifier.as_summary_string()}",
            connector,
            frame,
            context,
            (level, registration),
            reads,
        )

    # --- streaming jobs ------------------------------------------------------------------------

    def _arriving(self, plan: StreamPlan, columns: Columns) -> Rows:
        """Return the rows of a query of unbounded tables, as they arrive."""
        reads: list[Read] = []
        streamed = self._streamed(plan, columns, reads)
        require_streaming(streamed.frame, streamed.mode)
        zone, interval = self._zone, self._interval(reads)
        arriving = partial(rows_as_they_arrive, streamed, interval=interval)
        changelog = Changelog(plan.key)

        def values(rows: DataFrame) -> Iterator[tuple[Any, ...]]:
            found = python_rows(rows, columns)
            return changelog.changes(found) if plan.is_updated else found

        return Rows(
            tuple((column.name, column.type) for column in columns),
            arriving(values),
            lambda: arriving(lambda rows: _strings(rows, columns, zone)),
        )

    def _streamed(
        self,
        plan: StreamPlan,
        targets: Columns,
        reads: list[Read],
        recorder: ExplainRecorder | None = None,
    ) -> StreamedQuery:
        """Return a query of unbounded tables as a streaming frame; add its sources to `reads`."""
        session, mode = self._session_for(plan.query), mode_of(plan)
        sides: dict[int, DataFrame] = {}
        for side in plan.sides:
            columns = result_columns(side.input)
            frame = self._frame(session, side.input, columns, recorder, reads, plan)
            type_ = columns[side.time].type
            sides[id(side.place)] = with_join_time(frame, side.time, type_)
        operation = plan.streamed
        if not plan.rest or operation is None:
            frame = self._frame(session, plan.query, targets, recorder, reads, plan, sides)
            return StreamedQuery(frame, mode)
        frame = self._frame(session, operation, result_columns(operation), recorder, reads, plan)
        place = scan_of(operation)
        rest = plan.above(place)

        def finish(rows: DataFrame) -> DataFrame:
            given = {id(place): rows_of_batch(plan, rows)}
            return self._frame(session, rest, targets, given=given)

        return StreamedQuery(grouped_rows(plan, frame, self._zone), mode, finish)

    def _stream(
        self,
        plan: StreamPlan,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
        partition: Mapping[str, str] | None = None,
        registration: Registration | None = None,
    ) -> JobGraph:
        """Prepare a job that writes the rows of unbounded tables in micro-batches."""
        creates = registration is not None
        connector = self._sink(target, set())
        has_state = plan.state is not None
        description = self._description(query, target, columns, has_state=has_state)
        self._validate_sources(query)
        checkpoint = self._checkpoint(connector, target, description, creates=creates)
        session = self.session
        reads: list[Read] = []
        sink = Sink(target.table.resolved_schema, columns, self.context.options)
        targets = sink.targets(query)
        if plan.is_updated:
            require_updates(connector, target, [target.name for target in targets], plan)
        streamed = self._streamed(plan, targets, reads)
        if checkpoint is not None:
            require_replay(connector for connector, _ in reads)
        checked = partial(sink.frame, connector=connector, zone=self._zone)
        streamed = streamed.then(checked)
        context = self._writing(connector, target, session, overwrite=False, partition=partition)
        located = partial(using, context.identifier, context.options, "write")
        require_streaming(streamed.frame, streamed.mode)
        with located(), spark_errors():
            validate_stream(connector, replace(context, creates=creates), checkpoint)
        job = uuid.uuid4().hex if checkpoint is None else checkpoint.id
        # a connector that creates the table itself does so with the first rows of a new job
        creates_table = creates and not isinstance(connector, SupportsMicroBatches)
        unchanged = self._unchanged(target)
        key = [targets[place].name for place in plan.key]
        changelog = Changelog(range(len(key)))

        def write(rows: DataFrame, number: int) -> None:
            unchanged()
            part, first = MicroBatch(job, number), creates_table and number == 0
            context_of_part = replace(context, batch=part, creates=first)
            if plan.is_updated and isinstance(connector, SupportsChangelog):
                connector.write_changes(rows, context_of_part, key, changelog)
            else:
                write_batch(connector, rows, context_of_part, has_state=has_state)

        batches = MicroBatches(
            streamed,
            write if checkpoint is None else checkpoint.recording(write),
            None if checkpoint is None else checkpoint.location,
            self._interval(reads),
        )
        execution = StreamingJob(
            session, batches, checkpoint, registration, located, local_properties(session)
        )
        verb = "create" if creates else "insert into"
        name = f"{verb} {target.identifier.as_summary_string()}"
        return JobGraph(name, execution, [target.identifier])

    def _unchanged(self, target: BoundTable) -> Callable[[], None]:
        """Return a function that raises if others have altered or dropped a table since.

        The table of a CREATE TABLE AS is compared with that of the first call.

        Raises:
            ConflictError: with code `table-changed`.
        """
        identifier, known = target.identifier, list[str]()
        with suppress(NotFoundError):
            known.append(fingerprint(self.context.table(identifier).table))

        def check() -> None:
            shown = identifier.as_summary_string()
            try:
                found = fingerprint(self.context.table(identifier).table)
            except NotFoundError as error:
                raise ConflictError(
                    f"the table {shown} was dropped while a streaming job writes it",
                    code="table-changed",
                ) from error
            if not known:
                known.append(found)
            if known[0] != found:
                raise ConflictError(
                    f"the table {shown} was altered while a streaming job writes it",
                    code="table-changed",
                    hint="run the statement again for the new definition",
                )

        return check

    def _interval(self, reads: Sequence[Read]) -> dt.timedelta | None:
        """Return how often a micro-batch starts; None for as soon as there are rows.

        It is the shortest interval of all unbounded tables, if every one has an interval.
        """
        if (given := CHECKPOINT_INTERVAL.of(self.context.options)) is not None:
            return given
        found = [
            connector.monitor_interval(context.options)
            for connector, context in reads
            if isinstance(connector, SupportsStreamingRead)
            and boundedness_of(connector, context.options) is not Boundedness.BOUNDED
        ]
        known = [one for one in found if one is not None]
        return min(known, default=None) if len(known) == len(found) else None

    def _description(
        self,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
        *,
        has_state: bool,
    ) -> JobDescription:
        """Return the description of a streaming job."""
        if columns is None:
            known = target.table.resolved_schema.columns
            columns = [one.name for one in known if one.is_persisted()]
        return JobDescription.of(target, query, columns, has_state=has_state)

    def _checkpoint(
        self,
        connector: SparkConnector,
        target: BoundTable,
        description: JobDescription,
        *,
        creates: bool,
    ) -> Checkpoint | None:
        """Return the checkpoint of a streaming job, None for a sink that needs none.

        Raises:
            SchemaError: with code `missing-checkpoint`.
            ConflictError, AlreadyExistsError, ExternalError: as `checkpoint_of`.
        """
        options = self.context.options
        guarantee = delivery_guarantee_of(connector, target.table.options)
        if CHECKPOINTS.of(options) is None:
            if guarantee is not DeliveryGuarantee.NONE:
                raise missing_checkpoint(description.sink, guarantee.value)
            return None
        with spark_errors():
            return checkpoint_of(self.session, options, description, creates=creates)

    # --- recovery ------------------------------------------------------------------------------

    def _recovering(
        self, target: BoundTable, *, creates: bool = True, job: str = ""
    ) -> tuple[SparkConnector, WriteContext] | None:
        """Return the connector of a table to recover; None if it has nothing to do with that."""
        installed = installed_connector(target.table.options)
        if not isinstance(installed, SupportsRecovery | SupportsCleanUp):
            return None
        connector = self._sink(target, set())
        context = self._writing(
            connector, target, self.session, overwrite=False, creates=creates, job=job
        )
        return connector, context

    @jvm_errors()
    def was_committed(self, target: BoundTable, job: str) -> bool | None:
        """Return whether the rows of a CREATE TABLE AS are visible; None if it is not known."""
        if (found := self._recovering(target)) is None:
            return None
        connector, context = found
        if not isinstance(connector, SupportsRecovery):
            return None
        with using(context.identifier, context.options, "recover"), spark_errors():
            return connector.was_committed(context, job)

    @jvm_errors()
    def clean_up(self, target: BoundTable, job: str) -> None:
        """Remove the rows that an unfinished CREATE TABLE AS, the job, has written."""
        self._recover(target, job, creates=True)

    @jvm_errors()
    def recover(self, target: BoundTable, job: str = "") -> None:
        """Finish what jobs on a table have committed, and remove what they have not."""
        self._recover(target, job, creates=False)

    def _recover(self, target: BoundTable, job: str, *, creates: bool) -> None:
        if (found := self._recovering(target, creates=creates, job=job)) is None:
            return
        connector, context = found
        with using(context.identifier, context.options, "recover"), spark_errors():
            if isinstance(connector, SupportsRecovery):
                connector.recover(context)
            if creates and isinstance(connector, SupportsCleanUp):
                connector.clean_up(context)

    def sink_problems(
        self, query: Relation, target: BoundTable, replaced: CatalogTable | None
    ) -> tuple[Diagnostic, ...]:
        """Return why CREATE or REPLACE TABLE AS would be refused, without running anything."""
        found = Gathering()
        plan: StreamPlan | None = None
        with found.catching():
            plan = self._streams(query)
            if plan is not None and replaced is not None:
                raise _refused("REPLACE TABLE AS")
        with found.catching():
            if plan is not None:
                connector = self._connector(target, "write")
                columns = [column.name for column in result_columns(query)]
                has_state = plan.state is not None
                description = self._description(query, target, columns, has_state=has_state)
                self._checkpoint(connector, target, description, creates=True)
        with found.catching():
            Sink(target.table.resolved_schema, None, self.context.options).targets(query)
        with found.catching():
            connector = self._new_table_sink(target, replaced)
            if isinstance(connector, SupportsWriteValidation):
                context = self._writing(
                    connector, target, self.session, overwrite=replaced is not None, creates=True,
                    replaced=replaced,
                )  # fmt: skip
                with using(context.identifier, context.options, "write"), spark_errors():
                    connector.validate_write(context)
        return tuple(error.diagnostics[0] for error in found.errors)

    def sink_losses(self, query: Relation, target: BoundTable) -> tuple[SinkLoss, ...]:
        """Return what the table would not keep of the rows of a query."""
        connector = for_spark(find_connector(target.table.options))
        return sink_losses(query, target, connector, self.context.options)

    @jvm_errors()
    def explain(self, query: Relation) -> str:
        """Return how a query is run, in sections: see `schema_core.spark.explain`."""
        columns, recorder = result_columns(query), ExplainRecorder()
        if (streamed := self._streams(query)) is not None:
            frame = self._streamed(streamed, columns, [], recorder).frame
        else:
            frame = self._frame(self._session_for(query), query, columns, recorder)
        with spark_errors():
            plan = plan_of(frame, recorder.text)
        return explained(query, columns, recorder, plan)

    def changelog_modes(self, query: Relation) -> ChangesOf:
        """Return the changes of the rows of each part of a query: updates have both of their rows.

        Raises:
            UnsupportedError: with code `streaming-not-supported`, as `explain`.
        """
        if not self._is_streaming:
            return lambda _: ChangelogMode.insert_only()
        updates = updated_parts(query, self._is_unbounded)
        modes = {
            False: ChangelogMode.insert_only(),
            True: ChangelogMode(frozenset(RowKind) - {RowKind.DELETE}),
        }
        return lambda part: modes[updates[id(part)]] if id(part) in updates else None

    # --- DataFrames ----------------------------------------------------------------------------

    @jvm_errors()
    def rows_of(self, library: str | None, data: object, schema: object = None) -> InlineRows:
        """Return the rows of a DataFrame of Spark, pandas or polars, or of Arrow."""
        return rows_of(library, data, schema, self._zone)

    @jvm_errors()
    def to_spark(self, query: Relation, schema: ResolvedSchema) -> DataFrame:
        """Return a query as a DataFrame of the user's session, a new one each time."""
        frame = self._result(query, schema)
        return exposed(frame, schema, self._session.root())

    @jvm_errors()
    def to_arrow(self, query: Relation, schema: ResolvedSchema) -> pa.RecordBatchReader:
        """Return the rows of a query as record batches, which are computed as they are read."""
        reads: list[Read] = []
        frame = self._result(query, schema, partial(as_exchanged, schema), reads)
        return arrow_reader(frame, schema, reads)

    @jvm_errors()
    def to_pandas(self, query: Relation, schema: ResolvedSchema) -> pd.DataFrame:
        """Run a query and return its rows."""
        reads: list[Read] = []
        frame = self._result(query, schema, partial(as_exchanged, schema), reads)
        with diagnosing(reads):
            return pandas_frame(frame, schema, self._zone)

    def _result(
        self,
        query: Relation,
        schema: ResolvedSchema,
        converted: Callable[[DataFrame], DataFrame] | None = None,
        reads: list[Read] | None = None,
    ) -> DataFrame:
        """Return a query as a frame, which is run if it is converted; add its sources to `reads`.

        The frame may be one of an earlier call.
        """
        session = self._session_for(query)
        columns = tuple(Column(column.name, plain(column.data_type)) for column in schema.columns)
        if (plan := self._streams(query)) is not None:
            if converted is not None:
                raise _refused("the conversion to Arrow or pandas")
            streamed = self._streamed(plan, columns, [])
            if streamed.finish is not None:
                raise _refused("the conversion to a DataFrame")
            return streamed.frame
        with TemporaryNames(session, self._unused) as names:
            text = self._text(names, query, columns, [] if reads is None else reads)
            key = FrameKey(text, schema, converted is not None)
            frame = self._frames.find(session, key) if names.is_repeatable else None
            if frame is None:
                frame = self._analysed(names, text)
                frame = frame if converted is None else converted(frame)
                if names.is_repeatable:
                    self._frames.add(session, key, frame)
        return frame

    # --- inputs --------------------------------------------------------------------------------

    @property
    def _options(self) -> dict[str, str]:
        """A copy of the configuration as it is now, since jobs run while it may change."""
        options = self.context.options
        return options.to_dict() if isinstance(options, Configuration) else dict(options)

    @property
    def _zone(self) -> str:
        return LOCAL_TIME_ZONE.of(self.context.options) or "UTC"

    @property
    def _is_streaming(self) -> bool:
        return RUNTIME_MODE.of(self.context.options) == "STREAMING"

    def _is_unbounded(self, scan: Scan) -> bool:
        return is_unbounded(self.context.source(scan))

    def _streams(self, query: Relation) -> StreamPlan | None:
        """Return the plan of a query that reads unbounded tables in streaming mode, else None.

        Raises:
            UnsupportedError: with code `streaming-not-supported` for an operation on such a table
                that cannot be computed as rows arrive, or whose state cannot expire as declared.
        """
        if not self._is_streaming:
            return None
        plan = stream_plan(query, self._is_unbounded)
        if plan is not None:
            require_no_expiry(plan, query, self.context.options)
        return plan

    def _connector(self, bound: BoundTable, purpose: str) -> SparkConnector:
        """Return the connector of a table after validating its options."""
        options = bound.table.options
        with using(bound.identifier, options, purpose):
            connector = opened(bound, purpose, self.context.options)
            return for_spark(connector)

    def _sink(self, target: BoundTable, needed: set[Ability]) -> SparkConnector:
        """Return the connector of a table to write, with the abilities that the write needs."""
        connector = self._connector(target, "write")
        if target.table.partition_keys:
            needed = {*needed, Ability.PARTITIONS}
        if target.table.distribution is not None:
            needed = {*needed, Ability.BUCKETS}
        with using(target.identifier, target.table.options, "write"):
            require_abilities(connector, needed)
        return connector

    def _new_table_sink(self, target: BoundTable, replaced: CatalogTable | None) -> SparkConnector:
        """Return the connector of CREATE or REPLACE TABLE AS, with the abilities that it needs."""
        connector = self._sink(target, set())
        with using(target.identifier, target.table.options, "write"):
            more = creation_abilities(connector, target.table.options)
            require_abilities(connector, needed_abilities(connector, replaced), more)
        return connector

    def _input(
        self,
        names: TemporaryNames,
        scan: Scan,
        demand: ScanDemand | None,
        reads: list[Read],
        recorder: ExplainRecorder | None = None,
        *,
        clock: str | None = None,
    ) -> str:
        """Return all columns of a table, checked, for one query, as SQL.

        Columns that the query does not need may be NULL. With a `clock`, an unbounded table has a
        watermark by the clock of that time zone.
        """
        bound, session = self.context.source(scan), names.session
        if isinstance(bound.table, InlineTable):
            return self._inline.name(bound.table.rows, names)
        streams = self._is_streaming and is_unbounded(bound)
        database = self.context.database()
        request = ScanRequest.of(bound, demand, self._options, self._zone, database)
        kept = None if streams else self._scans.find(session, request)
        source: Source | None = None
        if kept is None:
            connector, context, source = self._read(
                session, request, demand, streams=streams, clock=clock
            )
            if not streams:
                kept = self._scans.add(request, connector, context, source)
        else:
            connector, context = kept.connector, kept.context
        if kept is not None:
            names.at_end(partial(self._scans.release, kept))
        reads.append((connector, context))
        if recorder is not None and demand is not None:
            recorder.scan(connector, context, demand, source and source.frame)
        if kept is not None:
            view, raw = quote(kept.name), kept.raw
        else:
            read = cast("Source", source)
            view, raw = names.view(read.frame), read.raw
        filters = (Filter(filter_, self._zone) for filter_ in (demand.filters if demand else ()))
        return with_raw_conditions(view, bound.table.resolved_schema, raw, filters)

    def _read(
        self,
        session: SparkSession,
        request: ScanRequest,
        demand: ScanDemand | None,
        *,
        streams: bool,
        clock: str | None = None,
    ) -> tuple[SparkConnector, ReadContext, Source]:
        """Return a table as its connector reads it, with its read context."""
        bound = request.bound
        schema, shown = bound.table.resolved_schema, bound.identifier.as_summary_string()
        watermark = watermark_of(schema, shown) if streams and clock is not None else None
        if demand is not None and watermark is not None:
            demand = replace(demand, columns=demand.columns | columns_of_watermark(watermark))
        connector = self._connector(bound, "read")
        context = ReadContext(
            bound.identifier,
            bound.table,
            request.configuration,
            bound.is_temporary,
            session=session,
            zone=self._zone,
            metadata=metadata_types(connector, bound.table),
        )
        with using(bound.identifier, bound.table.options, "read"), spark_errors():
            if demand is not None:
                asked = replace(demand, filters=(), limit=None) if streams else demand
                context = read_context(connector, context, asked)
                require_udfs(session, *(filter_.spark_sql for filter_ in context.filters))
            if can_be_kept(connector):
                needed: Collection[str] | None = request.columns
            else:
                needed = demand.columns if demand else None
            source = source_frame(connector, context, needed, request.database, streams=streams)
            if watermark is not None and clock is not None:
                marked = with_watermark(source.frame, schema, watermark, self._zone, clock)
                source = source._replace(frame=marked)
            if not streams:  # the connector's own error names the options that bound the table
                require_bounded(bound)
            return connector, context, source

    def _frame(
        self,
        session: SparkSession,
        query: Relation,
        targets: Columns,
        recorder: ExplainRecorder | None = None,
        reads: list[Read] | None = None,
        plan: StreamPlan | None = None,
        given: Mapping[int, DataFrame] | None = None,
    ) -> DataFrame:
        """Return a query as a frame with these columns, by position; add its sources to `reads`.

        `plan` is that of a streaming query; `given` are frames for scans, by identity.
        """
        found = [] if reads is None else reads
        with TemporaryNames(session, self._unused) as names:
            text = self._text(names, query, targets, found, recorder, plan, given)
            frame = self._analysed(names, text)
        if recorder is not None:
            recorder.text = text
        return frame

    def _text(
        self,
        names: TemporaryNames,
        query: Relation,
        targets: Columns,
        reads: list[Read],
        recorder: ExplainRecorder | None = None,
        plan: StreamPlan | None = None,
        given: Mapping[int, DataFrame] | None = None,
    ) -> str:
        """Return a query in Spark SQL; add its sources to `reads`."""
        self._inline.drop_unused(names.session)
        self._unused.drop(names.session)
        for column in targets:
            if isinstance(column.type, NullType):
                raise UnsupportedError(
                    f"column {column.name!r} has the type NULL", code="untyped-null"
                )
        demands = scan_demands(query)
        user = UserCalls(names, self._zone, self.context.options)
        clock = None if plan is None else plan.clock(self._zone)

        #: A view that is read twice is one relation in the tree: its tables are read once.
        inputs: dict[int, str] = {}

        def source(scan: Scan) -> str:
            if given and id(scan) in given:
                return names.view(given[id(scan)])
            if (known := inputs.get(id(scan))) is not None:
                return known
            demand = demands.get(id(scan))
            text = self._input(names, scan, demand, reads, recorder, clock=clock)
            if plan is None:  # the checkpoint of a stream has an offset for each reference
                inputs[id(scan)] = text
            return text

        return query_text(
            query,
            source,
            self._zone,
            targets=targets,
            user=user,
            rows=user.rows,
            database=self.context.database(),
            staged=staging(plan, names, partial(self._analysed, names)),
        )

    @staticmethod
    def _analysed(names: TemporaryNames, text: str) -> DataFrame:
        """Return the frame of a query in Spark SQL."""
        with spark_errors(names.session):
            require_udfs(names.session, text)
            frame = analysed(names.session, text)
            names.keep_for(frame)
            return frame

    # --- sinks ---------------------------------------------------------------------------------

    def _sink_frame(
        self,
        session: SparkSession,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
        connector: SparkConnector,
        reads: list[Read],
    ) -> DataFrame:
        """Return the rows for a table as its connector writes them."""
        sink = Sink(target.table.resolved_schema, columns, self.context.options)
        frame = self._frame(session, query, sink.targets(query), reads=reads)
        return sink.frame(frame, connector, self._zone)

    def _writing(
        self,
        connector: SparkConnector,
        target: BoundTable,
        session: SparkSession,
        *,
        overwrite: bool,
        partition: Mapping[str, str] | None = None,
        creates: bool = False,
        replaced: CatalogTable | None = None,
        job: str = "",
    ) -> WriteContext:
        return WriteContext(
            target.identifier,
            target.table,
            self._options,
            target.is_temporary,
            session=session,
            zone=self._zone,
            metadata=metadata_types(connector, target.table, persisted=True),
            overwrite=overwrite,
            partition=partition,
            creates=creates,
            replaced=replaced,
            job=job,
        )

    def _write(
        self,
        name: str,
        connector: SparkConnector,
        frame: DataFrame,
        context: WriteContext,
        transaction: tuple[AtomicityLevel, Registration],
        reads: Sequence[Read],
    ) -> JobGraph:
        """Prepare a job that writes rows, in a stage if the connector has the ability."""
        level, registration = transaction
        located = partial(using, context.identifier, context.options, "write")
        properties = local_properties(context.session)
        with located():
            stage: Stage = Unstaged()
            if level is AtomicityLevel.ROLLED_BACK and isinstance(connector, SupportsCleanUp):
                stage = Unstaged(partial(connector.clean_up, context))
            if isinstance(connector, SupportsWriteValidation):
                with spark_errors():
                    connector.validate_write(context)
            if stages(connector, context):
                with spark_errors():
                    stage = connector.stage(context)
                context = replace(context, stage=stage)

            def write() -> None:
                with diagnosing(reads):
                    connector.write(frame, context)

            job = SparkJob(
                context.session,
                name,
                write,
                TableTransaction(level, stage, registration),
                located,
                properties,
            )
            return JobGraph(name, job, [context.identifier])


def _refused(operation: str) -> UnsupportedError:
    """Return the error for what needs all rows of a query that reads unbounded tables."""
    return UnsupportedError(
        f"{operation} needs all rows, but the query reads an unbounded table",
        code="streaming-not-supported",
        hint="write the rows into a table with INSERT INTO or CREATE TABLE AS",
    )


# --- rows ----------------------------------------------------------------------------------------


def _as_string(node: Node, type_: DataType, zone: str) -> Node:
    return convert(from_physical(node, type_), type_.nullable(), STRING, zone)


def _strings(frame: DataFrame, columns: Columns, zone: str) -> Iterator[tuple[str | None, ...]]:
    """Yield the rows of a frame as the strings that Flink prints."""
    selected = [
        (_as_string(ColumnNode(column.name), column.type, zone), column.name) for column in columns
    ]
    with spark_errors():
        frame = select(frame, selected)
    yield from string_rows(frame)
