"""Frames of rows that functions in Python read in tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from schema_core.base.caching import GenerationalCache
from schema_core.base.lazy import regex
from schema_core.mappings.spark.pyspark_types import as_months, as_nullable, of_months
from schema_core.spark.connector import metadata_column
from schema_core.spark.session.api_mode import functions_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: The key of the metadata with the path of a row's file, by which rows are replaced.
FILE_PATH: Final = "file.path"


#: The most frames that are kept, and the most files of one.
MAX_FRAMES, MAX_KEPT_FILES = 64, 1_000
#: Session, columns and files -> the frame.
FRAMES: GenerationalCache[DataFrame] = GenerationalCache(
    f"{__name__}.keep_frame", MAX_FRAMES, "frames"
)


def keep_frame(
    session: SparkSession,
    columns: object,
    paths: tuple[str, ...],
    make_frame: Callable[[], DataFrame],
) -> DataFrame:
    """Return the frame of files, which Spark lists and analyses once in a session.

    A file of a table in an open format is never changed, and has its name for itself.

    Args:
        session: The session of the frame.
        columns: All that the frame depends on besides the files; hashable.
        paths: The files.
        make_frame: Returns the frame.
    """
    key = (id(session), columns, paths)
    frame = FRAMES.get(key)
    if frame is None or frame.sparkSession is not session:
        frame = make_frame()
        if len(paths) <= MAX_KEPT_FILES:
            FRAMES.add(key, frame, 1)
    return frame


#: Paths that are the same in a URL.
_PLAIN = regex(r"[\w./=-]*", re.ASCII)
#: The longest path in a frame.
MAX_PATH: Final = 1_000_000


def has_plain_path(path: str) -> bool:
    """Return whether Spark's readers of files return a path as it is, in a URL.

    >>> has_plain_path("/t/k=1/part-0.parquet"), has_plain_path("/t/a b")
    (True, False)
    """
    return path.startswith("/") and _PLAIN.fullmatch(path) is not None


def path_column(frame: DataFrame, prefix: str) -> Column:
    """Return the column `FILE_PATH` of a frame that Spark's reader of files returned.

    Args:
        frame: The frame, of files with plain paths.
        prefix: What is omitted: the beginning of each path.
    """
    functions = functions_of(frame)
    path = functions.regexp_replace(functions.col("_metadata.file_path"), "^file:/+", "/")
    column = functions.substring(path, len(prefix) + 1, MAX_PATH)
    return column.alias(metadata_column(FILE_PATH))


def stored_schema(schema: StructType) -> StructType:
    """Return a schema as tasks return it: by position, and intervals of months as integers."""
    from pyspark.sql.types import StructField
    from pyspark.sql.types import StructType as SparkStruct

    return SparkStruct(
        [
            StructField(f"c{place}", as_nullable((as_months(type_) or [type_])[-1]))
            for place, type_ in enumerate(field.dataType for field in schema.fields)
        ]
    )


def read_payloads(
    session: SparkSession,
    payloads: Sequence[bytes],
    read: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType,
) -> DataFrame:
    """Return the rows that a function yields for pickled files, each in a task.

    The function yields batches with the columns of `stored_schema`.
    """
    if not payloads:
        return session.createDataFrame([], schema)
    rows = [(bytearray(payload),) for payload in payloads]
    spread = session.createDataFrame(rows, "task binary").repartition(len(rows))
    return from_stored(spread.mapInArrow(read, stored_schema(schema)), schema)


def from_stored(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return the columns of `stored_schema` as those of a schema."""
    col = functions_of(frame).col
    columns: list[Any] = []
    for place, field in enumerate(schema.fields):
        column = col(f"c{place}")
        for type_ in of_months(field.dataType):
            column = column.cast(type_)
        columns.append(column.alias(field.name))
    return frame.select(*columns)
