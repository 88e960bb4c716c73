"""Tokenizer of Flink SQL, and the cursor that parsers move over its tokens.

White space is blank, tab, newline, carriage return and form feed, nothing else; comments are ``--
..``, ``// ..`` and ``/* .. */``, but ``/*+`` opens a hint and is a token. A character with which no
token begins becomes a token of the kind `bad`, which no grammar accepts: the first error in the
text is reported, and a parser that recovers reports the others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schema_core.cursor import Cursor, Token, check_digits, check_size
from schema_core.errors import ParseError
from schema_core.sql.hints import hint
from schema_core.sql.keywords import RESERVED
from schema_core.text import LETTERS

if TYPE_CHECKING:
    from schema_core.text import Span

#: Token kind -> pattern. The order of the groups decides. Digits are matched possessively, and the
#: length of a character set's name is bounded, so that no input makes the expression backtrack.
_TOKEN = re.compile(
    rf"""
      (?P<space>       (?: [ \t\n\r\f]+ | --[^\r\n]* | //[^\r\n]* | /\*(?!\+)(?s:.*?)\*/ )+ )
    | (?P<charset>     (?: _[A-Za-z0-9][A-Za-z0-9:._-]{{0,99}}+ | [nN] ) '[^']*(?:''[^']*)*' )
    | (?P<unicode>     [uU]&'[^']*(?:''[^']*)*' )
    | (?P<escaped>     [eE]'[^'\\]*(?:(?:''|\\(?s:.))[^'\\]*)*' )
    | (?P<binary>      [xX]'[^']*(?:''[^']*)*' )
    | (?P<word>        [{LETTERS}][{LETTERS}0-9]* )
    | (?P<name>        `(?:[^`\n\r]|``)+` )
    | (?P<string>      '[^']*(?:''[^']*)*' )
    | (?P<approximate> (?: [0-9]++(?:\.[0-9]*+)? | \.[0-9]++ ) [eE][+-]?[0-9]+ )
    | (?P<decimal>     [0-9]+\.[0-9]* | \.[0-9]+ )
    | (?P<integer>     [0-9]+ )
    | (?P<symbol>      /\*\+ | \*/ | \|\| | <> | <= | >= | => | \{{[ ]*(?:[fF][nN]|[tT][sS]|[dDtT])
                     | /(?!\*) | [-+*%=<>()\[\],.;:?{{}}|^] )
    | (?P<bad>         ['`](?s:.*) | /\*(?s:.*) | (?s:.)[^A-Za-z0-9_\s'`;(),]* )
    """,
    re.VERBOSE,
)

#: Kinds whose token keeps its text as written; `schema_core.sql.literals` decodes it.
_NUMBERS = frozenset({"integer", "decimal", "approximate"})


def tokenize(text: str) -> list[Token]:
    """Split source text into tokens, the last of which has the kind `end`.

    A reserved word has the kind `reserved`, any other `word`; the key of both is the word in upper
    case. Strings with a prefix keep it in their value.

    Raises:
        ParseError: for text longer than 1,000,000 characters or a number longer than 1,000.

    >>> [(token.kind, token.value) for token in tokenize("`a``b` + 1.5 -- tail")]
    [('name', 'a`b'), ('symbol', '+'), ('decimal', '1.5'), ('end', '')]
    """
    check_size(text)
    found: list[Token] = []
    append, make = found.append, tuple.__new__
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "space":
            continue
        value = match.group()
        start, stop = match.span()
        if kind == "word":
            key = value.upper() if value.isascii() else value
            append(make(Token, ("reserved" if key in RESERVED else kind, key, value, start, stop)))
        elif kind == "symbol":
            key = value.replace(" ", "").upper() if value[0] == "{" else value
            append(make(Token, (kind, key, value, start, stop)))
        elif kind == "string":
            append(make(Token, (kind, "", value[1:-1].replace("''", "'"), start, stop)))
        elif kind == "name":
            append(make(Token, (kind, "", value[1:-1].replace("``", "`"), start, stop)))
        else:
            token = Token(kind, "", value, start, stop)
            if kind in _NUMBERS:
                check_digits(value, token.span)
            append(token)
    append(Token("end", "end", "", len(text), len(text)))
    return found


class SqlCursor(Cursor):
    """A cursor over SQL, whose errors have hints."""

    __slots__ = ()

    def missing(self, key: str) -> ParseError:
        """Return the error that a keyword or symbol was expected at the cursor."""
        return refuse(self, key if key.isalpha() or "_" in key else f"'{key}'")


def cursor_over(text: str) -> Cursor:
    """Return a cursor at the first token of source text."""
    return SqlCursor(text, tokenize(text))


#: First character of a bad token -> the problem.
_BAD = {
    "'": "unterminated string",
    "`": "unterminated name in backticks",
    "/": "unterminated comment",
}


def refuse(cursor: Cursor, expected: str, span: Span | None = None) -> ParseError:
    """Return the error that something else was expected at the cursor."""
    token = cursor.token
    if token.kind == "bad":
        problem = _BAD.get(token.value[0], f"invalid character {token.value[0]!r}")
        return cursor.fail(problem, hint=hint(cursor, expected), span=span)
    problem = f"expected {expected}, found {cursor.found}"
    return cursor.fail(problem, hint=hint(cursor, expected), span=span)


def expect_end(cursor: Cursor) -> None:
    """Require the end of the text.

    Raises:
        ParseError: if there are further tokens.
    """
    if cursor.token.kind != "end":
        raise refuse(cursor, "the end")


def can_name(token: Token) -> bool:
    """Return whether the token can be an identifier."""
    return token.kind in {"word", "name"}


def identifier(cursor: Cursor) -> str:
    """Parse an identifier: a word that is not reserved, or any name in backticks."""
    token = cursor.token
    if token.kind not in {"word", "name"}:
        raise refuse(cursor, "a name")
    cursor.index += 1
    return token.value


def path(cursor: Cursor) -> tuple[str, ...]:
    """Parse identifiers separated by dots: ``catalog.`my db`.orders``."""
    parts = [identifier(cursor)]
    while cursor.key == ".":
        cursor.index += 1
        parts.append(identifier(cursor))
    return tuple(parts)


def string(cursor: Cursor) -> str:
    """Parse a string literal without a prefix and return its content."""
    token = cursor.token
    if token.kind != "string":
        raise refuse(cursor, "a string in single quotes")
    cursor.index += 1
    return token.value


def integer(cursor: Cursor) -> int:
    """Parse an integer without a sign."""
    token = cursor.token
    if token.kind != "integer":
        raise refuse(cursor, "an integer")
    cursor.index += 1
    return int(token.value)
