"""Streams of values (`pyflink.datastream.data_stream`), which are tables underneath.

A stream is a recipe: the table is made, with Spark functions, when the stream is converted to a
table, collected or printed.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeAlias

from schema_core.base.arguments import require_instance, type_name
from schema_core.base.text import show
from schema_core.environment.options import RUNTIME_MODE
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.environment.result import CloseableIterator, TableResult
from schema_core.environment.table_environment import TableEnvironment
from schema_core.environment.unbounded import find_unbounded_table
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.fluent_functions import call_sql, col
from schema_core.pyflink.absent import RefusesMethods, refuse_absent
from schema_core.pyflink.common.time import Instant
from schema_core.pyflink.common.typeinfo import (
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from schema_core.pyflink.common.watermark_strategy import WatermarkStrategy
from schema_core.pyflink.datastream import stream_rows
from schema_core.pyflink.datastream.stream_rows import KEY, KIND, NO_TIME, ORDER, TIME, StreamRows
from schema_core.types.row_value import Row, RowKind

__all__ = ["CloseableIterator", "DataStream", "DataStreamSink", "KeyedStream"]

#: Makes the rows of a stream in a table environment.
Build: TypeAlias = Callable[[TableEnvironment], StreamRows]


class StreamContext(Protocol):
    """The environment of streams."""

    @property
    def table_environment(self) -> TableEnvironment:
        """The table environment in which streams of collections run."""

    def add_sink(self, run: Callable[[], None]) -> None:
        """Add what the next job runs."""


class _Tuned(RefusesMethods):
    """Methods that tune Flink's operators, and change neither rows nor order: without effect."""

    _name = "stream"

    def name(self, name: str) -> Any:
        """Set the name of the stream."""
        self._name = require_instance(name, str, "name")
        return self

    def get_name(self) -> str:
        """Return the name of the stream."""
        return self._name

    def uid(self, uid: str) -> Any:
        """Return the stream itself: Spark stores state by the query."""
        return self

    def set_uid_hash(self, uid_hash: str) -> Any:
        """Return the stream itself: Spark stores state by the query."""
        return self

    def set_parallelism(self, parallelism: int) -> Any:
        """Return the stream itself: Spark's settings decide how many tasks there are."""
        return self

    def set_max_parallelism(self, max_parallelism: int) -> Any:
        """Return the stream itself: Spark's settings decide how many tasks there are."""
        return self

    def set_description(self, description: str) -> Any:
        """Return the stream itself."""
        return self

    def force_non_parallel(self) -> Any:
        """Return the stream itself: the order of a collection is kept."""
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Any:
        """Return the stream itself: Spark sends no buffers."""
        return self

    def start_new_chain(self) -> Any:
        """Return the stream itself: Spark plans the tasks."""
        return self

    def disable_chaining(self) -> Any:
        """Return the stream itself: Spark plans the tasks."""
        return self

    def slot_sharing_group(self, slot_sharing_group: object) -> Any:
        """Return the stream itself: Spark plans the tasks."""
        return self


class DataStreamSink(_Tuned):
    """Where a stream is printed."""


