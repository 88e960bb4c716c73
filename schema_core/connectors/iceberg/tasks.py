"""Reading and writing of files of Iceberg in the tasks of Spark, by pyiceberg and pyarrow."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import (
    _combine_positional_deletes,
    _get_column_projection_values,
    _get_field_from_arrow_table,
    _get_parquet_writer_kwargs,
    _read_all_delete_files,
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
    pyarrow_to_schema,
    schema_to_pyarrow,
)
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil
from pyiceberg.table.sorting import NullOrder, SortDirection
from pyiceberg.transforms import IdentityTransform, Transform
from pyiceberg.typedef import Record
from pyiceberg.types import IcebergType, ListType, MapType, NestedField, StructType

from schema_core.base.lazy import dataclass
from schema_core.connectors.iceberg.planning import find_column
from schema_core.connectors.open_tables.tasks import attempt_id, collect_rows

if TYPE_CHECKING:
    from pyspark.sql.types import StructType as SparkStruct


@dataclass(frozen=True, slots=True)
class FileAccess:
    """A table as tasks have it.

    Attributes:
        metadata: The metadata, as JSON.
        properties: The properties of its file system.
    """

    metadata: str
    properties: Mapping[str, str]

    @classmethod
    def of(cls, metadata: TableMetadata, io: Any) -> FileAccess:
        """Return a table without its snapshots, which tasks do not need."""
        lists = ("snapshots", "snapshot_log", "metadata_log", "statistics", "partition_statistics")
        history: dict[str, Any] = {"refs": {}, "current_snapshot_id": None}
        history |= {name: [] for name in lists}
        return cls(metadata.model_copy(update=history).model_dump_json(), dict(io.properties))

    def load(self) -> tuple[TableMetadata, Any]:
        """Return the metadata and the file system."""
        metadata = TableMetadataUtil.parse_raw(self.metadata)
        return metadata, load_file_io(dict(self.properties), metadata.location)


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads the rows of files of parquet, without deleted ones, by the ids of fields.

    pyiceberg's own projection reads NULL as an empty array, where the elements are rows.

    Attributes:
        access: The table.
        columns: The names of the columns to read.
        schema: The columns of the result, in the order of `columns`, then the path if it is read.
        has_path: Whether the last column is the path of the file.
    """

    access: FileAccess
    columns: tuple[str, ...]
    schema: SparkStruct
    has_path: bool

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files whose pickled tasks are in the first column."""
        from pyspark.sql.pandas.types import to_arrow_schema

        metadata, io = self.access.load()
        by_name = {field.name: field for field in metadata.schema().fields}
        fields = [by_name[name] for name in self.columns]
        target = to_arrow_schema(self.schema)
        for payload in (value for batch in batches for value in batch.column(0)):
            task = pickle.loads(payload.as_py())  # noqa: S301 - of this job
            for columns, count_ in read_file(metadata, io, task, fields):
                if self.has_path:
                    path = pa.scalar(task.file.file_path, pa.string())
                    columns.append(pa.repeat(path, count_))
                arrays = [
                    convert(column, field.type)
                    for column, field in zip(columns, target, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=target)


def read_file(
    metadata: TableMetadata, io: Any, task: FileScanTask, fields: Sequence[NestedField]
) -> Iterator[tuple[list[Any], int]]:
    """Yield the columns of the rows of a file that are not deleted, and their number."""
    by_equality = [
        file for file in task.delete_files if file.content == DataFileContent.EQUALITY_DELETES
    ]
    by_position = FileScanTask(task.file, task.delete_files.difference(by_equality))
    deletes = _read_all_delete_files(io, [by_position]).get(task.file.file_path, [])
    deletes = [positions.cast(pa.int64()) for positions in deletes]
    deletes += equal_positions(metadata, io, task.file, by_equality)
    with io.new_input(task.file.file_path).open() as stream:
        file = pq.ParquetFile(stream)
        schema = pyarrow_to_schema(
            file.schema_arrow,
            metadata.name_mapping(),
            downcast_ns_timestamp_to_us=metadata.format_version < 3,
            format_version=metadata.format_version,
        )
        own = {field.field_id: field for field in schema.fields}
        wanted = Schema(*fields)
        constants = _get_column_projection_values(
            task.file, wanted, metadata.schema(), metadata.specs().get(task.file.spec_id),
            schema.field_ids,
        )  # fmt: skip
        names = [own[field.field_id].name for field in fields if field.field_id in own]
        start = 0
        for batch in file.iter_batches(columns=names):
            rows, length = batch, batch.num_rows
            if deletes:
                kept = _combine_positional_deletes(deletes, start, start + batch.num_rows)
                rows, length = batch.take(kept), len(kept)
            start += batch.num_rows
            columns = []
            for field in fields:
                if field.field_id in own:
                    source = own[field.field_id]
                    array = rows.column(source.name)
                    columns.append(project(array, source.field_type, field.field_type))
                else:
                    columns.append(_constant(field, length, constants))
            if length:
                yield columns, length


def equal_positions(
    metadata: TableMetadata, io: Any, file: DataFile, deletions: Iterable[DataFile]
) -> Iterator[pa.ChunkedArray]:
    """Yield the positions of the rows of a file that are equal to deleted ones, NULL to NULL."""
    by_columns: dict[tuple[int, ...], list[DataFile]] = {}
    for deletion in deletions:
        by_columns.setdefault(tuple(sorted(deletion.equality_ids)), []).append(deletion)
    for ids, files in by_columns.items():
        fields = [find_column(metadata, field_id) for field_id in ids]
        parts = [
            columns
            for item in (*files, file)
            for columns, _ in read_file(metadata, io, FileScanTask(item), fields)
        ]
        if not parts:
            continue
        codes = _row_codes([pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True)])
        first = len(codes) - file.record_count
        is_deleted = pc.is_in(codes[first:], value_set=codes[:first])
        yield pa.chunked_array([pc.indices_nonzero(is_deleted).cast(pa.int64())])


def _row_codes(columns: Sequence[pa.Array]) -> pa.Array:
    """Return a number for each row, which equal rows have in common."""
    codes = None
    for column in columns:
        encoded = column.dictionary_encode("encode")
        own = encoded.indices.cast(pa.int64())
        if codes is not None:
            pairs = pc.add(pc.multiply(codes, len(encoded.dictionary)), own)
            own = pairs.dictionary_encode().indices.cast(pa.int64())
        codes = own
    return codes


def _constant(field: NestedField, length: int, constants: Mapping[int, Any]) -> Any:
    """Return the values of a field that a file does not have."""
    type_ = schema_to_pyarrow(field.field_type, include_field_ids=False)
    value = constants.get(field.field_id, field.initial_default)
    return pa.nulls(length, type_) if value is None else pa.repeat(pa.scalar(value, type_), length)


def project(array: Any, source: IcebergType, target: IcebergType) -> Any:
    """Return values of a type of a file as those of another, with fields by their ids."""
    if array.offset:
        array = pa.concat_arrays([array])
    mask = array.is_null()
    match source, target:
        case StructType(), StructType():
            parts = dict(zip((field.field_id for field in source.fields), array.flatten(),
                             strict=True))  # fmt: skip
            own = {field.field_id: field for field in source.fields}
            children = [
                project(parts[field.field_id], own[field.field_id].field_type, field.field_type)
                if field.field_id in own
                else _constant(field, len(array), {})
                for field in target.fields
            ]
            if not children:
                return array
            names = [field.name for field in target.fields]
            return pa.StructArray.from_arrays(children, names, mask=mask)
        case ListType(), ListType():
            values = project(array.values, source.element_type, target.element_type)
            kind = pa.LargeListArray if pa.types.is_large_list(array.type) else pa.ListArray
            return kind.from_arrays(array.offsets, values, mask=mask)
        case MapType(), MapType():
            keys = project(array.keys, source.key_type, target.key_type)
            items = project(array.items, source.value_type, target.value_type)
            return pa.MapArray.from_arrays(array.offsets, keys, items, mask=mask)
    return convert(array, schema_to_pyarrow(target, include_field_ids=False))


def convert(array: Any, target: pa.DataType) -> Any:
    """Return values as another Arrow type, each exactly (`pyarrow.ArrowInvalid`)."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    return array if array.type == target else array.cast(target)


