"""Statements about jobs, statement sets of several statements, SET and RESET alone."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError, UnsupportedError
from tests.support import CASES

TABLES = (
    "CREATE TABLE t (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'blackhole')",
    "CREATE TABLE u (a INT) WITH ('connector' = 'blackhole')",
)


@pytest.fixture
def environment() -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().in_batch_mode()
    made = TableEnvironment.create(
        settings.with_configuration({"table.dml-sync": "true"}).build(), planner=DryRunPlanner()
    )
    for table in TABLES:
        made.execute_sql(table)
    return made


def rows(environment: TableEnvironment, statement: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(statement).collect()]


def code(environment: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    return caught.value.code


# --- statement sets ------------------------------------------------------------------------------


def test_a_statement_set_of_several_statements(environment: TableEnvironment) -> None:
    for item in ("BEGIN STATEMENT SET", "INSERT INTO t VALUES (1)"):
        assert rows(environment, item) == [("OK",)]
    assert code(environment, "SHOW TABLES") == "invalid-state"
    assert code(environment, "BEGIN STATEMENT SET") == "invalid-state"
    assert code(environment, "INSERT INTO u VALUES ('x', 1)") == "column-count-mismatch"
    environment.execute_sql("INSERT INTO u VALUES (2)")
    result = environment.execute_sql("END;")
    names = result.get_resolved_schema().get_column_names()
    assert names == ["default_catalog.default_database.t", "default_catalog.default_database.u"]
    assert [tuple(row) for row in result.collect()] == [(-1, -1)]
    assert len(rows(environment, "SHOW JOBS")) == 1
    assert code(environment, "END") == "invalid-state"


def test_an_empty_statement_set_runs_nothing(environment: TableEnvironment) -> None:
    environment.execute_sql("BEGIN STATEMENT SET")
    assert rows(environment, "END") == [("OK",)]
    assert rows(environment, "SHOW JOBS") == []


def test_an_error_of_a_set_quotes_the_statement_and_closes_the_set(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql("BEGIN STATEMENT SET")
    insert = "INSERT INTO t VALUES (1)"
    environment.execute_sql(insert)
    environment.drop_table("t")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("END")
    assert caught.value.code == "table-not-found"
    assert caught.value.text == insert
    assert caught.value.span is not None
    assert rows(environment, "SHOW JOBS") == []
    assert code(environment, "END") == "invalid-state"


def test_a_set_has_one_column_for_each_insert(environment: TableEnvironment) -> None:
    result = environment.execute_sql(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); INSERT INTO u VALUES (1); "
        "INSERT INTO t VALUES (2); END"
    )
    columns = result.get_resolved_schema().columns
    assert [column.name.rpartition(".")[2] for column in columns] == ["t_1", "u", "t_2"]
    assert {str(column.data_type) for column in columns} == {"BIGINT"}


# --- conflicts, and types of columns -------------------------------------------------------------


@pytest.mark.parametrize("action", ["NOTHING", "ERROR", "DEDUPLICATE"])
@pytest.mark.parametrize("table", ["t", "u"])
def test_on_conflict_is_refused_by_connectors_that_append(
    environment: TableEnvironment, table: str, action: str
) -> None:
    insert = f"INSERT INTO {table} VALUES (1) ON CONFLICT DO {action}"
    assert code(environment, insert) == "unsupported-ability"
    assert code(environment, f"COMPILE PLAN 'none.json' FOR {insert}") == ("unsupported-ability")
    assert code(environment, f"EXPLAIN {insert}") == "unsupported-ability"
    environment.execute_sql("BEGIN STATEMENT SET")
    assert code(environment, insert) == "unsupported-ability"
    assert rows(environment, "END") == [("OK",)]
    with pytest.raises(SchemaCoreError) as caught:
        environment.create_statement_set().add_insert_sql(insert)
    assert caught.value.code == "unsupported-ability"
    assert caught.value.text == insert


KEYED = (
    "CREATE TABLE j (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'jdbc', "
    "'url' = 'jdbc:postgresql://localhost/x', 'table-name' = 'j')"
)


@pytest.mark.parametrize("action", ["DEDUPLICATE", "NOTHING", "ERROR"])
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_connector_that_replaces_rows_deduplicates(mode: str, action: str) -> None:
    environment = environment_in(mode)
    environment.execute_sql(KEYED)
    insert = f"INSERT INTO j VALUES (1) ON CONFLICT DO {action}"
    assert rows(environment, insert) == [(-1,)]
    [(plan,)] = rows(environment, f"EXPLAIN {insert}")
    assert f"onConflict=[{action}]" in str(plan)


def environment_in(mode: str) -> TableEnvironment:
    settings = (
        EnvironmentSettings.in_batch_mode()
        if mode == "batch"
        else EnvironmentSettings.in_streaming_mode()
    )
    result = TableEnvironment.create(settings, planner=DryRunPlanner())
    result.get_config().set("table.dml-sync", "true")
    return result


#: INSERT statements with what Flink's planner says to each, by `Statements` of the oracle.
ON_CONFLICT = [
    json.loads(line)
    for line in (CASES / "on_conflict.jsonl").read_text(encoding="utf-8").splitlines()
]


#: What Flink's planner replies -> the code of the error.
REFUSALS = {
    "required": "on-conflict-required",
    "not-upsert": "unsupported-ability",
    "watermarks": "unsupported-ability",
    "TableException": "streaming-not-supported",
}


@pytest.mark.parametrize("case", ON_CONFLICT, ids=lambda case: case["id"])
def test_on_conflict_is_required_as_by_flink(case: dict[str, Any]) -> None:
    environment = environment_in("streaming")
    for statement in case["setup"]:
        if isinstance(statement, dict):
            for key, option in statement["set"].items():
                environment.get_config().set(key, option)
            continue
        jdbc = "'connector'='jdbc','url'='jdbc:sqlite:x.db','table-name'='t'"
        text = re.sub("'connector'='oracle-changed','data'='k2?','upsert'='true'", jdbc, statement)
        files = "'connector'='filesystem','format'='json','path'="
        environment.execute_sql(text.replace("'connector'='oracle-changed','data'=", files))
    insert = case["sql"].removeprefix("EXPLAIN ")
    if case["flink"] in REFUSALS:
        assert code(environment, insert) == REFUSALS[case["flink"]]
    else:
        assert rows(environment, insert) == [(-1,)]
        environment.get_config().set("table.exec.sink.require-on-conflict", "false")
        assert rows(environment, insert) == [(-1,)]


@pytest.mark.parametrize("verb", ["ADD", "REMOVE"])
def test_jars_are_refused_and_none_is_listed(environment: TableEnvironment, verb: str) -> None:
    """A script that needs one must not run without it."""
    with pytest.raises(UnsupportedError, match=f"{verb} JAR is not supported") as caught:
        environment.execute_sql(f"{verb} JAR '/lib/functions.jar'")
    assert caught.value.code == "feature-not-supported"
    assert "spark.jars" in str(caught.value.hint)
    assert rows(environment, "SHOW JARS") == []


def test_upsert_is_refused(environment: TableEnvironment) -> None:
    for statement in ("UPSERT INTO t VALUES (1)", "EXPLAIN UPSERT INTO t VALUES (1)"):
        assert code(environment, statement) == "feature-not-supported"


def test_types_in_the_columns_of_an_insert(environment: TableEnvironment) -> None:
    assert rows(environment, "INSERT INTO t (a INT NOT NULL) VALUES (1)") == [(-1,)]
    assert code(environment, "INSERT INTO t (a BIGINT) VALUES (1)") == "not-assignable"
    assert code(environment, "INSERT INTO t (b INT) VALUES (1)") == "unknown-column"


# --- jobs ----------------------------------------------------------------------------------------


class WaitingExecution(JobExecution):
    """An execution that runs until it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled = threading.Event()

    def run(self, job_id: object) -> None:
        self.cancelled.wait(10)

    def cancel(self, job_id: object) -> None:
        self.cancelled.set()


