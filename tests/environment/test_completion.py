"""Completion of statements: names of existing objects, and keywords that the parser accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError

SCRIPT = """
CREATE TABLE orders (id INT, `my cost` INT, `order` INT);
CREATE TABLE t (a INT, b STRING);
CREATE TEMPORARY VIEW v AS SELECT 1 AS x;
CREATE DATABASE d;
CREATE TABLE d.u (q INT) WITH ('connector' = 'datagen');
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('k' = 'v')
"""

TABLES = ["orders", "t", "v", "d", "default_database", "c", "default_catalog"]


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for statement in SCRIPT.split(";"):
        environment.execute_sql(statement)
    return environment


def completed(environment: TableEnvironment, text: str) -> list[str]:
    """Return the completions at the bar in a statement."""
    return environment.complete_statement(text.replace("|", ""), text.index("|"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM |", [*TABLES, "LATERAL", "TABLE", "UNNEST"]),
        ("SELECT * FROM o|", ["orders"]),
        ("USE C|", ["c", "CATALOG"]),
        ("USE CATALOG default_|", ["default_catalog"]),
        ("SET 'table.dml|", ["table.dml-sync"]),
        ("RESET 'table.dml|", ["table.dml-sync"]),
        ("CREATE TABLE x (a INT) WITH ('c|", ["connector"]),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'data|", ["datagen"]),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'ROWS|", ["rows-per-second"]),
        ("CREATE TABLE x (a INT) WITH ('format' = 'c|", ["canal-json", "csv"]),
        ("CREATE TABLE x (a INT) WITH ('forma|', 'connector' = 'kafka')", ["format"]),
        ("CREATE TABLE x (a INT) WITH ('connector' = 'unknown', 'forma|", []),
        ("ALTER TABLE t SET ('conn|", ["connector"]),
        ("ALTER TABLE d.u SET ('rows|", ["rows-per-second"]),
        ("ALTER TABLE IF EXISTS default_catalog.d.u SET ('a' = 'b', 'rows|", ["rows-per-second"]),
        ("ALTER TABLE d.u RESET ('|", ["connector"]),
        ("ALTER TABLE nowhere SET ('rows|", []),
        ("CREATE CATALOG k WITH ('|", ["type"]),
        ("CREATE CATALOG k WITH ('type' = 'gen|", ["generic_in_memory"]),
        ("SELECT 'conn|", []),
        ("SELECT * FROM OR|", ["orders"]),
        ("SELECT * FROM d.|", ["u"]),
        ("SELECT * FROM default_catalog.|", ["d", "default_database"]),
        ("SELECT * FROM default_catalog.d.|", ["u"]),
        ("SELECT * FROM t, v|", ["v"]),
        ("SELECT a FROM t AS x JOIN |", [*TABLES, "LATERAL", "TABLE", "UNNEST"]),
        ("SELECT o.| FROM orders o", ["id", "`my cost`", "`order`", "*"]),
        ("SELECT x.| FROM t AS x JOIN d.u AS y ON TRUE", ["a", "b", "*"]),
        ("SELECT `my| FROM orders", ["`my cost`"]),
        (
            "SELECT o| FROM orders",
            ["`order`", "orders", "object_of", "object_update", "OCTET_LENGTH", "OVERLAY"],
        ),
        ("SELECT UPP|", ["UPPER"]),
        ("SELECT a FROM t OR|", ["ORDER"]),
        ("SELECT a FROM t ORDER |", ["BY"]),
        ("SELECT a FROM t LI|", ["LIMIT"]),
        ("ALTER TABLE t |", ["ADD", "DROP", "MODIFY", "RENAME", "RESET", "SET"]),
        ("ALTER TABLE |", TABLES),
        ("DROP TABLE IF EXISTS |", TABLES),
        ("INSERT INTO |", TABLES),
        ("INSERT INTO t SE|", ["SELECT"]),
        ("DESCRIBE |", [*TABLES, "CATALOG", "EXTENDED"]),
        ("SHOW CREATE TABLE |", TABLES),
        ("SHOW TABLES FROM |", ["d", "default_database", "c", "default_catalog"]),
        ("SHOW MODELS IN |", ["d", "default_database", "c", "default_catalog"]),
        ("SHOW CU|", ["CURRENT"]),
        ("USE |", ["d", "default_database", "c", "default_catalog", "CATALOG", "MODULES"]),
        ("USE CATALOG |", ["c", "default_catalog"]),
        ("DROP CATALOG |", ["c", "default_catalog"]),
        ("DESCRIBE MODEL |", ["m", "EXTENDED"]),
        ("UNLOAD MODULE |", ["core"]),
        ("SEL|", ["SELECT"]),
        ("USE d; SEL|", ["SELECT"]),
        ("CREATE V|", ["VIEW"]),
        ("CREATE TABLE x (a BIGI|", ["BIGINT"]),
        ("CREATE TABLE |", []),
        ("SELECT 'abc |", []),
        ("SELECT FROM WHERE |", []),
        ("nothing of this |", []),
    ],
)
def test_completions(environment: TableEnvironment, text: str, expected: list[str]) -> None:
    result = completed(environment, text)

    assert expected == [item for item in result if item != "IF"]


def test_columns_and_functions_are_completed_in_expressions(environment: TableEnvironment) -> None:
    result = completed(environment, "SELECT y.q FROM t AS x JOIN d.u AS y ON x.a = |")

    assert ["a", "b", "q", "x", "y"] == result[:5]
    assert {"concat_ws", "CAST", "NULL"} <= {*result}


@given(text=st.text(alphabet="SELECT FROM t.,()`'\n;x*", max_size=30), position=st.integers())
def test_completion_never_raises(text: str, position: int) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())

    assert isinstance(environment.complete_statement(text, position), list)


def test_a_statement_that_is_not_a_string_is_refused(environment: TableEnvironment) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.complete_statement(None, 0)  # type: ignore[arg-type]
    assert "invalid-argument" == caught.value.code
