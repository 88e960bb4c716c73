"""TO_CHANGELOG and FROM_CHANGELOG of unbounded tables, a file in each micro-batch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import UnsupportedError
from tests.spark.recorded_changes import changes_until_stopped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("one_task", "one_file_at_a_time")

FROM = "FROM_CHANGELOG(input => TABLE codes, op => DESCRIPTOR(op))"


@pytest.fixture
def env(session: SparkSession, tmp_path: Path) -> TableEnvironment:
    """An environment with a table of codes of changes, whose files replace rows of earlier ones."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    env.execute_sql(
        "CREATE TABLE codes (op STRING, k STRING, v INT) WITH ('connector' = 'filesystem',"
        f" 'path' = '{tmp_path}/codes', 'format' = 'csv', 'source.monitor-interval' = '1 s')"
    )
    lines = ["INSERT,a,1", "INSERT,b,2", "UPDATE_BEFORE,a,1", "UPDATE_AFTER,a,3", "DELETE,b,2"]
    (tmp_path / "codes").mkdir()
    for number, part in enumerate((lines[:2], lines[2:])):
        path = tmp_path / "codes" / str(number)
        path.write_text("\n".join(part), encoding="utf-8")
        os.utime(path, (1_700_000_000 + number,) * 2)
    return env


def test_rows_with_codes_are_changes_of_the_same_kinds(env: TableEnvironment) -> None:
    changes = changes_until_stopped(env.execute_sql(f"SELECT k, v * 10 FROM {FROM} WHERE v > 0"))

    assert [
        ["+I", "a", 10], ["+I", "b", 20], ["-U", "a", 10], ["+U", "a", 30], ["-D", "b", 20]
    ] == changes  # fmt: skip


def test_changes_of_codes_are_grouped(env: TableEnvironment) -> None:
    query = f"SELECT COUNT(*) AS n, SUM(v) AS v FROM {FROM}"

    assert [["+I", 2, 3], ["-U", 2, 3], ["+U", 1, 3]] == changes_until_stopped(
        env.execute_sql(query)
    )


def test_changes_of_groups_are_rows_with_codes(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW g AS SELECT k, COUNT(DISTINCT v) AS n FROM codes GROUP BY k")
    changes = changes_until_stopped(env.execute_sql("SELECT * FROM TO_CHANGELOG(TABLE g)"))

    assert [["+I", "INSERT", "a", 1], ["+I", "INSERT", "b", 1]] == sorted(changes[:2])
    # the row of b is the same again
    assert [["+I", "UPDATE_BEFORE", "a", 1], ["+I", "UPDATE_AFTER", "a", 2]] == changes[2:]


def test_only_rows_that_are_added_have_codes(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW g AS SELECT op, COUNT(DISTINCT k) FROM codes GROUP BY op")

    with pytest.raises(UnsupportedError, match="FROM_CHANGELOG of rows that are updated"):
        env.execute_sql("SELECT * FROM FROM_CHANGELOG(input => TABLE g, op => DESCRIPTOR(op))")


def test_changes_of_a_table_are_rows_with_their_own_kinds(
    env: TableEnvironment, tmp_path: Path
) -> None:
    """Also those of one file that remove what others add."""
    row = '{"id":%d,"n":%d}'
    added_, removed = (row % (1, 1), row % (1, 2)), row % (2, 0)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "0").write_text(
        f'{{"before":null,"after":{added_[0]},"op":"c"}}\n'
        f'{{"before":{added_[0]},"after":{added_[1]},"op":"u"}}\n'
        f'{{"before":null,"after":{removed},"op":"c"}}\n'
        f'{{"before":{removed},"after":null,"op":"d"}}\n',
        encoding="utf-8",
    )
    env.execute_sql(
        "CREATE TABLE t (id INT, n INT) WITH ('connector' = 'filesystem',"
        f" 'path' = '{tmp_path}/t', 'format' = 'debezium-json', 'source.monitor-interval' = '1 s')"
    )
    changes = changes_until_stopped(env.execute_sql("SELECT op, id, n FROM TO_CHANGELOG(TABLE t)"))

    assert [
        ["+I", "INSERT", 1, 1],
        ["+I", "UPDATE_BEFORE", 1, 1],
        ["+I", "UPDATE_AFTER", 1, 2],
        ["+I", "INSERT", 2, 0],
        ["+I", "DELETE", 2, 0],
    ] == changes
