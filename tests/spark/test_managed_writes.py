"""Managed tables on Spark: created, filled, replaced, renamed and dropped with their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.environment.jobs.atomicity import ACTIONS, AtomicityLevel, Event
from schema_core.environment.jobs.pending import Owner
from schema_core.errors import ExternalError
from schema_core.spark.commit.commit import FileStage

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment


def test_a_managed_table_keeps_its_rows_until_it_is_dropped(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    def run(statement: str) -> None:
        environment.execute_sql(statement).wait()

    def rows(query: str) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, environment.execute_sql(query).collect()), key=repr)

    house = tmp_path / "house of c"
    run(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{house}')"
    )
    environment.use_catalog("c")
    run("SET 'table.ctas.atomicity-enabled' = 'true'")
    create = "CREATE TABLE `t%1` PARTITIONED BY (p) AS SELECT 1 AS a, 'x' AS p"
    assert (3, ()) == (
        environment.plan_ctas(create).level.value,
        environment.plan_ctas(create).problems,
    )
    run(create)
    run("INSERT INTO `t%1` VALUES (2, 'y')")
    assert [(1, "x"), (2, "y")] == rows("SELECT a, p FROM `t%1`")
    (place,) = (house / "default.db").iterdir()
    assert ["p=x", "p=y"] == sorted(path.name for path in place.iterdir())

    run("ALTER TABLE `t%1` RENAME TO r")
    failing = "SELECT CAST(s AS INT) AS z FROM (VALUES ('x')) AS v(s)"
    with pytest.raises(ExternalError):
        run(f"REPLACE TABLE r AS {failing}")
    with pytest.raises(ExternalError):
        run(f"CREATE TABLE other AS {failing}")
    assert ["r"] == environment.list_tables()
    assert [place] == list((house / "default.db").iterdir())
    assert [(1, "x"), (2, "y")] == rows("SELECT a, p FROM r")
    run("REPLACE TABLE r WITH ('format' = 'csv') AS SELECT p, a + 1 AS n FROM r")
    assert [("x", 2), ("y", 3)] == rows("SELECT p, n FROM r")
    assert [place] == list((house / "default.db").iterdir())
    assert "path" not in environment.get_create_statement("r")

    run("DROP TABLE r")
    assert [] == list((house / "default.db").iterdir())

    run("CREATE TABLE e (a INT)")
    assert [] == rows("SELECT * FROM e")
    run("RESET 'table.ctas.atomicity-enabled'")
    with pytest.raises(ExternalError):
        run(f"CREATE TABLE f AS {failing}")
    assert [] == rows("SELECT * FROM f")
    run("DROP TABLE e")
    run("DROP TABLE f")
    assert [] == list((house / "default.db").iterdir())


@pytest.mark.parametrize("connector", ["filesystem", "spark"])
def test_a_replacement_by_an_equal_definition_that_is_killed_is_undone(
    environment: TableEnvironment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    connector: str,
) -> None:
    """The old files do not show that the new ones are visible."""
    given = f"WITH ('connector' = '{connector}', 'format' = 'parquet', 'path' = '{tmp_path / 't'}')"
    replace_table = f"CREATE OR REPLACE TABLE t {given} AS SELECT {{}} AS a"
    environment.execute_sql(replace_table.format(1)).wait()

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    def end(transaction: Any) -> None:
        transaction._stage._close()

    with monkeypatch.context() as killed:
        dead = replace(Owner.this(), pid=2**22 + 1)
        killed.setattr(Owner, "this", lambda: dead)
        killed.setitem(ACTIONS, (AtomicityLevel.ISOLATED, Event.ABORT), (end,))
        killed.setattr(FileStage, "commit", die)
        with pytest.raises(KeyboardInterrupt):
            environment.execute_sql(replace_table.format(2)).wait()

    assert ["undone"] == [item.action.value for item in environment.recover("t")]
    assert [(1,)] == [tuple(item) for item in environment.execute_sql("SELECT * FROM t").collect()]
    environment.execute_sql(replace_table.format(3)).wait()
    assert [(3,)] == [tuple(item) for item in environment.execute_sql("SELECT * FROM t").collect()]