class WaitingPlanner(DryRunPlanner):
    """A planner whose jobs run until they are cancelled."""

    def insert(self, *args: object, **options: object) -> JobGraph:
        graph = super().insert(*args, **options)  # type: ignore[arg-type]
        return JobGraph("a job", WaitingExecution(), graph.sinks)


def test_jobs_are_listed_described_and_stopped() -> None:
    environment = TableEnvironment.create(
        EnvironmentSettings.in_batch_mode(), planner=WaitingPlanner()
    )
    environment.execute_sql(TABLES[0])
    client = environment.execute_sql("INSERT INTO t VALUES (1)").get_job_client()
    assert client is not None
    job_id = client.get_job_id()
    [row] = rows(environment, f"DESCRIBE JOB '{job_id}'")
    assert (row[0], row[1]) == (job_id, "a job")
    assert row[2] in ("CREATED", "RUNNING")
    assert rows(environment, "SHOW JOBS")[0][3] == row[3]
    assert code(environment, f"STOP JOB '{job_id}' WITH SAVEPOINT") == "feature-not-supported"
    assert rows(environment, f"STOP JOB '{job_id}'") == [("OK",)]
    assert rows(environment, "SHOW JOBS")[0][2] == "CANCELED"
    assert rows(environment, f"STOP JOB '{job_id}'") == [("OK",)]
    assert code(environment, "DESCRIBE JOB 'x'") == "not-found"


# --- options -------------------------------------------------------------------------------------


def test_set_alone_lists_options_and_reset_restores_the_settings(
    environment: TableEnvironment,
) -> None:
    before = rows(environment, "SET")
    assert ("table.dml-sync", "true") in before
    environment.execute_sql("SET 'table.dml-sync' = 'false'")
    environment.execute_sql("SET 'my.password' = 'hunter2'")
    assert ("my.password", "******") in rows(environment, "SET")
    environment.execute_sql("RESET 'table.dml-sync'")
    assert ("table.dml-sync", "true") in rows(environment, "SET")
    environment.execute_sql("RESET")
    assert rows(environment, "SET") == before
