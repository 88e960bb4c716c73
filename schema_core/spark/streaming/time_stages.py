"""Operations by a time attribute: windows, OVER, ORDER BY and MATCH_RECOGNIZE as stages.

Rows wait until the watermark has passed their rowtime, or until a window of the processing time
ends. Which rowtimes can be waited for is derived from the stages below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, cast

from schema_core.expressions.aggregate_calls import is_measured
from schema_core.expressions.typed import (
    FunctionCall,
    Ref,
    Typed,
    substitute,
)
from schema_core.query import relation as relational
from schema_core.query.relation import (
    Column,
    Item,
    Relation,
    Scan,
    relations_in,
    result_columns,
)
from schema_core.query.window_bounds import bounds_of_window
from schema_core.spark.streaming.block_keys import (
    has_state,
    is_plain,
    is_so_far,
    looks_ahead,
    time_of,
    window_calls,
)
from schema_core.spark.streaming.group_windows import INPUT
from schema_core.spark.streaming.rowtimes import is_column_in_time
from schema_core.spark.streaming.stage_builder import HINT, StageBuilder
from schema_core.spark.streaming.stage_plans import (
    NEW,
    Gate,
    Stage,
    all_columns,
)
from schema_core.types import DataTypes
from schema_core.types.temporal import TimestampKind, timestamp_kind

#: The kinds of time attributes.
TIMES: Final = frozenset({TimestampKind.ROWTIME, TimestampKind.PROCTIME})


class TimeStages(StageBuilder):
    """Methods return a relation that is computed by row, after adding the stages below it.

    `waits` is whether rows of windows that are updated wait without their removals, as the
    aggregates of windows require.
    """

    def __init__(self, retention: timedelta, *, waits: bool) -> None:
        super().__init__(retention)
        self._waits = waits
        #: windows whose rows are read in the order of their arrival, and those whose rows do not
        #: wait, by identity
        self._ordered: set[int] = set()
        self._passing: set[int] = set()

    def _window(self, window: relational.WindowTable) -> Relation:
        """Return the rows of windows, all of those of a window at once."""
        kind = timestamp_kind(window.time.type)
        if kind not in TIMES:
            self.refuse(f"{window.function} by a column that is not a time attribute", HINT)
        rows, is_by_clock = self._by_row(window.input), kind is TimestampKind.PROCTIME
        is_session = window.function == "SESSION"
        has_removals = not (self._waits or self.inserts(rows))
        if id(window) in self._passing or (has_removals and not is_session):
            return replace(window, input=rows)
        is_later = is_by_clock or is_session
        if not is_by_clock:
            time = place_of(window.time, window.columns)
            self._require_time_of_rows(rows, time, window.function)
        result = self.add_gate(
            rows if is_later else replace(window, input=rows),
            len(window.columns) - 2,
            window.function,
            is_end=True,
            windows=window if is_later else None,
            arrival=place_of(window.time, window.columns) if is_by_clock else None,
            has_removals=has_removals,
        )
        if id(window) in self._ordered and self.inserts(rows):
            gate = cast("Gate", self.stages[-1])
            self.stages[-1] = replace(gate, input=replace(gate.input, is_ordered=True))
        if not has_removals:  # as in Flink, operations of such rows are not those of windows
            self.windows[id(result)] = bounds_of_window(window)
        return result

    def _rows_by_arrival(self, rows: Relation, *, waits: bool) -> Relation:
        """Return rows by row, in the order of their arrival.

        As in Flink, windows pass them on at once to OVER by the processing time, but not to ranks
        (`waits`).
        """
        below: Relation | None = rows
        while below is not None:
            match below:
                case relational.WindowTable(function=function, input=source):
                    self._ordered.add(id(below))
                    if not waits and function != "SESSION":
                        self._passing.add(id(below))
                    below = source
                case relational.Named(input=source):
                    below = source
                case relational.Select(source=source) if not has_state(below):
                    below = source
                case _:
                    below = None
        return self._by_row(rows)

    def _wait_for(self, rows: Relation, place: int, name: str) -> Relation:
        """Return rows when the watermark has passed their rowtime."""
        self._require_time_of_rows(rows, place, name)
        return self.add_gate(rows, place, name, is_end=False)

    def _require_time_of_rows(self, rows: Relation, place: int, name: str) -> None:
        """Refuse to wait for the rowtime of a version, which is older than that of its row.

        A row of a bounded table is joined with rows that arrive after its rowtime, too.
        """
        if not self._is_time_of_rows(rows, place):
            self.refuse(
                f"{name} on the rowtime of a version or of a bounded table that is joined",
                "use the rowtime of the unbounded table, which is on the left side of joins FOR"
                " SYSTEM_TIME AS OF",
            )

    def _is_time_of_rows(self, rows: Relation, place: int) -> bool:
        """Return whether a rowtime is that of the rows that arrive."""
        return is_column_in_time(rows, place, self._is_time_of_result, self.changes, otherwise=True)

    def _is_time_of_result(self, scan: Scan, place: int) -> bool:
        if id(scan) in self._version_times:
            return place not in self._version_times[id(scan)]
        match next((stage for stage in self.stages if stage.result is scan), None):
            case Gate(input=input_) if place < len(input_.scan.columns):
                return self._is_time_of_rows(input_.rows, place)
            case Stage() as stage:
                return _is_time_of_inputs(stage, place, self._is_time_of_rows, otherwise=True)
            case _:
                return True

    def _is_in_time(self, scan: Scan, place: int) -> bool:
        """Return whether rows arrive before the watermark passes a column, if they are not late."""
        for operator, plan in self._operators:
            if operator is scan:
                return is_column_in_time(plan.query, place, _is_never, self.changes)
        stage = next((stage for stage in self.stages if stage.result is scan), None)
        match stage:
            case None:
                return True
            case Gate(arrival=Column()):
                return False
            case Gate(windows=None, is_end=True):
                return is_column_in_time(stage.input.rows, place, _is_never, self.changes)
            case Gate():
                time = len(scan.columns) - 1 if stage.is_end else scan.columns.index(stage.time)
                return place == time
            case Stage(complete=True):
                return _is_time_of_inputs(
                    stage,
                    place,
                    lambda rows, own: is_column_in_time(rows, own, self._is_in_time, self.changes),
                )
            case _:
                return place in self._in_time.get(id(scan), ())

    def _over(
        self,
        block: relational.Select,
        named: relational.Named,
        below: Relation,
        key: Sequence[Typed],
    ) -> Relation:
        """Return the result of OVER and QUALIFY: each row has its own, of rows before it.

        RANGE measures the processing times of rows, which are those of their micro-batches.
        """
        place = time_of(window_calls(block)[0], named)
        is_by_clock = timestamp_kind(named.columns[place].type) is TimestampKind.PROCTIME
        if not is_by_clock:
            below = self.add_gate(below, place, "OVER", is_end=False)
        elif not self.inserts(below):
            self.refuse("OVER of rows that are updated", HINT)
        input_ = self.make_input(below, key, [NEW], by_arrival=is_by_clock)
        if is_by_clock:
            input_ = replace(input_, arrival=input_.scan.columns[place])
            items = [
                item._replace(expression=_with_stored_times(item.expression))
                for item in block.items
            ]
            qualify = None if block.qualify is None else _with_stored_times(block.qualify)
            block = replace(block, items=tuple(items), qualify=qualify)
        mark = Item(NEW.name, Ref(NEW.name, NEW.expression.type, named.alias))
        columns = (*named.columns, Column(mark.name, mark.expression.type))
        source = replace(named, input=input_.scan, columns=columns)
        query = replace(block, items=(*block.items, mark), source=source)
        return self.add_stage(query, [input_], (), "OVER", inserts=True, drivers=(0,), marks=1)

    def _is_by_time(
        self, calls: Sequence[FunctionCall], named: relational.Named, below: Relation
    ) -> bool:
        """Return whether calls with OVER are ordered by a time attribute of the rows `below`.

        Others are ordered by any column, up to the current row, as Flink requires in streaming
        mode: their values are updated when a row arrives before others in the order. Such a column
        is the rowtime of a version, of a bounded table that is joined, and of a join without
        windows or bounds of the rowtimes, too.
        """
        for call in calls:
            if looks_ahead(call):
                self.refuse(f"{call.function.name} OVER rows that arrive later", HINT)
        overs = [call.over for call in calls if call.over is not None]
        orders = [over.order_by for over in overs]
        kinds = {timestamp_kind(key.value.type) for order in orders for key in order[:1]}
        is_ascending = all(order and not order[0].descending for order in orders)
        if is_ascending and len(kinds) == 1 and kinds <= TIMES:
            places = {time_of(call, named) for call in calls}
            is_of_rows = len(places) == 1 and self._is_time_of_rows(below, *places)
            if is_of_rows and self.is_in_time(below):
                return True
        hint = "order by a time attribute, or select the first rows by ROW_NUMBER"
        if not is_ascending or any(len(order) > 1 for order in orders):
            self.refuse("OVER that is not ordered by one column, ascending,", hint)
        if any(over.frame is not None and not is_so_far(over.frame) for over in overs):
            self.refuse(
                "OVER of some of the rows before, which is not ordered by a time attribute,", hint
            )
        if len({(over.partition_by, over.order_by) for over in overs}) > 1:
            self.refuse("OVER several windows, which are not ordered by one time attribute,", hint)
        return False

    def _temporal_sort(self, sort: relational.Sort) -> Relation:
        """Return rows in the order of a time attribute, ascending.

        Those of a rowtime wait until the watermark has passed it.
        """
        rows, first = self._by_row(sort.input), sort.keys[0]
        time, kind = first.expression, timestamp_kind(first.expression.type)
        if not isinstance(time, Ref) or kind not in TIMES or first.descending:
            self._refuse_order()
        time = cast("Ref", time)
        if kind is TimestampKind.ROWTIME:
            place = place_of(time, result_columns(sort.input))
            rows = self._wait_for(rows, place, "ORDER BY")
        elif not self.inserts(rows):
            self.refuse("ORDER BY of rows that are updated", HINT)
        input_ = self.make_input(rows)
        query = replace(sort, input=all_columns(input_.scan))
        return self.add_stage(query, [input_], (), "ORDER BY", inserts=True, complete=True)

    def _refuse_order(self) -> None:
        self.refuse(
            "ORDER BY without FETCH or LIMIT, except by a time attribute, ascending,",
            "add LIMIT, or sort the rows where they are read",
        )

    def _match(self, match: relational.Match) -> Relation:
        """Return the matches of a pattern over rows in the order of a time attribute.

        The processing time of a row is that of the micro-batch in which it arrives. Rows with equal
        times are in the order of arrival.
        """
        named, order = match.input, match.order_by[:1]
        kinds = [timestamp_kind(key.expression.type) for key in order if not key.descending]
        if not kinds or kinds[0] not in TIMES or not is_plain(named):
            self.refuse("MATCH_RECOGNIZE that is not ordered by a time attribute, ascending,", HINT)
        named = cast("relational.Named", named)
        rows, is_by_clock = self._by_row(named), kinds[0] is TimestampKind.PROCTIME
        alias = named.alias if is_by_clock else INPUT
        if not is_by_clock:
            place = place_of(order[0].expression, named.columns)
            rows = self._wait_for(rows, place, "MATCH_RECOGNIZE")
        elif not self.inserts(rows):
            self.refuse("MATCH_RECOGNIZE of rows that are updated", HINT)
        keys = [part for part in match.partition_by if isinstance(part, Ref)]
        input_ = self.make_input(rows, [replace(part, relation=alias) for part in keys])
        query = replace(match, input=replace(named, input=input_.scan))
        if is_by_clock:
            time = cast("Ref", order[0].expression)
            arrival = input_.scan.columns[place_of(time, named.columns)]
            input_ = replace(input_, is_ordered=True, arrival=arrival)
            sorted_by = (order[0]._replace(expression=_stored_time(time)), *match.order_by[1:])
            query = replace(query, order_by=sorted_by)
        places = tuple((place,) for place in range(len(keys)))
        return self.add_stage(query, [input_], places, "MATCH_RECOGNIZE", inserts=True)


def _stored_time(time: Ref) -> Ref:
    """Return a processing time as the time that is stored with a row."""
    return replace(time, type=DataTypes.TIMESTAMP_LTZ(3).with_kind(TimestampKind.ROWTIME))


def _with_stored_times(typed: Typed) -> Typed:
    """Return an expression in which RANGE measures the stored times of rows."""

    def change(part: Typed) -> Typed | None:
        over = part.over if isinstance(part, FunctionCall) else None
        if over is None or not is_measured(over):
            return None
        keys = tuple(
            replace(key, value=_stored_time(cast("Ref", key.value))) for key in over.order_by
        )
        return replace(cast("FunctionCall", part), over=replace(over, order_by=keys))

    return substitute(typed, change)


def place_of(column: Typed, columns: Sequence[Column]) -> int:
    """Return the position of a column by its name."""
    return [own.name for own in columns].index(cast("Ref", column).name)


def _is_never(_: Scan, __: int) -> bool:
    return False


def _is_time_of_inputs(
    stage: Stage, place: int, of_rows: Callable[[Relation, int], bool], *, otherwise: bool = False
) -> bool:
    """Return for a column of a stage whether rows arrive in time, as `of_rows` does for inputs."""
    rows = {id(input_.scan): input_.rows for input_ in stage.inputs}
    return is_column_in_time(
        stage.query,
        place,
        lambda scan, own: of_rows(rows[id(scan)], own),
        lambda part: any(id(own) in rows for own in relations_in(part)),
        otherwise=otherwise,
    )
