"""Views of scans that are kept between queries: when they are used again, and when they are not."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.connectors.open_tables.connector import OpenTableConnector
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError
from schema_core.spark.commit import file_systems
from schema_core.spark.commit.file_systems import is_settled, state_of
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.reading import sources
from schema_core.spark.session.api_mode import is_connect
from tests.support import run_in_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.spark.connector import ReadContext


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tables that the connector has read; files count as settled at once."""
    result: list[str] = []
    read = FilesystemConnector.read_with_statistics

    def counted(self: FilesystemConnector, context: Any) -> Any:
        result.append(context.identifier.object_name)
        return read(self, context)

    monkeypatch.setattr(FilesystemConnector, "read_with_statistics", counted)
    monkeypatch.setattr(file_systems, "TICK", 0)
    return result


@pytest.fixture
def place(environment: TableEnvironment, tmp_path: Path) -> Path:
    """The directory of the csv table `t (a INT, b STRING)`, with one file of one row."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "one").write_text("1,x\n")
    create(environment, tmp_path / "t")
    return tmp_path / "t"


def create(environment: TableEnvironment, path: Path, columns: str = "a INT, b STRING") -> None:
    options = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{path}'"
    environment.execute_sql(f"CREATE TABLE {path.name} ({columns}) WITH ({options})")


def rows(environment: TableEnvironment, query: str = "SELECT a, b FROM t") -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in environment.execute_sql(query).collect())


def kept_views(environment: TableEnvironment) -> int:
    planner: Any = environment._session.planner
    names = planner.session.sql("SHOW VIEWS").select("viewName").collect()
    return sum(name.startswith(f"{PREFIX}input_") for (name,) in names)


@pytest.mark.usefixtures("classic")
def test_an_unchanged_table_is_read_once_for_all_queries(
    environment: TableEnvironment, place: Path, reads: list[str]
) -> None:
    before = kept_views(environment)
    assert [(1, "x")] == rows(environment) == rows(environment)
    assert [("x", 1)] == rows(environment, "SELECT x.b, y.a FROM t AS x JOIN t AS y ON x.a = y.a")
    assert [(1,)] == rows(environment, "SELECT COUNT(*) FROM t WHERE a IN (SELECT a FROM t)")
    assert ["t"] == reads
    assert "columns: a (1 of 2)" in str(rows(environment, "EXPLAIN SELECT a FROM t"))
    assert before + 1 == kept_views(environment)


def test_every_change_of_the_files_is_seen(
    environment: TableEnvironment, place: Path, reads: list[str]
) -> None:
    assert [(1, "x")] == rows(environment)

    (place / "two").write_text("2,y\n")
    assert [(1, "x"), (2, "y")] == rows(environment)

    status = (place / "two").stat()
    (place / "two").write_text("3,z\n")  # as long, and as old as before
    os.utime(place / "two", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [(1, "x"), (3, "z")] == rows(environment)

    (place / "two").rename(place / "_two")
    assert [(1, "x")] == rows(environment)

    (place / "below").mkdir()
    (place / "below" / "three").write_text("4,v\n")
    assert [(1, "x"), (4, "v")] == rows(environment)
    assert 5 == len(reads)

    environment.execute_sql("INSERT INTO t VALUES (5, 'w')").wait()
    assert [(1, "x"), (4, "v"), (5, "w")] == rows(environment)
    environment.execute_sql("INSERT OVERWRITE t VALUES (6, 'u')").wait()
    assert [(6, "u")] == rows(environment)

    for file in place.rglob("*"):
        file.unlink(missing_ok=True) if file.is_file() else None
    (place / "below").rmdir()
    place.rmdir()
    with pytest.raises(ExternalError, match="there is no file or directory"):
        rows(environment)


@pytest.mark.parametrize("kind", ["iceberg", "delta"])
def test_a_version_is_read_once_for_equal_queries(
    environment: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """What is pushed down is part of a frame; each change of the table is seen."""
    reads: list[object] = []
    read = OpenTableConnector.read_with_statistics

    def counted(self: OpenTableConnector, context: ReadContext) -> Any:
        reads.append(context.projection)
        return read(self, context)

    monkeypatch.setattr(OpenTableConnector, "read_with_statistics", counted)
    run = run_in_catalog(environment, {"type": kind, "warehouse": str(tmp_path)})
    run("CREATE TABLE t (a INT NOT NULL, b STRING)")
    run("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    first, second, whole = (
        "SELECT b FROM t WHERE a = 1", "SELECT b FROM t WHERE a = 2", "SELECT a FROM t ORDER BY a",
    )  # fmt: skip
    for _ in range(3):
        assert ([("x",)], [("y",)]) == (run(first), run(second))
        assert [(1,), (2,)] == run(whole)
    assert [("a", "b"), ("a", "b"), ("a",)] == reads

    run("INSERT INTO t VALUES (3, 'z')")
    assert [(1,), (2,), (3,)] == run(whole)
    run("DELETE FROM t WHERE a = 2")
    assert ([(1,), (3,)], []) == (run(whole), run(second))

    run("DROP TABLE t")
    run("CREATE TABLE t (a INT NOT NULL, b STRING)")
    run("INSERT INTO t VALUES (7, 'x')")
    assert [(7,)] == run(whole)


def test_a_version_of_a_moved_table_has_its_own_rows(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    """Copies of a table of Delta that have gone apart have versions of equal numbers."""
    run = run_in_catalog(environment, {"type": "delta", "warehouse": str(tmp_path)})
    run("CREATE TABLE t (a INT)")
    place, copied = tmp_path / "default" / "t", tmp_path / "copied"
    shutil.copytree(place, copied)
    run("INSERT INTO t VALUES (1)")
    assert [(1,)] == run("SELECT a FROM t")
    shutil.rmtree(place)
    copied.rename(place)
    run("INSERT INTO t VALUES (2)")
    assert [(2,)] == run("SELECT a FROM t")


def replace_alike(path: Path, content: bytes) -> None:
    """Write a file again, with the same length, and set its time back."""
    status = path.stat()
    assert len(content) == status.st_size
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_files_of_equal_length_and_time_are_surveyed_again(
    environment: TableEnvironment, reads: list[str], tmp_path: Path
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "one").write_text("1,x\n")
    create(environment, tmp_path / "s", "a INT, b STRING NOT NULL")
    hint = "SELECT a, b FROM s /*+ OPTIONS('csv.null-literal' = 'n') */"
    assert [(1, "x")] == rows(environment, hint)
    replace_alike(tmp_path / "s" / "one", b"1,n\n")
    with pytest.raises(ExternalError, match="'b' is NOT NULL but received NULL"):
        rows(environment, hint)


def parquet(values: list[Any], type_: Any, padding: int) -> bytes:
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, pa.schema([("a", type_)]), store_schema=False) as writer:
        writer.write_table(pa.table({"a": pa.array(values, type_)}))
        writer.add_key_value_metadata({"padding": "x" * padding})
    return bytes(sink.getvalue())


def test_footers_of_files_of_equal_length_and_time_are_read_again(
    environment: TableEnvironment, reads: list[str], tmp_path: Path
) -> None:
    versions: list[tuple[list[Any], Any]] = [
        ([1, 2], pa.int32()),
        ([1, None], pa.int32()),
        (["x", "y"], pa.string()),
    ]
    lengths = [len(parquet(*version, 1000)) for version in versions]
    paddings = [1000 + max(lengths) - length for length in lengths]
    contents = [parquet(*item, padding) for item, padding in zip(versions, paddings, strict=True)]
    assert 1 == len({len(content) for content in contents})
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "one").write_bytes(contents[0])
    options = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path}/p'"
    environment.execute_sql(f"CREATE TABLE p (a INT NOT NULL) WITH ({options})")
    assert [(1,), (2,)] == rows(environment, "SELECT a FROM p")
    replace_alike(tmp_path / "p" / "one", contents[1])
    with pytest.raises(ExternalError, match="'a' is NOT NULL but received NULL"):
        rows(environment, "SELECT a FROM p")
    replace_alike(tmp_path / "p" / "one", contents[2])
    with pytest.raises(ExternalError, match="'a' is STRING, but is declared as INT"):
        rows(environment, "SELECT a FROM p")


def test_another_definition_is_another_scan(
    environment: TableEnvironment, place: Path, reads: list[str]
) -> None:
    (place / "one").write_text("1;x\n")
    hint = "SELECT b FROM t /*+ OPTIONS('csv.field-delimiter' = ';') */"
    with pytest.raises(ExternalError):
        rows(environment)
    assert [("x",)] == rows(environment, hint) == rows(environment, hint)

    environment.execute_sql("ALTER TABLE t SET ('csv.field-delimiter' = ';')")
    assert [(1, "x")] == rows(environment)
    environment.execute_sql("ALTER TABLE t MODIFY a STRING")
    assert [("1", "x")] == rows(environment)
    environment.execute_sql("DROP TABLE t")
    create(environment, place, "b STRING")
    assert [("1;x",)] == rows(environment, "SELECT b FROM t")


def test_a_view_depends_on_the_time_zone(
    environment: TableEnvironment, place: Path, reads: list[str]
) -> None:
    environment.execute_sql(
        "ALTER TABLE t ADD (c AS CAST(TIMESTAMP '2024-01-01 00:00:00' AS TIMESTAMP_LTZ(3)))"
    )
    query = "SELECT DATE_FORMAT(c, 'yyyy-MM-dd HH:mm'), a FROM t"
    result = {}
    for zone in ("UTC", "America/New_York", "UTC"):
        environment.execute_sql(f"SET 'table.local-time-zone' = '{zone}'")
        result[zone] = [str(row) for row in rows(environment, "SELECT c, a FROM t")]
        assert [("2024-01-01 00:00", 1)] == rows(environment, query)
    assert result["UTC"] != result["America/New_York"]


@pytest.mark.usefixtures("classic")
def test_random_columns_differ_from_query_to_query(
    environment: TableEnvironment, place: Path, reads: list[str]
) -> None:
    environment.execute_sql("ALTER TABLE t ADD (r AS RAND(), u AS UUID())")
    first, second = (rows(environment, "SELECT r, u FROM t") for _ in range(2))
    assert first[0][0] != second[0][0]
    assert first[0][1] != second[0][1]
    assert [(1,)] == rows(environment, "SELECT a FROM t") == rows(environment, "SELECT a FROM t")
    assert ["t"] * 3 == reads


def test_files_that_changed_shortly_before_are_listed_again(
    environment: TableEnvironment, place: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_systems, "TICK", 10**12)
    assert [(1, "x")] == rows(environment) == rows(environment)
    assert ["t"] * 2 == reads


def test_the_least_recently_used_view_is_dropped(
    environment: TableEnvironment,
    place: Path,
    reads: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(sources, "MAX_KEPT", 1)
    before = kept_views(environment)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "one").write_text("2,y\n")
    create(environment, tmp_path / "s")

    both = "SELECT t.a, s.b FROM t, s"
    assert [(1, "y")] == rows(environment, both) == rows(environment, both)
    assert 4 == len(reads)
    assert [(1,)] == rows(environment, "SELECT a FROM t") == rows(environment, "SELECT a FROM t")
    assert [(2,)] == rows(environment, "SELECT a FROM s")
    assert "s" == reads[-1]
    assert before + 1 == kept_views(environment)


def test_the_state_of_files(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b"
    file.parent.mkdir()
    file.write_text("one")
    (tmp_path / "_hidden").write_text("x")
    state = state_of(str(tmp_path))
    assert state is not None
    assert {"a", "a/b", "_hidden"} == {name for name, _ in state}
    assert not is_settled(state)

    (tmp_path / "_hidden").write_text("longer")
    assert state == state_of(str(tmp_path))
    file.write_text("three")
    assert state != state_of(str(tmp_path))
    assert 1 == len(state_of(str(file)) or ())
    assert state_of(str(tmp_path / "missing")) is None


# --- frames ---------------------------------------------------------------------------------------


def frames(environment: TableEnvironment) -> int:
    planner: Any = environment._session.planner
    return len(planner._reader._frames._frames)


def planned(environment: TableEnvironment, count: int) -> int:
    """Return how many of the frames are kept: a server of Spark Connect plans all of them anew."""
    planner: Any = environment._session.planner
    return 0 if is_connect(planner.session) else count


def test_a_table_is_planned_once_until_its_files_change(
    environment: TableEnvironment, place: Path, reads: list[str]
) -> None:
    table = environment.sql_query("SELECT a + 1 AS c, b FROM t WHERE a > 0")
    first, second = table.to_spark(), table.to_spark()
    joined = first.join(second, first["c"] == second["c"])  # each call returns its own columns
    assert [tuple(item) for item in joined.collect()] == [(2, "x", 2, "x")]
    assert table.to_pandas().to_dict("list") == {"c": [2], "b": ["x"]}
    assert table.to_arrow().read_all().to_pydict() == {"c": [2], "b": ["x"]}
    assert frames(environment) == planned(environment, 2)

    (place / "two").write_text("2,y\n")
    assert sorted(row.c for row in table.to_spark().collect()) == [2, 3]
    assert sorted(table.to_pandas()["c"]) == [2, 3]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT RAND() AS c FROM t",
        "SELECT CURRENT_TIMESTAMP AS c FROM t",
        "SELECT SUM(a) AS c FROM t GROUP BY b",  # Spark would keep the rows of its shuffle
        "SELECT a AS c FROM t WHERE a = (SELECT MAX(a) FROM t)",
    ],
)
def test_a_plan_that_holds_values_or_rows_is_not_kept(
    environment: TableEnvironment, place: Path, query: str
) -> None:
    table = environment.sql_query(query)
    values = [table.to_pandas()["c"][0] for _ in range(2)]
    assert frames(environment) == 0
    assert (values[0] == values[1]) == ("(a)" in query)


@pytest.mark.usefixtures("classic")
def test_views_of_rows_are_dropped_after_the_rows(environment: TableEnvironment) -> None:
    table = environment.from_arrow(pa.table({"a": [1]}))
    before = kept_views(environment)
    assert [(1,)] == [tuple(item) for item in table.execute().collect()]
    assert [1] == list(table.to_pandas()["a"])
    assert before + 1 == kept_views(environment)
    assert frames(environment) == 1
    del table
    gc.collect()
    other = environment.from_arrow(pa.table({"a": [2]}))
    assert [2] == list(other.to_pandas()["a"])
    assert before + 1 == kept_views(environment)


def test_a_frame_of_files_is_read_as_it_is_each_time(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path
) -> None:
    session.sql("SELECT 1 AS a").write.parquet(f"{tmp_path}/files/p=1")
    table = environment.from_spark(session.read.parquet(f"{tmp_path}/files"))
    assert [1] == list(table.to_pandas()["a"])
    assert frames(environment) == 0
    fixed = environment.from_spark(session.range(2))
    assert [0, 1] == list(fixed.to_pandas()["id"]) == list(fixed.to_pandas()["id"])
    assert frames(environment) == planned(environment, 1)


def test_a_computed_column_has_the_current_database(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "one").write_text("1\n")
    create(environment, tmp_path / "c", "a INT, d AS CURRENT_DATABASE()")
    query = "SELECT d FROM default_catalog.default_database.c"
    assert [("default_database",)] == rows(environment, query)
    environment.execute_sql("CREATE DATABASE other")
    environment.execute_sql("USE other")
    assert [("other",)] == rows(environment, query)
