"""Statements as people write them: short names of types, and backticks only where required."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from schema_core.base.keywords import RESERVED
from schema_core.base.text import Span, Token
from schema_core.errors import ParseError
from schema_core.sql.parser import parse_statements
from schema_core.sql.tokens import sql_tokens

#: Keyword of a type with the maximum length -> its short name.
SHORT_TYPES = {"VARCHAR": "STRING", "VARBINARY": "BYTES"}
#: The length that the short names stand for.
MAX_LENGTH = "2147483647"

#: A name that is valid without backticks, unless it is a reserved word.
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def shorten_statements(text: str) -> str:
    """Return the same statements with short names of types, and without needless backticks.

    Reserved words keep the backticks, and so do all names of a text that would be parsed as other
    statements without them. Comments and literals are not changed.

    Raises:
        ParseError: as `parse_statements`.

    >>> shorten_statements("CREATE TABLE `d`.`order` (`a` VARCHAR(2147483647), `the day` BYTES)")
    'CREATE TABLE d.`order` (a STRING, `the day` BYTES)'
    """
    short = _replace(text, _short_types(sql_tokens(text)))
    plain = _replace(short, _plain_names(sql_tokens(short)))
    try:
        is_same = parse_statements(plain, is_migration=True) == parse_statements(
            short, is_migration=True
        )
    except ParseError:
        is_same = False
    return plain if is_same else short


def _replace(text: str, replacements: Iterator[tuple[Span, str]]) -> str:
    parts, position = [], 0
    for span, value in replacements:
        parts += [text[position : span.start], value]
        position = span.stop
    return "".join([*parts, text[position:]])


def _short_types(tokens: Sequence[Token]) -> Iterator[tuple[Span, str]]:
    """Yield the types with the maximum length: both keywords are reserved, so no name is one."""
    for index, token in enumerate(tokens):
        following = [other.value for other in tokens[index + 1 : index + 4]]
        if (
            token.kind == "reserved"
            and token.key in SHORT_TYPES
            and following
            == [
                "(",
                MAX_LENGTH,
                ")",
            ]
        ):
            yield Span(token.start, tokens[index + 3].stop), SHORT_TYPES[token.key]


def _plain_names(tokens: Sequence[Token]) -> Iterator[tuple[Span, str]]:
    for token in tokens:
        is_quoted = token.kind == "name" and token.stop - token.start == len(token.value) + 2
        if is_quoted and _PLAIN_NAME.fullmatch(token.value) and token.value.upper() not in RESERVED:
            yield token.span, token.value
