"""The printed form that written and resolved schemas share: one line a member, in parentheses."""

from __future__ import annotations

from collections.abc import Iterable

from schema_core.text import quote_identifier, quote_string


def listing(members: Iterable[object]) -> str:
    """One indented line a member.

    >>> print(listing(["`a` INT", "`b` INT"]))
    (
      `a` INT,
      `b` INT
    )
    """
    return "(\n" + ",\n".join(f"  {member}" for member in members) + "\n)"


def names(columns: Iterable[str]) -> str:
    """Quoted names in parentheses.

    >>> names(["a", "b c"])
    '(`a`, `b c`)'
    """
    return f"({', '.join(map(quote_identifier, columns))})"


def metadata(key: str | None, *, virtual: bool) -> str:
    """What stands behind the type of a metadata column."""
    source = "" if key is None else f" FROM {quote_string(key)}"
    return f"METADATA{source}{' VIRTUAL' if virtual else ''}"


def remark(comment: str | None) -> str:
    """The comment as it follows a column, or nothing."""
    return "" if comment is None else f" COMMENT {quote_string(comment)}"


def primary_key(name: str, columns: Iterable[str]) -> str:
    """A key; Flink knows none that it enforces."""
    return f"CONSTRAINT {quote_identifier(name)} PRIMARY KEY {names(columns)} NOT ENFORCED"


def index(name: str, columns: Iterable[str]) -> str:
    """An index."""
    return f"INDEX {quote_identifier(name)} {names(columns)}"


def immutable_columns(name: str, columns: Iterable[str]) -> str:
    """Columns that never change once a row is there."""
    return f"CONSTRAINT {quote_identifier(name)} COLUMNS {names(columns)} IMMUTABLE NOT ENFORCED"
