"""EXPLAIN on Spark: types, ways of computing functions, push-down, Spark SQL and plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from schema_core.environment.table_environment import TableEnvironment


def test_explain_shows_how_a_query_is_run(environment: TableEnvironment, tmp_path: Path) -> None:
    environment.execute_sql(
        "CREATE TABLE t (a INT, b STRING, c DOUBLE, u AS UPPER(b)) WITH ("
        f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path}')"
    )
    environment.execute_sql("INSERT INTO t VALUES (1, 'x', 2e0)").wait()

    text = environment.sql_query(
        "SELECT u, REGEXP_REPLACE(b, '(x)', '$1') AS r FROM t WHERE a > 5 AND 10 / a = 2"
        " AND a IN (SELECT 1)"
    ).explain()
    sections = dict(part.split(" ==\n", 1) for part in text.split("== ")[1:] if " ==\n" in part)

    assert "u STRING\nr STRING\n\n" == sections["Result"]
    assert "UPPER" in sections["Functions"]
    assert "default_catalog.default_database.t by connector 'filesystem'" in sections["Scans"]
    assert "columns: a, b (2 of 3)" in sections["Scans"]
    assert "filter for Spark (see its plan): `a` > 5" in sections["Scans"]
    assert "= 2: / may fail" in sections["Scans"]
    assert "it has a subquery" in sections["Scans"]
    assert "SELECT" in sections["Spark SQL"]
    assert "GreaterThan(a,5)" in text


def test_explain_of_create_table_as_has_its_plan(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    statement = (
        "CREATE TABLE n WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{tmp_path}') AS SELECT 1 AS a"
    )
    text = environment.explain_sql(statement)
    ((shown,),) = environment.execute_sql(f"EXPLAIN {statement}").collect()

    plan = f"== Create table ==\n{environment.plan_ctas(statement)}\n\n== Abstract Syntax Tree"
    assert text.startswith(plan)
    assert "Sink(table=[default_catalog.default_database.n], fields=[`a`])" in text
    assert "\n\n== Result ==\n" in text
    assert "level: 1, created first" in shown
    assert "visibility: final" in shown
    assert "Spark's plan" in shown
    assert [] == environment.list_tables()
