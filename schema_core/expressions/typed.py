"""Typed trees: expressions whose nodes have types, and the functions that their calls refer to.

Implicit casts are calls of CAST with `implicit=True`. Flink's rewrites before printing (NULLIF to
CASE, YEAR to EXTRACT) are done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import Enum
from types import EllipsisType
from typing import Any, Protocol, TypeAlias

from schema_core.base.lazy import dataclass, node
from schema_core.base.left_deep import LeftDeepNode
from schema_core.base.text import Span
from schema_core.sql import syntax
from schema_core.sql.syntax import NOWHERE
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
    if not isinstance(typed, FunctionCall):
        return [typed.value] if isinstance(typed, Access) else []
    subtrees = [*typed.arguments]
    if typed.filter is not None:
        subtrees.append(typed.filter)
    if (over := typed.over) is not None:
        subtrees += (*over.partition_by, *(key.value for key in over.order_by))
        bounds = () if over.frame is None else (over.frame.lower, over.frame.upper)
        subtrees += (bound.distance for bound in bounds if bound and bound.distance)
    return subtrees


def substitute(typed: Typed, change: Callable[[Typed], Typed | None]) -> Typed:
    """Return an expression with parts replaced, those of FILTER and OVER included.

    `change` returns what replaces a part, or None to visit its operands. Subqueries are parts.
    """
    spine: list[FunctionCall] = []
    while (changed := change(typed)) is None and isinstance(typed, FunctionCall):
        spine.append(typed)
        if not typed.arguments:
            break
        typed = typed.arguments[0]
    if changed is None:
        changed = typed
        if isinstance(typed, Access):
            changed = replace(typed, value=substitute(typed.value, change))
    for call in reversed(spine):
        rest = (substitute(argument, change) for argument in call.arguments[1:])
        changed = replace(
            call,
            arguments=(changed, *rest) if call.arguments else (),
            filter=None if call.filter is None else substitute(call.filter, change),
            over=None if call.over is None else _substitute_over(call.over, change),
        )
    return changed


def _substitute_over(over: Over, change: Callable[[Typed], Typed | None]) -> Over:
    keys = tuple(substitute(key, change) for key in over.partition_by)
    order = tuple(replace(key, value=substitute(key.value, change)) for key in over.order_by)
    return replace(over, partition_by=keys, order_by=order)


# --- functions ------------------------------------------------------------------------------------


class FunctionKind(Enum):
    """Whether a function is evaluated per row or over many rows, or returns a table."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    TABLE = "table"
    PROCESS_TABLE = "process table"
    #: only `flat_aggregate` calls it
    TABLE_AGGREGATE = "table aggregate"


class Rules(Enum):
    """The typing rules of a function; Flink has two sets.

    The SQL rules do not cast arguments, reject an untyped NULL, and treat a row as nullable if one
    of its fields is. The rules of the Table API, which also apply to its functions in SQL, cast
    arguments to the types of the parameters.
    """

    SQL = "SQL"
    TABLE_API = "TABLE API"


class EmptyInput(Enum):
    """The result of an aggregate on empty input."""

    VALUE = "a value, such as the 0 of COUNT"
    NULL = "NULL"
    NULL_IN_QUERY = "NULL; outside of queries Flink types the result as NOT NULL"


