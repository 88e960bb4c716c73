"""Reading of Iceberg's tables: the driver plans the files, tasks of Spark read them.

Files without deleted rows are read by Spark's own reader of parquet, by the ids of fields; others,
and those of types or file systems that it lacks, by pyiceberg.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from pyiceberg import expressions
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression
from pyiceberg.manifest import FileFormat
from pyiceberg.table import FileScanTask, Table
from pyiceberg.types import (
    IcebergType,
    ListType,
    MapType,
    NestedField,
    StructType,
    TimestampNanoType,
    TimestamptzNanoType,
    UUIDType,
)

from schema_core.base.caching import GenerationalCache
from schema_core.base.lazy import dataclass
from schema_core.connectors.float_predicates import without_float_pushdown
from schema_core.connectors.iceberg.client import iceberg_errors, require_version
from schema_core.connectors.iceberg.options import AS_OF_TIMESTAMP, SNAPSHOT_ID, VERSION
from schema_core.connectors.iceberg.planning import plan_scan
from schema_core.connectors.iceberg.tasks import FileAccess, FileReader
from schema_core.connectors.open_tables.columns import match_fields
from schema_core.connectors.open_tables.frames import (
    FILE_PATH,
    MAX_KEPT_FILES,
    has_plain_path,
    keep_frame,
    path_column,
    read_payloads,
    stored_schema,
)
from schema_core.connectors.open_tables.locations import is_listed
from schema_core.connectors.open_tables.versions import chosen_version, no_such_version
from schema_core.errors import ExternalError
from schema_core.expressions.typed import Ref, walk
from schema_core.mappings.iceberg.types import from_iceberg
from schema_core.mappings.spark.pyspark_types import as_nullable, to_spark
from schema_core.mappings.stored_types import ICEBERG
from schema_core.spark.compiler.tree import quote
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import (
    ArrayType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    MultisetType,
    RowType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    YearMonthIntervalType,
)
from schema_core.types import MapType as FlinkMapType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType

    from schema_core.spark.connector import ReadContext
    from schema_core.spark.filters import Filter

#: The property of tables with files without field ids.
NAME_MAPPING = "schema.name-mapping.default"
#: Spark's setting for reading parquet by the ids of fields, and the metadata with an id.
BY_ID, ID = "spark.sql.parquet.fieldId.read.enabled", "parquet.field.id"
#: The operators of `Comparison` that prune files.
OPERATORS: Mapping[str, Any] = {
    "=": expressions.EqualTo, "<": expressions.LessThan, "<=": expressions.LessThanOrEqual,
    ">": expressions.GreaterThan, ">=": expressions.GreaterThanOrEqual, "IN": expressions.In,
}  # fmt: skip
#: The most files whose paths Spark lists.
MAX_FILES = 20_000
#: Table, snapshot, schema and condition -> the files; a snapshot does not change.
PLANS: GenerationalCache[tuple[FileScanTask, ...]] = GenerationalCache(
    "schema_core.connectors.iceberg.reading.plan_files", 4 * MAX_FILES, "files"
)


# --- planning ------------------------------------------------------------------------------------


def snapshot_of(table: Table, options: Mapping[str, str]) -> int | None:
    """Return the id of the snapshot that options choose; None if the table has none.

    Raises:
        NotFoundError: with code `not-found` for a snapshot, branch or tag that does not exist.
        SchemaError: with code `conflicting-options`.
    """
    option = chosen_version(options, VERSION)
    if option is None:
        current = table.current_snapshot()
        return None if current is None else current.snapshot_id
    value = option.of(options)
    if option is SNAPSHOT_ID:
        snapshot = table.snapshot_by_id(value)
    elif option is AS_OF_TIMESTAMP:
        snapshot = table.snapshot_as_of_timestamp(value)
    else:
        snapshot = table.snapshot_by_name(value)
    if snapshot is None:
        raise no_such_version(option, value)
    identifier: int = snapshot.snapshot_id
    return identifier


def plan_files(
    table: Table, options: Mapping[str, str], filters: Iterable[Filter] = ()
) -> list[FileScanTask]:
    """Return the files of a table that may have rows for which all filters are TRUE.

    Raises:
        ExternalError: as `iceberg_errors`, also for deletions that are not read (`plan_scan`).
    """
    snapshot = snapshot_of(table, options)
    if snapshot is None:
        return []
    condition: BooleanExpression = AlwaysTrue()
    for filter_ in filters:
        if (expression := pruning_expression(filter_)) is not None:
            condition = And(condition, expression)
    metadata = table.metadata
    key = (str(metadata.table_uuid), snapshot, metadata.current_schema_id, repr(condition))
    if (tasks := PLANS.get(key)) is None:
        with iceberg_errors():
            tasks = tuple(plan_scan(table.scan(row_filter=condition, snapshot_id=snapshot)))
        PLANS.add(key, tasks, len(tasks) + 1)
    return list(tasks)


def pruning_expression(filter_: Filter) -> BooleanExpression | None:
    """Return a filter as a condition of pyiceberg that prunes files; None if it has none.

    Bounds of a column have all of its digits, a TIMESTAMP of fewer digits is truncated when it is
    read: such a filter has none.
    """
    comparison = filter_.comparison
    if comparison is None or not filter_.is_exact or "." in comparison.column:
        return None
    if comparison.operator == "IS NULL":
        return expressions.IsNull(comparison.column)
    if comparison.operator == "IS NOT NULL":
        return expressions.NotNull(comparison.column)
    if comparison.operator not in OPERATORS:
        return None
    (type_,) = {node.type for node in walk(filter_.expression) if isinstance(node, Ref)}
    values = comparison.value if comparison.operator == "IN" else (comparison.value,)
    stored = [_stored_value(value, type_) for value in values]
    if None in stored:
        return None
    expression: BooleanExpression = OPERATORS[comparison.operator](
        comparison.column, stored if comparison.operator == "IN" else stored[0]
    )
    return expression


def _stored_value(value: Any, type_: DataType) -> Any:
    """Return a value as a literal of a column's type; None if it has none."""
    if isinstance(type_, TimestampType) and type_.precision != 6:
        return None
    if not isinstance(type_, DecimalType):
        return value
    scaled = Decimal(value).quantize(Decimal(1).scaleb(-type_.scale), context=Context(prec=77))
    return scaled if scaled == value and scaled.adjusted() < type_.precision - type_.scale else None


