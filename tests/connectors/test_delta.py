"""What the connector `delta` refuses before a job, without Spark."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema, write_deltalake
from pyspark.sql.types import LongType, StructField, StructType

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.connectors.delta.client import (
    TableAccess,
    delta_errors,
    open_version,
    require_writable,
    schema_fields,
)
from schema_core.connectors.delta.connector import DeltaConnector
from schema_core.connectors.delta.files import _may_match, list_files
from schema_core.connectors.delta.options import STREAM, require_properties
from schema_core.connectors.delta.streams import DeltaFiles
from schema_core.connectors.delta.tasks import (
    FileReader,
    collect_statistics,
    partition_directory,
    partition_text,
)
from schema_core.connectors.delta.writing import delete_rows, require_equal_properties
from schema_core.connectors.open_tables.streams import NONE, AppendReader
from schema_core.environment.connector import require_no_definition
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.expressions.comparisons import Comparison
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema as FlinkSchema
from schema_core.spark.connector import WriteContext
from schema_core.types import DataTypes


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

    assert "schema-mismatch" == stage_code(tmp_path / "t", *declared)


def test_other_partitions_are_refused(tmp_path: Path) -> None:
    create(tmp_path / "t", column("a"), column("k"), partition_by=["k"])

    assert "schema-mismatch" == stage_code(tmp_path / "t", ("a", "INT"), ("k", "INT"))


@pytest.mark.parametrize("columns", [("DOUBLE", ("k",)), ("BYTES", ("k",)), ("INT", ("k", "a"))])
def test_partitions_that_delta_lacks(tmp_path: Path, columns: tuple[str, tuple[str, ...]]) -> None:
    declared = (("a", "INT"), ("k", columns[0]))

    assert "not-representable" == stage_code(tmp_path / "t", *declared, partitions=columns[1])


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
    assert "version-not-supported" == code


def test_a_constraint_that_was_added(tmp_path: Path) -> None:
    create(tmp_path / "t", column("a")).alter.add_constraint({"positive": "a > 0"})

    with pytest.raises(SchemaCoreError) as caught:
        require_writable(TableAccess(str(tmp_path / "t"), {}).open())
    assert "version-not-supported" == caught.value.code
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
        ({"versionAsOf": "-1"}, "invalid-option-value"),
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
    ("path", "code"),
    [
        ("~/t", "invalid-option-value"),
        ("file:///nowhere/a%20b", "invalid-option-value"),
        ("/nowhere/a%20b/t", "invalid-option-value"),
        ("/nowhere/t", "table-not-found"),
    ],
)
def test_paths(path: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        open_version({"path": path})
    assert code == caught.value.code


def test_an_empty_string_is_not_a_partition_value() -> None:
    with pytest.raises(SchemaCoreError) as caught:
        partition_text("", "k")
    assert "not-representable" == caught.value.code


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


def test_a_credential_is_not_shown() -> None:
    options = {"path": "s3://b/t", "property.aws_secret_access_key": "hunter2"}

    assert "hunter2" not in repr(TableAccess.of(options))


def edit_log(root: Path, version: int, change: Any) -> None:
    """Replace the actions of a version by those for which a function returns one."""
    log = root / "_delta_log" / f"{version:020}.json"
    actions = [change(json.loads(line)) for line in log.read_text().splitlines()]
    log.write_text("\n".join(json.dumps(action) for action in actions if action))


@pytest.mark.parametrize(
    "change",
    [
        lambda action: None if "commitInfo" in action else action,
        lambda action: {"commitInfo": {"operation": "WRITE"}} if "commitInfo" in action else action,
    ],
    ids=["no information", "no time"],
)
def test_a_version_without_a_time(tmp_path: Path, change: Any) -> None:
    """The times of the others are not taken for its own: rows of another version would be read."""
    for number in range(3):
        write_deltalake(tmp_path / "t", pa.table({"v": [number]}), mode="append")
    time = DeltaTable(tmp_path / "t").history()[-1]["timestamp"] / 1000
    options = {
        "path": str(tmp_path / "t"),
        "timestampAsOf": dt.datetime.fromtimestamp(time, dt.UTC).isoformat(),
    }
    assert 0 == open_version(options).version()
    edit_log(tmp_path / "t", 1, change)

    with pytest.raises(SchemaCoreError) as caught:
        open_version(options)
    assert "external-failure" == caught.value.code
    assert 1 == open_version({"path": str(tmp_path / "t"), "versionAsOf": "1"}).version()


def mapped_table(root: Path, mode: str) -> TableAccess:
    """Write a table whose file has the numbers of a and b, and of fields, the other way round."""

    def columns(first: int) -> list[dict[str, Any]]:
        return [
            mapped_column("a", "long", first, "cA"),
            mapped_column("b", "long", first + 1, "cB"),
        ]

    def fields(first: int) -> list[pa.Field]:
        numbers = {"cA": first + 1, "cB": first, "a": first, "b": first + 1}
        return [pa.field(name, pa.int64(), metadata={"PARQUET:field_id": str(number)})
                for name, number in numbers.items()][: 4 if mode == "none" else 2]  # fmt: skip

    (root / "_delta_log").mkdir(parents=True)
    row = {"cA": 10, "cB": 20, "a": 30, "b": 40}
    nested = pa.field("r", pa.struct(fields(4)), metadata={"PARQUET:field_id": "3"})
    schema = pa.schema([*fields(1), nested])
    pq.write_table(pa.Table.from_pylist([{**row, "r": row}], schema), root / "f.parquet")
    inner = mapped_column("r", {"type": "struct", "fields": columns(4)}, 3, "r")
    actions: list[dict[str, Any]] = [
        {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
        {"metaData": {
            "id": "0", "format": {"provider": "parquet", "options": {}}, "partitionColumns": [],
            "schemaString": json.dumps({"type": "struct", "fields": [*columns(1), inner]}),
            "createdTime": 1, "configuration": {
                "delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "5",
            },
        }},
        {"add": {"path": "f.parquet", "partitionValues": {}, "size": 1, "modificationTime": 1,
                 "dataChange": True}},
    ]  # fmt: skip
    (root / "_delta_log" / f"{0:020}.json").write_text("\n".join(map(json.dumps, actions)))
    return TableAccess(str(root), {})


def mapped_column(name: str, type_: Any, number: int, physical: str) -> Any:
    metadata = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical}
    return {**column(name, type_), "metadata": metadata}


def read_rows(access: TableAccess) -> list[Mapping[str, Any]]:
    """Return the rows of a table with the columns a, b and r, read as in tasks."""
    table = access.open()
    inner = StructType().add("a", LongType()).add("b", LongType())
    schema = StructType().add("a", LongType()).add("b", LongType()).add("r", inner)
    reader = FileReader(access, tuple(schema_fields(table)), schema, has_path=False)
    payloads = pa.array([pickle.dumps(file) for file in list_files(table)])
    batches = reader.read([pa.RecordBatch.from_arrays([payloads], ["payload"])])
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("mode", "values"), [("name", (10, 20)), ("id", (20, 10)), ("none", (30, 40))]
)
def test_columns_are_mapped_as_the_mode_has_it(
    tmp_path: Path, mode: str, values: tuple[int, int]
) -> None:
    """By physical names, by the numbers of columns in files, or by the names of the schema."""
    pair = dict(zip("ab", values, strict=True))

    assert [{**pair, "r": pair}] == read_rows(mapped_table(tmp_path / "t", mode))


def test_a_file_without_numbers_of_columns(tmp_path: Path) -> None:
    access = mapped_table(tmp_path / "t", "id")
    pq.write_table(pa.table({"cA": [1], "cB": [2]}), tmp_path / "t" / "f.parquet")

    with pytest.raises(SchemaCoreError) as caught:
        read_rows(access)
    assert "external-failure" == caught.value.code


def test_the_last_date_is_compared(tmp_path: Path) -> None:
    """A maximum of the year 9999, which statistics shorten, does not bound the values."""
    times = [dt.datetime(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(2020, 1, 1)]  # noqa: DTZ001
    write_deltalake(tmp_path / "t", pa.table({"ts": pa.array(times, pa.timestamp("us"))}))
    (file,) = list_files(DeltaTable(tmp_path / "t"))

    assert _may_match(file, Comparison("ts", "=", times[1]))


def test_rows_of_an_append_only_table_are_not_removed(tmp_path: Path) -> None:
    write_deltalake(
        tmp_path / "t", pa.table({"v": [1]}), configuration={"delta.appendOnly": "true"}
    )

    with pytest.raises(SchemaCoreError) as caught:
        delete_rows(TableAccess(str(tmp_path / "t"), {}))
    assert "version-not-supported" == caught.value.code
    assert "delta.appendOnly" in str(caught.value)


def test_a_deletion_vector_belongs_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are not read as if they were not deleted, should deltalake name the file otherwise."""
    write_deltalake(tmp_path / "t", pa.table({"v": [1]}))
    monkeypatch.setattr(
        "schema_core.connectors.delta.files._kept_rows", lambda table: {"other": pa.array([False])}
    )

    with pytest.raises(SchemaCoreError) as caught:
        list_files(DeltaTable(tmp_path / "t"))
    assert "external-failure" == caught.value.code


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("minReaderVersion", "3", "version-not-supported"),
        ("minWriterVersion", "7", "version-not-supported"),
        ("enableChangeDataFeed", "true", "version-not-supported"),
        ("columnMapping.mode", "name", "version-not-supported"),
        ("constraints.c", "a > 0", "version-not-supported"),
        ("feature.x", "supported", "version-not-supported"),
        ("appendonly", "true", "version-not-supported"),
        ("appendOnly", "maybe", "invalid-option-value"),
        ("checkpointInterval", "0", "invalid-option-value"),
        ("logRetentionDuration", "soon", "invalid-option-value"),
    ],
)
def test_properties_without_effect_are_refused(key: str, value: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        require_properties({f"delta.{key}": value})
    assert code == caught.value.code


def test_a_panic_of_deltalake_has_a_code(tmp_path: Path) -> None:
    with pytest.raises(SchemaCoreError) as caught, delta_errors():
        create(tmp_path / "t", column("a"), configuration={"delta.minReaderVersion": "3"})
    assert "external-failure" == caught.value.code


def rows_between(path: Path, start: int, end: int, **options: str) -> list[Any]:
    """Return the rows of the versions from one before another, as tasks read them."""
    schema = StructType([StructField("c0", LongType())])
    files = DeltaFiles({"path": str(path), **options}, {"v": DataTypes.BIGINT()}, schema)
    reader, payloads = files.plan(start, end)
    batches = reader.read(iter([pa.record_batch({"task": pa.array(payloads, pa.binary())})]))
    return sorted(value for batch in batches for value in batch.column(0).to_pylist())


def test_declared_properties_are_those_of_the_table() -> None:
    stored = {"delta.appendOnly": "true"}
    require_equal_properties(stored, {"delta.appendOnly": "TRUE", "delta.checkpointInterval": "10"})
    for declared in ({"delta.checkpointInterval": "11"}, {"delta.appendOnly": "false"}):
        with pytest.raises(ExternalError) as caught:
            require_equal_properties(stored, declared)
        assert "schema-mismatch" == caught.value.code


def test_streams_read_appended_rows(tmp_path: Path) -> None:
    """Each once, also of files that were rewritten since."""
    path = tmp_path / "t"
    for number in (1, 2):
        write_deltalake(path, pa.table({"v": [number]}), mode="append")
    DeltaTable(path).optimize.compact()
    write_deltalake(path, pa.table({"v": [3], "new": [3]}), mode="append", schema_mode="merge")

    assert [1, 2, 3] == rows_between(path, NONE, 4) == rows_between(path, 0, 4)
    assert [2, 3] == rows_between(path, 1, 4)
    assert [] == rows_between(path, 2, 3)


def append_reader(path: Path, **options: str) -> AppendReader:
    schema = StructType([StructField("c0", LongType())])
    files = DeltaFiles({"path": str(path), **options}, {"v": DataTypes.BIGINT()}, schema)
    return AppendReader(files)


def test_a_stream_waits_for_its_first_version(tmp_path: Path) -> None:
    path = tmp_path / "t"
    for number in range(2):
        write_deltalake(path, pa.table({"v": [number]}), mode="append")
    reader = append_reader(path, startingVersion="3")
    start = reader.initialOffset()

    assert 3 == start["version"]
    assert start == reader.latestOffset(start, None)
    for number in range(2, 5):
        write_deltalake(path, pa.table({"v": [number]}), mode="append")
    end = reader.latestOffset(start, None)
    assert 2 == len(reader.partitions(start, end))
    assert [3, 4] == rows_between(path, start["version"], end["version"])


def test_a_stream_refuses_a_table_that_was_created_again(tmp_path: Path) -> None:
    """Also where an earlier job stored only the version, as far as the number shows it."""
    path = tmp_path / "t"
    for number in range(3):
        write_deltalake(path, pa.table({"v": [number]}), mode="append")
    reader = append_reader(path)
    first = reader.initialOffset()
    stored = reader.latestOffset(first, None)
    assert stored == reader.latestOffset({"version": 2}, None)
    assert 1 == len(reader.partitions({"version": 2}, stored))
    shutil.rmtree(path)
    write_deltalake(path, pa.table({"v": [7]}))

    failures = []
    for start in (stored, {"version": 3}, {**stored, "version": 1}):
        with pytest.raises(ExternalError) as caught:
            reader.latestOffset(start, None)
        failures.append(caught.value.code)
    for end in (stored, {"version": 1}):
        with pytest.raises(ExternalError) as caught:
            reader.partitions({"version": 2}, end)
        failures.append(caught.value.code)
    assert ["external-failure"] * 5 == failures


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("startingVersion", "-1"),
        ("startingVersion", "-5"),
        ("updateCheckIntervalMillis", "-1"),
        ("updateCheckIntervalMillis", str(2**63 - 1)),
    ],
)
def test_values_of_streams_are_bounded(key: str, value: str) -> None:
    option = next(option for option in STREAM if option.key == key)
    with pytest.raises(SchemaCoreError) as caught:
        option.of({key: value})
    assert "invalid-option-value" == caught.value.code


