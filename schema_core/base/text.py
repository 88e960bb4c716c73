"""Source text: quoting, spans, positions, and limits for external input."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from schema_core.base.lazy_regex import regex

#: Maximum length of the input, nesting depth, and digits of a number. Printing a level of a row
#: type takes up to nine of Python's 1,000 frames, and the caller has used some.
MAX_TEXT = 1_000_000
MAX_DEPTH = 64
MAX_DIGITS = 1_000

#: Java's white space, for a character class: without the no-break spaces and U+0085.
SPACE = r"\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"

#: Those of `LETTERS` that ASCII has.
ASCII_LETTERS = "$A-Z_a-z"
#: Letters of an unquoted name in Flink's SQL, for a character class: Java's letters at the time the
#: grammar was written, without full-width letters and Korean syllables.
LETTERS = (
    rf"{ASCII_LETTERS}\xc0-\xd6\xd8-\xf6\xf8-\u1fff\u3040-\u318f\u3300-\u337f"
    r"\u3400-\u3d2d\u4e00-\u9fff\uf900-\ufaff"
)

_VISIBLE = regex(f"[^{SPACE}]")


class Span(NamedTuple):
    """The range of characters from `start` to `stop` (exclusive) of a source text."""

    start: int
    stop: int

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of the other."""
        return Span(self.start, other.stop)


def quote_identifier(name: str) -> str:
    """Quote a name with backticks; inner backticks are doubled.

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
_UNSEEN = regex(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufffe\uffff]"
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


_NEWLINE = regex("\n")


@lru_cache(maxsize=2)
def line_starts(text: str) -> list[int]:
    """Return the offset of every line; cached, since a script may have many errors."""
    return [0, *(found.end() for found in _NEWLINE.finditer(text))]


def position(text: str, offset: int) -> tuple[int, int]:
    r"""Return the line and column of an offset, both counted from 1.

    >>> position("a\nbc", 3)
    (2, 2)
    """
    starts = line_starts(text)
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1
