"""Rows that a connector's functions in Python read and write in Spark's tasks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, cast

from schema_core.base.lazy import dataclass
from schema_core.base.secrets import mask_urls
from schema_core.errors import MAX_PLACE, cut
from schema_core.mappings.spark.pyspark_types import with_microseconds
from schema_core.spark.compiler.row_fields import with_fields
from schema_core.spark.compiler.tree import Cast, Column
from schema_core.spark.session.frames import IN_ITEM, select

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from schema_core.types import DataType

    #: What a function returns for an item: rows by order or by name, or batches of Arrow.
    TaskRows = Iterable[Sequence[Any] | Mapping[str, Any] | pa.RecordBatch | pa.Table]

Item = TypeVar("Item")
Message = TypeVar("Message")

#: Rows of a batch of Arrow.
BATCH = 10_000


def read_in_tasks(
    session: SparkSession,
    schema: StructType,
    items: Sequence[Item],
    function: Callable[[Item], TaskRows],
    attempts: int,
) -> DataFrame:
    """Return the rows that a function returns for each item; see `ReadContext.read_partitions`."""
    sent = cast("StructType", with_microseconds(schema))
    tasks = session.range(0, len(items), 1, max(1, len(items)))
    read = _ReadItems(tuple(items), function, sent, attempts)
    frame = tasks.mapInArrow(read, sent)
    return frame if sent is schema else cast_columns(frame, schema)


def cast_columns(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return a frame with its columns cast to the types of a schema."""
    fields = schema.fields
    columns = [Cast(Column(field.name), field.dataType.simpleString()) for field in fields]
    return select(frame, list(zip(columns, schema.names, strict=True)))


def convert_rows(
    frame: DataFrame,
    source: Mapping[str, DataType],
    target: Mapping[str, DataType],
    others: Iterable[str],
) -> DataFrame:
    """Return columns of a frame with the fields of other types, and other columns as they are."""
    columns = [
        (with_fields(Column(name), source[name], type_), name) for name, type_ in target.items()
    ]
    return select(frame, [*columns, *((Column(name), name) for name in others)])


@dataclass(frozen=True, slots=True)
class _ReadItems:
    """The function of a task: its input are the places of items."""

    items: tuple[Any, ...]
    function: Callable[[Any], TaskRows]
    schema: StructType
    attempts: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from self._read(self.items[place])

    def _read(self, item: Any) -> Iterator[pa.RecordBatch]:
        """Yield the rows of an item; until there are any, an error is followed by a new attempt."""
        for further in reversed(range(self.attempts)):
            has_rows = False
            try:
                for batch in to_batches(self.function(item), self.schema):
                    has_rows = True
                    yield batch
            except Exception as error:
                if has_rows or not further:
                    error.add_note(f"{IN_ITEM}{cut(mask_urls(repr(item)), MAX_PLACE)}")
                    raise
            else:
                return


def to_batches(rows: TaskRows, schema: StructType) -> Iterator[pa.RecordBatch]:
    """Yield rows as batches with exactly the types of a schema.

    Raises:
        ValueError: if a batch lacks a column, a row in order has more or fewer values, or a decimal
            has more digits than its column.
        PySparkTypeError, PySparkValueError: if a value of a row is not of the type of its column.
        pyarrow.ArrowInvalid: if a value of a batch is not.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import DecimalType, _make_type_verifier

    arrow = to_arrow_schema(schema, timezone="UTC")
    # the conversion to Arrow does not report the column
    verify: Callable[[tuple[Any, ...]], None] = _make_type_verifier(schema)
    scales = {
        place: field.dataType.scale
        for place, field in enumerate(schema.fields)
        if isinstance(field.dataType, DecimalType)
    }
    waiting: list[tuple[Any, ...]] = []
    for row in rows:
        if isinstance(row, pa.RecordBatch | pa.Table):
            yield from _rows_as_batches(waiting, schema)
            waiting = []
            yield from _with_schema(row, arrow)
            continue
        values = row_values(row, schema.names)
        if len(values) != len(schema.names):
            raise ValueError(
                f"a row has {len(values)} values, and there are {len(schema.names)} columns"
            )
        verify(values)
        for place, scale in scales.items():
            value = values[place]
            if isinstance(value, Decimal) and not _fits(value, scale):
                raise ValueError(f"{value} has more than {scale} digits after the point")
        waiting.append(values)
        if len(waiting) == BATCH:
            yield from _rows_as_batches(waiting, schema)
            waiting = []
    yield from _rows_as_batches(waiting, schema)


def _fits(value: Decimal, scale: int) -> bool:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):  # not a number
        return False
    dropped = -exponent - scale
    return dropped <= 0 or not any(digits[-dropped:])


def row_values(row: Sequence[Any] | Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    """Return the values of a row in order; columns that a mapping lacks are NULL."""
    if isinstance(row, Mapping):
        return tuple(row.get(name) for name in names)
    return tuple(row)


def _rows_as_batches(rows: list[tuple[Any, ...]], schema: StructType) -> list[pa.RecordBatch]:
    from pyspark.sql.conversion import LocalDataToArrowConversion

    if not rows:
        return []
    table: pa.Table = LocalDataToArrowConversion.convert(rows, schema, False)
    return cast("list[pa.RecordBatch]", table.to_batches())


def _with_schema(data: pa.RecordBatch | pa.Table, schema: pa.Schema) -> list[pa.RecordBatch]:
    import pyarrow as pa

    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    if absent := [name for name in schema.names if name not in table.column_names]:
        raise ValueError(f"a batch lacks the columns {', '.join(map(repr, absent))}")
    return cast("list[pa.RecordBatch]", table.select(schema.names).cast(schema).to_batches())


def write_in_tasks(
    frame: DataFrame, function: Callable[[Iterator[pa.RecordBatch]], Message]
) -> list[Message]:
    """Return what a function returns for the rows of each task."""
    names = tuple(frame.columns)
    numbered = frame.toDF(*(f"c{place}" for place in range(len(names))))
    messages = numbered.mapInArrow(_WriteRows(names, function), "message BINARY").collect()
    return [pickle.loads(row["message"]) for row in messages]  # noqa: S301 - of our own tasks


@dataclass(frozen=True, slots=True)
class _WriteRows:
    """The function of a task that writes; its result is the pickled message."""

    names: tuple[str, ...]
    function: Callable[[Iterator[pa.RecordBatch]], Any]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        message = self.function(batch.rename_columns(self.names) for batch in batches)
        yield pa.record_batch({"message": pa.array([pickle.dumps(message)], pa.binary())})


def python_rows(batches: Iterable[pa.RecordBatch], schema: StructType) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of batches as `DataFrame.collect` returns them."""
    import pyarrow as pa
    from pyspark.sql.conversion import ArrowTableToRowsConversion

    for batch in batches:
        yield from ArrowTableToRowsConversion.convert(pa.Table.from_batches([batch]), schema)
