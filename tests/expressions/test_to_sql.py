"""SQL of typed trees is that of Flink and has the same type when parsed again."""

from __future__ import annotations

import pytest

from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import FunctionCall, Typed, walk
from schema_core.sql.parser import parse_expression
from schema_core.types import parse_type
from tests.support import cases

COLUMNS = {
    "a": "INT",
    "b": "BIGINT NOT NULL",
    "n": "DECIMAL(10, 2)",
    "s": "STRING",
    "d": "DATE",
    "ts": "TIMESTAMP(3)",
    "r": "ROW<x INT, y ROW<z STRING>>",
    "arr": "ARRAY<INT>",
    "m": "MAP<STRING, INT>",
}
SCOPE = ColumnScope({name: parse_type(text) for name, text in COLUMNS.items()})
PRINTED = cases("printed")


def typed(text: str) -> Typed:
    return infer(SCOPE, parse_expression(text))


@pytest.mark.parametrize(("text", "printed"), PRINTED)
def test_printed(text: str, printed: str) -> None:
    assert to_sql(typed(text)) == printed


@pytest.mark.parametrize("text", [text for text, _ in PRINTED])
def test_printed_sql_has_the_same_type(text: str) -> None:
    """Implicit casts are an exception: an explicit cast may have another type."""
    first = typed(text)
    again = typed(to_sql(first))

    if not any(isinstance(node, FunctionCall) and node.implicit for node in walk(first)):
        assert first.type == again.type
        assert to_sql(first) == to_sql(again)


def test_implicit_casts_are_printed_once() -> None:
    """Flink's SQL of ``ARRAY[a, b]`` grows each time it is parsed and printed."""
    first = to_sql(typed("ARRAY[a, b]"))

    assert first == "ARRAY[CAST(`a` AS BIGINT), CAST(`b` AS BIGINT)]"
    assert to_sql(typed(first)) == "ARRAY[CAST(`a` AS BIGINT), CAST(CAST(`b` AS BIGINT) AS BIGINT)]"
