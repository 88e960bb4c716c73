"""Run the stages of a streaming query for a micro-batch: see `stage_plans`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from schema_core.base.lazy import NamedTuple
from schema_core.environment.jobs.metrics import OperatorMetrics, add_known
from schema_core.errors import ConflictError
from schema_core.errors.hints import DELETE_CHECKPOINT
from schema_core.query import relation as relational
from schema_core.query.relation import Column, Columns, Relation, Scan, result_columns
from schema_core.spark.changelog import (
    CHANGE_ORDER,
    ROW_KIND,
    adding,
    difference,
    in_order_of_changes,
    is_added,
    last_of_key,
    without_opposites,
)
from schema_core.spark.commit.directory import Directory
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import from_physical
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote
from schema_core.spark.reading.changelog_functions import decode_changes, encode_changes
from schema_core.spark.reading.comparison import comparable
from schema_core.spark.reading.row_kinds import KIND, has_kinds
from schema_core.spark.streaming.checkpoint_files import invalid_checkpoint
from schema_core.spark.streaming.source_rows import (
    ROW,
    FrameChange,
    rows_of_source,
    with_all_columns,
)
from schema_core.spark.streaming.stage_plans import (
    ARRIVED_AT,
    FIRES_UNTIL,
    INSERTIONS,
    KEY_NUMBER,
    NEW,
    NEXT_TIMER,
    REACHED,
    AnyStage,
    Conversion,
    Gate,
    Input,
    KeyColumns,
    Stage,
    StagedQuery,
    TimeExpiry,
    VersionExpiry,
    processing_times,
    scan_of,
)
from schema_core.spark.streaming.stage_state import StoredRows
from schema_core.spark.streaming.stage_watermarks import BatchTime, StageWatermarks
from schema_core.spark.streaming.state_retention import HASH, TOUCHED, ClockOfKeys, rows_of_keys
from schema_core.spark.streaming.stream_metrics import as_watermark
from schema_core.spark.streaming.watermarks import (
    WATERMARK,
    earlier_clock,
    last_instant,
)
from schema_core.types import DataTypes, LocalZonedTimestampType, RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


#: The column with the micro-batch of a row, and its place in it.
ORDER: Final = f"{PREFIX}order"
_NUMBERS: Final = [DataTypes.FIELD(name, DataTypes.BIGINT()) for name in ("col1", "col2")]
ORDER_OF_ROW: Final = Column(ORDER, DataTypes.ROW(_NUMBERS))

#: Returns a query as a frame with columns, from frames for its scans by identity.
FrameOf: TypeAlias = "Callable[[Relation, Columns, Mapping[int, DataFrame]], DataFrame]"


#: The file that describes the stages, and the version of how they keep rows.
LAYOUT: Final = "stages.json"
#: The names of the normalization of a source, and of `ConflictStage` in it.
NORMALIZED: Final = "changes by key"
CONFLICTS: Final = "rows by primary key"
VERSION: Final = 1


class Changes(NamedTuple):
    """Changes of a scan: its columns and `ROW_KIND`; `inserts` is whether rows are only added.

    `in_order` are all changes of a table, of all kinds and in their order, if it has such that are
    used in it. Then `frame` is the same unless they are computed by row, too.
    """

    frame: DataFrame
    inserts: bool
    in_order: DataFrame | None = None


def now() -> int:
    """Return the processing time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class StageRuns:
    """The stages of a query, with the rows that they keep in a directory.

    `frame_of` returns a query as a frame; `idle` is the time after which a source without rows
    does not hold back the watermark.
    """

    def __init__(
        self,
        query: StagedQuery,
        session: SparkSession,
        directory: Directory,
        frame_of: FrameOf,
        clock: str,
        idle: timedelta,
    ) -> None:
        self._query = query
        self._session = session
        self._directory = directory
        self._frame_of = frame_of
        self._clock = clock
        self._watermark: int | None = None
        self._watermarks = StageWatermarks(
            directory, len(query.timed), idle // timedelta(milliseconds=1)
        )
        self._by_row_scans = _identities(query.relations_by_row())
        self._in_order_scans = _identities(query.relations_in_order())
        #: a row that is removed at once extends a session, too
        self._in_sessions = _identities(
            stage.input.rows
            for stage in query.stages
            if isinstance(stage, Gate) and stage.is_extended
        )
        #: the micro-batch, and its time in milliseconds
        self._number, self._now = 0, 0
        #: the times of the micro-batch
        self.times = BatchTime(None, None, None, 0)
        self._kept = {
            (number, place): self._rows_in(
                f"{number}-{place}",
                inserts=stage.inputs[place].inserts,
                apart=stage.apart
                if isinstance(stage, Gate)
                else processing_times(stage.inputs[place].scan.columns),
            )
            for number, stage in enumerate(query.stages)
            for place in stage.kept
        }
        #: the time of the next timer of each key, and the results of a micro-batch
        self._timers, self._outputs = (
            {
                number: self._rows_in(f"{number}-{name}", inserts=False)
                for number, stage in enumerate(query.stages)
                if isinstance(stage, Stage) and stage.timers is not None
            }
            for name in ("timers", "output")
        )
        self._normalized = {
            place: self._rows_in(f"source-{place}", inserts=False)
            for place in query.normalized_sources
        }
        self._results = {
            number: self._rows_in(f"{number}-result", inserts=stage.inserts)
            for number, stage in enumerate(query.stages)
            if isinstance(stage, Stage) and stage.is_compared
        }

    def _rows_in(self, name: str, *, inserts: bool, apart: Sequence[str] = ()) -> StoredRows:
        place = Directory(self._directory.system, self._directory.path(name))
        return StoredRows(self._session, place, inserts=inserts, apart=apart)

    def changes(self, rows: DataFrame, number: int) -> DataFrame:
        """Return the changes of the query for a micro-batch of `tagged_rows`, with `ROW_KIND`."""
        self._require_same_stages(number)
        every = (self._normalized, self._kept, self._results, self._timers, self._outputs)
        for stored in chain.from_iterable(rows_of.values() for rows_of in every):
            stored.begin(number)
        if self._query.reads_sources_again:
            rows.persist()
        try:
            self._number = number
            times = self._advance(rows, number)
            changes = self._new_rows(rows, number)
            for place, stage in enumerate(self._query.stages):
                if isinstance(stage, Gate):
                    result = self._release(place, stage, changes, times)
                elif isinstance(stage, Conversion):
                    result = self._convert(stage, changes)
                elif stage.complete:
                    result = self._run_complete(stage, changes)
                elif stage.timers is not None:
                    result = self._run_timers(place, stage, changes, times)
                elif stage.drivers:
                    result = self._run_drivers(place, stage, changes, times)
                else:
                    result = self._run(place, stage, changes)
                changes[id(stage.result)] = Changes(result, stage.inserts)
            by_change = self._query.by_change
            if by_change is not None:
                return self._in_order(self._query.query, by_change, changes)
            return self._by_row(self._query.query, changes)
        finally:
            rows.unpersist()

    def metrics(self, sink: str) -> list[OperatorMetrics]:
        """Return what each stage has done since the query started."""
        metrics = []
        for place, stage in enumerate(self._query.stages):
            kept = [self._kept[place, index] for index in stage.kept]
            counts = [rows.counts() for rows in kept]
            result = self._results[place].counts() if place in self._results else None
            gate = stage if isinstance(stage, Gate) else None
            # some rows are stored with those that waited before
            is_counted = len(kept) == len(stage.inputs) and not (gate and gate.is_rewritten)
            late = kept[0].dropped if gate is not None and is_counted else None
            read = add_known([late or 0, *(changes for changes, _ in counts)])
            stored = [*counts] if result is None else [*counts, result]
            metrics.append(
                OperatorMetrics(
                    sink,
                    stage.name,
                    rows_in=read if is_counted else None,
                    rows_out=None if result is None else result[0],
                    state_rows=add_known([0, *(rows for _, rows in stored)]),
                    late_rows=late,
                    watermark=as_watermark(self._watermark)
                    if gate is not None and gate.arrival is None
                    else None,
                )
            )
        return metrics

    def _require_same_stages(self, number: int) -> None:
        """Require that these stages have written the rows of earlier micro-batches."""
        stages = [
            *([NORMALIZED, place] for place in self._query.normalized_sources),
            *map(_layout_of, self._query.stages),
            *([[CONFLICTS]] if self._query.conflicts else []),
        ]
        content = json.dumps({"version": VERSION, "stages": stages}).encode()
        if number == 0:
            self._directory.mkdirs("")
            self._directory.delete(LAYOUT)
            self._directory.create(LAYOUT, content)
            return
        if (stored := self._directory.read(LAYOUT)) is None:
            raise invalid_checkpoint(self._directory.path(LAYOUT), "is missing")
        if stored != content:
            raise ConflictError(
                f"other stages have written the rows in {self._directory.root!r}",
                code="checkpoint-mismatch",
                hint=DELETE_CHECKPOINT,
            )

    def _new_rows(self, rows: DataFrame, number: int) -> dict[int, Changes]:
        """Return the new rows of sources, and in the first micro-batch those of other tables."""
        arrived = {}
        for place, scan in enumerate(self._query.sources):
            own = rows_of_source(rows, place).drop(WATERMARK)
            changes = self._query.changes[place]
            if changes == INSERTIONS and CHANGE_ORDER in own.columns:
                own = _in_order_of_arrival(own)
            in_order = None
            if changes.have_kinds and id(scan) in self._in_order_scans:
                in_order = own.orderBy(quote(CHANGE_ORDER)).drop(CHANGE_ORDER)
            is_by_row = in_order is None or id(scan) in self._by_row_scans
            frame = self._changes_of(place, own) if is_by_row else in_order
            arrived[id(scan)] = Changes(frame, changes.inserts, in_order)
        for place, (scan, _) in enumerate(self._query.operators, len(self._query.sources)):
            own = rows_of_source(rows, place).drop(WATERMARK)
            arrived[id(scan)] = Changes(adding(own), inserts=True)
        for scan, relation in self._query.bounded:
            frame = self._frame_of(relation, result_columns(relation), {}).toDF(
                *(column.name for column in scan.columns)
            )
            frame = frame if number == 0 else frame.limit(0)
            arrived[id(scan)] = Changes(adding(frame), inserts=True)
        return arrived

    def _changes_of(self, place: int, rows: DataFrame) -> DataFrame:
        """Return the changes of a source for its rows in a micro-batch."""
        changes = self._query.changes[place]
        if changes.are_rows:
            return self._changes_as_rows(self._query.sources[place], rows)
        if changes.inserts:
            return adding(rows)
        for name in processing_times(self._query.sources[place].columns):
            rows = _at_time(rows, name, self._now)
        if changes.key:
            return self._normalize(place, rows, changes.key)
        rows = rows.drop(CHANGE_ORDER)
        is_in_session = id(self._query.sources[place]) in self._in_sessions
        return rows if is_in_session else without_opposites(rows)

    def _changes_as_rows(self, scan: Scan, rows: DataFrame) -> DataFrame:
        """Return changes in their order, as added rows with their kind as the last column.

        Rows before updates are left out, as in Flink: see decision 44.
        """
        *columns, kind = scan.columns
        changes = rows.where(f"{quote(ROW_KIND)} <> '{RowKind.UPDATE_BEFORE}'")
        ordered = changes.orderBy(quote(CHANGE_ORDER))
        own = [quote(column.name) for column in columns]
        return adding(ordered.selectExpr(*own, f"{quote(ROW_KIND)} AS {quote(kind.name)}"))

    def _normalize(self, place: int, rows: DataFrame, key: Sequence[str]) -> DataFrame:
        """Return the changes of the rows of keys, of which a micro-batch has the last ones."""
        types = {field.name: field.dataType for field in rows.schema.fields}
        values = ", ".join(comparable(quote(name), types[name]) for name in key)
        changes = rows.where(f"{quote(ROW_KIND)} <> '{RowKind.UPDATE_BEFORE}'")
        new = last_of_key(changes, key)
        stored = self._normalized[place]
        before = stored.rows_before(adding(new))
        former = None
        if before is not None:
            keyed = f"struct({values}) AS {quote(HASH)}"
            keys = changes.selectExpr(keyed).distinct()
            of_keys = before.selectExpr("*", keyed).join(keys, HASH, "left_semi").drop(HASH)
            former = stored.remaining(of_keys).drop(ROW_KIND)
        change = stored.add(difference(new, former))
        stored.compact(change)
        return change

    # --- time ----------------------------------------------------------------------------------

    def _advance(self, rows: DataFrame, number: int) -> BatchTime:
        """Return the times of a micro-batch: the watermark is the least one of the sources.

        It is that of the rows that have arrived, in milliseconds, and one later.
        """
        latest = [
            f"unix_millis(max({quote(f'{ROW}{place}')}.{quote(WATERMARK)})) AS w{place}"
            for place in self._query.timed
        ]
        new = (rows.selectExpr(*latest).first() or ()) if latest else ()
        batch = self._watermarks.advance(number, new, now())
        self._watermark, self._now, self.times = batch.after, batch.now, batch
        return batch

    def _release(
        self,
        place: int,
        gate: Gate,
        changes: Mapping[int, Changes],
        times: BatchTime,
    ) -> DataFrame:
        """Return the rows of a gate whose time has passed in a micro-batch."""
        before, after = times.before, times.after
        if gate.arrival is not None:
            before, after = times.since, times.now
        millis = self._end_of_wait(gate)
        is_kept, is_waiting = (
            "TRUE" if time is None else f"{millis} > {self._time_of_gate(gate, time)}"
            for time in (before, after)
        )
        stored = self._kept[place, 0]
        rows = self._with_order(self._by_row(gate.input.rows, changes), gate.input)
        if gate.arrival is not None:
            rows = _at_time(rows, gate.arrival.name, times.now)
        if gate.is_rewritten:
            rows = self._with_waiting(gate, rows, stored, is_kept)
            rows = stored.replace(rows.where(is_kept)).where(f"NOT ({is_waiting})")
            rows = self._with_time_of_end(gate, rows, times.now)
            if gate.has_removals:
                return without_opposites(rows)
            return stored.remaining(rows) if gate.is_extended else rows
        if gate.windows is not None:
            rows = self._with_windows(gate, rows)
        has_late = not gate.keeps_late and gate.arrival is None
        rows = stored.add(rows, is_kept if has_late else "TRUE")
        waiting = stored.rows_before(rows)
        stored.compact(rows, is_waiting)
        if waiting is not None:
            rows = waiting.where(is_kept).union(rows)
        rows = rows.where(f"NOT ({is_waiting})")
        rows = stored.remaining(rows) if gate.inserts else without_opposites(rows)
        return self._with_time_of_end(gate, rows, times.now)

    def _end_of_wait(self, gate: Gate) -> str:
        """Return the watermark or processing time at which a row of a gate is returned."""
        if gate.arrival is not None:
            physical = from_physical(nodes.Column(gate.time.name), gate.time.type)
            last = inline("{end} - 1", end=datetimes.millis(physical))
            return f"({nodes.to_sql(last_instant(last, self._clock))} + 1)"
        millis = self._millis(gate.time)
        if gate.keeps_late:  # the time of a row that an outer join lacks is 0, as in Flink
            millis = f"coalesce({millis}, 0L)"
        return millis if gate.is_end else f"({millis} + 1)"

    def _millis(self, column: Column) -> str:
        """Return a rowtime in milliseconds."""
        physical = from_physical(nodes.Column(column.name), column.type)
        return nodes.to_sql(datetimes.clock_millis(physical, column.type, self._clock))

    def _time_of_gate(self, gate: Gate, millis: int) -> str:
        """Return the time by which rows of a gate are returned, for that of the sources."""
        return self._time_before(gate.time, millis, gate.delay)

    def _time_before(self, column: Column, millis: int, delay: int) -> str:
        """Return the time some milliseconds before a watermark, by the clock of a rowtime."""
        zone = self._clock if isinstance(column.type, LocalZonedTimestampType) else "UTC"
        return nodes.to_sql(earlier_clock(millis, delay, zone))

    def _with_windows(self, gate: Gate, rows: DataFrame) -> DataFrame:
        """Return changes of the input of a gate with their windows.

        As in Flink, a row that is removed extends a session, too.
        """
        windows = cast("relational.WindowTable", gate.windows)
        columns = gate.input.scan.columns
        more = (ORDER_OF_ROW, KIND) if gate.input.is_ordered else (KIND,)
        scan, width = scan_of((*columns, *more), ROW_KIND), len(columns)
        names = [column.name for column in (*windows.columns, *more)]
        columns = (*windows.columns[:width], *more, *windows.columns[width:])
        windows = replace(windows, input=scan, columns=columns)
        own = rows.select(*(quote(column.name) for column in scan.columns))
        return self._frame_of(windows, columns, {id(scan): own}).select(*map(quote, names))

    def _with_waiting(
        self, gate: Gate, rows: DataFrame, stored: StoredRows, is_kept: str
    ) -> DataFrame:
        """Return the changes that wait and new ones, with their windows.

        A late row of a session that waits is kept, as in Flink.
        """
        if not gate.is_extended:
            rows = self._with_windows(gate, rows)
            waiting = stored.rows_before(rows)
            rows = rows if waiting is None else waiting.where(is_kept).union(rows)
            return stored.remaining(rows)
        own = [*map(quote, rows.columns)]
        waiting = stored.rows_before(self._with_windows(gate, rows))
        if waiting is not None:
            rows = waiting.where(is_kept).select(*own).union(rows.select(*own))
        return self._with_windows(gate, rows)

    @staticmethod
    def _with_time_of_end(gate: Gate, rows: DataFrame, millis: int) -> DataFrame:
        """Return the rows of windows of the processing time with the time at which they end."""
        names = gate.apart if gate.has_removals else [gate.result.columns[-1].name]
        rows = rows.orderBy(quote(ORDER)).drop(ORDER) if gate.input.is_ordered else rows
        if gate.arrival is None and not gate.has_removals:
            return rows
        return reduce(lambda frame, name: _at_time(frame, name, millis), names, rows)

    # --- stages --------------------------------------------------------------------------------

    def _convert(self, stage: Conversion, changes: Mapping[int, Changes]) -> DataFrame:
        """Return the changes of rows with codes, or rows with the codes of changes."""
        function = stage.function
        if stage.by_change is not None:
            rows = self._in_order(stage.input.rows, stage.by_change, changes)
        else:
            rows = self._by_row(stage.input.rows, changes)
            if function is not None and not stage.inserts:
                return without_opposites(decode_changes(rows.drop(ROW_KIND), function))
            rows = in_order_of_changes(rows, stage.key)
        if function is None:
            return adding(rows.toDF(*(column.name for column in stage.result.columns)))
        return adding(encode_changes(rows, function))

    def _run(self, place: int, stage: Stage, changes: Mapping[int, Changes]) -> DataFrame:
        """Return the changes of a stage's result, without columns of its key."""
        read = []
        for index, input_ in enumerate(stage.inputs):
            new = self._arrivals(input_, changes)
            read.append(self._kept[place, index].add(self._clock_of(stage).with_time(new)))
        keys = reduce(
            lambda left, right: left.union(right), [new.select(quote(HASH)) for new in read]
        ).distinct()
        kept = [self._kept[place, index] for index in range(len(read))]
        before = {
            index: _of_keys(rows, keys, has_key=bool(stage.inputs[index].key))
            for index, new in enumerate(read)
            if (rows := kept[index].rows_before(new)) is not None
        }
        clock = self._clock_of(stage)
        stored = self._results[place]
        touched = self._touched_results(stage, stored, read[0], keys)
        living = clock.living_keys([*before.values(), *touched])
        frames = {}
        for index, (input_, new) in enumerate(zip(stage.inputs, read, strict=True)):
            rows = new
            if index in before:
                rows = clock.of_keys(before[index], living).union(new)
            frames[id(input_.scan)] = _as_read(kept[index].remaining(rows.drop(TOUCHED)), input_)
        columns = result_columns(stage.query)
        result = self._frame_of(stage.query, columns, frames)
        result = result.selectExpr("*", f"{_hash(result, stage.key)} AS {quote(HASH)}")
        hidden = [column.name for column in columns[len(stage.result.columns) :]]
        result = result.drop(*hidden)
        if touched:  # without new rows, an expired key has no result, not that of no rows
            result = _of_keys(result, keys, has_key=True)
        like = clock.with_time(adding(result))
        old = stored.rows_before(like)
        if stage.inserts and old is None:
            new_changes = adding(result)
        else:
            former = None
            if old is not None:
                has_key = bool(stage.key or touched)
                old = clock.of_keys(_of_keys(old, keys, has_key=has_key), living)
                former = stored.remaining(old.drop(TOUCHED))
            new_changes = difference(result, None if former is None else former.drop(ROW_KIND))
            new_changes = _without_removals(new_changes, stage) if stage.inserts else new_changes
        change = stored.add(clock.with_time(new_changes))
        clock.compact(kept, read, [(stored, change)])
        return change.drop(HASH, TOUCHED)

    @staticmethod
    def _touched_results(
        stage: Stage, stored: StoredRows, new: DataFrame, keys: DataFrame
    ) -> list[DataFrame]:
        """Return the results of some keys, with the times of their changes, if rows expire.

        A key has a result without rows: that of an aggregate without GROUP BY.
        """
        if not stage.retention:
            return []
        results = stored.rows_before(new.select(quote(HASH), quote(TOUCHED)))
        return [] if results is None else [_of_keys(results, keys, has_key=True)]

    def _clock_of(self, stage: Stage) -> ClockOfKeys:
        return ClockOfKeys(stage.retention, self._now)

    def _run_complete(self, stage: Stage, changes: Mapping[int, Changes]) -> DataFrame:
        """Return the result of a stage for keys whose rows have arrived in this micro-batch."""
        frames = {}
        for input_ in stage.inputs:
            own = [quote(column.name) for column in input_.scan.columns]
            frames[id(input_.scan)] = self._by_row(input_.rows, changes).select(*own)
        result = self._frame_of(stage.query, result_columns(stage.query), frames)
        return adding(result.select(*(quote(column.name) for column in stage.result.columns)))

    def _run_drivers(
        self, place: int, stage: Stage, changes: Mapping[int, Changes], times: BatchTime
    ) -> DataFrame:
        """Return the rows of a stage's result for the new rows of its drivers."""
        new = {}
        before: dict[int, DataFrame | None] = {}
        for index, input_ in enumerate(stage.inputs):
            rows = self._arrivals(input_, changes)
            stored = self._kept.get((place, index))
            if stored is not None:
                rows = stored.add(self._clock_of(stage).with_time(rows))
            new[index] = rows
            before[index] = None if stored is None else stored.rows_before(rows)
        results = [
            self._frame_of(stage.query, result_columns(stage.query), frames)
            for driver in stage.drivers
            if (frames := self._frames_of_driver(stage, driver, new, before, times)) is not None
        ]
        kept = [self._kept[place, index] for index in stage.kept]
        limits = [self._limit_of(stage.inputs[index], times.after) for index in stage.kept]
        own = [new[index] for index in stage.kept]
        self._clock_of(stage).compact(kept, own, limits=limits)
        rows = reduce(lambda left, right: left.union(right), results)
        rows = rows.where(quote(NEW.name)) if stage.marked else rows
        return adding(rows.select(*(quote(column.name) for column in stage.result.columns)))

    def _run_timers(
        self, place: int, stage: Stage, changes: Mapping[int, Changes], times: BatchTime
    ) -> DataFrame:
        """Return the new rows of a function for keys with new rows, or whose timers fire.

        The function is called again for the rows before, between which its timers fire as the
        watermark was when a row arrived. The time of the next timer of each key is kept.
        """
        [input_], stored, timers = stage.inputs, self._kept[place, 0], self._timers[place]
        arrived = _with_values(
            self._arrivals(input_, changes), {ARRIVED_AT.name: _bigint(times.before)}
        )
        new = stored.add(arrived)
        keys = new.select(quote(HASH))
        following = quote(NEXT_TIMER.name)
        like = new.selectExpr(quote(HASH), f"CAST(NULL AS BIGINT) AS {following}", quote(ROW_KIND))
        waiting = timers.rows_before(like)
        has_advanced = times.after is not None and times.after != times.before
        until = _bigint(times.after if has_advanced else None)
        if waiting is not None:
            waiting = timers.remaining(waiting).drop(ROW_KIND)
            keys = keys.union(waiting.where(f"{following} < {until}").select(quote(HASH)))
        keys = keys.distinct()
        before = stored.rows_before(new)
        rows = new
        if before is not None:
            former = _of_keys(_as_former(before), keys, has_key=bool(input_.key))
            rows = former.unionByName(new)
        values = {
            REACHED.name: _bigint(times.before),
            FIRES_UNTIL.name: until,
            KEY_NUMBER.name: quote(HASH),
        }
        rows = _with_values(rows, values)
        frames = {id(input_.scan): _as_read(rows, input_)}
        made = self._frame_of(stage.query, result_columns(stage.query), frames)
        made = self._outputs[place].replace(adding(made))
        new_timers = made.where(f"{following} IS NOT NULL").selectExpr(
            f"{quote(KEY_NUMBER.name)} AS {quote(HASH)}", following
        )
        old = None if waiting is None else _of_keys(waiting, keys, has_key=True)
        timers.compact(timers.add(difference(new_timers, old)))
        stored.compact(new)
        rows = made.where(f"{quote(NEW.name)} AND {following} IS NULL")
        return rows.select(*(quote(column.name) for column in stage.result.columns), ROW_KIND)

    def _frames_of_driver(
        self,
        stage: Stage,
        driver: int,
        new: Mapping[int, DataFrame],
        before: Mapping[int, DataFrame | None],
        times: BatchTime,
    ) -> dict[int, DataFrame] | None:
        """Return the rows that the new rows of an input meet, by scan; None if none can be met."""
        keys = new[driver].select(quote(HASH)).distinct()
        earlier = {
            index: _of_keys(_as_former(rows), keys, has_key=bool(stage.inputs[index].key))
            for index, rows in before.items()
            if rows is not None and (index != driver or stage.marked)
        }
        clock = self._clock_of(stage)
        living = clock.living_keys(
            _of_keys(rows, keys, has_key=bool(stage.inputs[index].key))
            for index, rows in before.items()
            if rows is not None
        )
        frames = {}
        for index, input_ in enumerate(stage.inputs):
            parts = [new[index]] if index <= driver else []
            if index in earlier:
                rows = clock.of_keys(earlier[index], living)
                limit = self._limit_of(input_, times.before)
                parts.append(rows if limit is None else limit(rows))
            if not parts:
                return None
            rows = reduce(lambda left, right: left.unionByName(right), parts)
            frames[id(input_.scan)] = _as_read(rows, input_)
        return frames

    def _limit_of(self, input_: Input, watermark: int | None) -> FrameChange | None:
        """Return what selects the rows of an input that a watermark leaves; None for all."""
        if input_.is_use:
            return lambda rows: rows.distinct()
        expiry = input_.expiry
        if isinstance(expiry, TimeExpiry):
            if watermark is None:
                return None
            least = self._time_before(expiry.time, watermark, expiry.wait)
            condition = f"{self._millis(expiry.time)} >= {least}"
            return lambda rows: rows.where(condition)
        if expiry is None or (watermark is None and not expiry.is_first):
            return None
        waits = "FALSE" if expiry.is_first else f"{self._millis(expiry.time)} + 1 > {watermark}L"
        return partial(_remaining_versions, expiry, waits)

    def _arrivals(self, input_: Input, changes: Mapping[int, Changes]) -> DataFrame:
        """Return the changes of an input with the hash of their key, and their order if needed."""
        rows = self._with_hash(self._by_row(input_.rows, changes), input_)
        if input_.arrival is not None:
            rows = _at_time(rows, input_.arrival.name, self._now)
        return self._with_order(rows, input_)

    def _with_order(self, rows: DataFrame, input_: Input) -> DataFrame:
        """Return changes of an input with `ORDER` if it is read in the order of arrival."""
        if not input_.is_ordered:
            return rows
        order = f"struct({self._number}L, monotonically_increasing_id()) AS {quote(ORDER)}"
        return rows.selectExpr("*", order)

    def _with_hash(self, changes: DataFrame, input_: Input) -> DataFrame:
        """Return changes of an input with the hash of their key instead of its columns."""
        width = len(changes.columns) - 1 - input_.key
        places = tuple((width + place,) for place in range(input_.key))
        frame = changes.selectExpr("*", f"{_hash(changes, places)} AS {quote(HASH)}")
        return frame.drop(*changes.columns[width : width + input_.key])

    def _in_order(
        self, rows: Relation, query: Relation, changes: Mapping[int, Changes]
    ) -> DataFrame:
        """Return the changes of `rows` by a query that has their kinds, in their order."""
        scans = (
            [part for part in relational.relations_in(each) if isinstance(part, Scan)]
            for each in (rows, query)
        )
        frames = {}
        for scan, with_kinds in zip(*scans, strict=True):
            if id(scan) in changes:
                own = changes[id(scan)]
                frame = own.frame if own.in_order is None else own.in_order
                frames[id(with_kinds)] = frame if has_kinds(with_kinds) else frame.drop(ROW_KIND)
        return self._frame_of(query, result_columns(query), frames)

    def _by_row(self, relation: Relation, changes: Mapping[int, Changes]) -> DataFrame:
        """Return the changes of a relation by row."""
        if isinstance(relation, Scan):
            return changes[id(relation)].frame
        scans = {id(part) for part in relational.relations_in(relation)}
        read = {scan: change for scan, change in changes.items() if scan in scans}
        columns = result_columns(relation)
        frames = []
        for is_addition in (True, False):
            if not is_addition and all(change.inserts for change in read.values()):
                continue
            rows = {
                scan: change.frame.where(is_added(is_addition)).drop(ROW_KIND)
                for scan, change in read.items()
            }
            frames.append(adding(self._frame_of(relation, columns, rows), adds=is_addition))
        return reduce(lambda left, right: left.union(right), frames)


