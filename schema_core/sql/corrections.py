"""Hints for syntax errors that a speculative parse confirms: edits that make the text valid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from schema_core.base.cursor import Repairs
from schema_core.base.keywords import RESERVED
from schema_core.base.lazy import regex
from schema_core.base.text import position
from schema_core.errors import ParseError
from schema_core.sql.hints import MIN_LENGTH, UNCERTAIN, WORDS, keywords_like

if TYPE_CHECKING:
    from schema_core.base.cursor import Cursor, Failure
    from schema_core.base.text import Token


class Correction:
    """A syntax error, the tokens of its statement, and speculative parses of its edits."""

    def __init__(
        self, cursor: Cursor, tokens: list[Token], error: ParseError, failure: Failure
    ) -> None:
        start = error.span.start if error.span is not None else 0
        last = len(tokens) - 1
        self.cursor = cursor
        self.tokens = tokens
        self.index: int = next((i for i, token in enumerate(tokens) if token.start >= start), last)
        self.repairs: Repairs = Repairs(self._within_one_statement(failure), tokens, self.index)
        self.expected: str = _EXPECTED.sub(r"\1", error.problem)
        self.unclosed: int = sum(token.key == "(" for token in tokens) - sum(
            token.key == ")" for token in tokens
        )
        self.progress: str | None = None

    def _within_one_statement(self, failure: Failure) -> Failure:
        """Ignore failures in later statements of a set."""
        later = self.tokens[self.index :]
        stop = next((token.start for token in later if token.key == ";"), later[-1].stop)

        def failure_here(speculative: Sequence[Token]) -> int | None:
            failed = failure(speculative)
            return None if failed is None or speculative[failed].start > stop else failed

        return failure_here

    def at(self, place: int) -> Token | None:
        """Return the token at an index within the statement, or None."""
        return self.tokens[place] if 0 <= place < len(self.tokens) - 1 else None

    def opening(self) -> int | None:
        """Return the index of the innermost parenthesis open at the error."""
        depth = 0
        for index in range(self.index - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(self.tokens[index].key, 0)
            if depth < 0:
                return index
        return None

    def missing(self, what: str, place: int) -> str:
        """Return the hint that a token is missing before another."""
        token = self.tokens[place]
        shown = "a hidden value" if self.cursor.is_hidden(token) else token.display
        if place == self.index:
            return f"missing {what} before {shown}"
        line, column = position(self.cursor.text, token.start)
        return f"missing {what} before {shown} at line {line}, column {column}"


_EXPECTED = regex(r"expected (.*), found .*", re.DOTALL)


def corrected_hint(
    cursor: Cursor, tokens: list[Token], error: ParseError, failure: Failure
) -> str | None:
    """Return the hint of an error, improved by speculative parses unless it is certain."""
    if error.hint is not None and not UNCERTAIN.match(error.hint):
        return error.hint
    correction = Correction(cursor, tokens, error, failure)
    for rule in RULES:
        if hint := rule(correction):
            return hint
    if correction.progress or error.hint is None or error.hint.startswith("did you mean"):
        return correction.progress
    if error.hint.startswith("the parenthesis at") and correction.unclosed <= 0:
        return None
    return error.hint


# --- rules ----------------------------------------------------------------------------------------


def _suspects(correction: Correction) -> Iterator[int]:
    index, opening = correction.index, correction.opening()
    places = [index, index - 1, index + 1, index - 2, index + 2]
    if opening is not None:
        item = index - 1
        while item > opening + 1 and correction.tokens[item - 1].key != ",":
            item -= 1
        places += [opening - 1, item, opening - 2]
    for place in dict.fromkeys(places):
        token = correction.at(place)
        is_word = token is not None and token.kind == "word" and len(token.key) >= MIN_LENGTH
        if is_word and correction.tokens[place].key not in WORDS:
            yield place


def _misspelt(correction: Correction, *, like_keywords: bool) -> str | None:
    """Return the hint for a misspelt keyword, with which everything can be parsed.

    Otherwise `progress` is the hint for the keyword that moves the failure farthest.
    `like_keywords` selects words in upper case if the statement begins in upper case.
    """
    upper = correction.tokens[0].value.isupper()
    reached = correction.index
    for place in _suspects(correction):
        token = correction.tokens[place]
        if like_keywords != (token.value.isupper() or not upper):
            continue
        for word in keywords_like(token.key, correction.expected):
            kind = "reserved" if word in RESERVED else "word"
            failed = correction.repairs.try_replace(place, word, kind)
            hint = f"did you mean {word}?"
            if place != correction.index:
                shown = "a hidden value" if correction.cursor.is_hidden(token) else token.display
                hint = f"did you mean {word} instead of {shown}?"
            if failed is None:
                return hint
            if failed > max(reached, place):
                reached, correction.progress = failed, hint
    return None


def _closing_parenthesis(correction: Correction) -> str | None:
    if correction.unclosed <= 0:
        return None
    index = correction.index
    for place in (index, index - 1, index - 2, index + 1):
        if 0 < place < len(correction.tokens) and correction.repairs.try_insert(place, ")") is None:
            depth = 0
            for index in range(place - 1, -1, -1):
                depth += {")": 1, "(": -1}.get(correction.tokens[index].key, 0)
                if depth < 0:
                    start = correction.tokens[index].start
                    line, column = position(correction.cursor.text, start)
                    return f"the parenthesis at line {line}, column {column} is not closed"
    return None


def _opening_parenthesis(correction: Correction) -> str | None:
    """Return the hint for a missing ``(`` or a superfluous ``)``."""
    if correction.unclosed >= 0:
        return None
    index = correction.index
    if correction.tokens[index].key == ")":
        return (
            "remove it, or add the missing '('"
            if not correction.repairs.try_remove(index)
            else None
        )
    for place in (index, index + 1, index - 1, index - 2):
        if place > 0 and correction.at(place) and correction.repairs.try_insert(place, "(") is None:
            return correction.missing("'('", place)
    return None


def _comma_to_remove(correction: Correction) -> str | None:
    index = correction.index
    for place, hint in ((index, "remove the comma"), (index - 1, "remove the comma before it")):
        token = correction.at(place)
        if token and token.key == "," and correction.repairs.try_remove(place) is None:
            return hint
    return None


def _equals_sign(correction: Correction) -> str | None:
    index, opening = correction.index, correction.opening()
    token, before = correction.at(index), correction.at(index - 1)
    if token and before and token.key == ":" and before.kind == "string":
        failed = correction.repairs.try_replace(index, "=", "symbol")
        return "write = between the key and its value" if failed is None else None
    is_pair = token and before and token.kind == before.kind == "string"
    if not is_pair or opening is None or not opening:
        return None
    word = correction.tokens[opening - 1].key
    first = correction.tokens[opening + 1 : opening + 3]
    follows = index - 2 == opening or correction.tokens[index - 2].key == ","
    if not follows or (word not in _BEFORE_OPTIONS and first[-1].key != "="):
        return None
    failed = correction.repairs.try_insert(index, "=")
    return correction.missing("'='", index) if failed is None or failed > index + 2 else None


#: Words before options.
_BEFORE_OPTIONS = frozenset({"WITH", "SET", "OPTIONS", "LOOKUP", "STATE_TTL"})


def _comma(correction: Correction) -> str | None:
    place = correction.repairs.missing_comma() if correction.unclosed == 0 else None
    return None if place is None else correction.missing("','", place)


def _as(correction: Correction) -> str | None:
    if correction.expected == "AS":
        return None
    for place in (correction.index, correction.index - 1):
        token = correction.at(place)
        if token is None or not place or token.key not in _OPENING:
            continue
        if correction.repairs.try_insert(place, "AS", "reserved") is None:
            return correction.missing("AS", place)
    return None


_OPENING = frozenset({"SELECT", "VALUES", "WITH", "("})


#: Rules in order of priority.
RULES: tuple[Callable[[Correction], str | None], ...] = (
    partial(_misspelt, like_keywords=True), _closing_parenthesis, _opening_parenthesis,
    _comma_to_remove, _equals_sign, _comma, _as, partial(_misspelt, like_keywords=False),
)  # fmt: skip
