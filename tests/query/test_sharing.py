"""Views, merged columns and columns of a table are resolved once."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import NotFoundError, SchemaError
from schema_core.expressions import type_checker
from schema_core.query.relation import result_columns
from schema_core.query.resolve import resolve_query


@pytest.fixture
def environment() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.execute_sql("CREATE TABLE t (a INT, b STRING)")
    return made


def resolved_queries(environment: TableEnvironment, statement: str) -> int:
    """The number of queries that a statement resolves, including those of views."""
    with patch("schema_core.environment.session.resolve_query", wraps=resolve_query) as resolve:
        environment.execute_sql(statement)
    return resolve.call_count


def test_a_statement_resolves_each_view_once(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE VIEW v0 AS SELECT a FROM t")
    for number in range(1, 20):
        environment.execute_sql(
            f"CREATE VIEW v{number} AS SELECT x.a FROM v{number - 1} AS x, v{number - 1} AS y"
        )

    # 20 views, the query of the new one, and its text read back
    assert resolved_queries(environment, "CREATE VIEW w AS SELECT a FROM v19") <= 22


def test_views_are_resolved_again_after_each_statement(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql("CREATE VIEW v AS SELECT a FROM t")
    environment.execute_sql("CREATE VIEW w AS SELECT a FROM v")
    environment.execute_sql("DROP TABLE t")

    with pytest.raises(NotFoundError) as caught:
        environment.sql_query("SELECT * FROM w")

    assert caught.value.code == "table-not-found"


@pytest.mark.parametrize("order", ["v20, v32", "v32, v20", "v5, v20, v31, v32", "v32"])
def test_depth_limit_of_views_does_not_depend_on_their_order(
    environment: TableEnvironment, order: str
) -> None:
    environment.execute_sql("CREATE VIEW v0 AS SELECT a FROM t")
    for number in range(1, 33):
        environment.execute_sql(f"CREATE VIEW v{number} AS SELECT a FROM v{number - 1}")
    environment.sql_query("SELECT 1 FROM v31, v20")

    with pytest.raises(SchemaError) as caught:
        environment.sql_query(f"SELECT 1 FROM {order}")

    assert caught.value.code == "limit-exceeded"


def test_merged_columns_are_typed_once(environment: TableEnvironment) -> None:
    def typed(joins: int) -> int:
        text = "SELECT 1 FROM t" + "".join(f" NATURAL JOIN t AS t{i}" for i in range(joins))
        with patch.object(type_checker, "resolve_call", wraps=type_checker.resolve_call) as apply:
            environment.sql_query(text)
        return apply.call_count

    assert typed(40) <= 5 * max(typed(10), 40)


@pytest.mark.parametrize(
    ("joins", "types"),
    [
        ("NATURAL JOIN u", "INT NOT NULL, STRING"),
        ("NATURAL LEFT JOIN u", "INT, STRING"),
        ("NATURAL LEFT JOIN u NATURAL JOIN w", "INT NOT NULL, STRING"),
        ("NATURAL RIGHT JOIN u NATURAL JOIN w", "INT NOT NULL, STRING"),
        ("NATURAL JOIN u NATURAL FULL JOIN w", "INT, STRING"),
        ("JOIN u USING (a, b) JOIN w USING (a, b)", "INT NOT NULL, STRING"),
    ],
)
def test_types_of_merged_columns_follow_the_joins(
    environment: TableEnvironment, joins: str, types: str
) -> None:
    environment.execute_sql("CREATE TABLE u (a INT NOT NULL, b STRING)")
    environment.execute_sql("CREATE TABLE w (a INT NOT NULL, b STRING)")
    relation = environment.sql_query(f"SELECT * FROM t {joins}").relation
    given = [type_.as_summary_string() for _, type_ in result_columns(relation)]

    assert ", ".join(given) == types


def test_repetition_of_expressions_in_order_by_is_bounded(
    environment: TableEnvironment,
) -> None:
    large, keys = " + ".join(["a"] * 400), ", ".join(f"x + {i}" for i in range(100))
    with pytest.raises(SchemaError) as caught:
        environment.sql_query(f"SELECT {large} AS x FROM t ORDER BY {keys}")

    assert caught.value.code == "limit-exceeded"


def test_columns_added_one_by_one_read_back(environment: TableEnvironment) -> None:
    for number in range(20):
        environment.execute_sql(f"ALTER TABLE t ADD c{number} INT")
    environment.execute_sql("ALTER TABLE t MODIFY c3 BIGINT")
    environment.execute_sql("ALTER TABLE t ADD (d AS c3 + 1)")
    environment.execute_sql("ALTER TABLE t MODIFY c3 DOUBLE")
    schema = environment.from_path("t").get_resolved_schema()
    types = {column.name: str(column.data_type) for column in schema.columns}

    assert list(types) == ["a", "b", *(f"c{i}" for i in range(20)), "d"]
    assert (types["c3"], types["c4"], types["d"]) == ("DOUBLE", "INT", "DOUBLE")
