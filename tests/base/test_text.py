from __future__ import annotations

import pytest

from schema_core.base.text import (
    Span,
    is_blank,
    position,
    quote_identifier,
    quote_string,
)
from schema_core.errors import caret


@pytest.mark.parametrize(
    ("text", "identifier", "string"),
    [
        ("a",     "`a`",       "'a'"),
        ("a`b",   "`a``b`",    "'a`b'"),
        ("it's",  "`it's`",    "'it''s'"),
        ("",      "``",        "''"),
    ],
)  # fmt: skip
def test_quoting(text: str, identifier: str, string: str) -> None:
    assert (identifier, string) == (quote_identifier(text), quote_string(text))


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\x1c", "\u2003\u3000"])
def test_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", "\u00a0", "\u2007", "\u202f", "\u0085", "\u200b"])
def test_not_blank(text: str) -> None:
    """Java takes no-break spaces and U+0085 for visible."""
    assert not is_blank(text)


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (4, (3, 1)), (5, (3, 2))]
)
def test_position(offset: int, place: tuple[int, int]) -> None:
    assert place == position("ab\n\ncd", offset)


@pytest.mark.parametrize(
    ("text", "span", "lines"),
    [
        ("a + b",        Span(2, 3),     ["a + b", "  ^"]),
        ("one\ntwo",     Span(4, 7),     ["two", "^^^"]),
        ("one\ntwo",     Span(2, 6),     ["one", "  ^"]),
        ("a",            Span(1, 1),     ["a", " ^"]),
        ("a\tb",         Span(2, 3),     ["a b", "  ^"]),
        ("",             Span(0, 0),     ["", "^"]),
    ],
)  # fmt: skip
def test_caret(text: str, span: Span, lines: list[str]) -> None:
    assert lines == caret(text, span)


def test_long_lines_are_truncated_around_the_position() -> None:
    line, marks = caret("x" * 1000 + "y" + "x" * 1000, Span(1000, 1001))

    assert len(line) <= 96
    assert "y" == line[marks.index("^")]
