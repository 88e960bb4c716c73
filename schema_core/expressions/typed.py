"""The typed tree: what an expression means. Every node knows its type and can print itself.

`infer` is the only way from syntax to here. Casts that SQL inserts on its own are `FunctionCall` of
CAST with `implicit=True`; rewrites that Flink does before it prints (NULLIF to CASE, YEAR to
EXTRACT) are done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from schema_core.left_deep import Chain
from schema_core.sql import syntax
from schema_core.sql.syntax import NOWHERE
from schema_core.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schema_core.expressions.signatures import Function
    from schema_core.types import DataType


@dataclass(frozen=True, slots=True)
class Ref:
    """A column in scope. `relation` is the alias that qualifies it in a query, if any."""

    name: str
    type: DataType
    relation: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal with its type."""

    literal: syntax.Literal | syntax.Interval
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Keyword:
    """A steering word of a call; it has no type of its own (`SymbolType`)."""

    symbol: syntax.Symbol
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypeArgument:
    """The type argument of a cast, as written."""

    written: syntax.TypeName
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """``value.field``: a field of a row or structured value."""

    value: Typed
    name: str
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SortedBy:
    """One item of an ORDER BY; `nulls_last` is None where nothing was said."""

    value: Typed
    descending: bool = False
    nulls_last: bool | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a frame begins or ends: ``CURRENT ROW``, or ``PRECEDING`` at a distance."""

    words: str
    distance: Typed | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows around one that an aggregate reads: ``ROWS`` or ``RANGE`` between two bounds.

    With `whole` (DISALLOW PARTIAL) there is no result where the rows do not reach that far.
    """

    unit: str
    lower: Bound
    upper: Bound | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Over:
    """What stands behind OVER, a named window looked up."""

    partition_by: tuple[Typed, ...] = ()
    order_by: tuple[SortedBy, ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FunctionCall(Chain):
    """A function over typed arguments.

    `implicit` marks what nobody wrote: casts that SQL puts in. `symbol`, `filter`, `over` and
    `nulls` belong to aggregates. `written` is the call as written, without its arguments.
    `at_first` is the type that Flink finds first, where it is another than the one it finds at
    last: of an aggregate outside of queries, or of what is made of one.
    """

    function: Function
    arguments: tuple[Typed, ...]
    type: DataType
    implicit: bool = False
    symbol: str | None = None
    filter: Typed | None = None
    over: Over | None = None
    nulls: str | None = None
    first_phase_type: DataType | None = field(default=None, compare=False, repr=False)
    written: syntax.Call | None = field(default=None, compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


class Rows(Protocol):
    """The rows of a query, known to the layer that knows queries."""

    @property
    def columns(self) -> Sequence[tuple[str, DataType]]:
        """Names and types, in order."""


@dataclass(frozen=True, slots=True)
class Select:
    """A query used as a value or as a list of values; its type is that of its first column."""

    subquery: syntax.Subquery
    type: DataType
    rows: Rows = field(compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Typed: TypeAlias = Ref | Constant | Keyword | TypeArgument | Access | FunctionCall | Select


def first_phase_type(typed: Typed) -> DataType:
    """Return the type that Flink infers before it converts a call to its own representation."""
    if isinstance(typed, FunctionCall) and typed.first_phase_type:
        return typed.first_phase_type
    return typed.type


def children(typed: Typed) -> tuple[Typed, ...]:
    """The trees right below this one; what stands behind FILTER and OVER is not among them."""
    match typed:
        case Access(value=value):
            return (value,)
        case FunctionCall(arguments=arguments):
            return arguments
        case _:
            return ()


def walk(typed: Typed) -> Iterator[Typed]:
    """This tree and everything below it, in no particular order."""
    rest = [typed]
    while rest:
        one = rest.pop()
        yield one
        rest.extend(children(one))
