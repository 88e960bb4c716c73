"""The clock, random numbers and UUID in queries, views, computed columns and conditions."""

from __future__ import annotations

import datetime as dt
import uuid
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, UnsupportedError

ROWS = "(VALUES (1), (5), (7), (CAST(NULL AS INT))) AS t (i)"


@pytest.fixture
def new_york(environment: TableEnvironment) -> TableEnvironment:
    environment.execute_sql("SET 'table.local-time-zone' = 'America/New_York'")
    return environment


def test_the_clock_is_read_once_for_a_query_in_the_zone_of_the_session(
    new_york: TableEnvironment,
) -> None:
    before = dt.datetime.now(dt.UTC).replace(microsecond=0, tzinfo=None)
    result = new_york.execute_sql(
        "SELECT CAST(CURRENT_TIMESTAMP AS STRING), CAST(LOCALTIMESTAMP AS STRING), "
        "CAST(CURRENT_DATE AS STRING), CAST(CURRENT_TIME AS STRING), NOW() = CURRENT_TIMESTAMP, "
        "CAST(NOW() AS TIMESTAMP(3)) = LOCALTIMESTAMP, LOCALTIME = CURRENT_TIME, "
        "CURRENT_TIMESTAMP + INTERVAL '1' DAY > NOW(), CAST(CURRENT_ROW_TIMESTAMP() AS STRING) "
        f"FROM {ROWS}"
    )
    rows = [tuple(row) for row in result.collect()]
    after = dt.datetime.now(dt.UTC).replace(tzinfo=None)

    ((now, local, date, time, *same),) = {row[:-1] for row in rows}
    zone = ZoneInfo("America/New_York")
    at = dt.datetime.fromisoformat(now).replace(tzinfo=zone).astimezone(dt.UTC)
    assert before <= at.replace(tzinfo=None) <= after
    assert (now, len(now)) == (local, len("2026-11-23 02:50:29.123"))
    assert f"{date} {time}" == now[:19]
    assert same == [True, True, True, True]
    assert all(row[-1] >= now for row in rows)


def test_random_values_differ_between_rows_and_are_one_value_within_a_row(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql(
        f"CREATE TEMPORARY VIEW v AS SELECT i, RAND() AS r, UUID() AS u, RAND_INTEGER(i) AS n "
        f"FROM {ROWS}"
    )
    query = "SELECT i, r, r * 2 - r - r, u, CHAR_LENGTH(u), u = u, n FROM v WHERE r >= 0"
    rows = list(environment.execute_sql(query).collect())

    assert all(0 <= row[1] < 1 and row[2] == 0 for row in rows)
    assert len({row[1] for row in rows}) == len({row[3] for row in rows}) == len(ROWS.split("),"))
    assert all(str(uuid.UUID(row[3])) == row[3] and row[4] == 36 and row[5] for row in rows)
    assert all(row[6] is None if row[0] is None else 0 <= row[6] < row[0] for row in rows)


def test_bounds_that_are_not_positive_fail_the_job(environment: TableEnvironment) -> None:
    with pytest.raises(ExternalError, match="the bound must be positive"):
        list(environment.execute_sql(f"SELECT RAND_INTEGER(i - 1) FROM {ROWS}").collect())


def test_a_computed_column_is_stored_by_the_table_that_is_written(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    environment.execute_sql(
        f"CREATE TABLE t (k INT, made AS CURRENT_TIMESTAMP, id AS UUID()) "
        f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/t')"
    )
    environment.execute_sql("INSERT INTO t VALUES (1), (2)").wait()
    environment.execute_sql(
        f"CREATE TABLE s WITH ('connector' = 'filesystem', 'format' = 'parquet', "
        f"'path' = '{tmp_path}/s') AS SELECT * FROM t WHERE made <= NOW()"
    ).wait()
    read = "SELECT k, made, id FROM s ORDER BY k"
    once = [tuple(row) for row in environment.execute_sql(read).collect()]

    assert [tuple(row) for row in environment.execute_sql(read).collect()] == once
    assert [row[0] for row in once] == [1, 2]
    assert once[0][1] == once[1][1]
    assert once[0][2] != once[1][2]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("RAND(CAST(5 AS BIGINT))", "RAND of BIGINT"),
        ("RAND_INTEGER(CAST(i AS BIGINT))", "RAND_INTEGER of BIGINT"),
        ("CURRENT_TIMESTAMP(3)", "CURRENT_TIMESTAMP with a precision"),
    ],
)
def test_what_would_differ_from_flink_is_refused(
    environment: TableEnvironment, expression: str, problem: str
) -> None:
    with pytest.raises(UnsupportedError, match=problem):
        environment.execute_sql(f"SELECT {expression} FROM {ROWS}")
