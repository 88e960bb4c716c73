"""Hints for SQL that cannot be read: what was probably meant where something else was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from schema_core.caching import cached
from schema_core.errors import close_matches
from schema_core.sql.keywords import RESERVED
from schema_core.text import Token, position
from schema_core.types.syntax import foreign

if TYPE_CHECKING:
    from schema_core.text import Cursor

# ruff: noqa: SIM905 - many words read better as a text than as a list of strings

#: Words of statements that are no reserved ones.
WORDS = RESERVED | frozenset(
    """
    ADD ANALYZE CATALOG COLUMNS COMPILE DATABASE ENFORCED EXPLAIN INCLUDING EXCLUDING JARS KEY LIKE
    MATERIALIZED METADATA MODEL OPTIONS OVERWRITE PARTITIONED PARTITIONS PLAN RENAME REPLACE RESET
    SHOW STATEMENT TABLES TEMPORARY TRUNCATE UNLOAD USE VIEW VIEWS VIRTUAL WATERMARK
    """.split()
)

_SORTED_WORDS = sorted(WORDS)

#: Words that begin a clause.
CLAUSES = frozenset(
    """
    AS BY ELSE END EXCEPT FROM GROUP HAVING INTERSECT INTO JOIN LIMIT ON ORDER QUALIFY SELECT SET
    THEN UNION USING VALUES WHEN WHERE WITH
    """.split()
)

#: Those of them that columns and tables are called like.
NAMES = frozenset({"END", "GROUP", "LIMIT", "ORDER", "SET", "VALUES"})

#: Those that are one with BY behind them alone.
SORTS = frozenset({"GROUP", "ORDER"})

#: Function of other engines -> what Flink has instead.
ELSEWHERE = {
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

#: Clause of a column in another system -> what to do about it.
COLUMN_CLAUSES = {
    "UNSIGNED": "use the next larger type: Flink's integers are signed",
    "SIGNED": "leave it out: Flink's integers are signed",
    "ZEROFILL": "leave it out: Flink has no display widths",
    **dict.fromkeys(
        ("AUTO_INCREMENT", "AUTOINCREMENT", "IDENTITY"),
        "leave it out: Flink does not generate values of columns",
    ),
    "GENERATED": "write a computed column: name AS expression",
    "DEFAULT": "leave it out: Flink has no default values of columns",
    "CHECK": "leave it out: Flink has no CHECK constraints",
    "REFERENCES": "leave it out: Flink has no foreign keys",
    "FOREIGN": "leave it out: Flink has no foreign keys",
    "ENGINE": "give the options of the table in WITH ('key' = 'value')",
}

_VARIABLE = re.compile(r"\$\{(\w+)\}")

#: Shorter words are too like each other.
LEAST = 3
LIKENESS = 0.75


def hint(cursor: Cursor, expected: str) -> str | None:
    """What to do about the token at the cursor, where something else was expected."""
    return next((found for one in RULES if (found := one(cursor, expected))), None)


def function_hint(name: str) -> str | None:
    """What Flink has instead of a function of other engines.

    >>> function_hint("nvl"), function_hint("upper")
    ('Flink has COALESCE', None)
    """
    found = ELSEWHERE.get(name.upper())
    return None if found is None else f"Flink has {found}"


# --- rules ---------------------------------------------------------------------------------------


def _before(cursor: Cursor) -> Token | None:
    return cursor.tokens[cursor.index - 1] if cursor.index else None


def _double_quotes(cursor: Cursor, expected: str) -> str | None:
    if cursor.token.kind != "bad" or cursor.token.value[0] != '"':
        return None
    return "names stand in back-ticks, texts in single quotes"


def _comma(cursor: Cursor, expected: str) -> str | None:
    before, token = _before(cursor), cursor.token
    ends = token.kind == "end" or token.key in CLAUSES or token.key in (")", "]", ";")
    return "leave out the comma before it" if before and before.key == "," and ends else None


def _foreign(cursor: Cursor, expected: str) -> str | None:
    """A type, constraint or operator of another system."""
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
    """Whether the token two before the current one is this word."""
    return cursor.index > 1 and cursor.tokens[cursor.index - 2].key == word


def _undefined(cursor: Cursor, expected: str) -> str | None:
    """A variable of a script that has no definition."""
    for token in cursor.tokens[max(0, cursor.index - 2) : cursor.index + 1]:
        if token.value.endswith("$") and (found := _VARIABLE.match(cursor.text, token.stop - 1)):
            return f"{found[0]} is not defined: run the script with --define {found[1]}=VALUE"
    return None


def _sign(cursor: Cursor, expected: str) -> str | None:
    before = _before(cursor)
    if cursor.key == "=" and before and before.key == "=":
        return "write a single ="
    return "write >=" if cursor.key == "=>" else None


def _text(cursor: Cursor, expected: str) -> str | None:
    token = cursor.token
    if "single quotes" not in expected or token.kind not in ("word", "reserved", "name"):
        return None
    if cursor.is_hidden(token):
        return "write it in single quotes"
    return f"write '{token.value}'"


def _elsewhere(cursor: Cursor, expected: str) -> str | None:
    return function_hint(cursor.key) if cursor.peek().key == "(" else None


def _by(cursor: Cursor, expected: str) -> str | None:
    is_clause = cursor.key in ("ORDER", "GROUP", "PARTITION")
    is_alone = is_clause and cursor.peek().key not in ("BY", "(")
    is_name = "name" in expected or "expression" in expected
    return f"write {cursor.key} BY" if is_alone and not is_name else None


#: The hint that a word is misspelt: the one that was meant and, for the token before, "instead".
MISSPELT = re.compile(r"^did you mean (?P<word>[A-Z_]+)(?P<instead> instead of .*)?\?$")


#: Hints that a missing comma refutes; all others name what is wrong.
UNCERTAIN = re.compile("did you mean |the parenthesis at |join strings with ")


def _misspelt(cursor: Cursor, expected: str) -> str | None:
    """The word here or the one before it, if it is nearly one of SQL's."""
    for token in (cursor.token, _before(cursor)):
        if token is None or token.kind != "word" or len(token.key) < LEAST or token.key in WORDS:
            continue
        if best := _meant(token.key, expected):
            here = token is cursor.token
            return f"did you mean {best}{'' if here else f' instead of {token.value!r}'}?"
    return None