def _identities(relations: Iterable[Relation]) -> frozenset[int]:
    """Return the identities of the parts of relations."""
    parts = (part for relation in relations for part in relational.relations_in(relation))
    return frozenset(map(id, parts))


def _in_order_of_arrival(rows: DataFrame) -> DataFrame:
    """Return rows of a micro-batch sorted by `CHANGE_ORDER`, and equal ones as they are read."""
    numbered = rows.selectExpr("*", f"monotonically_increasing_id() AS {quote(ORDER)}")
    return numbered.orderBy(quote(CHANGE_ORDER), quote(ORDER)).drop(CHANGE_ORDER, ORDER)


def _layout_of(stage: AnyStage) -> list[Any]:
    """Return what decides how a stage keeps its rows."""
    layout: list[Any] = [stage.name, list(stage.kept), [own.key for own in stage.inputs]]
    return [*layout, bool(stage.retention), stage.key] if isinstance(stage, Stage) else layout


def _at_time(rows: DataFrame, name: str, millis: int) -> DataFrame:
    """Return rows with a time in milliseconds as the value of a column."""
    return rows.selectExpr(*(
        f"CAST(timestamp_millis({millis}L) AS {field.dataType.simpleString()}) AS {quote(name)}"
        if field.name == name
        else quote(field.name)
        for field in rows.schema.fields
    ))  # fmt: skip


