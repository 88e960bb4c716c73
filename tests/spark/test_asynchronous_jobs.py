"""Jobs of Spark that run while the program goes on, and that are cancelled."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import EnvironmentSettings, TableEnvironment, TableResult
from schema_core.environment.connector import Ability
from schema_core.errors import ExternalError, SchemaError
from schema_core.pyflink.common import JobClient, JobStatus
from schema_core.pyflink.table.udf import udf
from tests.spark.conftest import FrameConnector
from tests.support import RecordingHook

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Within how many seconds a cancelled job must have ended; a quiet machine needs less than one.
SOON = 3.0
#: For how many seconds a job runs that is not cancelled, at least.
LONG = 15

#: A job of Spark's own functions that runs for more than `LONG` seconds. Only one of its tasks has
#: rows, so that other jobs find a free core: Spark would run them after it.
COUNTING = (
    "SELECT COUNT(*) AS a FROM numbers AS x, numbers AS y"
    " WHERE x.n < 50000 AND MOD(x.n * y.n, 1000003) = 7 AND SIN(x.n * y.n) > 2"
)
#: One that calls a Python function which sleeps.
SLEEPING = "SELECT pause(n, 15) AS a FROM numbers WHERE n < 3"


@udf(input_types=["BIGINT", "INT"], result_type="BIGINT")
def pause(number: int | None, seconds: int | None) -> int | None:
    import time

    time.sleep(seconds or 0)
    return number


class Hook(RecordingHook):
    """A hook that records its events and the threads that call it."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[threading.Thread] = set()

    def called(self, event: str, error: BaseException | None = None) -> None:
        self.events.append(event)
        self.threads.add(threading.current_thread())


@pytest.fixture
def hook() -> Hook:
    return Hook()


@pytest.fixture
def env(session: SparkSession, hook: Hook, tmp_path: Path) -> TableEnvironment:
    """An environment whose statements do not wait, with a table `t` that has one row."""
    environment = TableEnvironment.create(
        EnvironmentSettings.in_batch_mode(), spark=session, hooks=[hook]
    )
    environment.execute_sql(
        "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'fields.n.kind' = "
        "'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100000')"
    )
    environment.create_temporary_function("pause", pause)
    environment.execute_sql(f"CREATE TABLE t (a BIGINT) WITH ({files(tmp_path, 't')})")
    environment.execute_sql("INSERT INTO t VALUES (42)").wait()
    hook.events.clear()
    return environment


def files(folder: Path, name: str) -> str:
    return f"'connector' = 'filesystem', 'path' = '{folder / name}', 'format' = 'parquet'"


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in environment.execute_sql(query).collect())


def client_of(result: TableResult) -> JobClient:
    client = result.get_job_client()
    assert client is not None
    return client


def status(result: TableResult) -> JobStatus:
    return client_of(result).get_job_status().result()


def start(result: TableResult) -> TableResult:
    """Return the result when tasks of its job run."""
    deadline = time.monotonic() + 30
    while client_of(result).get_progress() is None:
        assert time.monotonic() < deadline
        assert status(result) in (JobStatus.CREATED, JobStatus.RUNNING)
        time.sleep(0.02)
    time.sleep(0.3)
    return result


def cancel(result: TableResult) -> None:
    """Cancel a job in time."""
    begin = time.monotonic()
    client_of(result).cancel().result(timeout=60)

    assert time.monotonic() - begin < SOON
    assert JobStatus.CANCELED is status(result)
    with pytest.raises(ExternalError) as caught:
        result.wait()
    assert ("job-canceled", "the job was cancelled") == (caught.value.code, caught.value.problem)


def left(folder: Path) -> list[str]:
    """The files of a directory, those of stages included."""
    return sorted(path.name for path in folder.rglob("*") if not path.name.endswith(".crc"))


@pytest.mark.usefixtures("classic")
@pytest.mark.parametrize("query", [COUNTING, SLEEPING], ids=["in Spark", "in Python"])
def test_a_long_insert_is_cancelled_and_leaves_the_table(
    env: TableEnvironment, hook: Hook, tmp_path: Path, query: str
) -> None:
    before = left(tmp_path / "t")
    begin = time.monotonic()
    result = env.execute_sql(f"INSERT OVERWRITE t {query}")
    assert time.monotonic() - begin < SOON
    assert [] == rows(env, "SELECT a FROM t WHERE a <> 42")
    cancel(start(result))

    assert before == left(tmp_path / "t")
    assert [(42,)] == rows(env, "SELECT a FROM t")
    assert ["created", "canceled"] == hook.events


