"""Writes to files on Spark: replaced files, refusals, and the state after failures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.file_commits import SCENARIOS, Fault, Faults, FaultyFiles, operations, run
from schema_core.connectors.files import filesystem
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.run import COMMITTED
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.spark.commit import file_systems
from schema_core.spark.commit.commit import PREFIX
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import (
    FileSystem,
    HadoopFiles,
    LocalFiles,
    locate_file_system,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATOMIC = "table.rtas-ctas.atomicity-enabled"


def at(folder: Path, name: str = "t", form: str = "csv") -> str:
    return f"WITH ('connector' = 'filesystem', 'path' = '{folder / name}', 'format' = '{form}')"


def rows(environment: TableEnvironment, table: str = "t") -> list[tuple[object, ...]]:
    return sorted(map(tuple, environment.execute_sql(f"SELECT * FROM {table}").collect()), key=str)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def parts(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    """A table of two partition keys with four rows."""
    environment.execute_sql(
        f"CREATE TABLE t (a INT, p STRING, q INT) PARTITIONED BY (p, q) {at(tmp_path)}"
    )
    environment.execute_sql(
        "INSERT INTO t VALUES (1, 'x', 1), (2, 'x', 2), (3, 'a/b =%', 1), (4, 'y', 1)"
    )
    return environment


NONE = "SELECT a FROM t WHERE a > 9"
OLD = {(1, "x", 1), (2, "x", 2), (3, "a/b =%", 1), (4, "y", 1)}


@pytest.mark.parametrize(
    ("statement", "gone", "new"),
    [
        ("OVERWRITE t SELECT 9, 'x', 1", {(1, "x", 1)}, {(9, "x", 1)}),
        ("OVERWRITE t SELECT * FROM t WHERE a > 9", set(), set()),
        ("OVERWRITE t PARTITION (p = 'x', q = '1') {NONE}", {(1, "x", 1)}, set()),
        ("OVERWRITE t PARTITION (p = 'x', q = '01') {NONE}", {(1, "x", 1)}, set()),
        ("OVERWRITE t PARTITION (p = 'a/b =%', q = '1') {NONE}", {(3, "a/b =%", 1)}, set()),
        ("OVERWRITE t PARTITION (p = 'none', q = '1') {NONE}", set(), set()),
        ("OVERWRITE t PARTITION (p = 'x') SELECT a, q FROM t WHERE a > 9", set(), set()),
        ("OVERWRITE t PARTITION (p = 'x') SELECT 9, 2", {(2, "x", 2)}, {(9, "x", 2)}),
        ("INTO t PARTITION (p = 'x', q = '1') {NONE}", set(), set()),
        ("INTO t PARTITION (p = 'x', q = '1') SELECT 9", set(), {(9, "x", 1)}),
    ],
)  # fmt: skip
def test_overwriting_partitions_replaces_what_flink_replaces(
    parts: TableEnvironment, statement: str, gone: set[Any], new: set[Any]
) -> None:
    parts.execute_sql(f"INSERT {statement.replace('{NONE}', NONE)}")

    assert sorted(OLD - gone | new, key=str) == rows(parts)


@pytest.mark.parametrize("query", ["SELECT 9, 'z'", "SELECT a, b FROM t WHERE a > 9"])
def test_overwriting_a_table_replaces_all_of_it(
    environment: TableEnvironment, tmp_path: Path, query: str
) -> None:
    environment.execute_sql(f"CREATE TABLE t (a INT, b STRING) {at(tmp_path)}")
    environment.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    environment.execute_sql(f"INSERT OVERWRITE t {query}")

    assert rows(environment) == ([(9, "z")] if "9, " in query else [])


# --- CREATE and REPLACE TABLE AS -----------------------------------------------------------------


@pytest.mark.parametrize("atomic", ["true", "false"])
def test_a_new_table_requires_an_empty_directory(
    environment: TableEnvironment, tmp_path: Path, atomic: str
) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "theirs.csv").write_text("1,2\n")
    environment.execute_sql(f"SET '{ATOMIC}' = '{atomic}'")
    for create in ("CREATE", "CREATE OR REPLACE"):
        with pytest.raises(SchemaCoreError) as caught:
            environment.execute_sql(f"{create} TABLE t {at(tmp_path)} AS SELECT 1 AS a")
        assert ("target-not-empty", True) == (caught.value.code, bool(caught.value.hint))

    assert ["theirs.csv"] == names(tmp_path / "t")
    assert [] == environment.list_tables()


@pytest.fixture
def replaced(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    environment.execute_sql(f"CREATE TABLE t (a INT, b STRING) {at(tmp_path)}")
    environment.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    return environment


def definition(environment: TableEnvironment) -> str:
    return str(environment.from_path("t").get_resolved_schema())


@pytest.mark.parametrize("atomic", ["true", "false"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_replace_replaces_definition_and_rows(
    replaced: TableEnvironment, tmp_path: Path, atomic: str, form: str
) -> None:
    replaced.execute_sql(f"SET '{ATOMIC}' = '{atomic}'")
    replaced.execute_sql(
        f"REPLACE TABLE t {at(tmp_path, 't', form)} AS SELECT b, a, a * 10 AS c FROM t WHERE a > 1"
    )

    assert [("y", 2, 20)] == rows(replaced)
    assert not [name for name in names(tmp_path / "t") if name.startswith(PREFIX)]


@pytest.mark.parametrize("atomic", ["true", "false"])
@pytest.mark.parametrize("statement", ["REPLACE TABLE t", "CREATE OR REPLACE TABLE t"])
def test_a_failing_replace_keeps_definition_and_rows(
    replaced: TableEnvironment, tmp_path: Path, statement: str, atomic: str
) -> None:
    replaced.execute_sql(f"SET '{ATOMIC}' = '{atomic}'")
    before = definition(replaced), names(tmp_path / "t")
    with pytest.raises(ExternalError):
        replaced.execute_sql(f"{statement} {at(tmp_path)} AS SELECT 1 / (a - 1) AS z FROM t")

    assert [(1, "x"), (2, "y")] == rows(replaced)
    assert before == (definition(replaced), names(tmp_path / "t"))


def test_a_table_that_no_longer_resolves_is_replaced_with_its_files(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    environment.execute_sql(
        f"CREATE CATALOG c WITH ('type'='sql', 'url'='sqlite:///{tmp_path}/c.db')"
    )
    environment.use_catalog("c")
    environment.create_type("gone", "INT")
    environment.execute_sql(f"CREATE TABLE t (a INT, b AS CAST(a AS gone)) {at(tmp_path)}")
    environment.execute_sql("INSERT INTO t VALUES (1), (2)")
    environment.drop_type("gone")
    before = environment.get_create_statement("t"), names(tmp_path / "t")
    with pytest.raises(ExternalError):
        environment.execute_sql(
            f"REPLACE TABLE t {at(tmp_path)} AS SELECT 1 / (a - 1) AS z FROM (VALUES 1) AS v (a)"
        )
    assert before == (environment.get_create_statement("t"), names(tmp_path / "t"))
    environment.execute_sql(f"REPLACE TABLE t {at(tmp_path)} AS SELECT 9 AS z")

    assert [(9,)] == rows(environment)


def test_replace_at_another_path_leaves_the_old_files_and_those_of_others(
    replaced: TableEnvironment, tmp_path: Path
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "data.csv").write_text("7\n")
    with pytest.raises(SchemaCoreError) as caught:
        replaced.execute_sql(f"REPLACE TABLE t {at(tmp_path, 'theirs')} AS SELECT 9 AS z")
    assert "target-not-empty" == caught.value.code
    assert [(1, "x"), (2, "y")] == rows(replaced)
    old = names(tmp_path / "t")
    replaced.execute_sql(f"REPLACE TABLE t {at(tmp_path, 'new')} AS SELECT 9 AS z")

    assert [(9,)] == rows(replaced)
    assert (old, ["data.csv"]) == (names(tmp_path / "t"), names(tmp_path / "theirs"))


# --- faults of the file system -------------------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Faults], None]]:
    """Inject a fault into the commits of later statements."""

    def install(faults: Faults) -> None:
        def found(session: SparkSession, path: str) -> tuple[FileSystem, str]:
            system, root = locate_file_system(session, path)
            return FaultyFiles(faults, system), root

        monkeypatch.setattr(filesystem, "locate_file_system", found)

    yield install
    monkeypatch.undo()


WRITES = {
    "INSERT INTO t VALUES (3, 'z')": [(1, "x"), (2, "y"), (3, "z")],
    "INSERT OVERWRITE t VALUES (3, 'z')": [(3, "z")],
    "REPLACE TABLE t {at} AS SELECT 3 AS c": [(3,)],
}


@pytest.mark.parametrize("fault", [Fault.FALSE, Fault.RAISE_AFTER, Fault.INTERRUPT_BEFORE])
@pytest.mark.parametrize("place", [6, 16, 26])
@pytest.mark.parametrize("statement", WRITES)
def test_a_failing_commit_leaves_the_old_or_the_new_rows(
    replaced: TableEnvironment,
    tmp_path: Path,
    faulty: Callable[[Faults], None],
    statement: str,
    place: int,
    fault: Fault,
) -> None:
    old, raised = definition(replaced), None
    faulty(Faults(place, fault))
    try:
        replaced.execute_sql(statement.replace("{at}", at(tmp_path)))
    except (SchemaCoreError, KeyboardInterrupt) as error:
        raised = error
    faulty(Faults())
    result = rows(replaced)

    assert result in ([(1, "x"), (2, "y")], WRITES[statement])
    is_new = result == WRITES[statement]
    assert is_new == (raised is None or COMMITTED in getattr(raised, "__notes__", []))
    assert ("`c`" in definition(replaced)) == (is_new and "REPLACE" in statement)
    assert old == definition(replaced) or "REPLACE" in statement


def test_an_interrupted_create_leaves_no_rows_without_a_table(
    environment: TableEnvironment, tmp_path: Path, faulty: Callable[[Faults], None]
) -> None:
    environment.execute_sql(f"SET '{ATOMIC}' = 'true'")
    statement = f"CREATE TABLE t {at(tmp_path)} AS SELECT 1 AS a"
    for place in range(8, 40):
        faulty(Faults(place, Fault.INTERRUPT_AFTER))
        with pytest.raises(KeyboardInterrupt):
            environment.execute_sql(statement)
        faulty(Faults())
        if "t" in environment.list_tables():
            break
        assert not (tmp_path / "t").exists() or [] == list((tmp_path / "t").glob("part*"))

    assert [(1,)] == rows(environment)


# --- Hadoop's file systems -----------------------------------------------------------------------


@pytest.fixture
def hadoop(session: SparkSession, tmp_path: Path) -> HadoopFiles:
    """The local files, accessed through Hadoop's classes."""
    path = session._jvm.org.apache.hadoop.fs.Path(f"file://{tmp_path}")  # type: ignore[union-attr, unused-ignore]
    conf = session._jsparkSession.sessionState().newHadoopConf()
    return HadoopFiles(session, path.getFileSystem(conf))


