"""The typed tree: what an expression means. Every node knows its type and can print itself.

`infer` is the only way from syntax to here. Casts that SQL inserts on its own are `Apply` of CAST
with `implicit=True`; rewrites that Flink does before it prints (NULLIF to CASE, YEAR to EXTRACT)
are done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from schema_core.sql import syntax
from schema_core.sql.syntax import NOWHERE
from schema_core.text import Span

if TYPE_CHECKING:
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
class Word:
    """A steering word of a call; it has no type of its own (`SymbolType`)."""

    symbol: syntax.Symbol
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Target:
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
class Apply:
    """A function over typed arguments. `written` keeps what only an aggregate call carries."""

    function: Function
    arguments: tuple[Typed, ...]
    type: DataType
    implicit: bool = False
    path: tuple[str, ...] = ()
    written: syntax.Call | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
    """A sub-query used as a value; typed by the layer that knows queries."""

    subquery: syntax.Subquery
    type: DataType
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Typed: TypeAlias = Ref | Constant | Word | Target | Access | Apply | Select