@pytest.mark.usefixtures("classic")
@pytest.mark.parametrize("atomic", ["false", "true"])
@pytest.mark.parametrize("stages", [False, True])
def test_a_cancelled_creation_leaves_what_its_level_promises(
    env: TableEnvironment, connector: FrameConnector, tmp_path: Path, stages: bool, atomic: str
) -> None:
    env.execute_sql(f"SET 'table.rtas-ctas.atomicity-enabled' = '{atomic}'")
    connector.abilities = frozenset({Ability.OVERWRITE})
    options = files(tmp_path, "made") if stages else "'connector' = 'frames'"
    result = start(env.execute_sql(f"CREATE TABLE made WITH ({options}) AS {SLEEPING}"))
    is_there = "made" in env.list_tables()
    cancel(result)

    assert (atomic == "false" or not stages) == is_there
    assert (atomic == "false") == ("made" in env.list_tables())
    assert [] == connector.written
    assert not (tmp_path / "made").exists()


@pytest.fixture(params=["Python", "PySpark"])
def interrupted(request: pytest.FixtureRequest) -> Iterator[Callable[[float], None]]:
    """Send Ctrl-C to this process after some seconds, to the handler of Python or of PySpark."""
    before = signal.getsignal(signal.SIGINT)
    if request.param == "Python":
        signal.signal(signal.SIGINT, signal.default_int_handler)
    timers: list[threading.Timer] = []

    def send(seconds: float) -> None:
        timers.append(threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield send
    for timer in timers:
        timer.cancel()
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_in_a_statement_that_waits_cancels_its_job(
    env: TableEnvironment, hook: Hook, tmp_path: Path, interrupted: Callable[[float], None]
) -> None:
    before = left(tmp_path / "t")
    env.execute_sql("SET 'table.dml-sync' = 'true'")
    interrupted(1.5)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        env.execute_sql(f"INSERT INTO t {SLEEPING}")

    assert time.monotonic() - begin < 1.5 + SOON
    assert ["created", "canceled"] == hook.events
    assert before == left(tmp_path / "t")


@pytest.mark.usefixtures("classic")
def test_a_job_that_waits_for_another_writer_is_cancelled(
    env: TableEnvironment, tmp_path: Path
) -> None:
    options = f"'connector' = 'spark', 'format' = 'parquet', 'path' = '{tmp_path / 's'}'"
    env.execute_sql(f"CREATE TABLE s (a BIGINT) WITH ({options})")
    first = start(env.execute_sql(f"INSERT INTO s {SLEEPING}"))
    second = env.execute_sql("INSERT INTO s VALUES (1)")
    with pytest.raises(ExternalError) as caught:
        second.wait(timeout_ms=300)
    cancel(second)
    assert JobStatus.RUNNING is status(first)
    cancel(first)

    assert "wait-timeout" == caught.value.code
    env.execute_sql("INSERT INTO s VALUES (7)").wait()
    assert [(7,)] == rows(env, "SELECT a FROM s")


def test_a_job_is_not_affected_by_what_its_environment_does_meanwhile(
    env: TableEnvironment, session: SparkSession, tmp_path: Path
) -> None:
    texts = files(tmp_path, "texts")
    env.execute_sql("SET 'table.local-time-zone' = 'Asia/Tokyo'")
    env.execute_sql(f"CREATE TABLE texts (a BIGINT, s STRING) WITH ({texts})")
    instant = "CAST(CAST(TO_TIMESTAMP_LTZ(0, 3) AS TIMESTAMP_LTZ(0)) AS STRING)"
    slow = env.execute_sql(
        f"INSERT INTO texts SELECT pause(n, 2), {instant} FROM numbers WHERE n < 3"
    )
    other = env.execute_sql(f"INSERT INTO texts SELECT CAST(a AS BIGINT), {instant} FROM t")
    env.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    third = env.execute_sql(f"INSERT INTO texts SELECT CAST(7 AS BIGINT), {instant}")
    env.drop_temporary_function("pause")
    env.execute_sql("DROP TABLE texts")
    env.execute_sql("DROP TABLE numbers")
    assert [(42,)] == rows(env, "SELECT a FROM t")
    assert JobStatus.FINISHED is not status(slow)
    for result in (third, other, slow):
        result.wait()

    env.execute_sql(f"CREATE TABLE again (a BIGINT, s STRING) WITH ({texts})")
    tokyo, utc = "1970-01-01 09:00:00", "1970-01-01 00:00:00"
    assert [(1, tokyo), (2, tokyo), (7, utc), (42, tokyo)] == rows(env, "SELECT a, s FROM again")


def test_jobs_into_one_table_keep_all_rows(env: TableEnvironment, hook: Hook) -> None:
    results = [env.execute_sql(f"INSERT INTO t VALUES ({number})") for number in range(4)]
    inserts = env.create_statement_set()
    for number in (10, 11):
        inserts.add_insert_sql(f"INSERT INTO t VALUES ({number})")
    results.append(inserts.execute())
    for result in results:
        columns = 2 if result is results[-1] else 1
        assert [(-1,) * columns] == [tuple(row) for row in result.collect()]

    assert [(0,), (1,), (2,), (3,), (10,), (11,), (42,)] == rows(env, "SELECT a FROM t")
    assert (5, 5) == (hook.events.count("created"), hook.events.count("finished"))
    assert threading.main_thread() not in hook.threads


def test_a_statement_set_commits_nothing_if_one_of_its_statements_fails(
    env: TableEnvironment, hook: Hook, tmp_path: Path
) -> None:
    env.execute_sql(f"CREATE TABLE u (a BIGINT) WITH ({files(tmp_path, 'u')})")
    inserts = env.create_statement_set().add_insert_sql("INSERT OVERWRITE t VALUES (1)")
    inserts.add_insert_sql("INSERT INTO u SELECT 1 / (a - 42) FROM t")
    result = inserts.execute()
    with pytest.raises(ExternalError, match="division by zero"):
        result.wait()

    assert [(42,)] == rows(env, "SELECT a FROM t")
    assert ["created", "failed"] == hook.events
    refused = env.create_statement_set().add_insert_sql("INSERT INTO u VALUES (1)")
    wrong = f"{files(tmp_path, 'w')}, 'sink.parallelism' = 'two'"
    env.execute_sql(f"CREATE TABLE w (a BIGINT) WITH ({wrong})")
    refused.add_insert_sql("INSERT INTO w VALUES (2)")
    with pytest.raises(SchemaError):
        refused.execute()
    assert [] == left(tmp_path / "u")
    assert ["created", "failed"] == hook.events


def test_errors_known_before_the_job_are_raised_at_once_and_others_by_wait(
    env: TableEnvironment, hook: Hook
) -> None:
    for statement in ("INSERT INTO t SELECT b FROM t", "INSERT INTO t SELECT 'x', 1"):
        with pytest.raises(SchemaError):
            env.execute_sql(statement)
    assert [] == hook.events

    result = env.execute_sql("INSERT INTO t SELECT 1 / (a - 42) FROM t")
    errors = []
    for call in (result.wait, result.print, lambda: list(result.collect())):
        with pytest.raises(ExternalError) as caught:
            call()
        errors.append(caught.value)
    (error,) = set(errors)
    assert ("job-failed", "the job failed: division by zero") == (error.code, error.problem)
    assert ("write table default_catalog.default_database.t",) == error.path
    assert "INSERT INTO t" in str(error)
    assert JobStatus.FAILED is status(result)


def test_the_engine_shows_the_name_of_the_pipeline(
    env: TableEnvironment, session: SparkSession
) -> None:
    context = session.sparkContext

    def shown(result: TableResult) -> set[str]:
        client = client_of(result)
        client.wait()
        results = context.statusTracker().getJobIdsForGroup(client.get_job_id())
        store = context._jsc.sc().statusStore()
        return {store.job(item).description().get() for item in results}

    insert = "INSERT INTO t SELECT a + 1 FROM t"
    named = "insert into default_catalog.default_database.t"
    assert {named} == shown(env.execute_sql(insert))
    env.execute_sql("SET 'pipeline.name' = 'nightly load'")
    assert {"nightly load"} == shown(env.execute_sql(insert))


def test_a_job_has_the_local_properties_of_the_thread_that_executes_it(
    env: TableEnvironment, session: SparkSession, connector: FrameConnector
) -> None:
    context, result = session.sparkContext, []
    keys = ("spark.scheduler.pool", "spark.jobGroup.id")

    def frame(given: SparkSession) -> object:
        return given.range(0)

    class Hooked(Hook):
        def on_finished(self, job_id: str) -> None:
            result.append([context.getLocalProperty(key) for key in keys])

    connector.frame = frame
    context.setLocalProperty("spark.scheduler.pool", "mine")
    context.setJobGroup("of the user", "x")
    try:
        pipeline = env.sql_query("SELECT 1 AS a").save_as("made").option("connector", "frames")
        pipeline.create().register_job_status_hook(Hooked()).execute().wait()
        assert [["mine", "of the user"]] == result
        assert "of the user" == context.getLocalProperty("spark.jobGroup.id")
    finally:
        for key in (*keys, "spark.job.description", "spark.job.interruptOnCancel"):
            context.setLocalProperty(key, None)  # type: ignore[arg-type, unused-ignore]
