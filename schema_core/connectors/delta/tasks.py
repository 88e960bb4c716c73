"""Reading and writing of files of Delta in the tasks of Spark, by pyarrow and delta's storage."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake._internal import DeltaFileSystemHandler

from schema_core.base.lazy import dataclass
from schema_core.catalog.partition_texts import HIVE_NULL_NAME
from schema_core.connectors.delta.client import FIELD_ID, physical_name
from schema_core.connectors.open_tables.tasks import attempt_id, collect_rows
from schema_core.errors import ExternalError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql.types import StructType as SparkStruct

    from schema_core.connectors.delta.client import TableAccess
    from schema_core.connectors.delta.files import DeltaFile

#: The most characters of strings in statistics.
MAX_STATISTICS = 32
#: The most digits of decimals in statistics, whose numbers other readers may parse as doubles.
MAX_DIGITS = 15

#: Type of Delta -> type of Arrow.
ARROW: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamp": pa.timestamp("us", "UTC"),
}


def to_arrow(type_: Any) -> pa.DataType:
    """Return the Arrow type of a type in the JSON of a Delta schema."""
    match type_:
        case {"type": "struct", "fields": fields}:
            return pa.struct([to_arrow_field(field) for field in fields])
        case {"type": "array", "elementType": element}:
            return pa.list_(pa.field("element", to_arrow(element), type_["containsNull"]))
        case {"type": "map", "keyType": key, "valueType": value}:
            item = pa.field("value", to_arrow(value), type_["valueContainsNull"])
            return pa.map_(pa.field("key", to_arrow(key), False), item)
    if match := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", type_):
        return pa.decimal128(int(match[1]), int(match[2]))
    return ARROW[type_]


def to_arrow_field(field: Mapping[str, Any]) -> pa.Field:
    """Return the Arrow field of a field of a Delta schema."""
    return pa.field(field["name"], to_arrow(field["type"]), field["nullable"])


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads the rows of files of parquet that are not deleted, by the names of columns in files.

    Attributes:
        access: The table.
        fields: The columns to read, in the JSON of the table's schema.
        schema: The columns of the result, in the order of `fields`, then the path if it is read.
        has_path: Whether the last column is the path of the file.
    """

    access: TableAccess
    fields: tuple[Mapping[str, Any], ...]
    schema: SparkStruct
    has_path: bool

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files whose pickled descriptions are in the first column."""
        from pyspark.sql.pandas.types import to_arrow_schema

        target = to_arrow_schema(self.schema, timezone="UTC")
        storage = DeltaFileSystemHandler(self.access.location, dict(self.access.properties))
        for payload in (value for batch in batches for value in batch.column(0)):
            file = pickle.loads(payload.as_py())  # noqa: S301 - of this job
            for columns, length in self._read_file(storage, file):
                if self.has_path:
                    columns.append(pa.repeat(pa.scalar(file.path, pa.string()), length))
                arrays = [
                    cast_array(column, field.type)
                    for column, field in zip(columns, target, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=target)

    def _read_file(self, storage: Any, file: DeltaFile) -> Iterator[tuple[list[Any], int]]:
        """Yield the columns of the rows of a file, and the number of rows."""
        stream = pa.PythonFile(storage.open_input_file(file.path), mode="r")
        parquet = pq.ParquetFile(stream, coerce_int96_timestamp_unit="us")
        sources = find_names(self.fields, parquet.schema_arrow)
        names = [name for name in sources if name is not None]
        start = 0
        for batch in parquet.iter_batches(columns=names):
            rows = batch
            if file.kept is not None:
                kept = file.kept.slice(start, batch.num_rows)
                rest = pa.array([True] * (batch.num_rows - len(kept)), pa.bool_())
                rows = batch.filter(pa.concat_arrays([kept, rest]))
            start += batch.num_rows
            columns = []
            for field, source in zip(self.fields, sources, strict=True):
                type_ = to_arrow(field["type"])
                if field["name"] in file.partition:
                    value = pa.scalar(file.partition[field["name"]], type_)
                    columns.append(pa.repeat(value, rows.num_rows))
                elif source is None:
                    columns.append(pa.nulls(rows.num_rows, type_))
                else:
                    columns.append(project(rows.column(source), field["type"]))
            if rows.num_rows:
                yield columns, rows.num_rows


def find_names(fields: Sequence[Mapping[str, Any]], stored: Iterable[pa.Field]) -> list[str | None]:
    """Return the name of each field in a file: by its number if it has one, else its physical one.

    None for a field that the file does not have; its values are NULL.

    Raises:
        ExternalError: with code `external-failure` for a file without numbers.
    """
    names, ids = set(), {}
    for item in stored:
        names.add(item.name)
        if (number := (item.metadata or {}).get(b"PARQUET:field_id")) is not None:
            ids[int(number)] = item.name
    if names and not ids and any(FIELD_ID in field["metadata"] for field in fields):
        raise ExternalError(
            "a file of the table has no numbers of columns, by which they are mapped",
            code="external-failure",
            hint="rewrite the table with the engine that has written the file",
        )
    physical = ((field["metadata"].get(FIELD_ID), physical_name(field)) for field in fields)
    return [
        (name if name in names else None) if number is None else ids.get(number)
        for number, name in physical
    ]


def project(array: Any, target: Any) -> Any:
    """Return values of a file as those of a type of Delta, with fields by their names in files."""
    if array.offset:
        array = pa.concat_arrays([array])
    mask = array.is_null()
    match target:
        case {"type": "struct", "fields": fields}:
            stored = list(array.type)
            parts = dict(zip((field.name for field in stored), array.flatten(), strict=True))
            children = [
                pa.nulls(len(array), to_arrow(field["type"]))
                if name is None
                else project(parts[name], field["type"])
                for name, field in zip(find_names(fields, stored), fields, strict=True)
            ]
            if not children:
                return array
            return pa.StructArray.from_arrays(
                children, [field["name"] for field in fields], mask=mask
            )
        case {"type": "array", "elementType": element}:
            values = project(array.values, element)
            return pa.ListArray.from_arrays(_int_offsets(array), values, mask=mask)
        case {"type": "map", "keyType": key, "valueType": value}:
            keys, items = project(array.keys, key), project(array.items, value)
            return pa.MapArray.from_arrays(array.offsets, keys, items, mask=mask)
    return cast_array(array, to_arrow(target))


def _int_offsets(array: Any) -> Any:
    return array.offsets.cast(pa.int32())


def cast_array(array: Any, target: pa.DataType) -> Any:
    """Return values as another Arrow type, each exactly (`pyarrow.ArrowInvalid`).

    A TIME is stored as an integer, as is an INTERVAL, at every depth.
    """
    if array.type == target:
        return array
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_struct(target) and pa.types.is_struct(array.type):
        parts = array.flatten()
        if not parts:
            return array
        children = [cast_array(part, field.type) for part, field in zip(parts, target, strict=True)]
        return pa.StructArray.from_arrays(children, fields=list(target), mask=array.is_null())
    if pa.types.is_list(target) and (
        pa.types.is_list(array.type) or pa.types.is_large_list(array.type)
    ):
        whole = pa.concat_arrays([array])
        values = cast_array(whole.values, target.value_type)
        return pa.ListArray.from_arrays(
            _int_offsets(whole), values, type=target, mask=whole.is_null()
        )
    if pa.types.is_map(target) and pa.types.is_map(array.type):
        whole = pa.concat_arrays([array])
        keys = cast_array(whole.keys, target.key_type)
        items = cast_array(whole.items, target.item_type)
        return pa.MapArray.from_arrays(
            whole.offsets, keys, items, type=target, mask=whole.is_null()
        )
    source = array.type
    if pa.types.is_time64(source) and pa.types.is_integer(target):
        return array.cast(pa.time64("us")).cast(target)
    if pa.types.is_integer(source) and pa.types.is_time64(target):
        return array.cast(pa.time64("us")).cast(target)
    if pa.types.is_duration(source) and pa.types.is_integer(target):
        return array.cast(pa.duration("us")).cast(target)
    if pa.types.is_integer(source) and pa.types.is_duration(target):
        return array.cast(pa.duration("us")).cast(target)
    return array.cast(target)


# --- writing -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a task has written.

    Attributes:
        path: The path in the table's directory.
        size: The bytes.
        partition: Partition column -> the text of its value, None for NULL.
        statistics: The statistics, as JSON.
    """

    path: str
    size: int
    partition: Mapping[str, str | None]
    statistics: str


