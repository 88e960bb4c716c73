"""What tasks of Spark do for every format: names of new files, and rows collected for them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

#: Bytes of rows in memory that a task collects before it writes files.
BUFFER = 256 * 1024 * 1024


def collect_rows(
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[str],
    schema: pa.Schema,
    convert: Callable[[Any, pa.DataType], Any],
) -> Iterator[pa.Table]:
    """Yield the rows of batches in tables with the columns of a schema, as large as `BUFFER`.

    Args:
        batches: The rows of a task.
        columns: The names of their columns, in order.
        schema: The columns of the result, in their order.
        convert: Returns values as another type.
    """
    buffer: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        by_name = dict(zip(columns, batch.columns, strict=True))
        arrays = [convert(by_name[field.name], field.type) for field in schema]
        buffer.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
        size += batch.nbytes
        if size >= BUFFER:
            yield pa.Table.from_batches(buffer)
            buffer, size = [], 0
    if buffer:
        yield pa.Table.from_batches(buffer)


def attempt_id(job: str) -> uuid.UUID:
    """Return an id of an attempt of a task, which begins with digits of the job.

    A task may run twice; the files of one of its attempts are committed.
    """
    return uuid.UUID(job[:16] + uuid.uuid4().hex[16:])


def is_file_of(path: str, job: str) -> bool:
    """Return whether the name of a file has the id of a job.

    >>> is_file_of(f"/t/data/00000-0-{attempt_id('ab' * 16)}.parquet", "ab" * 16)
    True
    """
    prefix = str(uuid.UUID(job))[:18]
    return f"-{prefix}-" in path.rpartition("/")[2]
