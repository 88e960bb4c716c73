"""Plans are executed as the statements that they were compiled from, here and elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schema_core import CompiledPlan, PlanReference, TableEnvironment
from schema_core.errors import AlreadyExistsError, ExternalError, UnsupportedError

FILES = (
    "WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = 'NA', 'path' = '{}')"
)


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(item) for item in environment.execute_sql(query).collect())


def reloaded(environment: TableEnvironment, plan: CompiledPlan) -> CompiledPlan:
    return environment.load_plan(PlanReference.from_json_string(plan.as_json_string()))


@pytest.fixture
def tables(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    """An environment with the tables `source`, with three rows, and `sink`, partitioned by `p`."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "rows").write_text("1,x\n2,y\n3,z\n")
    environment.execute_sql(
        f"CREATE TABLE source (a INT, b STRING) {FILES.format(tmp_path / 'source')}"
    )
    environment.execute_sql(
        "CREATE TABLE sink (a INT, b STRING, p STRING) PARTITIONED BY (p) "
        + FILES.format(tmp_path / "sink")
    )
    return environment


def test_every_form_of_insert(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql("CREATE TEMPORARY VIEW v AS SELECT a + 10 AS a, b FROM source WHERE a < 3")
    for statement in (
        "INSERT INTO sink PARTITION (p = 'k') SELECT * FROM v",
        "INSERT INTO sink (p, a) SELECT b, a FROM source WHERE a = 3",
        "INSERT OVERWRITE sink PARTITION (p = 'k') SELECT a, b FROM v WHERE a = 11",
    ):
        reloaded(tables, tables.compile_plan_sql(statement)).execute().wait()
    assert rows(tables, "SELECT * FROM sink") == [(3, None, "z"), (11, "x", "k")]

    hinted = "INSERT INTO sink /*+ OPTIONS('path' = '{}') */ VALUES (7, 'h', 'k')"
    tables.execute_sql(
        f"COMPILE AND EXECUTE PLAN '{tmp_path}/hinted.json' FOR "
        + hinted.format(tmp_path / "other")
    ).wait()
    tables.execute_sql(f"EXECUTE PLAN '{tmp_path}/hinted.json'").wait()
    assert len(rows(tables, "SELECT * FROM sink")) == 2
    other = f"SELECT a FROM sink /*+ OPTIONS('path' = '{tmp_path}/other') */"
    assert rows(tables, other) == [(7,), (7,)]


def test_a_statement_set_is_one_plan(tables: TableEnvironment, tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    tables.execute_sql(
        f"COMPILE PLAN '{file}' FOR STATEMENT SET BEGIN "
        "INSERT INTO sink SELECT a, b, 'one' FROM source WHERE a = 1; "
        "INSERT INTO sink SELECT a, b, 'two' FROM source WHERE a = 2; END"
    )
    assert len(json.loads(file.read_text())["jobs"]) == 2
    tables.execute_plan(PlanReference.from_file(file)).wait()
    assert rows(tables, "SELECT a, p FROM sink") == [(1, "one"), (2, "two")]
    statements = tables.create_statement_set()
    statements.add_insert_sql("INSERT INTO sink SELECT a, b, 'three' FROM source WHERE a = 3")
    statements.add_insert("sink", tables.sql_query("SELECT 4, CAST(NULL AS STRING), 'four'"))
    reloaded(tables, statements.compile_plan()).execute().wait()
    assert (4, "four") in rows(tables, "SELECT a, p FROM sink")


def test_a_plan_keeps_its_options(tables: TableEnvironment) -> None:
    config = tables.get_config()
    config.set("table.local-time-zone", "Asia/Tokyo")
    zoned = "CAST(CAST(TO_TIMESTAMP_LTZ(0, 3) AS TIMESTAMP(0)) AS STRING)"
    plan = tables.compile_plan_sql(f"INSERT INTO sink SELECT 1, {zoned}, 'p'")
    config.set("table.local-time-zone", "UTC")
    plan.execute().wait()
    assert rows(tables, "SELECT b FROM sink") == [("1970-01-01 09:00:00",)]


def test_the_level_of_a_plan_is_kept(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path}/c.db')"
    )
    config = tables.get_config()
    config.set("table.rtas-ctas.atomicity-enabled", "true")
    new = f"CREATE TABLE c.`default`.made {FILES.format(tmp_path / 'made')} AS SELECT a FROM source"
    plan = tables.compile_plan_sql(new)
    assert json.loads(plan.as_json_string())["jobs"][0]["level"] == 3
    config.set("table.rtas-ctas.atomicity-enabled", "false")
    failing = tables.compile_plan_sql(
        f"CREATE TABLE c.`default`.failed {FILES.format(tmp_path / 'failed')} "
        "AS SELECT CAST(b AS INT) AS n FROM source"
    )
    config.set("table.rtas-ctas.atomicity-enabled", "true")
    with pytest.raises(ExternalError):
        failing.execute().wait()
    assert tables.list_tables("c", "default") == ["failed"]  # level 1, as it was compiled
    reloaded(tables, plan).execute().wait()
    assert rows(tables, "SELECT a FROM c.`default`.made") == [(1,), (2,), (3,)]
    with pytest.raises(AlreadyExistsError) as caught:
        plan.execute()
    assert caught.value.code == "table-exists"
    made = tables.from_path("source").save_as("c.`default`.made")
    made = made.option("connector", "filesystem").option("format", "csv")
    replaced = made.option("path", str(tmp_path / "made")).replace().compile_plan()
    reloaded(tables, replaced).execute().wait()
    assert rows(tables, "SELECT b FROM c.`default`.made") == [("x",), ("y",), ("z",)]


def test_a_managed_table_is_created_by_a_plan(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql(
        f"CREATE CATALOG m WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path}/m.db', "
        f"'warehouse' = '{tmp_path}/warehouse')"
    )
    tables.get_config().set("table.ctas.atomicity-enabled", "true")
    plan = tables.compile_plan_sql("CREATE TABLE m.`default`.made AS SELECT a FROM source")
    assert json.loads(plan.as_json_string())["jobs"][0]["level"] == 3
    assert tables.list_tables("m", "default") == []
    reloaded(tables, plan).execute().wait()
    assert rows(tables, "SELECT a FROM m.`default`.made") == [(1,), (2,), (3,)]


def test_a_plan_runs_in_another_process(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path}/c.db')"
    )
    tables.execute_sql("CREATE DATABASE other")
    tables.execute_sql("USE other")
    tables.execute_sql(f"CREATE TABLE kept (a INT, b STRING) {FILES.format(tmp_path / 'source')}")
    tables.get_config().set("table.ctas.atomicity-enabled", "true")
    statement = (
        f"CREATE TABLE c.`default`.made {FILES.format(tmp_path / 'made')} "
        "AS SELECT a, CURRENT_DATABASE() AS d FROM kept"
    )
    tables.compile_plan_sql(statement).write_to_file(tmp_path / "plan.json")
    command = [sys.executable, "-m", "schema_core.cli", "run-plan", str(tmp_path / "plan.json")]
    for expected in (0, 1):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == expected, done.stderr
    assert "table-exists" in done.stderr
    result = rows(tables, "SELECT * FROM c.`default`.made")
    assert result == [(1, "other"), (2, "other"), (3, "other")]


def test_a_new_table_in_memory_has_no_plan(tables: TableEnvironment, tmp_path: Path) -> None:
    statement = f"CREATE TABLE made {FILES.format(tmp_path / 'made')} AS SELECT a FROM source"
    with pytest.raises(UnsupportedError) as caught:
        tables.compile_plan_sql(statement)
    assert caught.value.code == "feature-not-supported"
