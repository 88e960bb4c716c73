"""Source text: quoting, spans, the token cursor of all parsers, and limits for external input.

External input is parsed only after `check_size`; nesting is limited by `Cursor.nested`, and numbers
by `check_digits`. So no input can exhaust the stack or the time of a parser.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from schema_core.secrets import mask_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schema_core.errors import ParseError

#: Maximum length of the input, nesting depth, and digits of a number. Printing a level of a row
#: type takes up to nine of Python's 1,000 frames, and the caller has used some.
MAX_TEXT = 1_000_000
MAX_DEPTH = 64
MAX_DIGITS = 1_000

#: Java's white space, for a character class: without the no-break spaces and U+0085.
SPACE = r"\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"

#: Letters of an unquoted name in Flink's SQL, for a character class: Java's letters at the time the
#: grammar was written, without full-width letters and Korean syllables.
LETTERS = (
    r"$A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u1fff\u3040-\u318f\u3300-\u337f"
    r"\u3400-\u3d2d\u4e00-\u9fff\uf900-\ufaff"
)

_VISIBLE = re.compile(f"[^{SPACE}]")


class Span(NamedTuple):
    """The range of characters from `start` to `stop` (exclusive) of a source text."""

    start: int
    stop: int

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of the other."""
        return Span(self.start, other.stop)


def quote_identifier(name: str) -> str:
    """Quote a name with back-ticks; inner back-ticks are doubled.

    >>> print(quote_identifier("user`s"))
    `user``s`
    """
    return "`" + name.replace("`", "``") + "`"


