from __future__ import annotations

import pytest

from schema_core.base.text import Span
from schema_core.expressions.functions import declare
from schema_core.expressions.typed import Function
from schema_core.query.expand import expand_query
from schema_core.query.relation import result_columns
from schema_core.query.resolve import resolve_query
from schema_core.sql.parser import parse_query
from schema_core.sql.printer import print_query
from schema_core.types import DataTypes
from tests.query.tables import ExampleTables
from tests.support import cases


def functions(path: tuple[str, ...], span: Span) -> tuple[Function, ...] | None:
    """A user-defined function."""
    if path[-1] != "plus1":
        return None
    home = ("default_catalog", "default_database", "plus1")
    return declare("plus1", [([DataTypes.INT()], DataTypes.INT())], path=home)


@pytest.mark.parametrize(("sql", "expected"), cases("expanded_queries"))
def test_expanded(sql: str, expected: str) -> None:
    result = print_query(expand_query(parse_query(sql), ExampleTables(), functions=functions))

    assert expected == result.replace("\n", " ")


@pytest.mark.parametrize("sql", [given for given, out in cases("queries") if out[0] != "!"])
def test_expanded_query_has_the_same_columns(sql: str) -> None:
    query = parse_query(sql)
    again = parse_query(print_query(expand_query(query, ExampleTables())))

    assert result_columns(resolve_query(query, ExampleTables())) == result_columns(
        resolve_query(again, ExampleTables())
    )
