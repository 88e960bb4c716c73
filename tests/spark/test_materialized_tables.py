"""Materialized tables on Spark: what REFRESH stores is what SELECT reads, old rows or new ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.spark.commit.commit import FileStage

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment


class Kit:
    """Statements and sorted rows of an environment."""

    def __init__(self, environment: TableEnvironment) -> None:
        self.environment = environment

    def run(self, statement: str) -> None:
        self.environment.execute_sql(statement).wait()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.environment.execute_sql(query).collect()), key=repr)


@pytest.fixture
def kit(environment: TableEnvironment, tmp_path: Path) -> Kit:
    kit = Kit(environment)
    kit.run(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{tmp_path / 'house'}')"
    )
    environment.use_catalog("c")
    kit.run("CREATE TABLE s AS SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v(a, p)")
    return kit


def test_a_refresh_stores_the_rows_that_select_reads(kit: Kit) -> None:
    kit.run("CREATE MATERIALIZED TABLE m REFRESH_MODE = FULL AS SELECT a + 1 AS n, p FROM s")
    assert [] == kit.rows("SELECT * FROM m")
    kit.run("ALTER MATERIALIZED TABLE m REFRESH")
    assert [(2, "x"), (3, "y")] == kit.rows("SELECT * FROM m")
    kit.run("INSERT INTO s VALUES (9, 'z')")
    assert [(2, "x"), (3, "y")] == kit.rows("SELECT * FROM m")

    failure = ExternalError("no", code="storage-failed")
    with (
        patch.object(FileStage, "commit", side_effect=failure),
        pytest.raises(SchemaCoreError),
    ):
        kit.run("ALTER MATERIALIZED TABLE m REFRESH")
    assert [(2, "x"), (3, "y")] == kit.rows("SELECT * FROM m")

    kit.run("ALTER MATERIALIZED TABLE m AS SELECT a + 1 AS n, p, a AS e FROM s WHERE a > 1")
    assert [(2, "x", None), (3, "y", None)] == kit.rows("SELECT * FROM m")
    kit.run("ALTER MATERIALIZED TABLE m REFRESH")
    assert [(10, "z", 9), (3, "y", 2)] == kit.rows("SELECT * FROM m")
    kit.run("ALTER MATERIALIZED TABLE m SUSPEND")
    kit.run("ALTER MATERIALIZED TABLE m RESUME")
    kit.run("DROP MATERIALIZED TABLE m")


def test_a_refresh_of_a_partition_replaces_only_its_rows(kit: Kit, tmp_path: Path) -> None:
    kit.run(
        f"""CREATE MATERIALIZED TABLE m PARTITIONED BY (p)
        WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path / "m"}',
              'partition.fields.p.date-formatter' = 'yyyy-MM-dd')
        REFRESH_MODE = FULL AS SELECT p, a FROM s"""
    )
    kit.run("ALTER MATERIALIZED TABLE m REFRESH")
    kit.run("INSERT OVERWRITE s VALUES (5, 'x'), (6, 'y')")
    kit.run("ALTER MATERIALIZED TABLE m REFRESH PARTITION (p = 'x')")
    assert [("x", 5), ("y", 2)] == kit.rows("SELECT p, a FROM m")
    kit.run("INSERT OVERWRITE s VALUES (7, 'z')")
    kit.run("ALTER MATERIALIZED TABLE m REFRESH PARTITION (p = 'x')")
    assert [("y", 2)] == kit.rows("SELECT p, a FROM m")
    with pytest.raises(SchemaCoreError) as error:
        kit.run("ALTER MATERIALIZED TABLE m REFRESH PARTITION (a = 1)")
    assert "unknown-column" == error.value.code


def test_a_table_whose_rows_cannot_be_replaced_at_once_is_not_refreshed(kit: Kit) -> None:
    kit.run("CREATE MATERIALIZED TABLE m WITH ('connector' = 'blackhole') AS SELECT a FROM s")
    with pytest.raises(SchemaCoreError) as error:
        kit.run("ALTER MATERIALIZED TABLE m REFRESH")
    assert "unsupported-ability" == error.value.code


KILLED = """
import os, sys
from schema_core import TableEnvironment
from schema_core.spark.commit.commit import FileStage

environment = TableEnvironment.create({"execution.runtime-mode": "BATCH"})
for statement in sys.argv[1].split(";"):
    environment.execute_sql(statement).wait()
FileStage.commit = lambda *_: os._exit(9)
environment.execute_sql("ALTER MATERIALIZED TABLE m REFRESH").wait()
"""


def test_a_killed_refresh_leaves_the_old_rows_and_can_be_repeated(kit: Kit, tmp_path: Path) -> None:
    kit.run("CREATE MATERIALIZED TABLE m REFRESH_MODE = FULL AS SELECT a, p FROM s")
    kit.run("ALTER MATERIALIZED TABLE m REFRESH")
    kit.run("INSERT INTO s VALUES (3, 'z')")
    catalog = (
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{tmp_path / 'house'}');USE CATALOG c"
    )
    killed = subprocess.run([sys.executable, "-c", KILLED, catalog], check=False)
    assert 9 == killed.returncode
    assert [(1, "x"), (2, "y")] == kit.rows("SELECT * FROM m")
    kit.run("ALTER MATERIALIZED TABLE m REFRESH")
    assert [(1, "x"), (2, "y"), (3, "z")] == kit.rows("SELECT * FROM m")
