"""Messages for common mistakes in the types of expressions."""

from __future__ import annotations

import pytest

from schema_core.errors import SchemaError
from schema_core.query.resolve import resolve_query
from schema_core.sql.parser import parse_query
from tests.query.tables import ExampleTables


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("CASE WHEN deptno > 1 THEN deptno ELSE loc END", "INT and STRING have no common type"),
        ("CASE WHEN deptno > 1 THEN ROW(1) WHEN TRUE THEN 1 ELSE loc END",
         "ROW<`EXPR$0` INT NOT NULL>, INT and STRING have no common type"),
        ("CASE WHEN deptno THEN 1 ELSE 2 END", "WHEN requires a BOOLEAN, got INT NOT NULL"),
        ("ARRAY[deptno, TRUE]", "INT and BOOLEAN have no common type"),
        ("MAP['a', 1, 'b', TRUE]", "INT and BOOLEAN have no common type"),
        ("COALESCE(loc, TRUE)", "STRING and BOOLEAN have no common type"),
        ("COALESCE(deptno, DATE '2020-01-01')", "INT and DATE have no common type"),
        ("deptno IN (DATE '2020-01-01', TRUE)", "DATE and BOOLEAN have no common type"),
        ("TRUE IN (DATE '2020-01-01')", "BOOLEAN NOT NULL and DATE NOT NULL are not comparable"),
        ("CAST(deptno AS DATE)", "INT NOT NULL cannot be cast to DATE"),
        ("CAST(DATE '2020-01-01' AS INT)", "DATE NOT NULL cannot be cast to INT"),
        ("CAST(ROW(1) AS INT)", "ROW<`EXPR$0` INT NOT NULL> NOT NULL cannot be cast to INT"),
        ("CAST(INTERVAL '1' DAY AS INT)",
         "SQL has no CAST from INTERVAL SECOND(3) NOT NULL to INT"),
    ],
)  # fmt: skip
def test_message_names_the_types_that_do_not_match(expression: str, problem: str) -> None:
    with pytest.raises(SchemaError) as caught:
        resolve_query(parse_query(f"SELECT {expression} FROM dept"), ExampleTables())

    assert caught.value.problem == problem


def test_set_operation_names_the_types_that_have_no_common_type() -> None:
    with pytest.raises(SchemaError) as caught:
        resolve_query(parse_query("SELECT loc FROM dept UNION SELECT TRUE"), ExampleTables())

    assert caught.value.problem == "STRING and BOOLEAN have no common type"
