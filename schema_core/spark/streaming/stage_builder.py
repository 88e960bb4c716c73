"""The stages of a streaming query while it is planned, and which relations change, and how."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.rankings import reference
from schema_core.query.relation import (
    Column,
    Item,
    Relation,
    Scan,
    relations_in,
    result_columns,
    unique_names,
)
from schema_core.query.window_bounds import Positions, WindowBound, bounds_in, bounds_of, has_bounds
from schema_core.spark.streaming.block_keys import KEY
from schema_core.spark.streaming.group_windows import INPUT
from schema_core.spark.streaming.incremental import StreamPlan
from schema_core.spark.streaming.stage_plans import (
    KIND_OF_CHANGE,
    RESULT,
    AnyStage,
    Conversion,
    Gate,
    Input,
    KeyColumns,
    SourceChanges,
    Stage,
    scan_of,
)
from schema_core.spark.streaming.state_retention import retention_of
from schema_core.types.temporal import TimestampKind

#: What to do instead of an operation that needs all rows.
HINT: Final = (
    "read the table with options that bound it, or write its rows into a table and query that in "
    "batch mode"
)


#: Operations that return a row for a window, whose rows may be updated before.
WINDOW_AGGREGATES: Final = ("GROUP BY", "SELECT DISTINCT")
#: The name of joins as of a rowtime, whose rows have the rowtime for which they wait.
AS_OF: Final = "FOR SYSTEM_TIME AS OF"


class StageBuilder(ABC):
    """The stages of a query so far.

    `retention` is how long the rows of keys without changes are kept; 0 is forever.
    """

    def __init__(self, retention: timedelta) -> None:
        self._retention = retention
        self.stages: list[AnyStage] = []
        #: the identities of the sources whose watermarks gates wait for
        self.timed: set[int] = set()
        #: positions of the bounds of windows all of whose rows arrive in one micro-batch, by scan
        self.windows: dict[int, Positions] = {}
        #: the kinds of time of these windows, by scan
        self.times: dict[int, frozenset[TimestampKind]] = {}
        #: for how many milliseconds rows may arrive after the watermark of the sources, by scan of
        #: the result of a stage; those of joins without bounds of the rowtimes are left out
        self.delays: dict[int, int] = {}
        #: sources, results of stages and bounded rows that arrive, by identity, and whether their
        #: rows are only added
        self.changing: dict[int, tuple[Scan, bool]] = {}
        #: the path of an unbounded table
        self.table = ""
        self._operators: list[tuple[Scan, StreamPlan]] = []
        self._bounded: list[tuple[Scan, Relation]] = []
        #: the unbounded tables, and their changes by identity
        self._sources: list[Scan] = []
        self._changes: dict[int, SourceChanges] = {}
        #: positions of rowtimes of joins as of them, which return rows in time, and of columns of
        #: versions, by scan
        self._in_time: dict[int, set[int]] = {}
        self._version_times: dict[int, set[int]] = {}

    @abstractmethod
    def _by_row(self, relation: Relation) -> Relation:
        """Return a relation by row, after adding the stages below it."""

    def savepoint(self) -> Callable[[], None]:
        """Return a function that removes what is added from now on."""
        lists: list[list[Any]] = [self.stages, self._operators, self._bounded, self._sources]
        lengths = [len(part) for part in lists]

        def undo() -> None:
            for part, length in zip(lists, lengths, strict=True):
                del part[length:]

        return undo

    # --- what changes --------------------------------------------------------------------------

    def changes(self, relation: Relation) -> bool:
        """Return whether rows of a relation arrive over time."""
        return any(id(part) in self.changing for part in relations_in(relation))

    def inserts(self, relation: Relation) -> bool:
        """Return whether rows of a relation by row are only added."""
        return all(
            self.changing[id(part)][1]
            for part in relations_in(relation)
            if id(part) in self.changing
        )

    def refuse(self, operation: str, hint: str) -> None:
        raise UnsupportedError(
            f"{operation} cannot be computed as rows arrive in the unbounded table {self.table}",
            code="streaming-not-supported",
            hint=hint,
        )

    def sources_of(self, rows: Relation) -> set[int]:
        """Return the identities of the sources of a relation, through the stages before it."""
        parts = [rows, *(own.rows for stage in self.stages_below(rows) for own in stage.inputs)]
        return {id(part) for relation in parts for part in relations_in(relation)}

    def stages_below(self, rows: Relation) -> Iterator[AnyStage]:
        """Yield the stages whose results a relation reads, the last one first."""
        read = {id(part) for part in relations_in(rows)}
        for stage in reversed(self.stages):
            if id(stage.result) in read:
                read |= {id(part) for own in stage.inputs for part in relations_in(own.rows)}
                yield stage

    # --- windows -------------------------------------------------------------------------------

    def bounds(self, source: Relation) -> dict[object, WindowBound]:
        """Return the columns of FROM that bound a window which arrives at once."""
        return bounds_in(source, self._bounds_of_scan)

    def bounds_of(self, rows: Relation) -> Positions:
        """Return the positions of such columns in a relation by row."""
        return bounds_of(rows, self._bounds_of_scan)

    def _bounds_of_scan(self, relation: Relation) -> Positions:
        return self.windows.get(id(relation), {})

    def is_complete(self, source: Relation, key: Iterable[Typed]) -> bool:
        """Return whether a key over FROM, by row, has the bounds of windows."""
        return self.are_complete([source], [key])

    def are_complete(self, sources: Sequence[Relation], keys: Iterable[Iterable[Typed]]) -> bool:
        """Return whether keys over sources, by row, have the bounds of windows.

        Windows of the processing time arrive at other times than equal ones of a rowtime.
        """
        have_bounds = (
            has_bounds(self.bounds(source), key) for source, key in zip(sources, keys, strict=True)
        )
        return all(have_bounds) and len(self.times_of(sources)) == 1

    def times_of(self, sources: Iterable[Relation]) -> frozenset[TimestampKind]:
        """Return the kinds of time of the windows in relations by row."""
        parts = (part for source in sources for part in relations_in(source))
        return frozenset().union(*(self.times.get(id(part), frozenset()) for part in parts))

    # --- stages --------------------------------------------------------------------------------

    def add_stage(
        self,
        query: Relation,
        inputs: Sequence[Input],
        key: KeyColumns,
        name: str,
        *,
        inserts: bool,
        complete: bool = False,
        drivers: tuple[int, ...] = (),
        marks: int = 0,
        delay: int | None = None,
    ) -> Scan:
        """Add a stage, whose query has columns of the key after those of the result.

        `marks` is the number of further columns after these, of which `NEW` is the first one.
        `delay` is for how many milliseconds a join by bounds of the rowtimes delays its rows.
        """
        columns = result_columns(query)
        hidden = {
            place for places in key for place in places if columns[place].name.startswith(KEY)
        }
        own = columns[: len(columns) - len(hidden) - marks]
        result = scan_of(own, len(self.stages))
        inserts = inserts or complete
        if complete and not all(input_.inserts for input_ in inputs):
            self.refuse(f"{name} of windows whose rows are updated", HINT)
        times = self.times_of(input_.rows for input_ in inputs) if complete else frozenset()
        if TimestampKind.PROCTIME in times and name not in (*WINDOW_AGGREGATES, "ORDER BY"):
            # Flink: "Processing time Window Join is not supported yet", and others like it
            self.refuse(f"{name} of windows of the processing time", HINT)
        self.stages.append(
            Stage(
                query,
                tuple(inputs),
                key,
                result,
                inserts,
                name,
                complete=complete,
                drivers=drivers,
                marked=bool(marks),
                retention=self.retention_of(query, inputs),
            )
        )
        self.changing[id(result)] = result, inserts
        self.times[id(result)] = times
        is_in_time = complete or len(inputs) == 1 or name == AS_OF
        if delay is not None or is_in_time:
            self.delays[id(result)] = (delay or 0) + max(self.delay_of(own.rows) for own in inputs)
        return result

    def retention_of(self, query: Relation, inputs: Sequence[Input]) -> int:
        """Return for how many milliseconds a stage keeps the rows of a key without changes."""
        count = sum(not input_.is_use for input_ in inputs)
        return retention_of(query, count, self._retention)

    def add_conversion(
        self,
        function: relational.ProcessTable | None,
        rows: Relation,
        key: tuple[str, ...] | None,
        by_change: Relation | None = None,
    ) -> Scan:
        """Return the rows or changes of a `Conversion`."""
        input_ = self.make_input(rows)
        if by_change is not None:
            input_ = replace(input_, rows=rows)
        columns: Sequence[Column] = (*input_.scan.columns, KIND_OF_CHANGE)
        inserts = function is None or function.function == "TO_CHANGELOG"
        if function is not None:
            columns, function = function.columns, replace(function, input=input_.scan)
        result = scan_of(columns, len(self.stages))
        self.stages.append(Conversion(input_, function, key, by_change, result, inserts))
        self.changing[id(result)] = result, inserts
        self.delays[id(result)] = self.delay_of(rows)
        return result

    def make_input(
        self,
        rows: Relation,
        key: Sequence[Typed] = (),
        marks: Sequence[Item] = (),
        *,
        by_arrival: bool = False,
    ) -> Input:
        """Return an input with the columns of a relation by row, `marks`, and values of a key.

        `by_arrival` is whether rows that are only added are read in the order of their arrival.
        """
        inserts = self.inserts(rows)
        columns = rows.columns if isinstance(rows, relational.Named) else result_columns(rows)
        named = (
            rows if isinstance(rows, relational.Named) else relational.Named(rows, INPUT, columns)
        )
        names = unique_names(column.name for column in columns)
        items = [
            Item(name, Ref(column.name, column.type, named.alias))
            for name, column in zip(names, columns, strict=True)
        ]
        items += marks
        keys = [Item(f"{KEY}{place}", part) for place, part in enumerate(key)]
        scan = scan_of([Column(item.name, item.expression.type) for item in items], RESULT)
        below = relational.Select((*items, *keys), named)
        return Input(scan, below, len(keys), inserts, is_ordered=by_arrival and inserts)

    def note_windows(
        self, result: Scan, block: relational.Select, bounds: Mapping[object, WindowBound]
    ) -> None:
        """Note the columns of a stage's result that bound windows which arrive at once."""
        parts = [bounds.get(reference(item.expression)) for item in block.items]
        self.windows[id(result)] = {
            place: part for place, part in enumerate(parts) if part is not None
        }

    def delay_of(self, rows: Relation) -> int:
        """Return for how many milliseconds rows may arrive after the watermark of the sources."""
        return max(self.delays.get(id(part), 0) for part in relations_in(rows))

    def is_in_time(self, rows: Relation) -> bool:
        """Return whether rows arrive at most `delay_of` after the watermark of the sources."""
        return all(id(stage.result) in self.delays for stage in self.stages_below(rows))

    def _require_rows_in_time(self, rows: Relation, name: str) -> None:
        """Refuse to wait for the time of joined rows, which may be older than the watermark.

        Rows that a join without windows returns have the rowtime of the one that arrived first.
        """
        for stage in self.stages_below(rows):
            if id(stage.result) not in self.delays:
                self.refuse(f"{name} of the result of {stage.name} without windows", HINT)
            if isinstance(stage, Gate) and stage.arrival is not None:
                self.refuse(f"{name} of the result of windows of the processing time", HINT)

    def add_gate(
        self,
        rows: Relation,
        time: int,
        name: str,
        *,
        is_end: bool,
        windows: relational.WindowTable | None = None,
        arrival: int | None = None,
        keeps_late: bool = False,
        has_removals: bool = False,
        wait: int = 0,
    ) -> Scan:
        """Return the rows of a relation by row, when their time has passed.

        See `Gate` for `windows` and `has_removals`; `arrival` is the position of the column in
        `rows`. After their time, rows wait for further milliseconds.
        """
        if not (is_end or keeps_late or self.inserts(rows)):
            self.refuse(f"{name} of rows that are updated", HINT)
        if arrival is None:
            if not keeps_late:
                self._require_rows_in_time(rows, name)
            self.timed |= self.sources_of(rows)
        input_ = self.make_input(rows)
        columns = own = input_.scan.columns
        if windows is not None:
            windows, columns = replace(windows, input=input_.scan), windows.columns
        result = scan_of(columns, len(self.stages))
        self.delays[id(result)] = delay = self.delay_of(rows)
        gate = Gate(
            input_,
            columns[time],
            is_end,
            result,
            name,
            windows,
            None if arrival is None else own[arrival],
            keeps_late,
            has_removals,
            delay + wait,
        )
        self.stages.append(gate)
        self.changing[id(result)] = result, gate.inserts
        kind = TimestampKind.ROWTIME if arrival is None else TimestampKind.PROCTIME
        self.times[id(result)] = frozenset({kind})
        return result
