"""Typed trees: expressions whose nodes have types, as `type_checker.infer` builds them.

Implicit casts are calls of CAST with `implicit=True`. Flink's rewrites before printing (NULLIF to
CASE, YEAR to EXTRACT) are done.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from schema_core.base.lazy import node
from schema_core.base.left_deep import LeftDeepNode
from schema_core.base.text import Span
from schema_core.sql import syntax
from schema_core.sql.syntax import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schema_core.expressions.signatures import Function
    from schema_core.types import DataType


@node(frozen=True, slots=True)
class Ref:
    """A column in scope; `relation` is the alias that qualifies it in a query."""

    name: str
    type: DataType
    relation: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Constant:
    """A literal with its type."""

    literal: syntax.Literal | syntax.Interval
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Keyword:
    """A keyword argument of SQL, such as a time unit."""

    symbol: syntax.Symbol
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class TypeArgument:
    """The type argument of a cast, as written."""

    written: syntax.TypeName
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Access:
    """``value.field``: a field of a row or structured value."""

    value: Typed
    name: str
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class SortedBy:
    """A sort key; `nulls_last` is None if it is not specified."""

    value: Typed
    descending: bool = False
    nulls_last: bool | None = None


@node(frozen=True, slots=True)
class SortDirection:
    """The direction of a sort key; `nulls_last` is None if it is not specified."""

    descending: bool = False
    nulls_last: bool | None = None


@node(frozen=True, slots=True)
class Bound:
    """A bound of a window frame: ``CURRENT ROW``, or ``PRECEDING`` at a distance."""

    words: str
    distance: Typed | None = None


@node(frozen=True, slots=True)
class Frame:
    """A window frame: ``ROWS`` or ``RANGE`` between two bounds.

    With `disallow_partial` the result is NULL for an incomplete frame.
    """

    unit: str
    lower: Bound
    upper: Bound | None = None
    disallow_partial: bool = False


@node(frozen=True, slots=True)
class Over:
    """The window of OVER, with a named window resolved."""

    partition_by: tuple[Typed, ...] = ()
    order_by: tuple[SortedBy, ...] = ()
    frame: Frame | None = None


@node(frozen=True, slots=True, eq=False, repr=False)
class FunctionCall(LeftDeepNode):
    """A function over typed arguments.

    `implicit` marks implicit casts. `symbol` (DISTINCT), `filter`, `over`, `nulls` (IGNORE NULLS)
    and `order` belong to aggregates: `order` has the directions of the last arguments, which are
    sort keys. `written` is the call as written, without arguments. `first_phase_type` is the type
    that Flink infers first, where the final one differs: for aggregates outside of queries and
    expressions over them.
    """

    function: Function
    arguments: tuple[Typed, ...]
    type: DataType
    implicit: bool = False
    symbol: str | None = None
    filter: Typed | None = None
    over: Over | None = None
    nulls: str | None = None
    order: tuple[SortDirection, ...] = ()
    first_phase_type: DataType | None = field(default=None, compare=False, repr=False)
    written: syntax.Call | None = field(default=None, compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


class Rows(Protocol):
    """The rows of a query, implemented by the layer that resolves queries."""

    @property
    def columns(self) -> Sequence[tuple[str, DataType]]:
        """Names and types of the columns, in order."""


@node(frozen=True, slots=True)
class Select:
    """A subquery as a scalar or as a list of values, with the type of its first column."""

    subquery: syntax.Subquery
    type: DataType
    rows: Rows = field(compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Typed: TypeAlias = Ref | Constant | Keyword | TypeArgument | Access | FunctionCall | Select


def first_phase_type(typed: Typed) -> DataType:
    """The type that Flink infers before it converts a call to its own representation."""
    if isinstance(typed, FunctionCall) and typed.first_phase_type:
        return typed.first_phase_type
    return typed.type


def is_windowed(typed: Typed) -> bool:
    """Whether an expression is a call with OVER."""
    return isinstance(typed, FunctionCall) and typed.over is not None


def children(typed: Typed) -> tuple[Typed, ...]:
    """The direct subtrees, without those of FILTER and OVER."""
    match typed:
        case Access(value=value):
            return (value,)
        case FunctionCall(arguments=arguments):
            return arguments
        case _:
            return ()


def walk(typed: Typed) -> Iterator[Typed]:
    """Yield the tree and all subtrees, in no particular order."""
    rest = [typed]
    while rest:
        tree = rest.pop()
        yield tree
        rest.extend(children(tree))


def operands(typed: Typed) -> list[Typed]:
    """The direct subtrees, those of FILTER and OVER included."""
    subtrees = list(children(typed))
    if isinstance(typed, FunctionCall):
        if typed.filter is not None:
            subtrees.append(typed.filter)
        if (over := typed.over) is not None:
            subtrees += (*over.partition_by, *(key.value for key in over.order_by))
            bounds = () if over.frame is None else (over.frame.lower, over.frame.upper)
            subtrees += (bound.distance for bound in bounds if bound and bound.distance)
    return subtrees
