"""Hints of errors that depend on the query, the table or the catalogs of an environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.environment.planner import PlannerContext
from schema_core.environment.plans.dry_run import DryRunPlanner, ValidatingPlanner
from schema_core.errors import SchemaCoreError

METADATA = (
    "the columns are `a`, `s`, `m`, of which `m` are metadata: return a value for each, or declare "
    "them VIRTUAL, or name the other columns: INSERT INTO t (a, b)"
)
REPLACE = (
    "OR REPLACE replaces a table only in CREATE OR REPLACE TABLE ... AS SELECT; "
    "drop the table first"
)


@pytest.fixture
def environment() -> TableEnvironment:
    environment = TableEnvironment.create(
        EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner()
    )
    environment.execute_sql(
        "CREATE TABLE t (a INT, s STRING, m STRING METADATA) WITH ('connector' = 'x')"
    )
    return environment


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        (
            "SELECT SUM(s) FROM t",
            "convert the string: CAST(... AS DECIMAL(38, 9)), or TRY_CAST for NULL if it fails",
        ),
        (
            "SELECT a + 1 AS b, COUNT(*) FROM t GROUP BY b",
            "GROUP BY is computed before the SELECT list: write `a` + 1 in place of b",
        ),
        (
            "SELECT UPPER(s) AS b FROM t WHERE b = 'x'",
            "WHERE is computed before the SELECT list: write UPPER(`s`) in place of b",
        ),
        (
            "SELECT s, SUM(a) AS b FROM t WHERE b > 1 GROUP BY s",
            "WHERE is computed before the SELECT list: b is an aggregate, which HAVING may compare",
        ),
        (
            "SELECT s, SUM(a) AS b FROM t GROUP BY s HAVING b > 1",
            "HAVING is computed before the SELECT list: write SUM(`a`) in place of b",
        ),
        ("SELECT a AS b FROM t WHERE c = 1", "there are 'a', 's', 'm', 't'"),
        (
            "CREATE OR REPLACE TABLE t (a INT)",
            REPLACE,
        ),
        ("CREATE TABLE t (a INT)", None),
        (
            "INSERT INTO t SELECT 1, 'x'",
            METADATA,
        ),
        ("INSERT INTO t (a, s) SELECT 1", "the columns are `a`, `s`"),
    ],
)
def test_hint_of_a_statement(
    environment: TableEnvironment, statement: str, hint: str | None
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)

    assert hint == caught.value.hint


@pytest.mark.parametrize("warehouse", [True, False])
def test_a_table_without_a_connector_names_the_catalogs_with_a_warehouse(
    tmp_path: Path, warehouse: bool
) -> None:
    planner = ValidatingPlanner()
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=planner)
    planner.context = PlannerContext(
        environment.get_config().get_configuration(), environment._session.bind
    )
    own = f", 'warehouse' = '{tmp_path}/files'" if warehouse else ""
    environment.execute_sql(
        f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path}/c.db'{own})"
    )
    environment.execute_sql("CREATE TABLE t (a INT)")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("SELECT * FROM t").collect()

    assert "missing-connector" == caught.value.code
    assert ("manages its tables: `shop`" in (caught.value.hint or "")) is warehouse
