"""The rules of functions in words, taken from the rules themselves: for pages and explanations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Function

#: Rule of nullability -> when the result may be NULL.
NULLS: dict[str, str] = {
    "any": "where an argument may be",
    "all": "where all arguments may be",
    "never": "never",
    "always": "always",
    "first": "where the first argument may be",
    "last": "where the last argument may be",
    "but_last": "where an argument but the last may be",
    "None": "as the result says",
}


def result(row: Function) -> str:
    """What a function gives, in the words of the rule that finds it.

    >>> from schema_core.expressions.functions import BUILT_IN
    >>> result(BUILT_IN["CHAR_LENGTH"][0])
    'INT'
    """
    words = (row.gives.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()
    words = re.sub(r"^What [^ ]+ gives: ", "", " ".join(words.split())).rstrip(".")
    is_sentence = (words[:1].isupper() and words[1:2].islower()) or words[:2] == "A "
    return words[:1].lower() + words[1:] if is_sentence else words


def nullability(row: Function) -> str:
    """When the result may be NULL.

    >>> from schema_core.expressions.functions import BUILT_IN
    >>> nullability(BUILT_IN["CHAR_LENGTH"][0])
    'where an argument may be'
    """
    return NULLS[getattr(row.nulls, "__name__", "None")]
