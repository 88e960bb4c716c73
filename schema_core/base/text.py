"""Source text: quoting, spans, positions, limits for external input, and the tokens of Flink's SQL.

White space is blank, tab, newline, carriage return and form feed; comments are ``-- ..``, ``// ..``
and ``/* .. */``, but ``/*+`` is a token, the start of a hint. A character with which no token
begins becomes a token `bad`, which no grammar accepts: every text has tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING

from schema_core.base.lazy import NamedTuple, regex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

#: Limits of input, nesting and digits. Printing a level of a row type takes up to nine of Python's
#: 1,000 frames.
MAX_TEXT = 1_000_000
MAX_DEPTH = 64
MAX_DIGITS = 1_000

#: Java's white space, for a character class: without the no-break spaces and U+0085.
SPACE = r"\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"
_VISIBLE = regex(f"[^{SPACE}]")

#: ASCII's part of `LETTERS`.
ASCII_LETTERS = "$A-Z_a-z"
#: Letters of an unquoted name in Flink's SQL: Java's at the time the grammar was written, without
#: full-width letters and Korean syllables.
LETTERS = (
    rf"{ASCII_LETTERS}\xc0-\xd6\xd8-\xf6\xf8-\u1fff\u3040-\u318f\u3300-\u337f"
    r"\u3400-\u3d2d\u4e00-\u9fff\uf900-\ufaff"
)


class Span(NamedTuple):
    """The range of characters from `start` to `stop` (exclusive) of a source text."""

    start: int
    stop: int

    def to(self, other: Span) -> Span:
        return make_span((self.start, other.stop))


#: Make a span from a pair: parsers make one for each node, and a constructor takes twice the time.
make_span = partial(tuple.__new__, Span)


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
    return not text[:1].isalnum() and _VISIBLE.search(text) is None


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
    return _UNSEEN.sub(lambda match: ascii(match[0])[1:-1], text)


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
    return shorten(text, width)


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` characters; a longer one ends in three dots.

    >>> shorten("abcdef", 5)
    'ab...'
    """
    return text if len(text) <= width else f"{text[: width - 3]}..."


