"""Statements, one after another: work is linear in their number."""

from __future__ import annotations

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from tests.support import count_calls


def environment() -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen')")
    return environment


def test_adding_a_column_does_not_check_the_others_again() -> None:
    """As many calls for the last columns of 120 as for the first ones."""
    session = environment()

    def add(start: int) -> int:
        statements = [f"ALTER TABLE t ADD c{place} INT" for place in range(start, start + 10)]
        return count_calls(lambda: [session.execute_sql(text) for text in statements], {"call"})

    add(0)  # what is imported or looked up once
    first, *_, last = [add(start) for start in range(10, 120, 10)]

    assert last <= 1.1 * first


def compile_plan(depth: int) -> int:
    """Count the calls to compile a plan that reads views over views."""
    session = environment()
    session.execute_sql("CREATE TABLE s (a INT, b STRING) WITH ('connector' = 'blackhole')")
    session.execute_sql("CREATE VIEW v0 AS SELECT * FROM t")
    for place in range(1, depth):
        session.execute_sql(
            f"CREATE VIEW v{place} AS SELECT x.a, y.b FROM v{place - 1} x, v{place - 1} y"
        )
    insert = f"INSERT INTO s SELECT * FROM v{depth - 1}"
    return count_calls(lambda: session.compile_plan_sql(insert).as_json_string())


def test_a_plan_resolves_each_view_as_often_for_many_views() -> None:
    """Three times the views need at most four times the calls; quadratic work would need nine."""
    compile_plan(2)

    assert compile_plan(18) <= 4 * compile_plan(6)


def create_views(depth: int) -> int:
    session = environment()
    session.execute_sql("CREATE VIEW v0 AS SELECT * FROM t")
    for place in range(1, depth):
        session.execute_sql(f"CREATE VIEW v{place} AS SELECT a + 1 AS a, b FROM v{place - 1}")
    return count_calls(lambda: session.execute_sql(f"CREATE VIEW v AS SELECT * FROM v{depth - 1}"))


def test_a_view_over_views_resolves_each_of_them_once() -> None:
    create_views(2)

    assert create_views(24) <= 5 * create_views(6)
