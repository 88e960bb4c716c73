"""Streaming jobs: unbounded tables, CREATE TABLE AS, checkpoints and restarts."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.environment.connector import Visibility
from schema_core.environment.jobs.atomicity import AtomicityLevel
from schema_core.errors import ConflictError, ExternalError, SchemaCoreError
from schema_core.pyflink.common import JobClient, JobStatus
from schema_core.spark.commit.commit import Batch, FileStage, last_batch
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import LocalFiles
from schema_core.spark.streaming.checkpoint_schemas import PHYSICAL, Stored
from schema_core.spark.streaming.checkpoints import JobDescription, checkpoint_in, directory_name
from schema_core.spark.streaming.micro_batches import TOO_SLOW, MicroBatches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: For how many seconds a test waits for rows, at most.
TIMEOUT = 180.0


class Files:
    """The directory of a table; files appear in it whole."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)

    def add(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}")
        draft.write_text(text, encoding="utf-8")
        draft.rename(path)


@pytest.fixture
def env(session: SparkSession, tmp_path: Path) -> TableEnvironment:
    """A streaming environment with the directory of its checkpoints."""
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    made.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    return made


@pytest.fixture
def source(env: TableEnvironment, tmp_path: Path) -> Files:
    """The files of the unbounded table `s`, which has two rows."""
    files = Files(tmp_path / "source")
    env.execute_sql(
        "CREATE TABLE s (id INT, v STRING, d AS id * 2, name STRING METADATA FROM 'file.name'"
        f" VIRTUAL) WITH ('connector' = 'filesystem', 'path' = '{files.root}', 'format' = 'csv',"
        " 'source.monitor-interval' = '50 ms')"
    )
    files.add("1.csv", '1,a\n2,"b\nc"\n')
    return files


def sink(name: str, folder: Path, form: str = "parquet") -> str:
    return f"'connector' = 'filesystem', 'path' = '{folder / name}', 'format' = '{form}'"


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as result:
        return sorted(map(tuple, result))