@cached(lambda word, expected: len(word) + len(expected))
def _meant(misspelt: str, expected: str) -> str | None:
    """The word that is most like a misspelt one: of those that were expected, else of all."""
    words = [word for word in expected.replace(",", " ").split() if word.isupper()]
    for known in (words, _SORTED_WORDS):
        if found := close_matches(misspelt, known, LIKENESS):
            return min(found, key=lambda word: sorted(word) != sorted(misspelt))
    return None


def _unclosed(cursor: Cursor, expected: str) -> str | None:
    """The parenthesis that is open where the text or the list of a SELECT ends."""
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
    return "quote a reserved word with back-ticks" if is_name else None


#: The first rule that has something to say is the hint.
RULES: tuple[Callable[[Cursor, str], str | None], ...] = (
    _undefined, _double_quotes, _comma, _sign, _text, _foreign, _elsewhere, _by, _misspelt,
    _unclosed, _reserved,
)  # fmt: skip


# --- repairs -------------------------------------------------------------------------------------

#: Tokens before an error between which a comma may be missing.
REACH = 6

#: Repairs that are tried for one error, and tokens that they parse in total.
MAX_TRIALS = 24
MAX_TRIED_TOKENS = 100_000

#: Parses tokens; the index of the token that cannot be parsed, or None.
Failure: TypeAlias = Callable[[Sequence[Token]], int | None]


class Repairs:
    """Trial parses of tokens in which commas are inserted or a word is replaced."""

    def __init__(self, failure: Failure, tokens: int) -> None:
        self._failure = failure
        self._left = min(MAX_TRIALS, MAX_TRIED_TOKENS // max(tokens, 1))

    def failure(self, tokens: Sequence[Token]) -> int | None:
        """Return the index of the token that cannot be parsed; the last one without a budget."""
        self._left -= 1
        return self._failure(tokens) if self._left >= 0 else len(tokens) - 1

    def missing_comma(self, tokens: Sequence[Token], index: int) -> int | None:
        """Return the index of the token before which a comma is missing.

        Only a comma with which everything can be parsed is found, if need be with further ones.
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


#: Tokens that begin no item of a list, and those that end none.
_NEVER_FIRST = frozenset({",", ")", "]", ".", ";", "end"})
_NEVER_LAST = frozenset({",", "(", "[", ".", ";"})
#: Tokens that begin an item only if no other place can have a comma.
_CONTINUES = frozenset({"+", "-", "(", "*"})
