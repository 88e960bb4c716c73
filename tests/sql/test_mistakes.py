"""Common mistakes in valid statements: a hint names the mistake or there is none.

Each mistake is one edit of a statement. The table of mistakes gives the least share of good hints;
a hint about anything else is wrong, and almost none may be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from schema_core.base.text import Token
from schema_core.errors import ParseError
from schema_core.sql.hints import WORDS
from schema_core.sql.parser import parse_statement, parse_statements
from schema_core.sql.tokens import sql_tokens
from tests.support import cases

#: Edits a statement in all possible places: the broken text, and a pattern of good messages.
Mistake = Callable[[str, list[Token]], Iterator[tuple[str, str]]]


def replaced(text: str, token: Token, by: str) -> str:
    return text[: token.start] + by + text[token.stop :]


def trailing_comma(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for before, token in pairwise(tokens):
        if token.key in (")", "]", "FROM") and before.key not in ("(", "[", "*", "METADATA"):
            yield f"{text[: before.stop]},{text[before.stop :]}", "remove the comma"


def no_closing_parenthesis(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.key == ")":
            yield replaced(text, token, " "), "the parenthesis at line .* is not closed"


def no_opening_parenthesis(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.key == "(":
            yield replaced(text, token, " "), r"missing '\('|remove it, or|expected '\('"


def no_closing_quote(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.kind == "string" and token.value:
            yield text[: token.stop - 1] + text[token.stop :], "a quote is missing|unterminated"


def no_opening_quote(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.kind == "string" and token.value not in ("x", ""):  # x' begins a binary literal
            yield text[: token.start] + text[token.start + 1 :], "a quote is missing|unterminated"


def double_quotes(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.kind in ("string", "name"):
            yield replaced(text, token, f'"{token.value}"'), "use backticks for names"


def no_equals_sign(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for before, token in pairwise(tokens):
        if token.key == "=" and before.kind == "string":
            yield replaced(text, token, " "), "missing '=' before|expected '='"


def two_equals_signs(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.key == "=":
            yield replaced(text, token, "=="), "write a single ="


def colon(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for before, token in pairwise(tokens):
        if token.key == "=" and before.kind == "string":
            yield replaced(text, token, ":"), "write = between the key and its value"


def foreign_operator(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for before, token in pairwise(tokens):
        if token.key == "AND":
            yield replaced(text, token, "&&"), "write AND"
        if token.key == "OR" and before.key != "CREATE":
            yield replaced(text, token, "|"), "write OR"
        if token.key == "<>":
            yield replaced(text, token, "!="), "write <>"


def semicolon(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        if token.key in ("FROM", "WHERE", "GROUP", "ORDER", "LIMIT", "JOIN", "PARTITIONED"):
            yield f"{text[: token.start]}; {text[token.start :]}", "remove the semicolon"


def limit_before_order(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    keys = {token.key for token in tokens}
    if tokens[0].key == "SELECT" and not keys & {"ORDER", "LIMIT", "OFFSET", "FETCH", ";"}:
        yield f"{text} LIMIT 3 ORDER BY 1", "write ORDER BY before LIMIT"


def no_as(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    good = "missing AS before|expected AS|optional only in CREATE TABLE ... AS"
    for token, after in pairwise(tokens):
        if token.key == "AS" and after.key in ("SELECT", "WITH", "VALUES", "("):
            yield replaced(text, token, " "), good


def no_by(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for before, token in pairwise(tokens):
        if token.key == "BY":
            yield replaced(text, token, " "), f"write {before.key} BY|expected BY"


def misspelt(text: str, tokens: list[Token]) -> Iterator[tuple[str, str]]:
    """Drop, double or swap the letters in the middle of a keyword."""
    for token in tokens:
        word = token.key
        if word not in WORDS or len(word) < 4:
            continue
        half = len(word) // 2
        for wrong in (
            word[:half] + word[half + 1 :],
            word[:half] + word[half - 1 :],
            word[: half - 1] + word[half] + word[half - 1] + word[half + 1 :],
        ):
            if wrong not in WORDS and wrong != word:
                yield (
                    replaced(text, token, wrong),
                    rf"did you mean {word}\b|expected .*\b{word}\b.*, found '{wrong}'",
                )


#: Mistake -> the least share of good hints, and the least number of statements that are refused.
MISTAKES: dict[str, tuple[Mistake, float, int]] = {
    "trailing comma":        (trailing_comma, 0.98, 150),
    "no )":                  (no_closing_parenthesis, 0.90, 150),
    "no (":                  (no_opening_parenthesis, 0.90, 150),
    "no closing quote":      (no_closing_quote, 0.85, 50),
    "no opening quote":      (no_opening_quote, 0.85, 50),
    "double quotes":         (double_quotes, 0.98, 50),
    "no =":                  (no_equals_sign, 0.98, 15),
    "==":                    (two_equals_signs, 0.95, 30),
    "colon":                 (colon, 0.98, 15),
    "&&, | and !=":          (foreign_operator, 0.95, 3),
    "semicolon":             (semicolon, 0.90, 50),
    "LIMIT before ORDER BY": (limit_before_order, 0.95, 30),
    "no AS":                 (no_as, 0.95, 10),
    "no BY":                 (no_by, 0.90, 15),
    "misspelt keyword":      (misspelt, 0.95, 300),
}  # fmt: skip

STATEMENTS = [
    text
    for name in ("statements", "queries", "printed_queries")
    for text, expected in cases(name)
    if not expected.startswith("!")
]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_hint_names_the_mistake(name: str) -> None:
    mistake, least, count = MISTAKES[name]
    good, without, wrong = 0, [], []
    for text in STATEMENTS:
        parse_statement(text)
        for broken, expected in mistake(text, sql_tokens(text)[:-1]):
            try:
                parse_statements(broken)
            except ParseError as error:
                hint = error.diagnostics[0].hint
                if re.search(expected, hint or "") or (
                    hint is None and re.search(expected, error.problem)
                ):
                    good += 1
                elif hint is None:
                    without.append(broken)
                else:
                    wrong.append((broken, hint))

    refused = good + len(without) + len(wrong)
    assert refused >= count
    assert len(wrong) <= 0.02 * refused, wrong
    assert good >= least * refused, without
