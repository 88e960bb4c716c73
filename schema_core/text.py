"""Texts: quoting, spans, the cursor every parser walks with, budgets for text from outside.

Nothing from outside is parsed before `check_size`; nesting goes through `Cursor.nested`; numbers
are bounded by `check_digits`. So no parser here can run out of stack or time on bad input.
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

#: Characters of one text, levels of nesting, digits of one number. A level of a row type takes up
#: to nine of Python's 1,000 frames when printed, and the caller has used some already.
MAX_TEXT = 1_000_000
MAX_DEPTH = 64
MAX_DIGITS = 1_000

#: White space as Java has it, for a character class: without the no-break spaces and U+0085.
SPACE = r"\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"

#: Letters of an unquoted name in Flink's SQL, for a character class: what Java took for letters
#: when the grammar was written, so neither full-width letters nor Korean syllables.
LETTERS = (
    r"$A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u1fff\u3040-\u318f\u3300-\u337f"
    r"\u3400-\u3d2d\u4e00-\u9fff\uf900-\ufaff"
)

_VISIBLE = re.compile(f"[^{SPACE}]")


class Span(NamedTuple):
    """The characters `start` to `stop` (exclusive) of a text, counted from 0."""

    start: int
    stop: int

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of the other."""
        return Span(self.start, other.stop)


def quote_identifier(name: str) -> str:
    """The name in back-ticks, inner back-ticks doubled.

    >>> print(quote_identifier("user`s"))
    `user``s`
    """
    return "`" + name.replace("`", "``") + "`"


def quote_string(text: str) -> str:
    """The text in single quotes, inner quotes doubled.

    >>> print(quote_string("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def is_blank(text: str) -> bool:
    r"""Whether the text is empty or white space (Java's) throughout.

    >>> is_blank(" "), is_blank("\u00a0")
    (True, False)
    """
    return _VISIBLE.search(text) is None


#: What cannot be seen, turns the direction of writing, or is half a character.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def escaped(text: str) -> str:
    r"""The text on one line, what cannot be seen or would move others written as an escape.

    >>> print(escaped("a\tb\u202e"))
    a\tb\u202e
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def show(value: object, width: int = 80) -> str:
    """A value of anybody's as a message shows it: on one line, cut, whatever its `repr` does.

    >>> show("INT"), show(10**5000), show("x" * 100, 12)
    ("'INT'", 'a very large int', "'xxxxxxxx...")
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python prints numbers of up to 4,300 digits
        return f"a very large {type(value).__name__}"
    except Exception:  # noqa: BLE001 - what describes a mistake must not make another
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= width else text[: width - 3] + "..."


_NEWLINE = re.compile("\n")


@lru_cache(maxsize=2)
def _line_starts(text: str) -> list[int]:
    """The offset of every line. A script with many errors is searched once, not once per error."""
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
    r"""The line of the span and, beneath it, carets under its characters; long lines are cut.

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
    """Refuse a text of more than `MAX_TEXT` characters, before anything reads it.

    Raises:
        SchemaError: with code `not-a-string` for anything but a `str`.
        ParseError: with code `text-too-long`.
    """
    if not isinstance(text, str):
        from schema_core.errors import SchemaError

        raise SchemaError(f"expected a text, found {show(text)}", code="not-a-string")
    if len(text) > MAX_TEXT:
        raise _refuse(
            f"a text of {len(text):,} characters is longer than {MAX_TEXT:,}",
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
            f"a number of {len(digits):,} characters is longer than {MAX_DIGITS:,}",
            "number-too-long",
            "no Flink type holds more than 38 digits",
            span,
        )


class Token(NamedTuple):
    """A piece of text that a grammar sees as one.

    `key` is what grammars compare: the upper-cased word of an unquoted name or keyword, the symbol
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
        """As a message shows it."""
        if self.kind == "end":
            return "the end"
        return quote_string(self.value) if self.kind == "string" else repr(self.value)


#: What a message calls a token that may be a secret.
_HIDDEN_VALUE = "a hidden value"


class Cursor:
    """A place in a list of tokens, the last of which has the kind `end`."""

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
        """The token `ahead` places further, or the end."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    @property
    def found(self) -> str:
        """The current token as messages name it, unless it may be a secret."""
        return _HIDDEN_VALUE if self.is_hidden(self.token) else self.token.display

    def is_hidden(self, token: Token) -> bool:
        """Whether a token may be a secret, which no message may repeat."""
        shown = mask_text(self.text)[token.start : token.stop]
        return shown != self.text[token.start : token.stop]

    def advance(self) -> Token:
        """Step over the current token and give it back; the end is never stepped over."""
        token = self.tokens[self.index]
        if token.kind != "end":
            self.index += 1
        return token

    def accept(self, *keys: str) -> bool:
        """Step over the tokens with these keys if all of them come next, in order."""
        for ahead, key in enumerate(keys):
            if self.peek(ahead).key != key:
                return False
        self.index += len(keys)
        return True

    def expect(self, *keys: str) -> Token:
        """Step over the tokens with these keys, of which the last is given back, or fail."""
        token = self.token
        for key in keys:
            token = self.token
            if token.key != key:
                raise self.missing(key)
            self.index += 1
        return token

    def missing(self, key: str) -> ParseError:
        """The error that something else stands where a token with this key was expected."""
        shown = key if key[:1].isalpha() else repr(key)
        return self.fail(f"expected {shown}, found {self.found}")

    def span_from(self, start: int) -> Span:
        """From the offset `start` to the end of the last token that was stepped over."""
        return Span(start, self.tokens[self.index - 1].stop if self.index else start)

    def fail(
        self,
        problem: str,
        *,
        span: Span | None = None,
        code: str | None = None,
        hint: str | None = None,
    ) -> ParseError:
        """An error at `span`, or at the current token, to be raised by the caller."""
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
        """One level deeper; refuses more than `MAX_DEPTH` levels."""
        self.descend()
        yield
        self.depth -= 1

    def descend(self) -> None:
        """Count one level of nesting (the caller steps back by `depth -= 1`)."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(
                f"nested more than {MAX_DEPTH} levels deep",
                code="too-deep",
                hint="name a part of it in a column of its own",
            )
