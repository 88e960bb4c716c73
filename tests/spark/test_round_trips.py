"""The fixed cost of a query: calls to the JVM, and lookups in the catalog."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from py4j.java_gateway import GatewayClient  # type: ignore[import-untyped]

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.spark.commit import file_systems

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

QUERY = "SELECT a, s FROM t WHERE a > 1"


class CountingCatalog(InMemoryCatalog):
    """Counts the lookups of each table."""

    def __init__(self) -> None:
        super().__init__("c", "d")
        self.lookups: Counter[str] = Counter()

    def get_resolved_table(self, path: Any) -> Any:
        self.lookups[path.object_name] += 1
        return super().get_resolved_table(path)


@pytest.fixture(scope="module")
def catalog(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> CountingCatalog:
    """A catalog with a table of three rows in a directory."""
    directory: Path = tmp_path_factory.mktemp("t") / "t"
    frame = session.range(3).selectExpr("id AS a", "CAST(id AS STRING) AS s")
    frame.coalesce(1).write.parquet(str(directory))
    catalog = CountingCatalog()
    environment(session, EnvironmentSettings.in_batch_mode(), catalog).execute_sql(
        "CREATE TABLE t (a BIGINT, s STRING) WITH "
        f"('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{directory}')"
    )
    return catalog


def environment(
    session: SparkSession, settings: EnvironmentSettings, catalog: CountingCatalog
) -> TableEnvironment:
    env = TableEnvironment.create(settings, spark=session)
    env.register_catalog("c", catalog)
    env.use_catalog("c")
    return env


@pytest.fixture(params=["in_batch_mode", "in_streaming_mode"])
def env(
    session: SparkSession,
    catalog: CountingCatalog,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> TableEnvironment:
    """An environment in which the query has run before."""
    monkeypatch.setattr(file_systems, "TICK", 0)  # the frames of new files are kept, too
    env = environment(session, getattr(EnvironmentSettings, request.param)(), catalog)
    rows(env)
    return env


def rows(env: TableEnvironment, query: str = QUERY) -> list[Any]:
    with env.execute_sql(query).collect() as result:
        return list(result)


def test_a_query_makes_few_round_trips_to_the_jvm(
    env: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PySpark itself makes 12 for the same query."""
    commands = count_commands(monkeypatch)
    assert len(rows(env)) == 1
    assert 12 < len(commands) <= 16


def count_commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that receives the commands to the JVM."""
    commands: list[str] = []
    for client in (GatewayClient, *GatewayClient.__subclasses__()):
        if "send_command" in vars(client):
            send = client.send_command

            def counting(
                self: Any, command: str, *args: Any, _send: Any = send, **options: Any
            ) -> Any:
                if not command.startswith("m"):  # releases of objects, which another thread sends
                    commands.append(command)
                return _send(self, command, *args, **options)

            monkeypatch.setattr(client, "send_command", counting)
    return commands


def test_rows_that_spark_returns_at_once_take_no_job_for_each_partition(
    env: TableEnvironment, session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LIMIT and constants are not computed as an RDD; the rows of all partitions are."""
    commands = count_commands(monkeypatch)
    first = rows(env, "SELECT a FROM t LIMIT 2"), rows(env, "VALUES (1), (2)")
    assert [2, 2] == [*map(len, first)]
    assert not any("runJob" in command for command in commands)

    env.create_temporary_view("numbers", session.range(100, numPartitions=7))
    numbers = [row[0] for row in rows(env, "SELECT id FROM numbers")]
    assert [*range(100)] == numbers
    assert 2 <= sum("runJob" in command for command in commands) < 7


def test_a_query_looks_up_each_table_once(env: TableEnvironment, catalog: CountingCatalog) -> None:
    catalog.lookups.clear()
    rows(env)
    assert catalog.lookups == {"t": 1}
