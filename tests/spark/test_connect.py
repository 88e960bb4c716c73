"""Jobs over Spark Connect return what they return in a SparkContext of this process.

`pytest --connect tests/spark` runs all tests of jobs over Spark Connect.
"""

from __future__ import annotations

import datetime as dt
import gc
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.expressions import col
from schema_core.expressions.user_functions import udaf, udf, udtf
from schema_core.pyflink.common import Row
from schema_core.pyflink.programs import map_imports
from schema_core.schema.unresolved import Schema
from schema_core.spark.commit.commit import PREFIX
from schema_core.spark.session.worker_package import package_zip
from tests.spark.cluster_program import Doubled, Longest, letters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PEOPLE = pa.table({"id": [1, 2, 3], "name": ["Ann", None, "Bob"]})


def environment_of(session: SparkSession) -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    environment.get_config().set("table.dml-sync", "true")
    for name, function in {
        "twice": udf(Doubled(), ["INT"], "INT"),
        "series": udf(lambda item: item + 10, ["INT"], "INT", func_type="pandas"),
        "letters": udtf(letters, ["STRING"], ["STRING"]),
        "longest": udaf(Longest(), ["STRING"], "STRING"),
        "slow": udf(slow, ["INT"], "INT"),
    }.items():
        environment.create_temporary_function(name, function)
    environment.create_temporary_view("people", PEOPLE)
    return environment


def slow(number: int) -> int:
    time.sleep(60)
    return number


#: Executed in order; what each returns is compared. ``$f`` is a directory of the mode.
QUERIES = """
SELECT 1, 'a', TIME '01:02:03', DATE '2020-01-01', CAST(NULL AS INT), 1.50;
SELECT a, COUNT(*), SUM(b) FROM (VALUES (1, 2), (1, 3), (2, 4)) AS t (a, b) GROUP BY a;
SELECT JSON_VALUE('{"a": 1}', '$.a'), LPAD(x, 3, 'é') FROM (VALUES ('x'), ('y')) AS t (x);
SELECT ARRAY[1, 2], MAP['k', 1], ROW(1, 'x'), TO_TIMESTAMP_LTZ(0, 3), X'0a';
SELECT * FROM people WHERE id > 1;
SELECT id, twice(id), series(id) FROM (SELECT CAST(id AS INT) AS id FROM people) ORDER BY id;
SELECT id, word FROM people, LATERAL TABLE(letters(name)) AS t (word) WHERE name = 'Bob';
SELECT longest(name) FROM people WHERE name IS NOT NULL;
SELECT * FROM people UNPIVOT (v FOR k IN (name, name AS 'again')) ORDER BY id, k;
SELECT * FROM (SELECT id, name, TO_TIMESTAMP_LTZ(id, 0) AS at_ FROM people) MATCH_RECOGNIZE (
  ORDER BY at_ MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS B.id > A.id);
SELECT 1 / (id - 1) FROM people;
SELECT CAST('x' AS INT)
"""
FILES = """
CREATE TABLE p (
  a INT NOT NULL, b STRING, c TIMESTAMP(3), d AS a * 2, f STRING METADATA FROM 'file.name' VIRTUAL
) WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '$f/p');
INSERT INTO p (a, b, c)
  VALUES (1, 'x', TIMESTAMP '2020-01-01 00:00:00.123'), (2, '', TIMESTAMP '2022-01-01 00:00:00');
SELECT a, b, c, d FROM p WHERE d > 2 OR c < TIMESTAMP '2021-01-01 00:00:00' ORDER BY a;
INSERT OVERWRITE p (a, b) SELECT twice(a), b FROM p;
SELECT a, b, c, d, f LIKE 'part-%' FROM p ORDER BY a
"""
FURTHER = """
CREATE TABLE p (a INT NOT NULL, b STRING, d AS a * 2)
  WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '$f/p');
INSERT INTO p VALUES (2, 'x'), (4, '');
CREATE TABLE j (a INT, b ROW<x INT>) PARTITIONED BY (a)
  WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '$f/j');
INSERT INTO j PARTITION (a = 7) SELECT ROW(a) FROM p;
SELECT * FROM j WHERE a = 7;
CREATE TABLE c WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '$f/c')
  AS SELECT a, b FROM p WHERE b <> '';
SELECT * FROM c;
INSERT INTO c VALUES (3, 'a "quoted" one'), (4, 'lines,
of text');
SELECT * FROM c;
CREATE TABLE s WITH ('connector' = 'spark', 'format' = 'parquet', 'path' = '$f/s')
  AS SELECT a, b FROM p;
INSERT OVERWRITE s SELECT a + 1, b FROM s;
SELECT * FROM s;
CREATE TABLE st (a INT) WITH ('connector' = 'spark', 'format' = 'nope');
SELECT * FROM st;
CREATE TABLE o WITH ('connector' = 'filesystem', 'format' = 'orc', 'path' = '$f/o')
  AS SELECT a, TIMESTAMP '2020-01-01 00:00:00' AS t FROM p;
SELECT * FROM o;
SET 'table.rtas-ctas.atomicity-enabled' = 'true';
CREATE TABLE whole WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '$f/whole')
  AS SELECT a, d FROM p;
CREATE OR REPLACE TABLE whole
  WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '$f/whole') AS SELECT d FROM p;
SELECT * FROM whole;
CREATE TABLE failed WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '$f/failed')
  AS SELECT 1 / (a - 2) AS x FROM p;
SHOW TABLES;
CREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
SELECT COUNT(*) FROM g;
CREATE TABLE absent (a INT)
  WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '$f/absent');
SELECT * FROM absent;
CREATE TABLE wrong (a STRING)
  WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '$f/p');
SELECT * FROM wrong
"""
#: Name -> script, and whether `make test` leaves it out.
SCRIPTS = {"queries": (QUERIES, False), "files": (FILES, False), "further": (FURTHER, True)}


