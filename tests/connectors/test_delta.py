"""What the connector `delta` refuses before a job, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.connectors.delta.client import TableAccess, open_version, require_writable
from schema_core.connectors.delta.connector import DeltaConnector
from schema_core.connectors.delta.tasks import (
    collect_statistics,
    partition_directory,
    partition_text,
)
from schema_core.errors import SchemaCoreError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema as FlinkSchema
from schema_core.spark.connector import WriteContext


def create(path: Path, *columns: dict[str, Any], **options: Any) -> DeltaTable:
    """Create a table with columns of the log's JSON."""
    schema = json.dumps({"type": "struct", "fields": list(columns)})
    return DeltaTable.create(
        str(path), Schema.from_json(schema), raise_if_key_not_exists=False, **options
    )


def column(name: str, type_: Any = "integer", *, nullable: bool = True, **metadata: Any) -> Any:
    return {"name": name, "type": type_, "nullable": nullable, "metadata": metadata}


def stage_code(path: Path, *declared: tuple[str, str], partitions: tuple[str, ...] = ()) -> str:
    """Return the code with which a stage of a job is refused."""
    builder = FlinkSchema.new_builder()
    for name, type_ in declared:
        builder.column(name, type_)
    options = {"connector": "delta", "path": str(path)}
    table = CatalogTable(builder.build(), partitions, options=options)
    context = WriteContext(
        ObjectIdentifier("c", "d", "t"), resolve_table(table, SchemaResolver()), {},
        session=cast("Any", None), zone="UTC",
    )  # fmt: skip
    with pytest.raises(SchemaCoreError) as caught:
        DeltaConnector().stage(context)
    return str(caught.value.code)


@pytest.mark.parametrize(
    ("stored", "declared"),
    [
        ([column("a")], [("a", "BIGINT")]),
        ([column("a")], [("b", "INT")]),
        ([column("a"), column("b")], [("a", "INT")]),
        ([column("a", nullable=False)], [("a", "INT")]),
        ([column("r", {"type": "struct", "fields": [column("x", nullable=False)]})],
         [("r", "ROW<x INT>")]),
        ([column("r", {"type": "array", "elementType": "integer", "containsNull": False})],
         [("r", "ARRAY<INT>")]),
    ],
    ids=["type", "name", "absent", "NULL", "NULL in a field", "NULL in an element"],
)  # fmt: skip
def test_other_columns_are_refused(tmp_path: Path, stored: Any, declared: Any) -> None:
    create(tmp_path / "t", *stored)

    assert "source-schema-mismatch" == stage_code(tmp_path / "t", *declared)


def test_other_partitions_are_refused(tmp_path: Path) -> None:
    create(tmp_path / "t", column("a"), column("k"), partition_by=["k"])

    assert "source-schema-mismatch" == stage_code(tmp_path / "t", ("a", "INT"), ("k", "INT"))


@pytest.mark.parametrize("columns", [("DOUBLE", ("k",)), ("BYTES", ("k",)), ("INT", ("k", "a"))])
def test_partitions_that_delta_lacks(tmp_path: Path, columns: tuple[str, tuple[str, ...]]) -> None:
    declared = (("a", "INT"), ("k", columns[0]))

    assert "not-in-delta" == stage_code(tmp_path / "t", *declared, partitions=columns[1])


@pytest.mark.parametrize(
    ("metadata", "properties"),
    [
        ({"delta.generationExpression": "b + 1"}, {}),
        ({"delta.invariants": '{"expression": {"expression": "a > 0"}}'}, {}),
        ({}, {"delta.enableChangeDataFeed": "true"}),
        ({}, {"delta.constraints.positive": "a > 0"}),
    ],
    ids=["generated column", "invariant", "change data feed", "constraint"],
)
def test_rules_of_rows_are_not_ignored(tmp_path: Path, metadata: Any, properties: Any) -> None:
    create(tmp_path / "t", column("b"), column("a", **metadata), configuration=properties)

    code = stage_code(tmp_path / "t", ("b", "INT"), ("a", "INT"))
    assert "delta-feature-not-supported" == code


def test_a_constraint_that_was_added(tmp_path: Path) -> None:
    create(tmp_path / "t", column("a")).alter.add_constraint({"positive": "a > 0"})

    with pytest.raises(SchemaCoreError) as caught:
        require_writable(TableAccess(str(tmp_path / "t"), {}).open())
    assert "delta-feature-not-supported" == caught.value.code
    assert "positive" in str(caught.value)


@pytest.mark.parametrize(
    "options", [{}, {"versionAsOf": "0"}, {"timestampAsOf": "2999-01-01T00:00:00Z"}]
)
def test_versions(tmp_path: Path, options: dict[str, str]) -> None:
    create(tmp_path / "t", column("a"))

    assert 0 == open_version({"path": str(tmp_path / "t"), **options}).version()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"versionAsOf": "1"}, "not-found"),
        ({"timestampAsOf": "2020-01-01"}, "not-found"),
        ({"timestampAsOf": "yesterday"}, "invalid-option-value"),
        ({"versionAsOf": "0", "timestampAsOf": "2020-01-01"}, "conflicting-options"),
    ],
)
def test_versions_that_do_not_exist(tmp_path: Path, options: dict[str, str], code: str) -> None:
    create(tmp_path / "t", column("a"))

    with pytest.raises(SchemaCoreError) as caught:
        open_version({"path": str(tmp_path / "t"), **options})
    assert code == caught.value.code


@pytest.mark.parametrize(
    ("path", "code"), [("~/t", "invalid-option-value"), ("/nowhere/t", "table-not-found")]
)
def test_paths(path: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        open_version({"path": path})
    assert code == caught.value.code


def test_an_empty_string_is_not_a_partition_value() -> None:
    with pytest.raises(SchemaCoreError) as caught:
        partition_text("", "k")
    assert "not-in-delta" == caught.value.code


def test_directories_of_partitions_stay_in_the_table() -> None:
    assert "k=_etc/" == partition_directory({"k": "/etc"})
    assert "k=..__.._/" == partition_directory({"k": "../\x00../"})


def test_statistics_bound_the_values() -> None:
    """Strings are shortened downwards only, and decimals of many digits are left out."""
    rows = pa.table({
        "s": ["a" * 40, "b"], "t": ["x", "y" * 40],
        "n": pa.array([1, 2], pa.decimal128(38, 2)), "m": pa.array([None, 2], pa.decimal128(9, 2)),
        "f": [1.5, 2.5], "l": [[1], None],
    })  # fmt: skip

    assert {
        "numRecords": 2,
        "minValues": {"s": "a" * 32, "m": 2.0},
        "maxValues": {"s": "b", "m": 2.0},
        "nullCount": {"s": 0, "t": 0, "n": 0, "m": 1, "f": 0},
    } == collect_statistics(rows)