@pytest.mark.parametrize("fault", [Fault.FALSE, Fault.RAISE_BEFORE, Fault.RAISE_AFTER])
@pytest.mark.parametrize("name", ["INSERT OVERWRITE, partitions", "REPLACE TABLE AS"])
def test_faults_with_hadoops_classes(hadoop: HadoopFiles, name: str, fault: Fault) -> None:
    scenario = SCENARIOS[name]
    tried = range(1 + list(Fault).index(fault), operations(scenario), 8)
    result = [run(scenario, Faults(at, fault), None, hadoop) for at in (0, *tried)]

    assert [] == [item.problem for item in result if item.problem]


def test_hadoop_files_behave_as_local_files(hadoop: HadoopFiles, tmp_path: Path) -> None:
    results = []
    for system in (LocalFiles(), hadoop):
        root = str(tmp_path / type(system).__name__)
        result: list[object] = [
            system.status(root), system.mkdirs(root), system.mkdirs(root),
            system.create(f"{root}/a b%20", b"\xff\x00"), system.read(f"{root}/a b%20"),
            system.rename(f"{root}/a b%20", f"{root}/c"),
            [item.name for item in system.list(root, "c")], system.list(root, "x"),
            system.delete_empty(root), system.delete(f"{root}/none"), system.delete(f"{root}/c"),
            system.delete_empty(root), system.status(root),
        ]  # fmt: skip
        results.append(result)

    assert results[0] == results[1]