def outcome(action: Callable[[], Any]) -> Any:
    """Return the result of an action, or the code and problem of its error."""
    try:
        return action()
    except SchemaCoreError as error:
        return error.code, error.problem


def executed(environment: TableEnvironment, statement: str) -> list[str]:
    return sorted(map(str, environment.execute_sql(statement).collect()))


def outcomes(environment: TableEnvironment, script: str, folder: Path) -> list[tuple[str, str]]:
    """Return statements and what they return, without the directory and the names of files."""
    result = []
    for statement in script.strip().split(";\n"):
        rows = outcome(partial(executed, environment, statement.replace("$f", str(folder))))
        result.append((statement, re.sub(r"part-[\w.-]+", "", str(rows).replace(str(folder), ""))))
    return result


@pytest.fixture(scope="module")
def over_connect(remote: SparkSession) -> TableEnvironment:
    return environment_of(remote)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, marks=[pytest.mark.slow] * is_slow, id=name)
        for name, (script, is_slow) in SCRIPTS.items()
    ],
)
def test_statements_return_the_same_in_both_modes(
    session: SparkSession, remote: SparkSession, tmp_path: Path, script: str
) -> None:
    folders = [tmp_path / name for name in ("classic", "connect")]
    classic, connect = (
        outcomes(environment_of(each), script, folder)
        for each, folder in zip((session, remote), folders, strict=True)
    )

    assert classic == connect
    assert [[], []] == [[path.name for path in each.rglob(f"{PREFIX}*")] for each in folders]


@pytest.mark.slow
def test_an_absent_broker_fails_in_both_modes(
    session: SparkSession, over_connect: TableEnvironment
) -> None:
    """A broker is waited for a minute."""
    definition = (
        "CREATE TABLE k (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',"
        " 'properties.bootstrap.servers' = '127.0.0.1:9',"
        " 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset')"
    )
    results = []
    for environment in (environment_of(session), over_connect):
        environment.execute_sql(definition)
        results.append(outcome(partial(executed, environment, "SELECT * FROM k")))

    assert results[0] == results[1]
    assert "127.0.0.1:9" in str(results[0])


def test_rows_are_returned_as_arrow_and_pandas(over_connect: TableEnvironment) -> None:
    table = over_connect.sql_query("SELECT id, CAST(id AS DECIMAL(5, 2)) AS d FROM people")
    expected = [(1, "1.00"), (2, "2.00"), (3, "3.00")]

    arrow = table.to_arrow().read_all().to_pylist()
    assert expected == [(item["id"], str(item["d"])) for item in arrow]
    assert expected == [(row.id, str(row.d)) for row in table.to_pandas().itertuples()]