@dataclass(frozen=True, slots=True)
class FileWriter:
    """Writes rows into new files of parquet, whose names contain the id of the job.

    Attributes:
        access: The table.
        columns: The names of the columns, in order.
        job: The id of the job, 32 hexadecimal digits.
    """

    access: FileAccess
    columns: tuple[str, ...]
    job: str

    def write(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the pickled descriptions of the files that hold the rows."""
        metadata, io = self.access.load()
        attempt, numbers = attempt_id(self.job), count()
        schema = schema_to_pyarrow(metadata.schema(), include_field_ids=False)
        for table in collect_rows(batches, self.columns, schema, convert):
            payloads = []
            for rows, key in _partitions(metadata, table):
                name = f"00000-{next(numbers)}-{attempt}.parquet"
                payloads.append(pickle.dumps(write_file(metadata, io, rows, name, key)))
            yield pa.RecordBatch.from_arrays([pa.array(payloads, pa.binary())], ["file"])


@dataclass(frozen=True, slots=True)
class PartitionValues:
    """The values of a partition, and its directory, as `LocationProvider` asks for it."""

    spec: PartitionSpec
    schema: Schema
    partition: Record

    def to_path(self) -> str:
        return str(self.spec.partition_to_path(self.partition, self.schema))


def _partitions(metadata: TableMetadata, table: pa.Table) -> Iterator[tuple[pa.Table, Any]]:
    """Yield the rows of each partition, and its values; None without partitions."""
    spec, schema = metadata.spec(), metadata.schema()
    if spec.is_unpartitioned():
        yield table, None
        return
    values: list[list[Any]] = []
    columns: dict[str, Any] = {}
    for place, field in enumerate(spec.fields):
        name = schema.find_column_name(field.source_id) or ""
        array = _get_field_from_arrow_table(table, name)
        source = schema.find_field(field.source_id).field_type
        own, columns[f"p{place}"] = _transform(field.transform, source, array)
        values.append(own)
    rows = pa.table({**columns, "row": pa.array(range(table.num_rows), pa.int64())})
    groups = rows.group_by(list(columns)).aggregate([("row", "list")])
    for group in groups.to_pylist():
        record = Record(*(own[group[name]] for own, name in zip(values, columns, strict=True)))
        yield table.take(group["row_list"]), PartitionValues(spec, schema, record)


def _transform(
    transform: Transform[Any, Any], source: IcebergType, array: Any
) -> tuple[list[Any], pa.Array]:
    """Return the distinct results of a transform, None last, and the place of each row's."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    physical = pa.int32() if pa.types.is_date(array.type) else pa.int64()
    encoded = array.cast(physical) if pa.types.is_temporal(array.type) else array
    encoded = encoded.dictionary_encode()
    apply = transform.transform(source)
    results = [apply(value) for value in encoded.dictionary.to_pylist()]
    distinct = [*dict.fromkeys(result for result in results if result is not None), None]
    places = {result: place for place, result in enumerate(distinct)}
    last = len(distinct) - 1
    by_code = pa.array([places[result] for result in results] or [last], pa.int32())
    codes = encoded.indices.fill_null(0)
    return distinct, pc.if_else(encoded.indices.is_null(), last, by_code.take(codes))


def sort_rows(metadata: TableMetadata, rows: pa.Table) -> pa.Table:
    """Return rows in the sort order of a table; NaN is greater than all numbers."""
    order, schema = metadata.sort_order_by_id(metadata.default_sort_order_id), metadata.schema()
    columns: dict[str, Any] = {}
    keys: list[tuple[str, str]] = []

    def add(values: Any, *, ascending: bool) -> None:
        keys.append((f"k{len(keys)}", "ascending" if ascending else "descending"))
        columns[keys[-1][0]] = values

    for field in () if order is None else order.fields:
        values = _get_field_from_arrow_table(rows, schema.find_column_name(field.source_id) or "")
        if not isinstance(field.transform, IdentityTransform):
            source = schema.find_field(field.source_id).field_type
            distinct, codes = _transform(field.transform, source, values)
            values = pa.array(distinct).take(codes)
        ascending = field.direction is SortDirection.ASC
        add(values.is_null(), ascending=field.null_order is NullOrder.NULLS_LAST)
        if pa.types.is_floating(values.type):
            add(pc.is_nan(values), ascending=ascending)
        if not pa.types.is_null(values.type):
            add(values, ascending=ascending)
    return rows.take(pc.sort_indices(pa.table(columns), sort_keys=keys)) if keys else rows


def write_file(metadata: TableMetadata, io: Any, rows: pa.Table, name: str, key: Any) -> DataFile:
    """Write rows of one partition into a file in the sort order; return its description."""
    rows = sort_rows(metadata, rows)
    schema, properties = metadata.schema(), metadata.properties
    path = load_location_provider(metadata.location, properties).new_data_location(name, key)
    output = io.new_output(path)
    target = schema_to_pyarrow(schema, include_field_ids=True)
    table = pa.Table.from_arrays(
        [column.cast(field.type) for column, field in zip(rows.columns, target, strict=True)],
        schema=target,
    )
    with output.create(overwrite=True) as stream:
        settings = _get_parquet_writer_kwargs(properties)
        with pq.ParquetWriter(stream, target, store_decimal_as_integer=True, **settings) as writer:
            writer.write(table)
    footer = writer.writer.metadata
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=footer,
        stats_columns=compute_statistics_plan(schema, properties),
        parquet_column_mapping=parquet_path_to_id_mapping(schema),
    )
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=key.partition if key is not None else Record(),
        file_size_in_bytes=len(output),
        sort_order_id=metadata.default_sort_order_id,
        spec_id=metadata.default_spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )


def load_files(rows: Iterable[Any], spec_id: int) -> list[DataFile]:
    """Return the files that tasks have written, with the id of their partition spec."""
    files = [pickle.loads(bytes(row[0])) for row in rows]  # noqa: S301 - of this job
    for file in files:
        file.spec_id = spec_id  # which its description does not hold
    return files
