"""Jobs change neither the user's Spark session nor their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError
from schema_core.expressions.user_functions import udf
from schema_core.spark.jobs import jvm_errors, spark_errors
from schema_core.spark.planner import SparkPlanner
from schema_core.spark.session.api_mode import is_alive
from schema_core.spark.session.session import JobSession, _umask_setting
from tests.spark.conftest import FrameConnector
from tests.support import RecordingHook

CREATE = "CREATE TABLE {name} (a INT NOT NULL) WITH ('connector' = 'frames')"


def names(session: SparkSession) -> set[str]:
    """The temporary views and functions of a session."""
    views = {table.name for table in session.catalog.listTables() if table.isTemporary}
    functions = session.sql("SHOW USER FUNCTIONS").collect()
    return views | {row[0] for row in functions}


def job_session(environment: TableEnvironment) -> SparkSession:
    """The session that the jobs of an environment run in."""
    return cast("SparkPlanner", environment._session.planner).session


@pytest.fixture
def leaves_nothing(environment: TableEnvironment, classic: None) -> Iterator[None]:
    before = names(job_session(environment))
    yield
    assert before == names(job_session(environment))


@pytest.fixture
def tables(environment: TableEnvironment, connector: FrameConnector) -> TableEnvironment:
    connector.frame = lambda given: given.sql("SELECT CAST(id AS INT) AS a FROM range(5)")
    for name in ("t", "u"):
        environment.execute_sql(CREATE.format(name=name))
    environment.create_temporary_function("next", udf(lambda a: a + 1, ["INT"], "INT"))
    return environment


def fails(action: Callable[[], object]) -> None:
    with pytest.raises(SchemaCoreError):
        action()


def partially(environment: TableEnvironment) -> None:
    rows = environment.execute_sql("SELECT next(a) FROM t").collect()
    next(iter(rows))


#: What a job may do, from the first statement to the last row or the first error.
JOBS: dict[str, Callable[[TableEnvironment], object]] = {
    "all rows": lambda e: list(e.execute_sql("SELECT next(t.a) FROM t, u").collect()),
    "some rows": partially,
    "no row": lambda e: e.execute_sql("SELECT next(a) FROM t"),
    "insert": lambda e: e.execute_sql("INSERT INTO u SELECT next(a) FROM t"),
    "create as": lambda e: e.execute_sql(
        "CREATE TABLE w WITH ('connector' = 'frames') AS SELECT next(a) AS a FROM t"
    ),
    "explain": lambda e: e.explain_sql("SELECT next(a) FROM t"),
    "fails when it runs": lambda e: fails(
        lambda: list(e.execute_sql("SELECT 1 / (next(a) - 1) FROM t").collect())
    ),
    "fails when it writes": lambda e: fails(
        lambda: e.execute_sql("INSERT INTO u SELECT CAST(NULL AS INT) + next(a) FROM t")
    ),
    "is refused after its first scan": lambda e: fails(
        lambda: e.execute_sql("SELECT next(t.a), x.a FROM t, absent AS x")
    ),
}


@pytest.mark.usefixtures("leaves_nothing")
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_a_job_drops_its_temporary_names(
    tables: TableEnvironment, job: Callable[[TableEnvironment], object]
) -> None:
    job(tables)


@pytest.mark.usefixtures("leaves_nothing")
def test_a_query_that_cannot_be_compiled_drops_its_temporary_names(
    tables: TableEnvironment, connector: FrameConnector
) -> None:
    good, bad = connector.frame, [False]

    def frame(session: SparkSession) -> object:
        bad.append(True)
        return good(session) if len(bad) == 2 else None

    connector.frame = frame
    fails(lambda: tables.execute_sql("SELECT next(t.a) FROM t, u"))

    assert 3 == len(bad)


def test_the_session_of_the_user_is_never_changed(tmp_path: Path) -> None:
    program = Path(__file__).with_name("user_program.py")
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert "done" == done.stdout.strip(), done.stderr[-4000:]


@pytest.mark.parametrize("setting", ["ignoreCorruptFiles", "ignoreMissingFiles"])
def test_no_setting_of_the_process_skips_files(
    session: SparkSession, tmp_path: Path, setting: str
) -> None:
    """Settings that Spark was started with do not make a job skip files that it cannot read."""
    (tmp_path / "good.json").write_text('{"a": 1}\n')
    (tmp_path / "rows.json.gz").write_bytes(b"not compressed")
    process = session.sparkContext._jsc.sc().conf()
    key = f"spark.sql.files.{setting}"
    process.set(key, "true")
    try:
        assert "true" == session.newSession().conf.get(key)
        environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
        environment.execute_sql(
            "CREATE TABLE t (a INT) WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
        )

        with pytest.raises(ExternalError, match="gzip"):
            list(environment.execute_sql("SELECT * FROM t").collect())
        assert "false" == job_session(environment).conf.get(key)
    finally:
        process.remove(key)


def test_environments_have_sessions_of_their_own(session: SparkSession) -> None:
    settings = EnvironmentSettings.in_batch_mode()
    given, other = (TableEnvironment.create(settings, spark=session) for _ in range(2))
    without = TableEnvironment.create(settings)
    sessions = [job_session(item) for item in (given, other, without)]

    assert 4 == len({id(item) for item in (session, *sessions)})
    assert {id(session.sparkContext)} == {id(session.sparkContext) for session in sessions}
    assert sessions[0] is job_session(given)


def test_environments_of_one_process_have_time_zones_of_their_own(session: SparkSession) -> None:
    zones = {"UTC": "00:00", "Asia/Tokyo": "09:00", "America/New_York": "19:00"}
    before = {row["key"]: row["value"] for row in session.sql("SET").collect()}
    together = Barrier(len(zones))

    def clock(zone: str) -> str:
        environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
        environment.get_config().set("table.local-time-zone", zone)
        environment.create_temporary_function(
            "hour_of", udf(lambda at: f"{at:%H:%M}", ["TIMESTAMP_LTZ(3)"], "STRING")
        )
        together.wait(60)
        query = "SELECT hour_of(a), DATE_FORMAT(a, 'HH:mm') FROM (VALUES (TO_TIMESTAMP_LTZ(0, 3)))"
        ((of_python, of_spark),) = environment.execute_sql(f"{query} AS t (a)").collect()
        assert of_python == of_spark
        return str(of_spark)

    with ThreadPoolExecutor(len(zones)) as pool:
        assert [*zones.values()] == list(pool.map(clock, zones))
    assert before == {row["key"]: row["value"] for row in session.sql("SET").collect()}


def test_only_a_spark_session_is_accepted() -> None:
    wrong: Any = "local[2]"
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=wrong)
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql("SELECT 1")

    assert "invalid-argument" == caught.value.code


def test_a_stopped_session_is_not_replaced() -> None:
    stopped = MagicMock(spec=SparkSession)
    stopped.sparkContext._jsc = None
    with pytest.raises(ExternalError) as caught:
        JobSession(stopped).get()

    assert "spark-session-stopped" == caught.value.code


def test_hooks_of_an_environment_are_called_for_its_jobs(
    session: SparkSession, connector: FrameConnector
) -> None:
    settings, hook = EnvironmentSettings.in_batch_mode(), RecordingHook()
    environment = TableEnvironment.create(settings, spark=session, hooks=[hook])
    environment.execute_sql(CREATE.format(name="t"))
    environment.execute_sql("INSERT INTO t VALUES (1)").wait()
    assert ["created", "finished"] == hook.events

    connector.committed = False
    with pytest.raises(ExternalError):
        environment.execute_sql("INSERT INTO t SELECT 1 / (a - 1) FROM (VALUES 1) AS x(a)").wait()
    assert ["created", "finished", "created", "failed"] == hook.events

    environment.execute_sql("CREATE TABLE u WITH ('connector' = 'frames') AS SELECT 1 AS a").wait()
    assert ["created", "finished"] == hook.events[4:]


def test_threads_share_the_session_without_interference(session: SparkSession) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    together = Barrier(4)

    def job(number: int) -> list[tuple[object, ...]]:
        environment.create_temporary_function(
            f"add{number}", udf(lambda a: a + number, ["INT"], "INT")
        )
        together.wait(60)
        query = f"SELECT add{number}(1), add{number}(a) FROM (VALUES (1), (2)) AS t(a)"
        result = environment.execute_sql(query)
        return [tuple(row) for row in result.collect()]

    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(job, range(4)))

    expected = [[(1 + n, 1 + n), (1 + n, 2 + n)] for n in range(4)]
    assert expected == [sorted(row) for row in rows]


@pytest.mark.parametrize(
    ("umask", "expected"),
    [(0o022, {}), (0o077, {"spark.hadoop.fs.permissions.umask-mode": "077"})],
)
def test_spark_is_started_with_the_umask_of_the_process(
    umask: int, expected: dict[str, str]
) -> None:
    before = os.umask(umask)
    try:
        assert expected == _umask_setting()
    finally:
        assert umask == os.umask(before)


def test_a_jvm_that_has_ended_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark would call it forever, also in new environments."""
    context = MagicMock()
    context._jsc.sc.side_effect = ConnectionRefusedError(111, "Connection refused")

    def stop() -> None:
        if context._jsc is not None:
            context._jsc = None
            raise ConnectionRefusedError(111, "Connection refused")
        SparkContext._active_spark_context = None

    context.stop = stop
    for name, value in (("_active_spark_context", context), ("_gateway", context._gateway)):
        monkeypatch.setattr(SparkContext, name, value)
    monkeypatch.setattr(SparkContext, "_jvm", context._jvm)
    monkeypatch.setattr(SparkSession, "_instantiatedSession", MagicMock())
    monkeypatch.setattr(SparkSession, "_activeSession", MagicMock())
    result = is_alive(context)

    assert not result
    assert SparkContext._active_spark_context is None
    assert SparkContext._gateway is None
    assert SparkContext._jvm is None
    assert SparkSession._instantiatedSession is None
    assert SparkSession._activeSession is None
    context._gateway.shutdown.assert_called_once_with()