def test_local_paths_do_not_use_hadoop(session: SparkSession, tmp_path: Path) -> None:
    for path in (str(tmp_path), f"file://{tmp_path}", f"file:{tmp_path}"):
        system, root = locate_file_system(session, path)
        assert (LocalFiles, str(tmp_path)) == (type(system), root)


def test_an_error_of_hadoop_is_an_external_error(hadoop: HadoopFiles, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ExternalError) as caught:
        Directory(hadoop, f"{tmp_path}/file/below").mkdirs("")

    assert "file-system-failed" == caught.value.code
    assert "Py4JJavaError" not in caught.value.problem
    with pytest.raises(ExternalError) as caught:
        Directory(hadoop, str(tmp_path)).create("file", b"y")
    assert "exist" in caught.value.problem


def test_a_lock_by_creation_is_exclusive_and_expires(
    hadoop: HadoopFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{tmp_path}/lock"
    release = hadoop.lock(path)
    assert release is not None
    assert hadoop.lock(path) is None
    monkeypatch.setattr(file_systems, "ABANDONED_LOCK", -1.0)
    again = hadoop.lock(path)
    assert again is not None
    release()
    assert hadoop.status(path) is not None, "the lock of another writer is not released"
    again()

    assert hadoop.status(path) is None


# --- concurrency --------------------------------------------------------------------------------


def test_concurrent_inserts_keep_all_rows(session: SparkSession, tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
            environment.execute_sql(
                f"CREATE TABLE t (a INT, p INT) PARTITIONED BY (p) {at(tmp_path)}"
            )
            for part in range(2):
                rows = f"({number}, {part}), ({number}, 9)"
                environment.execute_sql(f"INSERT INTO t VALUES {rows}").wait()
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reader = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    reader.execute_sql(f"CREATE TABLE t (a INT, p INT) PARTITIONED BY (p) {at(tmp_path)}")

    assert [] == errors
    expected = [(number, part) for number in range(3) for part in (0, 1, 9, 9)]
    assert sorted(expected, key=str) == rows(reader)