@dataclass(frozen=True, slots=True)
class ArgumentTypes:
    """The argument types of a call, and the trees (`Typed`) for rules that depend on literals.

    `evaluate_once` evaluates a rule over all arguments once per call: a list may have a hundred
    thousand items.
    """

    types: tuple[DataType, ...]
    trees: tuple[Any, ...]
    _results: dict[ArgumentsRule, DataType | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def evaluate_once(self, rule: ArgumentsRule) -> DataType | None:
        if rule not in self._results:
            self._results[rule] = rule(self)
        return self._results[rule]


#: A rule over all arguments, such as their common type; None where they do not fit.
ArgumentsRule: TypeAlias = Callable[[ArgumentTypes], DataType | None]


#: The type that an argument is passed as; None where it does not fit.
ParameterRule: TypeAlias = Callable[[ArgumentTypes, int], DataType | None]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: its label in messages and the arguments that it accepts.

    `mismatch` explains a rejection where the label does not.
    """

    label: str
    accepts: ParameterRule = field(compare=False)
    mismatch: Callable[[ArgumentTypes, int], str | None] | None = field(default=None, compare=False)


#: A declared parameter type; None for any type, `...` at the end for any number.
Declared: TypeAlias = "DataType | EllipsisType | None"


#: The parameters and result of a user-defined function.
Signature: TypeAlias = tuple[tuple[Declared, ...], DataType]


#: The return type of a call, before the nullability rule.
ReturnTypeRule: TypeAlias = Callable[[ArgumentTypes], DataType]


#: Whether the result is nullable, from the nullability of each argument.
NullabilityRule: TypeAlias = Callable[[Iterable[bool]], bool]


#: The Spark SQL of a user-defined function: a template ("upper({0})"), or a callable of the call
#: and its compiled arguments.
Spark: TypeAlias = "str | Callable[[Any, Sequence[str]], str] | None"


#: Rewrites a call before typing: ``NULLIF`` becomes a ``CASE``.
Rewrite: TypeAlias = "Callable[[syntax.Call], syntax.Expression]"


@dataclass(frozen=True, slots=True)
class Function:
    """The signature of one function or operator.

    Functions compare equal by name and parameters, and are pickled by name (see `functions`).

    Attributes:
        parameters: The parameters of the longest overload.
        optional: How many of the last parameters may be omitted.
        repeats: How many of the last parameters may be repeated, as a group.
        nullability: None if `returns` decides it.
        aligns: Whether arguments are cast if they differ from their target in anything, as in
            constructors of collections.
        frames: Whether a window frame after OVER applies, unlike for ROW_NUMBER.
        counts_rows: Whether OVER needs neither ORDER BY nor frame.
        ranks: Whether OVER must have an ORDER BY.
        skips_nulls: Whether IGNORE NULLS may follow the call.
        bare_names: Whether identifiers among the arguments are names, not columns.
        many_rows: Whether a subquery among the arguments is a list of values, not a scalar.
        two_phase_type: Whether Flink infers the type again after converting the call, when the NULL
            of an aggregate on empty input is lost.
        quoted: Whether Flink prints the name in backticks.
        path: The full name of a registered user-defined function.
        overloads: With optional parameters omitted but not repeated.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: ReturnTypeRule = field(compare=False)
    optional: int = 0
    repeats: int = 0
    alternatives: tuple[tuple[Parameter, ...], ...] = ()
    nullability: NullabilityRule | None = field(default=any, compare=False)
    kind: FunctionKind = FunctionKind.SCALAR
    rules: Rules = Rules.SQL
    empty: EmptyInput = EmptyInput.VALUE
    deterministic: bool = True
    aligns: bool = False
    frames: bool = True
    counts_rows: bool = False
    ranks: bool = False
    skips_nulls: bool = False
    bare_names: bool = False
    many_rows: bool = False
    two_phase_type: bool = False
    quoted: bool = False
    aliases: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    declared: Signature | None = None
    rewrite: Rewrite | None = field(default=None, compare=False)
    spark: Spark = field(default=None, compare=False)
    overloads: tuple[tuple[Parameter, ...], ...] = field(init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __post_init__(self) -> None:
        least = len(self.parameters) - self.optional
        counts = range(len(self.parameters), least - 1, -(self.repeats or 1))
        overloads = (*(self.parameters[:count] for count in counts), *self.alternatives)
        object.__setattr__(self, "overloads", overloads)

    def expand(self, overload: tuple[Parameter, ...], count: int) -> tuple[Parameter, ...] | None:
        """The overload with its repeated parameters; None if it cannot take `count`."""
        extra = count - len(overload)
        if extra == 0:
            return overload
        is_complete = overload == self.parameters or overload in self.alternatives
        if self.repeats and is_complete and extra > 0 and extra % self.repeats == 0:
            return (*overload, *overload[-self.repeats :] * (extra // self.repeats))
        return None

    def printed_path(self, written: tuple[str, ...]) -> tuple[str, ...]:
        """The names that Flink prints in backticks; none for a keyword or an operator.

        >>> from schema_core.expressions.functions import BUILT_IN
        >>> BUILT_IN["URL_ENCODE"][0].printed_path(("url_encode",))
        ('url_encode',)
        """
        if self.path:
            return self.path
        if not self.quoted:
            return ()
        is_own_name = len(written) == 1 and written[0].upper() == self.name
        return written if is_own_name else (self.name,)

    def format(self, overload: tuple[Parameter, ...]) -> str:
        """An overload as text, such as ``SUBSTRING(<CHARACTER>, <INTEGER>)``."""
        labels = [parameter.label for parameter in overload]
        is_operator = self.declared is None and not self.name.strip("$")[0].isalpha()
        if len(labels) == 2 and is_operator:
            return f"{labels[0]} {self.name} {labels[1]}"
        more = ", ..." if self.repeats and overload == self.parameters else ""
        return f"{self.name}({', '.join(labels)}{more})"

    def __str__(self) -> str:
        return self.format(self.parameters)