def test_a_context_whose_jvm_raises_is_not_released() -> None:
    context = MagicMock()
    error = RuntimeError("raised by Java")
    error.java_exception = object()  # type: ignore[attr-defined]
    context._jsc.sc.side_effect = error

    with pytest.raises(RuntimeError):
        is_alive(context)
    context.stop.assert_not_called()


def test_the_end_of_the_jvm_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    context = MagicMock()
    context._jsc.sc.side_effect = ConnectionRefusedError(111, "Connection refused")
    context.stop = lambda: setattr(context, "_jsc", None)
    monkeypatch.setattr(SparkContext, "_active_spark_context", context)
    lost = sys.modules["py4j.protocol"].Py4JNetworkError
    with pytest.raises(ExternalError) as caught, spark_errors():
        raise lost("Answer from Java side is empty")
    assert "spark-session-stopped" == caught.value.code
    assert "JVM" in caught.value.problem

    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    with pytest.raises(ConnectionResetError), jvm_errors():
        raise ConnectionResetError(104, "by the server of a user")


def test_a_process_goes_on_when_its_jvm_is_killed(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.spark.killed_jvm_program", str(tmp_path)]
    result = subprocess.run(program, capture_output=True, text=True, timeout=600, check=False)

    assert 0 == result.returncode, result.stdout[-2000:] + result.stderr[-2000:]
    assert " 0 raw errors" in result.stdout
