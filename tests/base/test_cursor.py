from __future__ import annotations

import pytest

from schema_core.base.cursor import Cursor, check_digits, check_size
from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, MAX_TEXT, Span, Token
from schema_core.errors import ParseError


def cursor(text: str) -> Cursor:
    """Return a cursor over words, which are their own keys."""
    tokens, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        tokens.append(Token("word", word, word, start, start + len(word)))
        start += len(word)
    return Cursor(text, [*tokens, Token("end", "end", "", len(text), len(text))])


def test_limit_of_the_source_text() -> None:
    check_size("x" * MAX_TEXT)
    with pytest.raises(ParseError) as caught:
        check_size("x" * (MAX_TEXT + 1))

    assert "limit-exceeded" == caught.value.code


def test_limit_of_a_number() -> None:
    check_digits("1" * MAX_DIGITS, Span(0, 1))
    with pytest.raises(ParseError) as caught:
        check_digits("1" * (MAX_DIGITS + 1), Span(3, 4))

    assert ("limit-exceeded", Span(3, 4)) == (caught.value.code, caught.value.span)


def test_cursor_moves_over_tokens() -> None:
    words = cursor("a b c")

    assert ("a", "c", "end") == (words.key, words.peek(2).key, words.peek(9).key)
    assert not words.accept("a", "c")
    assert words.accept("a", "b")
    assert Span(0, 3) == words.span_from(0)
    assert "c" == words.expect("c").value
    assert "end" == words.advance().kind == words.advance().kind


def test_expected_tokens_are_reported() -> None:
    words = cursor("a b")
    with pytest.raises(ParseError) as other:
        words.expect("a", "c")
    words.advance()
    with pytest.raises(ParseError) as end:
        words.expect("c")

    assert ("expected c, found 'b'", Span(2, 3)) == (other.value.problem, other.value.span)
    assert "expected c, found the end" == end.value.problem


def test_nesting_is_bounded() -> None:
    words = cursor("a")
    for _ in range(MAX_DEPTH):
        words.descend()
    with pytest.raises(ParseError) as caught, words.nested():
        pass

    assert "limit-exceeded" == caught.value.code


def test_nesting_levels_are_released() -> None:
    words = cursor("a")
    for _ in range(2 * MAX_DEPTH):
        with words.nested():
            pass

    assert 0 == words.depth
