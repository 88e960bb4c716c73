"""Process table functions in the workers of Spark: state, timers, and the rows of a partition."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.errors.hints import ADD_ON_TIME
from schema_core.expressions.process_functions import (
    ArgumentTrait,
    ProcessContext,
    ProcessSignature,
    Timer,
)
from schema_core.expressions.user_functions import ProcessTableFunction
from schema_core.query.relation import TimerColumns
from schema_core.spark.compiler.udfs.calendars import util_zone

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class ProcessTask:
    """How a worker computes the rows of a partition, or of a batch of single rows.

    Columns of the received tables are the values, those of the result that are passed from the
    table, the keys of ORDER BY, and the time, each with a prefix. `values` are the columns with the
    prefix `VALUE`: those of the table, then the constants in the order of the signature.

    Attributes:
        function: The function, with `open_once` to be called before its first row.
        signature: Its signature; `constants` are the names of the arguments that a call has.
        convert: Returns the arguments of `eval` for the values of a row, and the keys.
        check: Converts a row of the result to its declared type.
        values: The Spark types of the values.
        results: The Spark types of the function's columns.
        order: For each key of ORDER BY whether it descends, and whether NULL is last.
        is_single: Whether the function has one column, of which `eval` yields the values.
        timers: The columns by which timers fire as rows arrive; None if they fire at the end.
        zone: The time zone whose clock is that of the watermark of a TIMESTAMP_LTZ.
    """

    function: ProcessTableFunction
    signature: ProcessSignature
    open_once: Callable[[], None]
    convert: Callable[[Sequence[Any]], tuple[tuple[Any, ...], tuple[Any, ...]]]
    check: Callable[[Any], Any]
    values: StructType
    results: StructType
    order: tuple[tuple[bool, bool], ...]
    is_single: bool
    timers: TimerColumns | None = None
    zone: str = "UTC"

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compute the rows of batches of single rows."""
        import pyarrow as pa

        for batch in batches:
            yield from self.table(pa.Table.from_batches([batch])).to_batches()

    def table(self, table: pa.Table) -> pa.Table:
        """Compute the rows of a table: of a partition, or of single rows."""
        import pyarrow as pa
        from pyspark.sql.conversion import ArrowTableToRowsConversion

        self.open_once()
        table = self._sorted(table)
        values = table.select(self.values.names)
        received = ArrowTableToRowsConversion.convert(values, self.values)
        rows = [self.convert(row) for row in received]
        times = _times(table)
        partition = PartitionContext(
            self.signature, rows[0][1] if rows else (), self.zone, is_timed=times is not None
        )
        results = self._call(rows, received, times, partition)
        passed = [name for name in table.column_names if name.startswith(PASSED)]
        columns = table.select(passed).take(pa.array(results.places, pa.int64())).columns
        made = to_arrow(results.rows, self.results)
        columns += made.columns
        names = [*passed, *self.results.names]
        if times is not None:
            type_ = table.schema.field(TIME).type
            columns.append(pa.array([_in_type(time, type_) for time in results.times], type_))
            names.append(TIME)
        made_table = pa.Table.from_arrays(columns, names)
        if self.timers is None:
            return made_table
        return self._with_timers(made_table, results.are_new, table, partition.time_of_next_timer())

    def _call(
        self,
        rows: Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]],
        received: Sequence[Any],
        times: Sequence[dt.datetime] | None,
        partition: PartitionContext,
    ) -> Results:
        """Return what a function returns for rows and for timers, which fire between them."""
        results = Results(self.check, is_single=self.is_single)

        def fire(until: int | None, *, is_new: bool) -> None:
            while (timer := partition.next_timer(until)) is not None:
                made = self.function.on_timer(*partition.enter(*timer))
                results.add(made, 0, timer.time, is_new=is_new)

        watermark: int | None = None
        for place, (arguments, _) in enumerate(rows):
            time, is_new = None if times is None else times[place], True
            if self.timers is not None:
                is_new, arrived_at = (received[place][column] for column in self.timers[:2])
                if arrived_at != watermark:  # it has advanced since the row before
                    fire(arrived_at, is_new=False)
                    watermark = arrived_at
            made = self.function.eval(*partition.enter(time, None), *arguments)
            results.add(made, place, time, is_new=is_new)
        if self.timers is None:
            fire(None, is_new=True)
        elif rows:
            reached, until = (received[0][column] for column in self.timers[2:4])
            if reached != watermark:
                fire(reached, is_new=False)
            if until is not None:
                fire(until, is_new=True)
        return results

    def _with_timers(
        self, made: pa.Table, are_new: list[bool], table: pa.Table, time: int | None
    ) -> pa.Table:
        """Return results that are marked as new, and a row with the time of the next timer."""
        import pyarrow as pa

        timers = cast("TimerColumns", self.timers)
        mark = f"{PASSED}{timers.is_new}"
        place = made.column_names.index(mark)
        made = made.set_column(place, mark, pa.array(are_new, pa.bool_()))
        made = made.append_column(NEXT, pa.nulls(made.num_rows, pa.int64()))
        if time is None:
            return made
        values: dict[str, list[Any]] = {mark: [False], NEXT: [time]}
        row = [
            pa.array(values[field.name], field.type)
            if field.name in values
            else table.column(field.name).slice(0, 1).combine_chunks()
            if field.name.startswith(PASSED)
            else pa.nulls(1, field.type)
            for field in made.schema
        ]
        return pa.concat_tables([made, pa.Table.from_arrays(row, made.column_names)])

    def _sorted(self, table: pa.Table) -> pa.Table:
        """Return the rows of a table in their order."""
        keys: list[tuple[str, bool, bool]] = [
            (f"{ORDER}{place}", *directions) for place, directions in enumerate(self.order)
        ]
        if not keys:
            return table
        places = list(range(table.num_rows))
        for name, descends, nulls_last in reversed(keys):
            values = [_sort_key(value) for value in table.column(name).to_pylist()]
            present = [place for place in places if values[place] is not None]
            nulls = [place for place in places if values[place] is None]
            present.sort(key=values.__getitem__, reverse=descends)
            places = present + nulls if nulls_last else nulls + present
        return table.take(places)


