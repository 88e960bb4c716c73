"""Hints of syntax errors: common mistakes, words of other systems, missing commas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from schema_core.base.text import position
from schema_core.errors import ParseError, SchemaError, within
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.sql.parser import parse_expression, parse_statement, parse_statements
from schema_core.sql.tokens import sql_tokens
from schema_core.types.type_parser import parse_type
from schema_core.types.type_parser import tokens as type_tokens
from tests.support import cases

SET = "EXECUTE STATEMENT SET BEGIN INSERT INTO t"


@pytest.mark.parametrize(("sql", "expected"), cases("hints"))
def test_hint_of_a_syntax_error(sql: str, expected: str) -> None:
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
        ("TRUE || FALSE", "write OR: || joins strings"),
    ],
)
def test_hint_for_a_call(call: str, expected: str | None) -> None:
    with pytest.raises(SchemaError) as caught:
        infer(ColumnScope({}), parse_expression(call))

    assert expected == caught.value.hint


def without_commas(text: str) -> Iterator[tuple[str, int]]:
    """The statement without each of its commas, and where the next token starts."""
    tokens = sql_tokens(text)
    for comma, follower in pairwise(tokens):
        if comma.key == ",":
            yield f"{text[: comma.start]} {text[comma.stop :]}", follower.start


def names_the_comma(error: ParseError, text: str, start: int) -> bool:
    """Whether the hint names the comma that is missing before the token at an offset."""
    hint, (line, column) = error.hint or "", position(text, start)
    is_here = error.span is not None and error.span.start == start
    return hint.startswith("missing ',' before") and (
        hint.endswith(f" at line {line}, column {column}") or (is_here and " at line " not in hint)
    )


@pytest.mark.parametrize(
    ("name", "least"), [("statements", 20), ("printed_queries", 25), ("queries", 120)]
)
def test_hint_names_the_missing_comma_in_95_percent_of_the_refused_statements(
    name: str, least: int
) -> None:
    wrong, refused = [], 0
    statements = [text for text, expected in cases(name) if not expected.startswith("! syntax")]
    for broken, start in (comma for text in statements for comma in without_commas(text)):
        try:
            parse_statement(broken)
        except ParseError as error:
            refused += 1
            if not names_the_comma(error, broken, start):
                wrong.append(broken)

    assert refused >= least
    assert len(wrong) <= 0.05 * refused, wrong


#: Type strings with a comma in every position that the grammar has.
TYPES = (
    "DECIMAL(10, 2)",
    "ROW<a INT, b STRING>",
    "ROW<a INT NOT NULL, b DECIMAL(10, 2) 'comment', c MAP<INT, STRING>>",
    "ROW(a TIMESTAMP(3) WITH LOCAL TIME ZONE, b DOUBLE PRECISION, c my.type)",
    "ROW<`a b` CHAR(3), `c` INTERVAL DAY TO SECOND, d BYTES MULTISET>",
    "MAP<INT, ARRAY<STRING>>",
    "MAP<STRING NOT NULL, ROW<a INT, b MAP<INT, ARRAY<INT>>>>",
    "MULTISET<ROW<a DEC(5, 1), b NUMERIC(7, 3)>>",
    "STRUCTURED<'com.acme.Point', x INT, y ROW<z INT, w INT>>",
)


def test_hint_names_the_missing_comma_of_a_type_string() -> None:
    wrong, refused = [], 0
    for text in TYPES:
        for comma, follower in pairwise(type_tokens(text)):
            if comma.key != ",":
                continue
            broken = f"{text[: comma.start]} {text[comma.stop :]}"
            with pytest.raises(SchemaError) as caught:
                parse_type(broken)
            refused += 1
            error = caught.value
            where = f" at character {follower.start + 1}"
            is_here = error.span is not None and error.span.start == follower.start
            named = f"missing ',' before {follower.display}{'' if is_here else where}"
            if error.hint != named:
                wrong.append(broken)

    assert refused >= 20
    assert wrong == []


@pytest.mark.parametrize(
    ("sql", "errors"),
    [
        (f"{SET} SELECT a b c FROM s; INSERT INTO u SELECT 1; END; USE x", 1),
        (f"{SET} SELECT a b c FROM s; INSERT INTO u SELECT 1; END; USE 1", 2),
        (f"{SET} SELECT a b c FROM s; INSERT INTO u SELECT 1 2 3; END", 1),
        (f"{SET} SELECT a b c FROM s; USE 1; USE 2", 3),
        ("SELECT a b c FROM s; USE 1", 2),
    ],
)
def test_an_error_ends_the_whole_statement_set(sql: str, errors: int) -> None:
    with pytest.raises(ParseError) as caught:
        parse_statements(sql)

    assert len(caught.value.diagnostics) == errors
    assert caught.value.hint == "missing ',' before 'c'"


def test_search_for_a_missing_comma_is_bounded() -> None:
    with pytest.raises(ParseError) as caught:
        parse_statement("SELECT " + " ".join(f"a{i} b{i} c{i}" for i in range(20_000)))

    assert caught.value.hint is None
