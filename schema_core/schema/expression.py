"""The two states of an expression in a schema: SQL text as written, and what it means."""

from __future__ import annotations

from dataclasses import dataclass, field

from schema_core.expressions.typed import Typed
from schema_core.sql import syntax
from schema_core.types import DataType


@dataclass(frozen=True, slots=True)
class SqlExpression:
    """SQL text that nobody has looked into yet; equal when spelled equally.

    What came out of a statement brings its `syntax` along, whose spans point into `source`, the
    text of the statement.

    >>> print(SqlExpression("price * 2"))
    [price * 2]
    """

    text: str
    syntax: syntax.Expression | None = field(default=None, compare=False, repr=False)
    source: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"[{self.text}]"


@dataclass(frozen=True, slots=True)
class ResolvedExpression:
    """An expression whose type is known; equal when it means the same, however it was written."""

    typed: Typed
    written: SqlExpression = field(compare=False)

    @property
    def type(self) -> DataType:
        """The type of its value."""
        return self.typed.type

    def get_output_data_type(self) -> DataType:
        return self.typed.type

    def as_summary_string(self) -> str:
        """As it was written: what listings show."""
        return self.written.text

    def as_serializable_string(self) -> str:
        """SQL that means the same everywhere: what a catalog keeps.

        Raises:
            UnsupportedError: for a part that has no SQL of its own, such as an unregistered
                function.
        """
        from schema_core.expressions.to_sql import to_sql

        return to_sql(self.typed)

    def __str__(self) -> str:
        return self.as_summary_string()
