"""Reading of Delta's tables: the driver plans the files, tasks of Spark read them.

Spark's own reader of parquet reads files by the names of columns; files with deleted rows, and
types, names and storages that it lacks, are read by pyarrow in tasks.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as quote_url

from deltalake import DeltaTable

from schema_core.catalog.partition_texts import HIVE_NULL_NAME
from schema_core.connectors.delta.client import PHYSICAL_NAME, TableAccess, schema_fields
from schema_core.connectors.delta.files import (
    DeltaFile,
    limit_files,
    list_files,
    prune,
)
from schema_core.connectors.delta.tasks import FileReader
from schema_core.connectors.float_predicates import without_float_pushdown
from schema_core.connectors.open_tables.columns import match_fields
from schema_core.connectors.open_tables.frames import (
    FILE_PATH,
    has_plain_path,
    keep_frame,
    path_column,
    read_payloads,
    stored_schema,
)
from schema_core.connectors.open_tables.locations import is_listed
from schema_core.mappings.delta.types import from_delta, shape, to_delta
from schema_core.mappings.spark.pyspark_types import as_nullable, to_spark
from schema_core.spark.compiler.tree import quote
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import DataType, DayTimeIntervalType, TimeType, YearMonthIntervalType
from schema_core.types.families import TypeRoot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext

#: The most files whose paths Spark lists.
MAX_FILES = 20_000
#: Types whose values are stored as integers, which pyarrow converts.
CONVERTED = (TimeType, YearMonthIntervalType, DayTimeIntervalType)
#: Roots of partition columns whose values Spark reads from the names of directories.
DIRECTORY_ROOTS = frozenset(
    {TypeRoot.VARCHAR, TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT,
     TypeRoot.DATE}
)  # fmt: skip


def match_columns(table: DeltaTable, columns: Mapping[str, DataType]) -> dict[str, dict[str, Any]]:
    """Return the fields of the declared columns, in the JSON of the table's schema.

    Raises:
        ExternalError: with code `schema-mismatch` for a column that the table does not have,
            or has with another type.
    """
    fields = {field["name"]: field for field in schema_fields(table)}
    return match_fields(columns, fields, _difference, "Delta")


def _difference(field: Mapping[str, Any], type_: DataType) -> tuple[str, DataType] | None:
    stored = field["type"]
    if shape(to_delta(type_), nullability=False) == shape(stored, nullability=False):
        return None
    near = from_delta(stored)
    return near.as_summary_string(), near


def plan_files(table: DeltaTable, context: ReadContext) -> list[DeltaFile]:
    """Return the files of a version that a query reads (`external-failure`)."""
    files = prune(list_files(table), context.filters)
    if context.groups is not None:
        files = [file for file in files if file.path in context.groups]
    return limit_files(files, context.limit)


def read_frame(table: DeltaTable, context: ReadContext) -> DataFrame:
    """Return the rows of a version; errors as `plan_files` and `match_columns`."""
    fields = match_columns(table, context.columns)
    access = TableAccess.of(context.options)
    files = plan_files(table, context)
    partitions = table.metadata().partition_columns
    by_spark: list[DeltaFile] = []
    has_path = FILE_PATH in context.metadata
    if access.directory is not None and _is_native(fields, context):
        by_spark = [
            file
            for file in files
            if is_listed(f"{access.location}/{file.path}")
            and (not has_path or has_plain_path(f"{access.location}/{file.path}"))
            and _has_native_path(file, partitions, fields, context)
        ]
    if len(by_spark) > MAX_FILES:
        by_spark = []
    paths = {file.path for file in by_spark}
    others = [file for file in files if file.path not in paths]
    frames = []
    if by_spark:
        frames.append(_native_frame(access, by_spark, context))
    if others or not frames:
        schema = context.spark_schema
        reader = FileReader(access, tuple(fields.values()), stored_schema(schema), has_path)
        payloads = [pickle.dumps(file) for file in others]
        frames.append(read_payloads(context.session, payloads, reader.read, schema))
    frame = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
    return frame if context.limit is None else frame.limit(context.limit)


def _is_native(fields: Mapping[str, Mapping[str, Any]], context: ReadContext) -> bool:
    """Return whether Spark reads these columns as they are in files."""
    return bool(fields) and not any(
        PHYSICAL_NAME in field["metadata"] or _is_converted(context.columns[name])
        for name, field in fields.items()
    )


def _is_converted(type_: DataType) -> bool:
    return isinstance(type_, CONVERTED) or any(map(_is_converted, type_.children()))


def _has_native_path(
    file: DeltaFile,
    partitions: Sequence[str],
    fields: Mapping[str, Mapping[str, Any]],
    context: ReadContext,
) -> bool:
    """Return whether Spark reads a file, and its partition values from its directories.

    Spark parses them by its own rules, so that only values are accepted which have one text.
    """
    if file.kept is not None:
        return False
    directories = []
    for name in partitions:
        value = file.partition[name]
        text = HIVE_NULL_NAME if value is None else str(value)
        is_plain = quote_url(text, safe="") == text and quote_url(name, safe="") == name
        if not is_plain or (name in fields and context.columns[name].root not in DIRECTORY_ROOTS):
            return False
        directories.append(f"{name}={text}")
    parent = file.path.rpartition("/")[0]
    return parent == "/".join(directories) if directories else "=" not in parent


def _native_frame(
    access: TableAccess, files: Sequence[DeltaFile], context: ReadContext
) -> DataFrame:
    from pyspark.sql.types import StructField, StructType

    wanted = tuple((name, as_nullable(to_spark(type_))) for name, type_ in context.columns.items())
    paths = tuple(f"{access.location}/{file.path}" for file in files)
    has_path = FILE_PATH in context.metadata

    def make_frame() -> DataFrame:
        schema = StructType([StructField(name, type_) for name, type_ in wanted])
        reader = context.session.read.schema(schema).option("basePath", access.location)
        frame = reader.parquet(*paths)
        col = functions_of(frame).col
        columns = [col(quote(name)) for name, _ in wanted]
        if has_path:
            columns.append(path_column(frame, f"{access.location}/"))
        return without_float_pushdown(frame.select(*columns))

    return keep_frame(context.session, (access.location, wanted, has_path), paths, make_frame)
