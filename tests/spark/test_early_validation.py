"""Options are validated before Spark is started: no test of this module starts it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.spark.jobs import spark_errors
from schema_core.spark.session.session import JobSession


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    def start(_: JobSession) -> None:
        pytest.fail("Spark is started before the options are validated")

    monkeypatch.setattr(JobSession, "open_session", start)
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for name, options in {
        "good": "'connector' = 'blackhole'",
        "missing": "'connector' = 'filesystem', 'format' = 'csv'",
        "misspelt": "'connector' = 'datagen', 'number-of-row' = '1'",
        "invalid": "'connector' = 'datagen', 'number-of-rows' = 'one'",
        "absent": "'connector' = 'kafkaa'",
        "unreadable": "'connector' = 'print'",
    }.items():
        environment.execute_sql(f"CREATE TABLE {name} (a INT) WITH ({options})")
    return environment


RUNS: dict[str, Callable[[TableEnvironment, str], object]] = {
    "select": lambda environment, name: environment.execute_sql(f"SELECT * FROM {name}").collect(),
    "subquery": lambda environment, name: environment.execute_sql(
        f"SELECT 1 FROM (VALUES (1)) AS v (x) WHERE x IN (SELECT a FROM {name})"
    ).collect(),
    "view": lambda environment, name: [
        environment.execute_sql(f"CREATE TEMPORARY VIEW v AS SELECT a FROM {name}"),
        environment.execute_sql("SELECT * FROM v").collect(),
    ],
    "insert": lambda environment, name: environment.execute_sql(
        f"INSERT INTO good SELECT * FROM {name}"
    ),
    "create": lambda environment, name: environment.execute_sql(
        f"CREATE TABLE c WITH ('connector' = 'blackhole') AS SELECT * FROM {name}"
    ),
    "explain": lambda environment, name: environment.explain_sql(f"SELECT * FROM {name}"),
    "pandas": lambda environment, name: environment.from_path(name).to_pandas(),
    "arrow": lambda environment, name: environment.from_path(name).to_arrow(),
    "hint": lambda environment, name: environment.execute_sql(
        f"SELECT * FROM {name} /*+ OPTIONS('a' = 'b') */"
    ).collect(),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("table", "code"),
    [
        ("missing", "missing-option"),
        ("misspelt", "unknown-option"),
        ("invalid", "invalid-option-value"),
        ("absent", "factory-not-found"),
        ("unreadable", "unsupported-ability"),
    ],
)
def test_invalid_sources_are_refused_before_spark_is_started(
    environment: TableEnvironment, run: str, table: str, code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        RUNS[run](environment, table)

    assert code in {diagnostic.code for diagnostic in caught.value.diagnostics}


@pytest.mark.parametrize("table", ["missing", "misspelt", "invalid", "absent"])
def test_invalid_sinks_are_refused_before_spark_is_started(
    environment: TableEnvironment, table: str
) -> None:
    with pytest.raises(SchemaCoreError):
        environment.execute_sql(f"INSERT INTO {table} SELECT 1")


def test_a_stream_is_refused_before_spark_is_started(environment: TableEnvironment) -> None:
    environment.execute_sql("SET 'execution.runtime-mode' = 'streaming'")
    environment.execute_sql(
        "CREATE TABLE s (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        " 'path' = '/x', 'source.monitor-interval' = '1 s', 'sauce' = 'x')"
    )
    with pytest.raises(SchemaCoreError, match="sauce"):
        environment.execute_sql("INSERT INTO good SELECT * FROM s")


@pytest.mark.parametrize("module", ["helpers", "helpers.text"])
def test_a_module_that_the_workers_lack_has_a_hint(module: str) -> None:
    worker = f"Traceback (most recent call last):\nModuleNotFoundError: No module named '{module}'"
    with pytest.raises(ExternalError) as caught, spark_errors():
        raise RuntimeError(worker)

    assert "add_python_file('helpers.py')" in (caught.value.hint or "")
    assert "PYTHONPATH" in (caught.value.hint or "")
