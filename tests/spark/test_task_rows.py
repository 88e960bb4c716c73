"""Connectors that read and write rows in Spark's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import pyarrow as pa
import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from schema_core import TableEnvironment
from schema_core.connectors import ReadContext, WriteContext, python_rows
from schema_core.errors import ExternalError, SchemaError
from schema_core.spark.task_rows import BATCH, to_batches
from schema_core.testing.connector_cases import NAMES, TYPES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.spark.task_rows import TaskRows
    from tests.spark.conftest import FrameConnector

SCHEMA = StructType([StructField("a", IntegerType()), StructField("b", StringType())])


def read_file(file: Path, *, schema: StructType | None) -> TaskRows:
    """Return the rows of a file: those of Python, if there is a schema."""
    with pa.ipc.open_file(file) as reader:
        table = reader.read_all()
    return [table] if schema is None else python_rows(table.to_batches(), schema)


def write_file(directory: Path, batches: Iterator[pa.RecordBatch]) -> list[str]:
    rows = list(batches)
    if not rows:
        return []
    file = directory / uuid4().hex
    with pa.ipc.new_file(file, rows[0].schema) as writer:
        for batch in rows:
            writer.write_batch(batch)
    return [file.name]


class Files:
    """The methods of a connector of Arrow files, a file of each task."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.as_rows = directory, False
        self.names: list[str] = []

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        for names in context.write_partitions(frame, partial(write_file, self.directory)):
            self.names += names

    def read(self, context: ReadContext) -> DataFrame:
        files = [self.directory / name for name in self.names]
        schema = context.spark_schema if self.as_rows else None
        return context.read_partitions(files, partial(read_file, schema=schema))


@pytest.fixture
def files(connector: FrameConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    result = Files(tmp_path)
    monkeypatch.setattr(connector, "write", result.write)
    monkeypatch.setattr(connector, "read", result.read)
    return result


def test_every_type_is_written_and_read_in_tasks(
    environment: TableEnvironment, files: Files
) -> None:
    samples = {f"c{place}": sample for place, sample in enumerate(TYPES.values())}
    columns = ", ".join(f"{name} {sample.type}" for name, sample in samples.items())
    environment.execute_sql(f"CREATE TABLE t ({columns}) WITH ('connector' = 'frames')")
    count = max(len(sample.values) for sample in samples.values())
    rows = [
        ", ".join(
            f"CAST({sample.values[number]} AS {sample.type})"
            if number < len(sample.values)
            else f"CAST(NULL AS {sample.type})"
            for sample in samples.values()
        )
        for number in range(count)
    ]
    query = " UNION ALL ".join(f"SELECT {row}" for row in rows)
    environment.execute_sql(f"INSERT INTO t {query}").wait()

    expected = sorted(map(str, environment.execute_sql(query).collect()))
    for as_rows in (False, True):
        files.as_rows = as_rows
        assert sorted(map(str, environment.execute_sql("SELECT * FROM t").collect())) == expected


def test_names_of_columns_are_kept(environment: TableEnvironment, files: Files) -> None:
    columns = ", ".join(f"`{name.replace('`', '``')}` INT" for name in NAMES)
    environment.execute_sql(f"CREATE TABLE t ({columns}) WITH ('connector' = 'frames')")
    environment.execute_sql(f"INSERT INTO t VALUES ({', '.join(map(str, range(len(NAMES))))})")

    (row,) = environment.execute_sql("SELECT * FROM t").collect()
    assert tuple(row) == tuple(range(len(NAMES)))


def test_without_items_there_are_no_rows(environment: TableEnvironment, files: Files) -> None:
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'frames')")

    assert [] == list(environment.execute_sql("SELECT * FROM t").collect())


# --- items ----------------------------------------------------------------------------------------


def pages(item: int, *, log: Path) -> Iterator[tuple[int, str]]:
    """Fail at the first call; item 3 at each call after its first row."""
    with log.open("a") as file:
        file.write(f"{item}\n")
    if log.read_text().splitlines().count(str(item)) == 1:
        raise OSError("no answer")
    yield item, "x"
    if item == 3:
        raise OSError("cut off")


def test_an_item_is_tried_again_until_it_has_rows(
    environment: TableEnvironment,
    connector: FrameConnector,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    items, log = [1, 2], tmp_path / "log"

    def read(context: ReadContext) -> DataFrame:
        return context.read_partitions(items, partial(pages, log=log), attempts=2)

    monkeypatch.setattr(connector, "read", read)
    environment.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'frames')")

    assert [(1, "x"), (2, "x")] == sorted(
        map(tuple, environment.execute_sql("SELECT * FROM t").collect())
    )
    items[:] = [3]
    with pytest.raises(ExternalError, match=r"OSError: cut off \(in item 3\)"):
        list(environment.execute_sql("SELECT * FROM t").collect())
    assert log.read_text().splitlines().count("3") == 2, "a row was returned: no third attempt"


def test_attempts_are_positive(session: SparkSession) -> None:
    with pytest.raises(SchemaError, match="attempts must be 1 or more"):
        ReadContext.read_partitions(cast("Any", None), [], list, attempts=0)


# --- batches --------------------------------------------------------------------------------------


def batches(rows: Iterable[Any]) -> list[list[Mapping[str, Any]]]:
    return [batch.to_pylist() for batch in to_batches(rows, SCHEMA)]


def test_rows_become_batches_in_their_order() -> None:
    table = pa.table({"b": ["y"], "a": pa.array([2], pa.int64())})
    rows = [(1, "x"), table, {"a": 3}, table.to_batches()[0]]

    assert batches(rows) == [
        [{"a": 1, "b": "x"}], [{"a": 2, "b": "y"}], [{"a": 3, "b": None}], [{"a": 2, "b": "y"}],
    ]  # fmt: skip
    assert [BATCH, 1] == [len(part) for part in batches((n, "x") for n in range(BATCH + 1))]
    assert [] == batches([])


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ((1,), "1 values, and there are 2 columns"),
        (("x", "y"), "field a"),
        ((1, "x", 2), "3 values"),
        (pa.table({"a": [1]}), "'b'"),
        (pa.table({"a": [2**40], "b": ["x"]}), "not in range"),
    ],
)
def test_rows_that_do_not_fit(row: Any, error: str) -> None:
    with pytest.raises((ValueError, TypeError, pa.ArrowInvalid), match=error):
        batches([row])