class DataStream(_Tuned):
    """Values of one type, of a collection or of a table.

    Functions run in Spark's Python workers. Created by `StreamExecutionEnvironment.from_collection`
    and `StreamTableEnvironment.to_data_stream`.
    """

    def __init__(
        self,
        environment: StreamContext,
        type_info: TypeInformation,
        build: Build,
        tables: TableEnvironment | None = None,
    ) -> None:
        self._environment = environment
        self._tables = tables
        self._type = type_info
        self._build = build

    def build_rows(self, environment: TableEnvironment) -> StreamRows:
        """Return the rows as a table of an environment."""
        return self._build(environment)

    def get_type(self) -> TypeInformation:
        """Return the type of the values."""
        type_info = self._type
        return type_info.with_names() if type(type_info) is RowTypeInfo else type_info

    def get_execution_environment(self) -> Any:
        """Return the environment that created the stream."""
        return self._environment

    def _derive(
        self, type_info: TypeInformation, transform: Callable[[StreamRows], StreamRows]
    ) -> DataStream:
        build = self._build
        return DataStream(
            self._environment, type_info, lambda tables: transform(build(tables)), self._tables
        )

    def with_changes(self, mode: ChangelogMode) -> DataStream:
        """Return the changes of the table, of the kinds of a mode."""

        def add(rows: StreamRows) -> StreamRows:
            changes = rows.with_kinds()
            if mode.contains(RowKind.UPDATE_BEFORE):
                return changes
            is_kept = col(KIND) != str(RowKind.UPDATE_BEFORE)
            return changes._replace(table=changes.table.where(is_kept))

        return self._derive(self._type, add)

    def as_retractions(self, type_info: TypeInformation) -> DataStream:
        """Return pairs of whether a change of the table adds its value, and the value."""
        return self._derive(type_info, lambda rows: stream_rows.retract_rows(rows, type_info))

    # --- one value at a time -------------------------------------------------------------------

    def map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Compute a value of each value.

        Args:
            func: A function or a `MapFunction`.
            output_type: The type of the result; by default any Python object.
        """
        call, result = _call(func, "map"), _output_type(output_type)
        return self._derive(result, lambda rows: stream_rows.map_rows(rows, result, func, call))

    def flat_map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Compute any number of values of each value.

        Args:
            func: A function or a `FlatMapFunction`, which returns or yields values.
            output_type: The type of the result; by default any Python object.
        """
        call, result = _call(func, "flat_map"), _output_type(output_type)
        return self._derive(
            result, lambda rows: stream_rows.flat_map_rows(rows, result, func, call)
        )

    def filter(self, func: Any) -> DataStream:
        """Keep the values for which a function or a `FilterFunction` is true."""
        call = _call(func, "filter")
        return self._derive(self._type, lambda rows: stream_rows.filter_rows(rows, func, call))

    def project(self, *field_indexes: int) -> DataStream:
        """Select fields of tuples by their positions (`invalid-argument` for other values)."""
        if not isinstance(self._type, TupleTypeInfo):
            raise SchemaError(
                f"project requires a stream of tuples, not of {self._type!r}",
                code="invalid-argument",
            )
        types = self._type.get_field_types()
        for index in field_indexes:
            if type(index) is not int or not 0 <= index < len(types):
                raise SchemaError(
                    f"a field must be a position from 0 to {len(types) - 1}, got {show(index)}",
                    code="invalid-argument",
                )
        result = Types.TUPLE([types[index] for index in field_indexes])

        def select(rows: StreamRows) -> StreamRows:
            names = result.column_names
            fields = zip(field_indexes, names, strict=True)
            columns = [col(f"f{index}").alias(name) for index, name in fields]
            table = rows.table.select(*columns, *map(col, rows.hidden))
            return rows._replace(table=table, type_info=result)

        return self._derive(result, select)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Give each value a timestamp, which `from_data_stream` reads as the metadata `rowtime`."""
        require_instance(watermark_strategy, WatermarkStrategy, "watermark_strategy")
        assigner = watermark_strategy.assigner
        if assigner is None:
            return self._derive(self._type, lambda rows: rows)
        extract = partial(_extract_time, assigner)
        return self._derive(
            self._type,
            lambda rows: stream_rows.map_rows(
                rows, rows.type_info, assigner, computed={TIME: extract}
            ),
        )

    # --- several streams -----------------------------------------------------------------------

    def union(self, *streams: DataStream) -> DataStream:
        """Return the values of this stream and of others of the same type (`invalid-argument`)."""
        every = [self, *(require_instance(each, DataStream, "a stream") for each in streams)]
        for stream in every:
            if stream._type != self._type:  # noqa: SLF001 - of this class
                raise SchemaError(
                    f"streams of different types: {self.get_type()!r} and {stream.get_type()!r}",
                    code="invalid-argument",
                )

        def build(tables: TableEnvironment) -> StreamRows:
            parts = [stream.build_rows(tables) for stream in every]
            if any(KIND in part.hidden for part in parts):
                parts = [part.with_kinds() for part in parts]
            common = set.intersection(*(set(part.hidden) for part in parts))
            parts = [part.without_hidden(set(part.hidden) - common) for part in parts]
            if ORDER in common:
                parts = [_after_others(place, part) for place, part in enumerate(parts)]
            table = parts[0].table
            for part in parts[1:]:
                table = table.union_all(part.table)
            return parts[0]._replace(table=table)

        owners = (stream._tables for stream in every)  # noqa: SLF001 - of this class
        tables = next((owner for owner in owners if owner is not None), None)
        return DataStream(self._environment, self._type, build, tables)

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """Group the values by the results of a function or a `KeySelector`."""
        require_instance(key_type, (TypeInformation, type(None)), "key_type")
        call = _call(key_selector, "get_key")
        build = self._build
        return KeyedStream(
            self._environment,
            self._type,
            lambda tables: stream_rows.with_keys(build(tables), key_selector, call),
            self._tables,
        )

    def _same_rows(self) -> DataStream:
        """Return the stream itself: Spark distributes the rows."""
        return self

    shuffle = rebalance = rescale = forward = _same_rows

    # --- results -------------------------------------------------------------------------------

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator | list[Any]:
        """Run a job, and return an iterator of the values, or a list of the first `limit`.

        The values of a collection are in its order.
        """
        require_instance(job_execution_name, (str, type(None)), "job_execution_name")
        require_instance(limit, (int, type(None)), "limit")
        values = self.run()
        return CloseableIterator(values) if limit is None else list(islice(values, limit))

    def run(self) -> Iterator[Any]:
        """Start a job, and return an iterator of the values."""
        tables = self._tables or self._environment.table_environment
        rows = self.build_rows(tables).without_hidden((TIME, KEY))
        return _values(rows.table.execute(), rows)

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print the values when `StreamExecutionEnvironment.execute` is called."""
        require_instance(sink_identifier, (str, type(None)), "sink_identifier")
        prefix = "" if sink_identifier is None else f"{sink_identifier}> "
        self._environment.add_sink(partial(_print, self, prefix))
        return DataStreamSink()