def _with_values(rows: DataFrame, values: Mapping[str, str]) -> DataFrame:
    """Return rows with expressions as the values of columns."""
    return rows.selectExpr(*(
        f"{values[name]} AS {quote(name)}" if name in values else quote(name)
        for name in rows.columns
    ))  # fmt: skip


def _bigint(value: int | None) -> str:
    return "CAST(NULL AS BIGINT)" if value is None else f"{value}L"


def _hash(frame: DataFrame, key: KeyColumns) -> str:
    """Return the expression of the hash of a key; one key has a constant one."""
    fields = frame.schema.fields
    values = []
    for places in key:
        parts = [comparable(quote(fields[place].name), fields[place].dataType) for place in places]
        values.append(f"coalesce({', '.join(parts)})" if len(parts) > 1 else parts[0])
    return f"xxhash64({', '.join(values)})" if values else "0L"


def _without_removals(changes: DataFrame, stage: Stage) -> DataFrame:
    """Return changes of a result to which rows are only added; a removal fails the job."""
    message = f"{stage.name} removes a row that it has returned"
    kind = f"if({is_added(True)}, {quote(ROW_KIND)}, CAST(raise_error('{message}') AS STRING))"
    return changes.selectExpr(*(
        f"{kind} AS {quote(name)}" if name == ROW_KIND else quote(name) for name in changes.columns
    ))  # fmt: skip


