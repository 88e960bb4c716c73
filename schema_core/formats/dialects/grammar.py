"""The grammar shared by all engines: identifiers, types, columns and user-defined types.

Types are parsed here and not by sqlglot, whose type trees drop nested NOT NULL, the values of maps
and lengths. Column options that a schema cannot represent are kept as strings in `dropped`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias

from schema_core.errors import UnsupportedError
from schema_core.formats.dialects.engines import ENGINES, Engine
from schema_core.formats.dialects.types import COMPOSITE, STRUCTS, ForeignChild, ForeignType
from schema_core.text import Cursor, Span, check_digits, quote_string

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.formats.dialects.engines import Engine
    from schema_core.text import Cursor


#: How much of a text that has no place in a schema is shown.
MAX_EXCERPT = 100


BRACKETS = {"(": ")", "[": "]", "{": "}"}


def skip_token(cursor: Cursor) -> None:
    """Over one token, or over everything between a pair of brackets."""
    opened = cursor.advance()
    if opened.key in BRACKETS.values() or opened.kind == "end":
        raise cursor.fail(f"unexpected {opened.display}", span=opened.span)
    waiting = [BRACKETS[opened.key]] if opened.key in BRACKETS else []
    while waiting:
        token = cursor.advance()
        if token.key == waiting[-1]:
            waiting.pop()
        elif token.key in BRACKETS:
            waiting.append(BRACKETS[token.key])
        elif token.kind == "end":
            raise cursor.fail(f"the bracket is not closed by {waiting[-1]}", span=opened.span)


def skip_until(cursor: Cursor, stops: tuple[str, ...]) -> bool:
    """Over everything up to one of `stops` or to a bracket that closes; whether there was any."""
    start = cursor.index
    while cursor.key not in {*stops, ")", "]", "}"} and cursor.token.kind != "end":
        skip_token(cursor)
    if ";" in stops and cursor.key in BRACKETS.values():
        raise cursor.fail(f"unexpected {cursor.token.display}")
    return cursor.index > start


def excerpt(cursor: Cursor, start: int, stop: int | None = None) -> str:
    """The text from `start` to here, or to `stop`, on one line, cut where it is long."""
    end = cursor.span_from(start).stop
    text = " ".join(cursor.text[start : end if stop is None else min(stop, end)].split())
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}..."


def identifier(cursor: Cursor, engine: Engine) -> str:
    """A name as the engine keeps it."""
    token = cursor.token
    is_text = token.kind == "string" and engine.name == "sqlite"  # it takes 'a' for a name, too
    if token.kind not in {"word", "name"} and not is_text:
        raise cursor.fail(f"expected a name, found {token.display}")
    cursor.advance()
    return engine.folded(token.value, quoted=token.kind != "word")


def path(cursor: Cursor, engine: Engine) -> tuple[str, ...]:
    """Names separated by dots, which in BigQuery may be within the quotes."""
    parts = _path_part(cursor, engine)
    while cursor.accept("."):
        parts += _path_part(cursor, engine)
    return tuple(parts)


def _path_part(cursor: Cursor, engine: Engine) -> list[str]:
    """One name, or all names of a path in one pair of quotes; the first may have dots itself."""
    token = cursor.token
    name = identifier(cursor, engine)
    if token.kind == "name" and engine.quoted_paths:
        found = name.rsplit(".", 2)
        return found if all(found) else [name]
    return [name]


def string_value(cursor: Cursor) -> str:
    """A text; several in a row are one, as Hive and PostgreSQL have it."""
    if cursor.token.kind != "string":
        raise cursor.fail(f"expected a text in quotes, found {cursor.token.display}")
    parts = []
    while cursor.token.kind == "string":
        parts.append(cursor.advance().value)
    return "".join(parts)


TYPE_BRACKETS = {"(": ")", "<": ">"}


def foreign_type(cursor: Cursor, engine: Engine, stop: Callable[[], object]) -> ForeignType:
    """The type at the cursor; `stop` says whether an option of the column comes next.

    Raises:
        ParseError: for anything else; inner types are bounded as everywhere.
    """
    with cursor.nested():
        found = _base(cursor, engine, stop)
        while cursor.key == "[" or (cursor.key == "ARRAY" and engine.array == "{}[]"):
            cursor.descend()
            found = ForeignType("array", (ForeignChild(found),))
            cursor.accept("ARRAY")
            if cursor.accept("["):
                if cursor.token.kind == "number":
                    cursor.advance()
                cursor.expect("]")
        return found


def _base(cursor: Cursor, engine: Engine, stop: Callable[[], object]) -> ForeignType:
    token = cursor.token
    if token.kind not in {"word", "name"}:
        raise cursor.fail(f"expected a type, found {token.display}")
    cursor.advance()
    words = text = token.value.lower()
    while cursor.accept("."):  # a type of the user in a schema
        words = text = f"{text}.{cursor.advance().value.lower()}"
    if words in COMPOSITE and cursor.key in TYPE_BRACKETS:
        return _composite(words, cursor, engine)
    text += _arguments(cursor)
    while more := _more_words(cursor, engine, words, stop):
        cursor.index += len(more)
        words = " ".join((words, *more))
        text = " ".join((text, *more)) + _arguments(cursor)
    return ForeignType(text)


# --- types that are made of others ---------------------------------------------------------------


def _composite(name: str, cursor: Cursor, engine: Engine) -> ForeignType:
    """``map<string, int>``, ``row(a integer)``, ``Nullable(String)``."""
    closing = TYPE_BRACKETS[cursor.advance().key]
    parts = []
    while True:
        parts.append(_part(name, closing, cursor, engine))
        if cursor.accept(closing):
            break
        cursor.expect(",")
    nullable = True if name == "nullable" else None
    if name == "lowcardinality":
        nullable = parts[0].type.nullable
    return ForeignType(name, tuple(parts), nullable)


def _part(name: str, closing: str, cursor: Cursor, engine: Engine) -> ForeignChild:
    field = None
    if name in STRUCTS and cursor.peek().key not in {",", closing, "(", "<", "[", "."}:
        field = _field_name(cursor, engine)
        cursor.accept(":")
    type_ = foreign_type(cursor, engine, lambda: None)
    text, nullable = type_.text, type_.nullable
    if cursor.accept("COLLATE"):
        text += f" collate {cursor.advance().value.lower()}"
    if cursor.accept("NOT", "NULL"):
        nullable = False
    elif cursor.accept("NULL"):
        nullable = True
    return ForeignChild(ForeignType(text, type_.parts, nullable), field, _field_comment(cursor))


def _field_name(cursor: Cursor, engine: Engine) -> str:
    token = cursor.token
    if token.kind not in {"word", "name"}:
        raise cursor.fail(f"expected the name of a field, found {token.display}")
    cursor.advance()
    return engine.folded(token.value, quoted=token.kind == "name")


def _field_comment(cursor: Cursor) -> str | None:
    """``COMMENT 'text'`` or ``OPTIONS(description='text')``."""
    if cursor.accept("OPTIONS", "(", "DESCRIPTION", "="):
        text = _text(cursor)
        cursor.expect(")")
        return text
    return _text(cursor) if cursor.accept("COMMENT") else None


def _text(cursor: Cursor) -> str:
    if cursor.token.kind != "string":
        raise cursor.fail(f"expected a text in quotes, found {cursor.token.display}")
    return cursor.advance().value


# --- names of several words, arguments -----------------------------------------------------------


@lru_cache(maxsize=64)
def _multi_word_names(engine: str) -> dict[str, list[tuple[str, ...]]]:
    """First word of the rows' names -> the names that begin with it, the longest first."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for row in ENGINES[engine].rows:
        for spelling in row.foreign.split(" | "):
            words = tuple(re.sub(r"\([^)]*\)", "", spelling).lower().split())
            if len(words) > 1:
                found.setdefault(words[0], set()).add(words)
    return {first: sorted(names, key=len, reverse=True) for first, names in found.items()}