def test_streams_refuse_versions_that_remove_rows(tmp_path: Path) -> None:
    """Unless an option skips them; a version that is not in the log is never skipped."""
    path = tmp_path / "t"
    write_deltalake(path, pa.table({"v": [1, 2]}))
    DeltaTable(path).delete("v = 1")
    write_deltalake(path, pa.table({"v": [3]}), mode="append")

    with pytest.raises(ExternalError) as caught:
        rows_between(path, 1, 3)
    assert "version 1 removes rows" in caught.value.problem
    assert [3] == rows_between(path, 1, 3, skipChangeCommits="true")
    (path / "_delta_log" / f"{1:020}.json").unlink()
    with pytest.raises(ExternalError) as expired:
        rows_between(path, 1, 3, skipChangeCommits="true")
    assert ["external-failure"] * 2 == [caught.value.code, expired.value.code]


@pytest.mark.parametrize(
    ("connector", "key"),
    [
        ("delta", "delta.appendOnly"),
        ("iceberg", "partition-by"),
        ("iceberg", "format-version"),
        ("delta", None),
        ("iceberg", None),
    ],
)
def test_a_hint_has_no_option_of_a_definition(connector: str, key: str | None) -> None:
    reading = ("versionAsOf", "property.a", "snapshot-id", "path")
    if key is None:
        require_no_definition({"connector": connector}, reading)
        return
    with pytest.raises(SchemaCoreError) as caught:
        require_no_definition({"connector": connector}, (*reading, key))
    assert "invalid-hint" == caught.value.code
    assert key in str(caught.value)
