"""The tokenizer of Flink's SQL: of statements, paths and hints, and of excerpts that do not parse.

White space is blank, tab, newline, carriage return and form feed, nothing else; comments are ``--
..``, ``// ..`` and ``/* .. */``, but ``/*+`` opens a hint and is a token. A character with which no
token begins becomes a token of the kind `bad`, which no grammar accepts: every text has tokens.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from schema_core.base.lazy_regex import regex
from schema_core.base.text import ASCII_LETTERS, LETTERS, Span, quote_string


class Token(NamedTuple):
    """A token of a grammar.

    `key` is what parsers compare: the upper-cased word of an unquoted name or keyword, the symbol
    itself, `""` for quoted names, literals and numbers, `"end"` after the last token. `value` is
    the decoded content: a name without its backticks, a string without its quotes.
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


#: Token kind -> pattern. Digits are matched possessively, and the length of a character set's name
#: is bounded, so that no input makes an expression backtrack. As in Flink ``/**`` and the character
#: after it open a comment, so that ``/***/`` is not closed.
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

_KINDS = (
    "charset unicode escaped binary unicode_name word name string approximate decimal integer "
    "symbol bad end"
)


def _any_of(kinds: str, letters: str = LETTERS) -> str:
    """Return a pattern with a group for each kind, of which the first that matches decides."""
    patterns = {**_PATTERNS, "word": rf"[{letters}][{letters}0-9]*"}
    return "|".join(f"(?P<{kind}> {patterns[kind]} )" for kind in kinds.split())


#: Whether a text is ASCII -> its tokens, each with the white space and comments before it. To
#: compile all letters takes 8 ms, of which ASCII takes 1.
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

    A word of `reserved` has the kind `reserved`, any other `word`; the key of both is the word in
    upper case. Literals with a prefix, and numbers, keep their text.

    >>> [(token.kind, token.value) for token in tokenize("`a``b` + 1.5 -- tail")]
    [('name', 'a`b'), ('symbol', '+'), ('decimal', '1.5'), ('end', '')]
    """
    found: list[Token] = []
    append, make = found.append, tuple.__new__
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
            decoded = decoded_name(value)
            kind, value = ("bad", value) if decoded is None else ("name", decoded)
        elif kind == "end":
            break
        append(make(Token, (kind, key, value, *match.span(group))))
    append(Token("end", "end", "", len(text), len(text)))
    return found


def decoded_name(written: str) -> str | None:
    r"""Decode ``U&"d!0061t" UESCAPE '!'``; return None for an empty name or an invalid escape.

    >>> decoded_name("U&\"d!0061t\" UESCAPE '!'"), decoded_name('u&"a""\\0062"')
    ('dat', 'a"b')
    """
    stop = written.rindex('"')
    escape = written[stop + 1 :].partition("'")[2][:-1].replace("''", "'") or "\\"
    if not ESCAPE_CHARACTER.fullmatch(escape):
        return None
    return unescaped(written[3:stop].replace('""', '"'), escape) or None


#: What can be the escape character of a Unicode string or name.
ESCAPE_CHARACTER = regex(r"[^0-9a-fA-F\s+\"]")

_HEX = regex(r"[+-]?[0-9a-fA-F]+")


def unescaped(content: str, escape: str) -> str | None:
    r"""Decode the escapes of a Unicode string: ``\00e4``, and the escape character twice.

    Return None where the escape character is followed by something else.
    """
    found, at = [], 0
    while (next_ := content.find(escape, at)) >= 0:
        found.append(content[at:next_])
        digits = content[next_ + 1 : next_ + 5]
        if digits.startswith(escape):
            found.append(escape)
            at = next_ + 2
        elif len(digits) == 4 and _HEX.fullmatch(digits):
            found.append(chr(int(digits, 16) & 0xFFFF))
            at = next_ + 5
        else:
            return None
    found.append(content[at:])
    return pair_surrogates("".join(found))


def pair_surrogates(content: str) -> str:
    """Join the surrogates of each character beyond U+FFFF."""
    return content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def tokenize_excerpt(text: str) -> list[Token]:
    """Split a string, SQL or not, into comments, literals, words and single characters.

    All tokens keep their text. A literal or comment that is not closed extends to the end.

    >>> [(token.kind, token.value) for token in tokenize_excerpt("a= 'b")]
    [('any_word', 'a'), ('any_symbol', '='), ('unclosed', "'b")]
    """
    return [
        Token(match.lastgroup or "", "", match.group(), *match.span())
        for match in _EXCERPT.finditer(text)
    ]
