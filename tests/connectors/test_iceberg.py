"""Files of Iceberg without Spark: the order of their rows, and those of streams."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestampType
from pyspark.sql.types import IntegerType, StructField, StructType
from pyspark.sql.types import StringType as SparkString

from fuzz.iceberg_ages import checks
from schema_core.connectors.iceberg import client
from schema_core.connectors.iceberg.client import open_catalog, open_table
from schema_core.connectors.iceberg.file_statistics import file_statistics
from schema_core.connectors.iceberg.options import (
    COLUMN_PROPERTY,
    PREFIXES,
    TABLE_PROPERTIES,
    require_table_properties,
)
from schema_core.connectors.iceberg.streams import IcebergFiles
from schema_core.connectors.iceberg.tasks import sort_rows
from schema_core.connectors.open_tables.file_statistics import compute_aggregates
from schema_core.connectors.open_tables.streams import NONE
from schema_core.errors import ExternalError, NotFoundError
from schema_core.mappings.iceberg.partitioning import make_order, parse_terms
from schema_core.spark.connector import AggregateExpression, Aggregation
from schema_core.types import DataTypes

SCHEMA = Schema(
    NestedField(1, "a", DoubleType()),
    NestedField(2, "b", StringType()),
    NestedField(3, "t", TimestampType()),
)
ROWS = pa.table(
    {
        "a": pa.array([2.0, None, math.nan, 1.0, 2.0]),
        "b": pa.array(["x", "y", None, "zz", "w"]),
        "t": pa.array([1, 2, 3, 4, None], pa.timestamp("us")),
        "place": range(5),
    }
)


@pytest.mark.parametrize(
    ("order", "places"),
    [
        ("a, b",                                   [1, 3, 4, 0, 2]),
        ("a DESC, b DESC",                         [2, 0, 4, 3, 1]),
        ("a ASC NULLS LAST, b",                    [3, 4, 0, 2, 1]),
        ("truncate(1, b) DESC NULLS FIRST",        [2, 3, 1, 0, 4]),
        ("days(t), a DESC",                        [4, 2, 0, 3, 1]),
    ],
)  # fmt: skip
def test_rows_are_sorted(order: str, places: list[int]) -> None:
    """NaN is greater than all numbers, as in Iceberg's specification."""
    sort_order: Any = make_order(parse_terms(order, ordered=True), SCHEMA)
    metadata = new_table_metadata(
        SCHEMA, UNPARTITIONED_PARTITION_SPEC, sort_order, "/t", {"format-version": "2"}
    )

    assert places == sort_rows(metadata, ROWS).column("place").to_pylist()


def test_each_property_is_accepted() -> None:
    names = [name for name in TABLE_PROPERTIES if name.partition(".")[0] in PREFIXES]
    fixed = {"write.upsert.enabled": "true", "write.format.default": "PARQUET",
             "write.wap.enabled": "false", "write.metadata.compression-codec": "none"}  # fmt: skip

    require_table_properties({**dict.fromkeys([*names, f"{COLUMN_PROPERTY}a"], "1"), **fixed})