@dataclass(frozen=True, slots=True)
class FileWriter:
    """Writes rows into new files of parquet, whose names contain the id of the job.

    Attributes:
        access: The table.
        fields: The columns of the table, in the JSON of its schema.
        partition_columns: The names of the partition columns.
        columns: The names of the columns of the rows, in order.
        job: The id of the job, 32 hexadecimal digits.
    """

    access: TableAccess
    fields: tuple[Mapping[str, Any], ...]
    partition_columns: tuple[str, ...]
    columns: tuple[str, ...]
    job: str

    def write(self, batches: Iterable[pa.RecordBatch]) -> list[NewFile]:
        """Return the files that hold the rows of the batches."""
        attempt, numbers = attempt_id(self.job), count()
        schema = pa.schema([to_arrow_field(field) for field in self.fields])
        storage = DeltaFileSystemHandler(self.access.location, dict(self.access.properties))
        files = []
        for table in collect_rows(batches, self.columns, schema, cast_array):
            for rows, partition in self._partitions(table):
                name = f"part-{next(numbers):05}-{attempt}-c000.snappy.parquet"
                path = partition_directory(partition) + name
                files.append(write_file(storage, rows, path, partition))
        return files

    def _partitions(self, table: pa.Table) -> Iterator[tuple[pa.Table, dict[str, str | None]]]:
        """Yield the rows of each partition without its columns, and the texts of its values.

        An empty string is refused by the driver: an error of a task has no code there.
        """
        names = list(self.partition_columns)
        if not names:
            yield table, {}
            return
        keys = {f"p{place}": table.column(name) for place, name in enumerate(names)}
        numbered = pa.table({**keys, "row": pa.array(range(table.num_rows), pa.int64())})
        groups = numbered.group_by(list(keys)).aggregate([("row", "list")]).to_pylist()
        for group in groups:
            values = {
                name: "" if group[key] == "" else partition_text(group[key], name)
                for name, key in zip(names, keys, strict=True)
            }
            yield table.take(group["row_list"]).drop_columns(names), values