class KeyedStream(DataStream):
    """The values of a stream with their keys."""

    def reduce(self, func: Any) -> DataStream:
        """Combine the values of each key, in their order, by a function or a `ReduceFunction`.

        As in Flink, every intermediate value is a value of the result in streaming mode, and only
        the last of each key in batch mode. Unbounded tables are refused (`needs-flink`).
        """
        return self._reduce(func, _call(func, "reduce"))

    def _reduce(self, func: Any, call: Callable[..., Any]) -> DataStream:
        build = self._build

        def build_reduced(tables: TableEnvironment) -> StreamRows:
            rows = build(tables)
            path = find_unbounded_table(rows.session, rows.table.relation)
            if path is not None:
                raise UnsupportedError(
                    f"the values of the unbounded table {path} cannot be reduced one by one",
                    code="needs-flink",
                    hint="group the table: table.group_by(...).select(...)",
                )
            options = rows.session.config.get_configuration()
            emits_all = RUNTIME_MODE.of(options) != "BATCH"
            return stream_rows.reduce_rows(rows, func, call, emits_all=emits_all)

        return DataStream(self._environment, self._type, build_reduced, self._tables)

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Add the values of a field; the other fields are those of the first value of the key."""
        return self._reduce_field(position_to_sum, lambda first, second: first + second)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """Return the least value of a field; the other fields are those of the first value."""
        return self._reduce_field(position_to_min, min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """Return the greatest value of a field; the other fields are those of the first value."""
        return self._reduce_field(position_to_max, max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """Return the first value whose field is the least."""
        field = self._field(position_to_min_by)
        return self._reduce(None, partial(_first_by, field, min))

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """Return the first value whose field is the greatest."""
        field = self._field(position_to_max_by)
        return self._reduce(None, partial(_first_by, field, max))

    def _reduce_field(self, position: int | str, combine: Callable[[Any, Any], Any]) -> DataStream:
        return self._reduce(None, partial(_combine_field, self._field(position), combine))

    def _field(self, position: int | str) -> int | None:
        """Return the position of a field; None where the values have no fields."""
        names = self._type.column_names
        if isinstance(position, str) and position in names:
            position = names.index(position)
        if type(position) is not int or not 0 <= position < len(names):
            raise SchemaError(
                f"there is no field {show(position)}: the fields are {', '.join(names)}",
                code="invalid-argument",
            )
        return position if isinstance(self._type, RowTypeInfo | TupleTypeInfo) else None


# --- functions -----------------------------------------------------------------------------------


def _call(function: Any, method: str) -> Callable[..., Any]:
    """Return the method of an object, or the function itself (`invalid-argument`)."""
    bound = getattr(function, method, None)
    if callable(bound):
        return bound  # type: ignore[no-any-return]
    if callable(function):
        return function  # type: ignore[no-any-return]
    raise SchemaError(
        f"a function or an object with the method {method} is required, got {type_name(function)}",
        code="invalid-argument",
    )


def _output_type(type_info: TypeInformation | None) -> TypeInformation:
    require_instance(type_info, (TypeInformation, type(None)), "output_type")
    return Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info


def _extract_time(assigner: Any, value: Any, hidden: Any) -> int:
    return int(assigner.extract_timestamp(value, hidden.get(TIME, NO_TIME)))


def _after_others(place: int, rows: StreamRows) -> StreamRows:
    """Return the rows of a stream with an order after that of the streams before it."""
    order = call_sql(f"ARRAY_PREPEND(`{ORDER}`, CAST({place} AS BIGINT))").alias(ORDER)
    columns = [order if name == ORDER else col(name) for name in rows.table.column_names()]
    return rows._replace(table=rows.table.select(*columns))


def _combine_field(
    place: int | None, combine: Callable[[Any, Any], Any], first: Any, second: Any
) -> Any:
    if place is None:
        return combine(first, second)
    values = list(first)
    values[place] = combine(values[place], second[place])
    return Row(*values)


def _first_by(place: int | None, choose: Callable[..., Any], first: Any, second: Any) -> Any:
    return choose((first, second), key=lambda value: value if place is None else value[place])


# --- values --------------------------------------------------------------------------------------


def _values(result: TableResult, rows: StreamRows) -> Iterator[Any]:
    """Yield the values of a result, sorted where the stream has an order."""
    lines: Iterator[Row] = result.collect()
    layout = rows.layout
    if ORDER in rows.hidden:
        lines = iter(sorted(lines, key=lambda line: list(line)[-1]))
    for line in lines:
        value = layout.read(list(line))[0]
        if isinstance(value, Row) and KIND not in layout.hidden:
            value.set_row_kind(line.get_row_kind())
        yield value


def _print(stream: DataStream, prefix: str) -> None:
    is_any = stream.get_type() == Types.PICKLED_BYTE_ARRAY()
    text_of = str if is_any else format_value
    for value in stream.run():
        sys.stdout.write(f"{prefix}{text_of(value)}\n")
    sys.stdout.flush()


def format_value(value: Any) -> str:
    """Return a value as `print` of Flink's streams shows it: fields by Python, others by Java."""
    match value:
        case Row():
            return f"{value.get_row_kind()}[{','.join(map(str, value))}]"
        case tuple():
            return f"({','.join(map(_format_field, value))})"
        case _ if value is None:
            return "null"
        case bool():
            return str(value).lower()
        case float():
            return format_double(value)
        case dt.datetime():
            text = value.isoformat(" ")
            return f"{text.rstrip('0')}" if "." in text else f"{text}.0"
        case Instant():
            return format_instant(value)
        case dict():
            pairs = (f"{format_value(key)}={format_value(held)}" for key, held in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return f"[{', '.join(map(format_value, value))}]"
        case _:
            return str(value)


def _format_field(value: Any) -> str:
    """Return a field of a tuple, with the rows in it as Java shows them."""
    if isinstance(value, Row):
        return f"{value.get_row_kind()}[{', '.join(map(_format_field, value))}]"
    return format_value(value)


def format_instant(value: Instant) -> str:
    """Return an instant as Java's ``Instant.toString``.

    >>> format_instant(Instant.of_epoch_milli(1500)), format_instant(Instant.of_epoch_milli(0))
    ('1970-01-01T00:00:01.500Z', '1970-01-01T00:00:00Z')
    """
    text = value.to_datetime().strftime("%Y-%m-%dT%H:%M:%S")
    digits = f"{value.nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{text}.{digits}Z" if digits else f"{text}Z"


def format_double(value: float) -> str:
    """Return a number as Java's ``Double.toString``.

    >>> format_double(1e10), format_double(0.5), format_double(-1.25e-7)
    ('1.0E10', '0.5', '-1.25E-7')
    """
    if not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return str(value)
    sign, digits, exponent = Decimal(str(value)).normalize().as_tuple()
    first, *others = map(str, digits)
    power = int(exponent) + len(others)
    return f"{'-' * sign}{first}.{''.join(others) or '0'}E{power}"


refuse_absent(__name__)
