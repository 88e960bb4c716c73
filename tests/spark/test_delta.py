"""Tables of Delta on Spark: written by jobs, read with the features that other writers use."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.catalogs.delta.catalog import DeltaCatalog
from schema_core.connectors.delta import writing
from schema_core.connectors.delta.connector import DeltaConnector
from schema_core.connectors.delta.files import list_files
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ConflictError, SchemaCoreError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.spark.connector import MicroBatch, WriteContext
from tests.support import Run, run_in_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def run(environment: TableEnvironment, tmp_path: Path) -> Run:
    """Return what runs statements in a catalog of a directory."""
    return run_in_catalog(environment, {"type": "delta", "warehouse": str(tmp_path)})


def cause_of(error: BaseException, kind: type[BaseException]) -> bool:
    """Return whether an error has a cause of a class."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, kind):
        cause = cause.__cause__
    return cause is not None


def test_rows_are_changed(run: Run, environment: TableEnvironment, tmp_path: Path) -> None:
    """Appended, overwritten, updated, deleted and truncated; each by one version."""
    run("CREATE TABLE t (a INT, k STRING, n AS a + 1) PARTITIONED BY (k)")
    run("INSERT INTO t VALUES (1, 'x'), (2, 'a b/='), (3, 'x')")
    run("UPDATE t SET a = 20 WHERE k = 'a b/='")
    run("DELETE FROM t WHERE a = 1")
    assert [(3, "x", 4), (20, "a b/=", 21)] == run("SELECT a, k, n FROM t ORDER BY a")
    run("INSERT OVERWRITE t PARTITION (k = 'x') SELECT a + 100 FROM t WHERE k = 'x'")
    run("INSERT OVERWRITE t VALUES (5, 'a b/='), (6, CAST(NULL AS STRING))")
    expected = [(5, "a b/="), (6, None), (103, "x")]
    assert expected == run("SELECT a, k FROM t ORDER BY a")
    assert [(103,)] == run("SELECT a FROM t WHERE k = 'x'")
    assert [(6,)] == run("SELECT a FROM t WHERE k IS NULL")
    times = {item["version"]: item["timestamp"] for item in
             DeltaTable(str(tmp_path / "default" / "t")).history()}  # fmt: skip
    assert set(range(6)) == set(times)
    run("CREATE TABLE copied AS SELECT a, k FROM t")
    run("ALTER TABLE t ADD (b BIGINT)")
    run("TRUNCATE TABLE t")

    assert [] == run("SELECT * FROM t")
    assert expected == run("SELECT * FROM copied ORDER BY a")
    first = "SELECT a, b FROM t /*+ OPTIONS('versionAsOf' = '1') */ ORDER BY a"
    with pytest.raises(SchemaCoreError) as caught:  # the version has no column b
        run(first)
    assert "schema-mismatch" == caught.value.code
    catalog = environment.get_catalog("lake")
    assert isinstance(catalog, DeltaCatalog)
    environment.get_config().set("table.local-time-zone", "UTC")
    moment = duckdb.sql(f"SELECT make_timestamp({times[1]}000)::VARCHAR").fetchall()[0][0]
    rows = run(f"SELECT a FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '{moment}' ORDER BY a")
    assert [(1,), (2,), (3,)] == rows
    environment.execute_sql(
        "CREATE TABLE default_catalog.default_database.linked LIKE lake.`default`.copied"
    )
    linked = environment.from_path("default_catalog.default_database.linked")
    assert ["a", "k"] == [column.name for column in linked.get_resolved_schema().columns]


