"""`plan_ctas`: what CREATE TABLE AS would do, without doing it."""

from __future__ import annotations

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import Visibility
from schema_core.environment.jobs.atomicity import (
    AtomicityLevel,
    choose_level,
    is_atomic,
    visibility_of,
)
from schema_core.environment.operations.plan_ctas import CtasPlan
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError, UnsupportedError

OLD, NEW = "table.ctas.atomicity-enabled", "table.rtas-ctas.atomicity-enabled"
FILES = "WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '/nowhere')"


@pytest.fixture
def environment() -> TableEnvironment:
    """An environment whose planner opens no Spark unless a job runs."""
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.execute_sql(f"CREATE TABLE s (a INT NOT NULL, b STRING, t TIMESTAMP(9)) {FILES}")
    return made


def plan(environment: TableEnvironment, statement: str) -> CtasPlan:
    """Return the plan of a statement, which must have changed nothing."""
    before = environment.list_tables()
    result = environment.plan_ctas(statement)
    assert before == environment.list_tables()
    return result


@pytest.mark.parametrize("key", [OLD, NEW])
def test_both_keys_choose_the_level(environment: TableEnvironment, key: str) -> None:
    statement = f"CREATE TABLE n {FILES} AS SELECT a, b FROM s"
    first = plan(environment, statement)

    assert (AtomicityLevel.CREATED_FIRST, Visibility.FINAL) == (first.level, first.visibility)
    assert ("the option 'table.rtas-ctas.atomicity-enabled' is false",) == first.reasons

    environment.execute_sql(f"SET '{key}' = 'true'")
    assert AtomicityLevel.ISOLATED is plan(environment, statement).level
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql(f"SET '{key}' = 'maybe'")
    assert "invalid-option-value" == caught.value.code


def test_keys_with_different_values_are_a_problem(environment: TableEnvironment) -> None:
    environment.get_config().set(OLD, "true").set(NEW, "false")

    assert "conflicting-options" in [
        problem.code
        for problem in plan(environment, f"CREATE TABLE n {FILES} AS SELECT 1").problems
    ]
    with pytest.raises(SchemaError, match="different values"):
        environment.execute_sql(f"CREATE TABLE n {FILES} AS SELECT 1")
    assert ["s"] == environment.list_tables()
    assert is_atomic({OLD: "TRUE", NEW: "true"})


def test_all_problems_are_reported_at_once(environment: TableEnvironment) -> None:
    result = plan(
        environment,
        "CREATE TABLE s (m STRING METADATA FROM 'nope' VIRTUAL) PARTITIONED BY (a)"
        " WITH ('connector' = 'filesystem', 'paht' = 'x') AS SELECT a, b FROM s",
    )

    assert result.exists
    assert not result.is_executable
    codes = [problem.code for problem in result.problems]
    assert {"table-exists", "missing-option", "unknown-option", "invalid-metadata-column"} <= {
        *codes
    }
    assert len(codes) == len({(problem.code, problem.message) for problem in result.problems})
    assert "required options are missing: format, path" in str(result)


def test_a_level_has_a_reason_for_each_missing_condition(environment: TableEnvironment) -> None:
    result = plan(environment, "CREATE TABLE n WITH ('connector' = 'print') AS SELECT a FROM s")

    assert AtomicityLevel.CREATED_FIRST is result.level
    assert Visibility.WRITE_VISIBLE is result.visibility
    assert 2 == len(result.reasons)
    assert result.is_executable

    environment.execute_sql(f"SET '{NEW}' = 'true'")
    second = plan(environment, "CREATE TABLE n WITH ('connector' = 'print') AS SELECT a FROM s")
    assert AtomicityLevel.ROLLED_BACK is second.level
    assert "the connector cannot remove them" in str(second)
    environment.execute_sql(f"RESET '{NEW}'")
    unknown = plan(environment, "CREATE TABLE n WITH ('connector' = 'nope') AS SELECT a FROM s")
    assert unknown.visibility is None
    assert 1 == len(unknown.problems)
    assert "nope" in unknown.problems[0].message