def quote_string(text: str) -> str:
    """Quote a string with single quotes; inner quotes are doubled.

    >>> print(quote_string("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def is_blank(text: str) -> bool:
    r"""Return whether a string is empty or consists of Java's white space.

    >>> is_blank(" "), is_blank("\u00a0")
    (True, False)
    """
    return _VISIBLE.search(text) is None


#: Invisible characters, characters that change the writing direction, and surrogates.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def escaped(text: str) -> str:
    r"""Escape line breaks, invisible characters and changes of the writing direction.

    >>> print(escaped("a\tb\u202e"))
    a\tb\u202e
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def show(value: object, width: int = 80) -> str:
    """Return the `repr` of any value for a message: on one line, truncated, without errors.

    >>> show("INT"), show(10**5000), show("x" * 100, 12)
    ("'INT'", 'a very large int', "'xxxxxxxx...")
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python prints numbers of up to 4,300 digits
        return f"a very large {type(value).__name__}"
    except Exception:  # noqa: BLE001 - formatting an error must not raise one
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= width else text[: width - 3] + "..."


_NEWLINE = re.compile("\n")


@lru_cache(maxsize=2)
def _line_starts(text: str) -> list[int]:
    """Return the offset of every line; cached, since a script may have many errors."""
    return [0, *(found.end() for found in _NEWLINE.finditer(text))]


def position(text: str, offset: int) -> tuple[int, int]:
    r"""Return the line and column of an offset, both counted from 1.

    >>> position("a\nbc", 3)
    (2, 2)
    """
    starts = _line_starts(text)
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def caret(text: str, span: Span, width: int = 96) -> list[str]:
    r"""Return the line of a span and a line of carets under its characters, both truncated.

    The values of secret options are masked.

    >>> print("\n".join(caret("a + b", Span(4, 5))))
    a + b
        ^
    """
    text = mask_text(text)
    starts = _line_starts(text)
    line = bisect_right(starts, span.start)
    start_of_line = starts[line - 1]
    end_of_line = starts[line] - 1 if line < len(starts) else len(text)
    left = span.start - start_of_line
    shift = max(0, left - width // 2)
    start = start_of_line + shift
    shown = text[start : min(start + width, end_of_line)].replace("\t", " ")
    marks = max(1, min(span.stop - span.start, len(shown) - (left - shift)))
    return [shown, " " * (left - shift) + "^" * marks]


def _refuse(problem: str, code: str, hint: str, span: Span, text: str | None = None) -> ParseError:
    from schema_core.errors import ParseError

    return ParseError(problem, code=code, hint=hint, span=span, text=text)


def check_size(text: object) -> None:
    """Refuse input of more than `MAX_TEXT` characters.

    Raises:
        SchemaError: with code `not-a-string` for anything but a `str`.
        ParseError: with code `text-too-long`.
    """
    if not isinstance(text, str):
        from schema_core.errors import SchemaError

        raise SchemaError(f"expected a string, got {show(text)}", code="not-a-string")
    if len(text) > MAX_TEXT:
        raise _refuse(
            f"input of {len(text):,} characters exceeds the maximum of {MAX_TEXT:,}",
            "text-too-long",
            "split it into smaller statements",
            Span(0, 1),
        )


def check_digits(digits: str, span: Span) -> None:
    """Refuse a number of more than `MAX_DIGITS` characters.

    Raises:
        ParseError: with code `number-too-long`.
    """
    if len(digits) > MAX_DIGITS:
        raise _refuse(
            f"a number of {len(digits):,} characters exceeds the maximum of {MAX_DIGITS:,}",
            "number-too-long",
            "Flink types have at most 38 digits",
            span,
        )


class Token(NamedTuple):
    """A token of a grammar.

    `key` is what parsers compare: the upper-cased word of an unquoted name or keyword, the symbol
    itself, `""` for quoted names, literals and numbers, `"end"` after the last token. `value` is
    the decoded content: a name without its back-ticks, a string without its quotes.
    """

    kind: str
    key: str
    value: str
    start: int
    stop: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.stop)

    @property
    def display(self) -> str:
        """The token as messages show it."""
        if self.kind == "end":
            return "the end"
        return quote_string(self.value) if self.kind == "string" else repr(self.value)


#: Replacement of a token that may be a secret in messages.
_HIDDEN_VALUE = "a hidden value"


class Cursor:
    """A position in a list of tokens, the last of which has the kind `end`."""

    __slots__ = ("depth", "index", "text", "tokens")

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.index = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def key(self) -> str:
        return self.tokens[self.index].key

    def peek(self, ahead: int = 1) -> Token:
        """Return the token `ahead` positions after the current one, or the end."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    @property
    def found(self) -> str:
        """The current token as messages show it, unless it may be a secret."""
        return _HIDDEN_VALUE if self.is_hidden(self.token) else self.token.display

    def is_hidden(self, token: Token) -> bool:
        """Return whether a token may be a secret, which messages must not show."""
        shown = mask_text(self.text)[token.start : token.stop]
        return shown != self.text[token.start : token.stop]

    def advance(self) -> Token:
        """Consume and return the current token; the end is never consumed."""
        token = self.tokens[self.index]
        if token.kind != "end":
            self.index += 1
        return token

    def accept(self, *keys: str) -> bool:
        """Consume the tokens with these keys if all of them follow, in order."""
        for ahead, key in enumerate(keys):
            if self.peek(ahead).key != key:
                return False
        self.index += len(keys)
        return True

    def expect(self, *keys: str) -> Token:
        """Consume the tokens with these keys and return the last, or raise an error."""
        token = self.token
        for key in keys:
            token = self.token
            if token.key != key:
                raise self.missing(key)
            self.index += 1
        return token

    def missing(self, key: str) -> ParseError:
        """Return the error for a token other than the expected one."""
        shown = key if key[:1].isalpha() else repr(key)
        return self.fail(f"expected {shown}, found {self.found}")

    def span_from(self, start: int) -> Span:
        """Return the span from the offset `start` to the end of the last consumed token."""
        return Span(start, self.tokens[self.index - 1].stop if self.index else start)

    def fail(
        self,
        problem: str,
        *,
        span: Span | None = None,
        code: str | None = None,
        hint: str | None = None,
    ) -> ParseError:
        """Return an error at `span`, or at the current token, for the caller to raise."""
        from schema_core.errors import ParseError

        for token in self.tokens[max(0, self.index - 1) : self.index + 1]:
            if token.value and self.is_hidden(token):
                problem = problem.replace(repr(token.value), _HIDDEN_VALUE)
                repeated = rf"(?<!\w){re.escape(token.value)}(?!\w)"
                hint = None if hint is None or re.search(repeated, hint) else hint
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
                code="too-deep",
                hint="move a part of it into a column of its own",
            )