class Results:
    """The rows that a function has returned, each with the place of its row, time, and mark."""

    def __init__(self, check: Callable[[Any], Any], *, is_single: bool) -> None:
        self._check = check
        self._is_single = is_single
        self.rows: list[tuple[Any, ...]] = []
        self.places: list[int] = []
        self.times: list[dt.datetime | None] = []
        self.are_new: list[bool] = []

    def add(
        self, rows: Iterable[Any] | None, place: int, time: dt.datetime | None, *, is_new: bool
    ) -> None:
        """Add the rows of a call of `eval` or `on_timer`."""
        for row in rows or ():
            checked = self._check(row)
            self.rows.append((checked,) if self._is_single else tuple(checked))
            self.places.append(place)
            self.times.append(time)
            self.are_new.append(is_new)


def to_arrow(rows: list[tuple[Any, ...]], columns: StructType) -> pa.Table:
    """Return rows as a table of Arrow with the given columns."""
    from pyspark.sql.conversion import LocalDataToArrowConversion

    # the conversion refuses no rows
    some = rows or [(None,) * len(columns.fields)]
    return LocalDataToArrowConversion.convert(some, columns, False).slice(0, len(rows))


#: Prefixes of columns, and the columns of the time and of the time of the next timer.
VALUE, PASSED, ORDER, TIME, NEXT = "value_", "passed_", "order_", "time", "next"