def arrived(env: TableEnvironment, query: str, count: int) -> list[tuple[Any, ...]]:
    """Return the rows of a bounded table once it has as many."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        with suppress(ExternalError):  # there is no directory before the first micro-batch
            if len(result := rows(env, query)) >= count:
                return result
        time.sleep(0.1)
    raise AssertionError(f"fewer than {count} rows: {query}")


def client(env: TableEnvironment, statement: str) -> JobClient:
    result = env.execute_sql(statement).get_job_client()
    assert result is not None
    return result


def refused(env: TableEnvironment, statement: str) -> str | None:
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(statement)
    return caught.value.code


def ended(job: JobClient) -> JobStatus:
    """Cancel a job and return its status."""
    job.cancel().result(TIMEOUT)
    return job.get_job_status().result()


def test_queries_of_bounded_tables_run(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        "CREATE TABLE t (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
        f" WITH ({sink('t', tmp_path)})"
    )
    env.execute_sql(
        "INSERT INTO t VALUES (1, TIMESTAMP '2024-01-01 00:00:01'),"
        " (2, TIMESTAMP '2024-01-01 00:00:09'), (3, TIMESTAMP '2024-01-01 00:01:00')"
    ).wait()
    windows = (
        "SELECT CAST(window_start AS STRING), COUNT(*) FROM"
        " TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        " GROUP BY window_start, window_end"
    )

    assert [("2024-01-01 00:00:00.000", 2), ("2024-01-01 00:01:00.000", 1)] == rows(env, windows)
    assert [3] == env.sql_query("SELECT id FROM t ORDER BY ts DESC LIMIT 1").to_pandas()[
        "id"
    ].tolist()


def test_rows_are_returned_as_they_arrive(env: TableEnvironment, source: Files) -> None:
    result = env.execute_sql("SELECT id, d, v, name FROM s WHERE id <> 3").collect()
    first = {tuple(next(result)), tuple(next(result))}
    source.add("more/2.csv", "3,x\n4,y\n")
    third = tuple(next(result))
    result.close()

    assert {(1, 2, "a", "1.csv"), (2, 4, "b\nc", "1.csv")} == first
    assert (4, 8, "y", "2.csv") == third


def test_columns_become_rows_as_they_arrive(env: TableEnvironment, source: Files) -> None:
    env.execute_sql(
        "CREATE TEMPORARY VIEW twice AS SELECT * FROM s UNPIVOT (n FOR k IN (id, d AS 'D'))"
    )
    result = env.execute_sql("SELECT v, k, n FROM twice WHERE n > 1").collect()
    first = {tuple(next(result)) for _ in range(3)}
    source.add("2.csv", "3,x\n")
    more = {tuple(next(result)) for _ in range(2)}
    result.close()

    assert {("a", "D", 2), ("b\nc", "id", 2), ("b\nc", "D", 4)} == first
    assert {("x", "id", 3), ("x", "D", 6)} == more


def test_create_table_as(env: TableEnvironment, source: Files, tmp_path: Path) -> None:
    statement = f"TABLE {{}}t WITH ({sink('t', tmp_path)}) AS SELECT id, UPPER(v) AS v FROM s"
    env.execute_sql("SET 'table.rtas-ctas.atomicity-enabled' = 'true'")
    plan = env.plan_ctas("CREATE " + statement.format(""))

    assert (AtomicityLevel.CREATED_FIRST, Visibility.INCREMENTAL) == (plan.level, plan.visibility)
    assert "the job does not end: it reads the unbounded table" in plan.reasons[0]
    job = client(env, "CREATE " + statement.format(""))
    assert "t" in env.list_tables(), "the table is visible at once"
    assert [(1, "A"), (2, "B\nC")] == arrived(env, "SELECT * FROM t", 2)
    source.add("2.csv", "3,x\n")
    assert 3 == len(arrived(env, "SELECT * FROM t", 3))
    again = client(
        env,
        "INSERT INTO t /*+ OPTIONS('sink.parallelism' = '1') */ SELECT id, 'z' FROM"
        " (VALUES (9)) AS q(id)",
    )
    again.wait()
    assert "lock-not-available" == refused(env, "INSERT INTO t SELECT id, UPPER(v) FROM s")
    assert JobStatus.RUNNING is job.get_job_status().result()
    assert JobStatus.CANCELED is ended(job)

    source.add("3.csv", "4,y\n")
    job = client(env, "CREATE " + statement.format("IF NOT EXISTS "))
    assert [(1, "A"), (2, "B\nC"), (3, "X"), (4, "Y"), (9, "z")] == arrived(
        env, "SELECT * FROM t", 5
    )
    assert JobStatus.CANCELED is ended(job)
    assert "checkpoint-mismatch" == refused(env, "INSERT INTO t SELECT id, LOWER(v) FROM s")
    env.execute_sql("DROP TABLE t")
    assert "checkpoint-mismatch" == refused(env, "CREATE " + statement.format(""))
    rmtree(tmp_path / "t")
    env.execute_sql(f"CREATE TABLE t (id INT, v STRING) WITH ({sink('t', tmp_path)})")
    assert "checkpoint-mismatch" == refused(env, "INSERT INTO t SELECT id, UPPER(v) FROM s")


def test_a_statement_set_is_one_job(env: TableEnvironment, source: Files, tmp_path: Path) -> None:
    for name in ("t", "u"):
        env.execute_sql(f"CREATE TABLE {name} (id INT, v STRING) WITH ({sink(name, tmp_path)})")
    first = "INSERT INTO t SELECT id, v FROM s"
    statements = [
        first,
        "INSERT INTO u SELECT id, 'u' FROM s",
        "INSERT INTO u SELECT -id, v FROM s",
    ]
    block = f"EXECUTE STATEMENT SET BEGIN {'; '.join(statements)}; END"
    env.execute_sql("SET 'pipeline.name' = 'all'")
    job = client(env, block)
    listed = [tuple(row)[:3] for row in env.execute_sql("SHOW JOBS").collect()]

    assert [(job.get_job_id(), "all", "RUNNING")] == listed
    arrived(env, "SELECT * FROM t", 2)
    assert [-2, -1, 1, 2] == [row[0] for row in arrived(env, "SELECT * FROM u", 4)]
    assert "lock-not-available" == refused(env, block)
    env.execute_sql(f"STOP JOB '{job.get_job_id()}'")
    assert JobStatus.CANCELED is job.get_job_status().result()
    names = {path.name for path in (tmp_path / "checkpoints" / "all").iterdir()}
    path = "default_catalog.default_database"
    assert {f"{path}.t", f"{path}.u", f"{path}.u_2"} == names
    assert "checkpoint-mismatch" == refused(env, first), "a set has written it"
    swapped = [statements[0], statements[2], statements[1]]
    block = f"EXECUTE STATEMENT SET BEGIN {'; '.join(swapped)}; END"
    assert "checkpoint-mismatch" == refused(env, block)

    source.add("2.csv", "3,x\n")
    collected = env.create_statement_set()
    for statement in statements:
        collected.add_insert_sql(statement)
    job = cast("JobClient", collected.execute().get_job_client())
    arrived(env, "SELECT * FROM t", 3)
    assert [-3, -2, -1, 1, 2, 3] == [row[0] for row in arrived(env, "SELECT * FROM u", 6)]
    env.execute_sql("ALTER TABLE u ADD more INT")
    source.add("3.csv", "4,y\n")
    with pytest.raises(ConflictError) as caught:
        job.wait(round(TIMEOUT * 1000))
    assert "concurrent-modification" == caught.value.code
    assert f"in the job 'insert into {path}.u'" in caught.value.__notes__
    assert not [thread for thread in threading.enumerate() if "schema-core sink" in thread.name]

    env.execute_sql("RESET 'pipeline.name'")
    env.execute_sql("ALTER TABLE u DROP more")
    env.execute_sql("CREATE TABLE w (id INT, v STRING) WITH ('connector' = 'blackhole')")
    alone = client(env, "INSERT INTO w SELECT id, v FROM s")
    assert JobStatus.CANCELED is ended(alone)
    both = "INSERT INTO w SELECT id, v FROM s; INSERT INTO w SELECT id + 1, v FROM s"
    job = client(env, f"EXECUTE STATEMENT SET BEGIN {both}; END")
    assert JobStatus.CANCELED is ended(job), "the first INSERT continues the job of its sink"
    directories = {entry.name for entry in (tmp_path / "checkpoints").iterdir()}
    assert {f"{path}.w", f"{path}.w_2"} < directories


def test_a_micro_batch_that_is_repeated_is_written_once(
    env: TableEnvironment, source: Files, tmp_path: Path
) -> None:
    statement = "INSERT INTO t SELECT id, v FROM s"
    env.execute_sql(f"CREATE TABLE t (id INT, v STRING) WITH ({sink('t', tmp_path)})")
    env.execute_sql("SET 'pipeline.name' = 'copy/of s'")
    job = client(env, statement)
    arrived(env, "SELECT * FROM t", 2)
    ended(job)
    query = tmp_path / "checkpoints" / "copy%2Fof s" / "query"
    for path in (query / "commits").iterdir():  # killed before Spark's own commit
        path.unlink()
    source.add("2.csv", "3,x\n")
    job = client(env, statement)

    assert [(1, "a"), (2, "b\nc"), (3, "x")] == arrived(env, "SELECT * FROM t", 3)
    assert JobStatus.CANCELED is ended(job)


def test_a_job_continues_with_a_schema_that_reads_what_it_has_read(
    env: TableEnvironment, source: Files, tmp_path: Path
) -> None:
    """A column becomes wider, another one is added; then it becomes narrower."""
    statement = "INSERT INTO t SELECT id, v FROM s"
    env.execute_sql(f"CREATE TABLE t (id BIGINT, v STRING) WITH ({sink('t', tmp_path)})")
    job = client(env, statement)
    arrived(env, "SELECT * FROM t", 2)
    ended(job)
    env.execute_sql("ALTER TABLE s MODIFY id BIGINT")
    env.execute_sql("ALTER TABLE s ADD more INT")
    env.execute_sql("ALTER TABLE s SET ('csv.allow-comments' = 'true')")
    source.add("2.csv", "3000000000,x,1\n")
    job = client(env, statement)

    assert (3000000000, "x") == arrived(env, "SELECT * FROM t", 3)[-1]
    ended(job)
    env.execute_sql("ALTER TABLE s MODIFY id INT")
    with pytest.raises(ConflictError) as caught:
        env.execute_sql(statement)
    assert "checkpoint-mismatch" == caught.value.code
    shown = "column 'id' of default_catalog.default_database.s: flink does not read BIGINT as INT"
    assert shown in caught.value.problem
    env.execute_sql("ALTER TABLE s MODIFY id BIGINT")
    env.execute_sql("ALTER TABLE t MODIFY v INT")
    assert "checkpoint-mismatch" == refused(env, "INSERT INTO t SELECT id, CAST(v AS INT) FROM s")


def test_a_table_that_others_alter_ends_the_job(
    env: TableEnvironment, source: Files, tmp_path: Path
) -> None:
    env.execute_sql(f"CREATE TABLE t (id INT) WITH ({sink('t', tmp_path)})")
    job = client(env, "INSERT INTO t SELECT id FROM s")
    arrived(env, "SELECT * FROM t", 2)
    env.execute_sql("ALTER TABLE t ADD v STRING")
    source.add("2.csv", "3,x\n")
    with pytest.raises(SchemaCoreError) as caught:
        job.wait(int(TIMEOUT * 1000))

    assert "concurrent-modification" == caught.value.code
    assert 1 == len(list((tmp_path / "t").glob("*.parquet")))


#: Query -> the changes of its nodes, from the top.
CHANGELOGS = {
    "SELECT id + 1 FROM s": ["I", "I"],
    "SELECT n, id FROM (SELECT id, COUNT(*) AS n FROM s GROUP BY id)": ["I,UB,UA"] * 2 + ["I"],
    "SELECT DISTINCT id FROM s": ["I", "I"],
    "WITH c AS (SELECT id, COUNT(*) AS n FROM s GROUP BY id) SELECT * FROM c": [
        *["I,UB,UA"] * 2,
        "I",
        *["I,UB,UA"] * 2,
    ],
    "SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY pt) AS r"
    " FROM (SELECT id, v, PROCTIME() AS pt FROM s)) WHERE r = 1": ["I", None, "I", "I"],
    "SELECT COUNT(*) FROM (VALUES (1)) AS t (a)": ["I", "I"],
    # in stages
    "SELECT MAX(n) FROM (SELECT id, COUNT(*) AS n FROM s GROUP BY id)": [
        *["I,UB,UA,D"] * 2,
        "I",
    ],
    "SELECT id FROM s UNION ALL SELECT COUNT(DISTINCT id) FROM s": [
        *["I,UB,UA,D", "I", "I", "I,UB,UA,D"],
        "I",
    ],
    "SELECT a.id FROM s AS a LEFT JOIN s AS b ON a.id = b.id": ["I,UB,UA,D", None, "I", "I"],
}


@pytest.mark.parametrize("query", CHANGELOGS)
def test_changes_of_the_nodes_of_a_plan(env: TableEnvironment, source: Files, query: str) -> None:
    [(text,)] = env.execute_sql(f"EXPLAIN CHANGELOG_MODE {query}").collect()
    plan = text.partition(" ==\n")[2].partition("\n\n")[0].splitlines()
    shown = [re.search(r"changelogMode=\[([A-Z,]+)\]", line) for line in plan]

    assert CHANGELOGS[query] == [character and character[1] for character in shown]


def test_streaming_jobs_that_are_refused(
    env: TableEnvironment, source: Files, tmp_path: Path
) -> None:
    env.execute_sql(f"CREATE TABLE t (id INT) WITH ({sink('t', tmp_path)})")
    env.execute_sql(
        "CREATE TABLE p (id INT) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{tmp_path}/[a]', 'source.monitor-interval' = '1 s')"
    )
    (tmp_path / "[a]").mkdir()
    expected = "streaming-not-supported"

    assert "feature-not-supported" == refused(env, "INSERT OVERWRITE t SELECT id FROM s")
    assert expected == refused(
        env, f"REPLACE TABLE t WITH ({sink('t', tmp_path)}) AS SELECT id FROM s"
    )
    assert expected == refused(env, "SELECT id FROM s ORDER BY id")
    assert expected == refused(
        env,
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); INSERT INTO t SELECT id FROM s; END",
    )
    assert not (tmp_path / "checkpoints").exists()
    assert expected == refused(env, "SELECT id FROM p")
    for option in (
        "'sink.partition-commit.policy.kind'='success-file','sink.partition-commit.delay'='1 h'",
        "'auto-compaction' = 'true'",
    ):
        assert expected == refused(env, f"INSERT INTO t /*+ OPTIONS({option}) */ SELECT id FROM s")
    with pytest.raises(SchemaCoreError) as caught:
        env.from_path("s").to_pandas()
    assert expected == caught.value.code
    env.execute_sql("RESET 'execution.checkpointing.dir'")
    assert "missing-option" == refused(env, "INSERT INTO t SELECT id FROM s")
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    assert "unbounded-table" == refused(env, "SELECT id FROM s")


@pytest.mark.parametrize(("problem", "starts"), [(TOO_SLOW, 3), ("no such class", 1)])
def test_a_query_is_started_again_where_a_process_was_too_slow(
    problem: str,
    starts: int,
    env: TableEnvironment,
    source: Files,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert source.root.is_dir()
    triggered, started = MicroBatches._add_trigger, list[object]()

    def failing(self: MicroBatches, writer: Any) -> Any:
        started.append(writer)
        busy = Mock(start=Mock(side_effect=RuntimeError(f"{problem}.")))
        return busy if len(started) < 3 else triggered(self, writer)

    monkeypatch.setattr(MicroBatches, "_add_trigger", failing)
    with env.execute_sql("SELECT id FROM s").collect() as result:
        if problem is TOO_SLOW:
            assert (1,) == tuple(next(result))
        else:
            with pytest.raises(ExternalError, match=problem):
                next(result)
    assert starts == len(started)


def test_an_invalid_record_fails_the_job(
    env: TableEnvironment, source: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    env.execute_sql("RESET 'execution.checkpointing.dir'")
    env.execute_sql("CREATE TABLE p (id INT) WITH ('connector' = 'print')")
    job = client(env, "INSERT INTO p SELECT id FROM s WHERE id > 1")
    printed, deadline = "", time.monotonic() + TIMEOUT
    while "+I[2]" not in printed and time.monotonic() < deadline:
        time.sleep(0.05)
        printed += capsys.readouterr().out
    source.add("2.csv", "x,y\n")
    with pytest.raises(ExternalError) as caught:
        job.wait(int(TIMEOUT * 1000))

    assert "+I[2]\n" == printed
    assert "cannot read as INT: x" in caught.value.problem
    assert "2.csv, line 1" in caught.value.problem
    assert JobStatus.FAILED is job.get_job_status().result()


LINES = {
    "json": ('{"id": 1, "v": "a"}\n', '{"id": 2, "v": null}\n'),
    "csv": ("1,a\n", "2,\n"),
}


@pytest.mark.parametrize("form", LINES)
def test_partitions_are_read_from_directories_that_are_added(
    form: str, env: TableEnvironment, tmp_path: Path
) -> None:
    files = Files(tmp_path / "in")
    first, second = LINES[form]
    null = ", 'csv.null-literal' = ''" if form == "csv" else ""
    env.execute_sql(
        f"CREATE TABLE q (id INT, v STRING, day_ DATE, c STRING) PARTITIONED BY (day_, c) WITH"
        f" ({sink('in', tmp_path, form)}, 'source.monitor-interval' = '50 ms'{null})"
    )
    result = env.execute_sql("SELECT id, v, CAST(day_ AS STRING), c FROM q").collect()
    files.add("day_=2024-01-02/c=x%2Fy/1", first)
    one = tuple(next(result))
    files.add("day_=__DEFAULT_PARTITION__/c=ä b/2", second)
    two = tuple(next(result))
    result.close()

    assert (1, "a", "2024-01-02", "x/y") == one
    assert (2, None, None, "ä b") == two


def test_generated_rows(env: TableEnvironment) -> None:
    env.execute_sql(
        "CREATE TABLE g (n INT, w STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '50',"
        " 'fields.n.min' = '1', 'fields.n.max' = '3', 'fields.w.length' = '4')"
    )
    env.execute_sql(
        "CREATE TEMPORARY VIEW b AS SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS t(n, name)"
    )
    result = env.execute_sql("SELECT g.n, b.name, CHAR_LENGTH(w) FROM g LEFT JOIN b ON g.n = b.n")
    with result.collect() as arriving:
        seen = {tuple(next(arriving)) for _ in range(40)}

    assert {(1, "one", 4), (2, "two", 4), (3, None, 4)} >= seen
    assert 2 <= len(seen)


# --- checkpoints ----------------------------------------------------------------------------------


def begin_batch(directory: Directory) -> None:
    """Write what Spark writes when the first micro-batch of a query begins."""
    directory.mkdirs("query/offsets")
    directory.create("query/offsets/0", b'v1\n{"batchWatermarkMs":0}\n{"logOffset":0}')
    directory.mkdirs("query/sources/0")
    directory.create("query/sources/0/0", b'v1\n{"path":"1.csv"}')


def test_runs_that_begin_at_once(tmp_path: Path) -> None:
    directory = Directory(LocalFiles(), str(tmp_path / "job"))
    job = JobDescription("c.d.t", "digest")
    first, second, third = (checkpoint_in(directory, "job", job, creates=False) for _ in range(3))
    first.begin()
    with pytest.raises(ConflictError) as caught:
        second.begin()
    second.remove()
    text = (tmp_path / "job" / "job.json").read_text()
    begin_batch(directory)
    first.end()
    with pytest.raises(ConflictError):
        third.begin()
    third.remove()
    again = checkpoint_in(directory, "job", job, creates=False)
    again.begin()
    again.end()

    assert "lock-not-available" == caught.value.code
    assert text == (tmp_path / "job" / "job.json").read_text()
    assert first.id == again.id
    assert first.id in text


def test_a_job_that_has_read_nothing_leaves_nothing_that_others_must_delete(tmp_path: Path) -> None:
    directory = Directory(LocalFiles(), str(tmp_path / "job"))
    checkpoint_in(directory, "job", JobDescription("c.d.t", "a"), creates=True).begin()
    killed = checkpoint_in(directory, "job", JobDescription("c.d.t", "b"), creates=True)

    assert killed.is_new
    (tmp_path / "job" / ".lock").unlink()
    killed.begin()
    assert '"query": "b"' in (tmp_path / "job" / "job.json").read_text()
    killed.remove()
    assert [] == list((tmp_path / "job").iterdir())


@pytest.mark.parametrize("name", ["..", ".", "a/../b", "_a", "~", "x" * 500, "ü" * 100, " ", "a b"])
def test_directories_of_jobs_stay_below_that_of_all_checkpoints(name: str) -> None:
    folder = directory_name(name)

    assert "/" not in folder
    assert not folder.startswith((".", "_", " "))
    assert 0 < len(folder.encode()) <= 255
    assert folder != directory_name(name + "x")


def description(has_state: bool, source: str = "INT", **columns: str) -> JobDescription:
    """Return a job over a table `s` with the columns `id` of a type and `c`, and a sink."""
    sources = {"s": {"id": Stored(source, PHYSICAL), "c": Stored("INT", columns.get("c", "d"))}}
    written = {"t": {"v": Stored(columns.get("v", "STRING"), PHYSICAL)}}
    return JobDescription("t", f"{source} {columns}", "same", sources, written, has_state)


#: Whether the query has a state, its job when it starts again -> the problem; None if it continues.
SCHEMAS: list[tuple[bool, dict[str, str], str | None]] = [
    (False, {"source": "BIGINT"}, None),
    (False, {"source": "STRING"}, "'id' of s: flink does not read INT as STRING [type-changed]"),
    (False, {"source": "INT NOT NULL"}, "the rows may have NULL [nullability-narrowed]"),
    (False, {"c": "e"}, None),
    (False, {"v": "VARCHAR(3)"}, None),
    (False, {"v": "BYTES"}, "column 'v' of t: flink does not read STRING as BYTES"),
    (True, {"source": "BIGINT"}, "column 'id' of s: INT becomes BIGINT [state-type-changed]"),
    (True, {"c": "e"}, "column 'c' of s: d becomes e [plan-changed]"),
    (True, {"v": "VARCHAR(3)"}, None),
]


@pytest.mark.parametrize(("has_state", "changed", "problem"), SCHEMAS)
def test_schemas_with_which_a_job_continues(
    has_state: bool, changed: dict[str, str], problem: str | None, tmp_path: Path
) -> None:
    directory = Directory(LocalFiles(), str(tmp_path))
    first = checkpoint_in(directory, "job", description(has_state), creates=False)
    first.begin()
    begin_batch(directory)
    first.end()
    new = description(has_state, **changed)
    if problem is not None:
        with pytest.raises(ConflictError) as caught:
            checkpoint_in(directory, "job", new, creates=False)
        assert "checkpoint-mismatch" == caught.value.code
        assert problem in caught.value.problem
        return
    then = checkpoint_in(directory, "job", new, creates=False)
    then.begin()
    then.end()
    again = checkpoint_in(directory, "job", new, creates=False)

    assert (first.id, True, False) == (again.id, then.is_changed, again.is_changed)


def test_a_description_that_is_replaced_when_the_process_ends(tmp_path: Path) -> None:
    """The draft is complete when the old one is deleted."""
    directory = Directory(LocalFiles(), str(tmp_path))
    job = description(has_state=False)
    first = checkpoint_in(directory, "job", job, creates=False)
    first.begin()
    begin_batch(directory)
    first.end()
    (tmp_path / "job.json").rename(tmp_path / ".job.json")
    result = checkpoint_in(directory, "job", job, creates=False)

    assert (first.id, False) == (result.id, result.is_changed)


# --- the commit of micro-batches ------------------------------------------------------------------

JOB = "0123456789abcdef" * 2


def written(directory: Directory, number: int, name: str) -> FileStage:
    """Commit a micro-batch of one file."""
    stage = FileStage(directory, batch=Batch(JOB, number))
    stage.check()
    stage.open()
    (Path(stage.staging_directory) / name).write_text(name)
    stage.prepare()
    stage.commit()
    return stage


def test_records_of_micro_batches(tmp_path: Path) -> None:
    directory = Directory(LocalFiles(), str(tmp_path / "t"))
    written(directory, 0, "a")
    written(directory, 4, "b")
    repeated = [written(directory, number, "c") for number in (4, 3)]

    assert ["a", "b"] == [name for name, _ in directory.files()]
    assert [True, True] == [item.committed for item in repeated]
    assert 4 == last_batch(directory, JOB)
    assert [str(Batch(JOB, 4))] == sorted(path.name for path in tmp_path.glob("t/.*"))


@pytest.mark.parametrize("method", ["create", "delete"])
def test_a_record_is_written_by_the_next_job_if_the_process_ends_within_the_commit(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Directory(LocalFiles(), str(tmp_path / "t"))
    written(directory, 0, "a")
    fail: Callable[..., Any] = getattr(LocalFiles, method)

    def failing(self: LocalFiles, path: str, *args: Any) -> Any:
        if "batch-" in path:
            raise OSError("killed here")
        return fail(self, path, *args)

    with monkeypatch.context() as patch:
        patch.setattr(LocalFiles, method, failing)
        with pytest.raises(ExternalError, match="the rows are committed"):
            written(directory, 1, "b")
    written(directory, 1, "c")

    assert ["a", "b"] == [name for name, _ in directory.files()]
    assert 1 == last_batch(directory, JOB)