@pytest.mark.slow
def test_a_conflict_loses_no_rows(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An append is repeated after that of another writer; what replaces rows is refused."""
    run("CREATE TABLE t (a INT, b DOUBLE, PRIMARY KEY (a) NOT ENFORCED)")
    run("INSERT INTO t VALUES (1, 1.5), (2, 2.5)")
    run("INSERT INTO t VALUES (2, 3.5)")  # an upsert
    assert [(1, 1.5), (2, 3.5)] == run("SELECT * FROM t ORDER BY a")
    run("CREATE TABLE s (a INT)")
    commit = writing.commit_files

    def commit_second(table: DeltaTable, *arguments: Any, **options: Any) -> None:
        path = Path(table.table_uri.removeprefix("file://"))
        other = DeltaTable(str(path))
        types = {"a": pa.int32(), "b": pa.float64()}
        names = [field.name for field in other.schema().fields]
        rows = pa.table({name: pa.array([7], types[name]) for name in names})
        write_deltalake(other, rows, mode="append")
        commit(table, *arguments, **options)

    monkeypatch.setattr(writing, "commit_files", commit_second)
    run("INSERT INTO s VALUES (2)")
    with pytest.raises(SchemaCoreError) as caught:
        run("DELETE FROM t WHERE a = 1")

    assert cause_of(caught.value, ConflictError)
    assert [(2,), (7,)] == run("SELECT * FROM s ORDER BY a")
    assert [(1,), (2,), (7,)] == run("SELECT a FROM t ORDER BY a")


def test_a_micro_batch_is_committed_once(session: SparkSession, tmp_path: Path) -> None:
    """Its number is in the commit; another run of it discards its rows."""
    schema = Schema.new_builder().column("a", "INT").build()
    options = {"connector": "delta", "path": str(tmp_path / "t")}
    table = resolve_table(CatalogTable(schema, options=options), SchemaResolver())
    connector, job = DeltaConnector(), "ab" * 16

    for number in (3, 3, 4):
        context = WriteContext(
            ObjectIdentifier("c", "d", "t"), table, {}, session=session, zone="UTC",
            batch=MicroBatch(job, number),
        )  # fmt: skip
        stage = connector.stage(context)
        connector.write(
            session.createDataFrame([(number,)], "a int"), replace(context, stage=stage)
        )
        stage.prepare()
        stage.commit()
        assert number == connector.last_batch(context, job)

    stored = DeltaTable(str(tmp_path / "t"))
    assert [3, 4] == sorted(stored.to_pyarrow_table().column("a").to_pylist())
    paths = {path.name for path in (tmp_path / "t").glob("*.parquet")}
    assert paths == {Path(uri).name for uri in stored.file_uris()}
    assert connector.last_batch(context, "cd" * 16) is None


# --- tables of other writers ---------------------------------------------------------------------

#: The digits of Z85, by which the log has inline deletion vectors, and those of Python's base85.
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
BASE85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


def deletion_vector(rows: Sequence[int]) -> dict[str, Any]:
    """Return the deletion vector of rows, as the Delta protocol and the Roaring format have it."""
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16)
    bitmap += b"".join(struct.pack("<H", row) for row in rows)
    data = struct.pack("<iqI", 1681511377, 1, 0) + bitmap
    data += bytes(-len(data) % 4)
    text = base64.b85encode(data).decode().translate(str.maketrans(BASE85, Z85))
    return {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(data),
            "cardinality": len(rows)}  # fmt: skip


def mapped(name: str, number: int, type_: Any) -> dict[str, Any]:
    """Return a column with another name in files."""
    metadata = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"c{number}"}
    return {"name": name, "type": type_, "nullable": True, "metadata": metadata}


def write_mapped_table(root: Path, features: Sequence[str]) -> None:
    """Write a table whose columns were renamed, with deleted rows."""
    inner = {"type": "struct", "fields": [mapped("x y", 3, "long"), mapped("z", 5, "string")]}
    schema = {"type": "struct", "fields": [mapped("a", 1, "integer"), mapped("r", 2, inner),
                                           mapped("k", 4, "string")]}  # fmt: skip
    (root / "_delta_log").mkdir(parents=True)
    rows = pa.table({
        "c1": pa.array([1, 2, 3, 4], pa.int32()),
        "c2": pa.array([{"c3": 5}, None, {"c3": 7}, {"c3": None}], pa.struct([("c3", pa.int64())])),
    })  # fmt: skip
    pq.write_table(rows, root / "f 1.parquet")
    statistics = {"numRecords": 4, "minValues": {"c1": 1}, "maxValues": {"c1": 4},
                  "nullCount": {"c1": 0}, "tightBounds": False}  # fmt: skip
    actions = [
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features,
                      "writerFeatures": features}},
        {"metaData": {
            "id": "0", "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(schema), "partitionColumns": ["k"], "createdTime": 1,
            "configuration": {"delta.columnMapping.mode": "name"},
        }},
        {"add": {
            "path": "f%201.parquet", "partitionValues": {"c4": "part"},
            "size": (root / "f 1.parquet").stat().st_size, "modificationTime": 1,
            "dataChange": True, "stats": json.dumps(statistics),
            "deletionVector": deletion_vector([1, 3]),
        }},
    ]  # fmt: skip
    log = root / "_delta_log" / f"{0:020}.json"
    log.write_text("\n".join(map(json.dumps, actions)))


def test_mapped_columns_and_deleted_rows_are_read(run: Run, tmp_path: Path) -> None:
    """Rows of a deletion vector are left out; the table is not written."""
    write_mapped_table(tmp_path / "default" / "t", ["columnMapping", "deletionVectors"])

    assert [(1, 5, None, "part"), (3, 7, None, "part")] == run(
        "SELECT a, t.r.`x y`, t.r.z, k FROM t ORDER BY a"
    )
    assert [] == run("SELECT a FROM t WHERE a > 4")
    assert [(2,)] == run("SELECT COUNT(*) FROM t")
    for change in ("INSERT INTO t SELECT a + 1, r, k FROM t", "DELETE FROM t WHERE a = 1"):
        with pytest.raises(SchemaCoreError) as caught:
            run(change)
        assert "version-not-supported" == caught.value.code


def test_unknown_features_are_refused(run: Run, tmp_path: Path) -> None:
    """A table is not read without a feature that its readers need."""
    write_mapped_table(tmp_path / "default" / "t", ["columnMapping", "typeWidening"])

    with pytest.raises(SchemaCoreError) as caught:
        run("SELECT * FROM t")
    assert caught.value.code in ("version-not-supported", "external-failure")
    assert "typeWidening" in str(caught.value)


#: Types with a value each; those of TIMESTAMP are the same for every engine.
VALUES = (
    ("CHAR(3)", "'abc'"), ("VARCHAR(7)", "'x'"), ("STRING", "'s'"), ("BOOLEAN", "TRUE"),
    ("BINARY(4)", "x'01020304'"), ("VARBINARY(9)", "x'0102'"), ("BYTES", "x'03'"),
    ("DECIMAL(38, 18)", "'12345678901234567890.123456789012345678'"), ("DECIMAL(9, 2)", "1.25"),
    ("TINYINT", "-5"), ("SMALLINT", "300"), ("INT", "7"), ("BIGINT", "9000000000"),
    ("FLOAT", "1.5"), ("DOUBLE", "2.5"), ("DATE", "DATE '2024-02-29'"),
    ("TIME(0)", "TIME '10:11:12'"), ("TIME(3)", "TIME '10:11:12.123'"),
    ("TIMESTAMP(0)", "TIMESTAMP '2024-01-02 03:04:05'"),
    ("TIMESTAMP(3)", "TIMESTAMP '2024-01-02 03:04:05.123'"),
    ("TIMESTAMP(6)", "TIMESTAMP '2024-01-02 03:04:05.123456'"),
    ("TIMESTAMP(9)", "TIMESTAMP '2024-01-02 03:04:05.123456'"),
    ("TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(1700000000123, 3)"),
    ("TIMESTAMP_LTZ(6)", "TO_TIMESTAMP_LTZ(1700000000123, 3)"),
)  # fmt: skip


@pytest.mark.slow
def test_every_type_alone_and_nested(run: Run, tmp_path: Path) -> None:
    """deltalake reads the same values; a TIME is its microseconds there."""
    columns, values = [], []
    for place, (type_, text) in enumerate(VALUES):
        value, row = f"CAST({text} AS {type_})", f"ROW<f {type_}, g ARRAY<ROW<h {type_}>>>"
        columns += [f"c{place} {type_}", f"a{place} ARRAY<{type_}>",
                    f"m{place} MAP<STRING, {type_}>", f"r{place} {row}"]  # fmt: skip
        values += [value, f"ARRAY[{value}]", f"MAP['k', {value}]",
                   f"CAST(ROW({value}, ARRAY[ROW({value})]) AS {row})"]  # fmt: skip
    run(f"CREATE TABLE source ({', '.join(columns)})")
    run(f"INSERT INTO source VALUES ({', '.join(values)})")

    (ours,) = run("SELECT * FROM source")
    (theirs,) = DeltaTable(str(tmp_path / "default" / "source")).to_pyarrow_table().to_pylist()
    for place, (type_, _) in enumerate(VALUES):
        value = ours[4 * place]
        assert [value] == ours[4 * place + 1]
        assert {"k": value} == ours[4 * place + 2]
        assert (value, [(value,)]) == (
            ours[4 * place + 3][0], [tuple(row) for row in ours[4 * place + 3][1]],
        )  # fmt: skip
        if type_.startswith("TIME("):
            seconds = value.hour * 3600 + value.minute * 60 + value.second
            value = seconds * 1_000_000 + value.microsecond
        assert value == theirs[f"c{place}"]
        assert {"f": value, "g": [{"h": value}]} == theirs[f"r{place}"]


@pytest.mark.slow
def test_files_are_pruned_by_statistics(run: Run, tmp_path: Path) -> None:
    """Each filter reads the files that may have its rows, and returns the same rows."""
    run(
        "CREATE TABLE t (i INT, s STRING, d DATE, ts TIMESTAMP(6), n DECIMAL(9, 2), f DOUBLE, "
        "k INT) PARTITIONED BY (k)"
    )
    for number in range(1, 4):
        run(
            f"INSERT INTO t VALUES ({number}, '{'x' * 40}{number}', DATE '2024-01-0{number}', "
            f"TIMESTAMP '2024-01-01 00:00:00.00{number}999', {number}.25, {number}.5, {number})"
        )
    run("INSERT INTO t (i, k) VALUES (CAST(NULL AS INT), 4)")
    files = list_files(DeltaTable(str(tmp_path / "default" / "t")))
    assert 4 == len(files)
    queries: dict[str, list[int | None]] = {
        "i = 2": [2], "i > 2": [3], "i <= 1": [1], "i IN (1, 3)": [1, 3],
        "i IS NOT NULL": [1, 2, 3],
        "d >= DATE '2024-01-03'": [3], "n = 2.25": [2], "k < 2": [1], "f > 2": [2, 3],
        "ts >= TIMESTAMP '2024-01-01 00:00:00.003999'": [3],
        f"s = '{'x' * 40}2'": [2], "s IS NULL": [None], "k = 4": [None],
    }  # fmt: skip
    for condition, expected in queries.items():
        rows = run(f"SELECT i FROM t WHERE {condition} ORDER BY i")
        assert [(value,) for value in expected] == rows, condition


@pytest.mark.slow
def test_duckdb_reads_the_rows(run: Run, tmp_path: Path) -> None:
    """The extension `delta` of DuckDB, where it is installed."""
    run("CREATE TABLE t (a INT, k STRING) PARTITIONED BY (k)")
    run("INSERT INTO t VALUES (1, 'x'), (2, 'y z')")
    run("DELETE FROM t WHERE a = 1")
    try:
        duckdb.sql("LOAD delta")
    except duckdb.Error:
        pytest.skip("DuckDB's extension `delta` is not installed")
    rows = duckdb.sql(f"SELECT a, k FROM delta_scan('{tmp_path}/default/t')").fetchall()

    assert [(2, "y z")] == rows
