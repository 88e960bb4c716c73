"""Hints for syntax errors: what was probably meant instead of the token that was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from schema_core.caching import cached
from schema_core.errors import close_matches
from schema_core.sql.keywords import RESERVED
from schema_core.text import position
from schema_core.tokenizer import Token
from schema_core.types.syntax import foreign

if TYPE_CHECKING:
    from schema_core.cursor import Cursor

# ruff: noqa: SIM905 - readable as one string

#: Keywords of statements, including those that are not reserved.
WORDS = RESERVED | frozenset(
    """
    ADD ANALYZE CATALOG COLUMNS COMPILE DATABASE ENFORCED EXPLAIN INCLUDING EXCLUDING JARS KEY LIKE
    MATERIALIZED METADATA MODEL OPTIONS OVERWRITE PARTITIONED PARTITIONS PLAN RENAME REPLACE RESET
    SHOW STATEMENT TABLES TEMPORARY TRUNCATE UNLOAD USE VIEW VIEWS VIRTUAL WATERMARK
    """.split()
)

_SORTED_WORDS = sorted(WORDS)

#: Keywords that begin a clause.
CLAUSES = frozenset(
    """
    AS BY ELSE END EXCEPT FROM GROUP HAVING INTERSECT INTO JOIN LIMIT ON ORDER QUALIFY SELECT SET
    THEN UNION USING VALUES WHEN WHERE WITH
    """.split()
)

#: Keywords among them that are common names of columns and tables.
NAMES = frozenset({"END", "GROUP", "LIMIT", "ORDER", "SET", "VALUES"})

#: Keywords that form a clause only together with BY.
SORTS = frozenset({"GROUP", "ORDER"})

#: Function of another system -> Flink's equivalent.
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

#: Clause of a column definition in another system -> what to do about it.
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

_VARIABLE = re.compile(r"\$\{(\w+)\}")

#: Least length of a word, and least similarity, for a suggestion.
MIN_LENGTH = 3
MIN_SIMILARITY = 0.75


def hint(cursor: Cursor, expected: str) -> str | None:
    """Return the hint of the first rule that applies to the token at the cursor, or None."""
    return next((found for one in RULES if (found := one(cursor, expected))), None)


def function_hint(name: str) -> str | None:
    """Return the hint for a function of another system, or None.

    >>> function_hint("nvl"), function_hint("upper")
    ('Flink has COALESCE', None)
    """
    found = FOREIGN_FUNCTIONS.get(name.upper())
    return None if found is None else f"Flink has {found}"


# --- rules ---------------------------------------------------------------------------------------


def _before(cursor: Cursor) -> Token | None:
    return cursor.tokens[cursor.index - 1] if cursor.index else None


def _double_quotes(cursor: Cursor, expected: str) -> str | None:
    if cursor.token.kind != "bad" or cursor.token.value[0] != '"':
        return None
    return "use backticks for names, single quotes for strings"


def _trailing_comma(cursor: Cursor, expected: str) -> str | None:
    before, token = _before(cursor), cursor.token
    ends = token.kind == "end" or token.key in CLAUSES or token.key in (")", "]", ";")
    return "remove the comma before it" if before and before.key == "," and ends else None


def _foreign(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a type, constraint or operator of another system."""
    before, token = _before(cursor), cursor.token
    if expected == "a type":
        return foreign(token.key)
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
        return COLUMN_CLAUSES.get(before.key) or foreign(before.key)
    return COLUMN_CLAUSES.get(token.key)


def _follows(cursor: Cursor, word: str) -> bool:
    """Return whether the second token before the current one is this keyword."""
    return cursor.index > 1 and cursor.tokens[cursor.index - 2].key == word