def _more_words(
    cursor: Cursor, engine: Engine, words: str, stop: Callable[[], object]
) -> tuple[str, ...]:
    """The words that come next and belong to the name, which has begun with `words`."""
    begun = tuple(words.split())
    for name in _multi_word_names(engine.name).get(begun[0] if begun else "", ()):
        rest = name[len(begun) :]
        if name[: len(begun)] == begun and rest and _follow(cursor, rest):
            return rest
    if engine.free_types and cursor.token.kind == "word" and not stop():
        return (cursor.token.value.lower(),)
    return ()


def _follow(cursor: Cursor, words: tuple[str, ...]) -> bool:
    return all(cursor.peek(ahead).key == word.upper() for ahead, word in enumerate(words))


def _arguments(cursor: Cursor) -> str:
    """``(10, 2)``, ``('a' = 1)``, ``<date>`` in one spelling, or nothing."""
    if cursor.key not in TYPE_BRACKETS:
        return ""
    opened = cursor.advance()
    waiting = [TYPE_BRACKETS[opened.key]]
    pieces = [opened.key]
    while waiting:
        token = cursor.advance()
        if token.kind == "end":
            raise cursor.fail(f"the bracket is not closed by {waiting[-1]}", span=opened.span)
        if token.key == waiting[-1]:
            waiting.pop()
        elif token.key in TYPE_BRACKETS:
            waiting.append(TYPE_BRACKETS[token.key])
        pieces.append(_argument(cursor, pieces[-1]))
    return "".join(pieces)


