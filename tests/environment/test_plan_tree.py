"""Typed plans in EXPLAIN: the tree of a query, its sink, and the details."""

from __future__ import annotations

import json

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog.statistics import CatalogTableStatistics
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment

TABLES = (
    "CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3)) WITH ('connector' = 'blackhole')",
    "CREATE TABLE p (a INT, b STRING) PARTITIONED BY (b) WITH ('connector' = 'blackhole')",
    "CREATE VIEW v AS SELECT a, UPPER(b) AS b FROM t WHERE a > 1",
)

#: Statement -> the lines of its typed plan.
PLANS = {
    "SELECT a + 1 AS x FROM t WHERE b = 'y' ORDER BY x DESC LIMIT 3": """
Sort(orderBy=[`x` DESC], fetch=[3])
+- Select(items=[`t`.`a` + 1 AS `x` INT], where=[`t`.`b` = 'y'])
   +- Scan(table=[default_catalog.default_database.t], fields=[`a` INT, `b` STRING, \
`ts` TIMESTAMP(3)])
""",
    "SELECT b, COUNT(*) AS n FROM v AS w GROUP BY b HAVING COUNT(*) > 1": """
Select(items=[`w`.`b` STRING, COUNT(*) AS `n` BIGINT NOT NULL], having=[COUNT(*) > 1], \
groupBy=[`w`.`b`])
+- Select(items=[`t`.`a` INT, UPPER(`t`.`b`) AS `b` STRING], where=[`t`.`a` > 1], alias=[w])
   +- Scan(table=[default_catalog.default_database.t], fields=[`a` INT, `b` STRING, \
`ts` TIMESTAMP(3)])
""",
    "SELECT (SELECT MAX(a) FROM p) AS m": """
Select(items=[(SELECT MAX(`a`) FROM `p`) AS `m` INT])
""",
    "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3": """
SetOperation(operator=[UNION ALL], fields=[`EXPR$0` INT NOT NULL])
:- Select(items=[1 AS `EXPR$0` INT NOT NULL])
:- Select(items=[2 AS `EXPR$0` INT NOT NULL])
+- Select(items=[3 AS `EXPR$0` INT NOT NULL])
""",
    "INSERT OVERWRITE p PARTITION (b = 'x') VALUES (1)": """
Sink(table=[default_catalog.default_database.p], fields=[`a`, `b`], overwrite=[true], \
partition=[b=x])
+- Values(rows=[1], fields=[`EXPR$0` INT NOT NULL])
""",
    "INSERT INTO p (b) SELECT 'y' FROM p AS q JOIN p ON q.a = p.a": """
Sink(table=[default_catalog.default_database.p], fields=[`b`])
+- Select(items=['y' AS `EXPR$0` CHAR(1) NOT NULL])
   +- Join(kind=[INNER JOIN], condition=[`q`.`a` = `p`.`a`])
      :- Scan(table=[default_catalog.default_database.p], fields=[`a` INT, `b` STRING], alias=[q])
      +- Scan(table=[default_catalog.default_database.p], fields=[`a` INT, `b` STRING])
""",
    "SELECT a FROM t /*+ OPTIONS('password' = 'hunter2') */ WHERE a IN (SELECT a FROM p)": """
Select(items=[`t`.`a` INT], where=[`t`.`a` IN (SELECT `a` FROM `p`)])
+- Scan(table=[default_catalog.default_database.t], fields=[`a` INT, `b` STRING, \
`ts` TIMESTAMP(3)], hints=[OPTIONS(password=******)])
""",
}


@pytest.fixture
def environment() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())
    for table in TABLES:
        made.execute_sql(table)
    return made


@pytest.mark.parametrize("statement", PLANS)
def test_typed_plan(environment: TableEnvironment, statement: str) -> None:
    _, _, rest = environment.explain_sql(statement).partition("== Abstract Syntax Tree ==")
    assert rest.partition("\n\n")[0] == PLANS[statement].replace("\\\n", "").rstrip("\n")


def sections(environment: TableEnvironment, details: str) -> dict[str, str]:
    statement = f"EXPLAIN {details} INSERT INTO p SELECT a, b FROM v"
    [(text,)] = environment.execute_sql(statement).collect()
    parts = text.split("== ")[1:]
    return {title: body.strip() for title, _, body in (part.partition(" ==\n") for part in parts)}


def test_details(environment: TableEnvironment) -> None:
    result = sections(environment, "CHANGELOG_MODE, PLAN_ADVICE, JSON_EXECUTION_PLAN")
    plan = result["Abstract Syntax Tree"].partition("\n\n")[0].splitlines()
    assert all(line.endswith("changelogMode=[I])") for line in plan)
    assert result["Plan Advice"] == "No available advice."
    nodes = json.loads(result["Physical Execution Plan"])["nodes"]
    assert [node["type"] for node in nodes] == ["Scan", "Select", "Select", "Sink"]
    assert [node["predecessors"] for node in nodes] == [[], [{"id": 1}], [{"id": 2}], [{"id": 3}]]


def test_estimated_cost_is_that_of_the_statistics(environment: TableEnvironment) -> None:
    assert sections(environment, "ESTIMATED_COST")["Estimated Cost"] == (
        "default_catalog.default_database.t: no statistics"
    )
    catalog = environment.get_catalog("default_catalog")
    assert catalog is not None
    path = ObjectPath("default_database", "t")
    catalog.alter_table_statistics(path, CatalogTableStatistics(1234), False)
    assert sections(environment, "ESTIMATED_COST")["Estimated Cost"] == (
        "default_catalog.default_database.t: 1,234 rows"
    )


def test_a_long_chain_of_set_operations_is_explained(environment: TableEnvironment) -> None:
    text = environment.explain_sql(" UNION ALL ".join(["SELECT a FROM t"] * 1000))
    assert text.count("Scan(") == 1000
