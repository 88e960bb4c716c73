"""Flink SQL cut into tokens; what lies between two of them is white space and comments.

White space is blank, tab, newline, carriage return and form feed, nothing else; comments are
``-- ..``, ``// ..`` and ``/* .. */``, but ``/*+`` opens a hint and is a token. A character that no
token begins with becomes a token of the kind `bad`, which no grammar accepts: so the first mistake
of a text is the one that is told, and a parser that recovers finds the others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schema_core.errors import ParseError
from schema_core.sql.hints import hint
from schema_core.sql.keywords import RESERVED
from schema_core.text import LETTERS, Cursor, Token, check_digits, check_size

if TYPE_CHECKING:
    from schema_core.text import Span

#: Group -> what it matches. The names of the groups are the kinds of tokens; the order decides.
#: Digits are matched possessively, and the name of a character set is bounded, so that no input
#: makes the expression backtrack.
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

#: Kinds whose token keeps its text as written; the literals of these are read where they stand.
_NUMBERS = frozenset({"integer", "decimal", "approximate"})


def tokenize(text: str) -> list[Token]:
    """The tokens of the text, the last of the kind `end`.

    A word that is reserved has the kind `reserved`, any other `word`; both have the word in
    capitals as their key. Strings with a prefix keep it in their value.

    Raises:
        ParseError: for a text of more than 1,000,000 characters or a number of more than 1,000.

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
    """A place in SQL, which knows what was probably meant."""

    __slots__ = ()

    def missing(self, key: str) -> ParseError:
        """The error that something else stands where a word or sign was expected."""
        return refuse(self, key if key.isalpha() or "_" in key else f"'{key}'")


def cursor_over(text: str) -> Cursor:
    """A cursor at the first token of the text."""
    return SqlCursor(text, tokenize(text))


#: First character of a bad token -> what is wrong with it.
_BAD = {
    "'": "a text in quotes is not closed",
    "`": "a name in back-ticks is not closed",
    "/": "a comment is not closed",
}


def refuse(cursor: Cursor, expected: str, span: Span | None = None) -> ParseError:
    """The error that something else was expected at the cursor, to be raised by the caller."""
    token = cursor.token
    if token.kind == "bad":
        problem = _BAD.get(token.value[0], f"the character {token.value[0]!r} has no place in SQL")
        return cursor.fail(problem, hint=hint(cursor, expected), span=span)
    problem = f"expected {expected}, found {cursor.found}"
    return cursor.fail(problem, hint=hint(cursor, expected), span=span)


def expect_end(cursor: Cursor) -> None:
    """Refuse whatever stands behind what was parsed.

    Raises:
        ParseError: unless the cursor is at the end.
    """
    if cursor.token.kind != "end":
        raise refuse(cursor, "the end")


def can_name(token: Token) -> bool:
    """Whether the token may stand where a name is expected."""
    return token.kind in {"word", "name"}


def identifier(cursor: Cursor) -> str:
    """A name: a word that is not reserved, or anything in back-ticks."""
    token = cursor.token
    if token.kind not in {"word", "name"}:
        raise refuse(cursor, "a name")
    cursor.index += 1
    return token.value


def path(cursor: Cursor) -> tuple[str, ...]:
    """Names with dots between: ``catalog.`my db`.orders``."""
    parts = [identifier(cursor)]
    while cursor.key == ".":
        cursor.index += 1
        parts.append(identifier(cursor))
    return tuple(parts)


def string(cursor: Cursor) -> str:
    """The content of a text in plain quotes."""
    token = cursor.token
    if token.kind != "string":
        raise refuse(cursor, "a text in single quotes")
    cursor.index += 1
    return token.value


def integer(cursor: Cursor) -> int:
    """A whole number without a sign."""
    token = cursor.token
    if token.kind != "integer":
        raise refuse(cursor, "an integer")
    cursor.index += 1
    return int(token.value)
