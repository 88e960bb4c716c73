"""A second pass over the sources of a failed job, which finds the invalid record.

Readers of Spark do not count lines. A connector that leaves parsing to them can read the files
again by itself once a job has failed, and report the file, line and column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from schema_core.spark.connector import ReadContext, SparkConnector, SupportsDiagnosis
from schema_core.spark.jobs import was_canceled

#: A connector and what it read.
Read: TypeAlias = tuple[SparkConnector, ReadContext]


T = TypeVar("T")


@contextmanager
def diagnosing(reads: Sequence[Read]) -> Iterator[None]:
    """Replace the error of a job by a more exact one, if a connector of its sources has one.

    Raises:
        SchemaCoreError: as `SupportsDiagnosis.diagnose` returns.
    """
    try:
        yield
    except Exception as error:
        if not was_canceled(error):
            for connector, context in reads:
                if isinstance(connector, SupportsDiagnosis):
                    found = connector.diagnose(context, error)
                    if found is not None:
                        raise found from error
        raise


def diagnosed_rows(rows: Iterator[T], reads: Sequence[Read]) -> Iterator[T]:
    """Yield the rows of a query; errors are those of `diagnosing`."""
    with diagnosing(reads):
        yield from rows