def test_explain_shows_the_plans_of_spark(over_connect: TableEnvironment) -> None:
    text = over_connect.explain_sql("SELECT COUNT(*) FROM people")

    assert "== Physical Plan ==" in text


#: What needs the JVM -> its part of the problem.
REFUSED: dict[str, Callable[[TableEnvironment], object]] = {
    "a DataFrame of this process": lambda item: item.from_spark(local_frame()).execute().print(),
    "a DataFrame with Python functions and another time zone": lambda item: (
        item.from_spark(zoned_frame(item)).execute().print()
    ),
    "the connector 'jdbc' with MySQL": lambda item: table(
        item, "'connector' = 'jdbc', 'url' = 'jdbc:mysql://h/d', 'table-name' = 't'"
    ),
    "path 's3a://bucket/t'": lambda item: table(
        item, "'connector' = 'filesystem', 'format' = 'json', 'path' = 's3a://bucket/t'"
    ),
}


def local_frame() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.active().range(1)


def zoned_frame(environment: TableEnvironment) -> Any:
    """Return a frame of another session and time zone that calls Python."""
    planner: Any = environment._session.planner
    other = planner.session.newSession()
    other.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    return other.range(1).mapInArrow(lambda batches: batches, "id BIGINT")


def table(environment: TableEnvironment, options: str) -> None:
    environment.execute_sql(f"CREATE TEMPORARY TABLE t (a INT) WITH ({options})")
    try:
        environment.execute_sql("SELECT * FROM t").print()
    finally:
        environment.execute_sql("DROP TEMPORARY TABLE t")


@pytest.mark.parametrize("what", REFUSED)
def test_what_needs_the_jvm_is_refused(over_connect: TableEnvironment, what: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        REFUSED[what](over_connect)

    assert ("not-over-connect", f"{what}: not available over Spark Connect") == (
        caught.value.code,
        caught.value.problem,
    )


def test_a_job_is_interrupted_and_leaves_nothing(
    over_connect: TableEnvironment, tmp_path: Path
) -> None:
    over_connect.execute_sql(
        "CREATE TEMPORARY TABLE cut (a INT)"
        f" WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/t')"
    )
    over_connect.get_config().set("table.dml-sync", "false")
    try:
        client = over_connect.execute_sql("INSERT INTO cut SELECT slow(1)").get_job_client()
    finally:
        over_connect.get_config().set("table.dml-sync", "true")
    assert client is not None
    time.sleep(1)
    began = time.monotonic()
    client.cancel().result(30)

    assert "CANCELED" == client.get_job_status().result().name
    assert time.monotonic() - began < 20
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_settings_of_the_user_are_not_changed(
    remote: SparkSession, over_connect: TableEnvironment
) -> None:
    def settings() -> dict[str, str]:
        return {row["key"]: row["value"] for row in remote.sql("SET").collect()}

    before = settings()
    over_connect.get_config().set("table.local-time-zone", "Asia/Tokyo")
    over_connect.execute_sql("SELECT * FROM people").print()
    over_connect.get_config().set("table.local-time-zone", "UTC")

    assert before == settings()
    assert "true" == remote.conf.get("spark.sql.ansi.enabled")


def test_the_names_of_queries_are_dropped_when_their_results_end(
    over_connect: TableEnvironment,
) -> None:
    planner: Any = over_connect._session.planner

    def names() -> set[str]:
        jobs = planner.session
        functions = {row[0] for row in jobs.sql("SHOW USER FUNCTIONS").collect()}
        return functions | {table.name for table in jobs.catalog.listTables() if table.isTemporary}

    over_connect.execute_sql("SELECT 1").print()
    before = names()
    kept = over_connect.execute_sql("SELECT twice(1), id FROM people")
    during = names()
    kept.print()
    del kept
    over_connect.execute_sql("SELECT 1").print()

    assert before < during
    assert before == names()


def test_a_stopped_session_is_noticed(remote: SparkSession) -> None:
    root = remote.newSession()
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=root)
    environment.execute_sql("SELECT 1").print()
    root.stop()
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("SELECT 2")

    assert "spark-session-stopped" == caught.value.code