def test_actions(environment: TableEnvironment) -> None:
    def of(start: str) -> CtasPlan:
        return plan(environment, f"{start} {FILES} AS SELECT a, b, t FROM s")

    assert ("create", False) == (of("CREATE TABLE n").action, of("CREATE TABLE n").exists)
    assert "insert" == of("CREATE TABLE IF NOT EXISTS s").action
    replaced = of("REPLACE TABLE s")
    assert ("replace", AtomicityLevel.ISOLATED) == (replaced.action, replaced.level)
    assert "create" == of("CREATE OR REPLACE TABLE n").action
    assert ["table-not-found"] == [problem.code for problem in of("REPLACE TABLE n").problems]
    mixed = plan(environment, f"CREATE TABLE IF NOT EXISTS s {FILES} AS SELECT 'x', 1, 2")
    assert not mixed.is_executable


def test_losses(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE big (d DECIMAL(20, 10), l BIGINT, c STRING)")
    result = plan(
        environment,
        "CREATE TABLE n (d DECIMAL(10, 2), l DOUBLE, c VARCHAR(3) COMMENT 'code',"
        f" a INT NOT NULL, PRIMARY KEY (a) NOT ENFORCED) {FILES} AS"
        " SELECT big.d, l, c, a, t FROM big, s",
    )
    lost = {".".join(loss.path): loss for loss in result.losses}

    assert {"d", "l", "c", "t", "primary key", "comments"} <= lost.keys()
    assert lost["d"].changes_values
    assert lost["l"].changes_values
    assert "nanoseconds" in str(lost["t"])
    into = "CREATE TABLE IF NOT EXISTS s AS SELECT CAST(a + 1 AS INT) AS a, c, t FROM s, big"
    assert [] == [loss for loss in plan(environment, into).losses if loss.path == ("a",)]
    null = plan(environment, into.replace("CAST(a + 1 AS INT)", "NULLIF(a, 1)"))
    assert "a row with NULL fails the job" in str(null)
    none = plan(environment, f"CREATE TABLE n {FILES} AS SELECT a FROM s")
    assert () == none.losses
    csv = FILES.replace("parquet", "csv")
    (files,) = plan(environment, f"CREATE TABLE n {csv} AS SELECT a FROM s").losses
    assert "csv files store no types" in files.meaning


def test_pipelines_and_explain_have_the_same_plan(environment: TableEnvironment) -> None:
    table = environment.sql_query("SELECT a FROM s")
    created = table.save_as("n").option("connector", "blackhole").create()
    statement = "CREATE TABLE n WITH ('connector' = 'blackhole') AS SELECT a FROM s"

    assert created.plan_ctas() == plan(environment, statement)
    with pytest.raises(UnsupportedError, match="requires a pipeline that creates a table"):
        table.insert_into("s").plan_ctas()
    for other in ("SELECT 1", "CREATE TABLE x (a INT)", "INSERT INTO s SELECT 1, 'x', NULL"):
        with pytest.raises(UnsupportedError) as caught:
            environment.plan_ctas(other)
        assert "feature-not-supported" == caught.value.code


def test_secrets_are_masked(environment: TableEnvironment) -> None:
    result = plan(
        environment,
        "CREATE TABLE n WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:x', 'nope' = '1',"
        " 'username' = 'ann', 'password' = 'canary-7', 'table-name' = 't') AS SELECT a FROM s",
    )

    assert "canary-7" not in str(result) + repr(result)
    assert result.problems


class Declares:
    """A connector that only declares its visibility."""

    identifier = "declares"

    def visibility(self, options: object) -> Visibility:
        return Visibility.INCREMENTAL


def test_a_connector_without_a_declaration_promises_nothing() -> None:
    assert Visibility.INCREMENTAL is visibility_of(Declares(), {})  # type: ignore[arg-type]
    assert Visibility.WRITE_VISIBLE is visibility_of(object(), {})  # type: ignore[arg-type]
    assert AtomicityLevel.ROLLED_BACK is choose_level(None, {}, atomic=True, replaces=False).level
