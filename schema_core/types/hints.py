"""What was probably meant where a type string cannot be read: words of other engines, and slips."""

from __future__ import annotations

from collections.abc import Sequence

from schema_core.errors import close_matches
from schema_core.text import Token

#: Flink's word -> the words that other engines have for the same.
WORDS = {
    "BOOLEAN":       "BOOL BIT LOGICAL",
    "TINYINT":       "BYTE INT1",
    "SMALLINT":      "SHORT INT16 INT2 SMALLSERIAL",
    "INT":           "INT32 INT4 MEDIUMINT SERIAL",
    "BIGINT":        "LONG INT64 INT8 BIGSERIAL",
    "FLOAT":         "REAL FLOAT32 FLOAT4",
    "DOUBLE":        "FLOAT64 FLOAT8",
    "DECIMAL(p, s)": "NUMBER MONEY BIGNUMERIC BIGDECIMAL FIXED",
    "CHAR(n)":       "CHARACTER NCHAR BPCHAR FIXEDSTRING",
    "VARCHAR(n)":    "VARCHAR2 NVARCHAR NVARCHAR2 CHARACTER_VARYING",
    "STRING":        "TEXT CLOB NCLOB TINYTEXT MEDIUMTEXT LONGTEXT STR CITEXT UUID ENUM",
    "BYTES":         "BLOB BYTEA TINYBLOB MEDIUMBLOB LONGBLOB IMAGE RAWBYTES",
    "TIMESTAMP(p)":  "DATETIME DATETIME2 SMALLDATETIME TIMESTAMP_NTZ TIMESTAMPNTZ",
    "TIMESTAMP_LTZ(p)": "TIMESTAMPTZ TIMESTAMPLTZ INSTANT",
    "TIMESTAMP(p) WITH TIME ZONE": "TIMESTAMP_TZ DATETIMEOFFSET",
    "DATE":          "DATE32 DATE64",
    "ROW<name type>": "STRUCT RECORD TUPLE OBJECT NESTED",
    "ARRAY<type>":   "LIST SEQUENCE VECTOR",
    "MAP<key, value>": "DICT HASHMAP HSTORE",
    "VARIANT":       "JSON JSONB ANY",
    "NULL":          "VOID NOTHING UNKNOWN",
}  # fmt: skip
FOREIGN = {word: ours for ours, words in WORDS.items() for word in words.split()}

#: A word that no grammar of types has -> what to write instead.
SLIPS = {
    "UNSIGNED": "all numbers are signed: take the next larger type",
    "COMMENT": "the comment of a field stands behind its type, without a word: `a` INT 'text'",
    "DEFAULT": "columns have no defaults",
    "NULLABLE": "a type is nullable unless NOT NULL stands behind it",
    "OPTIONAL": "a type is nullable unless NOT NULL stands behind it",
    "REQUIRED": "write NOT NULL",
    "TIMEZONE": "write TIME ZONE",
    "VARYING": "write VARCHAR(n) or VARBINARY(n)",
    "MAX": "the longest ones are STRING and BYTES",
    "PRIMARY": "a key belongs to the schema, not to the type",
}
CLOSING = {"(": ")", "<": ">"}


def foreign(word: str) -> str | None:
    """Flink's word for a word of another engine.

    >>> foreign("datetime"), foreign("int[]"), foreign("whatever")
    ("Flink's type for it is TIMESTAMP(p)", "Flink's type for it is ARRAY<INT>", None)
    """
    word = word.upper()
    ours = f"ARRAY<{word[:-2]}>" if word.endswith("[]") else FOREIGN.get(word)
    return f"Flink's type for it is {ours}" if ours else None


def hint_at(tokens: Sequence[Token], start: int, keywords: frozenset[str]) -> str | None:
    """What to write instead of the token at an offset, which could not be read."""
    index = next((i for i, token in enumerate(tokens) if token.stop > start), len(tokens) - 1)
    found, before = tokens[index], tokens[max(index - 1, 0)]
    if found.kind == "end":
        return _unclosed(tokens)
    if found.key in CLOSING and index:
        return foreign(before.value) or _brackets(found.key, before.key)
    if found.kind == "number" and before.key in keywords:
        return f"numbers stand in parentheses: {before.key}({found.value})"
    if found.key == "." and before.kind == "number":
        return "a comma divides the numbers: DECIMAL(10, 2)"
    if found.kind == "string":
        return "types and numbers are written without quotes"
    if found.kind != "word" or found.key:
        return SLIPS.get(before.value.upper())
    if found.value.startswith("-"):
        return "a length or precision is not negative"
    word = found.value.upper()
    meant = close_matches(word, sorted(keywords), 0.7, count=1)
    return SLIPS.get(word) or foreign(word) or (f"did you mean {meant[0]!r}?" if meant else None)


def _brackets(found: str, keyword: str) -> str | None:
    """The brackets that the type has, or that it has none."""
    if found == "(" and keyword in ("ARRAY", "MULTISET", "MAP", "STRUCTURED"):
        return f"its parts stand in angle brackets: {keyword}<...>"
    if found == "<" and keyword in ("RAW", "LEGACY"):
        return f"its parts stand in parentheses: {keyword}(...)"
    return f"{keyword} takes no parameters" if found == "(" and keyword else None


def _unclosed(tokens: Sequence[Token]) -> str | None:
    """Which bracket is still open at the end."""
    open_: list[Token] = []
    for token in tokens:
        if token.key in CLOSING:
            open_.append(token)
        elif open_ and token.key == CLOSING[open_[-1].key]:
            open_.pop()
    if not open_:
        return None
    last = open_[-1]
    return f"the {last.key!r} at character {last.start + 1} is not closed"
