"""Tokens of SQL, with reserved words, and the cursor that parsers move over them.

Tokens of the kind `bad` fit no grammar: the first error in the text is reported, and a parser that
recovers reports the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from schema_core.base.cursor import Cursor, check_digits, check_size
from schema_core.base.keywords import RESERVED
from schema_core.base.text import MAX_DIGITS, tokenize
from schema_core.errors import ParseError
from schema_core.sql.hints import hint

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.base.text import Span, Token

C = TypeVar("C", bound=Cursor)
T = TypeVar("T")

_NUMBERS = frozenset({"integer", "decimal", "approximate"})


def sql_tokens(text: str) -> list[Token]:
    """Split a statement into tokens; reserved words have the kind `reserved`.

    Raises:
        ParseError: for text longer than 1,000,000 characters or a number longer than 1,000.

    >>> [(token.kind, token.value) for token in sql_tokens("SELECT `a``b` -- tail")]
    [('reserved', 'SELECT'), ('name', 'a`b'), ('end', '')]
    """
    check_size(text)
    tokens = tokenize(text, RESERVED)
    if len(text) > MAX_DIGITS:
        for token in tokens:
            if token.kind in _NUMBERS:
                check_digits(token.value, token.span)
    return tokens


class SqlCursor(Cursor):
    """A cursor over SQL, whose errors have hints."""

    __slots__ = ()

    def missing(self, key: str) -> ParseError:
        """Return the error that a keyword or symbol was expected."""
        return refuse(self, key if key.isalpha() or "_" in key else f"'{key}'")


def cursor_over(text: str) -> Cursor:
    """Return a cursor at the start of a text."""
    return SqlCursor(text, sql_tokens(text))


#: First character of a bad token -> the problem.
_BAD = {
    "U": "invalid Unicode name",
    "u": "invalid Unicode name",
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


def expect_end(cursor: Cursor, expected: str = "the end") -> None:
    """Require the end of the text, else raise a `ParseError`."""
    if cursor.token.kind != "end":
        raise refuse(cursor, expected)


def can_name(token: Token) -> bool:
    """Return whether the token can be an identifier."""
    return token.kind in {"word", "name"}


def identifier(cursor: Cursor) -> str:
    """Parse a word that is not reserved, or a name in backticks."""
    token = cursor.token
    if token.kind not in {"word", "name"}:
        raise refuse(cursor, "a name")
    cursor.index += 1
    return token.value


def path(cursor: Cursor) -> tuple[str, ...]:
    """Parse identifiers separated by dots."""
    parts = [identifier(cursor)]
    while cursor.key == ".":
        cursor.index += 1
        parts.append(identifier(cursor))
    return tuple(parts)


def parse_separated(cursor: C, parse_item: Callable[[C], T]) -> tuple[T, ...]:
    """Parse items separated by commas."""
    items = [parse_item(cursor)]
    while cursor.accept(","):
        items.append(parse_item(cursor))
    return tuple(items)


def string(cursor: Cursor) -> str:
    """Parse a string literal without a prefix."""
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
