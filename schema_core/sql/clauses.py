"""The small clauses that many statements share: options, comments, partitions, IF EXISTS."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from schema_core.sql import literals
from schema_core.sql.definition_syntax import Option, Partition
from schema_core.sql.expression import expression
from schema_core.sql.query import can_name, path_name
from schema_core.sql.syntax import Interval, Literal, LiteralKind, Name
from schema_core.sql.tokens import identifier, refuse, string
from schema_core.text import Cursor

T = TypeVar("T")


def listed(cursor: Cursor, one: Callable[[Cursor], T]) -> tuple[T, ...]:
    """One or more of something in parentheses, with commas between them."""
    cursor.expect("(")
    found = [one(cursor)]
    while cursor.accept(","):
        found.append(one(cursor))
    cursor.expect(")")
    return tuple(found)


def listed_or_none(cursor: Cursor, one: Callable[[Cursor], T]) -> tuple[T, ...]:
    """As `listed`, but the parentheses may be empty."""
    return () if cursor.accept("(", ")") else listed(cursor, one)


def if_exists(cursor: Cursor) -> bool:
    """``IF EXISTS``, if it comes next."""
    return cursor.accept("IF", "EXISTS")


def if_not_exists(cursor: Cursor) -> bool:
    """``IF NOT EXISTS``, if it comes next."""
    return cursor.accept("IF", "NOT", "EXISTS")


def option(cursor: Cursor) -> Option:
    """``'key' = 'value'``."""
    start = cursor.token.start
    key = _option_text(cursor)
    cursor.expect("=")
    return Option(key, _option_text(cursor), cursor.span_from(start))


def _option_text(cursor: Cursor) -> str:
    """A text in quotes, of any kind or in several pieces."""
    if cursor.token.kind not in ("string", "charset", "unicode", "escaped"):
        raise refuse(cursor, "a text in single quotes")
    return literals.text(cursor).text


def options(cursor: Cursor) -> tuple[Option, ...]:
    """``('key' = 'value', ...)``, or empty parentheses."""
    return listed_or_none(cursor, option)


def with_options(cursor: Cursor) -> tuple[Option, ...]:
    """``WITH (...)``, if it comes next."""
    return options(cursor) if cursor.accept("WITH") else ()


def comment(cursor: Cursor) -> str | None:
    """``COMMENT 'text'``, if it comes next."""
    return string(cursor) if cursor.accept("COMMENT") else None


#: Literals that no partition key takes.
UNFIT_FOR_PARTITIONS = frozenset(
    {LiteralKind.NULL, LiteralKind.DATE, LiteralKind.TIME, LiteralKind.TIMESTAMP}
)


def partition(cursor: Cursor) -> Partition:
    """``PARTITION (key = value, ...)``."""
    start = cursor.expect("PARTITION").start
    return Partition(listed(cursor, _partition_value), span=cursor.span_from(start))


def partition_or_keys(cursor: Cursor) -> Partition:
    """``PARTITION (key = value, key, ...)``: a key alone stands for all its values."""
    start = cursor.expect("PARTITION").start
    return Partition(listed(cursor, _partition_key), span=cursor.span_from(start))


def _partition_key(cursor: Cursor) -> tuple[str, str | None]:
    return (identifier(cursor), None) if cursor.peek().key != "=" else _partition_value(cursor)


def _partition_value(cursor: Cursor) -> tuple[str, str | None]:
    key = identifier(cursor)
    cursor.expect("=")
    place = cursor.token
    value = expression(cursor)
    if not isinstance(value, Literal) or value.kind in UNFIT_FOR_PARTITIONS:
        raise cursor.fail("the value of a partition key is a plain literal", span=place.span)
    return key, value.text


def interval(cursor: Cursor) -> Interval:
    """An interval literal."""
    token = cursor.token
    found = expression(cursor)
    if not isinstance(found, Interval):
        raise cursor.fail("expected an INTERVAL", span=token.span)
    return found


def one_of(cursor: Cursor, *words: str) -> str:
    """The one of these words that comes next."""
    if cursor.key not in words:
        raise refuse(cursor, " or ".join(words))
    return cursor.advance().key


def from_or_in(cursor: Cursor) -> tuple[str | None, Name | None]:
    """``FROM path`` or ``IN path``, if one comes next: the word and the path."""
    for word in ("FROM", "IN"):
        if cursor.accept(word):
            return word, path_name(cursor)
    return None, None


def simple_names(cursor: Cursor) -> tuple[str, ...]:
    """Names with commas between them."""
    found = [identifier(cursor)]
    while cursor.accept(","):
        found.append(identifier(cursor))
    return tuple(found)


def table_alias(cursor: Cursor) -> str | None:
    """``[AS] name``, if it comes next."""
    return identifier(cursor) if cursor.accept("AS") or can_name(cursor.token) else None
