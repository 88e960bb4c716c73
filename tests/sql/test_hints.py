"""What SQL that cannot be read is told to do about it."""

from __future__ import annotations

import pytest

from schema_core.errors import ParseError, SchemaError, within
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.sql.parser import parse_expression, parse_statements
from tests.support import cases


@pytest.mark.parametrize(("sql", "expected"), cases("hints"))
def test_the_hint_says_what_was_meant(sql: str, expected: str) -> None:
    with pytest.raises(ParseError) as caught, within(sql):
        parse_statements(sql)

    assert expected == (caught.value.diagnostics[0].hint or "none")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("UPER(1)", "did you mean 'UPPER'?"),
        ("nvl(1, 2)", "Flink has COALESCE"),
        ("foo(1)", None),
        ("x(1)", None),
    ],
)
def test_the_hint_names_a_function(call: str, expected: str | None) -> None:
    with pytest.raises(SchemaError) as caught:
        infer(ColumnScope({}), parse_expression(call))

    assert expected == caught.value.hint
