"""SHOW and DESCRIBE, read."""

from __future__ import annotations

from typing import NamedTuple

from schema_core.sql.clauses import from_or_in, partition
from schema_core.sql.query import path_name, simple_name
from schema_core.sql.statement_syntax import (
    Describe,
    ObjectKind,
    Pattern,
    Show,
    ShowCreate,
    Statement,
)
from schema_core.sql.tokens import refuse, string
from schema_core.text import Cursor


class Subject(NamedTuple):
    """What may stand behind ``SHOW words``."""

    words: str
    place: bool = False  # FROM or IN a path
    like: tuple[str, ...] = ()  # the words of patterns
    table: bool = False  # the path of a table, without FROM


LIKE, BOTH = ("LIKE",), ("LIKE", "ILIKE")

#: What SHOW can list.   words                   FROM/IN      patterns     a table
SHOW_SUBJECTS = (
    Subject("CATALOGS",                           like=BOTH),
    Subject("CURRENT CATALOG"),
    Subject("CURRENT DATABASE"),
    Subject("DATABASES",             place=True,  like=BOTH),
    Subject("TABLES",                place=True,  like=LIKE),
    Subject("VIEWS",                 place=True,  like=LIKE),
    Subject("MATERIALIZED TABLES",   place=True,  like=LIKE),
    Subject("FUNCTIONS",             place=True,  like=BOTH),
    Subject("USER FUNCTIONS",        place=True,  like=BOTH),
    Subject("PROCEDURES",            place=True,  like=BOTH),
    Subject("MODELS",                place=True,  like=LIKE),
    Subject("COLUMNS",               place=True,  like=LIKE),
    Subject("PARTITIONS",                                      table=True),
    Subject("MODULES"),
    Subject("FULL MODULES"),
    Subject("JARS"),
    Subject("JOBS"),
)  # fmt: skip

#: What SHOW CREATE can print.
PRINTABLE = (
    ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_TABLE, ObjectKind.CATALOG,
    ObjectKind.MODEL,
)  # fmt: skip

#: The word behind DESCRIBE -> what is described; without a word a table or view.
DESCRIBED = {
    "CATALOG": ObjectKind.CATALOG,
    "DATABASE": ObjectKind.DATABASE,
    "FUNCTION": ObjectKind.FUNCTION,
    "MODEL": ObjectKind.MODEL,
}


def show(cursor: Cursor) -> Statement:
    """A statement that begins with SHOW."""
    start = cursor.expect("SHOW").start
    if cursor.accept("CREATE"):
        return _show_create(cursor, start)
    subject = next((one for one in SHOW_SUBJECTS if cursor.accept(*one.words.split())), None)
    if subject is None:
        raise refuse(cursor, "what to show")
    preposition, path = from_or_in(cursor) if subject.place else (None, None)
    if subject.words == "COLUMNS" and path is None:
        raise refuse(cursor, "FROM or IN")
    if subject.table:
        path = path_name(cursor)
    pattern = _pattern(cursor, subject.like)
    chosen = partition(cursor) if subject.table and cursor.key == "PARTITION" else None
    return Show(subject.words, path, preposition, pattern, chosen, cursor.span_from(start))


def _pattern(cursor: Cursor, words: tuple[str, ...]) -> Pattern | None:
    negated = bool(words) and cursor.peek().key in words and cursor.accept("NOT")
    for word in words:
        if cursor.accept(word):
            return Pattern(string(cursor), word == "ILIKE", negated)
    return None


def _show_create(cursor: Cursor, start: int) -> Statement:
    for kind in PRINTABLE:
        if cursor.accept(*kind.value.split()):
            return ShowCreate(kind, path_name(cursor), cursor.span_from(start))
    raise refuse(cursor, "TABLE, VIEW, MATERIALIZED TABLE, CATALOG or MODEL")


def describe(cursor: Cursor) -> Statement:
    """A statement that begins with DESCRIBE or DESC."""
    start = cursor.advance().start
    kind = ObjectKind.TABLE
    named = cursor.peek().kind in ("word", "name", "reserved")
    if cursor.key in DESCRIBED and named:
        kind = DESCRIBED[cursor.advance().key]
    extended = cursor.accept("EXTENDED")
    path = simple_name(cursor) if kind == ObjectKind.CATALOG else path_name(cursor)
    return Describe(kind, path, extended, cursor.span_from(start))