def _undefined(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a script variable without a definition."""
    for token in cursor.tokens[max(0, cursor.index - 2) : cursor.index + 1]:
        if token.value.endswith("$") and (found := _VARIABLE.match(cursor.text, token.stop - 1)):
            return f"{found[0]} is not defined: run the script with --define {found[1]}=VALUE"
    return None


def _operator(cursor: Cursor, expected: str) -> str | None:
    before = _before(cursor)
    if cursor.key == "=" and before and before.key == "=":
        return "write a single ="
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
    is_clause = cursor.key in ("ORDER", "GROUP", "PARTITION")
    is_alone = is_clause and cursor.peek().key not in ("BY", "(")
    is_name = "name" in expected or "expression" in expected
    return f"write {cursor.key} BY" if is_alone and not is_name else None


#: A hint about a misspelt keyword; `instead` matches if the token before is the misspelt one.
MISSPELT = re.compile(r"^did you mean (?P<word>[A-Z_]+)(?P<instead> instead of .*)?\?$")


#: Hints that a missing comma can refute; all others are certain.
UNCERTAIN = re.compile("did you mean |the parenthesis at |join strings with ")


def _misspelt(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a misspelt keyword, at the cursor or just before it."""
    for token in (cursor.token, _before(cursor)):
        if (
            token is None
            or token.kind != "word"
            or len(token.key) < MIN_LENGTH
            or token.key in WORDS
        ):
            continue
        if best := _meant(token.key, expected):
            here = token is cursor.token
            return f"did you mean {best}{'' if here else f' instead of {token.value!r}'}?"
    return None


@cached(lambda word, expected: len(word) + len(expected))
def _meant(misspelt: str, expected: str) -> str | None:
    """Return the keyword most similar to a word: an expected one if possible."""
    words = [word for word in expected.replace(",", " ").split() if word.isupper()]
    for known in (words, _SORTED_WORDS):
        if found := close_matches(misspelt, known, MIN_SIMILARITY):
            return min(found, key=lambda word: sorted(word) != sorted(misspelt))
    return None


def _unclosed(cursor: Cursor, expected: str) -> str | None:
    """Return the hint for a parenthesis that is not closed at the end of a clause."""
    token = cursor.token
    if ")" not in expected or not (token.kind == "end" or token.key in CLAUSES):
        return None
    depth = 0
    for index in range(cursor.index - 1, -1, -1):
        one = cursor.tokens[index]
        depth += {")": 1, "(": -1}.get(one.key, 0)
        if depth < 0:
            line, column = position(cursor.text, one.start)
            return f"the parenthesis at line {line}, column {column} is not closed"
        if one.key == ";":
            break
    return None


def _reserved(cursor: Cursor, expected: str) -> str | None:
    token = cursor.token
    if "name" not in expected and "expression" not in expected:
        return None
    if cursor.peek().key == "BY":
        return None
    others = CLAUSES - (NAMES if "name" in expected else SORTS)
    is_name = token.kind == "reserved" and token.key not in others
    return "quote a reserved word with backticks" if is_name else None


#: Rules in order of priority.
RULES: tuple[Callable[[Cursor, str], str | None], ...] = (
    _undefined, _double_quotes, _trailing_comma, _operator, _unquoted_string, _foreign,
    _foreign_function, _by, _misspelt,
    _unclosed, _reserved,
)  # fmt: skip


# --- repairs -------------------------------------------------------------------------------------

#: How many tokens before an error a missing comma is searched.
REACH = 6

#: Maximum number of trial parses for one error, and of tokens that they parse in total.
MAX_TRIALS = 24
MAX_TRIED_TOKENS = 100_000

#: Parses tokens; returns the index of the token that cannot be parsed, or None.
Failure: TypeAlias = Callable[[Sequence[Token]], int | None]


class Repairs:
    """Trial parses of tokens with a comma inserted or a word replaced."""

    def __init__(self, failure: Failure, tokens: int) -> None:
        self._failure = failure
        self._left = min(MAX_TRIALS, MAX_TRIED_TOKENS // max(tokens, 1))

    def failure(self, tokens: Sequence[Token]) -> int | None:
        """Return the index of the token that cannot be parsed; the last one without a budget."""
        self._left -= 1
        return self._failure(tokens) if self._left >= 0 else len(tokens) - 1

    def missing_comma(self, tokens: Sequence[Token], index: int) -> int | None:
        """Return the index of the token before which a comma is missing, or None.

        A comma is missing only if everything can be parsed with it, if need be with further commas.
        """
        places = range(index, max(index - REACH, 0), -1)
        for place in sorted(places, key=lambda place: tokens[place].key in _CONTINUES):
            if tokens[place].key in _NEVER_FIRST or tokens[place - 1].key in _NEVER_LAST:
                continue
            start = tokens[place].start
            trial = [*tokens[:place], Token("symbol", ",", ",", start, start), *tokens[place:]]
            failed = self.failure(trial)
            if failed is None or (
                failed > index + 1 and self._left > 0 and self.missing_comma(trial, failed)
            ):
                return place
        return None

    def replaced(self, tokens: Sequence[Token], index: int, word: str) -> int | None:
        """Return the index of the token that cannot be parsed after this word replaces a token."""
        old = tokens[index]
        new = Token("reserved" if word in RESERVED else "word", word, word, old.start, old.stop)
        return self.failure([*tokens[:index], new, *tokens[index + 1 :]])


#: Tokens that cannot begin an item of a list, and tokens that cannot end one.
_NEVER_FIRST = frozenset({",", ")", "]", ".", ";", "end"})
_NEVER_LAST = frozenset({",", "(", "[", ".", ";"})
#: Tokens that can begin an item but more often continue one: tried last.
_CONTINUES = frozenset({"+", "-", "(", "*"})