def partition_text(value: Any, column: str) -> str | None:
    """Return a partition value as the log has it ("Partition Value Serialization").

    >>> partition_text(True, "k"), partition_text(None, "k")
    ('true', None)

    Raises:
        UnsupportedError: with code `not-representable` for an empty string, which Delta reads as
            NULL.
    """
    if value is None:
        return None
    if value == "":
        raise UnsupportedError(
            f"the partition column {column!r} has an empty string, which Delta reads as NULL",
            code="not-representable",
            hint="store NULL, or another string",
        )
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(" ", "microseconds")
        return text if value.tzinfo is None else f"{text.replace(' ', 'T')}Z"
    return str(value)


def partition_directory(partition: Mapping[str, str | None]) -> str:
    """Return the directory of a partition's files, with a slash at its end.

    It is a name only: the log has the values. Special characters are replaced.

    >>> partition_directory({"k": "a b", "d": None})
    'k=a_b/d=__HIVE_DEFAULT_PARTITION__/'
    """
    parts = (
        f"{column}={HIVE_NULL_NAME if text is None else text}" for column, text in partition.items()
    )
    return "".join(re.sub(r"[^\w.=-]", "_", part, flags=re.ASCII)[:100] + "/" for part in parts)


def write_file(
    storage: Any, rows: pa.Table, path: str, partition: Mapping[str, str | None]
) -> NewFile:
    """Write rows into a file, and return its description."""
    buffer = pa.BufferOutputStream()
    pq.write_table(rows, buffer, compression="snappy", store_decimal_as_integer=True)
    content = buffer.getvalue().to_pybytes()
    stream = storage.open_output_stream(path)
    stream.write(content)
    stream.close()
    return NewFile(path, len(content), dict(partition), json.dumps(collect_statistics(rows)))


def collect_statistics(rows: pa.Table) -> dict[str, Any]:
    """Return the statistics of a file: bounds and NULLs of its columns without fields.

    Timestamps are truncated to milliseconds, as the protocol has them.
    """
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if pa.types.is_nested(column.type):
            continue
        nulls[name] = column.null_count
        if not _has_bounds(column.type) or column.null_count == len(column):
            continue
        bounds = pc.min_max(column).as_py()
        smallest, largest = bounds["min"], bounds["max"]
        if isinstance(smallest, str):
            if len(largest) > MAX_STATISTICS:
                continue
            smallest = smallest[:MAX_STATISTICS]
        low[name], high[name] = _statistic(smallest), _statistic(largest)
    return {
        "numRecords": rows.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls,
    }  # fmt: skip


def _has_bounds(type_: pa.DataType) -> bool:
    if pa.types.is_decimal(type_):
        return bool(type_.precision <= MAX_DIGITS)
    tests = (pa.types.is_integer, pa.types.is_string, pa.types.is_date, pa.types.is_timestamp)
    return any(test(type_) for test in tests)


def _statistic(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(timespec="milliseconds")
        return f"{text}Z" if value.tzinfo is not None else text
    if isinstance(value, dt.date):
        return value.isoformat()
    return value if isinstance(value, int | str) else float(value)


def now_milliseconds() -> int:
    """Return the time of a change, as the log has it."""
    return int(time.time() * 1000)


def delete_files(access: TableAccess, paths: Sequence[str]) -> None:
    """Delete files of a table; errors are those of its storage."""
    storage = DeltaFileSystemHandler(access.location, dict(access.properties))
    for path in paths:
        storage.delete_file(path)