def _argument(cursor: Cursor, before: str) -> str:
    """The token that was stepped over; words keep a space between them."""
    token = cursor.tokens[cursor.index - 1]
    match token.kind:
        case "string":
            return quote_string(token.value)
        case "number":
            check_digits(token.value, token.span)
        case "symbol" if token.key == ",":
            return ", "
    space = " " if before[-1:].isalnum() and token.value[:1].isalnum() else ""
    return space + token.value.lower()


#: What may follow a column: the next one, the end of its list or statement, its place in a table.
COLUMN_ENDS = frozenset({",", ")", ";", "end", "FIRST", "AFTER"})


@dataclass(slots=True)
class ColumnDefinition:
    """A column as its statement declares it."""

    name: str
    type: ForeignType
    span: Span
    comment: str | None = None
    expression: Span | None = None
    is_key: bool = False
    nullable: bool | None = None
    dropped: list[str] = field(default_factory=list)


def column(cursor: Cursor, engine: Engine) -> ColumnDefinition:
    """A column up to the comma, bracket or semicolon after it, or to the end."""
    start = cursor.token.start
    name = identifier(cursor, engine)
    untyped = cursor.key in COLUMN_ENDS or option(cursor) is not None
    type_ = ForeignType("") if untyped else foreign_type(cursor, engine, lambda: option(cursor))
    found = ColumnDefinition(name, type_, cursor.span_from(start))
    while cursor.key not in COLUMN_ENDS:
        if (found_option := option(cursor)) is None:
            raise cursor.fail(f"unexpected {cursor.token.display} in column {name!r}")
        words, read = found_option
        option_start = cursor.token.start
        cursor.index += len(words)
        read(cursor, found, option_start)
    found.span = cursor.span_from(start)
    return found


# --- options of a column -------------------------------------------------------------------------

OptionParser: TypeAlias = Callable[[Cursor, ColumnDefinition, int], None]
Operand: TypeAlias = Callable[[Cursor], object]


