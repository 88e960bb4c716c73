"""Spark's table properties: schemas as a whole or in parts, partition and bucket columns."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable, TableDistribution
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import SchemaCoreError
from schema_core.properties.spark_table_properties import (
    PARTS,
    SCHEMA,
    malformed_properties,
    read_spark_table,
    stored_schema_json,
    write_spark_table,
)
from schema_core.properties.stored import read_map
from schema_core.properties.verification import verify
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema

RECORDED = Path(__file__).parents[2] / "properties" / "corpus" / "maps" / "spark-4.3.0.jsonl.gz"
NOTE = "schema_core.type"

#: The properties of a partitioned and bucketed table that Spark 4 wrote.
WRITTEN_BY_SPARK = {
    "spark.sql.create.version": "4.0.0",
    "spark.sql.sources.provider": "parquet",
    "spark.sql.sources.schema": (
        '{"type":"struct","fields":['
        '{"name":"Id","type":"long","nullable":true,"metadata":{}},'
        '{"name":"p","type":"string","nullable":true,"metadata":{"comment":"where"}}]}'
    ),
    "spark.sql.sources.schema.numPartCols": "1",
    "spark.sql.sources.schema.partCol.0": "p",
    "spark.sql.sources.schema.numBuckets": "4",
    "spark.sql.sources.schema.numBucketCols": "1",
    "spark.sql.sources.schema.bucketCol.0": "Id",
    "spark.sql.partitionProvider": "catalog",
    "transient_lastDdlTime": "1700000000",
}


def test_table_written_by_spark_is_read() -> None:
    result = read_map(WRITTEN_BY_SPARK)

    assert ("spark",) == result.layers
    assert isinstance(result.object, CatalogTable)
    assert (("p",), TableDistribution.of_hash(["Id"], 4)) == (
        result.object.partition_keys,
        result.object.distribution,
    )
    assert "(\n  `Id` BIGINT,\n  `p` STRING COMMENT 'where'\n)" == str(result.object.schema)
    assert "not-recorded" in {note.code for note in result.notes}


def without_notes(tree: Any) -> Any:
    """A tree of Spark's JSON without exact types."""
    if isinstance(tree, dict):
        return {key: without_notes(value) for key, value in tree.items() if key != NOTE}
    return [without_notes(child) for child in tree] if isinstance(tree, list) else tree


def recorded() -> list[dict[str, str]]:
    """Properties that Spark stored in a Derby metastore: all types, and a schema in parts."""
    lines = gzip.decompress(RECORDED.read_bytes()).decode("utf-8").rstrip("\n").split("\n")
    return [json.loads(line)["a"]["properties"] for line in lines]


@pytest.mark.parametrize("properties", recorded())
def test_properties_written_by_spark_are_reproduced(properties: dict[str, str]) -> None:
    read, _ = read_spark_table(properties)
    provider = properties["spark.sql.sources.provider"]
    written = write_spark_table(resolve_table(read, SchemaResolver()), provider)
    lists = [key for key in properties if re.search(r"numPart|partCol|[bB]ucket", key)]

    assert () == verify(properties)
    assert json.loads(stored_schema_json(properties)) == without_notes(
        json.loads(stored_schema_json(written))
    )
    assert {key: properties[key] for key in lists if not key.endswith("numParts")} == {
        key: written[key] for key in lists if not key.endswith("numParts")
    }


def table(columns: int) -> ResolvedCatalogTable:
    builder = Schema.new_builder()
    for number in range(columns):
        builder.column(f"column_{number}", "DECIMAL(12, 2)")
    written = CatalogTable(
        builder.build(), ("column_0",), distribution=TableDistribution.of_hash(["column_1"], 8)
    )
    return resolve_table(written, SchemaResolver())


@pytest.mark.parametrize("columns", [2, 40, 400])
def test_schema_is_split_at_four_thousand_characters(columns: int) -> None:
    written = table(columns)
    properties = write_spark_table(written)
    read, _ = read_spark_table(properties)

    assert (SCHEMA in properties) == (columns == 2)
    assert max(map(len, properties.values())) <= 4_000
    assert written.resolved_schema == SchemaResolver().resolve(read.schema)
    assert (written.partition_keys, written.distribution) == (
        read.partition_keys,
        read.distribution,
    )


