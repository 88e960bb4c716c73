"""Steps over tokens that statements and columns share: brackets, names, texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.text import Cursor

if TYPE_CHECKING:
    from schema_core.formats.dialects.engines import Engine

#: How much of a text that has no place in a schema is shown.
SHOWN = 100


CLOSING = {"(": ")", "[": "]", "{": "}"}


def step(cursor: Cursor) -> None:
    """Over one token, or over everything between a pair of brackets."""
    opened = cursor.advance()
    if opened.key in CLOSING.values() or opened.kind == "end":
        raise cursor.fail(f"unexpected {opened.shown}", span=opened.span)
    waiting = [CLOSING[opened.key]] if opened.key in CLOSING else []
    while waiting:
        token = cursor.advance()
        if token.key == waiting[-1]:
            waiting.pop()
        elif token.key in CLOSING:
            waiting.append(CLOSING[token.key])
        elif token.kind == "end":
            raise cursor.fail(f"the bracket is not closed by {waiting[-1]}", span=opened.span)


def until(cursor: Cursor, stops: tuple[str, ...]) -> bool:
    """Over everything up to one of `stops` or to a bracket that closes; whether there was any."""
    start = cursor.index
    while cursor.key not in {*stops, ")", "]", "}"} and cursor.token.kind != "end":
        step(cursor)
    if ";" in stops and cursor.key in CLOSING.values():
        raise cursor.fail(f"unexpected {cursor.token.shown}")
    return cursor.index > start


def shown(cursor: Cursor, start: int, stop: int | None = None) -> str:
    """The text from `start` to here, or to `stop`, on one line, cut where it is long."""
    end = cursor.span_from(start).stop
    text = " ".join(cursor.text[start : end if stop is None else min(stop, end)].split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def identifier(cursor: Cursor, engine: Engine) -> str:
    """A name as the engine keeps it."""
    token = cursor.token
    is_text = token.kind == "string" and engine.name == "sqlite"  # it takes 'a' for a name, too
    if token.kind not in {"word", "name"} and not is_text:
        raise cursor.fail(f"expected a name, found {token.shown}")
    cursor.advance()
    return engine.folded(token.value, quoted=token.kind != "word")


def path(cursor: Cursor, engine: Engine) -> tuple[str, ...]:
    """Names separated by dots, which in BigQuery may be within the quotes."""
    parts = _names(cursor, engine)
    while cursor.accept("."):
        parts += _names(cursor, engine)
    return tuple(parts)


def _names(cursor: Cursor, engine: Engine) -> list[str]:
    """One name, or all names of a path in one pair of quotes; the first may have dots itself."""
    token = cursor.token
    name = identifier(cursor, engine)
    if token.kind == "name" and engine.quotes_paths:
        found = name.rsplit(".", 2)
        return found if all(found) else [name]
    return [name]


def texts(cursor: Cursor) -> str:
    """A text; several in a row are one, as Hive and PostgreSQL have it."""
    if cursor.token.kind != "string":
        raise cursor.fail(f"expected a text in quotes, found {cursor.token.shown}")
    parts = []
    while cursor.token.kind == "string":
        parts.append(cursor.advance().value)
    return "".join(parts)