def _not_null(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    column.nullable = False


def _null(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    column.nullable = True


def _key(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    column.is_key = True


def _comment(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    column.comment = string_value(cursor)


def _options(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    """``OPTIONS(description='..', ..)`` of BigQuery."""
    cursor.expect("(")
    while True:
        if cursor.accept("DESCRIPTION", "="):
            column.comment = string_value(cursor)
        skip_until(cursor, (",",))
        if cursor.accept(")"):
            return
        cursor.expect(",")


def _generated(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    begin = cursor.token.start
    shape(cursor)
    column.expression = cursor.span_from(begin)


def _beside(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    shape(cursor)
    column.dropped.append(excerpt(cursor, start))


def _skipped(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    shape(cursor)


def _nothing(cursor: Cursor) -> None:
    """No operand."""


def _one(cursor: Cursor) -> None:
    cursor.advance()


def _group(cursor: Cursor) -> None:
    """Something in parentheses, or nothing."""
    if cursor.key == "(":
        skip_token(cursor)


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
    skip_token(cursor)
    while cursor.key not in {",", ")", ";"} and cursor.token.kind != "end":
        before = cursor.tokens[cursor.index - 1]
        is_open = before.key in OPEN_WORDS or (before.kind == "symbol" and before.key not in ")]")
        if not is_open and option(cursor) is not None:
            return
        skip_token(cursor)


#: Words -> how the option goes on, and what becomes of it.
OPTIONS: dict[str, OptionParser] = {
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


def option(cursor: Cursor) -> tuple[tuple[str, ...], OptionParser] | None:
    """The option that comes next, if one does; nothing is stepped over."""
    for words in BY_FIRST_WORD.get(cursor.key, ()):
        if all(cursor.peek(ahead).key == word for ahead, word in enumerate(words)):
            return words, OPTIONS[" ".join(words)]
    return None


#: How many types a declared type may be made of in all: types of types can double at each step.
MAX_PARTS = 300


@dataclass(frozen=True, slots=True)
class UserType:
    """The definition of a declared type; `dropped` are the parts that a schema cannot hold."""

    type: ForeignType
    dropped: tuple[str, ...] = ()


class UserTypes:
    """The types that a script has declared so far."""

    def __init__(self) -> None:
        self._types: dict[tuple[str, ...], UserType] = {}
        self._by_last: dict[str, tuple[str, ...]] = {}

    def add(self, name: tuple[str, ...], type_: UserType) -> None:
        key = tuple(part.lower() for part in name)
        self._types[key] = type_
        self._by_last[key[-1]] = key

    def find(self, text: str) -> UserType | None:
        """The declared type of this name; either side may leave the schema out."""
        name = tuple(text.split("."))
        return self._types.get(name) or self._types.get(self._by_last.get(name[-1], ()))

    def spelled_out(self, foreign: ForeignType) -> UserType:
        """The type with declared types replaced by what they stand for.

        Raises:
            UnsupportedError: with code `type-not-in-flink` for one made of more than `MAX_PARTS`
                types.
        """
        if not self._types:
            return UserType(foreign)
        dropped: list[str] = []
        found = self._spelled_out(foreign, dropped)
        if _count(found) > MAX_PARTS:
            raise UnsupportedError(
                f"a type is made of more than {MAX_PARTS} types", code="type-not-in-flink"
            )
        return UserType(found, tuple(dropped))

    def _spelled_out(self, foreign: ForeignType, dropped: list[str]) -> ForeignType:
        if not foreign.parts:
            declared = self.find(foreign.text)
            if declared is None:
                return foreign
            dropped += declared.dropped
            refuses_null = False in (foreign.nullable, declared.type.nullable)
            return replace(declared.type, nullable=False if refuses_null else foreign.nullable)
        parts = (
            replace(part, type=self._spelled_out(part.type, dropped)) for part in foreign.parts
        )
        return replace(foreign, parts=tuple(parts))


def _count(foreign: ForeignType) -> int:
    """How many types a type is made of; no more are counted than it takes to refuse it."""
    waiting, count = [foreign], 0
    while waiting and count <= MAX_PARTS:
        one = waiting.pop()
        count += 1
        waiting += [part.type for part in one.parts]
    return count


# --- grammar -------------------------------------------------------------------------------------


def create_type(cursor: Cursor, engine: Engine, types: UserTypes) -> bool:
    """``CREATE TYPE name AS ...`` after its first two words; whether its form is known."""
    name = path(cursor, engine)
    if not cursor.accept("AS"):
        return False
    if cursor.accept("ENUM", "("):
        types.add(name, UserType(_enumeration(cursor)))
        return True
    if cursor.accept("("):
        types.add(name, types.spelled_out(_fields(cursor, engine)))
        return True
    if engine.name != "duckdb":
        return False
    types.add(name, types.spelled_out(foreign_type(cursor, engine, lambda: None)))
    return True


def create_domain(cursor: Cursor, engine: Engine, types: UserTypes) -> bool:
    """``CREATE DOMAIN name [AS] type ...`` after its first two words."""
    name = path(cursor, engine)
    cursor.accept("AS")
    found = types.spelled_out(foreign_type(cursor, engine, lambda: None))
    start, nullable = cursor.token.start, found.type.nullable
    while cursor.key != ";" and cursor.token.kind != "end":
        if cursor.accept("NOT", "NULL"):
            nullable = False
        else:
            skip_token(cursor)
    rest = excerpt(cursor, start)
    dropped = (*found.dropped, rest) if rest and rest.upper() != "NOT NULL" else found.dropped
    types.add(name, UserType(replace(found.type, nullable=nullable), dropped))
    return True


def _enumeration(cursor: Cursor) -> ForeignType:
    """The values up to the closing parenthesis."""
    values = []
    is_open = not cursor.accept(")")
    while is_open:
        if cursor.token.kind != "string":
            raise cursor.fail(f"expected a string, found {cursor.token.display}")
        values.append(quote_string(cursor.advance().value))
        is_open = cursor.accept(",")
        if not is_open:
            cursor.expect(")")
    return ForeignType(f"enum({', '.join(values)})")


def _fields(cursor: Cursor, engine: Engine) -> ForeignType:
    """The fields of a composite type up to the closing parenthesis."""
    parts = []
    is_open = not cursor.accept(")")
    while is_open:
        name = identifier(cursor, engine)
        parts.append(
            ForeignChild(foreign_type(cursor, engine, lambda: cursor.key == "COLLATE"), name)
        )
        skip_until(cursor, (",",))
        is_open = cursor.accept(",")
        if not is_open:
            cursor.expect(")")
    return ForeignType("row", tuple(parts))
