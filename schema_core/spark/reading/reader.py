"""Queries as frames: tables are read, and text is compiled and analysed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from schema_core.base.lazy import NamedTuple
from schema_core.environment.connector import (
    find_connector,
    require_no_definition,
    using,
    validate_bound,
)
from schema_core.environment.table_api.inline import InlineTable
from schema_core.environment.unbounded import is_unbounded, require_bounded, scans_in
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.errors.hints import BOUND_TABLE
from schema_core.query.lookup_joins import Lookup, lookups_in
from schema_core.query.relation import (
    Columns,
    Named,
    Relation,
    Scan,
    Sort,
    Values,
    relations_in,
)
from schema_core.query.temporal_joins import (
    scans_of_versions,
    with_kinds_of_versions,
    with_versions_in_place,
)
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.changelog import CHANGE_ORDER, DUPLICATES, has_changes
from schema_core.spark.compiler.query import WriteOperator, query_text
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import NamedNode, named_struct, quote
from schema_core.spark.connector import (
    Aggregation,
    Read,
    ReadContext,
    SparkConnector,
    SupportsVectorSearch,
    arrival_order,
    is_streaming,
    metadata_column,
    metadata_types,
    open_spark_connector,
    raw_column,
    snapshot,
    zone_of,
)
from schema_core.spark.filters import Filter
from schema_core.spark.jobs import spark_errors
from schema_core.spark.python.udf_registration import require_udfs
from schema_core.spark.python.user_functions import UserCalls
from schema_core.spark.reading.aggregate_pushdown import with_aggregates
from schema_core.spark.reading.frame_operators import operator_writer
from schema_core.spark.reading.inputs import InlineViews
from schema_core.spark.reading.lookups import find_keys, look_up
from schema_core.spark.reading.pushdown import ScanDemand, scan_demands
from schema_core.spark.reading.results import columns_of
from schema_core.spark.reading.row_kinds import (
    VERSION_KIND,
    change_query,
    has_kinds,
    holds_versions,
    repeats_changes,
)
from schema_core.spark.reading.sources import (
    ScanCache,
    ScanRequest,
    Source,
    aggregate_context,
    aggregated_frame,
    is_deterministic,
    message_stream,
    read_context,
    serves_every_query,
    source_frame,
    with_raw_conditions,
)
from schema_core.spark.reading.vector_searches import with_searches
from schema_core.spark.session.api_mode import java_class
from schema_core.spark.session.frames import frame_of_sql, select
from schema_core.spark.session.session import JobSession, TemporaryNames, UnusedNames
from schema_core.spark.streaming.stream_stages import staging
from schema_core.spark.streaming.watermarks import (
    columns_of_watermark,
    watermark_of,
    with_watermark,
)
from schema_core.sql.syntax import hinted_options
from schema_core.types import NullType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.environment.planner import BoundTable, PlannerContext
    from schema_core.spark.explain import ExplainRecorder
    from schema_core.spark.streaming.incremental import StreamPlan


class Reader:
    """Returns queries as frames, in the session of jobs.

    Views of tables and frames of results are kept between queries: see decision 22.
    """

    def __init__(self, context: PlannerContext, session: JobSession) -> None:
        self._context = context
        self._session = session
        self._scans = ScanCache()
        self._frames = FrameCache()
        self._inline = InlineViews(self._frames.forget)
        self._unused = UnusedNames()

    @property
    def zone(self) -> str:
        """The time zone of the session."""
        return zone_of(self._context.options)

    def validate(self, query: Relation) -> None:
        """Validate the options of a query's tables, before Spark is started, and of its hints."""
        for scan in scans_in(query):
            if hinted := hinted_options(scan.hints):
                require_no_definition(self._context.source(scan).table.options, hinted)
        if self._session.is_open:
            return
        for bound in map(self._context.source, scans_in(query)):
            if not isinstance(bound.table, InlineTable):
                with using(bound.identifier, bound.table.options, "read"):
                    validate_bound(bound, "read")

    def session_for(self, query: Relation) -> SparkSession:
        """Return the session for a query, after validating its sources."""
        self.validate(query)
        return self._session.open_session()

    def frame(
        self,
        query: Relation,
        targets: Columns,
        *,
        reads: list[Read],
        recorder: ExplainRecorder | None = None,
        plan: StreamPlan | None = None,
        frames: Mapping[int, DataFrame] | None = None,
        session: SparkSession | None = None,
        nanoseconds: bool = False,
    ) -> DataFrame:
        """Return a query as a frame with the columns and types of `targets`, by position.

        Args:
            query: The query.
            targets: The columns of the result.
            reads: Gets the query's sources.
            recorder: Gets what EXPLAIN shows.
            plan: The plan of a streaming query.
            frames: Frames for scans, by their identity.
            session: Without it the query's sources are validated first.
            nanoseconds: Whether timestamps that Spark does not store are structs, see `query_text`.
        """
        session = session or self.session_for(query)
        with TemporaryNames(session, self._unused) as names:
            text = self._text(
                names,
                query,
                targets,
                reads,
                recorder,
                plan,
                frames or {},
                nanoseconds=nanoseconds,
                runs=recorder is None and plan is None,
            )
            frame = self._analyse(names, text)
        if recorder is not None:
            recorder.text = text
        return frame

    def messages(
        self, scan: Scan, columns: frozenset[str], reads: list[Read], session: SparkSession
    ) -> tuple[DataFrame, Callable[[DataFrame], DataFrame]]:
        """Return the messages of an unbounded table of changes, as a stream, and their decoder.

        The decoder returns the changes of a micro-batch of the messages as a changelog frame, of
        which columns other than `columns` may be NULL. The table is added to `reads`.
        """
        bound, demand = self._context.source(scan), ScanDemand.of_columns(columns)
        configuration, database = snapshot(self._context.options), self._context.database()
        connector, context = self._open_table(session, bound, configuration)
        located = partial(using, bound.identifier, bound.table.options, "read")
        with located(), spark_errors():
            context = read_context(connector, context, demand)
            frame = message_stream(connector, context)
        reads.append((connector, context))

        def decode(messages: DataFrame) -> DataFrame:
            with located(), spark_errors():
                return source_frame(
                    connector,
                    context,
                    columns,
                    database,
                    streams=True,
                    kinds=True,
                    messages=messages,
                ).frame

        return frame, decode

    def arrivals(
        self, scan: Scan, columns: frozenset[str], reads: list[Read], session: SparkSession
    ) -> DataFrame | None:
        """Return the rows of an unbounded table as a stream with `CHANGE_ORDER` as the last column.

        Columns other than `columns` may be NULL. The table is added to `reads`. None if the tasks
        of its connector are in the order of the rows.
        """
        bound = self._context.source(scan)
        if isinstance(bound.table, InlineTable):
            return None
        configuration = snapshot(self._context.options)
        connector, context = self._open_table(session, bound, configuration)
        order = arrival_order(connector)
        if not order:
            return None
        with using(bound.identifier, bound.table.options, "read"), spark_errors():
            context = read_context(connector, context, ScanDemand.of_columns(columns))
            context = replace(context, metadata={**context.metadata, **order})
            database, further = self._context.database(), [*order]
            source = source_frame(
                connector, context, columns, database, streams=True, further=further
            )
        reads.append((connector, context))
        places = {key: ColumnNode(metadata_column(key)) for key in order}
        own: list[NamedNode] = [(ColumnNode(column.name), column.name) for column in scan.columns]
        return select(source.frame, [*own, (named_struct(places.items()), CHANGE_ORDER)])

    def change_query(self, query: Relation) -> Relation | None:
        """Return a query with the kinds of its changes; None if it has only insertions."""
        return change_query(query, self._holds_changes)

    def reads_changes(self, query: Relation) -> bool:
        """Return whether a query reads tables of changes."""
        return any(map(self._holds_changes, scans_in(query)))

    def converted_frame(
        self,
        query: Relation,
        schema: ResolvedSchema,
        convert: Callable[[DataFrame], DataFrame] | None,
        reads: list[Read],
    ) -> DataFrame:
        """Return a query as a frame with a schema's columns, converted if it will be run.

        It may be the frame of an earlier call. `reads` gets the query's sources.
        """
        columns = columns_of(schema)
        session = self.session_for(query)
        with TemporaryNames(session, self._unused) as names:
            text = self._text(names, query, columns, reads, runs=convert is not None)
            key = FrameKey(text, schema, convert is not None)
            frame = self._frames.find(session, key) if names.is_repeatable else None
            if frame is None:
                frame = self._analyse(names, text)
                frame = frame if convert is None else convert(frame)
                if names.is_repeatable:
                    self._frames.add(session, key, frame)
        return frame

    def _text(
        self,
        names: TemporaryNames,
        query: Relation,
        targets: Columns,
        reads: list[Read],
        recorder: ExplainRecorder | None = None,
        plan: StreamPlan | None = None,
        frames: Mapping[int, DataFrame] = MappingProxyType({}),
        *,
        nanoseconds: bool = False,
        runs: bool = False,
    ) -> str:
        """Return a query in Spark SQL; open its tables and add them to `reads`.

        `runs` is whether it is run once, now: then joins may look up the keys that they have now.
        """
        self._drop_unused(names.session)
        _require_typed(targets)
        query = with_searches(with_versions_in_place(query), partial(self._searcher, names.session))
        query = with_kinds_of_versions(query, VERSION_KIND, self._holds_changes)
        query, frames = self._push_aggregates(names.session, query, frames, reads, recorder, plan)
        lookups = {id(lookup.scan): lookup for lookup in lookups_in(query)}
        demands, user = scan_demands(query), UserCalls(names, self.zone, self._context.options)
        analyse, lateral = partial(self._analyse, names), _lateral_scans(query)
        read = partial(
            self._input,
            names,
            reads=reads,
            recorder=recorder,
            clock=None if plan is None else plan.clock(self.zone),
            analyse=(lambda part: analyse(write(part))) if runs else None,
        )

        def write(relation: Relation, **of_result: Any) -> str:
            return query_text(
                relation,
                source,
                self.zone,
                user=user,
                rows=user.rows,
                database=self._context.database(),
                staged=None if plan is None else staging(plan, names, analyse),
                operator=self._operators(names, analyse) if plan is None else None,
                **of_result,
            )

        inputs: dict[int, tuple[Scan, str]] = {}  # a table is read once; scans are kept alive

        def source(scan: Scan) -> str:
            if (frame := frames.get(id(scan))) is not None:
                return names.view(frame)
            if id(scan) in inputs:
                return inputs[id(scan)][1]
            if not has_kinds(scan) and id(scan) in map(id, scans_of_versions(query)):
                self._require_insertions(scan)
            text = read(scan, demands.get(id(scan)), lookup=lookups.get(id(scan)))
            if id(scan) in lateral and self._holds_changes(scan):
                text = names.view(analyse(f"SELECT * FROM {text}").localCheckpoint(eager=False))
            if plan is None:  # the checkpoint of a stream has an offset for each reference
                inputs[id(scan)] = scan, text
            return text

        return write(query, targets=targets, nanoseconds=nanoseconds)

    def _push_aggregates(
        self,
        session: SparkSession,
        query: Relation,
        frames: Mapping[int, DataFrame],
        reads: list[Read],
        recorder: ExplainRecorder | None,
        plan: StreamPlan | None,
    ) -> tuple[Relation, Mapping[int, DataFrame]]:
        """Return a query of which connectors compute aggregates, and the frames of its scans.

        Those of a streaming query are added up as rows arrive.
        """
        if plan is not None:
            return query, frames
        every = dict(frames)
        offer = partial(self._push_aggregation, session, every, reads, recorder)
        return with_aggregates(query, offer, self.zone), every

    def _push_aggregation(
        self,
        session: SparkSession,
        frames: dict[int, DataFrame],
        reads: list[Read],
        recorder: ExplainRecorder | None,
        scan: Scan,
        aggregation: Aggregation,
        rows: Scan,
    ) -> bool:
        """Add the frame of an aggregation of a table to `frames`, if its connector computes it."""
        if id(scan) in frames or has_kinds(scan):
            return False
        bound = self._context.source(scan)
        if isinstance(bound.table, InlineTable):
            return False
        with using(bound.identifier, bound.table.options, "read"), spark_errors():
            if is_unbounded(bound):
                return False
            configuration = snapshot(self._context.options)
            connector, given = self._open_table(session, bound, configuration)
            if (context := aggregate_context(connector, given, aggregation)) is None:
                return False
            frames[id(rows)] = aggregated_frame(connector, context)
        reads.append((connector, context))
        if recorder is not None:
            recorder.scan(connector, context, ScanDemand({}), frames[id(rows)])
        return True

    def _drop_unused(self, session: SparkSession) -> None:
        self._inline.drop_unused(session)
        self._unused.drop(session)

    def _operators(
        self, names: TemporaryNames, analyse: Callable[[str], DataFrame]
    ) -> WriteOperator:
        """Return the writer of relations that Spark SQL lacks."""
        return operator_writer(
            names,
            analyse,
            is_streaming=is_streaming(self._context.options),
            options=self._context.options,
            holds_changes=self._holds_changes,
        )

    def _holds_changes(self, scan: Scan) -> bool:
        """Return whether the rows of a table are the state that its changes leave."""
        bound = self._context.source(scan)
        if isinstance(bound.table, InlineTable):
            return False
        options = bound.table.options
        with suppress(SchemaCoreError):
            return has_changes(find_connector(options), options)
        return False  # the error is raised where the table is read

    def _searcher(
        self, session: SparkSession, scan: Scan
    ) -> tuple[SupportsVectorSearch, ReadContext] | None:
        """Return the connector of a table if it answers VECTOR_SEARCH, and the table."""
        bound = self._context.source(scan)
        if isinstance(bound.table, InlineTable):
            return None
        connector = open_spark_connector(bound, "read", self._context.options)
        if not isinstance(connector, SupportsVectorSearch):
            return None
        return connector, self._context_of(session, bound, snapshot(self._context.options))

    @staticmethod
    def _analyse(names: TemporaryNames, text: str) -> DataFrame:
        with spark_errors(names.session):
            require_udfs(names.session, text)
            frame = frame_of_sql(names.session, text)
            names.keep_for(frame)
            return frame

    # --- tables --------------------------------------------------------------------------------

    def frame_with_group(
        self,
        bound: BoundTable,
        demand: ScanDemand,
        key: str,
        groups: frozenset[str] | None,
        reads: list[Read],
    ) -> DataFrame:
        """Return all columns of a table, and last the metadata that names the part of each row.

        Args:
            bound: The table.
            demand: What the query reads of it; its filters and limit are not used.
            key: The key of the metadata.
            groups: The parts to read; None for all.
            reads: Gets the table.
        """
        session = self._session.open_session()
        connector, context = self._open_table(session, bound, snapshot(self._context.options))
        context = replace(context, groups=groups)
        with using(bound.identifier, bound.table.options, "read"), spark_errors():
            context = read_context(connector, context, replace(demand, filters=(), limit=None))
            metadata = {**context.metadata, key: connector.metadata[key]}
            context = replace(context, metadata=metadata)
            source = source_frame(
                connector, context, demand.columns, self._context.database(), further=[key]
            )
            require_bounded(bound)
        reads.append((connector, context))
        return source.frame.drop(*map(raw_column, source.raw))

    def _require_insertions(self, scan: Scan) -> None:
        """Refuse versions that Flink derives from the changes of a table by a further operation."""
        bound = self._context.source(scan)
        if isinstance(bound.table, InlineTable):
            return
        connector = open_spark_connector(bound, "read", self._context.options)
        if has_changes(connector, bound.table.options):
            raise UnsupportedError(
                "FOR SYSTEM_TIME AS OF a rowtime over a query of a table of changes that does more"
                " than select columns is not supported on Spark",
                code="not-executable",
                hint="join the table of changes itself, or a table whose rows are only inserted",
            )

    def _input(
        self,
        names: TemporaryNames,
        scan: Scan,
        demand: ScanDemand | None,
        reads: list[Read],
        recorder: ExplainRecorder | None = None,
        *,
        clock: str | None = None,
        lookup: Lookup | None = None,
        analyse: Callable[[Relation], DataFrame] | None = None,
    ) -> str:
        """Return all columns of a table, checked, for one query, as SQL.

        Columns that the query does not need may be NULL. With a `clock`, an unbounded table has a
        watermark by the clock of that time zone. A `lookup` finds rows by keys if `analyse`, which
        returns a query as a frame, is given.
        """
        bound, session = self._context.source(scan), names.session
        if isinstance(bound.table, InlineTable) and bound.table.rows.is_physical:
            return self._inline.name(bound.table.rows, names, self.zone)
        streams = is_streaming(self._context.options) and is_unbounded(bound)
        database = self._context.database()
        kinds, configuration = has_kinds(scan), snapshot(self._context.options)
        if repeats_changes(scan) and bound.table.resolved_schema.primary_key is not None:
            configuration[DUPLICATES.key] = "false"
        request = ScanRequest.of(
            bound, demand, configuration, self.zone, database, looks_up=lookup is not None
        )
        if recorder is not None and lookup is not None:  # EXPLAIN looks nothing up
            lookup = lookup._replace(hint={})
        if streams and self._holds_changes(scan) and not kinds and recorder is None:
            raise _needs_kinds(bound)
        is_own = streams or kinds or bool(lookup and lookup.hint)
        kept = None if is_own else self._scans.find(session, request, demand)
        source: Source | None = None
        if kept is None:
            connector, context, source = self._read(
                session,
                request,
                demand,
                streams=streams,
                clock=clock,
                kinds=kinds,
                as_versions=holds_versions(scan),
                lookup=lookup,
                analyse=analyse,
            )
            if not is_own and context.keys is None:
                kept = self._scans.add(request, demand, connector, context, source)
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
        filters = (Filter(filter_, self.zone) for filter_ in (demand.filters if demand else ()))
        return with_raw_conditions(view, bound.table.resolved_schema, raw, filters)

    def _open_table(
        self, session: SparkSession, bound: BoundTable, configuration: Mapping[str, str]
    ) -> tuple[SparkConnector, ReadContext]:
        """Return the connector of a table, and the context of a read of all its columns."""
        connector = open_spark_connector(bound, "read", self._context.options)
        context = self._context_of(session, bound, configuration)
        return connector, replace(context, metadata=metadata_types(connector, bound.table))

    def _context_of(
        self, session: SparkSession, bound: BoundTable, configuration: Mapping[str, str]
    ) -> ReadContext:
        return ReadContext(
            bound.identifier,
            bound.table,
            configuration,
            bound.is_temporary,
            session=session,
            zone=self.zone,
        )

    def _read(
        self,
        session: SparkSession,
        request: ScanRequest,
        demand: ScanDemand | None,
        *,
        streams: bool,
        clock: str | None = None,
        kinds: bool = False,
        as_versions: bool = False,
        lookup: Lookup | None = None,
        analyse: Callable[[Relation], DataFrame] | None = None,
    ) -> tuple[SparkConnector, ReadContext, Source]:
        """Return a table as its connector reads it, with its read context; see `_input`."""
        bound = request.bound
        schema = bound.table.resolved_schema
        watermark = watermark_of(bound) if streams and clock is not None else None
        if demand is not None and watermark is not None:
            demand = demand.with_columns(columns_of_watermark(watermark))
        connector, context = self._open_table(session, bound, request.configuration)
        with using(bound.identifier, bound.table.options, "read"), spark_errors():
            if demand is not None:
                asked = replace(demand, filters=(), limit=None) if streams else demand
                context = read_context(connector, context, asked)
                require_udfs(session, *(filter_.spark_sql for filter_ in context.filters))
        if lookup is not None and analyse is not None:
            with spark_errors():
                context = replace(context, keys=find_keys(lookup, connector, context, analyse))
        with using(bound.identifier, bound.table.options, "read"), spark_errors():
            if serves_every_query(connector) and not kinds:
                needed: Collection[str] | None = request.columns
            else:
                needed = demand.columns if demand else None
            read = partial(
                source_frame,
                connector,
                context,
                needed,
                request.database,
                streams=streams,
                kinds=kinds,
                as_versions=as_versions,
                looks_up=lookup is not None,
            )
            source = read() if lookup is None else look_up(lookup, connector, context.keys, read)
            if watermark is not None and clock is not None:
                marked = with_watermark(source.frame, schema, watermark, self.zone, clock)
                source = source._replace(frame=marked)
            if not streams:  # the connector's own error names the options that bound the table
                require_bounded(bound)
            return connector, context, source


