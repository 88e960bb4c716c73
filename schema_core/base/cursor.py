"""The token cursor of all parsers, the limits of external input, and speculative repairs.

External input is parsed only after `check_size`; `Cursor.nested` limits nesting, `check_digits`
numbers. So no input exhausts the stack or the time of a parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from schema_core.base.lazy import regex
from schema_core.base.secrets import mask_text
from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, MAX_TEXT, Span, Token, make_span, show
from schema_core.errors import ParseError, SchemaError
from schema_core.errors.hints import SPLIT_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_size(text: object) -> None:
    """Refuse input of more than `MAX_TEXT` characters.

    Raises:
        SchemaError: with code `invalid-argument`.
        ParseError: with code `limit-exceeded`.
    """
    if not isinstance(text, str):
        raise SchemaError(f"expected a string, got {show(text)}", code="invalid-argument")
    if len(text) > MAX_TEXT:
        raise ParseError(
            f"input of {len(text):,} characters exceeds the maximum of {MAX_TEXT:,}",
            code="limit-exceeded",
            hint="split it into smaller statements",
            span=Span(0, 1),
        )


def check_digits(digits: str, span: Span) -> None:
    """Refuse a number of more than `MAX_DIGITS` characters.

    Raises:
        ParseError: with code `limit-exceeded`.
    """
    if len(digits) > MAX_DIGITS:
        raise ParseError(
            f"a number of {len(digits):,} characters exceeds the maximum of {MAX_DIGITS:,}",
            code="limit-exceeded",
            hint="use at most 38 digits",
            span=span,
        )


_HIDDEN_VALUE = "a hidden value"


#: The position in a hint, whose numbers are not part of a secret.
_POSITION = regex(r"line \d+, column \d+")


class Cursor:
    """A position in a list of tokens, the last of which has the kind `end`."""

    __slots__ = ("depth", "index", "text", "tokens")

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text: str = text
        self.tokens: Sequence[Token] = tokens
        self.index: int = 0
        self.depth: int = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def key(self) -> str:
        return self.tokens[self.index].key

    def peek(self, ahead: int = 1) -> Token:
        try:
            return self.tokens[self.index + ahead]
        except IndexError:
            return self.tokens[-1]

    @property
    def found(self) -> str:
        """The current token as messages show it, unless it may be a secret."""
        return self.show(self.token)

    def show(self, token: Token) -> str:
        return _HIDDEN_VALUE if self.is_hidden(token) else token.display

    def is_hidden(self, token: Token) -> bool:
        start = self.tokens[0].start  # of the statement; secrets of others hide nothing
        shown = mask_text(self.text[start : self.tokens[-1].stop])
        return (
            shown[token.start - start : token.stop - start] != self.text[token.start : token.stop]
        )

    def follows(self, *keys: str) -> bool:
        """Return whether tokens with these keys follow, in order."""
        return all(self.peek(ahead).key == key for ahead, key in enumerate(keys))

    def advance(self) -> Token:
        """Consume and return the current token; the end is never consumed."""
        token = self.tokens[self.index]
        if token.kind != "end":
            self.index += 1
        return token

    def accept(self, key: str, *further: str) -> bool:
        """Consume the tokens with these keys if all follow in order."""
        if self.tokens[self.index].key != key:
            return False
        for ahead, token in enumerate(further, 1):
            if self.peek(ahead).key != token:
                return False
        self.index += 1 + len(further)
        return True

    def expect(self, key: str, *further: str) -> Token:
        """Consume the tokens with these keys and return the last, or raise an error."""
        token = self.tokens[self.index]
        if token.key != key:
            raise self.missing(key)
        self.index += 1
        for following in further:
            token = self.expect(following)
        return token

    def string_literal(self) -> str:
        """Consume adjacent string literals, and return their content."""
        if self.token.kind != "string":
            raise self.fail(f"expected a string literal, found {self.found}")
        parts = []
        while self.token.kind == "string":
            parts.append(self.advance().value)
        return "".join(parts)

    def missing(self, key: str) -> SchemaError:
        """Return the error that a token with this key was expected."""
        shown = key if key[:1].isalpha() else repr(key)
        return self.fail(f"expected {shown}, found {self.found}")

    def span_from(self, start: int) -> Span:
        """Return the span from `start` to the end of the last consumed token."""
        return make_span((start, self.tokens[self.index - 1].stop if self.index else start))

    def fail(
        self,
        problem: str,
        *,
        span: Span | None = None,
        code: str | None = None,
        hint: str | None = None,
    ) -> ParseError:
        """Return an error at `span`, or at the current token, for the caller to raise."""
        for token in self.tokens[max(0, self.index - 1) : self.index + 1]:
            if token.value and self.is_hidden(token):
                problem = problem.replace(repr(token.value), _HIDDEN_VALUE)
                repeated = rf"(?<!\w){re.escape(token.value)}(?!\w)"
                is_repeated = hint is not None and re.search(repeated, _POSITION.sub("", hint))
                hint = None if is_repeated else hint
        place = span or self.token.span
        return ParseError(problem, code=code, hint=hint, span=place, text=self.text)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Enter a level of nesting; more than `MAX_DEPTH` levels are refused."""
        self.descend()
        yield
        self.depth -= 1

    def descend(self) -> None:
        """Enter a level of nesting, which the caller leaves by `depth -= 1`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(
                f"nested more than {MAX_DEPTH} levels deep",
                code="limit-exceeded",
                hint=SPLIT_TYPE,
            )


# --- repairs -------------------------------------------------------------------------------------

#: How many tokens before an error a missing comma is searched.
REACH = 6

#: Maximum number of speculative parses for an error, and of tokens in all of them.
MAX_ATTEMPTS = 32
MAX_SPECULATIVE_TOKENS = 100_000

#: Parses tokens; returns the index of the token that cannot be parsed, or None.
Failure: TypeAlias = Callable[[Sequence[Token]], int | None]

#: Tokens that cannot begin, or end, an element of a list.
_NEVER_FIRST = frozenset({",", ")", "]", ">", ".", ";", "end"})
_NEVER_LAST = frozenset({",", "(", "[", "<", ".", ";"})
#: Tokens that can begin an element but more often continue one.
_CONTINUES = frozenset({"+", "-", "(", "*"})


class Repairs:
    """Small edits of `tokens`, which cannot be parsed at `index`, and where parsing fails then."""

    def __init__(self, failure: Failure, tokens: Sequence[Token], index: int) -> None:
        self.tokens = tokens
        self.index = index
        self._failure = failure
        self._left = min(MAX_ATTEMPTS, MAX_SPECULATIVE_TOKENS // max(len(tokens), 1))

    def failure(self, tokens: Sequence[Token]) -> int | None:
        """Return the index of the token that cannot be parsed, or None; 0 without a budget."""
        self._left -= 1
        return self._failure(tokens) if self._left >= 0 else 0

    def try_insert(self, place: int, key: str, kind: str = "symbol") -> int | None:
        return self.failure(_with(self.tokens, place, key, kind))

    def try_remove(self, place: int) -> int | None:
        return self.failure([*self.tokens[:place], *self.tokens[place + 1 :]])

    def try_replace(self, place: int, key: str, kind: str) -> int | None:
        old = self.tokens[place]
        new = Token(kind, key, key, old.start, old.stop)
        return self.failure([*self.tokens[:place], new, *self.tokens[place + 1 :]])

    def missing_comma(self) -> int | None:
        """Return the index of the token before which a comma is missing, or None.

        Everything must parse with it, if need be with further commas.
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
