"""Tables of Iceberg on Spark: written by jobs, read by ages of files, and by other programs."""

from __future__ import annotations

import copy
import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import (
    POSITIONAL_DELETE_SCHEMA,
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestWriter,
    ManifestWriterV2,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import Record

from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.connectors.iceberg import writing
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ConflictError, SchemaCoreError, UnsupportedError
from tests.support import Run, run_in_catalog


@pytest.fixture
def run(environment: TableEnvironment, tmp_path: Path) -> Run:
    """Return what runs statements in an embedded catalog."""
    return run_in_catalog(environment, {"type": "iceberg", "warehouse": str(tmp_path)})


def load(env: TableEnvironment, name: str) -> Table:
    """Return a table as pyiceberg has it."""
    catalog = env.get_catalog("lake")
    assert isinstance(catalog, IcebergCatalog)
    return catalog.iceberg.catalog.load_table(("default", name))


def test_files_of_each_age_are_read_by_field_ids(run: Run, environment: TableEnvironment) -> None:
    """Add, drop, rename, re-add, widen and reorder; pyiceberg and DuckDB read the same rows."""
    run("CREATE TABLE t (a INT, b STRING, c FLOAT, d DECIMAL(4, 2), r ROW<x INT, y STRING>)")
    run("INSERT INTO t VALUES (1, 'b1', 1.5, 1.25, ROW(1, 'y1'))")
    run("ALTER TABLE t RENAME b TO old_b")
    run("ALTER TABLE t ADD b BIGINT")
    run("INSERT INTO t VALUES (2, 'b2', 2.5, 2.25, ROW(2, 'y2'), 22)")
    run("ALTER TABLE t MODIFY (a BIGINT, c DOUBLE, d DECIMAL(9, 2))")
    run("ALTER TABLE t RENAME r.x TO z")
    run("INSERT INTO t VALUES (3000000000, 'b3', 3.5, 1234567.25, ROW(3, 'y3'), 33)")
    run("ALTER TABLE t DROP old_b")
    run("ALTER TABLE t ADD old_b STRING FIRST")
    run("INSERT INTO t VALUES ('new', 4, 4.5, 4.25, ROW(4, 'y4'), 44)")

    rows = run("SELECT a, b, old_b, c, CAST(d AS STRING), r.z, r.y FROM t ORDER BY a")
    arrow = load(environment, "t").scan().to_arrow()
    assert isinstance(arrow, pa.Table)
    by_duckdb = duckdb.sql(
        "SELECT a, b, old_b, c, CAST(d AS VARCHAR), r.z, r.y FROM arrow ORDER BY a"
    ).fetchall()

    expected = [
        (1, None, None, 1.5, "1.25", 1, "y1"),
        (2, 22, None, 2.5, "2.25", 2, "y2"),
        (4, 44, "new", 4.5, "4.25", 4, "y4"),
        (3000000000, 33, None, 3.5, "1234567.25", 3, "y3"),
    ]
    assert expected == rows == by_duckdb
    assert [(22, 2)] == run("SELECT b, r.z FROM t WHERE a = 2")


def test_changes_that_files_do_not_follow_are_refused(run: Run, tmp_path: Path) -> None:
    run("CREATE TABLE t (a INT, b STRING)")
    run("ALTER TABLE t MODIFY a STRING")
    run("INSERT INTO t VALUES ('x', 'y')")

    for change in ("MODIFY a INT", "MODIFY a STRING NOT NULL", "ADD c INT NOT NULL"):
        with pytest.raises(UnsupportedError) as caught:
            run(f"ALTER TABLE t {change}")
        assert caught.value.code == "not-representable"
    assert [("x", "y")] == run("SELECT * FROM t")
    run(
        "CREATE TEMPORARY TABLE other (a STRING, b STRING) PARTITIONED BY (b) WITH ("
        f"'connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = '{tmp_path}', "
        "'catalog-database' = 'default', 'catalog-table' = 't')"
    )
    with pytest.raises(SchemaCoreError) as refused:
        run("INSERT OVERWRITE other VALUES ('1', '2')")
    assert "schema-mismatch" == refused.value.code


def test_rows_are_changed(run: Run, environment: TableEnvironment) -> None:
    """Appended, overwritten, updated, deleted and truncated; each by one snapshot."""
    run("CREATE TABLE t (a INT, k STRING) PARTITIONED BY (k)")
    run("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'x')")
    run("UPDATE t SET a = 20 WHERE k = 'y'")
    run("DELETE FROM t WHERE a = 1")
    assert [(3, "x"), (20, "y")] == run("SELECT * FROM t ORDER BY a")
    run("INSERT OVERWRITE t VALUES (5, 'y')")
    run("INSERT OVERWRITE t PARTITION (k = 'x') SELECT a + 100 FROM t WHERE k = 'x'")
    assert [(5, "y"), (103, "x")] == run("SELECT * FROM t ORDER BY a")
    assert [(103,)] == run("SELECT a FROM t WHERE k = 'x'")
    table = load(environment, "t")
    times = [snapshot.timestamp_ms for snapshot in table.snapshots()]
    run("CREATE TABLE copied AS SELECT * FROM t")
    run("TRUNCATE TABLE t")

    assert [] == run("SELECT * FROM t")
    assert [(5, "y"), (103, "x")] == run("SELECT * FROM copied ORDER BY a")
    first = table.snapshots()[0].snapshot_id
    versions = f"/*+ OPTIONS('snapshot-id' = '{first}') */"
    assert [(1,), (2,), (3,)] == run(f"SELECT a FROM t {versions} ORDER BY a")
    assert 5 == len(times)
    text = f"/*+ OPTIONS('as-of-timestamp' = '{times[1]}') */"
    assert 3 == len(run(f"SELECT a FROM t {text}"))


def test_a_conflict_loses_no_rows(
    run: Run, environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An append is repeated after that of another writer; what replaces rows is refused."""
    run("CREATE TABLE t (a INT)")
    run("INSERT INTO t VALUES (1)")
    commit = writing.commit_files

    def commit_second(table: Table, *arguments: Any, **options: Any) -> None:
        load(environment, "t").append(pa.table({"a": pa.array([7], pa.int32())}))
        commit(table, *arguments, **options)

    monkeypatch.setattr(writing, "commit_files", commit_second)
    run("INSERT INTO t VALUES (2)")
    with pytest.raises(SchemaCoreError) as caught:
        run("DELETE FROM t WHERE a = 1")

    cause: BaseException | None = caught.value
    while cause is not None and not isinstance(cause, ConflictError):
        cause = cause.__cause__
    assert cause is not None
    assert [(1,), (2,), (7,), (7,)] == run("SELECT * FROM t ORDER BY a")


def test_transforms_and_views(run: Run, environment: TableEnvironment) -> None:
    run(
        "CREATE TABLE t (id BIGINT NOT NULL, ts TIMESTAMP(6), n AS id + 1, "
        "PRIMARY KEY (id) NOT ENFORCED) "
        "WITH ('partition-by' = 'days(ts), bucket(4, id)', 'sort-by' = 'id DESC')"
    )
    for day in (1, 2):
        run(f"INSERT INTO t VALUES ({day}, TIMESTAMP '2024-01-0{day} 10:00:00')")
    run("CREATE VIEW v AS SELECT n FROM t WHERE id = 2")

    table = load(environment, "t")
    assert ["ts_day", "id_bucket"] == [field.name for field in table.spec().fields]
    assert {1} == set(table.schema().identifier_field_ids)
    assert [(3,)] == run("SELECT * FROM v")
    run(
        "INSERT INTO t VALUES (2, TIMESTAMP '2024-01-03 10:00:00'), (3, CAST(NULL AS TIMESTAMP(6)))"
    )
    assert [(1, 1), (2, 3), (3, None)] == run("SELECT id, DAYOFMONTH(ts) FROM t ORDER BY id")
    assert [(2,)] == run("SELECT id FROM t WHERE ts > TIMESTAMP '2024-01-01 12:00:00'")


class DeletionWriter(ManifestWriterV2):  # type: ignore[misc] # of a package without types
    """Writes a manifest of deletions."""

    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class Deletions(_FastAppendFiles):  # type: ignore[misc] # of a package without types
    """Adds files of deletions, as Flink and Spark write them and pyiceberg does not."""

    def new_manifest_writer(self, spec: PartitionSpec) -> ManifestWriter:
        output = self.new_manifest_output()
        return DeletionWriter(spec, self.schema(), output, self._snapshot_id, self._compression)


def delete_rows(
    table: Table,
    schema: Schema,
    rows: list[dict[str, Any]],
    ids: list[int] | None,
    *key: Any,
    file_format: FileFormat = FileFormat.PARQUET,
) -> None:
    """Commit deletions of rows: by the columns with these ids, or by position."""
    path = f"{table.location()}/data/{len(table.snapshots())}-deletions.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema_to_pyarrow(schema)), path)
    file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES if ids is None
        else DataFileContent.EQUALITY_DELETES,
        file_path=path, file_format=file_format, partition=Record(*key),
        record_count=len(rows), file_size_in_bytes=Path(path).stat().st_size,
        column_sizes={}, value_counts={}, null_value_counts={}, nan_value_counts={},
        lower_bounds={}, upper_bounds={}, key_metadata=None, split_offsets=[4], equality_ids=ids,
        sort_order_id=None, spec_id=table.spec().spec_id,
    )  # fmt: skip
    with table.transaction() as transaction:
        producer = Deletions(Operation.OVERWRITE, transaction, table.io, branch="main")
        with producer:
            producer.append_data_file(file)


def test_deletions_by_equality_and_by_position(run: Run, environment: TableEnvironment) -> None:
    """They apply to rows that are older, NULL equals NULL, also after changes of the columns."""
    run("CREATE TABLE t (id INT, k STRING, v DOUBLE)")
    run("INSERT INTO t VALUES (1, 'a', 1), (2, CAST(NULL AS STRING), 2), (3, 'c', 3), (4, 'd', 4)")
    table = load(environment, "t")
    files = [task.file for task in table.scan().plan_files()]
    (data,) = [file for file in files if file.lower_bounds[1] == (1).to_bytes(4, "little")]
    positions = [{"file_path": data.file_path, "pos": 0}]
    delete_rows(table, POSITIONAL_DELETE_SCHEMA, positions, None)
    id_, k, _ = table.schema().fields
    rows: list[dict[str, Any]] = [
        {"id": 2, "k": None},
        {"id": 3, "k": "other"},
        {"id": 5, "k": "e"},
    ]
    delete_rows(load(environment, "t"), Schema(id_, k), rows, [id_.field_id, k.field_id])
    run("INSERT INTO t VALUES (2, CAST(NULL AS STRING), 20), (5, 'e', 5)")
    run("ALTER TABLE t MODIFY id BIGINT")
    run("ALTER TABLE t RENAME k TO name")
    everything = "SELECT id, name, v FROM t ORDER BY id"

    expected = [(2, None, 20.0), (3, "c", 3.0), (4, "d", 4.0), (5, "e", 5.0)]
    assert expected == run(everything)
    assert [(2, 20.0)] == run("SELECT id, v FROM t WHERE id = 2")
    assert [(4,)] == run("SELECT COUNT(*) FROM t")
    first, second, *_ = [snapshot.snapshot_id for snapshot in load(environment, "t").snapshots()]
    for snapshot, ids in ((first, [(1,), (2,), (3,), (4,)]), (second, [(2,), (3,), (4,)])):
        version = f"/*+ OPTIONS('snapshot-id' = '{snapshot}') */"
        assert ids == run(f"SELECT id FROM t {version} ORDER BY id")
    deleted = load(environment, "t").snapshots()[2].timestamp_ms / 1000
    text = dt.datetime.fromtimestamp(deleted, dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    environment.get_config().set("table.local-time-zone", "UTC")
    version = f"FOR SYSTEM_TIME AS OF TIMESTAMP '{text}'"
    assert [(3, "c"), (4, "d")] == run(f"SELECT id, name FROM t {version} ORDER BY id")
    run("UPDATE t SET v = 30 WHERE id = 3")
    assert [row if row[0] != 3 else (3, "c", 30.0) for row in expected] == run(everything)
    run("ALTER TABLE t DROP name")
    assert [(2,), (3,), (4,), (5,)] == run("SELECT id FROM t ORDER BY id")


def test_deletions_by_equality_of_partitions(run: Run, environment: TableEnvironment) -> None:
    run("CREATE TABLE t (id INT, p INT) PARTITIONED BY (p)")
    run("INSERT INTO t VALUES (1, 1), (1, 2), (2, 1)")
    table = load(environment, "t")
    id_, _ = table.schema().fields

    delete_rows(table, Schema(id_), [{"id": 1}], [id_.field_id], 1)

    assert [(1, 2), (2, 1)] == run("SELECT id, p FROM t ORDER BY id, p")


def test_tables_of_version_3(run: Run, environment: TableEnvironment, tmp_path: Path) -> None:
    """Rows are read, unless tasks would need metadata that pyiceberg does not write."""
    run("CREATE TABLE t (a INT, b STRING)")
    run("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    made = load(environment, "t")

    def register(name: str, *fields: dict[str, Any], **changes: Any) -> None:
        """Add a table with the files of `t`, as an engine of version 3 describes it."""
        file = load(environment, "t").metadata_location.removeprefix("file://")
        path = tmp_path / f"{name}.metadata.json"
        path.write_text(Path(file).read_text())
        made.catalog.register_table(("default", name), str(path))
        metadata = json.loads(path.read_text())
        metadata |= {"format-version": 3, "next-row-id": 2, **copy.deepcopy(changes)}
        for snapshot in metadata["snapshots"]:
            snapshot |= {"first-row-id": 0, "added-rows": 2}
        for schema in metadata["schemas"]:
            schema["fields"] += [{"id": 50, "required": False, **field} for field in fields]
        metadata["last-column-id"] = 50
        path.write_text(json.dumps(metadata))

    def code(statement: str) -> tuple[str, str]:
        with pytest.raises(SchemaCoreError) as caught:
            run(statement)
        return caught.value.code, str(caught.value)

    register("plain")
    register("filled", {"name": "c", "type": "int", "initial-default": 7, "write-default": 7})
    register("variants", {"name": "c", "type": "variant"})
    register("emptied", snapshots=[], refs={}, **{"current-snapshot-id": None})
    file = next(iter(made.scan().plan_files())).file
    position = [{"file_path": file.file_path, "pos": 0}]
    delete_rows(made, POSITIONAL_DELETE_SCHEMA, position, None, file_format=FileFormat.PUFFIN)
    register("with_vectors")

    assert [(1, "x"), (2, "y")] == run("SELECT * FROM plain ORDER BY a")
    assert [(2, 2)] == run("SELECT COUNT(*), MAX(a) FROM plain")
    assert [] == run("SELECT * FROM emptied")
    assert [(1,), (2,)] == run("SELECT a FROM filled ORDER BY a")
    unsupported = "version-not-supported"
    for statement in (
        "SELECT c FROM filled", "SELECT * FROM with_vectors", "SELECT COUNT(*) FROM with_vectors",
        "INSERT INTO plain VALUES (3, 'z')",
    ):  # fmt: skip
        assert unsupported == code(statement)[0], statement
    failure, message = code("SELECT * FROM variants")
    assert ("external-failure", True) == (failure, "variant" in message)
