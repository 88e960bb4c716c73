"""Laws of Flink SQL: printing inverts parsing, and invalid SQL raises only `ParseError`."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schema_core.errors import ParseError
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression, print_type
from schema_core.sql.syntax import Expression, TypeName
from schema_core.sql.tokens import cursor_over, sql_tokens
from schema_core.sql.type_name import cast_target
from schema_core.testing.expression_trees import trees, type_names

PIECES = st.sampled_from(
    [
        "a", "order", "`b c`", "'x'", "1", "1.5e3", "(", ")", "[", "]", ",", ".", "+", "-", "*",
        "||", "=", "<>", "AND", "OR", "NOT", "IS", "NULL", "IN", "BETWEEN", "LIKE", "ESCAPE",
        "CASE", "WHEN", "THEN", "ELSE", "END", "CAST(", "AS", "INT", "ARRAY", "<", ">", "ROW(",
        "EXTRACT(", "FROM", "DAY", "TO", "INTERVAL", "DATE", "TRIM(", "BOTH", "JSON_VALUE(",
        "ON", "ERROR", "OVER", "DISTINCT", "U&'\\", "/*", "*/", "--", "=>", "{d", "SOME",
    ]
)  # fmt: skip
strings = st.text() | st.lists(PIECES | st.text(max_size=2), max_size=12).map(" ".join)


def refusal(read: Callable[[str], object], text: str) -> ParseError | None:
    """Return the error of parsing a string, if any; errors of other classes break the law."""
    try:
        read(text)
    except ParseError as error:
        return error
    return None


@given(trees())
def test_parsing_inverts_printing(tree: Expression) -> None:
    assert tree == parse_expression(print_expression(tree))


@given(type_names())
def test_parsing_inverts_printing_of_types(written: TypeName) -> None:
    assert written == cast_target(cursor_over(print_type(written)))


@given(strings)
@example("(" * 10_000)
@example("CAST(a AS " + "ARRAY<" * 10_000)
@example("DATE '" + "9" * 10_000 + "-1-1'")
@example("1e" + "9" * 900)
@example("U&'\\d83d' || E'\\xff'")
@example("\ud800")
def test_any_string_is_parsed_or_refused_with_a_position(text: str) -> None:
    error = refusal(parse_expression, text)

    if error is not None:
        assert error.span is not None
        assert 0 <= error.span.start <= len(text)


@given(strings)
def test_printing_is_idempotent(text: str) -> None:
    if refusal(parse_expression, text) is None:
        printed = print_expression(parse_expression(text))
        if refusal(parse_expression, printed) is None:
            again = print_expression(parse_expression(printed))
            assert again == print_expression(parse_expression(again))


@given(strings)
def test_tokens_do_not_overlap(text: str) -> None:
    if refusal(sql_tokens, text) is None:
        edges = [edge for token in sql_tokens(text) for edge in token.span]
        assert edges == sorted(edges)


@given(trees())
def test_trees_can_be_pickled(tree: Expression) -> None:
    assert tree == pickle.loads(pickle.dumps(tree))
    assert hash(tree) == hash(pickle.loads(pickle.dumps(tree)))


@pytest.mark.parametrize(
    "text",
    ["a + " * 500_000 + "a", "9" * 5_000, "1." + "9" * 5_000, "'" * 1_000_001],
    ids=["2 MB", "5,000 digits", "5,000 places", "quotes"],
)
def test_limits_are_checked_before_parsing(text: str) -> None:
    error = refusal(parse_expression, text)

    assert error is not None
    assert "limit-exceeded" == error.code
