"""The grammar of one column: a name, a type, and options, each a row of one table.

Types are read here and not by sqlglot, whose type trees forget NOT NULL inside of types, the
values of maps and lengths. An option that has no place in a schema is kept as text in `beside`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from schema_core.formats.dialects.steps import identifier, shown, step, texts, until
from schema_core.formats.dialects.type_reading import foreign_type
from schema_core.formats.dialects.types import Foreign
from schema_core.text import Cursor, Span

if TYPE_CHECKING:
    from schema_core.formats.dialects.engines import Engine


#: What may follow a column: the next one, the end of its list or statement, its place in a table.
ENDS = frozenset({",", ")", ";", "end", "FIRST", "AFTER"})


@dataclass(slots=True)
class WrittenColumn:
    """A column as its statement declares it."""

    name: str
    type: Foreign
    span: Span
    comment: str | None = None
    expression: Span | None = None
    is_key: bool = False
    nullable: bool | None = None
    beside: list[str] = field(default_factory=list)


def column(cursor: Cursor, engine: Engine) -> WrittenColumn:
    """A column up to the comma, bracket or semicolon after it, or to the end."""
    start = cursor.token.start
    name = identifier(cursor, engine)
    untyped = cursor.key in ENDS or option(cursor) is not None
    type_ = Foreign("") if untyped else foreign_type(cursor, engine, lambda: option(cursor))
    found = WrittenColumn(name, type_, cursor.span_from(start))
    while cursor.key not in ENDS:
        if (found_option := option(cursor)) is None:
            raise cursor.fail(f"unexpected {cursor.token.shown} in column {name!r}")
        words, read = found_option
        option_start = cursor.token.start
        cursor.index += len(words)
        read(cursor, found, option_start)
    found.span = cursor.span_from(start)
    return found


# --- options of a column -------------------------------------------------------------------------

Reader: TypeAlias = Callable[[Cursor, WrittenColumn, int], None]
Shape: TypeAlias = Callable[[Cursor], object]


def _not_null(cursor: Cursor, column: WrittenColumn, start: int) -> None:
    column.nullable = False


def _null(cursor: Cursor, column: WrittenColumn, start: int) -> None:
    column.nullable = True


def _key(cursor: Cursor, column: WrittenColumn, start: int) -> None:
    column.is_key = True


def _comment(cursor: Cursor, column: WrittenColumn, start: int) -> None:
    column.comment = texts(cursor)


def _options(cursor: Cursor, column: WrittenColumn, start: int) -> None:
    """``OPTIONS(description='..', ..)`` of BigQuery."""
    cursor.expect("(")
    while True:
        if cursor.accept("DESCRIPTION", "="):
            column.comment = texts(cursor)
        until(cursor, (",",))
        if cursor.accept(")"):
            return
        cursor.expect(",")


def _generated(shape: Shape, cursor: Cursor, column: WrittenColumn, start: int) -> None:
    begin = cursor.token.start
    shape(cursor)
    column.expression = cursor.span_from(begin)


def _beside(shape: Shape, cursor: Cursor, column: WrittenColumn, start: int) -> None:
    shape(cursor)
    column.beside.append(shown(cursor, start))


def _skipped(shape: Shape, cursor: Cursor, column: WrittenColumn, start: int) -> None:
    shape(cursor)


def _nothing(cursor: Cursor) -> None:
    """No operand."""


def _one(cursor: Cursor) -> None:
    cursor.advance()


def _group(cursor: Cursor) -> None:
    """Something in parentheses, or nothing."""
    if cursor.key == "(":
        step(cursor)


#: What Snowflake writes after AUTOINCREMENT -> the words that may stand before its number.
SEQUENCE = {"START": ("WITH", "="), "INCREMENT": ("BY", "=")}


def _sequence(cursor: Cursor) -> None:
    """``(1, 1)``, or ``START 1 INCREMENT 1 ORDER`` as Snowflake shows it."""
    _group(cursor)
    while cursor.key in SEQUENCE or cursor.key in {"ORDER", "NOORDER"}:
        words = SEQUENCE.get(cursor.advance().key)
        if words is not None:
            for word in words:
                cursor.accept(word)
            cursor.accept("-")
            cursor.advance()


def _name_and_group(cursor: Cursor) -> None:
    """A path, perhaps with something in parentheses behind it."""
    cursor.advance()
    while cursor.accept("."):
        cursor.advance()
    _group(cursor)


#: After these words an expression goes on, even where the next word could begin an option.
OPEN_WORDS = frozenset({"IS", "NOT", "THEN", "ELSE", "WHEN", "AND", "OR", "LIKE", "IN", "CASE"})


def _expression(cursor: Cursor) -> None:
    """All tokens up to the next option of the column."""
    step(cursor)
    while cursor.key not in {",", ")", ";"} and cursor.token.kind != "end":
        before = cursor.tokens[cursor.index - 1]
        is_open = before.key in OPEN_WORDS or (before.kind == "symbol" and before.key not in ")]")
        if not is_open and option(cursor) is not None:
            return
        step(cursor)


#: Words -> how the option goes on, and what becomes of it.
OPTIONS: dict[str, Reader] = {
    "NOT NULL":                                 _not_null,
    "NULL":                                     _null,
    "PRIMARY KEY":                              _key,
    "COMMENT":                                  _comment,
    "OPTIONS":                                  _options,
    "GENERATED ALWAYS AS":                      partial(_generated, _group),
    "AS":                                       partial(_generated, _group),
    "ALIAS":                                    partial(_generated, _expression),
    "MATERIALIZED":                             partial(_generated, _expression),
    "GENERATED ALWAYS AS IDENTITY":             partial(_beside, _group),
    "GENERATED BY DEFAULT AS IDENTITY":         partial(_beside, _group),
    "GENERATED BY DEFAULT ON NULL AS IDENTITY": partial(_beside, _group),
    "IDENTITY":                                 partial(_beside, _sequence),
    "AUTO_INCREMENT":                           partial(_beside, _nothing),
    "AUTOINCREMENT":                            partial(_beside, _sequence),
    "DEFAULT":                                  partial(_beside, _expression),
    "EPHEMERAL":                                partial(_beside, _expression),
    "ON UPDATE":                                partial(_beside, _expression),
    "UNIQUE":                                   partial(_beside, _nothing),
    "CHECK":                                    partial(_beside, _group),
    "REFERENCES":                               partial(_beside, _name_and_group),
    "FOREIGN KEY":                              partial(_beside, _nothing),
    "COLLATE":                                  partial(_beside, _name_and_group),
    "CHARACTER SET":                            partial(_beside, _one),
    "CHARSET":                                  partial(_beside, _one),
    "TTL":                                      partial(_beside, _expression),
    "MASKING POLICY":                           partial(_beside, _name_and_group),
    "WITH MASKING POLICY":                      partial(_beside, _name_and_group),
    "PROJECTION POLICY":                        partial(_beside, _name_and_group),
    "MASK":                                     partial(_beside, _name_and_group),
    "CONSTRAINT":                               partial(_skipped, _one),
    "ON DELETE SET":                            partial(_skipped, _one),
    "ON DELETE NO":                             partial(_skipped, _one),
    "ON DELETE":                                partial(_skipped, _one),
    "ON CONFLICT":                              partial(_skipped, _one),
    "MATCH":                                    partial(_skipped, _one),
    "ENCODE":                                   partial(_skipped, _one),
    "CODEC":                                    partial(_skipped, _group),
    "STATISTICS":                               partial(_skipped, _group),
    "SETTINGS":                                 partial(_skipped, _group),
    "STORAGE":                                  partial(_skipped, _one),
    "COMPRESSION":                              partial(_skipped, _one),
    "USING COMPRESSION":                        partial(_skipped, _one),
    "COLUMN_FORMAT":                            partial(_skipped, _one),
    "SRID":                                     partial(_skipped, _one),
    "TAG":                                      partial(_skipped, _group),
    "WITH TAG":                                 partial(_skipped, _group),
    "WITH":                                     partial(_skipped, _group),
    "USING":                                    partial(_skipped, _group),
    **dict.fromkeys(
        (
            "KEY", "STORED", "VIRTUAL", "PERSISTENT", "DISTKEY", "SORTKEY", "ENABLE", "DISABLE",
            "VALIDATE", "NOVALIDATE", "RELY", "NORELY", "ENFORCED", "NOT ENFORCED", "DEFERRABLE",
            "NOT DEFERRABLE", "INITIALLY DEFERRED", "INITIALLY IMMEDIATE", "ZEROFILL", "SIGNED",
             "VISIBLE", "INVISIBLE", "ASC", "DESC",
        ),
        partial(_skipped, _nothing),
    ),
}  # fmt: skip

#: First word -> the options that begin with it, the longest first.
BY_FIRST_WORD: dict[str, list[tuple[str, ...]]] = {}
for _words in sorted(map(str.split, OPTIONS), key=len, reverse=True):
    BY_FIRST_WORD.setdefault(_words[0], []).append(tuple(_words))


def option(cursor: Cursor) -> tuple[tuple[str, ...], Reader] | None:
    """The option that comes next, if one does; nothing is stepped over."""
    for words in BY_FIRST_WORD.get(cursor.key, ()):
        if all(cursor.peek(ahead).key == word for ahead, word in enumerate(words)):
            return words, OPTIONS[" ".join(words)]
    return None
