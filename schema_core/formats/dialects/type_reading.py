"""The grammar of types, common to all engines: names of several words, arguments, inner types."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from schema_core.formats.dialects.engines import ENGINES, Engine
from schema_core.formats.dialects.types import SHAPES, STRUCTS, Foreign, ForeignPart
from schema_core.text import Cursor, check_digits, quote_string

if TYPE_CHECKING:
    from collections.abc import Callable


CLOSING = {"(": ")", "<": ">"}


def foreign_type(cursor: Cursor, engine: Engine, stop: Callable[[], object]) -> Foreign:
    """The type at the cursor; `stop` says whether an option of the column comes next.

    Raises:
        ParseError: for anything else; inner types are bounded as everywhere.
    """
    with cursor.nested():
        found = _base(cursor, engine, stop)
        while cursor.key == "[" or (cursor.key == "ARRAY" and engine.array == "{}[]"):
            cursor.descend()
            found = Foreign("array", (ForeignPart(found),))
            cursor.accept("ARRAY")
            if cursor.accept("["):
                if cursor.token.kind == "number":
                    cursor.advance()
                cursor.expect("]")
        return found


def _base(cursor: Cursor, engine: Engine, stop: Callable[[], object]) -> Foreign:
    token = cursor.token
    if token.kind not in {"word", "name"}:
        raise cursor.fail(f"expected a type, found {token.shown}")
    cursor.advance()
    words = text = token.value.lower()
    while cursor.accept("."):  # a type of the user in a schema
        words = text = f"{text}.{cursor.advance().value.lower()}"
    if words in SHAPES and cursor.key in CLOSING:
        return _made_of(words, cursor, engine)
    text += _arguments(cursor)
    while more := _more_words(cursor, engine, words, stop):
        cursor.index += len(more)
        words = " ".join((words, *more))
        text = " ".join((text, *more)) + _arguments(cursor)
    return Foreign(text)


# --- types that are made of others ---------------------------------------------------------------


def _made_of(name: str, cursor: Cursor, engine: Engine) -> Foreign:
    """``map<string, int>``, ``row(a integer)``, ``Nullable(String)``."""
    closing = CLOSING[cursor.advance().key]
    parts = []
    while True:
        parts.append(_part(name, closing, cursor, engine))
        if cursor.accept(closing):
            break
        cursor.expect(",")
    nullable = True if name == "nullable" else None
    if name == "lowcardinality":
        nullable = parts[0].type.nullable
    return Foreign(name, tuple(parts), nullable)


def _part(name: str, closing: str, cursor: Cursor, engine: Engine) -> ForeignPart:
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
    return ForeignPart(Foreign(text, type_.parts, nullable), field, _comment(cursor))


def _field_name(cursor: Cursor, engine: Engine) -> str:
    token = cursor.token
    if token.kind not in {"word", "name"}:
        raise cursor.fail(f"expected the name of a field, found {token.shown}")
    cursor.advance()
    return engine.folded(token.value, quoted=token.kind == "name")


def _comment(cursor: Cursor) -> str | None:
    """``COMMENT 'text'`` or ``OPTIONS(description='text')``."""
    if cursor.accept("OPTIONS", "(", "DESCRIPTION", "="):
        text = _text(cursor)
        cursor.expect(")")
        return text
    return _text(cursor) if cursor.accept("COMMENT") else None


def _text(cursor: Cursor) -> str:
    if cursor.token.kind != "string":
        raise cursor.fail(f"expected a text in quotes, found {cursor.token.shown}")
    return cursor.advance().value


# --- names of several words, arguments -----------------------------------------------------------


@lru_cache(maxsize=64)
def _names(engine: str) -> dict[str, list[tuple[str, ...]]]:
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
    for name in _names(engine.name).get(begun[0] if begun else "", ()):
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
    if cursor.key not in CLOSING:
        return ""
    opened = cursor.advance()
    waiting = [CLOSING[opened.key]]
    pieces = [opened.key]
    while waiting:
        token = cursor.advance()
        if token.kind == "end":
            raise cursor.fail(f"the bracket is not closed by {waiting[-1]}", span=opened.span)
        if token.key == waiting[-1]:
            waiting.pop()
        elif token.key in CLOSING:
            waiting.append(CLOSING[token.key])
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
