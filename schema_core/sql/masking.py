"""Masking of secret option values in the hints of queries.

Only hints hold options in a query. The query is split into tokens as the parser does, so that a
value is found however it is written: with its key in backticks, or over several lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaCoreError
from schema_core.secrets import HIDDEN, NO_KEYS, mask_text, masked_value
from schema_core.sql.tokens import tokenize
from schema_core.text import quote_string

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from schema_core.cursor import Token


def mask_query(text: str, declared: AbstractSet[str] = NO_KEYS) -> str:
    """Return a query with the secret values of its hints masked; `declared` as in `is_secret`.

    A query that cannot be split into tokens is masked as an excerpt of an error is.

    >>> print(mask_query("SELECT 1 FROM t /*+ OPTIONS('password' = 'x', 'path' = 'y') */"))
    SELECT 1 FROM t /*+ OPTIONS('password' = '******', 'path' = 'y') */
    """
    if "/*+" not in text:
        return text
    try:
        tokens = tokenize(text)
    except SchemaCoreError:
        return mask_text(text)
    if any(token.kind == "bad" for token in tokens):
        return mask_text(text)
    shown, end = [], 0
    for token, masked in _masked_tokens(tokens, declared):
        shown += [text[end : token.start], quote_string(masked)]
        end = token.stop
    return "".join([*shown, text[end:]])


def _masked_tokens(tokens: list[Token], declared: AbstractSet[str]) -> Iterator[tuple[Token, str]]:
    """Yield the strings within hints that are masked, with their replacements."""
    is_hint = False
    for place, token in enumerate(tokens):
        if token.key in ("/*+", "*/"):
            is_hint = token.key == "/*+"
        elif is_hint and token.kind in ("string", "charset", "unicode", "escaped"):
            key = tokens[place - 2].value if tokens[place - 1].key == "=" else ""
            # A string without a key of its own may continue the one before it.
            continues = not key and tokens[place - 1].kind == "string"
            masked = HIDDEN if continues else masked_value(key, token.value, declared)
            if masked != token.value:
                yield token, masked


class QueryText(str):
    """The text of a stored query, whose `repr` masks the secrets of its hints.

    >>> QueryText("SELECT 1 FROM t /*+ OPTIONS('password' = 'x') */")
    "SELECT 1 FROM t /*+ OPTIONS('password' = '******') */"
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask_query(str(self)))