def _require_typed(columns: Columns) -> None:
    """Refuse columns of the type NULL (`data-type-not-inferred`)."""
    for column in columns:
        if isinstance(column.type, NullType):
            raise UnsupportedError(
                f"column {column.name!r} has the type NULL", code="data-type-not-inferred"
            )


def _needs_kinds(bound: BoundTable) -> UnsupportedError:
    return UnsupportedError(
        f"the updates and deletions of the unbounded table {bound.identifier.as_summary_string()} "
        "are not read here",
        code="streaming-not-supported",
        hint=BOUND_TABLE,
    )


def computes_all_rows(query: Relation, reads: Sequence[Read]) -> bool:
    """Return whether Spark computes all rows of the tables of a query; False if unknown.

    It does not for constants and LIMIT, which a connector may apply as well.
    """
    if any(isinstance(part, Sort | Values) for part in relations_in(query)):
        return False
    return bool(reads) and all(serves_every_query(connector) for connector, _ in reads)


def _lateral_scans(query: Relation) -> frozenset[int]:
    """Return the identities of the scans in lateral queries.

    Spark refuses numbered lines there: it would number them for each outer row.
    """
    return frozenset(
        id(scan)
        for named in relations_in(query)
        if isinstance(named, Named) and named.lateral
        for scan in relations_in(named.input)
        if isinstance(scan, Scan)
    )