@given(st.integers(1, 400))
def test_schema_is_joined_whatever_the_threshold(threshold: int) -> None:
    written = table(5)
    read, _ = read_spark_table(write_spark_table(written, threshold=threshold))

    assert written.resolved_schema == SchemaResolver().resolve(read.schema)


CUT = write_spark_table(table(60))


@pytest.mark.parametrize(
    ("code", "key", "changes"),
    [
        ("malformed-property", f"{SCHEMA}.part.1", {f"{SCHEMA}.part.1": None}),
        (
            "malformed-property",
            SCHEMA,
            {PARTS: None, **dict.fromkeys(k for k in CUT if ".part." in k)},
        ),
        ("malformed-property", f"{SCHEMA}.part.0", {PARTS: None}),
        ("malformed-property", PARTS, {PARTS: "many"}),
        ("malformed-property", f"{SCHEMA}.part.9", {f"{SCHEMA}.part.9": "x"}),
        ("malformed-property", f"{SCHEMA}.partCol.1", {f"{SCHEMA}.numPartCols": "2"}),
        ("malformed-property", f"{SCHEMA}.numBuckets", {f"{SCHEMA}.numBuckets": "0"}),
        ("malformed-property", PARTS, {SCHEMA: "{}"}),
        ("malformed-property", f"{SCHEMA}.sortCol.0", {f"{SCHEMA}.numSortCols": "1"}),
    ],
)
def test_malformed_list_is_reported(code: str, key: str, changes: dict[str, str | None]) -> None:
    harmed = {name: value for name, value in (CUT | changes).items() if value is not None}

    assert (code, (key,)) in {(error.code, error.path) for error in malformed_properties(harmed)}
    with pytest.raises(SchemaCoreError):
        read_spark_table(harmed)


def test_truncated_part_is_invalid_json() -> None:
    key = f"{SCHEMA}.part.1"

    with pytest.raises(SchemaCoreError) as caught:
        read_spark_table(CUT | {key: CUT[key][:-7]})

    assert (SCHEMA,) == caught.value.path[:1]


def test_a_large_part_count_is_not_iterated() -> None:
    assert len(list(malformed_properties(CUT | {PARTS: "999999999"}))) < 9


def test_sort_order_of_buckets_is_reported_as_dropped() -> None:
    sorted_ = {f"{SCHEMA}.numSortCols": "1", f"{SCHEMA}.sortCol.0": "Id"}
    _, notes = read_spark_table(WRITTEN_BY_SPARK | sorted_)

    assert ("ignored-key", (f"{SCHEMA}.numSortCols",)) in {(note.code, note.path) for note in notes}


def test_unknown_columns_are_reported() -> None:
    harmed = WRITTEN_BY_SPARK | {f"{SCHEMA}.partCol.0": "q", f"{SCHEMA}.bucketCol.0": "id"}

    assert [(f"{SCHEMA}.partCol.0",), (f"{SCHEMA}.bucketCol.0",)] == [
        diagnostic.path for diagnostic in verify(harmed) if diagnostic.code == "unknown-column"
    ]
    assert () == verify(WRITTEN_BY_SPARK)


def test_string_lengths_are_stored_as_spark_does() -> None:
    builder = Schema.new_builder().column("c", "CHAR(3) NOT NULL").column("v", "VARCHAR(7)")
    written = resolve_table(CatalogTable(builder.column("s", "STRING").build()), SchemaResolver())
    properties = write_spark_table(written)
    recorded = [
        field["metadata"].get("__CHAR_VARCHAR_TYPE_STRING")
        for field in json.loads(properties[SCHEMA])["fields"]
    ]
    read, _ = read_spark_table(properties)

    assert ["char(3)", "varchar(7)", None] == recorded
    assert written.resolved_schema == SchemaResolver().resolve(read.schema)