OPTIONS = {"catalog-database": "d", "catalog-table": "t"}
COLUMNS = {"a": DataTypes.INT(), "b": DataTypes.STRING()}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Return a table of two snapshots, each with a row."""
    catalog = open_catalog("iceberg", {"warehouse": str(tmp_path)})
    catalog.create_namespace("d")
    schema = pa.schema({"a": pa.int32(), "b": pa.string()})
    created = catalog.create_table("d.t", schema)
    for number in (1, 2):
        created.append(pa.table({"a": [number], "b": [f"b{number}"]}, schema=schema))
    return created


def rows_between(table: Table, start: int, end: int, options: Mapping[str, str]) -> list[Any]:
    """Return the rows of the snapshots after one up to another, as tasks read them."""
    warehouse = table.catalog.properties["warehouse"]
    schema = StructType([StructField("c0", IntegerType()), StructField("c1", SparkString())])
    files = IcebergFiles({**OPTIONS, "warehouse": warehouse, **options}, COLUMNS, schema)
    reader, payloads = files.plan(start, end)
    batches = reader.read(iter([pa.record_batch({"task": pa.array(payloads, pa.binary())})]))
    return sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist())


def test_files_of_each_age_are_read_by_the_ids_of_fields() -> None:
    """Of drawn tables and changes: `python -m fuzz.iceberg_ages 200` checks many."""
    counts = checks([0])

    assert 1 == counts["tasks"] == counts["pyiceberg"]


def test_streams_read_appended_rows(table: Table) -> None:
    first, second = (snapshot.snapshot_id for snapshot in table.snapshots())
    table.update_schema().add_column("c", LongType()).commit()
    table.update_schema().rename_column("b", "new").commit()
    table.update_schema().rename_column("new", "b").commit()
    table.append(pa.table({"a": pa.array([3], pa.int32()), "b": ["b3"], "c": [3]}))
    third = table.current_snapshot()
    assert third is not None

    assert [(1, "b1"), (2, "b2")] == rows_between(table, NONE, second, {})
    assert [(2, "b2"), (3, "b3")] == rows_between(table, first, third.snapshot_id, {})


def test_streams_refuse_snapshots_that_remove_rows(table: Table) -> None:
    """Unless an option skips them; an unknown snapshot is never taken for the first."""
    second = table.snapshots()[-1].snapshot_id
    table.delete("a = 1")
    table.append(pa.table({"a": pa.array([3], pa.int32()), "b": ["b3"]}))
    last = table.snapshots()[-1].snapshot_id

    for start, hint in ((second, "streaming-skip-delete-snapshots"), (17, "checkpoint")):
        with pytest.raises(ExternalError) as caught:
            rows_between(table, start, last, {})
        assert "external-failure" == caught.value.code
        assert hint in (caught.value.hint or "")
    skipping = {"streaming-skip-delete-snapshots": "true"}
    assert [(3, "b3")] == rows_between(table, second, last, skipping)


def test_statistics_are_those_of_exact_bounds(table: Table) -> None:
    """Files are older than a wider type and a new column; one has no bounds, one only NULL."""
    types = {"a": DataTypes.BIGINT(), "b": DataTypes.STRING()}
    context: Any = SimpleNamespace(physical_columns=types, options={})
    table.update_schema().update_column("a", LongType()).commit()
    table.append(pa.table({"a": pa.array([None, None], pa.int64()), "b": ["x", None]}))
    table.append(pa.table({"a": [-(2**40)], "b": ["y"]}))
    statistics = file_statistics(table, types, context)
    calls = [
        AggregateExpression(function, column, DataTypes.BIGINT(), f"{function}{column}")
        for function, column in (("COUNT", None), ("COUNT", "a"), ("COUNT", "b"), ("MIN", "a"),
                                 ("MAX", "a"))
    ]  # fmt: skip

    assert statistics is not None
    assert (5, 3, 4, -(2**40), 2) == compute_aggregates(
        Aggregation((), tuple(calls)), types, statistics
    )
    of_strings = AggregateExpression("MIN", "b", DataTypes.STRING(), "x")
    assert compute_aggregates(Aggregation((), (of_strings,)), types, statistics) is None
    required = {**types, "a": DataTypes.BIGINT().not_null()}
    assert compute_aggregates(Aggregation((), (calls[1],)), required, statistics) is None
    assert (5,) == compute_aggregates(Aggregation((), (calls[0],)), required, statistics)

    with table.transaction() as transaction:
        transaction.set_properties({"write.metadata.metrics.column.a": "counts"})
    table.append(pa.table({"a": [7], "b": ["z"]}))
    statistics = file_statistics(table, types, context) or []
    assert (6, 4) == compute_aggregates(Aggregation((), tuple(calls[:2])), types, statistics)
    assert compute_aggregates(Aggregation((), (calls[3],)), types, statistics) is None
    table.update_schema().add_column("c", LongType()).commit()
    types["c"] = DataTypes.BIGINT()
    of_new = AggregateExpression("COUNT", "c", DataTypes.BIGINT(), "x")
    statistics = file_statistics(table, types, context) or []
    assert compute_aggregates(Aggregation((), (of_new,)), types, statistics) is None


@pytest.mark.parametrize(("kind", "module"), [("hive", "thrift"), ("glue", "boto3")])
def test_the_client_of_a_metastore_is_needed(
    kind: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(NotFoundError) as caught:
        open_catalog("lake", {"catalog-type": kind, "uri": "thrift://localhost:1"})
    assert "missing-dependency" == caught.value.code
    assert module in str(caught.value)


def test_a_catalog_is_opened_once_for_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warehouse that replaces another at its path is opened again."""
    opened: list[str] = []

    def count(name: str, options: Mapping[str, str]) -> Any:
        opened.append(name)
        return open_catalog(name, options)

    monkeypatch.setattr(client, "open_catalog", count)
    warehouse = tmp_path / "lake"
    options = {"warehouse": str(warehouse), "catalog-database": "d", "catalog-table": "t"}
    fields = []
    for name in ("first", "second"):
        catalog = open_catalog("iceberg", options)
        catalog.create_namespace("d")
        catalog.create_table("d.t", pa.schema([(name, pa.int64())]))
        fields += [open_table(options).schema().fields[0].name for _ in range(3)]
        warehouse.rename(tmp_path / name)
    assert fields == ["first"] * 3 + ["second"] * 3
    assert opened == ["iceberg"] * 2
    other = options | {"warehouse": str(tmp_path / "first"), "catalog-name": "other"}
    with pytest.raises(NotFoundError):
        open_table(other)
    assert opened == ["iceberg"] * 2 + ["other"]