def test_a_server_with_other_files_is_refused(
    remote: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def of_this_process(*_: object, **__: object) -> Iterator[Any]:
        with (tmp_path / "ours").open("w") as file:
            yield SimpleNamespace(name=f"{tmp_path}/theirs", write=file.write, flush=file.flush)

    monkeypatch.setattr("schema_core.spark.commit.file_systems.NamedTemporaryFile", of_this_process)
    monkeypatch.setattr("os.chmod", lambda *_: None)
    path = f"'path' = '{tmp_path}/t'"
    with pytest.raises(SchemaCoreError) as caught:
        table(environment_of(remote), f"'connector' = 'filesystem', 'format' = 'json', {path}")

    assert ("not-over-connect", True) == (caught.value.code, "other files" in str(caught.value))


#: A program whose job fails, and which stops no session.
FAILED = """
import sys
from pyspark.sql import SparkSession
from schema_core import EnvironmentSettings, TableEnvironment

spark = SparkSession.builder.remote(sys.argv[1]).create()
environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=spark)
environment.execute_sql(
    "CREATE TABLE s (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')"
)
environment.execute_sql("CREATE TABLE t (id BIGINT) WITH ('connector' = 'print')")
environment.execute_sql("INSERT INTO t SELECT 1 / (id - id) FROM s").wait()
"""


def test_a_program_ends_after_its_job_has_failed(remote: SparkSession) -> None:
    client: Any = remote.client
    command = [sys.executable, "-c", FAILED, f"sc://{client._builder.endpoint}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert (1, True) == (done.returncode, "division by zero" in done.stderr), done.stderr


# --- DataFrames of other sessions ----------------------------------------------------------------


def views(session: SparkSession) -> list[str]:
    """Return the names of our global temporary views."""
    shown = session.sql("SHOW VIEWS IN global_temp").collect()
    return [row["viewName"] for row in shown if "shared" in row["viewName"]]


def test_dataframes_are_exchanged_with_the_session_of_the_user(remote: SparkSession) -> None:
    root = remote.newSession()
    root.conf.set("spark.sql.ansi.enabled", "true")
    root.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    environment = environment_of(root)
    given = root.sql(
        "SELECT timestamp'2020-01-01 05:00:00' AS t, 1 AS `Größe`, CAST(NULL AS INT) n"
    )
    given.createOrReplaceTempView("of_the_user")

    table = environment.from_spark(root.table("of_the_user"))
    frame = table.to_spark()

    assert given.collect() == frame.collect() == frame.where("n IS NULL").collect()
    assert table.get_resolved_schema() == environment.from_spark(frame).get_resolved_schema()
    expected = dt.datetime(2019, 12, 31, 20, tzinfo=dt.UTC)
    assert [(expected, 1, None)] == list(table.execute().rows)
    failing = root.sql("SELECT CAST(concat('x', id) AS INT) AS a FROM range(1)")
    with pytest.raises(ExternalError):
        list(environment.from_spark(failing).execute().rows)
    root.stop()


def test_views_of_exchanged_dataframes_end_with_them(
    remote: SparkSession, over_connect: TableEnvironment
) -> None:
    before = set(views(remote))
    frame = over_connect.sql_query("SELECT 1 AS a").to_spark()
    derived = frame.selectExpr("a + 1 AS b")
    (name,) = set(views(remote)) - before
    del frame
    gc.collect()

    over_connect.from_spark(remote.range(1)).execute().print()
    assert name in views(remote)
    assert [(2,)] == derived.collect()
    del derived
    gc.collect()
    over_connect.from_spark(remote.range(1)).execute().print()
    assert name not in views(remote)


#: A row of all types, without NULL but in the last column, whose first element is NULL.
NOT_NULL = """
SELECT CAST(1 AS TINYINT), CAST(1 AS SMALLINT), 1, CAST(1 AS BIGINT), CAST(1 AS FLOAT), 1.5e0, 1.50,
CAST(1 AS DECIMAL(38, 0)), CAST(0.1 AS DECIMAL(3, 3)), TRUE, 'a', X'0a', DATE '2020-01-01',
TIME '01:02:03', TIMESTAMP '2020-01-01 01:02:03',
CAST(TIMESTAMP '2020-01-01 01:02:03' AS TIMESTAMP_LTZ(3)), INTERVAL '1' DAY,
INTERVAL '1-2' YEAR TO MONTH, ARRAY[1, 2], MAP['k', ARRAY[1]], ROW(1, ROW('x', ARRAY[ROW(TRUE)])),
ARRAY[CAST(NULL AS ROW<a INT NOT NULL>), CAST(ROW(1) AS ROW<a INT NOT NULL>)]
"""


def test_not_null_is_kept_at_every_depth(over_connect: TableEnvironment) -> None:
    table = over_connect.sql_query(NOT_NULL)
    frame = table.to_spark()
    schema = table.get_resolved_schema()

    assert schema == over_connect.from_spark(frame).get_resolved_schema()
    assert not any(data_type.is_nullable for data_type in schema.get_column_data_types())
    assert list(table.execute().rows) == list(over_connect.from_spark(frame).execute().rows)


def test_a_variant_that_is_not_null_is_exchanged(over_connect: TableEnvironment) -> None:
    """PySpark compares values of VARIANT by identity."""
    table = over_connect.sql_query("SELECT PARSE_JSON('[1]') AS v")
    read = over_connect.from_spark(table.to_spark())

    (type_,) = read.get_resolved_schema().get_column_data_types()
    assert "VARIANT NOT NULL" == str(type_)
    assert ["[1]"] == [str(row[0]) for row in read.execute().rows]


# --- streaming jobs ------------------------------------------------------------------------------


@pytest.fixture
def stream(remote: SparkSession, tmp_path: Path) -> TableEnvironment:
    return streaming(remote, tmp_path)


def streaming(session: SparkSession, folder: Path) -> TableEnvironment:
    """Return an environment with an unbounded table `s` of csv files and tables of files."""
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    made.execute_sql(f"SET 'execution.checkpointing.dir' = '{folder / 'checkpoints'}'")
    (folder / "s").mkdir(exist_ok=True)
    files = "'connector' = 'filesystem', 'path' = '{}', 'format' = '{}'"
    for name, columns, form, more in (
        ("s", "a INT, b STRING", "csv", ", 'source.monitor-interval' = '50 ms'"),
        ("t", "a INT, b STRING", "parquet", ""),
        ("n", "n BIGINT NOT NULL", "json", ""),
    ):
        options = files.format(folder / name, form) + more
        made.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({options})")
    return made


def added(folder: Path, name: str, text: str) -> None:
    (folder / f".{name}").write_text(text)
    (folder / f".{name}").rename(folder / name)


def until(environment: TableEnvironment, query: str, count: int) -> list[str]:
    """Return the rows of a bounded table once it has as many."""
    for _ in range(600):
        with suppress(ExternalError):  # there is no directory before the first micro-batch
            if len(result := executed(environment, query)) >= count:
                return result
        time.sleep(0.1)
    raise AssertionError(f"fewer than {count} rows: {query}")


def test_a_streaming_job_writes_rows_once_and_continues(
    stream: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package_zip()  # its directory is of this process, and not of the job
    (tmp_path / "batches").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "batches"))
    statement = "INSERT INTO t SELECT a, UPPER(b) FROM s WHERE a > 0"
    added(tmp_path / "s", "1", '1,"x\ny"\n-1,z\n')
    first = stream.execute_sql(statement).get_job_client()
    assert first is not None
    assert ["<Row(1, 'X\\nY')>"] == until(stream, "SELECT * FROM t", 1)
    first.cancel().result(60)
    assert "CANCELED" == first.get_job_status().result().name
    added(tmp_path / "s", "2", "2,c\n")
    second = stream.execute_sql(statement).get_job_client()
    assert second is not None
    try:
        assert ["<Row(1, 'X\\nY')>", "<Row(2, 'C')>"] == until(stream, "SELECT * FROM t", 2)
    finally:
        second.cancel().result(60)
    assert [] == list((tmp_path / "batches").iterdir())


#: A program whose job waits for rows.
WAITING = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from tests.spark.test_connect import streaming

session = SparkSession.builder.remote(sys.argv[1]).create()
streaming(session, Path(sys.argv[2])).execute_sql("INSERT INTO t SELECT a, b FROM s").wait()
"""


def test_a_job_continues_after_its_program_was_killed(
    remote: SparkSession, stream: TableEnvironment, tmp_path: Path
) -> None:
    """The server goes on to run a query that waits for rows: it has not noticed the end."""
    client: Any = remote.client
    endpoint = f"sc://{client._builder.endpoint}"
    added(tmp_path / "s", "1", "1,a\n")
    process = subprocess.Popen([sys.executable, "-c", WAITING, endpoint, str(tmp_path)], cwd=ROOT)
    until(stream, "SELECT * FROM t", 1)
    time.sleep(1)  # the next micro-batch waits
    process.kill()
    process.wait()

    job = stream.execute_sql("INSERT INTO t SELECT a, b FROM s").get_job_client()
    assert job is not None
    added(tmp_path / "s", "2", "2,b\n")
    try:
        assert ["<Row(1, 'a')>", "<Row(2, 'b')>"] == until(stream, "SELECT * FROM t", 2)
    finally:
        job.cancel().result(60)


def test_a_streaming_job_ends_with_the_error_of_a_micro_batch(
    stream: TableEnvironment, tmp_path: Path
) -> None:
    job = stream.execute_sql("INSERT INTO n SELECT NULLIF(a, 7) FROM s").get_job_client()
    assert job is not None
    added(tmp_path / "s", "1", "7,x\n")
    with pytest.raises(SchemaCoreError, match="column 'n' is NOT NULL"):
        job.get_job_execution_result().result(60)

    assert "FAILED" == job.get_job_status().result().name


def test_rows_of_a_streaming_query_arrive_as_changes(
    stream: TableEnvironment, tmp_path: Path
) -> None:
    added(tmp_path / "s", "1", "1,x\n2,x\n3,y\n")
    with stream.execute_sql("SELECT b, b, COUNT(*) FROM s GROUP BY b").collect() as rows:
        result = [next(rows) for _ in range(2)]
        added(tmp_path / "s", "2", "4,x\n")
        changes = [next(rows) for _ in range(2)]

    def shown(one: Row) -> tuple[str, *tuple[Any, ...]]:
        return str(one.get_row_kind()), *one

    assert {("+I", "x", "x", 2), ("+I", "y", "y", 1)} == set(map(shown, result))
    assert [("-U", "x", "x", 2), ("+U", "x", "x", 3)] == list(map(shown, changes))


@pytest.mark.slow
def test_a_streaming_data_frame_is_an_unbounded_table(remote: SparkSession, tmp_path: Path) -> None:
    """Its watermark is that of the table."""
    for number, rows in enumerate(([("a", 0), ("b", 1), ("a", 12)], [("a", 25), ("b", 3)])):
        lines = [f'{{"k": "{k}", "ts": "2020-01-01T00:00:{at:02}Z"}}' for k, at in rows]
        (tmp_path / f"{number}.json").write_text("\n".join(lines))
    frame = remote.readStream.schema("k STRING, ts TIMESTAMP").json(str(tmp_path))
    late = frame.withWatermark("ts", "3 seconds")
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=remote)
    builder = Schema.new_builder().column("k", "STRING")
    own = builder.column_by_metadata("t", "TIMESTAMP_LTZ(3)", "rowtime")
    schema = own.watermark("t", "SOURCE_WATERMARK()").build()
    env.create_temporary_view("v", late.where(late["k"] != "c").select("*"), schema)

    windows = env.execute_sql(
        "SELECT k, COUNT(*) FROM TUMBLE(TABLE v, DESCRIPTOR(t), INTERVAL '10' SECOND)"
        " GROUP BY k, window_start, window_end"
    )

    with windows.collect() as result:
        assert [["a", 1], ["a", 1], ["b", 2]] == sorted(list(row) for row in islice(result, 3))


@pytest.mark.slow
def test_workers_import_pyflink_for_a_stream(
    remote: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def describe(key: str) -> str:
        from pyflink.table import DataTypes  # type: ignore[import-not-found,unused-ignore]

        return f"{key} {DataTypes.INT()}"

    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("PYTHONPATH", "")
    map_imports(override=True)
    (tmp_path / "1.json").write_text('{"k": "a"}\n{"k": "b"}')
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=remote)
    frame = remote.readStream.schema("k STRING").json(str(tmp_path))
    described = udf(describe, result_type="STRING")

    table = env.from_spark(frame).select(described(col("k")))

    with table.execute().collect() as result:
        assert {"a INT", "b INT"} == {row[0] for row in islice(result, 2)}
