"""Stored objects that no longer resolve: their function, type or table is unknown to the session.

They are listed, described, shown, altered, renamed and dropped all the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core import DataTypes, EnvironmentSettings, TableEnvironment
from schema_core.catalog.functions import FunctionClass
from schema_core.errors import SchemaCoreError

PLUS = FunctionClass((((DataTypes.INT(),), DataTypes.INT()),))


def session(path: Path) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.execute_sql(f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{path}/c.db')")
    made.use_catalog("c")
    return made


@pytest.fixture
def environment(tmp_path: Path) -> TableEnvironment:
    """A new session without the class of a function and the type of a column."""
    before = session(tmp_path)
    before.declare_function_class("plus", PLUS)
    before.execute_sql("CREATE FUNCTION f AS 'plus' LANGUAGE PYTHON")
    before.execute_sql(
        "CREATE TABLE t (a INT NOT NULL COMMENT 'x', m INT METADATA FROM 'k' VIRTUAL, b AS f(a),"
        " ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED)"
        " COMMENT 'c' PARTITIONED BY (a) WITH ('password' = 'geheim')"
    )
    before.execute_sql("CREATE VIEW v AS SELECT a, f(a) AS b FROM t")
    return session(tmp_path)


def code(environment: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    return caught.value.code


def test_it_cannot_be_read(environment: TableEnvironment) -> None:
    assert "invalid-function-class" == code(environment, "SELECT * FROM t")
    assert "invalid-function-class" == code(environment, "SELECT * FROM v")


@pytest.mark.parametrize("if_exists", ["", "IF EXISTS "])
def test_it_is_dropped(environment: TableEnvironment, if_exists: str) -> None:
    assert ["t", "v"] == environment.list_tables()
    environment.execute_sql(f"DROP TABLE {if_exists}t")
    environment.execute_sql(f"DROP VIEW {if_exists}v")
    assert [] == environment.list_tables()


def test_it_is_dropped_by_the_methods(environment: TableEnvironment) -> None:
    assert not environment.drop_view("t")
    assert environment.drop_table("t")
    assert environment.drop_view("v")


def test_it_is_renamed_and_mended(environment: TableEnvironment) -> None:
    environment.execute_sql("ALTER TABLE t RENAME TO u")
    environment.execute_sql("ALTER TABLE u DROP b")
    environment.execute_sql("ALTER VIEW v AS SELECT a FROM u")

    assert [] == list(environment.execute_sql("SHOW PARTITIONS u").collect())
    assert ["a"] == environment.from_path("v").get_resolved_schema().get_column_names()


def test_it_is_described(environment: TableEnvironment) -> None:
    rows = [tuple(row) for row in environment.execute_sql("DESCRIBE t").collect()]

    assert [
        ("a", "INT", False, "PRI(a)", None, None, "x"),
        ("m", "INT", True, None, "METADATA FROM 'k' VIRTUAL", None, None),
    ] == rows[:2]
    assert ("b", None, None, None) == rows[2][:4]
    assert rows[2][4].startswith("AS `c`.`default`.`f`(`a`) (")
    assert ("ts", "TIMESTAMP(3)", True, None, None, "`ts`", None) == rows[3]
    described = [tuple(row)[:2] for row in environment.execute_sql("DESCRIBE v").collect()]
    assert [("a", "INT"), ("b", "INT")] == described


def test_its_statement_is_shown_and_makes_it_again(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    (row,) = environment.execute_sql("SHOW CREATE TABLE t").collect()
    assert "geheim" not in row[0]
    environment.declare_function_class("plus", PLUS)
    (expected,) = environment.execute_sql("SHOW CREATE TABLE t").collect()
    assert expected[0] == row[0]


def test_nothing_is_described_where_nothing_is(environment: TableEnvironment) -> None:
    for statement in ("DESCRIBE x", "SHOW CREATE TABLE x"):
        assert "table-not-found" == code(environment, statement)