def quantity(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> quantity(1, "row"), quantity(1_000, "row")
    ('1 row', '1,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_NEWLINE = regex("\n")
_FIRST = itemgetter(0)


@lru_cache(maxsize=2)
def line_starts(text: str) -> list[int]:
    """Return the offset of every line; cached, since a script may have many errors."""
    return [0, *(match.end() for match in _NEWLINE.finditer(text))]


class PartialText(str):
    r"""A text that consists of parts of a longer one, in which its positions are.

    `parts` are the offset of each part, and its line and column in the longer text.

    >>> position(PartialText("a\nz", [(0, 1, 1), (2, 70, 3)]), 2)
    (70, 3)
    """

    __slots__ = ("parts",)
    parts: Sequence[tuple[int, int, int]]

    def __new__(cls, text: str, parts: Sequence[tuple[int, int, int]]) -> Self:
        """Take the parts of a text, the first of which begins at 0."""
        self = super().__new__(cls, text)
        self.parts = parts
        return self


def position(text: str, offset: int) -> tuple[int, int]:
    r"""Return the line and column of an offset, both counted from 1.

    >>> position("a\nbc", 3)
    (2, 2)
    """
    starts = line_starts(text)
    line = bisect_right(starts, offset)
    column = offset - starts[line - 1] + 1
    if not isinstance(text, PartialText):
        return line, column
    start, first_line, first_column = text.parts[bisect_right(text.parts, offset, key=_FIRST) - 1]
    lines = line - bisect_right(starts, start)
    return first_line + lines, column if lines else first_column + offset - start


# --- tokens --------------------------------------------------------------------------------------


class Token(NamedTuple):
    """A token of a grammar.

    `key` is what parsers compare: the upper-cased word of an unquoted name or keyword, the symbol,
    `""` for quoted names, literals and numbers, `"end"` after the last token. `value` is the
    decoded content: a name without backticks, a string without quotes.
    """

    kind: str
    key: str
    value: str
    start: int
    stop: int

    @property
    def span(self) -> Span:
        return make_span((self.start, self.stop))

    @property
    def display(self) -> str:
        if self.kind == "end":
            return "the end"
        return quote_string(self.value) if self.kind == "string" else repr(self.value)


#: Token kind -> pattern. No input makes an expression backtrack: digits are matched possessively,
#: and the name of a character set has a maximum length. As in Flink ``/**`` and the character after
#: it open a comment, so ``/***/`` is not closed.
_PATTERNS = {
    "comment":  r"--[^\r\n]* | //[^\r\n]* | /\*\*/ | /\*\*[^/](?s:.*?)\*/ | /\*(?![*+])(?s:.*?)\*/",
    "charset":  r"(?: _[A-Za-z0-9][A-Za-z0-9:._-]{0,99}+ | [nN] ) '[^']*(?:''[^']*)*'",
    "unicode":  r"[uU]&'[^']*(?:''[^']*)*'",
    "escaped":  r"[eE]'[^'\\]*(?:(?:''|\\(?s:.))[^'\\]*)*'",
    "binary":   r"[xX]'[^']*(?:''[^']*)*'",
    "name":     r"`(?:[^`\n\r]|``)+`",
    "unicode_name": r"""[uU]&"(?:[^"\n\r]|"")*"
                  (?: [ \t\n\r\f]* [uU][eE][sS][cC][aA][pP][eE] [ \t\n\r\f]* '(?:[^']|'')*' )?""",
    "string":   r"'[^']*(?:''[^']*)*'",
    "approximate": r"(?: [0-9]++(?:\.[0-9]*+)? | \.[0-9]++ ) [eE][+-]?[0-9]+",
    "decimal":  r"[0-9]+\.[0-9]* | \.[0-9]+",
    "integer":  r"[0-9]+",
    "symbol":   r"""/\*\+ | \*/ | \|\| | <> | <= | >= | => | \.\. | /(?!\*)
                  | \{[ ]*(?:[fF][nN]|[tT][sS]|[dDtT]) | [-+*%=<>()\[\],.;:?{}|^]""",
    "bad":      r"""['`](?s:.*) | /\*(?s:.*) | != | " | (?s:.)[^A-Za-z0-9_\s'`;(),]*""",
    "end":      r"\Z",
    # most words: those that no literal can begin with
    "plain_word":     rf"[$A-Za-z][{ASCII_LETTERS}0-9]*+(?!['&])",
    # of excerpts, which may be of another dialect and have no numbers and no operators
    "double_quoted":  r'"[^"\r\n]*"',
    "any_word":       r"[\w$]+",
    "unclosed":       r"['`](?s:.*) | /\*(?!\+)(?s:.*)",
    "any_symbol":     r"/\*\+ | \*/ | \S",
}  # fmt: skip

#: Patterns of a comment that is not a hint, a name in backticks and a string, for `re.VERBOSE`.
COMMENT, QUOTED_NAME, STRING = (_PATTERNS[kind] for kind in ("comment", "name", "string"))

_KINDS = (
    "charset unicode escaped binary unicode_name word name string approximate decimal integer "
    "symbol bad end"
)


def _any_of(kinds: str, letters: str = LETTERS) -> str:
    """Return a pattern with a group for each kind, of which the first match counts."""
    patterns = {**_PATTERNS, "word": rf"[{letters}][{letters}0-9]*"}
    return "|".join(f"(?P<{kind}> {patterns[kind]} )" for kind in kinds.split())


#: Whether a text is ASCII -> its tokens, with white space and comments before each. Compiling all
#: letters takes 8 ms, ASCII 1.
_SQL = {
    is_ascii: regex(
        rf"(?: [ \t\n\r\f]+ | {_PATTERNS['comment']} )*+ (?: {_any_of(kinds, letters)} )",
        re.VERBOSE,
    )
    for is_ascii, kinds, letters in (
        (True, f"plain_word {_KINDS}", ASCII_LETTERS),
        (False, _KINDS, LETTERS),
    )
}

_EXCERPT = regex(
    _any_of("comment escaped unicode string name double_quoted any_word unclosed any_symbol"),
    re.VERBOSE,
)

#: No word is reserved.
NO_WORDS: AbstractSet[str] = frozenset()


def tokenize(text: str, reserved: AbstractSet[str] = NO_WORDS, start: int = 0) -> list[Token]:
    """Split SQL into tokens, the last of which has the kind `end`.

    A word of `reserved` has the kind `reserved`, any other `word`. Literals with a prefix, and
    numbers, keep their text.

    >>> [(token.kind, token.value) for token in tokenize("`a``b` + 1.5 -- tail")]
    [('name', 'a`b'), ('symbol', '+'), ('decimal', '1.5'), ('end', '')]
    """
    tokens: list[Token] = []
    append, make = tokens.append, tuple.__new__
    for match in _SQL[text.isascii()].finditer(text, start):
        group = kind = match.lastgroup or ""
        value = match[kind]
        key = ""
        if kind == "plain_word":
            key = value.upper()
            kind = "reserved" if key in reserved else "word"
        elif kind == "symbol":
            key = value.replace(" ", "").upper() if value[0] == "{" else value
        elif kind == "string":
            value = value[1:-1].replace("''", "'")
        elif kind == "word":
            key = value.upper() if value.isascii() else value
            if key in reserved:
                kind = "reserved"
        elif kind == "name":
            value = value[1:-1].replace("``", "`")
        elif kind == "unicode_name":
            decoded = decode_name(value)
            kind, value = ("bad", value) if decoded is None else ("name", decoded)
        elif kind == "end":
            break
        append(make(Token, (kind, key, value, *match.span(group))))
    append(Token("end", "end", "", len(text), len(text)))
    return tokens


def decode_name(written: str) -> str | None:
    r"""Decode ``U&"d!0061t" UESCAPE '!'``; return None for an empty name or an invalid escape.

    >>> decode_name("U&\"d!0061t\" UESCAPE '!'"), decode_name('u&"a""\\0062"')
    ('dat', 'a"b')
    """
    stop = written.rindex('"')
    escape = written[stop + 1 :].partition("'")[2][:-1].replace("''", "'") or "\\"
    if not ESCAPE_CHARACTER.fullmatch(escape):
        return None
    return unescape(written[3:stop].replace('""', '"'), escape) or None


#: What can be the escape character of a Unicode string or name.
ESCAPE_CHARACTER = regex(r"[^0-9a-fA-F\s+\"]")

_HEX = regex(r"[+-]?[0-9a-fA-F]+")


def unescape(content: str, escape: str) -> str | None:
    r"""Decode the escapes of a Unicode string: ``\00e4``, and the escape character twice.

    Return None where the escape character is followed by something else.
    """
    pieces, at = [], 0
    while (next_ := content.find(escape, at)) >= 0:
        pieces.append(content[at:next_])
        digits = content[next_ + 1 : next_ + 5]
        if digits.startswith(escape):
            pieces.append(escape)
            at = next_ + 2
        elif len(digits) == 4 and _HEX.fullmatch(digits):
            pieces.append(chr(int(digits, 16) & 0xFFFF))
            at = next_ + 5
        else:
            return None
    pieces.append(content[at:])
    return pair_surrogates("".join(pieces))


def pair_surrogates(content: str) -> str:
    """Join the surrogates of each character beyond U+FFFF."""
    return content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def tokenize_excerpt(text: str) -> list[Token]:
    """Split any string into comments, literals, words and single characters, which keep their text.

    A literal or comment that is not closed extends to the end.

    >>> [(token.kind, token.value) for token in tokenize_excerpt("a= 'b")]
    [('any_word', 'a'), ('any_symbol', '='), ('unclosed', "'b")]
    """
    return [
        Token(match.lastgroup or "", "", match.group(), *match.span())
        for match in _EXCERPT.finditer(text)
    ]