def has_many_files(table: Table, options: Mapping[str, str]) -> bool:
    """Return whether a snapshot may have more than `MAX_KEPT_FILES` files; errors of `snapshot_of`.

    Its summary has the number, which writers may omit, and which is any text.
    """
    identifier = snapshot_of(table, options)
    snapshot = None if identifier is None else table.snapshot_by_id(identifier)
    if snapshot is None:
        return False
    number = str(snapshot.summary and snapshot.summary["total-data-files"])
    digits = len(str(MAX_KEPT_FILES))
    is_few = number.isdecimal() and len(number) <= digits and int(number) <= MAX_KEPT_FILES
    return not is_few


def limit_tasks(tasks: Sequence[FileScanTask], limit: int | None) -> list[FileScanTask]:
    """Return as many files as have the number of rows that a query needs."""
    if limit is None:
        return list(tasks)
    result, rows = [], 0
    for task in tasks:
        if rows >= limit:
            break
        result.append(task)
        rows += 0 if task.delete_files else task.file.record_count
    return result


# --- columns -------------------------------------------------------------------------------------


def match_columns(table: Table, columns: Mapping[str, DataType]) -> dict[str, NestedField]:
    """Return the Iceberg fields of a table's declared columns.

    Raises:
        ExternalError: with code `schema-mismatch` for a column that the table does not have,
            or has with another type.
    """
    fields = {field.name: field for field in table.schema().fields}
    return match_fields(columns, fields, _difference, "Iceberg")


def _difference(field: NestedField, type_: DataType) -> tuple[str, DataType] | None:
    stored = field.field_type
    return None if _stores(stored, type_) else (str(stored), from_iceberg(stored))


def _stores(iceberg: IcebergType, type_: DataType) -> bool:
    """Return whether a type of Iceberg has the values of a type."""
    match iceberg, type_:
        case StructType(), RowType():
            pairs = zip(iceberg.fields, type_.fields, strict=False)
            return len(iceberg.fields) == len(type_.fields) and all(
                field.name == item.name and _stores(field.field_type, item.data_type)
                for field, item in pairs
            )
        case ListType(), ArrayType():
            return _stores(iceberg.element_type, type_.element_type)
        case MapType(), FlinkMapType():
            return _stores(iceberg.key_type, type_.key_type) and _stores(
                iceberg.value_type, type_.value_type
            )
        case MapType(), MultisetType():
            return _stores(iceberg.key_type, type_.element_type)
        case _ if not iceberg.is_primitive:
            return False
    near = from_iceberg(iceberg)
    if isinstance(type_, YearMonthIntervalType | DayTimeIntervalType):
        return near.root.name == ("INTEGER" if isinstance(type_, YearMonthIntervalType)
                                  else "BIGINT")  # fmt: skip
    return near.root is type_.root or ICEBERG.physical_type(near) == ICEBERG.physical_type(type_)


@dataclass(frozen=True, slots=True)
class NativeColumn:
    """A column as Spark's reader of parquet returns it."""

    name: str
    spark: SparkType
    id: int


def native_type(iceberg: IcebergType, type_: DataType) -> SparkType | None:
    """Return the type with ids by which Spark reads a column; None if it cannot."""
    from pyspark.sql import types

    match iceberg, type_:
        case StructType(), RowType():
            fields = []
            for field, item in zip(iceberg.fields, type_.fields, strict=True):
                inner = native_type(field.field_type, item.data_type)
                if inner is None or field.initial_default is not None:
                    return None
                fields.append(types.StructField(field.name, inner, True, {ID: field.field_id}))
            return types.StructType(fields)
        case ListType(), ArrayType():
            element = native_type(iceberg.element_type, type_.element_type)
            return None if element is None else types.ArrayType(element)
        case MapType(), FlinkMapType() | MultisetType():
            key = native_type(iceberg.key_type, type_.children()[0])
            value: SparkType | None = types.IntegerType()
            if isinstance(type_, FlinkMapType):
                value = native_type(iceberg.value_type, type_.value_type)
            return None if key is None or value is None else types.MapType(key, value)
    if isinstance(iceberg, UUIDType | TimestampNanoType | TimestamptzNanoType):
        return None
    if isinstance(type_, TinyIntType | SmallIntType):
        return types.IntegerType()
    return to_spark(type_)


