"""Hints for syntax errors: what was probably meant instead of the found token."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from schema_core.base.caching import cached
from schema_core.base.keywords import RESERVED, UNRESERVED
from schema_core.base.lazy import regex
from schema_core.base.text import Token, position, quote_identifier
from schema_core.errors import close_matches
from schema_core.types.type_parser import hint_for_foreign

if TYPE_CHECKING:
    from schema_core.base.cursor import Cursor

# ruff: noqa: SIM905 - readable as one string

#: Keywords that a word may misspell.
WORDS = RESERVED | UNRESERVED

_SORTED_WORDS = sorted(WORDS)

#: Keywords that begin a clause.
CLAUSES = frozenset(
    """
    AS BY ELSE END EXCEPT FROM GROUP HAVING INTERSECT INTO JOIN LIMIT ON ORDER QUALIFY SELECT SET
    THEN UNION USING VALUES WHEN WHERE WITH
    """.split()
)

#: Keywords that are common names of columns and tables.
NAMES = frozenset({"END", "GROUP", "LIMIT", "ORDER", "SET", "VALUES"})

#: Keywords that begin a clause only with BY.
SORTS = frozenset({"GROUP", "ORDER"})

#: Function of another system -> Flink's.
FOREIGN_FUNCTIONS = {
    "CHARINDEX": "LOCATE",
    "CONTAINS": "LIKE or POSITION",
    "DATEADD": "TIMESTAMPADD",
    "DATEDIFF": "TIMESTAMPDIFF",
    "DATE_ADD": "TIMESTAMPADD",
    "DATE_PART": "EXTRACT",
    "DATE_SUB": "TIMESTAMPADD",
    "DATE_TRUNC": "FLOOR(... TO DAY)",
    "EXPLODE": "CROSS JOIN UNNEST(...)",
    "GETDATE": "CURRENT_TIMESTAMP",
    "GET_JSON_OBJECT": "JSON_VALUE",
    "GROUP_CONCAT": "LISTAGG",
    "ISNULL": "IS NULL or IFNULL",
    "JSON_EXTRACT": "JSON_VALUE or JSON_QUERY",
    "LCASE": "LOWER",
    "LEN": "CHAR_LENGTH",
    "LENGTH": "CHAR_LENGTH",
    "MEDIAN": "PERCENTILE",
    "NVL": "COALESCE",
    "POW": "POWER",
    "RANDOM": "RAND",
    "REGEXP_LIKE": "REGEXP",
    "SAFE_CAST": "TRY_CAST",
    "SIZE": "CARDINALITY",
    "STRING_AGG": "LISTAGG",
    "STRPOS": "POSITION",
    "SYSDATE": "CURRENT_TIMESTAMP",
    "TO_CHAR": "DATE_FORMAT or CAST",
    "TO_NUMBER": "CAST",
    "UCASE": "UPPER",
}

#: Clause of a column in another system -> advice.
COLUMN_CLAUSES = {
    "UNSIGNED": "use the next larger type: Flink's integers are signed",
    "SIGNED": "remove it: Flink's integers are signed",
    "ZEROFILL": "remove it: Flink has no display widths",
    **dict.fromkeys(
        ("AUTO_INCREMENT", "AUTOINCREMENT", "IDENTITY"),
        "remove it: Flink does not generate values of columns",
    ),
    "GENERATED": "write a computed column: name AS expression",
    "DEFAULT": "remove it: Flink has no default values of columns",
    "CHECK": "remove it: Flink has no CHECK constraints",
    "REFERENCES": "remove it: Flink has no foreign keys",
    "FOREIGN": "remove it: Flink has no foreign keys",
    "ENGINE": "give the options of the table in WITH ('key' = 'value')",
}

_VARIABLE = regex(r"\$\{(\w+)\}")

#: Minimum length and similarity of a suggestion.
MIN_LENGTH = 3
MIN_SIMILARITY = 0.75

#: Maximum number of keywords that speculative parses try for a word.
MAX_CANDIDATES = 3


def hint(cursor: Cursor, expected: str) -> str | None:
    """Return the hint of the first rule that applies at the cursor."""
    return next((text for rule in RULES if (text := rule(cursor, expected))), None)


def function_hint(name: str) -> str | None:
    """Return the hint for a function of another system.

    >>> function_hint("nvl"), function_hint("upper")
    ('Flink has COALESCE', None)
    """
    function = FOREIGN_FUNCTIONS.get(name.upper())
    return None if function is None else f"Flink has {function}"


# --- rules ---------------------------------------------------------------------------------------


def _before(cursor: Cursor) -> Token | None:
    return cursor.tokens[cursor.index - 1] if cursor.index else None


def _unpaired_quote(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a missing quote, if a later string is not terminated.

    Strings after it begin where others end, so that one near the error touches a word.
    """
    last = cursor.tokens[-2] if len(cursor.tokens) > 1 else cursor.token
    if last.kind != "bad" or last.value[0] != "'":
        return None
    stop = min(cursor.index + QUOTE_REACH, len(cursor.tokens) - 1)
    for index in range(max(1, cursor.index - 2), stop):
        left, right = cursor.tokens[index - 1 : index + 1]
        if left.stop != right.start:
            continue
        if left.kind == "string" and right.kind in _WORDLIKE:
            quote = left.stop - 1
        elif left.kind in _WORDLIKE and (right.kind == "string" or right is last):
            quote = right.start
        else:
            continue
        line, column = position(cursor.text, quote)
        return f"a quote is missing before the one at line {line}, column {column}"
    return None


