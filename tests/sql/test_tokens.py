"""Tokens of Flink SQL."""

from __future__ import annotations

import pytest

from schema_core.base.keywords import CALLABLE, NILADIC, RESERVED
from schema_core.base.text import MAX_DIGITS, MAX_TEXT
from schema_core.errors import ParseError
from schema_core.sql.tokens import cursor_over, identifier, path, refuse, sql_tokens, string


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a",              "word"),
        ("Order",          "reserved"),
        ("$x_1",           "word"),
        ("日本",           "word"),
        ("`a b`",          "name"),
        ("'it''s'",        "string"),
        ("_utf8'x' N'x'",  "charset charset"),
        ("U&'x' u&'x'",    "unicode unicode"),
        ("e'\\''",         "escaped"),
        ("X'0f'",          "binary"),
        ("1 1. .5 1.5",    "integer decimal decimal decimal"),
        ("1e3 1.e-3 .5E+3", "approximate approximate approximate"),
        ("1e",             "integer word"),
        ("a--b\n+1",       "word symbol integer"),
        ("a//b\r+1",       "word symbol integer"),
        ("a/*b*/+/**/1",   "word symbol integer"),
        ("/*+ a */",       "symbol word symbol"),
        ("a <> b",         "word symbol word"),
        ("a#b",            "word bad word"),
        ("a/**/b/***/c*/", "word word"),
        ("/***/",          "bad"),
        ("a..b",           "word symbol word"),
        ("a!=-1",          "word bad symbol integer"),
        ("'a",             "bad"),
        ("a\u00a0b",       "word bad word"),
        ("a\u2003b",       "word bad word"),
        ("ａ",             "bad"),
    ],
)  # fmt: skip
def test_kinds(text: str, kinds: str) -> None:
    assert [*kinds.split(), "end"] == [token.kind for token in sql_tokens(text)]


@pytest.mark.parametrize(
    ("text", "value", "key"),
    [
        ("Select", "Select", "SELECT"),
        ("`a``b`", "a`b",    ""),
        ("'a''b'", "a'b",    ""),
        ("{ Ts",   "{ Ts",   "{TS"),
        ("ıN",     "ıN",     "ıN"),
    ],
)  # fmt: skip
def test_value_and_key(text: str, value: str, key: str) -> None:
    token = sql_tokens(text)[0]

    assert (value, key) == (token.value, token.key)


def test_spans_are_offsets_into_the_text() -> None:
    text = "a /* x */ >= 'b''c' -- y"

    assert ["a", ">=", "'b''c'", ""] == [text[t.start : t.stop] for t in sql_tokens(text)]


def test_callable_and_niladic_words_are_reserved() -> None:
    assert CALLABLE <= RESERVED
    assert NILADIC <= RESERVED


@pytest.mark.parametrize(
    ("text", "code"),
    [("a" * (MAX_TEXT + 1), "limit-exceeded"), ("9" * (MAX_DIGITS + 1), "limit-exceeded")],
    ids=["text", "number"],
)
def test_input_beyond_the_limits_is_refused(text: str, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        sql_tokens(text)

    assert code == caught.value.code


@pytest.mark.parametrize(
    "text",
    ["/*" * 400_000, "'" * 799_999, "`" * 799_999, "/*/" * 200_000, "\0" * 800_000],
    ids=["comments", "quotes", "backticks", "slashes", "zeros"],
)
def test_tokenizing_adversarial_input_is_linear(text: str) -> None:
    assert "end" == sql_tokens(text)[-1].kind


def test_names_strings_and_paths() -> None:
    cursor = cursor_over("a.`b c`.d 'x'")

    assert ("a", "b c", "d") == path(cursor)
    assert "x" == string(cursor)


def test_reserved_word_is_not_an_identifier() -> None:
    with pytest.raises(ParseError) as caught:
        identifier(cursor_over("order"))

    assert "expected a name, found 'order'" == caught.value.problem
    assert "quote a reserved word with backticks" == caught.value.hint


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("'a", "unterminated string"),
        ("`a", "unterminated name in backticks"),
        ("/*", "unterminated comment"),
        ("#", "invalid character '#'"),
    ],
)
def test_problems_of_bad_tokens(text: str, problem: str) -> None:
    assert problem == refuse(cursor_over(text), "a name").problem