def _sort_key(value: Any) -> Any:
    """Return what orders a value as Flink does: strings by their bytes, NaN last."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, float):
        return (value != value, value)  # noqa: PLR0124 - NaN
    return value


def _times(table: pa.Table) -> list[dt.datetime] | None:
    """Return the times of rows, which must not be NULL; those of TIMESTAMP_LTZ are aware."""
    if TIME not in table.column_names:
        return None
    times: list[dt.datetime] = table.column(TIME).to_pylist()
    if any(time is None for time in times):
        raise ValueError("on_time received NULL; expected a time in each row")
    if table.schema.field(TIME).type.tz is None:
        return times
    return [time.astimezone(dt.UTC) for time in times]


def _in_type(time: dt.datetime | None, type_: pa.DataType) -> dt.datetime | None:
    is_aware = time is not None and time.tzinfo is not None
    if time is None or is_aware == (type_.tz is not None):
        return time
    raise ValueError(f"a timer has the time {show(time)}, expected one of the kind of on_time")


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND = dt.timedelta(milliseconds=1)


class PartitionContext(ProcessContext):
    """The context of a partition: its state and its timers."""

    def __init__(
        self, signature: ProcessSignature, keys: tuple[Any, ...], zone: str, *, is_timed: bool
    ) -> None:
        self._signature = signature
        self._keys = keys
        self._zone = util_zone(zone)
        self._is_timed = is_timed
        self._state: dict[str, Any] = {}
        #: the timers by name, or by time without one, each with the number of its registration
        self._timers: dict[object, tuple[int, Timer]] = {}
        #: time and number of each registration, of which some are replaced or removed
        self._queue: list[tuple[dt.datetime, int, object]] = []
        self._numbers = count()
        self._time: dt.datetime | None = None
        self._name: str | None = None

    def enter(self, time: dt.datetime | None, timer: str | None) -> tuple[Any, ...]:
        """Return the context and the state as arguments of the next call."""
        self._time, self._name = time, timer
        state = []
        for name, make in self._signature.state:
            if name not in self._state:
                self._state[name] = make()
            state.append(self._state[name])
        return (self, *state) if self._signature.has_context else tuple(state)

    def next_timer(self, until: int | None = None) -> Timer | None:
        """Remove and return the timer that fires next; None if there are no more.

        With `until` only one before this time, in milliseconds since 1970.
        """
        time = self.time_of_next_timer()
        if time is None or (until is not None and time >= until):
            return None
        return self._timers.pop(heappop(self._queue)[2])[1]

    def time_of_next_timer(self) -> int | None:
        """Return the time of the timer that fires next, in milliseconds since 1970.

        That of a TIMESTAMP_LTZ is the local time, as that of a watermark.
        """
        while self._queue:
            time, number, key = self._queue[0]
            registered = self._timers.get(key)
            if registered is not None and registered[0] == number:
                local = time if time.tzinfo is None else time.astimezone(self._zone)
                return (local.replace(tzinfo=dt.UTC) - _EPOCH) // _MILLISECOND
            heappop(self._queue)
        return None

    def partition_keys(self) -> tuple[Any, ...]:
        return self._keys

    def time(self) -> dt.datetime | None:
        return self._time

    def current_timer(self) -> str | None:
        return self._name

    def register_on_time(self, time: dt.datetime, name: str | None = None) -> None:
        tables = self._signature.tables
        if not self._is_timed or not self._signature.is_set:
            raise UnsupportedError(
                "timers require a table with SET_SEMANTIC_TABLE and a call with on_time",
                hint=ADD_ON_TIME,
            )
        if ArgumentTrait.PASS_COLUMNS_THROUGH in tables[0].traits:
            raise UnsupportedError("a function with PASS_COLUMNS_THROUGH has no timers")
        require_instance(time, dt.datetime, "the time of a timer")
        is_aware = self._time is not None and self._time.tzinfo is not None
        if (time.tzinfo is not None) != is_aware:
            kind = "an aware" if is_aware else "a naive"
            problem = f"the time of a timer must be {kind} datetime, got {show(time)}"
            raise SchemaError(problem, code="invalid-argument")
        key: object = time if name is None else name
        if name is None and key in self._timers:
            return
        number = next(self._numbers)
        self._timers[key] = (number, Timer(time, name))
        heappush(self._queue, (time, number, key))

    def clear_timer(self, timer: str | dt.datetime) -> None:
        self._timers.pop(timer, None)

    def clear_all_timers(self) -> None:
        self._timers.clear()
        self._queue.clear()

    def clear_state(self, name: str) -> None:
        if name not in dict(self._signature.state):
            raise SchemaError(f"there is no state {name!r}", code="invalid-argument")
        self._state.pop(name, None)

    def clear_all_state(self) -> None:
        self._state.clear()
