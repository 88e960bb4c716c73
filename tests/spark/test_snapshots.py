"""FOR SYSTEM_TIME AS OF a constant reads the versions that a table of files keeps."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fuzz.file_commits import KILLS, SCENARIOS, Faults, operations, run
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.spark.commit.snapshots import DIRECTORY, FILES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITH_SNAPSHOTS = [name for name in SCENARIOS if name.endswith("snapshots")]


@pytest.mark.parametrize("name", WITH_SNAPSHOTS)
def test_kills_leave_the_versions_that_were_committed(name: str) -> None:
    scenario = SCENARIOS[name]
    count = operations(scenario)
    draws = [Faults(at, KILLS[at % 2]) for at in range(count // 3, count + 1, count // 8)]
    verdicts = [run(scenario, fault) for fault in draws]

    assert [] == [verdict.problem for verdict in verdicts if verdict.problem]
    assert {"old", "new"} == {verdict.state for verdict in verdicts}


@pytest.fixture
def environment(session: SparkSession, tmp_path: Path) -> TableEnvironment:
    """An environment whose catalog manages tables."""
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    result.get_config().set("table.dml-sync", "true")
    result.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    result.execute_sql(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{tmp_path / 'house'}')"
    )
    result.execute_sql("USE CATALOG c")
    return result


def rows(environment: TableEnvironment, time: dt.datetime | None = None) -> list[list[object]]:
    as_of = "" if time is None else f" FOR SYSTEM_TIME AS OF TIMESTAMP '{time:%F %T.%f}'"
    return sorted(list(row) for row in environment.execute_sql(f"SELECT * FROM t{as_of}").collect())


def times(tmp_path: Path) -> list[dt.datetime]:
    """Return the times of the versions, in order."""
    names = sorted(file.stem for file in tmp_path.rglob(f"{DIRECTORY}/*.json"))
    return [
        dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=int(name))  # noqa: DTZ001
        for name in names
    ]


def test_each_commit_is_a_version(environment: TableEnvironment, tmp_path: Path) -> None:
    environment.execute_sql(
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)"
        " WITH ('snapshot.num-retained.max' = '4', 'format' = 'parquet')"
    )
    versions_read = []
    for statement in (
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "INSERT OVERWRITE t VALUES (3, 'b')",
        "DELETE FROM t WHERE id = 1",
        "UPDATE t SET id = 4 WHERE id = 3",
        "TRUNCATE TABLE t",
    ):
        environment.execute_sql(statement).wait()
        versions_read.append(rows(environment))
    assert [[[1, "a"], [2, "b"]], [[1, "a"], [3, "b"]], [[3, "b"]], [[4, "b"]], []] == versions_read

    versions = times(tmp_path)
    assert versions_read[1:] == [rows(environment, time) for time in versions]
    assert versions_read[1] == rows(environment, versions[1] - dt.timedelta(milliseconds=1))
    assert versions_read[-1] == rows(environment, versions[-1] + dt.timedelta(days=1))
    kept = [file for file in tmp_path.rglob(f"{FILES}/p=*/*") if not file.name.startswith(".")]
    assert 3 == len(kept)  # that of the first version, which has expired, is deleted
    with pytest.raises(SchemaCoreError, match="no version from before") as caught:
        rows(environment, versions[0] - dt.timedelta(milliseconds=1))
    assert "time-travel-not-supported" == caught.value.code

    environment.execute_sql("ALTER TABLE t ADD w INT")
    with pytest.raises(SchemaCoreError, match="have changed") as caught:
        rows(environment, versions[-1])
    assert "time-travel-not-supported" == caught.value.code
    environment.execute_sql("DROP TABLE t")
    assert [] == list(tmp_path.rglob(DIRECTORY))


def test_tables_without_the_option_have_no_versions(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (id INT)")
    with pytest.raises(SchemaCoreError, match=r"snapshot\.num-retained\.max") as caught:
        rows(environment, dt.datetime(2024, 1, 1))  # noqa: DTZ001
    assert "time-travel-not-supported" == caught.value.code