# --- frames of results ------------------------------------------------------------------------
# Planning a frame takes longer than computing a few rows. A `Table`'s frame is reused if its
# query's SQL, which names views of one state of their data, is the same. Rows of shuffles and
# broadcasts, which Spark keeps with a planned frame, would outlive it: such frames are not kept.

#: How many frames an environment keeps.
MAX_FRAMES: Final = 32

#: Parts of physical plans that keep results.
_RESULTS: Final = ("Exchange", "Subquery")


class FrameKey(NamedTuple):
    """A frame's query and result columns; `is_run` if it is run."""

    text: str
    schema: ResolvedSchema
    is_run: bool


class FrameCache:
    """The frames of one environment, in one session at a time; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        #: from the least to the most recently used
        self._frames: dict[FrameKey, DataFrame] = {}

    def find(self, session: SparkSession, key: FrameKey) -> DataFrame | None:
        """Return the frame with an equal key, if any."""
        with self._lock:
            self._enter(session)
            if (found := self._frames.pop(key, None)) is not None:
                self._frames[key] = found
            return found

    def add(self, session: SparkSession, key: FrameKey, frame: DataFrame) -> None:
        """Keep a frame, unless it may give other rows next time or hold results."""
        if not _repeats_rows(session, frame, is_run=key.is_run):
            return
        with self._lock:
            self._enter(session)
            self._frames[key] = frame
            if len(self._frames) > MAX_FRAMES:
                del self._frames[next(iter(self._frames))]

    def forget(self, view: str) -> None:
        """Forget the frames that read a view."""
        with self._lock:
            self._frames = {
                key: value for key, value in self._frames.items() if view not in key.text
            }

    def _enter(self, session: SparkSession) -> None:
        """Forget the frames of another session, whose SparkContext was stopped."""
        if self._session is not session:
            self._session, self._frames = session, {}


def _repeats_rows(session: SparkSession, frame: DataFrame, *, is_run: bool) -> bool:
    """Return whether a frame repeats its rows, and Spark keeps none of them."""
    if not is_deterministic(frame):
        return False
    execution = frame._jdf.queryExecution()  # noqa: SLF001
    pattern = java_class(session, "org.apache.spark.sql.catalyst.trees.TreePattern")
    if execution.analyzed().containsPattern(pattern.CURRENT_LIKE()):  # the time of the plan
        return False
    if not is_run:
        return True
    with spark_errors():
        plan = execution.executedPlan().toString()
    return not any(result in plan for result in _RESULTS)
