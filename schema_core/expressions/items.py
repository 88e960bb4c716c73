"""What expressions become in a list: named columns, sort keys, all columns but some.

They are said in Python, by PyFlink's names, and are no values: no operator applies to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from schema_core.errors import SchemaError, similar
from schema_core.sql import syntax
from schema_core.text import show


@dataclass(frozen=True, slots=True, eq=False)
class Aliased:
    """An expression under a name; the call of a table function may have one for each column.

    >>> from schema_core.expressions.fluent import col
    >>> (col("a") + 1).alias("b").names
    ('b',)
    """

    syntax: syntax.Expression
    names: tuple[str, ...]

    def alias(self, name: str, *extra_names: str) -> Aliased:
        """The expression under another name."""
        return Aliased(self.syntax, (name, *extra_names))


@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """An expression that rows are sorted by, upwards or downwards."""

    syntax: syntax.Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """Columns from one to another, both by name or both by place, counted from 1."""

    start: str | int
    end: str | int

    def of(self, columns: list[str]) -> list[str]:
        """Those of the columns.

        Raises:
            SchemaError: with code `unknown-column` for an end that is none of them.
        """
        first, last = (self._place(end, columns) for end in (self.start, self.end))
        return columns[first : last + 1]

    @staticmethod
    def _place(end: str | int, columns: list[str]) -> int:
        if isinstance(end, int) and 1 <= end <= len(columns):
            return end - 1
        if isinstance(end, str) and end in columns:
            return columns.index(end)
        hint = similar(end, columns) if isinstance(end, str) else None
        raise SchemaError(f"there is no column {show(end)}", code="unknown-column", hint=hint)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Some columns of a table, or all `but` these."""

    given: tuple[object, ...]
    but: bool = False

    def of(self, columns: list[str]) -> list[str]:
        """The names of those of the columns that are meant.

        Raises:
            SchemaError: with code `unknown-column`, `not-an-expression` for what is no column.
        """
        chosen = [name for one in self.given for name in named(one, columns)]
        return [name for name in columns if name not in chosen] if self.but else chosen


#: What may stand in a list beside expressions.
Item: TypeAlias = Aliased | Columns | Range


def named(given: object, columns: list[str]) -> Iterable[str]:
    """The columns that one of a list of columns means: a column, a range, a place, others."""
    if isinstance(given, Columns | Range):
        return given.of(columns)
    if isinstance(given, int) and not isinstance(given, bool):
        return Range(given, given).of(columns)
    match getattr(given, "syntax", None):
        case syntax.Name(parts=("*",)):
            return columns
        case syntax.Name(parts=(name,)):
            return Range(name, name).of(columns)
        case _:
            raise SchemaError(
                "a column is expected",
                code="not-an-expression",
                hint='write col("name"), range_("from", "to") or a place, counted from 1',
            )


def range_(start: str | int, end: str | int) -> Range:
    """Columns from one to another, both by name or both by place, counted from 1."""
    return Range(start, end)


def with_columns(head: object, *tails: object) -> Columns:
    """These columns.

    >>> from schema_core.expressions.fluent import col
    >>> with_columns(range_("b", "c"), 1, col("d")).of(["a", "b", "c", "d"])
    ['b', 'c', 'a', 'd']
    """
    return Columns((head, *tails))


def without_columns(head: object, *tails: object) -> Columns:
    """All columns but these.

    >>> without_columns(range_(2, 3)).of(["a", "b", "c"])
    ['a']
    """
    return Columns((head, *tails), but=True)


def with_all_columns() -> Columns:
    """All columns."""
    return Columns((), but=True)
