"""Speculative repairs of tokens that cannot be parsed: the edit with which they can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from schema_core.base.tokenizer import Token

#: How many tokens before an error a missing comma is searched.
REACH = 6

#: Maximum number of speculative parses for one error, and of tokens that they parse in total.
MAX_ATTEMPTS = 32
MAX_SPECULATIVE_TOKENS = 100_000

#: Parses tokens; returns the index of the token that cannot be parsed, or None.
Failure: TypeAlias = Callable[[Sequence[Token]], int | None]

#: Tokens that cannot begin an item of a list, and tokens that cannot end one.
_NEVER_FIRST = frozenset({",", ")", "]", ">", ".", ";", "end"})
_NEVER_LAST = frozenset({",", "(", "[", "<", ".", ";"})
#: Tokens that can begin an item but more often continue one: tried last.
_CONTINUES = frozenset({"+", "-", "(", "*"})


class Repairs:
    """Speculative parses of `tokens`, which cannot be parsed at `index`, after small edits."""

    def __init__(self, failure: Failure, tokens: Sequence[Token], index: int) -> None:
        self.tokens = tokens
        self.index = index
        self._failure = failure
        self._left = min(MAX_ATTEMPTS, MAX_SPECULATIVE_TOKENS // max(len(tokens), 1))

    def failure(self, tokens: Sequence[Token]) -> int | None:
        """Return the index of the token that cannot be parsed; the first one without a budget."""
        self._left -= 1
        return self._failure(tokens) if self._left >= 0 else 0

    def try_insert(self, place: int, key: str, kind: str = "symbol") -> int | None:
        """Return the index of the failure after a token is inserted before `place`."""
        return self.failure(_with(self.tokens, place, key, kind))

    def try_remove(self, place: int) -> int | None:
        """Return the index of the failure after a token is removed."""
        return self.failure([*self.tokens[:place], *self.tokens[place + 1 :]])

    def try_replace(self, place: int, key: str, kind: str) -> int | None:
        """Return the index of the failure after another token replaces one."""
        old = self.tokens[place]
        new = Token(kind, key, key, old.start, old.stop)
        return self.failure([*self.tokens[:place], new, *self.tokens[place + 1 :]])

    def missing_comma(self) -> int | None:
        """Return the index of the token before which a comma is missing, or None.

        A comma is missing only if everything can be parsed with it, if need be with further commas.
        """
        return self._missing_comma(self.tokens, self.index)

    def _missing_comma(self, tokens: Sequence[Token], index: int) -> int | None:
        places = range(index, max(index - REACH, 0), -1)
        for place in sorted(places, key=lambda place: tokens[place].key in _CONTINUES):
            if tokens[place].key in _NEVER_FIRST or tokens[place - 1].key in _NEVER_LAST:
                continue
            edited = _with(tokens, place, ",", "symbol")
            failed = self.failure(edited)
            if failed is None or (
                failed > index + 1 and self._left > 0 and self._missing_comma(edited, failed)
            ):
                return place
        return None


def _with(tokens: Sequence[Token], place: int, key: str, kind: str) -> list[Token]:
    start = tokens[place].start
    return [*tokens[:place], Token(kind, key, key, start, start), *tokens[place:]]