# --- frames --------------------------------------------------------------------------------------


def read_frame(table: Table, context: ReadContext) -> DataFrame:
    """Return the rows of a table; errors as `plan_files`, `snapshot_of` and `match_columns`."""
    fields = match_columns(table, context.columns)
    tasks = plan_files(table, context.options, context.filters)
    if context.groups is not None:
        tasks = [task for task in tasks if task.file.file_path in context.groups]
    tasks = limit_tasks(tasks, context.limit)
    native = _native_columns(table, fields, context)
    has_path = FILE_PATH in context.metadata
    by_spark = [
        task
        for task in tasks
        if native is not None
        and _is_native(task)
        and (not has_path or has_plain_path(task.file.file_path))
    ]
    if len(by_spark) > MAX_FILES:
        by_spark = []
    chosen = {id(task) for task in by_spark}
    others = [task for task in tasks if id(task) not in chosen]
    frames = []
    if native is not None and by_spark:
        frames.append(_native_frame(native, by_spark, context))
    if others or not frames:
        frames.append(_task_frame(table, others, context))
    frame = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
    return frame if context.limit is None else frame.limit(context.limit)


def _is_native(task: FileScanTask) -> bool:
    path = task.file.file_path
    is_local = path.startswith(("/", "file:/")) and is_listed(path)
    is_plain = task.file.file_format == FileFormat.PARQUET and task.file.key_metadata is None
    return is_local and is_plain and not task.delete_files


def _native_columns(
    table: Table, fields: Mapping[str, NestedField], context: ReadContext
) -> list[NativeColumn] | None:
    """Return the columns as Spark reads them; None if it cannot read the table."""
    if not fields or NAME_MAPPING in table.properties:
        return None
    columns = []
    for name, field in fields.items():
        spark = native_type(field.field_type, context.columns[name])
        if spark is None or field.initial_default is not None:
            return None
        columns.append(NativeColumn(name, spark, field.field_id))
    return columns


def _native_frame(
    columns: Sequence[NativeColumn], tasks: Sequence[FileScanTask], context: ReadContext
) -> DataFrame:
    context.session.conf.set(BY_ID, "true")
    paths = tuple(task.file.file_path for task in tasks)
    wanted = tuple(as_nullable(field.dataType) for field in context.spark_schema.fields)
    has_path = FILE_PATH in context.metadata
    return keep_frame(
        context.session,
        (tuple(columns), wanted, has_path),
        paths,
        lambda: _frame_of_files(context.session, columns, wanted, paths, has_path=has_path),
    )


def _frame_of_files(
    session: SparkSession,
    columns: Sequence[NativeColumn],
    wanted: Sequence[SparkType],
    paths: Sequence[str],
    *,
    has_path: bool,
) -> DataFrame:
    from pyspark.sql.types import StructField
    from pyspark.sql.types import StructType as SparkStruct

    schema = SparkStruct(
        [StructField(column.name, column.spark, True, {ID: column.id}) for column in columns]
    )
    frame = session.read.schema(schema).option("recursiveFileLookup", "true").parquet(*paths)
    col = functions_of(frame).col
    selected = [
        col(quote(column.name)).cast(type_).alias(column.name)
        if as_nullable(column.spark) != type_
        else col(quote(column.name))
        for column, type_ in zip(columns, wanted, strict=False)
    ]
    if has_path:
        selected.append(path_column(frame, ""))
    return without_float_pushdown(frame.select(*selected))


def _task_frame(table: Table, tasks: Sequence[FileScanTask], context: ReadContext) -> DataFrame:
    """Return the rows of files that pyiceberg reads in tasks of Spark."""
    schema = context.spark_schema
    if not tasks:
        return context.session.createDataFrame([], schema)
    require_version(table.metadata.format_version)
    access = FileAccess.of(table.metadata, table.io)
    reader = FileReader(
        access, tuple(context.columns), stored_schema(schema), FILE_PATH in context.metadata
    )
    payloads = [pickle.dumps(require_parquet(task)) for task in tasks]
    return read_payloads(context.session, payloads, reader.read, schema)


def require_parquet(task: FileScanTask) -> FileScanTask:
    """Return a task that a worker reads (`external-failure` for other or encrypted files)."""
    if task.file.key_metadata is not None:
        raise ExternalError(
            "encrypted files of Iceberg are not read",
            code="external-failure",
            hint="read the table with the engine that has the keys",
        )
    if task.file.file_format != FileFormat.PARQUET:
        raise ExternalError(
            f"files of Iceberg in the format {task.file.file_format} are not read",
            code="external-failure",
            hint="rewrite them as parquet",
        )
    return task
