"""A query in stages as a streaming frame of its sources, and what computes its micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from schema_core.environment.options import IDLE_TIMEOUT
from schema_core.query.relation import Columns, Relation, result_columns
from schema_core.spark.changelog import ROW_KIND
from schema_core.spark.commit.directory import Directory
from schema_core.spark.reading.row_kinds import KIND
from schema_core.spark.streaming.conflict_stage import ConflictStage
from schema_core.spark.streaming.source_rows import (
    FrameChange,
    decode_messages,
    tagged_rows,
    with_all_columns,
)
from schema_core.spark.streaming.stage_plans import (
    StagedQuery,
    all_columns,
    columns_read,
    scan_with_kind,
)
from schema_core.spark.streaming.stage_runs import StageRuns
from schema_core.spark.streaming.stream_stages import StreamedQuery
from schema_core.spark.streaming.watermarks import (
    columns_of_watermark,
    watermark_of,
    with_watermark_column,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.environment.jobs.metrics import OperatorMetrics
    from schema_core.environment.planner import PlannerContext
    from schema_core.spark.connector import Read
    from schema_core.spark.reading.reader import Reader


def staged_frame(
    plan: StagedQuery,
    targets: Columns,
    reads: list[Read],
    place: Directory,
    reader: Reader,
    context: PlannerContext,
    fill: FrameChange | None = None,
    conflicts: ConflictStage | None = None,
) -> StreamedQuery:
    """Return a query in stages, whose rows have kinds if some are updated.

    The stages keep their rows in the directory `place`; the sources are added to `reads`. `fill`
    returns the rows of a table for those of the query, to which `conflicts` leaves one for a key.
    """
    zone, session = reader.zone, reader.session_for(plan.query)

    def frame_of(
        relation: Relation,
        columns: Columns,
        scans: Mapping[int, DataFrame],
        reads: list[Read] | None = None,
    ) -> DataFrame:
        own: list[Read] = [] if reads is None else reads
        return reader.frame(relation, columns, reads=own, frames=scans, session=session)

    frames, decoders = _frames_of_sources(plan, frame_of, reads, reader, context)
    for scan, operator in plan.operators:
        own = reader.frame(
            operator.query, scan.columns, reads=reads, plan=operator, session=session
        )
        frames.append(own)
    if plan.has_clock:
        # its row of each second begins a micro-batch, which returns the windows that have ended
        frames.append(session.readStream.format("rate").option("rowsPerSecond", 1).load())
    idle = IDLE_TIMEOUT.of(context.options) or timedelta(0)
    runs = StageRuns(plan, session, place, frame_of, zone, idle)
    result = scan_with_kind(result_columns(plan.query))

    def finish(rows: DataFrame, number: int) -> DataFrame:
        if decoders:
            rows = decode_messages(rows, len(frames), decoders)
        changes = runs.changes(rows, number).toDF(*(column.name for column in result.columns))
        changes = frame_of(all_columns(result), (*targets, KIND), {id(result): changes})
        changes = changes if fill is None else fill(changes)
        return changes if conflicts is None else conflicts.resolve(changes, number, runs.times)

    def metrics(sink: str) -> list[OperatorMetrics]:
        last = [] if conflicts is None else [conflicts.metrics(sink)]
        return [*runs.metrics(sink), *last]

    streamed = StreamedQuery(tagged_rows(frames), "append", finish, metrics, plan.has_clock)
    return streamed.then(lambda rows: rows.drop(ROW_KIND)) if plan.inserts else streamed


def _frames_of_sources(
    plan: StagedQuery,
    frame_of: Callable[..., DataFrame],
    reads: list[Read],
    reader: Reader,
    context: PlannerContext,
) -> tuple[list[DataFrame], dict[int, FrameChange]]:
    """Return the rows or messages of the sources, and what decodes messages, by position."""
    zone, session = reader.zone, reader.session_for(plan.query)
    frames = []
    decoders: dict[int, FrameChange] = {}
    for number, (scan, columns) in enumerate(plan.columns_read()):
        bound = context.source(scan)
        schema = bound.table.resolved_schema
        spec = watermark_of(bound) if number in plan.timed else None
        names = columns if spec is None else columns | columns_of_watermark(spec)
        changes = plan.changes[number]
        arrivals = None
        if number in plan.ordered_sources:
            arrivals = reader.arrivals(scan, names, reads, session)
        if arrivals is not None:
            frame = arrivals
        elif changes.inserts and not changes.are_rows:
            rows = columns_read(scan, names)
            frame = with_all_columns(frame_of(rows, result_columns(rows), {}, reads), scan)
        else:
            frame, decoders[number] = reader.messages(scan, names, reads, session)
        if spec is not None:
            mark = partial(with_watermark_column, schema=schema, spec=spec, zone=zone, clock=zone)
            if number in decoders:
                decoders[number] = partial(_in_turn, decoders[number], mark)
            else:
                frame = mark(frame)
        frames.append(frame)
    return frames, decoders


def _in_turn(first: FrameChange, second: FrameChange, frame: DataFrame) -> DataFrame:
    return second(first(frame))