def _of_keys(rows: DataFrame, keys: DataFrame, *, has_key: bool) -> DataFrame:
    """Return the rows of some keys; without columns of a key those of the only one."""
    return rows_of_keys(rows, keys) if has_key else rows


def _as_read(rows: DataFrame, input_: Input) -> DataFrame:
    """Return the rows of an input as the query of a stage reads them."""
    rows = rows.orderBy(quote(ORDER)) if input_.is_ordered else rows
    rows = rows.drop(HASH, ROW_KIND, ORDER, TOUCHED)
    return (
        rows
        if len(rows.columns) == len(input_.scan.columns)
        else with_all_columns(rows, input_.scan)
    )


def _remaining_versions(expiry: VersionExpiry, waits: str, rows: DataFrame) -> DataFrame:
    """Return the versions that the watermark has not passed, and one of each key before it.

    `waits` is the condition of the former.
    """
    types = {field.name: field.dataType for field in rows.schema.fields}
    keys = [comparable(quote(name), types[name]) for name in expiry.key]
    direction = "ASC" if expiry.is_first else "DESC"
    order = f"{quote(expiry.time.name)} {direction}, {quote(ORDER)} {direction}"
    place = f"row_number() OVER (PARTITION BY {', '.join([*keys, waits])} ORDER BY {order})"
    marked = rows.selectExpr("*", f"{waits} OR {place} = 1 AS {quote(NEW.name)}")
    return marked.where(quote(NEW.name)).drop(NEW.name)


def _as_former(rows: DataFrame) -> DataFrame:
    """Return rows whose column `NEW`, if they have one, is false."""
    return rows.selectExpr(*(
        f"FALSE AS {quote(name)}" if name == NEW.name else quote(name) for name in rows.columns
    ))  # fmt: skip