#: Number of tokens after an error in which an unpaired quote is searched.
QUOTE_REACH = 8

#: Tokens that touch a string only if a quote is missing.
_WORDLIKE = frozenset({"word", "reserved", "integer", "decimal"})


def _double_quotes(cursor: Cursor, expected: str) -> str | None:
    if cursor.token.kind != "bad" or cursor.token.value[0] not in _FOREIGN_QUOTES:
        return None
    return "use backticks for names, single quotes for strings"


#: Quotes of other systems and of word processors.
_FOREIGN_QUOTES = '"\u201c\u201d\u201e\u2018\u2019'


def _trailing_comma(cursor: Cursor, expected: str) -> str | None:
    before, token = _before(cursor), cursor.token
    ends = token.kind == "end" or token.key in CLAUSES or token.key in (")", "]", ";")
    return "remove the comma before it" if before and before.key == "," and ends else None


def _foreign(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a type, constraint or operator of another system."""
    before, token = _before(cursor), cursor.token
    if expected == "a type":
        return hint_for_foreign(token.key)
    if expected == "an integer" and token.key == "MAX":
        return "use STRING or BYTES, which have the maximum length"
    if token.key == ":" and cursor.peek().key == ":":
        return "write CAST(value AS type)"
    if token.kind == "bad" and token.value.startswith("!="):
        return "write <>"
    if before is not None and before.key == "TOP" and token.kind == "integer":
        return "write LIMIT at the end of the query"
    if token.key == "," and before is not None and _follows(cursor, "LIMIT"):
        return f"write LIMIT {cursor.peek().value} OFFSET {before.value}"
    if before is not None and (token.key in ("(", "<") or before.key == "UNSIGNED"):
        return _column_clause(cursor, before.key) or hint_for_foreign(before.key)
    return _column_clause(cursor, token.key)


def _column_clause(cursor: Cursor, key: str) -> str | None:
    advice = COLUMN_CLAUSES.get(key)
    if advice is None or "." in ((_before(cursor) or cursor.token).key, cursor.peek().key):
        return None
    first = cursor.tokens[_statement_start(cursor)].key
    return advice if first in ("CREATE", "REPLACE", "ALTER") else None


def _follows(cursor: Cursor, word: str) -> bool:
    """Return whether the token before the previous one is this keyword."""
    return cursor.index > 1 and cursor.tokens[cursor.index - 2].key == word


def _undefined_variable(cursor: Cursor, expected: str) -> str | None:
    for token in cursor.tokens[max(0, cursor.index - 2) : cursor.index + 1]:
        if token.value.endswith("$") and (match := _VARIABLE.match(cursor.text, token.stop - 1)):
            return f"{match[0]} is not defined: run the script with --define {match[1]}=VALUE"
    return None


def _operator(cursor: Cursor, expected: str) -> str | None:
    before, token = _before(cursor), cursor.token
    if before and before.key == "=" and (cursor.key == "=" or _follows(cursor, "=")):
        return "write a single ="
    if expected == "'='" and cursor.key in (":", "=>"):
        return "write = between the key and its value"
    if cursor.key == "|" or (token.kind == "bad" and token.value.startswith("&")):
        return "write OR" if cursor.key == "|" else "write AND"
    return "write >=" if cursor.key == "=>" else None


def _unquoted_string(cursor: Cursor, expected: str) -> str | None:
    token = cursor.token
    if "single quotes" not in expected or token.kind not in ("word", "reserved", "name"):
        return None
    if cursor.is_hidden(token):
        return "write it in single quotes"
    return f"write '{token.value}'"


def _foreign_function(cursor: Cursor, expected: str) -> str | None:
    return function_hint(cursor.key) if cursor.peek().key == "(" else None


def _by(cursor: Cursor, expected: str) -> str | None:
    is_clause = cursor.key in ("ORDER", "GROUP", "PARTITION", "PARTITIONED", "DISTRIBUTED")
    follower = cursor.peek().key
    is_called = follower == "(" and cursor.key in _CALLED
    is_alone = is_clause and follower != "BY" and not is_called
    is_name = "name" in expected or "expression" in expected
    return f"write {cursor.key} BY" if is_alone and not is_name else None


#: Hints that a speculative parse can refute.
UNCERTAIN = regex(
    "did you mean |the parenthesis at |join strings with |quote a reserved word |remove the comma |"
    "write >="
)


#: Keywords that parentheses can follow without BY.
_CALLED = ("GROUP", "PARTITION")

#: The order of clauses in a query and in CREATE TABLE.
QUERY_ORDER = (
    "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH",
)  # fmt: skip
TABLE_ORDER = ("COMMENT", "DISTRIBUTED", "PARTITIONED", "WITH", "LIKE", "AS")


def _order(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a clause that must precede an earlier one."""
    order = next((clauses for clauses in (QUERY_ORDER, TABLE_ORDER) if cursor.key in clauses), None)
    if order is None or (not expected.startswith("the end") and ")" not in expected):
        return None
    own, depth = order.index(cursor.key), 0
    first: str | None = None
    for index in range(cursor.index - 1, -1, -1):
        key = cursor.tokens[index].key
        depth += {")": 1, "(": -1}.get(key, 0)
        if depth < 0:
            return None
        if key == ";":
            break
        if depth:
            continue
        if key in _BEGINS_QUERY:
            break
        if key in order and order.index(key) > own:
            first = key
    statement = cursor.tokens[_statement_start(cursor)].key
    if first is None or (order is TABLE_ORDER and statement not in ("CREATE", "REPLACE")):
        return None
    own_clause, first_clause = (
        f"{key} BY" if key in ("GROUP", "ORDER", "DISTRIBUTED", "PARTITIONED") else key
        for key in (cursor.key, first)
    )
    return f"write {own_clause} before {first_clause}"


#: Keywords at which the clauses of another query end.
_BEGINS_QUERY = frozenset({"SELECT", "UNION", "INTERSECT", "EXCEPT", "MINUS"})


def _statement_start(cursor: Cursor) -> int:
    index = cursor.index
    while index and cursor.tokens[index - 1].key != ";":
        index -= 1
    return index


#: Keywords that cannot begin a statement.
_CONTINUE = frozenset(
    """
    AND AS COMMENT CROSS DISTRIBUTED EXCEPT FETCH FROM FULL GROUP HAVING INNER INTERSECT INTO JOIN
    LEFT LIKE LIMIT OFFSET ON OR ORDER PARTITIONED RIGHT UNION WHERE WINDOW
    """.split()
)


def _semicolon(cursor: Cursor, expected: str) -> str | None:
    if expected == "a statement":
        before = _before(cursor)
        if before is not None and before.key == ";" and cursor.key in _CONTINUE:
            return f"remove the semicolon before {cursor.key}"
    if cursor.key == ";" and cursor.peek().key in _CONTINUE:
        return f"remove the semicolon before {cursor.peek().key}"
    if cursor.key == "(" and expected == "a name" and cursor.index > 1:
        word, semicolon = cursor.tokens[cursor.index - 1], cursor.tokens[cursor.index - 2]
        if word.key == "WITH" and semicolon.key == ";":
            return "remove the semicolon before WITH"
    return None


def _misspelt(cursor: Cursor, expected: str) -> str | None:
    for token in (cursor.token, _before(cursor)):
        if (
            token is None
            or token.kind != "word"
            or len(token.key) < MIN_LENGTH
            or token.key in WORDS
        ):
            continue
        if matches := keywords_like(token.key, expected):
            instead = "" if token is cursor.token else f" instead of {token.value!r}"
            return f"did you mean {matches[0]}{instead}?"
    return None


@cached(lambda word, expected: len(word) + len(expected))
def keywords_like(misspelt: str, expected: str) -> tuple[str, ...]:
    """Return the keywords most similar to a word, expected ones first."""
    words = [word for word in re.split(r"[ ,']+", expected) if word.isupper()]
    matches: dict[str, None] = {}
    for candidates in (words, _SORTED_WORDS):
        close = [word for word in candidates if _is_swapped(word, misspelt)]
        close += close_matches(misspelt, candidates, MIN_SIMILARITY)
        matches |= dict.fromkeys(close)
    return tuple(matches)[:MAX_CANDIDATES]


def _is_swapped(word: str, misspelt: str) -> bool:
    """Return whether two letters are swapped, as in KEY and KYE."""
    if len(word) != len(misspelt) or word == misspelt:
        return False
    first = next(
        i for i, (letter, other) in enumerate(zip(word, misspelt, strict=True)) if letter != other
    )
    swapped = misspelt[:first] + misspelt[first : first + 2][::-1] + misspelt[first + 2 :]
    return swapped == word


def _unclosed_parenthesis(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a parenthesis not closed at the end of a clause."""
    token = cursor.token
    if ")" not in expected or not (token.kind == "end" or token.key in CLAUSES):
        return None
    depth = 0
    for index in range(cursor.index - 1, -1, -1):
        previous = cursor.tokens[index]
        depth += {")": 1, "(": -1}.get(previous.key, 0)
        if depth < 0:
            line, column = position(cursor.text, previous.start)
            return f"the parenthesis at line {line}, column {column} is not closed"
        if previous.key == ";":
            break
    return None


def _reserved_word(cursor: Cursor, expected: str) -> str | None:
    token = cursor.token
    if "name" not in expected and "expression" not in expected:
        return None
    if cursor.peek().key == "BY":
        return None
    others = CLAUSES - (NAMES if "name" in expected else SORTS)
    if token.kind != "reserved" or token.key in others:
        return None
    advice = "quote a reserved word with backticks"
    first = last = cursor.index
    while first > 1 and cursor.tokens[first - 1].key == ".":
        first -= 2
    while last + 2 < len(cursor.tokens) and cursor.tokens[last + 1].key == ".":
        last += 2
    if first == last:
        return advice
    path = ".".join(
        quote_identifier(part.value) if part.kind in ("reserved", "name") else part.value
        for part in cursor.tokens[first : last + 1 : 2]
    )
    return f"{advice}: {path}"


#: Rules in order of priority.
RULES: tuple[Callable[[Cursor, str], str | None], ...] = (
    _undefined_variable, _unpaired_quote, _double_quotes, _trailing_comma, _operator,
    _unquoted_string, _semicolon, _foreign, _foreign_function, _by, _order, _misspelt,
    _unclosed_parenthesis, _reserved_word,
)  # fmt: skip
