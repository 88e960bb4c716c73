"""Filters that the planner offers to connectors: typed predicates over one table's columns.

A filter is a deterministic conjunct over physical columns that cannot fail. The query evaluates it
as well, so a connector may return more rows than it selects, never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from schema_core.base.lazy import dataclass
from schema_core.expressions.comparisons import Comparison, comparison_of
from schema_core.expressions.to_sql import to_sql as flink_sql
from schema_core.expressions.typed import Ref, walk
from schema_core.types import DoubleType, FloatType

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed


@dataclass(frozen=True, slots=True)
class Filter:
    """A predicate over one table's physical columns, which selects the rows where it is TRUE.

    Attributes:
        expression: The typed predicate; its columns have no qualifier.
        zone: The session's time zone.
    """

    expression: Typed
    zone: str = "UTC"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the predicate reads, each once."""
        names = (node.name for node in walk(self.expression) if isinstance(node, Ref))
        return tuple(sorted(set(names)))

    @property
    def is_exact(self) -> bool:
        """Whether other systems evaluate it alike: it compares no approximate numbers.

        For these, the order of NaN and the rounding of literals differ.
        """
        types = (node.type for node in walk(self.expression))
        return not any(isinstance(type_, FloatType | DoubleType) for type_ in types)

    @property
    def comparison(self) -> Comparison | None:
        """The predicate as a column, an operator and a value; None for any other predicate.

        The value has the column's Python type: int, Decimal, float, str, bool, date, or datetime
        (of a TIMESTAMP with up to 6 digits). Columns of other types have no comparison.
        """
        return comparison_of(self.expression)

    @property
    def spark_sql(self) -> str:
        """The predicate in Spark SQL over the columns of a frame of `read`."""
        from schema_core.spark.compiler.expression import (
            TranslationContext,
            compile_expression,
            from_physical,
        )
        from schema_core.spark.compiler.tree import Column, to_sql

        context = TranslationContext(
            self.zone, lambda ref: from_physical(Column(ref.name), ref.type)
        )
        return to_sql(compile_expression(self.expression, context))

    def __str__(self) -> str:
        """Return the predicate in Flink's SQL."""
        return flink_sql(self.expression)


@dataclass(frozen=True, slots=True)
class FilterResult:
    """What a connector does with offered filters, as Flink's ``Result``.

    Attributes:
        accepted: The filters for the context of `read`, which may omit rows for which one is not
            TRUE.
        remaining: The filters that `read` may leave unapplied for some or all rows; LIMIT is only
            pushed down without any. A filter may be in both.
    """

    accepted: tuple[Filter, ...] = ()
    remaining: tuple[Filter, ...] = ()

    @classmethod
    def of(cls, accepted: Sequence[Filter], remaining: Sequence[Filter]) -> FilterResult:
        """Return a result, with the arguments of Flink's ``Result.of``."""
        return cls(tuple(accepted), tuple(remaining))

    @classmethod
    def split(cls, filters: Iterable[Filter], accepts: Callable[[Filter], bool]) -> FilterResult:
        """Accept the filters for which a function is True; the others remain."""
        every = tuple(filters)
        accepted = tuple(filter_ for filter_ in every if accepts(filter_))
        return cls(accepted, tuple(filter_ for filter_ in every if filter_ not in accepted))
